"""Mixed logistic regression in which each group has its own level and its own slope.

Both are normally distributed around the values shared by all groups; the fit also estimates their
spreads, and whether groups of a high level have another slope. The likelihood is summed over a
grid of levels and slopes, which is exact even for groups of two or three members, where the usual
approximations are not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from labeler.measures import Floats, Ints

SLOPE = 1
"""The index of the feature whose weight differs from group to group."""

LEVEL_STEP, SLOPE_STEP = 0.75, 1.0
_LEVELS, _SLOPES = LEVEL_STEP * np.arange(-4, 5), SLOPE_STEP * np.arange(-2, 3)
GRID = np.array([(level, slope) for level in _LEVELS for slope in _SLOPES])
"""The levels and slopes of the grid, (points, 2), in units of their spreads."""

_WEIGHTS = np.exp(-(GRID**2).sum(axis=1) / 2)
_PRIOR = _WEIGHTS / _WEIGHTS.sum()
SPREADS = np.log([0.8, 0.3])  # prior means: log spreads of levels and slopes, in logits
SPREAD_DOUBT = 0.7  # prior standard deviation of these logarithms
TILT, TILT_DOUBT = 0.0, 0.4  # prior mean and standard deviation of the tilt
GROUP_PARAMETERS = 3  # the parameters after the weights, by their indices:
LEVEL, STEEP, TILTED = -3, -2, -1
ROWS_AT_ONCE = 64  # rows multiplied at once
STEPS, SMALL_STEP, LARGEST_STEP = 40, 0.03, 1.5


@dataclass(frozen=True, eq=False)
class MixedLogitFit:
    """A fitted model: ``mean`` and ``covariance`` of its parameters.

    They are the weights, the logarithms of the spreads of levels and slopes, and the tilt.
    """

    mean: Floats
    covariance: Floats

    @property
    def weights(self) -> Floats:
        return self.mean[:-GROUP_PARAMETERS]

    @property
    def spreads(self) -> Floats:
        """The standard deviations of the groups' levels and slopes, as logits, (2,)."""
        return np.exp(self.mean[[LEVEL, STEEP]])

    @property
    def tilt(self) -> float:
        """The change in a group's slope for each logit that its level is higher."""
        return float(self.mean[TILTED])

    def logits(self, x: Floats) -> Floats:
        """Return the logits of members at each point of the grid, (n, points)."""
        level, slope = (GRID * self.spreads).T
        steep = slope + self.tilt * level
        logits: Floats = (x @ self.weights)[:, np.newaxis] + level + x[:, [SLOPE]] * steep
        return logits


@dataclass(frozen=True, eq=False)
class GroupLevels:
    """The posterior of groups' levels and slopes: ``share`` (groups, points) of each grid point.

    ``moves`` (groups, features) is how a group's level changes with the weights: where many of its
    members are known, it makes up for nearly all of the change.
    """

    share: Floats
    moves: Floats


def sigmoid(logits: Floats) -> Floats:
    """Return the probabilities of logits."""
    chances: Floats = 0.5 * (1 + np.tanh(0.5 * logits))
    return chances


def fit_mixed_logit(
    x: Floats,
    y: Floats,
    group: Ints,
    prior: Floats,
    doubt: Floats,
    start: MixedLogitFit | None = None,
) -> MixedLogitFit:
    """Fit the model to members ``x`` (n, features), ``y`` (n,) of 0 and 1, by sorted ``group``.

    The first feature is 1 for all. ``prior`` and ``doubt`` (features,) are the prior means and
    standard deviations of the weights, and the result where n is 0. ``start`` saves time: for
    example a fit to some of the members.
    """
    centre = np.concatenate([prior, SPREADS, [TILT]])
    precision: Floats = np.append(doubt, [SPREAD_DOUBT, SPREAD_DOUBT, TILT_DOUBT]) ** -2.0
    if not len(y):
        return MixedLogitFit(centre, np.diag(np.asarray(1 / precision, dtype=np.float64)))
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    mean, best = centre.copy() if start is None else start.mean.copy(), -np.inf
    step = np.zeros(len(mean))
    for _ in range(STEPS):
        value, gradient, information = _evaluate_likelihood(mean + step, x, y, starts)
        value -= float(precision @ (mean + step - centre) ** 2) / 2
        if value < best - 1e-9:
            step /= 2
            continue
        mean, best = mean + step, value
        curvature = information + np.diag(precision)
        step = np.linalg.solve(curvature, gradient - precision * (mean - centre))
        step *= min(1.0, LARGEST_STEP / max(float(np.abs(step).max()), 1e-12))
        if np.abs(step).max() < SMALL_STEP:
            break
    information = _evaluate_likelihood(mean, x, y, starts)[2]
    covariance = np.asarray(np.linalg.inv(information + np.diag(precision)), dtype=np.float64)
    return MixedLogitFit(mean, covariance)


def infer_group_levels(
    fitted: MixedLogitFit, x: Floats, y: Floats, group: Ints, groups: int
) -> GroupLevels:
    """Return the posterior of the levels of all ``groups``, also of those without a member."""
    share = np.tile(_PRIOR, (groups, 1))
    moves = np.zeros((groups, x.shape[1]))
    if len(y):
        starts = np.flatnonzero(np.diff(group, prepend=-1))
        there = group[starts]
        share[there], _, chance = _posterior(fitted.logits(x), y, starts)
        size = np.diff(starts, append=len(y))
        weight = (chance * (1 - chance) * np.repeat(share[there], size, axis=0)).sum(axis=1)
        total = np.add.reduceat(weight, starts) + fitted.spreads[0] ** -2.0
        pull = np.add.reduceat(weight[:, np.newaxis] * x, starts, axis=0)
        moves[there] = -pull / total[:, np.newaxis]
    return GroupLevels(share, moves)


def _posterior(logits: Floats, y: Floats, starts: Ints) -> tuple[Floats, float, Floats]:
    """Return the posterior by group, the log-likelihood, and chances by member."""
    chance = sigmoid(logits)
    likely = np.log(np.where(y[:, np.newaxis] > 0, chance, 1 - chance) + 1e-300)
    total = np.add.reduceat(likely, starts, axis=0) + np.log(_PRIOR)
    most = total.max(axis=1, keepdims=True)
    share = np.exp(total - most)
    sums = share.sum(axis=1, keepdims=True)
    return share / sums, float((most + np.log(sums)).sum()), chance


def _evaluate_likelihood(
    mean: Floats, x: Floats, y: Floats, starts: Ints
) -> tuple[float, Floats, Floats]:
    """Return the log-likelihood of the groups, its gradient and its information (Louis 1982).

    Far from the best weights the information may not be positive definite. Then the one for known
    levels is returned, which always is.
    """
    fitted = MixedLogitFit(mean, np.empty(0))
    share, value, chance = _posterior(fitted.logits(x), y, starts)
    off, ends = y[:, np.newaxis] - chance, np.append(starts[1:], len(y))
    flat, steep = _logit_gradients(fitted)
    spans = zip(starts.tolist(), ends.tolist(), strict=True)
    by_group = np.stack([x[first:last].T @ off[first:last] for first, last in spans])
    own, tilts = by_group[:, [0]], by_group[:, [SLOPE]]
    slopes = np.concatenate([by_group, own * flat + tilts * steep], axis=1)
    expected = (slopes @ share[:, :, np.newaxis])[:, :, 0]
    bent = chance * (1 - chance) * np.repeat(share, ends - starts, axis=0)
    full = _information_matrix(x, bent, flat, steep)
    weighed = slopes * np.sqrt(share)[:, np.newaxis]
    louis = full - (weighed @ weighed.transpose(0, 2, 1)).sum(axis=0) + _products(expected)
    total = expected.sum(axis=0)
    louis[LEVEL, LEVEL] -= total[LEVEL]
    louis[STEEP, STEEP] -= total[STEEP]
    both = float((tilts[:, 0] * steep[TILTED] * share).sum())
    louis[LEVEL, TILTED] -= both
    louis[TILTED, LEVEL] -= both
    is_bowl = np.linalg.eigvalsh(louis).min() > 0
    return value, total, louis if is_bowl else full


def _logit_gradients(fitted: MixedLogitFit) -> tuple[Floats, Floats]:
    """Return the logits' gradients by the last parameters, (`GROUP_PARAMETERS`, points).

    First the part that is equal for all members of a group, then the factor of their `SLOPE`.
    """
    level, slope = (GRID * fitted.spreads).T
    none = np.zeros_like(level)
    return np.stack([level, none, none]), np.stack([fitted.tilt * level, slope, level])


def _information_matrix(x: Floats, bent: Floats, flat: Floats, steep: Floats) -> Floats:
    """Return the information matrix for known levels and slopes of all groups."""
    weights, tilts = x.shape[1], x[:, SLOPE]
    full = np.empty((weights + GROUP_PARAMETERS,) * 2)
    full[:weights, :weights] = _products(x * np.sqrt(bent.sum(axis=1))[:, np.newaxis])
    mixed = x.T @ (bent @ flat.T) + (x * tilts[:, np.newaxis]).T @ (bent @ steep.T)
    full[:weights, weights:], full[weights:, :weights] = mixed, mixed.T
    plain, once, twice = (tilts**power @ bent for power in range(3))
    cross = (flat * once) @ steep.T
    own = (flat * plain) @ flat.T + cross + cross.T + (steep * twice) @ steep.T
    full[weights:, weights:] = own
    return full


def _products(rows: Floats) -> Floats:
    """Return the products of all pairs of columns, in parts too small for several threads."""
    found = np.zeros((rows.shape[1],) * 2)
    for at in range(0, len(rows), ROWS_AT_ONCE):
        part = rows[at : at + ROWS_AT_ONCE]
        found += part.T @ part
    return found

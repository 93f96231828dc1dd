"""A logistic regression in which every group has an own level: numbers in, nothing of grades known.

The level of a group is normally distributed around what its members' features say. Its spread is
learnt, and the likelihood is summed over a grid of levels: exact also for groups of two or three
members, where the usual approximations are not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from labeler.measures import Floats, Ints

LEVELS = np.linspace(-4.0, 4.0, 41)
"""The grid of levels, in units of their spread."""

_PRIOR = np.exp(-(LEVELS**2) / 2) / np.exp(-(LEVELS**2) / 2).sum()
SPREAD, SPREAD_DOUBT = 0.8, 0.7  # of the levels as logits before anything is known, and its doubt
STEPS, SMALL_STEP, LARGEST_STEP = 40, 1e-3, 1.5


@dataclass(frozen=True, eq=False)
class Fitted:
    """What was learnt: ``mean`` and ``covariance`` of the weights, last the log of the spread."""

    mean: Floats
    covariance: Floats

    @property
    def weights(self) -> Floats:
        """The weights of the features."""
        return self.mean[:-1]

    @property
    def spread(self) -> float:
        """The standard deviation of the groups' levels, as logits."""
        return float(np.exp(self.mean[-1]))


@dataclass(frozen=True, eq=False)
class Levels:
    """What is known of groups' levels: ``share`` (groups, levels) of belief in each on the grid.

    ``moves`` (groups, features) says how a group's level follows when the weights are others: where
    many of its members are known, it makes up for nearly all of the difference.
    """

    share: Floats
    moves: Floats


def sigmoid(logits: Floats) -> Floats:
    """Return the chance that belongs to a logit."""
    chances: Floats = 0.5 * (1 + np.tanh(0.5 * logits))
    return chances


def fit(x: Floats, y: Floats, group: Ints, prior: Floats, doubt: Floats) -> Fitted:
    """Learn weights from members ``x`` (n, features), ``y`` (n,) of 0 and 1, by sorted ``group``.

    ``prior`` and ``doubt`` (features,) are the means and standard deviations of the weights before
    anything is known, which is what comes out where n is 0.
    """
    centre = np.append(prior, np.log(SPREAD))
    precision: Floats = np.append(doubt, SPREAD_DOUBT) ** -2.0
    if not len(y):
        return Fitted(centre, np.diag(np.asarray(1 / precision, dtype=np.float64)))
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    mean, best = centre.copy(), -np.inf
    step = np.zeros(len(mean))
    for _ in range(STEPS):
        value, slope, bend = _look(mean + step, x, y, starts)
        value -= float(precision @ (mean + step - centre) ** 2) / 2
        if value < best - 1e-9:
            step /= 2
            continue
        mean, best = mean + step, value
        curved = bend + np.diag(precision)
        step = np.linalg.solve(curved, slope - precision * (mean - centre))
        step *= min(1.0, LARGEST_STEP / max(float(np.abs(step).max()), 1e-12))
        if np.abs(step).max() < SMALL_STEP:
            break
    bend = _look(mean, x, y, starts)[2]
    covariance = np.asarray(np.linalg.inv(bend + np.diag(precision)), dtype=np.float64)
    return Fitted(mean, covariance)


def levels(fitted: Fitted, x: Floats, y: Floats, group: Ints, groups: int) -> Levels:
    """Return what is known of the levels of all ``groups``, also of those without a member."""
    share = np.tile(_PRIOR, (groups, 1))
    moves = np.zeros((groups, x.shape[1]))
    if len(y):
        starts = np.flatnonzero(np.diff(group, prepend=-1))
        there = group[starts]
        share[there], _, chance = _believe(fitted.mean, x, y, starts)
        size = np.diff(starts, append=len(y))
        weight = (chance * (1 - chance) * np.repeat(share[there], size, axis=0)).sum(axis=1)
        total = np.add.reduceat(weight, starts) + fitted.spread**-2.0
        pull = np.add.reduceat(weight[:, np.newaxis] * x, starts, axis=0)
        moves[there] = -pull / total[:, np.newaxis]
    return Levels(share, moves)


def _believe(mean: Floats, x: Floats, y: Floats, starts: Ints) -> tuple[Floats, float, Floats]:
    """Return the belief in each level by group, the log-likelihood, and chances by member."""
    logits = (x @ mean[:-1])[:, np.newaxis] + np.exp(mean[-1]) * LEVELS
    chance = sigmoid(logits)
    likely = np.log(np.where(y[:, np.newaxis] > 0, chance, 1 - chance) + 1e-300)
    total = np.add.reduceat(likely, starts, axis=0) + np.log(_PRIOR)
    most = total.max(axis=1, keepdims=True)
    share = np.exp(total - most)
    sums = share.sum(axis=1, keepdims=True)
    return share / sums, float((most + np.log(sums)).sum()), chance


def _look(mean: Floats, x: Floats, y: Floats, starts: Ints) -> tuple[float, Floats, Floats]:
    """Return the log-likelihood of the groups, its slope, and how sharply it bends (Louis 1982).

    Far from the best weights it may bend the wrong way: then what it would be if the levels were
    known stands in, which never does.
    """
    share, value, chance = _believe(mean, x, y, starts)
    size = np.diff(starts, append=len(y))
    belief = np.repeat(share, size, axis=0)
    level = np.exp(mean[-1]) * LEVELS
    off = y[:, np.newaxis] - chance
    ends = np.append(starts[1:], len(y))
    spans = zip(starts.tolist(), ends.tolist(), strict=True)
    by_group = np.stack([x[first:last].T @ off[first:last] for first, last in spans])
    of_level = np.add.reduceat(off, starts, axis=0) * level
    slopes = np.concatenate([by_group, of_level[:, np.newaxis]], axis=1)
    expected = (slopes @ share[:, :, np.newaxis])[:, :, 0]
    bent = chance * (1 - chance) * belief
    width = x.shape[1]
    full = np.empty((width + 1, width + 1))
    full[:width, :width] = _products(x.T * np.sqrt(bent.sum(axis=1)))
    full[width, :width] = full[:width, width] = x.T @ (bent @ level)
    full[width, width] = float((bent @ level**2).sum())
    weighed = (slopes * np.sqrt(share)[:, np.newaxis]).transpose(1, 0, 2).reshape(width + 1, -1)
    unknown = _products(weighed) - expected.T @ expected
    louis = full - unknown
    louis[width, width] -= float((of_level * share).sum())
    is_bowl = np.linalg.eigvalsh(louis).min() > 0
    return value, expected.sum(axis=0), louis if is_bowl else full


def _products(rows: Floats) -> Floats:
    """Return the products of all pairs of rows: small, and not worth waking another thread for."""
    found: Floats = np.einsum("pk,qk->pq", rows, rows)
    return found

"""Intervals and tests of weighted means: queries are drawn with their weights, by the same draws.

Knows values and weights by query; not what the weights are for. Weights that are all the same are
none: what they give has the very bits of what is given without.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from labeler.evaluation import worth
from labeler.measures import Floats
from labeler.stats.draws import DRAWS, by_length, in_steps
from labeler.stats.intervals import (
    ALL_ALIKE,
    LEVEL,
    NO_QUERY,
    PERCENTILE,
    Interval,
    Sums,
    ends_of,
    intervals,
    wilson,
)
from labeler.stats.resampled import sums_of

TOGETHER = 128  # samples, each of which has the sums of its weights beside its own


def weighted_mean(sample: Floats, weights: Floats) -> float:
    """Return the mean of a sample, each value counted as often as its weight says."""
    return float(np.sum(sample * weights) / np.sum(weights))


def weighted_intervals(
    samples: Sequence[Floats],
    weights: Sequence[Floats],
    draws: int = DRAWS,
    sums: Sums = sums_of,
    *,
    level: float = LEVEL,
) -> list[Interval]:
    """Return the bootstrap interval of each sample's weighted mean; otherwise as `intervals`.

    A query is drawn with its weight, so that a draw is the mean of what was drawn by the weights
    that were drawn: the weights are those of the queries there are, and nothing is said of how sure
    the counts behind them are. Weights are above 0.

    >>> x, w = np.array([0.0, 0.0, 0.1, 0.2, 0.9] * 4), np.array([2.0, 1.0, 1.0, 0.5, 0.5] * 4)
    >>> [low] = weighted_intervals([x], [w])
    >>> round(weighted_mean(x, w), 3), round(low.lo, 3), round(low.hi, 3), low.method
    (0.13, 0.057, 0.266, 'BCa')
    """
    found = [NO_QUERY] * len(samples)
    equal = [at for at, each in enumerate(weights) if not len(each) or np.ptp(each) == 0]
    made = intervals([samples[at] for at in equal], draws, sums, level=level)
    for at, interval in zip(equal, made, strict=True):
        found[at] = interval
    others = np.setdiff1d(np.arange(len(samples)), equal)
    for places in by_length([samples[at] for at in others]).values():
        for first in range(0, len(places), TOGETHER):
            part = others[places[first : first + TOGETHER]].tolist()
            some, their = (np.stack([of[at] for at in part]) for of in (samples, weights))
            for at, interval in zip(part, _of_length(some, their, draws, sums, level), strict=True):
                found[at] = interval
    return found


def weighted_wilson(sample: Floats, weights: Floats, *, level: float = LEVEL) -> Interval:
    """Return Wilson's interval of a weighted share of values that are 0 or 1.

    Over as many queries of equal weight as the weighted ones tell as much as, see `worth`.

    >>> weighted_wilson(np.ones(3), np.ones(3)) == wilson(3, 3)
    True
    """
    if not len(sample):
        return NO_QUERY
    if np.ptp(weights) == 0:
        return wilson(int(sample.sum()), len(sample), level=level)
    n = worth(weights)
    return wilson(n if sample.all() else n * weighted_mean(sample, weights), n, level=level)


def as_if_equal(sample: Floats, weights: Floats) -> Floats:
    """Return values whose plain mean and spread are, to first order, those of the weighted mean.

    What power and the number of queries needed are worked out from.
    """
    if not len(sample) or np.ptp(weights) == 0:
        return sample
    middle = weighted_mean(sample, weights)
    even: Floats = middle + (sample - middle) * weights / weights.mean()
    return even


def _of_length(
    samples: Floats, weights: Floats, draws: int, sums: Sums, level: float
) -> list[Interval]:
    """Return the intervals of samples, (samples, n), of two queries or more by two weights."""
    whole, step = in_steps(np.concatenate([samples * weights, weights]))
    top, bottom = np.split(sums(whole, draws) * step[:, np.newaxis], 2)
    drawn = np.sort(top / bottom, axis=1)
    rows = zip(samples, weights, drawn, strict=True)
    return [_of_one(*row, level) for row in rows]


def _of_one(sample: Floats, weights: Floats, drawn: Floats, level: float) -> Interval:
    if np.ptp(sample) == 0:
        return Interval(float(sample[0]), float(sample[0]), PERCENTILE, ALL_ALIKE)
    middle = weighted_mean(sample, weights)
    return ends_of(middle, weights * (sample - middle), drawn, level)

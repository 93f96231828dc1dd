"""Bootstrap confidence intervals of means, plain or weighted."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from statistics import NormalDist

import numpy as np

from labeler.measures import Floats
from labeler.stats.confidence_intervals import (
    CONFIDENCE_LEVEL,
    ConfidenceInterval,
    weighted_mean,
)
from labeler.stats.draws import DRAWS, group_by_length, in_whole_steps, resample_sums

BCA, PERCENTILE = "BCa", "percentile"
SumFunction = Callable[[Floats, int], Floats]
SAMPLES_AT_ONCE = 256  # samples: their draws take some 20 MB and not all memory
_NORMAL = NormalDist()
NO_QUERY = ConfidenceInterval(math.nan, math.nan, reason="no query counts")
ONE_QUERY = ConfidenceInterval(math.nan, math.nan, reason="one query: nothing to resample")
ALL_ALIKE = "all queries alike: no spread to resample"


def bootstrap_intervals(
    samples: Sequence[Floats],
    draws: int = DRAWS,
    sums: SumFunction = resample_sums,
    *,
    level: float = CONFIDENCE_LEVEL,
) -> list[ConfidenceInterval]:
    """Return the bootstrap interval of each sample's mean, resampling its queries.

    ``level`` is for both ends; one end alone holds more often: 95 times in 100 at 0.9.

    BCa of Efron (1987), with seeded draws shared by samples of the same length; the percentile
    interval where BCa is not defined. A sample of one query has none. Samples must not hold NaN.
    ``sums`` adds up the resamples; a `ResampleCache` is faster for samples like earlier ones.

    >>> [low] = bootstrap_intervals([np.array([0.0, 0.0, 0.1, 0.2, 0.9] * 4)])
    >>> round(low.lo, 3), round(low.hi, 3), low.method
    (0.115, 0.43, 'BCa')
    >>> bootstrap_intervals([np.array([0.5, 0.5])])[0].reason
    'all queries alike: no spread to resample'
    """
    found = [NO_QUERY] * len(samples)
    for n, places in group_by_length(samples).items():
        for first in range(0, len(places), SAMPLES_AT_ONCE):
            part = places[first : first + SAMPLES_AT_ONCE].tolist()
            some = np.stack([samples[at] for at in part])
            alike = [_no_interval(n)] * len(part)
            made = _intervals_of_length(some, draws, sums, level) if n > 1 else alike
            for at, each in zip(part, made, strict=True):
                found[at] = each
    return found


def _no_interval(n: int) -> ConfidenceInterval:
    return ONE_QUERY if n else NO_QUERY


def _intervals_of_length(
    samples: Floats, draws: int, sums: SumFunction, level: float
) -> list[ConfidenceInterval]:
    """Return the intervals of samples, (samples, n), of at least two queries."""
    whole, step = in_whole_steps(samples)
    n = whole.shape[1]
    drawn = sums(whole, draws)
    drawn.sort(axis=1)
    rows = zip(samples, whole, drawn, (step / n).tolist(), strict=True)
    return [_interval_of_one(*row, level) for row in rows]


def _interval_of_one(
    sample: Floats, whole: Floats, drawn: Floats, unit: float, level: float
) -> ConfidenceInterval:
    if np.ptp(whole) == 0:
        mean = float(sample.mean())
        return ConfidenceInterval(mean, mean, PERCENTILE, ALL_ALIKE)
    return interval_from_draws(float(whole.sum()), whole - whole.mean(), drawn, level, unit)


def interval_from_draws(
    total: float, off: Floats, drawn: Floats, level: float, unit: float = 1.0
) -> ConfidenceInterval:
    """Return the interval of a statistic whose value is ``total``, from its sorted draws.

    ``off`` is each query's influence on it, for the skewness in BCa. ``unit`` multiplies the ends.
    """
    ends = _bca_quantiles(total, off, drawn, level)
    method = PERCENTILE if ends is None else BCA
    lo, hi = (
        _quantile(drawn, share) * unit for share in ends or ((1 - level) / 2, (1 + level) / 2)
    )
    return ConfidenceInterval(lo, hi, method)


def _quantile(drawn: Floats, share: float) -> float:
    """Return the quantile of sorted draws at a share.

    At position (B + 1) · share: Davison and Hinkley (1997), Bootstrap Methods and their
    Application, 5.2. numpy's quantile would put both ends one draw further in.
    """
    place = min(max(share * (len(drawn) + 1) - 1, 0.0), len(drawn) - 1.0)
    at = int(place)
    here, there = drawn[at], drawn[min(at + 1, len(drawn) - 1)]
    return float(here + (there - here) * (place - at))


def _bca_quantiles(
    total: float, off: Floats, drawn: Floats, level: float
) -> tuple[float, float] | None:
    """Return the quantiles of the draws that BCa takes as ends; None where not defined."""
    below, at_most = (int(drawn.searchsorted(total, side)) for side in ("left", "right"))
    share = (below + at_most) / (2 * len(drawn))
    if not 0 < share < 1:
        return None
    skew = float(np.sum(off**3)) / (6 * float(np.sum(off**2)) ** 1.5)
    bias, ends = _NORMAL.inv_cdf(share), []
    end = _NORMAL.inv_cdf((1 + level) / 2)
    for z in (-end, end):
        bent = 1 - skew * (bias + z)
        if bent <= 0:
            return None
        ends.append(_NORMAL.cdf(bias + (bias + z) / bent))
    return ends[0], ends[1]


WEIGHTED_AT_ONCE = 128  # samples: each also needs the sums of its weights


def weighted_intervals(
    samples: Sequence[Floats],
    weights: Sequence[Floats],
    draws: int = DRAWS,
    sums: SumFunction = resample_sums,
    *,
    level: float = CONFIDENCE_LEVEL,
) -> list[ConfidenceInterval]:
    """Return the bootstrap interval of each sample's weighted mean, see `bootstrap_intervals`.

    A query is drawn together with its weight, so that a draw is a weighted mean by the weights
    drawn. Uncertainty of the weights themselves is not included. Weights are above 0.

    >>> x, w = np.array([0.0, 0.0, 0.1, 0.2, 0.9] * 4), np.array([2.0, 1.0, 1.0, 0.5, 0.5] * 4)
    >>> [low] = weighted_intervals([x], [w])
    >>> round(weighted_mean(x, w), 3), round(low.lo, 3), round(low.hi, 3), low.method
    (0.13, 0.057, 0.266, 'BCa')
    """
    found = [NO_QUERY] * len(samples)
    equal = [at for at, each in enumerate(weights) if not len(each) or np.ptp(each) == 0]
    made = bootstrap_intervals([samples[at] for at in equal], draws, sums, level=level)
    for at, interval in zip(equal, made, strict=True):
        found[at] = interval
    others = np.setdiff1d(np.arange(len(samples)), equal)
    for places in group_by_length([samples[at] for at in others]).values():
        for first in range(0, len(places), WEIGHTED_AT_ONCE):
            part = others[places[first : first + WEIGHTED_AT_ONCE]].tolist()
            some, their = (np.stack([of[at] for at in part]) for of in (samples, weights))
            for at, interval in zip(
                part, _weighted_of_length(some, their, draws, sums, level), strict=True
            ):
                found[at] = interval
    return found


def _weighted_of_length(
    samples: Floats, weights: Floats, draws: int, sums: SumFunction, level: float
) -> list[ConfidenceInterval]:
    """Return the weighted intervals of samples, (samples, n), of at least two queries."""
    whole, step = in_whole_steps(np.concatenate([samples * weights, weights]))
    top, bottom = np.split(sums(whole, draws) * step[:, np.newaxis], 2)
    drawn = np.sort(top / bottom, axis=1)
    rows = zip(samples, weights, drawn, strict=True)
    return [_weighted_of_one(*row, level) for row in rows]


def _weighted_of_one(
    sample: Floats, weights: Floats, drawn: Floats, level: float
) -> ConfidenceInterval:
    if np.ptp(sample) == 0:
        return ConfidenceInterval(float(sample[0]), float(sample[0]), PERCENTILE, ALL_ALIKE)
    middle = weighted_mean(sample, weights)
    return interval_from_draws(middle, weights * (sample - middle), drawn, level)

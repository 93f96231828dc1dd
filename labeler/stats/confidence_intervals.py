"""Confidence intervals for means over queries: bootstrap (BCa), Wilson's, plain or weighted.

They cover the choice of queries, not unjudged chunks or disagreement between graders. Equal
weights give exactly the bits of the unweighted interval.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from labeler.evaluation import Record, Scoreboard, effective_sample_size
from labeler.measures import Floats, Ints, Measure
from labeler.stats.draws import DRAWS, group_by_length, in_whole_steps, resample_sums

CONFIDENCE_LEVEL = 0.95
BCA, PERCENTILE, WILSON = "BCa", "percentile", "Wilson"
SumFunction = Callable[[Floats, int], Floats]
SAMPLES_AT_ONCE = 256  # samples: their draws take some 20 MB and not all memory
_NORMAL = NormalDist()


class ConfidenceInterval(NamedTuple):
    """A confidence interval, 95% by default; its ``method`` is `BCA`, `PERCENTILE` or `WILSON`.

    Without an interval the ends are NaN, and without spread both are the mean: ``reason`` says why.
    """

    lo: float
    hi: float
    method: str = ""
    reason: str = ""


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


def wilson_interval(
    ones: float, n: float, *, level: float = CONFIDENCE_LEVEL
) -> ConfidenceInterval:
    """Return Wilson's (1927) interval of a share, ``ones`` of ``n``, without correction.

    Neither has to be a whole number: weighted queries count as fewer equal ones.

    >>> lo, hi, *_ = wilson_interval(8, 10)
    >>> round(lo, 4), round(hi, 4)
    (0.4902, 0.9433)
    """
    if not n:
        return NO_QUERY
    z = _NORMAL.inv_cdf((1 + level) / 2)
    share, z2 = ones / n, z * z
    middle = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = z / (1 + z2 / n) * math.sqrt(share * (1 - share) / n + z2 / (4 * n * n))
    lo = 0.0 if ones == 0 else max(0.0, middle - half)
    hi = 1.0 if ones >= n else min(1.0, middle + half)
    return ConfidenceInterval(lo, hi, WILSON)


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


def weighted_mean(sample: Floats, weights: Floats) -> float:
    """Return the weighted mean of a sample."""
    return float(np.sum(sample * weights) / np.sum(weights))


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


def weighted_wilson_interval(
    sample: Floats, weights: Floats, *, level: float = CONFIDENCE_LEVEL
) -> ConfidenceInterval:
    """Return Wilson's interval of a weighted share, for values that are 0 or 1.

    The number of queries is their `effective_sample_size`.

    >>> weighted_wilson_interval(np.ones(3), np.ones(3)) == wilson_interval(3, 3)
    True
    """
    if not len(sample):
        return NO_QUERY
    if np.ptp(weights) == 0:
        return wilson_interval(int(sample.sum()), len(sample), level=level)
    n = effective_sample_size(weights)
    return wilson_interval(
        n if sample.all() else n * weighted_mean(sample, weights), n, level=level
    )


def as_equal_weights(sample: Floats, weights: Floats) -> Floats:
    """Return values whose plain mean and spread are, to first order, those of the weighted mean.

    Power and the number of queries needed are computed from them.
    """
    if not len(sample) or np.ptp(weights) == 0:
        return sample
    middle = weighted_mean(sample, weights)
    even: Floats = middle + (sample - middle) * weights / weights.mean()
    return even


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


IntervalsByPlace = Mapping[tuple[str, str, "str | None"], ConfidenceInterval]
"""Intervals by run, full name of the measure, and bucket (None for all queries)."""

_INTERVAL_COLUMNS = ("lo", "hi", "interval", "caution")


def mean_intervals(
    board: Scoreboard,
    measures: Iterable[Measure],
    facet: str | None = None,
    *,
    runs: Collection[str] | None = None,
    buckets: Collection[str | None] | None = None,
    sums: SumFunction = resample_sums,
) -> IntervalsByPlace:
    """Return the 95% interval of each run's mean, over all queries or those of each bucket.

    Wilson's for a measure that is 0 or 1 for each query, else the bootstrap. Over the queries that
    count in the mean, with their weights if the board has weights. ``runs`` and ``buckets`` are all
    unless given; ``sums`` is as in `bootstrap_intervals`. Raises `NotFound` for an unknown facet.

    >>> from labeler.evaluation import Conventions, collect
    >>> qrels, run = {"q1": {"c": 1}, "q2": {"c": 1}}, {"q1": ["c"], "q2": ["x"]}
    >>> board = Scoreboard(collect(qrels, {"A": run}), Conventions.of())
    >>> found = mean_intervals(board, board.conventions.measures("Success@3"))
    >>> {place: (round(each.lo, 3), round(each.hi, 3)) for place, each in found.items()}
    {('A', 'Success(rel=1)@3', None): (0.095, 0.905)}
    """
    board = board.snapshot()
    found: dict[tuple[str, str, str | None], ConfidenceInterval] = {}
    places: list[tuple[str, str, str | None]] = []
    samples: list[Floats] = []
    weights: list[Floats] = []
    for measure in board.resolve(measures):
        for run, bucket, sample, weight in _samples_of_runs(board, measure, facet, runs, buckets):
            place = (run, str(measure), bucket)
            if measure.is_zero_or_one:
                found[place] = weighted_wilson_interval(sample, weight)
            else:
                places.append(place)
                samples.append(sample)
                weights.append(weight)
    made = weighted_intervals(samples, weights, DRAWS, sums)
    return found | dict(zip(places, made, strict=True))


def with_intervals(records: Iterable[Record], found: IntervalsByPlace) -> list[Record]:
    """Return rows of means with the ends, method and caution of their intervals."""
    rows = []
    for record in records:
        each = found.get((record["run"], record["full_name"], record.get("bucket")))
        ends = (each.lo, each.hi, each.method or None, each.reason or None) if each else ()
        rows.append({**record, **dict(zip(_INTERVAL_COLUMNS, ends or (None,) * 4, strict=True))})
    return rows


def _samples_of_runs(
    board: Scoreboard,
    measure: Measure,
    facet: str | None,
    runs: Collection[str] | None,
    buckets: Collection[str | None] | None,
) -> Iterator[tuple[str, str | None, Floats, Floats]]:
    values = board.values(measure)
    weights = np.ones(len(values)) if board.weights is None else board.weights
    names, group = board.groups(facet)
    members: list[tuple[str | None, Ints]] = [
        (name, np.flatnonzero(group == at))
        for at, name in enumerate(names)
        if buckets is None or name in buckets
    ]
    for column, run in enumerate(board.run_names):
        if runs is None or run in runs:
            for name, inside in members:
                known = inside[~np.isnan(values[inside, column])]
                yield run, name, values[known, column], weights[known]

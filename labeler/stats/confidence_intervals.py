"""Confidence intervals for means over queries, plain or weighted.

They cover the choice of queries, not unjudged chunks or disagreement between graders. Equal
weights give exactly the bits of the unweighted interval.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from labeler.evaluation import Record, Scoreboard, effective_sample_size
from labeler.measures import Floats, Ints, Measure
from labeler.stats.student_t import student_t_quantile

CONFIDENCE_LEVEL = 0.95
T, LOGIT_T, WILSON = "t", "logit t", "Wilson"

FEWEST_OTHERS = 6
"""The fewest queries with another value than the commonest for a t interval on the logit scale."""

_SAME_DIGITS = 12  # values that agree in these count as one value
_NORMAL = NormalDist()


class ConfidenceInterval(NamedTuple):
    """A confidence interval, 95% by default; without one the ends are NaN, and ``reason`` says why.

    ``method`` is "t", "Tango", "logit t" or "Wilson". No interval has a width of 0.
    """

    lo: float
    hi: float
    method: str = ""
    reason: str = ""

    @property
    def excludes_zero(self) -> bool:
        """Whether 0 is outside; False without an interval.

        An end that the test keeps off 0 is the smallest number on its side, 5e-324 or -5e-324.

        >>> [ConfidenceInterval(lo, 0.5).excludes_zero for lo in (5e-324, 0.0)]
        [True, False]
        """
        return self.lo > 0 or self.hi < 0


def no_interval(reason: str) -> ConfidenceInterval:
    """Return an interval without ends, and the reason."""
    return ConfidenceInterval(math.nan, math.nan, reason=reason)


NO_QUERY = no_interval("no query counts")
ONE_QUERY = no_interval("one query: too few for an interval")
ALL_ALIKE = no_interval("all queries alike: no spread to tell from")


def wilson_interval(
    ones: float, n: float, *, level: float = CONFIDENCE_LEVEL
) -> ConfidenceInterval:
    """Return Wilson's (1927) interval of a share, ``ones`` of ``n``, without correction.

    Neither has to be a whole number: weighted queries count as fewer equal ones. For values from 0
    to 1 whose sum is ``ones`` it is wide enough: none of the same mean vary more than 0 and 1.

    >>> lo, hi, *_ = wilson_interval(8, 10)
    >>> round(lo, 4), round(hi, 4)
    (0.4902, 0.9433)
    """
    if not n:
        return NO_QUERY
    z = _NORMAL.inv_cdf((1 + level) / 2)
    share, z2 = min(1.0, ones / n), z * z
    middle = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = z / (1 + z2 / n) * math.sqrt(share * (1 - share) / n + z2 / (4 * n * n))
    lo = 0.0 if ones == 0 else max(0.0, middle - half)
    hi = 1.0 if ones >= n else min(1.0, middle + half)
    return ConfidenceInterval(lo, hi, WILSON)


def weighted_wilson_interval(
    sample: Floats, weights: Floats, *, level: float = CONFIDENCE_LEVEL
) -> ConfidenceInterval:
    """Return Wilson's interval of a weighted mean of values from 0 to 1.

    The number of queries is their `effective_sample_size`.

    >>> weighted_wilson_interval(np.ones(3), np.ones(3)) == wilson_interval(3, 3)
    True
    """
    if not len(sample):
        return NO_QUERY
    if np.ptp(weights) == 0:
        return wilson_interval(float(sample.sum()), len(sample), level=level)
    n = effective_sample_size(weights)
    ones = n if np.all(sample == 1) else n * weighted_mean(sample, weights)
    return wilson_interval(ones, n, level=level)


def weighted_mean(sample: Floats, weights: Floats) -> float:
    """Return the weighted mean of a sample."""
    return float(np.sum(sample * weights) / np.sum(weights))


def as_equal_weights(sample: Floats, weights: Floats) -> Floats:
    """Return values whose plain mean and spread are, to first order, those of the weighted mean.

    Intervals, power and the number of queries needed are computed from them.
    """
    if not len(sample) or np.ptp(weights) == 0:
        return sample
    middle = weighted_mean(sample, weights)
    even: Floats = middle + (sample - middle) * weights / weights.mean()
    return even


def count_effective(weights: Floats) -> float:
    """Return the effective number of weighted queries, exactly their number for equal weights."""
    return len(weights) if np.ptp(weights) == 0 else effective_sample_size(weights)


def t_half_width(even: Floats, weights: Floats, tail: float) -> float:
    """Return how far a t interval reaches to each side of the mean.

    ``even`` are the values of `as_equal_weights`. The variance is corrected by the effective number
    of queries; its degrees of freedom are the effective number by squared weights, less 1, after
    Satterthwaite (1946): a few heavy queries decide how uncertain a weighted mean is.
    """
    counted = count_effective(weights)
    freedom = max(1.0, count_effective(weights**2) - 1)
    error = float(even.std()) * math.sqrt(counted / (counted - 1) / len(even))
    return student_t_quantile(tail, freedom) * error


def mean_interval(
    sample: Floats, weights: Floats, measure: Measure, *, level: float = CONFIDENCE_LEVEL
) -> ConfidenceInterval:
    """Return the interval of one run's weighted mean; ``level`` is for both ends.

    The end of one side alone holds more often: 95 times in 100 at a level of 0.9.

    Wilson's for a measure that is 0 or 1 for each query. Else Student's t on the logit scale, which
    keeps both ends from 0 to 1, and Wilson's of the mean where fewer than `FEWEST_OTHERS` queries
    have another value than the commonest one. Plain t for a count. Samples must not hold NaN.

    >>> from labeler.measures import parse
    >>> found = mean_interval(np.ones(10), np.ones(10), parse("nDCG@10"), level=0.9)
    >>> round(found.lo, 4), found.hi, found.method
    (0.7871, 1.0, 'Wilson')
    """
    n = len(sample)
    if n < 2:
        return ONE_QUERY if n else NO_QUERY
    if measure.is_zero_or_one:
        return weighted_wilson_interval(sample, weights, level=level)
    counted = count_effective(weights)
    commonest = int(np.unique(np.round(sample, _SAME_DIGITS), return_counts=True)[1].max())
    is_few = (n - commonest) * counted / n < FEWEST_OTHERS
    if is_few and not measure.definition.count:
        return weighted_wilson_interval(sample, weights, level=level)
    if commonest == n:
        return ALL_ALIKE
    even = as_equal_weights(sample, weights)
    mean = float(even.mean())
    half = t_half_width(even, weights, (1 - level) / 2)
    if measure.definition.count:
        return ConfidenceInterval(mean - half, mean + half, T)
    middle, half = math.log(mean / (1 - mean)), half / (mean * (1 - mean))
    return ConfidenceInterval(_from_logit(middle - half), _from_logit(middle + half), LOGIT_T)


def _from_logit(value: float) -> float:
    return 1 / (1 + math.exp(-value)) if value > 0 else 1 - 1 / (1 + math.exp(value))


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
) -> IntervalsByPlace:
    """Return the 95% interval of each run's mean, over all queries or those of each bucket.

    By `mean_interval`, over the queries that count in the mean, with their weights if the board has
    weights. ``runs`` and ``buckets`` are all unless given. Raises `NotFound` for an unknown facet.

    >>> from labeler.evaluation import Conventions, collect
    >>> qrels, run = {"q1": {"c": 1}, "q2": {"c": 1}}, {"q1": ["c"], "q2": ["x"]}
    >>> board = Scoreboard(collect(qrels, {"A": run}), Conventions.of())
    >>> found = mean_intervals(board, board.conventions.measures("Success@3"))
    >>> {place: (round(each.lo, 3), round(each.hi, 3)) for place, each in found.items()}
    {('A', 'Success(rel=1)@3', None): (0.095, 0.905)}
    """
    board = board.snapshot()
    return {
        (run, str(measure), bucket): mean_interval(sample, weight, measure)
        for measure in board.resolve(measures)
        for run, bucket, sample, weight in _samples_of_runs(board, measure, facet, runs, buckets)
    }


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

"""Significance tests, confidence intervals and statistical power for differences between runs.

Only this module decides whether a difference is more than chance: by a randomisation test on at
least `FEW` queries, with Holm's correction over everything that is shown together.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from labeler.analysis.comparison.deltas import Comparison, Delta
from labeler.evaluation import NO_RESULT, format_number, format_signed
from labeler.measures import Floats, Measure
from labeler.stats import (
    ALPHA,
    BCA,
    DRAWS,
    EXACT,
    ConfidenceInterval,
    SumFunction,
    as_equal_weights,
    detectable_difference,
    holm,
    p_values,
    queries_needed,
    resample_sums,
    smallest_p_value,
    weighted_intervals,
)

FEW = 10
"""A mean over fewer queries is never called more than chance: one query decides too much of it."""

SIGNIFICANCE_RULE = (
    f"more than chance: a two-sided randomisation test with p ≤ {ALPHA} after Holm's correction, "
    f"over at least {FEW} queries"
)
METHODS_NOTE = (
    f"intervals of 95%: bootstrap over queries, {DRAWS:,} draws, BCa unless they say otherwise; "
    f"p: all flips of signs for up to {EXACT} queries that differ, else {DRAWS:,} draws; finds "
    "from: the smallest true difference that so many queries show with 80% power at 5%; more "
    "queries: what that takes if the difference seen is the true one; what is spoken of and not in "
    "the table is tested apart from it"
)
COVERAGE_NOTE = (
    "an interval and a p-value cover the choice of queries, not unjudged chunks or "
    "graders; while grading "
    "goes on a p-value is provisional"
)

DeltaKey = tuple[Measure, "str | None", "str | None"]


class Significance(NamedTuple):
    """The test result of one difference.

    ``p`` is from a randomisation test, ``holm`` is p after Holm's correction among the ``family``
    of differences tested together; both are NaN if not tested. ``exact`` is True if all flips were
    counted, ``is_sure`` if the difference is more than chance, see `SIGNIFICANCE_RULE`.
    """

    p: float
    holm: float
    exact: bool
    family: int
    is_sure: bool

    @property
    def kind(self) -> str | None:
        """How p was computed: ``exact`` or ``drawn``; None without a test."""
        if math.isnan(self.p):
            return None
        return "exact" if self.exact else "drawn"


class Power(NamedTuple):
    """The 95% interval of one difference, and what its number of queries can show.

    ``detectable`` is the smallest true difference that so many queries detect with 80% power at the
    5% level. ``more_queries`` is how many more are needed if the observed difference is the true
    one, None where that cannot be computed.
    """

    interval: ConfidenceInterval
    detectable: float
    more_queries: int | None


@dataclass(frozen=True, eq=False)
class SignificanceTable:
    """The test results of differences, by `DeltaKey`."""

    found: Mapping[DeltaKey, Significance] = field(default_factory=dict)

    def of(self, row: Delta) -> Significance:
        """Return the test result of a difference; raises `KeyError` for one not in the table."""
        return self.found[delta_key(row)]

    def sure(self, rows: Iterable[Delta]) -> list[Delta]:
        """Return those of ``rows`` that are more than chance."""
        return [row for row in rows if self.of(row).is_sure]


def delta_key(row: Delta) -> DeltaKey:
    """Return the key of a difference among those of the same two runs."""
    return row.measure, row.facet, row.bucket


def assess_significance(comparison: Comparison, *families: Sequence[Delta]) -> SignificanceTable:
    """Test the differences of two runs, each family of rows together.

    A family is what one table shows: the more rows it has, the larger each difference must be. A
    difference that cannot be tested (see `why_not_tested`) does not count in its family.
    """
    apart = [assess_significance_of_pairs([(comparison, rows)])[0].found for rows in families]
    return SignificanceTable({key: found for each in apart for key, found in each.items()})


def assess_significance_of_pairs(
    pairs: Sequence[tuple[Comparison, Sequence[Delta]]],
) -> list[SignificanceTable]:
    """Test the differences of several pairs of runs, all as one family."""
    rows = [(comparison, row) for comparison, rows in pairs for row in rows]
    tested = p_values(
        [comparison.differences(row) * comparison.weights_of(row) for comparison, row in rows]
    )
    corrected = holm([each.p for each in tested]).tolist()
    family = sum(not math.isnan(each.p) for each in tested)
    by_pair: dict[int, dict[DeltaKey, Significance]] = {
        id(comparison): {} for comparison, _ in pairs
    }
    for (comparison, row), (p, exact), holm_p in zip(rows, tested, corrected, strict=True):
        is_sure = holm_p <= ALPHA and row.n >= FEW and bool(row.direction)
        by_pair[id(comparison)][delta_key(row)] = Significance(p, holm_p, exact, family, is_sure)
    return [SignificanceTable(by_pair[id(comparison)]) for comparison, _ in pairs]


def assess_power(
    comparison: Comparison, rows: Sequence[Delta], sums: SumFunction = resample_sums
) -> list[Power]:
    """Return the 95% interval of each difference and what its number of queries can show."""
    samples, weights = [*map(comparison.differences, rows)], [*map(comparison.weights_of, rows)]
    made = weighted_intervals(samples, weights, DRAWS, sums)
    even = [*map(as_equal_weights, samples, weights)]
    parts = zip(even, made, strict=True)
    return [Power(found, detectable_difference(each), _more_needed(each)) for each, found in parts]


def _more_needed(sample: Floats) -> int | None:
    """Return how many more queries are needed, at least as many as reach `FEW`."""
    needed = queries_needed(sample)
    return None if needed is None else max(needed, FEW - len(sample))


def power_by_key(
    comparison: Comparison, rows: Sequence[Delta], sums: SumFunction = resample_sums
) -> Mapping[DeltaKey, Power]:
    """Return the results of `assess_power` by `delta_key`."""
    return dict(zip(map(delta_key, rows), assess_power(comparison, rows, sums), strict=True))


def why_not_tested(row: Delta) -> str:
    """Return why a difference has no test; nothing if it has one."""
    if row.n and math.isnan(row.delta):
        return f"not tested: {NO_RESULT}"
    if row.n > 1:
        return ""
    return "not tested: one query" if row.n else "not tested: no query counts"


def describe_caution(row: Delta, power: Power) -> str:
    """Return why a difference has no test or interval or has too few queries; empty if neither."""
    if why := why_not_tested(row):
        return why
    few = f"n {row.n}: too few queries to say anything" if row.n < FEW else ""
    return "; ".join(filter(None, [few, power.interval.reason]))


def describe_correction(sizes: Iterable[int]) -> str:
    """Return how many tests were corrected together, with a warning if they are too many for draws.

    >>> describe_correction([8, 8])
    "Holm's correction over all 8 tests shown"
    """
    size = max(sizes, default=0)
    if not size:
        return "nothing could be tested"
    tests = "the one test" if size == 1 else f"all {size:,} tests"
    sentence = f"Holm's correction over {tests} shown"
    if size * smallest_p_value() > ALPHA:
        sentence += (
            f"; so many that a drawn p-value, at least {smallest_p_value():.4f}, "
            "cannot be more than chance among them: show fewer runs, measures or buckets"
        )
    return sentence


def format_p_value(p: float) -> str:
    """Return a p-value with four digits, and ``<0.0001`` where they would be 0.

    >>> format_p_value(0.0312), format_p_value(2**-17), format_p_value(math.nan)
    ('0.0312', '<0.0001', '–')
    """
    return "<0.0001" if p < 0.00005 else format_number(p)


def format_delta_interval(interval: ConfidenceInterval) -> str:
    """Return both ends of a difference's interval, and its method unless that is BCa.

    >>> format_delta_interval(ConfidenceInterval(-0.01, 0.25, "BCa"))
    '−0.0100 to +0.2500'
    """
    if math.isnan(interval.lo):
        return "–"
    method = "" if interval.method == BCA else f" ({interval.method})"
    return f"{format_signed(interval.lo)} to {format_signed(interval.hi)}{method}"


def format_more_queries(power: Power) -> str:
    """Return how many more queries are needed, a dash where that cannot be computed."""
    return "–" if power.more_queries is None else f"{power.more_queries:,}"

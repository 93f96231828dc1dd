"""Significance tests and confidence intervals of differences, and what so many queries can show.

This is the one place that decides whether a difference is more than chance: a randomisation test
after Holm's correction over everything that is shown with it, over at least `FEW` queries.
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
    "an interval and a p-value cover the choice of queries, not holes or graders; while grading "
    "goes on a p-value is provisional"
)

DeltaKey = tuple[Measure, "str | None", "str | None"]


class Significance(NamedTuple):
    """The test of one difference.

    ``p`` is that of a randomisation test, ``holm`` what it is after Holm's correction among the
    ``family`` it was looked at with; both are NaN where it was not tested. ``exact`` says that all
    flips were counted. ``is_sure`` is whether it is more than chance, see `SIGNIFICANCE_RULE`.
    """

    p: float
    holm: float
    exact: bool
    family: int
    is_sure: bool

    @property
    def kind(self) -> str | None:
        """How p came about, None where there is none."""
        if math.isnan(self.p):
            return None
        return "exact" if self.exact else "drawn"


class Power(NamedTuple):
    """What the queries of one difference can show.

    ``detectable`` is the smallest true difference they would find, ``more_queries`` how
    many more it takes if the difference seen is the true one, None where that cannot be said.
    """

    interval: ConfidenceInterval
    detectable: float
    more_queries: int | None


@dataclass(frozen=True, eq=False)
class SignificanceTable:
    """Which differences were tested, and how sure each is."""

    found: Mapping[DeltaKey, Significance] = field(default_factory=dict)

    def of(self, row: Delta) -> Significance:
        """Return the test of a difference; raises `KeyError` for one that was not looked at."""
        return self.found[delta_key(row)]

    def sure(self, rows: Iterable[Delta]) -> list[Delta]:
        """Return which of ``rows`` moved by more than chance."""
        return [row for row in rows if self.of(row).is_sure]


def delta_key(row: Delta) -> DeltaKey:
    """Return what a difference is known by among those of the same two runs."""
    return row.measure, row.facet, row.bucket


def assess_significance(found: Comparison, *families: Sequence[Delta]) -> SignificanceTable:
    """Test differences of two runs; those of one family are looked at together.

    A family is what a table shows: the more it has, the more each has to show. A difference that
    cannot be tested is not in it: see `why_not_tested`.
    """
    apart = [assess_significance_of_pairs([(found, rows)])[0].found for rows in families]
    return SignificanceTable({place: surety for each in apart for place, surety in each.items()})


def assess_significance_of_pairs(
    pairs: Sequence[tuple[Comparison, Sequence[Delta]]],
) -> list[SignificanceTable]:
    """Test differences of any pairs of runs, all of them looked at together."""
    rows = [(found, row) for found, rows in pairs for row in rows]
    tested = p_values([found.differences(row) * found.weighted_by(row) for found, row in rows])
    corrected = holm([each.p for each in tested]).tolist()
    family = sum(not math.isnan(each.p) for each in tested)
    made: dict[int, dict[DeltaKey, Significance]] = {id(found): {} for found, _ in pairs}
    for (found, row), (p, exact), after in zip(rows, tested, corrected, strict=True):
        is_sure = after <= ALPHA and row.n >= FEW and bool(row.direction)
        made[id(found)][delta_key(row)] = Significance(p, after, exact, family, is_sure)
    return [SignificanceTable(made[id(found)]) for found, _ in pairs]


def assess_power(
    found: Comparison, rows: Sequence[Delta], sums: SumFunction = resample_sums
) -> list[Power]:
    """Return for each difference its 95% interval, and what so many queries can show.

    ``sums`` adds up the resamples, see `intervals`.
    """
    samples, weights = [*map(found.differences, rows)], [*map(found.weighted_by, rows)]
    made = weighted_intervals(samples, weights, DRAWS, sums)
    even = [*map(as_equal_weights, samples, weights)]
    parts = zip(even, made, strict=True)
    return [Power(i, detectable_difference(each), _more_needed(each)) for each, i in parts]


def _more_needed(sample: Floats) -> int | None:
    """Return how many more queries it takes, at least those without which nothing is sure."""
    needed = queries_needed(sample)
    return None if needed is None else max(needed, FEW - len(sample))


def power_by_key(
    found: Comparison, rows: Sequence[Delta], sums: SumFunction = resample_sums
) -> Mapping[DeltaKey, Power]:
    """Return the same by what each difference is known by, see `delta_key`."""
    return dict(zip(map(delta_key, rows), assess_power(found, rows, sums), strict=True))


def why_not_tested(row: Delta) -> str:
    """Say why a difference has no test; nothing where it has one."""
    if row.n and math.isnan(row.delta):
        return f"not tested: {NO_RESULT}"
    if row.n > 1:
        return ""
    return "not tested: one query" if row.n else "not tested: no query counts"


def describe_caution(row: Delta, reach: Power) -> str:
    """Say why a difference has no test or interval, or how little it says; else nothing."""
    if why := why_not_tested(row):
        return why
    few = f"n {row.n}: too few queries to say anything" if row.n < FEW else ""
    return "; ".join(filter(None, [few, reach.interval.reason]))


def describe_correction(sizes: Iterable[int]) -> str:
    """Say how many tests were looked at together, and where that is more than draws can bear.

    >>> describe_correction([8, 8])
    "Holm's correction over all 8 tests shown"
    """
    size = max(sizes, default=0)
    if not size:
        return "nothing could be tested"
    tests = "the one test" if size == 1 else f"all {size:,} tests"
    said = f"Holm's correction over {tests} shown"
    if size * smallest_p_value() > ALPHA:
        said += (
            f"; so many that a drawn p-value, at least {smallest_p_value():.4f}, "
            "cannot be more than chance"
            " among them: show fewer runs, measures or buckets"
        )
    return said


def format_p_value(p: float) -> str:
    """Return a p-value with four digits; one that would be 0 is said to be below the last.

    >>> format_p_value(0.0312), format_p_value(2**-17), format_p_value(math.nan)
    ('0.0312', '<0.0001', '–')
    """
    return "<0.0001" if p < 0.00005 else format_number(p)


def format_delta_interval(interval: ConfidenceInterval) -> str:
    """Return both ends of a difference's interval, and how it was made where that is not BCa.

    >>> format_delta_interval(ConfidenceInterval(-0.01, 0.25, "BCa"))
    '−0.0100 to +0.2500'
    """
    if math.isnan(interval.lo):
        return "–"
    method = "" if interval.method == BCA else f" ({interval.method})"
    return f"{format_signed(interval.lo)} to {format_signed(interval.hi)}{method}"


def format_more_queries(reach: Power) -> str:
    """Return how many more queries are needed, a dash where that cannot be said."""
    return "–" if reach.more_queries is None else f"{reach.more_queries:,}"

"""Buckets of a comparison: where B loses clearly, sorting, and cross tables of two facets.

A mean over all queries can rise while a bucket falls; `describe_buckets` names such buckets.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from labeler.analysis.comparison.deltas import Comparison, Delta
from labeler.analysis.comparison.significance import PairTests
from labeler.errors import BadInput
from labeler.evaluation import Score, Scoreboard, format_signed
from labeler.measures import Bools, Floats, Ints, Measure
from labeler.model.results import DOUBT, NOTE, Statement
from labeler.stats import ALPHA, FEWEST_QUERIES


@dataclass(frozen=True, slots=True)
class CrossedCell:
    """One cell of two crossed facets: for each run, in the order given, a value and two counts.

    ``unjudged`` counts unjudged chunks, ``transferred`` transferred grades. Values are NaN where no
    query counts, and for a run without a result for any query that counts. ``n`` and ``undefined``
    are the same for all runs.
    """

    bucket: str
    other: str
    values: tuple[float, ...]
    n: int
    undefined: int
    unjudged: tuple[int, ...]
    transferred: tuple[int, ...]

    @property
    def delta(self) -> float:
        """The last run's value minus the first's: B minus A for two runs."""
        return self.values[-1] - self.values[0]


MOST_BUCKETS_NAMED = 3
BUCKETS = "Buckets"


def describe_buckets(
    tests: PairTests, names: tuple[str, str] | None = None, facet: str | None = None
) -> list[Statement]:
    """Return in how many buckets B loses clearly, and in which, the largest loss first.

    Where B is worse overall, also in which it gains. A bucket that is too small to test is named if
    all of its queries fall and that would rarely happen by chance. ``names`` are shown for A and B.
    Of one ``facet`` its buckets alone are counted; they stay corrected for those of all facets.
    """
    row, b = tests.total, (names or (tests.a, tests.b))[1]
    if row is None or math.isnan(row.delta) or not tests.buckets:
        return []
    said = [*_small_falls(tests, facet), *_count_clear(tests, b, -1, facet)]
    if row.delta < 0 and any(each.delta > 0 for each in _clear_buckets(tests, facet)):
        said += _count_clear(tests, b, 1, facet)
    return said


def clear_losses(tests: PairTests, facet: str | None = None) -> list[Delta]:
    """Return the buckets in which B loses clearly, of a facet or of all, the largest loss first."""
    rows = [row for row in _clear_buckets(tests, facet) if row.delta < 0]
    return sorted(rows, key=lambda row: row.delta)


def facet_to_open(tests: PairTests) -> str | None:
    """Return the facet with the largest clear loss, else with the largest; None without a loss."""
    rows = clear_losses(tests) or [row for row in tests.tested_buckets if row.delta < 0]
    return min(rows, key=lambda row: row.delta).facet if rows else None


def of_facet(rows: Iterable[Delta], facet: str | None) -> list[Delta]:
    """Return the buckets of one facet, or of all."""
    return [row for row in rows if facet in (None, row.facet)]


def _clear_buckets(tests: PairTests, facet: str | None) -> list[Delta]:
    return [row for row in of_facet(tests.tested_buckets, facet) if tests.of(row).is_clear]


def _count_clear(tests: PairTests, b: str, sign: int, facet: str | None) -> list[Statement]:
    """Return how many buckets move clearly in one direction, and which do so most."""
    rows = [row for row in _clear_buckets(tests, facet) if row.delta * sign > 0]
    rows.sort(key=lambda row: -abs(row.delta))
    tested, small = (
        len(of_facet(each, facet)) for each in (tests.tested_buckets, tests.small_buckets)
    )
    of, every = f"{facet} " if facet else "", len(tests.tested_buckets)
    kind, verb = ("bucket losses", "loses") if sign < 0 else ("bucket gains", "gains")
    numbers = {"clear": len(rows), "tested": tested, "too_small": small}
    if not tested:
        few = f"No {of}bucket has {FEWEST_QUERIES} queries, so none is tested."
        return [Statement(kind, few, NOTE, BUCKETS, numbers)]
    tests_of = f"{'tested ' * bool(small)}{of}"
    corrected = f" (corrected for all {every:,})" if tested < every else ""
    left = ""
    if small:
        has = "bucket has" if small == 1 else "have"
        left = f"; {small:,} {has} fewer than {FEWEST_QUERIES} queries"
    count = f"{len(rows):,}" if rows else "none"
    sentence = (
        f"{b} {verb} clearly in {count} of the {tested:,} {tests_of}buckets{corrected}{left}."
    )
    if tested == 1:
        verb = f"{verb} clearly" if rows else f"does not {'lose' if sign < 0 else 'gain'} clearly"
        sentence = f"{b} {verb} in the one {tests_of}bucket{corrected}{left}."
    to = {"page": "slices", "facet": str(rows[0].facet)} if rows else None
    said = [Statement(kind, sentence, DOUBT, BUCKETS, numbers, to)]
    return said + [_name_bucket(tests, row) for row in rows[:MOST_BUCKETS_NAMED]]


def _name_bucket(tests: PairTests, row: Delta) -> Statement:
    test, heading = tests.of(row), _heading(tests, row)
    differ = f"{test.differ:,} of {row.n:,} queries differ"
    sentence = f"{row.facet} = {row.bucket}: {format_signed(row.delta)} {heading} ({differ})."
    numbers = {"delta": row.delta, "n": row.n, "differ": test.differ, "p": test.p_corrected}
    return Statement(
        "bucket loss" if row.delta < 0 else "bucket gain",
        sentence,
        DOUBT,
        numbers=numbers,
        target=_target(row),
    )


def _small_falls(tests: PairTests, facet: str | None) -> list[Statement]:
    """Return the largest fall in a bucket too small to test, if chance alone would hardly do it.

    All n queries fall with a probability of 1 in 2^n where A and B are alike; that has to be rare
    among all small buckets.
    """
    small = tests.small_buckets
    falls = [row for row in small if row.losses == row.n and len(small) * 0.5**row.n <= ALPHA]
    falls = of_facet(falls, facet)
    if not falls:
        return []
    row = min(falls, key=lambda each: each.delta)
    sentence = (
        f"But {row.facet} = {row.bucket} falls in all {row.n} queries, by {abs(row.delta):.4f} on "
        f"average: too few to test. Grade {FEWEST_QUERIES - row.n} more of its queries."
    )
    numbers = {"delta": row.delta, "n": row.n}
    return [Statement("small bucket", sentence, DOUBT, BUCKETS, numbers, _target(row))]


def _heading(tests: PairTests, row: Delta) -> str:
    return tests.source_of(row).conventions.heading(row.measure)


def _target(row: Delta) -> dict[str, str]:
    return {"page": "queries", "facet": str(row.facet), "bucket": str(row.bucket)}


def cross_facets(
    board: Scoreboard, runs: Sequence[str], measure: Measure, facet: str, other: str
) -> tuple[CrossedCell, ...]:
    """Return a measure's means for each pair of buckets of ``facet`` and ``other``, row by row.

    Pairs without queries are included (``n`` 0, NaN). Raises `NotFound` for an unknown run or
    facet, `BadInput` where the facets are the same or ``runs`` is empty.
    """
    if facet == other:
        raise BadInput(f"facet {facet!r} cannot be crossed with itself; choose two facets")
    if not runs:
        raise BadInput("no run is named; choose one or two")
    board = board.snapshot()
    (rows, at_row), (columns, at_column) = board.groups(facet), board.groups(other)
    outside = (at_row == len(rows)) | (at_column == len(columns)) | ~board.judged_for(measure)
    size = len(rows) * len(columns)
    group = np.where(outside, size, at_row * len(columns) + at_column)
    indices = [board.column_of(run) for run in runs]
    values, unjudged = board.values(measure)[:, indices], board.unjudged(measure)[:, indices]
    transferred = board.transferred(measure)[:, indices]
    names = [(str(row), str(column)) for row in rows for column in columns]
    return _crossed_cells(names, group, board.counted(measure), values, unjudged, transferred)


def _crossed_cells(
    names: Sequence[tuple[str, str]],
    group: Ints,
    counted: Bools,
    values: Floats,
    *counts: Ints,
) -> tuple[CrossedCell, ...]:
    queries, n = _sums(group, len(names)), _sums(group[counted], len(names))
    sums = [_sums(group[counted], len(names), column) for column in values[counted].T]
    means = [np.divide(each, n, out=np.full(len(n), np.nan), where=n > 0) for each in sums]
    unjudged, transferred = ([_sums(group, len(names), column) for column in of.T] for of in counts)
    return tuple(
        CrossedCell(row, column, given, counted, total - counted, gaps, over)
        for (row, column), given, counted, total, gaps, over in zip(
            names,
            zip(*(mean.tolist() for mean in means), strict=True),
            n.astype(int).tolist(),
            queries.astype(int).tolist(),
            zip(*(count.astype(int).tolist() for count in unjudged), strict=True),
            zip(*(count.astype(int).tolist() for count in transferred), strict=True),
            strict=True,
        )
    )


def _sums(group: Ints, size: int, weights: Floats | Ints | None = None) -> Floats:
    sums: Floats = np.bincount(group, weights, minlength=size + 1)[:size].astype(np.float64)
    return sums


def worst_first(comparison: Comparison, least: int) -> list[str]:
    """Return the buckets by the first measure's delta, the lowest first.

    Buckets of fewer than ``least`` queries come after all others, those without a value last. Equal
    ones keep the order of the facet.
    """
    first = comparison.measures[0]
    rows = [(row.bucket, row.n, row.delta) for row in comparison.buckets if row.measure == first]
    return _order_buckets(rows, least)


def lowest_first(scores: Iterable[Score], least: int) -> list[str]:
    """Return the buckets of one run by value, the lowest first; otherwise as `worst_first`.

    ``scores`` are those of one measure.
    """
    return _order_buckets([(row.bucket, row.n, row.value) for row in scores], least)


def _order_buckets(rows: Iterable[tuple[str | None, int, float]], least: int) -> list[str]:
    def place(row: tuple[str | None, int, float]) -> tuple[bool, bool, float]:
        _, n, value = row
        undefined = math.isnan(value)
        return undefined, n < least, 0.0 if undefined else value

    return [str(bucket) for bucket, _, _ in sorted(rows, key=place)]

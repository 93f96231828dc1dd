"""Buckets of a comparison: contradictions of the total, sorting, and cross tables of two facets.

A mean over all queries can rise while a bucket falls; `find_contradictions` finds such buckets.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from labeler.analysis.comparison.deltas import Comparison, Delta
from labeler.analysis.comparison.significance import SignificanceTable, assess_significance
from labeler.errors import BadInput
from labeler.evaluation import Score, Scoreboard
from labeler.measures import Bools, Floats, Ints, Measure


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A bucket that moves against the total, by the same measure."""

    bucket: Delta
    total: Delta
    sentence: str


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


def find_contradictions(
    comparison: Comparison,
    names: tuple[str, str] | None = None,
    tested: SignificanceTable | None = None,
) -> tuple[Contradiction, ...]:
    """Return the buckets that move against the total by more than chance, the largest move first.

    ``tested`` are the tests of the buckets; without it, each is tested among all buckets and totals
    by all measures. A bucket that moves also contradicts a total that does not.
    Judged is left out, as it does not rank runs. ``names`` replace the names of A and B.
    """
    tested = assess_buckets(comparison) if tested is None else tested
    found = []
    for total in comparison.deltas:
        if not total.measure.definition.always_defined:
            rows = [row for row in comparison.buckets if row.measure == total.measure]
            found += [
                Contradiction(row, total, _describe_contradiction(comparison, row, total, names))
                for row in tested.sure(rows)
                if row.direction != total.direction
            ]
    return tuple(sorted(found, key=lambda each: -abs(each.bucket.delta)))


def assess_buckets(comparison: Comparison) -> SignificanceTable:
    """Test all buckets and totals of a comparison as one family: one table shows them all."""
    return assess_significance(comparison, [*comparison.deltas, *comparison.buckets])


def find_worst_bucket(
    comparison: Comparison, measure: Measure, tested: SignificanceTable
) -> Delta | None:
    """Return the bucket in which B loses most, of those where it loses by more than chance."""
    falling = [row for row in proper_buckets(comparison, measure) if row.direction < 0]
    return min(tested.sure(falling), key=lambda row: row.delta, default=None)


def proper_buckets(comparison: Comparison, measure: Measure) -> list[Delta]:
    """Return a measure's deltas in buckets, without buckets that contain all queries."""
    [total] = [row for row in comparison.deltas if row.measure == measure]
    return [row for row in comparison.buckets if row.measure == measure and row.n < total.n]


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


def _describe_contradiction(
    comparison: Comparison, row: Delta, total: Delta, names: tuple[str, str] | None
) -> str:
    a, b = names or (comparison.a, comparison.b)
    heading = comparison.conventions.heading(row.measure)
    return (
        f"{row.facet} = {row.bucket} moves against the total: {heading} {_format_move(row)} "
        f"(n {row.n:,}) from {a} to {b}, but over all queries it "
        f"{_format_move(total)} (n {total.n:,})"
    )


def _format_move(row: Delta) -> str:
    if not row.direction:
        return "stays"
    return f"{'rises' if row.direction > 0 else 'falls'} by {abs(row.delta):.4f}"


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

"""Where one number misleads: buckets against the total, and where two facets cross."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from labeler.analysis.comparison.deltas import Comparison, Delta
from labeler.analysis.comparison.surety import Sureties, sureties
from labeler.errors import BadInput
from labeler.evaluation import Scoreboard
from labeler.measures import Bools, Floats, Ints, Measure


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A bucket that moves against the total, by the same measure."""

    bucket: Delta
    total: Delta
    sentence: str


@dataclass(frozen=True, slots=True)
class Cell:
    """Where two facets cross: one value, and count of holes and of
    carried grades, for each run, in the order asked for.

    Values are NaN where no query counts, and for a run that has no result for any that does. ``n``
    and ``undefined`` are the same for all runs.
    """

    bucket: str
    other: str
    values: tuple[float, ...]
    n: int
    undefined: int
    holes: tuple[int, ...]
    carried: tuple[int, ...]

    @property
    def delta(self) -> float:
        """The last run's value minus the first's: B minus A where two were asked for."""
        return self.values[-1] - self.values[0]


def contradictions(
    comparison: Comparison,
    names: tuple[str, str] | None = None,
    tested: Sureties | None = None,
) -> tuple[Contradiction, ...]:
    """Return the buckets that move against the total by more than chance, the largest move first.

    ``tested`` are the tests of the buckets; without it, each is tested among all buckets and totals
    by all measures. A total that four digits do not show to move is moved against, too. Judged is
    left out, as it says nothing of a ranking. ``names`` are what A and B are called, their own
    unless given.
    """
    tested = sliced(comparison) if tested is None else tested
    found = []
    for total in comparison.deltas:
        if not total.measure.definition.always_defined:
            rows = [row for row in comparison.buckets if row.measure == total.measure]
            found += [
                Contradiction(row, total, _against(comparison, row, total, names))
                for row in tested.sure(rows)
                if row.direction != total.direction
            ]
    return tuple(sorted(found, key=lambda each: -abs(each.bucket.delta)))


def sliced(comparison: Comparison) -> Sureties:
    """Test all buckets and totals of a comparison together, as one table shows them."""
    return sureties(comparison, [*comparison.deltas, *comparison.buckets])


def worst_bucket(comparison: Comparison, measure: Measure, tested: Sureties) -> Delta | None:
    """Return the bucket in which B loses most of those where it does by more than chance."""
    falling = [row for row in parts_of(comparison, measure) if row.direction < 0]
    return min(tested.sure(falling), key=lambda row: row.delta, default=None)


def parts_of(comparison: Comparison, measure: Measure) -> list[Delta]:
    """Return a measure's differences in buckets, without one that holds all: it is the total."""
    [total] = [row for row in comparison.deltas if row.measure == measure]
    return [row for row in comparison.buckets if row.measure == measure and row.n < total.n]


def crossed(
    board: Scoreboard, runs: Sequence[str], measure: Measure, facet: str, other: str
) -> tuple[Cell, ...]:
    """Return a measure's means where a bucket of ``facet`` meets one of ``other``, row by row.

    Every combination is there, also one without queries (``n`` 0, NaN). Raises `NotFound` for an
    unknown run or facet, `BadInput` where the facets are the same or no run is named.
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
    places = [board.column_of(run) for run in runs]
    values, holes = board.values(measure)[:, places], board.holes(measure)[:, places]
    carried = board.carried(measure)[:, places]
    names = [(str(row), str(column)) for row in rows for column in columns]
    return _cells(names, group, board.counted(measure), values, holes, carried)


def _cells(
    names: Sequence[tuple[str, str]],
    group: Ints,
    counted: Bools,
    values: Floats,
    *counts: Ints,
) -> tuple[Cell, ...]:
    queries, n = _sums(group, len(names)), _sums(group[counted], len(names))
    sums = [_sums(group[counted], len(names), column) for column in values[counted].T]
    means = [np.divide(each, n, out=np.full(len(n), np.nan), where=n > 0) for each in sums]
    holes, carried = ([_sums(group, len(names), column) for column in of.T] for of in counts)
    return tuple(
        Cell(row, column, given, counted, total - counted, gaps, over)
        for (row, column), given, counted, total, gaps, over in zip(
            names,
            zip(*(mean.tolist() for mean in means), strict=True),
            n.astype(int).tolist(),
            queries.astype(int).tolist(),
            zip(*(count.astype(int).tolist() for count in holes), strict=True),
            zip(*(count.astype(int).tolist() for count in carried), strict=True),
            strict=True,
        )
    )


def _sums(group: Ints, size: int, weights: Floats | Ints | None = None) -> Floats:
    sums: Floats = np.bincount(group, weights, minlength=size + 1)[:size].astype(np.float64)
    return sums


def _against(
    comparison: Comparison, row: Delta, total: Delta, names: tuple[str, str] | None
) -> str:
    a, b = names or (comparison.a, comparison.b)
    heading = comparison.conventions.heading(row.measure)
    return (
        f"{row.facet} = {row.bucket} moves against the total: {heading} {_moves(row)} "
        f"(n {row.n:,}) from {a} to {b}, but over all queries it {_moves(total)} (n {total.n:,})"
    )


def _moves(row: Delta) -> str:
    if not row.direction:
        return "stays"
    return f"{'rises' if row.direction > 0 else 'falls'} by {abs(row.delta):.4f}"

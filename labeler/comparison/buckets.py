"""Where one number misleads: buckets against the total, measures against each other, crossings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from labeler.comparison.deltas import Comparison, Delta
from labeler.errors import BadInput
from labeler.evaluation import Scoreboard, signed
from labeler.measures import Bools, Floats, Ints, Measure

VISIBLE = 5e-5
"""A mean that moves by less shows no change in four digits, and is not spoken of."""


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A bucket that moves against the total, by the same measure."""

    bucket: Delta
    total: Delta
    sentence: str


@dataclass(frozen=True, slots=True)
class Cell:
    """Where two facets cross: one value and hole count for each run, in the order asked for.

    Values are NaN where no query counts, and for a run that has no result for any that does. ``n``
    and ``undefined`` are the same for all runs.
    """

    bucket: str
    other: str
    values: tuple[float, ...]
    n: int
    undefined: int
    holes: tuple[int, ...]

    @property
    def delta(self) -> float:
        """The last run's value minus the first's: B minus A where two were asked for."""
        return self.values[-1] - self.values[0]


def contradictions(comparison: Comparison) -> tuple[Contradiction, ...]:
    """Return the buckets that move against the total, the largest move first.

    However few queries a bucket has: its ``n`` stands in the sentence. Changes that four digits do
    not show are left out, and so is Judged, which says nothing of a ranking.
    """
    totals = {row.measure: row for row in comparison.deltas}
    found = [
        Contradiction(row, totals[row.measure], _against(comparison, row, totals[row.measure]))
        for row in comparison.buckets
        if _direction(row) * _direction(totals[row.measure]) < 0
    ]
    return tuple(sorted(found, key=lambda each: -abs(each.bucket.delta)))


def one_number(comparison: Comparison) -> tuple[str, ...]:
    """Say in a sentence which of the chosen measures rise while others fall; nothing if none do.

    Changes that four digits do not show are no contradiction, and Judged is not asked.
    """
    up = [row for row in comparison.deltas if _direction(row) > 0]
    down = [row for row in comparison.deltas if _direction(row) < 0]
    if not up or not down:
        return ()
    rising, falling = (", ".join(_named(comparison, row) for row in rows) for rows in (up, down))
    return (
        f"No one number tells: from {comparison.a} to {comparison.b}, {rising} "
        f"{'rises' if len(up) == 1 else 'rise'} while {falling} "
        f"{'falls' if len(down) == 1 else 'fall'}",
    )


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
    outside = (at_row == len(rows)) | (at_column == len(columns)) | ~board.judged
    size = len(rows) * len(columns)
    group = np.where(outside, size, at_row * len(columns) + at_column)
    places = [board.column_of(run) for run in runs]
    values, holes = board.values(measure)[:, places], board.holes(measure)[:, places]
    names = [(str(row), str(column)) for row in rows for column in columns]
    return _cells(names, group, board.counted(measure), values, holes)


def _cells(
    names: Sequence[tuple[str, str]], group: Ints, counted: Bools, values: Floats, holes: Ints
) -> tuple[Cell, ...]:
    queries, n = _sums(group, len(names)), _sums(group[counted], len(names))
    sums = [_sums(group[counted], len(names), column) for column in values[counted].T]
    means = [np.divide(each, n, out=np.full(len(n), np.nan), where=n > 0) for each in sums]
    counts = [_sums(group, len(names), column) for column in holes.T]
    return tuple(
        Cell(row, column, given, counted, total - counted, gaps)
        for (row, column), given, counted, total, gaps in zip(
            names,
            zip(*(mean.tolist() for mean in means), strict=True),
            n.astype(int).tolist(),
            queries.astype(int).tolist(),
            zip(*(count.astype(int).tolist() for count in counts), strict=True),
            strict=True,
        )
    )


def _sums(group: Ints, size: int, weights: Floats | Ints | None = None) -> Floats:
    sums: Floats = np.bincount(group, weights, minlength=size + 1)[:size].astype(np.float64)
    return sums


def _direction(row: Delta) -> int:
    if row.measure.definition.always_defined or math.isnan(row.delta) or abs(row.delta) < VISIBLE:
        return 0
    return 1 if row.delta > 0 else -1


def _against(comparison: Comparison, row: Delta, total: Delta) -> str:
    verb, against = ("falls", "rises") if row.delta < 0 else ("rises", "falls")
    return (
        f"{row.facet} = {row.bucket} moves against the total: "
        f"{comparison.conventions.heading(row.measure)} {verb} by {abs(row.delta):.4f} (n {row.n}) "
        f"from {comparison.a} to {comparison.b}, but over all queries it {against} "
        f"by {abs(total.delta):.4f} (n {total.n})"
    )


def _named(comparison: Comparison, row: Delta) -> str:
    return f"{comparison.conventions.heading(row.measure)} ({signed(row.delta)})"

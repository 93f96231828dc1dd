"""Differences between two runs by measure, by bucket and by query, over the same queries."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from labeler.errors import BadInput, Incomparable
from labeler.evaluation import Conventions, Score, Scoreboard
from labeler.measures import Bools, Floats, Ints, Measure

VISIBLE = 5e-5
"""A mean that moves by less shows no change in four digits and is not mentioned in sentences."""

TOLERANCE = 1e-12
"""Two values nearer than this are a tie: only the order of summation separates them."""


class Delta(NamedTuple):
    """The difference between A and B by one measure, over all queries or those of one bucket.

    ``delta`` is ``b - a``. Both means are over the same ``n`` queries; B's ``wins``, ``ties`` and
    ``losses`` (see `TOLERANCE`) add up to ``n``. A query without a list counts 0 for that run and
    is one of its ``missing``. ``unjudged`` and ``missing`` include the ``undefined`` queries.
    A mean is NaN if no query counts, or if the run returned nothing for all queries that count;
    wins, ties and losses are then 0. Whether a delta is more than chance depends on the rows shown
    with it (see `assess_significance`).
    """

    measure: Measure
    facet: str | None
    bucket: str | None
    a: float
    b: float
    delta: float
    wins: int
    ties: int
    losses: int
    n: int
    undefined: int
    unjudged_a: int
    unjudged_b: int
    missing_a: int
    missing_b: int
    transferred_a: int = 0
    transferred_b: int = 0

    @property
    def direction(self) -> int:
        """1 where B is visibly above A, -1 where below, 0 where four digits show no difference."""
        if math.isnan(self.delta) or abs(self.delta) < VISIBLE:
            return 0
        return 1 if self.delta > 0 else -1


class CommonMeans(NamedTuple):
    """The means over the ``n`` queries for which both runs have results."""

    n: int
    a: float
    b: float

    @property
    def delta(self) -> float:
        return self.b - self.a


class QueryDelta(NamedTuple):
    """The difference between A and B for one query; NaN where there is no value.

    ``counted`` is True if the query is in the means, ``judged`` if somebody graded one of its
    chunks.
    """

    measure: Measure
    query_id: str
    a: float
    b: float
    delta: float
    judged: bool
    counted: bool
    unjudged_a: int
    unjudged_b: int
    missing_a: bool
    missing_b: bool
    transferred_a: int = 0
    transferred_b: int = 0


@dataclass(frozen=True, eq=False)
class MeasureColumn:
    """One measure's values by query: arrays of shape (queries,), or (queries, 2) for A and B."""

    a: Floats
    b: Floats
    counted: Bools
    unjudged: Ints
    judged: Bools
    transferred: Ints

    @property
    def delta(self) -> Floats:
        """B minus A, (queries,)."""
        return self.b - self.a


@dataclass(frozen=True, eq=False)
class Comparison:
    """The comparison of run ``b`` with run ``a`` at one revision of the golden set.

    ``deltas`` has one row per measure, over all queries; ``buckets`` one per measure and bucket of
    ``facet``, none without a facet. ``missing`` says whether A and B have no list for a query,
    ``answered`` whether their lists contain a chunk; both are (queries, 2). ``groups`` are the
    buckets and the index of each query's bucket, one past the last for a query without a bucket.
    ``weights`` (queries,) weight the means; None if all queries count the same. ``apart`` is True
    if A and B are of different chunkings.
    """

    a: str
    b: str
    conventions: Conventions
    revision: int
    deltas: tuple[Delta, ...]
    facet: str | None
    buckets: tuple[Delta, ...]
    query_ids: tuple[str, ...]
    judged: Bools
    missing: Bools
    answered: Bools
    groups: tuple[tuple[str | None, ...], Ints]
    columns: Mapping[Measure, MeasureColumn]
    weights: Floats | None = None
    apart: bool = False

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures compared; ``@prompt`` is a number if it is the same for all queries."""
        return tuple(self.columns)

    def differences(self, row: Delta) -> Floats:
        """Return B minus A for each query in a row's means; ties are 0."""
        delta = self.columns[row.measure].delta[self._known(row)]
        return np.where(np.abs(delta) <= TOLERANCE, 0.0, delta)

    def weights_of(self, row: Delta) -> Floats:
        """Return the weight of each query in a row's means, 1 where all count the same."""
        known = self._known(row)
        return np.ones(len(known)) if self.weights is None else self.weights[known]

    def _known(self, row: Delta) -> Ints:
        """Return the indices of the queries in a row's means."""
        has_value = ~np.isnan(self.columns[row.measure].delta)
        return np.flatnonzero(has_value & self._inside(row.bucket))

    def means_in_common(self, row: Delta) -> CommonMeans | None:
        """Return a row's means over the queries that both runs answered.

        None if no query was answered by one run alone, or if the row has no value.
        """
        column, both = self.columns[row.measure], self.answered.all(axis=1)
        counted = column.counted & self._inside(row.bucket)
        apart = counted & (self.answered[:, 0] != self.answered[:, 1])
        if math.isnan(row.delta) or not apart.any():
            return None
        there = counted & both
        n = int(there.sum())
        weights = None if self.weights is None else self.weights[there]
        a, b = (
            float(np.average(side[there], weights=weights)) if n else math.nan
            for side in (column.a, column.b)
        )
        return CommonMeans(n, a, b)

    def _inside(self, bucket: str | None) -> Bools:
        """Return a mask of the queries in a bucket; of all queries for None."""
        names, group = self.groups
        if bucket is None:
            return np.ones(len(group), dtype=np.bool_)
        inside: Bools = group == names.index(bucket)
        return inside

    def queries(self, measure: Measure | None = None) -> list[QueryDelta]:
        """Return one row per query for a measure (the first for None), in the collection's order.

        Undefined and ungraded queries are included, with NaN. Raises `BadInput` for a measure that
        was not compared.
        """
        measure = self.measures[0] if measure is None else measure
        if measure not in self.columns:
            available = ", ".join(str(each) for each in self.measures)
            raise BadInput(f"{measure} was not compared; there are: {available}")
        column = self.columns[measure]
        return [
            QueryDelta(measure, query_id, *rest)
            for query_id, *rest in zip(
                self.query_ids,
                column.a.tolist(),
                column.b.tolist(),
                column.delta.tolist(),
                column.judged.tolist(),
                column.counted.tolist(),
                *column.unjudged.T.tolist(),
                *self.missing.T.tolist(),
                *column.transferred.T.tolist(),
                strict=True,
            )
        ]


def compare(
    board: Scoreboard, a: str, b: str, measures: Iterable[Measure], facet: str | None = None
) -> Comparison:
    """Compare run ``b`` with run ``a`` by each measure, and by each bucket of ``facet``.

    Means are over the same queries for both. A mean can rise while most queries fall, so B's wins
    and losses are counted as well:

    >>> from labeler.evaluation import Conventions, collect
    >>> runs = {"A": {"q1": ["c"], "q2": ["c"], "q3": ["x", "y", "z", "c"]},
    ...         "B": {"q1": ["x", "c"], "q2": ["x", "c"], "q3": ["c"]}}
    >>> qrels = {query: {"c": 1} for query in ("q1", "q2", "q3")}
    >>> board = Scoreboard(collect(qrels, runs), Conventions.of())
    >>> [row] = compare(board, "A", "B", board.conventions.measures("RR")).deltas
    >>> round(row.a, 4), round(row.b, 4), row.wins, row.losses
    (0.75, 0.6667, 1, 2)

    Raises `NotFound` for an unknown run or facet, `BadInput` for two runs that cannot be compared
    (see `check_pair`) and for an empty list of measures.
    """
    board = board.snapshot()
    check_pair(board, a, b)
    chosen = board.resolve(measures)
    if not chosen:
        raise BadInput("no measure is named; choose one or more, such as nDCG@10")
    board.means(chosen)  # computes all at once, which is faster than one by one
    columns = {measure: _column(board, a, b, measure) for measure in chosen}
    return Comparison(
        a,
        b,
        board.conventions,
        board.revision,
        tuple(_deltas(board, a, b, columns, None)),
        facet,
        () if facet is None else tuple(_deltas(board, a, b, columns, facet)),
        board.collection.query_ids,
        board.judged,
        np.stack([board.absent(a), board.absent(b)], axis=1),
        np.stack([_answered(board, a), _answered(board, b)], axis=1),
        board.groups(facet),
        columns,
        board.weights,
        len({run.chunking for run in board.collection.runs if run.name in (a, b)}) > 1,
    )


def check_pair(board: Scoreboard, a: str, b: str) -> None:
    """Raise `BadInput` if A and B are the same run.

    Raise `Incomparable` if one has no result for any query, or if they share no query.
    """
    answered = [_answered(board, run) for run in (a, b)]
    if a == b:
        raise BadInput(f"A and B are both {a!r}; choose two different runs")
    for run, queries in zip((a, b), answered, strict=True):
        if not queries.any():
            raise Incomparable(f"run {run!r} has no result for any query of the golden set")
    if not np.any(answered[0] & answered[1]):
        raise Incomparable(f"runs {a!r} and {b!r} share no query; nothing can be compared")


def _answered(board: Scoreboard, run: str) -> Bools:
    answered: Bools = board.hits(run).length > 0
    return answered


def _column(board: Scoreboard, a: str, b: str, measure: Measure) -> MeasureColumn:
    places = [board.column_of(run) for run in (a, b)]
    values = board.values(measure)[:, places]
    unjudged = board.unjudged(measure)[:, places]
    judged, transferred = board.judged_for(measure), board.transferred(measure)[:, places]
    return MeasureColumn(
        values[:, 0], values[:, 1], board.counted(measure), unjudged, judged, transferred
    )


def _deltas(
    board: Scoreboard, a: str, b: str, columns: Mapping[Measure, MeasureColumn], facet: str | None
) -> Iterator[Delta]:
    table = board.table(columns, facet)
    rows_a, rows_b = ([row for row in table if row.run == run] for run in (a, b))
    buckets, group = board.groups(facet)
    counts = np.concatenate(
        [_count_outcomes(column.delta, group, len(buckets)) for column in columns.values()]
    )
    rows = zip(rows_a, rows_b, counts.tolist(), strict=True)
    for row_a, row_b, (wins, ties, losses) in rows:
        yield _delta(row_a, row_b, wins, ties, losses)


def _count_outcomes(delta: Floats, group: Ints, size: int) -> Ints:
    """Return B's wins, ties and losses in each bucket, (buckets, 3); NaN is none of them."""
    outcomes = (delta > TOLERANCE, np.abs(delta) <= TOLERANCE, delta < -TOLERANCE)
    counts = [np.bincount(group[chosen], minlength=size + 1)[:size] for chosen in outcomes]
    return np.stack(counts, axis=1)


def _delta(a: Score, b: Score, wins: int, ties: int, losses: int) -> Delta:
    return Delta(
        measure=a.measure,
        facet=a.facet,
        bucket=a.bucket,
        a=a.value,
        b=b.value,
        delta=b.value - a.value,
        wins=wins,
        ties=ties,
        losses=losses,
        n=a.n,
        undefined=a.undefined,
        unjudged_a=a.unjudged,
        unjudged_b=b.unjudged,
        missing_a=a.missing,
        missing_b=b.missing,
        transferred_a=a.transferred,
        transferred_b=b.transferred,
    )

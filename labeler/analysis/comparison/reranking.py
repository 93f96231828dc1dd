"""What a perfect reranker would make of a run, over all queries; and what it leaves to recall."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

import numpy as np

from labeler.errors import BadInput
from labeler.evaluation import Conventions, Note, Scoreboard, number, signed
from labeler.measures import Bools, Floats, Hits, Ints, Measure

TOPS = (10, 20, 50, 100)
"""How many candidates a reranker usually gets."""


class Reranked(NamedTuple):
    """A run's mean by one measure as it is, reranked, and with nothing left to find.

    ``reranked`` is the mean if every known relevant chunk of the top ``top`` stood first, the best
    grade before the others; ``complete`` that of a list which holds all that are known, in that
    order. All are over the same ``n`` queries, and NaN where there is none or the run has no
    result.
    """

    run: str
    measure: Measure
    top: int
    now: float
    reranked: float
    complete: float
    n: int

    @property
    def order(self) -> float:
        """What a perfect order of these candidates would gain."""
        return self.reranked - self.now

    @property
    def recall(self) -> float:
        """What no order of these candidates can give."""
        return self.complete - self.reranked


def reranked(
    board: Scoreboard,
    run: str,
    measures: Iterable[Measure],
    top: int,
    only: Collection[str] | None = None,
) -> tuple[Reranked, ...]:
    """Say what each mean would be if a perfect reranker saw the ``top`` first of every list.

    Only known grades count: what nobody graded stays where it is, below, and gains nothing. Means
    are over all queries, or those in ``only``. Raises `BadInput` for a top that is no rank,
    `NotFound` for an unknown run.

    >>> from labeler.evaluation import collect
    >>> lists = {"q1": ["x", "c"], "q2": ["x", "y", "d"]}
    >>> board = Scoreboard(collect({"q1": {"c": 1}, "q2": {"d": 1}}, {"A": lists}), Conventions())
    >>> [row] = reranked(board, "A", board.conventions.measures("RR"), 2)
    >>> round(row.now, 4), round(row.reranked, 4), row.complete
    (0.4167, 0.6667, 1.0)
    """
    if top < 1:
        raise BadInput(f"a reranker sees the first 1 or more chunks of a list, not {top}")
    board = board.snapshot()
    inside = np.array([only is None or name in only for name in board.collection.query_ids], bool)
    hits = board.hits(run)
    better, best = _with_best_first(hits, top), _with_all_found(hits)
    found = []
    for measure in board.resolve(measures):
        now = board.values(measure)[:, board.column_of(run)]
        then, most = (board.measured(measure, lists) for lists in (better, best))
        counted = inside & board.counted(measure)
        has_values = not np.isnan(now[counted]).any()  # a run without any result has none
        chosen = counted & has_values
        means = (_mean(now, chosen), _mean(then, chosen), _mean(most, chosen))
        found.append(Reranked(run, measure, top, *means, int(counted.sum())))
    return tuple(found)


def reranked_in_words(row: Reranked, conventions: Conventions) -> str:
    """Say in a sentence what a perfect reranker would gain, and what is left to recall."""
    heading = conventions.heading(row.measure)
    if np.isnan(row.reranked):
        return f"{heading} has no value here, so there is nothing to gain"
    return (
        f"a perfect reranker of the top {row.top} would give {heading} {number(row.reranked)} "
        f"({signed(row.order)}). The rest up to {number(row.complete)}, {number(row.recall)}, is "
        f"recall: what is not in its top {row.top}"
    )


def rerankable(measures: Iterable[Measure]) -> list[Measure]:
    """Return the measures that the relevance of chunks is a matter of."""
    given = [each for each in measures if not each.definition.always_defined]
    return [each for each in given if not each.crosses]


def reranked_notes(board: Scoreboard, measures: Iterable[Measure], top: int) -> list[Note]:
    """Say of each run and measure what a perfect reranker would gain, over all queries.

    Measures that are no matter of a chunk's relevance, such as Judged, are left out.
    """
    chosen = rerankable(measures)
    return [
        Note(
            "perfect reranker",
            f"{run}: {reranked_in_words(row, board.conventions)}",
            runs=(run,),
            measure=row.measure,
        )
        for run in board.run_names
        for row in reranked(board, run, chosen, top)
    ]


def _with_best_first(hits: Hits, top: int) -> Hits:
    """Return the same lists with the relevant chunks of the ``top`` first, the others in order."""
    lifted = (hits.grade > 0) & (hits.rank <= top)
    lifts = np.bincount(hits.row[lifted], minlength=len(hits.length))
    order = np.flatnonzero(lifted)[np.lexsort((-hits.grade[lifted], hits.row[lifted]))]
    row = hits.row[order]
    first = (row, _places(row, lifts), hits.grade[order])
    return _stacked(hits, first, lifted, lifts, hits.length)


def _with_all_found(hits: Hits) -> Hits:
    """Return the same lists with every known relevant chunk first, found or not."""
    ideal, relevant = hits.ideal, hits.grade > 0
    missed = ideal.length - np.bincount(hits.row[relevant], minlength=len(hits.length))
    first = (ideal.row, ideal.rank, ideal.grade)
    return _stacked(hits, first, relevant, ideal.length, hits.length + missed)


def _stacked(
    hits: Hits, first: tuple[Ints, Ints, Ints], moved: Bools, ahead: Ints, length: Ints
) -> Hits:
    """Put ``first`` before what was not ``moved``, of which each row then has ``ahead`` above."""
    above = np.cumsum(moved) - np.append(0, np.cumsum(moved))[hits.start][hits.row]
    stays = ~moved
    row = hits.row[stays]
    rank = hits.rank[stays] - above[stays] + ahead[row]
    rows, ranks, grades = (
        np.concatenate(pair) for pair in zip(first, (row, rank, hits.grade[stays]), strict=True)
    )
    order = np.lexsort((ranks, rows))
    pooled = np.append(np.zeros_like(first[0]), hits.pooled_above[stays])[order]
    return Hits(rows[order], ranks[order], grades[order], hits.known, length, pooled=pooled)


def _places(row: Ints, per_row: Ints) -> Ints:
    """Number entries within their row, from 1."""
    starts = np.cumsum(per_row) - per_row
    places: Ints = np.arange(1, len(row) + 1) - starts[row]
    return places


def _mean(values: Floats, counted: Bools) -> float:
    return float(values[counted].mean()) if counted.any() else float("nan")

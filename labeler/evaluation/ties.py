"""How much the order of tied scores decides: a mean's lowest and highest over all their orders."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from labeler.evaluation.alignment import Chunks, Scores
from labeler.evaluation.conventions import Conventions, number
from labeler.evaluation.notes import Note
from labeler.evaluation.records import Record
from labeler.evaluation.scoreboard import Scoreboard
from labeler.measures import Hits, Ints, Measure

UNGRADED = -1


class TieRange(NamedTuple):
    """What a mean is, and what it could be between by re-ordering chunks with equal scores."""

    measure: Measure
    value: float
    lowest: float
    highest: float


TieRanges = Mapping[str, Sequence[TieRange]]
"""By run, for those with tied scores."""


def tie_ranges(board: Scoreboard, run: str, measures: Iterable[Measure]) -> tuple[TieRange, ...]:
    """Return for each measure how far re-ordering a run's tied chunks could move its mean.

    Scores are tied where they are equal as 32-bit floats. A list without scores has no ties, nor
    has one in which they rise somewhere, as ranks gave its order. Raises `NotFound` for an unknown
    run.

    >>> from labeler.evaluation import Conventions, collect
    >>> runs = {"A": {"q": {"x": 1.0, "c": 1.0}}}
    >>> board = Scoreboard(collect({"q": {"c": 1, "x": 0}}, runs), Conventions.of())
    >>> [(each.lowest, each.value, each.highest) for each in
    ...  tie_ranges(board, "A", board.conventions.measures("RR"))]
    [(0.5, 0.5, 1.0)]
    """
    board = board.snapshot()
    wanted = board.resolve(measures)
    column = board.column_of(run)
    lists = _tied_lists(board, run)
    orders = {
        by_judged: tuple(
            board.aligned(list(lists), [each.reordered(sign, by_judged) for each in lists.values()])
            for sign in (-1, 1)
        )
        for by_judged in {measure.name == "Judged" for measure in wanted}
        if lists
    }
    return tuple(
        TieRange(
            row.measure,
            row.value,
            *(
                _mean(board, row.measure, column, list(lists), hits)
                for hits in orders.get(row.measure.name == "Judged", (None, None))
            ),
        )
        for row in board.table(wanted)
        if row.run == run
    )


def tied_ranges(board: Scoreboard, measures: Iterable[Measure]) -> TieRanges:
    """Return the ranges of each run with tied scores; the others have no other order."""
    chosen = tuple(measures)
    return {run: tie_ranges(board, run, chosen) for run, tied in board.tied.items() if tied}


def tie_notes(ranges: TieRanges, conventions: Conventions) -> list[Note]:
    """Say for each run with tied scores how far their order could move its means.

    A move that four digits do not show is not spoken of.
    """
    notes = []
    for run, found in ranges.items():
        said = [
            f"{conventions.heading(each.measure)} {number(each.lowest)} to {number(each.highest)}"
            for each in found
            if number(each.lowest) != number(each.highest)
        ]
        if said:
            sentence = f"{run}: other orders of its ties could give {', '.join(said)}"
            notes.append(Note("tie range", sentence, runs=(run,)))
    return notes


_SIDES = (("run", "value", ""), ("run_a", "a", "_a"), ("run_b", "b", "_b"))


def with_ties(records: Iterable[Record], ranges: TieRanges) -> list[Record]:
    """Return means with what other orders of tied scores could make of them.

    ``lowest`` and ``highest``, or in a comparison ``lowest_a`` and so on, are the value itself for
    a run without ties.
    """
    ends = {
        (run, str(each.measure)): (each.lowest, each.highest)
        for run, found in ranges.items()
        for each in found
    }
    rows = []
    for record in records:
        more: Record = {}
        for run, value, side in _SIDES:
            if run in record:
                settled = (record[value], record[value])
                found = ends.get((record[run], record["full_name"]), settled)
                more |= dict(zip((f"lowest{side}", f"highest{side}"), found, strict=True))
        rows.append({**record, **more})
    return rows


class _TiedList(NamedTuple):
    """A list with ties: its chunks, their scores, and their grades, -1 for none; best first."""

    chunks: Chunks
    scores: Scores
    grades: Ints

    def reordered(self, sign: int, by_judged: bool) -> Chunks:
        """Return the chunks with ties in the worst (``sign`` -1) or best order (1).

        Promoting a better chunk never lowers a measure, so the extremes are the orders by grade;
        where ``by_judged``, by whether there is a grade at all.
        """
        worth = self.grades > UNGRADED if by_judged else np.maximum(self.grades, 0)
        return self.chunks[np.lexsort((-sign * worth.astype(np.int64), -self.scores))]


def _tied_lists(board: Scoreboard, run: str) -> dict[str, _TiedList]:
    """Return the lists of a run in which scores are tied, by query."""
    query_ids = board.collection.query_ids
    lists = board.collection.runs[board.column_of(run)].lists
    found: dict[str, _TiedList] = {}
    for query, stored in lists.items():
        if stored.scores is None:
            continue
        is_sorted = board.conventions.like_trec_eval  # else the list is in the file's order
        scores = -np.sort(-stored.scores) if is_sorted else stored.scores
        if (scores[1:] == scores[:-1]).any() and not (scores[1:] > scores[:-1]).any():
            chunks = board.chunks(run, query_ids[query])
            grades = board.grades(query_ids[query], chunks)
            found[query_ids[query]] = _TiedList(chunks, scores, grades)
    return found


def _mean(
    board: Scoreboard, measure: Measure, column: int, queries: Sequence[str], hits: Hits | None
) -> float:
    """Return a run's mean with some lists in another order, whose judged chunks are ``hits``."""
    values = board.values(measure)[:, column].copy()
    if hits is not None:
        values[list(map(board.number_of, queries))] = board.measured(measure, hits, queries)
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if len(defined) else math.nan

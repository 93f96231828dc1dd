"""How much the order of tied scores decides: a mean's lowest and highest over all their orders."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np

from labeler.evaluation.alignment import Chunks
from labeler.evaluation.scoreboard import Scoreboard
from labeler.measures import Hits, Measure
from labeler.model import StoredList

UNGRADED = -1


class TieRange(NamedTuple):
    """What a mean is, and what it could be between by re-ordering chunks with equal scores."""

    measure: Measure
    value: float
    lowest: float
    highest: float

    @property
    def moves(self) -> bool:
        """Say whether the order of ties makes any difference."""
        return self.highest - self.lowest > 1e-12


def tie_ranges(board: Scoreboard, run: str, measures: Iterable[Measure]) -> tuple[TieRange, ...]:
    """Return for each measure how far re-ordering a run's tied chunks could move its mean.

    Scores are tied where they are equal as 32-bit floats. A list without scores, or one that was
    loaded in the order of its ranks, has no ties. Raises `NotFound` for an unknown run.

    >>> from labeler.evaluation import Conventions, collect
    >>> runs = {"A": {"q": {"x": 1.0, "c": 1.0}}}
    >>> board = Scoreboard(collect({"q": {"c": 1, "x": 0}}, runs), Conventions.of())
    >>> [(each.lowest, each.value, each.highest) for each in
    ...  tie_ranges(board, "A", board.conventions.measures("RR"))]
    [(0.5, 0.5, 1.0)]
    """
    board = board.snapshot()
    wanted = board.resolve(measures)
    values = {row.measure: row.value for row in board.table(wanted) if row.run == run}
    column = board.column_of(run)
    lists = board.collection.runs[column].lists
    orders = {
        judged: tuple(
            Hits.join(
                [
                    board.aligned(query_id, _reordered(board, run, query_id, lists, sign, judged))
                    for query_id in board.collection.query_ids
                ]
            )
            for sign in (-1, 1)
        )
        for judged in {measure.name == "Judged" for measure in wanted}
    }
    return tuple(
        TieRange(measure, values[measure], *(_mean(board, measure, hits) for hits in both))
        for measure in wanted
        for both in [orders[measure.name == "Judged"]]
    )


def tie_notes(board: Scoreboard, measures: Iterable[Measure]) -> list[str]:
    """Say in a sentence for each run with tied scores how far their order could move its means."""
    notes = []
    for run, tied in board.tied.items():
        moved = [each for each in tie_ranges(board, run, measures) if each.moves] if tied else []
        ranges = [
            f"{board.conventions.heading(each.measure)} {each.lowest:.4f} to {each.highest:.4f}"
            for each in moved
        ]
        if ranges:
            notes.append(f"{run}: other orders of its ties could give {', '.join(ranges)}")
    return notes


def _reordered(
    board: Scoreboard,
    run: str,
    query_id: str,
    lists: Mapping[int, StoredList],
    sign: int,
    judged: bool,
) -> Chunks:
    """Return a list with its ties in the worst (``sign`` -1) or best order (1).

    Promoting a better chunk never lowers a measure, so the extremes are the orders by grade; for
    ``judged`` ones, by whether there is a grade at all.
    """
    chunks = board.chunks(run, query_id)
    stored = lists.get(board.number_of(query_id))
    if stored is None or stored.scores is None or len(chunks) < 2:
        return chunks
    is_sorted = board.conventions.like_trec_eval  # else the list is in the file's order
    own = -np.sort(-stored.scores) if is_sorted else stored.scores
    if np.any(own[1:] > own[:-1]) or not np.any(own[1:] == own[:-1]):
        return chunks
    golden = board.golden(query_id)
    grades = np.array([golden.get(chunk, UNGRADED) for chunk in chunks.tolist()])
    worth = grades > UNGRADED if judged else np.maximum(grades, 0)
    return chunks[np.lexsort((-sign * worth.astype(np.int64), -own))]


def _mean(board: Scoreboard, measure: Measure, hits: Hits) -> float:
    values = board.measured(measure, hits)
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if len(defined) else math.nan

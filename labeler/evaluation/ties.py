"""How much the order of tied scores decides: a mean's lowest and highest over all their orders."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from labeler.evaluation.alignment import NO_SCORES, Scores
from labeler.evaluation.conventions import Conventions, number
from labeler.evaluation.notes import Note
from labeler.evaluation.records import Record
from labeler.evaluation.scoreboard import Scoreboard
from labeler.measures import Floats, Hits, Ints, Measure

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
    wanted = with_order(board.resolve(measures))
    column, (queries, ends) = board.column_of(run), reordered_values(board, run, wanted)
    return tuple(
        TieRange(
            row.measure,
            row.value,
            *(_mean(board, row.measure, column, queries, values) for values in found),
        )
        for row, found in zip(
            (row for row in board.table(wanted) if row.run == run), ends, strict=True
        )
    )


def with_order(measures: Iterable[Measure]) -> tuple[Measure, ...]:
    """Return the measures of which it is known how ties would best be ordered."""
    return tuple(
        measure for measure in measures if measure.name not in _NOT_RISING and not measure.crosses
    )


def reordered_values(
    board: Scoreboard, run: str, measures: Iterable[Measure]
) -> tuple[Ints, list[tuple[Floats, Floats]]]:
    """Return the queries in which a run has ties, and the values they lead to at worst and at best.

    The values are of each of the measures, which are resolved, and of all these queries.
    """
    tied = _tied(board, run)
    queries = np.array(list(map(board.number_of, tied.queries)), dtype=np.int64)
    ends = {
        by_judged: tuple(tied.reordered(sign, by_judged) for sign in (-1, 1))
        for by_judged in (False, True)
        if tied.queries
    }
    none = np.zeros(0)
    found = []
    for measure in measures:
        hits = ends.get(measure.name == "Judged", ())
        values = [board.measured(measure, each, tied.queries) for each in hits] or [none, none]
        found.append((values[0], values[1]))
    return queries, found


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


# What a better chunk may lower as it moves up, so that no order of ties is known to be the best.
_NOT_RISING = ("infAP",)
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


class _Tied(NamedTuple):
    """Lists with ties, of one run, best first.

    ``hits`` has a row for each of the ``queries``. ``row``, ``scores`` and ``grades`` (-1 for none)
    are of all chunks in these lists, one list after the other.
    """

    queries: Sequence[str]
    hits: Hits
    row: Ints
    scores: Scores
    grades: Ints

    def reordered(self, sign: int, by_judged: bool) -> Hits:
        """Return the hits with ties in the worst (``sign`` -1) or best order (1).

        Promoting a better chunk never lowers a measure, so the extremes are the orders by grade;
        where ``by_judged``, by whether there is a grade at all.
        """
        worth = self.grades > UNGRADED if by_judged else np.maximum(self.grades, 0)
        order = np.lexsort((-sign * worth.astype(np.int64), -self.scores, self.row))
        grades = self.grades[order]
        at = np.flatnonzero(grades > UNGRADED)
        ends = np.cumsum(self.hits.length)
        row = self.row[at]
        rank = at + 1 - (ends - self.hits.length)[row]
        return Hits(row, rank, grades[at], self.hits.known, self.hits.length)


def _tied(board: Scoreboard, run: str) -> _Tied:
    """Return the lists of a run in which scores are tied; one in which they rise has no order."""
    found: dict[str, Scores] = {}
    for query_id, stored in board.unsettled(run).items():
        is_sorted = board.conventions.like_trec_eval  # else the list is in the file's order
        scores = -np.sort(-stored) if is_sorted else stored
        if (scores[1:] == scores[:-1]).any() and not (scores[1:] > scores[:-1]).any():
            found[query_id] = scores
    hits = board.hits(run).rows(list(map(board.number_of, found)))
    row = np.repeat(np.arange(len(found)), hits.length)
    grades = np.full(len(row), UNGRADED)
    grades[(np.cumsum(hits.length) - hits.length)[hits.row] + hits.rank - 1] = hits.grade
    return _Tied(list(found), hits, row, np.concatenate([NO_SCORES, *found.values()]), grades)


def _mean(board: Scoreboard, measure: Measure, column: int, queries: Ints, others: Floats) -> float:
    """Return a run's mean where some queries have other values."""
    values = board.values(measure)[:, column].copy()
    values[queries] = np.where(np.isnan(values[queries]), np.nan, others)
    return mean_of(values)


def mean_of(values: Floats) -> float:
    """Return the mean of values that are there; NaN where none is."""
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if len(defined) else math.nan

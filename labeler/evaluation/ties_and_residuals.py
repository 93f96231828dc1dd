"""Ranges of a mean that need no model: over all orders of tied scores, and the residual of RBP.

The residual is what all unjudged chunks, retrieved or not, would add to RBP if they were relevant.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from labeler.evaluation.alignment import NO_SCORES, Scores
from labeler.evaluation.conventions import Conventions, format_number
from labeler.evaluation.notes import Note
from labeler.evaluation.records import Record
from labeler.evaluation.scoreboard import UNJUDGED, Scoreboard
from labeler.measures import Floats, Hits, Ints, Measure, rbp_residual


class TieRange(NamedTuple):
    """A mean, and its lowest and highest value over all orders of chunks with equal scores."""

    measure: Measure
    value: float
    lowest: float
    highest: float


TieRangesByRun = Mapping[str, Sequence[TieRange]]
"""The ranges of each run with tied scores."""


def tie_ranges_of_run(
    board: Scoreboard, run: str, measures: Iterable[Measure]
) -> tuple[TieRange, ...]:
    """Return for each measure how far another order of a run's tied chunks could move its mean.

    Scores are tied if they are equal as 64-bit floats, under trec_eval as 32-bit ones. A list
    without scores has no ties, nor has a list in which scores rise somewhere, as its order came
    from ranks. Raises `NotFound` for an unknown run.

    >>> from labeler.evaluation import Conventions, collect
    >>> runs = {"A": {"q": {"x": 1.0, "c": 1.0}}}
    >>> board = Scoreboard(collect({"q": {"c": 1, "x": 0}}, runs), Conventions.of())
    >>> [(each.lowest, each.value, each.highest) for each in
    ...  tie_ranges_of_run(board, "A", board.conventions.measures("RR"))]
    [(0.5, 0.5, 1.0)]
    """
    board = board.snapshot()
    wanted = measures_moved_by_ties(board.resolve(measures))
    column, (queries, ends) = board.column_of(run), reordered_values(board, run, wanted)
    return tuple(
        TieRange(
            row.measure,
            row.value,
            *(_mean_with(board, row.measure, column, queries, values) for values in found),
        )
        for row, found in zip(
            (row for row in board.table(wanted) if row.run == run), ends, strict=True
        )
    )


def measures_moved_by_ties(measures: Iterable[Measure]) -> tuple[Measure, ...]:
    """Return the measures for which the best order of ties is known."""
    return tuple(
        measure for measure in measures if measure.name not in _NOT_RISING and not measure.crosses
    )


def reordered_values(
    board: Scoreboard, run: str, measures: Iterable[Measure]
) -> tuple[Ints, list[tuple[Floats, Floats]]]:
    """Return a run's queries with ties, and their values in the worst and in the best order.

    The values are of each of the (resolved) measures for all these queries.
    """
    tied = _find_tied_lists(board, run)
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


def find_tie_ranges(board: Scoreboard, measures: Iterable[Measure]) -> TieRangesByRun:
    """Return the ranges of each run with tied scores."""
    chosen = tuple(measures)
    return {run: tie_ranges_of_run(board, run, chosen) for run, tied in board.tied.items() if tied}


def tie_notes(ranges: TieRangesByRun, conventions: Conventions) -> list[Note]:
    """Return a note on each run with tied scores: how far their order could move its means.

    Moves that four digits do not show are left out.
    """
    notes = []
    for run, found in ranges.items():
        moves = [
            f"{conventions.heading(each.measure)} {format_number(each.lowest)} to "
            f"{format_number(each.highest)}"
            for each in found
            if format_number(each.lowest) != format_number(each.highest)
        ]
        if moves:
            sentence = f"{run}: other orders of its ties could give {', '.join(moves)}"
            notes.append(Note("tie range", sentence, runs=(run,)))
    return notes


# Measures that a better chunk may lower as it moves up: no order of ties is known to be the best.
_NOT_RISING = ("infAP",)
_SIDES = (("run", "value", ""), ("run_a", "a", "_a"), ("run_b", "b", "_b"))


def with_tie_ranges(records: Iterable[Record], ranges: TieRangesByRun) -> list[Record]:
    """Return records of means with their ranges over other orders of tied scores.

    ``lowest`` and ``highest``, or in a comparison ``lowest_a`` and so on, equal the value for a run
    without ties.
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
                without_ties = (record[value], record[value])
                found = ends.get((record[run], record["full_name"]), without_ties)
                more |= dict(zip((f"lowest{side}", f"highest{side}"), found, strict=True))
        rows.append({**record, **more})
    return rows


class _TiedLists(NamedTuple):
    """The lists with ties of one run, best first.

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
        with ``by_judged``, by whether there is a grade.
        """
        worth = self.grades > UNJUDGED if by_judged else np.maximum(self.grades, 0)
        order = np.lexsort((-sign * worth.astype(np.int64), -self.scores, self.row))
        grades = self.grades[order]
        at = np.flatnonzero(grades > UNJUDGED)
        ends = np.cumsum(self.hits.length)
        row = self.row[at]
        rank = at + 1 - (ends - self.hits.length)[row]
        return Hits(row, rank, grades[at], self.hits.known, self.hits.length)


def _find_tied_lists(board: Scoreboard, run: str) -> _TiedLists:
    """Return the lists of a run with tied scores; a list with ascending scores has no ties."""
    found: dict[str, Scores] = {}
    for query_id, stored in board.unsorted_scores(run).items():
        is_sorted = board.conventions.like_trec_eval  # otherwise lists are in file order
        scores = -np.sort(-stored) if is_sorted else stored
        if (scores[1:] == scores[:-1]).any() and not (scores[1:] > scores[:-1]).any():
            found[query_id] = scores
    hits = board.hits(run).rows(list(map(board.number_of, found)))
    row = np.repeat(np.arange(len(found)), hits.length)
    grades = np.full(len(row), UNJUDGED)
    grades[(np.cumsum(hits.length) - hits.length)[hits.row] + hits.rank - 1] = hits.grade
    return _TiedLists(list(found), hits, row, np.concatenate([NO_SCORES, *found.values()]), grades)


def _mean_with(
    board: Scoreboard, measure: Measure, column: int, queries: Ints, others: Floats
) -> float:
    """Return a run's mean with other values for some queries."""
    values = board.values(measure)[:, column].copy()
    values[queries] = np.where(np.isnan(values[queries]), np.nan, others)
    return mean_of_defined(values)


def mean_of_defined(values: Floats) -> float:
    """Return the mean of the values that are not NaN; NaN if there are none."""
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if len(defined) else math.nan


class Residual(NamedTuple):
    """A mean of RBP and its residual, over all queries or those of one bucket.

    However the rest is graded, RBP is between ``value`` and ``highest`` over the queries in the
    mean; both are NaN if there are none.
    """

    run: str
    measure: Measure
    facet: str | None
    bucket: str | None
    value: float
    residual: float

    @property
    def highest(self) -> float:
        """The mean if all unjudged chunks were relevant."""
        return self.value + self.residual


def residual_means(
    board: Scoreboard, measures: Iterable[Measure], facet: str | None = None
) -> list[Residual]:
    """Return each RBP among ``measures`` with its residual, in the order of `Scoreboard.table`.

    Other measures have none. Raises `NotFound` for an unknown facet.

    >>> from labeler.evaluation import Conventions, collect
    >>> runs = {"A": {"q": ["c", "x", "d"]}}
    >>> board = Scoreboard(collect({"q": {"c": 3, "d": 0}}, runs), Conventions.of())
    >>> [each] = residual_means(board, board.conventions.measures("RBP(p=0.5) AP"))
    >>> each.value, each.residual, each.highest
    (0.5, 0.375, 0.875)
    """
    board = board.snapshot()
    chosen = [measure for measure in board.resolve(measures) if _is_rbp(measure)]
    buckets, group = board.groups(facet)
    if not chosen:
        return []
    inside = {bucket: group == place for place, bucket in enumerate(buckets)}
    by_query = {measure: residuals_by_query(board, measure) for measure in chosen}
    return [
        Residual(
            *(row.run, row.measure, row.facet, row.bucket, row.value),
            mean_of_defined(by_query[row.measure][inside[row.bucket], board.column_of(row.run)]),
        )
        for row in board.table(chosen, facet)
    ]


def residuals_by_query(board: Scoreboard, measure: Measure) -> Floats:
    """Return the residuals of an RBP, (queries, runs), NaN where a query is not in the mean.

    Ranks below the cut-off or below the end of a list count as unjudged too, as Moffat and Zobel
    define it: if a run has no list for a query, its residual is 1.
    """
    board = board.snapshot()
    return np.where(
        np.isnan(board.values(measure)), np.nan, residuals_of_all_queries(board, measure)
    )


def residuals_of_all_queries(board: Scoreboard, measure: Measure) -> Floats:
    """Return the same for all queries, in the mean or not."""
    found = [
        rbp_residual(board.hits(run), board.cutoffs(measure), p=measure.parameters["p"])
        for run in board.run_names
    ]
    return np.array(found).reshape(len(board.run_names), -1).T


def residuals_by_place(
    board: Scoreboard,
    measures: Iterable[Measure],
    *,
    facet: str | None = None,
    per_query: bool = False,
) -> dict[tuple[str, Measure, str | None], float]:
    """Return the residual of each RBP among ``measures`` by run, measure and place.

    A place is None for all queries, the bucket if there is a ``facet``, or the query's id.
    """
    if not per_query:
        means = residual_means(board, measures, facet)
        return {(each.run, each.measure, each.bucket): each.residual for each in means}
    board = board.snapshot()
    return {
        (run, measure, query_id): residual
        for measure in board.resolve(measures)
        if _is_rbp(measure)
        for query_id, row in zip(
            board.collection.query_ids, residuals_by_query(board, measure).tolist(), strict=True
        )
        for run, residual in zip(board.run_names, row, strict=True)
    }


def residual_notes(board: Scoreboard, measures: Iterable[Measure]) -> list[Note]:
    """Return a note on each RBP: how much unjudged chunks could add to each run's mean."""
    by_measure: dict[Measure, list[str]] = {}
    for each in residual_means(board, measures):
        if not math.isnan(each.residual):
            by_measure.setdefault(each.measure, []).append(f"{each.residual:.4f} ({each.run})")
    return [
        Note(
            "residual",
            f"{board.conventions.heading(measure)}: ungraded chunks"
            f"{'' if measure.cutoff is None else ' and all below the cut-off'} could add up to "
            + ", ".join(runs),
            measure=measure,
        )
        for measure, runs in by_measure.items()
    ]


def _is_rbp(measure: Measure) -> bool:
    return measure.name == "RBP" and not measure.crosses

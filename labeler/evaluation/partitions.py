"""Evaluation in partitions of the queries, merged into the values of one scoreboard.

This is for logs that are too long for one scoreboard. Each partition has one row of numbers per
query. The rows are sorted before they are summed, so the values are the same to the last bit
however the queries were divided. Any engine that groups rows by query can make partitions
(`labeler.spark` uses Spark).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from labeler.evaluation.alignment import has_ties
from labeler.evaluation.conventions import Conventions
from labeler.evaluation.means import AnsweredQueries, Counts, Score, means_from_totals
from labeler.evaluation.notes import Note, RunCounts, make_notes
from labeler.evaluation.plain import collect
from labeler.evaluation.scoreboard import Scoreboard
from labeler.evaluation.ties_and_residuals import (
    TieRange,
    mean_of_defined,
    measures_moved_by_ties,
    reordered_values,
    residuals_of_all_queries,
    tie_notes,
)
from labeler.evaluation.value_table import Grouping, RowLayout, ValueTable
from labeler.measures import Bools, Floats, Ints, Measure
from labeler.model import StoredRun


@dataclass(frozen=True, eq=False)
class PartitionLayout:
    """The order of the numbers in the rows of partitions, for some runs and measures.

    First the numbers of a board's table, then by run: whether it has a result, how many of its
    chunks are graded, whether it has ties; then the residuals of each RBP by run. `Partition.ties`
    are separate: by each of the ``moving`` measures, then worst and best order, then run.
    """

    runs: tuple[str, ...]
    measures: tuple[Measure, ...]

    @cached_property
    def layout(self) -> RowLayout:
        return RowLayout.of(len(self.runs), self.measures)

    @cached_property
    def rbp(self) -> tuple[Measure, ...]:
        """The measures that have a residual."""
        return tuple(each for each in self.measures if each.name == "RBP" and not each.crosses)

    @cached_property
    def moving(self) -> tuple[Measure, ...]:
        """The measures whose values depend on the order of ties."""
        return measures_moved_by_ties(self.measures)

    @property
    def width(self) -> int:
        return self.layout.width + len(self.runs) * (3 + len(self.rbp))

    @property
    def runs_by_measure(self) -> int:
        return len(self.measures) * len(self.runs)

    @property
    def width_of_ties(self) -> int:
        """The number of tie values of a query."""
        return 2 * len(self.moving) * len(self.runs)


@dataclass(frozen=True, eq=False)
class Partition:
    """The values of some queries: ``rows`` (queries, `PartitionLayout.width`), one per query id.

    ``tied`` are the indices of queries with tied scores in a run, ``ties`` (len(tied),
    `PartitionLayout.width_of_ties`) their values in the worst and the best order; NaN for runs
    without ties. ``unknown`` (runs,) counts the queries of each run that have no grades here,
    ``scoreless`` (runs,) says which runs have a list without scores.
    """

    query_ids: tuple[str, ...]
    rows: Floats
    tied: Ints
    ties: Floats
    unknown: Ints
    scoreless: Bools

    @staticmethod
    def of(board: Scoreboard, shape: PartitionLayout) -> Partition:
        """Make the partition of a board of some queries."""
        board = board.snapshot()
        queries, runs = len(board.collection.query_ids), len(shape.runs)
        of_runs = [board.hits(run) for run in shape.runs]
        answered = [hits.length > 0 for hits in of_runs]
        graded = [np.bincount(hits.row, minlength=queries) for hits in of_runs]
        has_ties = [_tied_queries(board, run) for run in shape.runs]
        by_run = [np.array(each, dtype=np.float64).T for each in (answered, graded, has_ties)]
        residuals = [residuals_of_all_queries(board, measure) for measure in shape.rbp]
        # Not `Scoreboard.values`: it is NaN for a run that answers no query of this partition.
        rows = board._state.with_measures(shape.measures, crosses=False).matrix
        tied, ties = _tie_values(board, shape)
        unknown = [run.unknown_queries for run in board.collection.runs]
        return Partition(
            tuple(board.collection.query_ids),
            np.hstack([rows, *(each.reshape(queries, runs) for each in (*by_run, *residuals))]),
            tied,
            ties,
            np.array(unknown, dtype=np.int64),
            np.array(board._lists.scoreless, dtype=np.bool_),
        )

    @staticmethod
    def joined(parts: Iterable[Partition], order: Sequence[str] | None = None) -> Partition:
        """Join partitions; their queries are sorted by ``order``, or by id without it."""
        all_parts = [*parts]
        query_ids = [query_id for part in all_parts for query_id in part.query_ids]
        rank: Mapping[str, int] = {}
        if order is not None:
            rank = {query_id: at for at, query_id in enumerate(order)}
        key = query_ids.__getitem__ if order is None else lambda at: rank[query_ids[at]]
        places = sorted(range(len(query_ids)), key=key)
        new_place = np.empty(len(places), dtype=np.int64)
        new_place[places] = np.arange(len(places))
        offsets = np.cumsum([0, *(len(part.query_ids) for part in all_parts)])
        tied = [part.tied + start for part, start in zip(all_parts, offsets[:-1], strict=True)]
        return Partition(
            tuple(query_ids[at] for at in places),
            np.concatenate([part.rows for part in all_parts])[places],
            new_place[np.concatenate(tied)],
            np.concatenate([part.ties for part in all_parts]),
            np.sum([part.unknown for part in all_parts], axis=0),
            np.any([part.scoreless for part in all_parts], axis=0),
        )


def _tied_queries(board: Scoreboard, run: str) -> Bools:
    """Return in which queries a run has tied scores, (queries,)."""
    found = np.zeros(len(board.collection.query_ids), dtype=np.bool_)
    for query_id, scores in board.unsorted_scores(run).items():
        found[board.number_of(query_id)] = has_ties(scores)
    return found


def _tie_values(board: Scoreboard, shape: PartitionLayout) -> tuple[Ints, Floats]:
    """Return the queries with ties, and their values in the worst and the best order."""
    runs, queries = len(shape.runs), len(board.collection.query_ids)
    ties = np.full((queries, len(shape.moving), 2, runs), np.nan)
    is_tied = np.zeros(queries, dtype=np.bool_)
    for at, run in enumerate(shape.runs):
        tied, found = reordered_values(board, run, shape.moving)
        is_tied[tied] = True
        for measure, ends in enumerate(found):
            for end, values in enumerate(ends):
                ties[tied, measure, end, at] = values
    return np.flatnonzero(is_tied), ties[is_tied].reshape(-1, shape.width_of_ties)


@dataclass(frozen=True, eq=False)
class MergedPartitions:
    """The values of all partitions together, equal to those of one board.

    If only some partitions are merged, ``known_answers`` (measures, runs) says which runs answer a
    query that counts in any of all partitions.
    """

    part: Partition
    shape: PartitionLayout
    conventions: Conventions
    known_answers: Bools | None = None

    @cached_property
    def sheet(self) -> ValueTable:
        """The rows of all queries, as a board has them."""
        return ValueTable.of(self.shape.layout, self.part.rows[:, : self.shape.layout.width])

    def _columns(self, place: int) -> Floats:
        """Return the ``place``-th block of columns after the table's numbers, (queries, runs)."""
        runs = len(self.shape.runs)
        first = self.shape.layout.width + place * runs
        return self.part.rows[:, first : first + runs]

    @cached_property
    def absent(self) -> Bools:
        """Whether each run has no list for each query, (queries, runs)."""
        return self.part.rows[:, 1 : 1 + len(self.shape.runs)] > 0

    @cached_property
    def judged(self) -> Bools:
        """Which queries have a golden grade, (queries,)."""
        return self.part.rows[:, 0] > 0

    @cached_property
    def answers(self) -> AnsweredQueries:
        """Whether runs have a list for a query, and a chunk in it."""
        return AnsweredQueries(~self.absent, self._columns(0) > 0)

    @cached_property
    def scores(self) -> list[Score]:
        """The means, by run and measure."""
        shape, queries = self.shape, len(self.part.query_ids)
        everything = Grouping((None,), np.zeros(queries, dtype=np.int64))
        totals = self.sheet.totals(None, everything)
        means = means_from_totals(totals, shape.layout, shape.measures, None, (None,))
        self.answers.clear_silent_runs(means.value, self.sheet, shape.measures, everything)
        return means.rows(shape.runs)

    @cached_property
    def answered(self) -> Bools:
        """Which runs answer a query that counts in a measure, (measures, runs)."""
        if self.known_answers is not None:
            return self.known_answers
        silent = [self.answers.silent(self.sheet, measure) for measure in self.shape.measures]
        return ~np.array(silent)

    def values(self, measure: Measure) -> Floats:
        """Return a measure's values, (queries, runs), as `Scoreboard.values` does."""
        values = self.sheet.values(measure)
        values[:, ~self.answered[self.shape.measures.index(measure)]] = np.nan
        return values

    def residuals(self, measure: Measure) -> Floats:
        """Return the residuals of an RBP, (queries, runs)."""
        found = self._columns(3 + self.shape.rbp.index(measure))
        return np.where(np.isnan(self.values(measure)), np.nan, found)

    def residual_means(self) -> dict[tuple[str, Measure, str | None], float]:
        """Return the mean residual of each RBP and run."""
        return {
            (run, measure, None): mean_of_defined(self.residuals(measure)[:, at])
            for measure in self.shape.rbp
            for at, run in enumerate(self.shape.runs)
        }

    def notes(self, foreign_to: Callable[[str], int]) -> list[Note]:
        """Return the notes that one board would give: on what was left out, and on ties.

        ``foreign_to`` is called for a run whose lists contain no chunk that is graded for their
        query. It returns the number of graded chunks if none is in any list of the run, else 0.
        """
        counts = {
            run: self._run_counts(at, partial(foreign_to, run))
            for at, run in enumerate(self.shape.runs)
        }
        queries, judged = len(self.part.query_ids), int(self.judged.sum())
        of_all = Counts(queries, judged, queries - judged, 0, 0)
        runs = zip(self.shape.runs, self.part.unknown.tolist(), strict=True)
        stored = tuple(StoredRun(run, run, None, {}, unknown) for run, unknown in runs)
        notes = make_notes(
            replace(_EMPTY_COLLECTION, runs=stored), counts, of_all, self.conventions, self.scores
        )
        return [*notes, *tie_notes(self._tie_ranges(), self.conventions)]

    def _run_counts(self, at: int, foreign_to: Callable[[], int]) -> RunCounts:
        judged = self.judged
        graded = int(self._columns(1)[:, at].sum())
        return RunCounts(
            tied=int(self._columns(2)[:, at].sum()),
            scoreless=int(self.part.scoreless[at]),
            absent=int(self.absent[judged, at].sum()),
            unanswered=int((~self.answers.answered[judged, at]).sum()),
            graded=graded,
            foreign_to=0 if graded else foreign_to(),
        )

    def _tie_ranges(self) -> dict[str, list[TieRange]]:
        """Return the ranges of each run with tied scores, as `find_tie_ranges` does."""
        shape = self.shape
        ties = self.part.ties.reshape(-1, len(shape.moving), 2, len(shape.runs))
        found: dict[str, list[TieRange]] = {}
        for at, run in enumerate(shape.runs):
            if not self._columns(2)[:, at].any():
                continue
            for place, measure in enumerate(shape.moving):
                values = self.values(measure)[:, at]
                ends = []
                for end in ties[:, place, :, at].T:
                    changed, has_ties = values.copy(), ~np.isnan(end)
                    changed[self.part.tied[has_ties]] = end[has_ties]
                    ends.append(mean_of_defined(changed))
                found.setdefault(run, []).append(TieRange(measure, mean_of_defined(values), *ends))
        return found


_EMPTY_COLLECTION = collect({}, {})

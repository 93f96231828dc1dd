"""Scoreboard: the live value of every run, measure and bucket, which follows the golden grades.

A value is computed when its measure is first asked for, then kept up to date. `regraded` returns
a scoreboard as it would be with other golden grades.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import starmap

import numpy as np
import numpy.typing as npt

from labeler.errors import NotFound
from labeler.evaluation.alignment import (
    OrderedLists,
    RankedChunk,
    Scores,
    align,
    pair_numbers,
    write_out_list,
)
from labeler.evaluation.conventions import Conventions
from labeler.evaluation.means import (
    AnsweredQueries,
    Counts,
    Means,
    QueryScore,
    Score,
    TrafficWeights,
    means_from_totals,
    merge_means,
    query_scores,
    weighted_means,
)
from labeler.evaluation.notes import (
    Note,
    RunCounts,
    absent_list_notes,
    count_by_run,
    cross_chunking_notes,
    make_notes,
)
from labeler.evaluation.query_grades import ChunkNumbers
from labeler.evaluation.scoreboard_state import BoardState
from labeler.evaluation.value_table import Grouping, RowRules
from labeler.measures import (
    BUDGET,
    WHOLE_LIST,
    Bools,
    Floats,
    FoundEvidence,
    Hits,
    Ints,
    Measure,
    UniqueMeasures,
    score,
    without_repeats,
)
from labeler.model import AllGoldenGrades, Collection, GoldenState, GradeChange, Traffic


class BoardLookup:
    """One query, one run: what is known of them as it is now."""

    collection: Collection
    run_names: tuple[str, ...]
    _state: BoardState
    _lists: OrderedLists
    _query_numbers: Mapping[str, int]

    def golden(self, query_id: str) -> dict[int, int]:
        """Return the golden grades of a query by chunk, retrieved or not."""
        return self._state.golden[self.number_of(query_id)].as_dict()

    def grades(self, query_id: str, chunks: ChunkNumbers) -> Ints:
        """Return the golden grade of each of the chunks for a query, -1 where there is none."""
        return self._state.golden[self.number_of(query_id)].of(chunks)

    def graded(self) -> tuple[Ints, Ints]:
        """Return every pair with a golden grade, rising, and its grade.

        A pair's number is its query's place << 32 | its chunk's number.
        """
        return self._state.graded()

    def counts_of(self, query_id: str) -> tuple[int, ...]:
        """Return how many chunks of a query have grade 0, 1, 2 and 3."""
        golden = self._state.golden[self.number_of(query_id)]
        return tuple(np.bincount(golden.grades, minlength=4).tolist())

    def chunks(self, run: str, query_id: str) -> ChunkNumbers:
        """Return a run's list in the order the conventions use; empty where it has none."""
        return self._lists.ordered(self.column_of(run), self.number_of(query_id))

    def ranked(self, run: str, query_id: str) -> list[RankedChunk]:
        """Return a run's list with scores and golden grades, in the order the conventions use.

        Under trec_eval's that is not the order of the file where scores are tied. A query the run
        has no list for gives an empty one. Raises `NotFound` for an unknown run or query.
        """
        chunks, query = self.chunks(run, query_id), self.number_of(query_id)
        stored = self.collection.runs[self.column_of(run)].lists.get(query)
        return write_out_list(chunks, stored, self._state.golden[query], self.collection.chunk_ids)

    def hits(self, run: str, query_id: str | None = None) -> Hits:
        """Return a run's judged chunks: a row for each query in order, or the row of one."""
        state = self._state
        if query_id is None:
            return state.hits_of(self.column_of(run))
        return state.hits_in(self.column_of(run), self.number_of(query_id))

    def read_by(
        self, measure: Measure, run: str, query_id: str | None = None
    ) -> Hits | FoundEvidence:
        """Return what a measure reads of a run's lists: its hits, its documents, what it finds."""
        query = None if query_id is None else self.number_of(query_id)
        return self._state.seen_of(self.column_of(run), query).of(measure)

    def chunking_of(self, run: str) -> str:
        """Return the chunking that a run's chunks are of; may raise `NotFound`."""
        return self.collection.runs[self.column_of(run)].chunking

    def overlaps(
        self, some: Sequence[int], others: Sequence[int]
    ) -> list[tuple[int, int, float, float]]:
        """Return the places of chunks that have text in common, with the share of each text."""
        return self._state.across.overlaps(some, others)

    def column_of(self, name: str) -> int:
        """Return a run's column in `values`, its place in `run_names`; may raise `NotFound`."""
        if name not in self.run_names:
            there = ", ".join(self.run_names) or "none"
            raise NotFound(f"no run is called {name!r}; there are: {there}")
        return self.run_names.index(name)

    def number_of(self, query_id: str) -> int:
        """Return a query's row in `values`, its place in the collection; may raise `NotFound`."""
        if query_id not in self._query_numbers:
            raise NotFound(f"query {query_id!r} is not on this board; read the data again")
        return self._query_numbers[query_id]


class Scoreboard(BoardLookup):
    """Every run's value for every query under one set of conventions, kept up to date.

    A value is computed when its measure is first asked for, and from then on whenever a grade
    changes. Any number of threads may read while one refreshes: each answer is of one revision.

    Queries without any golden grade are left out of every mean; `counts` says how many. A query
    that a run has no list for counts 0 for that run, as long as it has results for any that counts;
    a run without has no value, mean or other:

    >>> from labeler.evaluation import collect
    >>> grades = {"q1": {"c1": 3}, "q2": {"c2": 1}, "q3": {"c3": 0}, "q4": {}}
    >>> board = Scoreboard(collect(grades, {"A": {"q1": ["c1", "c9"]}}), Conventions.of())
    >>> [row] = board.table(board.conventions.measures("RR"))
    >>> row.value, row.n, row.undefined, row.holes, row.missing
    (0.5, 2, 1, 1, 2)
    """

    def __init__(
        self, collection: Collection, conventions: Conventions, lists: OrderedLists | None = None
    ) -> None:
        collection, conventions = conventions.selecting(collection)
        self.collection = collection
        self.run_names = tuple(run.name for run in collection.runs)
        self.data_revision = collection.data_revision
        self._lists = lists or OrderedLists(collection, conventions.like_trec_eval)
        self._budgets = np.full(len(collection.query_ids), conventions.budget)
        for at, task in enumerate(collection.facets.get("task", ())):
            self._budgets[at] = conventions.budget_of(task)
        self._query_numbers = {query: at for at, query in enumerate(collection.query_ids)}
        self._all_queries = np.arange(len(collection.query_ids))
        self._everything = Grouping((None,), np.zeros(len(collection.query_ids), dtype=np.int64))
        self._groupings: dict[str | None, Grouping] = {None: self._everything}
        self._groupings |= {facet: Grouping.of(given) for facet, given in collection.facets.items()}
        self._within: tuple[Hashable, ...] = ()
        self._inside: Bools | None = None
        self._weighing: TrafficWeights | None = None
        rest = (conventions.stand_in, conventions.pool_depth, collection.has_several_chunkings)
        listed = self._lists.listed
        self._rules = RowRules(~listed, self._budgets, *rest)
        self._lock = threading.Lock()
        self._state = BoardState.first(collection, conventions, self._lists, self._rules)
        answered = self._state.aligned.length.reshape(listed.shape) > 0
        self._answers = AnsweredQueries(listed, answered)

    @property
    def conventions(self) -> Conventions:
        """How these values are to be read, and the golden set they rest on."""
        conventions, by = self._state.conventions, self._weighing
        return conventions if by is None else replace(conventions, weighted=by.traffic)

    @property
    def golden_state(self) -> GoldenState | None:
        """What the golden set is by its content, None where nobody keeps it."""
        return self._state.is_of

    @property
    def revision(self) -> int:
        """The newest judgment these values know of."""
        return self._state.revision

    @property
    def facets(self) -> Mapping[str, tuple[str, ...]]:
        """The facets there are, each with its buckets in order."""
        return {
            facet: tuple(map(str, grouping.buckets))
            for facet, grouping in self._groupings.items()
            if facet is not None
        }

    @property
    def counts(self) -> Counts:
        """How much of the golden set the means rest on."""
        return self._state.counts

    @property
    def tied(self) -> Mapping[str, int]:
        """For each run, the number of queries in which two chunks have the same score."""
        return dict(zip(self.run_names, self._lists.tied, strict=True))

    def unsettled(self, run: str) -> Mapping[str, Scores]:
        """Return the scores, as 32-bit floats, of a run's lists in which they do not all fall."""
        found = self._lists.unsettled[self.column_of(run)]
        return {self.collection.query_ids[query]: scores for query, scores in found.items()}

    def unbucketed(self, facet: str) -> int:
        """Count the judged queries that no bucket of ``facet`` holds, so that no row shows them."""
        buckets, group = self.groups(facet)
        return int(np.sum(self._state.judged & (group == len(buckets))))

    def snapshot(self) -> Scoreboard:
        """Return this board as it is now: what takes several questions gets one revision's answers.

        It shares everything computed so far, and costs nothing.
        """
        return copy.copy(self)

    def within(self, facet: str, bucket: str) -> Scoreboard:
        """Return this board as it is now, with means and values of one bucket's queries alone.

        Its counts and notes are still of the whole golden set, and a run has no value where it has
        none there. Raises `NotFound` for an unknown facet or bucket.
        """
        return self._narrowed((facet, bucket), self._grouping(facet).inside(bucket))

    def weighted_by(self, traffic: Traffic) -> Scoreboard:
        """Return this board as it is now, with means by how often a query's bucket is asked for.

        Queries of no bucket that was asked for count nowhere. May raise `NotFound` for a facet.
        """
        by = TrafficWeights.of(traffic, self.collection.facets)
        board = self._narrowed(traffic, by.asked)
        board._weighing = by
        return board

    @property
    def weights(self) -> Floats | None:
        """The weight of each query in means, (queries,); None where each counts the same."""
        return None if self._weighing is None else self._weighing.weights(self._state.judged)

    def _narrowed(self, key: Hashable, inside: Bools) -> Scoreboard:
        board = self.snapshot()
        board._within = (*self._within, key)
        board._inside = inside if self._inside is None else inside & self._inside
        board._groupings = {name: each.within(inside) for name, each in self._groupings.items()}
        return board

    def notes(self, measures: Iterable[Measure] = ()) -> tuple[Note, ...]:
        """Say what was left out or treated in a way that could surprise; of ``measures``, too."""
        board, asked = self.snapshot(), tuple(measures)
        means = board.means(asked)
        scores = means.rows(board.run_names) if np.isnan(means.value).any() else ()
        about = (board._run_counts(), board.counts, board.conventions, scores)
        weighs = self._weighing.sentences(board.judged) if self._weighing else ()
        crossing = board._crossing_notes([measure for measure in asked if measure.crosses])
        return (*starmap(Note, weighs), *make_notes(board.collection, *about), *crossing)

    def _crossing_notes(self, measures: Sequence[Measure]) -> Iterator[Note]:
        if not measures:
            return
        state = self._state
        where = (self._answers.listed, state.judged, state.seen.anywhere)
        yield from absent_list_notes(self.run_names, *where)
        if self.collection.texts is not None:
            yield from cross_chunking_notes(state.across, state.known, measures)

    def _run_counts(self) -> Mapping[str, RunCounts]:
        lists, listed = self._lists, self._answers.listed
        there = (listed, self._answers.answered)
        hits = self._state.hits.per_row.reshape(listed.shape)
        counted = (lists.tied, lists.scoreless, *there, hits, self._state.judged)
        return count_by_run(self.run_names, *counted, self._state.foreign_to(lists))

    def means(self, measures: Iterable[Measure], facet: str | None = None) -> Means:
        """Return the means as arrays: over all queries, or over those of each bucket of ``facet``.

        ``@budget`` comes back as the plain number where it is the same for every query. Raises
        `NotFound` for an unknown facet.
        """
        grouping, state, chosen = self._grouping(facet), self._state, self.resolve(measures)
        key = (chosen, facet, self._within, self._weighing)
        kept = state.means.get(key)
        if kept is None:
            taken = [self._means(state, some, facet, grouping) for some in chosen.kinds]
            kept = state.means[key] = merge_means(chosen, taken)
        return kept if kept.measures is chosen else replace(kept, measures=chosen)

    def _means(
        self, state: BoardState, some: UniqueMeasures, facet: str | None, grouping: Grouping
    ) -> Means:
        """Take the means of measures that all compare between chunkings, or none of them."""
        sheet = state.with_measures(some, crosses=any(measure.crosses for measure in some[:1]))
        totals = sheet.totals((facet, self._within) if self._within else facet, grouping)
        carried = state.carried.in_buckets(state.conventions.like_trec_eval, some, grouping)
        means = means_from_totals(totals, sheet.layout, some, facet, grouping.buckets, carried)
        if (weights := self.weights) is not None:
            means = weighted_means(means, sheet, grouping, weights)
        self._answers.clear_silent_runs(means.value, sheet, some, self._everything)
        return means

    def table(self, measures: Iterable[Measure], facet: str | None = None) -> list[Score]:
        """Return the means as rows, in the order of the runs, then ``measures``, then buckets.

        Otherwise as `means`. Raises `NotFound` for an unknown facet.
        """
        return self.means(measures, facet).rows(self.run_names)

    def per_query(self, run: str, measures: Iterable[Measure]) -> list[QueryScore]:
        """Return a run's values query by query, in the collection's order, then of ``measures``.

        Queries that nobody has graded are among them, with ``judged`` false and NaN. Raises
        `NotFound` for an unknown run.
        """
        at, state, chosen = self.column_of(run), self._state, self.resolve(measures)
        columns = {
            measure: (
                self._answers.values(state.sheet_of(measure), measure)[:, at],
                state.sheet_of(measure).holes(measure)[:, at],
                state.sheet_of(measure).defined(measure),
                self.judged_for(measure),
                state.carried.by_query(measure)[:, at],
            )
            for measure in chosen
        }
        return query_scores(run, self.collection.query_ids, columns, self._rules.absent[:, at])

    def values(self, measure: Measure) -> Floats:
        """Return all values of a measure, (queries, runs).

        NaN where it is undefined or nobody has graded, and for a run without any result that
        counts.
        """
        chosen = self.resolve([measure])
        values = self._answers.values(self._state.sheet_of(*chosen), *chosen)
        if self._inside is not None:
            values[~self._inside] = np.nan
        return values

    def counted(self, measure: Measure) -> Bools:
        """Say which queries are in the means of a measure, (queries,)."""
        chosen = self.resolve([measure])
        counted = self._state.sheet_of(*chosen).defined(*chosen)
        return counted if self._inside is None else counted & self._inside

    def holes(self, measure: Measure) -> Ints:
        """Count the ungraded chunks inside a measure's cut-off, (queries, runs).

        Without a cut-off they are counted inside the pool depth.
        """
        chosen = self.resolve([measure])
        return self._state.sheet_of(*chosen).holes(*chosen)

    def looked_at(self, measure: Measure) -> Ints:
        """Return of how many chunks of each list `holes` are ungraded ones, (queries, runs)."""
        lengths = self._state.aligned.length.reshape(self._rules.absent.shape)
        if measure.cutoff is None:
            return np.minimum(lengths, self.conventions.pool_depth)
        return np.minimum(lengths, self.cutoffs(measure)[:, np.newaxis])

    def carried(self, measure: Measure) -> Ints:
        """Count the carried grades down to where `holes` are counted, (queries, runs)."""
        return self._state.carried.by_query(*self.resolve([measure]))

    @property
    def judged(self) -> Bools:
        """Say which queries have a golden grade at all, (queries,)."""
        return self._state.judged

    def judged_for(self, measure: Measure) -> Bools:
        """Say the same of what a measure rests on: grades of all chunkings, if it crosses them."""
        return self._state.seen.anywhere if measure.crosses else self._state.judged

    def absent(self, run: str) -> Bools:
        """Say which queries a run has no list for, (queries,)."""
        return self._rules.absent[:, self.column_of(run)]

    def cutoffs(self, measure: Measure) -> Ints:
        """Return how deep a measure looks, (queries,): ``@budget`` depends on a query's task."""
        if measure.cutoff == BUDGET:
            return self._budgets
        return np.full(len(self._budgets), measure.cutoff or WHOLE_LIST)

    @property
    def budgets(self) -> Ints:
        """The prompt budget of each query, (queries,)."""
        return self._budgets

    def moved_since(self, before: Scoreboard) -> Ints:
        """Return the queries whose golden grades are others than on this board ``before``, rising.

        Where ``before`` is no earlier or later look at the same board, these may be all.
        """
        return self._state.moved_since(before._state)

    def aligned(self, queries: Sequence[str], lists: Sequence[ChunkNumbers]) -> Hits:
        """Return the judged chunks of lists that no run holds, a row for the one of each query."""
        golden = [self._state.golden[self.number_of(query_id)] for query_id in queries]
        return align(golden, [[chunks] for chunks in lists])

    def measured(
        self, measure: Measure, hits: Hits, queries: Sequence[str] | None = None
    ) -> Floats:
        """Return the values of rankings that no run holds, by these conventions.

        ``hits`` has a row for each of ``queries``; None stands for every query in order. NaN where
        the value would be left out of the mean, and for what chunks alone do not tell: measures of
        documents and of the evidence.
        """
        if measure.crosses:
            return np.full(len(hits.length), np.nan)
        rows = self._all_queries if queries is None else list(map(self.number_of, queries))
        values = score(hits, measure, self.cutoffs(measure)[rows])
        if self.conventions.stand_in is not None:
            values = np.nan_to_num(values, nan=self.conventions.stand_in)
        values[hits.unjudged] = np.nan
        if self._inside is not None:
            values[~self._inside[rows]] = np.nan
        return values

    def resolve(self, measures: Iterable[Measure]) -> UniqueMeasures:
        """Give ``@budget`` its number where it is one number; each measure comes once."""
        chosen, plain = without_repeats(measures), self._plain_budget
        if plain is None or not chosen.use_prompt_k:
            return chosen
        return without_repeats(
            replace(measure, cutoff=plain) if measure.cutoff == BUDGET else measure
            for measure in chosen
        )

    @cached_property
    def _plain_budget(self) -> int | None:
        """The prompt budget, where it is one number for all queries."""
        budgets = set(self._budgets.tolist()) or {self.conventions.budget}
        return budgets.pop() if len(budgets) == 1 else None

    def groups(self, facet: str | None) -> tuple[tuple[str | None, ...], Ints]:
        """Return a facet's buckets, and each query's place among them: past the last if none."""
        grouping = self._grouping(facet)
        return grouping.buckets, grouping.group

    def refresh(
        self, changes: Iterable[GradeChange], revision: int, golden: GoldenState | None = None
    ) -> None:
        """Bring every value up to date with golden grades that changed up to ``revision``.

        A pair may be graded for the first time, again, or (grade None) no more; ``golden`` is what
        the golden set is by then. A call that comes later than one with a newer revision does
        nothing. Raises `NotFound`, and changes nothing, for a query loaded after this board.
        """
        by_query: dict[int, list[GradeChange]] = {}
        for change in changes:
            if change.query_id not in self.collection.left_out:
                by_query.setdefault(self.number_of(change.query_id), []).append(change)
        with self._lock:
            if revision >= self._state.revision:
                self._state = self._state.changed(by_query, self._groupings, revision, golden)

    def _grouping(self, facet: str | None) -> Grouping:
        if facet not in self._groupings:
            there = ", ".join(name for name in self._groupings if name is not None) or "none"
            raise NotFound(f"no facet is called {facet!r}; there are: {there}")
        return self._groupings[facet]


UNJUDGED = -1


@dataclass(frozen=True, eq=False)
class GoldenGrades:
    """The golden grades of a board: numbers of pairs, rising, and the grade of each.

    A pair's number is its query's place on the board << 32 | its chunk's number.
    """

    pairs: Ints
    grades: Ints

    @staticmethod
    def of(board: Scoreboard) -> GoldenGrades:
        """Read them from a board, as they are now."""
        return GoldenGrades(*board.graded())

    def grades_of(self, pairs: Ints) -> Ints:
        """Return the grade of each of ``pairs``, `UNJUDGED` where it has none."""
        place = np.searchsorted(self.pairs, pairs)
        known = np.append(self.pairs, -1)[place] == pairs
        return np.where(known, np.append(self.grades, UNJUDGED)[place], UNJUDGED)

    def changed(self, pairs: Ints, grades: Ints) -> GoldenGrades:
        """Return them with other grades of these distinct ``pairs``; `UNJUDGED` takes one away."""
        kept = ~np.isin(self.pairs, pairs)
        numbers = np.concatenate([self.pairs[kept], pairs[grades != UNJUDGED]])
        values = np.concatenate([self.grades[kept], grades[grades != UNJUDGED]])
        order = np.argsort(numbers)
        return GoldenGrades(numbers[order], values[order])


def regraded(board: Scoreboard, runs: Sequence[str], golden: GoldenGrades) -> Scoreboard:
    """Return a board of some of a board's runs, with these golden grades and none of them stale.

    Grades of other chunkings, on which documents and evidence rest too, are as they were.
    """
    query, chunk, grade = _golden_columns(golden)
    collection = replace(
        board.collection,
        runs=tuple(board.collection.runs[board.column_of(run)] for run in runs),
        golden_query=query,
        golden_chunk=chunk,
        golden_grade=grade,
        stale=np.zeros(len(grade), dtype=np.bool_),
        carried=None,
        everywhere=_regraded_everywhere(board, golden),
        revision=board.revision,
        golden=None,
    )
    return Scoreboard(collection, board.conventions)


def _golden_columns(
    golden: GoldenGrades,
) -> tuple[ChunkNumbers, ChunkNumbers, npt.NDArray[np.int8]]:
    query, chunk = golden.pairs >> 32, golden.pairs & 2**32 - 1
    return query.astype(np.int32), chunk.astype(np.int32), golden.grades.astype(np.int8)


def _regraded_everywhere(board: Scoreboard, golden: GoldenGrades) -> AllGoldenGrades | None:
    """Return the grades of all chunkings with the board's own exchanged for these."""
    every = board.collection.everywhere
    if every is None:
        return None
    pairs = pair_numbers(every.query.astype(np.int64), every.chunk)
    known = GoldenGrades(pairs, every.grade.astype(np.int64))
    gone = np.setdiff1d(GoldenGrades.of(board).pairs, golden.pairs)
    others = known.changed(gone, np.full(len(gone), UNJUDGED))
    return AllGoldenGrades(*_golden_columns(others.changed(golden.pairs, golden.grades)))

"""Scoreboard: the live values of every run, measure and bucket, updated with each new grade.

A measure is computed on first access, then kept up to date. `regraded` returns a scoreboard with
other golden grades.
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
    PROMPT,
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


class Scoreboard:
    """Every run's value for every query under one set of conventions, kept up to date.

    A measure is computed on first access, and from then on updated whenever a grade changes. Any
    number of threads may read while one refreshes: each result is of one revision.

    Queries without any golden grade are left out of every mean; `counts` has their number. A query
    that a run has no list for counts 0 for that run, as long as the run has results for any query
    that counts; a run without such results has no values and no means:

    >>> from labeler.evaluation import collect
    >>> grades = {"q1": {"c1": 3}, "q2": {"c2": 1}, "q3": {"c3": 0}, "q4": {}}
    >>> board = Scoreboard(collect(grades, {"A": {"q1": ["c1", "c9"]}}), Conventions.of())
    >>> [row] = board.table(board.conventions.measures("RR"))
    >>> row.value, row.n, row.undefined, row.unjudged, row.missing
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
        self._prompt_ks = np.full(len(collection.query_ids), conventions.prompt_k)
        for at, task in enumerate(collection.facets.get("task", ())):
            self._prompt_ks[at] = conventions.prompt_k_of(task)
        self._query_numbers = {query: at for at, query in enumerate(collection.query_ids)}
        self._all_queries = np.arange(len(collection.query_ids))
        self._everything = Grouping((None,), np.zeros(len(collection.query_ids), dtype=np.int64))
        self._groupings: dict[str | None, Grouping] = {None: self._everything}
        self._groupings |= {facet: Grouping.of(given) for facet, given in collection.facets.items()}
        self._narrowed_by: tuple[Hashable, ...] = ()
        self._inside: Bools | None = None
        self._weighting: TrafficWeights | None = None
        rest = (conventions.stand_in, conventions.pool_depth, collection.has_several_chunkings)
        listed = self._lists.listed
        self._rules = RowRules(~listed, self._prompt_ks, *rest)
        self._lock = threading.Lock()
        self._state = BoardState.first(collection, conventions, self._lists, self._rules)
        answered = self._state.first_hits.length.reshape(listed.shape) > 0
        self._answers = AnsweredQueries(listed, answered)

    @property
    def conventions(self) -> Conventions:
        """The conventions of these values, with the hash of the golden set."""
        conventions, by = self._state.conventions, self._weighting
        return conventions if by is None else replace(conventions, weighted=by.traffic)

    @property
    def golden_state(self) -> GoldenState | None:
        """The identity of the golden set by its content, None if it is not kept."""
        return self._state.golden_state

    @property
    def revision(self) -> int:
        """The newest judgment included in these values."""
        return self._state.revision

    @property
    def facets(self) -> Mapping[str, tuple[str, ...]]:
        """The facets, each with its buckets in order."""
        return {
            facet: tuple(map(str, grouping.buckets))
            for facet, grouping in self._groupings.items()
            if facet is not None
        }

    @property
    def counts(self) -> Counts:
        """The size of the golden set behind the means."""
        return self._state.counts

    @property
    def tied(self) -> Mapping[str, int]:
        """For each run, the number of queries in which two chunks have the same score."""
        return dict(zip(self.run_names, self._lists.tied, strict=True))

    def unsorted_scores(self, run: str) -> Mapping[str, Scores]:
        """Return the scores of a run's lists in which they do not strictly fall."""
        found = self._lists.unsorted_scores[self.column_of(run)]
        return {self.collection.query_ids[query]: scores for query, scores in found.items()}

    def unbucketed(self, facet: str) -> int:
        """Count the judged queries in no bucket of ``facet``, which no row shows."""
        buckets, group = self.groups(facet)
        return int(np.sum(self._state.judged & (group == len(buckets))))

    def snapshot(self) -> Scoreboard:
        """Return this board at its current revision, so that several reads give consistent results.

        It shares all computed values, and costs nothing.
        """
        return copy.copy(self)

    def within(self, facet: str, bucket: str) -> Scoreboard:
        """Return a snapshot with means and values of one bucket's queries alone.

        Its counts and notes are still of the whole golden set. A run without a result in the bucket
        has no value. Raises `NotFound` for an unknown facet or bucket.
        """
        return self._narrowed((facet, bucket), self._grouping(facet).inside(bucket))

    def weighted_by(self, traffic: Traffic) -> Scoreboard:
        """Return a snapshot with means weighted by the traffic of each query's bucket.

        Queries in buckets without traffic do not count. May raise `NotFound` for a facet.
        """
        by = TrafficWeights.of(traffic, self.collection.facets)
        board = self._narrowed(traffic, by.asked)
        board._weighting = by
        return board

    @property
    def weights(self) -> Floats | None:
        """The weight of each query in means, (queries,); None if each counts the same."""
        return None if self._weighting is None else self._weighting.weights(self._state.judged)

    def _narrowed(self, key: Hashable, inside: Bools) -> Scoreboard:
        board = self.snapshot()
        board._narrowed_by = (*self._narrowed_by, key)
        board._inside = inside if self._inside is None else inside & self._inside
        board._groupings = {name: each.within(inside) for name, each in self._groupings.items()}
        return board

    def notes(self, measures: Iterable[Measure] = ()) -> tuple[Note, ...]:
        """Return notes on queries, runs and ``measures`` that were left out or could surprise."""
        board, asked = self.snapshot(), tuple(measures)
        means = board.means(asked)
        scores = means.rows(board.run_names) if np.isnan(means.value).any() else ()
        about = (board._run_counts(), board.counts, board.conventions, scores)
        weighs = self._weighting.sentences(board.judged) if self._weighting else ()
        crossing = board._crossing_notes([measure for measure in asked if measure.crosses])
        return (*starmap(Note, weighs), *make_notes(board.collection, *about), *crossing)

    def _crossing_notes(self, measures: Sequence[Measure]) -> Iterator[Note]:
        if not measures:
            return
        state = self._state
        where = (self._answers.listed, state.judged, state.inputs.judged_anywhere)
        yield from absent_list_notes(self.run_names, *where)
        if self.collection.texts is not None:
            yield from cross_chunking_notes(state.chunkings, state.known, measures)

    def _run_counts(self) -> Mapping[str, RunCounts]:
        lists, listed = self._lists, self._answers.listed
        answers = (listed, self._answers.answered)
        hits = self._state.hits.per_row.reshape(listed.shape)
        columns = (lists.tied, lists.scoreless, *answers, hits, self._state.judged)
        return count_by_run(self.run_names, *columns, self._state.foreign_to(lists))

    def means(self, measures: Iterable[Measure], facet: str | None = None) -> Means:
        """Return the means as arrays: over all queries, or over those of each bucket of ``facet``.

        ``@prompt`` becomes a plain number if it is the same for every query. Raises `NotFound` for
        an unknown facet.
        """
        grouping, state, chosen = self._grouping(facet), self._state, self.resolve(measures)
        key = (chosen, facet, self._narrowed_by, self._weighting)
        cached = state.means.get(key)
        if cached is None:
            parts = [self._means(state, some, facet, grouping) for some in chosen.kinds]
            cached = state.means[key] = merge_means(chosen, parts)
        return cached if cached.measures is chosen else replace(cached, measures=chosen)

    def _means(
        self, state: BoardState, some: UniqueMeasures, facet: str | None, grouping: Grouping
    ) -> Means:
        """Compute the means of measures that all compare chunkings, or of measures that do not."""
        table = state.with_measures(some, crosses=any(measure.crosses for measure in some[:1]))
        totals = table.totals((facet, self._narrowed_by) if self._narrowed_by else facet, grouping)
        transferred = state.transferred.in_buckets(state.conventions.like_trec_eval, some, grouping)
        means = means_from_totals(totals, table.layout, some, facet, grouping.buckets, transferred)
        if (weights := self.weights) is not None:
            means = weighted_means(means, table, grouping, weights)
        self._answers.clear_silent_runs(means.value, table, some, self._everything)
        return means

    def table(self, measures: Iterable[Measure], facet: str | None = None) -> list[Score]:
        """Return the means as rows, in the order of the runs, then ``measures``, then buckets.

        Otherwise as `means`. Raises `NotFound` for an unknown facet.
        """
        return self.means(measures, facet).rows(self.run_names)

    def per_query(self, run: str, measures: Iterable[Measure]) -> list[QueryScore]:
        """Return a run's values query by query, in the collection's order, then by measure.

        Queries without grades are included, with ``judged`` false and value NaN. Raises `NotFound`
        for an unknown run.
        """
        at, state, chosen = self.column_of(run), self._state, self.resolve(measures)
        columns = {
            measure: (
                self._answers.values(state.table_of(measure), measure)[:, at],
                state.table_of(measure).unjudged(measure)[:, at],
                state.table_of(measure).defined(measure),
                self.judged_for(measure),
                state.transferred.by_query(measure)[:, at],
            )
            for measure in chosen
        }
        return query_scores(run, self.collection.query_ids, columns, self._rules.absent[:, at])

    def values(self, measure: Measure) -> Floats:
        """Return all values of a measure, (queries, runs).

        NaN if undefined or unjudged, and for a run without any result that counts.
        """
        chosen = self.resolve([measure])
        values = self._answers.values(self._state.table_of(*chosen), *chosen)
        if self._inside is not None:
            values[~self._inside] = np.nan
        return values

    def counted(self, measure: Measure) -> Bools:
        """Return which queries are in the means of a measure, (queries,)."""
        chosen = self.resolve([measure])
        counted = self._state.table_of(*chosen).defined(*chosen)
        return counted if self._inside is None else counted & self._inside

    def unjudged(self, measure: Measure) -> Ints:
        """Return the number of unjudged chunks inside a measure's cut-off, (queries, runs).

        Without a cut-off they are counted inside the pool depth.
        """
        chosen = self.resolve([measure])
        return self._state.table_of(*chosen).unjudged(*chosen)

    def looked_at(self, measure: Measure) -> Ints:
        """Return the number of chunks of each list that `unjudged` checks, (queries, runs)."""
        lengths = self._state.first_hits.length.reshape(self._rules.absent.shape)
        if measure.cutoff is None:
            return np.minimum(lengths, self.conventions.pool_depth)
        return np.minimum(lengths, self.cutoffs(measure)[:, np.newaxis])

    def transferred(self, measure: Measure) -> Ints:
        """Return the number of transferred grades as deep as `unjudged` checks, (queries, runs)."""
        return self._state.transferred.by_query(*self.resolve([measure]))

    @property
    def judged(self) -> Bools:
        """Which queries have a golden grade, (queries,)."""
        return self._state.judged

    def judged_for(self, measure: Measure) -> Bools:
        """Return which queries are judged; measures that compare chunkings count any chunking's."""
        return self._state.inputs.judged_anywhere if measure.crosses else self._state.judged

    def absent(self, run: str) -> Bools:
        """Return which queries a run has no list for, (queries,)."""
        return self._rules.absent[:, self.column_of(run)]

    def cutoffs(self, measure: Measure) -> Ints:
        """Return the cut-off of each query, (queries,): ``@prompt`` depends on the query's task."""
        if measure.cutoff == PROMPT:
            return self._prompt_ks
        return np.full(len(self._prompt_ks), measure.cutoff or WHOLE_LIST)

    @property
    def prompt_ks(self) -> Ints:
        """The prompt k of each query, (queries,)."""
        return self._prompt_ks

    def moved_since(self, before: Scoreboard) -> Ints:
        """Return the queries with other golden grades than on the board ``before``, ascending.

        If ``before`` is not a snapshot of the same board, these may be all.
        """
        return self._state.moved_since(before._state)

    def aligned(self, queries: Sequence[str], lists: Sequence[ChunkNumbers]) -> Hits:
        """Return the judged chunks of lists that are in no run, one list and row per query."""
        golden = [self._state.golden[self.number_of(query_id)] for query_id in queries]
        return align(golden, [[chunks] for chunks in lists])

    def measured(
        self, measure: Measure, hits: Hits, queries: Sequence[str] | None = None
    ) -> Floats:
        """Return the values of rankings that are in no run, by these conventions.

        ``hits`` has a row for each of ``queries``; None is every query in order. NaN if the value
        would be left out of the mean, and for measures of documents and evidence, which need more
        than hits.
        """
        if measure.crosses:
            return np.full(len(hits.length), np.nan)
        rows = self._all_queries if queries is None else list(map(self.number_of, queries))
        values = score(hits, measure, self.cutoffs(measure)[rows])
        if self.conventions.stand_in is not None:
            values = np.nan_to_num(values, nan=self.conventions.stand_in)
        values[hits.without_grades] = np.nan
        if self._inside is not None:
            values[~self._inside[rows]] = np.nan
        return values

    def resolve(self, measures: Iterable[Measure]) -> UniqueMeasures:
        """Replace ``@prompt`` by its number if there is only one, and drop repeated measures."""
        chosen, plain = without_repeats(measures), self._plain_prompt_k
        if plain is None or not chosen.use_prompt_k:
            return chosen
        return without_repeats(
            replace(measure, cutoff=plain) if measure.cutoff == PROMPT else measure
            for measure in chosen
        )

    @cached_property
    def _plain_prompt_k(self) -> int | None:
        """The prompt k, if it is the same for all queries."""
        prompt_ks = set(self._prompt_ks.tolist()) or {self.conventions.prompt_k}
        return prompt_ks.pop() if len(prompt_ks) == 1 else None

    def groups(self, facet: str | None) -> tuple[tuple[str | None, ...], Ints]:
        """Return a facet's buckets, and each query's place among them: past the last if in none."""
        grouping = self._grouping(facet)
        return grouping.buckets, grouping.group

    def golden(self, query_id: str) -> dict[int, int]:
        """Return the golden grades of a query by chunk, retrieved or not."""
        return self._state.golden[self.number_of(query_id)].as_dict()

    def grades(self, query_id: str, chunks: ChunkNumbers) -> Ints:
        """Return the golden grade of each of the chunks for a query, -1 for an unjudged one."""
        return self._state.golden[self.number_of(query_id)].of(chunks)

    def graded(self) -> tuple[Ints, Ints]:
        """Return every pair with a golden grade, ascending, and its grade.

        A pair's number is the row of its query << 32 | the number of its chunk.
        """
        return self._state.graded()

    def counts_of(self, query_id: str) -> tuple[int, ...]:
        """Return how many chunks of a query have grade 0, 1, 2 and 3."""
        golden = self._state.golden[self.number_of(query_id)]
        return tuple(np.bincount(golden.grades, minlength=4).tolist())

    def chunks(self, run: str, query_id: str) -> ChunkNumbers:
        """Return a run's list in the order of the conventions; empty if it has none."""
        return self._lists.ordered(self.column_of(run), self.number_of(query_id))

    def ranked(self, run: str, query_id: str) -> list[RankedChunk]:
        """Return a run's list with scores and golden grades, in the order of the conventions.

        trec_eval orders tied scores differently from the file. The list is empty for a query
        without a list. Raises `NotFound` for an unknown run or query.
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
        """Return what a measure reads of a run's lists: chunks, documents or evidence."""
        query = None if query_id is None else self.number_of(query_id)
        return self._state.inputs_of(self.column_of(run), query).of(measure)

    def chunking_of(self, run: str) -> str:
        """Return the chunking of a run's chunks; may raise `NotFound`."""
        return self.collection.runs[self.column_of(run)].chunking

    def overlaps(
        self, some: Sequence[int], others: Sequence[int]
    ) -> list[tuple[int, int, float, float]]:
        """Return the places of chunks with common text, and its share of each of the two texts."""
        return self._state.chunkings.overlaps(some, others)

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

    def refresh(
        self, changes: Iterable[GradeChange], revision: int, golden: GoldenState | None = None
    ) -> None:
        """Update every value with golden grades that changed up to ``revision``.

        A pair may be graded for the first time, regraded, or (grade None) no longer graded;
        ``golden`` is the state of the golden set after the changes. A call with an older revision
        than the board's does nothing. Raises `NotFound`, and changes nothing, for a query loaded
        after this board was made.
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


UNJUDGED = -1  # the grade of an unjudged chunk, in arrays of grades


@dataclass(frozen=True, eq=False)
class GoldenGrades:
    """The golden grades of a board as arrays: the number of each pair, ascending, and its grade.

    A pair's number is the row of its query on the board << 32 | the number of its chunk.
    """

    pairs: Ints
    grades: Ints

    @staticmethod
    def of(board: Scoreboard) -> GoldenGrades:
        """Return the current golden grades of a board."""
        return GoldenGrades(*board.graded())

    def grades_of(self, pairs: Ints) -> Ints:
        """Return the grade of each of ``pairs``, `UNJUDGED` if it has none."""
        place = np.searchsorted(self.pairs, pairs)
        known = np.append(self.pairs, -1)[place] == pairs
        return np.where(known, np.append(self.grades, UNJUDGED)[place], UNJUDGED)

    def changed(self, pairs: Ints, grades: Ints) -> GoldenGrades:
        """Return the grades with other ones for distinct ``pairs``; `UNJUDGED` removes a grade."""
        kept = ~np.isin(self.pairs, pairs)
        numbers = np.concatenate([self.pairs[kept], pairs[grades != UNJUDGED]])
        values = np.concatenate([self.grades[kept], grades[grades != UNJUDGED]])
        order = np.argsort(numbers)
        return GoldenGrades(numbers[order], values[order])


def regraded(board: Scoreboard, runs: Sequence[str], golden: GoldenGrades) -> Scoreboard:
    """Return a board of some of a board's runs with these golden grades, none of them stale.

    Grades of other chunkings, which measures of documents and evidence also use, are unchanged.
    """
    query, chunk, grade = _golden_columns(golden)
    collection = replace(
        board.collection,
        runs=tuple(board.collection.runs[board.column_of(run)] for run in runs),
        golden_query=query,
        golden_chunk=chunk,
        golden_grade=grade,
        stale=np.zeros(len(grade), dtype=np.bool_),
        transferred=None,
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
    """Return the grades of all chunkings, with the board's own replaced by these."""
    every = board.collection.everywhere
    if every is None:
        return None
    pairs = pair_numbers(every.query.astype(np.int64), every.chunk)
    known = GoldenGrades(pairs, every.grade.astype(np.int64))
    removed = np.setdiff1d(GoldenGrades.of(board).pairs, golden.pairs)
    others = known.changed(removed, np.full(len(removed), UNJUDGED))
    return AllGoldenGrades(*_golden_columns(others.changed(golden.pairs, golden.grades)))

"""State of a scoreboard at one revision of the golden set: its grades, hits and tables of values.

A state is replaced and never changed, so that readers need no lock. The number of transferred
grades in the means is also counted here.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Generic, TypeVar, overload

import numpy as np

from labeler.evaluation.alignment import OrderedLists, pair_numbers, realigned, rows_of
from labeler.evaluation.conventions import Conventions
from labeler.evaluation.cross_chunking import (
    CrossChunking,
    DocumentHits,
    MeasureInputs,
    QueryEvidence,
    evidence_by_query,
)
from labeler.evaluation.means import Counts, Means
from labeler.evaluation.query_grades import (
    NO_CHUNKS,
    ChunkNumbers,
    QueryGrades,
    grades_by_query,
    judged_in_collection,
    judged_in_grades,
)
from labeler.evaluation.value_table import Grouping, RowLayout, RowRules, ValueTable, fill_rows
from labeler.measures import Bools, Hits, Ints, Measure
from labeler.model import Collection, GoldenState, GradeChange

NO_GRADES = np.array([], dtype=np.int64)


@dataclass(eq=False)
class BoardState:
    """The grades and values of a scoreboard at one revision.

    Never changed, only replaced, so that readers need no lock. ``conventions`` name the golden set,
    and ``golden_state`` describes its content. ``first_hits`` are the hits of all queries when the
    board was made, with a row for each run, and ``new_hits`` those of the queries changed since.
    ``tables`` has one table for the measures that compare chunkings, True, and one for the others,
    False, each made when a measure of its kind is first needed. Only ``tables`` gets new entries,
    when a measure is new; if two threads add one at once, one of them is lost and computed again
    later. ``means`` are cached by request. ``known`` is the evidence of each query in all
    chunkings.
    """

    revision: int
    conventions: Conventions
    golden_state: GoldenState | None
    golden: Sequence[QueryGrades]
    first_hits: Hits
    new_hits: Mapping[int, Hits]
    tables: dict[bool, ValueTable]
    transferred: TransferredGrades
    known: Sequence[QueryEvidence]
    chunkings: CrossChunking
    means: dict[Hashable, Means] = field(default_factory=dict, init=False, repr=False)
    _of_runs: dict[int, Hits] = field(default_factory=dict, init=False, repr=False)

    @staticmethod
    def first(
        collection: Collection, conventions: Conventions, lists: OrderedLists, rules: RowRules
    ) -> BoardState:
        """Return the state of a collection without changes.

        Data needed only for single queries or other chunkings is made on first access.
        """
        golden = LazySequence(len(collection.query_ids), partial(grades_by_query, collection))
        known = LazySequence(len(golden), partial(evidence_by_query, collection, golden))
        chunkings = CrossChunking(collection, lists)
        transferred = TransferredGrades.of(collection, golden, known, chunkings, rules)
        at = (collection.revision, conventions.on(collection.golden), collection.golden)
        state = BoardState(*at, golden, lists.hits(golden), {}, {}, transferred, known, chunkings)
        if not collection.has_several_chunkings:  # otherwise a grade in each chunking is needed
            vars(state)["judged"] = judged_in_collection(collection, conventions.like_trec_eval)
        stale = int(np.count_nonzero(collection.stale))
        vars(state)["_graded"] = len(collection.golden_chunk), stale
        return state

    @property
    def rules(self) -> RowRules:
        return self.transferred.rules

    @cached_property
    def hits(self) -> Hits:
        return realigned(self.first_hits, self.new_hits)

    def hits_of(self, run: int) -> Hits:
        """Return the hits of one run, a row for each query; cached, since pages often read them."""
        if run not in self._of_runs:
            self._of_runs[run] = self.hits.every(self.rules.runs, run)
        return self._of_runs[run]

    @cached_property
    def inputs(self) -> MeasureInputs:
        """What measures read, for all queries and runs."""
        return MeasureInputs(
            self.hits, self.chunkings, self.known, range(len(self.golden)), self.judged
        )

    def inputs_of(self, run: int, query: int | None = None) -> MeasureInputs:
        """Return what measures read of one run's lists, for all queries or for one."""
        queries = range(len(self.golden)) if query is None else [query]
        known = [self.known[at] for at in queries]
        hits = self.hits_of(run) if query is None else self.hits_in(run, query)
        return MeasureInputs(hits, self.chunkings, known, queries, self.judged[list(queries)], run)

    def hits_in(self, run: int, query: int) -> Hits:
        runs = self.rules.runs
        part = self.new_hits.get(query) or rows_of(
            self.first_hits, query * runs, (query + 1) * runs
        )
        return part.every(runs, run)

    @cached_property
    def judged(self) -> Bools:
        """Which queries count, (queries,)."""
        return judged_in_grades(self.golden, self.conventions.like_trec_eval)

    @cached_property
    def counts(self) -> Counts:
        """The size of the golden set behind the means."""
        judged = int(self.judged.sum())
        return Counts(
            queries=len(self.golden),
            judged=judged,
            unjudged=len(self.golden) - judged,
            grades=self._graded[0],
            stale=self._graded[1],
            transferred=self.transferred.total,
        )

    @cached_property
    def _graded(self) -> tuple[int, int]:
        """The number of golden grades, and the number of stale ones."""
        stale = np.concatenate([[], *(of.stale for of in self.golden)])
        return len(stale), int(np.count_nonzero(stale))

    @cached_property
    def graded_chunks(self) -> ChunkNumbers:
        """The chunks with a golden grade for some query, ascending."""
        return np.unique(np.concatenate([NO_CHUNKS, *(of.chunks for of in self.golden)]))

    def foreign_to(self, lists: OrderedLists) -> Callable[[int], int]:
        """Return a function of a run: the number of graded chunks if the run has none, else 0."""
        return lambda run: lists.count_if_none(run, self.graded_chunks)

    def changed(
        self,
        by_query: Mapping[int, Sequence[GradeChange]],
        groupings: Mapping[str | None, Grouping],
        revision: int,
        golden_state: GoldenState | None,
    ) -> BoardState:
        """Return the state after changes of golden grades, up to a revision.

        ``groupings`` are those of the cached sums; ``golden_state`` describes the golden set after
        the changes.
        """
        golden, known, chunkings = list(self.golden), list(self.known), self.chunkings
        tables = dict(self.tables)  # a copy, since a reader may add a table at any time
        for query, changes in by_query.items():
            here, before = [*filter(chunkings.collection.takes, changes)], golden[query]
            golden[query] = before.changed(here) if here else before
            is_all = len(here) == len(changes) and known[query].grades is before
            known[query] = known[query].changed(changes, golden[query] if is_all else None)
        new_hits = {query: chunkings.lists.align([query], golden) for query in by_query}
        judged = judged_in_grades(
            [golden[query] for query in new_hits], self.conventions.like_trec_eval
        )
        hits = Hits.join(list(new_hits.values()))
        inputs = MeasureInputs(
            hits, chunkings, [known[query] for query in new_hits], list(new_hits), judged
        )
        for crosses, table in tables.items():
            fresh = dict(zip(new_hits, fill_rows(table.layout, self.rules, inputs), strict=True))
            tables[crosses] = table.with_rows(fresh, groupings)
        transferred = self.transferred.changed(golden, known, new_hits)
        all_new_hits = {**self.new_hits, **new_hits}
        at = (revision, self.conventions.on(golden_state), golden_state)
        return BoardState(
            *at, golden, self.first_hits, all_new_hits, tables, transferred, known, chunkings
        )

    def with_measures(self, measures: tuple[Measure, ...], *, crosses: bool) -> ValueTable:
        """Return a table that has these measures among others; new ones are computed now.

        Either all of them compare chunkings, or none does.
        """
        table = self.tables.get(crosses)
        new = measures if table is None else table.layout.measures_not_in(measures)
        if table is None or new:
            layout = RowLayout.of(self.rules.runs, new, crosses)
            computed = ValueTable.of(layout, fill_rows(layout, self.rules, self.inputs))
            table = self.tables[crosses] = (
                computed if table is None else table.with_measures(computed)
            )
        return table

    def table_of(self, measure: Measure) -> ValueTable:
        """Return the table that has a measure, computing it if it is new."""
        return self.with_measures((measure,), crosses=measure.crosses)

    def moved_since(self, before: BoardState) -> Ints:
        """Return the queries whose golden grades differ from an earlier state's, ascending."""
        pairs = zip(self.golden, before.golden, strict=True)
        return np.array([at for at, (here, there) in enumerate(pairs) if here is not there], int)

    def graded(self) -> tuple[Ints, Ints]:
        """Return the number of every pair with a golden grade, ascending, and its grade."""
        query = np.repeat(np.arange(len(self.golden)), [len(of.chunks) for of in self.golden])
        chunks = np.concatenate([NO_CHUNKS, *(of.chunks for of in self.golden)])
        grades = np.concatenate([NO_GRADES, *(of.grades for of in self.golden)])
        return pair_numbers(query, chunks), grades


@dataclass(eq=False)
class TransferredGrades:
    """The transferred grades among the golden grades of all queries, at one revision.

    ``golden`` are the grades of the selected chunkings, ``known`` those of all; ``queries`` are the
    queries with transferred grades, ascending.
    """

    golden: Sequence[QueryGrades]
    known: Sequence[QueryEvidence]
    chunkings: CrossChunking
    rules: RowRules
    queries: Ints
    _hits: Hits | None = field(default=None, init=False, repr=False)
    _documents: Hits | None = field(default=None, init=False, repr=False)

    @staticmethod
    def of(
        given: Collection,
        golden: Sequence[QueryGrades],
        known: Sequence[QueryEvidence],
        chunkings: CrossChunking,
        rules: RowRules,
    ) -> TransferredGrades:
        """Find the transferred grades of every query of a collection."""
        every = given if given.everywhere is None else given.everywhere
        queries = _queries_with_transferred(
            known, range(0 if every.transferred is None else len(known))
        )
        return TransferredGrades(golden, known, chunkings, rules, queries)

    def changed(
        self,
        golden: Sequence[QueryGrades],
        known: Sequence[QueryEvidence],
        new_hits: Mapping[int, Hits],
    ) -> TransferredGrades:
        """Return the transferred grades after changes, reading only the changed queries."""
        queries = _queries_with_transferred(known, new_hits)
        if len(self.queries):
            kept = self.queries[~np.isin(self.queries, list(new_hits))]
            queries = np.sort(np.concatenate([kept, queries]))
        return TransferredGrades(golden, known, self.chunkings, self.rules, queries)

    @property
    def total(self) -> int:
        """The number of transferred grades, retrieved or not."""
        return sum(len(_only_transferred(self.golden[at]).chunks) for at in self.queries.tolist())

    def counts(self, measure: Measure) -> Ints:
        """Count transferred grades down to where unjudged chunks are counted, (`queries`, runs).

        A document counts if its best grade would differ without transferred grades. Transferred
        grades are no evidence.
        """
        if measure.reads == "evidence":
            return np.zeros((len(self.queries), self.rules.runs), dtype=np.int64)
        hits = self._in_documents() if measure.reads == "documents" else self._in_lists()
        within = self.rules.unjudged_within(measure.cutoff, self.queries)
        return hits.count(within).reshape(len(self.queries), self.rules.runs)

    def by_query(self, measure: Measure) -> Ints:
        """Return `counts` for all queries, (queries, runs)."""
        found = np.zeros((len(self.known), self.rules.runs), dtype=np.int64)
        if len(self.queries):
            found[self.queries] = self.counts(measure)
        return found

    def in_buckets(
        self, like_trec_eval: bool, measures: Iterable[Measure], grouping: Grouping
    ) -> Ints | None:
        """Sum `counts` over the queries that count, (measures, runs, buckets); None for none."""
        if not len(self.queries):
            return None
        group, buckets = grouping.group, len(grouping.buckets)
        judged = judged_in_grades([self.golden[at] for at in self.queries.tolist()], like_trec_eval)
        found = []
        for measure in measures:
            counts = judged | measure.crosses  # these count any grade, of any chunking
            rows = np.flatnonzero(counts & (group[self.queries] < buckets))
            in_bucket = np.zeros((buckets, self.rules.runs), dtype=np.int64)
            np.add.at(in_bucket, group[self.queries[rows]], self.counts(measure)[rows])
            found.append(in_bucket.T)
        return np.array(found, dtype=np.int64).reshape(len(found), self.rules.runs, buckets)

    def _in_lists(self) -> Hits:
        if self._hits is None:
            alone = [_only_transferred(each) for each in self.golden]
            self._hits = self.chunkings.lists.align(self.queries.tolist(), alone)
        return self._hits

    def _in_documents(self) -> Hits:
        if self._documents is None:
            known = [self.known[at] for at in self.queries.tolist()]
            lists = [self.chunkings.ordered(at) for at in self.queries.tolist()]
            found = self.chunkings.documents(known, lists)
            own = [
                replace(each, grades=_select_grades(each.grades, transferred=False))
                for each in known
            ]
            self._documents = _changed_documents(found, self.chunkings.documents(own, lists))
        return self._documents


def _queries_with_transferred(known: Sequence[QueryEvidence], among: Iterable[int]) -> Ints:
    transferred = (at for at in among if known[at].grades.transferred is not None)
    return np.array(sorted(transferred), dtype=np.int64)


def _only_transferred(golden: QueryGrades) -> QueryGrades:
    return _select_grades(golden, transferred=True)


def _select_grades(golden: QueryGrades, *, transferred: bool) -> QueryGrades:
    """Return the transferred grades of a query, or the others."""
    of = golden.transferred
    kept: Bools = (np.zeros(len(golden.chunks), np.bool_) if of is None else of) == transferred
    return QueryGrades(golden.chunks[kept], golden.grades[kept], golden.stale[kept])


def _changed_documents(found: DocumentHits, own: DocumentHits) -> Hits:
    """Return the documents whose grade differs in ``own``, or that have none there."""
    places = found.row << 32 | found.rank
    there = np.append(own.row << 32 | own.rank, -1)
    at = np.searchsorted(there[:-1], places)
    is_same = (there[at] == places) & (np.append(own.grade, -1)[at] == found.grade)
    kept = ~is_same
    return Hits(found.row[kept], found.rank[kept], found.grade[kept], found.known, found.length)


T = TypeVar("T")


@dataclass(eq=False)
class LazySequence(Sequence[T], Generic[T]):
    """A sequence of items that ``make`` returns, called on first access.

    That is before its length is known, unless ``size`` says it.

    >>> LazySequence(2, lambda: "ab")[1]
    'b'
    """

    size: int | None
    make: Callable[[], Sequence[T]]

    @cached_property
    def _made(self) -> Sequence[T]:
        return self.make()

    def __len__(self) -> int:
        return len(self._made) if self.size is None else self.size

    def __iter__(self) -> Iterator[T]:
        return iter(self._made)

    @overload
    def __getitem__(self, at: int) -> T: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[T]: ...
    def __getitem__(self, at: int | slice) -> T | Sequence[T]:
        return self._made[at]

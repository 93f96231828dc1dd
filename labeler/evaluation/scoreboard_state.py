"""State of a scoreboard at one revision of the golden set: its grades, hits and tables of values.

A state is replaced and never changed, so that readers need no lock. It also counts how many of
the grades in the means were transferred from another chunking.
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
    """Never changed, only replaced, so that readers need no lock.

    ``conventions`` name the golden set that this is, ``is_of`` says what it is by its content.
    ``aligned`` are the hits of all queries as they were when a board was made, with a row for each
    run, and ``moved`` those of the queries that changed since. Of the ``sheets`` one is of the
    measures that compare between chunkings, True, and one of the others, False; each is there from
    when a measure of its kind was asked for. Only a sheet is put in anew, when a measure is asked
    for that it did not have; two threads that do so at once lose one of the new measures, which is
    then made again. ``means`` are kept by what was asked. ``known`` is what is known of each query
    in any chunking, which ``across`` makes documents and evidence of.
    """

    revision: int
    conventions: Conventions
    is_of: GoldenState | None
    golden: Sequence[QueryGrades]
    aligned: Hits
    moved: Mapping[int, Hits]
    sheets: dict[bool, ValueTable]
    carried: TransferredGrades
    known: Sequence[QueryEvidence]
    across: CrossChunking
    means: dict[Hashable, Means] = field(default_factory=dict, init=False, repr=False)
    _of_runs: dict[int, Hits] = field(default_factory=dict, init=False, repr=False)

    @staticmethod
    def first(
        collection: Collection, conventions: Conventions, lists: OrderedLists, rules: RowRules
    ) -> BoardState:
        """Return the state of a collection, in which nothing has changed yet.

        What of it only single queries or other chunkings ask for is made when one is asked for.
        """
        golden = LazySequence(len(collection.query_ids), partial(grades_by_query, collection))
        known = LazySequence(len(golden), partial(evidence_by_query, collection, golden))
        across = CrossChunking(collection, lists)
        carried = TransferredGrades.of(collection, golden, known, across, rules)
        at = (collection.revision, conventions.on(collection.golden), collection.golden)
        state = BoardState(*at, golden, lists.hits(golden), {}, {}, carried, known, across)
        if not collection.has_several_chunkings:  # all that is here counts
            vars(state)["judged"] = judged_in_collection(collection, conventions.like_trec_eval)
        stale = int(np.count_nonzero(collection.stale))
        vars(state)["_graded"] = len(collection.golden_chunk), stale
        return state

    @property
    def rules(self) -> RowRules:
        """What numbers depend on besides grades."""
        return self.carried.rules

    @cached_property
    def hits(self) -> Hits:
        """The hits of all queries."""
        return realigned(self.aligned, self.moved)

    def hits_of(self, run: int) -> Hits:
        """The hits of one run, a row for each query; picked out once, since pages ask often."""
        if run not in self._of_runs:
            self._of_runs[run] = self.hits.every(self.rules.runs, run)
        return self._of_runs[run]

    @cached_property
    def seen(self) -> MeasureInputs:
        """What measures read of all queries and runs."""
        return MeasureInputs(
            self.hits, self.across, self.known, range(len(self.golden)), self.judged
        )

    def seen_of(self, run: int, query: int | None = None) -> MeasureInputs:
        """Return what measures read of one run's lists, of all queries or of one."""
        queries = range(len(self.golden)) if query is None else [query]
        known = [self.known[at] for at in queries]
        hits = self.hits_of(run) if query is None else self.hits_in(run, query)
        return MeasureInputs(hits, self.across, known, queries, self.judged[list(queries)], run)

    def hits_in(self, run: int, query: int) -> Hits:
        """The hits of one run for one query."""
        runs = self.rules.runs
        part = self.moved.get(query) or rows_of(self.aligned, query * runs, (query + 1) * runs)
        return part.every(runs, run)

    @cached_property
    def judged(self) -> Bools:
        """Say which queries count, (queries,)."""
        return judged_in_grades(self.golden, self.conventions.like_trec_eval)

    @cached_property
    def counts(self) -> Counts:
        """How much of the golden set means rest on."""
        judged = int(self.judged.sum())
        return Counts(
            queries=len(self.golden),
            judged=judged,
            unjudged=len(self.golden) - judged,
            grades=self._graded[0],
            stale=self._graded[1],
            carried=self.carried.total,
        )

    @cached_property
    def _graded(self) -> tuple[int, int]:
        """How many golden grades there are, and how many of them are stale."""
        stale = np.concatenate([[], *(of.stale for of in self.golden)])
        return len(stale), int(np.count_nonzero(stale))

    @cached_property
    def graded_chunks(self) -> ChunkNumbers:
        """The chunks with a golden grade for some query, rising."""
        return np.unique(np.concatenate([NO_CHUNKS, *(of.chunks for of in self.golden)]))

    def foreign_to(self, lists: OrderedLists) -> Callable[[int], int]:
        """Return what says of a run how many chunks are graded if none of its is, else 0."""
        return lambda run: lists.count_if_none(run, self.graded_chunks)

    def changed(
        self,
        by_query: Mapping[int, Sequence[GradeChange]],
        groupings: Mapping[str | None, Grouping],
        revision: int,
        is_of: GoldenState | None,
    ) -> BoardState:
        """Return the state after some golden grades changed, up to a revision.

        ``groupings`` are those by which rows were added up; ``is_of`` is what the golden set is by
        then.
        """
        golden, known, across = list(self.golden), list(self.known), self.across
        sheets = dict(self.sheets)  # a reader may put in another one now
        for query, changes in by_query.items():
            here, before = [*filter(across.collection.takes, changes)], golden[query]
            golden[query] = before.changed(here) if here else before
            is_all = len(here) == len(changes) and known[query].grades is before
            known[query] = known[query].changed(changes, golden[query] if is_all else None)
        moved = {query: across.lists.align([query], golden) for query in by_query}
        judged = judged_in_grades(
            [golden[query] for query in moved], self.conventions.like_trec_eval
        )
        hits = Hits.join(list(moved.values()))
        seen = MeasureInputs(hits, across, [known[query] for query in moved], list(moved), judged)
        for crosses, sheet in sheets.items():
            fresh = dict(zip(moved, fill_rows(sheet.layout, self.rules, seen), strict=True))
            sheets[crosses] = sheet.with_rows(fresh, groupings)
        carried, hot = self.carried.changed(golden, known, moved), {**self.moved, **moved}
        at = (revision, self.conventions.on(is_of), is_of)
        return BoardState(*at, golden, self.aligned, hot, sheets, carried, known, across)

    def with_measures(self, measures: tuple[Measure, ...], *, crosses: bool) -> ValueTable:
        """Return a sheet with these measures among others; those not asked before are made now.

        Either all of them compare between chunkings, or none.
        """
        sheet = self.sheets.get(crosses)
        new = measures if sheet is None else sheet.layout.lacks(measures)
        if sheet is None or new:
            layout = RowLayout.of(self.rules.runs, new, crosses)
            made = ValueTable.of(layout, fill_rows(layout, self.rules, self.seen))
            sheet = self.sheets[crosses] = made if sheet is None else sheet.with_measures(made)
        return sheet

    def sheet_of(self, measure: Measure) -> ValueTable:
        """Return the sheet that has a measure; it is made now if it was not asked before."""
        return self.with_measures((measure,), crosses=measure.crosses)

    def moved_since(self, before: BoardState) -> Ints:
        """Return the queries whose golden grades are kept as others than they were, rising."""
        pairs = zip(self.golden, before.golden, strict=True)
        return np.array([at for at, (here, there) in enumerate(pairs) if here is not there], int)

    def graded(self) -> tuple[Ints, Ints]:
        """Return the number of every pair with a golden grade, rising, and its grade."""
        query = np.repeat(np.arange(len(self.golden)), [len(of.chunks) for of in self.golden])
        chunks = np.concatenate([NO_CHUNKS, *(of.chunks for of in self.golden)])
        grades = np.concatenate([NO_GRADES, *(of.grades for of in self.golden)])
        return pair_numbers(query, chunks), grades


@dataclass(eq=False)
class TransferredGrades:
    """The carried grades among the golden ones of all queries, of one revision.

    ``golden`` are those of the selected chunkings, ``known`` those of all; ``queries`` are those
    that have any carried ones, rising.
    """

    golden: Sequence[QueryGrades]
    known: Sequence[QueryEvidence]
    across: CrossChunking
    rules: RowRules
    queries: Ints
    _hits: Hits | None = field(default=None, init=False, repr=False)
    _documents: Hits | None = field(default=None, init=False, repr=False)

    @staticmethod
    def of(
        given: Collection,
        golden: Sequence[QueryGrades],
        known: Sequence[QueryEvidence],
        across: CrossChunking,
        rules: RowRules,
    ) -> TransferredGrades:
        """Look through the grades of every query; they are those of the collection given."""
        every = given if given.everywhere is None else given.everywhere
        queries = _queries_with_transferred(
            known, range(0 if every.carried is None else len(known))
        )
        return TransferredGrades(golden, known, across, rules, queries)

    def changed(
        self,
        golden: Sequence[QueryGrades],
        known: Sequence[QueryEvidence],
        moved: Mapping[int, Hits],
    ) -> TransferredGrades:
        """Return them as they are once some queries have other grades, looking at these alone."""
        queries = _queries_with_transferred(known, moved)
        if len(self.queries):
            kept = self.queries[~np.isin(self.queries, list(moved))]
            queries = np.sort(np.concatenate([kept, queries]))
        return TransferredGrades(golden, known, self.across, self.rules, queries)

    @property
    def total(self) -> int:
        """How many there are, retrieved or not."""
        return sum(len(_only_transferred(self.golden[at]).chunks) for at in self.queries.tolist())

    def counts(self, measure: Measure) -> Ints:
        """Count them in the top of lists, as deep as holes are, (`queries`, runs).

        Of documents those count whose best grade is another one without carried grades. What was
        carried over is no evidence.
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
        """Add up `counts` over the queries that count, (measures, runs, buckets). None for none."""
        if not len(self.queries):
            return None
        group, buckets = grouping.group, len(grouping.buckets)
        judged = judged_in_grades([self.golden[at] for at in self.queries.tolist()], like_trec_eval)
        found = []
        for measure in measures:
            counts = judged | measure.crosses  # which any grade, of whichever chunking, makes count
            rows = np.flatnonzero(counts & (group[self.queries] < buckets))
            in_bucket = np.zeros((buckets, self.rules.runs), dtype=np.int64)
            np.add.at(in_bucket, group[self.queries[rows]], self.counts(measure)[rows])
            found.append(in_bucket.T)
        return np.array(found, dtype=np.int64).reshape(len(found), self.rules.runs, buckets)

    def _in_lists(self) -> Hits:
        if self._hits is None:
            alone = [_only_transferred(each) for each in self.golden]
            self._hits = self.across.lists.align(self.queries.tolist(), alone)
        return self._hits

    def _in_documents(self) -> Hits:
        if self._documents is None:
            known = [self.known[at] for at in self.queries.tolist()]
            lists = [self.across.ordered(at) for at in self.queries.tolist()]
            found = self.across.documents(known, lists)
            own = [
                replace(each, grades=_select_grades(each.grades, carried=False)) for each in known
            ]
            self._documents = _changed_documents(found, self.across.documents(own, lists))
        return self._documents


def _queries_with_transferred(known: Sequence[QueryEvidence], among: Iterable[int]) -> Ints:
    there = (at for at in among if known[at].grades.carried is not None)
    return np.array(sorted(there), dtype=np.int64)


def _only_transferred(golden: QueryGrades) -> QueryGrades:
    """Return the grades of a query alone that were carried over."""
    return _select_grades(golden, carried=True)


def _select_grades(golden: QueryGrades, *, carried: bool) -> QueryGrades:
    """Return those grades of a query that were carried over, or those that were not."""
    of = golden.carried
    kept: Bools = (np.zeros(len(golden.chunks), np.bool_) if of is None else of) == carried
    return QueryGrades(golden.chunks[kept], golden.grades[kept], golden.stale[kept])


def _changed_documents(found: DocumentHits, own: DocumentHits) -> Hits:
    """Return the documents of some lists that have another grade there, or none."""
    places = found.row << 32 | found.rank
    there = np.append(own.row << 32 | own.rank, -1)
    at = np.searchsorted(there[:-1], places)
    is_same = (there[at] == places) & (np.append(own.grade, -1)[at] == found.grade)
    kept = ~is_same
    return Hits(found.row[kept], found.rank[kept], found.grade[kept], found.known, found.length)


T = TypeVar("T")


@dataclass(eq=False)
class LazySequence(Sequence[T], Generic[T]):
    """A sequence of ``size`` things that ``make`` makes, all at once.

    >>> LazySequence(2, lambda: "ab")[1]
    'b'
    """

    size: int
    make: Callable[[], Sequence[T]]

    @cached_property
    def _made(self) -> Sequence[T]:
        return self.make()

    def __len__(self) -> int:
        return self.size

    def __iter__(self) -> Iterator[T]:
        return iter(self._made)

    @overload
    def __getitem__(self, at: int) -> T: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[T]: ...
    def __getitem__(self, at: int | slice) -> T | Sequence[T]:
        return self._made[at]

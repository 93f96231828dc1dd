"""All that one revision of the golden set says: its grades, the hits, and the rows of numbers."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial

import numpy as np

from labeler.evaluation.across import Across, Known, Seen, known_everywhere
from labeler.evaluation.adding import Grouping
from labeler.evaluation.alignment import Lists, pairs_of, realigned, rows_of
from labeler.evaluation.carried import CarriedGrades
from labeler.evaluation.conventions import Conventions
from labeler.evaluation.graded import (
    NO_CHUNKS,
    Chunks,
    QueryGrades,
    grades_by_query,
    judged_in,
    judged_of,
)
from labeler.evaluation.later import Later
from labeler.evaluation.means import Counts, Means
from labeler.evaluation.sheet import Layout, Rules, Sheet, fill
from labeler.measures import Bools, Hits, Ints, Measure
from labeler.model import Collection, GoldenState, GradeChange

NO_GRADES = np.array([], dtype=np.int64)


@dataclass(eq=False)
class State:
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
    sheets: dict[bool, Sheet]
    carried: CarriedGrades
    known: Sequence[Known]
    across: Across
    means: dict[Hashable, Means] = field(default_factory=dict, init=False, repr=False)
    _of_runs: dict[int, Hits] = field(default_factory=dict, init=False, repr=False)

    @staticmethod
    def first(
        collection: Collection, conventions: Conventions, lists: Lists, rules: Rules
    ) -> State:
        """Return the state of a collection, in which nothing has changed yet.

        What of it only single queries or other chunkings ask for is made when one is asked for.
        """
        golden = Later(len(collection.query_ids), partial(grades_by_query, collection))
        known = Later(len(golden), partial(known_everywhere, collection, golden))
        across = Across(collection, lists)
        carried = CarriedGrades.of(collection, golden, known, across, rules)
        at = (collection.revision, conventions.on(collection.golden), collection.golden)
        state = State(*at, golden, lists.hits(golden), {}, {}, carried, known, across)
        if not collection.is_of_several:  # all that is here counts
            vars(state)["judged"] = judged_of(collection, conventions.like_trec_eval)
        stale = int(np.count_nonzero(collection.stale))
        vars(state)["_graded"] = len(collection.golden_chunk), stale
        return state

    @property
    def rules(self) -> Rules:
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
    def seen(self) -> Seen:
        """What measures read of all queries and runs."""
        return Seen(self.hits, self.across, self.known, range(len(self.golden)), self.judged)

    def seen_of(self, run: int, query: int | None = None) -> Seen:
        """Return what measures read of one run's lists, of all queries or of one."""
        queries = range(len(self.golden)) if query is None else [query]
        known = [self.known[at] for at in queries]
        hits = self.hits_of(run) if query is None else self.hits_in(run, query)
        return Seen(hits, self.across, known, queries, self.judged[list(queries)], run)

    def hits_in(self, run: int, query: int) -> Hits:
        """The hits of one run for one query."""
        runs = self.rules.runs
        part = self.moved.get(query) or rows_of(self.aligned, query * runs, (query + 1) * runs)
        return part.every(runs, run)

    @cached_property
    def judged(self) -> Bools:
        """Say which queries count, (queries,)."""
        return judged_in(self.golden, self.conventions.like_trec_eval)

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
    def graded_chunks(self) -> Chunks:
        """The chunks with a golden grade for some query, rising."""
        return np.unique(np.concatenate([NO_CHUNKS, *(of.chunks for of in self.golden)]))

    def foreign_to(self, lists: Lists) -> Callable[[int], int]:
        """Return what says of a run how many chunks are graded if none of its is, else 0."""
        return lambda run: lists.count_if_none(run, self.graded_chunks)

    def changed(
        self,
        by_query: Mapping[int, Sequence[GradeChange]],
        groupings: Mapping[str | None, Grouping],
        revision: int,
        is_of: GoldenState | None,
    ) -> State:
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
        judged = judged_in([golden[query] for query in moved], self.conventions.like_trec_eval)
        hits = Hits.join(list(moved.values()))
        seen = Seen(hits, across, [known[query] for query in moved], list(moved), judged)
        for crosses, sheet in sheets.items():
            fresh = dict(zip(moved, fill(sheet.layout, self.rules, seen), strict=True))
            sheets[crosses] = sheet.with_rows(fresh, groupings)
        carried, hot = self.carried.changed(golden, known, moved), {**self.moved, **moved}
        at = (revision, self.conventions.on(is_of), is_of)
        return State(*at, golden, self.aligned, hot, sheets, carried, known, across)

    def with_measures(self, measures: tuple[Measure, ...], *, crosses: bool) -> Sheet:
        """Return a sheet with these measures among others; those not asked before are made now.

        Either all of them compare between chunkings, or none.
        """
        sheet = self.sheets.get(crosses)
        new = measures if sheet is None else sheet.layout.lacks(measures)
        if sheet is None or new:
            layout = Layout.of(self.rules.runs, new, crosses)
            made = Sheet.of(layout, fill(layout, self.rules, self.seen))
            sheet = self.sheets[crosses] = made if sheet is None else sheet.with_measures(made)
        return sheet

    def sheet_of(self, measure: Measure) -> Sheet:
        """Return the sheet that has a measure; it is made now if it was not asked before."""
        return self.with_measures((measure,), crosses=measure.crosses)

    def moved_since(self, before: State) -> Ints:
        """Return the queries whose golden grades are kept as others than they were, rising."""
        pairs = zip(self.golden, before.golden, strict=True)
        return np.array([at for at, (here, there) in enumerate(pairs) if here is not there], int)

    def graded(self) -> tuple[Ints, Ints]:
        """Return the number of every pair with a golden grade, rising, and its grade."""
        query = np.repeat(np.arange(len(self.golden)), [len(of.chunks) for of in self.golden])
        chunks = np.concatenate([NO_CHUNKS, *(of.chunks for of in self.golden)])
        grades = np.concatenate([NO_GRADES, *(of.grades for of in self.golden)])
        return pairs_of(query, chunks), grades

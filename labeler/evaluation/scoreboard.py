"""Live values: a board of every run, measure and bucket that follows the golden grades."""

from __future__ import annotations

import copy
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import repeat

import numpy as np

from labeler.errors import NotFound
from labeler.evaluation.alignment import (
    NO_CHUNKS,
    Chunks,
    QueryGrades,
    Ranked,
    align,
    chunk_lists,
    grades_by_query,
    ranked,
    tied_queries,
)
from labeler.evaluation.conventions import Conventions
from labeler.evaluation.means import (
    Counts,
    Grouping,
    QueryScore,
    Score,
    Values,
    make_columns,
    replace_rows,
)
from labeler.measures import BUDGET, WHOLE_LIST, Bools, Cutoff, Floats, Hits, Ints, Measure, score
from labeler.model import Collection, GradeChange, StoredRun


@dataclass(frozen=True, eq=False)
class _State:
    """Everything that one revision says. Never changed, only replaced: readers need no lock.

    ``hits`` holds one part for each query, with a row for each run. ``values`` and ``holes``
    (queries, runs) fill as measures are asked for; two threads that fill one write the same.
    """

    revision: int
    golden: tuple[QueryGrades, ...]
    hits: tuple[Hits, ...]
    values: dict[Measure, Values] = field(default_factory=dict)
    holes: dict[Cutoff, Ints] = field(default_factory=dict)

    @cached_property
    def joined(self) -> Hits:
        return Hits.join(self.hits)

    @cached_property
    def judged(self) -> Bools:
        return np.array([len(golden.chunks) > 0 for golden in self.golden], dtype=np.bool_)


class Scoreboard:
    """Every run's value for every query under one set of conventions, kept up to date.

    A value is computed when its measure is first asked for, and from then on whenever a grade
    changes. Any number of threads may read while one refreshes: each answer is of one revision.

    Queries without any golden grade are left out of every mean; `counts` says how many. A query
    that a run has no list for counts 0 for that run:

    >>> from labeler.evaluation import collect
    >>> grades = {"q1": {"c1": 3}, "q2": {"c2": 1}, "q3": {"c3": 0}, "q4": {}}
    >>> board = Scoreboard(collect(grades, {"A": {"q1": ["c1", "c9"]}}), Conventions.of())
    >>> [row] = board.table(board.conventions.measures("RR"))
    >>> row.value, row.n, row.undefined, row.holes, row.missing
    (0.5, 2, 1, 1, 2)
    """

    def __init__(self, collection: Collection, conventions: Conventions) -> None:
        self.collection = collection
        self.conventions = conventions
        self.run_names = tuple(run.name for run in collection.runs)
        self.data_revision = collection.data_revision
        self._lists = [
            chunk_lists(collection, run, by_score=conventions.like_trec_eval)
            for run in collection.runs
        ]
        self._groups = {facet: _group(given) for facet, given in collection.facets.items()}
        self._budgets = self._find_budgets()
        self._query_numbers = {query: at for at, query in enumerate(collection.query_ids)}
        self._all_queries = np.arange(len(collection.query_ids))
        self._absent = np.array(
            [[query not in lists for lists in self._lists] for query in self._all_queries.tolist()],
            dtype=np.bool_,
        ).reshape(len(collection.query_ids), len(collection.runs))
        self._lock = threading.Lock()
        golden = grades_by_query(collection)
        hits = tuple(self._align(query, grades) for query, grades in enumerate(golden))
        self._state = _State(collection.revision, golden, hits)

    @property
    def revision(self) -> int:
        """The newest judgment these values know of."""
        return self._state.revision

    @property
    def facets(self) -> Mapping[str, tuple[str, ...]]:
        """The facets there are, each with its buckets in order."""
        return {facet: buckets for facet, (buckets, _) in self._groups.items()}

    @property
    def counts(self) -> Counts:
        """How much of the golden set the means rest on."""
        state = self._state
        judged = int(state.judged.sum())
        return Counts(
            queries=len(state.golden),
            judged=judged,
            unjudged=len(state.golden) - judged,
            grades=sum(len(golden.chunks) for golden in state.golden),
            stale=sum(int(golden.stale.sum()) for golden in state.golden),
        )

    @cached_property
    def tied(self) -> Mapping[str, int]:
        """For each run, the number of queries in which two chunks have the same score."""
        return {run.name: tied_queries(run) for run in self.collection.runs}

    def unbucketed(self, facet: str) -> int:
        """Count the judged queries that no bucket of ``facet`` holds, so that no row shows them."""
        buckets, group = self.groups(facet)
        return int(np.sum(self._state.judged & (group == len(buckets))))

    def snapshot(self) -> Scoreboard:
        """Return this board as it is now: what takes several questions gets one revision's answers.

        It shares everything computed so far, and costs nothing.
        """
        return copy.copy(self)

    def notes(self) -> tuple[str, ...]:
        """Say in sentences what was left out or treated in a way that could surprise."""
        counts = self.counts
        runs = self.collection.runs
        notes = [n for run in runs for n in _note_run(run, self.tied[run.name], self.conventions)]
        if counts.unjudged:
            notes.append(f"{_queries(counts.unjudged)} without any golden grade: left out")
        if counts.stale:
            grades = "grade is" if counts.stale == 1 else "grades are"
            notes.append(f"{counts.stale} golden {grades} of an earlier wording of the chunk")
        return tuple(notes)

    def table(self, measures: Iterable[Measure], facet: str | None = None) -> list[Score]:
        """Return the means: over all queries, or over those of each bucket of ``facet``.

        Rows come in the order of the runs, then of ``measures``, then of the buckets' names.
        ``@budget`` comes back as the plain number where it is the same for every query. Raises
        `NotFound` for an unknown facet.
        """
        buckets, group = self.groups(facet)
        state = self._state
        counted = np.where(state.judged, group, len(buckets))
        measured = [
            (measure, self._values(state, measure), self._holes(state, measure))
            for measure in self.resolve(measures)
        ]
        grouping = Grouping(buckets, counted, len(self.run_names))
        columns = make_columns(grouping, state.judged, self._absent, measured)
        return [
            row
            for at, run in enumerate(self.run_names)
            for column in columns
            for row in column.rows(run, at, facet, buckets)
        ]

    def per_query(self, run: str, measures: Iterable[Measure]) -> list[QueryScore]:
        """Return a run's values query by query, in the collection's order, then of ``measures``.

        Queries that nobody has graded are among them, with ``judged`` false and NaN. Raises
        `NotFound` for an unknown run.
        """
        at = self.column_of(run)
        state = self._state
        columns = [
            (
                measure,
                self._values(state, measure).with_nan()[:, at],
                self._holes(state, measure)[:, at],
            )
            for measure in self.resolve(measures)
        ]
        return [
            QueryScore(
                run,
                measure,
                query_id,
                value=float(values[query]),
                holes=int(holes[query]),
                missing=bool(self._absent[query, at]),
                judged=bool(state.judged[query]),
            )
            for query, query_id in enumerate(self.collection.query_ids)
            for measure, values, holes in columns
        ]

    def values(self, measure: Measure) -> Floats:
        """Return all values of a measure, (queries, runs), NaN where undefined or not judged."""
        return self._values(self._state, self.resolve([measure])[0]).with_nan()

    def holes(self, measure: Measure) -> Ints:
        """Count the ungraded chunks inside a measure's cut-off, (queries, runs)."""
        return self._holes(self._state, self.resolve([measure])[0])

    @property
    def judged(self) -> Bools:
        """Say which queries have a golden grade at all, (queries,)."""
        return self._state.judged

    def absent(self, run: str) -> Bools:
        """Say which queries a run has no list for, (queries,)."""
        return self._absent[:, self.column_of(run)]

    def cutoffs(self, measure: Measure) -> Ints:
        """Return how deep a measure looks, (queries,): ``@budget`` depends on a query's task."""
        if measure.cutoff == BUDGET:
            return self._budgets
        return np.full(len(self._budgets), measure.cutoff or WHOLE_LIST)

    @property
    def budgets(self) -> Ints:
        """The prompt budget of each query, (queries,)."""
        return self._budgets

    def golden(self, query_id: str) -> dict[int, int]:
        """Return the golden grades of a query by chunk, retrieved or not."""
        return self._state.golden[self.number_of(query_id)].as_dict()

    def counts_of(self, query_id: str) -> tuple[int, ...]:
        """Return how many chunks of a query have grade 0, 1, 2 and 3."""
        golden = self._state.golden[self.number_of(query_id)]
        return tuple(np.bincount(golden.grades, minlength=4).tolist())

    def chunks(self, run: str, query_id: str) -> Chunks:
        """Return a run's list in the order the conventions use; empty where it has none."""
        return self._lists[self.column_of(run)].get(self.number_of(query_id), NO_CHUNKS)

    def ranked(self, run: str, query_id: str) -> list[Ranked]:
        """Return a run's list with scores and golden grades, in the order the conventions use.

        Under trec_eval's that is not the order of the file where scores are tied. A query the run
        has no list for gives an empty one. Raises `NotFound` for an unknown run or query.
        """
        chunks, query = self.chunks(run, query_id), self.number_of(query_id)
        stored = self.collection.runs[self.column_of(run)].lists.get(query)
        return ranked(chunks, stored, self._state.golden[query], self.collection.chunk_ids)

    def hits(self, run: str, query_id: str | None = None) -> Hits:
        """Return a run's judged chunks: a row for each query in order, or the row of one."""
        state = self._state
        part = state.joined if query_id is None else state.hits[self.number_of(query_id)]
        return part.every(len(self.run_names), self.column_of(run))

    def aligned(self, query_id: str, chunks: Chunks) -> Hits:
        """Return the judged chunks of a list that no run holds, as one row."""
        return align(self._state.golden[self.number_of(query_id)], [chunks])

    def measured(self, measure: Measure, hits: Hits, query_id: str | None = None) -> Floats:
        """Return the values of rankings that no run holds, by these conventions.

        ``hits`` has a row for each query in order, or one row, that of ``query_id``. NaN where the
        value would be left out of the mean.
        """
        queries = self._all_queries if query_id is None else np.array([self.number_of(query_id)])
        values = score(hits, measure, self.cutoffs(measure)[queries])
        if self.conventions.like_trec_eval:
            values = np.nan_to_num(values)
        values[hits.unjudged] = np.nan
        return values

    def resolve(self, measures: Iterable[Measure]) -> tuple[Measure, ...]:
        """Give ``@budget`` its number where it is one number, and drop repeats."""
        budgets = set(self._budgets.tolist()) or {self.conventions.budget}
        if len(budgets) > 1:
            return tuple(dict.fromkeys(measures))
        plain = budgets.pop()
        return tuple(
            dict.fromkeys(
                replace(measure, cutoff=plain) if measure.cutoff == BUDGET else measure
                for measure in measures
            )
        )

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

    def groups(self, facet: str | None) -> tuple[tuple[str | None, ...], Ints]:
        """Return a facet's buckets, and each query's place among them: past the last if none."""
        if facet is None:
            return (None,), np.zeros(len(self.collection.query_ids), dtype=np.int64)
        if facet not in self._groups:
            there = ", ".join(self._groups) or "none"
            raise NotFound(f"no facet is called {facet!r}; there are: {there}")
        return self._groups[facet]

    def refresh(self, changes: Iterable[GradeChange], revision: int) -> None:
        """Bring every value up to date with golden grades that changed up to ``revision``.

        A pair may be graded for the first time, again, or (grade None) no more. A call that comes
        later than one with a newer revision does nothing, as that one has seen its changes. Raises
        `NotFound` for a query that was loaded after this board was made; nothing changes then.
        """
        by_query: dict[int, list[GradeChange]] = {}
        for change in changes:
            by_query.setdefault(self.number_of(change.query_id), []).append(change)
        with self._lock:
            if revision >= self._state.revision:
                self._state = self._changed(self._state, by_query, revision)

    def _changed(
        self, state: _State, by_query: Mapping[int, list[GradeChange]], revision: int
    ) -> _State:
        golden, hits = list(state.golden), list(state.hits)
        for query, changes in by_query.items():
            golden[query] = golden[query].changed(changes)
            hits[query] = self._align(query, golden[query])
        queries = np.array(sorted(by_query), dtype=np.int64)
        joined = Hits.join([hits[query] for query in queries.tolist()])
        values = {
            measure: old.with_rows(queries, self._score(measure, joined, queries))
            for measure, old in dict(state.values).items()
        }
        holes = {
            cutoff: replace_rows(old, queries, self._count_holes(cutoff, joined, queries))
            for cutoff, old in dict(state.holes).items()
        }
        return _State(revision, tuple(golden), tuple(hits), values, holes)

    def _values(self, state: _State, measure: Measure) -> Values:
        if measure not in state.values:
            state.values[measure] = self._score(measure, state.joined, self._all_queries)
        return state.values[measure]

    def _holes(self, state: _State, measure: Measure) -> Ints:
        cutoff = measure.cutoff
        if cutoff not in state.holes:
            state.holes[cutoff] = self._count_holes(cutoff, state.joined, self._all_queries)
        return state.holes[cutoff]

    def _score(self, measure: Measure, hits: Hits, queries: Ints) -> Values:
        values = score(hits, measure, self._limit(measure.cutoff, queries))
        undefined = np.isnan(values)
        values[undefined] = 0.0
        left_out = hits.unjudged
        if not self.conventions.like_trec_eval:
            left_out = left_out | undefined
        shape = (len(queries), len(self.run_names))
        defined: Bools = ~np.any(left_out.reshape(shape), axis=1)
        return Values(values.reshape(shape), defined)

    def _count_holes(self, cutoff: Cutoff, hits: Hits, queries: Ints) -> Ints:
        holes = hits.holes(self._limit(cutoff, queries))
        return holes.reshape(len(queries), len(self.run_names))

    def _limit(self, cutoff: Cutoff, queries: Ints) -> int | Ints:
        if cutoff == BUDGET:
            return np.repeat(self._budgets[queries], len(self.run_names))
        return cutoff or WHOLE_LIST

    def _find_budgets(self) -> Ints:
        tasks = self.collection.facets.get("task", repeat(None, len(self.collection.query_ids)))
        by_task = self.conventions.budget_by_task
        budgets = [by_task.get(task or "", self.conventions.budget) for task in tasks]
        return np.array(budgets, dtype=np.int64)

    def _align(self, query: int, golden: QueryGrades) -> Hits:
        return align(golden, [lists.get(query, NO_CHUNKS) for lists in self._lists])


def _group(given: Sequence[str | None]) -> tuple[tuple[str, ...], Ints]:
    buckets = sorted({bucket for bucket in given if bucket is not None})
    places = {bucket: place for place, bucket in enumerate(buckets)}
    group = [len(buckets) if bucket is None else places[bucket] for bucket in given]
    return tuple(buckets), np.array(group, dtype=np.int64)


def _queries(count: int) -> str:
    return "1 query" if count == 1 else f"{count} queries"


def _note_run(run: StoredRun, tied: int, conventions: Conventions) -> Iterator[str]:
    if run.unknown_queries:
        yield f"{run.name}: {_queries(run.unknown_queries)} not in the golden set, left out"
    if tied:
        order = "by chunk id, descending" if conventions.like_trec_eval else "in file order"
        yield f"{run.name}: {_queries(tied)} with tied scores, ties {order}"
    if conventions.like_trec_eval and any(ranked.scores is None for ranked in run.lists.values()):
        yield f"{run.name}: no scores, so a chunk's score is taken to be -rank"

"""How many of the grades that means rest on were carried over from other chunks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from labeler.evaluation.across import Across, Documents, Known
from labeler.evaluation.adding import Grouping
from labeler.evaluation.graded import QueryGrades, judged_in
from labeler.evaluation.sheet import Rules
from labeler.measures import Bools, Hits, Ints, Measure
from labeler.model import Collection


@dataclass(eq=False)
class CarriedGrades:
    """The carried grades among the golden ones of all queries, of one revision.

    ``golden`` are those of the selected chunkings, ``known`` those of all; ``queries`` are those
    that have any carried ones, rising.
    """

    golden: Sequence[QueryGrades]
    known: Sequence[Known]
    across: Across
    rules: Rules
    queries: Ints
    _hits: Hits | None = field(default=None, init=False, repr=False)
    _documents: Hits | None = field(default=None, init=False, repr=False)

    @staticmethod
    def of(
        given: Collection,
        golden: Sequence[QueryGrades],
        known: Sequence[Known],
        across: Across,
        rules: Rules,
    ) -> CarriedGrades:
        """Look through the grades of every query; they are those of the collection given."""
        every = given if given.everywhere is None else given.everywhere
        queries = _with_carried(known, range(0 if every.carried is None else len(known)))
        return CarriedGrades(golden, known, across, rules, queries)

    def changed(
        self, golden: Sequence[QueryGrades], known: Sequence[Known], moved: Mapping[int, Hits]
    ) -> CarriedGrades:
        """Return them as they are once some queries have other grades, looking at these alone."""
        queries = _with_carried(known, moved)
        if len(self.queries):
            kept = self.queries[~np.isin(self.queries, list(moved))]
            queries = np.sort(np.concatenate([kept, queries]))
        return CarriedGrades(golden, known, self.across, self.rules, queries)

    @property
    def total(self) -> int:
        """How many there are, retrieved or not."""
        return sum(len(_alone(self.golden[at]).chunks) for at in self.queries.tolist())

    def counts(self, measure: Measure) -> Ints:
        """Count them in the top of lists, as deep as holes are, (`queries`, runs).

        Of documents those count whose best grade is another one without carried grades. What was
        carried over is no evidence.
        """
        if measure.reads == "evidence":
            return np.zeros((len(self.queries), self.rules.runs), dtype=np.int64)
        hits = self._in_documents() if measure.reads == "documents" else self._in_lists()
        within = self.rules.holes_within(measure.cutoff, self.queries)
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
        judged = judged_in([self.golden[at] for at in self.queries.tolist()], like_trec_eval)
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
            alone = [_alone(each) for each in self.golden]
            self._hits = self.across.lists.align(self.queries.tolist(), alone)
        return self._hits

    def _in_documents(self) -> Hits:
        if self._documents is None:
            known = [self.known[at] for at in self.queries.tolist()]
            lists = [self.across.ordered(at) for at in self.queries.tolist()]
            found = self.across.documents(known, lists)
            own = [replace(each, grades=_parted(each.grades, carried=False)) for each in known]
            self._documents = _others(found, self.across.documents(own, lists))
        return self._documents


def _with_carried(known: Sequence[Known], among: Iterable[int]) -> Ints:
    there = (at for at in among if known[at].grades.carried is not None)
    return np.array(sorted(there), dtype=np.int64)


def _alone(golden: QueryGrades) -> QueryGrades:
    """Return the grades of a query alone that were carried over."""
    return _parted(golden, carried=True)


def _parted(golden: QueryGrades, *, carried: bool) -> QueryGrades:
    """Return those grades of a query that were carried over, or those that were not."""
    of = golden.carried
    kept: Bools = (np.zeros(len(golden.chunks), np.bool_) if of is None else of) == carried
    return QueryGrades(golden.chunks[kept], golden.grades[kept], golden.stale[kept])


def _others(found: Documents, own: Documents) -> Hits:
    """Return the documents of some lists that have another grade there, or none."""
    places = found.row << 32 | found.rank
    there = np.append(own.row << 32 | own.rank, -1)
    at = np.searchsorted(there[:-1], places)
    is_same = (there[at] == places) & (np.append(own.grade, -1)[at] == found.grade)
    kept = ~is_same
    return Hits(found.row[kept], found.rank[kept], found.grade[kept], found.known, found.length)

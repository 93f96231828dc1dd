"""How many of the grades that means rest on were carried over from other chunks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from labeler.evaluation.adding import Grouping
from labeler.evaluation.alignment import Lists
from labeler.evaluation.graded import QueryGrades, judged_in
from labeler.evaluation.sheet import Rules
from labeler.measures import Hits, Ints, Measure
from labeler.model import Collection


@dataclass(eq=False)
class CarriedGrades:
    """The carried grades among the golden ones of all queries, of one revision.

    ``queries`` are those that have any, rising.
    """

    golden: Sequence[QueryGrades]
    rules: Rules
    queries: Ints
    _found: Hits | None = field(default=None, init=False, repr=False)

    @staticmethod
    def of(given: Collection, golden: Sequence[QueryGrades], rules: Rules) -> CarriedGrades:
        """Look through the grades of every query; ``golden`` are those of the collection given."""
        among = range(0 if given.carried is None else len(golden))
        return CarriedGrades(golden, rules, _with_carried(golden, among))

    def changed(self, golden: Sequence[QueryGrades], moved: Mapping[int, Hits]) -> CarriedGrades:
        """Return them as they are once some queries have other grades, looking at these alone."""
        queries = _with_carried(golden, moved)
        if len(self.queries):
            kept = self.queries[~np.isin(self.queries, list(moved))]
            queries = np.sort(np.concatenate([kept, queries]))
        return CarriedGrades(golden, self.rules, queries)

    @property
    def total(self) -> int:
        """How many there are, retrieved or not."""
        return sum(len(_alone(self.golden[at]).chunks) for at in self.queries.tolist())

    def in_buckets(
        self,
        lists: Lists,
        like_trec_eval: bool,
        measures: Iterable[Measure],
        grouping: Grouping,
    ) -> Ints | None:
        """Count them in the top of lists, as deep as holes are, (measures, runs, buckets).

        Of queries that count. None for none.
        """
        if not len(self.queries):
            return None
        group, buckets = grouping.group, len(grouping.buckets)
        judged = judged_in([self.golden[at] for at in self.queries.tolist()], like_trec_eval)
        queries = self.queries[judged & (group[self.queries] < buckets)]
        hits, rows = self._hits(lists), np.searchsorted(self.queries, queries)
        of = self.rules.runs
        found = []
        for measure in measures:
            within = self.rules.holes_within(measure.cutoff, self.queries)
            counts = hits.count(within).reshape(len(self.queries), of)[rows]
            in_bucket = np.zeros((buckets, of), dtype=np.int64)
            np.add.at(in_bucket, group[queries], counts)
            found.append(in_bucket.T)
        return np.array(found, dtype=np.int64).reshape(-1, of, buckets)

    def _hits(self, lists: Lists) -> Hits:
        if self._found is None:
            self._found = lists.align(self.queries.tolist(), [_alone(each) for each in self.golden])
        return self._found


def _with_carried(golden: Sequence[QueryGrades], among: Iterable[int]) -> Ints:
    return np.array(sorted(at for at in among if golden[at].carried is not None), dtype=np.int64)


def _alone(golden: QueryGrades) -> QueryGrades:
    """Return the grades of a query alone that were carried over."""
    carried = golden.carried
    kept = np.zeros(len(golden.chunks), np.bool_) if carried is None else carried
    columns = (golden.chunks[kept], golden.grades[kept], golden.stale[kept])
    return QueryGrades(*columns, sides=golden.sides)

"""Means weighted by traffic: a query counts as often as questions of its bucket are really asked.

A query's weight is its bucket's share of the logged questions over its bucket's share of the graded
queries, both among the buckets that have any of each; so the mean weight is 1. Knows weights and
rows of numbers; not where the counts come from.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from labeler.errors import NotFound
from labeler.evaluation.adding import Grouping, add_up
from labeler.evaluation.means import Means, take_means
from labeler.evaluation.sheet import Sheet
from labeler.measures import Bools, Floats
from labeler.model import Traffic, legible

MOST_NAMED = 3
NOT_WEIGHTED = (
    "weighted means have intervals and tests of their own; what the holes, ties or the rest of a "
    "list could make of them is not worked out, so none is shown"
)


@dataclass(frozen=True, eq=False)
class Weighing:
    """What traffic makes of the queries of a board, grouped by its facet."""

    traffic: Traffic
    grouping: Grouping

    @staticmethod
    def of(traffic: Traffic, facets: Mapping[str, Sequence[str | None]]) -> Weighing:
        """Weigh all queries of a collection by one of its facets; may raise `NotFound`."""
        if traffic.facet not in facets:
            there = ", ".join(facets) or "none"
            raise NotFound(f"no facet is called {traffic.facet!r}; there are: {there}")
        return Weighing(traffic, Grouping.of(facets[traffic.facet]))

    @property
    def asked(self) -> Bools:
        """Say which queries are of a bucket that was asked for, (queries,)."""
        there = {bucket for bucket, _ in self.traffic.counts}
        of = np.array([*(bucket in there for bucket in self.grouping.buckets), False])
        asked: Bools = of[self.grouping.group]
        return asked

    def weights(self, judged: Bools) -> Floats:
        """Return the weight of each query, (queries,); 0 where its bucket was never asked for.

        Of a bucket's weight each judged query gets the same part. Where the shares are the same,
        every weight is exactly 1: whole numbers are divided, once.
        """
        graded = np.bincount(
            self.grouping.group[judged], minlength=len(self.grouping.buckets) + 1
        ).tolist()
        asked = dict(self.traffic.counts)
        counts = [asked.get(str(bucket), 0) for bucket in self.grouping.buckets]
        pairs = list(zip(counts, graded, strict=False))
        in_logs = sum(count for count, n in pairs if n)
        in_set = sum(n for count, n in pairs if count)
        of = [count * in_set / (in_logs * n) if count and n else 0.0 for count, n in pairs]
        weights: Floats = np.array([*of, 0.0])[self.grouping.group]
        return weights

    def sentences(self, judged: Bools) -> Iterator[tuple[str, str]]:
        """Say what weights rest on, and what of the traffic or of the set they leave out."""
        weights = self.weights(judged)
        counted = weights[judged & (weights > 0)]
        if len(counted):
            yield (
                "weights",
                f"weights by {legible(self.traffic.facet)}: from {counted.min():.2f} to "
                f"{counted.max():.2f} of a query, so {len(counted):,} queries tell as much as "
                f"{worth(counted):,.0f} of equal weight (Kish)",
            )
        if nothing := int(np.sum(judged & ~self.asked)):
            queries = "graded query weighs" if nothing == 1 else "graded queries weigh"
            yield "weighs nothing", f"{nothing:,} {queries} nothing: no bucket that the logs have"
        yield from self._not_in_set(judged)

    def _not_in_set(self, judged: Bools) -> Iterator[tuple[str, str]]:
        there = {str(self.grouping.buckets[at]) for at in set(self._judged_buckets(judged))}
        missing = {name: count for name, count in self.traffic.counts if name not in there}
        if missing:
            first = sorted(missing, key=lambda name: (-missing[name], name))[:MOST_NAMED]
            more = f" and {len(missing) - len(first)} more" if len(missing) > len(first) else ""
            share = sum(missing.values()) / self.traffic.total
            yield (
                "traffic not in set",
                f"{share:.1%} of the logged questions are of buckets without a graded query, so no "
                f"mean speaks of them: {', '.join(map(legible, first))}{more}",
            )

    def _judged_buckets(self, judged: Bools) -> list[int]:
        groups: list[int] = self.grouping.group[judged].tolist()
        return [at for at in groups if at < len(self.grouping.buckets)]


def worth(weights: Floats) -> float:
    """Return as how many queries of equal weight these tell: Kish (1965), Survey Sampling, 8.2.

    >>> worth(np.array([1.0, 1.0])), worth(np.array([3.0, 1.0]))
    (2.0, 1.6)
    """
    return float(weights.sum() ** 2 / (weights**2).sum()) if len(weights) else 0.0


def weigh(means: Means, sheet: Sheet, grouping: Grouping, weights: Floats) -> Means:
    """Return means with the weighted value of each: rows times weights, added as they always are.

    Counts stay counts of queries. Weights of exactly 1 give the bits of the unweighted value.
    """
    table = sheet.table.copy()
    table[:, 1:] *= weights[:, np.newaxis]
    totals, about = add_up(grouping, table).totals, (means.measures, means.facet, means.buckets)
    return replace(means, value=take_means(totals, sheet.layout, *about).value)

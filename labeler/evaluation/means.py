"""Means over queries, plain or weighted by traffic, and the reasons why a value is missing.

A query that a run has no list for counts as 0. A run that answers none of the queries that count
has no value at all: its mean would be 0 for reasons other than ranking (wrong ids, an empty file).
Weighted by traffic, a query counts as often as questions of its bucket are asked: its weight is
the bucket's share of the logged questions over its share of the graded queries, so the mean
weight is 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import repeat
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from labeler.errors import NotFound
from labeler.evaluation.value_table import Grouping, RowLayout, ValueTable, add_up
from labeler.measures import Bools, Floats, Ints, Measure, Reads
from labeler.model import Traffic, escape_controls

NO_RESULT = "no result for any query that counts"
WHY_UNDEFINED: Mapping[Reads, str] = MappingProxyType(
    {
        "chunks": "nothing relevant is known",
        "documents": "no relevant document is known",
        "evidence": "no passage is marked in what is relevant",
    }
)
"""Why a measure is undefined, by what it reads; the sentence goes on with "for ..."."""


class Score(NamedTuple):
    """The mean of one measure for one run, over all queries or those of one bucket.

    ``value`` is NaN if no query counts, or if the run returned nothing for all queries that count;
    ``reason`` says which. ``n`` queries are in the mean; ``undefined`` queries were left out of it.
    The other counts are over both: ``unjudged`` chunks in the top k (in the pool depth if the
    measure has no cut-off), ``missing`` queries that the run has no list for, and chunks down to
    the same rank with a ``transferred`` grade.
    """

    # A named tuple, since a board makes thousands at a time: five times as fast as a dataclass.
    run: str
    measure: Measure
    facet: str | None
    bucket: str | None
    value: float
    n: int
    undefined: int
    unjudged: int
    missing: int
    transferred: int = 0

    @property
    def reason(self) -> str | None:
        if not math.isnan(self.value):
            return None
        return why_no_mean(self.n, self.undefined, self.measure)


class QueryScore(NamedTuple):
    """One measure's value for one run and query; NaN if there is none, and ``reason`` says why.

    ``counted`` says that the query is in the means, ``judged`` that somebody graded a chunk of it.
    ``unjudged`` and ``transferred`` are as in a `Score`.
    """

    run: str
    measure: Measure
    query_id: str
    value: float
    unjudged: int
    missing: bool
    judged: bool
    counted: bool
    transferred: int = 0

    @property
    def reason(self) -> str | None:
        if not math.isnan(self.value):
            return None
        return why_no_value(self.judged, self.counted, self.measure)


def why_no_mean(n: int, undefined: int, measure: Measure) -> str:
    """Return why a mean of ``n`` queries, with ``undefined`` ones left out, has no value."""
    if n:
        return NO_RESULT
    if undefined:
        return f"{WHY_UNDEFINED[measure.reads]} for any of these queries"
    return "no query here has a golden grade"


def why_no_value(judged: bool, counted: bool, measure: Measure) -> str:
    if counted:
        return NO_RESULT
    if judged:
        return f"{WHY_UNDEFINED[measure.reads]} for this query"
    return "nobody has graded a chunk of this query"


def query_scores(
    run: str,
    query_ids: Sequence[str],
    columns: Mapping[Measure, tuple[Floats, Ints, Bools, Bools, Ints]],
    absent: Bools,
) -> list[QueryScore]:
    """Return a run's values query by query, then by measure.

    ``columns`` has for each measure: values, unjudged chunks, whether the query counts, whether it
    has a grade that the measure can use, and transferred grades; all are (queries,).
    """
    listed = [(measure, *map(np.ndarray.tolist, each)) for measure, each in columns.items()]
    flags = zip(query_ids, absent.tolist(), strict=True)
    return [
        QueryScore(
            *(run, measure, query_id, values[query], unjudged[query]),
            *(is_absent, judged[query], counted[query], transferred[query]),
        )
        for query, (query_id, is_absent) in enumerate(flags)
        for measure, values, unjudged, counted, judged, transferred in listed
    ]


@dataclass(frozen=True, slots=True)
class Counts:
    """How many queries and grades the golden set has."""

    queries: int
    judged: int
    unjudged: int
    grades: int
    stale: int
    transferred: int = 0


@dataclass(frozen=True, eq=False)
class Means:
    """The means of measures in every run and bucket, as arrays.

    The arrays are the fields of a `Score`: ``value``, ``unjudged`` and ``transferred`` (measures,
    runs, buckets), ``n`` and ``undefined`` (measures, buckets), ``missing`` (runs, buckets).
    """

    measures: tuple[Measure, ...]
    facet: str | None
    buckets: tuple[str | None, ...]
    value: Floats
    n: Ints
    undefined: Ints
    unjudged: Ints
    missing: Ints
    transferred: Ints

    def rows(self, runs: Sequence[str]) -> list[Score]:
        """Return the scores by run, then by measure, then by bucket."""
        values, unjudged, missing = (
            self.value.tolist(),
            self.unjudged.tolist(),
            self.missing.tolist(),
        )
        transferred = self.transferred.tolist()
        counts = list(zip(self.measures, self.n.tolist(), self.undefined.tolist(), strict=True))
        return [
            score
            for at, run in enumerate(runs)
            for which, (measure, n, undefined) in enumerate(counts)
            for score in map(
                Score,
                repeat(run),
                repeat(measure),
                repeat(self.facet),
                self.buckets,
                values[which][at],
                n,
                undefined,
                unjudged[which][at],
                missing[at],
                transferred[which][at],
            )
        ]


def merge_means(measures: Sequence[Measure], parts: Sequence[Means]) -> Means:
    """Return the means of measures, in this order, from parts that together have all of them."""
    if len(parts) == 1:
        return parts[0]
    there = [measure for part in parts for measure in part.measures]
    order = [there.index(measure) for measure in measures]
    return replace(
        parts[0],
        measures=tuple(measures),
        value=np.concatenate([part.value for part in parts])[order],
        n=np.concatenate([part.n for part in parts])[order],
        undefined=np.concatenate([part.undefined for part in parts])[order],
        unjudged=np.concatenate([part.unjudged for part in parts])[order],
        transferred=np.concatenate([part.transferred for part in parts])[order],
    )


def means_from_totals(
    totals: Floats,
    layout: RowLayout,
    measures: tuple[Measure, ...],
    facet: str | None,
    buckets: tuple[str | None, ...],
    transferred: Ints | None = None,
) -> Means:
    """Divide the sums of the rows of a table, (buckets, width), by the number of defined values."""
    columns = layout.columns(measures)
    n = totals.take(columns.defined, axis=1)
    divisor = np.where(n > 0, n, np.nan)[:, :, np.newaxis]
    value = totals.take(columns.values, axis=1) / divisor
    unjudged = totals.take(columns.unjudged, axis=1).astype(np.int64)
    return Means(
        measures,
        facet,
        buckets,
        value=value.transpose(1, 2, 0),
        n=n.T.astype(np.int64),
        undefined=(totals[:, :1] - n).T.astype(np.int64),
        unjudged=unjudged.transpose(1, 2, 0),
        missing=totals[:, 1 : 1 + layout.runs].T.astype(np.int64),
        transferred=np.zeros(unjudged.shape[1:] + unjudged.shape[:1], int)
        if transferred is None
        else transferred,
    )


MOST_BUCKETS_NAMED = 3
NOT_WEIGHTED = (
    "weighted means have intervals and tests of their own; what the unjudged "
    "chunks, ties or the rest of a "
    "list could make of them is not worked out, so none is shown"
)


@dataclass(frozen=True, eq=False)
class TrafficWeights:
    """Weights of a board's queries by the traffic of their buckets in one facet."""

    traffic: Traffic
    grouping: Grouping

    @staticmethod
    def of(traffic: Traffic, facets: Mapping[str, Sequence[str | None]]) -> TrafficWeights:
        """Make the weights of all queries of a collection; may raise `NotFound`."""
        if traffic.facet not in facets:
            there = ", ".join(facets) or "none"
            raise NotFound(f"no facet is called {traffic.facet!r}; there are: {there}")
        return TrafficWeights(traffic, Grouping.of(facets[traffic.facet]))

    @property
    def asked(self) -> Bools:
        """Which queries are in a bucket with traffic, (queries,)."""
        there = {bucket for bucket, _ in self.traffic.counts}
        of = np.array([*(bucket in there for bucket in self.grouping.buckets), False])
        asked: Bools = of[self.grouping.group]
        return asked

    def weights(self, judged: Bools) -> Floats:
        """Return the weight of each query, (queries,); 0 if its bucket has no traffic.

        The judged queries of a bucket share its weight equally. If every bucket has the same share
        in logs and golden set, every weight is exactly 1, since integers are divided only once.
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
        """Yield the kind and sentence of notes on the weights and on what they leave out."""
        weights = self.weights(judged)
        counted = weights[judged & (weights > 0)]
        if len(counted):
            yield (
                "weights",
                f"weights by {escape_controls(self.traffic.facet)}: from {counted.min():.2f} to "
                f"{counted.max():.2f} of a query, so {len(counted):,} queries tell as much as "
                f"{effective_sample_size(counted):,.0f} of equal weight (Kish)",
            )
        if nothing := int(np.sum(judged & ~self.asked)):
            queries = "graded query weighs" if nothing == 1 else "graded queries weigh"
            yield "weighs nothing", f"{nothing:,} {queries} nothing: no bucket that the logs have"
        yield from self._not_in_set(judged)

    def _not_in_set(self, judged: Bools) -> Iterator[tuple[str, str]]:
        buckets, groups = self.grouping.buckets, set(self.grouping.group[judged].tolist())
        there = {str(buckets[at]) for at in groups if at < len(buckets)}
        missing = {name: count for name, count in self.traffic.counts if name not in there}
        if missing:
            first = sorted(missing, key=lambda name: (-missing[name], name))[:MOST_BUCKETS_NAMED]
            more = f" and {len(missing) - len(first)} more" if len(missing) > len(first) else ""
            share = sum(missing.values()) / self.traffic.total
            yield (
                "traffic not in set",
                f"{share:.1%} of the logged questions are of buckets without a graded query, so no "
                f"mean speaks of them: {', '.join(map(escape_controls, first))}{more}",
            )


def effective_sample_size(weights: Floats) -> float:
    """Return Kish's effective sample size (1965, Survey Sampling, 8.2) of weighted queries.

    >>> effective_sample_size(np.array([1.0, 1.0])), effective_sample_size(np.array([3.0, 1.0]))
    (2.0, 1.6)
    """
    return float(weights.sum() ** 2 / (weights**2).sum()) if len(weights) else 0.0


def weighted_means(means: Means, table: ValueTable, grouping: Grouping, weights: Floats) -> Means:
    """Return the means with weighted values; counts of queries and chunks are not weighted.

    If all weights are exactly 1, the values equal the unweighted ones to the last bit.
    """
    weighted = table.matrix.copy()
    weighted[:, 1:] *= weights[:, np.newaxis]
    totals, labels = add_up(grouping, weighted).totals, (means.measures, means.facet, means.buckets)
    return replace(means, value=means_from_totals(totals, table.layout, *labels).value)


@dataclass(frozen=True, eq=False)
class AnsweredQueries:
    """Whether runs have a list for a query, and a chunk in it: both (queries, runs)."""

    listed: Bools
    answered: Bools

    @cached_property
    def _empty(self) -> Ints:
        """The number of empty lists of each run, (runs,)."""
        empty: Ints = np.sum(self.listed & ~self.answered, axis=0)
        return empty

    def values(self, table: ValueTable, measure: Measure) -> Floats:
        """Return a measure's values, (queries, runs); NaN if undefined or for a `silent` run."""
        values = table.values(measure)
        values[:, self.silent(table, measure)] = np.nan
        return values

    def clear_silent_runs(
        self, means: Floats, table: ValueTable, measures: tuple[Measure, ...], everything: Grouping
    ) -> None:
        """Set to NaN the means, (measures, runs, buckets), of runs without an answer that counts.

        If more queries count than the run leaves without an answer, it answers one of them. The
        sums show that at no cost; only where they do not, the queries are checked one by one.
        """
        totals = table.totals(None, everything)[0]
        left_open = totals[1 : 1 + means.shape[1]] + self._empty
        counted = totals[table.layout.columns(measures).defined]
        most = np.maximum.reduce(left_open, initial=-1)
        if np.minimum.reduce(counted, initial=np.inf) > most:
            return
        for at in np.flatnonzero(counted <= most).tolist():
            means[at, self.silent(table, measures[at])] = np.nan

    def silent(self, table: ValueTable, measure: Measure) -> Bools:
        """Say which runs answer no query that counts, (runs,)."""
        answers: Bools = np.any(self.answered[table.defined(measure)], axis=0)
        return ~answers

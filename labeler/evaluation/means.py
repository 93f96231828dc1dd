"""From values per query to means per bucket: what is counted, what is left out, and the rows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import repeat
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from labeler.evaluation.sheet import Layout
from labeler.measures import Bools, Floats, Ints, Measure, Reads

NO_RESULT = "no result for any query that counts"
LACKING: Mapping[Reads, str] = MappingProxyType(
    {
        "chunks": "nothing relevant is known",
        "documents": "no relevant document is known",
        "evidence": "no passage is marked in what is relevant",
    }
)
"""What leaves a measure undefined, by what it reads, before "for ...".
"""


class Score(NamedTuple):
    """The mean of one measure for one run, over all queries or those of one bucket.

    ``value`` is NaN where no query counts, and everywhere for a run that has no result for any
    that does; ``reason`` says which. ``n`` queries are in the mean; ``undefined`` ones were
    left out of it. Over both together: ``holes`` chunks inside the top k that nobody has graded
    (inside the pool depth without a cut-off), ``missing`` queries the run has no list for, and
    ``carried`` chunks down to there whose grade was carried over from other chunks.
    """

    # A named tuple because a board makes thousands at a time, five times as fast as a dataclass.
    run: str
    measure: Measure
    facet: str | None
    bucket: str | None
    value: float
    n: int
    undefined: int
    holes: int
    missing: int
    carried: int = 0

    @property
    def reason(self) -> str | None:
        """Say why there is no value; None where there is one."""
        if not math.isnan(self.value):
            return None
        return why_no_mean(self.n, self.undefined, self.measure)


class QueryScore(NamedTuple):
    """One measure's value for one run and query; NaN where there is none, see ``reason``.

    ``counted`` says that the query is in the means, ``judged`` that somebody graded a chunk of it.
    ``holes`` and ``carried`` are as a `Score` has them.
    """

    run: str
    measure: Measure
    query_id: str
    value: float
    holes: int
    missing: bool
    judged: bool
    counted: bool
    carried: int = 0

    @property
    def reason(self) -> str | None:
        """Say why there is no value; None where there is one."""
        if not math.isnan(self.value):
            return None
        return why_no_value(self.judged, self.counted, self.measure)


def why_no_mean(n: int, undefined: int, measure: Measure) -> str:
    """Say why a mean has no value, over ``n`` queries that count and ``undefined`` that do not."""
    if n:
        return NO_RESULT
    if undefined:
        return f"{LACKING[measure.reads]} for any of these queries"
    return "no query here has a golden grade"


def why_no_value(judged: bool, counted: bool, measure: Measure) -> str:
    """Say why a query has no value."""
    if counted:
        return NO_RESULT
    if judged:
        return f"{LACKING[measure.reads]} for this query"
    return "nobody has graded a chunk of this query"


def query_scores(
    run: str,
    query_ids: Sequence[str],
    columns: Mapping[Measure, tuple[Floats, Ints, Bools, Bools, Ints]],
    absent: Bools,
) -> list[QueryScore]:
    """Return a run's values query by query, then by measure.

    ``columns`` are a measure's values and holes, whether it counts, whether there is a grade that
    it could rest on, and carried grades; all are (queries,).
    """
    listed = [(measure, *map(np.ndarray.tolist, each)) for measure, each in columns.items()]
    flags = zip(query_ids, absent.tolist(), strict=True)
    return [
        QueryScore(
            *(run, measure, query_id, values[query], holes[query]),
            *(is_absent, judged[query], counted[query], carried[query]),
        )
        for query, (query_id, is_absent) in enumerate(flags)
        for measure, values, holes, counted, judged, carried in listed
    ]


@dataclass(frozen=True, slots=True)
class Counts:
    """What stands beside the means: how much of the golden set they rest on."""

    queries: int
    judged: int
    unjudged: int
    grades: int
    stale: int
    carried: int = 0


@dataclass(frozen=True, eq=False)
class Means:
    """The means of measures in every run and bucket, as arrays.

    ``value``, ``holes`` and ``carried`` (measures, runs, buckets), ``n`` and ``undefined``
    (measures, buckets), ``missing`` (runs, buckets) are what the fields of a `Score` are.
    """

    measures: tuple[Measure, ...]
    facet: str | None
    buckets: tuple[str | None, ...]
    value: Floats
    n: Ints
    undefined: Ints
    holes: Ints
    missing: Ints
    carried: Ints

    def rows(self, runs: Sequence[str]) -> list[Score]:
        """Write out the scores: by run, then by measure, then by bucket."""
        values, holes, missing = self.value.tolist(), self.holes.tolist(), self.missing.tolist()
        carried = self.carried.tolist()
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
                holes[which][at],
                missing[at],
                carried[which][at],
            )
        ]


def in_order(measures: Sequence[Measure], parts: Sequence[Means]) -> Means:
    """Return the means of some measures, in this order, of parts that have them between them."""
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
        holes=np.concatenate([part.holes for part in parts])[order],
        carried=np.concatenate([part.carried for part in parts])[order],
    )


def take_means(
    totals: Floats,
    layout: Layout,
    measures: tuple[Measure, ...],
    facet: str | None,
    buckets: tuple[str | None, ...],
    carried: Ints | None = None,
) -> Means:
    """Divide what the rows of a sheet add up to, (buckets, width), by how many are defined."""
    columns = layout.columns(measures)
    n = totals.take(columns.defined, axis=1)
    divisor = np.where(n > 0, n, np.nan)[:, :, np.newaxis]
    value = totals.take(columns.values, axis=1) / divisor
    holes = totals.take(columns.holes, axis=1).astype(np.int64)
    return Means(
        measures,
        facet,
        buckets,
        value=value.transpose(1, 2, 0),
        n=n.T.astype(np.int64),
        undefined=(totals[:, :1] - n).T.astype(np.int64),
        holes=holes.transpose(1, 2, 0),
        missing=totals[:, 1 : 1 + layout.runs].T.astype(np.int64),
        carried=np.zeros(holes.shape[1:] + holes.shape[:1], int) if carried is None else carried,
    )

"""From values per query to means per bucket: what is counted, what is left out, and the rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import repeat
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from labeler.measures import Bools, Floats, Ints, Measure

NumberT = TypeVar("NumberT", bound=np.generic)


class Score(NamedTuple):
    """The mean of one measure for one run, over all queries or those of one bucket.

    ``value`` is NaN where no query counts. ``n`` queries are in the mean; ``undefined`` ones were
    left out of it. Over both together: ``holes`` chunks inside the top k that nobody has graded
    (in the whole list without a cut-off), ``missing`` queries the run has no list for.
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


class QueryScore(NamedTuple):
    """One measure's value for one run and query: NaN if undefined or if nothing is graded."""

    run: str
    measure: Measure
    query_id: str
    value: float
    holes: int
    missing: bool
    judged: bool


@dataclass(frozen=True, slots=True)
class Counts:
    """What stands beside the means: how much of the golden set they rest on."""

    queries: int
    judged: int
    unjudged: int
    grades: int
    stale: int


def replace_rows(
    old: npt.NDArray[NumberT], rows: Ints, fresh: npt.NDArray[NumberT]
) -> npt.NDArray[NumberT]:
    """Return a copy of ``old`` in which ``rows`` are ``fresh``; ``old`` stays as it is."""
    new = old.copy()
    new[rows] = fresh
    return new


@dataclass(frozen=True, eq=False)
class Values:
    """A measure's values (queries, runs), zero where ``defined`` (queries,) is false.

    One flag serves all runs, because only a query's golden grades can leave a measure undefined.
    """

    filled: Floats
    defined: Bools

    def with_rows(self, queries: Ints, fresh: Values) -> Values:
        """Return a copy in which ``queries`` have the values of ``fresh``."""
        return Values(
            replace_rows(self.filled, queries, fresh.filled),
            replace_rows(self.defined, queries, fresh.defined),
        )

    def with_nan(self) -> Floats:
        """Return the values with NaN where they are not defined."""
        return np.where(self.defined[:, np.newaxis], self.filled, np.nan)


@dataclass(frozen=True, eq=False)
class Grouping:
    """The queries that count, by bucket. ``group`` (queries,) is a query's place among
    ``buckets``; past the last of them it counts nowhere.

    Every mean is summed afresh through here, in the order of the queries, and none is corrected by
    a difference: a board that followed a thousand changes holds the same bits as a new one.
    """

    buckets: Sequence[str | None]
    group: Ints
    runs: int

    @cached_property
    def _bins(self) -> Ints:
        bins: Ints = self.group[:, np.newaxis] + np.arange(self.runs) * (len(self.buckets) + 1)
        return bins.ravel()

    def sums(self, weights: Floats | Ints | Bools) -> Floats:
        """Add (queries, runs) up to (runs, buckets)."""
        shape = (self.runs, len(self.buckets) + 1)
        sums = np.bincount(self._bins, weights.ravel(), minlength=shape[0] * shape[1])
        return np.asarray(sums, dtype=np.float64).reshape(shape)[:, :-1]

    def counts(self, weights: Ints | Bools) -> Ints:
        """Add up as `sums` does, in whole numbers."""
        return self.sums(weights).astype(np.int64)

    def queries(self, chosen: Bools) -> Ints:
        """Count the chosen queries of each bucket."""
        return np.bincount(self.group[chosen], minlength=len(self.buckets) + 1)[:-1]


@dataclass(frozen=True, eq=False)
class Column:
    """The means of one measure by run and bucket; by bucket alone where runs cannot differ."""

    measure: Measure
    value: list[list[float]]
    n: list[int]
    undefined: list[int]
    holes: list[list[int]]
    missing: list[list[int]]

    def rows(
        self, run: str, at: int, facet: str | None, buckets: Sequence[str | None]
    ) -> Iterator[Score]:
        """Return the scores of the run at position ``at``, one for each bucket."""
        return map(
            Score,
            repeat(run),
            repeat(self.measure),
            repeat(facet),
            buckets,
            self.value[at],
            self.n,
            self.undefined,
            self.holes[at],
            self.missing[at],
        )


def make_columns(
    grouping: Grouping,
    judged: Bools,
    absent: Bools,
    measured: Sequence[tuple[Measure, Values, Ints]],
) -> list[Column]:
    """Take the means of measures, each given with its values and holes (queries, runs)."""
    queries, missing = grouping.queries(judged), grouping.counts(absent)
    holes = {measure.cutoff: counts for measure, _, counts in measured}
    holes_by_cutoff = {cutoff: grouping.counts(counts) for cutoff, counts in holes.items()}
    columns = []
    for measure, values, _ in measured:
        n, sums = grouping.queries(values.defined), grouping.sums(values.filled)
        value = np.divide(sums, n, out=np.full_like(sums, np.nan), where=n > 0)
        rest = (n, queries - n, holes_by_cutoff[measure.cutoff], missing)
        columns.append(Column(measure, value.tolist(), *(array.tolist() for array in rest)))
    return columns

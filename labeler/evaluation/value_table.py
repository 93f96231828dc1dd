"""Table of values: one row of numbers per query, and exact sums of the rows of each bucket.

A row has all values, flags and counts of a query in a form that can be summed. Each number is split
into two parts whose sums are exact in floating point, so that the order of adding changes no bit:
a live mean equals the mean computed from scratch.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import pairwise

import numpy as np

from labeler.errors import NotFound
from labeler.evaluation.cross_chunking import MeasureInputs
from labeler.measures import (
    PROMPT,
    WHOLE_LIST,
    Bools,
    Cutoff,
    Floats,
    Ints,
    Measure,
    Reads,
    Scorer,
    scorer,
)
from labeler.model import count_buckets, order_buckets

_MOST_LAYOUTS = 128  # cached layouts, and cached columns of each
Depth = tuple[Cutoff, Reads, int | None]
"""How deep a measure reads, what it reads, and its number of characters, if any."""


@dataclass(frozen=True, eq=False)
class RowRules:
    """What a row depends on besides hits, independent of grades.

    ``absent`` (queries, runs) is where a run has no list, ``prompt_ks`` (queries,) are prompt k.
    ``stand_in`` replaces undefined values, None if nothing does. For a measure of the whole list,
    unjudged chunks are counted down to ``pool_depth``. With several chunkings, a measure that is
    undefined for some runs is undefined for all.
    """

    absent: Bools
    prompt_ks: Ints
    stand_in: float | None
    pool_depth: int
    several: bool = False

    @property
    def runs(self) -> int:
        return int(self.absent.shape[1])

    def limit(self, cutoff: Cutoff, queries: Ints) -> int | Ints:
        """Return a cut-off as a number, or as one number for each run of each query."""
        if cutoff == PROMPT:
            return np.repeat(self.prompt_ks[queries], self.runs)
        return cutoff or WHOLE_LIST

    def unjudged_within(self, cutoff: Cutoff, queries: Ints) -> int | Ints:
        """Return the rank down to which unjudged chunks are counted, in the form of `limit`."""
        return self.pool_depth if cutoff is None else self.limit(cutoff, queries)


@dataclass(frozen=True, eq=False)
class MeasureFamily:
    """Measures that differ only by their cut-offs, and the columns of their values in a row.

    ``cutoffs`` are (measures, 1), None for a single measure, which has its own.
    """

    measures: tuple[Measure, ...]
    cutoffs: Ints | None
    compute: Scorer
    columns: slice | Ints


@dataclass(frozen=True, eq=False)
class RowColumns:
    """The columns of some measures in a row.

    ``values`` and ``unjudged`` (measures, runs), ``defined`` (measures,).
    """

    values: Ints
    defined: Ints
    unjudged: Ints


@dataclass(frozen=True, eq=False)
class RowLayout:
    """The order of the numbers in a row.

    Judged, absent by run, values by measure and run, whether each measure is defined, unjudged
    chunks by depth and run. One flag serves all runs, because only a query's golden grades can
    leave a measure undefined. All measures compare chunkings, and grades of any chunking make a
    query count, if ``crosses`` is set; otherwise none does.
    """

    runs: int
    measures: tuple[Measure, ...]
    crosses: bool = False

    @staticmethod
    @lru_cache(_MOST_LAYOUTS)
    def of(runs: int, measures: tuple[Measure, ...], crosses: bool = False) -> RowLayout:
        """Return a layout; boards with as many runs and the same measures share it."""
        return RowLayout(runs, measures, crosses)

    @cached_property
    def depths(self) -> Mapping[Depth, Measure]:
        """The depths of the measures, deepest first, each with one measure of that depth."""
        return {_depth(self.measures[at]): self.measures[at] for at in self.deepest_first}

    @cached_property
    def places(self) -> Mapping[Measure, int]:
        return {measure: at for at, measure in enumerate(self.measures)}

    @property
    def all_values(self) -> slice:
        """The columns of the values, by measure and run."""
        first = 1 + self.runs
        return slice(first, first + self.runs * len(self.measures))

    @property
    def all_defined(self) -> slice:
        """The columns that say whether the measures are defined."""
        first = self.all_values.stop
        return slice(first, first + len(self.measures))

    @property
    def width(self) -> int:
        return int(self.all_defined.stop) + self.runs * len(self.depths)

    @cached_property
    def deepest_first(self) -> tuple[int, ...]:
        """The places of the measures by falling cut-off, the best order for `Hits.top`."""

        def depth(at: int) -> int:
            cutoff = self.measures[at].cutoff
            return cutoff if isinstance(cutoff, int) else WHOLE_LIST

        return tuple(sorted(range(len(self.measures)), key=depth, reverse=True))

    @cached_property
    def single_families(self) -> tuple[MeasureFamily, ...]:
        """One family for each measure, the deepest first."""
        return tuple(self._family([at]) for at in self.deepest_first)

    @cached_property
    def families(self) -> tuple[MeasureFamily, ...]:
        """The measures by family: for few hits, all cut-offs are computed at once."""
        found: dict[object, list[int]] = {}
        for at, measure in enumerate(self.measures):
            found.setdefault(measure.family, []).append(at)
        return tuple(map(self._family, found.values()))

    def _family(self, places: Sequence[int]) -> MeasureFamily:
        measures = tuple(self.measures[at] for at in places)
        first, end = (self.all_values.start + at * self.runs for at in (places[0], places[-1] + 1))
        together = places[-1] - places[0] == len(places) - 1
        cutoffs = [[measure.cutoff or WHOLE_LIST] for measure in measures]
        return MeasureFamily(
            measures,
            np.array(cutoffs, dtype=np.int64) if len(measures) > 1 else None,
            scorer(measures[0]),
            slice(first, end) if together else self._by_run(self.all_values.start, places).ravel(),
        )

    @cached_property
    def spans_of_unjudged(self) -> tuple[slice, ...]:
        """The columns of the unjudged chunks inside each depth."""
        starts = [self.all_defined.stop + at * self.runs for at in range(len(self.depths))]
        return tuple(slice(start, start + self.runs) for start in starts)

    @cached_property
    def reads_only_chunks(self) -> bool:
        """Whether all depths are fixed numbers of chunks, or whole lists."""
        return all(cutoff != PROMPT and reads == "chunks" for cutoff, reads, _ in self.depths)

    @cached_property
    def crossing(self) -> tuple[int, ...]:
        """The places of the measures that compare chunkings."""
        return tuple(at for at, measure in enumerate(self.measures) if measure.crosses)

    @lru_cache(_MOST_LAYOUTS)  # noqa: B019 - layouts are cached as well
    def measures_not_in(self, measures: tuple[Measure, ...]) -> tuple[Measure, ...]:
        """Return those of some measures that are not in this layout (cached)."""
        return tuple(measure for measure in measures if measure not in self.places)

    @lru_cache(_MOST_LAYOUTS)  # noqa: B019 - layouts are cached as well
    def columns(self, measures: tuple[Measure, ...]) -> RowColumns:
        """Return the columns of some measures (cached)."""
        places, depths = [self.places[measure] for measure in measures], list(self.depths)
        cutoffs = [depths.index(_depth(measure)) for measure in measures]
        return RowColumns(
            values=self._by_run(self.all_values.start, places),
            defined=self.all_defined.start + np.array(places, dtype=np.int64),
            unjudged=self._by_run(self.all_defined.stop, cutoffs),
        )

    def _by_run(self, first: int, places: Sequence[int]) -> Ints:
        starts = first + np.array(places, dtype=np.int64) * self.runs
        columns: Ints = starts[:, np.newaxis] + np.arange(self.runs)
        return columns


def _depth(measure: Measure) -> Depth:
    return measure.cutoff, measure.reads, measure.characters


def fill_rows(layout: RowLayout, rules: RowRules, inputs: MeasureInputs) -> Floats:
    """Compute rows, (queries, width), of the queries of ``inputs`` from their lists in every run.

    Undefined values are 0, so that rows can be summed.
    """
    runs, measures = layout.runs, layout.measures
    judged = inputs.judged_anywhere if layout.crosses else inputs.judged
    queries = np.asarray(inputs.queries, dtype=np.int64)
    rows = np.empty((len(queries), layout.width))
    rows[:, 0] = judged
    rows[:, 1 : 1 + runs] = rules.absent.take(queries, axis=0)
    for each in layout.families if inputs.hits.is_small else layout.single_families:
        first = each.measures[0]
        limit = rules.limit(first.cutoff, queries) if each.cutoffs is None else each.cutoffs
        rows[:, each.columns] = _by_query(each.compute(inputs.of(first), limit), len(rows), runs)
    if layout.reads_only_chunks and inputs.hits.is_small:
        depths = [rules.unjudged_within(cutoff, queries) for cutoff, *_ in layout.depths]
        unjudged = inputs.hits.unjudged(np.array(depths, dtype=np.int64)[:, np.newaxis])
        rows[:, layout.all_defined.stop :] = _by_query(unjudged, len(rows), runs)
    else:
        for measure, columns in zip(layout.depths.values(), layout.spans_of_unjudged, strict=True):
            unjudged = inputs.unjudged(measure, rules.unjudged_within(measure.cutoff, queries))
            rows[:, columns] = unjudged.reshape(len(rows), runs)
    values = rows[:, layout.all_values]
    undefined = np.isnan(values)
    np.copyto(values, rules.stand_in or 0.0, where=undefined)
    defined: Bools = judged[:, np.newaxis].repeat(len(measures), axis=1)
    if rules.stand_in is None:
        checked = slice(None) if rules.several else slice(1)  # one run shows it for its chunking
        by_run = undefined.reshape(len(rows), len(measures), runs)[:, :, checked]
        defined &= ~np.logical_or.reduce(by_run, axis=2)
    for at in layout.crossing:  # no stand-in for unmarked passages
        defined[:, at] &= ~inputs.lacks_input(measures[at])
    if rules.several or layout.crossing:  # a query counts for all runs or for none
        values[~np.repeat(defined, runs, axis=1)] = 0.0
    rows[:, layout.all_defined] = defined
    return rows


def _by_query(values: Floats | Ints, queries: int, runs: int) -> Floats | Ints:
    """Reshape values, (measures, queries x runs) or of one measure, to a row for each query."""
    if queries == 1:
        return values.reshape(1, values.size)
    measures = len(values) if values.ndim > 1 else 1
    by_query = values.reshape(measures, queries, runs).swapaxes(0, 1)
    return by_query.reshape(queries, measures * runs)


@dataclass(frozen=True, eq=False)
class ValueTable:
    """The rows of all queries, and their cached sums for each facet.

    Never changed: ``with_rows`` and ``with_measures`` return new tables. Two threads that fill in
    sums at once compute the same ones.
    """

    layout: RowLayout
    rows: Sequence[Floats]
    sums: dict[Hashable, BucketSums] = field(default_factory=dict)
    stacked: Floats | None = None

    @staticmethod
    def of(layout: RowLayout, matrix: Floats) -> ValueTable:
        """Make a table of stacked rows, (queries, width)."""
        return ValueTable(layout, list(matrix), stacked=matrix)

    @cached_property
    def matrix(self) -> Floats:
        """The stacked rows, (queries, width)."""
        return np.stack(self.rows) if self.stacked is None else self.stacked

    def defined(self, measure: Measure) -> Bools:
        """Return for which queries a measure is defined and so in the mean, (queries,)."""
        [column] = self.layout.columns((measure,)).defined
        defined: Bools = self.matrix[:, column] > 0
        return defined

    def values(self, measure: Measure) -> Floats:
        """Return a measure's values, (queries, runs), NaN where it is not defined."""
        columns = self.layout.columns((measure,))
        defined = self.defined(measure)[:, np.newaxis]
        return np.where(defined, self.matrix[:, columns.values[0]], np.nan)

    def unjudged(self, measure: Measure) -> Ints:
        """Return the number of unjudged chunks inside a measure's cut-off, (queries, runs)."""
        columns = self.layout.columns((measure,))
        return self.matrix[:, columns.unjudged[0]].astype(np.int64)

    def totals(self, key: Hashable, grouping: Grouping) -> Floats:
        """Return the sums of the rows of each bucket, (buckets, width).

        ``key`` identifies the grouping; only sums by facet are updated with later changes.
        """
        if key not in self.sums:
            self.sums[key] = add_up(grouping, self.matrix)
        return self.sums[key].totals

    def with_rows(
        self, fresh: Mapping[int, Floats], groupings: Mapping[str | None, Grouping]
    ) -> ValueTable:
        """Return the table after the rows of some queries changed."""
        rows, steps = list(self.rows), {}
        for query, row in fresh.items():
            steps[query], rows[query] = row_change(rows[query], row), row
        sums: dict[Hashable, BucketSums] = {
            key: update_sums(old, groupings[key], steps)
            for key, old in tuple(self.sums.items())
            if isinstance(key, str | None)
        }
        return ValueTable(self.layout, rows, sums)

    def with_measures(self, other: ValueTable) -> ValueTable:
        """Return a table with the measures of this one, then those of ``other``."""
        if not self.layout.measures:
            return other
        measures = (*self.layout.measures, *other.layout.measures)
        layout = RowLayout.of(self.layout.runs, measures, self.layout.crosses)
        matrix = np.empty((len(self.rows), layout.width))
        matrix[:, : 1 + layout.runs] = self.matrix[:, : 1 + layout.runs]
        for part in (self, other):
            new, old = (each.columns(part.layout.measures) for each in (layout, part.layout))
            matrix[:, new.values] = part.matrix[:, old.values]
            matrix[:, new.defined] = part.matrix[:, old.defined]
            matrix[:, new.unjudged] = part.matrix[:, old.unjudged]
        return ValueTable.of(layout, matrix)


_TO_COARSE, _TO_FINE = 1.5 * 2.0**22, 1.5 * 2.0**-10
"""Added to a number and subtracted again, these round it to a multiple of 2^-30, of 2^-62."""
_ROWS_AT_ONCE = 32  # rows that fit the processor's cache


@dataclass(frozen=True, eq=False)
class Grouping:
    """The bucket of each query.

    ``group`` (queries,) is a query's place among ``buckets``; past the last if it is in none.
    """

    buckets: tuple[str | None, ...]
    group: Ints

    @staticmethod
    def of(given: Sequence[str | None]) -> Grouping:
        """Group queries by the bucket of each, with the buckets in a reader's order."""
        buckets = order_buckets(count_buckets(given))
        places = {bucket: place for place, bucket in enumerate(buckets)}
        group = [len(buckets) if bucket is None else places[bucket] for bucket in given]
        return Grouping(buckets, np.array(group, dtype=np.int64))

    def inside(self, bucket: str) -> Bools:
        """Return which queries are in a bucket, (queries,); may raise `NotFound`."""
        if bucket not in self.buckets:
            there = ", ".join(map(str, self.buckets)) or "none"
            raise NotFound(f"no bucket is called {bucket!r}; there are: {there}")
        inside: Bools = self.group == self.buckets.index(bucket)
        return inside

    def within(self, inside: Bools) -> Grouping:
        """Return the same buckets with only the queries that are ``inside``, (queries,)."""
        return Grouping(self.buckets, np.where(inside, self.group, len(self.buckets)))

    def members(self) -> list[Ints]:
        """Return the queries of each bucket, ascending."""
        order = np.argsort(self.group, kind="stable")
        bounds = np.searchsorted(self.group[order], np.arange(len(self.buckets) + 1)).tolist()
        return [order[start:stop] for start, stop in pairwise(bounds)]


@dataclass(frozen=True, eq=False)
class BucketSums:
    """Sums of rows: ``totals`` are (buckets, width), each the float nearest to the exact sum.

    A row whose first number is 0 counts nowhere; that number is 1 otherwise.

    ``parts`` are the sums by bucket, each (2, width). A number is split into a multiple of 2^-30
    and the multiple of 2^-62 nearest to the rest, and floats represent every sum of these exactly.
    So sums have the same bits in any order of rows, at once or after a thousand changes. This is
    true of whole numbers, and for up to four million queries of values that sum to less than 2^23.
    With plain floats, 0.1 + 0.2 - 0.2 is not 0.1:

    >>> rows = np.array([[1.0, 0.1], [1.0, 0.2], [1.0, 0.0]])
    >>> one_bucket = Grouping((None,), np.zeros(2, dtype=np.int64))
    >>> sums = add_up(one_bucket, rows[:2])
    >>> update_sums(sums, one_bucket, {1: row_change(rows[1], rows[2])}).totals.tolist()
    [[2.0, 0.1]]
    """

    parts: Sequence[Floats]
    totals: Floats


def add_up(grouping: Grouping, table: Floats) -> BucketSums:
    """Sum the rows of all queries, (queries, width), by bucket."""
    parts = np.zeros((len(grouping.buckets), 2, table.shape[1]))
    for sums, members in zip(parts, grouping.members(), strict=True):
        counting = members[table[members, 0] > 0]
        for start in range(0, len(counting), _ROWS_AT_ONCE):
            rows = table.take(counting[start : start + _ROWS_AT_ONCE], axis=0)
            for each, part in zip(sums, _split_exactly(rows), strict=True):
                each += np.add.reduce(part, axis=0)
    return BucketSums(list(parts), parts[:, 0] + parts[:, 1])


def row_change(before: Floats, after: Floats) -> Floats:
    """Return the change of the sums when a row changes, (2, width)."""
    parts = _split_exactly(np.array([before * before[0], after * after[0]]))
    return np.array([part[1] - part[0] for part in parts])


def update_sums(old: BucketSums, grouping: Grouping, steps: Mapping[int, Floats]) -> BucketSums:
    """Return the sums after the rows of some queries changed; ``old`` is not modified."""
    parts, totals = list(old.parts), old.totals.copy()
    for query, by in steps.items():
        bucket = int(grouping.group[query])
        if bucket < len(parts):
            parts[bucket] = parts[bucket] + by
            totals[bucket] = parts[bucket][0] + parts[bucket][1]
    return BucketSums(parts, totals)


def _split_exactly(rows: Floats) -> tuple[Floats, Floats]:
    """Split numbers into a coarse and a fine part."""
    coarse = rows + _TO_COARSE
    coarse -= _TO_COARSE
    fine = rows - coarse
    fine += _TO_FINE
    fine -= _TO_FINE
    return coarse, fine

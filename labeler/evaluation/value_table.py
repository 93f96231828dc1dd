"""Table of values: one row of numbers per query, and exact sums of the rows of each bucket.

A row holds all values, flags and counts of a query in the form in which they are added up. Each
number is split into two parts of which floats hold every sum exactly, so that no order of adding
changes a bit: a live mean equals the mean computed from scratch.
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
    BUDGET,
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

_MOST_LAYOUTS = 128  # layouts, and columns of them, that need not be found again
Depth = tuple[Cutoff, Reads, int | None]
"""Down to where a measure looks, and at what; a number of characters comes last."""


@dataclass(frozen=True, eq=False)
class RowRules:
    """What a row's numbers depend on besides hits: the same for all grades a query can have.

    ``absent`` (queries, runs) says where a run has no list, ``budgets`` (queries,) are the prompt
    budgets. ``stand_in`` is what counts where a value is undefined, None if nothing does. Where a
    measure looks at the whole list, its holes are counted down to ``pool_depth``. Where runs are of
    ``several`` chunkings, a measure may be undefined for some of them, and is then for all.
    """

    absent: Bools
    budgets: Ints
    stand_in: float | None
    pool_depth: int
    several: bool = False

    @property
    def runs(self) -> int:
        """How many runs there are."""
        return int(self.absent.shape[1])

    def limit(self, cutoff: Cutoff, queries: Ints) -> int | Ints:
        """Return a cut-off as a number, or as one for each run of each query."""
        if cutoff == BUDGET:
            return np.repeat(self.budgets[queries], self.runs)
        return cutoff or WHOLE_LIST

    def unjudged_within(self, cutoff: Cutoff, queries: Ints) -> int | Ints:
        """Return down to which rank holes are counted, as `limit` does."""
        return self.pool_depth if cutoff is None else self.limit(cutoff, queries)


@dataclass(frozen=True, eq=False)
class MeasureFamily:
    """Measures that differ by their cut-offs alone, and the columns of their values in a row.

    ``cutoffs`` are (measures, 1), None where it is one measure alone, which knows its own.
    """

    measures: tuple[Measure, ...]
    cutoffs: Ints | None
    compute: Scorer
    columns: slice | Ints


@dataclass(frozen=True, eq=False)
class RowColumns:
    """Where the numbers of some measures stand in a row.

    ``values`` and ``holes`` (measures, runs), ``defined`` (measures,).
    """

    values: Ints
    defined: Ints
    holes: Ints


@dataclass(frozen=True, eq=False)
class RowLayout:
    """Where a number stands in a row: judged, absent by run, values by measure and run, whether
    each measure is defined, holes by depth and run.

    One flag serves all runs, because only a query's golden grades can leave a measure undefined.
    All measures compare between chunkings, if it ``crosses`` them, or none does: in these, a grade
    of any chunking makes a query count.
    """

    runs: int
    measures: tuple[Measure, ...]
    crosses: bool = False

    @staticmethod
    @lru_cache(_MOST_LAYOUTS)
    def of(runs: int, measures: tuple[Measure, ...], crosses: bool = False) -> RowLayout:
        """Return a layout, and the same one to boards of as many runs with the same measures."""
        return RowLayout(runs, measures, crosses)

    @cached_property
    def depths(self) -> Mapping[Depth, Measure]:
        """The depths of the measures, each once with one that looks so deep, the deepest first."""
        return {_depth(self.measures[at]): self.measures[at] for at in self.deepest_first}

    @cached_property
    def places(self) -> Mapping[Measure, int]:
        """The place of each measure among the measures."""
        return {measure: at for at, measure in enumerate(self.measures)}

    @property
    def all_values(self) -> slice:
        """The columns of all values, by measure and run."""
        first = 1 + self.runs
        return slice(first, first + self.runs * len(self.measures))

    @property
    def all_defined(self) -> slice:
        """The columns that say whether the measures are defined."""
        first = self.all_values.stop
        return slice(first, first + len(self.measures))

    @property
    def width(self) -> int:
        """How many numbers a row has."""
        return int(self.all_defined.stop) + self.runs * len(self.depths)

    @cached_property
    def deepest_first(self) -> tuple[int, ...]:
        """The places of the measures by falling cut-off, as `Hits.top` likes to be asked."""

        def depth(at: int) -> int:
            cutoff = self.measures[at].cutoff
            return cutoff if isinstance(cutoff, int) else WHOLE_LIST

        return tuple(sorted(range(len(self.measures)), key=depth, reverse=True))

    @cached_property
    def alone(self) -> tuple[MeasureFamily, ...]:
        """Each measure for itself, the deepest first."""
        return tuple(self._family([at]) for at in self.deepest_first)

    @cached_property
    def families(self) -> tuple[MeasureFamily, ...]:
        """The measures by family: of a few hits, all its cut-offs are asked for at once."""
        found: dict[object, list[int]] = {}
        for at, measure in enumerate(self.measures):
            found.setdefault(measure.family, []).append(at)
        return tuple(map(self._family, found.values()))

    def _family(self, places: Sequence[int]) -> MeasureFamily:
        some = tuple(self.measures[at] for at in places)
        first, end = (self.all_values.start + at * self.runs for at in (places[0], places[-1] + 1))
        together = places[-1] - places[0] == len(places) - 1
        cutoffs = [[measure.cutoff or WHOLE_LIST] for measure in some]
        return MeasureFamily(
            some,
            np.array(cutoffs, dtype=np.int64) if len(some) > 1 else None,
            scorer(some[0]),
            slice(first, end) if together else self._by_run(self.all_values.start, places).ravel(),
        )

    @cached_property
    def spans_of_unjudged(self) -> tuple[slice, ...]:
        """The columns of the holes inside each depth."""
        starts = [self.all_defined.stop + at * self.runs for at in range(len(self.depths))]
        return tuple(slice(start, start + self.runs) for start in starts)

    @cached_property
    def looks_at_chunks_alone(self) -> bool:
        """Whether all depths are plain numbers of chunks, or whole lists of them."""
        return all(cutoff != BUDGET and reads == "chunks" for cutoff, reads, _ in self.depths)

    @cached_property
    def crossing(self) -> tuple[int, ...]:
        """The places of the measures that compare between chunkings."""
        return tuple(at for at, measure in enumerate(self.measures) if measure.crosses)

    @lru_cache(_MOST_LAYOUTS)  # noqa: B019 - of as many layouts as are kept
    def lacks(self, measures: tuple[Measure, ...]) -> tuple[Measure, ...]:
        """Return those of some measures that have no place here; found once, as `columns` are."""
        return tuple(measure for measure in measures if measure not in self.places)

    @lru_cache(_MOST_LAYOUTS)  # noqa: B019 - of as many layouts as are kept
    def columns(self, measures: tuple[Measure, ...]) -> RowColumns:
        """Return the columns of some measures; found once, since the same are asked for again."""
        places, depths = [self.places[measure] for measure in measures], list(self.depths)
        cutoffs = [depths.index(_depth(measure)) for measure in measures]
        return RowColumns(
            values=self._by_run(self.all_values.start, places),
            defined=self.all_defined.start + np.array(places, dtype=np.int64),
            holes=self._by_run(self.all_defined.stop, cutoffs),
        )

    def _by_run(self, first: int, places: Sequence[int]) -> Ints:
        starts = first + np.array(places, dtype=np.int64) * self.runs
        columns: Ints = starts[:, np.newaxis] + np.arange(self.runs)
        return columns


def _depth(measure: Measure) -> Depth:
    return measure.cutoff, measure.reads, measure.characters


def fill_rows(layout: RowLayout, rules: RowRules, seen: MeasureInputs) -> Floats:
    """Compute the rows of the queries ``seen``, (queries, width), from their lists in every run.

    Values are 0 where they are not defined, so that they can be added.
    """
    runs, measures = layout.runs, layout.measures
    judged = seen.anywhere if layout.crosses else seen.judged
    queries = np.asarray(seen.queries, dtype=np.int64)
    rows = np.empty((len(queries), layout.width))
    rows[:, 0] = judged
    rows[:, 1 : 1 + runs] = rules.absent.take(queries, axis=0)
    for each in layout.families if seen.hits.is_small else layout.alone:
        first = each.measures[0]
        limit = rules.limit(first.cutoff, queries) if each.cutoffs is None else each.cutoffs
        rows[:, each.columns] = _by_query(each.compute(seen.of(first), limit), len(rows), runs)
    if layout.looks_at_chunks_alone and seen.hits.is_small:
        depths = [rules.unjudged_within(cutoff, queries) for cutoff, *_ in layout.depths]
        holes = seen.hits.holes(np.array(depths, dtype=np.int64)[:, np.newaxis])
        rows[:, layout.all_defined.stop :] = _by_query(holes, len(rows), runs)
    else:
        for measure, columns in zip(layout.depths.values(), layout.spans_of_unjudged, strict=True):
            holes = seen.holes(measure, rules.unjudged_within(measure.cutoff, queries))
            rows[:, columns] = holes.reshape(len(rows), runs)
    values = rows[:, layout.all_values]
    undefined = np.isnan(values)
    np.copyto(values, rules.stand_in or 0.0, where=undefined)
    defined: Bools = judged[:, np.newaxis].repeat(len(measures), axis=1)
    if rules.stand_in is None:
        asked = slice(None) if rules.several else slice(1)  # one run of a chunking tells it for all
        of_runs = undefined.reshape(len(rows), len(measures), runs)[:, :, asked]
        defined &= ~np.logical_or.reduce(of_runs, axis=2)
    for at in layout.crossing:  # nothing stands in for passages that nobody marked
        defined[:, at] &= ~seen.lacks(measures[at])
    if rules.several or layout.crossing:  # what does not count for all is added up for none
        values[~np.repeat(defined, runs, axis=1)] = 0.0
    rows[:, layout.all_defined] = defined
    return rows


def _by_query(values: Floats | Ints, queries: int, runs: int) -> Floats | Ints:
    """Turn values of measures, (measures, queries x runs) or of one, into a row for each query."""
    if queries == 1:
        return values.reshape(1, values.size)
    measures = len(values) if values.ndim > 1 else 1
    by_query = values.reshape(measures, queries, runs).swapaxes(0, 1)
    return by_query.reshape(queries, measures * runs)


@dataclass(frozen=True, eq=False)
class ValueTable:
    """The rows of all queries, and what they add up to for each facet that was asked for.

    Never changed: ``with_rows`` and ``with_measures`` return another, and sums that two threads
    fill in at once are the same.
    """

    layout: RowLayout
    rows: Sequence[Floats]
    sums: dict[Hashable, BucketSums] = field(default_factory=dict)
    stacked: Floats | None = None

    @staticmethod
    def of(layout: RowLayout, table: Floats) -> ValueTable:
        """Make a sheet of rows that stand below each other, (queries, width)."""
        return ValueTable(layout, list(table), stacked=table)

    @cached_property
    def table(self) -> Floats:
        """The rows below each other, (queries, width)."""
        return np.stack(self.rows) if self.stacked is None else self.stacked

    def defined(self, measure: Measure) -> Bools:
        """Say for which queries a measure is defined and so in the mean, (queries,)."""
        [column] = self.layout.columns((measure,)).defined
        defined: Bools = self.table[:, column] > 0
        return defined

    def values(self, measure: Measure) -> Floats:
        """Return a measure's values, (queries, runs), NaN where it is not defined."""
        columns = self.layout.columns((measure,))
        defined = self.defined(measure)[:, np.newaxis]
        return np.where(defined, self.table[:, columns.values[0]], np.nan)

    def holes(self, measure: Measure) -> Ints:
        """Return the holes inside a measure's cut-off, (queries, runs)."""
        columns = self.layout.columns((measure,))
        return self.table[:, columns.holes[0]].astype(np.int64)

    def totals(self, key: Hashable, grouping: Grouping) -> Floats:
        """Return what the rows of each bucket add up to, (buckets, width).

        ``key`` is of this grouping alone; only the sums of a facet are brought up to date later.
        """
        if key not in self.sums:
            self.sums[key] = add_up(grouping, self.table)
        return self.sums[key].totals

    def with_rows(
        self, fresh: Mapping[int, Floats], groupings: Mapping[str | None, Grouping]
    ) -> ValueTable:
        """Return the sheet after the rows of some queries changed."""
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
        """Return a sheet that says what this one says, and then what ``other`` says."""
        if not self.layout.measures:
            return other
        measures = (*self.layout.measures, *other.layout.measures)
        layout = RowLayout.of(self.layout.runs, measures, self.layout.crosses)
        table = np.empty((len(self.rows), layout.width))
        table[:, : 1 + layout.runs] = self.table[:, : 1 + layout.runs]
        for sheet in (self, other):
            new, old = (each.columns(sheet.layout.measures) for each in (layout, sheet.layout))
            table[:, new.values] = sheet.table[:, old.values]
            table[:, new.defined] = sheet.table[:, old.defined]
            table[:, new.holes] = sheet.table[:, old.holes]
        return ValueTable.of(layout, table)


_TO_COARSE, _TO_FINE = 1.5 * 2.0**22, 1.5 * 2.0**-10
"""Added to a number and taken away again, these leave the nearest multiple of 2^-30, of 2^-62.
"""
_ROWS_AT_ONCE = 32  # rows that a processor keeps at hand


@dataclass(frozen=True, eq=False)
class Grouping:
    """The queries by bucket.

    ``group`` (queries,) is a query's place among ``buckets``; past the last of them it is in none.
    """

    buckets: tuple[str | None, ...]
    group: Ints

    @staticmethod
    def of(given: Sequence[str | None]) -> Grouping:
        """Group queries by the bucket that each was ``given``, in a reader's order of buckets."""
        buckets = order_buckets(count_buckets(given))
        places = {bucket: place for place, bucket in enumerate(buckets)}
        group = [len(buckets) if bucket is None else places[bucket] for bucket in given]
        return Grouping(buckets, np.array(group, dtype=np.int64))

    def inside(self, bucket: str) -> Bools:
        """Say which queries a bucket holds, (queries,); may raise `NotFound`."""
        if bucket not in self.buckets:
            there = ", ".join(map(str, self.buckets)) or "none"
            raise NotFound(f"no bucket is called {bucket!r}; there are: {there}")
        held: Bools = self.group == self.buckets.index(bucket)
        return held

    def within(self, inside: Bools) -> Grouping:
        """Return the same buckets without the queries that are not ``inside``, (queries,)."""
        return Grouping(self.buckets, np.where(inside, self.group, len(self.buckets)))

    def members(self) -> list[Ints]:
        """Return the queries of each bucket, rising."""
        order = np.argsort(self.group, kind="stable")
        bounds = np.searchsorted(self.group[order], np.arange(len(self.buckets) + 1)).tolist()
        return [order[start:stop] for start, stop in pairwise(bounds)]


@dataclass(frozen=True, eq=False)
class BucketSums:
    """What rows add up to: ``totals`` are (buckets, width), each the float nearest to the sum.

    A row whose first number is 0 counts nowhere; that number is 1 otherwise.

    ``parts`` are the sums by bucket, each (2, width): a number is taken apart into a multiple of
    2^-30 and the multiple of 2^-62 that is nearest to what is left, and of these floats hold every
    sum. So sums have the same bits in whatever order rows come, at once or after a thousand
    changes. This holds for whole numbers, and of up to four million queries for values that come to
    less than 2^23. Of plain floats, 0.1 + 0.2 - 0.2 is not 0.1:

    >>> rows = np.array([[1.0, 0.1], [1.0, 0.2], [1.0, 0.0]])
    >>> one_bucket = Grouping((None,), np.zeros(2, dtype=np.int64))
    >>> sums = add_up(one_bucket, rows[:2])
    >>> update_sums(sums, one_bucket, {1: row_change(rows[1], rows[2])}).totals.tolist()
    [[2.0, 0.1]]
    """

    parts: Sequence[Floats]
    totals: Floats


def add_up(grouping: Grouping, table: Floats) -> BucketSums:
    """Add the rows of all queries, (queries, width), up to the buckets."""
    parts = np.zeros((len(grouping.buckets), 2, table.shape[1]))
    for sums, members in zip(parts, grouping.members(), strict=True):
        counting = members[table[members, 0] > 0]
        for start in range(0, len(counting), _ROWS_AT_ONCE):
            rows = table.take(counting[start : start + _ROWS_AT_ONCE], axis=0)
            for each, part in zip(sums, _split_exactly(rows), strict=True):
                each += np.add.reduce(part, axis=0)
    return BucketSums(list(parts), parts[:, 0] + parts[:, 1])


def row_change(before: Floats, after: Floats) -> Floats:
    """Return by how much sums change where a row does, (2, width)."""
    parts = _split_exactly(np.array([before * before[0], after * after[0]]))
    return np.array([part[1] - part[0] for part in parts])


def update_sums(old: BucketSums, grouping: Grouping, steps: Mapping[int, Floats]) -> BucketSums:
    """Return the sums after the rows of some queries changed; ``old`` stays as it is."""
    parts, totals = list(old.parts), old.totals.copy()
    for query, by in steps.items():
        bucket = int(grouping.group[query])
        if bucket < len(parts):
            parts[bucket] = parts[bucket] + by
            totals[bucket] = parts[bucket][0] + parts[bucket][1]
    return BucketSums(parts, totals)


def _split_exactly(rows: Floats) -> tuple[Floats, Floats]:
    """Take numbers apart into a coarse and a fine one."""
    coarse = rows + _TO_COARSE
    coarse -= _TO_COARSE
    fine = rows - coarse
    fine += _TO_FINE
    fine -= _TO_FINE
    return coarse, fine

"""How rows of queries add up to buckets: in one order and by one sum, wherever numbers are added.

Knows rows of numbers and groups of queries; not what the numbers mean.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise

import numpy as np

from labeler.errors import NotFound
from labeler.measures import Bools, Floats, Ints
from labeler.model import count_buckets, order_buckets

FEW = 6


@dataclass(frozen=True, eq=False)
class Level:
    """Sums of a few rows each, or of a few sums of the level before."""

    members: tuple[list[int], ...]

    @cached_property
    def holder(self) -> Mapping[int, int]:
        """The sum that each member is added to."""
        return {member: at for at, members in enumerate(self.members) for member in members}


@dataclass(frozen=True, eq=False)
class Grouping:
    """The queries by bucket; those of a bucket are added up a few at a time, and so are the sums.

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

    @cached_property
    def levels(self) -> tuple[Level, ...]:
        """What is added up first, then what of that, and so on; of the last, one for a bucket."""
        levels: list[Level] = []
        members = self._queries
        while not levels or any(len(each) > 1 for each in members):
            cut = [[each[at : at + FEW] for at in range(0, len(each), FEW)] for each in members]
            levels.append(Level(tuple(chain.from_iterable(cut))))
            ends = np.cumsum([0, *map(len, cut)]).tolist()
            members = [list(range(*bounds)) for bounds in pairwise(ends)]
        return tuple(levels)

    @cached_property
    def place_of(self) -> Mapping[int, int]:
        """The bucket of each sum of the last level."""
        filled = [bucket for bucket, queries in enumerate(self._queries) if queries]
        return dict(enumerate(filled))

    @cached_property
    def _queries(self) -> list[list[int]]:
        order = np.argsort(self.group, kind="stable")
        bounds = np.searchsorted(self.group[order], np.arange(len(self.buckets) + 1)).tolist()
        return [order[start:stop].tolist() for start, stop in pairwise(bounds)]


@dataclass(frozen=True, eq=False)
class Sums:
    """What rows add up to: ``levels`` have the sums of each level, ``totals`` those of buckets.

    Each sum is (width,), and ``totals`` are (buckets, width).
    A row whose first number is 0 counts nowhere; that number is 1 otherwise.

    Sums are added afresh from the rows, a few at a time, and never corrected by a difference: after
    a thousand changes they hold the same bits as at once. 0.1 + 0.2 - 0.2 would not:

    >>> one_bucket = Grouping((None,), np.zeros(2, dtype=np.int64))
    >>> rows = list(np.array([[1.0, 0.1], [1.0, 0.2], [1.0, 0.0]]))
    >>> before = add_up(one_bucket, rows[:2], 2)
    >>> readd(before, one_bucket, rows[::2], [1]).totals.tolist()
    [[2.0, 0.1]]
    """

    levels: tuple[Sequence[Floats], ...]
    totals: Floats


def add_up(grouping: Grouping, rows: Sequence[Floats] | Floats, width: int) -> Sums:
    """Add the rows of all queries, each with ``width`` numbers, up to the buckets."""
    nothing = np.zeros(width)
    levels = tuple([nothing] * len(level.members) for level in grouping.levels)
    totals = np.zeros((len(grouping.buckets), width))
    return readd(Sums(levels, totals), grouping, rows, range(len(rows)))


def readd(
    old: Sums, grouping: Grouping, rows: Sequence[Floats] | Floats, changed: Iterable[int]
) -> Sums:
    """Return the sums after the rows of some queries changed; ``old`` stays as it is."""
    levels: list[Sequence[Floats]] = []
    for level, sums in zip(grouping.levels, old.levels, strict=True):
        fresh = list(sums)
        changed = {level.holder[each] for each in changed if each in level.holder}
        for at in changed:
            fresh[at] = _sum(levels[-1] if levels else rows, level.members[at])
        levels.append(fresh)
    totals = old.totals.copy()
    for at in changed:
        totals[grouping.place_of[at]] = levels[-1][at]
    return Sums(tuple(levels), totals)


def _sum(rows: Sequence[Floats] | Floats, members: list[int]) -> Floats:
    """Add those rows that count, one after the other."""
    total: Floats = np.zeros(len(rows[0]))
    for at in members:
        row = rows[at]
        if row[0]:
            total += row
    return total

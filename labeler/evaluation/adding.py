"""How rows of queries add up to buckets: exactly, so that no order of adding changes a bit.

Knows rows of numbers and groups of queries; not what the numbers mean.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from labeler.errors import NotFound
from labeler.measures import Bools, Floats, Ints
from labeler.model import count_buckets, order_buckets

_TO_COARSE, _TO_FINE = 1.5 * 2.0**22, 1.5 * 2.0**-10
"""Added to a number and taken away again, these leave the nearest multiple of 2^-30, of 2^-62.
"""
_AT_ONCE = 32  # rows that a processor keeps at hand


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
class Sums:
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
    >>> readd(sums, one_bucket, {1: step(rows[1], rows[2])}).totals.tolist()
    [[2.0, 0.1]]
    """

    parts: Sequence[Floats]
    totals: Floats


def add_up(grouping: Grouping, table: Floats) -> Sums:
    """Add the rows of all queries, (queries, width), up to the buckets."""
    parts = np.zeros((len(grouping.buckets), 2, table.shape[1]))
    for sums, members in zip(parts, grouping.members(), strict=True):
        counting = members[table[members, 0] > 0]
        for start in range(0, len(counting), _AT_ONCE):
            rows = table.take(counting[start : start + _AT_ONCE], axis=0)
            for each, part in zip(sums, _parted(rows), strict=True):
                each += np.add.reduce(part, axis=0)
    return Sums(list(parts), parts[:, 0] + parts[:, 1])


def step(before: Floats, after: Floats) -> Floats:
    """Return by how much sums change where a row does, (2, width)."""
    parts = _parted(np.array([before * before[0], after * after[0]]))
    return np.array([part[1] - part[0] for part in parts])


def readd(old: Sums, grouping: Grouping, steps: Mapping[int, Floats]) -> Sums:
    """Return the sums after the rows of some queries changed; ``old`` stays as it is."""
    parts, totals = list(old.parts), old.totals.copy()
    for query, by in steps.items():
        bucket = int(grouping.group[query])
        if bucket < len(parts):
            parts[bucket] = parts[bucket] + by
            totals[bucket] = parts[bucket][0] + parts[bucket][1]
    return Sums(parts, totals)


def _parted(rows: Floats) -> tuple[Floats, Floats]:
    """Take numbers apart into a coarse and a fine one."""
    coarse = rows + _TO_COARSE
    coarse -= _TO_COARSE
    fine = rows - coarse
    fine += _TO_FINE
    fine -= _TO_FINE
    return coarse, fine

"""How rows of queries add up to buckets: in one order and by one sum, wherever numbers are added.

Knows rows of numbers and groups of queries; not what the numbers mean.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from labeler.errors import NotFound
from labeler.measures import Bools, Floats, Ints
from labeler.model import count_buckets, order_buckets

BLOCK = 32


@dataclass(frozen=True, eq=False)
class Grouping:
    """The queries by bucket, each bucket cut into blocks of a few queries.

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
    def blocks(self) -> list[list[int]]:
        """The queries of each block, in order; the blocks of a bucket follow each other."""
        return [
            queries[start : start + BLOCK]
            for queries in self._queries
            for start in range(0, len(queries), BLOCK)
        ]

    @cached_property
    def block_of(self) -> Mapping[int, int]:
        """The block of each query that a bucket holds."""
        return {query: at for at, queries in enumerate(self.blocks) for query in queries}

    @cached_property
    def spans(self) -> tuple[slice, ...]:
        """The blocks of each bucket."""
        sizes = [-(-len(queries) // BLOCK) for queries in self._queries]
        return tuple(slice(*bounds) for bounds in pairwise(np.cumsum([0, *sizes]).tolist()))

    @cached_property
    def _queries(self) -> list[list[int]]:
        order = np.argsort(self.group, kind="stable")
        bounds = np.searchsorted(self.group[order], np.arange(len(self.buckets) + 1)).tolist()
        return [order[start:stop].tolist() for start, stop in pairwise(bounds)]


@dataclass(frozen=True, eq=False)
class Sums:
    """What rows add up to: by block, and by bucket ``totals`` (buckets, width).

    A row whose first number is 0 counts nowhere; that number is 1 otherwise.

    Sums are added afresh from the rows, block by block, and never corrected by a difference: after
    a thousand changes they hold the same bits as at once. 0.1 + 0.2 - 0.2 would not:

    >>> one_bucket = Grouping((None,), np.zeros(2, dtype=np.int64))
    >>> rows = list(np.array([[1.0, 0.1], [1.0, 0.2], [1.0, 0.0]]))
    >>> before = add_up(one_bucket, rows[:2], 2)
    >>> readd(before, one_bucket, rows[::2], [1]).totals.tolist()
    [[2.0, 0.1]]
    """

    blocks: Floats
    totals: Floats


def add_up(grouping: Grouping, rows: Sequence[Floats] | Floats, width: int) -> Sums:
    """Add the rows of all queries, each with ``width`` numbers, up to the buckets."""
    blocks, totals = (np.zeros((len(each), width)) for each in (grouping.blocks, grouping.buckets))
    return readd(Sums(blocks, totals), grouping, rows, range(len(rows)))


def readd(
    old: Sums, grouping: Grouping, rows: Sequence[Floats] | Floats, changed: Iterable[int]
) -> Sums:
    """Return the sums after the rows of some queries changed; ``old`` stays as it is."""
    blocks, totals = old.blocks.copy(), old.totals.copy()
    touched = {grouping.block_of[query] for query in changed if query in grouping.block_of}
    for block in touched:
        members = _gather(rows, grouping.blocks[block])
        counted = members[:, 0] > 0
        blocks[block] = np.add.reduce(members if counted.all() else members[counted], axis=0)
    for bucket, span in enumerate(grouping.spans):
        if not touched.isdisjoint(range(span.start, span.stop)):
            totals[bucket] = np.add.reduce(blocks[span], axis=0)
    return Sums(blocks, totals)


def _gather(rows: Sequence[Floats] | Floats, queries: list[int]) -> Floats:
    if isinstance(rows, np.ndarray):
        return rows[queries]
    return np.concatenate([rows[query] for query in queries]).reshape(len(queries), -1)

"""Golden grades of one query: sorted arrays of chunk numbers and grades, cut out of a collection.

Where grades are of several chunkings, a query counts only if it has a grade in each of them, and
every run is measured by the grades of its own chunking.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from labeler.measures import Bools, Ints
from labeler.model import ChunkingIndex, Collection, GradeChange

ChunkNumbers = npt.NDArray[np.int32]

NO_CHUNKS: ChunkNumbers = np.array([], dtype=np.int32)


@dataclass(frozen=True, eq=False)
class QueryGrades:
    """The golden grades of one query, sorted by chunk, each chunk once.

    ``pool`` are chunks that a file put into the query's pool without a grade, graded by now or not.
    ``sides`` are the chunkings the chunks are of, None where they are all of one. ``carried`` says
    which grades were carried over from other chunks, None where none was.
    """

    chunks: ChunkNumbers
    grades: npt.NDArray[np.int8]
    stale: npt.NDArray[np.bool_]
    pool: ChunkNumbers = field(default_factory=lambda: NO_CHUNKS)
    sides: ChunkingIndex | None = None
    carried: Bools | None = None

    def is_judged_on_all(self, like_trec_eval: bool) -> bool:
        """Say whether the query counts on each side, of which there are several."""
        if self.sides is None:
            return True
        counting = [self.chunks, self.pool] if like_trec_eval else [self.chunks]
        return are_in_all_chunkings(self.sides, np.concatenate(counting))

    def as_dict(self) -> dict[int, int]:
        """Return the grade of each chunk that has one."""
        return dict(zip(self.chunks.tolist(), self.grades.tolist(), strict=True))

    def of(self, chunks: ChunkNumbers) -> Ints:
        """Return the grade of each of ``chunks``, -1 where it has none.

        >>> golden = QueryGrades(np.array([2, 7]), np.array([3, 0]), np.zeros(2, np.bool_))
        >>> golden.of(np.array([7, 5, 2])).tolist()
        [0, -1, 3]
        """
        place = np.searchsorted(self.chunks, chunks)
        known = np.append(self.chunks, -1)[place] == chunks
        return np.where(known, np.append(self.grades, -1)[place], -1)

    def changed(self, changes: Iterable[GradeChange]) -> QueryGrades:
        """Apply changes in order: the last one of a pair counts."""
        carried = np.zeros(len(self.chunks), np.bool_) if self.carried is None else self.carried
        columns = [each.tolist() for each in (self.chunks, self.grades, self.stale, carried)]
        for change in changes:
            at = bisect_left(columns[0], change.chunk)
            there = slice(at, bisect_right(columns[0], change.chunk, at))
            new = (change.chunk, change.grade, change.stale, change.kind == "carry")
            for column, value in zip(columns, new, strict=True):
                column[there] = [] if change.grade is None else [value]
        return QueryGrades(
            np.array(columns[0], dtype=np.int32),
            np.array(columns[1], dtype=np.int8),
            np.array(columns[2], dtype=np.bool_),
            self.pool,
            self.sides,
            np.array(columns[3]) if any(columns[3]) else None,
        )


def grades_by_query(collection: Collection) -> tuple[QueryGrades, ...]:
    """Cut the golden grades into one piece for each query, empty ones included."""
    sides = collection.sides if collection.has_several_chunkings else None
    carried = collection.carried
    queries = np.arange(len(collection.query_ids) + 1)
    bounds = np.searchsorted(collection.golden_query, queries).tolist()
    pools = np.searchsorted(collection.pool_query, queries).tolist()
    return tuple(
        QueryGrades(
            collection.golden_chunk[start:stop],
            collection.golden_grade[start:stop],
            collection.stale[start:stop],
            collection.pool_chunk[slice(*pool)],
            sides,
            None if carried is None or not carried[start:stop].any() else carried[start:stop],
        )
        for (start, stop), pool in zip(pairwise(bounds), pairwise(pools), strict=True)
    )


def judged_in_collection(collection: Collection, like_trec_eval: bool) -> Bools:
    """Say which queries of a collection of one chunking count, as `judged_in_grades` does."""
    judged = np.zeros(len(collection.query_ids), dtype=np.bool_)
    judged[collection.golden_query] = True
    if like_trec_eval:
        judged[collection.pool_query] = True
    return judged


def judged_in_grades(golden: Iterable[QueryGrades], like_trec_eval: bool) -> Bools:
    """Say which queries count; to trec_eval one does that has a pool and no grade."""
    return np.array(
        [
            (len(each.chunks) > 0 or (like_trec_eval and len(each.pool) > 0))
            and (each.sides is None or each.is_judged_on_all(like_trec_eval))
            for each in golden
        ],
        dtype=np.bool_,
    )


SideChunks = npt.NDArray[np.int32]
ChunkGrades = tuple[SideChunks, npt.NDArray[np.int8]]


def are_in_all_chunkings(sides: ChunkingIndex, chunks: SideChunks) -> bool:
    """Say whether there is one of ``chunks`` on each side."""
    of = sides.of[chunks]
    return all((of == side).any() for side in range(len(sides.names)))


def known_per_chunking(
    sides: ChunkingIndex,
    graded: Iterable[ChunkGrades],
    lists: Sequence[Sequence[SideChunks]],
    side_of: Sequence[int] | None,
) -> Ints:
    """Count the chunks of each grade that a query has on the side of each of its lists, (rows, 4).

    ``side_of`` says of which side a query's lists are; where it is None, their first chunks do.
    """
    rows = []
    for (chunks, grades), of in zip(graded, lists, strict=True):
        side = sides.of[chunks]
        found = side_of or [int(sides.of[each[0]]) if len(each) else 0 for each in of]
        rows += [np.bincount(grades[side == which], minlength=4) for which in found]
    return np.array(rows, dtype=np.int64).reshape(-1, 4)

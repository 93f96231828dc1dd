"""Golden grades of one query: sorted arrays of chunk numbers and grades, cut out of a collection.

With several chunkings, a query counts only if it has a grade in each of them, and every run is
measured by the grades of its own chunking.
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

    ``pool`` has the chunks that a file put into the query's pool without a grade, graded by now or
    not. ``sides`` has the chunking of each chunk, None if all are of one. ``transferred`` is true
    for transferred grades, None if there are none.
    """

    chunks: ChunkNumbers
    grades: npt.NDArray[np.int8]
    stale: npt.NDArray[np.bool_]
    pool: ChunkNumbers = field(default_factory=lambda: NO_CHUNKS)
    sides: ChunkingIndex | None = None
    transferred: Bools | None = None

    def is_judged_on_all(self, like_trec_eval: bool) -> bool:
        """Say whether the query counts in each chunking."""
        if self.sides is None:
            return True
        counting = [self.chunks, self.pool] if like_trec_eval else [self.chunks]
        of = self.sides.of[np.concatenate(counting)]
        return all((of == side).any() for side in range(len(self.sides.names)))

    def as_dict(self) -> dict[int, int]:
        """Return the grade of each graded chunk."""
        return dict(zip(self.chunks.tolist(), self.grades.tolist(), strict=True))

    def of(self, chunks: ChunkNumbers) -> Ints:
        """Return the grade of each of ``chunks``, -1 for an unjudged one.

        >>> golden = QueryGrades(np.array([2, 7]), np.array([3, 0]), np.zeros(2, np.bool_))
        >>> golden.of(np.array([7, 5, 2])).tolist()
        [0, -1, 3]
        """
        place = np.searchsorted(self.chunks, chunks)
        known = np.append(self.chunks, -1)[place] == chunks
        return np.where(known, np.append(self.grades, -1)[place], -1)

    def changed(self, changes: Iterable[GradeChange]) -> QueryGrades:
        """Return the grades after changes, applied in order: the last one of a pair counts."""
        transferred = (
            np.zeros(len(self.chunks), np.bool_) if self.transferred is None else self.transferred
        )
        columns = [each.tolist() for each in (self.chunks, self.grades, self.stale, transferred)]
        for change in changes:
            at = bisect_left(columns[0], change.chunk)
            entry = slice(at, bisect_right(columns[0], change.chunk, at))
            new = (change.chunk, change.grade, change.stale, change.kind == "carry")
            for column, value in zip(columns, new, strict=True):
                column[entry] = [] if change.grade is None else [value]
        return QueryGrades(
            np.array(columns[0], dtype=np.int32),
            np.array(columns[1], dtype=np.int8),
            np.array(columns[2], dtype=np.bool_),
            self.pool,
            self.sides,
            np.array(columns[3]) if any(columns[3]) else None,
        )


def grades_by_query(collection: Collection) -> tuple[QueryGrades, ...]:
    """Return the golden grades of each query, with an empty entry for a query without grades."""
    sides = collection.sides if collection.has_several_chunkings else None
    transferred = collection.transferred
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
            None
            if transferred is None or not transferred[start:stop].any()
            else transferred[start:stop],
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
    """Say which queries count; for trec_eval, a query with a pool and no grade counts too."""
    return np.array(
        [
            (len(each.chunks) > 0 or (like_trec_eval and len(each.pool) > 0))
            and (each.sides is None or each.is_judged_on_all(like_trec_eval))
            for each in golden
        ],
        dtype=np.bool_,
    )


ChunkGrades = tuple[ChunkNumbers, npt.NDArray[np.int8]]


def known_per_chunking(
    sides: ChunkingIndex,
    graded: Iterable[ChunkGrades],
    lists: Sequence[Sequence[ChunkNumbers]],
    side_of: Sequence[int] | None,
) -> Ints:
    """Count the graded chunks in the chunking of each list of a query, by grade: (rows, 4).

    ``side_of`` gives the chunking of each of a query's lists; if None, their first chunks do.
    """
    rows = []
    for (chunks, grades), own_lists in zip(graded, lists, strict=True):
        side = sides.of[chunks]
        list_sides = side_of or [int(sides.of[each[0]]) if len(each) else 0 for each in own_lists]
        rows += [np.bincount(grades[side == own], minlength=4) for own in list_sides]
    return np.array(rows, dtype=np.int64).reshape(-1, 4)

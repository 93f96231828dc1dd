"""Where the judged chunks stand in ranked lists: the join of golden grades with runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from labeler.measures import Hits, Ints
from labeler.model import Collection, GradeChange, StoredList, StoredRun

Chunks = npt.NDArray[np.int32]

NO_CHUNKS: Chunks = np.array([], dtype=np.int32)
NOTHING: Ints = np.array([], dtype=np.int64)
GLANCE = np.int32(4095)


@dataclass(frozen=True, slots=True)
class Ranked:
    """A chunk where a run puts it: ``score`` and ``grade`` are None where there is none."""

    rank: int
    chunk: int
    chunk_id: str
    score: float | None
    grade: int | None


@dataclass(frozen=True, eq=False)
class QueryGrades:
    """The golden grades of one query, sorted by chunk, each chunk once."""

    chunks: Chunks
    grades: npt.NDArray[np.int8]
    stale: npt.NDArray[np.bool_]

    def as_dict(self) -> dict[int, int]:
        """Return the grade of each chunk that has one."""
        return dict(zip(self.chunks.tolist(), self.grades.tolist(), strict=True))

    def changed(self, changes: Iterable[GradeChange]) -> QueryGrades:
        """Apply changes in order: the last one of a pair counts."""
        pairs = zip(self.grades.tolist(), self.stale.tolist(), strict=True)
        golden = dict(zip(self.chunks.tolist(), pairs, strict=True))
        for change in changes:
            golden.pop(change.chunk, None)
            if change.grade is not None:
                golden[change.chunk] = (change.grade, change.stale)
        chunks = sorted(golden)
        return QueryGrades(
            np.array(chunks, dtype=np.int32),
            np.array([golden[chunk][0] for chunk in chunks], dtype=np.int8),
            np.array([golden[chunk][1] for chunk in chunks], dtype=np.bool_),
        )


def grades_by_query(collection: Collection) -> tuple[QueryGrades, ...]:
    """Cut the golden grades into one piece for each query, empty ones included."""
    queries = np.arange(len(collection.query_ids) + 1)
    bounds = np.searchsorted(collection.golden_query, queries).tolist()
    return tuple(
        QueryGrades(
            collection.golden_chunk[start:stop],
            collection.golden_grade[start:stop],
            collection.stale[start:stop],
        )
        for start, stop in pairwise(bounds)
    )


def align(goldens: Sequence[QueryGrades], lists: Sequence[Sequence[Chunks]]) -> Hits:
    """Find the judged chunks of queries in their ranked lists: a row of hits for each list.

    ``lists[i]`` are of the query whose grades are ``goldens[i]``.
    """
    retrieved = [np.concatenate([NO_CHUNKS, *of]) for of in lists]
    found = [_find(*pair) for pair in zip(goldens, retrieved, strict=True)]
    before = np.cumsum([0, *map(len, retrieved)])[:-1]
    at = np.concatenate([NOTHING, *(places for places, _ in found)])
    at += np.repeat(before, [len(places) for places, _ in found])
    lengths = np.array([len(chunks) for of in lists for chunks in of], dtype=np.int64)
    ends = np.cumsum(lengths)
    row = np.searchsorted(ends, at, side="right")
    known = [np.bincount(golden.grades, minlength=4) for golden in goldens]
    return Hits(
        row=row,
        rank=at - (ends - lengths)[row] + 1,
        grade=np.concatenate([NOTHING, *(grades for _, grades in found)]),
        known=np.repeat(np.array(known, dtype=np.int64).reshape(-1, 4), list(map(len, lists)), 0),
        length=lengths,
    )


def _find(golden: QueryGrades, retrieved: Chunks) -> tuple[Ints, npt.NDArray[np.int8]]:
    """Return where judged chunks stand in ``retrieved``, and their grades.

    A glance at the last bits of each number leaves few to be searched for: most of a list is not
    judged.
    """
    maybe = np.zeros(GLANCE + 1, dtype=np.bool_)
    maybe[golden.chunks & GLANCE] = True
    at = np.flatnonzero(maybe[retrieved & GLANCE])
    place = np.searchsorted(golden.chunks, retrieved[at])
    judged = np.append(golden.chunks, np.int32(-1))[place] == retrieved[at]
    return at[judged], golden.grades[place[judged]]


def rows_of(hits: Hits, start: int, stop: int) -> Hits:
    """Only the rows from ``start`` up to ``stop``, numbered from 0."""
    inside = slice(*np.searchsorted(hits.row, [start, stop]).tolist())
    return Hits(
        hits.row[inside] - start,
        hits.rank[inside],
        hits.grade[inside],
        hits.known[start:stop],
        hits.length[start:stop],
    )


def realigned(hits: Hits, moved: Mapping[int, Hits]) -> Hits:
    """Put the rows of some queries in place of those they had; all have the same number of rows."""
    parts, done = [], 0
    for query, part in sorted(moved.items()):
        rows = len(part.length)
        parts += [rows_of(hits, done, query * rows), part]
        done = (query + 1) * rows
    return Hits.join([*parts, rows_of(hits, done, len(hits.length))]) if parts else hits


def chunk_lists(collection: Collection, run: StoredRun, *, by_score: bool) -> Mapping[int, Chunks]:
    """Return a run's lists by query, as stored or, ``by_score``, in trec_eval's order."""
    if not by_score:
        return {query: ranking.chunks for query, ranking in run.lists.items()}
    ids = collection.chunk_ids
    return {query: in_trec_eval_order(ranking, ids) for query, ranking in run.lists.items()}


def ranked(
    chunks: Chunks, stored: StoredList | None, golden: QueryGrades, chunk_ids: Sequence[str]
) -> list[Ranked]:
    """Write out a list: ``chunks`` in the order that counts, of which ``stored`` has the scores."""
    scores: dict[int, float] = {}
    if stored is not None and stored.scores is not None:
        scores = dict(zip(stored.chunks.tolist(), stored.scores.tolist(), strict=True))
    grades = golden.as_dict()
    return [
        Ranked(rank, chunk, chunk_ids[chunk], scores.get(chunk), grades.get(chunk))
        for rank, chunk in enumerate(chunks.tolist(), 1)
    ]


def in_trec_eval_order(ranking: StoredList, chunk_ids: Sequence[str]) -> Chunks:
    """Sort by score as 32-bit floats, descending, and ties by chunk id, descending.

    trec_eval ignores the order of the file. It compares ids byte by byte, which is how Python
    compares text, since UTF-8 keeps the order of code points. A list without scores stays.
    """
    if ranking.scores is None:
        return ranking.chunks
    scores = ranking.scores.astype(np.float32, copy=False)
    if (scores[1:] < scores[:-1]).all():
        return ranking.chunks
    order = np.argsort(-scores, kind="stable")
    chunks = ranking.chunks[order]
    for tied in _tied_stretches(scores[order]):
        chunks[tied] = sorted(chunks[tied].tolist(), key=chunk_ids.__getitem__, reverse=True)
    return chunks


def _tied_stretches(scores: npt.NDArray[np.float32]) -> Iterator[slice]:
    edges = np.flatnonzero(scores[1:] != scores[:-1]) + 1
    bounds = [0, *edges.tolist(), len(scores)]
    for start, stop in pairwise(bounds):
        if stop - start > 1:
            yield slice(start, stop)


def tied_queries(run: StoredRun) -> int:
    """Count the queries in which two chunks of a run have the same score, as 32-bit floats."""
    return sum(
        ranking.scores is not None
        and len(np.unique(ranking.scores.astype(np.float32))) < len(ranking.scores)
        for ranking in run.lists.values()
    )

"""Alignment of golden grades with ranked lists: the ranks of the judged chunks in each run.

Ties are ordered here: as in the file, or as trec_eval does. A list without scores has no ties.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise

import numpy as np
import numpy.typing as npt

from labeler.evaluation.query_grades import NO_CHUNKS, ChunkNumbers, QueryGrades, known_per_chunking
from labeler.measures import Bools, Hits, Ints
from labeler.model import Collection, PackedLists, StoredList, StoredRun

Scores = npt.NDArray[np.floating]

NO_SCORES: Scores = np.array([], dtype=np.float32)
LOW_BITS, LOW_BITS_OF_ONE = np.int32(2**16 - 1), np.int32(2**12 - 1)
QUERIES_AT_ONCE = 32


@dataclass(frozen=True, slots=True)
class RankedChunk:
    """A chunk of a ranked list: ``score`` and ``grade`` are None where there is none."""

    rank: int
    chunk: int
    chunk_id: str
    score: float | None
    grade: int | None


def align(
    goldens: Sequence[QueryGrades],
    lists: Sequence[Sequence[ChunkNumbers]],
    side_of: Sequence[int] | None = None,
) -> Hits:
    """Find the judged chunks of queries in their ranked lists, one row of hits per list.

    ``lists[i]`` are the lists of the query with the grades ``goldens[i]``. Queries are aligned in
    blocks that fit the processor's cache. With several chunkings, the known grades of a row are
    those of its list's chunking. ``side_of`` gives the chunking of each list of a query; without
    it, it is that of the list's first chunk.
    """
    starts = range(0, len(goldens), QUERIES_AT_ONCE)
    blocks = (slice(start, start + QUERIES_AT_ONCE) for start in starts)
    return Hits.join([_join(goldens[block], lists[block], side_of) for block in blocks])


def _join(
    goldens: Sequence[QueryGrades],
    lists: Sequence[Sequence[ChunkNumbers]],
    side_of: Sequence[int] | None,
) -> Hits:
    """Align a block of at least one query; a single query takes fewer steps.

    Most chunks of a list are unjudged. A lookup by the last bits of their numbers rules out most
    of them before the slower binary search.
    """
    alone = goldens[0] if len(goldens) == 1 else None
    each = [*chain.from_iterable(lists)]
    retrieved = np.concatenate([NO_CHUNKS, *each])
    lengths = np.array([*map(len, each)], dtype=np.int64)
    query_of_row = np.arange(len(lists)).repeat([*map(len, lists)])
    pairs, grades = (alone.chunks, alone.grades) if alone else _graded_pairs(goldens)
    mask = LOW_BITS_OF_ONE if alone else LOW_BITS
    may_be_judged = np.zeros(mask + 1, dtype=np.bool_)
    may_be_judged[pairs & mask] = True
    at = may_be_judged.take(retrieved & mask).nonzero()[0]
    ends = lengths.cumsum()
    starts = ends - lengths
    row = ends.searchsorted(at, side="right")
    wanted = retrieved[at] if alone else pair_numbers(query_of_row[row], retrieved[at])
    place = pairs.searchsorted(wanted)
    judged = (pairs.take(place, mode="clip") == wanted).nonzero()[0]
    row, at, place = row[judged], at[judged], place[judged]
    pooled = None
    if any(len(golden.pool) for golden in goldens):
        is_ungraded = np.ones(len(retrieved), dtype=np.bool_)
        is_ungraded[at] = False
        listed = pair_numbers(query_of_row.repeat(lengths), retrieved)
        in_pool = np.flatnonzero(is_ungraded & np.isin(listed, _pooled_pairs(goldens)))
        pooled = np.searchsorted(in_pool, at) - np.searchsorted(in_pool, starts[row])
    if goldens[0].sides is not None:
        graded = ((golden.chunks, golden.grades) for golden in goldens)
        known = known_per_chunking(goldens[0].sides, graded, lists, side_of)
    elif alone:
        known = Hits.known_to_all(np.bincount(grades, minlength=4), len(lengths))
    else:
        kinds = (pairs >> 32) * 4 + grades
        known = np.bincount(kinds, minlength=4 * len(goldens)).reshape(-1, 4)[query_of_row]
    return Hits(
        row=row,
        rank=(at - starts[row] + 1).astype(np.int32),
        grade=grades[place],
        known=known,
        length=lengths,
        pooled=pooled,
    )


def _graded_pairs(goldens: Sequence[QueryGrades]) -> tuple[Ints, npt.NDArray[np.int8]]:
    """Return the graded pairs of queries, ascending, and their grades."""
    chunks = np.concatenate([golden.chunks for golden in goldens])
    query = np.arange(len(goldens)).repeat([len(golden.chunks) for golden in goldens])
    return pair_numbers(query, chunks), np.concatenate([golden.grades for golden in goldens])


def _pooled_pairs(goldens: Sequence[QueryGrades]) -> Ints:
    chunks = np.concatenate([golden.pool for golden in goldens])
    query = np.repeat(np.arange(len(goldens)), [len(golden.pool) for golden in goldens])
    return pair_numbers(query, chunks)


def pair_numbers(query: Ints, chunks: ChunkNumbers) -> Ints:
    """Return a number for each pair, which rises with the query, then with the chunk."""
    return query << 32 | chunks


def hits_of(
    collection: Collection, row: Ints, rank: Ints, grade: npt.NDArray[np.integer], length: Ints
) -> Hits:
    """Make hits from arrays sorted by row and rank; ``length`` has shape (queries, runs)."""
    queries, runs = length.shape
    kinds = collection.golden_query * 4 + collection.golden_grade
    known = np.bincount(kinds, minlength=4 * queries).reshape(-1, 4)
    return Hits(
        row=row,
        rank=rank.astype(np.int32),
        grade=grade.astype(np.int8),
        known=np.repeat(known, runs, axis=0),
        length=length.ravel(),
    )


def rows_of(hits: Hits, start: int, stop: int) -> Hits:
    """Return the rows from ``start`` up to ``stop``, numbered from 0."""
    inside = slice(*np.searchsorted(hits.row, [start, stop]).tolist())
    return Hits(
        hits.row[inside] - start,
        hits.rank[inside],
        hits.grade[inside],
        hits.known[start:stop],
        hits.length[start:stop],
        pooled=None if hits.pooled is None else hits.pooled[inside],
    )


def realigned(hits: Hits, changed: Mapping[int, Hits]) -> Hits:
    """Replace the rows of some queries; each query keeps its number of rows."""
    parts, done = [], 0
    for query, part in sorted(changed.items()):
        rows = len(part.length)
        parts += [rows_of(hits, done, query * rows), part]
        done = (query + 1) * rows
    return Hits.join([*parts, rows_of(hits, done, len(hits.length))]) if parts else hits


def write_out_list(
    chunks: ChunkNumbers, stored: StoredList | None, golden: QueryGrades, chunk_ids: Sequence[str]
) -> list[RankedChunk]:
    """Return a list as records: ``chunks`` in ranked order, with the scores of ``stored``."""
    scores: dict[int, float] = {}
    if stored is not None and stored.scores is not None:
        scores = dict(zip(stored.chunks.tolist(), stored.scores.tolist(), strict=True))
    grades = golden.as_dict()
    return [
        RankedChunk(rank, chunk, chunk_ids[chunk], scores.get(chunk), grades.get(chunk))
        for rank, chunk in enumerate(chunks.tolist(), 1)
    ]


def in_trec_eval_order(
    chunks: ChunkNumbers, scores: Scores, chunk_ids: Sequence[str]
) -> ChunkNumbers:
    """Sort by score, descending, and ties by chunk id, descending.

    trec_eval ignores the order of the file. It compares ids byte by byte, which is how Python
    compares text, since UTF-8 keeps the order of code points.
    """
    order = np.argsort(-scores, kind="stable")
    chunks = chunks[order]
    for tied in _tied_stretches(scores[order]):
        chunks[tied] = sorted(chunks[tied].tolist(), key=chunk_ids.__getitem__, reverse=True)
    return chunks


def _tied_stretches(scores: Scores) -> Iterator[slice]:
    edges = np.flatnonzero(scores[1:] != scores[:-1]) + 1
    bounds = [0, *edges.tolist(), len(scores)]
    for start, stop in pairwise(bounds):
        if stop - start > 1:
            yield slice(start, stop)


@dataclass(eq=False)
class OrderedLists:
    """The ranked lists of all runs, in stored order or in trec_eval's (``by_score``).

    Slow properties are computed on first access and kept.
    """

    collection: Collection
    by_score: bool

    @cached_property
    def _reordered(self) -> tuple[Mapping[int, ChunkNumbers], ...]:
        """For each run, by query, the lists whose order may differ from the stored one."""
        if not self.by_score:
            return ({},) * len(self.collection.runs)
        names = self.collection.chunk_ids
        return tuple(
            {
                query: in_trec_eval_order(run.lists[query].chunks, scores, names)
                for query, scores in unsorted_scores.items()
            }
            for run, unsorted_scores in zip(self.collection.runs, self.unsorted_scores, strict=True)
        )

    @cached_property
    def _stored(self) -> tuple[Callable[[int], ChunkNumbers | None], ...]:
        """For each run, the function that returns the stored list of a query."""
        return tuple(_chunk_getter(run.lists) for run in self.collection.runs)

    def ordered(self, run: int, query: int) -> ChunkNumbers:
        """Return a run's list of a query, best first; empty if it has none."""
        found = self._reordered[run].get(query)
        if found is None:
            found = self._stored[run](query)
        return NO_CHUNKS if found is None else found

    def count_if_none(self, run: int, chunks: ChunkNumbers) -> int:
        """Count ``chunks`` if none of them is in any list of a run; 0 if one is."""
        lists = (self.ordered(run, query) for query in range(len(self.collection.query_ids)))
        return 0 if any(np.isin(each, chunks).any() for each in lists) else len(chunks)

    @cached_property
    def unsorted_scores(self) -> tuple[Mapping[int, Scores], ...]:
        """For each run, the scores of lists in which they do not strictly fall.

        trec_eval orders by 32-bit scores; otherwise 64 bits decide, where they are known.
        """
        return tuple(_find_unsorted_scores(run, self.by_score) for run in self.collection.runs)

    @cached_property
    def tied(self) -> tuple[int, ...]:
        """For each run, the number of queries in which two chunks have the same score."""
        return tuple(sum(map(has_ties, of.values())) for of in self.unsorted_scores)

    @cached_property
    def scoreless(self) -> tuple[bool, ...]:
        """Whether each run has a list without scores."""
        return tuple(_is_scoreless(run.lists) for run in self.collection.runs)

    @cached_property
    def listed(self) -> Bools:
        """Whether each run has a list for each query, (queries, runs)."""
        listed = np.zeros((len(self.collection.query_ids), len(self.collection.runs)), np.bool_)
        for at, run in enumerate(self.collection.runs):
            listed[list(run.lists), at] = True
        return listed

    def hits(self, golden: Sequence[QueryGrades]) -> Hits:
        """Find the judged chunks of all queries, one row per query and run."""
        return self.align(range(len(golden)), golden)

    def align(self, queries: Iterable[int], golden: Sequence[QueryGrades]) -> Hits:
        """Find the judged chunks of some queries; ``golden`` has the grades of all."""
        chosen = list(queries)
        runs = range(len(self.collection.runs))
        lists = [[self.ordered(run, query) for run in runs] for query in chosen]
        return align([golden[query] for query in chosen], lists, self._side_of)

    @cached_property
    def _side_of(self) -> Sequence[int] | None:
        """The chunking of each run, None if all are of one."""
        sides = self.collection.sides
        if sides is None or not self.collection.has_several_chunkings:
            return None
        return [sides.names.index(run.chunking) for run in self.collection.runs]


def _chunk_getter(lists: Mapping[int, StoredList]) -> Callable[[int], ChunkNumbers | None]:
    """Return a function from a query to the chunks of its list, None if it has no list."""
    if isinstance(lists, PackedLists):
        return lists.chunks_of
    return {query: ranking.chunks for query, ranking in lists.items()}.get


def _is_scoreless(lists: Mapping[int, StoredList]) -> bool:
    if isinstance(lists, PackedLists):
        return lists.scores is None and len(lists) > 0
    return any(each.scores is None for each in lists.values())


def falls(scores: Scores) -> bool:
    """Say whether each of a list's scores is lower than the one before."""
    return bool((scores[1:] < scores[:-1]).all())


def has_ties(scores: Scores) -> bool:
    """Say whether two of a list's scores are the same."""
    return len(np.unique(scores)) < len(scores)


def _find_unsorted_scores(run: StoredRun, by_score: bool) -> dict[int, Scores]:
    """Return the scores of lists in which they do not strictly fall, by query."""
    queries, scores, bounds = _scores_of(run.lists)
    found: dict[int, Scores] = {
        queries[at]: scores[bounds[at] : bounds[at + 1]]
        for at in lists_with_neighbours(scores[1:] >= scores[:-1], bounds)
    }
    if not by_score:
        for query, exact in run.apart.items():
            if query in found and falls(exact):
                del found[query]
            elif query in found:
                found[query] = exact
    return found


def _scores_of(lists: Mapping[int, StoredList]) -> tuple[list[int], Scores, Ints]:
    """Return the queries whose lists have scores, all these scores, and the bounds of each list.

    The bounds have one entry more than the lists: the end of the last.
    """
    if isinstance(lists, PackedLists) and lists.scores is not None:
        return list(lists), lists.scores, lists.bounds
    scored = {query: each.scores for query, each in lists.items() if each.scores is not None}
    scores = np.concatenate([NO_SCORES, *scored.values()]).astype(np.float32, copy=False)
    return list(scored), scores, np.cumsum([0, *map(len, scored.values())])


def lists_with_neighbours(pairs: Bools, bounds: Ints) -> list[int]:
    """Return the numbers of the lists with neighbouring entries for which ``pairs`` is true.

    The lists follow each other, the first from ``bounds[0]`` up to ``bounds[1]``; ``pairs[i]`` is
    about the entries i and i + 1.

    >>> lists_with_neighbours(np.array([False, True, True]), np.array([0, 2, 4]))
    [1]
    """
    second = np.flatnonzero(pairs) + 1
    begins = np.zeros(bounds[-1] + 1, dtype=np.bool_)
    begins[bounds] = True
    inside = second[~begins[second]]
    lists: list[int] = np.unique(np.searchsorted(bounds, inside, side="right") - 1).tolist()
    return lists

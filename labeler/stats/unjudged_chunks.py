"""Unjudged chunks near the top of runs, and ranked lists to be scored with any grades of them.

A chunk that several runs retrieve for a query is one chunk and gets one grade.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from labeler.errors import NotFound
from labeler.evaluation import GoldenGrades, Scoreboard
from labeler.measures import Bools, Hits, Ints, SmallInts

DEPTH = 20
"""How deep unjudged chunks are looked for where a measure has no cut-off."""

TOP = 3  # chunks down to this rank that one run alone found are of a kind of their own
UNGRADED = -1
ALL_PLACES = slice(None)


@dataclass(frozen=True, eq=False)
class TopChunks:
    """The chunks in the top ``depth`` of any run of a scoreboard, by query, then by chunk.

    ``query`` and ``chunk`` (n,) are numbers as in the board's collection. ``ranks`` (n, runs) has a
    column for each run of the board: its rank of the chunk, which may be below ``depth``, or 0.
    """

    depth: int
    query: Ints
    chunk: Ints
    ranks: Ints
    queries: int

    @cached_property
    def bounds(self) -> Ints:
        """The index of the first chunk of each query, and the end, (queries + 1,)."""
        return np.searchsorted(self.query, np.arange(self.queries + 1))

    @cached_property
    def is_near_top(self) -> Bools:
        """Tell which chunks are in the top 20 of any run, where people grade, (n,)."""
        near: Bools = np.any((self.ranks > 0) & (self.ranks <= DEPTH), axis=1)
        return near

    @cached_property
    def alone(self) -> Ints:
        """The kind of each chunk that one of several runs alone has in its top 20, else -1, (n,).

        It is twice the run's column, plus one where the chunk is below rank 3.
        """
        inside = (self.ranks > 0) & (self.ranks <= DEPTH)
        if inside.shape[1] < 2:
            return np.full(len(inside), -1)
        kind = 2 * inside.argmax(axis=1) + (self.ranks.max(axis=1, where=inside, initial=0) > TOP)
        return np.where(inside.sum(axis=1) == 1, kind, -1)

    @cached_property
    def pairs(self) -> Ints:
        """One number for each pair of query and chunk, rising."""
        return self.query << 32 | self.chunk

    def of(self, query: int) -> slice:
        """Return the slice of a query's chunks."""
        return slice(int(self.bounds[query]), int(self.bounds[query + 1]))

    def places(self, queries: Ints | Iterable[int], chunks: Ints | Iterable[int]) -> Ints:
        """Return the indices of pairs of query and chunk; raise `NotFound` if one is missing."""
        sought = np.asarray(queries, dtype=np.int64) << 32 | np.asarray(chunks, dtype=np.int64)
        places: Ints = np.searchsorted(self.pairs, sought)
        if not np.array_equal(np.append(self.pairs, -1)[places], sought):
            raise NotFound(f"a pair is in the top {self.depth} of no run")
        return places

    def within(
        self, columns: Iterable[int] | None, cutoffs: Ints, places: Ints | slice = ALL_PLACES
    ) -> Bools:
        """Tell which chunks at ``places`` are within their query's cut-off in any of the runs.

        ``columns`` are those of the runs; None for all.
        """
        ranks = self.ranks[places]
        ranks = ranks if columns is None else ranks[:, list(columns)]
        inside = (ranks > 0) & (ranks <= cutoffs[self.query[places], np.newaxis])
        found: Bools = np.any(inside, axis=1)
        return found


def find_top_chunks(board: Scoreboard, depth: int = DEPTH) -> TopChunks:
    """Find the chunks in the top ``depth`` of any run; they do not depend on grades.

    >>> from labeler.evaluation import Conventions, collect
    >>> runs = {"A": {"q": ["c", "x"]}, "B": {"q": ["x", "c"]}}
    >>> board = Scoreboard(collect({"q": {}}, runs), Conventions.of())
    >>> find_top_chunks(board, 1).ranks.tolist()
    [[1, 2], [2, 1]]
    """
    found = [_listed_pairs(board, run) for run in board.run_names]
    top = [pairs[rank <= depth] for pairs, rank in found]
    every = np.sort(np.concatenate([np.zeros(0, dtype=np.int64), *top]))
    pairs = every[np.diff(every, prepend=-1) > 0]
    ranks = np.zeros((len(pairs), len(found)), dtype=np.int64)
    for column, (listed, rank) in enumerate(found):
        place = np.searchsorted(pairs, listed)
        known = np.append(pairs, -1)[place] == listed
        ranks[place[known], column] = rank[known]
    return TopChunks(
        depth, pairs >> 32, pairs & (1 << 32) - 1, ranks, len(board.collection.query_ids)
    )


def _listed_pairs(board: Scoreboard, run: str) -> tuple[Ints, Ints]:
    """Return the pairs in a run's lists, numbered as in `TopChunks.pairs`, and their ranks."""
    lists = [board.chunks(run, query_id) for query_id in board.collection.query_ids]
    lengths = np.array(list(map(len, lists)), dtype=np.int64)
    chunks = np.concatenate([np.zeros(0, dtype=np.int32), *lists]).astype(np.int64)
    ends = np.cumsum(lengths)
    rank: Ints = np.arange(1, len(chunks) + 1) - np.repeat(ends - lengths, lengths)
    return np.repeat(np.arange(len(lists)), lengths) << 32 | chunks, rank


def golden_grades_of(board: Scoreboard, tops: TopChunks) -> Ints:
    """Return the golden grade of each top chunk, -1 where there is none, (n,)."""
    return GoldenGrades.of(board).grades_of(tops.pairs)


JUDGED = -1


@dataclass(frozen=True, eq=False)
class PartlyJudgedLists:
    """The judged and the unjudged chunks in the lists of ``runs`` runs, for some queries.

    A row is a run's list for a query; rows of a query are contiguous. ``row``, ``rank``, ``grade``
    and ``unjudged_number`` have an entry for each judged or unjudged chunk in a list, by row, then
    by rank. ``unjudged_number`` is the number of an unjudged chunk, the same in all lists, and
    ``JUDGED`` for others. ``unjudged`` are the unjudged chunks' indices in `TopChunks`, and
    ``query`` (unjudged chunks,) the index of their query in ``queries``; both rise. ``known``
    (queries, 4) counts the chunks of each grade of a query, ``length`` (rows,) all chunks of a
    list.
    """

    queries: Ints
    runs: int
    row: Ints
    rank: Ints
    grade: SmallInts
    unjudged_number: Ints
    unjudged: Ints
    query: Ints
    known: Ints
    length: Ints

    @cached_property
    def count(self) -> Ints:
        """The number of unjudged chunks of each query, (queries,)."""
        return np.bincount(self.query, minlength=len(self.queries))

    @cached_property
    def is_unjudged(self) -> Bools:
        found: Bools = self.unjudged_number != JUDGED
        return found

    @cached_property
    def open(self) -> Ints:
        """The indices of the unjudged entries."""
        return np.flatnonzero(self.is_unjudged)

    @cached_property
    def judged(self) -> Bools:
        """Tell which queries have any grade, (queries,)."""
        found: Bools = self.known.sum(axis=1) > 0
        return found

    def only(self, kept: Bools, above: Ints | None = None) -> PartlyJudgedLists:
        """Return the lists without the unjudged chunks that are not ``kept``, (unjudged chunks,).

        Where ``above`` (queries,) is given, entries below that rank are left out: they only count
        in ``known``.
        """
        number = np.where(kept, np.cumsum(kept) - 1, JUDGED - 1)
        unjudged_number = np.where(
            self.is_unjudged, np.append(number, 0)[self.unjudged_number], JUDGED
        )
        stays = unjudged_number >= JUDGED
        if above is not None:
            stays &= self.rank <= np.repeat(above, self.runs)[self.row]
        there = np.flatnonzero(stays)
        entries = (self.row[there], self.rank[there], self.grade[there], unjudged_number[there])
        unjudged = (self.unjudged[kept], self.query[kept])
        return PartlyJudgedLists(
            self.queries, self.runs, *entries, *unjudged, self.known, self.length
        )

    def among(self, chosen: Ints) -> PartlyJudgedLists:
        """Return the lists of the ``chosen`` queries, rising indices of ``queries``."""
        place = np.full(len(self.queries), -1)
        place[chosen] = np.arange(len(chosen))
        kept = place[self.query] >= 0
        number = np.cumsum(kept) - 1
        of = self.row // self.runs
        there = np.flatnonzero(place[of] >= 0)
        unjudged_number = np.where(
            self.is_unjudged, np.append(number, 0)[self.unjudged_number], JUDGED
        )[there]
        row = place[of[there]] * self.runs + self.row[there] % self.runs
        rows = (chosen[:, np.newaxis] * self.runs + np.arange(self.runs)).ravel()
        entries = (row, self.rank[there], self.grade[there], unjudged_number)
        unjudged = (self.unjudged[kept], place[self.query[kept]])
        known = (self.known[chosen], self.length[rows])
        return PartlyJudgedLists(self.queries[chosen], self.runs, *entries, *unjudged, *known)

    def with_grades(self, grades: SmallInts) -> Hits:
        """Return the hits if the unjudged chunks have these ``grades``, (unjudged chunks,)."""
        grade = np.where(self.is_unjudged, np.append(grades, 0)[self.unjudged_number], self.grade)
        return Hits(self.row, self.rank, grade, self._known(grades), self.length)

    def with_drawn_grades(self, grades: SmallInts) -> Hits:
        """Return the hits for several draws of ``grades``, (draws, unjudged chunks), one after the
        other.
        """
        times, rows = len(grades), len(self.length)
        grade = np.tile(self.grade, (times, 1))
        grade[:, self.open] = np.take(grades, self.unjudged_number[self.open], axis=1)
        grade = grade.ravel()
        row = (np.arange(times)[:, np.newaxis] * rows + self.row).ravel()
        known = np.concatenate([self._known(each) for each in grades])
        return Hits(row, np.tile(self.rank, times), grade, known, np.tile(self.length, times))

    def with_entry_grades(self, grades: SmallInts, known: Ints) -> Hits:
        """Return the hits for ``grades`` by entry and ``known`` counts by row."""
        grade = np.where(self.is_unjudged, grades, self.grade)
        return Hits(self.row, self.rank, grade, known, self.length)

    def _known(self, grades: SmallInts) -> Ints:
        more = np.bincount(self.query * 4 + grades, minlength=4 * len(self.queries))
        return np.repeat(self.known + more.reshape(-1, 4), self.runs, axis=0)


def find_partly_judged_lists(
    board: Scoreboard, tops: TopChunks, columns: Sequence[int], grades: Ints, queries: Ints
) -> PartlyJudgedLists:
    """Find the judged and the unjudged chunks in the lists of some runs.

    ``columns`` are the runs' columns of the board, ``grades`` (n,) those of ``tops``; ``queries``
    rise. The unjudged chunks are all of ``tops``: those of the other runs count in what a query
    has that is relevant.
    """
    runs = len(columns)
    place = np.full(tops.queries, -1)
    place[queries] = np.arange(len(queries))
    unjudged = np.flatnonzero((grades == UNGRADED) & (place[tops.query] >= 0))
    ranks = tops.ranks[unjudged][:, list(columns)]
    number, column = np.nonzero(ranks)
    rows = [place[tops.query[unjudged[number]]] * runs + column]
    parts: list[list[Ints]] = [[ranks[number, column]], [np.full(len(number), -1)], [number]]
    lengths = np.zeros((len(queries), runs), dtype=np.int64)
    names = [board.run_names[at] for at in columns]
    ids = board.collection.query_ids
    for at, name in enumerate(names):
        for hits, start in _hits_of_queries(board, name, queries, ids):
            rows.append((hits.row + start) * runs + at)
            parts[0].append(hits.rank.astype(np.int64))
            parts[1].append(hits.grade.astype(np.int64))
            parts[2].append(np.full(len(hits.row), JUDGED))
            lengths[start : start + len(hits.length), at] = hits.length
    row, rank, grade, unjudged_number = (np.concatenate(each) for each in (rows, *parts))
    order = np.argsort(row << 32 | rank)
    known = np.array([board.counts_of(ids[query]) for query in queries.tolist()], dtype=np.int64)
    return PartlyJudgedLists(
        queries,
        runs,
        row[order],
        rank[order],
        grade[order].astype(np.int8),
        unjudged_number[order],
        unjudged,
        place[tops.query[unjudged]],
        known.reshape(-1, 4),
        lengths.ravel(),
    )


def _hits_of_queries(
    board: Scoreboard, run: str, queries: Ints, ids: Sequence[str]
) -> list[tuple[Hits, int]]:
    """Return a run's hits for the queries, each part with the index of its first query."""
    if len(queries) == len(ids):
        return [(board.hits(run), 0)]
    return [(board.hits(run, ids[query]), at) for at, query in enumerate(queries.tolist())]

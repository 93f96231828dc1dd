"""The lists of some runs with their holes, so that measures can be asked what a filling would give.

Knows ranks, grades and holes; no name of a run or a query, and no measure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from labeler.evaluation import Scoreboard
from labeler.measures import Bools, Hits, Ints, SmallInts
from labeler.stats.tops import UNGRADED, Tops

KNOWN = -1


@dataclass(frozen=True, eq=False)
class Ground:
    """The graded chunks and the holes in the lists of ``runs`` runs, for each of some queries.

    A row is a run's list for a query: all rows of a query follow each other. ``row``, ``rank``,
    ``grade`` and ``hole`` have an entry for each graded chunk and each hole that a list holds, by
    row, then by rank; ``hole`` is its number, and ``KNOWN`` for a graded chunk. A hole is the same
    in all lists that hold it. ``holes`` are their places in the board's tops, and ``query``
    (holes,) the place of each one's query among ``queries``; both rise. ``known`` (queries, 4) are
    how many chunks of each grade queries have, ``length`` (rows,) how many chunks lists hold.
    """

    queries: Ints
    runs: int
    row: Ints
    rank: Ints
    grade: SmallInts
    hole: Ints
    holes: Ints
    query: Ints
    known: Ints
    length: Ints

    @cached_property
    def count(self) -> Ints:
        """How many holes each query has, (queries,)."""
        return np.bincount(self.query, minlength=len(self.queries))

    @cached_property
    def is_hole(self) -> Bools:
        """Say which entries are holes."""
        found: Bools = self.hole != KNOWN
        return found

    @cached_property
    def open(self) -> Ints:
        """The places of the entries that are holes."""
        return np.flatnonzero(self.is_hole)

    @cached_property
    def judged(self) -> Bools:
        """Say which queries have a grade at all, (queries,)."""
        found: Bools = self.known.sum(axis=1) > 0
        return found

    def only(self, kept: Bools, above: Ints | None = None) -> Ground:
        """Return the same lists with some of the holes, (holes,), the others being no chunks.

        Entries below the rank ``above`` (queries,) are left out where it is given: they count among
        what is known of their query alone.
        """
        number = np.where(kept, np.cumsum(kept) - 1, KNOWN - 1)
        hole = np.where(self.is_hole, np.append(number, 0)[self.hole], KNOWN)
        stays = hole >= KNOWN
        if above is not None:
            stays &= self.rank <= np.repeat(above, self.runs)[self.row]
        there = np.flatnonzero(stays)
        entries = (self.row[there], self.rank[there], self.grade[there], hole[there])
        holes = (self.holes[kept], self.query[kept])
        return Ground(self.queries, self.runs, *entries, *holes, self.known, self.length)

    def among(self, chosen: Ints) -> Ground:
        """Return the lists of some queries, given by their rising places."""
        place = np.full(len(self.queries), -1)
        place[chosen] = np.arange(len(chosen))
        kept = place[self.query] >= 0
        number = np.cumsum(kept) - 1
        of = self.row // self.runs
        there = np.flatnonzero(place[of] >= 0)
        hole = np.where(self.is_hole, np.append(number, 0)[self.hole], KNOWN)[there]
        row = place[of[there]] * self.runs + self.row[there] % self.runs
        rows = (chosen[:, np.newaxis] * self.runs + np.arange(self.runs)).ravel()
        entries = (row, self.rank[there], self.grade[there], hole)
        holes = (self.holes[kept], place[self.query[kept]])
        known = (self.known[chosen], self.length[rows])
        return Ground(self.queries[chosen], self.runs, *entries, *holes, *known)

    def filled(self, grades: SmallInts) -> Hits:
        """Return the hits once each hole has its grade, (holes,)."""
        grade = np.where(self.is_hole, np.append(grades, 0)[self.hole], self.grade)
        return Hits(self.row, self.rank, grade, self._known(grades), self.length)

    def filled_often(self, grades: SmallInts) -> Hits:
        """Return the hits of several fillings, (fillings, holes), one after the other."""
        times, rows = len(grades), len(self.length)
        grade = np.tile(self.grade, (times, 1))
        grade[:, self.open] = np.take(grades, self.hole[self.open], axis=1)
        grade = grade.ravel()
        row = (np.arange(times)[:, np.newaxis] * rows + self.row).ravel()
        known = np.concatenate([self._known(each) for each in grades])
        return Hits(row, np.tile(self.rank, times), grade, known, np.tile(self.length, times))

    def filled_apart(self, grades: SmallInts, known: Ints) -> Hits:
        """Return the hits where each entry has its own grade, and each row counts ``known``."""
        grade = np.where(self.is_hole, grades, self.grade)
        return Hits(self.row, self.rank, grade, known, self.length)

    def _known(self, grades: SmallInts) -> Ints:
        more = np.bincount(self.query * 4 + grades, minlength=4 * len(self.queries))
        return np.repeat(self.known + more.reshape(-1, 4), self.runs, axis=0)


def find_ground(
    board: Scoreboard, tops: Tops, columns: Sequence[int], grades: Ints, queries: Ints
) -> Ground:
    """Find the holes that some runs have in the depth of ``tops``, and all that is graded.

    ``columns`` are the runs' places on the board, ``grades`` (n,) those of ``tops``; ``queries``
    rise.
    """
    runs = len(columns)
    place = np.full(tops.queries, -1)
    place[queries] = np.arange(len(queries))
    depths = np.full(tops.queries, tops.depth)
    maybe = np.flatnonzero((grades == UNGRADED) & (place[tops.query] >= 0))
    holes = maybe[tops.within(columns, depths, maybe)]
    ranks = tops.ranks[holes][:, list(columns)]
    number, column = np.nonzero(ranks)
    rows = [place[tops.query[holes[number]]] * runs + column]
    parts: list[list[Ints]] = [[ranks[number, column]], [np.full(len(number), -1)], [number]]
    lengths = np.zeros((len(queries), runs), dtype=np.int64)
    names = [board.run_names[at] for at in columns]
    ids = board.collection.query_ids
    for at, name in enumerate(names):
        for hits, start in _hits(board, name, queries, ids):
            rows.append((hits.row + start) * runs + at)
            parts[0].append(hits.rank.astype(np.int64))
            parts[1].append(hits.grade.astype(np.int64))
            parts[2].append(np.full(len(hits.row), KNOWN))
            lengths[start : start + len(hits.length), at] = hits.length
    row, rank, grade, hole = (np.concatenate(each) for each in (rows, *parts))
    order = np.argsort(row << 32 | rank)
    known = np.array([board.counts_of(ids[query]) for query in queries.tolist()], dtype=np.int64)
    return Ground(
        queries,
        runs,
        row[order],
        rank[order],
        grade[order].astype(np.int8),
        hole[order],
        holes,
        place[tops.query[holes]],
        known.reshape(-1, 4),
        lengths.ravel(),
    )


def _hits(board: Scoreboard, run: str, queries: Ints, ids: Sequence[str]) -> list[tuple[Hits, int]]:
    """Return a run's hits for the queries, and the place of the first query they are of."""
    if len(queries) == len(ids):
        return [(board.hits(run), 0)]
    return [(board.hits(run, ids[query]), at) for at, query in enumerate(queries.tolist())]

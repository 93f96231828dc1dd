"""The chunks near the top of runs, each once for its query: where grades are known and holes are.

Knows ranks and grades; not what a hole could be worth.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from labeler.errors import NotFound
from labeler.evaluation import Golden, Scoreboard
from labeler.measures import Bools, Ints

DEPTH = 20
"""How deep holes are looked for where a measure has no cut-off of its own."""

UNGRADED = -1
EVERYWHERE = slice(None)


@dataclass(frozen=True, eq=False)
class Tops:
    """Every chunk that some run of a board has in its top ``depth``, by query, then by chunk.

    ``query`` and ``chunk`` (n,) are numbers as the board's collection has them. ``ranks`` (n, runs)
    has a column for each run of the board, and 0 where a run does not hold the chunk at all: ranks
    below ``depth`` are there, too.
    """

    depth: int
    query: Ints
    chunk: Ints
    ranks: Ints
    queries: int

    @cached_property
    def bounds(self) -> Ints:
        """Where the chunks of each query begin, (queries + 1,)."""
        return np.searchsorted(self.query, np.arange(self.queries + 1))

    @cached_property
    def pairs(self) -> Ints:
        """A number for each pair of query and chunk, rising."""
        return self.query << 32 | self.chunk

    def of(self, query: int) -> slice:
        """Return the places of a query's chunks."""
        return slice(int(self.bounds[query]), int(self.bounds[query + 1]))

    def places(self, queries: Ints | Iterable[int], chunks: Ints | Iterable[int]) -> Ints:
        """Return where pairs of query and chunk stand; may raise `NotFound`."""
        sought = np.asarray(queries, dtype=np.int64) << 32 | np.asarray(chunks, dtype=np.int64)
        places: Ints = np.searchsorted(self.pairs, sought)
        if not np.array_equal(np.append(self.pairs, -1)[places], sought):
            raise NotFound(f"a pair is in the top {self.depth} of no run")
        return places

    def within(
        self, columns: Iterable[int], cutoffs: Ints, places: Ints | slice = EVERYWHERE
    ) -> Bools:
        """Say which chunks, those at ``places``, some runs have above their query's cut-off."""
        ranks = self.ranks[places][:, list(columns)]
        inside = (ranks > 0) & (ranks <= cutoffs[self.query[places], np.newaxis])
        found: Bools = np.any(inside, axis=1)
        return found


def find_tops(board: Scoreboard, depth: int = DEPTH) -> Tops:
    """Find the chunks in the top ``depth`` of any run; no grade changes them.

    >>> from labeler.evaluation import Conventions, collect
    >>> runs = {"A": {"q": ["c", "x"]}, "B": {"q": ["x", "c"]}}
    >>> board = Scoreboard(collect({"q": {}}, runs), Conventions.of())
    >>> find_tops(board, 1).ranks.tolist()
    [[1, 2], [2, 1]]
    """
    found = [_listed(board, run) for run in board.run_names]
    top = [pairs[rank <= depth] for pairs, rank in found]
    every = np.sort(np.concatenate([np.zeros(0, dtype=np.int64), *top]))
    pairs = every[np.diff(every, prepend=-1) > 0]
    ranks = np.zeros((len(pairs), len(found)), dtype=np.int64)
    for column, (listed, rank) in enumerate(found):
        place = np.searchsorted(pairs, listed)
        known = np.append(pairs, -1)[place] == listed
        ranks[place[known], column] = rank[known]
    return Tops(depth, pairs >> 32, pairs & (1 << 32) - 1, ranks, len(board.collection.query_ids))


def _listed(board: Scoreboard, run: str) -> tuple[Ints, Ints]:
    """Return the pairs of a run's lists, and their ranks."""
    lists = [board.chunks(run, query_id) for query_id in board.collection.query_ids]
    lengths = np.array(list(map(len, lists)), dtype=np.int64)
    chunks = np.concatenate([np.zeros(0, dtype=np.int32), *lists]).astype(np.int64)
    ends = np.cumsum(lengths)
    rank: Ints = np.arange(1, len(chunks) + 1) - np.repeat(ends - lengths, lengths)
    return np.repeat(np.arange(len(lists)), lengths) << 32 | chunks, rank


def grades_of(board: Scoreboard, tops: Tops) -> Ints:
    """Return the golden grade of each chunk near the top, -1 where there is none, (n,)."""
    return Golden.of(board).grades_of(tops.pairs)

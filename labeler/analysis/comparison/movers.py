"""Which chunks and documents moved most, over all queries: what each adds to the mean delta."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

import numpy as np

from labeler.analysis.comparison.deltas import TOLERANCE, check_pair
from labeler.evaluation import Scoreboard
from labeler.measures import Floats, Ints, Measure, terms


@dataclass(frozen=True, slots=True)
class Moved:
    """A chunk in one query, whose value it ``moves``; it ``adds`` as much, by n, to the mean delta.

    A rank that is None is not there.
    """

    query_id: str
    chunk: int
    rank_a: int | None
    rank_b: int | None
    moves: float
    adds: float


@dataclass(frozen=True, slots=True)
class Mover:
    """A chunk, or a document with all its chunks: what it ``adds`` to the mean delta in all.

    ``places`` are the queries in which it does, the largest part first.
    """

    name: str
    adds: float
    places: tuple[Moved, ...]

    @property
    def queries(self) -> int:
        """In how many queries it adds something."""
        return len({place.query_id for place in self.places})


def moved(
    board: Scoreboard, a: str, b: str, measure: Measure, queries: Collection[str] | None = None
) -> list[Moved]:
    """Return every chunk of every query that adds to the delta of ``measure``, in no order.

    What they add sums to the mean delta, over all queries or those of ``queries``, within rounding.
    See `moves` for what a part is where it depends on other chunks. Raises `NotFound` and
    `BadInput` as `compare` does.

    >>> from labeler.evaluation import Conventions, collect
    >>> runs = {"A": {"q": ["x", "c"], "r": ["c"]}, "B": {"q": ["c", "x"], "r": ["c"]}}
    >>> board = Scoreboard(collect({"q": {"c": 2}, "r": {"c": 1}}, runs), Conventions.of())
    >>> [each] = moved(board, "A", "B", *board.conventions.measures("RR"))
    >>> each.query_id, each.rank_a, each.rank_b, each.adds
    ('q', 2, 1, 0.25)
    >>> each.moves
    0.5
    """
    board = board.snapshot()
    check_pair(board, a, b)
    ids = board.collection.query_ids
    places = [board.column_of(run) for run in (a, b)]
    known = ~np.any(np.isnan(board.values(measure)[:, places]), axis=1)
    if queries is not None:
        known &= np.isin(np.arange(len(ids)), [board.number_of(query) for query in queries])
    width = len(board.collection.chunk_ids) + 1
    sides = [_terms(board, run, measure, width) for run in (a, b)]
    keys = np.unique(np.concatenate([key for key, _, _ in sides]))
    rank = np.zeros((2, len(keys)), dtype=np.int64)
    term = np.zeros((2, len(keys)))
    for side, (key, ranks, values) in enumerate(sides):
        at = np.searchsorted(keys, key)
        rank[side, at], term[side, at] = ranks, values
    moves = term[1] - term[0]
    adds = moves / max(int(known.sum()), 1)
    counts = known[keys // width] & (np.abs(adds) > TOLERANCE)
    columns = (keys // width, keys % width, *rank, moves, adds)
    return [
        Moved(ids[query], chunk, rank_a or None, rank_b or None, *by)
        for query, chunk, rank_a, rank_b, *by in zip(
            *(column[counts].tolist() for column in columns), strict=True
        )
    ]


def _terms(board: Scoreboard, run: str, measure: Measure, width: int) -> tuple[Ints, Ints, Floats]:
    """Return a run's judged chunks: query and chunk as one number, their ranks, their terms."""
    hits = board.read_by(measure, run)
    lists = [board.chunks(run, query_id) for query_id in board.collection.query_ids]
    start = np.cumsum([0, *map(len, lists)])[:-1]
    chunks = np.concatenate([*lists, np.zeros(0, dtype=np.int64)]).astype(np.int64)
    chunk = chunks[start[hits.row] + hits.rank - 1]
    return hits.row * width + chunk, hits.rank, terms(hits, measure, board.cutoffs(measure))


def movers_by(found: Iterable[Moved], name_of: Callable[[int], str | None]) -> list[Mover]:
    """Add up what moved by the name of each chunk, the largest sum first; no name is left out."""
    groups: dict[str, list[Moved]] = {}
    for each in found:
        name = name_of(each.chunk)
        if name is not None:
            groups.setdefault(name, []).append(each)
    movers = [
        Mover(name, sum(p.adds for p in places), tuple(sorted(places, key=lambda p: -abs(p.adds))))
        for name, places in groups.items()
    ]
    return sorted(movers, key=lambda mover: -abs(mover.adds))

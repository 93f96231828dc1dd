"""What-if values of one query: with a chunk at another rank or of another grade."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from labeler.errors import BadInput, NotFound
from labeler.evaluation import GoldenGrades, Scoreboard, regraded
from labeler.measures import Floats, Measure

TRIED_RANKS = (1, 2, 3, 5, 10)
"""The ranks that are offered, beside the one that a chunk has."""


@dataclass(frozen=True, slots=True)
class WhatIfValue:
    """A measure's present and hypothetical value for one query; NaN where undefined."""

    measure: Measure
    present: float
    value: float

    @property
    def delta(self) -> float:
        return self.value - self.present


@dataclass(frozen=True, slots=True)
class Trial:
    """What a query's values would be with a chunk at a rank or with a grade, ``at``.

    ``is_now`` where that is what it has. ``mean`` is what the first measure's mean over ``n``
    queries would be, and ``mean_now`` what it is.
    """

    at: int
    is_now: bool
    values: tuple[WhatIfValue, ...]
    mean: float
    mean_now: float
    n: int


def what_if_values(
    board: Scoreboard,
    run: str,
    query_id: str,
    chunk_id: str,
    rank: int,
    measures: Iterable[Measure],
) -> tuple[WhatIfValue, ...]:
    """Return what a query's values would be with a chunk at ``rank``; nothing is stored.

    A chunk of the list moves there and those between shift by one. A chunk that the run did not
    return is inserted, and the list grows by one. Raises `BadInput` for a rank the list cannot
    have, `NotFound` for an unknown run, query or chunk.
    """
    board = board.snapshot()
    chunk, chunks = _chunk_number(board, chunk_id), board.chunks(run, query_id)
    others = chunks[chunks != chunk]
    if not 1 <= rank <= len(others) + 1:
        raise BadInput(
            f"{chunk_id} cannot stand at rank {rank} of {run} for {query_id}: "
            f"that list would end at rank {len(others) + 1}"
        )
    changed = board.aligned([query_id], [np.insert(others, rank - 1, chunk)])
    now = board.hits(run, query_id)
    return tuple(
        WhatIfValue(
            measure,
            float(board.measured(measure, now, [query_id])[0]),
            float(board.measured(measure, changed, [query_id])[0]),
        )
        for measure in board.resolve(measures)
    )


def _chunk_number(board: Scoreboard, chunk_id: str) -> int:
    if chunk_id and chunk_id in board.collection.chunk_ids:
        return board.collection.chunk_ids.index(chunk_id)
    raise NotFound(f"no chunk is called {chunk_id!r}, in no run and in no golden grade")


def try_ranks(
    board: Scoreboard,
    run: str,
    query_id: str,
    chunk_id: str,
    measures: Sequence[Measure],
    also: int | None = None,
) -> list[Trial]:
    """Return the values with a chunk at each of `TRIED_RANKS`, its present rank and ``also``.

    Without those that the list is too short for, and without measures of documents and evidence,
    which a rank does not say enough for; none where the first measure has no value. Raises
    `NotFound` as `what_if_values` does.
    """
    chunk, chunks = _chunk_number(board, chunk_id), board.chunks(run, query_id)
    found = np.flatnonzero(chunks == chunk)
    now = int(found[0]) + 1 if len(found) else None
    last = len(chunks) + (now is None)
    plain = [measure for measure in measures if not measure.crosses]
    wanted = sorted({*TRIED_RANKS, *filter(None, (now, also))})
    trials = (
        (rank, what_if_values(board, run, query_id, chunk_id, rank, plain))
        for rank in wanted
        if plain and 1 <= rank <= last
    )
    trials = (each for each in trials if not math.isnan(each[1][0].value))
    return [
        Trial(rank, rank == now, values, *_means(board, run, query_id, values[0]))
        for rank, values in trials
    ]


def try_grades(
    board: Scoreboard,
    run: str,
    query_id: str,
    chunk: int,
    measures: Sequence[Measure],
    grades: Iterable[int],
) -> list[Trial]:
    """Return the values with each of ``grades`` for a chunk, which also changes the ideal list."""
    plain = [measure for measure in measures if not measure.crosses]
    at, column, golden = board.number_of(query_id), board.column_of(run), GoldenGrades.of(board)
    pair, now = np.array([at << 32 | chunk]), board.golden(query_id).get(chunk)
    found = []
    for grade in grades if plain else ():
        changed = regraded(board, [run], golden.changed(pair, np.array([grade])))
        values = tuple(
            WhatIfValue(
                measure,
                float(board.values(measure)[at, column]),
                float(changed.values(measure)[at, 0]),
            )
            for measure in plain
        )
        means = _means(board, run, query_id, values[0])
        found.append(Trial(grade, grade == now, values, *means))
    return found


def _means(
    board: Scoreboard, run: str, query_id: str, value: WhatIfValue
) -> tuple[float, float, int]:
    """Return the mean with the value, the mean as it is, and of how many queries it would be."""
    values = board.values(value.measure)[:, board.column_of(run)].copy()
    now = _mean(values)
    values[board.number_of(query_id)] = value.value
    return _mean(values), now, int(np.sum(~np.isnan(values)))


def _mean(values: Floats) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else math.nan

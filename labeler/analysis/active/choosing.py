"""Which pairs are graded next: those whose grade is expected to move the delta most."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from labeler.analysis.active.trials import Trial
from labeler.evaluation import Scoreboard
from labeler.measures import Floats, Ints

BATCH = 20
"""How many pairs are chosen before what they turned out to be is looked at."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """A pair that decides: the ranks at which A and B have it, None where one has it nowhere.

    ``move`` is how far its grade is expected to move the mean delta.
    """

    query_id: str
    chunk: int
    chunk_id: str
    rank_a: int | None
    rank_b: int | None
    move: float


def choose(board: Scoreboard, trial: Trial, many: int = BATCH) -> list[Chosen]:
    """Return the ``many`` pairs whose grade is expected to move the delta most, best first."""
    moves = trial.moves
    tops, names = trial.filling.tops, board.collection
    found = []
    for at in first_of(moves, many).tolist():
        place = int(trial.places[at])
        query, chunk = int(tops.query[place]), int(tops.chunk[place])
        rank_a, rank_b = (int(tops.ranks[place, column]) or None for column in trial.columns)
        ids = (names.query_ids[query], chunk, names.chunk_ids[chunk])
        found.append(Chosen(*ids, rank_a, rank_b, float(moves[at])))
    return found


def first_of(moves: Floats, many: int) -> Ints:
    """Return where the ``many`` largest stand, the largest first; equal ones as they come."""
    if many < len(moves):
        least = np.partition(moves, -many)[-many] if many else np.inf
        some = np.flatnonzero(moves >= least)
    else:
        some = np.arange(len(moves))
    order: Ints = some[np.argsort(-moves[some], kind="stable")][:many]
    return order

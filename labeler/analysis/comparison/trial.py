"""A chunk of one query tried at another rank of both lists."""

from __future__ import annotations

from dataclasses import dataclass

from labeler.analysis.comparison.moves import Move, WhatIf, what_if
from labeler.analysis.comparison.views import View


@dataclass(frozen=True, slots=True)
class Trial:
    """What A and B would give, measure by measure; None, and a reason, for one that cannot be."""

    a: tuple[WhatIf, ...] | None
    b: tuple[WhatIf, ...] | None
    problems: tuple[str, ...]


def last_ranks(view: View, query_id: str, move: Move) -> tuple[int, int]:
    """Return the last rank a chunk could have in A's list and in B's.

    0 where it can have none, since the run is of another chunking.
    """
    in_a, in_b = (
        len(view.board.chunks(run, query_id)) for run in (view.compared.a, view.compared.b)
    )
    of_a, of_b = (_is_of(view, run, move) for run in (view.compared.a, view.compared.b))
    return (in_a + (move.rank_a is None)) * of_a, (in_b + (move.rank_b is None)) * of_b


def _is_of(view: View, run: str, move: Move) -> bool:
    """Say whether a chunk is of the chunking that a run is of."""
    collection = view.board.collection
    if collection.sides is None:
        return True
    own = collection.runs[view.board.column_of(run)].chunking
    return int(collection.sides.of[move.chunk]) == collection.sides.names.index(own)


def try_at(view: View, query_id: str, move: Move, rank: int) -> Trial:
    """Work out the values with a chunk at ``rank`` of either list; nothing is kept."""
    runs = (view.compared.a, view.compared.b)
    limits = last_ranks(view, query_id, move)
    a, b = (
        what_if(view.board, run, query_id, move.chunk_id, rank, view.compared.measures)
        if rank <= limit
        else None
        for run, limit in zip(runs, limits, strict=True)
    )
    problems = tuple(
        f"{run} could not have it at rank {rank}: its list would end at {limit}"
        if limit
        else f"{run} could not have it: it is of another chunking"
        for run, limit in zip(runs, limits, strict=True)
        if rank > limit
    )
    return Trial(a, b, problems)

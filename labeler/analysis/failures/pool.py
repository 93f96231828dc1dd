"""One query's pool: what is graded or near a run's top, and where each run has it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from labeler.evaluation import Ranked


class PoolRow(NamedTuple):
    """A chunk somebody graded or a run put near its top, and its rank in each run (or None)."""

    chunk: int
    chunk_id: str
    grade: int | None
    ranks: tuple[int | None, ...]


def pool_rows(
    golden: Mapping[int, int],
    lists: Mapping[str, Sequence[Ranked]],
    depth: int,
    chunk_ids: Sequence[str],
) -> list[PoolRow]:
    """Return what is graded or stands in a run's top ``depth``: best grade first, holes last."""
    near = {each.chunk for ranked in lists.values() for each in ranked[:depth]}
    ranks = [{each.chunk: each.rank for each in ranked} for ranked in lists.values()]
    rows = [
        PoolRow(chunk, chunk_ids[chunk], golden.get(chunk), tuple(at.get(chunk) for at in ranks))
        for chunk in near | golden.keys()
    ]
    return sorted(rows, key=_pool_place)


def _pool_place(row: PoolRow) -> tuple[int, float, str]:
    best = min((rank for rank in row.ranks if rank is not None), default=math.inf)
    return (1 if row.grade is None else -row.grade, best, row.chunk_id)

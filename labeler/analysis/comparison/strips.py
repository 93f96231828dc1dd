"""All queries at a glance: one row a query, one cell a rank, what is known of the chunk there."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from labeler.evaluation import Scoreboard

HOLE = -1
ABSENT = -2
Strips = npt.NDArray[np.int8]


def strips(board: Scoreboard, run: str, k: int) -> Strips:
    """Return what stands at ranks 1 to ``k`` of each query: int8 (queries, k).

    0 to 3 is a golden grade; `HOLE` is a chunk nobody has graded, which is no grade 0; `ABSENT` is
    past the end of the list. Rows come in the collection's order. Raises `NotFound` for an unknown
    run.
    """
    hits = board.hits(run)
    cells = np.where(np.arange(k) < hits.length[:, np.newaxis], HOLE, ABSENT).astype(np.int8)
    shown = hits.rank <= k
    cells[hits.row[shown], hits.rank[shown] - 1] = hits.grade[shown]
    return cells


def strip_text(row: Strips | Sequence[int]) -> str:
    """Write a row of `strips` for a terminal, one sign a rank, nothing past the end.

    Grades are digits and a hole is ``·``.

    >>> strip_text([3, 0, -1, 2, -2])
    '3 0 · 2'
    """
    cells = np.asarray(row).tolist()
    return " ".join("·" if cell == HOLE else str(cell) for cell in cells if cell != ABSENT)

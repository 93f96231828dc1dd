"""Rank strips of the report: the grades at the first ranks of each run, query by query."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

import htpy

from labeler.analysis.comparison import ABSENT_CELL, UNJUDGED_CELL, grade_strips
from labeler.evaluation import Scoreboard
from labeler.render.markup import style
from labeler.render.tokens import GRADE_FILLS, GRADE_INKS

RANKS = 10
"""How many ranks a strip shows."""
MOST_DEEPER = 3
"""How many relevant chunks below a strip are listed by rank."""
STRIP_LEGEND = (
    f"Ranks 1–{RANKS} of each list: a digit is a grade, · a chunk nobody has graded; after them "
    "the ranks of relevant chunks further down."
)
GRADE_STYLE = " ".join(
    f".strips .g{grade} {{ background: {fill}; color: {ink}; }}"
    for grade, (fill, ink) in enumerate(zip(GRADE_FILLS, GRADE_INKS, strict=True))
)
STRIP_STYLE = style(f"""
.strips {{ display: grid; gap: 2px;
    font: 600 0.72rem/1.25 ui-monospace, Menlo, Consolas, monospace; }}
.strips > div {{ display: flex; align-items: center; gap: 1px; white-space: nowrap;
    min-height: 1.1rem; }}
.strips b {{ width: 1.1em; }}
.strips i {{ width: 1.45em; text-align: center; font-style: normal; border-radius: 2px;
    border: 1px solid transparent; print-color-adjust: exact; }}
{GRADE_STYLE}
.strips .unjudged {{ color: inherit; border: 1px dashed currentColor; }}
.strips small {{ font-weight: 400; padding-left: 0.4em; }}
""")


class RankStrips:
    """The strips of runs, by their names in the report, computed once."""

    def __init__(self, board: Scoreboard, runs: Mapping[str, str]) -> None:
        self._board = board
        self._cells = {name: grade_strips(board, run, RANKS).tolist() for name, run in runs.items()}
        self._deeper = {name: _deeper_by_query(board, run) for name, run in runs.items()}

    def of(self, query_id: str) -> htpy.Element:
        """Return a query's strips, one under the other, with names if there are several."""
        at = self._board.number_of(query_id)
        several = len(self._cells) > 1
        return htpy.div(".strips")[
            [
                htpy.div[
                    htpy.b[name] if several else None,
                    [_strip_cell(cell) for cell in cells[at] if cell != ABSENT_CELL],
                    _deeper_ranks(self._deeper[name].get(at, ())),
                ]
                for name, cells in self._cells.items()
            ]
        ]


def _strip_cell(grade: int) -> htpy.Element:
    return (
        htpy.i(class_="unjudged")["·"]
        if grade == UNJUDGED_CELL
        else htpy.i(class_=f"g{grade}")[str(grade)]
    )


def _deeper_ranks(ranks: Sequence[int]) -> htpy.Element | None:
    if not ranks:
        return None
    left = len(ranks) - MOST_DEEPER
    more = f" and {left:,} more" if left > 0 else ""
    return htpy.small[f"{', '.join(map(str, ranks[:MOST_DEEPER]))}{more}"]


def _deeper_by_query(board: Scoreboard, run: str) -> dict[int, list[int]]:
    """Return the ranks of relevant chunks below the strip, by number of query."""
    hits = board.hits(run)
    below = (hits.rank > RANKS) & (hits.grade >= board.conventions.rel)
    found: defaultdict[int, list[int]] = defaultdict(list)
    for row, rank in zip(hits.row[below].tolist(), hits.rank[below].tolist(), strict=True):
        found[row].append(rank)
    return {row: sorted(ranks) for row, ranks in found.items()}

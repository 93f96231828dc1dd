"""Rank strips in a report: the grades at the first ranks of each run's list of a query.

Knows neither why a query fails nor where in the file it stands.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

import htpy

from labeler.analysis.comparison import ABSENT, HOLE, strips
from labeler.evaluation import Scoreboard
from labeler.render.markup import style
from labeler.render.palette import GRADE_COLOURS

RANKS = 10
"""How many ranks a strip shows."""
DEEPER = 3
"""How many of the relevant chunks below them are named by their ranks."""
LEGEND = (
    f"Ranks 1–{RANKS} of each list: a digit is a grade, · a chunk nobody has graded; after them "
    "the ranks of relevant chunks further down."
)
LOOK = style(f"""
.strips {{ display: grid; gap: 2px;
    font: 600 0.72rem/1.25 ui-monospace, Menlo, Consolas, monospace; }}
.strips > div {{ display: flex; align-items: center; gap: 1px; white-space: nowrap;
    min-height: 1.1rem; }}
.strips b {{ width: 1.1em; }}
.strips i {{ width: 1.45em; text-align: center; font-style: normal; border-radius: 2px;
    color: #10202f; border: 1px solid transparent; print-color-adjust: exact; }}
{" ".join(f".strips .g{at} {{ background: {each}; }}" for at, each in enumerate(GRADE_COLOURS))}
.strips .g3 {{ color: #ffffff; }}
.strips .hole {{ color: inherit; border: 1px dashed currentColor; }}
.strips small {{ font-weight: 400; padding-left: 0.4em; }}
""")


class RankStrips:
    """The strips of some runs by what they are called in the report, worked out once."""

    def __init__(self, board: Scoreboard, runs: Mapping[str, str]) -> None:
        self._board = board
        self._cells = {name: strips(board, run, RANKS).tolist() for name, run in runs.items()}
        self._deeper = {name: _deeper(board, run) for name, run in runs.items()}

    def of(self, query_id: str) -> htpy.Element:
        """Return a query's strips, one under the other, by name where there are several."""
        at = self._board.number_of(query_id)
        several = len(self._cells) > 1
        return htpy.div(".strips")[
            [
                htpy.div[
                    htpy.b[name] if several else None,
                    [_cell(cell) for cell in cells[at] if cell != ABSENT],
                    _further(self._deeper[name].get(at, ())),
                ]
                for name, cells in self._cells.items()
            ]
        ]


def _cell(grade: int) -> htpy.Element:
    return htpy.i(class_="hole")["·"] if grade == HOLE else htpy.i(class_=f"g{grade}")[str(grade)]


def _further(ranks: Sequence[int]) -> htpy.Element | None:
    if not ranks:
        return None
    left = len(ranks) - DEEPER
    more = f" and {left:,} more" if left > 0 else ""
    return htpy.small[f"{', '.join(map(str, ranks[:DEEPER]))}{more}"]


def _deeper(board: Scoreboard, run: str) -> dict[int, list[int]]:
    """Return at which ranks below those shown relevant chunks stand, by query."""
    hits = board.hits(run)
    below = (hits.rank > RANKS) & (hits.grade >= board.conventions.rel)
    found: defaultdict[int, list[int]] = defaultdict(list)
    for row, rank in zip(hits.row[below].tolist(), hits.rank[below].tolist(), strict=True):
        found[row].append(rank)
    return {row: sorted(ranks) for row, ranks in found.items()}

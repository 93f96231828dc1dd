"""Two ranked lists seen together: what is drawn, written out, and the components that draw it."""

from labeler.ui.ranks.components import Look, Side, picked, rank_lists, rank_strips
from labeler.ui.ranks.rows import (
    chosen_move,
    chunk_titles,
    lines,
    move_rows,
    places,
    strip_depth,
    strip_rows,
    sum_of,
    titles,
    within_depth,
)

__all__ = [
    "Look",
    "Side",
    "chosen_move",
    "chunk_titles",
    "lines",
    "move_rows",
    "picked",
    "places",
    "rank_lists",
    "rank_strips",
    "strip_depth",
    "strip_rows",
    "sum_of",
    "titles",
    "within_depth",
]

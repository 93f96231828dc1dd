"""Rank strips and ranked lists side by side: their data, and the components that draw them."""

from labeler.ui.rank_views.components import (
    RankStyle,
    RunSide,
    chosen_move,
    chunk_titles,
    format_total,
    listed_chunks,
    move_rows,
    picked,
    rank_lists,
    rank_strips,
    strip_depth,
    strip_rows,
    text_links,
    titles,
    within_depth,
)

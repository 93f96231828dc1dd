"""Rank strips of runs: their data, and the component that draws them."""

from labeler.ui.rank_views.components import (
    RankStyle,
    chunk_titles,
    picked,
    rank_strips,
    strip_depth,
    strip_rows,
)

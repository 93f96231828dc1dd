"""The Slices page: choices above, and below them the buckets, live."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from labeler.ui import live, scoreboards, url_state
from labeler.ui import shared as ui
from labeler.ui.slices.choices import SlicesChoice, choose
from labeler.ui.slices.details import show_by_keyword, show_crossed, show_every_measure
from labeler.ui.slices.views import show_one_run, show_pair


def show_page() -> None:
    """Show the page, or say which data it needs."""
    with ui.open_store() as store:
        settings = scoreboards.shown_settings(store)
        board = scoreboards.read_board(store, settings, every=True)
    if not board.run_names:
        what = "A run is what a system returned for each query, in its order."
        ui.say_empty("There is no run to slice yet", what, "labeler load run FILE")
        st.stop()
    if not board.facets:
        ui.say_empty(
            "No query has a bucket yet",
            "Give queries a task or buckets, and load them again.",
            '{"query_id": "q1", "query": "…", "task": "single", '
            '"buckets": {"intent": "refund"}}\n\nlabeler load queries FILE --update',
        )
        st.stop()
    live.follow(partial(show_slices, choose(board, settings)))


def show_slices(choice: SlicesChoice, say: Callable[[str], None]) -> None:
    """Show the buckets by the newest grades, and say how much is graded."""
    with ui.open_store() as store:
        board = scoreboards.live_board(store, choice.conventions)
    named = choice.facet or next(iter(board.facets))
    if not board.counts.grades:
        say(scoreboards.graded_line(board))
        scoreboards.say_nothing_graded(choice.conventions.selected, "No bucket has a number")
        show_by_keyword(choice, named, board)
        return
    facets = filter(None, (choice.facet, choice.other))
    if empty := next((name for name in facets if board.facets.get(name) == ()), None):
        st.text(f"None of the queries that are chosen has a bucket of {empty}.")
        return
    if choice.facet is not None and choice.other is not None:
        show_crossed(choice, choice.facet, choice.other, board)
    else:
        if choice.b is not None:
            show_pair(choice, choice.b, board)
        else:
            show_one_run(choice, board)
        if url_state.switch("Every measure by bucket", "numbers"):
            show_every_measure(choice, board)
    show_by_keyword(choice, named, board)

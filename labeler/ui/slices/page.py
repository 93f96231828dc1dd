"""The Slices page: choices above, and below them the buckets, live."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from labeler.evaluation import Scoreboard
from labeler.ui import keyword_cache, live, scoreboards, url_state
from labeler.ui import shared as ui
from labeler.ui.folds import show_folds
from labeler.ui.slices.choices import SlicesChoice, choose
from labeler.ui.slices.details import show_by_keyword, show_crossed, show_every_measure
from labeler.ui.slices.files import show_how
from labeler.ui.slices.views import show_one_run, show_pair

NUMBERS, KEYWORDS = "numbers", "keywords"  # parameters that open a fold
EVERY_MEASURE = "Every measure", "each measure in each bucket"
ALL_NUMBERS = "All numbers", "the crossed buckets as a table"
BY_KEYWORD = "Keywords", "where the words of an answer are found, without grades"


def show_page() -> None:
    """Show the page, or say which data it needs."""
    with ui.open_store() as store:
        settings = scoreboards.shown_settings(store)
        board = scoreboards.read_board(store, settings, every=True)
    if not board.run_names:
        what = "A run is one system's ranked results for each query."
        ui.say_empty("There is no run yet", what, "labeler load run FILE")
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
    facet, other = choice.facet, choice.other
    if not board.counts.grades:
        say(scoreboards.graded_line(board))
        scoreboards.say_nothing_graded(choice.conventions.selected, "No bucket has a number")
        show_more(choice, board)
        return
    if empty := next((name for name in (facet, other) if name and not board.facets[name]), None):
        st.text(f"None of the queries that are chosen has a bucket of {empty}.")
        return
    numbers: Callable[[], None] = partial(show_every_measure, choice, board)
    file: Callable[[], bytes] | None
    if facet is not None and other is not None:
        file, numbers = show_crossed(choice, facet, other, board)
    elif choice.b is not None:
        file = show_pair(choice, choice.b, board)
    else:
        file = show_one_run(choice, board)
    show_more(choice, board, None if file is None else numbers)
    if file is not None:
        show_how(choice, board)
        name = "slices.csv" if other is None else "crossed.csv"
        ui.offer("Download as CSV", file, name, board.revision)


def show_more(
    choice: SlicesChoice, board: Scoreboard, numbers: Callable[[], None] | None = None
) -> None:
    """Show the folds: ``numbers`` beyond the picture, and keywords where queries have some."""
    shows: dict[str, Callable[[], None]] = {}
    folds = {}
    if numbers is not None:
        shows[NUMBERS] = numbers
        folds[NUMBERS] = EVERY_MEASURE if choice.other is None else ALL_NUMBERS
    key = keyword_cache.KeywordKey.of(board)
    if keyword_cache.keywords_by_query(key) or url_state.get(KEYWORDS):
        shows[KEYWORDS] = partial(show_by_keyword, choice, choice.named_facet(board), board)
        folds[KEYWORDS] = BY_KEYWORD
    opened = next((name for name in folds if url_state.get(name) == "true"), None)

    def address(name: str | None) -> str:
        is_open = {each: "true" if each == name else None for each in (NUMBERS, KEYWORDS)}
        return url_state.this_page_url("/slices", page=None, **is_open)

    show_folds(folds, opened, address, shows.get(opened or "", lambda: None))

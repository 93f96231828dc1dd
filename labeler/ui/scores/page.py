"""The Scores page: choices above, and below them the chosen view of the newest numbers, live."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import streamlit as st

from labeler.analysis.cautions import MOST_CAUTIONS, find_cautions
from labeler.evaluation import NOT_WEIGHTED, Scoreboard
from labeler.measures import Measure
from labeler.model import Settings, format_count
from labeler.model.results import Statement
from labeler.ui import live, scoreboards, url_state
from labeler.ui import shared as ui
from labeler.ui.scores.choices import (
    KEYWORDS,
    MEASURES,
    RECALL,
    SAID_ABOVE,
    TREND,
    WEIGHED,
    ScoresChoice,
    choose,
    show_warnings,
    show_what,
)
from labeler.ui.scores.keywords import show_keywords
from labeler.ui.scores.trend import show_trend
from labeler.ui.scores.views import (
    BY_GRADES,
    WITH_INTERVALS,
    FileContent,
    show_recall,
    show_small_print,
)

VIEWS: Mapping[str, Callable[[ScoresChoice, Scoreboard], FileContent | None]] = {
    **BY_GRADES,
    RECALL: show_recall,
    TREND: show_trend,
}
"""By view what shows its numbers, and returns what makes a file of them, None where none are."""
INTERVALS_NOTE = (
    "hovering a mean says its 95% interval, which the file has too; it covers the choice of "
    "queries, not unjudged chunks or graders"
)


def show_page() -> None:
    """Show the page, or what is missing for it."""
    with ui.open_store() as store:
        settings = scoreboards.shown_settings(store)
        board = scoreboards.live_board(store, scoreboards.shown_conventions(settings, every=True))
    if not board.run_names:
        what = "A run is what a system returned for each query, in its order."
        ui.say_empty("There is no run to score yet", what, "labeler load run FILE")
        st.stop()
    live.follow(partial(show_scores, choose(board, settings), settings))


def show_scores(choice: ScoresChoice, settings: Settings, say: Callable[[str], None]) -> None:
    """Show the newest numbers, and say how much they rest on."""
    with ui.open_store() as store:
        board = scoreboards.live_board(store, choice.conventions)
    say(scoreboards.graded_line(board))
    if choice.traffic is not None:
        board = board.weighted_by(choice.traffic)
    now = replace(choice, conventions=board.conventions)
    shown = [run for run in board.run_names if choice.shows(run)]
    there = board.notes(choice.measures)
    with st.container():  # one place, so that the table keeps its own as lines come and go
        show_what(choice, len(shown), len(board.run_names))
        show_warnings(there)
    notes = [
        note.sentence for note in there if note.is_about(*shown) and note.kind not in SAID_ABOVE
    ]
    if choice.view == KEYWORDS:
        show_keywords(now, board, notes)
    elif board.counts.grades:
        show_graded(now, board, notes, settings)
    else:
        scoreboards.say_nothing_graded(board.conventions.selected, "No run has a score")


def show_graded(
    choice: ScoresChoice, board: Scoreboard, notes: list[str], settings: Settings
) -> None:
    """Show the chosen view of graded measures, with all that was left out of it."""
    file = VIEWS[choice.view](choice, board)
    facet, is_first = choice.facet, choice.view == MEASURES
    if is_first and facet is not None and (left_out := board.unbucketed(facet)):
        judged = format_count(left_out, "judged query", "judged queries")
        notes.append(f"{judged} without {facet}, in none of these rows")
    if file is not None and choice.view in WITH_INTERVALS:
        notes.append(INTERVALS_NOTE)
    if choice.traffic is not None:
        notes.append(NOT_WEIGHTED)
    elif choice.view not in WEIGHED and url_state.get("weighted"):
        notes.append("this view is not weighted: each query counts the same")
    if is_first:
        show_cautions(choice, board, settings)
    show_small_print(choice, notes)
    if file is not None:
        ui.offer("Download these numbers as CSV", file, "scores.csv", board.revision)


def show_cautions(choice: ScoresChoice, board: Scoreboard, settings: Settings) -> None:
    """Say how the numbers mislead, the gravest in sight; nothing where they do not."""
    shown = tuple(run for run in board.run_names if choice.shows(run))
    runs = None if len(shown) == len(board.run_names) else shown
    at = (*scoreboards.cache_key(board, choice.measures), runs, choice.within, settings.matters)
    found = _cautions(at, choice.measures, runs, choice.within, settings, board)
    if found:
        st.text("\n".join(f"⚠ {each.sentence}" for each in found[:MOST_CAUTIONS]))
    if more := found[MOST_CAUTIONS:]:
        with st.expander("How these numbers can mislead besides", key="cautions"):
            st.text("\n".join(f"· {each.sentence}" for each in more))


@st.cache_data(max_entries=16, show_spinner=False)
def _cautions(
    at: tuple[Hashable, ...],
    _measures: Sequence[Measure],
    _runs: Sequence[str] | None,
    _within: tuple[str, str] | None,
    _settings: Settings,
    _board: Scoreboard,
) -> list[Statement]:
    facet, bucket = _within or (None, None)
    return find_cautions(
        *(_board, _measures),
        runs=_runs,
        facet=facet,
        bucket=bucket,
        settings=_settings,
        most=None,
    )

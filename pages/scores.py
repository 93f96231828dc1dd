"""Every run by every chosen measure, live: the numbers move while others grade."""

from dataclasses import replace

import streamlit as st

from labeler.evaluation import NOT_WEIGHTED, Scoreboard, cautions
from labeler.model import counted
from labeler.ui import address, boards, live
from labeler.ui import scores as scoring
from labeler.ui import shared as ui

MOST_CAUTIONS_OPEN = 6
REACH = (
    "hovering a mean says its 95% interval, which the file has too; it covers the choice of "
    "queries, not holes or graders"
)


def show_scores(say) -> None:
    """Show the newest numbers, and say how much they rest on."""
    with ui.open_store() as store:
        board = boards.live_board(store, choice.conventions)
    say(boards.graded_line(board))
    if choice.traffic is not None:
        board = board.weighing(choice.traffic)
    now = replace(choice, conventions=board.conventions)
    shown = [run for run in board.run_names if choice.shows(run)]
    there = board.notes(choice.measures)
    with st.container():  # one place, so that the table keeps its own as lines come and go
        scoring.say_what(choice, len(shown), len(board.run_names))
        scoring.say_above(there)
    notes = [
        note.sentence
        for note in there
        if note.is_about(*shown) and note.kind not in scoring.SAID_ABOVE
    ]
    if choice.view == scoring.KEYWORDS:
        scoring.show_keywords(now, board, notes)
    elif board.counts.grades:
        show_graded(now, board, notes)
    else:
        boards.say_nothing_graded(board.conventions.selected, "No run has a score")


def show_graded(choice: scoring.Choice, board: Scoreboard, notes: list[str]) -> None:
    """Show the chosen view of graded measures, with all that was left out of it."""
    file = scoring.VIEWS[choice.view](choice, board)
    facet, is_first = choice.facet, choice.view == scoring.MEASURES
    if is_first and facet is not None and (left_out := board.unbucketed(facet)):
        judged = counted(left_out, "judged query", "judged queries")
        notes.append(f"{judged} without {facet}, in none of these rows")
    if file is not None and choice.view in scoring.WITH_INTERVALS:
        notes.append(REACH)
    if choice.traffic is not None:
        notes.append(NOT_WEIGHTED)
    elif choice.view not in scoring.WEIGHED and address.given("weighted"):
        notes.append("this view is not weighted: each query counts the same")
    scoring.show_small_print(choice, notes)
    if is_first:
        warn(choice, board)
    if file is not None:
        ui.offer("Download these numbers as CSV", file, "scores.csv", board.revision)


def warn(choice: scoring.Choice, board: Scoreboard) -> None:
    """Say where the numbers lie."""
    warned = cautions(board, choice.measures, *(choice.within or (None, None)))
    if warned:
        few = len(warned) <= MOST_CAUTIONS_OPEN
        with st.expander("Where these numbers can mislead", expanded=few, key="cautions"):
            st.text("\n".join(f"· {caution.sentence}" for caution in warned))


with ui.open_store() as store:
    settings = boards.shown_settings(store)
    board = boards.live_board(store, boards.shown_conventions(settings, every=True))

if not board.run_names:
    where = "Load one on the Data page, or in a terminal:"
    ui.say_empty("There is no run to score yet", where, "labeler load run FILE")
    st.stop()

choice = scoring.choose(board, settings)
live.follow(show_scores)

"""What Scores shows of trust in recall: how much a run owes to what its own system brought in."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import streamlit as st

from labeler.evaluation import (
    OwnPools,
    Scoreboard,
    own_pools,
    recalls_among,
    tau_in_words,
)
from labeler.measures import Measure
from labeler.render import downloads, tables
from labeler.ui import boards
from labeler.ui import shared as ui
from labeler.ui.scores.choosing import Choice
from labeler.ui.scores.showing import File, show_table

USUAL_RECALL = "R@budget"
"""What is looked at where no recall is among the measures that were chosen."""


@st.cache_data(max_entries=8, show_spinner="Leaving systems out …")
def found_without(
    at: tuple[Hashable, ...], _measures: Sequence[Measure], _board: Scoreboard
) -> tuple[OwnPools, ...]:
    """Return recall without each system's own finds; worked out once for each change."""
    with ui.open_store() as store:
        by_hand = store.pairs_found_by_hand()
    return own_pools(_board, _measures, by_hand)


def show_recall(choice: Choice, board: Scoreboard) -> File:
    """Show each run's recall beside what it is without what its system alone brought in."""
    measures = recalls_among(choice.measures) or choice.conventions.measures(USUAL_RECALL)
    at = (*boards.moment(board, measures), choice.within)
    found = found_without(at, measures, choice.alone(board))
    for each in found:
        show_table(choice, tables.own_pool_table(each, choice.conventions))
        st.text(tau_in_words(each, choice.conventions))
    st.caption(
        "A chunk is graded because some run has it near its top, so a run is sure to have found "
        "what it alone brought in. Without: relevant chunks that only runs of the same system have "
        f"in their top {choice.conventions.pool_depth} count as not relevant; all runs of a system "
        "are left out together, and chunks that graders found by hand stay. A query for which "
        "nothing relevant is left counts as any other without, so that n can differ."
    )
    shown = [run for run in board.run_names if choice.shows(run)]
    return lambda: downloads.own_pool_csv([each.of(shown) for each in found], choice.conventions)

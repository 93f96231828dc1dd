"""How sure a verdict is over what the holes could be, and the way to the grades it needs."""

from __future__ import annotations

import math
from dataclasses import replace

import streamlit as st

from labeler import asking, ui
from labeler.comparing.deciding import lead_to_grades
from labeler.comparison import View
from labeler.deciding import FAVOURS, SURE, UNDECIDED, Standing
from labeler.model import QUERY_BY_QUERY, WHAT_DECIDES, Settings

NAMES = ("A", "B")  # what sentences call the runs, which the table names
HOW_SURE = (
    f"How sure it is which of A and B is better, once all holes are graded: settled at {SURE:.0%}. "
    "It says nothing of other queries; for these the interval and p-value stand in the table."
)


def standing_of(view: View) -> Standing | None:
    """Return how sure it is which run is better by the leading measure; None where none can be."""
    if view.by.name in UNDECIDED:
        return None
    with ui.open_store() as store:
        settings = store.settings()
    compared = view.compared
    return asking.standing_of(view.board, compared.a, compared.b, view.by, settings)


def show_settling(view: View) -> None:
    """Show how sure the verdict is, and let a lead have graders asked for what decides it."""
    standing = standing_of(view)
    if standing is None:
        return
    with st.container(key="settling", gap="xsmall"):
        st.progress(standing.certainty, text="How sure it is over what the holes could be")
        st.text(standing.sentence(NAMES), help=HOW_SURE)
        _show_way(view, standing)


def _show_way(view: View, standing: Standing) -> None:
    with ui.open_store() as store:
        settings, asked = store.settings(), store.asked_to_decide()
    is_asked = _is_asked(view, settings)
    if is_asked:
        st.text("Graders are given what decides this first; they see nothing of A and B.")
    if asked or is_asked or not standing.settled:
        counted = f"{ui.counted(asked, 'grade was', 'grades were')} asked for so. " if asked else ""
        st.caption(f"{counted}{FAVOURS[:1].upper()}{FAVOURS[1:]}.")
    if is_asked and st.button("Stop asking for what decides this"):
        with ui.guard(), ui.open_store() as store:
            store.save_settings(replace(settings, strategy=QUERY_BY_QUERY))
        ui.done("Graders go query by query")
    if not is_asked and not standing.settled and _has_no_value(view):
        lead_to_grades(view, view.by)


def _is_asked(view: View, settings: Settings) -> bool:
    """Say whether graders are given what decides between just these runs by this measure."""
    pair = {view.compared.a, view.compared.b}
    if settings.strategy != WHAT_DECIDES or set(settings.holes_of or ()) != pair:
        return False
    meant = view.compared.conventions.measures(settings.decide_by)
    return view.board.resolve(meant) == (view.by,)


def _has_no_value(view: View) -> bool:
    """Say whether nothing is known of the leading measure yet, so that no answer leads on."""
    return all(math.isnan(row.delta) for row in view.compared.deltas if row.measure == view.by)

"""How sure a verdict is over what the holes could be, and the way to the grades it needs."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from labeler import address, asking, links, ui
from labeler.comparison import View
from labeler.deciding import FAVOURS, SURE, UNDECIDED, Standing
from labeler.model import QUERY_BY_QUERY, WHAT_DECIDES, Settings

NAMES = ("A", "B")  # what sentences call the runs, which the table names
HOW_SURE = (
    f"How sure it is which of A and B is better, once all holes are graded: settled at {SURE:.0%}. "
    "It says nothing of other queries; for these the interval and p-value stand in the table."
)
ASK = "Ask graders for what decides this"
STOP = "Stop asking for what decides this"


def standing_of(view: View) -> Standing | None:
    """Return how sure it is which run is better by the leading measure; None where none can be."""
    if view.by.name in UNDECIDED:
        return None
    with ui.open_store() as store:
        settings = store.settings()
    compared = view.compared
    return asking.standing_of(view.board, compared.a, compared.b, view.by, settings)


def show_deciding(view: View) -> None:
    """Show how sure the verdict is, and let a lead have graders asked for what decides it."""
    standing = standing_of(view)
    if standing is None:
        return
    with st.container(key="deciding", gap="xsmall"):
        st.progress(standing.certainty, text="How sure it is over what the holes could be")
        st.text(standing.sentence(NAMES), help=HOW_SURE)
        _show_way(view, standing)


def _show_way(view: View, standing: Standing) -> None:
    with ui.open_store() as store:
        settings, asked = store.settings(), store.asked_to_decide()
    wanted = _asking_for(view, settings)
    is_asked = _question(settings) == _question(wanted)
    if is_asked:
        st.text("Graders are given what decides this first; they see nothing of A and B.")
    if asked or is_asked or not standing.settled:
        counted = f"{ui.counted(asked, 'grade was', 'grades were')} asked for so. " if asked else ""
        st.caption(f"{counted}{FAVOURS[:1].upper()}{FAVOURS[1:]}.")
    with st.container(horizontal=True, vertical_alignment="center"):
        if is_asked:
            _offer(STOP, replace(settings, strategy=QUERY_BY_QUERY), "Graders go query by query")
        elif not standing.settled:
            _offer(ASK, wanted, "Graders are given what decides this")
        if is_asked and not standing.settled:
            links.link("Grade what decides this", address.to("/"))


def _asking_for(view: View, settings: Settings) -> Settings:
    """Return the settings by which graders are asked for what decides between A and B."""
    compared = view.compared
    measure = compared.conventions.heading(view.by)
    pair = (compared.a, compared.b)
    return replace(settings, strategy=WHAT_DECIDES, holes_of=pair, decide_by=measure)


def _question(settings: Settings) -> tuple[object, ...]:
    return settings.strategy, frozenset(settings.holes_of or ()), settings.decide_by


def _offer(label: str, settings: Settings, word: str) -> None:
    """Offer a button that saves these settings."""
    if st.button(label):
        with ui.guard(), ui.open_store() as store:
            store.save_settings(settings)
        ui.done(word)

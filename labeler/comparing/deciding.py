"""The way from Compare's answer to the grades that decide it: what graders are given next."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from labeler import address, links, ui
from labeler.comparison import View
from labeler.measures import Measure
from labeler.model import WHAT_DECIDES

HELP = (
    "Sets the strategy under Data > Settings, for everyone: the chunks come first whose grades say "
    "soonest which of these two runs is better by this measure, and the others once that is "
    "settled."
)


def lead_to_grades(view: View, measure: Measure) -> None:
    """Lead to grading what decides between A and B, or let the lead have it graded first."""
    a, b = view.compared.a, view.compared.b
    with ui.open_store() as store:
        settings = store.settings()
    chosen = replace(
        settings, strategy=WHAT_DECIDES, holes_of=(a, b), decide_by=measure_name(measure)
    )
    if chosen == settings:
        links.link("Grade what decides it", address.to("/"))
    elif st.button("Ask for the grades that decide", key="decide", help=HELP):
        with ui.guard(), ui.open_store() as store:
            store.save_settings(chosen)
        ui.done("Graders are given what decides it")


def measure_name(measure: Measure) -> str:
    """Return the name a measure was asked for by, such as R@budget, else its own."""
    return next(iter(measure.names), str(measure))

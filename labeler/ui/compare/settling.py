"""How sure Compare's answer is over what the holes could be, and the way to the grades it needs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import streamlit as st

from labeler.analysis.active import FAVOURS, LEAST, SURE, Standing, can_decide
from labeler.analysis.active.certainty import how_sure, is_telling
from labeler.analysis.comparison import Answered, View
from labeler.measures import Measure
from labeler.model import QUERY_BY_QUERY, WHAT_DECIDES, Settings, counted, upper
from labeler.render import tables
from labeler.render.markup import show_html
from labeler.ui import address, asking, links
from labeler.ui import shared as ui

HELP = (
    "Sets the strategy under Data > Settings, for everyone: the chunks come first whose grades say "
    "soonest which of these two runs is better by this measure, and the others once that is "
    "settled."
)


def show_settling(view: View, found: Answered, names: tuple[str, str]) -> None:
    """Show how sure the answer is, and let a lead have graders asked for what decides it.

    Nothing where no grade can say more: no hole is left, or none can turn it; nor across
    chunkings, where a grade is known to one run alone.
    """
    if view.board.collection.is_of_several:
        return
    with ui.open_store() as store:
        settings, asked = store.settings(), store.asked_to_decide()
    measure = view.by if found.lead is None else found.lead.row.measure
    is_asked = _is_asked(view, measure, settings)
    if not can_decide(measure) or not (found.may_be_settled or is_asked):
        return
    compared = view.compared
    standing = asking.standing_of(view.board, compared.a, compared.b, measure, settings)
    if not is_telling(standing) and not is_asked:
        return
    seen, band = (None, None) if found.lead is None else (found.lead.row, found.lead.band)
    line = how_sure(standing, compared.conventions, names, seen, band)
    share = standing.certainty if standing.settled or standing.graded >= LEAST else 0.0
    asides = list(_asides(standing, settings, asked, is_asked))
    with st.container(key="settling", horizontal=True, vertical_alignment="center"):
        with st.container(width="stretch"):
            show_html(tables.certainty(line, share, SURE, asides))
        if is_asked:
            _show_asked(standing)
        elif not standing.settled and st.button(
            "Ask for the grades that decide", key="decide", help=HELP
        ):
            _ask(view, measure, settings)


def _asides(standing: Standing, settings: Settings, asked: int, is_asked: bool) -> Iterator[str]:
    if is_asked and not standing.settled:
        yield "Graders are given what decides this first; they see nothing of A and B."
    if is_asked and standing.settled:
        yield "It is settled, so graders go on query by query."
    if not is_asked and settings.strategy == WHAT_DECIDES and settings.holes_of is not None:
        a, b = settings.holes_of
        yield f"Graders are now asked what decides {a} against {b} by {settings.decide_by}."
    if asked or is_asked or not standing.settled:
        so_far = f"{counted(asked, 'grade was', 'grades were')} asked for so. " if asked else ""
        yield f"{so_far}{upper(FAVOURS)}."


def _show_asked(standing: Standing) -> None:
    """Lead to grading what is asked for, and let the lead end that."""
    if not standing.settled:
        links.link("Grade what decides it", address.onward("/"))
    if st.button("Stop asking for what decides this"):
        with ui.guard(), ui.open_store() as store:
            store.save_settings(replace(store.settings(), strategy=QUERY_BY_QUERY))
        ui.done("Graders go query by query")


def _ask(view: View, measure: Measure, settings: Settings) -> None:
    pair = (view.compared.a, view.compared.b)
    name = measure_name(measure)
    chosen = replace(settings, strategy=WHAT_DECIDES, holes_of=pair, decide_by=name)
    with ui.guard(), ui.open_store() as store:
        store.save_settings(chosen)
    ui.done("Graders are given what decides it")


def measure_name(measure: Measure) -> str:
    """Return the name a measure was asked for by, such as R@budget, else its own."""
    return next(iter(measure.names), str(measure))


def _is_asked(view: View, measure: Measure, settings: Settings) -> bool:
    """Say whether graders are given what decides between just these runs by this measure."""
    pair = {view.compared.a, view.compared.b}
    if settings.strategy != WHAT_DECIDES or set(settings.holes_of or ()) != pair:
        return False
    meant = view.compared.conventions.measures(settings.decide_by)
    return view.board.resolve(meant) == (measure,)

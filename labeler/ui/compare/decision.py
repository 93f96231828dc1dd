"""Deciding grades on Compare: one button that asks for them, and the progress."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import streamlit as st

from labeler.analysis.active import AT_ONCE, NO_FAIR_SAMPLE_NOTE, Certainty, can_decide
from labeler.analysis.comparison import ComparisonView
from labeler.analysis.comparison.unjudged_doubt import COULD_CHANGE
from labeler.analysis.comparison.verdict import NO_VALUE
from labeler.analysis.run_verdict import PairResult, is_asked_for
from labeler.model import (
    ACTIVE_OF_TWO,
    QUERY_BY_QUERY,
    Settings,
    capitalize_first,
    format_count,
)
from labeler.render import tables
from labeler.render.markup import show_html, style
from labeler.services.assignment.scope import UNTIL_DECIDED
from labeler.ui import assignment_cache, links, url_state
from labeler.ui import shared as ui

BESIDE = 280  # pixels beside the answer for the next step
STYLE = style("""
@media (min-width: 48rem) {
    .st-key-settling { padding-top: 1rem; }
    .st-key-settling .stHorizontalBlock { justify-content: flex-end; }
}
""")
HELP = (
    "Opens Label with these passages only, without naming the runs. They are chosen again after "
    "each grade until the answer is clear. Every grader gets them first: this sets the strategy "
    "under Data > Settings. "
    f"{capitalize_first(NO_FAIR_SAMPLE_NOTE)}."
)


def asks_for_grades(view: ComparisonView, found: PairResult, settings: Settings) -> bool:
    """Return whether grades could change the answer, or whether the team asked for them.

    False across chunkings, where a grade counts for one run only, and for a frozen golden set.
    """
    board, measure = view.board, found.tests.deciding
    is_live = board.conventions.frozen is None and board.weights is None
    if not is_live or board.collection.has_several_chunkings:
        return False
    if measure is None or not can_decide(measure):
        return False
    is_open = found.verdict.outcome == NO_VALUE or any(
        each.kind == COULD_CHANGE for each in found.verdict.statements
    )
    return is_open or is_asked_for(settings, view.compared.a, view.compared.b)


def offer_deciding_grades(view: ComparisonView, found: PairResult, settings: Settings) -> None:
    """Let a lead grade the deciding pairs, and show the progress, if `asks_for_grades`."""
    measure = found.tests.deciding
    if measure is None or not asks_for_grades(view, found, settings):
        return
    runs = (view.compared.a, view.compared.b)
    is_asked = is_asked_for(settings, *runs)
    standing = assignment_cache.standing_of(view.board, *runs, measure, settings)
    if not standing.pool or not standing.known:
        return
    with ui.open_store() as store:
        asked = store.assignment.asked_to_decide()
    with st.container(key="settling", gap="small", width=BESIDE):
        with st.container(horizontal=True, vertical_alignment="center"):
            _show_buttons(standing, settings, runs, is_asked=is_asked)
        show_html(STYLE, tables.small_print(_notes(standing, settings, asked, is_asked=is_asked)))
        if not view.board.counts.grades:
            links.link("Load grades instead", url_state.page_url("/data", section="Load"))


def _show_buttons(
    standing: Certainty, settings: Settings, runs: tuple[str, str], *, is_asked: bool
) -> None:
    count = min(AT_ONCE, standing.open)
    if not standing.settled and count:
        passages = "passage that decides" if count == 1 else f"{count} passages that decide"
        if st.button(f"Grade the {passages} most", key="decide", type="primary", help=HELP):
            _grade(settings, runs)
    if is_asked and st.button("Stop asking for these first", key="stop-deciding"):
        with ui.guard(), ui.open_store() as store:
            store.settings.save(replace(store.settings.read(), strategy=QUERY_BY_QUERY))
        ui.done("Graders get passages query by query again")


def _grade(settings: Settings, runs: tuple[str, str]) -> None:
    """Ask for the pairs that decide between two runs, and open Label with only these."""
    if not is_asked_for(settings, *runs):
        with ui.guard(), ui.open_store() as store:
            store.settings.save(replace(settings, strategy=ACTIVE_OF_TWO, unjudged_of=runs))
    links.go(url_state.page_url("/", a=runs[0], b=runs[1], until=UNTIL_DECIDED))


def _notes(standing: Certainty, settings: Settings, asked: int, *, is_asked: bool) -> Iterator[str]:
    if standing.settled and is_asked:
        yield "No further grade is needed for this, so graders go on query by query."
    elif is_asked:
        yield "Every grader gets the passages that decide this first."
    if not is_asked and settings.strategy == ACTIVE_OF_TWO and settings.unjudged_of is not None:
        a, b = settings.unjudged_of
        said = f"Graders now get the passages that decide between {a} and {b}"
        yield f"{said} by {settings.decide_by}."
    if asked:
        so_far = f"{format_count(asked, 'grade was', 'grades were')} asked for so"
        yield f"{so_far}. {capitalize_first(NO_FAIR_SAMPLE_NOTE)}."

"""The Label page: the grading pad, or which data is needed before anybody can grade."""

from __future__ import annotations

import streamlit as st

from labeler.model import SPLITS, Settings
from labeler.render.tokens import GRADE_FILLS
from labeler.render.words import localize
from labeler.store import Store
from labeler.ui import assignment_cache, grading, url_state
from labeler.ui import shared as ui
from labeler.ui.grading import GradingTerms, PadData
from labeler.ui.label.scope import (
    between,
    chosen_field,
    chosen_query,
    kept_to,
    until_decided,
)


def show_page() -> None:
    """Show the page, or say which data it needs."""
    with ui.open_store() as store:
        queries, runs, is_lead = store.queries.count(), store.runs.all(), ui.is_lead()
        name = ui.grader()
        token = None if name is None else ui.grading_token(store, name)
        data = pad_data(store, name, token, is_lead=is_lead) if queries and runs else None
        words = ui.graders_words(store.settings.read())
    if not is_lead and data is None:
        st.header(words.say("page.nothing"))
        st.text(words.say("page.nothing_help"))
    elif not queries:
        ui.say_empty(
            "There are no queries to grade yet",
            "Graders get queries and what your systems return for them.",
            "labeler load queries FILE\nlabeler load chunks FILE\nlabeler load run FILE",
        )
    elif data is None:
        ui.say_empty(
            "There is no run yet, so nothing to grade",
            "A run is what a system returned for each query, in its order.",
            "labeler load run FILE",
        )
    else:
        grading.pad(data)


def pad_data(store: Store, name: str | None, token: str | None, *, is_lead: bool) -> PadData:
    """Return the data of the pad; raises `StaleLink` if the URL asks for what does not exist."""
    settings = store.settings.read()
    words = ui.graders_words(settings)
    read = localize(settings, words.language)
    giver = None if name is None else store.people.giver(name)
    sizes, leaked = store.splits.sizes(), bool(store.splits.leaked())
    splits = [split for split in SPLITS if split in sizes]
    is_known = store.queries.has(url_state.get("query") or "")
    field = chosen_field(store.queries.facets(), is_known)
    confined = between(kept_to(field, splits, leaked), store.chunkings.names())
    confined = until_decided(confined, settings)
    return PadData(
        golden_set=store.golden_set.uuid(),
        grader=name,
        token=token,
        key=None if giver is None else giver.key,
        terms=GradingTerms(
            *(read.words, read.meanings, GRADE_FILLS),
            *(read.question, read.passage),
        ),
        language=words.language.code,
        sentences=words.for_browser(),
        can_change_name=ui.can_change_name(),
        known=known_graders(ui.database(), store.judgments.revision())
        if ui.can_change_name()
        else (),
        is_new=name is not None
        and not store.assignment.has_judged(name)
        and not ui.has_read_invitation(),
        name=store.golden_set.name(),
        inviter=None if name is None else store.people.inviter_of(name),
        guideline=read.guideline,
        contact=settings.contact,
        evidence_from=settings.evidence_from,
        highlight=settings.highlight,
        confined=confined,
        splits=splits if is_lead else (),
        openings=assignment_cache.openings(store) if is_lead else [],
        query=chosen_query(is_known, field),
        mine=url_state.get("mine") == "true",
        verdict_url=verdict_url(settings) if is_lead and confined and confined.until else None,
        load_url=url_state.page_url("/data", section="Load") if is_lead else None,
    )


@st.cache_data(max_entries=2, show_spinner=False)
def known_graders(path: str, revision: int) -> list[tuple[str, int]]:
    """Return the graders with their numbers of grades; cached until the next judgment."""
    with Store(path) as store:
        return list(store.activity.grades_by_grader().items())


def verdict_url(settings: Settings) -> str | None:
    """Return the URL of Compare with the two runs that the team wants to decide between."""
    if settings.unjudged_of is None:
        return None
    a, b = settings.unjudged_of
    return url_state.page_url("/compare", a=a, b=b)

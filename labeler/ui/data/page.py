"""The Data page: a summary of the stored data, and below it one section at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from labeler.store import Store
from labeler.ui import shared as ui
from labeler.ui import url_state
from labeler.ui.data.audit import show_audit
from labeler.ui.data.candidates import show_candidates
from labeler.ui.data.downloads import show_downloads
from labeler.ui.data.loads import show_loads
from labeler.ui.data.people import show_people
from labeler.ui.data.query_editor import show_queries
from labeler.ui.data.runs import show_runs
from labeler.ui.data.settings import show_settings
from labeler.ui.data.upload import describe_contents, show_upload
from labeler.ui.data.versions import show_versions
from labeler.ui.transfers import has_other_chunking, show_transfer

LOAD, QUERIES, CANDIDATES = "Load", "Queries", "Candidates"
VERSIONS, TRANSFER, AUDIT = "Versions", "Transfer", "Audit"
PARTS: Mapping[str, Callable[[], None]] = {
    VERSIONS: show_versions,
    TRANSFER: show_transfer,
    AUDIT: show_audit,
}


def show_load() -> None:
    """Take files, and list the loads of golden grades, which can be undone."""
    show_upload()
    show_loads()


def show_queries_or_candidates() -> None:
    """Show the queries, or the questions that may become queries."""
    with ui.open_store() as store:
        has_candidates = bool(store.candidates.counts())
    if any(url_state.get(name) is not None for name in ("edit", "new")):
        show_queries()
    elif url_state.get("take") is not None:
        show_candidates()
    elif has_candidates or url_state.get("show") == CANDIDATES:
        shown = url_state.choose_tab("Which", [QUERIES, CANDIDATES], "show", what="part")
        (show_candidates if shown == CANDIDATES else show_queries)()
    else:
        show_queries()
        opened = {"show": CANDIDATES}
        st.button("Collect candidate questions", on_click=url_state.write, kwargs=opened)


def show_advanced() -> None:
    """Show advanced sections: frozen versions, the transfer of grades, the audit."""
    with ui.open_store() as store:
        needed = {VERSIONS: bool(store.queries.count()), TRANSFER: has_other_chunking(store)}
    parts = [name for name in PARTS if needed.get(name, True) or name == url_state.get("show")]
    PARTS[url_state.choose_tab("Part", parts, "show", what="part")]()


SECTIONS: Mapping[str, Callable[[], None]] = {
    LOAD: show_load,
    "Download": show_downloads,
    "People": show_people,
    "Runs": show_runs,
    QUERIES: show_queries_or_candidates,
    "Settings": show_settings,
    "Advanced": show_advanced,
}


def show_page() -> None:
    """Show the page."""
    with ui.open_store() as store:
        sections = sections_with_something(store)
    section = url_state.choose_tab("Section", sections, "section", what="section", clears=["show"])
    counts = st.empty()
    show_counts(counts, section)
    SECTIONS[section]()
    show_counts(counts, section)  # once more: the section may have loaded something


def sections_with_something(store: Store) -> list[str]:
    """Return the sections that have something to act on, and the one in the URL.

    On Load all sections are shown, because loaded files fill them.
    """
    if url_state.get("section") in (None, LOAD):
        return list(SECTIONS)
    there = store.golden_set.contents()
    is_empty = not (there.queries or there.retired or there.chunks or there.runs)
    needed = {"Download": not is_empty, "Runs": bool(there.runs or store.signals.all())}
    return [name for name in SECTIONS if needed.get(name, True) or name == url_state.get("section")]


def show_counts(place: DeltaGenerator, section: str) -> None:
    """Show how much is stored, above the section, and warn of the default guideline."""
    with ui.open_store() as store:
        contents, settings = store.golden_set.contents(), store.settings.read()
    is_unwritten = bool(contents.queries) and not settings.guideline
    if section != LOAD and not is_unwritten:
        return
    with place.container(horizontal=True):
        if section == LOAD:
            st.caption(describe_contents(contents), width="content")
        if is_unwritten:
            ui.warn_of_default_guideline(settings)

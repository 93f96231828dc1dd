"""The Data page: a summary of the stored data, and below it one section at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

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
from labeler.ui.transfers import show_transfer


def show_load() -> None:
    """Take files, and list the loads of golden grades, which can be taken back."""
    show_upload()
    show_loads()


SECTIONS: Mapping[str, Callable[[], None]] = {
    "Load": show_load,
    "Download": show_downloads,
    "People": show_people,
    "Runs": show_runs,
    "Queries": show_queries,
    "Candidates": show_candidates,
    "Transfer": show_transfer,
    "Versions": show_versions,
    "Settings": show_settings,
    "Audit": show_audit,
}


def show_page() -> None:
    """Show the page."""
    counts = st.empty()
    show_counts(counts)
    section = url_state.choose_tab("Section", list(SECTIONS), "section", what="section")
    SECTIONS[section]()
    show_counts(counts)  # once more: the section may have loaded something


def show_counts(place: DeltaGenerator) -> None:
    """Say above the sections how much there is now."""
    with ui.open_store() as store:
        contents, settings = store.contents(), store.settings()
    with place.container(horizontal=True):
        st.caption(describe_contents(contents), width="content")
        if contents.queries:
            ui.warn_of_default_guideline(settings)

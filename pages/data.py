"""The Data page: files in and out, people, runs, queries and settings, one section at a time."""

import streamlit as st

from labeler.ui import shared as ui
from labeler.ui import url_state
from labeler.ui.data.audit import show_audit
from labeler.ui.data.candidates import show_candidates
from labeler.ui.data.downloads import show_downloads
from labeler.ui.data.people import show_people
from labeler.ui.data.query_editor import show_queries
from labeler.ui.data.runs import show_runs
from labeler.ui.data.settings import show_settings
from labeler.ui.data.upload import describe_contents, show_upload
from labeler.ui.data.versions import show_versions
from labeler.ui.transfers import show_transfer

SECTIONS = {
    "Load": show_upload,
    "Download": show_downloads,
    "People": show_people,
    "Runs": show_runs,
    "Queries": show_queries,
    "Candidates": show_candidates,
    "Carry over": show_transfer,
    "Versions": show_versions,
    "Settings": show_settings,
    "Audit": show_audit,
}


def count() -> None:
    """Say above the sections how much there is now."""
    with ui.open_store() as store:
        contents, settings = store.contents(), store.settings()
    with counts.container(horizontal=True):
        st.caption(describe_contents(contents), width="content")
        if contents.queries:
            ui.warn_of_default_guideline(settings)


counts = st.empty()
count()
section = url_state.choose_tab("Section", list(SECTIONS), "section", what="section")
SECTIONS[section]()
count()  # once more: the section may have loaded something

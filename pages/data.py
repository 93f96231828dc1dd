"""Files in and out, the people, the runs, the queries, and what the team decides once."""

import streamlit as st

from labeler.ui import address
from labeler.ui import shared as ui
from labeler.ui.data.audit import audit
from labeler.ui.data.candidates import candidates
from labeler.ui.data.carrying import carry_over
from labeler.ui.data.contents import counts_line
from labeler.ui.data.downloading import download
from labeler.ui.data.loading import load
from labeler.ui.data.people import people
from labeler.ui.data.queries import queries
from labeler.ui.data.runs import runs
from labeler.ui.data.settings import decide
from labeler.ui.data.versions import versions

SECTIONS = {
    "Load": load,
    "Download": download,
    "People": people,
    "Runs": runs,
    "Queries": queries,
    "Candidates": candidates,
    "Carry over": carry_over,
    "Versions": versions,
    "Settings": decide,
    "Audit": audit,
}


def count() -> None:
    """Say above the sections how much there is now."""
    with ui.open_store() as store:
        contents, settings = store.contents(), store.settings()
    with counts.container(horizontal=True):
        st.caption(counts_line(contents), width="content")
        if contents.queries:
            ui.warn_of_default_guideline(settings)


counts = st.empty()
count()
section = address.choose_tab("Section", list(SECTIONS), "section", what="section")
SECTIONS[section]()
count()  # once more: the section may have loaded something

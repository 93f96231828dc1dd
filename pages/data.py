"""Files in and out, the people, the runs, the queries, and what the team decides once."""

import streamlit as st

from labeler import address, ui
from labeler.sections.audit import audit
from labeler.sections.candidates import candidates
from labeler.sections.carrying import carry_over
from labeler.sections.contents import counts_line
from labeler.sections.downloading import download
from labeler.sections.loading import load
from labeler.sections.people import people
from labeler.sections.queries import queries
from labeler.sections.runs import runs
from labeler.sections.settings import decide
from labeler.sections.versions import versions

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

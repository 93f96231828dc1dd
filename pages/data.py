"""Files in and out, the people, the runs, the queries, and what the team decides once."""

import streamlit as st

from labeler import ui
from labeler.sections.downloading import download
from labeler.sections.loading import load
from labeler.sections.people import people
from labeler.sections.queries import queries
from labeler.sections.runs import runs
from labeler.sections.settings import decide

SECTIONS = {
    "Load": load,
    "Download": download,
    "People": people,
    "Runs": runs,
    "Queries": queries,
    "Settings": decide,
}


def count() -> None:
    """Say above the sections how much there is now."""
    with ui.open_store() as store:
        counts.caption(ui.counts_line(store.contents()))


arriving = ui.arrive()
counts = st.empty()
count()
section = st.segmented_control(
    "Section",
    list(SECTIONS),
    default=None if "section" in arriving else "Load",
    required=True,
    key="section",
    bind="query-params",
    label_visibility="collapsed",
)
SECTIONS[section]()
count()  # once more: the section may have loaded something

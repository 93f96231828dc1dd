"""Data > Load: the last loads of golden grades, and a way to undo one."""

from __future__ import annotations

import streamlit as st

from labeler.model import LoadState, capitalize_first, format_count, format_minute
from labeler.store import Store
from labeler.ui import shared as ui

MOST_LISTED = 5
WHAT_HAPPENS = (
    "Its grades no longer count, and grades that it had replaced count again. Later grades of "
    "people and of other loads stay. The log keeps everything; to get the grades back, load the "
    "file again."
)


def show_loads() -> None:
    """List the last loads of golden grades in a fold; draw nothing if there are none."""
    with ui.open_store() as store:
        found = _last_loads(
            ui.database(), store.golden_set.data_revision(), store.judgments.revision()
        )
    if not found:
        return
    with st.expander("Loads of golden grades"):
        for state in reversed(found):
            _show_load(state)
        if found[0].load.number > 1:
            st.caption("Earlier ones are listed on the command line: `labeler undo-load`")


@st.cache_data(max_entries=4, show_spinner=False)
def _last_loads(path: str, data_revision: int, revision: int) -> list[LoadState]:
    with Store(path) as store:
        return store.golden_loads.states(newest=MOST_LISTED)


def _show_load(state: LoadState) -> None:
    """Show the state of a load in one line, and offer to undo what is left of it."""
    load = state.load
    with st.container(horizontal=True, vertical_alignment="center", key=f"load-{load.number}"):
        st.text(_describe_load(state), width="content")
        if not state.current:
            return
        with st.popover(f"Undo load {load.number} …", key=f"undo-load-{load.number}"):
            grades = format_count(state.current, "grade", "grades")
            st.text(f"Undo load {load.number}, {grades} of {load.file}?\n{WHAT_HAPPENS}")
            if st.button("Undo it", type="primary", key=f"undo-it-{load.number}"):
                with ui.guard(), ui.open_store() as store:
                    done = store.golden_loads.undo(load.number)
                ui.done(". ".join(map(capitalize_first, done.sentences())))


def _describe_load(state: LoadState) -> str:
    """Return a load's number and file, its time and author, and what is left of it."""
    load = state.load
    by = f" by {load.who}" if load.who else ""
    grades = format_count(state.brought, "grade", "grades")
    left = "" if state.current == state.brought else f", {state.current:,} of them current"
    undone = f", undone {format_minute(state.taken_back)}" if state.taken_back else ""
    return f"{load.number} · {load.file} · {format_minute(load.at)}{by} · {grades}{left}{undone}"

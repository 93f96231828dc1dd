"""Queries as they are kept: found, added, edited, retired; how they score is not known here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import streamlit as st

from labeler.model import counted
from labeler.ui import address, boards, choices
from labeler.ui import shared as ui
from labeler.ui.data import editing

if TYPE_CHECKING:
    from labeler.store import QuerySummary

MOST = 20
SHOWN: Mapping[str, tuple[bool | None, bool | None]] = {
    "all": (None, None),
    "in use": (False, None),
    "retired": (True, None),
    "leaked": (None, True),
}
"""Whether queries are retired, and whether they are marked as leaked; None is either."""
ADD = "Add a query"


def queries() -> None:
    """Find queries, add and edit them, and take them out of use or back into it."""
    if (opened := address.given("edit")) is not None:
        editing.edit(opened)
        return
    if address.given("new") is not None:
        editing.add()
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        words = address.write_text("Find", "find", placeholder="id or text")
        shown = address.choose("Which", list(SHOWN), "which", width=140)
        split = choices.choose_split(boards.selectable()[0], width=140)
        st.button(ADD, on_click=address.write, kwargs={"new": "true"})
    retired, leaked = SHOWN[shown]
    with ui.guard(), ui.open_store() as store:
        found, count = store.find_queries(
            words, retired=retired, split=split, leaked=leaked, most=MOST
        )
        leaks = {leak.query_id: leak.sentence for leak in store.leaked()}
        there = store.contents()
    if not there.queries + there.retired:
        st.write("There is no query yet. Load some here or with: `labeler load queries FILE`")
        return
    more = f", the first {MOST} shown; find the others by their id or text" * (count > MOST)
    st.caption(
        f"{count:,} of {there.queries + there.retired:,} queries{more} · {there.retired:,} "
        "retired. A retired query is left out of grading, scores and exports; its grades stay."
    )
    for query in found:
        row_of(query, leaks.get(query.query_id, ""))


def row_of(query: QuerySummary, leak: str) -> None:
    """Show a query with its grades, its marks and the buttons that edit, retire or restore it."""
    grades = counted(query.grades, "grade", "grades")
    split = f" · split {query.split}" if query.split else ""
    state = f" · retired on {query.retired_at[:10]}" if query.retired_at else ""
    with st.container(
        horizontal=True, vertical_alignment="center", border=True, horizontal_alignment="right"
    ):
        with st.container(gap=None):
            st.text(f"{query.query_id} · {query.text}")
            st.caption(f"{grades}{split}{state}")
            if leak:
                st.text(f"⚠ {leak}")
        if not query.retired_at:
            opened = {"edit": query.query_id, "seen": None}
            st.button("Edit", key=f"Edit-{query.query_id}", on_click=address.write, kwargs=opened)
        label = "Restore" if query.retired_at else "Retire"
        if st.button(label, key=f"{label}-{query.query_id}"):
            with ui.guard(), ui.open_store() as store:
                put = store.restore_query if query.retired_at else store.retire_query
                put(query.query_id)
            ui.done("Restored" if query.retired_at else "Retired")

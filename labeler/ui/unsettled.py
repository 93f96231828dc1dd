"""What carry-overs leave open, kept once for a server: for pages and for the desk."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from labeler.services.carryover import Opening
from labeler.store import Store

USEFUL_FIRST = (
    "The most useful come first: the highest likely grade, which one key confirms; then where "
    "words were marked before; and of these what the runs have nearest to their top. What is "
    "handed out at once is shuffled, so that the order tells nothing of ranks."
)


@st.cache_resource(show_spinner=False)
def opening() -> Opening:
    """Return the one that knows it."""
    return Opening()


def openings(store: Store) -> Sequence[tuple[str, str]]:
    """Return between which chunkings something may be left open, see `Store.openings`.

    It is looked at once for what is loaded, and not whenever somebody sits down to grade.
    """
    return _openings(str(store.path), store.golden_set_uuid(), store.data_revision(), store)


@st.cache_resource(max_entries=8, show_spinner=False)  # data would need Streamlit to run already
def _openings(
    path: str, golden_set: str, data_revision: int, _store: Store
) -> Sequence[tuple[str, str]]:
    return tuple(_store.openings())

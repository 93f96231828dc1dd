"""What carry-overs leave open, kept once for a server: for pages and for the desk."""

from __future__ import annotations

import streamlit as st

from labeler.carryover import Opening

USEFUL_FIRST = (
    "The most useful come first: the highest likely grade, which one key confirms; then where "
    "words were marked before; and of these what the runs have nearest to their top. What is "
    "handed out at once is shuffled, so that the order tells nothing of ranks."
)


@st.cache_resource(show_spinner=False)
def opening() -> Opening:
    """Return the one that knows it."""
    return Opening()

"""A page whose golden set does not answer just now comes back by itself; knows nothing of both."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from itertools import count

import streamlit as st

from labeler.errors import Away

LOOK_EVERY_SECONDS = 2.0


def come_back(ask: Callable[[], None]) -> None:
    """Run the page again as soon as ``ask``, which raises `Away` until then, raises nothing."""
    looks = count()

    @st.fragment(run_every=LOOK_EVERY_SECONDS)
    def look() -> None:
        if next(looks) == 0:
            return  # what the page just said is to be read, and pages that fail take turns
        with suppress(Away):
            ask()
            st.rerun()

    look()

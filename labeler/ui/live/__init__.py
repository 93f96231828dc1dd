"""The live part of a page: a fragment that runs again when the golden set has changed.

The server notifies a small component above the part (`labeler.web.push`). Only the part runs again,
so what is typed, open or focused elsewhere on the page stays.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import htpy
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from labeler.errors import LabelerError
from labeler.model.snapshot import GoldenSnapshot
from labeler.render.markup import show_html
from labeler.ui import scoreboards, url_state
from labeler.ui import shared as ui
from labeler.ui.live.row_order import keep_order, session_orders
from labeler.web.push import START
from labeler.web.static_js import loader, read_assets

QUIET = "font-size: 0.875rem; color: color-mix(in srgb, currentColor 72%, transparent)"

# On a page with such a line the header says "live" while the server answers.
STYLE = """
html[data-live="live"] .stApp:has(.st-key-follows) .top .live { display: flex; }
"""

_line = st.components.v2.component(
    "labeler_live",
    html='<p><span class="state" role="status" tabindex="-1"></span> '
    '<button class="again" hidden></button></p>',
    css=read_assets("live/live.css"),
    js=loader("live", "live"),
)


def follow(show: Callable[[Callable[[str], None]], None]) -> None:
    """Show a part of the page now, and again whenever the golden set has changed.

    ``show`` reads the store each time. Its argument is a function that writes the line above the
    part, for example how much is graded. An error of ours is shown in place of the part, and the
    part still follows changes.

    The whole page runs again if something other than a grade was written, such as a run, a query or
    a setting. It also does if the user changed parameters inside the part that links pass on.

    For a frozen golden set the part is shown once, with a line that says so.
    """
    transferred = url_state.get_all(url_state.KEPT_PARAMETERS)
    with ui.guard(), ui.open_store() as store:
        data_revision = store.golden_set.data_revision()
        frozen = scoreboards.shown_version(store)

    @st.fragment
    def followed() -> None:
        if url_state.get_all(url_state.KEPT_PARAMETERS) != transferred:
            st.rerun()
        place = st.container(key="live", horizontal=True, vertical_alignment="center")
        orders = session_orders()
        orders.moved = 0
        newest = None
        try:
            with ui.open_store() as store:
                newest = (
                    store.golden_set.newest()
                )  # read first, so that it is never newer than what is shown
            if newest[-1] != data_revision:
                st.rerun()
            show(partial(_say_over, place))
        except LabelerError as error:
            ui.explain(error)
        if newest is None:
            return
        with place:
            if frozen is not None:
                _say_frozen(frozen)
                return
            _line(
                key="follows",
                data={"newest": newest, "start": START, "moved": orders.moved},
                on_news_change=lambda: None,
                on_again_change=orders.forget,
                width="content",
            )

    followed()


def _say_over(place: DeltaGenerator, words: str) -> None:
    with place:
        show_html(htpy.span(style=QUIET)[words], width="content")  # it names chunkings


def _say_frozen(content: GoldenSnapshot) -> None:
    """Say that the page shows a frozen golden set, and link to the live one."""
    version = content.version
    if version is not None:
        by = f" by {version.by}" if version.by else ""
        st.text(
            f"Frozen as “{version.name}” on {version.at[:10]}{by}: later grades do not change it"
        )
        st.button(
            "Show it live",
            on_click=url_state.remove,
            args=[["golden"]],
            key="thaw",
            type="tertiary",
        )

"""The script Streamlit runs for every page: the table of pages, the bar of links, the guard."""

from __future__ import annotations

import streamlit as st

from labeler import ui
from labeler.places import folder

PAGES = [
    st.Page(folder("pages") / "label.py", title="Label", url_path="home", default=True),
    st.Page(folder("pages") / "scores.py", title="Scores", url_path="scores"),
    st.Page(folder("pages") / "compare.py", title="Compare", url_path="compare"),
    st.Page(folder("pages") / "slices.py", title="Slices", url_path="slices"),
    st.Page(folder("pages") / "queries.py", title="Queries", url_path="queries"),
    st.Page(folder("pages") / "data.py", title="Data", url_path="data"),
]


def selections() -> dict[str, list[str]]:
    """Return the URL's parameters, several values of one name included."""
    return {name: st.query_params.get_all(name) for name in st.query_params}


def open_label() -> None:
    """Lead from /label, where people look for it, to the first page, which Streamlit has at /."""
    st.switch_page(PAGES[0], query_params=selections())


LEADING_ELSEWHERE = [st.Page(open_label, url_path="label", visibility="hidden")]

st.set_page_config(page_title="labeler", page_icon="📋", layout="wide")
page = st.navigation([*PAGES, *LEADING_ELSEWHERE], position="hidden")

# Streamlit leaves six lines free above every page, which a laptop's screen cannot spare, and shows
# the focus on a link no differently from the page one is on.
st.html(
    """<style>
    .stMainBlockContainer { padding-top: 2.75rem; padding-bottom: 3rem; }
    [data-testid="stPageLink-NavLink"]:focus-visible { outline: 3px solid currentColor; }
    </style>"""
)

# Streamlit's own links drop the query parameters, where every selection lives.
with st.container(horizontal=True, gap="medium", key="navigation"):
    for target in PAGES:
        st.page_link(target, query_params=selections())

with ui.guard():
    page.run()

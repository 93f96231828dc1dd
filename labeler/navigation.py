"""The script Streamlit runs for every page: the table of pages, who may open which, the guard.

A page that a visitor may not open is never given to Streamlit: in its place, under its address,
stands the sentence that says so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import streamlit as st

from labeler import ui
from labeler.access import Door, Person
from labeler.places import folder


@dataclass(frozen=True, slots=True)
class Place:
    """A page: its file, its title, its address, and whether it is for graders too."""

    file: str
    title: str
    url_path: str
    for_graders: bool = False

    def is_open_to(self, person: Person | None) -> bool:
        """Say whether a visitor may open the page."""
        return person is not None and (person.is_lead or self.for_graders)


LABEL = Place("label.py", "Label", "home", for_graders=True)
PLACES = [
    LABEL,
    Place("scores.py", "Scores", "scores"),
    Place("compare.py", "Compare", "compare"),
    Place("slices.py", "Slices", "slices"),
    Place("queries.py", "Queries", "queries"),
    Place("review.py", "Review", "review"),
    Place("data.py", "Data", "data"),
]


def page_of(place: Place, person: Person | None) -> st.Page:
    """Return what a visitor finds at a place."""
    found: Path | Callable[[], None] = folder("pages") / place.file
    if not place.is_open_to(person):
        found = partial(turn_away, place) if person else ask_for_invitation
    return st.Page(found, title=place.title, url_path=place.url_path, default=place is LABEL)


def turn_away(place: Place) -> None:
    """Say to a grader whom a page is for."""
    if Door.of_this_server().graders_only:
        st.subheader("This server is for grading only")
    else:
        st.subheader(f"{place.title} is for leads")
    st.page_link(pages[LABEL], label="Go to Label, where chunks are graded")


def ask_for_invitation() -> None:
    """Say to a visitor who is not known how to come in."""
    address = ui.login_address()
    if address is not None:
        st.subheader("You are not on the list")
        st.text(
            f"You are logged in as {address}, and nobody with this address is invited. "
            "Ask whoever runs this to invite you."
        )
    elif ui.is_logged_in():
        st.subheader("Your login names no confirmed address")
        st.text("Confirm your e-mail address where you log in, or log in as somebody else.")
    else:
        st.subheader("You need an invitation")
        st.text("Open the link you were given, or ask whoever runs this for one.")
        ui.login_buttons()
        return
    ui.logout_button()


def selections() -> dict[str, list[str]]:
    """Return the URL's parameters, several values of one name included."""
    return {name: st.query_params.get_all(name) for name in st.query_params}


def open_label() -> None:
    """Lead from /label, where people look for it, to the first page, which Streamlit has at /."""
    st.switch_page(pages[LABEL], query_params=selections())


st.set_page_config(page_title="labeler", page_icon="📋", layout="wide")

with ui.guard():
    visitor = ui.person()

pages = {place: page_of(place, visitor) for place in PLACES}
leading_elsewhere = [st.Page(open_label, url_path="label", visibility="hidden")]
page = st.navigation([*pages.values(), *leading_elsewhere], position="hidden")

# Streamlit leaves six lines free above every page, which a laptop's screen cannot spare, and shows
# the focus on a link no differently from the page one is on.
st.html(
    """<style>
    .stMainBlockContainer { padding-top: 2.75rem; padding-bottom: 3rem; }
    [data-testid="stPageLink-NavLink"]:focus-visible { outline: 3px solid currentColor; }
    .st-key-navigation button { min-height: 0; padding: 0; }
    </style>"""
)

links = [pages[place] for place in PLACES if place.is_open_to(visitor)]
has_login = visitor is not None and visitor.known_by == "login"
if len(links) > 1 or has_login:
    with st.container(horizontal=True, gap="medium", vertical_alignment="center", key="navigation"):
        # Streamlit's own links drop the query parameters, where every selection lives.
        for target in links if len(links) > 1 else []:
            st.page_link(target, query_params=selections())
        if has_login:
            ui.logout_button(quiet=True)

with ui.guard():
    page.run()

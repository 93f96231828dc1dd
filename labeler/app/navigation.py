"""The script Streamlit runs for every page: the list of pages, who may open which, error handling.

A page that a visitor may not open is never given to Streamlit; under its address is a
function that says so. Rules for the layout of all pages are here too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import streamlit as st

from labeler.paths import folder
from labeler.render.markup import show_html, style
from labeler.ui import filter_widgets, links, scoreboards, url_state
from labeler.ui import shared as ui
from labeler.web.auth.access import AccessPolicy, Person


@dataclass(frozen=True, slots=True)
class PageSpec:
    """A page: its file, its title, its path, and what its URL names.

    ``runs`` are parameters that always name a run: a link without them would show another run once
    the first is dropped. ``of_versions``: the page can show frozen golden sets.
    """

    file: str
    title: str
    path: str
    for_graders: bool = False
    runs: Sequence[str] = ()
    of_versions: bool = False

    def is_open_to(self, person: Person | None) -> bool:
        """Say whether a visitor may open the page."""
        return person is not None and (person.is_lead or self.for_graders)


LABEL = PageSpec("label.py", "Label", "/", for_graders=True)
PAGE_SPECS = [
    LABEL,
    PageSpec("scores.py", "Scores", "/scores", of_versions=True),
    PageSpec("compare.py", "Compare", "/compare", runs=("a", "b"), of_versions=True),
    PageSpec("slices.py", "Slices", "/slices", runs=("a",), of_versions=True),
    PageSpec("queries.py", "Queries", "/queries", runs=("a",), of_versions=True),
    PageSpec("review.py", "Review", "/review"),
    PageSpec("data.py", "Data", "/data"),
]
# An opened query is a place of its own, to which Back leads, and so are the fields of one.
HISTORY_PARAMETERS = ("query", "edit", "new", "take")


def streamlit_page(place: PageSpec, person: Person | None) -> st.Page:
    """Return what a visitor finds at a place."""
    found: Path | Callable[[], None] = folder("pages") / place.file
    if not place.is_open_to(person):
        found = partial(say_leads_only, place) if person else ask_for_invitation
    return st.Page(
        found, title=place.title, url_path=place.path.strip("/") or "home", default=place is LABEL
    )


def say_leads_only(place: PageSpec) -> None:
    """Say to a grader whom a page is for."""
    if AccessPolicy.from_environment().graders_only:
        st.subheader("This server is for grading only")
    else:
        st.subheader(f"{place.title} is for leads")
        ui.note_refusal(place.title)
    links.link("Go to Label, where chunks are graded", LABEL.path)


def ask_for_invitation() -> None:
    """Say to whoever is let in no more, while their page was open, where they find out why."""
    st.subheader("You need an invitation")
    st.text("You were let in and are not any more: you logged out, or your invitation ended.")
    links.leave("Open this page anew", LABEL.path)


def rewrite_old_parameters() -> None:
    """Write an address of Queries as it once was, with its run as ``run``, as it is today."""
    if (run := url_state.get("run")) is not None:
        against = url_state.get("a")
        url_state.write(run=None, **({"a": against, "b": run} if against else {"a": run}))


def default_runs(place: PageSpec, names: Sequence[str]) -> dict[str, str]:
    """Return the runs a page shows where its address does not say: the first ones left."""
    given = {name: run for name in ("a", "b") if (run := url_state.get(name)) is not None}
    left = iter([run for run in names if run not in given.values()])
    return {name: run for name in place.runs if name not in given and (run := next(left, None))}


def page_link(place: PageSpec, names: Sequence[str]) -> str:
    """Return the address of a page that shows the same runs and queries as the one one is on."""
    kept = {**default_runs(place, names), **url_state.get_all(url_state.KEPT_PARAMETERS)}
    if not place.of_versions:
        kept.pop("golden", None)
    return url_state.to(place.path, **kept)


st.set_page_config(page_title="labeler", page_icon="📋", layout="wide")

with ui.guard():
    visitor = ui.person()

pages = {place: streamlit_page(place, visitor) for place in PAGE_SPECS}
page = st.navigation(list(pages.values()), position="hidden")
here = next(place for place in PAGE_SPECS if place.title == page.title)

# Streamlit leaves six lines free above every page, which a laptop's screen cannot spare.
# And it writes a chosen tab in the primary colour on a tint of it: in the dark, no colour can be
# read there that also carries the white of a primary button.
# Until the script of a box has come, Streamlit keeps another height free for it than it will have,
# and what is read below would move.
# The file that a table of its own offers has cells that a spreadsheet runs: ours stand below it.
STYLE = """
.stMainBlockContainer { padding-top: 2.75rem; padding-bottom: 3rem; }
.stButtonGroup [data-selected][data-selected],
.stButtonGroup [data-selected][data-selected]:hover { color: inherit; }
.st-key-navigation { row-gap: 0; }
[data-testid="stText"] { overflow-x: clip; }
[data-testid="stElementToolbarButton"]:has(button[aria-label^="Download"]) { display: none; }
.st-key-navigation button { min-height: 0; padding: 0; }
.st-key-choices > .stElementContainer > [data-testid="stSkeleton"] { height: 4.25rem; }
.st-key-live [data-testid="stSkeleton"] { height: 1.625rem; }
:is(.st-key-show, .st-key-page) > [data-testid="stSkeleton"] { height: 2rem; }
.st-key-decide { min-width: 13.6rem; }
"""
show_html(style(STYLE + links.STYLE + filter_widgets.STYLE))

if here.path == "/queries":
    rewrite_old_parameters()
if not here.of_versions and url_state.get("golden"):
    url_state.write(golden=None)  # this page is of the live set, whatever its reader comes from
open_places = [place for place in PAGE_SPECS if place.is_open_to(visitor)]
with ui.guard():
    runs = scoreboards.run_names() if len(open_places) > 1 else []
with st.container(horizontal=True, gap="medium", vertical_alignment="center", key="navigation"):
    shown = open_places if len(open_places) > 1 else []
    leave = "/leave" if visitor is not None and visitor.known_by != "name" else None
    if shown or leave:
        links.page_links({p.title: page_link(p, runs) for p in shown}, here.title, leave)
    links.follow(
        [place.path for place in PAGE_SPECS], HISTORY_PARAMETERS, missing=default_runs(here, runs)
    )

with ui.guard():
    page.run()

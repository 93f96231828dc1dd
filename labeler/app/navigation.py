"""The script Streamlit runs for every page: header, title, who may open which, error handling.

A page that a visitor may not open is never given to Streamlit; under its address is a
function that says so. Rules for the layout of all pages are here too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import streamlit as st

from labeler.app.pages import LABEL, PAGE_SPECS, SCORES, PageSpec
from labeler.errors import LabelerError
from labeler.model import Settings
from labeler.paths import folder, help_url
from labeler.render import frame
from labeler.render.markup import show_html, style
from labeler.render.tokens import TOKENS_CSS
from labeler.render.words import DEFAULT_LANGUAGE, LANGUAGES, Words
from labeler.ui import filter_widgets, links, live, scoreboards, url_state
from labeler.ui import shared as ui
from labeler.web.auth.access import AccessPolicy, Person

# An opened query is a place of its own, to which Back leads, and so are the fields of one.
HISTORY_PARAMETERS = ("query", "edit", "new", "take")

# Until the script of a box has come, Streamlit keeps another height free for it than it will have,
# and what is read below would move.
# The file that a table of its own offers has cells that a spreadsheet runs: ours stand below it.
# Streamlit writes white on the primary colour, which in the dark is too pale for that, and
# captions, keys and hints in the text's colour at six tenths, too pale to be read on this ground.
STYLE = f"""
.stMainBlockContainer {{ max-width: {frame.WIDTH}; padding: 0 1.5rem 3rem; }}
@media (max-width: 40rem) {{ .stMainBlockContainer {{ padding-inline: 1rem; }} }}
[data-testid="stHeader"] {{ top: 3.5rem; }}
.stApp {{ font-variant-numeric: tabular-nums; }}
.stApp button[kind^="primary"], .stApp button[kind^="primary"]:hover {{ color: var(--on-accent); }}
[data-testid="stMultiSelectTagsContainer"] > span > span,
[data-testid="stMultiSelectTagsContainer"] > span > span * {{ color: var(--on-accent); }}
.stApp [data-testid="stCaptionContainer"], .stApp [data-testid="stCaptionContainer"] *,
.stApp button:enabled kbd,
.stApp [data-testid="stFileUploaderDropzoneInstructions"] * {{ color: var(--muted); opacity: 1; }}
.stApp button[kind="tertiary"] {{ text-decoration: underline; text-underline-offset: 3px; }}
.stApp [data-testid="stMain"] .stExpander:not([class*="st-key-folded"] *) details {{
  border: solid var(--line); border-width: 1px 0; border-radius: 0;
}}
.st-key-navigation {{ row-gap: 0; }}
.stApp [data-testid="stHeading"] h2 {{
  font-size: 1.125rem; line-height: 1.5rem; padding: 0.5rem 0 1rem; letter-spacing: 0;
}}
[data-testid="stText"] {{ overflow-x: clip; }}
[data-testid="stElementToolbarButton"]:has(button[aria-label^="Download"]) {{ display: none; }}
.st-key-choices > .stElementContainer > [data-testid="stSkeleton"] {{ height: 4.25rem; }}
.st-key-live [data-testid="stSkeleton"] {{ height: 1.625rem; }}
:is(.st-key-show, .st-key-page) > [data-testid="stSkeleton"] {{ height: 2rem; }}
.st-key-decide {{ min-width: 13.6rem; }}
"""


def streamlit_page(place: PageSpec, person: Person | None, words: Words) -> st.Page:
    """Return what a visitor finds at a place."""
    found: Path | Callable[[], None] = folder("pages") / place.file
    if not place.is_open_to(person):
        found = (
            partial(say_leads_only, place, words) if person else partial(say_access_ended, words)
        )
    return st.Page(
        found, title=place.title, url_path=place.path.strip("/") or "home", default=place is LABEL
    )


def say_leads_only(place: PageSpec, words: Words) -> None:
    """Say to a grader whom a page is for."""
    if AccessPolicy.from_environment().graders_only:
        show_html(frame.title_row(words.say("page.grading_only"), ""))
    else:
        show_html(frame.title_row(words.say("page.for_leads", page=place.title), ""))
        ui.note_refusal(place.title)
    links.link(words.say("page.to_grading", page=words.say("page.title")), LABEL.path)


def say_access_ended(words: Words) -> None:
    """Say to whoever has no access any more, while their page was open, where they find out why."""
    show_html(frame.title_row(words.say("page.ended"), ""))
    st.text(words.say("page.ended_help"))
    links.leave(words.say("page.open_again"), LABEL.path)


def rewrite_old_parameters() -> None:
    """Write an address of Queries as it once was, with its run as ``run``, as it is today."""
    if (run := url_state.get("run")) is not None:
        against = url_state.get("a")
        url_state.write(run=None, **({"a": against, "b": run} if against else {"a": run}))


def default_runs(place: PageSpec, names: Sequence[str]) -> dict[str, str]:
    """Return the runs a page shows where its address does not say, of ``names`` from the best on.

    The best is B, and the next one A.
    """
    given = {name: run for name in ("a", "b") if (run := url_state.get(name)) is not None}
    wanted = [name for name in place.runs if name not in given]
    left = [run for run in names if run not in given.values()][: len(wanted)]
    return dict(zip(wanted, reversed(left), strict=False))


def page_link(place: PageSpec, names: Sequence[str]) -> str:
    """Return the address of a page that shows the same runs and queries as the one one is on."""
    kept = {**default_runs(place, names), **url_state.get_all(url_state.KEPT_PARAMETERS)}
    if not place.of_versions:
        kept.pop("golden", None)
    return url_state.to(place.path, **kept)


def show_frame(
    place: PageSpec, name: str | None, person: Person | None, runs: Sequence[str], words: Words
) -> None:
    """Show a page's header, with the pages that its visitor may open, and its title."""
    if person is None:
        show_html(frame.header(None))
        return
    open_places = [each for each in PAGE_SPECS if each.is_open_to(person)]
    home = SCORES if SCORES in open_places else LABEL
    # a lead goes from Label to pages in English: its name among theirs stays
    is_graders = place is LABEL or not person.is_lead
    titles = {each: each.title if person.is_lead else title_of(each, words) for each in open_places}
    header = frame.header(
        name,
        home=page_link(home, runs),
        pages={titles[each]: page_link(each, runs) for each in open_places},
        here=titles.get(place),
        person=person.name,
        leave="/leave" if person.known_by != "name" else None,
        sign_out=words.say("sign_in.sign_out") if is_graders else "Sign out",
        mine=own_grades(words) if place is LABEL and person.name else None,
    )
    title = title_of(place, words)
    guide = help_url(place.guide) if place.guide else None
    row = frame.title_row(title, place.answers, guide) if place in open_places else None
    show_html(header, row)


def own_grades(words: Words) -> tuple[str, str]:
    """Return the words and the address of what its visitor has graded."""
    return words.say("mine.title"), url_state.page_url(LABEL.path, mine="true")


def title_of(place: PageSpec, words: Words) -> str:
    """Return what a page is called: Label, the graders', in their language."""
    return words.say("page.title") if place is LABEL else place.title


def find_visitor() -> tuple[Person | None, str, Words, Sequence[str]]:
    """Return who looks at this page, the golden set's name, its words, and the runs for a lead.

    While none of it can be read, say so under a header, and end the page.
    """
    try:
        person, name, words = ui.visitor_and_frame()
        return person, name, words, scoreboards.run_names() if person and person.is_lead else []
    except LabelerError as error:
        show_html(frame.header(None), frame.title_row(frame.PRODUCT, None))
        ui.explain(error, words=ui.graders_words(Settings()))
        st.stop()


st.set_page_config(page_title=frame.PRODUCT, page_icon=frame.ICON, layout="wide")
show_html(
    style(TOKENS_CSS + frame.FRAME_CSS + STYLE + links.STYLE + live.STYLE + filter_widgets.STYLE)
)
visitor, golden_set_name, words, run_names = find_visitor()
pages = {place: streamlit_page(place, visitor, words) for place in PAGE_SPECS}
page = st.navigation(list(pages.values()), position="hidden")
here = next(place for place in PAGE_SPECS if place.title == page.title)
title = frame.browser_title(title_of(here, words), golden_set_name if visitor else None)
st.set_page_config(page_title=title)

if here.path == "/queries":
    rewrite_old_parameters()
if not here.of_versions and url_state.get("golden"):
    url_state.write(golden=None)  # this page is of the live set, whatever its reader comes from
with st.container(key="navigation"):
    show_frame(here, golden_set_name, visitor, run_names, words)
    links.follow(
        [place.path for place in PAGE_SPECS],
        HISTORY_PARAMETERS,
        missing=default_runs(here, run_names),
    )

is_for_graders = here is LABEL or visitor is None or not visitor.is_lead
ui.warn_of_unknown_parameters(
    words if is_for_graders else replace(words, language=LANGUAGES[DEFAULT_LANGUAGE])
)
with ui.guard(words=words if is_for_graders else None):
    page.run()
ranked = scoreboards.run_names() if run_names else []
# The first page that ranks the runs is drawn again, so that its header links to the best ones. Not
# where runs were loaded, renamed or dropped: the page would no longer say how that went.
if ranked != run_names and sorted(ranked) == sorted(run_names):
    st.rerun()

"""The Review page: a section with its choices, and below them its content, live."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st

from labeler.store import Store
from labeler.ui import filter_widgets, live, scoreboards, transfers, url_state
from labeler.ui import shared as ui
from labeler.ui.review import agreement, disagreements, health
from labeler.ui.review.comments import KINDS_OF_COMMENTS, kinds_of_comments, show_comments
from labeler.ui.review.progress import choose_facet, show_progress, show_work
from labeler.ui.review.rows import ReviewChoice

WORK, AGREEMENT, DISAGREEMENTS = "Work", "Agreement", "Disagreements"
COMMENTS, HEALTH, TRANSFERRED = "Comments", "Health", "Transferred"


def show_work_and_progress(choice: ReviewChoice) -> None:
    """Show what each grader has done, and how much is left to do."""
    show_work(choice)
    show_progress(choice)


def show_agreement(choice: ReviewChoice) -> None:
    """Show how far graders agree, by the choices of that section."""
    if choice.agreement is not None:
        agreement.show(choice.agreement)


SECTIONS: Mapping[str, Callable[[ReviewChoice], None]] = {
    WORK: show_work_and_progress,
    AGREEMENT: show_agreement,
    DISAGREEMENTS: lambda _: disagreements.show(),
    COMMENTS: show_comments,
    HEALTH: lambda _: health.show(),
    TRANSFERRED: lambda _: transfers.show_transferred(),
}


def show_page() -> None:
    """Show the page."""
    choice = choose()
    live.follow(lambda _: SECTIONS[choice.section](choice))


def choose() -> ReviewChoice:
    """Let the user choose a section, and make the choices of that section."""
    run = url_state.get("a") or next(iter(scoreboards.run_names()), None)
    with ui.open_store() as store:
        sections, settings = sections_with_something(store), store.settings.read()
        has_queries = bool(store.queries.count())
        kinds = comments_there(
            ui.database(), store.golden_set.data_revision(), store.judgments.revision()
        )
    section = url_state.choose_tab("Section", sections, "review", what="section", clears=["show"])
    if has_queries and section != DISAGREEMENTS:  # its cases need the room
        ui.warn_of_default_guideline(settings)
    selected = scoreboards.shown_selection()
    facet = asked = kind = None
    if section == AGREEMENT:
        asked = agreement.choose()
    elif section == DISAGREEMENTS:
        disagreements.choose()
    elif section == HEALTH:
        health.choose()
    else:
        with filter_widgets.row():
            if section == COMMENTS:
                found = [each for each in KINDS_OF_COMMENTS if each in kinds]
                named = url_state.get("show")
                if named and named in KINDS_OF_COMMENTS and named not in kinds:
                    found.append(named)
                kind = url_state.choose_tab(
                    "Which", found or list(KINDS_OF_COMMENTS), "show", what="kind of comment"
                )
            facet = choose_facet() if section == WORK else None
            filter_widgets.choose_selection(width=220)
    return ReviewChoice(section, run, selected, facet, asked, kind)


def sections_with_something(store: Store) -> list[str]:
    """Return the sections that have something to act on, and the one in the URL."""
    several = len(store.activity.names_of_graders()) > 1
    kinds = comments_there(
        ui.database(), store.golden_set.data_revision(), store.judgments.revision()
    )
    needed = {
        AGREEMENT: several,
        DISAGREEMENTS: several,
        COMMENTS: bool(kinds),
        HEALTH: bool(store.queries.count()),
        TRANSFERRED: transfers.has_other_chunking(store),
    }
    return [name for name in SECTIONS if needed.get(name, True) or name == url_state.get("review")]


@st.cache_data(max_entries=4, show_spinner=False)
def comments_there(path: str, data_revision: int, revision: int) -> tuple[str, ...]:
    """Return the kinds of comments that exist; cached until a change."""
    with Store(path) as store:
        return kinds_of_comments(store)

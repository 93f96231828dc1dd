"""The Review page: a section, the choices of that section, and below them what it shows, live."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from labeler.ui import filter_widgets, live, scoreboards, transfers, url_state
from labeler.ui import shared as ui
from labeler.ui.review import agreement, disagreements, health
from labeler.ui.review.progress import choose_facet, show_progress, show_work
from labeler.ui.review.remarks import show_cannot_tell, show_notes, show_remarks
from labeler.ui.review.rows import ReviewChoice


def show_agreement(choice: ReviewChoice) -> None:
    """Show how far graders agree, by what was chosen for that."""
    if choice.agreement is not None:
        agreement.show(choice.agreement)


TRANSFERRED = "Transferred"  # a section only where there is more than one chunking
SECTIONS: Mapping[str, Callable[[ReviewChoice], None]] = {
    "Work": show_work,
    "Progress": show_progress,
    "Health": lambda _: health.show(),
    "Agreement": show_agreement,
    "Disagreements": lambda _: disagreements.show(),
    "Can't tell": show_cannot_tell,
    "Remarks on queries": show_remarks,
    "Notes": show_notes,
    TRANSFERRED: lambda _: transfers.show_transferred(),
}


def show_page() -> None:
    """Show the page."""
    choice = choose()
    live.follow(lambda _: SECTIONS[choice.section](choice))


def choose() -> ReviewChoice:
    """Let the user choose a section, and what it is of."""
    run = url_state.get("a") or next(iter(scoreboards.run_names()), None)
    with ui.open_store() as store:
        is_shown = transfers.has_other_chunking(store)
        sections = [name for name in SECTIONS if is_shown or name != TRANSFERRED]
        section = url_state.choose_tab("Section", sections, "review", what="section")
        ui.warn_of_default_guideline(store.settings())
    selected = scoreboards.shown_selection()
    facet = asked = None
    if section == "Agreement":
        asked = agreement.choose()
    elif section == "Disagreements":
        disagreements.choose()
    elif section == "Health":
        health.choose()
    else:
        with filter_widgets.row():
            facet = choose_facet() if section == "Progress" else None
            filter_widgets.choose_selection(width=220)
    return ReviewChoice(section, run, selected, facet, asked)

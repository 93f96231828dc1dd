"""A carry-over in words, for the command and the page: how much it is, and what was left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from labeler.model import chunking_in_words, counted
from labeler.services.carryover.finding import Carryover

MOST_NAMED = 5


def summary(found: Carryover) -> Iterator[str]:
    """Say what was asked for, and how much of it was carried over before."""
    basis = found.basis
    between = f"{chunking_in_words(basis.old_name)} to {chunking_in_words(basis.new_name)}"
    runs = counted(basis.runs, "run", "runs")
    asked = counted(len(found.outcomes), "pair is", "pairs are")
    graded = counted(found.graded, "more has", "more have")
    top = f"the top {basis.depth:,} of {runs}"
    yield f"From {between}: {asked} asked for by {top}; {graded} a grade"
    if again := sum(each.before is not None for each in found.outcomes):
        yield f"{counted(again, 'of these was', 'of these were')} carried over before"


def of_log(found: Carryover) -> str:
    """Say what is added to the log."""
    new = counted(len(found.fresh), "grade", "grades")
    lost = f", {len(found.withdrawn):,} taken back" if found.withdrawn else ""
    return f"{new} carried over{lost}"


def amiss(found: Carryover) -> Iterator[str]:
    """Give in sentences what could not be placed or carried over."""
    basis, places = found.basis, found.places
    for names, said in (
        (places.unplaced, "not found in the old text: nothing is decided of them"),
        (places.ambiguous, "found in several places alike: nothing is decided of them"),
    ):
        if names:
            yield f"{len(names):,} of {len(places.new):,} new chunks {said}; {_some(names)}"
    if found.outdated:
        grades = counted(found.outdated, "golden grade is", "golden grades are")
        yield f"{grades} not carried over: of an earlier text, or of a chunk without one"
    if basis.derived:
        grades = counted(basis.derived, "golden grade was", "golden grades were")
        yield (
            f"{grades} carried over to {chunking_in_words(basis.old_name)}, and not further: carry "
            "over from where people gave them"
        )
    if basis.unreadable:
        pairs = counted(basis.unreadable, "pair is", "pairs are")
        yield f"{pairs} asked for and not looked at: no text is known of the chunk"
    if lost := found.lost:
        which = [f"{each.found.query_id} {each.found.chunk_id}" for each in lost]
        grades = counted(len(lost), "grade", "grades")
        yield (
            f"{grades} carried over before, which do not follow any more: their pairs are open "
            f"again; {_some(which)}"
        )


def _some(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more:,} more" if more > 0 else "")

"""Grades of one chunking carried over to another: first what follows, then the log, and back."""

from __future__ import annotations

import streamlit as st

from labeler.model import chunking_in_words, chunking_named, chunking_shown, counted
from labeler.services.carryover import (
    STATES,
    Carryover,
    amiss,
    follow,
    of_log,
    place,
    record,
    summary,
)
from labeler.store import CarriedOver
from labeler.ui import address, links, unsettled
from labeler.ui import shared as ui

WHAT_IT_DOES = (
    "When documents are cut anew, every chunk is new, and grades are of chunks. What old grades "
    "say of new chunks is looked up first, and nothing is written. Grades that follow then count "
    "below all others, as nobody's, and only while what they rest on stands. The rest is left to "
    "graders."
)
COMMANDS = """\
labeler load chunks FILE --chunking v2
labeler load run FILE --chunking v2"""
MOST_REASONS, MOST_WARNINGS = 30, 3


def carry_over() -> None:
    """Let a lead look at what follows for another chunking, keep it, and take it back."""
    with ui.guard(), ui.open_store() as store:
        found, done = store.chunkings(), store.carried_over()
        settings = store.settings()
    graded = [chunking_shown(each.name) for each in found if each.golden]
    asked_for = [chunking_shown(each.name) for each in found if each.runs]
    st.caption(WHAT_IT_DOES)
    if settings.carried != "count":
        st.text("⚠ Carried grades do not count now: see Settings.")
    for each in done[:1]:
        _offer_undo(each)
    if not any(old != new for old in graded for new in asked_for):
        ui.say_empty(
            "There is nothing to carry over to",
            "It takes grades of one chunking, and a run on another.",
            COMMANDS,
        )
        return
    with ui.guard(), st.container(horizontal=True, vertical_alignment="bottom"):
        old = address.choose("From", graded, "from", what="chunking", width=220)
        others = [name for name in asked_for if name != old]
        if not others:
            st.text("No run is on another chunking.")
            return
        new = address.choose("To", others, "to", what="chunking", width=220)
        if st.button("See what follows"):
            address.write(look="yes")
    if address.given("look"):
        _look(chunking_named(old), chunking_named(new))


def _look(old: str, new: str) -> None:
    """Show what follows, and keep it if that is wanted."""
    with ui.guard():
        found = _found(old, new)
    for said in summary(found):
        st.text(said)
    st.text(" · ".join(f"{state} {found.states[state]:,}" for state in STATES))
    rows = [
        {"state": state, "grade": grade, "pairs": pairs, "why": why}
        for state, grade, why, pairs in found.by_reason()[:MOST_REASONS]
    ]
    if rows:
        st.dataframe(rows, hide_index=True)
    for said in list(amiss(found))[:MOST_WARNINGS]:
        st.text(f"⚠ {said}")
    _offer(found)
    if found.left:
        st.text(f"{counted(found.left, 'pair is', 'pairs are')} left to graders.")
        _link_to_open(old, new)


def _offer(found: Carryover) -> None:
    if not found.is_new:
        st.text("Nothing new: what follows is there already.")
        return
    st.text(f"{of_log(found)}, if you go on.")
    many = counted(len(found.fresh), "grade", "grades")
    if st.button(f"Carry over {many}", type="primary"):
        bar = st.progress(0.0, "Writing …")
        with ui.guard(), ui.open_store() as store:
            record(store, found, lambda share: _tell(bar, share, "Writing …"))
        ui.done("Carried over", look=None)


def _link_to_open(old: str, new: str) -> None:
    """Lead to Label, to what a carry-over leaves open, and say in which order it comes there."""
    shown = {"from": chunking_shown(old), "to": chunking_shown(new)}
    links.link("Grade what is open", address.to("/", **shown))
    st.caption(unsettled.USEFUL_FIRST)


def _offer_undo(last: CarriedOver) -> None:
    """Say what was carried over last, and take it back if that is wanted."""
    between = f"from {chunking_in_words(last.old)} to {chunking_in_words(last.new)}"
    grades = counted(last.grades, "grade", "grades")
    with st.container(horizontal=True, vertical_alignment="center"):
        st.text(f"{grades} carried over {between} on {last.at[:10]}", width="content")
        if st.button("Take it back", help="Every number is what it was before."):
            with ui.guard(), ui.open_store() as store:
                store.undo_carried(last.old, last.new)
            ui.done("Taken back", look=None)
    links.link("See all of them", address.to("/review", review="Carried over"))
    if not address.given("look"):
        _link_to_open(last.old, last.new)


@st.cache_resource(show_spinner=False)
def _latest(path: str) -> list[tuple[tuple[object, ...], Carryover]]:
    """Return what was found last, and of what: a cached function could not show its progress."""
    return []


def _found(old: str, new: str) -> Carryover:
    """Return what follows now, with progress where it is not known yet."""
    kept = _latest(ui.database())
    with ui.open_store() as store:
        key = (store.golden_set_uuid(), store.data_revision(), store.revision(), old, new)
        for known, found in kept:
            if known == key:
                return found
        stand = store.data_revision(), store.revision()
        bar = st.progress(0.0, "Placing chunks …")
        basis = store.carry_basis(old, new)
    places = place(basis, lambda share: _tell(bar, share / 2, "Placing chunks …"))
    found = follow(basis, places, lambda share: _tell(bar, 0.5 + share / 2, "Following grades …"))
    kept[:] = [(key, found)]
    with ui.open_store() as store:
        unsettled.opening().keep(store, found, *stand)
    bar.empty()
    return found


def _tell(bar: st.delta_generator.DeltaGenerator, share: float, doing: str) -> None:
    bar.progress(min(1.0, share), doing)

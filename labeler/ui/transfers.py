"""Transfer of grades to another chunking: its section on Data and its section on Review.

Data previews a transfer, writes it to the log and undoes it. Review lists the transferred grades
that count, with the judgments each rests on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import streamlit as st

from labeler.model import (
    Chunk,
    chunking_from_label,
    chunking_label,
    describe_chunking,
    format_count,
)
from labeler.render import csv_exports, tables
from labeler.render.markup import show_html
from labeler.render.tables import TextCell
from labeler.services.transfer import (
    TRANSFER_STATES,
    Transfer,
    compute_transfer,
    describe_left_out,
    describe_logged,
    describe_transfer,
    locate_basis,
    record_transfer,
    transfer_statements,
)
from labeler.store import LoggedTransfer, Store, TransferredGrade, passage_texts
from labeler.ui import assignment_cache, links, scoreboards, url_state
from labeler.ui import shared as ui

WHAT_IT_DOES = (
    "Re-splitting documents creates new chunks. Transfer moves grades to them where they still "
    "fit. First you get a preview; nothing is saved. A transferred grade counts only where there "
    "is no grade by a person or from a file, and only while the grade it came from counts. Graders "
    "are asked for the rest."
)
LOAD_COMMANDS = """\
labeler load chunks FILE --chunking v2
labeler load run FILE --chunking v2"""
MOST_REASONS, MOST_WARNINGS = 30, 3
STATES = {"decided": "to transfer", "proposed": "suggested", "open": "left to graders"}


def show_transfer() -> None:
    """Let a lead preview a transfer to another chunking, save it, and undo it."""
    with ui.guard(), ui.open_store() as store:
        found, done = store.chunkings.all(), store.transfers.logged()
        settings = store.settings.read()
    graded = [chunking_label(each.name) for each in found if each.golden]
    asked_for = [chunking_label(each.name) for each in found if each.runs]
    st.caption(WHAT_IT_DOES)
    if settings.transferred != "count":
        st.text("⚠ Transferred grades don't count now: see Settings.")
    for each in done[:1]:
        _offer_undo(each)
    if not any(old != new for old in graded for new in asked_for):
        ui.say_empty(
            "There is nothing to transfer",
            "A transfer needs grades of one chunking and a run on another.",
            LOAD_COMMANDS,
        )
        return
    with ui.guard(), st.container(horizontal=True, vertical_alignment="bottom"):
        old = url_state.choose("From", graded, "from", what="chunking", width=220)
        others = [name for name in asked_for if name != old]
        if not others:
            st.text("No run is on another chunking.")
            return
        new = url_state.choose("To", others, "to", what="chunking", width=220)
        if st.button("Preview"):
            url_state.write(look="yes")
    if url_state.get("look"):
        _preview(chunking_from_label(old), chunking_from_label(new))


def _preview(old: str, new: str) -> None:
    """Show what would be transferred, and save it on request."""
    with ui.guard():
        found = _computed_transfer(old, new)
    for said in describe_transfer(found):
        st.text(said)
    st.text(" · ".join(f"{STATES[state]} {found.states[state]:,}" for state in TRANSFER_STATES))
    rows = [
        {"state": STATES[state], "grade": grade, "pairs": pairs, "why": why}
        for state, grade, why, pairs in found.by_reason()[:MOST_REASONS]
    ]
    if rows:
        st.dataframe(rows, hide_index=True)
    for said in list(describe_left_out(found))[:MOST_WARNINGS]:
        st.text(f"⚠ {said}")
    if statements := transfer_statements(found):
        show_html(tables.statements_html(statements))
    _offer_transfer(found)
    if found.left:
        st.text(f"{format_count(found.left, 'pair is', 'pairs are')} left to graders.")
        _link_to_open(old, new)


def _offer_transfer(found: Transfer) -> None:
    if not found.is_new:
        st.text("Nothing new to transfer.")
        return
    st.text(f"{describe_logged(found, 'would be transferred')}.")
    many = format_count(len(found.fresh), "grade", "grades")
    if st.button(f"Transfer {many}", type="primary"):
        bar = st.progress(0.0, "Saving …")
        with ui.guard(), ui.open_store() as store:
            record_transfer(store, found, lambda share: _show_progress(bar, share, "Saving …"))
        ui.done("Transferred", look=None)


def _link_to_open(old: str, new: str) -> None:
    """Link to Label with the pairs that a transfer leaves open, and explain their order."""
    shown = {"from": chunking_label(old), "to": chunking_label(new)}
    links.link("Grade the rest", url_state.to("/", **shown))
    st.caption(assignment_cache.ORDER_OF_PAIRS)


def _offer_undo(last: LoggedTransfer) -> None:
    """Show the last transfer, and let the user undo it."""
    between = f"from {describe_chunking(last.old)} to {describe_chunking(last.new)}"
    grades = format_count(last.grades, "grade", "grades")
    with st.container(horizontal=True, vertical_alignment="center"):
        st.text(f"{grades} transferred {between} on {last.at[:10]}", width="content")
        if st.button("Undo", help="Every number becomes what it was before."):
            with ui.guard(), ui.open_store() as store:
                store.transfers.undo(last.old, last.new)
            ui.done("Undone", look=None)
    links.link("See all of them", url_state.to("/review", review="Transferred"))
    if not url_state.get("look"):
        _link_to_open(last.old, last.new)


@st.cache_resource(show_spinner=False)
def _latest_transfer(path: str) -> list[tuple[tuple[object, ...], Transfer]]:
    """Return the last computed transfer with its key: a cached function cannot show progress."""
    return []


def _computed_transfer(old: str, new: str) -> Transfer:
    """Return the transfer as it is now, and show progress if it has to be computed."""
    kept = _latest_transfer(ui.database())
    with ui.open_store() as store:
        key = (
            store.golden_set.uuid(),
            store.golden_set.data_revision(),
            store.judgments.revision(),
            old,
            new,
        )
        for known, found in kept:
            if known == key:
                return found
        stand = store.golden_set.data_revision(), store.judgments.revision()
        bar = st.progress(0.0, "Locating chunks …")
        basis = store.transfers.basis(old, new)
    places = locate_basis(basis, lambda share: _show_progress(bar, share / 2, "Locating chunks …"))
    found = compute_transfer(
        basis, places, lambda share: _show_progress(bar, 0.5 + share / 2, "Transferring grades …")
    )
    kept[:] = [(key, found)]
    with ui.open_store() as store:
        assignment_cache.open_pairs_cache().keep(store, found, *stand)
    bar.empty()
    return found


def _show_progress(bar: st.delta_generator.DeltaGenerator, share: float, doing: str) -> None:
    bar.progress(min(1.0, share), doing)


ON_A_PAGE = 50
TRANSFERRED_HEADINGS = ["query", "chunk", "grade", "why", "based on", "marked"]
MOST_MARKED_SHOWN = 200  # characters of marked text; the list on Queries has all of it


def has_other_chunking(store: Store) -> bool:
    """Return whether there is a second chunking, without which nothing is transferred."""
    return len(store.chunkings.names()) > 1


def show_transferred() -> None:
    """Show the transferred grades that count, and the judgments each rests on."""
    with ui.open_store() as store:
        among = store.splits.selected(scoreboards.shown_selection())
        found = [r for r in store.transfers.grades() if among is None or r.query_id in among]
        rows = sorted(found, key=lambda row: -row.grade)
        here = url_state.choose_part(rows, ON_A_PAGE, "transferred-page")
        texts, runs = store.texts.numbered(row.chunk for row in here), _run_of_chunking(store)
        _note_grades_told(store, here)
        scale, revision = store.settings.read().words, store.judgments.revision()
    if not rows:
        st.header("No transferred grade counts yet")
        st.write("Transfer grades to another chunking on Data > Advanced > Transfer.")
        links.button(
            "Transfer grades", url_state.page_url("/data", section="Advanced", show="Transfer")
        )
        return
    grades = format_count(len(rows), "transferred grade counts", "transferred grades count")
    st.caption(f"{grades}, highest first · click a query to open it")
    table = [
        _transferred_row(row, texts.get(row.chunk), scale, runs.get(row.chunking)) for row in here
    ]
    show_html(tables.plain_table(TRANSFERRED_HEADINGS, table))
    st.caption(
        "A transferred grade counts only where there is no grade by a person or from a file, and "
        "only while the grade it came from is unchanged."
    )
    ui.offer(
        "Download this list as CSV", lambda: transferred_file(rows), "transferred.csv", revision
    )


def _run_of_chunking(store: Store) -> Mapping[str, str]:
    """Return a run of each chunking that has any: the one loaded first."""
    return {name: run for run, name in reversed(store.chunkings.of_runs().items())}


def _transferred_row(
    row: TransferredGrade, chunk: Chunk | None, scale: Sequence[str], run: str | None
) -> list[Any]:
    link = url_state.page_url("/queries", a=run, b=None, query=row.query_id, chunking=row.chunking)
    marked = " · ".join(passage_texts(chunk.text or "", row.passages)) if chunk else ""
    return [
        TextCell(row.query, row.query_id, link if run else ""),
        TextCell(row.title, row.chunk_id) if row.title else TextCell(row.chunk_id),
        TextCell(f"{row.grade} {scale[row.grade]}"),
        TextCell(row.why),
        TextCell("\n".join(base.in_words for base in row.bases)),
        TextCell(marked if len(marked) <= MOST_MARKED_SHOWN else f"{marked[:MOST_MARKED_SHOWN]}…")
        if marked
        else None,
    ]


def _note_grades_told(store: Store, rows: Sequence[TransferredGrade]) -> None:
    """Record that the page shows others' grades of these chunks: new ones are not blind then."""
    name = ui.grader()
    if name is None:
        return
    others = [(row, base) for row in rows for base in row.bases if base.who != (name,)]
    pairs = [(row.query_id, at) for row, base in others for at in (row.chunk_id, base.chunk_id)]
    store.exposure.note_told(name, pairs)


def transferred_file(rows: Sequence[TransferredGrade]) -> bytes:
    """Return transferred grades as a file: a row for each judgment that one rests on."""
    return csv_exports.rows_csv(_transferred_records(rows))


def _transferred_records(rows: Sequence[TransferredGrade]) -> Iterator[dict[str, object]]:
    for row in rows:
        for base in row.bases:
            yield {
                "query_id": row.query_id,
                "query": row.query,
                "chunk_id": row.chunk_id,
                "grade": row.grade,
                "why": row.why,
                "transferred_at": row.created_at,
                "rests_on": base.chunk_id,
                "rests_on_grade": base.grade,
                "rests_on_who": ", ".join(base.who),
                "rests_on_at": base.at,
                "rests_on_event": base.event_id,
            }

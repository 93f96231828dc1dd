"""Comments of graders on Review: chunks they could not grade, remarks on queries, and notes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from labeler.model import format_count, format_minute
from labeler.render import tables
from labeler.render.markup import show_html
from labeler.render.tables import CellContent, TextCell
from labeler.store import GraderNote, Store
from labeler.ui import shared as ui
from labeler.ui import url_state
from labeler.ui.review.rows import ON_A_PAGE, ReviewChoice, chunk_cell, offer_rows

MOST_REASONS, NO_REASON = 20, "no reason given"
REMARKS = {"unanswered": "no passage answers it", "unclear": "the query is unclear"}
CANNOT_TELL, ON_QUERIES, NOTES = "Can't tell", "Remarks on queries", "Notes"


def kinds_of_comments(store: Store) -> tuple[str, ...]:
    """Return the kinds of comments that exist."""
    there = {
        CANNOT_TELL: store.activity.cannot_tells(),
        ON_QUERIES: store.remarks.current(),
        NOTES: store.activity.notes(),
    }
    return tuple(kind for kind, rows in there.items() if rows)


def show_comments(choice: ReviewChoice) -> None:
    """Show the comments of the chosen kind."""
    KINDS_OF_COMMENTS[choice.kind or CANNOT_TELL](choice)


def show_cannot_tell(choice: ReviewChoice) -> None:
    """Show the chunks that could not be graded, and why."""
    with ui.open_store() as store:
        rows = choice.rows_of(store, store.activity.cannot_tells())
    if not rows:
        st.header("Every chunk so far could be graded")
        st.write("If a grader can't tell (`X` on the Label page), you see the chunk and why here.")
        return
    reasons = Counter(row.reason or NO_REASON for row in rows)
    common: list[list[CellContent]] = [
        [TextCell(name), count] for name, count in reasons.most_common(MOST_REASONS)
    ]
    show_html(tables.plain_table(["reason", "chunks"], common))
    if len(reasons) > len(common):
        left = format_count(len(reasons) - len(common), "rarer reason is", "rarer reasons are")
        st.caption(f"{left} in the list only.")
    here = url_state.choose_part(rows, ON_A_PAGE, "unsure-page")
    ui.note_told(here)
    shown: list[list[CellContent]] = [
        [
            choice.query_cell(row.query, row.query_id),
            chunk_cell(row),
            TextCell(row.grader),
            TextCell(row.reason or NO_REASON),
            TextCell(row.note) if row.note else None,
            format_minute(row.created_at),
        ]
        for row in here
    ]
    _say_count(len(rows))
    show_html(
        tables.plain_table(["query", "chunk", "grader", "reason", "note", "when (UTC)"], shown)
    )
    offer_rows("Download this list as CSV", rows, "cannot-tell.csv")


def show_remarks(choice: ReviewChoice) -> None:
    """Show graders' remarks on whole queries."""
    with ui.open_store() as store:
        rows = choice.rows_of(store, store.remarks.current())
        texts = {query.query_id: query.text for query in store.queries.all()}
    if not rows:
        st.header("No remarks on queries yet")
        st.write(
            "If no passage answers a query, or the query is unclear, a grader says so on the Label "
            "page (`Q`), and you see it here."
        )
        return
    counts = Counter(REMARKS[row.kind] for row in rows)
    st.text(" · ".join(f"{name}: {count:,}" for name, count in counts.most_common()))
    shown = [
        [
            choice.query_cell(texts.get(row.query_id, ""), row.query_id),
            TextCell(REMARKS[row.kind]),
            TextCell(row.grader),
            TextCell(row.note) if row.note else None,
            format_minute(row.created_at or ""),
        ]
        for row in url_state.choose_part(rows, ON_A_PAGE, "remarks-page")
    ]
    _say_count(len(rows))
    show_html(tables.plain_table(["query", "remark", "grader", "note", "when (UTC)"], shown))
    offer_rows("Download this list as CSV", rows, "remarks.csv")


def show_notes(choice: ReviewChoice) -> None:
    """Show graders' notes on grades and queries."""
    with ui.open_store() as store:
        rows, scale = choice.rows_of(store, store.activity.notes()), store.settings.read().words
    if not rows:
        st.header("No notes yet")
        st.write("Graders add notes to grades with `N` on the Label page. You see them here.")
        return
    here = url_state.choose_part(rows, ON_A_PAGE, "notes-page")
    ui.note_told(here)
    shown: list[list[CellContent]] = [
        [
            TextCell(row.note),
            choice.query_cell(row.query, row.query_id),
            chunk_cell(row),
            TextCell(describe_given(row, scale)),
            TextCell(row.grader, "from a file" if row.kind == "import" else ""),
            format_minute(row.created_at),
        ]
        for row in here
    ]
    _say_count(len(rows))
    show_html(
        tables.plain_table(["note", "query", "chunk", "given", "grader", "when (UTC)"], shown)
    )
    offer_rows("Download this list as CSV", rows, "notes.csv")


def describe_given(row: GraderNote, scale: Sequence[str]) -> str:
    """Return the grade or the remark that a note belongs to, in words."""
    if row.grade is not None:
        return f"{row.grade} {scale[row.grade]}"
    return REMARKS.get(row.kind, "can't tell")


def _say_count(count: int) -> None:
    st.caption(f"{count:,}, newest first · click a query to open it")


KINDS_OF_COMMENTS: Mapping[str, Callable[[ReviewChoice], None]] = {
    CANNOT_TELL: show_cannot_tell,
    ON_QUERIES: show_remarks,
    NOTES: show_notes,
}

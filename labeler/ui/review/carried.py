"""Review > Carried over: the grades that follow from other chunks, back to who gave those."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import streamlit as st

from labeler.model import Chunk, counted
from labeler.render import downloads, tables
from labeler.render.markup import show_html
from labeler.render.tables import Said
from labeler.store import CarriedGrade, Store, words_at
from labeler.ui import address, boards, links
from labeler.ui import shared as ui

ON_A_PAGE = 50
HEADINGS = ["query", "chunk", "grade", "why it follows", "rests on", "marked"]
LONGEST = 200  # characters of what is marked; the list on Queries has all of it


def is_there(store: Store) -> bool:
    """Say whether there is another chunking, without which nothing is carried over."""
    return len(store.chunking_names()) > 1


def show() -> None:
    """Show the carried grades that count, and whose grades of which day each rests on."""
    with ui.open_store() as store:
        among = store.selected_queries(boards.shown_selection())
        found = [r for r in store.carried_grades() if among is None or r.query_id in among]
        rows = sorted(found, key=lambda row: -row.grade)
        here = address.choose_part(rows, ON_A_PAGE, "carried-page")
        texts, runs = store.chunks_numbered(row.chunk for row in here), _runs(store)
        _note_told(store, here)
        scale, revision = store.settings().words, store.revision()
    if not rows:
        st.subheader("No carried grade counts")
        st.write("Grades of one chunking are carried over to another on Data, where they follow.")
        links.link("Carry over", address.onward("/data", section="Carry over"))
        return
    grades = counted(len(rows), "grade counts that was", "grades count that were")
    st.caption(f"{grades} carried over, the highest first · click a query to open it")
    table = [_row(row, texts.get(row.chunk), scale, runs.get(row.chunking)) for row in here]
    show_html(tables.sheet(HEADINGS, table))
    st.caption(
        "A carried grade is nobody's. It stands below what people and files say, and counts as "
        "long as all it rests on is as it was."
    )
    ui.offer("Download this list as CSV", lambda: as_file(rows), "carried.csv", revision)


def _runs(store: Store) -> Mapping[str, str]:
    """Return a run of each chunking that has any: the one loaded first."""
    return {name: run for run, name in reversed(store.chunkings_of_runs().items())}


def _row(
    row: CarriedGrade, chunk: Chunk | None, scale: Sequence[str], run: str | None
) -> list[Any]:
    link = address.onward("/queries", a=run, b=None, query=row.query_id, chunking=row.chunking)
    marked = " · ".join(words_at(chunk.text or "", row.passages)) if chunk else ""
    return [
        Said(row.query, row.query_id, link if run else ""),
        Said(row.title, row.chunk_id) if row.title else Said(row.chunk_id),
        Said(f"{row.grade} {scale[row.grade]}"),
        Said(row.why),
        Said("\n".join(base.in_words for base in row.bases)),
        Said(marked if len(marked) <= LONGEST else f"{marked[:LONGEST]}…") if marked else None,
    ]


def _note_told(store: Store, rows: Sequence[CarriedGrade]) -> None:
    """Remember what the page says of others' grades: none on these chunks is blind then."""
    name = ui.grader()
    if name is None:
        return
    others = [(row, base) for row in rows for base in row.bases if base.who != (name,)]
    pairs = [(row.query_id, at) for row, base in others for at in (row.chunk_id, base.chunk_id)]
    store.note_told(name, pairs)


def as_file(rows: Sequence[CarriedGrade]) -> bytes:
    """Return carried grades as a file: a row for each judgment that one rests on."""
    return downloads.rows_csv(_records(rows))


def _records(rows: Sequence[CarriedGrade]) -> Iterator[dict[str, object]]:
    for row in rows:
        for base in row.bases:
            yield {
                "query_id": row.query_id,
                "query": row.query,
                "chunk_id": row.chunk_id,
                "grade": row.grade,
                "why": row.why,
                "carried_at": row.created_at,
                "rests_on": base.chunk_id,
                "rests_on_grade": base.grade,
                "rests_on_who": ", ".join(base.who),
                "rests_on_at": base.at,
                "rests_on_event": base.event_id,
            }

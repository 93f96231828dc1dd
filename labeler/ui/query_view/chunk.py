"""The opened chunk of a query: its text, who graded it, a grade given here, and what-if values."""

from __future__ import annotations

import uuid

import streamlit as st

from labeler.analysis import comparison
from labeler.analysis.comparison import RankChange
from labeler.model import GRADES, Judgment, evidence_by_chunk
from labeler.render import tables
from labeler.render.markup import show_html
from labeler.ui import links, url_state
from labeler.ui import shared as ui
from labeler.ui.query_view.opened import OpenedQuery

LONGEST_SHOWN = 100_000  # characters of a text


def show_chunk(opened: OpenedQuery, change: RankChange) -> None:
    """Show a chunk's text beside the query's values with the chunk at another rank or grade."""
    left, right = st.columns([8, 5], gap="large")
    with left:
        show_text(opened, change)
    with right:
        show_ranks_tried(opened, change)
        if change.grade is None:
            show_grades_tried(opened, change)


def show_text(opened: OpenedQuery, change: RankChange) -> None:
    """Show a chunk's text, who graded it, and let it be graded."""
    query_id, chunk_id = opened.query_id, change.chunk_id
    with ui.open_store() as store:
        items = store.texts.items([(query_id, change.chunk)], LONGEST_SHOWN)
        marked = evidence_by_chunk(store.evidence.of_grades(query_id)).get(chunk_id, [])
        trail = store.transfers.trails(query_id).get(chunk_id, "")
        given = store.activity.who_graded(query_id, chunk_id)
    item = items.get((query_id, change.chunk))
    title, text = (None, None) if item is None else (item.chunk.title, item.chunk.text)
    is_live = opened.board.conventions.frozen is None
    show_html(
        tables.chunk_text(chunk_id, title, text, marked),
        tables.who_graded(change.grade, given if is_live else []),
    )
    if trail:
        st.text(tables.transfer_note(trail))
    if item is not None and item.more is not None:
        st.caption(f"The first {LONGEST_SHOWN:,} characters; Label shows all of it.")
    if is_live:  # with a frozen set a grade would change nothing on this page
        grade(opened, change, None if item is None else item.text_hash)


def grade(opened: OpenedQuery, change: RankChange, text_hash: str | None) -> None:
    """Let the grader of this browser grade the chunk; it is recorded as not blind."""
    query_id, name = opened.query_id, ui.grader()
    if name is None:
        there = url_state.page_url("/", query=query_id)
        links.link("Enter your name to grade here", there)
        return
    # The key stays while the same grade counts, so that no push replaces the control while somebody
    # uses it. After a click the control again shows the grade that counts, so each click is one
    # event.
    key = f"grade-{change.grade}-{query_id}-{change.chunk_id}"
    st.segmented_control(
        f"Grade it as {name}",
        GRADES,
        default=change.grade,
        key=key,
        on_change=save_grade,
        args=[key, query_id, change, text_hash, name],
        help="Saved at once, and marked as given while looking at the systems. A click on the "
        "marked grade confirms it as yours.",
    )
    meanings = zip(GRADES, opened.words, strict=True)
    show_html(tables.small_print([" · ".join(f"{grade} {word}" for grade, word in meanings)]))


def save_grade(
    key: str, query_id: str, change: RankChange, text_hash: str | None, name: str
) -> None:
    """Write a grade to the log; the next run of the page shows what it changed."""
    said = st.session_state[key]
    event = Judgment(
        event_id=str(uuid.uuid4()),
        query_id=query_id,
        chunk_id=change.chunk_id,
        grader=name,
        grade=change.grade if said is None else said,
        blind=False,
        source="compare",
        text_hash=text_hash,
    )
    with ui.guard(), ui.open_store() as store:
        store.people.add(name)
        store.judgments.add(event, to_copies=True)
    st.session_state[key] = change.grade
    url_state.write(chunk=change.chunk_id, grade=None)
    st.toast(f"Grade {event.grade} saved", icon=":material/check:")


def show_ranks_tried(opened: OpenedQuery, change: RankChange) -> None:
    """Show the values with the chunk at another rank of a run; nothing is saved."""
    run = opened.run
    if opened.a is not None and (url_state.get("tried") == "a" or _is_of_a(opened, change)):
        run = opened.a
    trials = comparison.try_ranks(
        *(opened.board, run, opened.query_id, change.chunk_id, opened.tried_measures),
        _whole_number(url_state.get("rank")),
    )
    if not trials:
        if opened.measure.crosses:
            st.caption(f"{opened.heading} has no what-if: it counts text, not ranks of chunks.")
        return
    show_html(
        tables.what_if_table(
            *(f"What if {opened.short[run]} had it at …", "rank", trials),
            *(_whole_number(url_state.get("rank")), opened.board.conventions),
            lambda rank: opened.inside_url(
                chunk=change.chunk_id, rank=None if rank is None else str(rank)
            ),
        )
    )
    if opened.a is not None and not opened.is_apart:
        other, letter = (opened.run, None) if run == opened.a else (opened.a, "a")
        address = opened.inside_url(tried=letter, chunk=change.chunk_id)
        show_html(tables.link_in_place(f"The same for {opened.short[other]}", address))


def _is_of_a(opened: OpenedQuery, change: RankChange) -> bool:
    """Return whether only A can have the chunk, because the runs have different chunkings."""
    return opened.is_apart and change.rank_a is not None


def show_grades_tried(opened: OpenedQuery, change: RankChange) -> None:
    """Show the values with each possible grade of an unjudged chunk; nothing is saved."""
    trials = comparison.try_grades(
        *(opened.board, opened.run, opened.query_id, change.chunk, opened.tried_measures, GRADES)
    )
    if not trials or opened.is_apart:
        return
    show_html(
        tables.what_if_table(
            *(f"What if it had grade … in {opened.short[opened.run]}", "grade", trials),
            *(_whole_number(url_state.get("grade")), opened.board.conventions),
            lambda grade: opened.inside_url(
                chunk=change.chunk_id, grade=None if grade is None else str(grade)
            ),
        )
    )


def _whole_number(text: str | None) -> int | None:
    """Return a small whole number from the URL, None for anything else."""
    return int(text) if text and text.isdecimal() and len(text) < 6 else None

"""A query opened on Compare: both lists, what each chunk contributed, and one chunk in full."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, repeat
from string import ascii_uppercase

import streamlit as st

from labeler.analysis import comparison
from labeler.analysis.comparison import Move, View
from labeler.model import GRADES, Judgment, by_chunk
from labeler.render import tables
from labeler.render.markup import show_html, style
from labeler.render.naming import short_names
from labeler.render.palette import A_COLOUR, B_COLOUR, GRADE_COLOURS, QUIET
from labeler.ui import address, links, ranks, wording
from labeler.ui import shared as ui
from labeler.ui.ranks import Look, Side, picked, rank_lists

LISTED = [10, 20, 50, 100]
LONGEST_TITLE, LONGEST_SHOWN = 200, 100_000  # characters of a text: for a title, in full
# The chunk stays in view beside a long table; Streamlit puts a box of its own around it.
STICKY = """
div:has(> .st-key-chunk-panel) { position: sticky; top: 4rem; }
.st-key-chunk-panel { max-height: calc(100vh - 5rem); overflow-y: auto; scroll-margin-top: 4rem; }
.st-key-ranks-shown { flex-wrap: nowrap; width: auto; }
"""


def show_pair(view: View, query_id: str, words: Sequence[str]) -> None:
    """Show a query: both lists, what each chunk contributed, and one chunk in full.

    ``words`` are what the grades are called.
    """
    if query_id not in view.texts:
        ui.show_error(f"no query is called {query_id!r} in this golden set")
        st.button("Show all queries", on_click=open_query, args=[None])
        return
    ui.note_lists_shown(query_id)
    between = short_names((view.compared.a, view.compared.b))  # what tells these two apart
    view = replace(view, names={**view.names, **between})
    depth = steps(view, query_id)
    about = comparison.query_words(view.board, query_id)
    show_html(tables.query_head(view.texts[query_id], query_id, about))
    moves = comparison.moves(view.board, view.compared.a, view.compared.b, query_id, view.by)
    chosen = ranks.chosen_move(moves, address.given("chunk"))
    left, right = st.columns([8, 5], gap="medium")
    with left:
        numbers(view, query_id)
        lists(view, query_id, moves, depth, chosen)
    show_html(style(STICKY))
    with right, st.container(key="chunk-panel"):
        if chosen is None:
            st.write("Neither list holds a chunk for this query.")
        else:
            panel(view, query_id, chosen, words)


def open_query(query_id: str | None) -> None:
    """Open a query, or close the one that is open."""
    address.write(query=query_id, chunk=None)


def steps(view: View, query_id: str) -> int:
    """Offer the way back and to the queries around this one; return how many ranks to show."""
    ids = [row.query_id for row in view.rows]
    at = ids.index(query_id) if query_id in ids else None
    before = ids[at - 1] if at else None
    after = ids[at + 1] if at is not None and at + 1 < len(ids) else None
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            *("All queries", "all-queries"),
            icon=":material/close:",
            on_click=open_query,
            args=[None],
        )
        for words, icon, to in (("Previous", "left", before), ("Next", "right", after)):
            st.button(
                words,
                icon=f":material/chevron_{icon}:",
                on_click=open_query,
                args=[to],
                disabled=to is None,
            )
        st.caption("not in this bucket" if at is None else f"{at + 1:,} of {len(ids):,}")
        st.space("stretch")
        with st.container(
            horizontal=True, vertical_alignment="center", width="content", key="ranks-shown"
        ):
            st.caption("Ranks shown", width="content")
            return address.choose_tab("Ranks shown", LISTED, "ranks")


def look(view: View) -> Look:
    """Return the names and colours of A, B and the runs beside them."""
    colours = chain((A_COLOUR, B_COLOUR), repeat(QUIET))
    runs = zip(view.runs, ascii_uppercase, colours, strict=False)
    sides = [Side(letter, view.called(run), run, colour) for run, letter, colour in runs]
    return Look(sides, GRADE_COLOURS)


def numbers(view: View, query_id: str) -> None:
    """Show the query's value by each measure."""
    at = view.board.number_of(query_id)
    rows = [view.compared.queries(measure)[at] for measure in view.compared.measures]
    show_html(tables.query_table(rows, view.compared, view.names))
    places = wording.places_of_query(view.board, query_id)
    names = {view.compared.a: "A", view.compared.b: "B"}
    show_html(tables.sentences(wording.in_words(places, list(names), names)))
    show_html(
        tables.small_print([view.compared.conventions.sentence]),
        tables.whole_names(view.names, view.runs),
    )
    if why := comparison.why_undefined(view.board, query_id, view.by):
        show_html(tables.sentences([why]))


def lists(
    view: View, query_id: str, moves: Sequence[Move], depth: int, chosen: Move | None
) -> None:
    """Show the two lists with lines, and the table of moves under them."""
    shown = ranks.within_depth(moves, depth)
    with ui.open_store() as store:
        items = store.items([(query_id, move.chunk) for move in shown], LONGEST_TITLE)
    titles = ranks.titles(shown, {chunk: item.chunk for (_, chunk), item in items.items()})
    shared = comparison.shared_text(view.board, view.compared.a, view.compared.b, query_id)
    rank_lists(
        *ranks.places(shown, titles, depth, shared),
        ranks.move_rows(shown, titles, shared, by_grade=not view.by.crosses),
        ranks.sum_of(moves),
        view.heading,
        None if chosen is None else chosen.chunk_id,
        look(view),
        ranks.lines(moves, shared, depth),
        key="lists",
        on_choose=choose_chunk,
    )
    if depends := comparison.terms_depend(view.by):
        st.caption(depends)


def choose_chunk() -> None:
    """Keep the clicked chunk in the URL."""
    if (chunk := picked("lists")) is not None:
        address.write(chunk=chunk)


def panel(view: View, query_id: str, move: Move, words: Sequence[str]) -> None:
    """Show a chunk's text, let it be graded, and try it at another rank."""
    with ui.open_store() as store:
        items = store.items([(query_id, move.chunk)], LONGEST_SHOWN)
        marked = by_chunk(store.evidence(query_id)).get(move.chunk_id, [])
        trail = store.carried_trails(query_id).get(move.chunk_id, "")
    item = items.get((query_id, move.chunk))
    grade(view, query_id, move, None if item is None else item.text_hash, words)
    title, text = (None, None) if item is None else (item.chunk.title, item.chunk.text)
    show_html(tables.chunk_text(move.chunk_id, title, text, marked))
    if trail:
        st.text(tables.carried_trail(trail))
    if item is not None and item.more is not None:
        st.caption(f"The first {LONGEST_SHOWN:,} characters; Label shows all of it.")
    try_rank(view, query_id, move)


def grade(
    view: View, query_id: str, move: Move, text_hash: str | None, words: Sequence[str]
) -> None:
    """Let the grader of this browser grade the chunk; it is recorded as not blind."""
    given = "nobody has graded this chunk" if move.grade is None else f"golden grade {move.grade}"
    places = f"Rank {move.rank_a or '–'} in A, {move.rank_b or '–'} in B"
    name = ui.grader()
    is_live = view.board.conventions.frozen is None
    who = "" if name is None or not is_live else f" · you are {name}"
    st.text(f"{places} · {given}{who}")
    if not is_live:
        return  # a grade would be of today, and nothing here would show it
    if name is None:
        there = address.onward("/", query=query_id)
        links.link("To grade here, first say who you are on Label", there)
        return
    # The same control for as long as the same grade counts, so that no push takes it from under a
    # hand; a click leaves it showing what counts, and so any click is an event.
    key = f"grade-{move.grade}-{query_id}-{move.chunk_id}"
    st.segmented_control(
        "Grade it",
        GRADES,
        default=move.grade,
        key=key,
        width="stretch",
        on_change=save_grade,
        args=[key, query_id, move, text_hash, name],
        help="Saved at once, and marked as given while looking at the systems. A click on the "
        "marked grade confirms it as yours.",
    )
    meanings = zip(GRADES, words, strict=True)
    show_html(tables.small_print([" · ".join(f"{grade} {word}" for grade, word in meanings)]))


def save_grade(key: str, query_id: str, move: Move, text_hash: str | None, name: str) -> None:
    """Write a grade to the log; the next run of the page shows what it changed."""
    said = st.session_state[key]
    event = Judgment(
        event_id=str(uuid.uuid4()),
        query_id=query_id,
        chunk_id=move.chunk_id,
        grader=name,
        grade=move.grade if said is None else said,
        blind=False,
        source="compare",
        text_hash=text_hash,
    )
    with ui.guard(), ui.open_store() as store:
        store.add_grader(name)
        store.judge(event)
    st.session_state[key] = move.grade
    address.write(chunk=move.chunk_id)
    st.toast(f"Grade {event.grade} saved", icon=":material/check:")


def try_rank(view: View, query_id: str, move: Move) -> None:
    """Say what the values would be with the chunk at another rank; nothing is saved."""
    limits = comparison.last_ranks(view, query_id, move)
    rank = st.number_input(
        "What if this chunk were at rank …",
        min_value=1,
        max_value=max(limits),
        value=None,
        placeholder="a rank",
        key=f"rank-{query_id}-{move.chunk_id}",
        help="Recomputes both lists with the chunk there. Nothing is saved.",
    )
    if rank is not None:
        trial = comparison.try_at(view, query_id, move, rank)
        show_html(tables.what_if_table(trial, view.compared))

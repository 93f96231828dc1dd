"""System A against System B: by how much, on which queries, and which chunk moved where."""

import math
import uuid

import streamlit as st

from labeler import address, charts, comparison, downloads, links, ranks, tables, transfer, ui
from labeler.comparison import View
from labeler.evaluation import Scoreboard
from labeler.markup import show_html, style
from labeler.model import GRADES, Judgment
from labeler.palette import A_COLOUR, B_COLOUR, GRADE_COLOURS
from labeler.ranks import Look, picked, rank_lists, rank_strips

DEFAULT_MEASURES = ["nDCG@10", "R@budget", "RR"]
QUERIES_A_PAGE = 200
LISTED = [10, 20, 50, 100]
CONTRADICTIONS = 3
# The chunk stays in view beside a long table; Streamlit puts a box of its own around it.
STICKY = """
div:has(> .st-key-chunk-panel) { position: sticky; top: 4rem; }
.st-key-chunk-panel { max-height: calc(100vh - 5rem); overflow-y: auto; }
"""


# --- what every view needs -------------------------------------------------------------------


@st.cache_resource(max_entries=4, show_spinner=False)
def query_texts(path: str, data_revision: int) -> dict[str, str]:
    """Return each query's text on one line."""
    with ui.open_store() as store:
        return {query.query_id: " ".join(query.text.split()) for query in store.queries()}


@st.cache_data(max_entries=100, show_spinner=False)
def candidates(path: str, data_revision: int, preset: str, a: str, b: str, _board: Scoreboard):
    """Say how B's candidates relate to A's, which no grade changes."""
    return comparison.rerank(_board, a, b).sentence


def ask_for_runs(names: list[str]) -> None:
    """Say what is missing where there are no two runs, and end the page."""
    if not names:
        st.subheader("There is no run to compare yet")
    else:
        st.subheader("There is only one run: to compare, load another")
        st.text(f"The one run: {names[0]}")
    st.write("Load runs on the Data page, or in a terminal:")
    st.code("labeler load run FILE")
    st.stop()


def open_query(query_id: str | None) -> None:
    """Open a query, or close the one that is open."""
    address.write(query=query_id, chunk=None)


def look(view: View) -> Look:
    """Return the names and colours of the two sides."""
    runs = (view.compared.a, view.compared.b)
    return Look(*runs, GRADE_COLOURS, A_COLOUR, B_COLOUR)


# --- all queries -----------------------------------------------------------------------------


def summary(view: View, bucket: str | None) -> None:
    """Show the means, and in words where they mislead."""
    compared = view.compared
    rows = [row for row in compared.buckets if row.bucket == bucket] if bucket else compared.deltas
    if bucket:
        st.text(f"{compared.facet}: {bucket}")
    show_html(tables.compare_table(rows, compared))
    said = view.board.notes(compared.measures)
    notes = " · ".join(note.sentence for note in said if note.is_about(compared.a, compared.b))
    show_html(tables.small_print([compared.conventions.sentence, notes]))
    asked = (view.board.data_revision, compared.conventions.preset, compared.a, compared.b)
    found = candidates(ui.database(), *asked, view.board)
    show_html(tables.sentences(comparison.findings(view, found, CONTRADICTIONS)))


def choose_picture(view: View) -> None:
    """Show the queries as strips, a page at a time, or as charts."""
    pages = max(1, math.ceil(len(view.rows) / QUERIES_A_PAGE))
    with st.container(horizontal=True, vertical_alignment="center"):
        shown = address.choose_tab("Show", list(PICTURES), "show", what="picture")
        page = address.choose_page(pages if PICTURES[shown] is strips else 1)
    PICTURES[shown](view, page)


def strips(view: View, page: int) -> None:
    """Show a page of queries as rank strips; a click opens one."""
    first = (page - 1) * QUERIES_A_PAGE
    shown = ranks.strip_rows(view, first, QUERIES_A_PAGE)
    depth = ranks.strip_depth(view)
    rank_strips(
        shown, depth, look(view), key="strips", on_open=lambda: open_query(picked("strips"))
    )
    st.caption(
        f"Queries {first + 1:,}-{first + len(shown):,} of {len(view.rows):,}, {view.heading}, "
        f"ranks 1-{depth}. A digit is a grade, a hollow cell a chunk nobody has graded. "
        "Click a query, or press Enter on it, to open it."
    )


def pictures(view: View, _: int) -> None:
    """Show the queries as bars and as a scatter, with their numbers."""
    compared = view.compared
    frame = charts.query_frame(view.drawn())
    if frame.empty:
        st.caption(f"No query has a value by {view.heading} yet, so there is nothing to draw.")
        return
    left, right = st.columns(2)
    named = (frame, view.heading, compared.a, compared.b)
    for place, key, draw in (
        (left, "bars", charts.delta_bars),
        (right, "scatter", charts.delta_scatter),
    ):
        place.altair_chart(
            draw(*named),
            key=key,
            on_select=lambda key=key: open_selected(key),
            selection_mode="opened",
        )
    without = len(view.rows) - len(frame)
    st.caption(
        "A bar or a point is a query; click it to open it."
        + (f" {without} without a value are not drawn." if without else "")
    )
    with st.expander("The numbers of both charts"):
        st.dataframe(frame, hide_index=True, height=320)


def files(view: View) -> None:
    """Offer the numbers in full precision."""
    with st.container(horizontal=True):
        st.download_button(
            "Download the means as CSV",
            data=lambda: downloads.compare_csv(view.compared),
            file_name=transfer.dated("compare.csv", board.revision),
            on_click="ignore",
        )
        st.download_button(
            "Download the queries as CSV",
            data=lambda: downloads.query_csv(view.drawn(), view.by, view.compared),
            file_name=transfer.dated("compare-queries.csv", board.revision),
            on_click="ignore",
        )


def open_selected(key: str) -> None:
    """Open the query whose bar or point was clicked."""
    if found := st.session_state[key]["selection"].get("opened"):
        open_query(str(found[0]["query_id"]))


# --- one query -------------------------------------------------------------------------------


def one_query(view: View, query_id: str) -> None:
    """Show one query: both lists, what each chunk contributed, and one chunk in full."""
    if query_id not in view.texts:
        ui.show_error(f"no query is called {query_id!r} in this golden set")
        st.button("Show all queries", on_click=open_query, args=[None])
        return
    ui.note_lists_shown(query_id)
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
            panel(view, query_id, chosen)


def steps(view: View, query_id: str) -> int:
    """Offer the way back and to the queries around this one; return how many ranks to show."""
    ids = [row.query_id for row in view.rows]
    at = ids.index(query_id) if query_id in ids else None
    before = ids[at - 1] if at else None
    after = ids[at + 1] if at is not None and at + 1 < len(ids) else None
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button("All queries", icon=":material/close:", on_click=open_query, args=[None])
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
        st.caption("Ranks shown", width="content")
        return address.choose_tab("Ranks shown", LISTED, "ranks")


def numbers(view: View, query_id: str) -> None:
    """Show the query's value by each measure."""
    at = view.board.number_of(query_id)
    rows = [view.compared.queries(measure)[at] for measure in view.compared.measures]
    show_html(tables.query_table(rows, view.compared))
    show_html(tables.small_print([view.compared.conventions.sentence]))
    if why := comparison.why_undefined(view.board, query_id, view.by):
        show_html(tables.sentences([why]))


def lists(view: View, query_id: str, moves, depth: int, chosen) -> None:
    """Show the two lists with lines, and the table of moves under them."""
    shown = ranks.within_depth(moves, depth)
    with ui.open_store() as store:
        items = store.items([(query_id, move.chunk) for move in shown])
    titles = ranks.titles(shown, {chunk: item.chunk for (_, chunk), item in items.items()})
    rank_lists(
        *ranks.places(shown, titles, depth),
        ranks.move_rows(shown, titles),
        ranks.sum_of(moves),
        view.heading,
        chosen and chosen.chunk_id,
        look(view),
        key="lists",
        on_choose=choose_chunk,
    )
    if depends := comparison.terms_depend(view.by):
        st.caption(depends)


def choose_chunk() -> None:
    """Keep the clicked chunk in the URL."""
    if (chunk := picked("lists")) is not None:
        address.write(chunk=chunk)


# --- one chunk -------------------------------------------------------------------------------


def panel(view: View, query_id: str, move) -> None:
    """Show a chunk's text, let it be graded, and try it at another rank."""
    with ui.open_store() as store:
        item = store.items([(query_id, move.chunk)]).get((query_id, move.chunk))
    grade(view, query_id, move, None if item is None else item.text_hash)
    chunk = None if item is None else item.chunk
    show_html(tables.chunk_text(move.chunk_id, chunk and chunk.title, chunk and chunk.text))
    try_rank(view, query_id, move)


def grade(view: View, query_id: str, move, text_hash: str | None) -> None:
    """Let the grader of this browser grade the chunk; it is recorded as not blind."""
    given = "nobody has graded this chunk" if move.grade is None else f"golden grade {move.grade}"
    places = f"Rank {move.rank_a or '–'} in A, {move.rank_b or '–'} in B"
    name = ui.grader()
    st.text(f"{places} · {given}{'' if name is None else f' · you are {name}'}")
    if name is None:
        links.link("To grade here, first say who you are on Label", "/")
        return
    # A fresh control for every revision: it shows what counts now, and any click is an event.
    key = f"grade-{view.board.revision}-{query_id}-{move.chunk_id}"
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
    meanings = zip(GRADES, settings.words, strict=True)
    show_html(tables.small_print([" · ".join(f"{grade} {word}" for grade, word in meanings)]))


def save_grade(key: str, query_id: str, move, text_hash: str | None, name: str) -> None:
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
    address.write(chunk=move.chunk_id)
    st.toast(f"Grade {event.grade} saved", icon=":material/check:")


def try_rank(view: View, query_id: str, move) -> None:
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


PICTURES = {"Rank strips": strips, "Bars and scatter": pictures}

# --- the page --------------------------------------------------------------------------------

with ui.open_store() as store:
    settings = store.settings()
    board = ui.live_board(store, ui.conventions(settings))
texts = query_texts(ui.database(), board.data_revision)
names = list(board.run_names)
if len(names) < 2:
    ask_for_runs(names)

with st.container(horizontal=True, vertical_alignment="bottom"):
    first = next(name for name in names if name != address.given("b"))
    a = address.choose("A", names, "a", what="run", default=first, always=True, width=180)
    other = next(name for name in names if name != a)
    b = address.choose("B", names, "b", what="run", default=other, always=True, width=180)
    measure_texts = ui.choose_measures(DEFAULT_MEASURES)
with st.container(horizontal=True, vertical_alignment="bottom"):
    by_text = address.choose(
        *("By measure", measure_texts, "by"),
        width=140,
        help="The one measure that sorts the queries and whose delta is explained.",
    )
    sort = address.choose("Order", comparison.SORTS, "sort", what="order", width=140)
    facet, bucket = ui.choose_bucket(board.facets)
    chosen = ui.choose_conventions(settings)

with ui.guard():
    with ui.open_store() as store:
        board = ui.live_board(store, chosen)
    measures = chosen.measures(measure_texts)
    compared = comparison.compare(board, a, b, measures, facet)
    [by] = board.resolve(chosen.measures([by_text])[:1])
    buckets = comparison.buckets_of(board, facet)
    rows = compared.queries(by)
    if bucket is not None:
        rows = [row for row in rows if buckets[row.query_id] == bucket]
    rows = comparison.sort_queries(rows, sort, texts, buckets)
    view = View(board, compared, by, rows, texts, buckets)
    if not board.counts.grades:
        st.info(
            "Nothing is graded yet, so no measure has a value. Grade chunks on Label, or load "
            "golden grades on Data or with `labeler load golden FILE`."
        )
    if (query := address.given("query")) is not None:
        one_query(view, query)
    else:
        summary(view, bucket)
        choose_picture(view)
        files(view)

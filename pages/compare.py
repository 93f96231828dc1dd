"""System A against System B: by how much, on which queries, and which chunk moved where."""

import math

import streamlit as st

from labeler import address, charts, choices, comparison, downloads, live, ranks, tables, ui
from labeler.comparison import View
from labeler.evaluation import Scoreboard
from labeler.markup import show_html
from labeler.opened import look, open_query, show_pair
from labeler.ranks import picked, rank_strips
from labeler.reranker import show_reranker

QUERIES_A_PAGE = 200
CONTRADICTIONS = 3


# --- what every view needs -------------------------------------------------------------------


@st.cache_resource(max_entries=4, show_spinner=False)
def query_texts(path: str, data_revision: int) -> dict[str, str]:
    """Return each query's text on one line."""
    with ui.open_store() as store:
        return {query.query_id: " ".join(query.text.split()) for query in store.queries()}


@st.cache_data(max_entries=100, show_spinner=False)
def candidates(path: str, data_revision: int, preset: str, a: str, b: str, _board: Scoreboard):
    """Return how B's candidates relate to A's, which no grade changes."""
    return comparison.rerank(_board, a, b)


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
    related = candidates(ui.database(), *asked, view.board)
    said = comparison.findings(view, related, bucket)
    first, rest = said.against[:CONTRADICTIONS], said.against[CONTRADICTIONS:]
    show_html(tables.sentences(filter(None, [said.verdict, said.losses, *said.parts, *first])))
    if rest:
        with st.expander(f"{len(rest)} more buckets move against the total"):
            show_html(tables.sentences(rest))
    queries = {row.query_id for row in view.rows}
    show_reranker(view.board, [compared.a, compared.b], compared.measures, queries, folded=True)


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
        ui.offer(
            "Download the means as CSV",
            lambda: downloads.compare_csv(view.compared),
            "compare.csv",
            view.board.revision,
        )
        ui.offer(
            "Download the queries as CSV",
            lambda: downloads.query_csv(view.drawn(), view.by, view.compared),
            "compare-queries.csv",
            view.board.revision,
        )


def open_selected(key: str) -> None:
    """Open the query whose bar or point was clicked."""
    if found := st.session_state[key]["selection"].get("opened"):
        open_query(str(found[0]["query_id"]))


PICTURES = {"Rank strips": strips, "Bars and scatter": pictures}

# --- the page --------------------------------------------------------------------------------

with ui.open_store() as store:
    settings = store.settings()
    board = ui.live_board(store, ui.conventions(settings))
texts = query_texts(ui.database(), board.data_revision)
names = list(board.run_names)
if len(names) < 2:
    ask_for_runs(names)

with choices.row():
    shown = choices.of_runs(names)
    first = next(name for name in names if name != address.given("b"))
    a = address.choose("A", names, "a", what="run", default=first, always=True, **shown)
    other = next(name for name in names if name != a)
    b = address.choose("B", names, "b", what="run", default=other, always=True, **shown)
    with choices.folded() as say:
        measure_texts = choices.choose_measures()
        by_text = address.choose(
            *("By measure", measure_texts, "by"),
            help="The one measure that sorts the queries and whose delta is explained.",
        )
        sort = address.choose("Order", comparison.SORTS, "sort", what="order")
        facet, bucket = choices.choose_bucket(board.facets)
        chosen = choices.choose_conventions(settings)
say(
    choices.say_queries(facet, bucket),
    f"{sort} by {by_text}",
    choices.say_measures(measure_texts),
    choices.say_conventions(chosen),
)

with ui.guard():
    measures = chosen.measures(measure_texts)


def show_compared() -> str:
    """Show what the newest grades say of both runs; return how much is graded."""
    with ui.open_store() as store:
        board = ui.live_board(store, chosen)
    compared = comparison.compare(board, a, b, measures, facet)
    [by] = board.resolve(chosen.measures([by_text])[:1])
    buckets = comparison.buckets_of(board, facet)
    rows = compared.queries(by)
    if bucket is not None:
        rows = [row for row in rows if buckets[row.query_id] == bucket]
    rows = comparison.sort_queries(rows, sort, texts, buckets)
    asked = ("compare", a, b, str(by), sort, facet, bucket, chosen.preset)
    rows = live.keep_order(rows, lambda row: row.query_id, asked)
    view = View(board, compared, by, rows, texts, buckets)
    if not board.counts.grades:
        st.info(
            "Nothing is graded yet, so no measure has a value. Grade chunks on Label, or load "
            "golden grades on Data or with `labeler load golden FILE`."
        )
    if (query := address.given("query")) is not None:
        show_pair(view, query, settings.words)
    else:
        summary(view, bucket)
        choose_picture(view)
        files(view)
    return ui.graded_line(board.counts)


live.follow(show_compared)

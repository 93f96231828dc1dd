"""System A against System B: by how much, on which queries, and which chunk moved where."""

import math

import streamlit as st

from labeler import address, charts, choices, comparison, downloads, live, ranks, tables, ui
from labeler.comparison import Moved, View
from labeler.evaluation import Scoreboard
from labeler.markup import show_html
from labeler.naming import short_names
from labeler.opened import look, open_query, show_pair
from labeler.ranks import picked, rank_strips
from labeler.reranker import show_reranker

QUERIES_A_PAGE = 200
CONTRADICTIONS = 3
NAMES = ("A", "B")  # what sentences call the runs, which the table names
MOVERS = 10
COLUMNS = {
    "query_id": "query id",
    "a": "value in A",
    "b": "value in B",
    "delta": st.column_config.NumberColumn("B − A", format="%.4f"),
    "holes_a": "holes in A",
    "holes_b": "holes in B",
}


# --- what every view needs -------------------------------------------------------------------


@st.cache_resource(max_entries=4, show_spinner=False)
def query_texts(path: str, data_revision: int) -> dict[str, str]:
    """Return each query's text on one line."""
    with ui.open_store() as store:
        return {query.query_id: " ".join(query.text.split()) for query in store.queries()}


@st.cache_data(max_entries=100, show_spinner=False)
def candidates(path: str, data_revision: int, preset: str, a: str, b: str, _board: Scoreboard):
    """Return how B's candidates relate to A's, which no grade changes."""
    return comparison.rerank(_board, a, b, NAMES)


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


def choose_also(others, names, short) -> list[str]:
    """Let the user set further runs beside A and B; in the address as ``also``."""
    if not others:
        return []
    with ui.guard():
        return address.choose_some(
            *("Further runs", others, "also", "run"),
            known=names,
            format_func=short.get,
            placeholder="none",
            help="They stand beside A and B in the table of means and in the rank strips; order "
            "and difference stay those of A and B.",
        )


# --- all queries -----------------------------------------------------------------------------


def summary(view: View, bucket: str | None) -> None:
    """Say which run is better and where it loses, over the means and what they rest on."""
    compared = view.compared
    if bucket:
        st.text(f"{compared.facet}: {bucket}")
    asked = (view.board.data_revision, compared.conventions.preset, compared.a, compared.b)
    related = candidates(ui.database(), *asked, view.board)
    said = comparison.findings(view, related, bucket, NAMES)
    first, rest = said.against[:CONTRADICTIONS], said.against[CONTRADICTIONS:]
    table = view.board.notes(compared.measures)
    notes = [note.sentence for note in table if note.is_about(*view.runs)]
    sentences = filter(None, [said.losses, *first, *said.parts])
    numbers = means(view, bucket, said.sure)
    with st.container(gap="xsmall"):
        show_html(tables.answer(said.verdict, sentences, numbers, [compared.conventions.sentence]))
        if rest:
            with st.expander(f"{len(rest):,} more move against the total"):
                show_html(tables.sentences(rest))
        # apart from the numbers, so that it stays open when they move
        what = "What to know of these numbers"
        show_html(tables.folded(what, [f"Bold is {comparison.RULE}", *notes]))


def means(view: View, bucket: str | None, sure):
    """Return the table of all runs' means, those ``sure`` to move in bold."""
    compared = view.compared
    rows = [row for row in compared.buckets if row.bucket == bucket] if bucket else compared.deltas
    table = view.board.table(compared.measures, compared.facet if bucket else None)
    more = [score for score in table if score.run in view.also and score.bucket == bucket]
    return tables.compare_table(rows, compared, view.names, sure, more)


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
    left, right = st.columns([3, 2])
    named = (frame, view.heading, compared.a, compared.b)
    for place, key, draw, width in (
        (left, "bars", charts.delta_bars, "stretch"),
        (right, "scatter", charts.delta_scatter, "content"),
    ):
        place.altair_chart(
            draw(*named),
            width=width,
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
        shown = frame.assign(delta=frame["delta"].round(4) + 0.0)  # which takes the sign of a 0
        st.dataframe(shown, hide_index=True, height=320, column_config=COLUMNS)


def movers(view: View, _: int) -> None:
    """Show which chunks or documents moved most; a link opens a query in which one did."""
    what = address.choose_tab("What moved", ["chunks", "documents"], "moved", what="kind")
    found = moved_most(view, what)
    costs = [mover for mover in found if mover.adds < 0][:MOVERS]
    helps = [mover for mover in found if mover.adds > 0][:MOVERS]
    titles = chunk_titles(view, [*costs, *helps]) if what == "chunks" else {}
    kind = what.removesuffix("s").capitalize()

    def opened(place: Moved) -> str:
        chunk = view.board.collection.chunk_ids[place.chunk]
        return address.to(
            "/compare", **{**address.given_all(), "query": place.query_id, "chunk": chunk}
        )

    for caption, rows in ((f"These {what} cost B most", costs), ("These help B most", helps)):
        if rows:
            show_html(tables.movers_table(rows, caption, titles, what=kind, link=opened))
    show_html(tables.small_print(about_movers(view, what, found)))


def moved_most(view: View, what: str):
    """Return the chunks, or the documents, that add to the difference, the largest part first."""
    ids = [row.query_id for row in view.rows]
    found = comparison.moved(view.board, view.compared.a, view.compared.b, view.by, ids)
    if what == "chunks":
        return comparison.movers_by(found, view.board.collection.chunk_ids.__getitem__)
    with ui.open_store() as store:
        documents = store.documents_of(each.chunk for each in found)
    return comparison.movers_by(found, documents.get)


def chunk_titles(view: View, shown) -> dict[str, str]:
    """Return what the chunks that are shown are called."""
    with ui.open_store() as store:
        chunks = store.chunks_numbered(mover.places[0].chunk for mover in shown)
    return ranks.chunk_titles(view.board.collection.chunk_ids, chunks)


def about_movers(view: View, what: str, found) -> list[str]:
    """Say what the numbers are, and why there are none where nothing moved."""
    if not found and what == "documents":
        return [
            f"No chunk that changes {view.heading} has a document that is known: load the chunks "
            "with a document_id."
        ]
    if not found:
        return [f"No graded chunk changes {view.heading} from A to B."]
    return [
        f"What each adds to the mean of {view.heading}, B − A; {what} that do: {len(found):,}.",
        comparison.terms_depend(view.by) or "",
        view.compared.conventions.sentence,
    ]


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


def reranked(view: View, _: int) -> None:
    """Show what a perfect reranker would make of A and of B."""
    runs, queries = [view.compared.a, view.compared.b], {row.query_id for row in view.rows}
    show_reranker(view.board, runs, view.compared.measures, queries)


PICTURES = {
    "Rank strips": strips,
    "Bars and scatter": pictures,
    "What moved most": movers,
    "Perfect reranker": reranked,
}

# --- the page --------------------------------------------------------------------------------

with ui.open_store() as store:
    settings = store.settings()
    board = ui.live_board(store, ui.conventions(settings))
texts = query_texts(ui.database(), board.data_revision)
names = list(board.run_names)
if len(names) < 2:
    ask_for_runs(names)

short = short_names(names)
with choices.row():
    shown = choices.of_runs(names)
    first = next(name for name in names if name != address.given("b"))
    a = address.choose("A", names, "a", what="run", default=first, always=True, **shown)
    other = next(name for name in names if name != a)
    b = address.choose("B", names, "b", what="run", default=other, always=True, **shown)
    with choices.folded() as say:
        also = choose_also([name for name in names if name not in (a, b)], names, short)
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
    f"beside {', '.join(short[name] for name in also)}" if also else None,
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
    view = View(board, compared, by, rows, texts, buckets, also, short)
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

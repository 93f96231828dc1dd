"""What Compare shows of all queries: rank strips, charts, what moved most, a perfect reranker."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Literal

import altair as alt
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from labeler.analysis import comparison
from labeler.analysis.comparison import Moved, Mover, View
from labeler.model import counted
from labeler.render import charts, tables
from labeler.render.markup import show_html, style
from labeler.ui import address, ranks
from labeler.ui import shared as ui
from labeler.ui.compare.by_keyword import show_keywords
from labeler.ui.query_detail import look, open_query
from labeler.ui.ranks import picked, rank_strips
from labeler.ui.reranker import show_reranker

QUERIES_A_PAGE = 200
MOVERS = 10
# Bars take the room that the scatter leaves; where that is too little, it stands below them.
ABREAST = """
.st-key-charts [data-testid="stHorizontalBlock"] { flex-wrap: wrap; }
.st-key-charts [data-testid="stColumn"] { flex: 1 1 20rem; min-width: min(20rem, 100%); }
.st-key-charts [data-testid="stColumn"]:last-child {
  flex: 0 1 23rem; min-width: min(23rem, 100%);
}
"""
LONGEST_TITLE = 200  # characters of a text that stands for a title


def choose_picture(view: View) -> tuple[Callable[[], None], bool]:
    """Let the reader choose what to see of the queries; return what draws it.

    Also say whether it stands over the means, as what was asked for does, or under them.
    """
    shown = address.choose_tab(
        *("Show", list(PICTURES), "show"),
        what="picture",
        format_func=lambda name: LABELS.get(name, name),
    )
    return partial(PICTURES[shown], view), PICTURES[shown] is not show_strips


def show_strips(view: View) -> None:
    """Show a page of queries as rank strips; a click opens one."""
    with st.container(horizontal=True):
        page = address.choose_page(math.ceil(len(view.rows) / QUERIES_A_PAGE))
    first = (page - 1) * QUERIES_A_PAGE
    shown = ranks.strip_rows(view, first, QUERIES_A_PAGE)
    depth = ranks.strip_depth(view)
    rank_strips(
        *(shown, depth, view.facets, look(view)),
        key="strips",
        on_open=lambda: open_query(picked("strips")),
    )
    st.caption(
        f"Queries {first + 1:,}-{first + len(shown):,} of {len(view.rows):,}, {view.heading}, "
        f"ranks 1-{depth}. A digit is a grade, a hollow cell a chunk nobody has graded. "
        "Click a query, or press Enter on it, to open it."
    )


def show_charts(view: View) -> None:
    """Show the queries as bars and as a scatter, with their numbers."""
    compared = view.compared
    frame = charts.query_frame(view.drawn())
    if frame.empty:
        st.caption(f"No query has a value by {view.heading} yet, so there is nothing to draw.")
        return
    with st.container(key="charts"):
        show_html(style(ABREAST))
        left, right = st.columns(2)
    named = (frame, view.heading, compared.a, compared.b)
    opened = dict(zip(frame["place"].tolist(), frame["query_id"].tolist(), strict=True))
    draw_to_click(left, charts.delta_bars(*named), "bars", "stretch", opened)
    draw_to_click(right, charts.delta_scatter(*named), "scatter", "content", opened)
    without = counted(len(view.rows) - len(frame), "query has", "queries have")
    st.caption(
        "A bar or a point is a query; click it to open it."
        + (f" {without} no value and no place in them." if len(view.rows) > len(frame) else "")
    )
    with st.expander("The numbers of both charts"):
        shown = frame.assign(delta=frame["delta"].round(4) + 0.0)  # which takes the sign of a 0
        st.dataframe(
            shown,
            hide_index=True,
            height=320,
            column_config={
                "query_id": "query id",
                "a": "value in A",
                "b": "value in B",
                "delta": st.column_config.NumberColumn("B − A", format="%.4f"),
                "holes_a": "holes in A",
                "holes_b": "holes in B",
            },
        )


def draw_to_click(
    place: DeltaGenerator,
    chart: alt.Chart | alt.LayerChart,
    key: str,
    width: Literal["stretch", "content"],
    opened: Mapping[int, str],
) -> None:
    """Draw a chart in which a click opens the query at a place."""
    opening = partial(open_selected, key, opened)
    place.altair_chart(chart, width=width, key=key, on_select=opening, selection_mode="opened")


def open_selected(key: str, opened: Mapping[int, str]) -> None:
    """Open the query whose bar or point was clicked."""
    if found := st.session_state[key]["selection"].get("opened"):
        open_query(opened.get(int(found[0]["place"])))


def show_movers(view: View) -> None:
    """Show which chunks or documents moved most; a link opens a query in which one did."""
    what = address.choose_tab("What moved", ["chunks", "documents"], "moved", what="kind")
    found = moved_most(view, what)
    costs = [mover for mover in found if mover.adds < 0][:MOVERS]
    helps = [mover for mover in found if mover.adds > 0][:MOVERS]
    titles = chunk_titles(view, [*costs, *helps]) if what == "chunks" else {}
    kind = what.removesuffix("s").capitalize()

    def opened(place: Moved) -> str:
        chunk = view.board.collection.chunk_ids[place.chunk]
        return address.here("/compare", query=place.query_id, chunk=chunk)

    for caption, rows in ((f"These {what} cost B most", costs), ("These help B most", helps)):
        if rows:
            show_html(tables.movers_table(rows, caption, titles, what=kind, link=opened))
    show_html(tables.small_print(about_movers(view, what, found)))


def moved_most(view: View, what: str) -> Sequence[Mover]:
    """Return the chunks, or the documents, that add to the difference, the largest part first."""
    ids = [row.query_id for row in view.rows]
    found = comparison.moved(view.board, view.compared.a, view.compared.b, view.by, ids)
    if what == "chunks":
        return comparison.movers_by(found, view.board.collection.chunk_ids.__getitem__)
    with ui.open_store() as store:
        documents = store.documents_of(each.chunk for each in found)
    return comparison.movers_by(found, documents.get)


def chunk_titles(view: View, shown: Iterable[Mover]) -> dict[str, str]:
    """Return what the chunks that are shown are called."""
    with ui.open_store() as store:
        chunks = store.chunks_numbered((mover.places[0].chunk for mover in shown), LONGEST_TITLE)
    return ranks.chunk_titles(view.board.collection.chunk_ids, chunks)


def about_movers(view: View, what: str, found: Sequence[Mover]) -> list[str]:
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


def show_reranked(view: View) -> None:
    """Show what a perfect reranker would make of A and of B."""
    runs, queries = [view.compared.a, view.compared.b], {row.query_id for row in view.rows}
    show_reranker(view.board, runs, view.compared.measures, queries)


LABELS = {"Rank strips": "Means and rank strips"}
PICTURES: Mapping[str, Callable[[View], None]] = {
    "Rank strips": show_strips,
    "Bars and scatter": show_charts,
    "What moved most": show_movers,
    "Perfect reranker": show_reranked,
    "Keywords": show_keywords,
}

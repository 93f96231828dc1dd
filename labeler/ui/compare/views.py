"""The views of Compare: rank strips, charts, what moved most, a perfect reranker, keywords."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Literal

import altair as alt
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from labeler.analysis import comparison
from labeler.analysis.comparison import ChunkContribution, ComparisonView, TopMover
from labeler.analysis.keywords import (
    KeywordRanks,
    describe_keyword_conventions,
    describe_missed,
    found_by_one_run,
    keyword_means,
)
from labeler.model import format_count, results
from labeler.model.results import Column
from labeler.render import charts, tables
from labeler.render.markup import show_html, style
from labeler.ui import keyword_cache, rank_views, url_state
from labeler.ui import shared as ui
from labeler.ui.query_detail import open_query, rank_style
from labeler.ui.rank_views import picked, rank_strips
from labeler.ui.reranker import show_reranker

MOST_KEYWORDS = 50  # keywords in each table


def show_keywords(view: ComparisonView) -> None:
    """Show the means of A and B by keyword, then the keywords that one of them alone finds."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        k, substring = keyword_cache.choose_depth(), keyword_cache.choose_substring()
    shown = {row.query_id for row in view.rows}
    at, runs = keyword_cache.KeywordKey.of(view.board), (view.compared.a, view.compared.b)
    values, unusable = keyword_cache.keyword_values(at, substring, k, runs, view.board)
    found = {
        run: {name: each for name, each in scores.items() if name in shown}
        for run, scores in values.items()
    }
    if not any(found.values()):
        keyword_cache.say_nothing_found(at, unusable)
        return
    every = keyword_cache.places_in_runs(at, substring, runs, view.board)
    places = [place for place in every if place.query_id in shown]
    show_html(tables.keyword_means_table("AB", keyword_means(found), k))
    print_lines = [describe_keyword_conventions(k, substring=substring), unusable or ""]
    show_html(tables.small_print(print_lines))
    for name, alone in zip("AB", found_by_one_run(places, *runs, k), strict=True):
        _show_found_by_one(f"Only {name} has these in its top {k}", alone, runs)
    show_html(tables.sentences(describe_missed(places, "neither A nor B")))


def _show_found_by_one(title: str, alone: Sequence[KeywordRanks], runs: tuple[str, str]) -> None:
    if not alone:
        return
    with st.expander(f"{title}: {len(alone):,}", expanded=len(alone) <= MOST_KEYWORDS):
        show_html(tables.keyword_places_table(alone[:MOST_KEYWORDS], *runs, link=_query_url))
        if len(alone) > MOST_KEYWORDS:
            st.caption(f"The first {MOST_KEYWORDS}; labeler score --keywords --per-query has all.")


def _query_url(query_id: str) -> str:
    return url_state.this_page_url("/compare", query=query_id)


QUERIES_A_PAGE = 200
PARTING_A_PAGE = 10
MOVERS = 10
# Bars take the room that the scatter leaves; where that is too little, it stands below them.
CHARTS_STYLE = """
.st-key-charts [data-testid="stHorizontalBlock"] { flex-wrap: wrap; }
.st-key-charts [data-testid="stColumn"] { flex: 1 1 20rem; min-width: min(20rem, 100%); }
.st-key-charts [data-testid="stColumn"]:last-child {
  flex: 0 1 23rem; min-width: min(23rem, 100%);
}
"""
LONGEST_TITLE = 200  # characters of a text that stands for a title


def choose_view(view: ComparisonView) -> Callable[[], None]:
    """Let the user choose a view of the queries; return what draws it.

    Where nothing is graded there are only the views that need no grade.
    """
    names = [name for name in VIEWS if name != PARTING or not view.compared.apart]
    labels: Mapping[str, str] = VIEW_LABELS
    if not view.board.counts.grades and not view.compared.apart:
        asked = url_state.get("show")
        without = [PARTING, STRIPS, KEYWORDS, *([asked] if asked in VIEWS else [])]
        names, labels = list(dict.fromkeys(filter(None, without))), {}
    shown = url_state.choose_tab(
        *("Show", names, "show"),
        what="picture",
        format_func=lambda name: labels.get(name, name),
    )
    return partial(VIEWS[shown], view)


def show_parting(view: ComparisonView) -> None:
    """Show the queries in which the lists of A and B part, most of all first."""
    shown = {row.query_id for row in view.rows}
    overlap = comparison.compare_lists(view.board, view.compared.a, view.compared.b)
    parting = [row for row in overlap.parting if row.query_id in shown]
    if not parting:
        st.caption(f"The first {comparison.OVERLAP_DEPTH} results are the same in every query.")
        return
    place = st.container()
    part = url_state.choose_part(parting, PARTING_A_PAGE)
    names = (view.called(view.compared.a), view.called(view.compared.b))
    texts = {row.query_id: shorten(view.texts.get(row.query_id, "")) for row in part}
    table = replace(overlap, rows=part).table(texts, names=names)
    columns = tuple(each for each in table.columns if each.name != "query_id")
    shared = tables.html_table_of(
        results.Table((*columns, Column("query_id")), table.rows),
        label="Where the lists part",
        row_head="query",
        links={"query": lambda row: _query_url(row["query_id"])},
    )
    lines = [
        f"{len(parting):,} of {format_count(len(shown), 'query', 'queries')}, those whose first "
        f"{comparison.OVERLAP_DEPTH} results differ most first. A query leads to its two lists; "
        "who looks at them does not grade that query blind."
    ]
    with place:
        show_html(shared, tables.small_print(lines))


def shorten(text: str) -> str:
    """Return a query's text, cut where it would fill the table."""
    return text if len(text) <= LONGEST_TITLE else f"{text[:LONGEST_TITLE]}…"


def show_strips(view: ComparisonView) -> None:
    """Show a page of queries as rank strips; a click opens one."""
    with st.container(horizontal=True):
        page = url_state.choose_page(math.ceil(len(view.rows) / QUERIES_A_PAGE))
    first = (page - 1) * QUERIES_A_PAGE
    shown = rank_views.strip_rows(view, first, QUERIES_A_PAGE)
    depth = rank_views.strip_depth(view)
    rank_strips(
        *(shown, depth, view.facets, rank_style(view)),
        key="strips",
        on_open=lambda: open_query(picked("strips")),
    )
    st.caption(
        f"Queries {first + 1:,}-{first + len(shown):,} of {len(view.rows):,}, {view.heading}, "
        f"ranks 1-{depth}. A digit is a grade, a hollow cell a chunk nobody has graded. "
        "Click a query, or press Enter on it, to open it."
    )


def show_charts(view: ComparisonView) -> None:
    """Show the queries as bars and as a scatter, with their numbers."""
    compared = view.compared
    frame = charts.query_frame(view.drawn())
    if frame.empty:
        st.caption(f"No query has a value by {view.heading} yet, so there is nothing to draw.")
        return
    with st.container(key="charts"):
        show_html(style(CHARTS_STYLE))
        left, right = st.columns(2)
    named = (frame, view.heading, compared.a, compared.b)
    opened = dict(zip(frame["place"].tolist(), frame["query_id"].tolist(), strict=True))
    draw_to_click(left, charts.delta_bars(*named), "bars", "stretch", opened)
    draw_to_click(right, charts.delta_scatter(*named), "scatter", "content", opened)
    without = format_count(len(view.rows) - len(frame), "query has", "queries have")
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
                "unjudged_a": "unjudged in A",
                "unjudged_b": "unjudged in B",
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


def show_movers(view: ComparisonView) -> None:
    """Show which chunks or documents moved most; a link opens a query in which one did."""
    what = url_state.choose_tab("What moved", ["chunks", "documents"], "moved", what="kind")
    found = moved_most(view, what)
    costs = [mover for mover in found if mover.adds < 0][:MOVERS]
    helps = [mover for mover in found if mover.adds > 0][:MOVERS]
    titles = chunk_titles(view, [*costs, *helps]) if what == "chunks" else {}
    kind = what.removesuffix("s").capitalize()

    def opened(place: ChunkContribution) -> str:
        chunk = view.board.collection.chunk_ids[place.chunk]
        return url_state.this_page_url("/compare", query=place.query_id, chunk=chunk)

    for caption, rows in ((f"These {what} cost B most", costs), ("These help B most", helps)):
        if rows:
            show_html(tables.movers_table(rows, caption, titles, what=kind, link=opened))
    show_html(tables.small_print(about_movers(view, what, found)))


def moved_most(view: ComparisonView, what: str) -> Sequence[TopMover]:
    """Return the chunks, or the documents, that add to the difference, the largest part first."""
    ids = [row.query_id for row in view.rows]
    found = comparison.find_contributions(
        view.board, view.compared.a, view.compared.b, view.by, ids
    )
    if what == "chunks":
        return comparison.add_up_movers(found, view.board.collection.chunk_ids.__getitem__)
    with ui.open_store() as store:
        documents = store.documents_of(each.chunk for each in found)
    return comparison.add_up_movers(found, documents.get)


def chunk_titles(view: ComparisonView, shown: Iterable[TopMover]) -> dict[str, str]:
    """Return what the chunks that are shown are called."""
    with ui.open_store() as store:
        chunks = store.chunks_numbered((mover.places[0].chunk for mover in shown), LONGEST_TITLE)
    return rank_views.chunk_titles(view.board.collection.chunk_ids, chunks)


def about_movers(view: ComparisonView, what: str, found: Sequence[TopMover]) -> list[str]:
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
        comparison.describe_dependence(view.by) or "",
        view.compared.conventions.sentence,
    ]


def show_reranked(view: ComparisonView) -> None:
    """Show what a perfect reranker would make of A and of B."""
    runs, queries = [view.compared.a, view.compared.b], {row.query_id for row in view.rows}
    show_reranker(view.board, runs, view.compared.measures, queries)


STRIPS, KEYWORDS, PARTING = "Rank strips", "Keywords", "Where the lists part"
VIEW_LABELS = {STRIPS: "Queries"}
VIEWS: Mapping[str, Callable[[ComparisonView], None]] = {
    STRIPS: show_strips,
    "Bars and scatter": show_charts,
    "What moved most": show_movers,
    "Perfect reranker": show_reranked,
    PARTING: show_parting,
    KEYWORDS: show_keywords,
}

"""The queries of Compare as rank strips, and the folds: movers, a perfect reranker, keywords."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import htpy
import streamlit as st

from labeler.analysis import comparison
from labeler.analysis.comparison import ChunkContribution, ComparisonView, QueryDelta, TopMover
from labeler.analysis.keywords import (
    KeywordRanks,
    describe_keyword_conventions,
    describe_missed,
    found_by_one_run,
    keyword_means,
)
from labeler.model import format_count, results
from labeler.model.results import Column
from labeler.render import tables
from labeler.render.markup import show_html
from labeler.ui import keyword_cache, rank_views, url_state
from labeler.ui import shared as ui
from labeler.ui.folds import show_folds
from labeler.ui.query_view import open_query
from labeler.ui.rank_views import RankStyle, picked, rank_strips
from labeler.ui.reranker import show_reranker

MOST_KEYWORDS = 50  # keywords in each table


def show_keywords(view: ComparisonView) -> None:
    """Show the means of both runs by keyword, then the keywords that only one of them finds."""
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
    names = (view.called(runs[0]), view.called(runs[1]))
    show_html(tables.keyword_means_table(names, keyword_means(found), k))
    print_lines = [describe_keyword_conventions(k, substring=substring), unusable or ""]
    show_html(tables.small_print(print_lines))
    for name, alone in zip(names, found_by_one_run(places, *runs, k), strict=True):
        _show_found_by_one(f"Only {name} has these in its top {k}", alone, runs, names)
    show_html(tables.sentences(describe_missed(places, f"neither {names[0]} nor {names[1]}")))


def _show_found_by_one(
    title: str, alone: Sequence[KeywordRanks], runs: tuple[str, str], names: tuple[str, str]
) -> None:
    if not alone:
        return
    with st.expander(f"{title}: {len(alone):,}", expanded=len(alone) <= MOST_KEYWORDS):
        shown = tables.keyword_places_table(alone[:MOST_KEYWORDS], runs, names, link=_query_url)
        show_html(shown)
        if len(alone) > MOST_KEYWORDS:
            st.caption(f"The first {MOST_KEYWORDS}; labeler score --keywords --per-query has all.")


def _query_url(query_id: str) -> str:
    return url_state.this_page_url("/compare", query=query_id)


QUERIES_A_PAGE = 200
PARTING_A_PAGE = 10
MOVERS = 10
LONGEST_TITLE = 200  # characters of a text used as a title
HEADING = "margin: 2rem 0 0; font-size: 1.125rem; line-height: 1.5rem; font-weight: 600; padding: 0"
OUTCOMES = EVERY, WORSE, BETTER, EQUAL, APART = ("all", "worse", "better", "equal", "not compared")
ORDERS = dict(
    zip(comparison.QUERY_SORTS[:2], ("largest losses first", "largest gains first"), strict=True)
)
ALL_MEASURES = "measures"
PICTURED = (ALL_MEASURES,)  # values of ``show`` that are not folds: what the picture draws


def show_queries(view: ComparisonView, rows: Sequence[QueryDelta], outcome: str) -> None:
    """Show the queries of an outcome; without grades, show those where the lists differ most."""
    if not view.board.counts.grades and not view.compared.apart:
        show_html(htpy.h2(style=HEADING)[FOLDS[PARTING][0]])
        show_parting(view)
        return
    with st.container(horizontal=True, vertical_alignment="bottom", key="queries-head"):
        show_html(htpy.h2(style=HEADING)[f"Queries, {describe_order(outcome)}"])
        choose_outcome(view)
    show_strips(replace(view, rows=rows))


def describe_order(outcome: str) -> str:
    """Return the order of the queries in words."""
    sort = url_state.get("sort") or comparison.QUERY_SORTS[0]
    if outcome == BETTER and sort == comparison.QUERY_SORTS[0]:
        sort = comparison.QUERY_SORTS[1]
    return ORDERS.get(sort, f"by {sort}")


def with_outcome(view: ComparisonView) -> tuple[Sequence[QueryDelta], str]:
    """Return the queries of the outcome in the URL, and that outcome.

    Queries where B is better start with the largest gain, unless another order was chosen.
    """
    outcome = url_state.check_among("which", OUTCOMES, "outcome of a query") or EVERY
    rows = [row for row in view.rows if outcome in (EVERY, outcome_of(row))]
    is_turned = outcome == BETTER and url_state.get("sort") in (None, comparison.QUERY_SORTS[0])
    return rows[::-1] if is_turned else rows, outcome


def outcome_of(row: QueryDelta) -> str:
    """Return whether B is worse, better or equal on a query, or `APART` if it has no value."""
    if math.isnan(row.delta):
        return APART
    if abs(row.delta) <= comparison.TOLERANCE:
        return EQUAL
    return BETTER if row.delta > 0 else WORSE


def choose_outcome(view: ComparisonView) -> None:
    """Let the user choose which queries are listed; the URL has it as ``which``."""
    counts = Counter(map(outcome_of, view.rows))
    counts[EVERY] = len(view.rows)
    shown = [each for each in OUTCOMES if counts[each] or each != APART]
    url_state.choose_tab(
        *("Which queries", shown, "which"),
        what="outcome of a query",
        clears=["page"],
        format_func=lambda name: f"{counts[name]:,} {name}",
        width="content",
    )


def show_more(view: ComparisonView, details: Mapping[str, Callable[[], None]]) -> None:
    """Show the folds, with the ``details``; the URL has the open one as ``show``."""
    folds = {name: each for name, each in FOLDS.items() if name in VIEWS or name in details}
    if view.compared.apart:
        del folds[PARTING]
    elif not view.board.counts.grades:
        for name in (MOVED, RERANKED, PARTING):
            del folds[name]
    else:
        del folds[STRIPS]
    opened = url_state.check_among("show", [*FOLDS, *PICTURED], "picture")
    at = keyword_cache.KeywordKey.of(view.board)
    if opened != KEYWORDS and not keyword_cache.keywords_by_query(at):
        folds.pop(KEYWORDS)

    def address(name: str | None) -> str:
        return url_state.this_page_url("/compare", show=name, page=None)

    views = {name: partial(show, view) for name, show in VIEWS.items()} | dict(details)
    show_folds(folds, opened, address, lambda: views[str(opened)]())


def show_parting(view: ComparisonView) -> None:
    """Show the queries in which the lists of A and B differ, the largest differences first."""
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
        label="Where the lists differ",
        row_head="query",
        links={"query": lambda row: _query_url(row["query_id"])},
    )
    lines = [
        f"{len(parting):,} of {format_count(len(shown), 'query', 'queries')}: those whose first "
        f"{comparison.OVERLAP_DEPTH} results differ most come first. Click a query to see its two "
        "lists; after that you no longer grade it blind."
    ]
    with place:
        show_html(shared, tables.small_print(lines))


def shorten(text: str) -> str:
    """Return a query's text, cut to fit the table."""
    return text if len(text) <= LONGEST_TITLE else f"{text[:LONGEST_TITLE]}…"


def show_strips(view: ComparisonView) -> None:
    """Show a page of queries as rank strips; a click opens one."""
    with st.container(horizontal=True):
        page = url_state.choose_page(math.ceil(len(view.rows) / QUERIES_A_PAGE))
    first = (page - 1) * QUERIES_A_PAGE
    shown = rank_views.strip_rows(view, first, QUERIES_A_PAGE)
    if view.compared.facet is None and url_state.get("sort") != "bucket":
        shown = [replace(row, bucket="") for row in shown]
    depth = rank_views.strip_depth(view)
    rank_strips(
        *(shown, depth, view.facets, RankStyle.of(view)),
        key="strips",
        on_open=lambda: open_query(picked("strips")),
    )
    st.caption(
        f"Queries {first + 1:,}-{first + len(shown):,} of {len(view.rows):,}, {view.heading}, "
        f"ranks 1-{depth}. A digit is a grade, a hollow cell is unjudged. "
        "Click a query, or press Enter on it, to open it."
    )


def show_movers(view: ComparisonView) -> None:
    """Show the chunks or documents that moved most, with links to queries in which they moved."""
    what = url_state.choose_tab("What moved", ["chunks", "documents"], "moved", what="kind")
    found = moved_most(view, what)
    costs = [mover for mover in found if mover.adds < 0][:MOVERS]
    helps = [mover for mover in found if mover.adds > 0][:MOVERS]
    titles = chunk_titles(view, [*costs, *helps]) if what == "chunks" else {}
    kind = what.removesuffix("s").capitalize()

    def opened(place: ChunkContribution) -> str:
        chunk = view.board.collection.chunk_ids[place.chunk]
        return url_state.this_page_url("/compare", query=place.query_id, chunk=chunk)

    names = (view.called(view.compared.a), view.called(view.compared.b))
    shown = {f"These {what} cost {names[1]} most": costs, f"These help {names[1]} most": helps}
    for caption, rows in shown.items():
        if rows:
            look = tables.MoversLook(kind, view.heading, names, opened)
            show_html(tables.movers_table(rows, caption, titles, look))
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
        documents = store.documents.of_chunks(each.chunk for each in found)
    return comparison.add_up_movers(found, documents.get)


def chunk_titles(view: ComparisonView, shown: Iterable[TopMover]) -> dict[str, str]:
    """Return the titles of the chunks that are shown."""
    with ui.open_store() as store:
        chunks = store.texts.numbered((mover.places[0].chunk for mover in shown), LONGEST_TITLE)
    return rank_views.chunk_titles(view.board.collection.chunk_ids, chunks)


def about_movers(view: ComparisonView, what: str, found: Sequence[TopMover]) -> list[str]:
    """Explain the numbers, or why there are none if nothing moved."""
    if not found and what == "documents":
        return [
            f"No chunk that changes {view.heading} has a known document: load the chunks "
            "with a document_id."
        ]
    if not found:
        a, b = view.called(view.compared.a), view.called(view.compared.b)
        return [f"No graded chunk changes {view.heading} from {a} to {b}."]
    return [
        f"The part of each in the difference in mean {view.heading}; {what} with a part: "
        f"{len(found):,}.",
        comparison.describe_dependence(view.by) or "",
        view.compared.conventions.sentence,
    ]


def show_reranked(view: ComparisonView) -> None:
    """Show the values of both runs with a perfect reranker."""
    runs, queries = [view.compared.a, view.compared.b], {row.query_id for row in view.rows}
    show_reranker(view.board, runs, view.compared.measures, queries)


STRIPS, KEYWORDS, PARTING = "Rank strips", "Keywords", "Where the lists part"
MOVED, RERANKED = "What moved most", "Perfect reranker"
STATISTICS, NUMBERS, COMPUTED = "Statistics", "All numbers", "How computed"
FOLDS: Mapping[str, tuple[str, str]] = {
    STATISTICS: ("Statistics", "p, the smallest difference these queries can show, other grades"),
    STRIPS: ("Rank strips", "the first ranks of both lists"),
    MOVED: ("What moved most", "the chunks and documents behind the difference"),
    RERANKED: ("Perfect reranker", "what a better order of the same chunks would give"),
    PARTING: ("Where the lists differ", "the queries whose first results differ most"),
    KEYWORDS: ("Keywords", "where the words of an answer are found, without grades"),
    NUMBERS: ("All numbers", "means, counts and possible ranges by measure"),
    COMPUTED: ("How computed", "conventions, tests and what is left out"),
}
VIEWS: Mapping[str, Callable[[ComparisonView], None]] = {
    STRIPS: show_strips,
    MOVED: show_movers,
    RERANKED: show_reranked,
    PARTING: show_parting,
    KEYWORDS: show_keywords,
}

"""The Queries page: choices, and below them causes and queries, or one query, live."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st

from labeler.analysis import failures as diagnosis
from labeler.analysis.failures import QueryRow
from labeler.model import Query, Remark
from labeler.render import tables
from labeler.render.markup import show_html
from labeler.render.tables.query_view import grade_key
from labeler.ui import live, scoreboards, url_state
from labeler.ui import shared as ui
from labeler.ui.folds import show_folds
from labeler.ui.queries.choices import QueriesChoice, choose
from labeler.ui.queries.failures import RunFailures, find_run_failures
from labeler.ui.queries.views import (
    choose_page,
    show_answers,
    show_causes,
    show_classes,
    show_how,
    show_list,
    show_perfect_order,
    show_verdict,
    steps_around,
)
from labeler.ui.query_view import OpenedQuery, show_query

LIST = "List"  # means no fold in URLs of earlier versions
CAUSES, RERANKER, ANSWERS = "Causes by bucket", "Perfect reranker", "Retrieval and answer"
FOLDS: Mapping[str, tuple[str, str]] = {
    CAUSES: (CAUSES, "how many queries fail why, in each bucket"),
    RERANKER: (RERANKER, "what a better order of the same chunks would give"),
    ANSWERS: (ANSWERS, "whether wrong answers come from retrieval"),
}
QUERY_BOX: Mapping[str, Any] = {
    "placeholder": "id of a query, or click one",
    "label_visibility": "collapsed",
    "width": 210,
}


@dataclass(frozen=True, slots=True)
class QueriesPage:
    """The choices of the page, and the data that grades do not change.

    ``answered`` are the runs with answers, with their numbers; ``words`` are the names of grades.
    """

    choice: QueriesChoice
    queries: Mapping[str, Query]
    answered: Mapping[str, int]
    words: Sequence[str]

    @property
    def orders(self) -> Sequence[str]:
        """The orders in which the list can be sorted."""
        return diagnosis.QUERY_ORDERS_AGAINST if self.choice.a else diagnosis.QUERY_ORDERS

    def in_order(self, found: RunFailures, order: str) -> list[QueryRow]:
        """Return the rows of the list in the order in which the reader first saw them."""
        asked = ("queries", repr(self.choice), order)
        return live.keep_order(found.in_order(order), lambda row: row.query_id, asked)


def show_page() -> None:
    """Show the page, or say which data it needs."""
    with ui.open_store() as store:
        settings = scoreboards.shown_settings(store)
        board = scoreboards.live_board(store, scoreboards.shown_conventions(settings))
        queries = {query.query_id: query for query in scoreboards.shown_queries(store)}
        answered = store.answers.runs()
    if not queries or not board.run_names:
        ui.say_empty(
            "There is no run to look at yet" if queries else "There are no queries yet",
            "This page lists where a run fails: it needs queries and a run.",
            "labeler load run FILE" if queries else "labeler load queries FILE",
        )
        st.stop()
    elsewhere = [run.name for run in board.collection.runs_left_out]
    more: dict[str, Any] = {"answered": bool(answered), "elsewhere": elsewhere}
    choice = choose(scoreboards.best_first(board, settings), board.facets, settings, **more)
    live.follow(partial(show_failing, QueriesPage(choice, queries, answered, settings.words)))


def show_failing(page: QueriesPage, say: Callable[[str], None]) -> None:
    """Show the queries that fail by the newest grades, and say how much is graded."""
    choice = page.choice
    with ui.open_store() as store:
        board = scoreboards.live_board(store, choice.conventions)
        remarks = store.remarks.current() if board.conventions.frozen is None else []
        right = store.answers.right(choice.run) if page.answered else {}
    if not board.counts.grades:
        say(scoreboards.graded_line(board))
    with url_state.stale_if_incomparable("a"):
        found = find_run_failures(board, page.queries, remarks, choice, right)
    query_id = url_state.get("query")
    if not board.counts.judged and query_id is None:
        scoreboards.say_nothing_graded(choice.conventions.selected, "No query can fail")
    if choice.apart is not None:
        apart = f"{choice.apart} has other chunks, so only {choice.run} is shown."
        show_html(tables.sentence_with_link(apart, "Compare both", url_state.page_url("/compare")))
    if query_id is None:
        show_all(page, found)
    elif query_id in page.queries:
        scoreboards.check_query_selected(found.board, query_id)
        show_one(page, found, remarks, query_id)
    else:
        ui.show_error(f"no query is called {query_id!r} in this golden set")
        st.button("Show all queries", on_click=url_state.remove, args=[["query"]])


def show_all(page: QueriesPage, found: RunFailures) -> None:
    """Show how many queries fail and why, the list of queries, and the folds."""
    order = chosen_order(page.orders)
    shown = page.in_order(found, order)
    if found.board.counts.judged:
        show_verdict(found, shown)
    has_columns = url_state.get("numbers") == "true"  # which need the whole width
    with st.container(key="overview"):
        causes, listed = (st.container(), st.container())
        if not has_columns and any(found.within.values()):
            causes, listed = st.columns([1, 3.6], gap="medium")
            with causes:
                show_classes(found)
        with listed:
            with st.container(horizontal=True, vertical_alignment="center"):
                choose_order(page.orders)
                url_state.write_text("Query", "query", **QUERY_BOX)
                st.space("stretch")
                show_html(grade_key(), width="content")
                number = choose_page(shown)
            show_list(found, shown, order, number)
    show_more(page, found)
    show_how(found, shown)


def show_more(page: QueriesPage, found: RunFailures) -> None:
    """Show the folds about failing queries; the URL has the open one as ``view``."""
    folds = {name: fold for name, fold in FOLDS.items() if name != ANSWERS or page.answered}
    opened = url_state.get("view")
    opened = None if opened == LIST else url_state.check_among("view", list(folds), "view")

    def address(name: str | None) -> str:
        return url_state.this_page_url("/queries", view=name)

    shows = {
        CAUSES: partial(show_causes, found),
        RERANKER: partial(show_perfect_order, found),
        ANSWERS: partial(show_answers, found, page.answered),
    }
    show_folds(folds, opened, address, shows.get(opened or "", lambda: None))


def chosen_order(orders: Sequence[str]) -> str:
    """Return the order of the list."""
    asked = url_state.get("sort") or ""
    return asked if asked in orders else orders[0]


def choose_order(orders: Sequence[str]) -> str:
    """Let the user sort the list."""
    return url_state.choose("Sorted", orders, "sort", width=170, label_visibility="collapsed")


def show_one(
    page: QueriesPage, found: RunFailures, remarks: Sequence[Remark], query_id: str
) -> None:
    """Show one query in full, with links to its neighbours and back."""
    choice, order = page.choice, chosen_order(page.orders)
    show_query(
        OpenedQuery(
            *(page.queries[query_id], found.board),
            runs=[*([choice.a] if choice.a else []), choice.run],
            measures=found.measures,
            rule=choice.rule,
            remarks=remarks,
            words=page.words,
            steps=steps_around(found, page.in_order(found, order), query_id),
            path="/queries",
            answered=bool(page.answered),
        )
    )

"""The Queries page: choices above; below them the list, the causes or one query, live."""

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
from labeler.ui import live, scoreboards, url_state
from labeler.ui import shared as ui
from labeler.ui.queries.choices import QueriesChoice, choose
from labeler.ui.queries.failures import RunFailures, find_run_failures
from labeler.ui.queries.views import (
    choose_page,
    show_answers,
    show_causes,
    show_classes,
    show_list,
    show_verdict,
    steps_around,
)
from labeler.ui.query_view import OpenedQuery, show_query

LIST, CAUSES, ANSWERS = "List", "Why they fail", "Retrieval and answer"
QUERY_BOX: Mapping[str, Any] = {
    "placeholder": "id of a query, or click one",
    "label_visibility": "collapsed",
    "width": 210,
}


@dataclass(frozen=True, slots=True)
class QueriesPage:
    """What is chosen, and what no grade changes.

    ``answered`` are the runs with answers and how many; ``words`` are what the grades are called.
    """

    choice: QueriesChoice
    queries: Mapping[str, Query]
    answered: Mapping[str, int]
    words: Sequence[str]

    @property
    def orders(self) -> Sequence[str]:
        """How the list can be sorted."""
        return diagnosis.QUERY_ORDERS_AGAINST if self.choice.a else diagnosis.QUERY_ORDERS

    def in_order(self, found: RunFailures, order: str) -> list[QueryRow]:
        """Return the rows of the list, sorted as they were when the reader asked for them."""
        asked = ("queries", repr(self.choice), order)
        return live.keep_order(found.in_order(order), lambda row: row.query_id, asked)


def show_page() -> None:
    """Show the page, or what is missing for it."""
    with ui.open_store() as store:
        settings = scoreboards.shown_settings(store)
        board = scoreboards.live_board(store, scoreboards.shown_conventions(settings))
        queries = {query.query_id: query for query in scoreboards.shown_queries(store)}
        answered = store.answered_runs()
    if not queries or not board.run_names:
        ui.say_empty(
            "There is no run to look at yet" if queries else "There are no queries yet",
            "This page lists where a run fails: it needs queries and a run.",
            "labeler load run FILE" if queries else "labeler load queries FILE",
        )
        st.stop()
    elsewhere = [run.name for run in board.collection.runs_left_out]
    more: dict[str, Any] = {"answered": bool(answered), "elsewhere": elsewhere}
    choice = choose(board.run_names, board.facets, settings, **more)
    live.follow(partial(show_failing, QueriesPage(choice, queries, answered, settings.words)))


def show_failing(page: QueriesPage, say: Callable[[str], None]) -> None:
    """Show which queries fail by the newest grades, and say how much is graded."""
    choice = page.choice
    with ui.open_store() as store:
        board = scoreboards.live_board(store, choice.conventions)
        remarks = store.remarks() if board.conventions.frozen is None else []
        right = store.right_answers(choice.run) if page.answered else {}
    if not board.counts.grades:
        say(scoreboards.graded_line(board))
    with url_state.stale_if_incomparable("a"):
        found = find_run_failures(board, page.queries, remarks, choice, right)
    if not board.counts.judged:
        scoreboards.say_nothing_graded(choice.conventions.selected, "No query can fail")
    if choice.apart is not None:
        apart = f"{choice.apart} is of another chunking: {choice.run} is looked at alone."
        show_html(tables.sentence_with_link(apart, "Compare both", url_state.page_url("/compare")))
    query_id = url_state.get("query")
    if query_id is None:
        show_all(page, found)
    elif query_id in page.queries:
        scoreboards.check_query_selected(found.board, query_id)
        show_one(page, found, remarks, query_id)
    else:
        ui.show_error(f"no query is called {query_id!r}; choose one from the list")
        st.button("Back to the list", on_click=url_state.remove, args=[["query"]])


def show_all(page: QueriesPage, found: RunFailures) -> None:
    """Show how many queries fail, and the list or the reasons; the list has the rest below it."""
    said = found.summary if found.within else []
    explained = url_state.get("view") == CAUSES
    if found.board.counts.judged:
        show_verdict(found)
    if explained:
        show_html(tables.sentences(said))
    with st.container(horizontal=True, vertical_alignment="center"):
        views = [LIST, CAUSES, *([ANSWERS] if page.answered else [])]
        view = url_state.choose_tab("Show", views, "view", what="view")
        order = choose_order(page.orders) if view == LIST else page.orders[0]
        url_state.write_text("Query", "query", **QUERY_BOX)
        shown = page.in_order(found, order)
        number = choose_page(shown) if view == LIST else 1
    if view == LIST:
        show_beside_causes(found, shown, order, number)
    elif view == CAUSES:
        show_causes(found)
    else:
        show_answers(found, page.answered)


def show_beside_causes(
    found: RunFailures, shown: Sequence[QueryRow], order: str, number: int
) -> None:
    """Show the list beside the causes; with all its columns it needs the whole width."""
    if url_state.get("numbers") == "true":
        show_list(found, shown, order, number)
        return
    causes, listed = st.columns([1, 3.6], gap="medium")
    with causes:
        show_classes(found)
    with listed:
        show_list(found, shown, order, number)


def choose_order(orders: Sequence[str]) -> str:
    """Let the user sort the list."""
    return url_state.choose("Sorted", orders, "sort", width=170, label_visibility="collapsed")


def show_one(
    page: QueriesPage, found: RunFailures, remarks: Sequence[Remark], query_id: str
) -> None:
    """Show one query in full, and the ways out of it."""
    choice = page.choice
    order = url_state.get("sort") or ""
    order = order if order in page.orders else page.orders[0]
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

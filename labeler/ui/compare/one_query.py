"""One query opened from Compare: both lists, and links to its neighbours in Compare's list."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from labeler.analysis import comparison
from labeler.analysis.comparison import ComparisonView
from labeler.analysis.failures import LossAgainstRun
from labeler.render.short_names import short_names
from labeler.ui import scoreboards
from labeler.ui import shared as ui
from labeler.ui.query_view import OpenedQuery, QuerySteps, open_query, show_query


def show_one(view: ComparisonView, query_id: str, words: Sequence[str]) -> None:
    """Show one query in full, with links to its neighbours."""
    if query_id not in view.texts:
        ui.show_error(f"no query is called {query_id!r} in this golden set")
        st.button("Show all queries", on_click=open_query, args=[None])
        return
    board, compared = view.board, view.compared
    scoreboards.check_query_selected(board, query_id)
    with ui.open_store() as store:
        [query] = [each for each in scoreboards.shown_queries(store) if each.query_id == query_id]
        remarks = store.remarks.current() if board.conventions.frozen is None else []
        answered = bool(store.answers.runs())
    show_query(
        OpenedQuery(
            *(query, board, (compared.a, compared.b)),
            measures=list(dict.fromkeys([view.by, *compared.measures])),
            rule=LossAgainstRun(compared.a, view.by),
            remarks=remarks,
            words=words,
            steps=steps_around(view, query_id),
            path="/compare",
            answered=answered,
        )
    )


def steps_around(view: ComparisonView, query_id: str) -> QuerySteps:
    """Return the neighbours of a query in the list of Compare, and its place there."""
    names = short_names((view.compared.a, view.compared.b))
    a, b = (names[run] for run in (view.compared.a, view.compared.b))
    ids = [row.query_id for row in view.rows]
    at = ids.index(query_id) if query_id in ids else None
    return QuerySteps(
        back=f"Compare {a} with {b}",
        place="not in this bucket" if at is None else describe_place(view, at, b),
        before=ids[at - 1] if at else None,
        after=ids[at + 1] if at is not None and at + 1 < len(ids) else None,
        leave=partial(open_query, None),
        go=open_query,
    )


def describe_place(view: ComparisonView, at: int, b: str) -> str:
    """Say which of how many queries is at a place, counting those of the same outcome.

    A list that is not sorted by the difference mixes outcomes; there all queries are counted.
    """
    outcomes = [comparison.query_outcome(row.delta) for row in view.rows]
    alike = [place for place, outcome in enumerate(outcomes) if outcome == outcomes[at]]
    if outcomes[at] is None or alike[-1] - alike[0] + 1 != len(alike):
        return f"{at + 1:,} of {len(outcomes):,}"
    better, tie, _ = comparison.QUERY_OUTCOMES
    where = {better: f"where {b} is better", tie: "where both are equal"}
    of = where.get(outcomes[at] or "", f"where {b} is worse")
    return f"{at - alike[0] + 1:,} of {len(alike):,} {of}"

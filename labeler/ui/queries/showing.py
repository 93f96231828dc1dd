"""What Queries shows of all queries: the list, the reasons with what to try, and the way about."""

from __future__ import annotations

import math
from collections.abc import Sequence

import streamlit as st

from labeler.analysis import failures as diagnosis
from labeler.analysis.failures import QueryRow
from labeler.model import counted
from labeler.render import charts, downloads, tables
from labeler.render.markup import show_html
from labeler.ui import address, links
from labeler.ui import shared as ui
from labeler.ui.queries.choosing import list_of
from labeler.ui.queries.finding import Found
from labeler.ui.reranker import show_reranker

ON_A_PAGE = 200


def open_query(query_id: str, at: int | None = None) -> None:
    """Open a query in full, or none; the list turns to the page that has its row ``at``, from 0."""
    page = {} if at is None else {"page": str(at // ON_A_PAGE + 1) if at >= ON_A_PAGE else None}
    address.write(query=query_id or None, **page)


def link_to_query(query_id: str) -> str:
    """Return the address of a query in full, from which one comes back to the same list."""
    return address.here("/queries", query=query_id)


def choose_page(shown: Sequence[QueryRow]) -> int:
    """Let the user turn the pages of the list."""
    return address.choose_page(math.ceil(len(shown) / ON_A_PAGE))


def show_list(found: Found, shown: Sequence[QueryRow], order: str, page: int) -> None:
    """Show a page of the queries; a click opens one."""
    if not shown:
        st.text("No query gets through these filters. Widen them to see one.")
        return
    choice = found.choice
    part = shown[(page - 1) * ON_A_PAGE : page * ON_A_PAGE]
    of = "" if len(part) == len(shown) else f", {len(part)} on this page"
    against = ""
    if choice.a is not None:
        against = f" · A is {found.short[choice.a]}, B is {found.short[choice.run]}"
    facet = choice.filters.facet
    show_html(tables.failing_list(part, found.headings, facet, link_to_query))
    st.text(
        f"{len(shown):,} of {len(found.rows):,} queries{of} · {order}{against} · click one to open "
        "it"
    )
    show_html(
        tables.small_print([found.small_print]),
        tables.whole_names(found.short, [run for run in (choice.run, choice.a) if run]),
    )
    ui.offer(
        "Download these queries as CSV",
        lambda: downloads.failing_csv(
            shown, choice.run, choice.a, found.measures, found.board.conventions
        ),
        "queries.csv",
        found.board.revision,
    )


def show_causes(found: Found) -> None:
    """Show how many queries fail for which reason and what to try, over all and by bucket."""
    choice, facet = found.choice, found.choice.filters.facet
    run = found.short[choice.run]
    show_reranker(found.board, [choice.run], found.measures, found.within)
    classes = diagnosis.tallies(found.within)
    counts = {kind: each.queries for kind, each in classes.items()}
    if not sum(counts.values()):
        return
    by_bucket = diagnosis.count_by_bucket(found.board, found.within, facet) if facet else {}
    every = (counts, by_bucket)
    show_html(
        tables.failure_table(classes, by_bucket, lambda kind: list_of(**{"class": kind.name}))
    )
    inside = sum(sum(each.values()) for each in by_bucket.values())
    left = sum(counts.values()) - inside if facet else 0
    apart = f"{counted(left, 'failing query has', 'failing queries have')} no {facet}: in no bucket"
    show_html(tables.small_print([found.small_print, *([apart] if left else [])]))
    st.altair_chart(charts.failure_chart(counts, f"Failing queries of {run} by class"))
    if facet:
        words = f"Failing queries of {run} by class and bucket of {facet}"
        st.text(words)
        st.altair_chart(charts.failure_heat(by_bucket, words))
    else:
        st.text("Choose a facet to see the classes in each bucket.")
    ui.offer(
        "Download these counts as CSV",
        lambda: downloads.failures_csv(*every, choice.run, facet, found.board.conventions),
        "failures.csv",
        found.board.revision,
    )


def show_steps(found: Found, shown: Sequence[QueryRow], order: str, query_id: str) -> None:
    """Draw the ways out of an opened query: back, to its neighbours in the list, other pages."""
    ids = [row.query_id for row in shown]
    at = ids.index(query_id) if query_id in ids else None
    with st.container(horizontal=True, vertical_alignment="center"):
        back = ":material/arrow_back:"
        st.button("Back to the list", icon=back, on_click=open_query, args=("", at))
        for label, step in (("Previous", -1), ("Next", 1)):
            to = -1 if at is None else at + step
            there = 0 <= to < len(ids)
            leads = (ids[to], to) if there else (query_id,)
            st.button(label, disabled=not there, on_click=open_query, args=leads)
        where = "not in the filtered list" if at is None else f"{at + 1:,} of {len(ids):,}, {order}"
        st.text(where)
        choice = found.choice
        a = choice.a or choice.apart
        links.link(
            "Compare runs on it",
            address.onward(
                "/compare",
                a=a or choice.run,
                b=choice.run if a else None,
                query=query_id,
                measure=choice.texts,
                preset=choice.conventions.preset,
            ),
        )
        links.link("Grade chunks", address.onward("/", query=query_id))

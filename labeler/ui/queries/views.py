"""The views of Queries: the list, causes of failure with what to try, retrieval against answers."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping, Sequence

import streamlit as st

from labeler.analysis import failures as diagnosis
from labeler.analysis.failures import QueryRow, TwoByTwo
from labeler.model import escape_controls, format_count
from labeler.render import charts, csv_exports, tables
from labeler.render.markup import show_html
from labeler.ui import links, url_state
from labeler.ui import shared as ui
from labeler.ui.queries.choices import list_url
from labeler.ui.queries.failures import RunFailures
from labeler.ui.reranker import show_reranker

ON_A_PAGE = 200


def open_from_list(query_id: str, at: int | None = None) -> None:
    """Open a query in full, or none; the list turns to the page that has its row ``at``, from 0."""
    page = {} if at is None else {"page": str(at // ON_A_PAGE + 1) if at >= ON_A_PAGE else None}
    url_state.write(query=query_id or None, **page)


def query_url(query_id: str) -> str:
    """Return the address of a query in full, from which one comes back to the same list."""
    return url_state.this_page_url("/queries", query=query_id)


def choose_page(shown: Sequence[QueryRow]) -> int:
    """Let the user turn the pages of the list."""
    return url_state.choose_page(math.ceil(len(shown) / ON_A_PAGE))


def show_list(found: RunFailures, shown: Sequence[QueryRow], order: str, page: int) -> None:
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
    show_html(tables.query_list(part, found.headings, facet, query_url))
    st.text(
        f"{len(shown):,} of {len(found.rows):,} queries{of} · {order}{against} · click one to open "
        "it"
    )
    show_html(
        tables.small_print([found.small_print]),
        tables.folded_names(found.short, [run for run in (choice.run, choice.a) if run]),
    )
    ui.offer(
        "Download these queries as CSV",
        lambda: csv_exports.query_list_csv(
            shown, choice.run, choice.a, found.measures, found.board.conventions
        ),
        "queries.csv",
        found.board.revision,
    )


def show_causes(found: RunFailures) -> None:
    """Show how many queries fail for which reason and what to try, over all and by bucket."""
    choice, facet = found.choice, found.choice.filters.facet
    run = found.short[choice.run]
    show_reranker(found.board, [choice.run], found.measures, found.within)
    classes = diagnosis.tally_classes(found.within)
    counts = {kind: each.queries for kind, each in classes.items()}
    if not sum(counts.values()):
        return
    by_bucket = diagnosis.count_by_bucket(found.board, found.within, facet) if facet else {}
    every = (counts, by_bucket)
    show_html(
        tables.failure_table(classes, by_bucket, lambda kind: list_url(**{"class": kind.name}))
    )
    inside = sum(sum(each.values()) for each in by_bucket.values())
    left = sum(counts.values()) - inside if facet else 0
    apart = (
        f"{format_count(left, 'failing query has', 'failing queries have')} no {facet}: "
        "in no bucket"
    )
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
        lambda: csv_exports.failures_csv(*every, choice.run, facet, found.board.conventions),
        "failures.csv",
        found.board.revision,
    )


def show_steps(found: RunFailures, shown: Sequence[QueryRow], order: str, query_id: str) -> None:
    """Draw the ways out of an opened query: back, to its neighbours in the list, other pages."""
    ids = [row.query_id for row in shown]
    at = ids.index(query_id) if query_id in ids else None
    with st.container(horizontal=True, vertical_alignment="center"):
        back = ":material/arrow_back:"
        st.button("Back to the list", icon=back, on_click=open_from_list, args=("", at))
        for label, step in (("Previous", -1), ("Next", 1)):
            to = -1 if at is None else at + step
            there = 0 <= to < len(ids)
            leads = (ids[to], to) if there else (query_id,)
            st.button(label, disabled=not there, on_click=open_from_list, args=leads)
        where = "not in the filtered list" if at is None else f"{at + 1:,} of {len(ids):,}, {order}"
        st.text(where)
        choice = found.choice
        a = choice.a or choice.apart
        links.link(
            "Compare runs on it",
            url_state.page_url(
                "/compare",
                a=a or choice.run,
                b=choice.run if a else None,
                query=query_id,
                measure=choice.texts,
                preset=choice.conventions.preset,
            ),
        )
        links.link("Grade chunks", url_state.page_url("/", query=query_id))


def show_answers(found: RunFailures, answered: Mapping[str, int]) -> None:
    """Show what became of the queries and their answers; ``answered`` are the runs with some."""
    choice = found.choice
    if not found.right:
        named = ", ".join(found.short.get(run, run) for run in answered)
        st.text(
            f"No answer of {found.short[choice.run]} is loaded. Runs with answers: {named}. "
            "Choose one of these, or load the answers of this one on the Data page, or in a "
            "terminal:"
        )
        run = shlex.quote(escape_controls(choice.run))
        st.code(f"labeler load answers FILE --run {run}", language=None)
        return
    table = found.table
    show_html(tables.sentences(table.sentences))
    show_html(tables.two_by_two_table(table, lambda became: list_url(outcome=became.name)))
    show_html(tables.small_print([*tables.describe_outcomes(table), describe_counts(found)]))
    by_bucket = outcomes_by_bucket(found)
    if by_bucket:
        facet = choice.filters.facet or ""
        show_html(
            tables.outcome_table(
                by_bucket, facet, lambda became, of: list_url(outcome=became.name, bucket=of)
            )
        )
    ui.offer(
        "Download these counts as CSV",
        lambda: csv_exports.answers_csv(
            choice.run,
            {None: table} | dict(by_bucket),
            choice.filters.facet,
            found.board.conventions,
        ),
        "answers.csv",
        found.board.revision,
    )


def describe_counts(found: RunFailures) -> str:
    """Say what is found, by which conventions, and what the shares and intervals are of."""
    rel = "the grade that the failure rule asks for"
    return (
        f"found: a chunk of {rel} or better is within the prompt size · shares are of the "
        "queries in the four cells, with Wilson's 95% interval over the choice of queries · "
        f"{found.board.conventions.sentence}"
    )


def outcomes_by_bucket(found: RunFailures) -> dict[str, TwoByTwo]:
    """Return the same for each bucket of the facet that is chosen, if one is."""
    facet = found.choice.filters.facet
    if facet is None:
        return {}
    rows = [row for row in found.rows if found.choice.filters.let_in(row, any_class=True)]
    ids = {row.query_id for row in found.rows}
    buckets = [each for each in found.board.facets.get(facet, ()) if each is not None]
    return {
        bucket: diagnosis.count_two_by_two(
            [(row.query_id, row.outcome) for row in rows if row.outcome and row.bucket == bucket],
            found.right,
            ids,
        )
        for bucket in buckets
        if any(row.bucket == bucket for row in rows)
    }

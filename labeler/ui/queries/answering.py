"""Retrieval set beside the answer, over all queries: the two-by-two, and the same by bucket."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

import streamlit as st

from labeler.analysis import failures as diagnosis
from labeler.analysis.failures import TwoByTwo
from labeler.model import legible
from labeler.render import downloads, tables
from labeler.render.markup import show_html
from labeler.ui import shared as ui
from labeler.ui.queries.choosing import list_of
from labeler.ui.queries.finding import Found


def show_answers(found: Found, answered: Mapping[str, int]) -> None:
    """Show what became of the queries and their answers; ``answered`` are the runs with some."""
    choice = found.choice
    if not found.right:
        named = ", ".join(found.short.get(run, run) for run in answered)
        st.text(
            f"No answer of {found.short[choice.run]} is loaded. Runs with answers: {named}. "
            "Choose one of these, or load the answers of this one on the Data page, or in a "
            "terminal:"
        )
        run = shlex.quote(legible(choice.run))
        st.code(f"labeler load answers FILE --run {run}", language=None)
        return
    table = found.table
    show_html(tables.sentences(table.sentences))
    show_html(tables.two_by_two_table(table, lambda became: list_of(outcome=became.name)))
    show_html(tables.small_print([*tables.outcome_words(table), said(found)]))
    by_bucket = by_bucket_of(found)
    if by_bucket:
        facet = choice.filters.facet or ""
        show_html(
            tables.outcome_table(
                by_bucket, facet, lambda became, of: list_of(outcome=became.name, bucket=of)
            )
        )
    ui.offer(
        "Download these counts as CSV",
        lambda: downloads.answers_csv(
            choice.run,
            {None: table} | dict(by_bucket),
            choice.filters.facet,
            found.board.conventions,
        ),
        "answers.csv",
        found.board.revision,
    )


def said(found: Found) -> str:
    """Say what is found, by which conventions, and what the shares and intervals are of."""
    rel = "the grade that the failure rule asks for"
    return (
        f"found: a chunk of {rel} or better is within the prompt budget · shares are of the "
        "queries in the four cells, with Wilson's 95% interval over the choice of queries · "
        f"{found.board.conventions.sentence}"
    )


def by_bucket_of(found: Found) -> dict[str, TwoByTwo]:
    """Return the same for each bucket of the facet that is chosen, if one is."""
    facet = found.choice.filters.facet
    if facet is None:
        return {}
    rows = [row for row in found.rows if found.choice.filters.let_in(row, any_class=True)]
    ids = {row.query_id for row in found.rows}
    buckets = [each for each in found.board.facets.get(facet, ()) if each is not None]
    return {
        bucket: diagnosis.two_by_two(
            [(row.query_id, row.outcome) for row in rows if row.outcome and row.bucket == bucket],
            found.right,
            ids,
        )
        for bucket in buckets
        if any(row.bucket == bucket for row in rows)
    }

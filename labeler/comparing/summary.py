"""What Compare says first: which run is better and where it loses, over the means."""

from __future__ import annotations

from collections.abc import Collection

import htpy
import streamlit as st

from labeler import comparison, downloads, tables, ui
from labeler.comparing.surviving import show_survival, survival_of
from labeler.comparison import Rerank, View
from labeler.evaluation import Scoreboard
from labeler.markup import show_html
from labeler.measures import Measure

CONTRADICTIONS = 3
NAMES = ("A", "B")  # what sentences call the runs, which the table names


@st.cache_data(max_entries=100, show_spinner=False)
def candidates(
    path: str, data_revision: int, preset: str, a: str, b: str, _board: Scoreboard
) -> Rerank:
    """Return how B's candidates relate to A's, which no grade changes."""
    return comparison.rerank(_board, a, b, NAMES)


def show_summary(view: View, bucket: str | None) -> None:
    """Say which run is better and where it loses, over the means and what they rest on."""
    compared = view.compared
    if bucket:
        st.text(f"{compared.facet}: {bucket}")
    asked = (view.board.data_revision, compared.conventions.preset, compared.a, compared.b)
    related = candidates(ui.database(), *asked, view.board)
    said = comparison.findings(view, related, bucket, NAMES)
    first, rest = said.against[:CONTRADICTIONS], said.against[CONTRADICTIONS:]
    of_all = view.board.notes(compared.measures)
    notes = [note.sentence for note in of_all if note.is_about(*view.runs)]
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
        if not related.identical:
            held = survival_of(view, bucket, sure=view.by in said.sure)
            show_survival(view, held, NAMES)


def means(view: View, bucket: str | None, sure: Collection[Measure]) -> htpy.Fragment:
    """Return the table of all runs' means, those ``sure`` to move in bold."""
    compared = view.compared
    rows = [row for row in compared.buckets if row.bucket == bucket] if bucket else compared.deltas
    table = view.board.table(compared.measures, compared.facet if bucket else None)
    more = [score for score in table if score.run in view.also and score.bucket == bucket]
    return tables.compare_table(rows, compared, view.names, sure, more)


def offer_files(view: View) -> None:
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

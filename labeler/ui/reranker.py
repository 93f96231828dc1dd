"""Scores of runs after a perfect reranker, on Queries and on Compare.

The number of candidates it reranks is in the URL.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import streamlit as st

from labeler.analysis import comparison
from labeler.analysis.comparison import PerfectReranking
from labeler.evaluation import Scoreboard
from labeler.measures import Measure
from labeler.render import csv_exports, tables
from labeler.render.markup import show_html
from labeler.render.short_names import short_names
from labeler.ui import shared as ui
from labeler.ui import url_state

DEFAULT_CANDIDATES = 50
QueryIds = Collection[str] | None


def show_reranker(
    board: Scoreboard, runs: Sequence[str], measures: Iterable[Measure], only: QueryIds = None
) -> None:
    """Show each run's means if every known relevant chunk near its top came first.

    They are over the queries ``only``, or over all. Measures without relevance, such as Judged, are
    left out. The first measure's sentence is in sight, the others are folded.
    """
    chosen = comparison.rerankable_measures(measures)
    if not chosen:
        st.text("No measure is chosen that a better order could raise.")
        return
    by_run = show_gains(board, runs, chosen, only)
    with st.expander("The same by each measure"):
        show_reranked_means(board, [row for rows in zip(*by_run, strict=True) for row in rows])


def show_gains(
    board: Scoreboard, runs: Sequence[str], measures: Sequence[Measure], only: QueryIds
) -> list[tuple[PerfectReranking, ...]]:
    """Say what the first measure would gain, and return what all would, run by run."""
    with st.container(horizontal=True, vertical_alignment="center"):
        top = choose_candidates()
        by_run = [comparison.perfect_rerankings(board, run, measures, top, only) for run in runs]
        with st.container(width="stretch"):
            show_html(tables.sentences(describe_gains(board, [rows[0] for rows in by_run])))
    return by_run


def choose_candidates() -> int:
    """Let the user say how many candidates a reranker sees; it is in the address."""
    chosen = url_state.choose(
        *("A perfect reranker of the top", list(map(str, comparison.CANDIDATE_COUNTS)), "reranked"),
        what="depth of a reranker",
        default=str(DEFAULT_CANDIDATES),
        width=230,
        help="It puts every known relevant chunk of these first, the best grade before the others, "
        "in every list. What nobody graded gains nothing.",
    )
    return int(chosen)


def describe_gains(board: Scoreboard, rows: Sequence[PerfectReranking]) -> list[str]:
    """Say of each run what its first measure would gain, and what is recall."""
    short = short_names(board.run_names)
    return [
        f"{short[r.run]}: {comparison.describe_perfect_reranking(r, board.conventions)}"
        for r in rows
    ]


def show_reranked_means(board: Scoreboard, rows: Sequence[PerfectReranking]) -> None:
    """Show the means by each measure, and offer them as a file."""
    conventions = board.conventions
    show_html(tables.reranked_table(rows, short_names(board.run_names), conventions))
    show_html(tables.small_print([conventions.sentence]))
    ui.offer(
        "Download what a perfect reranker would give as CSV",
        lambda: csv_exports.reranked_csv(rows, conventions),
        "reranked.csv",
        board.revision,
    )

"""What to try first: what a perfect reranker would make of runs, on Queries and on Compare.

How many candidates it sees is in the address; knows nothing of what else its page shows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import streamlit as st

from labeler.analysis import comparison
from labeler.analysis.comparison import Reranked
from labeler.evaluation import Scoreboard
from labeler.measures import Measure
from labeler.render import downloads, tables
from labeler.render.markup import show_html
from labeler.render.naming import short_names
from labeler.ui import address
from labeler.ui import shared as ui

USUAL_TOP = 50
Only = Collection[str] | None


def show_reranker(
    board: Scoreboard,
    runs: Sequence[str],
    measures: Iterable[Measure],
    only: Only = None,
) -> None:
    """Show each run's means if every known relevant chunk near its top stood first.

    They are over the queries in ``only``, or over all. Measures that are no matter of a
    chunk's relevance, such as Judged, are left out. What is said of the first measure is in sight.
    """
    chosen = comparison.rerankable(measures)
    if not chosen:
        st.text("No measure is chosen that a better order could raise.")
        return
    by_run = show_sentences(board, runs, chosen, only)
    with st.expander("The same by each measure"):
        show_means(board, [row for rows in zip(*by_run, strict=True) for row in rows])


def show_sentences(
    board: Scoreboard, runs: Sequence[str], measures: Sequence[Measure], only: Only
) -> list[tuple[Reranked, ...]]:
    """Say what the first measure would gain, and return what all would, run by run."""
    with st.container(horizontal=True, vertical_alignment="center"):
        top = choose_top()
        by_run = [comparison.reranked(board, run, measures, top, only) for run in runs]
        with st.container(width="stretch"):
            show_html(tables.sentences(sentences(board, [rows[0] for rows in by_run])))
    return by_run


def choose_top() -> int:
    """Let the user say how many candidates a reranker sees; it is in the address."""
    chosen = address.choose(
        *("A perfect reranker of the top", list(map(str, comparison.TOPS)), "reranked"),
        what="depth of a reranker",
        default=str(USUAL_TOP),
        width=230,
        help="It puts every known relevant chunk of these first, the best grade before the others, "
        "in every list. What nobody graded gains nothing.",
    )
    return int(chosen)


def sentences(board: Scoreboard, rows: Sequence[Reranked]) -> list[str]:
    """Say of each run what its first measure would gain, and what is recall."""
    short = short_names(board.run_names)
    return [f"{short[r.run]}: {comparison.reranked_in_words(r, board.conventions)}" for r in rows]


def show_means(board: Scoreboard, rows: Sequence[Reranked]) -> None:
    """Show the means by each measure, and offer them as a file."""
    conventions = board.conventions
    show_html(tables.reranked_table(rows, short_names(board.run_names), conventions))
    show_html(tables.small_print([conventions.sentence]))
    ui.offer(
        "Download what a perfect reranker would give as CSV",
        lambda: downloads.reranked_csv(rows, conventions),
        "reranked.csv",
        board.revision,
    )

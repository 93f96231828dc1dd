"""Scores by keyword, without grades: the ranks of the words that an answer should hold."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from labeler.analysis.keywords import KeywordRanks, compare_with_grades, describe_missed
from labeler.evaluation import Scoreboard
from labeler.render import csv_exports, tables
from labeler.render.markup import show_html
from labeler.ui import keyword_cache, url_state
from labeler.ui import shared as ui
from labeler.ui.scores.choices import ScoresChoice
from labeler.ui.scores.views import show_table

NO_GRADES_NOTE = "Every query with keywords counts here, graded or not."
MOST_MISSED = 100  # rows of the table of keywords that no run finds


def show_keywords(choice: ScoresChoice, board: Scoreboard) -> None:
    """Show the scores by keyword beside the graded ones, and whether they agree."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        k, substring = keyword_cache.choose_depth(), keyword_cache.choose_substring()
    at = keyword_cache.KeywordKey.of(board, choice.within)
    runs = tuple(board.run_names)
    found, unusable = keyword_cache.keyword_values(at, substring, k, runs, board)
    if unusable:
        st.text(unusable)
    elif not any(found.values()):
        keyword_cache.say_nothing_found(at)
        return
    beside = board.resolve(choice.measures)
    rows = [compare_with_grades(board, run, scores, beside) for run, scores in found.items()]
    headings = [choice.conventions.heading(measure) for measure in beside]
    first = max(rows, key=lambda row: row.judged)
    st.text(f"queries with keywords: {first.n:,}, graded of them: {first.judged:,}")
    show_table(choice, tables.keyword_table(rows, k, headings))
    explain_keywords(first.judged, headings[0], k)
    if url_state.switch("Keywords that no run finds", "missed"):
        show_missed(keyword_cache.places_in_runs(at, substring, runs, board))
    show_html(tables.small_print([NO_GRADES_NOTE]))
    ui.offer(
        "Download keywords as CSV",
        lambda: csv_exports.keyword_csv(
            [row for row in rows if choice.shows(row.run)],
            *(k, headings, choice.conventions),
            substring=substring,
        ),
        "keywords.csv",
        board.revision,
    )


def explain_keywords(judged: int, first: str, k: int) -> None:
    """Explain the columns, and what agreement needs if too few queries are judged."""
    if judged < 2:
        so_far = "none of these queries is graded yet"
        if judged:
            so_far = "1 of these queries is graded so far"
        st.write(
            "Agreement with graded measures needs at least two graded queries that have keywords; "
            f"{so_far}."
        )
    st.caption(
        "The keywords of an answer, over all queries that have some: the rank where they first "
        "appear, how many chunks near the top contain them, and the share of all such chunks in "
        "the top. This needs no grades, but a chunk that contains a word may not answer the "
        f"question. Agreement is the rank correlation (Spearman) of nDCG@{k} by keyword with "
        f"{first} by grades over the graded queries: 1 is the same order, 0 is unrelated. A dash "
        "means undefined; agreement is if one of the two is the same for all queries."
    )


def show_missed(places: Sequence[KeywordRanks]) -> None:
    """Name the keywords that no run finds at any depth."""
    missed = [place for place in places if place.is_missed]
    are = "is" if len(missed) == 1 else "are"
    st.text(f"{len(missed):,} of {len(places):,} keywords {are} found by no run, at any depth.")
    if not missed:
        return
    show_html(tables.sentences(describe_missed(places)))
    rows: list[list[tables.CellContent]] = [
        [
            tables.TextCell(place.keyword),
            tables.TextCell(
                place.query_id, "", url_state.page_url("/queries", query=place.query_id)
            ),
            place.chunks,
        ]
        for place in missed[:MOST_MISSED]
    ]
    show_html(tables.plain_table(["Keyword", "Query", "Chunks that hold it"], rows))
    if len(missed) > MOST_MISSED:
        st.caption(f"The first {MOST_MISSED}; labeler score --keywords --per-query has all.")

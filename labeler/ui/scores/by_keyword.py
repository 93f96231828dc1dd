"""What Scores shows without grades: where the words an answer should hold turn up."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from labeler.analysis.keywords import KeywordPlace, beside_grades, missed_in_words
from labeler.evaluation import Scoreboard
from labeler.render import downloads, tables
from labeler.render.markup import show_html
from labeler.ui import address, wording
from labeler.ui import shared as ui
from labeler.ui.scores.choosing import Choice
from labeler.ui.scores.showing import show_small_print, show_table

LABEL_FREE = "keywords are looked for in every query that has them, graded or not"
MOST_MISSED = 100  # rows of the table of keywords that no run finds


def show_keywords(choice: Choice, board: Scoreboard, notes: Sequence[str]) -> None:
    """Show what can be said without grades, beside what grades say, and whether they agree."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        k, substring = wording.choose_top(), wording.choose_substring()
    at = wording.At.of(board, choice.within)
    runs = tuple(board.run_names)
    found, unusable = wording.keyword_values(at, substring, k, runs, board)
    if unusable:
        st.text(unusable)
    elif not any(found.values()):
        wording.say_nothing_found(at)
        return
    beside = board.resolve(choice.measures)
    rows = [beside_grades(board, run, scores, beside) for run, scores in found.items()]
    headings = [choice.conventions.heading(measure) for measure in beside]
    first = max(rows, key=lambda row: row.judged)
    st.text(f"queries with keywords: {first.n:,}, graded of them: {first.judged:,}")
    show_table(choice, tables.keyword_table(rows, k, headings))
    explain_keywords(first.judged, headings[0], k)
    if address.switch("Keywords that no run finds", "missed"):
        show_missed(wording.places_in(at, substring, runs, board))
    show_small_print(choice, [*notes, LABEL_FREE])
    ui.offer(
        "Download these numbers as CSV",
        lambda: downloads.keyword_csv(
            [row for row in rows if choice.shows(row.run)],
            *(k, headings, choice.conventions),
            substring=substring,
        ),
        "keywords.csv",
        board.revision,
    )


def explain_keywords(judged: int, first: str, k: int) -> None:
    """Say what the columns mean, and what agreement needs where too few queries are judged."""
    if judged < 2:
        so_far = "none of these queries is graded yet"
        if judged:
            so_far = "1 of these queries is graded so far"
        st.write(
            "Agreement with graded measures needs at least two graded queries that have keywords; "
            f"{so_far}."
        )
    st.caption(
        "By keyword, over all queries that have any: where the words an answer should hold first "
        "turn up, how many of the chunks that hold them are near the top, and the share of them "
        "the top holds. Nobody has to grade for that, and nothing in it knows whether a chunk that "
        "holds the word answers the question: agreement is the rank correlation (Spearman) of "
        f"nDCG@{k} by keyword with {first} by grades over the graded queries; 1 is the same "
        "order, 0 none in common. A dash stands for what is undefined, as agreement is where one "
        "of the two is the same for all queries."
    )


def show_missed(places: Sequence[KeywordPlace]) -> None:
    """Name the keywords that no run finds at any depth."""
    missed = [place for place in places if place.is_missed]
    are = "is" if len(missed) == 1 else "are"
    st.text(f"{len(missed):,} of {len(places):,} keywords {are} found by no run, at any depth.")
    if not missed:
        return
    show_html(tables.sentences(missed_in_words(places)))
    rows: list[list[tables.Cell]] = [
        [
            tables.Said(place.keyword),
            tables.Said(place.query_id, "", address.onward("/queries", query=place.query_id)),
            place.chunks,
        ]
        for place in missed[:MOST_MISSED]
    ]
    show_html(tables.sheet(["Keyword", "Query", "Chunks that hold it"], rows))
    if len(missed) > MOST_MISSED:
        st.caption(f"The first {MOST_MISSED}; labeler score --keywords --per-query has all.")

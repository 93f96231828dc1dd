"""What Scores shows without grades: where the words an answer should hold turn up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import streamlit as st

from labeler import address, downloads, tables, ui
from labeler.evaluation import Scoreboard
from labeler.keywords import Corpus, KeywordScore, beside_grades, keyword_scores, say_unusable
from labeler.scoring.choosing import Choice
from labeler.scoring.showing import show_small_print, show_table

K = 10  # how deep keywords are looked for
LABEL_FREE = "keywords are looked for in every query that has them, graded or not"


class At(NamedTuple):
    """What keyword scores depend on, and on no grade."""

    path: str
    data_revision: int
    preset: str
    within: tuple[str, str] | None
    golden: str | None


@st.cache_resource(max_entries=2, show_spinner="Reading the chunks …")
def corpus(path: str, data_revision: int, substring: bool) -> Corpus:
    """Return the words of every chunk; one read for each change of the data."""
    with ui.open_store() as store:
        texts = store.chunks_numbered(store.chunks_with_text())
    return Corpus({n: chunk.text or "" for n, chunk in texts.items()}, substring=substring)


@st.cache_data(max_entries=4, show_spinner="Looking for keywords …")
def keyword_values(
    at: At, substring: bool, _board: Scoreboard
) -> tuple[dict[str, dict[str, KeywordScore]], str | None]:
    """Return every run's keyword scores by query, and what cannot be looked for; knows no grade."""
    with ui.open_store() as store:
        asked = None if at.within is None else store.queries_in(*at.within)
        queries = ui.shown_queries(store)
        keywords = {
            query.query_id: query.keywords
            for query in queries
            if query.keywords and (asked is None or query.query_id in asked)
        }
    known = corpus(at.path, at.data_revision, substring)
    found = {
        run: keyword_scores(known, keywords, _lists_of(_board, run), K) for run in _board.run_names
    }
    return found, say_unusable(known, keywords)


def _lists_of(board: Scoreboard, run: str) -> Callable[[str], list[int]]:
    """Return what gives a run's list of a query."""
    return lambda query_id: board.chunks(run, query_id).tolist()


def show_keywords(choice: Choice, board: Scoreboard, notes: Sequence[str]) -> None:
    """Show what can be said without grades, beside what grades say, and whether they agree."""
    substring = address.switch(
        "Find keywords inside longer words, too",
        "substring",
        help="A keyword without letters and digits, such as `++`, is then looked for, too.",
    )
    chosen = (choice.conventions.preset, choice.within, address.given("golden"))
    at = At(ui.database(), board.data_revision, *chosen)
    found, unusable = keyword_values(at, substring, board)
    if unusable:
        st.text(unusable)
    elif not any(found.values()):
        st.write("No query has keywords. Give queries `keywords` and load them with --update.")
        return
    beside = board.resolve(choice.measures)
    rows = [beside_grades(board, run, scores, beside) for run, scores in found.items()]
    headings = [choice.conventions.heading(measure) for measure in beside]
    first = max(rows, key=lambda row: row.judged)
    st.text(f"queries with keywords: {first.n:,}, graded of them: {first.judged:,}")
    show_table(choice, tables.keyword_table(rows, K, headings))
    explain_keywords(first.judged, headings[0])
    show_small_print(choice.conventions, [*notes, LABEL_FREE])
    ui.offer(
        "Download these numbers as CSV",
        lambda: downloads.keyword_csv(rows, K, headings, choice.conventions, substring=substring),
        "keywords.csv",
        board.revision,
    )


def explain_keywords(judged: int, first: str) -> None:
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
        f"nDCG@{K} by keyword with {first} by grades over the graded queries; 1 is the same "
        "order, 0 none in common. A dash stands for what is undefined, as agreement is where one "
        "of the two is the same for all queries."
    )

"""Every run by every chosen measure, live: the numbers move while others grade."""

from collections.abc import Sequence
from datetime import datetime

import streamlit as st

from labeler import address, charts, choices, downloads, tables, ui
from labeler.evaluation import (
    Residual,
    Score,
    Scoreboard,
    cautions,
    primary,
    residual_means,
    tied_ranges,
)
from labeler.keywords import Corpus, beside_grades, keyword_scores, say_unusable
from labeler.markup import show_html

K = 10  # how deep keywords are looked for
LABEL_FREE = "keywords are looked for in every query that has them, graded or not"
LOOK_EVERY_SECONDS = 1
MOST_CAUTIONS_OPEN = 6
RECALL_AT = (1, 2, 3, 5, 8, 10, 15, 20, 30, 50, 75, 100)

with ui.open_store() as store:
    settings = store.settings()
    board = ui.live_board(store, ui.conventions(settings))

if not board.run_names:
    st.subheader("There is no run to score yet")
    st.write("Load one on the Data page, or in a terminal:")
    st.code("labeler load run FILE")
    st.stop()

facets = board.facets
systems = {run.name: run.system for run in board.collection.runs}

with choices.row(), choices.folded() as say:
    texts = choices.choose_measures()
    facet, bucket = choices.choose_bucket(facets)
    chosen = choices.choose_conventions(settings)
say(
    choices.say_queries(facet, bucket), choices.say_measures(texts), choices.say_conventions(chosen)
)
with ui.guard():
    measures = chosen.measures(texts)
views = ["measures", "by task", "recall over k", "ties", "keywords"]
view = address.choose_tab("View", views, "view", what="view")


def show_measures(board: Scoreboard) -> list[Score]:
    """Show every run by every chosen measure, for all queries or bucket by bucket."""
    scores = [score for score in board.table(measures, facet) if bucket in (None, score.bucket)]
    show_tables(scores, residuals_of(board, scores))
    if len({score.bucket for score in scores}) == 1:
        st.altair_chart(charts.score_chart(scores, chosen))
    return scores


def residuals_of(board: Scoreboard, scores: list[Score]) -> list[Residual]:
    """Return what nobody graded could add to those of the scores that are of RBP."""
    wanted = dict.fromkeys(score.measure for score in scores)
    return residual_means(board, wanted, next((score.facet for score in scores), None))


def show_tasks(board: Scoreboard) -> list[Score]:
    """Show each task by the measures that fit it, the leading one first."""
    tasks = board.facets.get("task", ())
    if not tasks:
        st.write("No query has a task. Give queries a `task` and load them again with --update.")
    scores = [
        score
        for task in tasks
        for score in board.table(primary(chosen, task), "task")
        if score.bucket == task
    ]
    show_tables(scores)
    return scores


def show_recall(board: Scoreboard) -> list[Score]:
    """Show recall over k against the prompt budget, for all queries or one bucket."""
    curve = board.resolve(chosen.measures([f"R@{k}" for k in RECALL_AT]))
    scores = board.table(curve, None if bucket is None else facet)
    scores = [score for score in scores if bucket in (None, score.bucket)]
    st.altair_chart(charts.recall_curve(scores, board.budgets.tolist()))
    show_tables(scores)
    return scores


def show_tables(scores: list[Score], residuals: Sequence[Residual] = ()) -> None:
    """Show a table for each bucket there is, and one of what its RBP leaves open."""
    for facet, name in dict.fromkeys((score.facet, score.bucket) for score in scores):
        if name is not None:
            st.text(f"{facet}: {name}")
        part = [score for score in scores if score.bucket == name]
        show_html(tables.score_table(part, systems, chosen))
        if left_open := [each for each in residuals if each.bucket == name]:
            st.text("RBP and its residual")
            show_html(tables.residual_table(left_open, chosen))
    if residuals:
        st.caption(
            "The residual is what RBP could rise by if everything that nobody graded were "
            "relevant: the holes, and all that stands below the cut-off or the end of a list. "
            "However the rest is graded, RBP over these queries is from value to value + residual."
        )


@st.cache_data(max_entries=8, show_spinner="Re-ordering ties …")
def ranges_of_ties(at, _board: Scoreboard):
    """Return what other orders of tied chunks could give; worked out once for each change."""
    return tied_ranges(_board, measures)


def show_ties(board: Scoreboard) -> list[Score]:
    """Show how much of each mean the order of equal scores decides."""
    at = (ui.database(), board.data_revision, board.revision, repr(chosen), repr(measures))
    ranges = ranges_of_ties(at, board)
    if ranges:
        show_html(tables.tie_table(ranges, chosen))
        st.caption(
            "Over all queries: the lowest and the highest mean that re-ordering chunks with equal "
            "scores could give. Scores are equal where they are as 32-bit numbers."
        )
    else:
        st.write("No run has tied scores, so no order of ties decides anything.")
    return board.table(measures)


@st.cache_resource(max_entries=2, show_spinner="Reading the chunks …")
def corpus(path: str, data_revision: int, substring: bool) -> Corpus:
    """Return the words of every chunk; one read for each change of the data."""
    with ui.open_store() as store:
        texts = store.chunks_numbered(store.chunks_with_text())
    return Corpus({n: chunk.text or "" for n, chunk in texts.items()}, substring=substring)


@st.cache_data(max_entries=4, show_spinner="Looking for keywords …")
def keyword_values(at, substring: bool, _board: Scoreboard):
    """Return every run's keyword scores by query, and what cannot be looked for; knows no grade."""
    with ui.open_store() as store:
        keywords = {query.query_id: query.keywords for query in store.queries() if query.keywords}
    known = corpus(*at[:2], substring)
    found = {
        run: keyword_scores(known, keywords, lambda q, run=run: _board.chunks(run, q).tolist(), K)
        for run in _board.run_names
    }
    return found, say_unusable(known, keywords)


def show_keywords(board: Scoreboard) -> None:
    """Show what can be said without grades, beside what grades say, and whether they agree."""
    substring = address.switch(
        "Find keywords inside longer words, too",
        "substring",
        help="A keyword without letters and digits, such as `++`, is then looked for, too.",
    )
    at = (ui.database(), board.data_revision, chosen.preset)
    found, unusable = keyword_values(at, substring, board)
    if unusable:
        st.text(unusable)
    elif not any(found.values()):
        st.write("No query has keywords. Give queries `keywords` and load them with --update.")
        return
    beside = chosen.measures(f"nDCG@{K} RR@{K}")
    rows = [beside_grades(board, run, scores, beside) for run, scores in found.items()]
    headings = [chosen.heading(measure) for measure in beside]
    show_html(tables.keyword_table(rows, K, headings))
    explain_keywords(max((row.judged for row in rows), default=0))
    show_small_print([*(note.sentence for note in board.notes(beside)), LABEL_FREE])
    ui.offer(
        "Download these numbers as CSV",
        lambda: downloads.keyword_csv(rows, K, headings, chosen, substring=substring),
        "keywords.csv",
        board.revision,
    )


def explain_keywords(judged: int) -> None:
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
        f"nDCG@{K} by keyword with nDCG@{K} by grades over the graded queries; 1 is the same "
        "order, 0 none in common. A dash stands for what is undefined, as agreement is where one "
        "of the two is the same for all queries."
    )


VIEWS = {
    "measures": show_measures,
    "by task": show_tasks,
    "recall over k": show_recall,
    "ties": show_ties,
}


@st.fragment(run_every=LOOK_EVERY_SECONDS)
def live_scores() -> None:
    """Show the newest numbers; looks for new grades without anyone's click."""
    with ui.guard():
        with ui.open_store() as store:
            board = ui.live_board(store, chosen)
        counts = board.counts
        st.caption(
            f"In the whole golden set {counts.judged:,} of {counts.queries:,} queries have grades "
            f"· {counts.grades:,} grades · live, last looked {datetime.now():%H:%M:%S}"
        )
        if view == "keywords":
            show_keywords(board)
        elif counts.judged:
            show_graded(board)
        else:
            st.write(
                "Nothing is graded yet, so there is nothing to score. Grade on the Label page."
            )


def show_graded(board: Scoreboard) -> None:
    """Show the chosen view of graded measures, with all that was left out of it."""
    scores = VIEWS[view](board)
    notes = [note.sentence for note in board.notes(measures)]
    if facet is not None and (left_out := board.unbucketed(facet)):
        notes.append(f"{left_out:,} judged queries have no {facet} and are in none of these rows")
    show_small_print(notes)
    of_one_bucket = facet if bucket else None, bucket
    if view == "measures" and (warned := cautions(board, measures, *of_one_bucket)):
        few = len(warned) <= MOST_CAUTIONS_OPEN
        with st.expander("Where these numbers can mislead", expanded=few, key="cautions"):
            st.text("\n".join(f"· {caution.sentence}" for caution in warned))
    ui.offer(
        "Download these numbers as CSV",
        lambda: downloads.score_csv(scores, chosen, residuals_of(board, scores)),
        "scores.csv",
        board.revision,
    )


def show_small_print(notes: Sequence[str]) -> None:
    """Show the conventions, and what was left out or treated in a way that could surprise."""
    st.caption(chosen.sentence)
    if notes:
        st.text("\n".join(f"· {note}" for note in notes))


live_scores()

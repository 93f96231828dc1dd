"""Every run by every chosen measure, live: the numbers move while others grade."""

from datetime import datetime

import streamlit as st

from labeler import charts, ui
from labeler.evaluation import Score, Scoreboard, cautions, primary

DEFAULT_MEASURES = ["nDCG@10", "R@budget", "P@5", "Success@3", "RR", "AP", "Judged@10"]
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

with st.container(horizontal=True, vertical_alignment="bottom"):
    texts = ui.choose_measures(DEFAULT_MEASURES)
    facet, bucket = ui.choose_bucket(facets)
    chosen = ui.choose_conventions(settings)
with ui.guard():
    measures = chosen.measures(texts)
view = st.segmented_control(
    "View",
    ["measures", "by task", "recall over k"],
    default="measures",
    required=True,
    key="view",
    bind="query-params",
    label_visibility="collapsed",
)


def show_measures(board: Scoreboard) -> list[Score]:
    """Show every run by every chosen measure, for all queries or bucket by bucket."""
    scores = [score for score in board.table(measures, facet) if bucket in (None, score.bucket)]
    show_tables(scores)
    if len({score.bucket for score in scores}) == 1:
        st.altair_chart(charts.score_chart(scores, chosen))
    return scores


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


def show_tables(scores: list[Score]) -> None:
    """Show a table for each bucket there is."""
    for facet, name in dict.fromkeys((score.facet, score.bucket) for score in scores):
        if name is not None:
            st.text(f"{facet}: {name}")
        part = [score for score in scores if score.bucket == name]
        st.html(charts.score_table(part, systems, chosen))


VIEWS = {"measures": show_measures, "by task": show_tasks, "recall over k": show_recall}


@st.fragment(run_every=LOOK_EVERY_SECONDS)
def live_scores() -> None:
    """Show the newest numbers; looks for new grades without anyone's click."""
    with ui.guard(), ui.open_store() as store:
        board = ui.live_board(store, chosen)
    counts = board.counts
    st.caption(
        f"In the whole golden set {counts.judged:,} of {counts.queries:,} queries have grades · "
        f"{counts.grades:,} grades · live, last looked {datetime.now():%H:%M:%S}"
    )
    if not counts.judged:
        st.write("Nothing is graded yet, so there is nothing to score. Grade on the Label page.")
        return
    scores = VIEWS[view](board)
    st.caption(f"Conventions ({chosen.preset}): {chosen.describe()}")
    notes = list(board.notes())
    if facet is not None and (left_out := board.unbucketed(facet)):
        notes.append(f"{left_out:,} judged queries have no {facet} and are in none of these rows")
    if notes:
        st.text("\n".join(f"· {note}" for note in notes))
    warned = cautions(board, measures, facet if bucket else None, bucket)
    if warned and view == "measures":
        few = len(warned) <= MOST_CAUTIONS_OPEN
        with st.expander("Where these numbers can mislead", expanded=few, key="cautions"):
            st.text("\n".join(f"· {caution.sentence}" for caution in warned))
    st.download_button(
        "Download these numbers as CSV",
        data=lambda: charts.score_csv(scores, chosen),
        file_name="scores.csv",
        on_click="ignore",
    )


live_scores()

"""Views below the answer on Scores: buckets, tasks, curves, ties, pooling bias.

Each shows a table of runs, some also a chart, and returns a function that writes its file.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import partial

import streamlit as st

from labeler.analysis.comparison import FEW
from labeler.evaluation import (
    OwnPoolComparison,
    Residual,
    Score,
    Scoreboard,
    TieRangesByRun,
    compare_own_pools,
    describe_tau,
    find_tie_ranges,
    measures_for_task,
    recall_measures,
    residual_means,
    unjudged_shares,
)
from labeler.measures import Cutoff, Measure
from labeler.model import format_list
from labeler.render import charts, csv_exports, tables
from labeler.render.markup import show_html
from labeler.render.tables.run_table import RunGroup, drawn_runs
from labeler.stats import IntervalsByPlace, MeanRanges, mean_intervals
from labeler.ui import live, scoreboards
from labeler.ui import shared as ui
from labeler.ui.deep_links import bucket_queries_url, lowest_bucket_links
from labeler.ui.scores.choices import PATH, TASKS, ScoresChoice, sort_url
from labeler.ui.scores.thresholds import NO_MARKS, show_broken, threshold_marks

CURVE_SORT_K = 10  # the cut-off that curves are sorted by
MOST_DRAWN, FEW_DRAWN = 8, 5  # runs that can be told apart; if there are more, the best
MOST_BUCKETS, MOST_ENDS = 60, 5
LOWEST_NOTE = (
    f"Underlined in a row: the lowest bucket of a run, of those with at least {FEW} queries; a "
    "click shows its worst queries there. A click on an n shows the queries of that bucket."
)
FileContent = Callable[[], bytes]


def show_table(
    choice: ScoresChoice, table: tables.RunTable, first: str | None = None, *, folded: bool = False
) -> list[RunGroup]:
    """Show a table of runs as the user arranged them; return the groups shown.

    ``first`` is the column that sorts until the user chooses another. Rows keep the order in which
    the user saw them, unless the table is ``folded``.
    """
    lined_up = choice.lineup.on(table.names if first is None else [first, *table.names])
    groups = lined_up.order(table.values, choice.names.systems)
    if not folded:
        asked = (choice.view, choice.within, repr(choice.conventions), choice.traffic, lined_up)
        groups = keep_run_order(groups, (PATH, *asked, *table.names))
    show_html(tables.runs_table(table, groups, lined_up, choice.names, partial(sort_url, lined_up)))
    return groups


def keep_run_order(groups: Sequence[RunGroup], asked: Hashable) -> list[RunGroup]:
    """Return runs in the order in which the reader saw them, even if their values change."""
    runs = [run for group in groups for run in group.runs]
    places = {run: at for at, run in enumerate(live.keep_order(runs, str, asked))}
    same = [RunGroup(name, tuple(sorted(runs, key=places.__getitem__))) for name, runs in groups]
    return sorted(same, key=lambda group: places[group.runs[0]])


def choose_drawn(choice: ScoresChoice, groups: Sequence[RunGroup]) -> list[str]:
    """Return the runs that charts have room for, and say which if some are left out."""
    drawn = drawn_runs(groups, choice.lineup.pinned, MOST_DRAWN, FEW_DRAWN)
    if len(drawn) < sum(len(group.runs) for group in groups):
        st.caption(f"Only the first {len(drawn)} runs of the table are drawn.")
    return drawn


def scores_of_runs(scores: Sequence[Score], runs: Sequence[str]) -> list[Score]:
    """Return the scores of some runs, run by run in their order."""
    return [score for run in runs for score in scores if score.run == run]


def mean_ranges(choice: ScoresChoice, board: Scoreboard) -> MeanRanges:
    """Return the ranges over unjudged chunks of the shown runs' means; none if weighted."""
    runs = [run for run in board.run_names if choice.shows(run)]
    return scoreboards.mean_ranges(board, runs, choice.measures, choice.facet)


def with_unjudged(
    choice: ScoresChoice, board: Scoreboard, table: tables.RunTable, facet: str | None = None
) -> tables.RunTable:
    """Return a table with the unjudged share of each run's top, down to the first cut-off.

    The share is over the chosen bucket, over all buckets of a ``facet``, or over all queries.
    """
    depth, unjudged = unjudged_in_top(choice, board, *(choice.within or (facet, None)))
    return tables.with_unjudged_shares(table, depth, unjudged)


def unjudged_in_top(
    choice: ScoresChoice, board: Scoreboard, facet: str | None, bucket: str | None
) -> tuple[Cutoff, dict[str, float]]:
    """Return the cut-off, and each run's share of unjudged chunks within it."""
    cutoffs = (measure.cutoff for measure in choice.measures if measure.cutoff is not None)
    depth = next(cutoffs, CURVE_SORT_K)
    return depth, unjudged_shares(board, depth, facet, bucket)


def show_buckets(choice: ScoresChoice, board: Scoreboard, facet: str) -> FileContent:
    """Show every run by every bucket, the largest first, by the first measure."""
    scores = choice.of_shown(board.table(choice.measures[:1], facet))
    sizes = {score.bucket: score.n + score.undefined for score in scores}
    largest = sorted(sizes, key=lambda name: -sizes[name])[:MOST_BUCKETS]
    which = "each bucket"
    if len(sizes) > MOST_BUCKETS:
        which = f"the {MOST_BUCKETS} largest of {len(sizes):,} buckets"
    heading = choice.conventions.heading(choice.measures[0])
    st.text(
        f"{heading}, the first measure, in {which} of {facet}. "
        "Choose one bucket to see every measure in it."
    )
    part = [score for name in largest for score in scores if score.bucket == name]
    intervals = intervals_of(choice, board, choice.measures[:1], facet)
    bars = threshold_marks(choice, board, part)
    drawn_with = (choice.conventions, intervals, bars.limits, bars.marks)
    ways = lowest_bucket_links(
        [each for each in part if choice.shows(each.run)], choice.conventions
    )
    table = tables.bucket_table(part, *drawn_with, ways, partial(bucket_url, choice))
    show_table(choice, with_unjudged(choice, board, table, facet))
    if ways:
        st.caption(LOWEST_NOTE)
    show_broken(bars)
    show_residuals(choice, board, largest)
    return lambda: score_file(
        choice,
        board.table(choice.measures, facet),
        residuals_of(choice, board),
        bands=mean_ranges(choice, board),
        intervals=intervals_of(choice, board, choice.measures, facet),
    )


def bucket_url(choice: ScoresChoice, score: Score) -> str:
    """Return the URL of the queries of a score's bucket, within the chosen bucket."""
    heading = choice.conventions.heading(score.measure)
    where: dict[str, str | None] = {}
    if choice.within is not None and choice.facet != score.facet:
        where = {"other": choice.facet, "crossing": choice.bucket}
    return bucket_queries_url(score.facet, score.bucket, heading, **where)


def intervals_of(
    choice: ScoresChoice,
    board: Scoreboard,
    measures: Sequence[Measure],
    facet: str | None,
    bucket: str | None = None,
) -> IntervalsByPlace:
    """Return the intervals of the shown runs' means, of one bucket if given."""
    runs = tuple(run for run in board.run_names if choice.shows(run))
    at = (*scoreboards.cache_key(board, measures), runs, facet, bucket, choice.within)
    return _intervals(at, measures, runs, facet, bucket, board)


@st.cache_data(max_entries=16, show_spinner=False)
def _intervals(
    at: tuple[Hashable, ...],
    _measures: Sequence[Measure],
    _runs: Sequence[str],
    _facet: str | None,
    _bucket: str | None,
    _board: Scoreboard,
) -> IntervalsByPlace:
    buckets = None if _bucket is None else [_bucket]
    return dict(mean_intervals(_board, _measures, _facet, runs=_runs, buckets=buckets))


def residuals_of(choice: ScoresChoice, board: Scoreboard) -> Sequence[Residual]:
    """Return the residual of each RBP; there is none for weighted means."""
    if choice.traffic is not None:
        return ()
    return residual_means(board, choice.measures, choice.facet)


def show_residuals(choice: ScoresChoice, board: Scoreboard, buckets: Sequence[str | None]) -> None:
    """Show the residual of each RBP, folded if there is a table for each of many buckets."""
    found = residuals_of(choice, board)
    if not found:
        return
    with st.expander("RBP and its residual", expanded=len(buckets) == 1, key="residuals"):
        for name in buckets:
            if name is not None:
                st.text(f"{choice.facet}: {name}")
            part = [each for each in found if each.bucket == name]
            show_table(choice, tables.residual_table(part, choice.conventions), folded=True)
        st.caption(
            "The residual is what RBP could rise by if everything that nobody graded were "
            "relevant: the unjudged chunks, and everything below the cut-off or the end of a list. "
            "However these are graded, RBP is between the value and value + residual."
        )


def show_tasks(choice: ScoresChoice, board: Scoreboard) -> FileContent | None:
    """Show each task by the leading measure that fits it, the other measures folded."""
    tasks = board.facets.get("task", ())
    if not tasks:
        ui.say_no_query_has("a task", "task")
        return None
    by_task = {
        task: choice.of_shown(
            [
                score
                for score in choice.alone(board).table(
                    measures_for_task(choice.conventions, task, choice.by_task) or choice.measures,
                    "task",
                )
                if score.bucket == task
            ]
        )
        for task in tasks
    }
    leading = [score for task in by_task.values() for score in leading_scores(task)]
    intervals = {
        place: interval
        for task, scores in by_task.items()
        for place, interval in intervals_of(
            choice, choice.alone(board), [score.measure for score in scores], "task", task
        ).items()
    }
    bars = NO_MARKS if choice.within else threshold_marks(choice, board, leading)
    drawn_with = (choice.conventions, intervals, bars.limits, bars.marks)
    show_table(choice, tables.bucket_table(leading, *drawn_with, link=partial(bucket_url, choice)))
    show_broken(bars)
    with st.expander("Every measure of each task", key="tasks"):
        for task, scores in by_task.items():
            st.text(f"task: {task}")
            table = tables.score_table(scores, choice.conventions, intervals)
            show_table(choice, table, folded=True)
    every = [score for scores in by_task.values() for score in scores]
    return lambda: score_file(choice, every, intervals=intervals)


def leading_scores(scores: Sequence[Score]) -> list[Score]:
    """Return the scores of the measure that comes first."""
    return [score for score in scores if score.measure == scores[0].measure]


def show_curves(choice: ScoresChoice, board: Scoreboard) -> FileContent:
    """Show recall over k beside precision over k, against the prompt size."""
    read = choice.conventions.measures
    names = [[f"{name}@{k}" for k in charts.CURVES_AT] for name in "RP"]
    found = [choice.table(board, read(each)) for each in names]
    recall, precision = (tables.score_table(scores, choice.conventions) for scores in found)
    above = st.container()
    groups = show_table(choice, with_unjudged(choice, board, recall), f"R@{CURVE_SORT_K}")
    show_table(choice, with_unjudged(choice, board, precision), f"P@{CURVE_SORT_K}")
    if ends := ends_of_lists(choice, board):
        show_html(tables.small_print([ends]))
    prompt_ks = board.prompt_ks[choice.alone(board).counted(found[0][0].measure)].tolist()
    with above:
        if drawn := choose_drawn(choice, groups):
            roles = choice.marked.roles
            show_html(tables.run_legend(drawn, choice.names.short, roles))
            for column, scores in zip(st.columns(2), found, strict=True):
                of_drawn = scores_of_runs(scores, drawn)
                column.altair_chart(charts.curve_chart(of_drawn, prompt_ks, roles))
    return lambda: score_file(choice, [*found[0], *found[1]])


def ends_of_lists(choice: ScoresChoice, board: Scoreboard) -> str:
    """Say which of the shown runs end before their curves do, empty if none does."""
    last = charts.CURVES_AT[-1]
    deepest = {run: int(board.hits(run).length.max(initial=0)) for run in board.run_names}
    short = [
        f"{choice.names.short[run]} ({deepest[run]:,})"
        for run in board.run_names
        if choice.shows(run) and 0 < deepest[run] < last
    ]
    if not short:
        return ""
    ends = f"{format_list(short, MOST_ENDS)}: the longest list ends before rank {last}"
    return f"{ends}; from there on recall stays the same and precision falls."


@st.cache_data(max_entries=8, show_spinner="Re-ordering ties …")
def cached_tie_ranges(
    at: tuple[Hashable, ...], _measures: Sequence[Measure], _board: Scoreboard
) -> TieRangesByRun:
    """Return the ranges over other orders of tied chunks; cached until something changes."""
    return find_tie_ranges(_board, _measures)


def show_ties(choice: ScoresChoice, board: Scoreboard) -> FileContent:
    """Show how much of each mean depends on the order of equal scores."""
    at = (*scoreboards.cache_key(board, choice.measures), choice.within)
    ranges = cached_tie_ranges(at, choice.measures, choice.alone(board))
    if any(ranges.values()):
        show_table(choice, tables.tie_table(ranges, choice.conventions))
        st.caption(
            "The lowest and the highest mean that re-ordering chunks with equal "
            "scores could give. Scores are compared as 32-bit numbers."
        )
    elif ranges:
        st.write("Runs have tied scores, but other orders are not computed for these measures.")
    else:
        st.write("No run has tied scores.")
    return lambda: score_file(choice, choice.table(board, choice.measures), ranges=ranges)


def score_file(
    choice: ScoresChoice,
    scores: Sequence[Score],
    residuals: Sequence[Residual] = (),
    ranges: TieRangesByRun | None = None,
    bands: MeanRanges | None = None,
    intervals: IntervalsByPlace | None = None,
) -> bytes:
    """Return the file with the scores of the runs shown."""
    shown = [each for each in scores if choice.shows(each.run)]
    narrowed = choice.within if choice.view == TASKS else None
    return csv_exports.score_csv(
        shown,
        choice.conventions,
        residuals,
        ranges=ranges,
        within=narrowed,
        bands=bands,
        intervals=intervals,
    )


USUAL_RECALL = "R@prompt"
"""What is looked at where no recall is among the measures that were chosen."""


@st.cache_data(max_entries=8, show_spinner="Leaving systems out …")
def recall_without_own_pool(
    at: tuple[Hashable, ...], _measures: Sequence[Measure], _board: Scoreboard
) -> tuple[OwnPoolComparison, ...]:
    """Return recall without the chunks that only one system pooled; cached until a change."""
    with ui.open_store() as store:
        by_hand = store.assignment.pairs_found_by_hand()
    return compare_own_pools(_board, _measures, by_hand)


POOLING_BIAS = (
    "Chunks are graded because a run returned them. So a run gains from chunks that only it found, "
    "and a run loaded after the grading looks worse than it is."
)


def show_recall(choice: ScoresChoice, board: Scoreboard) -> FileContent:
    """Show each run's recall with and without the chunks that only its system pooled."""
    measures = recall_measures(choice.measures) or choice.conventions.measures(USUAL_RECALL)
    at = (*scoreboards.cache_key(board, measures), choice.within)
    found = recall_without_own_pool(at, measures, choice.alone(board))
    st.text(POOLING_BIAS)
    for each in found:
        show_table(choice, tables.own_pool_table(each, choice.conventions))
        st.text(describe_tau(each, choice.conventions))
    st.caption(
        "Without: relevant chunks that only runs of the same system have "
        f"in their top {choice.conventions.pool_depth} count as not relevant; all runs of a system "
        "are left out together, and chunks that graders found by hand stay. A query "
        "that is left with nothing relevant counts like any other such query, so n can differ."
    )
    shown = [run for run in board.run_names if choice.shows(run)]
    return lambda: csv_exports.own_pool_csv([each.of(shown) for each in found], choice.conventions)

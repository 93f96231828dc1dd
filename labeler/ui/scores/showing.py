"""What Scores shows by grades: a table of the runs, and a picture of those that have room in it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial

import streamlit as st

from labeler.analysis.comparison import FEW
from labeler.evaluation import (
    WHY_NOTHING,
    Residual,
    Score,
    Scoreboard,
    TieRanges,
    holes_of_runs,
    lack_relevance,
    primary,
    residual_means,
    tied_ranges,
)
from labeler.measures import Measure
from labeler.model import listed
from labeler.render import charts, downloads, tables
from labeler.render.lineup import Group, picked
from labeler.render.markup import show_html
from labeler.stats import Intervals, MeanBands, mean_intervals
from labeler.ui import banding, boards, live
from labeler.ui import shared as ui
from labeler.ui.leading import bucket_queries, first_two, lowest_of_runs
from labeler.ui.scores.choosing import CURVES, MEASURES, PATH, TASKS, TIES, Choice, steps
from labeler.ui.scores.thresholds import NO_BARS, bars_of, show_bars

K = 10  # the cut-off that curves are sorted by
MOST_DRAWN, FEW_DRAWN = 8, 5  # as many runs as can be told apart; the best, where there are more
MOST_BUCKETS, MOST_NOTES_OPEN, MOST_ENDS = 60, 5, 5
LOWEST = (
    f"Underlined in a row: the lowest bucket of a run, of those with at least {FEW} queries; a "
    "click shows its worst queries there. A click on an n shows the queries of that bucket."
)
File = Callable[[], bytes]


def show_table(
    choice: Choice,
    table: tables.RunTable,
    first: str | None = None,
    *,
    folded: bool = False,
) -> list[Group]:
    """Show a table of runs as the reader lined them up; return what it shows.

    ``first`` is the column it is sorted by until somebody chooses another. The runs stay in the
    order in which the reader saw them, unless the table is ``folded``.
    """
    lined_up = choice.lineup.on(table.names if first is None else [first, *table.names])
    groups = lined_up.order(table.values, choice.names.systems)
    if not folded:
        asked = (choice.view, choice.within, repr(choice.conventions), choice.traffic, lined_up)
        groups = in_same_order(groups, (PATH, *asked, *table.names))
    is_led = choice.view == MEASURES and not folded
    led = (lined_up, groups, choice.names.short, choice.measures)
    under = first_two(*led) if is_led else None
    show_html(tables.runs_table(table, groups, lined_up, choice.names, steps(lined_up), under))
    return groups


def in_same_order(groups: Sequence[Group], asked: Hashable) -> list[Group]:
    """Return runs in the order in which the reader saw them, though their values move."""
    runs = [run for group in groups for run in group.runs]
    places = {run: at for at, run in enumerate(live.keep_order(runs, str, asked))}
    same = [Group(name, tuple(sorted(runs, key=places.__getitem__))) for name, runs in groups]
    return sorted(same, key=lambda group: places[group.runs[0]])


def drawn_of(choice: Choice, groups: Sequence[Group]) -> list[str]:
    """Return the runs that charts have room for, and say which where these are not all."""
    drawn = picked(groups, choice.lineup.pinned, MOST_DRAWN, FEW_DRAWN)
    if len(drawn) < sum(len(group.runs) for group in groups):
        is_pinned = set(drawn) <= set(choice.lineup.pinned)
        which = "pinned" if is_pinned else f"first {len(drawn)}"
        st.caption(f"Drawn are the {which} runs of the table; ☆ pins a run.")
    return drawn


def of_runs(scores: Sequence[Score], runs: Sequence[str]) -> list[Score]:
    """Return the scores of some runs, run by run in their order."""
    return [score for run in runs for score in scores if score.run == run]


def show_measures(choice: Choice, board: Scoreboard) -> File:
    """Show every run by every chosen measure, or by every bucket."""
    facet, bucket = choice.facet, choice.bucket
    if facet is not None and bucket is None:
        return show_buckets(choice, board, facet)
    every = [score for score in board.table(choice.measures, facet) if score.bucket == bucket]
    scores = choice.of_shown(every)
    if bucket is not None:
        st.text(f"{facet}: {bucket}")
        if lack_relevance(scores) and not lack_relevance(board.table(choice.measures)):
            st.text(f"⚠ {WHY_NOTHING}")
    bands = bands_of(choice, board, choice.measures)
    intervals = intervals_of(choice, board, choice.measures, facet, bucket)
    spreads = tables.spreads_of(bands, intervals)
    bars = bars_of(choice, board, scores)
    drawn_with = (choice.conventions, intervals, spreads, bars.limits, bars.marks)
    table = tables.score_table(scores, *drawn_with)
    groups = show_table(choice, with_gaps(choice, board, table))
    show_bars(bars)
    say_bands(bands)
    show_residuals(choice, board, [bucket])
    drawn = drawn_of(choice, groups)
    if drawn and not all(measure.definition.count for measure in choice.measures):
        show_html(tables.run_legend(drawn, choice.names.short))
        st.altair_chart(charts.score_chart(of_runs(scores, drawn), choice.conventions))
    return lambda: file_of(
        choice,
        scores,
        residuals_of(choice, board),
        bands=bands,
        intervals=intervals,
    )


def bands_of(choice: Choice, board: Scoreboard, measures: Sequence[Measure]) -> MeanBands:
    """Return what the holes of the runs that are shown could make of their means.

    None of weighted ones, for which that is not worked out.
    """
    runs = [run for run in board.run_names if choice.shows(run)]
    return banding.means_of(board, runs, measures, choice.facet)


def with_gaps(
    choice: Choice, board: Scoreboard, table: tables.RunTable, facet: str | None = None
) -> tables.RunTable:
    """Return a table with how much of each run's top is not graded, down to the first cut-off.

    Of the bucket that is looked at, of all of a ``facet``, or of all queries.
    """
    cutoffs = (measure.cutoff for measure in choice.measures if measure.cutoff is not None)
    (judged,) = board.resolve(choice.conventions.measures([f"Judged@{next(cutoffs, K)}"]))
    holes = holes_of_runs(board, judged, *(choice.within or (facet, None)))
    return tables.with_gaps(table, judged.cutoff, holes)


def say_bands(bands: MeanBands) -> None:
    """Say how bands are to be read, where there are any."""
    if any(band.is_open for band in bands.values()):
        st.caption(tables.BAND_WORDS, help=tables.BAND_DOUBTS)


def show_buckets(choice: Choice, board: Scoreboard, facet: str) -> File:
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
    bands = bands_of(choice, board, choice.measures[:1])
    intervals = intervals_of(choice, board, choice.measures[:1], facet)
    spreads = tables.spreads_of(bands, intervals)
    bars = bars_of(choice, board, part)
    drawn_with = (choice.conventions, intervals, spreads, bars.limits, bars.marks)
    ways = lowest_of_runs([each for each in part if choice.shows(each.run)], choice.conventions)
    table = tables.bucket_table(part, *drawn_with, ways, partial(queries_of, choice))
    show_table(choice, with_gaps(choice, board, table, facet))
    if ways:
        st.caption(LOWEST)
    show_bars(bars)
    say_bands(bands)
    show_residuals(choice, board, largest)
    return lambda: file_of(
        choice,
        board.table(choice.measures, facet),
        residuals_of(choice, board),
        bands=bands_of(choice, board, choice.measures),
        intervals=intervals_of(choice, board, choice.measures, facet),
    )


def queries_of(choice: Choice, score: Score) -> str:
    """Return the address of the queries of a score's bucket, within the bucket that is chosen."""
    heading = choice.conventions.heading(score.measure)
    where: dict[str, str | None] = {}
    if choice.within is not None and choice.facet != score.facet:
        where = {"other": choice.facet, "crossing": choice.bucket}
    return bucket_queries(score.facet, score.bucket, heading, **where)


def intervals_of(
    choice: Choice,
    board: Scoreboard,
    measures: Sequence[Measure],
    facet: str | None,
    bucket: str | None = None,
) -> Intervals:
    """Return the intervals of the means of the runs that are shown, of one bucket if given."""
    runs = tuple(run for run in board.run_names if choice.shows(run))
    at = (*boards.moment(board, measures), runs, facet, bucket, choice.within)
    return _intervals(at, measures, runs, facet, bucket, board)


@st.cache_data(max_entries=16, show_spinner=False)
def _intervals(
    at: tuple[Hashable, ...],
    _measures: Sequence[Measure],
    _runs: Sequence[str],
    _facet: str | None,
    _bucket: str | None,
    _board: Scoreboard,
) -> Intervals:
    buckets = None if _bucket is None else [_bucket]
    sums = banding.resampled()
    return dict(mean_intervals(_board, _measures, _facet, runs=_runs, buckets=buckets, sums=sums))


def residuals_of(choice: Choice, board: Scoreboard) -> Sequence[Residual]:
    """Return what each RBP leaves open, which is not worked out for weighted means."""
    if choice.traffic is not None:
        return ()
    return residual_means(board, choice.measures, choice.facet)


def show_residuals(choice: Choice, board: Scoreboard, buckets: Sequence[str | None]) -> None:
    """Show what each RBP leaves open, folded where there is a table for each of many buckets."""
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
            "relevant: the holes, and all that stands below the cut-off or the end of a list. "
            "However the rest is graded, RBP over these queries is from value to value + residual."
        )


def show_tasks(choice: Choice, board: Scoreboard) -> File | None:
    """Show each task by the leading one of the measures that fit it, the others folded."""
    tasks = board.facets.get("task", ())
    if not tasks:
        ui.say_no_query_has("a task", "task")
        return None
    by_task = {
        task: choice.of_shown(
            [
                score
                for score in choice.alone(board).table(
                    primary(choice.conventions, task, choice.by_task), "task"
                )
                if score.bucket == task
            ]
        )
        for task in tasks
    }
    leading = [score for task in by_task.values() for score in leading_of(task)]
    intervals = {
        place: interval
        for task, scores in by_task.items()
        for place, interval in intervals_of(
            choice, choice.alone(board), [score.measure for score in scores], "task", task
        ).items()
    }
    bars = NO_BARS if choice.within else bars_of(choice, board, leading)
    drawn_with = (choice.conventions, intervals, None, bars.limits, bars.marks)
    show_table(choice, tables.bucket_table(leading, *drawn_with, link=partial(queries_of, choice)))
    show_bars(bars)
    with st.expander("Every measure of each task", key="tasks"):
        for task, scores in by_task.items():
            st.text(f"task: {task}")
            table = tables.score_table(scores, choice.conventions, intervals)
            show_table(choice, table, folded=True)
    every = [score for scores in by_task.values() for score in scores]
    return lambda: file_of(choice, every, intervals=intervals)


def leading_of(scores: Sequence[Score]) -> list[Score]:
    """Return the scores of the measure that comes first."""
    return [score for score in scores if score.measure == scores[0].measure]


def show_curves(choice: Choice, board: Scoreboard) -> File:
    """Show recall over k beside precision over k, against the prompt budget."""
    read = choice.conventions.measures
    names = [[f"{name}@{k}" for k in charts.CURVES_AT] for name in "RP"]
    found = [choice.table(board, read(each)) for each in names]
    recall, precision = (tables.score_table(scores, choice.conventions) for scores in found)
    above = st.container()
    groups = show_table(choice, with_gaps(choice, board, recall), f"R@{K}")
    show_table(choice, with_gaps(choice, board, precision), f"P@{K}")
    if ends := ends_of_lists(choice, board):
        show_html(tables.small_print([ends]))
    budgets = board.budgets[choice.alone(board).counted(found[0][0].measure)].tolist()
    with above:
        if drawn := drawn_of(choice, groups):
            show_html(tables.run_legend(drawn, choice.names.short, lines=True))
            for column, scores in zip(st.columns(2), found, strict=True):
                column.altair_chart(charts.curve_chart(of_runs(scores, drawn), budgets))
    return lambda: file_of(choice, [*found[0], *found[1]])


def ends_of_lists(choice: Choice, board: Scoreboard) -> str:
    """Say which of the runs that are shown end before their curves do; nothing if none does."""
    last = charts.CURVES_AT[-1]
    deepest = {run: int(board.hits(run).length.max(initial=0)) for run in board.run_names}
    short = [
        f"{choice.names.short[run]} ({deepest[run]:,})"
        for run in board.run_names
        if choice.shows(run) and 0 < deepest[run] < last
    ]
    if not short:
        return ""
    ends = f"{listed(short, MOST_ENDS)}: the longest list ends before rank {last}"
    return f"{ends}; from there on recall stays as it is and precision falls."


@st.cache_data(max_entries=8, show_spinner="Re-ordering ties …")
def ranges_of_ties(
    at: tuple[Hashable, ...], _measures: Sequence[Measure], _board: Scoreboard
) -> TieRanges:
    """Return what other orders of tied chunks could give; worked out once for each change."""
    return tied_ranges(_board, _measures)


def show_ties(choice: Choice, board: Scoreboard) -> File:
    """Show how much of each mean the order of equal scores decides."""
    at = (*boards.moment(board, choice.measures), choice.within)
    ranges = ranges_of_ties(at, choice.measures, choice.alone(board))
    if any(ranges.values()):
        show_table(choice, tables.tie_table(ranges, choice.conventions))
        st.caption(
            "The lowest and the highest mean that re-ordering chunks with equal "
            "scores could give. Scores are equal where they are as 32-bit numbers."
        )
    elif ranges:
        st.write("Runs have tied scores; what other orders give is not known of these measures.")
    else:
        st.write("No run has tied scores, so no order of ties decides anything.")
    return lambda: file_of(choice, choice.table(board, choice.measures), ranges=ranges)


def file_of(
    choice: Choice,
    scores: Sequence[Score],
    residuals: Sequence[Residual] = (),
    ranges: TieRanges | None = None,
    bands: MeanBands | None = None,
    intervals: Intervals | None = None,
) -> bytes:
    """Return the file with the scores of the runs that are shown."""
    shown = [each for each in scores if choice.shows(each.run)]
    narrowed = choice.within if choice.view == TASKS else None
    return downloads.score_csv(
        shown,
        choice.conventions,
        residuals,
        ranges=ranges,
        within=narrowed,
        bands=bands,
        intervals=intervals,
    )


def show_small_print(choice: Choice, notes: Sequence[str]) -> None:
    """Show the conventions, what was left out or could surprise, and the names that were folded."""
    said = [f"· {note}" for note in notes]
    are_folded = len(said) > MOST_NOTES_OPEN
    short = choice.names.short
    show_html(
        tables.small_print([choice.conventions.sentence, *([] if are_folded else said)]),
        tables.whole_names(short, filter(choice.shows, short)),
    )
    if are_folded:
        with st.expander(f"{len(said)} things to know of these numbers", key="notes"):
            show_html(tables.small_print(said))


BY_GRADES: Mapping[str, Callable[[Choice, Scoreboard], File | None]] = {
    MEASURES: show_measures,
    TASKS: show_tasks,
    CURVES: show_curves,
    TIES: show_ties,
}
WITH_INTERVALS = (MEASURES, TASKS)
"""The views in which each mean has its interval."""

"""The answer on Scores: the best run and how sure that is, and all runs in one table."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import htpy
import streamlit as st

from labeler.analysis.comparison import BestRun, DecisionRules, find_best_run
from labeler.analysis.comparison.best_run import describe_ungraded, find_ungraded
from labeler.evaluation import (
    DEFAULT_MEASURES,
    WHY_NOTHING,
    Score,
    Scoreboard,
    format_number,
    nothing_is_relevant,
)
from labeler.measures import PROMPT
from labeler.model import Settings, format_count
from labeler.model.results import ANSWER, Statement
from labeler.render import tables
from labeler.render.markup import show_html
from labeler.render.tables.run_table import BY_NAME
from labeler.render.tables.verdict_block import verdict_block
from labeler.stats import IntervalsByPlace
from labeler.ui import scoreboards, url_state
from labeler.ui import shared as ui
from labeler.ui.deep_links import bucket_queries_url, transfer_url
from labeler.ui.scores.choices import (
    PATH,
    MarkedRuns,
    ScoresChoice,
    show_others,
    sort_url,
    url_with,
)
from labeler.ui.scores.thresholds import show_broken, threshold_marks
from labeler.ui.scores.views import (
    FileContent,
    intervals_of,
    keep_run_order,
    mean_ranges,
    residuals_of,
    score_file,
    show_buckets,
    show_residuals,
    unjudged_in_top,
)

MOST_DOUBTS = 2  # lines under the number; further doubts are in "How computed"


def find_best(choice: ScoresChoice, board: Scoreboard, settings: Settings) -> BestRun | None:
    """Return the best run over the queries shown, None if there is none to name."""
    at = (*scoreboards.cache_key(board), choice.within, choice.traffic)
    with ui.reading("Testing the runs…"):
        return _best_run(
            at, DecisionRules.of(settings), dict(choice.names.short), choice.alone(board)
        )


def mark_runs(best: BestRun | None) -> MarkedRuns:
    """Return the runs that are marked to compare: those in the URL, or the two best."""
    if best is None:
        return MarkedRuns.of([])
    return MarkedRuns.of([best.best.run, *(each.run for each in best.others), *best.ungraded])


@st.cache_resource(max_entries=16, show_spinner=False)
def _best_run(
    at: tuple[Hashable, ...], rules: DecisionRules, _names: dict[str, str], _board: Scoreboard
) -> BestRun | None:
    return find_best_run(_board, rules, _names)


def show_answer(
    choice: ScoresChoice, board: Scoreboard, best: BestRun | None, doubts: Sequence[str]
) -> FileContent:
    """Show which run is best, then every run by the chosen measures, or by every bucket.

    ``doubts`` are further ways to be misled; they follow the doubts of the answer.
    """
    inside = choice.alone(board)
    every = inside.table(choice.measures)
    show_verdict(choice, inside, best, every, doubts)
    if choice.facet is not None and choice.bucket is None:
        file = show_buckets(choice, board, choice.facet)
        show_others(board)
        return file
    is_of_bucket = choice.within and nothing_is_relevant(every)
    if is_of_bucket and not nothing_is_relevant(board.table(choice.measures)):
        st.text(f"⚠ {WHY_NOTHING}")
    return show_ranking(choice, board, best)


def show_verdict(
    choice: ScoresChoice,
    board: Scoreboard,
    best: BestRun | None,
    scores: Sequence[Score],
    doubts: Sequence[str],
) -> None:
    """Show the answer, its number, the counts behind it, and the button that compares two runs."""
    first = scores[0] if scores else None
    answer, figure = None, None
    if best is not None:
        first, answer = best.best, best.answer
        figure = (format_number(first.value), best.heading)
    elif first is not None and len(board.run_names) == 1 and first.n:
        only = choice.names.short[first.run]
        answer = Statement("one run", f"{only} is the only run here.", ANSWER)
        figure = (format_number(first.value), choice.conventions.heading(first.measure))
    own = [each.sentence for each in best.doubts] if best is not None else []
    said: list[htpy.Node] = [" ".join(own)] if own else []
    ungraded = find_ungraded(board)
    step: htpy.Node = None
    if ungraded and best is not None:
        said = [[*said, " ", htpy.a(href=transfer_url())["Transfer the grades"]]]
    elif ungraded:
        answer = describe_ungraded("These runs", board, ungraded)
        step = htpy.a(".go", href=transfer_url())["Transfer the grades"]
    if len(choice.marked.runs) > 1:
        words = f"Compare the {len(choice.marked.runs)} marked runs"
        step = htpy.a(".go", href=choice.marked.compare_url)[words]
    counts = "" if first is None else describe_counts(board, first, choice.within)
    if choice.traffic is not None:
        counts = " · ".join(filter(None, [counts, choice.traffic.describe()]))
    says = None if answer is None else answer.sentence
    show_html(verdict_block(says, figure, [*said, *doubts][:MOST_DOUBTS], counts, step))


def describe_counts(board: Scoreboard, score: Score, within: tuple[str, str] | None) -> str:
    """Say how many queries the means are over, why not all, and how many grades there are."""
    of = len(board.collection.query_ids)
    if within is not None:
        buckets, group = board.groups(within[0])
        of = int((group == buckets.index(within[1])).sum())
    not_graded = of - score.n - score.undefined
    why = [f"{not_graded:,} not graded"] if not_graded else []
    lacks = "no passage marked" if score.measure.reads == "evidence" else "nothing relevant"
    why += [f"{score.undefined:,} with {lacks}"] if score.undefined else []
    left_out = f" ({', '.join(why)})" if why else ""
    where = "" if within is None else f" of {' = '.join(within)}"
    over = f"{score.n:,} of {format_count(of, 'query', 'queries')}{where}{left_out}"
    if score.n == of:
        over = f"All {of:,} queries{where}" if of > 1 else f"The one query{where}"
    return f"{over} · {format_count(board.counts.grades, 'grade', 'grades')}"


def show_ranking(choice: ScoresChoice, board: Scoreboard, best: BestRun | None) -> FileContent:
    """Show every run by the chosen measures, and the first one's intervals on an axis."""
    facet, bucket = choice.facet, choice.bucket
    every = [score for score in board.table(choice.measures, facet) if score.bucket == bucket]
    scores = choice.of_shown(every)
    intervals = intervals_of(choice, board, choice.measures, facet, bucket)
    bars = threshold_marks(choice, board, scores)
    rows = rows_of(choice, board, scores, intervals, best)
    columns = list(next(iter(rows.values())).scores) if rows else []
    lined_up = choice.lineup.on(columns)
    values = {
        run: {name: score.value for name, score in row.scores.items()} for run, row in rows.items()
    }
    asked = (choice.within, repr(choice.conventions), choice.traffic, lined_up, *columns)
    groups = keep_run_order(lined_up.order(values, choice.names.systems), (PATH, *asked))
    if groups:
        cutoff, _ = unjudged_in_top(choice, board, *(choice.within or (None, None)))
        depth = "prompt" if cutoff == PROMPT else f"top {cutoff}"
        head = tables.RankingHead(
            {name: sort_url(lined_up, name) for name in (BY_NAME, *columns)},
            f"unjudged in\nthe {depth}",
            bars.limits,
            bars.marks,
        )
        if choice.names.parts is not None and choice.names.parts.shared:
            shared = " · ".join(choice.names.parts.shared)
            show_html(tables.legend_line("These names also share: ", htpy.bdi[shared]))
        show_html(tables.ranking_table(rows, groups, lined_up, choice.names, head))
        explain_picture(choice, best)
    show_others(board)
    show_broken(bars)
    show_residuals(choice, board, [bucket])
    return lambda: score_file(
        choice,
        scores,
        residuals_of(choice, board),
        bands=mean_ranges(choice, board),
        intervals=intervals,
    )


def rows_of(
    choice: ScoresChoice,
    board: Scoreboard,
    scores: Sequence[Score],
    intervals: IntervalsByPlace,
    best: BestRun | None,
) -> dict[str, tables.RunRow]:
    """Return the table's row of each run that has a score, in the order of loading."""
    _, unjudged = unjudged_in_top(choice, board, *(choice.within or (None, None)))
    heading = choice.conventions.heading
    by_run: dict[str, dict[str, Score]] = {}
    for score in scores:
        by_run.setdefault(score.run, {})[heading(score.measure)] = score
    marks = {} if best is None else best.marks
    can_mark = len(board.run_names) > 1 and best is not None
    by = heading(choice.measures[0])
    rows = {}
    for run, own in by_run.items():
        first = next(iter(own.values()))
        rows[run] = tables.RunRow(
            *(run, own, intervals.get((run, str(first.measure), first.bucket))),
            said=marks.get(run, ""),
            open_share=f"{unjudged[run]:.0%}" if run in unjudged else "–",
            hints={
                name: tables.explain_mean(
                    score,
                    choice.conventions.depth_of_unjudged(score.measure),
                    intervals.get((run, str(score.measure), score.bucket)),
                )
                for name, score in own.items()
            },
            tags=[f"{first.missing:,} absent"] if first.missing else [],
            role=choice.marked.role(run),
            turn=choice.marked.turned(run) if can_mark else "",
            link=bucket_queries_url(choice.facet, choice.bucket, by, a=run, b=None),
        )
    return rows


def explain_picture(choice: ScoresChoice, best: BestRun | None) -> None:
    """Explain the picture, with a link to all measures or back."""
    said = f"{choice.conventions.heading(choice.measures[0])}: mean and 95% confidence interval."
    if best is not None and best.marks:
        many = len(best.others)
        corrected = f", corrected for {many:,} runs" if many > 1 else ""
        said += (
            f" Filled: clear in a paired test against {best.called[best.best.run]}{corrected}; "
            "hollow: could be chance. Overlapping lines are no test."
        )
    link = htpy.a(href=url_with({"measure": DEFAULT_MEASURES}))["All measures"]
    if url_state.get_each("measure"):
        link = htpy.a(href=url_with({"measure": []}))["Only the usual measures"]
    show_html(tables.legend_line(said, " ", link))

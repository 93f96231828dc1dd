"""The report's scores: the means of its runs, what they rest on, and recall over k."""

from __future__ import annotations

import htpy

from labeler.evaluation import Score
from labeler.render import charts, tables
from labeler.render.lineup import Lineup
from labeler.render.report.shared import Shared, read_bands
from labeler.stats import mean_intervals


def scores_section(shared: Shared) -> htpy.Fragment:
    """Return the means as a table and a chart, then recall and precision over k."""
    runs = shared.asked.runs
    scores = _of(shared, shared.board.table(shared.measures))
    bands = shared.bands.means(shared.board, shared.measures)
    intervals = mean_intervals(shared.board, shared.measures, runs=runs)
    spreads = tables.spreads_of(bands, intervals)
    conventions = shared.board.conventions
    table = tables.score_table(scores, conventions, intervals, spreads)
    chart = charts.score_chart(scores, conventions)
    return htpy.fragment[
        _drawn(shared, table),
        tables.small_print([conventions.sentence, *read_bands(bands)]),
        tables.run_legend(runs, shared.short),
        shared.figures.draw(chart, "The means of all judged queries, as in the table."),
        _curves(shared),
    ]


def _curves(shared: Shared) -> htpy.Fragment:
    """Return recall and precision over k, each as a chart over its table."""
    return htpy.fragment[
        htpy.h3["Recall and precision over k"],
        tables.run_legend(shared.asked.runs, shared.short, lines=True),
        htpy.div(".pair")[[_curve(shared, name) for name in "RP"]],
    ]


def _curve(shared: Shared, name: str) -> htpy.Element:
    measures = shared.board.conventions.measures([f"{name}@{k}" for k in charts.CURVES_AT])
    scores = _of(shared, shared.board.table(measures))
    budgets = shared.board.budgets[shared.board.counted(measures[0])].tolist()
    table = tables.score_table(scores, shared.board.conventions)
    words = f"{measures[0].name}@k over k; upright: the prompt budget."
    return htpy.div[
        shared.figures.draw(charts.curve_chart(scores, budgets), words),
        htpy.details[htpy.summary["The numbers of this chart"], _drawn(shared, table)],
    ]


def _of(shared: Shared, scores: list[Score]) -> list[Score]:
    """Return the scores of the runs that the report is about, A first."""
    return [score for run in shared.asked.runs for score in scores if score.run == run]


def _drawn(shared: Shared, table: tables.RunTable) -> htpy.Fragment:
    systems = {run.name: run.system for run in shared.board.collection.runs}
    names = tables.RunNames(shared.short, systems)
    groups = Lineup().order({run: {} for run in shared.asked.runs}, {})
    return tables.runs_table(table, groups, Lineup(), names)

"""A system over time, of plain data: its runs in order of date, and what fell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date

import pandas as pd

from labeler.analysis import trend
from labeler.api.given import GivenGrades, GivenRun, RunRule
from labeler.api.grounds import Measures, board_of, frame_of, rule_of, wanted_of
from labeler.errors import BadInput
from labeler.evaluation import USUAL, Conventions, Undefined
from labeler.formats import LIMITS, Limits, OnDuplicate, Order
from labeler.model import StoredRun
from labeler.stats import mean_intervals

SYSTEM = "system"
"""What the system of runs is called that belong to none by name."""


def trend_of(
    qrels: GivenGrades,
    runs: Mapping[str, GivenRun],
    dates: Mapping[str, str | date],
    measures: Measures = USUAL,
    *,
    systems: Mapping[str, str] | None = None,
    window: str = "all runs",
    per_run: bool = False,
    preset: str = "graded",
    rel: int = 1,
    budget: int = 5,
    grade_map: Mapping[float, int] | None = None,
    negative_as_zero: bool = False,
    negative_as_ungraded: bool | None = None,
    undefined: Undefined | None = None,
    order: Order = "score",
    on_duplicate: OnDuplicate = "refuse",
    limits: Limits = LIMITS,
) -> pd.DataFrame:
    """Say how a system moved from run to run, and what fell: a row for each system and measure.

    Takes what `evaluate` takes, and the day or moment that each run was made, as a date or a text
    such as "2026-01-31" or "2026-01-31T09:30:00Z"; a time without a zone is UTC. A run without one
    is in no trend. ``systems`` says to which system a run belongs; without it all are of one. All
    runs are scored by the same grades. ``window`` is how far back from a system's newest run is
    looked: "30 runs", "90 days".

    Columns are ``system, measure, full_name, runs, runs_with_value, current, mean, median, spread``
    (the standard deviation), ``lowest, highest`` with the run and the date of each, ``change`` of
    the straight line through the values, its ``direction``, by a randomisation test over queries
    with ``p`` and, after Holm's correction over all rows, ``p_holm``, and as ``alert`` what fell by
    more than chance. With ``per_run`` there is a row for each run, with its ``value``, the ends
    ``lo`` and ``hi`` of the 95% interval over the choice of queries, and the ``change`` since the
    run before. What cannot be said is NaN.

    >>> runs = {"old": {"q": ["c", "x"]}, "new": {"q": ["x", "c"]}}
    >>> dates = {"new": "2026-02-28", "old": "2026-01-31"}
    >>> frame = trend_of({"q": {"c": 1}}, runs, dates, "RR", per_run=True)
    >>> frame[["run", "date", "value", "change"]].values.tolist()
    [['old', '2026-01-31', 1.0, nan], ['new', '2026-02-28', 0.5, -0.5]]
    """
    conventions = Conventions.of(preset, rel=rel, budget=budget, undefined=undefined)
    rule = rule_of(conventions, grade_map, negative_as_zero, negative_as_ungraded)
    board = board_of(qrels, runs, conventions, rule, RunRule(on_duplicate, order, limits))
    wanted = wanted_of(conventions, measures)
    line = _timeline(board.run_names, dates, systems or {})
    back = trend.window_of(window)
    dated = {system: back.of(line.of(system)) for system in line.systems}
    ends = mean_intervals(board, board.resolve(wanted)) if per_run else {}
    every = trend.series_of(board, dated, board.resolve(wanted), intervals=ends)
    looked = trend.look(trend.Values(board), every)
    rows = (
        trend.point_records(every)
        if per_run
        else trend.summary_records(trend.summaries(board, every), looked.alerts)
    )
    frame = frame_of(rows, board, wanted).drop(columns="threshold")
    frame.attrs["notes"] += [*line.notes, looked.rule]
    return frame


def _timeline(
    names: Sequence[str], dates: Mapping[str, str | date], systems: Mapping[str, str]
) -> trend.Timeline:
    """Put runs in order; raises `BadInput` for a name that is no run's, and where none is dated."""
    for name in (*dates, *systems):
        if name not in names:
            raise BadInput(f"no run is called {name!r}; there are: {', '.join(names)}")
    said = {
        name: each if isinstance(each, str) else each.isoformat() for name, each in dates.items()
    }
    runs = [StoredRun(name, systems.get(name, SYSTEM), said.get(name), {}) for name in names]
    found = trend.timeline(runs)
    if not found.systems:
        raise BadInput("no run has a date; dates must be {run: date}")
    return found

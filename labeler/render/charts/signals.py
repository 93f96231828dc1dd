"""Signals: one small picture for each, of the systems' values over the time axis of their runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import altair as alt
import pandas as pd

from labeler.analysis.trend import Dated, Heard, Span
from labeler.render.charts.look import Names, dressed
from labeler.render.charts.trending import EXTENT, dates_between, ticks_between
from labeler.render.palette import DASHES, MARKS, QUIET, RUN_COLOURS

HEIGHT = 120
MOST_RULES = 40  # more runs than that would be a wall of rules
COLUMNS = ("line", "at", "when", "date", "value", "shown", "n", "run")


def signal_chart(
    systems: Sequence[str],
    lines: Mapping[str, Sequence[Heard]],
    span: Span,
    runs: Sequence[Dated] = (),
) -> alt.LayerChart:
    """Return a line for each system of ``lines``, in the look it has among all ``systems``.

    The scale is the signal's own, the time axis that of ``span``. Rules stand where ``runs`` were
    made. The name is said in the page, as anybody chose it.
    """
    names = Names("lines", list(systems))
    frame = _frame(names, lines)
    timed = bool((frame["date"].str.len() > len("2026-01-31")).any())
    across = alt.X("when:T", title=None, scale=dates_between(span), axis=ticks_between(span, timed))
    colour = alt.Color("at:N", scale=names.in_turn(RUN_COLOURS), legend=None)
    base = alt.Chart(frame).encode(
        x=across,
        y=alt.Y(
            "value:Q",
            title="value",
            scale=alt.Scale(zero=False, nice=True, domain=_room(frame)),
            axis=alt.Axis(tickCount=3, minExtent=EXTENT, titlePadding=0),
        ),
        color=colour,
    )
    dash = alt.StrokeDash("at:N", scale=names.in_turn(DASHES), legend=None)
    shape = alt.Shape("at:N", scale=names.in_turn(MARKS), legend=None)
    made = pd.DataFrame({"when": [run.when for run in runs], "run": [run.run for run in runs]})
    layers = [
        *([_rules(made, span)] if 0 < len(made) <= MOST_RULES else []),
        base.mark_line(strokeWidth=1.75).encode(strokeDash=dash),
        base.mark_point(size=22 if len(frame) > 60 else 36, filled=True, opacity=1).encode(
            shape=shape, tooltip=_tooltip()
        ),
    ]
    chart: alt.LayerChart = alt.LayerChart(
        layer=layers,
        height=HEIGHT,
        description="A signal over its dates, a line for each system, with a rule at each run; the "
        "same numbers as the table of signals",
    )
    return dressed(chart)


def _frame(names: Names, lines: Mapping[str, Sequence[Heard]]) -> pd.DataFrame:
    rows = [
        {
            "line": system,
            "at": at,
            "when": point.when,
            "date": point.said,
            "value": point.value,
            "shown": f"{point.value:.6g}",
            "n": "not said" if point.n is None else f"{point.n:,}",
            "run": point.run or "–",
        }
        for system, points in lines.items()
        for at in names.places([system])
        for point in points
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _room(frame: pd.DataFrame) -> list[float]:
    """Return between which values all stand, with room around; one of no height gets some."""
    low, high = float(frame["value"].min()), float(frame["value"].max())
    around = 0.08 * (high - low) or 0.05 * abs(high) or 0.05
    return [low - around if low < 0 else max(0.0, low - around), high + around]


def _rules(made: pd.DataFrame, span: Span) -> alt.Chart:
    across = alt.X("when:T", title=None, scale=dates_between(span))
    rules: alt.Chart = alt.Chart(made).mark_rule(strokeDash=[1, 3], color=QUIET)
    return rules.encode(x=across, tooltip=[alt.Tooltip("run:N", title="run")])


def _tooltip() -> list[alt.Tooltip]:
    words = {"line": "of", "date": "date", "shown": "value", "n": "counted", "run": "newest run"}
    return [alt.Tooltip(f"{name}:N", title=title) for name, title in words.items()]

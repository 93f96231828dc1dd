"""Charts of measures and of signals over the dates of their runs.

A measure's chart has 95% confidence intervals as bands and thresholds as lines. Each signal has
a small chart of its own below it, on the same time axis.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

import altair as alt
import pandas as pd

from labeler.analysis.trend import DatedRun, SignalValue, TimeSpan, parse_moment
from labeler.model.results import Table
from labeler.render.charts.theme import INK, LEAST_FONT, ChartNames, with_theme
from labeler.render.palette import MUTED_COLOUR, line_looks
from labeler.render.text import format_cell, format_figure

MOST_BANDS = 3
"""No bands are drawn for more lines than this: they would hide each other."""

TREND_HEIGHT = 320
AXIS_EXTENT = 64  # pixels of the value axis, the same in all charts so that their dates line up
POINT_SIZES = ((40, 70), (120, 34), (math.inf, 16))  # (most points of a line, size)
DAY, HOURS = "%Y-%m-%d", "%m-%d %H:%M"
_BREAK: Final = "break-paths-filter-domains"  # a run without results is a gap

TREND_COLUMNS = ("line", "at", "when", "date", "value", "lo", "hi", "alone")
SHOWN_ON_HOVER = ("date", "run", "value", "interval", "n", "unjudged")
"""Columns shown when the reader hovers over a point."""

TrendLines = Mapping[str, Table]
"""The points of each line by date (`labeler.analysis.trend.points_table`), under its name in the
legend."""


def trend_chart(
    lines: TrendLines,
    heading: str,
    bars: Iterable[float] = (),
    *,
    share: bool = True,
    span: TimeSpan | None = None,
    roles: Mapping[str, str] | None = None,
) -> alt.LayerChart:
    """Return a line for each of ``lines``; up to `MOST_BANDS` lines have 95% intervals as bands.

    ``bars`` are thresholds, drawn as horizontal lines. ``share`` says that values are from 0 to 1.
    The value axis fits the values and need not begin at 0. The time axis fits the points, or
    ``span`` if charts below share it. For ``roles`` see `line_looks`. The legend is
    `labeler.render.tables.run_legend` for the same names in the same order.
    """
    names = ChartNames("lines", list(lines))
    given = sorted(set(bars))
    has_bands = len(names.names) <= MOST_BANDS
    frame = _trend_frame(lines, names, has_bands=has_bands)
    shared = span or (None if frame.empty else (frame["when"].min(), frame["when"].max()))
    timed = bool((frame["date"].str.len() > len("2026-01-31")).any())
    across = alt.X(
        "when:T",
        title="date of the run (UTC)",
        scale=time_scale(shared),
        axis=time_axis(shared, timed, most=frame["when"].nunique() if span is None else 8),
    )
    upward = alt.Scale(domain=_trend_domain(frame, given, share=share), nice=False, zero=False)
    looks = names.with_looks(line_looks(names.names, roles))
    base = alt.Chart(frame).encode(x=across, color=looks["color"])
    axis = alt.Axis() if span is None else alt.Axis(minExtent=AXIS_EXTENT, titlePadding=0)
    value = alt.Y("value:Q", title=f"mean {heading}", scale=upward, axis=axis)
    most_points = max((len(points.rows) for points in lines.values()), default=0)
    size = next(size for most, size in POINT_SIZES if most_points <= most)
    layers = [
        *(_bands(base, alt.Y("lo:Q", title=f"mean {heading}", scale=upward)) if has_bands else ()),
        *_lines(base, value, looks, size, _trend_tooltip(lines)),
        *_threshold_lines(given, upward),
    ]
    chart: alt.LayerChart = alt.LayerChart(
        layer=layers,
        height=TREND_HEIGHT,
        description=f"{heading} of each run over its date, a line for each system or bucket; the "
        "same numbers as the table of runs",
    )
    return with_theme(chart)


def _bands(base: alt.Chart, low: alt.Y) -> Iterator[alt.Chart]:
    """Return the intervals of lines: an area for each, or a rule where a line is a single point."""
    ends = base.encode(y=low, y2="hi:Q")
    yield ends.mark_area(opacity=0.16, invalid=_BREAK).encode(detail="at:N")
    yield ends.transform_filter("datum.alone").mark_rule(strokeWidth=2)


def _lines(
    base: alt.Chart,
    value: alt.Y,
    looks: Mapping[str, Any],
    size: int,
    tooltip: Sequence[alt.Tooltip],
) -> Iterator[alt.Chart]:
    """Return the lines, their points, and a cross at the bottom where a run has no result."""
    dash, shape = looks["strokeDash"], looks["shape"]
    yield base.mark_line(strokeWidth=1.75, invalid=_BREAK).encode(y=value, strokeDash=dash)
    yield (
        base.transform_filter("isValid(datum.value)")
        .mark_point(size=size, filled=True, opacity=1)
        .encode(y=value, shape=shape, tooltip=tooltip)
    )
    yield (
        base.transform_filter("!isValid(datum.value)")
        .mark_text(text="×", fontSize=16, baseline="bottom")
        .encode(y=alt.value("height"), tooltip=tooltip)
    )


def _trend_frame(lines: TrendLines, names: ChartNames, *, has_bands: bool) -> pd.DataFrame:
    alone = {
        name: sum(not math.isnan(row["value"]) for row in points.rows) == 1
        for name, points in lines.items()
    }
    rows = [
        {
            "line": name,
            "at": at,
            "when": parse_moment(row["moment"]),
            "date": row["date"],
            "value": row["value"],
            "lo": row["lo"] if has_bands else math.nan,
            "hi": row["hi"] if has_bands else math.nan,
            "alone": alone[name],
            **{
                f"shown_{column.name}": format_cell(column, row)
                for column in points.columns
                if column.name in SHOWN_ON_HOVER
            },
        }
        for at, (name, points) in zip(names.numbers, lines.items(), strict=True)
        for row in points.rows
    ]
    shown = [f"shown_{name}" for name in SHOWN_ON_HOVER]
    return pd.DataFrame(rows, columns=[*TREND_COLUMNS, *shown])


def time_scale(span: TimeSpan | None) -> alt.Scale:
    """Return the time scale of ``span``, one day longer at each end if both ends are the same."""
    if span is None:
        return alt.Scale(type="utc")
    first, last = span
    apart = timedelta(days=1) if first == last else timedelta()
    ends = [each.isoformat() for each in (first - apart, last + apart)]
    return alt.Scale(type="utc", padding=8, domain=[alt.expr(f"toDate('{each}')") for each in ends])


def time_axis(span: TimeSpan | None, timed: bool, most: int = 8) -> alt.Axis:
    """Return the date axis; a short span without times of day has at most one tick a day."""
    first, last = span or (datetime.max, datetime.max)
    short = last - first <= timedelta(days=8)
    days = alt.TimeIntervalStep(interval="day", step=1)
    count = days if short and not timed else max(2, min(8, most))
    shown = HOURS if short and timed else DAY
    return alt.Axis(format=shown, tickCount=count, labelOverlap="greedy", labelFlush=True)


def _trend_domain(frame: pd.DataFrame, bars: Sequence[float], *, share: bool) -> list[float]:
    """Return the range of all values with a margin."""
    found = [*frame[["value", "lo", "hi"]].to_numpy().ravel(), *bars]
    known = [each for each in found if not math.isnan(each)] or [0.0, 1.0]
    low, high = min(known), max(known)
    around = 0.06 * (high - low) or 0.05
    low, high = max(0.0, low - around), high + around
    return [low, min(1.0, high) if share else high]


def _trend_tooltip(lines: TrendLines) -> list[alt.Tooltip]:
    columns = {column.name: column for points in lines.values() for column in points.columns}
    titles = {f"shown_{name}": columns[name].title for name in SHOWN_ON_HOVER if name in columns}
    return [
        alt.Tooltip(f"{name}:N", title=title) for name, title in {"line": "Of", **titles}.items()
    ]


def _threshold_lines(bars: Sequence[float], upward: alt.Scale) -> list[alt.Chart]:
    """Return a horizontal line and a label for each threshold."""
    frame = pd.DataFrame({"bar": list(bars), "label": [f"threshold {bar:g}" for bar in bars]})
    if frame.empty:
        return []
    across = alt.Chart(frame).encode(y=alt.Y("bar:Q", scale=upward))
    words = across.mark_text(align="left", dx=4, dy=-7, fontSize=LEAST_FONT, color=INK)
    return [
        across.mark_rule(strokeDash=[2, 4], strokeWidth=2, color=MUTED_COLOUR),
        words.encode(text="label:N", x=alt.value(0)),
    ]


SIGNAL_HEIGHT = 120
MOST_RULES = 40  # rules for more runs would fill the chart
SIGNAL_COLUMNS = ("line", "at", "when", "date", "value", "shown", "n", "run")


def signal_chart(
    systems: Sequence[str],
    lines: Mapping[str, Sequence[SignalValue]],
    span: TimeSpan,
    runs: Sequence[DatedRun] = (),
    roles: Mapping[str, str] | None = None,
) -> alt.LayerChart:
    """Return a line for each system of ``lines``, in the look it has among all ``systems``.

    The value axis fits the signal, the time axis is ``span``. Rules mark when ``runs`` were made.
    The name of the signal is shown by the page, not by the chart: any user may have chosen it.
    """
    names = ChartNames("lines", list(systems))
    frame = _signal_frame(names, lines)
    timed = bool((frame["date"].str.len() > len("2026-01-31")).any())
    across = alt.X("when:T", title=None, scale=time_scale(span), axis=time_axis(span, timed))
    looks = names.with_looks(line_looks(names.names, roles))
    base = alt.Chart(frame).encode(
        x=across,
        y=alt.Y(
            "value:Q",
            title="value",
            scale=alt.Scale(zero=False, nice=True, domain=_signal_domain(frame)),
            axis=alt.Axis(tickCount=3, minExtent=AXIS_EXTENT, titlePadding=0),
        ),
        color=looks["color"],
    )
    dash, shape = looks["strokeDash"], looks["shape"]
    made = pd.DataFrame({"when": [run.when for run in runs], "run": [run.run for run in runs]})
    layers = [
        *([_run_rules(made, span)] if 0 < len(made) <= MOST_RULES else []),
        base.mark_line(strokeWidth=1.75).encode(strokeDash=dash),
        base.mark_point(size=22 if len(frame) > 60 else 36, filled=True, opacity=1).encode(
            shape=shape, tooltip=_signal_tooltip()
        ),
    ]
    chart: alt.LayerChart = alt.LayerChart(
        layer=layers,
        height=SIGNAL_HEIGHT,
        description="A signal over its dates, a line for each system, with a rule at each run; the "
        "same numbers as the table of signals",
    )
    return with_theme(chart)


def _signal_frame(names: ChartNames, lines: Mapping[str, Sequence[SignalValue]]) -> pd.DataFrame:
    rows = [
        {
            "line": system,
            "at": at,
            "when": point.when,
            "date": point.said,
            "value": point.value,
            "shown": format_figure(point.value),
            "n": "not said" if point.n is None else f"{point.n:,}",
            "run": point.run or "–",
        }
        for system, points in lines.items()
        for at in names.places([system])
        for point in points
    ]
    return pd.DataFrame(rows, columns=list(SIGNAL_COLUMNS))


def _signal_domain(frame: pd.DataFrame) -> list[float]:
    """Return the range of all values with a margin, also where all values are equal."""
    low, high = float(frame["value"].min()), float(frame["value"].max())
    around = 0.08 * (high - low) or 0.05 * abs(high) or 0.05
    return [low - around if low < 0 else max(0.0, low - around), high + around]


def _run_rules(made: pd.DataFrame, span: TimeSpan) -> alt.Chart:
    across = alt.X("when:T", title=None, scale=time_scale(span))
    rules: alt.Chart = alt.Chart(made).mark_rule(strokeDash=[1, 3], color=MUTED_COLOUR)
    return rules.encode(x=across, tooltip=[alt.Tooltip("run:N", title="run")])


def _signal_tooltip() -> list[alt.Tooltip]:
    words = {"line": "of", "date": "date", "shown": "value", "n": "counted", "run": "newest run"}
    return [alt.Tooltip(f"{name}:N", title=title) for name, title in words.items()]

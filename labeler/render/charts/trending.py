"""Trend: a measure of systems over their runs' dates, with intervals as bands and bars to pass."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

import altair as alt
import pandas as pd

from labeler.analysis.trend import Point, Span
from labeler.evaluation import number
from labeler.render.charts.look import INK, LEAST_FONT, Names, dressed
from labeler.render.palette import DASHES, MARKS, QUIET, RUN_COLOURS

MOST_BANDS = 3
"""With more lines the bands would hide each other, and none is drawn."""

HEIGHT = 320
EXTENT = 64  # pixels of the axis of values, so that pictures below each other share their dates
POINT_SIZES = ((40, 70), (120, 34), (math.inf, 16))  # of a line of so many points at most
DAY, HOURS = "%Y-%m-%d", "%m-%d %H:%M"
_BREAK: Final = "break-paths-filter-domains"  # a run without results is a gap

COLUMNS = (
    *("line", "at", "when", "date", "run", "value", "shown"),
    *("lo", "hi", "reach", "n", "holes", "alone"),
)

Lines = Mapping[str, Sequence[Point]]
"""The points of each line in order of date, by what the legend calls it."""


def trend_chart(
    lines: Lines,
    heading: str,
    bars: Iterable[float] = (),
    *,
    share: bool = True,
    span: Span | None = None,
) -> alt.LayerChart:
    """Return a line for each of ``lines``, with the 95% interval of up to `MOST_BANDS` as bands.

    ``bars`` are thresholds, drawn across. ``share`` says that values are from 0 to 1. The axis of
    values begins where they do, that of time with the points or with a ``span`` that other pictures
    below share. The legend is `labeler.render.tables.run_legend`, of the same names in the
    same order.
    """
    names = Names("lines", list(lines))
    given = sorted(set(bars))
    has_bands = len(names.names) <= MOST_BANDS
    frame = _frame(lines, names, has_bands=has_bands)
    shared = span or _ends(frame)
    timed = bool((frame["date"].str.len() > len("2026-01-31")).any())
    across = alt.X(
        "when:T",
        title="date of the run (UTC)",
        scale=dates_between(shared),
        axis=ticks_between(shared, timed, most=frame["when"].nunique() if span is None else 8),
    )
    upward = alt.Scale(domain=_room(frame, given, share=share), nice=False, zero=False)
    colour = alt.Color("at:N", scale=names.in_turn(RUN_COLOURS), legend=None)
    base = alt.Chart(frame).encode(x=across, color=colour)
    axis = alt.Axis() if span is None else alt.Axis(minExtent=EXTENT, titlePadding=0)
    value = alt.Y("value:Q", title=f"mean {heading}", scale=upward, axis=axis)
    size = next(size for most, size in POINT_SIZES if _longest(lines) <= most)
    layers = [
        *(_bands(base, alt.Y("lo:Q", title=f"mean {heading}", scale=upward)) if has_bands else ()),
        *_lines(base, value, names, size),
        *_bars(given, upward),
    ]
    chart: alt.LayerChart = alt.LayerChart(
        layer=layers,
        height=HEIGHT,
        description=f"{heading} of each run over its date, a line for each system or bucket; the "
        "same numbers as the table of runs",
    )
    return dressed(chart)


def _bands(base: alt.Chart, low: alt.Y) -> Iterator[alt.Chart]:
    """Give the intervals of lines: an area each, and a rule where a line is one point alone."""
    ends = base.encode(y=low, y2="hi:Q")
    yield ends.mark_area(opacity=0.16, invalid=_BREAK).encode(detail="at:N")
    yield ends.transform_filter("datum.alone").mark_rule(strokeWidth=2)


def _lines(base: alt.Chart, value: alt.Y, names: Names, size: int) -> Iterator[alt.Chart]:
    """Give the lines, their points, and a cross at the foot where a run has no result."""
    dash = alt.StrokeDash("at:N", scale=names.in_turn(DASHES), legend=None)
    shape = alt.Shape("at:N", scale=names.in_turn(MARKS), legend=None)
    yield base.mark_line(strokeWidth=1.75, invalid=_BREAK).encode(y=value, strokeDash=dash)
    yield (
        base.transform_filter("isValid(datum.value)")
        .mark_point(size=size, filled=True, opacity=1)
        .encode(y=value, shape=shape, tooltip=_tooltip())
    )
    yield (
        base.transform_filter("!isValid(datum.value)")
        .mark_text(text="×", fontSize=16, baseline="bottom")
        .encode(y=alt.value("height"), tooltip=_tooltip())
    )


def _frame(lines: Lines, names: Names, *, has_bands: bool) -> pd.DataFrame:
    alone = {
        name: sum(not math.isnan(point.value) for point in points) == 1
        for name, points in lines.items()
    }
    rows = [
        {
            "line": name,
            "at": at,
            "when": point.when,
            "date": point.said,
            "run": point.run,
            "value": point.value,
            "shown": "no result" if math.isnan(point.value) else number(point.value),
            "lo": point.interval.lo if point.interval and has_bands else math.nan,
            "hi": point.interval.hi if point.interval and has_bands else math.nan,
            "reach": _reach(point),
            "n": point.n,
            "holes": point.holes,
            "alone": alone[name],
        }
        for at, (name, points) in zip(names.numbers, lines.items(), strict=True)
        for point in points
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _reach(point: Point) -> str:
    found = point.interval
    known = found is not None and not math.isnan(found.lo)
    return f"{number(found.lo)} to {number(found.hi)}" if known and found else "–"


def _longest(lines: Lines) -> int:
    return max(map(len, lines.values()), default=0)


def _ends(frame: pd.DataFrame) -> Span | None:
    """Return the first and the last moment there is."""
    return None if frame.empty else (frame["when"].min(), frame["when"].max())


def dates_between(span: Span | None) -> alt.Scale:
    """Return the scale of time between two moments, a day on each side where they are one."""
    if span is None:
        return alt.Scale(type="utc")
    first, last = span
    apart = timedelta(days=1) if first == last else timedelta()
    ends = [each.isoformat() for each in (first - apart, last + apart)]
    return alt.Scale(type="utc", padding=8, domain=[alt.expr(f"toDate('{each}')") for each in ends])


def ticks_between(span: Span | None, timed: bool, most: int = 8) -> alt.Axis:
    """Return the axis of dates: a tick a day at most where nobody gave a time."""
    first, last = span or (datetime.max, datetime.max)
    short = last - first <= timedelta(days=8)
    days = alt.TimeIntervalStep(interval="day", step=1)
    count = days if short and not timed else max(2, min(8, most))
    shown = HOURS if short and timed else DAY
    return alt.Axis(format=shown, tickCount=count, labelOverlap="greedy", labelFlush=True)


def _room(frame: pd.DataFrame, bars: Sequence[float], *, share: bool) -> list[float]:
    """Return between which values everything stands, with a little room around."""
    found = [*frame[["value", "lo", "hi"]].to_numpy().ravel(), *bars]
    known = [each for each in found if not math.isnan(each)] or [0.0, 1.0]
    low, high = min(known), max(known)
    around = 0.06 * (high - low) or 0.05
    low, high = max(0.0, low - around), high + around
    return [low, min(1.0, high) if share else high]


def _tooltip() -> list[alt.Tooltip]:
    words = {
        "line": "of",
        "date": "date",
        "run": "run",
        "shown": "mean",
        "reach": "95% interval",
        "n": "queries",
        "holes": "holes",
    }
    return [alt.Tooltip(f"{name}:N", title=title) for name, title in words.items()]


def _bars(bars: Sequence[float], upward: alt.Scale) -> list[alt.Chart]:
    """Return a line across at each threshold, and the words at it."""
    frame = pd.DataFrame({"bar": list(bars), "label": [f"threshold {bar:g}" for bar in bars]})
    if frame.empty:
        return []
    across = alt.Chart(frame).encode(y=alt.Y("bar:Q", scale=upward))
    words = across.mark_text(align="left", dx=4, dy=-7, fontSize=LEAST_FONT, color=INK)
    return [
        across.mark_rule(strokeDash=[2, 4], strokeWidth=2, color=QUIET),
        words.encode(text="label:N", x=alt.value(0)),
    ]

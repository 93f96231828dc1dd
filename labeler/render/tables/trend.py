"""Tables of measures and signals over time: latest values, every run, causes of a change."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import compress

import htpy

from labeler.analysis.comparison import format_p_value
from labeler.analysis.trend import (
    NO_THRESHOLDS,
    ChangeCauses,
    SignalSeries,
    SignalValue,
    Thresholds,
    TrendPoint,
    TrendSeries,
    TrendSummary,
    changes_by_point,
)
from labeler.evaluation import Conventions, format_number, format_signed, format_with_arrow
from labeler.render.tables.html_table import (
    TABLE_STYLE,
    describe_transferred,
    format_interval,
    head,
    html_table,
    run_name,
    small_line,
)


def trend_table(
    every: Sequence[TrendSummary], conventions: Conventions, thresholds: Thresholds = NO_THRESHOLDS
) -> htpy.Fragment:
    """Return a row for each series: where it stands, where it was, where it goes."""
    places = [each.series.place for each in every]
    of_systems = len({place.system for place in places}) > 1
    of_buckets = len({place.bucket for place in places}) > 1
    of_measures = len({place.measure for place in places}) > 1
    heads = [
        *([head("System", words=True)] if of_systems or not (of_buckets or of_measures) else []),
        *([head(places[0].facet or "", words=True)] if of_buckets else []),
        *([head("Measure", words=True)] if of_measures else []),
        head("Current", "date"),
        head("Change", "over the window"),
        head("Direction", "p after Holm", words=True),
        *(head(name) for name in ("Mean", "Median")),
        head("Spread", "st. dev."),
        head("Lowest", "date"),
        head("Highest", "date"),
        head("Runs"),
    ]
    shown = (of_systems or not (of_buckets or of_measures), of_buckets, of_measures)
    rows = [_summary_row(each, conventions, shown, thresholds) for each in every]
    return html_table(TABLE_STYLE, "sheet trend", heads, rows, label="Where each system stands")


def _summary_row(
    each: TrendSummary,
    conventions: Conventions,
    shown: tuple[bool, bool, bool],
    thresholds: Thresholds,
) -> htpy.Element:
    place = each.series.place
    names = (place.system, place.bucket or "", conventions.heading(place.measure))
    bar = thresholds.get(place)
    silent = len(each.series.points) - len(each.series.known)
    return htpy.tr[
        [htpy.th(".words", scope="row")[htpy.bdi[name]] for name in compress(names, shown)],
        _point_cell(each.current, lead=True, more=_describe_threshold(each.current, bar)),
        htpy.td[format_with_arrow(each.change)],
        htpy.td(".words")[
            each.word, small_line("" if math.isnan(each.holm) else f"p {_p_value(each)}")
        ],
        htpy.td[format_number(each.mean)],
        htpy.td[format_number(each.median)],
        htpy.td[format_number(each.spread)],
        _point_cell(each.lowest),
        _point_cell(each.highest),
        htpy.td[
            f"{len(each.series.points):,}", small_line(f"{silent:,} no result" if silent else "")
        ],
    ]


def _describe_threshold(current: TrendPoint | None, bar: float | None) -> str:
    """Say which threshold a value has to reach, and where it does not."""
    if bar is None:
        return ""
    below = current is not None and current.value < bar
    return f"{'below the ' * below}threshold {bar:g}"


def _p_value(each: TrendSummary) -> str:
    return format_p_value(each.holm)


def _point_cell(point: TrendPoint | None, *, lead: bool = False, more: str = "") -> htpy.Element:
    classes = {"lead": lead}
    if point is None:
        return htpy.td(class_=classes)["–", small_line(more)]
    return htpy.td(class_=classes, title=point.run)[
        format_number(point.value), small_line(point.said), small_line(more)
    ]


def points_table(
    lines: Mapping[str, TrendSeries], heading: str, short: Mapping[str, str]
) -> htpy.Fragment:
    """Return a row for each run of each line, the newest first."""
    several = len(lines) > 1
    heads = [
        head("Date", words=True),
        *([head("Of", words=True)] if several else []),
        head("Run", words=True),
        head(heading, "95% interval"),
        head("Change", "since the run before"),
        head("Queries"),
        head("Unjudged"),
    ]
    rows = [
        (point.when, name, point, change)
        for name, series in lines.items()
        for point, change in zip(series.points, changes_by_point(series.points), strict=True)
    ]
    newest_first = sorted(rows, key=lambda row: row[0])[::-1]
    made = (
        htpy.tr[
            htpy.th(".words", scope="row")[point.said],
            htpy.td(".words")[htpy.bdi[name]] if several else None,
            htpy.td(".words")[run_name(point.run, short)],
            _value_cell(point),
            htpy.td[format_with_arrow(change)],
            htpy.td[f"{point.n:,}"],
            htpy.td[f"{point.unjudged:,}", small_line(describe_transferred(point.transferred))],
        ]
        for _, name, point, change in newest_first
    )
    return html_table(TABLE_STYLE, "sheet points", heads, made, label="Every run")


def _value_cell(point: TrendPoint) -> htpy.Element:
    if math.isnan(point.value):
        return htpy.td["–", small_line("no result")]
    ends = format_interval(point.interval) if point.interval else ""
    return htpy.td(".lead")[format_number(point.value), small_line(ends)]


def change_causes_table(every: Iterable[ChangeCauses], conventions: Conventions) -> htpy.Fragment:
    """Return a row for each measure: before, the three parts, and now."""
    heads = [
        head("Measure", words=True),
        head("Before", "queries"),
        head("Of the run"),
        head("Of grades and rule"),
        head("Of the queries"),
        head("Now", "queries"),
        head("Change", "the sum"),
    ]
    rows = (
        htpy.tr[
            htpy.th(".words", scope="row")[
                conventions.heading(each.measure), small_line(each.reason or "")
            ],
            htpy.td[format_number(each.before), small_line(f"{each.n_before:,}")],
            [htpy.td[format_signed(part)] for part in (each.run, each.grades, each.queries)],
            htpy.td[format_number(each.now), small_line(f"{each.n_now:,}")],
            htpy.td(".lead")[format_with_arrow(each.change)],
        ]
        for each in every
    )
    return html_table(TABLE_STYLE, "sheet parts", heads, rows, label="Whose doing a change was")


def format_signal(value: float) -> str:
    """Write a signal's value: its scale is its own, so it has up to five digits that say something.

    >>> format_signal(0.034567), format_signal(1200.0), format_signal(math.nan)
    ('0.034567', '1,200', '–')
    """
    return "–" if math.isnan(value) else f"{value:,.5g}"


def signal_table(every: Sequence[SignalSeries]) -> htpy.Fragment:
    """Return a row for each signal of each system: where it stands and where it was."""
    heads = [
        head("Signal", words=True),
        head("System", words=True),
        head("Current", "date"),
        head("Change", "since the date before"),
        *(head(name) for name in ("Mean", "Median")),
        head("Lowest", "date"),
        head("Highest", "date"),
        head("Dates"),
    ]
    rows = [
        htpy.tr[
            htpy.th(".words", scope="row")[htpy.bdi[each.name]],
            htpy.td(".words")[htpy.bdi[each.system]],
            _signal_cell(each.current, lead=True),
            htpy.td[_format_change(each.change)],
            htpy.td[format_signal(each.mean)],
            htpy.td[format_signal(each.median)],
            _signal_cell(each.lowest),
            _signal_cell(each.highest),
            htpy.td[f"{len(each.points):,}"],
        ]
        for each in every
    ]
    return html_table(TABLE_STYLE, "sheet signals", heads, rows, label="Where each signal stands")


def _signal_cell(point: SignalValue, *, lead: bool = False) -> htpy.Element:
    return htpy.td(class_={"lead": lead}, title=point.run)[
        format_signal(point.value), small_line(point.said)
    ]


def _format_change(change: float) -> str:
    if math.isnan(change):
        return "–"
    sign = "▲ +" if change > 0 else "▼ −" if change < 0 else ""
    return f"{sign}{format_signal(abs(change))}"


def signal_values_table(
    every: Iterable[SignalSeries], short: Mapping[str, str], most: int
) -> htpy.Fragment:
    """Return a row for each of the ``most`` newest values."""
    rows = [(point.when, each, point) for each in every for point in each.points]
    newest = sorted(rows, key=lambda row: row[0])[::-1][:most]
    heads = [
        head("Date", words=True),
        *(head(name, words=True) for name in ("Signal", "System")),
        head("Newest run", words=True),
        head("Value"),
        head("Counted"),
        head("Queries"),
    ]
    made = [
        htpy.tr[
            htpy.th(".words", scope="row")[point.said],
            htpy.td(".words")[htpy.bdi[each.name]],
            htpy.td(".words")[htpy.bdi[each.system]],
            htpy.td(".words")["–" if point.run is None else run_name(point.run, short)],
            htpy.td(".lead")[format_signal(point.value)],
            htpy.td["–" if point.n is None else f"{point.n:,}"],
            htpy.td[f"{point.queries:,}" if point.queries else "all"],
        ]
        for _, each, point in newest
    ]
    return html_table(TABLE_STYLE, "sheet heard", heads, made, label="Every value of the signals")

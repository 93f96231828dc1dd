"""Tables of measures and signals over time: summaries, every run, causes of a change, signals."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import htpy

from labeler.analysis.trend import SignalSeries, SignalValue
from labeler.model.results import Table
from labeler.render.tables.html_table import (
    TABLE_STYLE,
    head,
    html_table,
    run_name,
    small_line,
)
from labeler.render.tables.results import html_table_of


def trend_table(summaries: Table, short: Mapping[str, str]) -> htpy.Fragment:
    """Return the summary of each series, with the dates of its values and the p-value in small."""
    ends = ("current", "lowest", "highest")
    return html_table_of(
        summaries,
        label="Each system over time",
        details=True,
        lead="current",
        under={**{end: (f"{end}_date",) for end in ends}, "direction": ("p_holm",)},
        hover={end: f"{end}_run" for end in ends},
        short=short,
        classes="trend",
    )


def points_table(points: Table, short: Mapping[str, str]) -> htpy.Fragment:
    """Return every run of each line, with its interval in small."""
    under = {"value": ("interval",), "unjudged": ("transferred",)}
    return html_table_of(
        points, label="Every run", lead="value", under=under, short=short, classes="points"
    )


def change_causes_table(causes: Table) -> htpy.Fragment:
    """Return the causes of a change by measure, with the numbers of queries in small."""
    under = {"before": ("n_before",), "now": ("n_now",)}
    return html_table_of(
        causes, label="Causes of a change", lead="change", under=under, classes="parts"
    )


def format_signal(value: float) -> str:
    """Write a signal's value: its scale is its own, so it has up to five digits that say something.

    >>> format_signal(0.034567), format_signal(1200.0), format_signal(math.nan)
    ('0.034567', '1,200', '–')
    """
    return "–" if math.isnan(value) else f"{value:,.5g}"


def signal_table(every: Sequence[SignalSeries]) -> htpy.Fragment:
    """Return a row for each signal of each system: its newest and its earlier values."""
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
    return html_table(TABLE_STYLE, "sheet signals", heads, rows, label="Each signal over time")


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

"""Where systems stand over time, run by run, and whose doing a change between two runs was."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import compress

import htpy

from labeler.analysis.comparison import chance_in_words
from labeler.analysis.trend import NO_THRESHOLDS, Parts, Point, Series, Summary, Thresholds, changes
from labeler.evaluation import Conventions, arrowed, number, signed
from labeler.render.tables.shared import (
    SHEET,
    carried_words,
    ends_words,
    framed,
    head,
    run_name,
    small,
)


def trend_table(
    every: Sequence[Summary], conventions: Conventions, thresholds: Thresholds = NO_THRESHOLDS
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
    return framed(SHEET, "sheet trend", heads, rows, label="Where each system stands")


def _summary_row(
    each: Summary,
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
        _point_cell(each.current, lead=True, more=_bar_words(each.current, bar)),
        htpy.td[arrowed(each.change)],
        htpy.td(".words")[each.word, small("" if math.isnan(each.holm) else f"p {_p(each)}")],
        htpy.td[number(each.mean)],
        htpy.td[number(each.median)],
        htpy.td[number(each.spread)],
        _point_cell(each.lowest),
        _point_cell(each.highest),
        htpy.td[f"{len(each.series.points):,}", small(f"{silent:,} no result" if silent else "")],
    ]


def _bar_words(current: Point | None, bar: float | None) -> str:
    """Say which threshold a value has to reach, and where it does not."""
    if bar is None:
        return ""
    below = current is not None and current.value < bar
    return f"{'below the ' * below}threshold {bar:g}"


def _p(each: Summary) -> str:
    return chance_in_words(each.holm)


def _point_cell(point: Point | None, *, lead: bool = False, more: str = "") -> htpy.Element:
    classes = {"lead": lead}
    if point is None:
        return htpy.td(class_=classes)["–", small(more)]
    return htpy.td(class_=classes, title=point.run)[
        number(point.value), small(point.said), small(more)
    ]


def points_table(
    lines: Mapping[str, Series], heading: str, short: Mapping[str, str]
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
        head("Holes"),
    ]
    rows = [
        (point.when, name, point, change)
        for name, series in lines.items()
        for point, change in zip(series.points, changes(series.points), strict=True)
    ]
    newest_first = sorted(rows, key=lambda row: row[0])[::-1]
    made = (
        htpy.tr[
            htpy.th(".words", scope="row")[point.said],
            htpy.td(".words")[htpy.bdi[name]] if several else None,
            htpy.td(".words")[run_name(point.run, short)],
            _value_cell(point),
            htpy.td[arrowed(change)],
            htpy.td[f"{point.n:,}"],
            htpy.td[f"{point.holes:,}", small(carried_words(point.carried))],
        ]
        for _, name, point, change in newest_first
    )
    return framed(SHEET, "sheet points", heads, made, label="Every run")


def _value_cell(point: Point) -> htpy.Element:
    if math.isnan(point.value):
        return htpy.td["–", small("no result")]
    ends = ends_words(point.interval) if point.interval else ""
    return htpy.td(".lead")[number(point.value), small(ends)]


def parts_table(every: Iterable[Parts], conventions: Conventions) -> htpy.Fragment:
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
                conventions.heading(each.measure), small(each.reason or "")
            ],
            htpy.td[number(each.before), small(f"{each.n_before:,}")],
            [htpy.td[signed(part)] for part in (each.run, each.grades, each.queries)],
            htpy.td[number(each.now), small(f"{each.n_now:,}")],
            htpy.td(".lead")[arrowed(each.change)],
        ]
        for each in every
    )
    return framed(SHEET, "sheet parts", heads, rows, label="Whose doing a change was")

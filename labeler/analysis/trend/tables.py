"""Tables of trends: summaries of series and of signals, their points, and causes of a change.

A measure requested under two names has a row for each.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from labeler.analysis.trend.alerts import NO_THRESHOLDS, Alert, Thresholds
from labeler.analysis.trend.change_causes import ChangeCauses
from labeler.analysis.trend.series import SeriesKey, TrendPoint, TrendSeries, TrendSummary
from labeler.analysis.trend.signals import SignalSeries, SignalValue
from labeler.evaluation import Record, measure_names
from labeler.measures import Measure
from labeler.model.results import (
    COUNT,
    FIGURE,
    NUMBER,
    P_VALUE,
    RANGE,
    SIGNED,
    SIGNED_FIGURE,
    Column,
    Table,
)

_MEASURE = (Column("measure", "Measure"), Column("full_name"))


def points_table(every: Iterable[TrendSeries], thresholds: Thresholds = NO_THRESHOLDS) -> Table:
    """Return a row for each run of each series, in order of date.

    ``change`` is from the last earlier run that has a value; ``lo`` and ``hi`` are the ends of the
    95% confidence interval. Facet and bucket are columns if a series has them.
    """
    series = list(every)
    points = [point for each in series for point in each.points]
    columns = (
        *_key_columns([each.place for each in series]),
        *_MEASURE,
        Column("date", "Date"),
        Column("moment"),
        Column("run", "Run"),
        Column("value", "Value", NUMBER, help="The mean. A dash is a run without results."),
        Column("interval", "95% interval", RANGE, parts=("lo", "hi")),
        Column("change", "Change", SIGNED, help="Since the last earlier run with a value."),
        _threshold_column([each.place for each in series], thresholds),
        Column("n", "Queries", COUNT),
        Column("unjudged", "Unjudged", COUNT, help="Chunks that nobody has graded."),
        Column("missing"),
        *_transferred_column(points),
    )
    rows = [
        {
            **_key_values(each.place),
            **names,
            **_point_values(point),
            "change": change,
            "threshold": thresholds.get(each.place, math.nan),
        }
        for each in series
        for point, change in zip(each.points, _changes(each.points), strict=True)
        for names in measure_names(each.place.measure)
    ]
    return Table(columns, rows)


def newest_first(points: Table, most: int | None = None) -> Table:
    """Return a table of points with the newest first, and only ``most`` of them if given."""
    rows = sorted(points.rows, key=lambda row: row["moment"])[::-1]
    return Table(points.columns, rows[:most])


def summaries_table(
    every: Iterable[TrendSummary],
    alerts: Iterable[Alert] = (),
    thresholds: Thresholds = NO_THRESHOLDS,
) -> Table:
    """Return a row for each series: its newest value, its statistics and its direction.

    ``alert`` are its alerts; those of a bucket are also in the row of all queries.
    """
    by_series: dict[tuple[str, Measure], list[Alert]] = {}
    for alert in alerts:
        by_series.setdefault((alert.place.system, alert.place.measure), []).append(alert)
    summaries = list(every)
    places = [each.series.place for each in summaries]
    has_gaps = any(len(each.series.known) < len(each.series.points) for each in summaries)
    columns = (
        *_key_columns(places),
        *_MEASURE,
        *_end_columns("current", "Current", is_date_detail=False),
        _threshold_column(places, thresholds),
        Column("change", "Change", SIGNED, help="Of the straight line, over the window."),
        Column("direction", "Direction"),
        Column("p"),
        Column("p_holm", "p", P_VALUE, help="Of the direction, after Holm's correction."),
        Column("mean", "Mean", NUMBER),
        Column("median", "Median", NUMBER),
        Column("spread", "Spread", NUMBER, help="The standard deviation of the values."),
        *_end_columns("lowest", "Lowest"),
        *_end_columns("highest", "Highest"),
        Column("runs", "Runs", COUNT),
        Column("runs_with_value", "With a value" if has_gaps else "", COUNT),
        Column("alert"),
    )
    rows = [
        {
            **_key_values(each.series.place),
            **names,
            **_end_values("current", each.current),
            "threshold": thresholds.get(each.series.place, math.nan),
            "change": each.change,
            "direction": None if math.isnan(each.change) else each.word,
            "p": each.p,
            "p_holm": each.holm,
            "mean": each.mean,
            "median": each.median,
            "spread": each.spread,
            **_end_values("lowest", each.lowest),
            **_end_values("highest", each.highest),
            "runs": len(each.series.points),
            "runs_with_value": len(each.series.known),
            "alert": _alert_sentences(each.series.place, by_series),
        }
        for each in summaries
        for names in measure_names(each.series.place.measure)
    ]
    return Table(columns, rows)


def change_causes_table(every: Iterable[ChangeCauses]) -> Table:
    """Return a row for each measure: before, the parts, which sum to the change, and now."""
    columns = (
        Column("run_a"),
        Column("run_b"),
        *_MEASURE,
        Column("before", "Before", NUMBER),
        Column("of_run", "From the run", SIGNED),
        Column("of_grades", "From grades and rule", SIGNED),
        Column("of_queries", "From the queries", SIGNED),
        Column("now", "Now", NUMBER),
        Column("change", "Change", SIGNED, help="The sum of the three parts."),
        Column("n_before", "Queries before", COUNT),
        Column("n_now", "Queries now", COUNT),
        Column("n_both", "In both", COUNT, help="Queries that count both then and now."),
        Column("reason"),
    )
    rows = [
        {
            "run_a": each.older,
            "run_b": each.newer,
            **names,
            "before": each.before,
            "of_run": each.run,
            "of_grades": each.grades,
            "of_queries": each.queries,
            "now": each.now,
            "change": each.change,
            "n_before": each.n_before,
            "n_now": each.n_now,
            "n_both": each.n_both,
            "reason": each.reason,
        }
        for each in every
        for names in measure_names(each.measure)
    ]
    return Table(columns, rows)


_SIGNAL = (Column("signal", "Signal"), Column("system", "System"))


def signals_table(every: Iterable[SignalSeries]) -> Table:
    """Return a row for each signal of each system: its newest value and its statistics."""
    columns = (
        *_SIGNAL,
        *_end_columns("current", "Current", FIGURE, is_date_detail=False),
        Column("change", "Change", SIGNED_FIGURE, help="Since the date before."),
        Column("mean", "Mean", FIGURE),
        Column("median", "Median", FIGURE),
        *_end_columns("lowest", "Lowest", FIGURE),
        *_end_columns("highest", "Highest", FIGURE),
        Column("dates", "Dates", COUNT),
    )
    rows = [
        {
            "signal": each.name,
            "system": each.system,
            **_end_values("current", each.current),
            "change": each.change,
            "mean": each.mean,
            "median": each.median,
            **_end_values("lowest", each.lowest),
            **_end_values("highest", each.highest),
            "dates": len(each.points),
        }
        for each in every
    ]
    return Table(columns, rows)


def signal_values_table(every: Iterable[SignalSeries]) -> Table:
    """Return a row for each value; ``run`` is the system's newest by then, None if none."""
    columns = (
        *_SIGNAL,
        Column("date", "Date"),
        Column("moment"),
        Column("run", "Newest run"),
        Column("value", "Value", FIGURE),
        Column("change", "Change", SIGNED_FIGURE, help="Since the date before."),
        Column("n", "Counted", COUNT),
        Column("queries", "Queries", COUNT, help="Of the mean. A dash is a value of all queries."),
    )
    rows = [
        {
            "signal": each.name,
            "system": each.system,
            "date": point.said,
            "moment": _format_moment(point.when),
            "run": point.run,
            "value": point.value,
            "change": change,
            "n": point.n,
            "queries": point.queries or None,
        }
        for each in every
        for point, change in zip(each.points, _changes(each.points), strict=True)
    ]
    return Table(columns, rows)


def _key_columns(places: Sequence[SeriesKey]) -> tuple[Column, ...]:
    facets = [place.facet for place in places if place.facet is not None]
    where = (Column("facet"), Column("bucket", facets[0])) if facets else ()
    return Column("system", "System"), *where


def _key_values(place: SeriesKey) -> Record:
    return {"system": place.system, "facet": place.facet, "bucket": place.bucket}


def _threshold_column(places: Iterable[SeriesKey], thresholds: Thresholds) -> Column:
    """Return the column of thresholds, which people see where there is one."""
    has_one = any(place in thresholds for place in places)
    return Column("threshold", "Threshold" if has_one else "", NUMBER)


def _transferred_column(points: Iterable[TrendPoint]) -> tuple[Column, ...]:
    if not any(point.transferred for point in points):
        return ()
    return (Column("transferred", "Transferred", COUNT, help="Grades from another chunking."),)


def _point_values(point: TrendPoint) -> Record:
    return {
        "date": point.said,
        "moment": _format_moment(point.when),
        "run": point.run,
        "value": point.value,
        "lo": math.nan if point.interval is None else point.interval.lo,
        "hi": math.nan if point.interval is None else point.interval.hi,
        "n": point.n,
        "unjudged": point.unjudged,
        "missing": point.missing,
        "transferred": point.transferred,
    }


def _format_moment(when: datetime) -> str:
    return f"{when:%Y-%m-%dT%H:%M:%SZ}"


def _end_columns(
    name: str, title: str, form: str = NUMBER, *, is_date_detail: bool = True
) -> tuple[Column, ...]:
    """Return the columns of one point of a series: its value, its run and its date."""
    return (
        Column(name, title, form),
        Column(f"{name}_run"),
        Column(f"{name}_date", "Date", detail=is_date_detail),
    )


def _end_values(name: str, point: TrendPoint | SignalValue | None) -> dict[str, Any]:
    return {
        name: math.nan if point is None else point.value,
        f"{name}_run": None if point is None else point.run,
        f"{name}_date": None if point is None else point.said,
    }


def _changes(points: Iterable[TrendPoint | SignalValue]) -> list[float]:
    """Return each point's change from the last earlier value, NaN if either is missing."""
    found, before = [], math.nan
    for point in points:
        found.append(point.value - before)
        before = before if math.isnan(point.value) else point.value
    return found


def _alert_sentences(
    place: SeriesKey, by_series: Mapping[tuple[str, Measure], Sequence[Alert]]
) -> str | None:
    sentences = [
        alert.statement.sentence
        for alert in by_series.get((place.system, place.measure), ())
        if place.facet is None or alert.place == place
    ]
    return " ".join(sentences) or None

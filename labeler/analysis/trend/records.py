"""Rows of trends for CSV, JSON and the Python API.

A measure requested under two names has a row for each.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from labeler.analysis.trend.alerts import NO_THRESHOLDS, Alert, Thresholds
from labeler.analysis.trend.change_causes import ChangeCauses
from labeler.analysis.trend.series import (
    SeriesKey,
    TrendPoint,
    TrendSeries,
    TrendSummary,
)
from labeler.evaluation import Record, measure_names
from labeler.measures import Measure


def point_records(
    every: Iterable[TrendSeries], thresholds: Thresholds = NO_THRESHOLDS
) -> list[Record]:
    """Return a row for each run of each series, in order of date.

    ``change`` is from the last earlier run that has a value; ``lo`` and ``hi`` are the ends of the
    95% confidence interval. Facet and bucket are columns if a series has them.
    """
    rows = list(every)
    faceted = any(series.place.facet is not None for series in rows)
    has_transferred = any(point.transferred for series in rows for point in series.points)
    return [
        {
            **_key_columns(series.place, faceted),
            "run": point.run,
            "date": point.said,
            "moment": f"{point.when:%Y-%m-%dT%H:%M:%SZ}",
            **names,
            "value": point.value,
            "lo": math.nan if point.interval is None else point.interval.lo,
            "hi": math.nan if point.interval is None else point.interval.hi,
            "change": change,
            "threshold": thresholds.get(series.place, math.nan),
            "n": point.n,
            "unjudged": point.unjudged,
            "missing": point.missing,
            **({"transferred": point.transferred} if has_transferred else {}),
        }
        for series in rows
        for point, change in zip(series.points, changes_by_point(series.points), strict=True)
        for names in measure_names(series.place.measure)
    ]


def summary_records(
    every: Iterable[TrendSummary],
    alerts: Iterable[Alert] = (),
    thresholds: Thresholds = NO_THRESHOLDS,
) -> list[Record]:
    """Return a row for each series: its newest value, its statistics and its direction.

    ``alert`` are its alerts; those of a bucket are also in the row of all queries.
    """
    by_series: dict[tuple[str, Measure], list[Alert]] = {}
    for alert in alerts:
        by_series.setdefault((alert.place.system, alert.place.measure), []).append(alert)
    rows = list(every)
    faceted = any(each.series.place.facet is not None for each in rows)
    return [
        {
            **_key_columns(each.series.place, faceted),
            **names,
            "runs": len(each.series.points),
            "runs_with_value": len(each.series.known),
            **_point_columns("current", each.current),
            "mean": each.mean,
            "median": each.median,
            "spread": each.spread,
            **_point_columns("lowest", each.lowest),
            **_point_columns("highest", each.highest),
            "change": each.change,
            "direction": each.word,
            "p": each.p,
            "p_holm": each.holm,
            "threshold": thresholds.get(each.series.place, math.nan),
            "alert": _alert_sentences(each.series.place, by_series),
        }
        for each in rows
        for names in measure_names(each.series.place.measure)
    ]


def change_cause_records(every: Iterable[ChangeCauses]) -> list[Record]:
    """Return a row for each measure: before, now, and the parts, which sum to the change."""
    return [
        {
            "run_a": each.older,
            "run_b": each.newer,
            **names,
            "before": each.before,
            "now": each.now,
            "change": each.change,
            "of_run": each.run,
            "of_grades": each.grades,
            "of_queries": each.queries,
            "n_before": each.n_before,
            "n_now": each.n_now,
            "n_both": each.n_both,
            "reason": each.reason,
        }
        for each in every
        for names in measure_names(each.measure)
    ]


def changes_by_point(points: Sequence[TrendPoint]) -> list[float]:
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
        alert.sentence
        for alert in by_series.get((place.system, place.measure), ())
        if place.facet is None or alert.place == place
    ]
    return " · ".join(sentences) or None


def _key_columns(place: SeriesKey, faceted: bool) -> Record:
    where = {"facet": place.facet, "bucket": place.bucket} if faceted else {}
    return {"system": place.system, **where}


def _point_columns(name: str, point: TrendPoint | None) -> Record:
    return {
        name: math.nan if point is None else point.value,
        f"{name}_run": None if point is None else point.run,
        f"{name}_date": None if point is None else point.said,
    }

"""Trends as programs get them: rows of named columns; knows no file format, and nobody who reads.

A row stands under the name its measure was asked for by; one asked for by two names has two rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from labeler.analysis.trend.alerts import NO_THRESHOLDS, Alert, Thresholds
from labeler.analysis.trend.parting import Parts
from labeler.analysis.trend.series import Place, Point, Series, Summary
from labeler.evaluation import Record, names_of
from labeler.measures import Measure


def point_records(every: Iterable[Series], thresholds: Thresholds = NO_THRESHOLDS) -> list[Record]:
    """Return a row for each run of each series, in order of date.

    ``change`` is from the last run before that has a value; ``lo`` and ``hi`` are the ends of the
    95% interval over the choice of queries. Facet and bucket are columns where a series has them.
    """
    rows = list(every)
    faceted = any(series.place.facet is not None for series in rows)
    has_carried = any(point.carried for series in rows for point in series.points)
    return [
        {
            **_place(series.place, faceted),
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
            "holes": point.holes,
            "missing": point.missing,
            **({"carried": point.carried} if has_carried else {}),
        }
        for series in rows
        for point, change in zip(series.points, changes(series.points), strict=True)
        for names in names_of(series.place.measure)
    ]


def summary_records(
    every: Iterable[Summary],
    alerts: Iterable[Alert] = (),
    thresholds: Thresholds = NO_THRESHOLDS,
) -> list[Record]:
    """Return a row for each series: where it stands, where it was and where it goes.

    ``alert`` is what is to be looked at in that place; a bucket that fell beside a series of all
    queries stands in that one's row.
    """
    told: dict[tuple[str, Measure], list[Alert]] = {}
    for alert in alerts:
        told.setdefault((alert.place.system, alert.place.measure), []).append(alert)
    rows = list(every)
    faceted = any(each.series.place.facet is not None for each in rows)
    return [
        {
            **_place(each.series.place, faceted),
            **names,
            "runs": len(each.series.points),
            "runs_with_value": len(each.series.known),
            **_point("current", each.current),
            "mean": each.mean,
            "median": each.median,
            "spread": each.spread,
            **_point("lowest", each.lowest),
            **_point("highest", each.highest),
            "change": each.change,
            "direction": each.word,
            "p": each.p,
            "p_holm": each.holm,
            "threshold": thresholds.get(each.series.place, math.nan),
            "alert": _alerts(each.series.place, told),
        }
        for each in rows
        for names in names_of(each.series.place.measure)
    ]


def part_records(every: Iterable[Parts]) -> list[Record]:
    """Return a row for each measure: before, now, and the parts, which add up to the change."""
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
        for names in names_of(each.measure)
    ]


def changes(points: Sequence[Point]) -> list[float]:
    """Return each point's change from the last before it that has a value, NaN where none has.

    A point without a value has none either, and is passed over by the next.
    """
    found, before = [], math.nan
    for point in points:
        found.append(point.value - before)
        before = before if math.isnan(point.value) else point.value
    return found


def _alerts(place: Place, told: Mapping[tuple[str, Measure], Sequence[Alert]]) -> str | None:
    about = [
        alert.sentence
        for alert in told.get((place.system, place.measure), ())
        if place.facet is None or alert.place == place
    ]
    return " · ".join(about) or None


def _place(place: Place, faceted: bool) -> Record:
    where = {"facet": place.facet, "bucket": place.bucket} if faceted else {}
    return {"system": place.system, **where}


def _point(name: str, point: Point | None) -> Record:
    return {
        name: math.nan if point is None else point.value,
        f"{name}_run": None if point is None else point.run,
        f"{name}_date": None if point is None else point.said,
    }

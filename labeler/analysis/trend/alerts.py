"""Alerts on the newest run of a series: clear drops, as sentences.

Each series is compared with every earlier run, so the correction is over all these comparisons, not
only over those that were tested.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from labeler.analysis.comparison import FEW, format_p_value
from labeler.analysis.trend.series import (
    VISIBLE,
    QueryValues,
    SeriesKey,
    TrendPoint,
    TrendSeries,
    TrendSummary,
    describe_rule,
)
from labeler.evaluation import Conventions, format_number, format_signed
from labeler.measures import Floats, Measure
from labeler.model.results import ANSWER, CAUTION, Statement
from labeler.stats import ALPHA, p_values, resolve_p_value

MOST_OPEN_ALERTS = 3
"""This many alerts are shown; the rest is folded."""

NO_VALUE, PAST_THRESHOLD, DROP, SLIDE, BUCKET = "silent", "threshold", "drop", "slide", "bucket"
GRAVITY_ORDER = (NO_VALUE, PAST_THRESHOLD, DROP, SLIDE, BUCKET)

Thresholds = Mapping[SeriesKey, float]
NO_THRESHOLDS: Thresholds = MappingProxyType({})


def thresholds_by_series(
    every: Iterable[TrendSeries],
    asked: Callable[[Measure, str | None, str | None], Iterable[float]],
) -> Thresholds:
    """Return the threshold of each series that has one, the highest of several.

    ``asked`` returns the thresholds of a measure over all queries, or in a bucket of a facet.
    """
    found = {}
    for place in {series.place for series in every}:
        bars = list(asked(place.measure, place.facet, place.bucket))
        if bars:
            found[place] = max(bars)
    return found


class Alert(NamedTuple):
    """A drop from ``older`` to ``newer``, the newest run; ``p`` is after the correction.

    ``kind`` is `PAST_THRESHOLD` for a drop below a threshold, `DROP` since the run before, `SLIDE`
    since the highest, `BUCKET` for a bucket that fell while the mean rose, or `NO_VALUE` if the
    newest run has no value at all.
    """

    kind: str
    place: SeriesKey
    older: TrendPoint | None
    newer: TrendPoint
    p: float
    statement: Statement


class AlertScan(NamedTuple):
    """The alerts, the gravest first, and the number of comparisons corrected for."""

    alerts: tuple[Alert, ...]
    looks: int

    @property
    def statements(self) -> list[Statement]:
        """What fell, the gravest first, or that nothing did; empty if nothing was compared."""
        if not self.alerts and self.looks:
            return [Statement("no alert", "Nothing fell clearly.", ANSWER)]
        return [alert.statement for alert in self.alerts]

    @property
    def rule(self) -> Statement:
        """The rule by which a drop is an alert."""
        said = "There are alerts once a system has two runs with a value."
        if self.looks:
            looks = "the one comparison" if self.looks == 1 else f"all {self.looks:,} comparisons"
            rule = describe_rule(f"Bonferroni's correction over {looks} with earlier runs")
            said = f"An alert is a drop of the newest run that is {rule}, buckets included."
        return Statement("alerts", said, numbers={"comparisons": self.looks})


class _Pair(NamedTuple):
    """The newest run of a series and an earlier one to compare; ``bar`` is a threshold."""

    kind: str
    series: TrendSeries
    older: TrendPoint
    bar: float = math.nan
    rise: float = math.nan  # of the mean over all queries meanwhile, for a bucket


def scan_for_alerts(
    values: QueryValues,
    every: Sequence[TrendSeries],
    buckets: Sequence[TrendSeries] = (),
    thresholds: Thresholds = NO_THRESHOLDS,
) -> AlertScan:
    """Compare the newest run of each series with earlier ones, and ``buckets`` with their mean.

    A bucket is compared with the run before and the first of the window; ``every`` must have a
    series of its measure and system. Thresholds are by series.
    """
    conventions = values.board.conventions
    pairs = [pair for each in every for pair in _pairs_to_test(each, thresholds.get(each.place))]
    totals = {(s.place.system, s.place.measure): s for s in every if s.place.facet is None}
    watched = [each for each in buckets if len(each.known) > 1 and each.known[-1].n >= FEW]
    pairs += [pair for each in watched for pair in _bucket_pairs(each, totals)]
    looks = sum(max(0, len(each.known) - 1) for each in every)
    looks += sum(len(_references(each)) for each in watched)
    samples = [
        values.differences(pair.series.place, pair.older.run, pair.series.known[-1].run)
        for pair in pairs
    ]
    found = list(_no_value_alerts(every))
    alerted: set[SeriesKey] = set()
    for pair, p in zip(pairs, _corrected(samples, looks), strict=True):
        newer = pair.series.known[-1]
        sure = p <= ALPHA and newer.n >= FEW and pair.older.value - newer.value >= VISIBLE
        if sure and pair.series.place not in alerted:
            alerted.add(pair.series.place)
            statement = _describe_alert(pair, newer, p, conventions)
            found.append(Alert(pair.kind, pair.series.place, pair.older, newer, p, statement))
    return AlertScan(tuple(sorted(found, key=_gravity_key)), looks)


def _pairs_to_test(series: TrendSeries, bar: float | None) -> Iterator[_Pair]:
    """Yield the comparisons of the newest run, the most important first."""
    *earlier, newest = series.known or (None,)
    if newest is None or not earlier:
        return
    above = [point for point in earlier if bar is not None and point.value >= bar]
    if above and bar is not None and newest.value < bar:
        yield _Pair(PAST_THRESHOLD, series, above[-1], bar)
    yield _Pair(DROP, series, earlier[-1])
    highest = max(earlier, key=lambda point: (point.value, point.when))
    if highest is not earlier[-1]:
        yield _Pair(SLIDE, series, highest)


def _references(series: TrendSeries) -> list[TrendPoint]:
    """Return the runs a bucket is compared with: the run before and the first."""
    first, *_, before = (series.known[0], *series.known[:-1])
    return [before] if before is first else [before, first]


def _bucket_pairs(
    series: TrendSeries, totals: Mapping[tuple[str, Measure], TrendSeries]
) -> Iterator[_Pair]:
    whole = totals.get((series.place.system, series.place.measure))
    means = {} if whole is None else {point.run: point.value for point in whole.known}
    for older in _references(series):
        rise = means.get(series.known[-1].run, math.nan) - means.get(older.run, math.nan)
        if rise >= VISIBLE:
            yield _Pair(BUCKET, series, older, rise=rise)


def _no_value_alerts(every: Iterable[TrendSeries]) -> Iterator[Alert]:
    """Yield an alert for each system whose newest run has no value although an earlier one has."""
    alerted = set()
    for series in every:
        newest = series.points[-1] if series.points else None
        if newest is None or not series.known or newest is series.known[-1]:
            continue
        if series.place.system not in alerted:
            alerted.add(series.place.system)
            sentence = (
                f"{series.place.system}: the newest run ({newest.said}) has no result for any "
                f"query that counts. What is shown as current is of {series.known[-1].said}."
            )
            statement = Statement(NO_VALUE, sentence, ANSWER)
            yield Alert(NO_VALUE, series.place, series.known[-1], newest, 0.0, statement)


def _corrected(samples: Sequence[Floats], looks: int) -> list[float]:
    """Return p-values after Bonferroni's correction.

    The highest earlier run is picked by its value, so the correction is for the number of earlier
    runs and not of tests.
    """
    tested = zip(p_values(samples), samples, strict=True)
    return [min(1.0, looks * resolve_p_value(found, sample)) for found, sample in tested]


def _gravity_key(alert: Alert) -> tuple[int, float]:
    older = math.nan if alert.older is None else alert.older.value
    fall = older - alert.newer.value
    return GRAVITY_ORDER.index(alert.kind), 0.0 if math.isnan(fall) else -fall


def _describe_alert(
    pair: _Pair, newer: TrendPoint, p: float, conventions: Conventions
) -> Statement:
    what = _series_name(pair.series.place, conventions)
    then, now = (_date_and_run(point, pair.series) for point in (pair.older, newer))
    moved = (
        f"from {format_number(pair.older.value)} ({then}) to {format_number(newer.value)} ({now}), "
        f"{format_signed(newer.value - pair.older.value)}"
    )
    fell = {
        PAST_THRESHOLD: f"fell below the threshold {pair.bar:g}, {moved}",
        DROP: f"fell since the run before, {moved}",
        SLIDE: f"has fallen since its highest, {moved}",
        BUCKET: f"fell {moved}, while the mean over all queries rose by {format_number(pair.rise)}",
    }[pair.kind]
    numbers = {"from": pair.older.value, "to": newer.value, "p": p}
    sentence = f"{what} {fell}, clearly (corrected p {format_p_value(p)})."
    return Statement(pair.kind, sentence, ANSWER, numbers=numbers)


def below_thresholds(
    every: Iterable[TrendSummary],
    thresholds: Thresholds,
    conventions: Conventions,
    alerts: Iterable[Alert] = (),
) -> list[Statement]:
    """Say which newest values are below their threshold, where no alert says it already."""
    alerted = {alert.place for alert in alerts if alert.kind == PAST_THRESHOLD}
    return [
        Statement(
            "below threshold",
            f"{_series_name(place, conventions)} is {format_number(each.current.value)}, below "
            f"the threshold {thresholds[place]:g}.",
            CAUTION,
            numbers={"value": each.current.value, "threshold": thresholds[place]},
        )
        for each in every
        if (place := each.series.place) in thresholds
        and place not in alerted
        and each.current is not None
        and each.current.value < thresholds[place]
    ]


def _series_name(place: SeriesKey, conventions: Conventions) -> str:
    where = "" if place.facet is None else f", {place.facet} = {place.bucket}"
    return f"{place.system}{where}: {conventions.heading(place.measure)}"


def _date_and_run(point: TrendPoint, series: TrendSeries) -> str:
    """Return a point's date, with its run where others have that date, too."""
    shared = sum(other.said == point.said for other in series.points) > 1
    return f"{point.said}, {point.run}" if shared else point.said

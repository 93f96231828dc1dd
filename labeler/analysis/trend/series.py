"""Series of a measure over the dated runs of a system, with the direction of each.

The scoreboard decides which golden grades count: an old run is scored by today's grades unless the
scoreboard is of an earlier time. Runs without a date are in no series.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from statistics import fmean, median, stdev
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from labeler.analysis.comparison import FEW, VISIBLE
from labeler.errors import BadInput, NotFound
from labeler.evaluation import Scoreboard
from labeler.measures import Bools, Floats, Measure
from labeler.model import StoredRun, format_count
from labeler.model.results import Statement
from labeler.stats import ALPHA, ConfidenceInterval, IntervalsByPlace, holm, p_values

WINDOWS = (
    *("all runs", "last 5 runs", "last 10 runs", "last 30 runs"),
    *("last 30 days", "last 90 days", "last 365 days"),
)
"""The windows a page offers; `parse_window` accepts any other number, too."""

_WINDOW = re.compile(r"(?:last )?([1-9][0-9]{0,5}) (runs|days)")


class DatedRun(NamedTuple):
    """A run and its date: ``said`` is the date as given, ``when`` the same in UTC.

    A date alone is the beginning of its day, and a time without a zone is UTC.
    """

    run: str
    when: datetime
    said: str


class Window(NamedTuple):
    """The ``most`` newest runs or days of each system; None for all runs.

    Days are counted back from a system's newest run, not from today.
    """

    most: int | None = None
    unit: str = "runs"

    def __str__(self) -> str:
        return WINDOWS[0] if self.most is None else f"last {self.most} {self.unit}"

    def of(self, runs: Sequence[DatedRun]) -> tuple[DatedRun, ...]:
        """Return those of a system's runs, in order of date, that are in the window."""
        if self.most is None or not runs:
            return tuple(runs)
        if self.unit == "runs":
            return tuple(runs[-self.most :])
        first = runs[-1].when - timedelta(days=self.most)
        return tuple(run for run in runs if run.when >= first)


@dataclass(frozen=True)
class Timeline:
    """The runs of each system in order of date; those of one date in the order they were loaded.

    ``undated`` are runs without a date; ``alone`` are the only run of their system, such as a run
    loaded without the name of a system.
    """

    systems: Mapping[str, tuple[DatedRun, ...]]
    undated: tuple[str, ...]
    alone: tuple[str, ...]

    def of(self, system: str) -> tuple[DatedRun, ...]:
        """Return a system's runs; raises `NotFound` for one that has no dated run."""
        if system not in self.systems:
            dated = ", ".join(self.systems) or "none"
            raise NotFound(f"no system called {system!r} has a run with a date; there are: {dated}")
        return self.systems[system]

    @property
    def statements(self) -> tuple[Statement, ...]:
        """Say how many runs no line shows, or shows as a single point."""
        undated, alone = len(self.undated), len(self.alone)
        found = [
            (
                undated,
                f"Runs without a date, which are in no trend: {undated:,}. "
                "'labeler change run NAME --date 2026-01-31' gives a run its date.",
            ),
            (
                alone,
                f"Systems with only one run, each a single point: {alone:,}. "
                "'labeler change run NAME --system SYSTEM' adds a run to another system.",
            ),
        ]
        return tuple(
            Statement("trend", sentence, numbers={"runs": count})
            for count, sentence in found
            if count
        )


def build_timeline(runs: Iterable[StoredRun]) -> Timeline:
    """Group runs by system in order of date, the system with most runs first.

    >>> made = [("b", "s", "2026-02-01"), ("a", "s", "2026-01-31T23:30:00-02:00"), ("c", "c", None)]
    >>> found = build_timeline(StoredRun(*each, {}) for each in made)
    >>> [each.run for each in found.of("s")], found.undated
    (['b', 'a'], ('c',))
    """
    systems: dict[str, list[DatedRun]] = {}
    undated = []
    for run in runs:
        if run.created_at:
            dated = DatedRun(run.name, parse_moment(run.created_at), run.created_at)
            systems.setdefault(run.system, []).append(dated)
        else:
            undated.append(run.name)
    largest = sorted(systems, key=lambda name: -len(systems[name]))
    ordered = {name: tuple(sorted(systems[name], key=lambda each: each.when)) for name in largest}
    alone = tuple(each[0].run for each in ordered.values() if len(each) == 1)
    return Timeline(ordered, tuple(undated), alone)


def parse_moment(said: str) -> datetime:
    """Return a date or a time in UTC; raises `BadInput` for anything else.

    >>> (
    ...     parse_moment("2026-01-31").isoformat(),
    ...     parse_moment("2026-01-31T23:30:00-02:00").isoformat(),
    ... )
    ('2026-01-31T00:00:00+00:00', '2026-02-01T01:30:00+00:00')
    """
    try:
        when = datetime.fromisoformat(said)
    except ValueError:
        raise BadInput(f"date {said!r} is not like 2026-01-31 or 2026-01-31T09:30:00Z") from None
    return when.replace(tzinfo=UTC) if when.tzinfo is None else when.astimezone(UTC)


def end_of_date(said: str) -> datetime:
    """Return the end of a day, or a time as it is: what is earlier was known by then.

    >>> end_of_date("2026-01-31").isoformat(), end_of_date("2026-01-31T09:30:00Z").isoformat()
    ('2026-02-01T00:00:00+00:00', '2026-01-31T09:30:00+00:00')
    """
    when = parse_moment(said)
    return when + timedelta(days=1) if len(said) == len("2026-01-31") else when


def parse_window(text: str) -> Window:
    """Parse a window: ``all runs``, ``30 runs``, ``last 90 days``.

    >>> parse_window("30 runs"), str(parse_window("all runs"))
    (Window(most=30, unit='runs'), 'all runs')
    """
    if text.strip() in ("all", WINDOWS[0]):
        return Window()
    found = _WINDOW.fullmatch(text.strip())
    if found is None:
        raise BadInput(f"{text!r} is no window; write it like 'all runs', '30 runs' or '90 days'")
    return Window(int(found[1]), found[2])


RISING, FALLING = "rising", "falling"
NO_DIRECTION, UNKNOWN_DIRECTION = "no direction beyond chance", "–"


def describe_rule(correction: str) -> str:
    """Say when a change is clear, by a test after this ``correction``."""
    return (
        f"clear: p ≤ {ALPHA} by a two-sided randomisation test over at least {FEW} "
        f"queries, after {correction}"
    )


DIRECTION_RULE = Statement(
    "direction",
    "Change is what the straight line through a system's values rises by, from the first run of "
    "the window to the newest. Direction says whether that is "
    + describe_rule("Holm's correction over the lines shown")
    + ". Each query has its own line.",
)


def describe_window(window: Window) -> Statement:
    """Say how far back the trend goes."""
    back = "all runs"
    if window.most is not None:
        span = format_count(window.most, window.unit.removesuffix("s"), window.unit)
        back = f"the last {span} of each system"
    numbers = {"most": window.most, "unit": window.unit}
    return Statement("window", f"The trend is over {back}.", numbers=numbers)


NO_INTERVALS: IntervalsByPlace = MappingProxyType({})


class TrendPoint(NamedTuple):
    """A run's mean at its date; NaN without a result for any query that counts.

    ``n`` queries are in the mean; ``unjudged`` counts unjudged chunks, ``missing`` queries without
    a list, ``transferred`` transferred grades. ``interval`` is None if none was computed.
    """

    run: str
    when: datetime
    said: str
    value: float
    n: int
    unjudged: int
    missing: int
    interval: ConfidenceInterval | None = None
    transferred: int = 0


class SeriesKey(NamedTuple):
    """The system, measure and bucket of a series; without a facet it covers all queries."""

    system: str
    measure: Measure
    facet: str | None = None
    bucket: str | None = None


@dataclass(frozen=True)
class TrendSeries:
    """The points of one system, measure and bucket, in order of date."""

    place: SeriesKey
    points: tuple[TrendPoint, ...]

    @cached_property
    def known(self) -> tuple[TrendPoint, ...]:
        """The points that have a value."""
        return tuple(point for point in self.points if not math.isnan(point.value))


class TrendSummary(NamedTuple):
    """The statistics of a series, over its points that have a value, which may be none.

    ``spread`` is their standard deviation, NaN for one point. ``change`` is the rise of the
    straight line through them, from the first to the newest; ``p`` is the p-value of its test,
    ``holm`` after the correction; ``direction`` is 1, -1, or 0 where the change is not more than
    chance.
    """

    series: TrendSeries
    current: TrendPoint | None
    mean: float
    median: float
    spread: float
    lowest: TrendPoint | None
    highest: TrendPoint | None
    change: float
    p: float
    holm: float
    direction: int

    @property
    def word(self) -> str:
        """The direction in words."""
        if math.isnan(self.change):
            return UNKNOWN_DIRECTION
        return {1: RISING, -1: FALLING, 0: NO_DIRECTION}[self.direction]


def build_series(
    board: Scoreboard,
    systems: Mapping[str, Sequence[DatedRun]],
    measures: Iterable[Measure],
    facet: str | None = None,
    buckets: Iterable[str] | None = None,
    intervals: IntervalsByPlace = NO_INTERVALS,
) -> list[TrendSeries]:
    """Return a series for each system, then measure, then bucket of ``facet`` (all unless given).

    Raises `NotFound` for an unknown facet or bucket.
    """
    board = board.snapshot()
    means = board.means(measures, facet)
    names = means.buckets if buckets is None else tuple(buckets)
    for name in names if facet is not None else ():
        board.within(facet or "", name or "")
    places = [means.buckets.index(name) for name in names]
    columns = {run: at for at, run in enumerate(board.run_names)}
    n, missing = means.n.tolist(), means.missing.tolist()
    return [
        TrendSeries(
            SeriesKey(system, measure, facet, bucket),
            tuple(
                TrendPoint(
                    *dated,
                    float(means.value[which, columns[dated.run], at]),
                    n[which][at],
                    int(means.unjudged[which, columns[dated.run], at]),
                    missing[columns[dated.run]][at],
                    intervals.get((dated.run, str(measure), bucket)),
                    int(means.transferred[which, columns[dated.run], at]),
                )
                for dated in runs
            ),
        )
        for system, runs in systems.items()
        for which, measure in enumerate(means.measures)
        for bucket, at in zip(names, places, strict=True)
    ]


def summarize_series(board: Scoreboard, every: Sequence[TrendSeries]) -> list[TrendSummary]:
    """Return the summary of each series; their directions are tested as one family.

    >>> from labeler.evaluation import Conventions, collect
    >>> board = Scoreboard(collect({"q": {"c": 1}}, {"A": {"q": ["c"]}}), Conventions.of())
    >>> runs = {"s": [DatedRun("A", datetime(2026, 1, 31), "2026-01-31")]}
    >>> [only] = summarize_series(board, build_series(board, runs,
    ...     board.conventions.measures("RR")))
    >>> only.current.value, only.spread, only.word
    (1.0, nan, '–')
    """
    values = QueryValues(board)
    risen = [_line_rises(values, each) for each in every]
    ps = [each.p for each in p_values(risen)]
    corrected = holm(ps).tolist()
    return [
        _summarize_one(series, rise, p, after)
        for series, rise, p, after in zip(every, risen, ps, corrected, strict=True)
    ]


def _summarize_one(series: TrendSeries, rise: Floats, p: float, after: float) -> TrendSummary:
    known = series.known
    given = [point.value for point in known]
    change = float(rise.mean()) if len(rise) else math.nan
    sure = after <= ALPHA and len(rise) >= FEW and abs(change) >= VISIBLE
    return TrendSummary(
        series,
        current=known[-1] if known else None,
        mean=fmean(given) if given else math.nan,
        median=median(given) if given else math.nan,
        spread=stdev(given) if len(given) > 1 else math.nan,
        lowest=min(known, key=lambda point: point.value, default=None),
        highest=max(known, key=lambda point: point.value, default=None),
        change=change,
        p=p,
        holm=after,
        direction=(1 if change > 0 else -1) if sure else 0,
    )


class QueryValues:
    """A board's values by query, computed once for each measure."""

    def __init__(self, board: Scoreboard) -> None:
        self.board = board.snapshot()
        self._columns = {run: at for at, run in enumerate(board.run_names)}
        self._known: dict[Measure, Floats] = {}

    def of(self, place: SeriesKey, runs: Iterable[str]) -> Floats:
        """Return the values of the queries that count in a series, (queries, runs)."""
        if place.measure not in self._known:
            self._known[place.measure] = self.board.values(place.measure)
        columns = [self._columns[run] for run in runs]
        chosen: Floats = self._known[place.measure][self._inside(place)][:, columns]
        return chosen

    def weights_of(self, place: SeriesKey) -> Floats:
        """Return the weight of each of these queries, with a mean of 1."""
        inside = self._inside(place)
        if self.board.weights is None:
            return np.ones(int(inside.sum()))
        weights: Floats = self.board.weights[inside]
        whole = float(weights.sum())
        return weights * len(weights) / whole if whole else weights

    def _inside(self, place: SeriesKey) -> Bools:
        inside = self.board.counted(place.measure)
        if place.facet is not None:
            names, group = self.board.groups(place.facet)
            inside = inside & (group == names.index(place.bucket))
        return inside

    def differences(self, place: SeriesKey, older: str, newer: str) -> Floats:
        """Return what each query adds to a rise from one run to another, (queries,).

        Their mean is the rise of the mean; without weights, each is the rise of the query's value.
        """
        found = self.of(place, (older, newer))
        rise = (found[:, 1] - found[:, 0]) * self.weights_of(place)
        return np.where(np.abs(rise) <= 1e-12, 0.0, rise)


def _line_rises(values: QueryValues, series: TrendSeries) -> Floats:
    """Return the weighted rise of each query's straight line over the window, (queries,).

    Empty where there is no line: with fewer than two values, or if all have one date.
    """
    known = series.known
    seconds = np.array([point.when.timestamp() for point in known])
    if len(known) < 2 or np.ptp(seconds) == 0:
        return np.array([])
    off = seconds - seconds.mean()
    slope = off / np.sum(off * off) * np.ptp(seconds)
    given = values.of(series.place, (point.run for point in known))
    rises: Floats = np.sum(given * slope, axis=1) * values.weights_of(series.place)
    return np.where(np.abs(rises) <= 1e-12, 0.0, rises)

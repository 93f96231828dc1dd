"""Series of a measure over the dated runs of a system, with the direction of each.

Which golden grades count is the scoreboard's matter: an old run is scored by today's grades
unless the scoreboard is of an earlier time. Runs without a date are in no series.
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

from labeler.analysis.comparison import FEW
from labeler.errors import BadInput, NotFound
from labeler.evaluation import Scoreboard
from labeler.measures import Bools, Floats, Measure
from labeler.model import StoredRun
from labeler.stats import ALPHA, ConfidenceInterval, IntervalsByPlace, holm, p_values

WINDOWS = (
    *("all runs", "last 5 runs", "last 10 runs", "last 30 runs"),
    *("last 30 days", "last 90 days", "last 365 days"),
)
"""What a page offers; any other number can be asked for, too."""

_WINDOW = re.compile(r"(?:last )?([1-9][0-9]{0,5}) (runs|days)")


class DatedRun(NamedTuple):
    """A run and when it was made: ``said`` is the date as it was given, ``when`` the same in UTC.

    A date alone is the beginning of its day, and a time without a zone is one of UTC.
    """

    run: str
    when: datetime
    said: str


class Window(NamedTuple):
    """How far back one looks: so many of a system's newest runs, or days; all if it says none.

    Days are counted back from a system's newest run, and not from today.
    """

    most: int | None = None
    unit: str = "runs"

    def __str__(self) -> str:
        return WINDOWS[0] if self.most is None else f"last {self.most} {self.unit}"

    def of(self, runs: Sequence[DatedRun]) -> tuple[DatedRun, ...]:
        """Return which of a system's runs, in order of date, are inside."""
        if self.most is None or not runs:
            return tuple(runs)
        if self.unit == "runs":
            return tuple(runs[-self.most :])
        first = runs[-1].when - timedelta(days=self.most)
        return tuple(run for run in runs if run.when >= first)


@dataclass(frozen=True)
class Timeline:
    """The runs of each system in order of date; those of one date as they were loaded.

    ``undated`` are runs that nobody gave a date, and ``alone`` those that are their system's only
    one, as a run is that was loaded without the name of a system.
    """

    systems: Mapping[str, tuple[DatedRun, ...]]
    undated: tuple[str, ...]
    alone: tuple[str, ...]

    def of(self, system: str) -> tuple[DatedRun, ...]:
        """Return a system's runs; raises `NotFound` for one that has none with a date."""
        if system not in self.systems:
            there = ", ".join(self.systems) or "none"
            raise NotFound(f"no system called {system!r} has a run with a date; there are: {there}")
        return self.systems[system]

    @property
    def notes(self) -> tuple[str, ...]:
        """Say what no line shows, or shows as a single point."""
        notes = []
        if self.undated:
            notes.append(
                f"runs without a date, which are in no trend: {len(self.undated):,} "
                "('labeler change run NAME --date 2026-01-31' gives one)"
            )
        if self.alone:
            notes.append(
                f"runs of all systems that are the only one of theirs, each a single point: "
                f"{len(self.alone):,} ('labeler change run NAME --system SYSTEM' puts a run with "
                "others)"
            )
        return tuple(notes)


def build_timeline(runs: Iterable[StoredRun]) -> Timeline:
    """Put runs in order, the system with most of them first.

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
    """Return when a date or a time is, in UTC; raises `BadInput` for what is neither.

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
    """Return the moment before which what was there by a date, or by a time, had been said.

    >>> end_of_date("2026-01-31").isoformat(), end_of_date("2026-01-31T09:30:00Z").isoformat()
    ('2026-02-01T00:00:00+00:00', '2026-01-31T09:30:00+00:00')
    """
    when = parse_moment(said)
    return when + timedelta(days=1) if len(said) == len("2026-01-31") else when


def parse_window(text: str) -> Window:
    """Read how far back one looks: ``all runs``, ``30 runs``, ``last 90 days``.

    >>> parse_window("30 runs"), str(parse_window("all runs"))
    (Window(most=30, unit='runs'), 'all runs')
    """
    if text.strip() in ("all", WINDOWS[0]):
        return Window()
    found = _WINDOW.fullmatch(text.strip())
    if found is None:
        raise BadInput(f"{text!r} is no window; write it like 'all runs', '30 runs' or '90 days'")
    return Window(int(found[1]), found[2])


VISIBLE = 5e-5  # a change that four digits do not show has no direction
RISING, FALLING, NO_DIRECTION, UNKNOWN_DIRECTION = (
    "rising",
    "falling",
    "no direction beyond chance",
    "–",
)
DIRECTION_RULE = (
    "direction and change are of the straight line through a system's values over time, from the "
    f"first run of the window to its newest: more than chance with p ≤ {ALPHA} by a two-sided "
    "randomisation test over queries (each query has a line of its own) after Holm's correction "
    f"over the lines shown, over at least {FEW} queries"
)
NO_INTERVALS: IntervalsByPlace = MappingProxyType({})


class TrendPoint(NamedTuple):
    """A run's mean: NaN where it has no result for any query that counts.

    ``n`` queries are in the mean, ``holes`` chunks nobody graded, ``missing`` queries without a
    list, ``carried`` grades that were carried over. ``interval`` is None where nobody asked for it.
    """

    run: str
    when: datetime
    said: str
    value: float
    n: int
    holes: int
    missing: int
    interval: ConfidenceInterval | None = None
    carried: int = 0


class SeriesKey(NamedTuple):
    """What a series is of; without a facet it is of all queries."""

    system: str
    measure: Measure
    facet: str | None = None
    bucket: str | None = None


@dataclass(frozen=True)
class TrendSeries:
    """The points of one place, in order of date."""

    place: SeriesKey
    points: tuple[TrendPoint, ...]

    @cached_property
    def known(self) -> tuple[TrendPoint, ...]:
        """The points that have a value."""
        return tuple(point for point in self.points if not math.isnan(point.value))


class TrendSummary(NamedTuple):
    """What a series says: all of it over the points that have a value, which may be none.

    ``spread`` is their standard deviation, NaN of one. ``change`` is what the straight line through
    them rises by, from the first to the newest; ``p`` that of its test alone, ``holm`` after the
    correction, ``direction`` 1, -1, or 0 where it is not more than chance.
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
        """The direction in a word."""
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
                    int(means.holes[which, columns[dated.run], at]),
                    missing[columns[dated.run]][at],
                    intervals.get((dated.run, str(measure), bucket)),
                    int(means.carried[which, columns[dated.run], at]),
                )
                for dated in runs
            ),
        )
        for system, runs in systems.items()
        for which, measure in enumerate(means.measures)
        for bucket, at in zip(names, places, strict=True)
    ]


def summarize_series(board: Scoreboard, every: Sequence[TrendSeries]) -> list[TrendSummary]:
    """Say what each series says; their directions are tested together.

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
    """A board's values by query, looked up once for each measure."""

    def __init__(self, board: Scoreboard) -> None:
        self.board = board.snapshot()
        self._columns = {run: at for at, run in enumerate(board.run_names)}
        self._known: dict[Measure, Floats] = {}

    def of(self, place: SeriesKey, runs: Iterable[str]) -> Floats:
        """Return the values of the queries that count there, (queries, runs)."""
        if place.measure not in self._known:
            self._known[place.measure] = self.board.values(place.measure)
        columns = [self._columns[run] for run in runs]
        chosen: Floats = self._known[place.measure][self._inside(place)][:, columns]
        return chosen

    def weighted_by(self, place: SeriesKey) -> Floats:
        """Return the weight of each of these queries by their mean, 1 where all count the same."""
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

        Their mean is the rise of the mean; without weights it is by how much each value rose.
        """
        found = self.of(place, (older, newer))
        rise = (found[:, 1] - found[:, 0]) * self.weighted_by(place)
        return np.where(np.abs(rise) <= 1e-12, 0.0, rise)


def _line_rises(values: QueryValues, series: TrendSeries) -> Floats:
    """Return what each query's straight line rises by over the window, by weight, (queries,).

    Empty where there is no line: with fewer than two values, or all of one moment.
    """
    known = series.known
    seconds = np.array([point.when.timestamp() for point in known])
    if len(known) < 2 or np.ptp(seconds) == 0:
        return np.array([])
    off = seconds - seconds.mean()
    slope = off / np.sum(off * off) * np.ptp(seconds)
    given = values.of(series.place, (point.run for point in known))
    rises: Floats = np.sum(given * slope, axis=1) * values.weighted_by(series.place)
    return np.where(np.abs(rises) <= 1e-12, 0.0, rises)

"""One measure of one system, run by run: points, and what they say together.

Knows no page and no file; which golden grades are meant is the board's.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from statistics import fmean, median, stdev
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from labeler.analysis.comparison import FEW
from labeler.analysis.trend.timeline import Dated
from labeler.evaluation import Scoreboard
from labeler.measures import Bools, Floats, Measure
from labeler.stats import LEVEL, Interval, Intervals, holm, p_values

VISIBLE = 5e-5  # a change that four digits do not show has no direction
RISING, FALLING, LEVEL_OFF, UNKNOWN = "rising", "falling", "no direction beyond chance", "–"
DIRECTION = (
    "direction and change are of the straight line through a system's values over time, from the "
    f"first run of the window to its newest: more than chance with p ≤ {LEVEL} by a two-sided "
    "randomisation test over queries (each query has a line of its own) after Holm's correction "
    f"over the lines shown, over at least {FEW} queries"
)
NO_INTERVALS: Intervals = MappingProxyType({})


class Point(NamedTuple):
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
    interval: Interval | None = None
    carried: int = 0


class Place(NamedTuple):
    """What a series is of; without a facet it is of all queries."""

    system: str
    measure: Measure
    facet: str | None = None
    bucket: str | None = None


@dataclass(frozen=True)
class Series:
    """The points of one place, in order of date."""

    place: Place
    points: tuple[Point, ...]

    @cached_property
    def known(self) -> tuple[Point, ...]:
        """The points that have a value."""
        return tuple(point for point in self.points if not math.isnan(point.value))


class Summary(NamedTuple):
    """What a series says: all of it over the points that have a value, which may be none.

    ``spread`` is their standard deviation, NaN of one. ``change`` is what the straight line through
    them rises by, from the first to the newest; ``p`` that of its test alone, ``holm`` after the
    correction, ``direction`` 1, -1, or 0 where it is not more than chance.
    """

    series: Series
    current: Point | None
    mean: float
    median: float
    spread: float
    lowest: Point | None
    highest: Point | None
    change: float
    p: float
    holm: float
    direction: int

    @property
    def word(self) -> str:
        """The direction in a word."""
        if math.isnan(self.change):
            return UNKNOWN
        return {1: RISING, -1: FALLING, 0: LEVEL_OFF}[self.direction]


def series_of(
    board: Scoreboard,
    systems: Mapping[str, Sequence[Dated]],
    measures: Iterable[Measure],
    facet: str | None = None,
    buckets: Iterable[str] | None = None,
    intervals: Intervals = NO_INTERVALS,
) -> list[Series]:
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
        Series(
            Place(system, measure, facet, bucket),
            tuple(
                Point(
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


def summaries(board: Scoreboard, every: Sequence[Series]) -> list[Summary]:
    """Say what each series says; their directions are tested together.

    >>> from labeler.evaluation import Conventions, collect
    >>> board = Scoreboard(collect({"q": {"c": 1}}, {"A": {"q": ["c"]}}), Conventions.of())
    >>> runs = {"s": [Dated("A", datetime(2026, 1, 31), "2026-01-31")]}
    >>> [only] = summaries(board, series_of(board, runs, board.conventions.measures("RR")))
    >>> only.current.value, only.spread, only.word
    (1.0, nan, '–')
    """
    values = Values(board)
    risen = [_rises(values, each) for each in every]
    ps = [each.p for each in p_values(risen)]
    corrected = holm(ps).tolist()
    return [
        _summary(series, rise, p, after)
        for series, rise, p, after in zip(every, risen, ps, corrected, strict=True)
    ]


def _summary(series: Series, rise: Floats, p: float, after: float) -> Summary:
    known = series.known
    given = [point.value for point in known]
    change = float(rise.mean()) if len(rise) else math.nan
    sure = after <= LEVEL and len(rise) >= FEW and abs(change) >= VISIBLE
    return Summary(
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


class Values:
    """A board's values by query, looked up once for each measure."""

    def __init__(self, board: Scoreboard) -> None:
        self.board = board.snapshot()
        self._columns = {run: at for at, run in enumerate(board.run_names)}
        self._known: dict[Measure, Floats] = {}

    def of(self, place: Place, runs: Iterable[str]) -> Floats:
        """Return the values of the queries that count there, (queries, runs)."""
        if place.measure not in self._known:
            self._known[place.measure] = self.board.values(place.measure)
        columns = [self._columns[run] for run in runs]
        chosen: Floats = self._known[place.measure][self._inside(place)][:, columns]
        return chosen

    def weighing(self, place: Place) -> Floats:
        """Return the weight of each of these queries by their mean, 1 where all count the same."""
        inside = self._inside(place)
        if self.board.weights is None:
            return np.ones(int(inside.sum()))
        weights: Floats = self.board.weights[inside]
        whole = float(weights.sum())
        return weights * len(weights) / whole if whole else weights

    def _inside(self, place: Place) -> Bools:
        inside = self.board.counted(place.measure)
        if place.facet is not None:
            names, group = self.board.groups(place.facet)
            inside = inside & (group == names.index(place.bucket))
        return inside

    def differences(self, place: Place, older: str, newer: str) -> Floats:
        """Return what each query adds to a rise from one run to another, (queries,).

        Their mean is the rise of the mean; without weights it is by how much each value rose.
        """
        found = self.of(place, (older, newer))
        rise = (found[:, 1] - found[:, 0]) * self.weighing(place)
        return np.where(np.abs(rise) <= 1e-12, 0.0, rise)


def _rises(values: Values, series: Series) -> Floats:
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
    rises: Floats = np.sum(given * slope, axis=1) * values.weighing(series.place)
    return np.where(np.abs(rises) <= 1e-12, 0.0, rises)

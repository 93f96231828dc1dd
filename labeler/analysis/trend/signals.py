"""Signals of users (such as a click rate) by date, shown beside the runs of their system.

No correlation between signals and measures is computed: over a few weeks anything that has a
direction seems to be connected.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import fmean, median
from typing import NamedTuple

from labeler.analysis.trend.series import (
    DatedRun,
    Timeline,
    Window,
    end_of_date,
    parse_moment,
)
from labeler.evaluation import Record
from labeler.model import SignalPoint

NO_CORRELATION_NOTE = (
    "signals stand beside the measures, and no connection is worked out: over the same weeks "
    "whatever has a direction seems to be connected, and each date is one observation"
)
SIGNAL_MEANING = (
    "a signal is what the file says of all queries at a date, or else the mean over the queries it "
    "names, weighted by how often each was counted where that is known of all"
)
TimeSpan = tuple[datetime, datetime]


class SignalValue(NamedTuple):
    """A signal's value at a date; ``run`` is the system's newest by then, None before the first.

    ``n`` is how often something was counted, None where nobody said so, and ``queries`` of how many
    queries it is the mean, 0 where it is of all.
    """

    when: datetime
    said: str
    value: float
    n: int | None
    queries: int
    run: str | None


@dataclass(frozen=True)
class SignalSeries:
    """One signal of one system in order of date; there is at least one value."""

    system: str
    name: str
    points: tuple[SignalValue, ...]

    @property
    def current(self) -> SignalValue:
        """The newest value."""
        return self.points[-1]

    @property
    def change(self) -> float:
        """How far the newest value is from the one before, NaN where there is none."""
        before = self.points[-2].value if len(self.points) > 1 else math.nan
        return self.current.value - before

    @property
    def mean(self) -> float:
        """The mean over dates."""
        return fmean(point.value for point in self.points)

    @property
    def median(self) -> float:
        """The median over dates."""
        return median(point.value for point in self.points)

    @property
    def lowest(self) -> SignalValue:
        """The lowest value, the first of several."""
        return min(self.points, key=lambda point: point.value)

    @property
    def highest(self) -> SignalValue:
        """The highest value, the first of several."""
        return max(self.points, key=lambda point: point.value)


def build_signal_series(
    points: Iterable[SignalPoint],
    systems: Mapping[str, Sequence[DatedRun]],
    window: Window = Window(),  # noqa: B008  # frozen
) -> list[SignalSeries]:
    """Return the signals of ``systems``, which come with all of their runs; by name, then system.

    Of a window of runs or days there is what was heard since the first run in it.

    >>> runs = {"s": [DatedRun("A", parse_moment("2026-01-31"), "2026-01-31")]}
    >>> heard = [SignalPoint("s", "ctr", day, 0.5, 10, 0) for day in ("2026-01-30", "2026-01-31")]
    >>> [each] = build_signal_series(heard, runs)
    >>> [point.run for point in each.points]
    [None, 'A']
    """
    since = {
        system: None if window.most is None or not runs else window.of(runs)[0].when
        for system, runs in systems.items()
    }
    found: dict[tuple[str, str], list[SignalValue]] = {}
    for point in points:
        if point.system not in systems:
            continue
        when, begins = parse_moment(point.date), since[point.system]
        if begins is None or end_of_date(point.date) > begins:
            run = _newest_run_by(point.date, systems[point.system])
            heard = SignalValue(when, point.date, point.value, point.n, point.queries, run)
            found.setdefault((point.name, point.system), []).append(heard)
    order = {system: at for at, system in enumerate(systems)}
    return [
        SignalSeries(system, name, tuple(sorted(found[name, system])))
        for name, system in sorted(found, key=lambda key: (key[0], order[key[1]]))
    ]


def _newest_run_by(date: str, runs: Sequence[DatedRun]) -> str | None:
    """Return the newest run that was there by a day's end, or by a moment."""
    end, is_day = end_of_date(date), len(date) == len("2026-01-31")
    there = [run.run for run in runs if run.when < end or (not is_day and run.when == end)]
    return there[-1] if there else None


def find_time_span(
    systems: Mapping[str, Sequence[DatedRun]], every: Iterable[SignalSeries]
) -> TimeSpan:
    """Return the first and the last moment of runs and signals, for one axis under all of them."""
    moments = [run.when for runs in systems.values() for run in runs]
    moments += [point.when for each in every for point in each.points]
    return min(moments), max(moments)


def signal_notes(points: Iterable[SignalPoint], line: Timeline) -> list[str]:
    """Say which systems have signals and no run, or runs and no signal; nothing without signals."""
    heard = dict.fromkeys(point.system for point in points)
    if not heard:
        return []
    alone = [repr(system) for system in heard if system not in line.systems]
    silent = [repr(system) for system in line.systems if system not in heard]
    notes = []
    if alone:
        notes.append(
            f"systems with signals that have no run with a date, so in no picture: "
            f"{', '.join(alone)} ('labeler change run NAME --system SYSTEM --date DATE')"
        )
    if silent:
        notes.append(f"systems with runs that have no signal: {', '.join(silent)}")
    return notes


def signal_records(every: Iterable[SignalSeries]) -> list[Record]:
    """Return a row for each value; ``run`` is the system's newest by then, null before it."""
    return [
        {
            "system": each.system,
            "signal": each.name,
            "date": point.said,
            "moment": f"{point.when:%Y-%m-%dT%H:%M:%SZ}",
            "value": point.value,
            "change": point.value - before,
            "n": point.n,
            "queries": point.queries or None,
            "run": point.run,
        }
        for each in every
        for point, before in zip(
            each.points, (math.nan, *(point.value for point in each.points)), strict=False
        )
    ]

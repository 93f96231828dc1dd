"""Signals of users (such as a click rate) by date, shown beside the runs of their system.

No correlation between signals and measures is computed: over a few weeks, any two series that rise
or fall seem to be connected.
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
from labeler.model import SignalPoint
from labeler.model.results import CAUTION, Statement

NO_CORRELATION = Statement(
    "no correlation",
    "Signals are shown beside the measures, and no correlation is computed: over the same weeks, "
    "any two series with a direction seem to be connected, and each date is only one observation.",
)
SIGNAL_MEANING = Statement(
    "signals",
    "A signal is the file's value of all queries at a date (a dash under Queries), or else the "
    "mean over the queries that it names, weighted by how often each was counted where all have "
    "that number.",
)
TimeSpan = tuple[datetime, datetime]


class SignalValue(NamedTuple):
    """A signal's value at a date; ``run`` is the system's newest by then, None before the first.

    ``n`` is how often something was counted, None if not given; ``queries`` is the number of
    queries it is the mean of, 0 if it is of all.
    """

    when: datetime
    said: str
    value: float
    n: int | None
    queries: int
    run: str | None


@dataclass(frozen=True)
class SignalSeries:
    """One signal of one system in order of date, with at least one value."""

    system: str
    name: str
    points: tuple[SignalValue, ...]

    @property
    def current(self) -> SignalValue:
        """The newest value."""
        return self.points[-1]

    @property
    def change(self) -> float:
        """The newest value minus the one before, NaN without one."""
        before = self.points[-2].value if len(self.points) > 1 else math.nan
        return self.current.value - before

    @property
    def mean(self) -> float:
        return fmean(point.value for point in self.points)

    @property
    def median(self) -> float:
        return median(point.value for point in self.points)

    @property
    def lowest(self) -> SignalValue:
        """The lowest value, the first if tied."""
        return min(self.points, key=lambda point: point.value)

    @property
    def highest(self) -> SignalValue:
        """The highest value, the first if tied."""
        return max(self.points, key=lambda point: point.value)


def build_signal_series(
    points: Iterable[SignalPoint],
    systems: Mapping[str, Sequence[DatedRun]],
    window: Window = Window(),  # noqa: B008  # frozen
) -> list[SignalSeries]:
    """Return the signal series of ``systems``, given with all their runs, by name and system.

    With a window, values from before its first run are left out.

    >>> runs = {"s": [DatedRun("A", parse_moment("2026-01-31"), "2026-01-31")]}
    >>> heard = [SignalPoint("s", "ctr", day, 0.5, 10, 0) for day in ("2026-01-30", "2026-01-31")]
    >>> [each] = build_signal_series(heard, runs)
    >>> [point.run for point in each.points]
    [None, 'A']
    """
    window_starts = {
        system: None if window.most is None or not runs else window.of(runs)[0].when
        for system, runs in systems.items()
    }
    found: dict[tuple[str, str], list[SignalValue]] = {}
    for point in points:
        if point.system not in systems:
            continue
        when, start = parse_moment(point.date), window_starts[point.system]
        if start is None or end_of_date(point.date) > start:
            run = _newest_run_by(point.date, systems[point.system])
            value = SignalValue(when, point.date, point.value, point.n, point.queries, run)
            found.setdefault((point.name, point.system), []).append(value)
    order = {system: at for at, system in enumerate(systems)}
    return [
        SignalSeries(system, name, tuple(sorted(found[name, system])))
        for name, system in sorted(found, key=lambda key: (key[0], order[key[1]]))
    ]


def _newest_run_by(date: str, runs: Sequence[DatedRun]) -> str | None:
    """Return the newest run made no later than a date, which is a day or a time."""
    end, is_day = end_of_date(date), len(date) == len("2026-01-31")
    made = [run.run for run in runs if run.when < end or (not is_day and run.when == end)]
    return made[-1] if made else None


def find_time_span(
    systems: Mapping[str, Sequence[DatedRun]], every: Iterable[SignalSeries]
) -> TimeSpan:
    """Return the first and the last date of runs and signals, for a time axis that they share."""
    moments = [run.when for runs in systems.values() for run in runs]
    moments += [point.when for each in every for point in each.points]
    return min(moments), max(moments)


def signal_statements(
    points: Iterable[SignalPoint], line: Timeline, *, are_shown: bool
) -> list[Statement]:
    """Return what signals are if they ``are_shown``, and systems with only signals or only runs.

    Empty without signals.
    """
    with_signals = dict.fromkeys(point.system for point in points)
    if not with_signals:
        return []
    alone = [repr(system) for system in with_signals if system not in line.systems]
    silent = [repr(system) for system in line.systems if system not in with_signals]
    found = [SIGNAL_MEANING, NO_CORRELATION] if are_shown else []
    if alone:
        sentence = (
            f"Systems with signals that have no run with a date, so in no chart: "
            f"{', '.join(alone)}. 'labeler change run NAME --system SYSTEM --date DATE' gives a "
            "system a run."
        )
        found.append(Statement("signals without runs", sentence, CAUTION))
    if silent:
        sentence = f"Systems with runs that have no signal: {', '.join(silent)}."
        found.append(Statement("runs without signals", sentence))
    return found

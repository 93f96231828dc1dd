"""When each run was made: systems with their runs in order of date, and what has no date.

Knows nothing of grades and values.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from labeler.errors import BadInput, NotFound
from labeler.model import StoredRun

WINDOWS = (
    *("all runs", "last 5 runs", "last 10 runs", "last 30 runs"),
    *("last 30 days", "last 90 days", "last 365 days"),
)
"""What a page offers; any other number can be asked for, too."""

_WINDOW = re.compile(r"(?:last )?([1-9][0-9]{0,5}) (runs|days)")


class Dated(NamedTuple):
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

    def of(self, runs: Sequence[Dated]) -> tuple[Dated, ...]:
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

    systems: Mapping[str, tuple[Dated, ...]]
    undated: tuple[str, ...]
    alone: tuple[str, ...]

    def of(self, system: str) -> tuple[Dated, ...]:
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


def timeline(runs: Iterable[StoredRun]) -> Timeline:
    """Put runs in order, the system with most of them first.

    >>> made = [("b", "s", "2026-02-01"), ("a", "s", "2026-01-31T23:30:00-02:00"), ("c", "c", None)]
    >>> found = timeline(StoredRun(*each, {}) for each in made)
    >>> [each.run for each in found.of("s")], found.undated
    (['b', 'a'], ('c',))
    """
    systems: dict[str, list[Dated]] = {}
    undated = []
    for run in runs:
        if run.created_at:
            dated = Dated(run.name, moment_of(run.created_at), run.created_at)
            systems.setdefault(run.system, []).append(dated)
        else:
            undated.append(run.name)
    largest = sorted(systems, key=lambda name: -len(systems[name]))
    ordered = {name: tuple(sorted(systems[name], key=lambda each: each.when)) for name in largest}
    alone = tuple(each[0].run for each in ordered.values() if len(each) == 1)
    return Timeline(ordered, tuple(undated), alone)


def moment_of(said: str) -> datetime:
    """Return when a date or a time is, in UTC; raises `BadInput` for what is neither.

    >>> moment_of("2026-01-31").isoformat(), moment_of("2026-01-31T23:30:00-02:00").isoformat()
    ('2026-01-31T00:00:00+00:00', '2026-02-01T01:30:00+00:00')
    """
    try:
        when = datetime.fromisoformat(said)
    except ValueError:
        raise BadInput(f"date {said!r} is not like 2026-01-31 or 2026-01-31T09:30:00Z") from None
    return when.replace(tzinfo=UTC) if when.tzinfo is None else when.astimezone(UTC)


def end_of(said: str) -> datetime:
    """Return the moment before which what was there by a date, or by a time, had been said.

    >>> end_of("2026-01-31").isoformat(), end_of("2026-01-31T09:30:00Z").isoformat()
    ('2026-02-01T00:00:00+00:00', '2026-01-31T09:30:00+00:00')
    """
    when = moment_of(said)
    return when + timedelta(days=1) if len(said) == len("2026-01-31") else when


def window_of(text: str) -> Window:
    """Read how far back one looks: ``all runs``, ``30 runs``, ``last 90 days``.

    >>> window_of("30 runs"), str(window_of("all runs"))
    (Window(most=30, unit='runs'), 'all runs')
    """
    if text.strip() in ("all", WINDOWS[0]):
        return Window()
    found = _WINDOW.fullmatch(text.strip())
    if found is None:
        raise BadInput(f"{text!r} is no window; write it like 'all runs', '30 runs' or '90 days'")
    return Window(int(found[1]), found[2])

"""Counts refusals by kind and minute, in memory: however many come, a minute is one entry a kind.

Knows neither requests nor the database.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from threading import Lock

KINDS = ("link", "grading", "page or file", "socket", "host")
MOST_MINUTES = 1_000  # that wait for a file that takes no writes
MOST_ADDRESSES = 3  # that are named in an entry


@dataclass(slots=True)
class Minute:
    """What was refused of one kind within a minute, since ``at``; the first addresses it met."""

    kind: str
    at: str
    count: int = 0
    addresses: list[str] = field(default_factory=list)
    others: bool = False

    def add(self, address: str | None) -> None:
        """Count one more."""
        self.count += 1
        if address is None or address in self.addresses:
            return
        if len(self.addresses) < MOST_ADDRESSES:
            self.addresses.append(address)
        else:
            self.others = True


class Refusals:
    """The refusals that are not in the audit yet; safe to use from several threads.

    >>> refusals = Refusals(lambda: "2026-11-22T10:00:59.000Z")
    >>> refusals.add("link", "192.0.2.1")
    >>> refusals.add("link", "192.0.2.2")
    >>> refusals.finished(), [(each.kind, each.count) for each in refusals.all()]
    ([], [('link', 2)])
    """

    def __init__(self, clock: Callable[[], str]) -> None:
        """Start with none; ``clock`` gives a moment as it is stored."""
        self._clock = clock
        self._lock = Lock()
        self._minutes: dict[tuple[str, str], Minute] = {}

    def add(self, kind: str, address: str | None) -> None:
        """Count a refusal of one of the `KINDS`."""
        now = self._clock()
        with self._lock:
            minute = self._minutes.setdefault((now[:16], kind), Minute(kind, now))
            minute.add(address)

    def finished(self) -> list[Minute]:
        """Take out and return what was counted in minutes that are over."""
        now = self._clock()[:16]
        return self._take(lambda minute: minute != now)

    def all(self) -> list[Minute]:
        """Take out and return everything."""
        return self._take(lambda _: True)

    def put_back(self, minutes: Iterable[Minute]) -> None:
        """Keep what could not be written for the next time; the oldest goes where that is much."""
        with self._lock:
            for minute in minutes:
                self._minutes[minute.at[:16], minute.kind] = minute
            for key in sorted(self._minutes)[:-MOST_MINUTES]:
                del self._minutes[key]

    def _take(self, wanted: Callable[[str], bool]) -> list[Minute]:
        with self._lock:
            keys = [key for key in self._minutes if wanted(key[0])]
            return [self._minutes.pop(key) for key in keys]

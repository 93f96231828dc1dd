"""Seals: each event of the two logs gets its place in a chain of hashes, soon after it is there.

The server does so every ten seconds, and a load and an export at once. Until then an
event is held by the triggers alone; writing it waits for nothing.
"""

from __future__ import annotations

import heapq
import json
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from labeler.chain import LOGS, Seal, first_seal, next_seal, sealed
from labeler.errors import Busy
from labeler.schema import ADD_SEAL, LAST, SEALED_EVENTS
from labeler.store.connection import Connection, Unusable

AT_ONCE = 2_000  # events sealed in one transaction: graders wait for it some milliseconds
MOST_FAULTS = 20  # that are named one by one
COUNTS = """
WITH
newest (log, event) AS (SELECT log, max(event) FROM seals GROUP BY log),
events (log, event) AS (
    SELECT 'judgments', id FROM judgments UNION ALL SELECT 'remarks', id FROM remarks
)
SELECT count(*), coalesce(sum(events.event > coalesce(newest.event, 0)), 0)
FROM events LEFT JOIN newest USING (log)
"""
ONE = {"judgments": "judgment", "remarks": "remark"}


@dataclass(frozen=True, slots=True)
class ChainReport:
    """What was found of the seals: the newest one, and each event that is not as it was sealed.

    ``faults`` are sentences, ``more`` counts those beyond the first; ``unsealed`` the events that
    have no seal yet.
    """

    seal: Seal
    events: int
    unsealed: int
    faults: tuple[str, ...]
    more: int


class Seals(Connection):
    """Makes the chain longer, and looks whether the logs are still what it was made from."""

    def seal(self) -> int:
        """Seal every event that has no seal yet, and return how many those were."""
        return sum(self._seal_log(log) for log in LOGS)

    def seal_if_possible(self) -> None:
        """Seal what is new; where the file takes no writes now, somebody else will later."""
        with suppress(Busy, Unusable), self._briefly():
            self.seal()

    def _seal_log(self, log: str) -> int:
        done = 0
        while part := self._seal_part(log):
            done += part
        return done

    def _seal_part(self, log: str) -> int:
        """Seal some events; hash them before taking the lock, and again if somebody was faster."""
        with self._reading():
            last, before = self._newest_of(log)
            seals = list(sealed(before, self._events(log, last, most=AT_ONCE)))
        if not seals:
            return 0
        with self._transaction():
            if self._newest_of(log)[0] == last:
                self._db.conn.executemany(ADD_SEAL, ((log, *seal) for seal in seals))
        return len(seals)

    def newest_seal(self) -> Seal:
        """Seal what is not sealed yet, if that is possible now, and return `present_seal`."""
        self.seal_if_possible()
        return self.present_seal()

    def present_seal(self) -> Seal:
        """Return the seal of both logs as they are now; writes nothing."""
        with self._reading():
            (judgments, judged), (remarks, said) = (self._end_of(log) for log in LOGS)
        return Seal.of(judgments, remarks, judged, said)

    def check_seals(self) -> ChainReport:
        """Look at every event whether it is as it was sealed; writes nothing.

        Notices by itself that an event was changed, added or taken away, unless whoever did it
        made all later seals anew: for that there is `differs_from`.
        """
        seal = self.present_seal()
        with self._reading():
            faults = [fault for log in LOGS for fault in self._faults_of(log)]
            [(events, unsealed)] = self._rows(COUNTS)
        some, others = tuple(faults[:MOST_FAULTS]), len(faults[MOST_FAULTS:])
        return ChainReport(seal, events, unsealed, some, others)

    def differs_from(self, kept: Seal) -> str | None:
        """Say how the logs differ from what they were when a seal was kept; None if they do not.

        Computed from the events alone: whatever the stored seals are.
        """
        with self._reading():
            parts = [
                self._hashed_up_to(log, last)
                for log, last in zip(LOGS, (kept.judgments, kept.remarks), strict=True)
            ]
        for log, last, (found, _) in zip(LOGS, (kept.judgments, kept.remarks), parts, strict=True):
            if found != last:
                return (
                    f"the seal was made when the {log} went up to number {last}, and this one "
                    "is not there: events were taken away, or an older copy was put back"
                )
        now = Seal.of(kept.judgments, kept.remarks, *(seal for _, seal in parts))
        if kept.is_of(now):
            return None
        return (
            f"what was said up to judgment {kept.judgments} and remark {kept.remarks} is not what "
            "it was when the seal was made, or the seal is of another golden set"
        )

    def _first_of(self, log: str) -> bytes:
        stored = self._value("SELECT value FROM settings WHERE key = 'golden_set'")
        return first_seal(json.loads(stored), log)

    def _newest_of(self, log: str) -> tuple[int, bytes]:
        """Return the number of the newest sealed event of a log, and its seal."""
        rows = self._rows(
            "SELECT event, seal FROM seals WHERE log = ? ORDER BY event DESC LIMIT 1", [log]
        )
        return rows[0] if rows else (0, self._first_of(log))

    def _events(
        self, log: str, after: int = 0, up_to: int = LAST, most: int = -1
    ) -> Iterator[tuple[Any, ...]]:
        with self._translated():
            yield from self._db.execute(SEALED_EVENTS[log], [after, up_to, most])

    def _end_of(self, log: str) -> tuple[int, bytes]:
        """Return the number and the seal of a log's last event, whether that is stored or not."""
        last, seal = self._newest_of(log)
        return end_of(sealed(seal, self._events(log, last)), (last, seal))

    def _hashed_up_to(self, log: str, last: int) -> tuple[int, bytes]:
        """Return the last event up to a number that is there, and the seal it has by the events."""
        first = self._first_of(log)
        return end_of(sealed(first, self._events(log, up_to=last)), (0, first))

    def _faults_of(self, log: str) -> Iterator[str]:
        """Say of each event that is not as it was sealed what is wrong with it."""
        before, newest = self._first_of(log), self._newest_of(log)[0]
        for number, event, seal in self._side_by_side(log):
            if seal is None:
                if number < newest:
                    yield f"{ONE[log]} {number} came into the log later than those after it"
                continue
            if event is None:
                yield f"{ONE[log]} {number} has been taken out of the log"
            elif next_seal(before, event) != seal:
                yield f"{ONE[log]} {number} is not what it was when it was sealed"
            before = seal

    def _side_by_side(self, log: str) -> Iterator[tuple[int, tuple[Any, ...] | None, bytes | None]]:
        """Give each number that has an event or a seal, with both, in order."""
        seals = self._db.execute(
            "SELECT event, seal FROM seals WHERE log = ? ORDER BY event", [log]
        )
        marked_events = ((event[0], 0, event) for event in self._events(log))
        marked_seals = ((number, 1, seal) for number, seal in seals)
        merged = heapq.merge(marked_events, marked_seals, key=lambda each: each[:2])
        for number, pair in groupby(merged, key=lambda each: each[0]):
            found = {side: what for _, side, what in pair}
            yield number, found.get(0), found.get(1)


def end_of(seals: Iterable[tuple[int, bytes]], otherwise: tuple[int, bytes]) -> tuple[int, bytes]:
    """Return the last of some seals, or another where there is none."""
    return next(iter(deque(seals, maxlen=1)), otherwise)

"""The logs beside their seals, as any connection can read them; writes nothing.

Of a file that is looked at, or copied, as well as of one that is open.
"""

from __future__ import annotations

import heapq
import json
import sqlite3
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, groupby, islice
from typing import Any

from labeler.store.chain import LOGS, Seal, first_seal, next_seal, sealed
from labeler.store.schema import LAST, sealed_events

MOST_FAULTS = 20  # that are named one by one
GOLDEN_SET = "SELECT value FROM settings WHERE key = 'golden_set'"
NEWEST = "SELECT event, seal FROM seals WHERE log = ? ORDER BY event DESC LIMIT 1"
HAS_SEALS = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'seals'"
LATER = """
SELECT name FROM pragma_table_info('judgments') WHERE name IN ('evidence', 'carried_from')
ORDER BY name DESC
"""
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


class Chain:
    """The two logs and their seals, in one file."""

    def __init__(self, db: sqlite3.Connection) -> None:
        """Read them by a connection; what is asked in one transaction is of one moment."""
        self._db = db

    @cached_property
    def _later(self) -> tuple[str, ...]:
        """The columns of judgments that came later, as far as the file's version has them."""
        return tuple(name for (name,) in self._db.execute(LATER).fetchall())

    def is_there(self) -> bool:
        """Say whether the file has seals: those of an earlier version have none."""
        return bool(self._db.execute(HAS_SEALS).fetchall())

    def present_seal(self) -> Seal:
        """Return the seal of both logs as they are now."""
        (judgments, judged), (remarks, said) = (self.end_of(log) for log in LOGS)
        return Seal.of(judgments, remarks, judged, said)

    def check(self) -> ChainReport:
        """Look at every event whether it is as it was sealed.

        Notices by itself that an event was changed, added or taken away, unless whoever did it
        made all later seals anew: for that there is `differs_from`.
        """
        faults = chain.from_iterable(map(self.faults_of, LOGS))
        some = tuple(islice(faults, MOST_FAULTS))
        [(events, unsealed)] = self._db.execute(COUNTS).fetchall()
        return ChainReport(self.present_seal(), events, unsealed, some, sum(1 for _ in faults))

    def differs_from(self, kept: Seal) -> str | None:
        """Say how the logs differ from what they were when a seal was kept; None if they do not.

        Computed from the events alone: whatever the stored seals are.
        """
        ends = {"judgments": kept.judgments, "remarks": kept.remarks}
        seals = []
        for log, last in ends.items():
            found, seal = self.hashed_up_to(log, last)
            if found != last:
                return (
                    f"the seal was made when the {log} went up to number {last}, and that one is "
                    "not there: events were taken away, an older copy was put back, or the seal "
                    "is of another golden set"
                )
            seals.append(seal)
        if kept.is_of(Seal.of(kept.judgments, kept.remarks, *seals)):
            return None
        return (
            f"what was said up to judgment {kept.judgments} and remark {kept.remarks} is not what "
            "it was when the seal was made, or the seal is of another golden set"
        )

    def first_of(self, log: str) -> bytes:
        """Return what a log's first seal is made from."""
        [(stored,)] = self._db.execute(GOLDEN_SET).fetchall()
        return first_seal(json.loads(stored), log)

    def newest_of(self, log: str) -> tuple[int, bytes]:
        """Return the number of the newest sealed event of a log, and its seal."""
        row = self._db.execute(NEWEST, [log]).fetchone()
        return row or (0, self.first_of(log))

    def events(
        self, log: str, after: int = 0, up_to: int = LAST, most: int = -1
    ) -> Iterator[tuple[Any, ...]]:
        """Give what seals of a log's events are made from: after a number, up to another."""
        later = len(self._later) if log == "judgments" else 0
        sql = sealed_events(log, self._later if later else ())
        for said in self._db.execute(sql, [after, up_to, most]):
            end = len(said)  # an event without what came later is what it always was
            while end > len(said) - later and said[end - 1] is None:
                end -= 1
            yield said[:end]

    def end_of(self, log: str) -> tuple[int, bytes]:
        """Return the number and the seal of a log's last event, whether that is stored or not."""
        last, seal = self.newest_of(log)
        return last_of(sealed(seal, self.events(log, last)), (last, seal))

    def hashed_up_to(self, log: str, last: int) -> tuple[int, bytes]:
        """Return the last event up to a number that is there, and the seal it has by the events."""
        first = self.first_of(log)
        return last_of(sealed(first, self.events(log, up_to=last)), (0, first))

    def faults_of(self, log: str) -> Iterator[str]:
        """Say of each event that is not as it was sealed what is wrong with it."""
        before, newest = self.first_of(log), self.newest_of(log)[0]
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
        marked_events = ((event[0], 0, event) for event in self.events(log))
        marked_seals = ((number, 1, seal) for number, seal in seals)
        merged = heapq.merge(marked_events, marked_seals, key=lambda each: each[:2])
        for number, pair in groupby(merged, key=lambda each: each[0]):
            found = {side: what for _, side, what in pair}
            yield number, found.get(0), found.get(1)


def last_of(seals: Iterable[tuple[int, bytes]], otherwise: tuple[int, bytes]) -> tuple[int, bytes]:
    """Return the last of some seals, or another where there is none."""
    return next(iter(deque(seals, maxlen=1)), otherwise)

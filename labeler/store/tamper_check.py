"""Tamper check of the logs: extend the hash chain, verify it, and read kept hashes.

No grade waits for its hash: the server hashes new events every few seconds, a load or an export
at once. `HashChain` reads through any connection, of an open golden set or of a file or copy that
is only read. A kept hash may be text, a file beside an export, the last line of a log, a BEIR set,
or a backup.
"""

from __future__ import annotations

import gzip
import heapq
import json
import os
import sqlite3
import zipfile
import zlib
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, groupby, islice
from pathlib import Path
from typing import Any

from labeler.errors import BadInput, Busy, StorageError
from labeler.store import integrity, schema
from labeler.store.columns import ALL_ROWS
from labeler.store.connection import Connection
from labeler.store.hash_chain import CHAINED_LOGS, Seal, first_seal, next_seal, seal_events

MOST_FAULTS = 20  # listed; the others are only counted
GOLDEN_SET_ID = "SELECT value FROM settings WHERE key = 'golden_set'"
NEWEST_SEAL = "SELECT event, seal FROM seals WHERE log = ? ORDER BY event DESC LIMIT 1"
INSERT_SEAL = "INSERT INTO seals (log, event, seal) VALUES (?, ?, ?)"
LAST_ID = ALL_ROWS
# The columns that an event's hash is made from, for a range of events and with a limit. Queries
# and chunks are given by id, so that no two can be swapped; graders by number, as names change.
HASHED_EVENTS = {
    "judgments": """
        SELECT
            j.id, j.event_id, q.query_id, c.chunk_id, j.grader, j.kind, j.grade, j.graders,
            j.reason, j.note, j.blind, j.source, j.undoes, j.elapsed_ms, j.text_hash, j.created_at,
            j.evidence, j.carried_from, j.seen_whole, j.highlighted
        FROM judgments AS j
        LEFT JOIN queries AS q ON q.id = j.query
        LEFT JOIN chunks AS c ON c.id = j.chunk
        WHERE j.id > ? AND j.id <= ? ORDER BY j.id LIMIT ?
    """,
    "remarks": """
        SELECT r.id, r.event_id, q.query_id, r.grader, r.kind, r.note, r.undoes, r.created_at
        FROM remarks AS r
        LEFT JOIN queries AS q ON q.id = r.query
        WHERE r.id > ? AND r.id <= ? ORDER BY r.id LIMIT ?
    """,
}
OPTIONAL_COLUMNS = {"judgments": 4, "remarks": 0}
"""How many columns at the end of an event its hash omits where they are null."""
SEAL_COUNTS = """
WITH
newest (log, event) AS (SELECT log, max(event) FROM seals GROUP BY log),
events (log, event) AS (
    SELECT 'judgments', id FROM judgments UNION ALL SELECT 'remarks', id FROM remarks
)
SELECT count(*), coalesce(sum(events.event > coalesce(newest.event, 0)), 0)
FROM events LEFT JOIN newest USING (log)
"""
LOG_NOUNS = {"judgments": "judgment", "remarks": "remark"}


@dataclass(frozen=True, slots=True)
class ChainReport:
    """Result of a check: the seal of both logs, and the events that do not match their seals.

    ``faults`` are sentences, ``more`` counts those that are not listed. ``unsealed`` counts the
    events without a seal.
    """

    seal: Seal
    events: int
    unsealed: int
    faults: tuple[str, ...]
    more: int


class HashChain:
    """The two logs of a golden set and their seals."""

    def __init__(self, db: sqlite3.Connection) -> None:
        """Read through a connection; calls within one transaction see one state."""
        self._db = db

    def present_seal(self) -> Seal:
        """Return the seal of both logs as they are now."""
        (judgments, judged), (remarks, said) = (self.end_of(log) for log in CHAINED_LOGS)
        return Seal.of(judgments, remarks, judged, said)

    def check(self) -> ChainReport:
        """Compare every event with its seal.

        Detects an event that was changed, added or removed, unless all later seals were computed
        again to match: `differs_from` detects that.
        """
        faults = chain.from_iterable(map(self.faults_of, CHAINED_LOGS))
        some = tuple(islice(faults, MOST_FAULTS))
        [(events, unsealed)] = self._db.execute(SEAL_COUNTS).fetchall()
        return ChainReport(self.present_seal(), events, unsealed, some, sum(1 for _ in faults))

    def differs_from(self, kept: Seal) -> str | None:
        """Describe how the logs differ from a kept seal, None if they do not.

        Computed from the events alone, without the stored seals.
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
        """Return the hash that a log's first seal is made from."""
        [(stored,)] = self._db.execute(GOLDEN_SET_ID).fetchall()
        return first_seal(json.loads(stored), log)

    def newest_of(self, log: str) -> tuple[int, bytes]:
        """Return the number of the newest sealed event of a log, and its seal."""
        row = self._db.execute(NEWEST_SEAL, [log]).fetchone()
        return row or (0, self.first_of(log))

    def events(
        self, log: str, after: int = 0, up_to: int = LAST_ID, most: int = ALL_ROWS
    ) -> Iterator[tuple[Any, ...]]:
        """Yield the hashed columns of a log's events, those with ``after`` < id <= ``up_to``."""
        optional = OPTIONAL_COLUMNS[log]
        for said in self._db.execute(HASHED_EVENTS[log], [after, up_to, most]):
            end = len(said)
            while end > len(said) - optional and said[end - 1] is None:
                end -= 1
            yield said[:end]

    def end_of(self, log: str) -> tuple[int, bytes]:
        """Return the number and the seal of a log's last event; the seal need not be stored yet."""
        last, seal = self.newest_of(log)
        return last_seal(seal_events(seal, self.events(log, last)), (last, seal))

    def hashed_up_to(self, log: str, last: int) -> tuple[int, bytes]:
        """Return the number of the last event up to ``last``, and its seal by the events."""
        first = self.first_of(log)
        return last_seal(seal_events(first, self.events(log, up_to=last)), (0, first))

    def faults_of(self, log: str) -> Iterator[str]:
        """Yield a sentence for each event that does not match its seal."""
        before, newest = self.first_of(log), self.newest_of(log)[0]
        for number, event, seal in self._side_by_side(log):
            if seal is None:
                if number < newest:
                    yield f"{LOG_NOUNS[log]} {number} came into the log later than those after it"
                continue
            if event is None:
                yield f"{LOG_NOUNS[log]} {number} has been taken out of the log"
            elif next_seal(before, event) != seal:
                yield f"{LOG_NOUNS[log]} {number} is not what it was when it was sealed"
            before = seal

    def _side_by_side(self, log: str) -> Iterator[tuple[int, tuple[Any, ...] | None, bytes | None]]:
        """Yield each number that has an event or a seal, with both, in order."""
        seals = self._db.execute(
            "SELECT event, seal FROM seals WHERE log = ? ORDER BY event", [log]
        )
        marked_events = ((event[0], 0, event) for event in self.events(log))
        marked_seals = ((number, 1, seal) for number, seal in seals)
        merged = heapq.merge(marked_events, marked_seals, key=lambda each: each[:2])
        for number, pair in groupby(merged, key=lambda each: each[0]):
            found = {side: what for _, side, what in pair}
            yield number, found.get(0), found.get(1)


def last_seal(
    seals: Iterable[tuple[int, bytes]], otherwise: tuple[int, bytes]
) -> tuple[int, bytes]:
    """Return the last of some seals, or ``otherwise`` where there is none."""
    return next(iter(deque(seals, maxlen=1)), otherwise)


SEALED_AT_ONCE = 2_000  # events sealed in one transaction; graders wait milliseconds


class TamperCheck:
    """Extends the hash chain and computes the seal of both logs."""

    def __init__(self, connection: Connection) -> None:
        self._db = connection

    def seal(self) -> int:
        """Seal every event that has no seal yet; return how many."""
        return sum(self._seal_log(log) for log in CHAINED_LOGS)

    def _seal_log(self, log: str) -> int:
        done = 0
        while part := self._seal_part(log):
            done += part
        return done

    def _seal_part(self, log: str) -> int:
        """Seal some events, hashed before taking the lock; store none if another was faster."""
        with self._db.reading():
            chain = HashChain(self._db.conn)
            last, before = chain.newest_of(log)
            seals = list(seal_events(before, chain.events(log, last, most=SEALED_AT_ONCE)))
        if not seals:
            return 0
        with self._db.transaction():
            if chain.newest_of(log)[0] == last:
                self._db.conn.executemany(INSERT_SEAL, ((log, *seal) for seal in seals))
        return len(seals)

    def seal_if_possible(self) -> None:
        """Seal new events; if the file cannot be written to now, they are sealed later."""
        with suppress(Busy, StorageError), self._db.short_timeout():
            self.seal()

    def newest_seal(self) -> Seal:
        """Seal new events if that is possible now, and return `present_seal`."""
        self.seal_if_possible()
        return self.present_seal()

    def present_seal(self) -> Seal:
        """Return the seal of both logs as they are now; writes nothing."""
        with self._db.reading():
            return HashChain(self._db.conn).present_seal()


SEAL_SUFFIX = ".seal.txt"
SEAL_FILE = "seal.txt"  # of a BEIR folder, and of its zip
_SQLITE = b"SQLite format 3\0"
_LONGEST_NAME = 255  # bytes, on most file systems
_GZIP = b"\x1f\x8b"
_LAST_LINE = 4096  # bytes; a seal's line is far shorter
_BLOCK = 1 << 20


def seal_path(path: Path) -> Path:
    """Return the path of the seal beside an export that cannot hold it; a long name is cut.

    >>> seal_path(Path("golden.qrels")).name
    'golden.qrels.seal.txt'
    """
    room = _LONGEST_NAME - len(SEAL_SUFFIX)
    return path.with_name(os.fsdecode(os.fsencode(path.name)[:room]) + SEAL_SUFFIX)


def read_seal(given: str) -> Seal:
    """Return a kept seal; ``given`` is its text, or a path.

    The path is of a file beside an export, a log (its last line), a BEIR set, or a backup. Raises
    `BadInput` for anything else.
    """
    if not os.path.lexists(given):
        return Seal.parse(given)
    path = Path(given)
    try:
        return _seal_in(path)
    except (OSError, EOFError, zlib.error, zipfile.BadZipFile) as error:
        said = getattr(error, "strerror", None) or error
        raise BadInput(f"{path}: its seal cannot be read: {said}") from error


def _seal_in(path: Path) -> Seal:
    if path.is_dir():
        return _seal_in_text(path, (path / SEAL_FILE).read_bytes())
    with path.open("rb") as file:
        begins = file.read(len(_SQLITE))
    if begins == _SQLITE:
        return _seal_in_backup(path)
    if zipfile.is_zipfile(path):
        return _seal_in_zip(path)
    return _seal_in_text(path, _file_end(path, is_packed=begins.startswith(_GZIP)))


def _file_end(path: Path, *, is_packed: bool) -> bytes:
    """Return the last 4,096 bytes of a file, unpacked, without holding the rest in memory."""
    if not is_packed:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - _LAST_LINE))
            return file.read(_LAST_LINE)
    end = b""
    with gzip.open(path) as unpacked:
        while more := unpacked.read(_BLOCK):
            end = (end + more)[-_LAST_LINE:]
    return end


def _seal_in_backup(path: Path) -> Seal:
    with integrity.open_read_only(path) as db:
        schema.check_schema(path, schema.applied_migrations(db))
        return HashChain(db).present_seal()


def _seal_in_zip(path: Path) -> Seal:
    with zipfile.ZipFile(path) as folder:
        name = next((each for each in folder.namelist() if Path(each).name == SEAL_FILE), None)
        if name is None:
            raise BadInput(f"{path}: holds no {SEAL_FILE}")
        with folder.open(name) as file:
            return _seal_in_text(path, file.read(_LAST_LINE))


def _seal_in_text(path: Path, end: bytes) -> Seal:
    """Parse the last line: a seal, or a JSON object that has one."""
    lines = end.decode("utf-8", "replace").strip().splitlines() or [""]
    text = lines[-1]
    if text.startswith("{"):
        try:
            text = str(json.loads(text).get("seal"))
        except ValueError:
            text = ""
    try:
        return Seal.parse(text)
    except BadInput as error:
        raise BadInput(
            f"{path}: carries no seal; what an export writes beside a file, such as "
            f"golden.qrels{SEAL_SUFFIX}, does, and so do a log, a BEIR set and a backup"
        ) from error

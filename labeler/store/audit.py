"""The audit log: who did what, and when; append-only, and without secrets.

An entry is written in the transaction of the change it describes, so that neither is there
without the other.
"""

from __future__ import annotations

import getpass
import json
from collections.abc import Iterator, Mapping
from typing import Any

from labeler.errors import Busy, StorageError
from labeler.model import AUDIT_KINDS, Actor, AuditEntry
from labeler.store.columns import as_json, moment
from labeler.store.connection import Connection
from labeler.store.load_reports import has_changed

LONGEST_TEXT = 1_000  # characters of a text: a file's name, a setting
RECENT_ENTRIES = 200  # newest entries that are searched for one of this minute
COLUMNS = "at, kind, who, way, address, subject, detail, count"
INSERT_ENTRY = f"INSERT INTO audit ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
SEARCHED_TEXT = " || '\n' || ".join(
    f"coalesce({column}, '')" for column in ("at", "who", "way", "address", "subject", "detail")
)
MATCHING = f"""
FROM audit
WHERE (:kind IS NULL OR kind = :kind)
    AND (
        :words = '' OR kind IN (SELECT value FROM json_each(:kinds))
        OR instr(folded({SEARCHED_TEXT}), :words) > 0
    )
"""
THIS_MINUTE = """
SELECT EXISTS (
    SELECT 1 FROM audit
    WHERE id > (SELECT coalesce(max(id), 0) FROM audit) - ? AND kind = ?
        AND coalesce(who, '') = coalesce(?, '') AND coalesce(address, '') = coalesce(?, '')
        AND substr(at, 1, 16) = ?
)
"""


class Audit:
    """Appends to the audit log and searches it; `Connection.actor` is the user it names."""

    def __init__(self, connection: Connection) -> None:
        self._db = connection

    def note(
        self,
        kind: str,
        subject: str | None = None,
        detail: Mapping[str, Any] | None = None,
        *,
        at: str | None = None,
        count: int = 1,
    ) -> None:
        """Add an entry for an event that writes nothing else, such as a refusal or an export."""
        with self._db.transaction():
            self.put(kind, subject, detail, at=at, count=count)

    def note_if_possible(self, kind: str, subject: str, detail: Mapping[str, Any]) -> bool:
        """Add an entry for an action that only reads; return False where it cannot be written.

        So people can still export from a full disk or a read-only file.
        """
        try:
            with self._db.short_timeout():
                self.note(kind, subject, detail)
        except (Busy, StorageError):
            return False
        return True

    def note_once(self, kind: str, subject: str | None = None) -> None:
        """Add an entry for a frequent action, at most once a minute for a person and address."""
        by, now = self._db.actor or local_user(), moment()
        if not self._db.value(THIS_MINUTE, [RECENT_ENTRIES, kind, by.who, by.address, now[:16]]):
            self.note(kind, subject, at=now)

    def put(
        self,
        kind: str,
        subject: str | None = None,
        detail: Mapping[str, Any] | None = None,
        *,
        at: str | None = None,
        count: int = 1,
    ) -> None:
        """Add an entry in the transaction of the change that it describes."""
        by = self._db.actor or local_user()
        said = as_json(shortened(detail or {}))
        row = [at or moment(), kind, by.who, by.way, by.address, shortened(subject), said, count]
        self._db.execute(INSERT_ENTRY, row)

    def put_load(self, what: str, source: str, counts: Mapping[str, int]) -> None:
        """Add an entry for what a load has changed, if it has changed anything."""
        if has_changed(counts):
            brought = {name: count for name, count in counts.items() if count}
            self.put("load", source, {"what": what, **brought})

    def who(self) -> str | None:
        """Return the name of this connection's user, None where it is unknown."""
        return (self._db.actor or local_user()).who

    def search(
        self, words: str = "", *, kind: str | None = None, most: int = 50, skip: int = 0
    ) -> tuple[list[AuditEntry], int]:
        """Return entries that contain ``words``, the newest first, and how many there are in all.

        Case is ignored. ``skip`` leaves out that many of the newest.
        """
        self._db.conn.create_function("folded", 1, str.casefold, deterministic=True)
        sought = words.strip().casefold()
        called = [each for each, name in AUDIT_KINDS.items() if sought in name.casefold()]
        names = {"kind": kind, "words": sought, "kinds": as_json(called)}
        asked: dict[str, str | int | None] = {**names, "most": most, "skip": skip}
        with self._db.reading():
            rows = self._db.rows(
                f"SELECT {COLUMNS} {MATCHING} ORDER BY id DESC LIMIT :most OFFSET :skip", asked
            )
            [(count,)] = self._db.rows(f"SELECT count(*) {MATCHING}", asked)
        return [_entry_from_row(row) for row in rows], count

    def log(self) -> Iterator[AuditEntry]:
        """Yield every entry, the oldest first."""
        for row in self._db.rows(f"SELECT {COLUMNS} FROM audit ORDER BY id"):
            yield _entry_from_row(row)


def _entry_from_row(row: tuple[Any, ...]) -> AuditEntry:
    at, kind, who, way, address, subject, detail, count = row
    return AuditEntry(at, kind, who, way, address, subject, json.loads(detail), count)


def shortened(value: Any) -> Any:
    """Return a value with each text in it cut to `LONGEST_TEXT` characters.

    >>> shortened("a" * 2000)[-2:], shortened([7, None])
    ('a…', [7, None])
    """
    if isinstance(value, str):
        return value if len(value) <= LONGEST_TEXT else f"{value[: LONGEST_TEXT - 1]}…"
    if isinstance(value, Mapping):
        return {name: shortened(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [shortened(each) for each in value]
    return value


def local_user() -> Actor:
    """Return the user who runs this process."""
    try:
        return Actor(getpass.getuser(), "terminal")
    except (OSError, KeyError, ImportError):  # a container may have a user without a name
        return Actor(None, "terminal")

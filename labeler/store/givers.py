"""Whose a grade is that waited in a browser: by a key that outlives every rename."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from labeler.errors import NotFound
from labeler.store.connection import Connection

UNSIGNED_FOR = timedelta(days=180)  # what waits from before pairs were signed is taken so long


@dataclass(frozen=True, slots=True)
class Giver:
    """A grader as their browser knows them: ``key`` stays theirs when they are renamed.

    ``known_as`` is the name they had when the golden set began to sign what it hands out: what
    waits from before carries that name and no key. It is None for whoever came later, and for
    everyone once `UNSIGNED_FOR` is over.
    """

    name: str
    key: str
    known_as: str | None


class Givers(Connection):
    """Graders by the keys that browsers keep their grades under."""

    def giver(self, name: str) -> Giver:
        """Return a grader's key and earlier name; raises `NotFound`."""
        rows = self._rows("SELECT id, seed, known_as FROM graders WHERE name = ?", [name])
        if not rows:
            raise NotFound(f"there is no grader named {name!r}")
        number, seed, known_as = rows[0]
        is_late = known_as is None or self._signs_since() + UNSIGNED_FOR < datetime.now(UTC)
        return Giver(name, self._key_of(number, seed), None if is_late else known_as)

    def giver_with(self, key: str) -> str | None:
        """Return the name of the grader whose key this is, None where nobody has it."""
        rows = self._rows("SELECT name, id, seed FROM graders")
        return next((name for name, *row in rows if self._key_of(*row) == key), None)

    def _key_of(self, number: int, seed: int) -> str:
        # The same in every copy of the file; nobody who is added to an older copy gets it again.
        named = f"{self._text_setting('golden_set')} {number} {seed}"
        return hashlib.sha256(named.encode()).hexdigest()[:16]

    def _signs_since(self) -> datetime:
        return datetime.fromisoformat(self._text_setting("signs_since"))

    def _text_setting(self, key: str) -> str:
        value = self._value("SELECT value FROM settings WHERE key = ?", [key])
        return str(json.loads(value))

"""What was changed of queries: by whom, when, from what to what; added to and never changed."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from labeler.errors import NotFound
from labeler.model import Origin, Query, QueryChange, differences
from labeler.store.audit import Audit
from labeler.store.columns import as_json, moment

CHANGE = """
INSERT INTO query_history (query, kind, at, who, file, before, after)
SELECT id, ?, ?, ?, ?, ?, ? FROM queries WHERE query_id = ?
"""
CHANGED = """
SELECT h.id, q.query_id, h.kind, h.at, h.who, h.file, h.before, h.after
FROM query_history AS h JOIN queries AS q ON q.id = h.query
"""
ORIGIN = "SELECT source, source_file, added_at, added_by FROM queries WHERE query_id = ?"
ORIGINS = """
SELECT query_id, source, source_file, added_at, added_by
FROM queries WHERE retired_at IS NULL ORDER BY id
"""
CAME = """
UPDATE queries SET source = ?, source_file = ?, added_at = ?, added_by = ? WHERE query_id = ?
"""


class History(Audit):
    """The log of changes of queries, and where each query came from."""

    def _note_change(
        self, kind: str, before: Query | None, after: Query, file: str | None = None
    ) -> None:
        """Add what a change was of, if it was of anything."""
        was, now = differences(before, after)
        if was != now:
            said = [kind, moment(), self.whoever(), file, as_json(was), as_json(now)]
            self._db.execute(CHANGE, [*said, after.query_id])

    def _note_fields(self, kind: str, query_id: str, was: Any, now: Any) -> None:
        said = [kind, moment(), self.whoever(), None, as_json(was), as_json(now)]
        self._db.execute(CHANGE, [*said, query_id])

    def _note_origin(self, query_ids: Iterable[str], source: str, file: str | None) -> None:
        row = (source, file, moment(), self.whoever())
        self._db.conn.executemany(CAME, ((*row, query_id) for query_id in query_ids))

    def _put_origin(self, query_id: str, origin: Origin) -> None:
        row = (origin.source, origin.file, origin.added_at, origin.added_by, query_id)
        self._db.execute(CAME, row)

    def _put_change(self, change: QueryChange) -> None:
        """Add a change as another file has it."""
        said = [change.kind, change.at, change.who, change.file]
        self._db.execute(
            CHANGE, [*said, as_json(change.before), as_json(change.after), change.query_id]
        )

    def history_of(self, query_id: str) -> list[QueryChange]:
        """Return what was changed of a query, the newest first."""
        rows = self._rows(f"{CHANGED} WHERE q.query_id = ? ORDER BY h.id DESC", [query_id])
        return [_change(row) for row in rows]

    def history(self) -> list[QueryChange]:
        """Return every change of every query, oldest first."""
        return [_change(row) for row in self._rows(f"{CHANGED} ORDER BY h.id")]

    def origin_of(self, query_id: str) -> Origin:
        """Return where a query came from; `NotFound` where there is none."""
        rows = self._rows(ORIGIN, [query_id])
        if not rows:
            raise NotFound(f"there is no query {query_id!r} in the golden set")
        return Origin(*rows[0])

    def origins(self) -> dict[str, Origin]:
        """Return where each query in use came from, in the order they were loaded."""
        return {query_id: Origin(*rest) for query_id, *rest in self._rows(ORIGINS)}


def _change(row: tuple[Any, ...]) -> QueryChange:
    change = QueryChange(*row)
    return replace(change, before=json.loads(row[6]), after=json.loads(row[7]))

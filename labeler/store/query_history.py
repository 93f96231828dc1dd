"""History of queries: the log of their changes, and where each query came from.

Each entry is written in the transaction of its change.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from labeler.errors import NotFound
from labeler.model import Query, QueryChange, QueryOrigin, query_differences
from labeler.store.audit import Audit
from labeler.store.columns import as_json, moment
from labeler.store.connection import Connection

INSERT_CHANGE = """
INSERT INTO query_history (query, kind, at, who, file, before, after)
SELECT id, ?, ?, ?, ?, ?, ? FROM queries WHERE query_id = ?
"""
SELECT_CHANGES = """
SELECT h.id, q.query_id, h.kind, h.at, h.who, h.file, h.before, h.after
FROM query_history AS h JOIN queries AS q ON q.id = h.query
"""
ORIGIN_OF_QUERY = "SELECT source, source_file, added_at, added_by FROM queries WHERE query_id = ?"
ORIGINS_IN_USE = """
SELECT query_id, source, source_file, added_at, added_by
FROM queries WHERE retired_at IS NULL ORDER BY id
"""
SET_ORIGIN = """
UPDATE queries SET source = ?, source_file = ?, added_at = ?, added_by = ? WHERE query_id = ?
"""


class QueryHistory:
    """Appends to the log of changes of queries, and reads it and their origins."""

    def __init__(self, connection: Connection) -> None:
        self._db = connection
        self._audit = Audit(connection)

    def all(self) -> list[QueryChange]:
        """Return every change of every query, oldest first."""
        return [_change_from_row(row) for row in self._db.rows(f"{SELECT_CHANGES} ORDER BY h.id")]

    def of(self, query_id: str) -> list[QueryChange]:
        """Return the changes of a query, the newest first."""
        rows = self._db.rows(
            f"{SELECT_CHANGES} WHERE q.query_id = ? ORDER BY h.id DESC", [query_id]
        )
        return [_change_from_row(row) for row in rows]

    def origins(self) -> dict[str, QueryOrigin]:
        """Return where each query in use came from, in the order they were loaded."""
        return {query_id: QueryOrigin(*rest) for query_id, *rest in self._db.rows(ORIGINS_IN_USE)}

    def origin_of(self, query_id: str) -> QueryOrigin:
        """Return where a query came from; raises `NotFound`."""
        rows = self._db.rows(ORIGIN_OF_QUERY, [query_id])
        if not rows:
            raise NotFound(f"there is no query {query_id!r} in the golden set")
        return QueryOrigin(*rows[0])

    def note_change(
        self, kind: str, before: Query | None, after: Query, file: str | None = None
    ) -> None:
        """Log which fields of a query changed, if any did."""
        was, now = query_differences(before, after)
        if was != now:
            said = [kind, moment(), self._audit.who(), file, as_json(was), as_json(now)]
            self._db.execute(INSERT_CHANGE, [*said, after.query_id])

    def note_fields(self, kind: str, query_id: str, was: Any, now: Any) -> None:
        """Log a change of single fields, such as the split or the date of retirement."""
        said = [kind, moment(), self._audit.who(), None, as_json(was), as_json(now)]
        self._db.execute(INSERT_CHANGE, [*said, query_id])

    def put_change(self, change: QueryChange) -> None:
        """Log a change copied from another golden set, with its time and author."""
        said = [change.kind, change.at, change.who, change.file]
        self._db.execute(
            INSERT_CHANGE, [*said, as_json(change.before), as_json(change.after), change.query_id]
        )

    def put_origin(self, query_id: str, origin: QueryOrigin) -> None:
        """Replace where a query came from."""
        row = (origin.source, origin.file, origin.added_at, origin.added_by, query_id)
        self._db.execute(SET_ORIGIN, row)


def _change_from_row(row: tuple[Any, ...]) -> QueryChange:
    change = QueryChange(*row)
    return replace(change, before=json.loads(row[6]), after=json.loads(row[7]))

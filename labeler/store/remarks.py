"""What graders say of whole queries: a log of its own, where the newest of each grader counts."""

from __future__ import annotations

from labeler.errors import BadInput, NotFound
from labeler.model import Remark
from labeler.store.columns import moment
from labeler.store.connection import Connection

SAY = """
INSERT INTO remarks (event_id, query, grader, kind, note, created_at)
SELECT :event_id, q.id, g.id, :kind, :note, :created_at
FROM queries AS q, graders AS g
WHERE q.query_id = :query_id AND g.name = :grader
    AND (q.retired_at IS NULL OR :as_is)
    AND NOT EXISTS (SELECT 1 FROM remarks WHERE event_id = :event_id)
"""

COLUMNS = """
SELECT r.event_id, q.query_id, g.name, r.kind, r.note, r.created_at
FROM {rows} AS r
JOIN queries AS q ON q.id = r.query
JOIN graders AS g ON g.id = r.grader
"""


class Remarks(Connection):
    """Queries that nothing answers, or that nobody understands, as graders say."""

    def remark(self, remark: Remark) -> bool:
        """Add one remark and return once it is on the disk.

        Returns False where this very remark is already there. Raises `NotFound` for a query or
        grader that is not there or a query that is retired, `BadInput` where the event id stands
        for something else.
        """
        with self._translated():
            return self._add_remark(remark)

    def _add_remark(self, remark: Remark, *, as_is: bool = False) -> bool:
        added = self._db.execute(
            SAY,
            {
                "event_id": remark.event_id,
                "query_id": remark.query_id,
                "grader": remark.grader,
                "kind": remark.kind,
                "note": remark.note,
                "created_at": remark.created_at or moment(),
                "as_is": as_is,
            },
        ).rowcount
        if not added:
            self._explain_not_said(remark)
        return bool(added)

    def _explain_not_said(self, remark: Remark) -> None:
        stored = self._rows(
            COLUMNS.format(rows="remarks") + "WHERE r.event_id = ?", [remark.event_id]
        )
        said = (remark.event_id, remark.query_id, remark.grader, remark.kind, remark.note)
        if stored and stored[0][:5] == said:
            return
        if stored:
            raise BadInput(f"event {remark.event_id!r} is in the log with other content")
        if self._value("SELECT 1 FROM graders WHERE name = ?", [remark.grader]) is None:
            raise NotFound(f"there is no grader named {remark.grader!r}")
        there = self._value("SELECT 1 FROM queries WHERE query_id = ?", [remark.query_id])
        what = "has been retired from" if there else "is not in"
        raise NotFound(f"query {remark.query_id!r} {what} this golden set")

    def remarks(self) -> list[Remark]:
        """Return what counts now of what graders said of queries, the newest first."""
        rows = self._rows(
            COLUMNS.format(rows="current_remarks") + "WHERE q.retired_at IS NULL ORDER BY r.id DESC"
        )
        return [Remark(*row) for row in rows]

    def remark_log(self) -> list[Remark]:
        """Return everything that was ever said of queries, oldest first."""
        return [
            Remark(*row) for row in self._rows(COLUMNS.format(rows="remarks") + "ORDER BY r.id")
        ]

    def remarks_by(self, grader: str) -> dict[str, Remark]:
        """Return what a grader says of queries, by query."""
        rows = self._rows(
            COLUMNS.format(rows="current_remarks") + "WHERE g.name = ? ORDER BY r.id", [grader]
        )
        return {remark.query_id: remark for remark in (Remark(*row) for row in rows)}

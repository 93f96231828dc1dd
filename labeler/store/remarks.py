"""Remarks of graders about whole queries: an append-only log; each grader's newest counts."""

from __future__ import annotations

from dataclasses import dataclass, replace

from labeler.errors import BadInput, NotFound
from labeler.model import Remark
from labeler.store.columns import moment
from labeler.store.connection import Connection

APPEND_REMARK = """
INSERT INTO remarks (event_id, query, grader, kind, note, undoes, created_at)
SELECT :event_id, q.id, g.id, :kind, :note, (SELECT id FROM remarks WHERE event_id = :undoes),
    :created_at
FROM queries AS q, graders AS g
WHERE q.query_id = :query_id AND g.name = :grader
    AND (q.retired_at IS NULL OR :as_is)
    AND (:undoes IS NULL OR EXISTS (
        SELECT 1 FROM standing_remarks AS undone
        WHERE undone.event_id = :undoes AND undone.query = q.id AND undone.grader = g.id
    ))
    AND NOT EXISTS (SELECT 1 FROM remarks WHERE event_id = :event_id)
"""
# Undoing a remark restores the grader's newest older remark on the query that is not undone.
UNDO_REMARK = """
INSERT INTO remarks (event_id, query, grader, kind, note, undoes, created_at)
SELECT :event_id, r.query, r.grader, coalesce(f.kind, 'withdraw'), f.note, r.id, :created_at
FROM standing_remarks AS r
JOIN graders AS g ON g.id = r.grader AND g.name = :grader
LEFT JOIN remarks AS f ON f.id = (
    SELECT max(older.id) FROM standing_remarks AS older
    WHERE older.query = r.query AND older.grader = r.grader AND older.id < r.id
)
WHERE r.event_id = :undoes
    AND NOT EXISTS (SELECT 1 FROM remarks WHERE event_id = :event_id)
    AND NOT EXISTS (
        SELECT 1 FROM standing_remarks AS later
        WHERE later.query = r.query AND later.grader = r.grader AND later.id > r.id
    )
"""
SELECT_REMARKS = """
SELECT r.event_id, q.query_id, g.name, r.kind, r.note, r.created_at, {undoes}
FROM {rows} AS r
JOIN queries AS q ON q.id = r.query
JOIN graders AS g ON g.id = r.grader
"""
CURRENT_REMARKS = SELECT_REMARKS.format(undoes="NULL", rows="current_remarks")
REMARK_LOG = SELECT_REMARKS.format(undoes="undone.event_id", rows="remarks") + (
    "LEFT JOIN remarks AS undone ON undone.id = r.undoes "
)
UNDOABLE_REMARKS = """
SELECT
    r.event_id, q.query_id, g.name, r.kind, r.note, r.created_at, NULL,
    f.event_id, q.query_id, g.name, f.kind, f.note, f.created_at, NULL
FROM standing_remarks AS r
JOIN queries AS q ON q.id = r.query AND q.retired_at IS NULL
JOIN graders AS g ON g.id = r.grader AND g.name = :grader
LEFT JOIN remarks AS f ON f.id = (
    SELECT max(older.id) FROM standing_remarks AS older
    WHERE older.query = r.query AND older.grader = r.grader AND older.id < r.id
)
WHERE :before IS NULL OR r.id < (SELECT id FROM remarks WHERE event_id = :before)
ORDER BY r.id DESC LIMIT :limit
"""


@dataclass(frozen=True, slots=True)
class UndoableRemark:
    """A remark that can be taken back; ``former`` is the remark that then counts, if any."""

    remark: Remark
    former: Remark | None


class Remarks:
    """Appends, takes back and reads remarks."""

    def __init__(self, connection: Connection) -> None:
        self._db = connection

    def add(self, remark: Remark) -> bool:
        """Add one remark and return once it is on the disk.

        Returns False where this very remark is already there. Raises `NotFound` for an unknown
        query or grader or a retired query, `BadInput` where the event id belongs to another remark.
        """
        with self._db.translated():
            return self.put(remark)

    def put(self, remark: Remark, *, as_is: bool = False) -> bool:
        """Add a remark as `add` does; with ``as_is`` its query may be retired."""
        added = self._db.execute(
            APPEND_REMARK,
            {
                "event_id": remark.event_id,
                "query_id": remark.query_id,
                "grader": remark.grader,
                "kind": remark.kind,
                "note": remark.note,
                "undoes": remark.undoes,
                "created_at": remark.created_at or moment(),
                "as_is": as_is,
            },
        ).rowcount
        if not added:
            self._explain_not_said(remark)
        return bool(added)

    def _explain_not_said(self, remark: Remark) -> None:
        stored = self._db.rows(REMARK_LOG + "WHERE r.event_id = ?", [remark.event_id])
        if stored and replace(Remark(*stored[0]), created_at=remark.created_at) == remark:
            return
        if stored:
            raise BadInput(f"event {remark.event_id!r} is in the log with other content")
        if self._db.value("SELECT 1 FROM graders WHERE name = ?", [remark.grader]) is None:
            raise NotFound(f"there is no grader named {remark.grader!r}")
        there = self._db.value("SELECT 1 FROM queries WHERE query_id = ?", [remark.query_id])
        if there and remark.undoes is not None:
            raise NotFound(f"{remark.grader!r} has no remark {remark.undoes!r} to undo")
        if there:
            raise NotFound(f"query {remark.query_id!r} has been retired from this golden set")
        raise NotFound(f"there is no query {remark.query_id!r} in this golden set")

    def take_back(self, *, event_id: str, undoes: str, grader: str) -> bool:
        """Take back the effect of the grader's own remark ``undoes``, as a new event.

        Their earlier remark about the query counts again. Returns False where this very undo is
        already in the log. Raises `NotFound` for an unknown remark or another grader's, `BadInput`
        where it is taken back already or they have made another one since.
        """
        said = {"event_id": event_id, "undoes": undoes, "grader": grader, "created_at": moment()}
        with self._db.translated():
            added = self._db.execute(UNDO_REMARK, said).rowcount
        if not added:
            self._explain_not_unsaid(event_id, undoes, grader)
        return bool(added)

    def _explain_not_unsaid(self, event_id: str, undoes: str, grader: str) -> None:
        found = self._db.rows(
            "SELECT undo.event_id FROM remarks AS r JOIN graders AS g ON g.id = r.grader "
            "LEFT JOIN remarks AS undo ON undo.undoes = r.id WHERE r.event_id = ? AND g.name = ?",
            [undoes, grader],
        )
        if not found:
            raise NotFound(f"{grader!r} has no remark {undoes!r} to undo")
        if found[0][0] == event_id:
            return
        if found[0][0] is not None:
            raise BadInput("this remark was already undone")
        if self._db.value("SELECT 1 FROM remarks WHERE event_id = ?", [event_id]):
            raise BadInput(f"event {event_id!r} is in the log with other content")
        raise BadInput("you have said something else of this query since; undo that first")

    def undoable(self, grader: str, limit: int, before: str | None = None) -> list[UndoableRemark]:
        """Return the grader's newest remarks that can still be taken back, the newest first.

        With ``before``, the event id of a remark, only older ones.
        """
        rows = self._db.rows(UNDOABLE_REMARKS, {"grader": grader, "before": before, "limit": limit})
        return [
            UndoableRemark(Remark(*row[:7]), None if row[7] is None else Remark(*row[7:]))
            for row in rows
        ]

    def current(self) -> list[Remark]:
        """Return the remarks that count now on queries in use, the newest first."""
        rows = self._db.rows(CURRENT_REMARKS + "WHERE q.retired_at IS NULL ORDER BY r.id DESC")
        return [Remark(*row) for row in rows]

    def log(self) -> list[Remark]:
        """Return the whole log, oldest first."""
        return [Remark(*row) for row in self._db.rows(REMARK_LOG + "ORDER BY r.id")]

    def by(self, grader: str) -> dict[str, Remark]:
        """Return the remarks of a grader that count now, by query."""
        rows = self._db.rows(CURRENT_REMARKS + "WHERE g.name = ? ORDER BY r.id", [grader])
        return {remark.query_id: remark for remark in (Remark(*row) for row in rows)}

"""Loads of golden grades by number: note them, list them, and take one back by new events.

A load is one transaction that holds the lock of all writers, so its events follow each other in
the log, and the first and the last of them say which they are.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from labeler.errors import BadInput, NotFound
from labeler.model import GoldenLoad, LoadState, LoadUndo, undo_source
from labeler.model.golden_loads import DECIDED, REGRADED, REPLACED, TAKEN_BACK, UNDONE_BY_LOG
from labeler.store.audit import shortened
from labeler.store.columns import moment
from labeler.store.judgments import JudgmentLog
from labeler.store.tamper_check import TamperCheck

INSERT_LOAD = """
INSERT INTO golden_loads (id, at, who, file, first_event, last_event) VALUES (?, ?, ?, ?, ?, ?)
"""
NEXT_NUMBER = "SELECT coalesce(max(id), 0) + 1 FROM golden_loads"
SELECT_LOADS = """
SELECT l.id, l.at, l.who, l.file, f.event_id, t.event_id, l.first_event, l.last_event
FROM golden_loads AS l
JOIN judgments AS f ON f.id = l.first_event JOIN judgments AS t ON t.id = l.last_event
ORDER BY l.id
"""
COUNT_BROUGHT = """
SELECT count(*) FROM judgments
WHERE id BETWEEN ? AND ? AND +undoes IS NULL
    AND kind IN ('grade', 'cannot_tell', 'import', 'carry')
"""
COUNT_CURRENT = """
SELECT count(*) FROM current_judgments
WHERE id BETWEEN ? AND ? AND kind IN ('grade', 'cannot_tell', 'import', 'carry')
"""
LAST_UNDO = """
SELECT max(undo.created_at) FROM judgments AS j JOIN judgments AS undo ON undo.undoes = j.id
WHERE j.id BETWEEN ? AND ? AND undo.source = ?
"""
# The newest events come first, as they are undone in that order: what an undo says in its columns
# is what the newest older event of its lane says, which an undo after it may take back in turn.
EVENTS_OF_LOAD = """
SELECT e.id, e.query, e.chunk, coalesce(e.grader, 0), e.lane, e.kind, b.id, b.kind,
    EXISTS (
        SELECT 1 FROM standing_judgments AS later
        WHERE later.query = e.query AND later.chunk = e.chunk AND +later.grader IS e.grader
            AND later.lane = e.lane AND later.id > :last
    )
FROM standing_judgments AS e
LEFT JOIN judgments AS b ON b.id = (
    SELECT max(older.id) FROM standing_judgments AS older
    WHERE older.query = e.query AND older.chunk = e.chunk AND +older.grader IS e.grader
        AND older.lane = e.lane AND older.id < e.id
)
WHERE e.id BETWEEN :first AND :last AND e.lane <> 'propose'
ORDER BY e.id DESC
"""
COUNT_UNDONE = """
SELECT count(*) FROM judgments AS j JOIN judgments AS undo ON undo.undoes = j.id
WHERE j.id BETWEEN :first AND :last AND undo.id > :last
"""
COUNT_UNDOS = """
SELECT count(*) FROM judgments WHERE id BETWEEN :first AND :last AND undoes < :first
"""
# An event that nobody here gave has no grader; a withdrawal of one has an empty list instead.
UNDO_EVENT = """
INSERT INTO judgments (
    event_id, query, chunk, grader, kind, grade, graders, reason, note, blind, source, undoes,
    text_hash, created_at, evidence, carried_from
)
SELECT
    ?, e.query, e.chunk, e.grader, coalesce(b.kind, 'withdraw'), b.grade, b.graders, b.reason,
    b.note, e.blind, ?, e.id, b.text_hash, ?, b.evidence,
    CASE WHEN b.kind IS NULL AND e.grader IS NULL THEN '[]' ELSE b.carried_from END
FROM judgments AS e LEFT JOIN judgments AS b ON b.id = ? WHERE e.id = ?
"""


class _EventOfLoad(NamedTuple):
    """A judgment of a load that nobody has taken back, and the one that stood before it, if any."""

    id: int
    query: int
    chunk: int
    grader: int
    lane: str
    kind: str
    before: int | None
    kind_before: str | None
    is_replaced: bool

    @property
    def place(self) -> tuple[int, int, int, str]:
        """What the judgments replace each other in: a pair, who judges it, and how."""
        return self.query, self.chunk, self.grader, self.lane


class _Undo(NamedTuple):
    """The judgments to undo, the newest first, and what that does."""

    events: Sequence[_EventOfLoad]
    report: LoadUndo


class GoldenLoads(JudgmentLog, TamperCheck):
    """The loads that brought golden grades, and their undo."""

    def golden_loads(self) -> list[GoldenLoad]:
        """Return every load that added to the log of judgments, the oldest first."""
        return [load for load, _, _ in self._golden_loads()]

    def load_states(self, newest: int | None = None) -> list[LoadState]:
        """Return what became of every load of golden grades, or of so many, the oldest first."""
        with self._reading():
            loads = self._golden_loads()
            return [self._state_of(*each) for each in loads[-newest if newest else 0 :]]

    def undo_of_load(self, number: int) -> LoadUndo:
        """Return what `undo_load` would do; raises `NotFound` where no load has the number."""
        with self._reading():
            return self._find_undo(number).report

    def undo_load(self, number: int) -> LoadUndo:
        """Take back the grades of a load that are still current, by one new event each.

        A grade that the load replaced counts again. What a later load or a grader said since
        stays, and so do adjudications. Doing it again does nothing. Raises `NotFound` where no
        load has the number.
        """
        with self._writing():
            events, report = self._find_undo(number)
            if events:
                source, at = undo_source(number), moment()
                self._db.conn.executemany(
                    UNDO_EVENT,
                    ((str(uuid.uuid4()), source, at, each.before, each.id) for each in events),
                )
                detail = {"load": number, "taken back": report.taken_back}
                if report.restored:
                    detail["as before"] = report.restored
                self._note("undo_load", report.load.file, detail)
        self.seal_if_possible()
        return report

    def _number_load(self, file: str, before: int) -> int | None:
        """Give a load its number, if it added any judgment to a log that ended ``before``."""
        last = self.revision()
        if last == before:
            return None
        number = int(self._value(NEXT_NUMBER))
        row = [number, moment(), self.whoever(), shortened(file), before + 1, last]
        self._db.execute(INSERT_LOAD, row)
        return number

    def _put_golden_loads(self, loads: Iterable[GoldenLoad], source: str) -> None:
        """Add loads with the numbers they had where their events come from."""
        for load in loads:
            ends = []
            for event_id in (load.first, load.last):
                found = self._value("SELECT id FROM judgments WHERE event_id = ?", [event_id])
                if found is None:
                    raise BadInput(
                        f"{source}: load {load.number} of golden grades names the event "
                        f"{event_id!r}, which is not in the file; get the file again from its "
                        "source"
                    )
                ends.append(found)
            self._db.execute(INSERT_LOAD, [load.number, load.at, load.who, load.file, *ends])

    def _golden_loads(self) -> list[tuple[GoldenLoad, int, int]]:
        """Return the loads, each with the numbers of its first and its last judgment."""
        rows = self._rows(SELECT_LOADS)
        return [(GoldenLoad(*row), first, last) for *row, first, last in rows]

    def _state_of(self, load: GoldenLoad, first: int, last: int) -> LoadState:
        brought, current = (
            int(self._value(sql, [first, last])) for sql in (COUNT_BROUGHT, COUNT_CURRENT)
        )
        undone = self._value(LAST_UNDO, [first, last, undo_source(load.number)])
        return LoadState(load, brought, current, undone)

    def _find_undo(self, number: int) -> _Undo:
        loads = self._golden_loads()
        found = next((each for each in loads if each[0].number == number), None)
        if found is None:
            raise NotFound(_describe_missing(number, len(loads)))
        load, first, last = found
        ends = {"first": first, "last": last}
        events, left = [], Counter[str]()
        for row in self._rows(EVENTS_OF_LOAD, ends):
            event = _EventOfLoad(*row)
            if event.lane == "adjudicate":
                left[DECIDED] += 1
            elif event.is_replaced:
                left[REGRADED if event.grader else REPLACED] += event.kind != "withdraw"
            else:
                events.append(event)
        left[UNDONE_BY_LOG] = int(self._value(COUNT_UNDOS, ends))
        left[TAKEN_BACK] = int(self._value(COUNT_UNDONE, ends))
        newest: dict[tuple[int, int, int, str], str] = {}
        before: dict[tuple[int, int, int, str], str | None] = {}
        for event in events:
            newest.setdefault(event.place, event.kind)
            before[event.place] = event.kind_before
        taken = [place for place, kind in newest.items() if kind != "withdraw"]
        restored = sum(before[place] not in (None, "withdraw") for place in newest)
        return _Undo(events, LoadUndo(load, len(taken), restored, left))


def _describe_missing(number: int, loads: int) -> str:
    if not loads:
        return "there is no load of golden grades to undo"
    there = "there is load 1 alone" if loads == 1 else f"there are loads 1 to {loads:,}"
    return (
        f"there is no load {number} of golden grades; {there}, and 'labeler undo-load' lists them; "
        "loads of runs and chunks have no number: 'labeler drop run NAME' takes a run away"
    )

"""Data for the choice of the next pair: the pool, what each grader has judged, and leases.

A lease says which queries a grader was handed last. Leases are stored only where several servers
share one database; the server of a file keeps them in memory.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np

from labeler.errors import NotFound
from labeler.model import ACTIVE_SOURCE, CurrentJudgment, Judgment, Pair
from labeler.store.columns import (
    BEGIN_ASSIGNMENT,
    DATABASE_NOW,
    as_json,
    judgment_from_row,
    passages_from_column,
)
from labeler.store.connection import Connection
from labeler.store.judgments import JUDGMENT_EVENTS, Judgments

LONGEST_GRADE_MS = 300_000  # a longer time for one chunk counts as a break
GRADING_KINDS = ("grade", "cannot_tell")
JUDGMENTS_FOR_PACE = 50  # newest judgments that a grader's pace is the median of
# The columns of `CurrentJudgment`.
SELECT_JUDGED = """
    j.event_id, j.id, j.kind, j.grade, j.reason, j.note,
    EXISTS (
        SELECT 1 FROM judgments AS r
        WHERE r.query = j.query AND r.chunk = j.chunk AND +r.grader = j.grader
            AND r.source = 'repeat'
    ),
    coalesce(j.text_hash, '') = coalesce(c.text_hash, ''), j.evidence
FROM current_judgments AS j
JOIN chunks AS c ON c.id = j.chunk
JOIN queries AS q ON q.id = j.query
WHERE j.kind IN ('grade', 'cannot_tell')
"""
# All events of one grader, the oldest first. Python finds the current ones: the view of current
# judgments would look up the later events of the pair for each row.
EVENTS_OF_GRADER = """
SELECT
    q.query_id, j.chunk, j.id, j.undoes, j.source, j.kind,
    j.event_id, j.grade, j.reason, j.note,
    coalesce(j.text_hash, '') = coalesce(c.text_hash, ''), j.evidence
FROM judgments AS j
JOIN chunks AS c ON c.id = j.chunk
JOIN queries AS q ON q.id = j.query
WHERE j.grader = (SELECT id FROM graders WHERE name = ?)
ORDER BY j.id
"""
# Undoing an event restores the newest older event of its pair. Events for copies are undone with
# the event that they were written for.
UNDOABLE_JUDGMENTS = """
SELECT
    q.query_id, c.chunk_id, j.chunk,
    j.event_id, j.kind, j.grade, j.reason, j.note, j.source, j.created_at,
    CASE WHEN j.text_hash = c.text_hash THEN j.evidence END,
    f.event_id, f.kind, f.grade, f.reason, f.note, f.source, f.created_at,
    CASE WHEN f.text_hash = c.text_hash THEN f.evidence END
FROM standing_judgments AS j
JOIN queries AS q ON q.id = j.query
JOIN chunks AS c ON c.id = j.chunk
LEFT JOIN judgments AS f ON f.id = (
    SELECT max(older.id) FROM standing_judgments AS older
    WHERE older.query = j.query AND older.chunk = j.chunk AND +older.grader = j.grader
        AND older.lane = j.lane AND older.id < j.id
)
WHERE j.grader = (SELECT id FROM graders WHERE name = :grader)
    AND j.lane = 'grade' AND coalesce(j.source, '') <> 'twin' AND q.retired_at IS NULL
    AND (:before IS NULL OR j.id < (SELECT id FROM judgments WHERE event_id = :before))
ORDER BY j.id DESC LIMIT :limit
"""
SUGGESTED_PAIRS = """
SELECT q.query_id, p.chunk
FROM proposals AS p LEFT JOIN candidates AS c ON c.id = p.candidate
JOIN queries AS q ON q.id = coalesce(p.query, c.query)
WHERE q.retired_at IS NULL GROUP BY q.id, q.query_id, p.chunk ORDER BY q.id, p.chunk
"""
SELECT_LEASES = f"""
SELECT g.name, c.queries, c.pairs, c.seen_at, {DATABASE_NOW}
FROM claims AS c JOIN graders AS g ON g.id = c.grader
"""
PUT_LEASE = f"""
INSERT INTO claims (grader, queries, pairs, seen_at)
SELECT id, ?, ?, {DATABASE_NOW} FROM graders WHERE name = ?
ON CONFLICT (grader) DO UPDATE
SET queries = excluded.queries, pairs = excluded.pairs, seen_at = excluded.seen_at
"""


@dataclass(frozen=True, slots=True)
class UndoableJudgment:
    """A judgment that can be undone; ``former`` is the one that this restores, if any.

    The evidence of each is left out if the text has changed since.
    """

    judgment: Judgment
    chunk: int
    former: Judgment | None


@dataclass(frozen=True, slots=True)
class Lease:
    """What a grader was handed last: queries in order, and pairs that decide between runs."""

    queries: tuple[str, ...] = ()
    pairs: frozenset[Pair] = frozenset()


class Assignment:
    """Reads the pool and what each grader has judged; stores leases."""

    def __init__(self, connection: Connection) -> None:
        self._db = connection
        self._judgments = Judgments(connection)

    def pool(
        self, depth: int, runs: Sequence[str] | None = None
    ) -> tuple[dict[str, dict[int, list[int]]], int]:
        """Return every query's pool as chunk number to ranks, and how many pairs have no text.

        The pool is the union of the top ``depth`` of ``runs``. Where ``runs`` is None, it is that
        of all runs, plus the chunks with a suggested grade, so that a person grades these, too.
        Pairs whose chunk has no text cannot be graded; they are left out and counted. Raises
        `NotFound` for an unknown run.
        """
        for name in runs or ():
            if self._db.value("SELECT 1 FROM runs WHERE name = ?", [name]) is None:
                raise NotFound(
                    f"the pool is made of the unjudged chunks of run {name!r}, which is not there "
                    "any more; choose another strategy in the settings"
                )
        pool: dict[str, dict[int, list[int]]] = {}
        for query_id, chunks in self._db.rows(
            "SELECT q.query_id, substr(l.chunks, 1, :depth * 4) FROM ranked_lists AS l "
            "JOIN queries AS q ON q.query_id = l.query_id JOIN runs AS r ON r.id = l.run "
            "WHERE q.retired_at IS NULL "
            "AND (:runs IS NULL OR r.name IN (SELECT value FROM json_each(:runs))) "
            "ORDER BY q.id, l.run",
            {"depth": depth, "runs": None if runs is None else as_json(list(runs))},
        ):
            pooled = pool.setdefault(query_id, {})
            # SQLite's substr of an empty blob is NULL
            for rank, chunk in enumerate(np.frombuffer(chunks or b"", "<i4").tolist(), 1):
                pooled.setdefault(chunk, []).append(rank)
        for query_id, chunk in self._db.rows(SUGGESTED_PAIRS) if runs is None else ():
            pool.setdefault(query_id, {}).setdefault(chunk, [])
        textless = {chunk for (chunk,) in self._db.rows("SELECT id FROM chunks WHERE text IS NULL")}
        readable = {
            query_id: {chunk: ranks for chunk, ranks in pooled.items() if chunk not in textless}
            for query_id, pooled in pool.items()
        }
        left_out = sum(map(len, pool.values())) - sum(map(len, readable.values()))
        return readable, left_out

    def found_by_hand(self, query_id: str) -> set[int]:
        """Return the chunks that graders found for a query by searching."""
        rows = self._db.rows(
            "SELECT DISTINCT chunk FROM current_judgments WHERE source = 'search' "
            "AND query = (SELECT id FROM queries WHERE query_id = ?)",
            [query_id],
        )
        return {chunk for (chunk,) in rows}

    def pairs_found_by_hand(self) -> set[Pair]:
        """Return all pairs whose chunk was ever found by searching and graded.

        A pair remains one after somebody grades it again for another reason.
        """
        return set(
            self._db.rows(
                "SELECT DISTINCT q.query_id, j.chunk FROM standing_judgments AS j "
                "JOIN queries AS q ON q.id = j.query "
                "WHERE j.source = 'search' AND j.kind = 'grade' AND q.retired_at IS NULL"
            )
        )

    def golden_kinds(self) -> tuple[list[tuple[Pair, str, bool]], int]:
        """Return the pair, kind and staleness of each golden grade, and their revision.

        `Judgments.changes_since` that revision brings them up to date without reading all again.
        """
        with self._db.reading():
            rows = self._db.rows(
                "SELECT q.query_id, g.chunk, g.kind, g.stale FROM golden AS g "
                "JOIN queries AS q ON q.id = g.query"
            )
            pairs = [
                ((query_id, chunk), kind, bool(stale)) for query_id, chunk, kind, stale in rows
            ]
            return pairs, self._judgments.revision()

    def asked_to_decide(self) -> int:
        """Count the graded pairs that were chosen to decide between two runs."""
        return int(
            self._db.value(
                "SELECT count(*) FROM (SELECT DISTINCT query, chunk FROM current_judgments "
                "WHERE source = ? AND kind = 'grade')",
                [ACTIVE_SOURCE],
            )
        )

    def has_judged(self, grader: str) -> bool:
        """Say whether a grader has ever judged anything."""
        return bool(
            self._db.value(
                "SELECT EXISTS (SELECT 1 FROM judgments WHERE grader = "
                "(SELECT id FROM graders WHERE name = ?))",
                [grader],
            )
        )

    def judged_by(self, grader: str) -> dict[Pair, CurrentJudgment]:
        """Return a grader's current judgment of each pair they have judged."""
        rows = self._db.rows(EVENTS_OF_GRADER, [grader])
        undone = {undoes for _, _, _, undoes, *_ in rows}
        repeated = {(row[0], row[1]) for row in rows if row[4] == "repeat"}
        current: dict[Pair, CurrentJudgment] = {}
        for query_id, chunk, number, undoes, _, kind, event_id, *said in rows:
            pair = query_id, chunk
            if undoes is not None or number in undone:
                continue
            if kind in GRADING_KINDS:
                *words, present, evidence = said
                told = (event_id, number, kind, *words, pair in repeated, present, evidence)
                current[pair] = judged_from_row(told)
            elif kind == "withdraw":
                current.pop(pair, None)
        return current

    def judged_since(self, revision: int) -> list[tuple[str, Pair, CurrentJudgment | None]]:
        """Return the judgments that changed after ``revision``: grader, pair, judgment.

        The judgment is the one that `judged_by` returns now, or None where it was taken back.
        """
        moved = self._db.rows(
            "SELECT DISTINCT g.name, j.grader, j.query, q.query_id, j.chunk "
            "FROM judgments AS j JOIN graders AS g ON g.id = +j.grader "
            "JOIN queries AS q ON q.id = +j.query WHERE j.id > ?",
            [revision],
        )
        asked = f"SELECT {SELECT_JUDGED} AND j.query = ? AND j.chunk = ? AND +j.grader = ?"
        return [
            (name, (query_id, chunk), judged_from_row(rows[0]) if rows else None)
            for name, grader, query, query_id, chunk in moved
            for rows in [self._db.rows(asked, [query, chunk, grader])]
        ]

    def judgment_of(self, grader: str, query_id: str, chunk_id: str) -> CurrentJudgment | None:
        """Return a grader's current judgment of a pair, None where there is none."""
        rows = self._db.rows(
            f"SELECT {SELECT_JUDGED} AND q.query_id = ? AND c.chunk_id = ? "
            "AND +j.grader = (SELECT id FROM graders WHERE name = ?)",
            [query_id, chunk_id, grader],
        )
        return judged_from_row(rows[0]) if rows else None

    def given_by(self, grader: str, event_id: str) -> Judgment | None:
        """Return a grader's event by its id, None where they have none with it."""
        rows = self._db.rows(
            f"{JUDGMENT_EVENTS} WHERE j.event_id = ? AND g.name = ?", [event_id, grader]
        )
        return judgment_from_row(rows[0]) if rows else None

    def others_said(
        self, grader: str, query_id: str, chunk_id: str
    ) -> list[tuple[str, int | None, int]]:
        """Count everyone else's judgments of a pair by kind and grade, without names."""
        return [
            (kind, grade, count)
            for kind, grade, count in self._db.rows(
                "SELECT j.kind, j.grade, count(*) FROM current_judgments AS j "
                "WHERE j.query = (SELECT id FROM queries WHERE query_id = ?) "
                "AND j.chunk = (SELECT id FROM chunks WHERE chunk_id = ?) "
                "AND coalesce(j.grader, 0) <> coalesce((SELECT id FROM graders WHERE name = ?), 0) "
                "AND j.kind <> 'carry' "
                "GROUP BY j.kind, j.grade ORDER BY j.kind, j.grade",
                [query_id, chunk_id, grader],
            )
        ]

    def undoable(
        self, grader: str, limit: int, before: str | None = None
    ) -> list[UndoableJudgment]:
        """Return the grader's newest judgments that can still be undone, the newest first.

        ``before`` is an event id: only older judgments are returned. Adjudications are left out,
        so that nobody undoes one by accident while grading.
        """
        rows = self._db.rows(
            UNDOABLE_JUDGMENTS, {"grader": grader, "before": before, "limit": limit}
        )
        return [
            UndoableJudgment(
                undoable_judgment(query_id, chunk_id, grader, columns[:8]),
                chunk,
                None
                if columns[8] is None
                else undoable_judgment(query_id, chunk_id, grader, columns[8:]),
            )
            for query_id, chunk_id, chunk, *columns in rows
        ]

    def time_spent(self, grader: str) -> int:
        """Return the milliseconds a grader's judgments took in all; breaks do not count."""
        return int(
            self._db.value(
                "SELECT coalesce(sum(elapsed_ms), 0) FROM judgments WHERE grader = "
                "(SELECT id FROM graders WHERE name = ?) AND undoes IS NULL AND elapsed_ms <= ?",
                [grader, LONGEST_GRADE_MS],
            )
        )

    def pace(self, grader: str) -> int | None:
        """Return the median milliseconds of the grader's newest judgments; breaks do not count."""
        times = [
            elapsed
            for (elapsed,) in self._db.rows(
                "SELECT elapsed_ms FROM judgments WHERE grader = "
                "(SELECT id FROM graders WHERE name = ?) AND undoes IS NULL AND elapsed_ms <= ? "
                "ORDER BY id DESC LIMIT ?",
                [grader, LONGEST_GRADE_MS, JUDGMENTS_FOR_PACE],
            )
        ]
        return round(statistics.median(times)) if times else None

    @property
    def is_shared(self) -> bool:
        """Whether several servers may hand out pairs, as they may from a PostgreSQL database."""
        return self._db.engine.is_shared

    @contextmanager
    def choosing(self) -> Iterator[tuple[Mapping[str, tuple[Lease, float]], float]]:
        """Yield each grader's lease and its time, and the time now, both in seconds.

        Nobody else can choose until the block ends.
        """
        with self._db.transaction(BEGIN_ASSIGNMENT):
            rows = self._db.rows(SELECT_LEASES)
            claims = {
                name: (_lease_from_row(*held), _to_seconds(at)) for name, *held, at, _ in rows
            }
            yield claims, max((_to_seconds(now) for *_, now in rows), default=0.0)

    def claim(self, grader: str, claim: Lease) -> None:
        """Store what a grader was handed now, in place of their earlier lease."""
        queries, pairs = as_json(list(claim.queries)), as_json(sorted(claim.pairs))
        with self._db.translated():
            self._db.execute(PUT_LEASE, [queries, pairs, grader])


def judged_from_row(row: Sequence[Any]) -> CurrentJudgment:
    """Build a `CurrentJudgment` from its columns, in the order the class has them."""
    event_id, number, kind, grade, reason, note, repeated, present, evidence = row
    said = (event_id, number, kind, grade, reason, note, bool(repeated), bool(present))
    return CurrentJudgment(*said, passages_from_column(evidence))


def undoable_judgment(
    query_id: str, chunk_id: str, grader: str, columns: Sequence[Any]
) -> Judgment:
    """Build a judgment from its columns in `UNDOABLE_JUDGMENTS`."""
    event_id, kind, grade, *rest, evidence = columns
    said = dict(zip(("reason", "note", "source", "created_at"), rest, strict=True))
    return Judgment(
        event_id,
        query_id,
        chunk_id,
        grader,
        kind,
        grade,
        **said,
        evidence=passages_from_column(evidence),
    )


def _lease_from_row(queries: str, pairs: str) -> Lease:
    held = frozenset((query_id, chunk) for query_id, chunk in json.loads(pairs))
    return Lease(tuple(json.loads(queries)), held)


def _to_seconds(moment: str) -> float:
    return datetime.fromisoformat(moment).timestamp()

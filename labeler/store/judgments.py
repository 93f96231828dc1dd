"""Log of judgments: append, undo, and read the golden grades that changed since a revision.

One judgment is one INSERT statement, which also grades the copies of its chunk. So it needs no
transaction of its own, and a re-sent event is harmless. The views of the schema decide which
judgment counts. A judgment is blind if its grader had seen neither the query's
ranked lists nor other people's grades.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from labeler.errors import BadInput, NotFound
from labeler.model import Evidence, GoldenGrade, GradeChange, Judgment, check_passages_inside
from labeler.store.columns import (
    as_json,
    column_from_passages,
    column_from_sources,
    column_from_truth,
    judgment_from_row,
    moment,
    passages_from_column,
    sources_from_column,
)
from labeler.store.connection import Connection
from labeler.store.copies import COPY_MARK, COPY_SOURCE, SAME_TEXT, ChunkCopies
from labeler.store.people import People

APPEND_CONDITIONS = """
WHERE q.query_id = :query_id
    AND c.chunk_id = :chunk_id
    AND (q.retired_at IS NULL OR :grader IS NULL OR :as_is)
    AND (:grader IS NULL OR EXISTS (SELECT 1 FROM graders WHERE name = :grader))
    AND (:undoes IS NULL OR EXISTS (
        SELECT 1 FROM standing_judgments AS undone
        WHERE undone.event_id = :undoes AND undone.query = q.id AND undone.chunk = c.id
            AND coalesce(undone.grader, 0)
                = coalesce((SELECT id FROM graders WHERE name = :grader), 0)
            AND (:grader IS NOT NULL OR undone.lane IN ('carry', 'import'))
    ))
    AND NOT EXISTS (SELECT 1 FROM judgments WHERE event_id = :event_id)
    AND (:unchecked OR coalesce(:replaces, '') = coalesce((
        SELECT known.event_id FROM current_judgments AS known
        WHERE known.query = q.id AND known.chunk = c.id
            AND +known.grader = (SELECT id FROM graders WHERE name = :grader)
            AND known.kind IN ('grade', 'cannot_tell')
    ), ''))
"""
APPEND_JUDGMENT = f"""
INSERT INTO judgments (
    event_id, query, chunk, grader, kind, grade, graders, reason, note, blind, source, undoes,
    elapsed_ms, text_hash, created_at, evidence, carried_from, seen_whole, highlighted
)
SELECT
    :event_id, q.id, c.id, (SELECT id FROM graders WHERE name = :grader), :kind, :grade, :graders,
    :reason, :note, :blind, :source, (SELECT id FROM judgments WHERE event_id = :undoes),
    :elapsed_ms, CASE WHEN :as_is THEN :text_hash ELSE coalesce(:text_hash, c.text_hash) END,
    :created_at, :evidence, :carried_from, :seen_whole, :highlighted
FROM queries AS q, chunks AS c
{APPEND_CONDITIONS}
"""
# Gives a chunk and its copies the same grade, the chunk itself first. A copy is left out if its
# text has changed, or is not the text that was graded.
APPEND_TO_COPIES = f"""
INSERT INTO judgments (
    event_id, query, chunk, grader, kind, grade, reason, note, blind, source, elapsed_ms,
    text_hash, created_at, evidence, seen_whole, highlighted
)
SELECT
    CASE WHEN copy.id = c.id THEN CAST(:event_id AS TEXT)
    ELSE CAST(:event_id AS TEXT) || '{COPY_MARK}'
        || row_number() OVER (PARTITION BY copy.id = c.id ORDER BY copy.id) END,
    q.id, copy.id, (SELECT id FROM graders WHERE name = :grader), :kind, :grade, :reason, :note,
    :blind, CASE WHEN copy.id = c.id THEN :source ELSE '{COPY_SOURCE}' END,
    CASE WHEN copy.id = c.id THEN CAST(:elapsed_ms AS BIGINT) END,
    coalesce(:text_hash, c.text_hash), :created_at, :evidence,
    CAST(:seen_whole AS BIGINT), CAST(:highlighted AS BIGINT)
FROM queries AS q, chunks AS c, chunks AS copy
{APPEND_CONDITIONS}
    AND copy.id IN (SELECT CAST(value AS INTEGER) FROM json_each(:family))
    AND (copy.id = c.id OR coalesce(:text_hash, c.text_hash) = c.text_hash AND {SAME_TEXT})
ORDER BY copy.id <> c.id, copy.id
"""
# The state before an event is the newest older event of its lane. A lane is one grader's grades,
# or adjudications, of one pair. The events of the chunk's copies are undone with it.
LATER_JUDGMENT = """
    SELECT 1 FROM standing_judgments AS later
    WHERE later.query = {event}.query AND later.chunk = {event}.chunk
        AND +later.grader = {event}.grader AND later.lane = {event}.lane AND later.id > {event}.id
"""
UNDO_JUDGMENT = f"""
INSERT INTO judgments (
    event_id, query, chunk, grader, kind, grade, reason, note, blind, source, undoes, elapsed_ms,
    text_hash, created_at, evidence, seen_whole, highlighted
)
SELECT
    CAST(:event_id AS TEXT) || substr(e.event_id, :after), e.query, e.chunk, e.grader,
    coalesce(b.kind, 'withdraw'), b.grade, b.reason, b.note, e.blind, :source, e.id, :elapsed_ms,
    b.text_hash, :created_at, b.evidence, b.seen_whole, b.highlighted
FROM standing_judgments AS e
JOIN graders AS g ON g.id = e.grader AND g.name = :grader
LEFT JOIN judgments AS b ON b.id = (
    SELECT max(id) FROM standing_judgments AS older
    WHERE older.query = e.query AND older.chunk = e.chunk AND +older.grader = e.grader
        AND older.lane = e.lane AND older.id < e.id
)
WHERE e.query = (SELECT query FROM judgments WHERE event_id = :undoes)
    AND (e.event_id = :undoes OR substr(e.event_id, 1, :length) = :copies)
    AND NOT EXISTS (SELECT 1 FROM judgments WHERE event_id = :event_id)
    AND NOT EXISTS ({LATER_JUDGMENT.format(event="e")})
    AND EXISTS (
        SELECT 1 FROM standing_judgments AS named
        WHERE named.event_id = :undoes AND +named.grader = g.id
            AND NOT EXISTS ({LATER_JUDGMENT.format(event="named")})
    )
ORDER BY e.id
"""
# A transferred grade has the same query as the judgments it rests on.
CHANGED_PAIRS = """
WITH tail AS MATERIALIZED (
    SELECT DISTINCT +query AS query, +chunk AS chunk FROM judgments WHERE id > ?
)
SELECT moved.query, moved.chunk, q.query_id FROM (
    SELECT query, chunk FROM tail
    UNION
    SELECT carry.query, carry.chunk
    FROM tail JOIN judgments AS carry
        ON carry.query = tail.query AND carry.carried_from IS NOT NULL
    WHERE EXISTS (
        SELECT 1 FROM json_each(carry.carried_from) AS said
        JOIN judgments AS base ON base.event_id = json_extract(said.value, '$.event_id')
        WHERE base.chunk = tail.chunk
    )
) AS moved JOIN queries AS q ON q.id = moved.query
ORDER BY moved.query, moved.chunk
"""
GOLDEN_OF_PAIR = "SELECT grade, stale, kind FROM golden WHERE query = ? AND chunk = ?"
JUDGMENT_EVENTS = """
SELECT
    j.event_id, q.query_id, c.chunk_id, g.name, j.kind, j.grade, j.graders, j.reason, j.note,
    j.blind, j.source, undone.event_id, j.elapsed_ms, j.text_hash, j.created_at, j.evidence,
    j.carried_from, j.seen_whole, j.highlighted
FROM judgments AS j JOIN queries AS q ON q.id = j.query
JOIN chunks AS c ON c.id = j.chunk LEFT JOIN graders AS g ON g.id = j.grader
LEFT JOIN judgments AS undone ON undone.id = j.undoes
"""


class JudgmentConflict(BadInput):
    """A grader's current judgment of a pair is not the one they meant to replace."""


class Judgments:
    """Appends, undoes and reads judgments."""

    def __init__(self, connection: Connection) -> None:
        self._db = connection
        self._people = People(connection)
        self._copies = ChunkCopies(connection)

    def add(self, judgment: Judgment, *, to_copies: bool = False) -> bool:
        """Add one judgment to the log and return once it is on the disk.

        With ``to_copies`` the copies of its chunk in the query's pool are graded, too. Returns
        False where this very event is already there. Raises `NotFound` for an unknown query, chunk
        or grader or a retired query, `BadInput` where the event id belongs to another event,
        `Busy` where another process kept the database locked. `Adjudications.adjudicate` also
        audits what a lead decides.
        """
        with self._db.translated():
            return self._append_to_copies(judgment) if to_copies else self.append(judgment)

    def _append_to_copies(
        self, judgment: Judgment, *, replaces: str | None = None, unchecked: bool = True
    ) -> bool:
        family = self._copies.family_of(judgment.query_id, judgment.chunk_id)
        return self.append(judgment, replaces=replaces, unchecked=unchecked, family=family)

    def add_knowing(self, judgment: Judgment, replaces: str | None) -> bool:
        """Add a judgment as `add` does, if the grader knew what it replaces.

        ``replaces`` is the event of the grader's current judgment of the pair, None where there is
        none. Raises `JudgmentConflict` where the current one is another: a second tab or device
        was faster. The copies of its chunk in the query's pool are graded, too.
        """
        with self._db.translated():
            return self._append_to_copies(judgment, replaces=replaces, unchecked=False)

    def append(
        self,
        judgment: Judgment,
        *,
        as_is: bool = False,
        replaces: str | None = None,
        unchecked: bool = True,
        family: Sequence[int] = (),
    ) -> bool:
        """Add an event; with ``as_is`` its text hash is stored as given, even where it has none.

        ``as_is`` is for events from another log. ``family`` are the numbers of the event's chunk
        and of the copies to grade with it.
        """
        if judgment.evidence:
            self.check_evidence(judgment, as_is=as_is)
        added = self._db.execute(
            APPEND_TO_COPIES if family else APPEND_JUDGMENT,
            {
                "event_id": judgment.event_id,
                "query_id": judgment.query_id,
                "chunk_id": judgment.chunk_id,
                "grader": judgment.grader,
                "kind": judgment.kind,
                "grade": judgment.grade,
                "graders": graders_column(judgment),
                "reason": judgment.reason,
                "note": judgment.note,
                "blind": judgment.blind,
                "source": judgment.source,
                "undoes": judgment.undoes,
                "elapsed_ms": judgment.elapsed_ms,
                "text_hash": judgment.text_hash,
                "created_at": judgment.created_at or moment(),
                "evidence": column_from_passages(judgment.evidence),
                "carried_from": column_from_sources(judgment.carried_from),
                "seen_whole": column_from_truth(judgment.seen_whole),
                "highlighted": column_from_truth(judgment.highlighted),
                "as_is": as_is,
                "replaces": replaces,
                "unchecked": unchecked,
                **({"family": as_json(list(family))} if family else {}),
            },
        ).rowcount
        if not added:
            self._explain_not_added(judgment)
        return bool(added)

    def _explain_not_added(self, judgment: Judgment) -> None:
        """Return if the event is in the log already, else raise the reason it was not added."""
        stored = self._db.rows(
            "SELECT q.query_id, c.chunk_id, g.name, j.kind, j.grade, j.graders, j.reason, j.note, "
            "undone.event_id, j.evidence, j.carried_from "
            "FROM judgments AS j JOIN queries AS q ON q.id = j.query "
            "JOIN chunks AS c ON c.id = j.chunk LEFT JOIN graders AS g ON g.id = j.grader "
            "LEFT JOIN judgments AS undone ON undone.id = j.undoes WHERE j.event_id = ?",
            [judgment.event_id],
        )
        said = (
            judgment.query_id,
            judgment.chunk_id,
            judgment.grader,
            judgment.kind,
            judgment.grade,
            graders_column(judgment),
            judgment.reason,
            judgment.note,
            judgment.undoes,
            column_from_passages(judgment.evidence),
            column_from_sources(judgment.carried_from),
        )
        if stored == [said]:
            return
        if stored:
            raise BadInput(f"event {judgment.event_id!r} is in the log with other content")
        retired = self._db.rows(
            "SELECT retired_at IS NOT NULL FROM queries WHERE query_id = ?", [judgment.query_id]
        )
        if not retired:
            raise NotFound(f"there is no query {judgment.query_id!r} in this golden set")
        if retired[0][0]:
            raise NotFound(f"query {judgment.query_id!r} has been retired from this golden set")
        if self._db.value("SELECT 1 FROM chunks WHERE chunk_id = ?", [judgment.chunk_id]) is None:
            raise NotFound(f"there is no chunk {judgment.chunk_id!r} in this golden set")
        if judgment.grader is not None:
            self._people.seed(judgment.grader)
        if judgment.undoes is None:
            raise JudgmentConflict(
                "you changed this passage in another tab or on another device; that grade was kept"
            )
        raise NotFound(
            f"{judgment.grader!r} has no event {judgment.undoes!r} for this query and chunk that "
            "could be undone"
        )

    def check_evidence(self, judgment: Judgment, *, as_is: bool = False) -> None:
        """Raise `BadInput` where evidence for the stored text lies outside it.

        Evidence for an earlier text is not checked: that text is gone, and its places are never
        looked up in the present one. A judgment without a text hash is of the stored text, unless
        ``as_is``.
        """
        rows = self._db.rows(
            "SELECT text_hash, length(text) FROM chunks WHERE chunk_id = ?", [judgment.chunk_id]
        )
        stored, length = rows[0] if rows else (None, 0)
        wording = judgment.text_hash if as_is else judgment.text_hash or stored
        if wording is None:
            raise BadInput("evidence needs text_hash, which says in which text its places are")
        if wording == stored:
            check_passages_inside(judgment.evidence, length)

    def undo(
        self,
        *,
        event_id: str,
        undoes: str,
        grader: str,
        source: str | None = None,
        elapsed_ms: int | None = None,
    ) -> bool:
        """Take back the effect of the grader's own event ``undoes``, as a new event.

        The events of the chunk's copies are undone with it. The pair is again what it was before:
        another grade, "can't tell", or not graded. Returns False where this very undo is already
        in the log. Raises `NotFound` for an unknown event or another grader's, `BadInput` where it
        is undone already, is itself an undo, or where the grader has judged the pair since.
        """
        with self._db.translated():
            added = self._db.execute(
                UNDO_JUDGMENT,
                {
                    "event_id": event_id,
                    "undoes": undoes,
                    "copies": undoes + COPY_MARK,
                    "length": len(undoes + COPY_MARK),
                    "after": len(undoes) + 1,
                    "grader": grader,
                    "source": source,
                    "elapsed_ms": elapsed_ms,
                    "created_at": moment(),
                },
            ).rowcount
        if not added:
            self._explain_not_undone(event_id, undoes, grader)
        return bool(added)

    def _explain_not_undone(self, event_id: str, undoes: str, grader: str) -> None:
        event = self._db.rows(
            "SELECT g.name, j.undoes IS NOT NULL, undo.event_id FROM judgments AS j "
            "LEFT JOIN graders AS g ON g.id = j.grader "
            "LEFT JOIN judgments AS undo ON undo.undoes = j.id WHERE j.event_id = ?",
            [undoes],
        )
        if not event or event[0][0] != grader:
            raise NotFound(f"{grader!r} has no event {undoes!r} to undo")
        _, is_undo, undone_by = event[0]
        if undone_by == event_id:
            return
        if undone_by is not None:
            raise BadInput("this grade was already undone")
        if is_undo:
            raise BadInput("an undo cannot be undone; grade the chunk again")
        if self._db.value("SELECT 1 FROM judgments WHERE event_id = ?", [event_id]):
            raise BadInput(f"event {event_id!r} is in the log with other content")
        raise BadInput("this chunk has been graded again since; undo that grade first")

    def revision(self) -> int:
        """Return the id of the newest judgment, 0 before the first: the live revision."""
        return int(self._db.value("SELECT coalesce(max(id), 0) FROM judgments"))

    def changes_since(self, revision: int) -> list[GradeChange]:
        """Return the present golden grades of all pairs judged after ``revision``.

        Includes the pairs whose transferred grade rests on a judgment of one of these.
        """
        pairs = self._db.rows(CHANGED_PAIRS, [revision])
        return [self._golden_of(query, chunk, query_id) for query, chunk, query_id in pairs]

    def _golden_of(self, query: int, chunk: int, query_id: str) -> GradeChange:
        rows = self._db.often(GOLDEN_OF_PAIR, [query, chunk])
        grade, stale, kind = rows[0] if rows else (None, False, None)
        return GradeChange(query_id, chunk, grade, bool(stale), kind)

    def golden_grade(self, query_id: str, chunk_id: str) -> int | None:
        """Return the golden grade of a pair, None without one for the chunk's present text.

        None for a retired query, too.
        """
        rows = self._db.rows(
            "SELECT grade, stale FROM golden "
            "WHERE query = (SELECT id FROM queries WHERE query_id = ? AND retired_at IS NULL) "
            "AND chunk = (SELECT id FROM chunks WHERE chunk_id = ?)",
            [query_id, chunk_id],
        )
        return rows[0][0] if rows and not rows[0][1] else None

    def current_imports(self, kind: str = "import") -> dict[tuple[str, str], GoldenGrade]:
        """Return each pair's current imported grade, or with ``kind`` "carry" its transferred one.

        Of the transferred grades only those for the chunk's present text are returned.
        """
        rows = self._db.rows(
            "SELECT q.query_id, c.chunk_id, j.grade, j.graders, j.note, j.text_hash, "
            "j.evidence, j.carried_from FROM current_judgments AS j "
            "JOIN queries AS q ON q.id = j.query "
            "JOIN chunks AS c ON c.id = j.chunk WHERE j.kind = ? "
            "AND (j.kind = 'import' OR coalesce(j.text_hash = c.text_hash, true))",
            [kind],
        )
        return {
            (query_id, chunk_id): GoldenGrade(
                *(query_id, chunk_id, grade, tuple(json.loads(graders or "[]")), note),
                Evidence(text_hash, passages_from_column(evidence)) if evidence else None,
                carried_from=sources_from_column(bases) or (),
            )
            for query_id, chunk_id, grade, graders, note, text_hash, evidence, bases in rows
        }

    def log(self) -> list[Judgment]:
        """Return the whole log, oldest first."""
        return [judgment_from_row(row) for row in self._db.rows(f"{JUDGMENT_EVENTS} ORDER BY j.id")]


def graders_column(judgment: Judgment) -> str | None:
    """Return the JSON list of an import's graders; other kinds have a grader instead."""
    if judgment.kind != "import":
        return None
    return json.dumps(list(judgment.graders), ensure_ascii=False)

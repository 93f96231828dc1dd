"""Transfers of grades to another chunking: their input, their log, and the origin of each grade.

A transfer is one transaction that only appends to the log, and so is its undo.
"""

from __future__ import annotations

import json
import secrets
import uuid
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import NamedTuple

from labeler.errors import NotFound
from labeler.model import (
    COUNT_TRANSFERRED,
    Chunk,
    GoldenGrade,
    Judgment,
    Passage,
    TransferSource,
    describe_chunking,
)
from labeler.store.assignment import Assignment
from labeler.store.audit import Audit
from labeler.store.chunkings import Chunkings
from labeler.store.chunks import CHUNK_COLUMNS, Chunks
from labeler.store.columns import (
    chunk_from_row,
    hash_text,
    judgment_from_row,
    moment,
    passages_from_column,
    sources_from_column,
)
from labeler.store.connection import Connection
from labeler.store.documents import Documents
from labeler.store.judgments import JUDGMENT_EVENTS, Judgments
from labeler.store.settings import StoredSettings
from labeler.store.tamper_check import TamperCheck

IN_CHUNKING = "coalesce(c.chunking, 0) = coalesce((SELECT id FROM chunkings WHERE name = ?), 0)"
CHUNKS_WITH_TEXT = (
    f"SELECT {CHUNK_COLUMNS} FROM chunks AS c WHERE c.text <> '' AND {IN_CHUNKING} ORDER BY c.id"
)
GOLDEN_IN_CHUNKING = f"""
SELECT g.query, g.chunk, q.query_id, c.chunk_id, g.grade, g.stale, g.judgment, g.kind, c.text <> ''
FROM golden AS g JOIN queries AS q ON q.id = g.query JOIN chunks AS c ON c.id = g.chunk
WHERE q.retired_at IS NULL AND {IN_CHUNKING} ORDER BY q.id, c.id
"""
JUDGMENTS_IN_CHUNKING = f"""
SELECT j.query, j.chunk, j.id, j.event_id, j.grade, p.name, j.graders, j.created_at, j.evidence,
    j.text_hash IS NULL OR coalesce(j.text_hash, '') = coalesce(c.text_hash, '')
FROM current_judgments AS j JOIN chunks AS c ON c.id = j.chunk
LEFT JOIN graders AS p ON p.id = j.grader
WHERE j.kind IN ('grade', 'adjudicate', 'import') AND {IN_CHUNKING} ORDER BY j.id
"""
LOGGED_TRANSFERS = """
SELECT source, min(created_at), count(*) FILTER (WHERE kind = 'carry') FROM standing_judgments
WHERE carried_from IS NOT NULL AND substr(source, 1, length(:begins)) = :begins
GROUP BY source ORDER BY max(id) DESC
"""
EVENTS_OF_TRANSFER = """
SELECT id, query, chunk FROM standing_judgments
WHERE carried_from IS NOT NULL AND source = ? ORDER BY id
"""
WITHDRAW_EVENT = """
INSERT INTO judgments (
    event_id, query, chunk, kind, blind, source, undoes, created_at, carried_from
)
VALUES (?, ?, ?, 'withdraw', 0, ?, ?, ?, '[]')
"""
# Any judgment in the first chunking, and any withdrawal or undo in the second.
HAS_CHANGED = f"""
SELECT EXISTS (
    SELECT 1 FROM judgments AS j JOIN chunks AS c ON c.id = j.chunk
    WHERE j.id > ? AND (
        {IN_CHUNKING} OR (j.kind = 'withdraw' OR j.undoes IS NOT NULL) AND {IN_CHUNKING}
    )
)
"""
SOURCE_PREFIX = "carry:"
PROGRESS_STEP = 256  # grades between calls of the progress callback
ProgressCallback = Callable[[float], None]
TRANSFERRED_GRADES = """
SELECT q.query_id, q.text, c.id, c.chunk_id, c.title, coalesce(k.name, ''), g.grade,
    coalesce(j.note, 'it follows'), j.carried_from, j.evidence, j.created_at
FROM golden AS g JOIN judgments AS j ON j.id = g.judgment
JOIN queries AS q ON q.id = g.query JOIN chunks AS c ON c.id = g.chunk
LEFT JOIN chunkings AS k ON k.id = c.chunking
WHERE g.kind = 'carry' AND q.retired_at IS NULL AND (:query IS NULL OR q.query_id = :query)
ORDER BY q.id, c.id
"""
GOLDEN_OF_PAIR = """
SELECT g.grade FROM golden AS g
JOIN queries AS q ON q.id = g.query JOIN chunks AS c ON c.id = g.chunk
WHERE q.query_id = ? AND c.chunk_id = ?
"""


@dataclass(frozen=True, slots=True)
class BaseJudgment:
    """A current judgment that supports the golden grade of its pair.

    ``who`` is the grader, or the graders of an import; ``passages`` are in the present text.
    """

    number: int
    event_id: str
    chunk_id: str
    grade: int
    who: tuple[str, ...]
    at: str
    passages: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class BasedGrade:
    """A golden grade, its ``kind``, and the judgments it rests on.

    ``is_present`` is true where the chunk has a text and the grade was given for it.
    """

    query_id: str
    chunk_id: str
    grade: int
    kind: str
    is_present: bool
    witnesses: tuple[BaseJudgment, ...]


@dataclass(frozen=True, slots=True)
class TransferInput:
    """Two chunkings, their golden grades, and the pairs that the runs of the second need.

    Chunks without a text are left out; ``unreadable`` counts the needed pairs of such chunks.
    ``grades`` are the golden grades that were given in the first chunking; ``derived`` counts those
    that were transferred to it. ``graded`` are the golden grades of the second. ``recorded`` are
    the transferred grades of the second, whether they count or not; ``counts`` says whether
    transferred grades count.
    """

    old_name: str
    new_name: str
    old: Sequence[Chunk]
    new: Sequence[Chunk]
    documents: dict[str, str]
    grades: Sequence[BasedGrade]
    graded: Sequence[BasedGrade]
    asked: Sequence[tuple[str, str]]
    runs: int
    depth: int
    unreadable: int
    derived: int
    recorded: Mapping[tuple[str, str], GoldenGrade]
    counts: bool


@dataclass(frozen=True, slots=True)
class LoggedTransfer:
    """A transfer in the log: its two chunkings, its time, and how many grades it gave."""

    old: str
    new: str
    at: str
    grades: int


@dataclass(frozen=True, slots=True)
class TransferredGrade:
    """A transferred grade that counts, the reason it follows, and the judgments it rests on.

    ``passages`` are its evidence, in the text of the chunk ``chunk_id``, whose number is ``chunk``.
    """

    query_id: str
    query: str
    chunk: int
    chunk_id: str
    title: str | None
    chunking: str
    grade: int
    why: str
    bases: tuple[TransferSource, ...]
    passages: tuple[Passage, ...]
    created_at: str

    @property
    def trail(self) -> str:
        """The reason it follows, and whose grades it rests on, of which chunks and days."""
        return f"{self.why}; rests on {'; '.join(base.in_words for base in self.bases)}"


class MarkedJudgment(NamedTuple):
    """A judgment and the words that it marked, none if it is of an earlier text."""

    event: Judgment
    words: tuple[str, ...]


class Transfers:
    """Reads the input of a transfer, stores and undoes it, and traces its grades."""

    def __init__(self, connection: Connection) -> None:
        self._db = connection
        self._audit = Audit(connection)
        self._settings = StoredSettings(connection)
        self._chunkings = Chunkings(connection)
        self._documents = Documents(connection)
        self._chunks = Chunks(connection)
        self._judgments = Judgments(connection)
        self._tamper_check = TamperCheck(connection)
        self._assignment = Assignment(connection)

    def basis(self, old: str, new: str) -> TransferInput:
        """Return the input of a transfer between two chunkings, as of one moment.

        The pairs that need a grade are the pool of the second chunking's runs, to the depth in the
        settings. Raises `NotFound` for an unknown chunking, a first one without a golden grade, or
        a second one without a run.
        """
        with self._db.reading():
            self._check_chunkings(old, new)
            runs = [run for run, name in self._chunkings.of_runs().items() if name == new]
            there, settings = self._witnessed(old), self._settings.read()
            grades = [each for each in there if each.kind != "carry"]
            self._check_enough(old, new, bool(grades), bool(runs))
            chunks = self._chunks_in(new)
            readable = {each.chunk_id for each in chunks}
            asked, unreadable = self._asked(runs, settings.pool_depth, readable)
            transferred = self._judgments.current_imports("carry")
            return TransferInput(
                old,
                new,
                self._chunks_in(old),
                chunks,
                {document.document_id: document.text for document in self._documents.all()},
                grades,
                self._witnessed(new),
                asked,
                len(runs),
                settings.pool_depth,
                unreadable,
                len(there) - len(grades),
                {pair: grade for pair, grade in transferred.items() if pair[1] in readable},
                settings.transferred == COUNT_TRANSFERRED,
            )

    def _check_chunkings(self, *names: str) -> None:
        there = self._chunkings.names()
        for name in names:
            if name not in there:
                raise NotFound(
                    f"there is no chunking {name!r}; there are: {', '.join(map(repr, there))}; its "
                    f"chunks make it: labeler load chunks FILE --chunking {name}"
                )

    def _witnessed(self, chunking: str) -> list[BasedGrade]:
        """Return the golden grades of a chunking with the judgments they rest on."""
        said: dict[tuple[int, int], list[tuple[BaseJudgment, bool]]] = defaultdict(list)
        chunk_ids = self._called_by_number(chunking)
        for query, chunk, number, event, grade, name, graders, at, *rest in self._db.rows(
            JUDGMENTS_IN_CHUNKING, [chunking]
        ):
            evidence, is_present = rest
            who = tuple(json.loads(graders)) if graders else (name,)
            passages = passages_from_column(evidence) if is_present else ()
            witness = BaseJudgment(number, event, chunk_ids[chunk], grade, who, at, passages)
            said[query, chunk].append((witness, bool(is_present)))
        return [
            BasedGrade(
                query_id,
                chunk_id,
                grade,
                kind,
                bool(has_text) and not stale,
                _base_judgments(said[query, chunk], grade=grade, deciding=deciding),
            )
            for query, chunk, query_id, chunk_id, grade, stale, deciding, kind, has_text in (
                self._db.rows(GOLDEN_IN_CHUNKING, [chunking])
            )
        ]

    def _called_by_number(self, chunking: str) -> dict[int, str]:
        sql = f"SELECT c.id, c.chunk_id FROM chunks AS c WHERE {IN_CHUNKING}"
        return dict(self._db.rows(sql, [chunking]))

    def _check_enough(self, old: str, new: str, has_grades: bool, has_runs: bool) -> None:
        if not has_grades:
            raise NotFound(
                f"no chunk of {describe_chunking(old)} has a golden grade, so there is none to "
                "transfer"
            )
        if not has_runs:
            raise NotFound(
                f"no run is of {describe_chunking(new)}, so nobody asks for its chunks; load one: "
                f"labeler load run FILE --chunking {new or repr('')}"
            )

    def _chunks_in(self, chunking: str) -> list[Chunk]:
        return [chunk_from_row(row) for row in self._db.rows(CHUNKS_WITH_TEXT, [chunking])]

    def _asked(
        self, runs: Sequence[str], depth: int, readable: AbstractSet[str]
    ) -> tuple[list[tuple[str, str]], int]:
        """Return the readable pairs of a pool by id, and how many have no text."""
        pool, unreadable = self._assignment.pool(depth, runs)
        called = dict(self._db.rows("SELECT id, chunk_id FROM chunks"))
        asked = [(query, called[at]) for query, chunks in pool.items() for at in chunks]
        found = [pair for pair in asked if pair[1] in readable]
        return found, unreadable + len(asked) - len(found)

    def add(
        self,
        old: str,
        new: str,
        grades: Sequence[GoldenGrade],
        lost: Sequence[tuple[str, str]],
        wordings: Mapping[str, str | None],
        progress: ProgressCallback | None = None,
    ) -> None:
        """Append transferred grades to the log, and withdraw those of the ``lost`` pairs.

        Stores all or nothing. ``wordings`` are the hashes of the chunk texts that the grades are
        for. A grade does not count where the text has changed since, or where a judgment that it
        rests on has.
        """
        source = f"{_source_prefix(old, new)}{secrets.token_hex(4)}"
        events = [_transfer_event(each, source, wordings[each.chunk_id]) for each in grades]
        events += [_withdrawal_event(pair, source) for pair in lost]
        if not events:
            return
        with self._db.writing():
            for done, event in enumerate(events, 1):
                self._judgments.append(event)
                if progress is not None and (done % PROGRESS_STEP == 0 or done == len(events)):
                    progress(done / len(events))
            names = {"from": old, "to": new}
            self._audit.put(
                "carry", new, {**names, "transferred": len(grades), "undone": len(lost)}
            )
        self._tamper_check.seal_if_possible()

    def logged(self) -> list[LoggedTransfer]:
        """Return the transfers that can be taken back, the newest first."""
        found = []
        for source, at, grades in self._db.rows(LOGGED_TRANSFERS, {"begins": SOURCE_PREFIX}):
            old, new, _ = source.removeprefix(SOURCE_PREFIX).split(":")
            found.append(LoggedTransfer(old, new, at, grades))
        return found

    def undo(self, old: str, new: str) -> int:
        """Take back the last transfer between two chunkings; return its number of events.

        Every golden grade is again what it was before, except where people have judged since.
        Raises `NotFound` where no transfer is left.
        """
        with self._db.writing():
            source = self._db.value(LOGGED_TRANSFERS, {"begins": _source_prefix(old, new)})
            if source is None:
                raise NotFound(
                    f"nothing was transferred from {describe_chunking(old)} to "
                    f"{describe_chunking(new)} that could be undone"
                )
            rows, at = self._db.rows(EVENTS_OF_TRANSFER, [source]), moment()
            self._db.conn.executemany(
                WITHDRAW_EVENT,
                ((str(uuid.uuid4()), query, chunk, source, n, at) for n, query, chunk in rows),
            )
            self._audit.put("uncarry", new, {"from": old, "to": new, "events": len(rows)})
        self._tamper_check.seal_if_possible()
        return len(rows)

    def has_moved(self, revision: int, old: str, new: str) -> bool:
        """Return whether a transfer may give other grades than it did at ``revision``.

        That is so if a chunk of the first chunking was judged since, or a judgment in the second
        was taken back.
        """
        return bool(self._db.value(HAS_CHANGED, [revision, old, new]))

    def chunk_numbers(self, chunking: str) -> dict[str, int]:
        """Return the numbers of a chunking's chunks by their ids."""
        called = self._called_by_number(chunking)
        return {chunk_id: number for number, chunk_id in called.items()}

    def numbers_in(self, chunking: str) -> list[int]:
        """Return the numbers of a chunking's chunks."""
        sql = f"SELECT c.id FROM chunks AS c WHERE {IN_CHUNKING}"
        return [number for (number,) in self._db.rows(sql, [chunking])]

    def grades(self, query_id: str | None = None) -> list[TransferredGrade]:
        """Return the transferred grades that count, of all queries in use or of one."""
        return [
            TransferredGrade(
                *(
                    *row,
                    sources_from_column(bases) or (),
                    passages_from_column(evidence),
                    created_at,
                )
            )
            for *row, bases, evidence, created_at in self._db.rows(
                TRANSFERRED_GRADES, {"query": query_id}
            )
        ]

    def trails(self, query_id: str) -> dict[str, str]:
        """Return the trail of each transferred grade of a query that counts, by chunk id."""
        return {each.chunk_id: each.trail for each in self.grades(query_id)}

    def said_of(self, query_id: str, chunk_id: str) -> tuple[list[MarkedJudgment], int | None]:
        """Return every judgment of a pair, the oldest first, and its golden grade.

        Raises `NotFound` for an unknown query or chunk.
        """
        with self._db.reading():
            for what, table, name in (
                ("query", "queries", query_id),
                ("chunk", "chunks", chunk_id),
            ):
                if self._db.value(f"SELECT 1 FROM {table} WHERE {what}_id = ?", [name]) is None:
                    raise NotFound(f"there is no {what} {name!r} in the golden set")
            where = "WHERE q.query_id = ? AND c.chunk_id = ? ORDER BY j.id"
            rows = self._db.rows(f"{JUDGMENT_EVENTS} {where}", [query_id, chunk_id])
            golden = self._db.value(GOLDEN_OF_PAIR, [query_id, chunk_id])
            chunk = self._chunks.get(chunk_id)
        text = chunk.text if chunk else None
        return [
            _marked_judgment(judgment_from_row(row), text or "", hash_text(text)) for row in rows
        ], golden

    def marked_by(self, query_id: str, base: TransferSource) -> tuple[str, ...]:
        """Return the words that a base judgment of a transferred grade marked."""
        said, _ = self.said_of(query_id, base.chunk_id)
        return next((each.words for each in said if each.event.event_id == base.event_id), ())


def _source_prefix(old: str, new: str) -> str:
    """Return the prefix of ``source`` in every event of transfers between two chunkings."""
    return f"{SOURCE_PREFIX}{old}:{new}:"


def _transfer_event(grade: GoldenGrade, source: str, wording: str | None) -> Judgment:
    return Judgment(
        event_id=str(uuid.uuid4()),
        query_id=grade.query_id,
        chunk_id=grade.chunk_id,
        grader=None,
        kind="carry",
        grade=grade.grade,
        note=grade.note,
        blind=False,
        source=source,
        text_hash=wording,
        evidence=grade.evidence.passages if grade.evidence else (),
        carried_from=grade.carried_from,
    )


def _withdrawal_event(pair: tuple[str, str], source: str) -> Judgment:
    return Judgment(
        str(uuid.uuid4()), *pair, None, "withdraw", blind=False, source=source, carried_from=()
    )


def _base_judgments(
    said: Sequence[tuple[BaseJudgment, bool]], *, grade: int, deciding: int
) -> tuple[BaseJudgment, ...]:
    """Return the judgments of the present text with the golden grade, and the deciding one."""
    return tuple(
        witness
        for witness, is_present in said
        if (witness.grade == grade and is_present) or witness.number == deciding
    )


def _marked_judgment(event: Judgment, text: str, wording: str | None) -> MarkedJudgment:
    is_present = event.text_hash == wording
    return MarkedJudgment(event, passage_texts(text, event.evidence) if is_present else ())


def passage_texts(text: str, passages: Sequence[Passage]) -> tuple[str, ...]:
    """Return the words of each passage, as one line.

    >>> passage_texts("Fees are due\\nin May.", [(9, 19)])
    ('due in May',)
    """
    return tuple(" ".join(text[start:end].split()) for start, end in passages)

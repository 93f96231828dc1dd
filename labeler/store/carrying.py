"""What a carry-over starts from: two chunkings, and the judgments that grades rest on; and its log.

What it found is added to the log in one transaction, and taken back in one: nothing is changed.
"""

from __future__ import annotations

import json
import secrets
import uuid
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from labeler.errors import NotFound
from labeler.model import COUNT, Chunk, GoldenGrade, Judgment, Passage, chunking_in_words
from labeler.store.columns import chunk_of, moment, passages_of
from labeler.store.intake import Intake
from labeler.store.queue import Queue
from labeler.store.reading import CHUNK_COLUMNS

OF_CHUNKING = "c.chunking IS (SELECT id FROM chunkings WHERE name = ?)"
CHUNKS = (
    f"SELECT {CHUNK_COLUMNS} FROM chunks AS c WHERE c.text <> '' AND {OF_CHUNKING} ORDER BY c.id"
)
GOLDEN = f"""
SELECT g.query, g.chunk, q.query_id, c.chunk_id, g.grade, g.stale, g.judgment, g.kind, c.text <> ''
FROM golden AS g JOIN queries AS q ON q.id = g.query JOIN chunks AS c ON c.id = g.chunk
WHERE q.retired_at IS NULL AND {OF_CHUNKING} ORDER BY q.id, c.id
"""
JUDGMENTS = f"""
SELECT j.query, j.chunk, j.id, j.event_id, j.grade, p.name, j.graders, j.created_at, j.evidence,
    j.text_hash IS NULL OR j.text_hash IS c.text_hash
FROM current_judgments AS j JOIN chunks AS c ON c.id = j.chunk
LEFT JOIN graders AS p ON p.id = j.grader
WHERE j.kind IN ('grade', 'adjudicate', 'import') AND {OF_CHUNKING} ORDER BY j.id
"""
DONE = """
SELECT source, min(created_at), count(*) FILTER (WHERE kind = 'carry') FROM standing_judgments
WHERE carried_from IS NOT NULL AND substr(source, 1, length(:begins)) = :begins
GROUP BY source ORDER BY max(id) DESC
"""
OF_ONE = """
SELECT id, query, chunk FROM standing_judgments
WHERE carried_from IS NOT NULL AND source = ? ORDER BY id
"""
TAKE_BACK = """
INSERT INTO judgments (
    event_id, query, chunk, kind, blind, source, undoes, created_at, carried_from
)
VALUES (?, ?, ?, 'withdraw', 0, ?, ?, ?, '[]')
"""
# Each grade of the first, and what was taken back in the second.
MOVED = f"""
SELECT EXISTS (
    SELECT 1 FROM judgments AS j JOIN chunks AS c ON c.id = j.chunk
    WHERE j.id > ? AND (
        {OF_CHUNKING} OR (j.kind = 'withdraw' OR j.undoes IS NOT NULL) AND {OF_CHUNKING}
    )
)
"""
SOURCE = "carry:"
OFTEN = 256  # grades after which progress is told

Progress = Callable[[float], None]


@dataclass(frozen=True, slots=True)
class Witness:
    """A current judgment that says what the golden grade of its pair is.

    ``who`` is the grader, or those whom an import names; ``passages`` are in the present text.
    """

    number: int
    event_id: str
    chunk_id: str
    grade: int
    who: tuple[str, ...]
    at: str
    passages: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class Witnessed:
    """A golden grade, of which ``kind``, and which judgments it rests on.

    It ``is_present`` where it was given for the chunk's present text, which there is.
    """

    query_id: str
    chunk_id: str
    grade: int
    kind: str
    is_present: bool
    witnesses: tuple[Witness, ...]


@dataclass(frozen=True, slots=True)
class CarryBasis:
    """Two chunkings and their golden grades, and which pairs the runs of the second ask for.

    Chunks without a text are left out; ``unreadable`` counts the asked pairs that have such a one.
    ``grades`` are those of the first that were given there, and ``derived`` counts those that were
    carried over to it themselves; ``graded`` those of the second. ``recorded`` are its pairs that a
    carry-over gave a grade, counted or not, and ``counts`` says whether such grades count at all.
    """

    old_name: str
    new_name: str
    old: Sequence[Chunk]
    new: Sequence[Chunk]
    documents: dict[str, str]
    grades: Sequence[Witnessed]
    graded: Sequence[Witnessed]
    asked: Sequence[tuple[str, str]]
    runs: int
    depth: int
    unreadable: int
    derived: int
    recorded: Mapping[tuple[str, str], GoldenGrade]
    counts: bool


@dataclass(frozen=True, slots=True)
class CarriedOver:
    """A carry-over that is in the log: between which chunkings, when, and how many grades."""

    old: str
    new: str
    at: str
    grades: int


class Carrying(Queue, Intake):
    """What grades of one chunking may say of another's chunks is found from this, and kept."""

    def carry_basis(self, old: str, new: str) -> CarryBasis:
        """Return what a carry-over from a chunking to another starts from, as of one moment.

        Asked for is the pool of the second one's runs, as deep as the settings say. Raises
        `NotFound` for a chunking that is not there, for one without a golden grade, and for a
        second one without a run.
        """
        with self._reading():
            self._check_chunkings(old, new)
            runs = [run for run, name in self.chunkings_of_runs().items() if name == new]
            there, settings = self._witnessed(old), self.settings()
            grades = [each for each in there if each.kind != "carry"]
            self._check_enough(old, new, bool(grades), bool(runs))
            chunks = self._chunks_in(new)
            readable = {each.chunk_id for each in chunks}
            asked, unreadable = self._asked(runs, settings.pool_depth, readable)
            carried = self._current_imports("carry")
            return CarryBasis(
                old,
                new,
                self._chunks_in(old),
                chunks,
                {document.document_id: document.text for document in self.documents()},
                grades,
                self._witnessed(new),
                asked,
                len(runs),
                settings.pool_depth,
                unreadable,
                len(there) - len(grades),
                {pair: grade for pair, grade in carried.items() if pair[1] in readable},
                settings.carried == COUNT,
            )

    def add_carried(
        self,
        old: str,
        new: str,
        grades: Sequence[GoldenGrade],
        lost: Sequence[tuple[str, str]],
        wordings: Mapping[str, str | None],
        progress: Progress | None = None,
    ) -> None:
        """Add grades that follow to the log, and take back what was carried over and is ``lost``.

        All of it or nothing. ``wordings`` are the fingerprints of the texts that were looked at:
        one that has changed since has no grade by this, and neither has a grade that rests on a
        judgment which has.
        """
        source = f"{_source(old, new)}{secrets.token_hex(4)}"
        events = [_carry(each, source, wordings[each.chunk_id]) for each in grades]
        events += [_withdrawal(pair, source) for pair in lost]
        if not events:
            return
        with self._writing():
            for done, event in enumerate(events, 1):
                self._append(event)
                if progress is not None and (done % OFTEN == 0 or done == len(events)):
                    progress(done / len(events))
            names = {"from": old, "to": new}
            self._note("carry", new, {**names, "carried": len(grades), "taken back": len(lost)})
        self.seal_if_possible()

    def carried_over(self) -> list[CarriedOver]:
        """Return the carry-overs that can be taken back, the newest first."""
        found = []
        for source, at, grades in self._rows(DONE, {"begins": SOURCE}):
            old, new, _ = source.removeprefix(SOURCE).split(":")
            found.append(CarriedOver(old, new, at, grades))
        return found

    def chunk_numbers(self, chunking: str) -> dict[str, int]:
        """Return the numbers of a chunking's chunks by their ids."""
        called = self._called_by_number(chunking)
        return {chunk_id: number for number, chunk_id in called.items()}

    def numbers_in(self, chunking: str) -> list[int]:
        """Return the numbers of a chunking's chunks."""
        sql = f"SELECT c.id FROM chunks AS c WHERE {OF_CHUNKING}"
        return [number for (number,) in self._rows(sql, [chunking])]

    def has_moved(self, revision: int, old: str, new: str) -> bool:
        """Say whether something else may follow from the first chunking for the second one.

        Whether anybody judged a chunk of the first after ``revision``, or took back what was given
        to one of the second.
        """
        return bool(self._value(MOVED, [revision, old, new]))

    def undo_carried(self, old: str, new: str) -> int:
        """Take the last carry-over between two chunkings back; return how many events that were.

        Every golden grade is what it was before, but for what people said since. Raises `NotFound`
        where there is none left.
        """
        with self._writing():
            source = self._value(DONE, {"begins": _source(old, new)})
            if source is None:
                raise NotFound(
                    f"nothing was carried over from {chunking_in_words(old)} to "
                    f"{chunking_in_words(new)} that could be taken back"
                )
            rows, at = self._rows(OF_ONE, [source]), moment()
            self._db.conn.executemany(
                TAKE_BACK,
                ((str(uuid.uuid4()), query, chunk, source, n, at) for n, query, chunk in rows),
            )
            self._note("uncarry", new, {"from": old, "to": new, "events": len(rows)})
        self.seal_if_possible()
        return len(rows)

    def _asked(
        self, runs: Sequence[str], depth: int, readable: AbstractSet[str]
    ) -> tuple[list[tuple[str, str]], int]:
        """Return the pool of runs by id, and how many pairs of it nobody can read."""
        pool, unreadable = self.pool(depth, runs)
        called = dict(self._rows("SELECT id, chunk_id FROM chunks"))
        asked = [(query, called[at]) for query, chunks in pool.items() for at in chunks]
        found = [pair for pair in asked if pair[1] in readable]
        return found, unreadable + len(asked) - len(found)

    def _check_chunkings(self, *names: str) -> None:
        there = self.chunking_names()
        for name in names:
            if name not in there:
                raise NotFound(
                    f"there is no chunking {name!r}; there are: {', '.join(map(repr, there))}; its "
                    f"chunks make it: labeler load chunks FILE --chunking {name}"
                )

    def _check_enough(self, old: str, new: str, has_grades: bool, has_runs: bool) -> None:
        if not has_grades:
            raise NotFound(
                f"no chunk of {chunking_in_words(old)} has a golden grade, so there is none to "
                "carry over"
            )
        if not has_runs:
            raise NotFound(
                f"no run is of {chunking_in_words(new)}, so nobody asks for its chunks; load one: "
                f"labeler load run FILE --chunking {new or repr('')}"
            )

    def _chunks_in(self, chunking: str) -> list[Chunk]:
        return [chunk_of(row) for row in self._rows(CHUNKS, [chunking])]

    def _called_by_number(self, chunking: str) -> dict[int, str]:
        sql = f"SELECT c.id, c.chunk_id FROM chunks AS c WHERE {OF_CHUNKING}"
        return dict(self._rows(sql, [chunking]))

    def _witnessed(self, chunking: str) -> list[Witnessed]:
        """Return the golden grades of a chunking with what they rest on."""
        said: dict[tuple[int, int], list[tuple[Witness, bool]]] = defaultdict(list)
        chunk_ids = self._called_by_number(chunking)
        for query, chunk, number, event, grade, name, graders, at, *rest in self._rows(
            JUDGMENTS, [chunking]
        ):
            evidence, is_present = rest
            who = tuple(json.loads(graders)) if graders else (name,)
            passages = passages_of(evidence) if is_present else ()
            witness = Witness(number, event, chunk_ids[chunk], grade, who, at, passages)
            said[query, chunk].append((witness, bool(is_present)))
        return [
            Witnessed(
                query_id,
                chunk_id,
                grade,
                kind,
                bool(has_text) and not stale,
                _witnesses(said[query, chunk], grade=grade, deciding=deciding),
            )
            for query, chunk, query_id, chunk_id, grade, stale, deciding, kind, has_text in (
                self._rows(GOLDEN, [chunking])
            )
        ]


def _source(old: str, new: str) -> str:
    """Return how the source of each event begins that carries over from a chunking to another."""
    return f"{SOURCE}{old}:{new}:"


def _carry(grade: GoldenGrade, source: str, wording: str | None) -> Judgment:
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


def _withdrawal(pair: tuple[str, str], source: str) -> Judgment:
    return Judgment(
        str(uuid.uuid4()), *pair, None, "withdraw", blind=False, source=source, carried_from=()
    )


def _witnesses(
    said: Sequence[tuple[Witness, bool]], *, grade: int, deciding: int
) -> tuple[Witness, ...]:
    """Return who says a golden grade of the present text, and in any case what decides it."""
    return tuple(
        witness
        for witness, is_present in said
        if (witness.grade == grade and is_present) or witness.number == deciding
    )

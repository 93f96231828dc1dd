"""Adjudication: pairs on which graders disagree, each opinion, and the decision.

An adjudication is an event in the log of judgments.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from labeler.errors import BadInput, NotFound
from labeler.model import Chunk, Judgment, Passage, Query, agreed_grade
from labeler.store.audit import Audit
from labeler.store.chunk_texts import ChunkTexts
from labeler.store.chunks import Chunks
from labeler.store.columns import as_json, passages_from_column
from labeler.store.connection import Connection
from labeler.store.copies import COPY_MARK, COPY_SOURCE, ChunkCopies
from labeler.store.judgments import JudgmentConflict, Judgments
from labeler.store.queries import Queries
from labeler.store.settings import StoredSettings

ADJUDICATION = "adjudication"  # the source of adjudications and of their undos in the log
DISAGREEING_PAIRS = """
SELECT j.query, min(q.query_id), j.chunk, min(c.chunk_id), json_group_object(j.grader, j.grade)
FROM current_judgments AS j
JOIN queries AS q ON q.id = j.query
JOIN chunks AS c ON c.id = j.chunk
WHERE j.kind = 'grade' AND q.retired_at IS NULL
GROUP BY j.query, j.chunk HAVING min(j.grade) < max(j.grade)
ORDER BY j.query, j.chunk
"""
SELECT_ADJUDICATIONS = """
SELECT j.query, j.chunk, j.event_id, j.grade, g.name, j.note, j.created_at,
    CASE WHEN j.text_hash = c.text_hash THEN j.evidence END
FROM current_judgments AS j JOIN graders AS g ON g.id = j.grader JOIN chunks AS c ON c.id = j.chunk
WHERE j.kind = 'adjudicate'{some}
ORDER BY j.id
"""
# Grades by people and files of chunks that have copies; the next statement reads golden grades.
SAID_OF_COPIES = """
SELECT j.query, j.chunk, j.kind, g.name, j.grade
FROM current_judgments AS j
JOIN queries AS q ON q.id = j.query AND q.retired_at IS NULL
JOIN chunks AS c ON c.id = j.chunk
LEFT JOIN graders AS g ON g.id = j.grader
WHERE j.kind IN ('grade', 'import') AND c.id IN (SELECT CAST(value AS INTEGER) FROM json_each(?))
ORDER BY j.id
"""
GOLDEN_OF_COPIES = """
SELECT g.query, q.query_id, g.chunk, c.chunk_id, c.document_id, g.grade, g.kind
FROM golden AS g
JOIN queries AS q ON q.id = g.query AND q.retired_at IS NULL
JOIN chunks AS c ON c.id = g.chunk
WHERE c.id IN (SELECT CAST(value AS INTEGER) FROM json_each(?))
ORDER BY g.query, g.chunk
"""
# A repeat is graded without seeing the earlier note, so that note holds until another is written.
SELECT_OPINIONS = """
SELECT
    j.query, j.chunk, c.chunk_id, g.name, j.kind, j.grade, j.reason,
    (
        SELECT s.note FROM standing_judgments AS s
        WHERE s.query = j.query AND s.chunk = j.chunk AND +s.grader = j.grader
            AND s.lane = 'grade' AND (s.note <> '' OR coalesce(s.source, '') <> 'repeat')
        ORDER BY s.id DESC LIMIT 1
    ),
    j.blind, coalesce(j.text_hash <> coalesce(c.text_hash, ''), false), j.created_at,
    CASE WHEN j.text_hash = c.text_hash THEN j.evidence END
FROM json_each(:pairs) AS pair
JOIN current_judgments AS j ON j.query = CAST(json_extract(pair.value, '$[0]') AS INTEGER)
    AND j.chunk = CAST(json_extract(pair.value, '$[1]') AS INTEGER)
JOIN graders AS g ON g.id = j.grader
JOIN chunks AS c ON c.id = j.chunk
WHERE j.kind IN ('grade', 'cannot_tell')
ORDER BY g.name, c.id
"""
UNDOABLE_ADJUDICATIONS = """
SELECT j.event_id, q.query_id, c.chunk_id, j.grade
FROM standing_judgments AS j
JOIN queries AS q ON q.id = j.query
JOIN chunks AS c ON c.id = j.chunk
WHERE j.grader = (SELECT id FROM graders WHERE name = ?) AND j.lane = 'adjudicate'
    AND coalesce(j.source, '') <> 'twin' AND q.retired_at IS NULL
ORDER BY j.id DESC LIMIT ?
"""


@dataclass(frozen=True, slots=True)
class Adjudication:
    """A decision that overrules the graders of a pair; ``evidence`` is as in `Opinion`."""

    event_id: str
    grade: int
    grader: str
    note: str | None
    created_at: str
    evidence: tuple[Passage, ...] = ()


@dataclass(frozen=True, slots=True)
class CopyGrade:
    """The golden grade of one of several copies; ``kind`` is that of the judgment that gives it."""

    chunk_id: str
    document_id: str | None
    number: int
    grade: int
    kind: str
    adjudication: Adjudication | None


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A pair to which people give different grades now; ``grades`` are by name.

    ``agreed`` is the grade by the team's rule, None for a tie. ``adjudication`` is the decision
    that overrules it. ``spread`` is how far apart the grades are, see `grade_spread`.

    Chunks of the query with the same text are one disagreement: either people's grades of the text
    differ, or its golden grades do. It has the id of the first chunk, and ``copies`` holds all of
    them. It is decided once all golden grades are equal. ``agreed`` is also None where nobody
    graded the text.
    """

    query_id: str
    chunk_id: str
    grades: Mapping[str, int]
    spread: int
    agreed: int | None
    adjudication: Adjudication | None
    numbers: tuple[int, int]
    copies: tuple[CopyGrade, ...] = ()

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """The numbers of the query and of each chunk."""
        chunks = [each.number for each in self.copies] or [self.numbers[1]]
        return [(self.numbers[0], chunk) for chunk in chunks]

    @property
    def is_of_copies(self) -> bool:
        """Whether the golden grades of one text differ."""
        return len({each.grade for each in self.copies}) > 1

    @property
    def golden(self) -> int | None:
        """The grade that counts, None for a tie that nobody has decided."""
        return self.agreed if self.adjudication is None else self.adjudication.grade

    @property
    def is_open(self) -> bool:
        """Whether nobody has decided yet."""
        return self.adjudication is None


@dataclass(frozen=True, slots=True)
class Opinion:
    """One person's current judgment of a chunk; ``stale`` where it is for an earlier text.

    ``evidence`` holds the passages marked for the grade, if the text is still the same.
    """

    chunk_id: str
    grader: str
    kind: str
    grade: int | None
    reason: str | None
    note: str | None
    blind: bool | int
    stale: bool | int
    created_at: str
    evidence: tuple[Passage, ...] = ()


@dataclass(frozen=True, slots=True)
class Case:
    """A disagreement with what is needed to decide it: the query, the chunk and every opinion.

    ``more`` is as in `PairContent`; a chunk known by id only has no text and no ``text_hash``.
    """

    disagreement: Disagreement
    query: Query
    chunk: Chunk
    text_hash: str | None
    more: int | None
    opinions: tuple[Opinion, ...]


class Adjudications:
    """Reads the pairs that graders disagree on, and stores adjudications."""

    def __init__(self, connection: Connection) -> None:
        self._db = connection
        self._audit = Audit(connection)
        self._settings = StoredSettings(connection)
        self._queries = Queries(connection)
        self._chunks = Chunks(connection)
        self._texts = ChunkTexts(connection)
        self._copies = ChunkCopies(connection)
        self._judgments = Judgments(connection)

    def disagreements(
        self, graders: Collection[str] = (), among: Collection[str] | None = None
    ) -> list[Disagreement]:
        """Return the pairs to which people give different grades now, query by query.

        Texts that several chunks of a query share are among them if their golden grades differ.
        Queries, and pairs within a query, are sorted by spread, the widest first; of equal
        spreads, ties come first, then the order of the golden set. Deciding one moves none.

        ``graders`` limits the result to pairs on which these differ from each other or, where it
        is only one, from anybody; ``among`` limits it to some queries. A grade that is not blind
        counts as it does in the golden set.
        """
        rule, names, decided = self._settings.read().golden_rule, self._names(), self._decided()
        found = [
            each
            for each in self._of_copies(rule, decided, graders)
            if among is None or each.query_id in among
        ]
        merged = {pair for each in found for pair in each.pairs}
        for query, query_id, chunk, chunk_id, given in self._db.rows(DISAGREEING_PAIRS):
            if (query, chunk) in merged:
                continue
            grades = {names[int(who)]: grade for who, grade in json.loads(given).items()}
            spread = grade_spread(grades, graders)
            if not spread or (among is not None and query_id not in among):
                continue
            said = decided.get((query, chunk))
            agreed = agreed_grade(list(grades.values()), rule)
            by_name = dict(sorted(grades.items()))
            found.append(
                Disagreement(query_id, chunk_id, by_name, spread, agreed, said, (query, chunk))
            )
        return _query_by_query(found)

    def _names(self) -> dict[int, str]:
        return dict(self._db.rows("SELECT id, name FROM graders"))

    def _decided(self) -> dict[tuple[int, int], Adjudication]:
        """Return the newest adjudication of each pair that has one."""
        rows = self._db.rows(SELECT_ADJUDICATIONS.format(some=""))
        return {row[:2]: _adjudication_from_row(row) for row in rows}

    def _of_copies(
        self,
        rule: str,
        decided: Mapping[tuple[int, int], Adjudication],
        graders: Collection[str],
    ) -> list[Disagreement]:
        """Return the disagreements on texts that several chunks of a query share."""
        texts = self._copies.repeated_judged_texts()
        if not texts:
            return []
        asked = [as_json(sorted(texts))]
        families: dict[tuple[int, int], tuple[str, list[CopyGrade]]] = {}
        for query, query_id, chunk, chunk_id, document, grade, kind in self._db.rows(
            GOLDEN_OF_COPIES, asked
        ):
            said = decided.get((query, chunk))
            copy = CopyGrade(chunk_id, document, chunk, grade, kind, said)
            families.setdefault((query, texts[chunk]), (query_id, []))[1].append(copy)
        given: defaultdict[tuple[int, int], list[tuple[int, str | None, int]]] = defaultdict(list)
        for query, chunk, kind, name, grade in self._db.rows(SAID_OF_COPIES, asked):
            given[query, texts[chunk]].append((chunk, name if kind == "grade" else None, grade))
        found = (
            _copies_disagreement(query, query_id, copies, given[query, text], rule, graders)
            for (query, text), (query_id, copies) in families.items()
            if len(copies) > 1
        )
        return [each for each in found if each is not None]

    def cases(self, some: Sequence[Disagreement], longest: int | None = None) -> list[Case]:
        """Return what is needed to decide disagreements; texts end after ``longest`` characters."""
        said: defaultdict[tuple[int, int], list[Opinion]] = defaultdict(list)
        pairs = as_json([pair for each in some for pair in each.pairs])
        for query, chunk, *opinion in self._db.rows(SELECT_OPINIONS, {"pairs": pairs}):
            opinion[-1] = passages_from_column(opinion[-1])
            said[query, chunk].append(Opinion(*opinion))
        queries = self._queries.by_id(each.query_id for each in some)
        chunks = self._texts.by_number([each.numbers[1] for each in some], longest)
        return [
            Case(
                *(each, queries[each.query_id], chunk, wording, more),
                tuple(opinion for pair in each.pairs for opinion in said[pair]),
            )
            for each in some
            for chunk, wording, more in [
                chunks.get(each.numbers[1], (Chunk(each.chunk_id), None, None))
            ]
        ]

    def adjudicate(
        self, judgment: Judgment, replaces: str | None, copies: Sequence[str] = ()
    ) -> bool:
        """Add an adjudication if ``replaces`` is still the pair's current one; return if added.

        ``replaces`` is an event id, or None for no adjudication. Raises `JudgmentConflict` where
        somebody else adjudicated or undid it in the meantime. ``copies`` are other chunks of the
        query with the same text, which get the same grade; raises `BadInput` for one with a
        different text. An event that is in the log is not added again.
        """
        with self._db.transaction():
            self._check_known(judgment, replaces)
            added = self._append(judgment)
            if not added:
                return False
            self._check_copies(judgment, copies)
            for number, chunk_id in enumerate(copies, 1):
                event_id = f"{judgment.event_id}{COPY_MARK}{number}"
                self._append(
                    replace(
                        judgment,
                        event_id=event_id,
                        chunk_id=chunk_id,
                        source=COPY_SOURCE,
                        elapsed_ms=None,
                    )
                )
            return True

    def _append(self, judgment: Judgment) -> bool:
        added = self._judgments.append(judgment)
        if added:
            pair = {"query_id": judgment.query_id, "chunk_id": judgment.chunk_id}
            self._audit.put("adjudicate", judgment.grader, {**pair, "grade": judgment.grade})
        return added

    def _check_known(self, judgment: Judgment, replaces: str | None) -> None:
        if self._db.value("SELECT 1 FROM judgments WHERE event_id = ?", [judgment.event_id]):
            return
        stands = self.of_pair(judgment.query_id, judgment.chunk_id)
        if stands is not None and stands.event_id != replaces:
            raise JudgmentConflict(
                f"{stands.grader} has adjudicated this chunk meanwhile: {stands.grade}; that stands"
            )
        if stands is None and replaces is not None:
            raise JudgmentConflict("the adjudication that this was to replace has been undone")

    def _check_copies(self, judgment: Judgment, copies: Sequence[str]) -> None:
        if not copies:
            return
        family = self._copies.family_of(judgment.query_id, judgment.chunk_id)
        same = set(self._chunks.ids(family).values()) - {judgment.chunk_id}
        for chunk_id in copies:
            if chunk_id not in same:
                raise BadInput(
                    f"chunk {chunk_id!r} does not have the text of chunk {judgment.chunk_id!r} any "
                    "more; decide each"
                )
        if len(set(copies)) < len(copies):
            raise BadInput("copies name a chunk twice")

    def of_pair(self, query_id: str, chunk_id: str) -> Adjudication | None:
        """Return the current adjudication of a pair, None where there is none."""
        rows = self._db.rows(
            SELECT_ADJUDICATIONS.format(
                some=" AND j.query = (SELECT id FROM queries WHERE query_id = ?) "
                "AND j.chunk = (SELECT id FROM chunks WHERE chunk_id = ?)"
            ),
            [query_id, chunk_id],
        )
        return _adjudication_from_row(rows[-1]) if rows else None

    def take_back(self, *, event_id: str, undoes: str, grader: str) -> bool:
        """Undo a grader's own adjudication, and restore the one before it, if any.

        Raises `NotFound` where they have no such adjudication.
        """
        with self._db.transaction():
            pair = self._db.rows(
                "SELECT q.query_id, c.chunk_id FROM judgments AS j "
                "JOIN queries AS q ON q.id = j.query JOIN chunks AS c ON c.id = j.chunk "
                "WHERE j.event_id = ? AND j.kind = 'adjudicate' AND j.undoes IS NULL",
                [undoes],
            )
            if not pair:
                raise NotFound(f"{grader!r} has no adjudication {undoes!r} to undo")
            added = self._judgments.undo(
                event_id=event_id, undoes=undoes, grader=grader, source=ADJUDICATION
            )
            if added:
                names = dict(zip(("query_id", "chunk_id"), pair[0], strict=True))
                self._audit.put("adjudicate", grader, {**names, "grade": "undone"})
        return added

    def by(self, grader: str, limit: int) -> list[tuple[str, str, str, int]]:
        """Return a grader's newest adjudications not undone: event, query, chunk, grade."""
        return [
            (event_id, query_id, chunk_id, grade)
            for event_id, query_id, chunk_id, grade in self._db.rows(
                UNDOABLE_ADJUDICATIONS, [grader, limit]
            )
        ]


def _query_by_query(found: Sequence[Disagreement]) -> list[Disagreement]:
    """Sort disagreements by spread, ties before others, and keep those of a query together."""
    ordered = sorted(found, key=lambda each: (-each.spread, each.agreed is not None, each.numbers))
    places: dict[int, int] = {}
    for place, each in enumerate(ordered):
        places.setdefault(each.numbers[0], place)
    return sorted(ordered, key=lambda each: places[each.numbers[0]])


def _adjudication_from_row(row: tuple[Any, ...]) -> Adjudication:
    event_id, grade, grader, note, created_at, evidence = row[2:]
    return Adjudication(event_id, grade, grader, note, created_at, passages_from_column(evidence))


def _copies_disagreement(
    query: int,
    query_id: str,
    copies: Sequence[CopyGrade],
    given: Sequence[tuple[int, str | None, int]],
    rule: str,
    graders: Collection[str],
) -> Disagreement | None:
    """Return the disagreement on a text, None where there is none.

    ``given`` holds chunk, grader (None for a file) and grade of each judgment, the oldest first.
    """
    people = {name: grade for _, name, grade in given if name is not None}
    finals = {copy.grade for copy in copies}
    decisions = [copy.adjudication for copy in copies if copy.adjudication is not None]
    if graders:
        spread = grade_spread(people, graders)
    else:
        read = {chunk for chunk, name, _ in given if name is not None}
        # imported grades of copies that nobody graded may be what an adjudication was made for
        apart = finals | {
            grade
            for chunk, name, grade in given
            if name is not None or (decisions and chunk not in read)
        }
        spread = max(apart) - min(apart)
    if not spread:
        return None
    first = copies[0]
    is_decided = bool(decisions) and len(finals) == 1
    return Disagreement(
        query_id,
        first.chunk_id,
        dict(sorted(people.items())),
        spread,
        agreed_grade(list(people.values()), rule),
        max(decisions, key=lambda each: each.created_at) if is_decided else None,
        (query, first.number),
        tuple(copies),
    )


def grade_spread(grades: Mapping[str, int], graders: Collection[str] = ()) -> int:
    """Return how far apart grades are: of all, of ``graders``, or of a single one from any other.

    >>> grades = {"Ann": 0, "Bob": 1, "Cy": 3}
    >>> grade_spread(grades), grade_spread(grades, ["Ann", "Bob"]), grade_spread(grades, ["Bob"])
    (3, 1, 2)
    """
    if not set(graders) <= grades.keys():
        return 0
    if len(graders) == 1:
        [own] = (grades[name] for name in graders)
        return max(abs(own - other) for other in grades.values())
    among = [grades[name] for name in graders or grades]
    return max(among) - min(among)

"""Copies: chunks of one query with the same text and title, which graders read and grade once.

Copies are in the pool of one query, whatever their chunking. A chunk without text has none. Each
copy has its own grades in the log: a grader's judgment of one is written for all of them, as events
with the id ``<event id>:twin:<number>`` and the source `COPY_SOURCE`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain

import numpy as np

from labeler.model import CopyGrades
from labeler.store.chunks import Chunks
from labeler.store.columns import as_json, moment
from labeler.store.connection import Connection
from labeler.store.settings import StoredSettings

COPY_SOURCE = "twin"  # of grades that were given to a chunk with the same text
COPY_MARK = ":twin:"
BLANKS = " \t\n\v\f\r\x1c\x1d\x1e\x1f\x85\xa0\u2000\u2001\u2002\u2003\u2009\u200b\u3000\ufeff"
Copies = Mapping[str, Mapping[int, int]]
"""By query, the number of each chunk that repeats another's text, and the number of that one."""
CopyState = tuple[int, str, int]
"""A golden grade, its kind, and whether it is of an earlier text."""
BY_PEOPLE = (("grade", 0), ("adjudicate", 0))
SAME_TEXT = """
    copy.text_hash = c.text_hash AND coalesce(copy.title, '') = coalesce(c.title, '')
"""
# The index of fingerprints finds them: with a second chunking most texts may occur twice, and only
# those of a query's pool need to be read.
REPEATED_HASHES = """
SELECT id, text_hash FROM chunks WHERE text_hash IN (
    SELECT text_hash FROM chunks WHERE text_hash IS NOT NULL GROUP BY text_hash HAVING count(*) > 1
)
"""
TITLES_OF_TEXTS = """
SELECT c.id, coalesce(c.title, '') FROM chunks AS c
WHERE c.id IN (SELECT CAST(value AS INTEGER) FROM json_each(?)) AND trim(c.text, ?) <> ''
ORDER BY c.id
"""
JUDGED_CHUNKS = "SELECT DISTINCT chunk FROM judgments"
CHUNKS_WITH_SAME_TEXT = f"""
SELECT copy.id FROM chunks AS c JOIN chunks AS copy ON {SAME_TEXT}
WHERE c.chunk_id = :chunk AND trim(c.text, :blanks) <> '' ORDER BY copy.id
"""
LISTS_OF_QUERY = """
SELECT substr(chunks, 1, ? * 4) FROM ranked_lists
WHERE run IN (SELECT id FROM runs) AND query_id = ?
"""
GOLDEN_OF_REPEATED = """
SELECT q.query_id, g.chunk, g.grade, g.kind, g.stale FROM golden AS g
JOIN queries AS q ON q.id = g.query AND q.retired_at IS NULL
JOIN chunks AS c ON c.id = g.chunk
WHERE c.id IN (SELECT CAST(value AS INTEGER) FROM json_each(?)) ORDER BY g.query, g.chunk
"""
LISTS_IN_USE = """
SELECT l.query_id, substr(l.chunks, 1, ? * 4) FROM ranked_lists AS l
JOIN queries AS q ON q.query_id = l.query_id AND q.retired_at IS NULL
"""
PROPOSED_IN_USE = """
SELECT q.query_id, p.chunk FROM proposals AS p LEFT JOIN candidates AS k ON k.id = p.candidate
JOIN queries AS q ON q.id = coalesce(p.query, k.query) WHERE q.retired_at IS NULL
"""
# Pooled without a run: suggested, left ungraded by a file, or judged already.
OTHER_CHUNKS_OF_QUERY = """
SELECT p.chunk FROM proposals AS p LEFT JOIN candidates AS k ON k.id = p.candidate
JOIN queries AS q ON q.id = coalesce(p.query, k.query) WHERE q.query_id = :query
UNION
SELECT u.chunk FROM ungraded AS u JOIN queries AS q ON q.id = u.query WHERE q.query_id = :query
UNION
SELECT j.chunk FROM judgments AS j JOIN queries AS q ON q.id = j.query WHERE q.query_id = :query
"""
# A person's current judgment of a chunk is given to its copy, unless they have judged the copy. A
# grade from a file is not: undoing its load would leave the copied grade behind.
GRADE_COPY = f"""
INSERT INTO judgments (
    event_id, query, chunk, grader, kind, grade, reason, note, blind, source, text_hash,
    created_at, evidence, seen_whole, highlighted
)
SELECT
    j.event_id || '{COPY_MARK}' || (
        SELECT count(*) + 1 FROM judgments AS known WHERE known.query = j.query
            AND substr(known.event_id, 1, length(j.event_id) + {len(COPY_MARK)})
                = j.event_id || '{COPY_MARK}'
    ),
    j.query, copy.id, j.grader, j.kind, j.grade, j.reason, j.note, j.blind, '{COPY_SOURCE}',
    copy.text_hash, :at, j.evidence, given.seen_whole, given.highlighted
FROM current_judgments AS j JOIN judgments AS given ON given.id = j.id
JOIN queries AS q ON q.id = j.query AND q.query_id = :query
JOIN chunks AS c ON c.id = j.chunk AND c.id = :chunk
JOIN chunks AS copy ON copy.id = :copy AND {SAME_TEXT}
WHERE j.kind IN ('grade', 'cannot_tell', 'adjudicate') AND q.retired_at IS NULL
    AND coalesce(j.text_hash, c.text_hash) = c.text_hash
    AND NOT EXISTS (
        SELECT 1 FROM golden_loads AS l WHERE j.id BETWEEN l.first_event AND l.last_event
    )
    AND NOT EXISTS (
        SELECT 1 FROM current_judgments AS own
        WHERE own.query = j.query AND own.chunk = copy.id AND +own.grader = j.grader
            AND (own.kind = 'adjudicate') = (j.kind = 'adjudicate')
            AND coalesce(own.text_hash, copy.text_hash) = copy.text_hash
    )
ORDER BY j.id
"""


class ChunkCopies:
    """Finds chunks with the same text, and grades copies that were loaded later."""

    def __init__(self, connection: Connection) -> None:
        self._db = connection
        self._settings = StoredSettings(connection)
        self._chunks = Chunks(connection)

    def in_pool(self, pool: Mapping[str, Iterable[int]]) -> Copies:
        """Return the chunks of each query's pool that repeat the text and title of an earlier one.

        Queries without copies are left out. The earliest chunk is the one with the lowest number.
        """
        texts = self._repeated_texts(lambda: chain.from_iterable(pool.values()))
        found: dict[str, dict[int, int]] = {}
        if not texts:
            return found
        for query_id, chunks in pool.items():
            firsts: dict[int, int] = {}
            for chunk in sorted(texts.keys() & chunks):
                first = firsts.setdefault(texts[chunk], chunk)
                if first != chunk:
                    found.setdefault(query_id, {})[chunk] = first
        return found

    def _repeated_texts(self, among: Callable[[], Iterable[int]]) -> dict[int, int]:
        """Return those of some chunks that share text and title, each with the first one's number.

        ``among`` is not called if no text occurs twice.
        """
        hashes = dict(self._db.rows(REPEATED_HASHES))
        if not hashes:
            return {}
        hashes = {chunk: hashes[chunk] for chunk in hashes.keys() & set(among())}
        often = Counter(hashes.values())
        asked = as_json([chunk for chunk, text in hashes.items() if often[text] > 1])
        firsts: dict[tuple[str, str], int] = {}
        texts = {
            chunk: firsts.setdefault((hashes[chunk], title), chunk)
            for chunk, title in self._db.rows(TITLES_OF_TEXTS, [asked, BLANKS])
        }
        often = Counter(texts.values())
        return {chunk: text for chunk, text in texts.items() if often[text] > 1}

    def repeated_judged_texts(self) -> dict[int, int]:
        """Return the judged chunks that share text and title with other judged chunks.

        The result maps the number of each to that of the first chunk with its text.
        """
        return self._repeated_texts(self._judged)

    def _judged(self) -> Iterable[int]:
        return (chunk for (chunk,) in self._db.rows(JUDGED_CHUNKS))

    def family_of(self, query_id: str, chunk_id: str) -> list[int]:
        """Return the numbers of a chunk and its copies in a query's pool; none without a copy."""
        named = {"chunk": chunk_id, "blanks": BLANKS}
        same = [number for (number,) in self._db.rows(CHUNKS_WITH_SAME_TEXT, named)]
        if len(same) < 2:
            return []
        own = self._db.value("SELECT id FROM chunks WHERE chunk_id = ?", [chunk_id])
        pooled = {own, *self._pooled(query_id)}
        family = [number for number in same if number in pooled]
        return family if len(family) > 1 else []

    def _pooled(self, query_id: str) -> set[int]:
        rows, depth = (
            self._db.rows(OTHER_CHUNKS_OF_QUERY, {"query": query_id}),
            self._settings.read().pool_depth,
        )
        pooled = {chunk for (chunk,) in rows}
        for (chunks,) in self._db.rows(LISTS_OF_QUERY, [depth, query_id]):
            pooled.update(np.frombuffer(chunks or b"", "<i4").tolist())
        return pooled

    def grades(self) -> list[CopyGrades]:
        """Return the graded texts that several chunks of a query's pool have, with their grades.

        A chunk outside the pool of the runs counts as pooled if it has a golden grade.
        """
        found = self._graded_copies()
        names = self._chunks.ids(sorted({chunk for _, states in found for chunk in states}))
        return [
            CopyGrades(
                query_id,
                tuple((names[chunk], state and state[0]) for chunk, state in states.items()),
            )
            for query_id, states in found
        ]

    def _graded_copies(self) -> list[tuple[str, dict[int, CopyState | None]]]:
        """Return query and chunks, by number, of each graded text that has copies."""
        pooled: dict[str, set[int]] = {}

        def graded_or_pooled() -> Iterable[int]:
            for query_id, chunks in self._pooled_in_use():
                pooled.setdefault(query_id, set()).update(chunks)
            return chain(self._judged(), *pooled.values())

        texts = self._repeated_texts(graded_or_pooled)
        if not texts:
            return []
        rows = self._db.rows(GOLDEN_OF_REPEATED, [as_json(sorted(texts))])
        golden = {(query_id, chunk): tuple(state) for query_id, chunk, *state in rows}
        families: dict[tuple[str, int], set[int]] = {}
        for query_id, chunk in golden:
            families.setdefault((query_id, texts[chunk]), set()).add(chunk)
        for query_id in {query_id for query_id, _ in families}:
            for chunk in texts.keys() & pooled.get(query_id, ()):
                if family := families.get((query_id, texts[chunk])):
                    family.add(chunk)
        return [
            (query_id, {chunk: golden.get((query_id, chunk)) for chunk in sorted(family)})
            for (query_id, _), family in families.items()
            if len(family) > 1
        ]

    def _pooled_in_use(self) -> Iterator[tuple[str, list[int]]]:
        for query_id, chunks in self._db.rows(LISTS_IN_USE, [self._settings.read().pool_depth]):
            yield query_id, np.frombuffer(chunks or b"", "<i4").tolist()
        for query_id, chunk in self._db.rows(PROPOSED_IN_USE):
            yield query_id, [chunk]

    def grade_late(self) -> int:
        """Give ungraded chunks the grades that people gave their copies; return how many.

        These chunks were loaded after their text was graded. Grades from a file are not copied, as
        nobody has read the text.
        """
        wanted: list[tuple[str, int, int]] = []
        for query_id, states in self._graded_copies():
            graded = [chunk for chunk, state in states.items() if state and state[1:] in BY_PEOPLE]
            late = [chunk for chunk, state in states.items() if state is None or state[2]]
            wanted += [(query_id, chunk, source) for chunk in late for source in graded]
        if not wanted:
            return 0
        with self._db.transaction():
            return len({each[:2] for each in wanted if self._grade_copy(*each)})

    def _grade_copy(self, query_id: str, copy: int, chunk: int) -> bool:
        named = {"query": query_id, "chunk": chunk, "copy": copy, "at": moment()}
        return bool(self._db.execute(GRADE_COPY, named).rowcount)

"""Copies: chunks of one query with the same text and title, which graders read and grade once.

Copies are of one chunking and in one query's pool; a chunk without a text has none. Each keeps
grades of its own in the log: what a grader says of one is written for all, as events whose ids
are ``<event id>:twin:<number>`` and whose source is `COPY_SOURCE`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from labeler.model import CopyGrades, Pair
from labeler.store.columns import as_json, moment
from labeler.store.contents import ContentsReader

COPY_SOURCE = "twin"  # why a grader was given a chunk: they graded another with its text
COPY_MARK = ":twin:"
BLANKS = " \t\n\v\f\r\x1c\x1d\x1e\x1f\x85\xa0\u2000\u2001\u2002\u2003\u2009\u200b\u3000\ufeff"

Copies = Mapping[str, Mapping[int, int]]
"""By query, the number of each chunk that repeats another's text, and the number of that one."""

SAME_TEXT = """
    copy.text_hash = c.text_hash AND coalesce(copy.title, '') = coalesce(c.title, '')
    AND copy.chunking IS c.chunking
"""
# Few texts occur twice: those are found in the index of fingerprints, without reading a text.
REPEATED_TEXTS = """
SELECT c.id, c.text_hash, coalesce(c.title, ''), coalesce(c.chunking, 0) FROM chunks AS c
WHERE c.text_hash IN (
    SELECT text_hash FROM chunks WHERE text_hash IS NOT NULL GROUP BY text_hash HAVING count(*) > 1
)
AND trim(c.text, ?) <> ''
ORDER BY c.id
"""
CHUNKS_WITH_SAME_TEXT = f"""
SELECT copy.id FROM chunks AS c JOIN chunks AS copy ON {SAME_TEXT}
WHERE c.chunk_id = :chunk AND trim(c.text, :blanks) <> '' ORDER BY copy.id
"""
LISTS_OF_QUERY = """
SELECT substr(chunks, 1, ? * 4) FROM ranked_lists
WHERE run IN (SELECT id FROM runs) AND query_id = ?
"""
IDS_OF_CHUNKS = """
SELECT c.id, c.chunk_id FROM chunks AS c
WHERE c.id IN (SELECT value FROM json_each(?)) ORDER BY c.id
"""
GOLDEN_OF_REPEATED = """
SELECT q.query_id, g.chunk, g.grade FROM golden AS g
JOIN queries AS q ON q.id = g.query AND q.retired_at IS NULL
JOIN chunks AS c ON c.id = g.chunk
WHERE c.id IN (SELECT value FROM json_each(?)) ORDER BY g.query, g.chunk
"""
LISTS_IN_USE = """
SELECT l.query_id, substr(l.chunks, 1, ? * 4) FROM ranked_lists AS l
JOIN queries AS q ON q.query_id = l.query_id AND q.retired_at IS NULL
"""
# What is in a query's pool without a run: proposed, left ungraded by a file, or judged already.
OTHER_CHUNKS_OF_QUERY = """
SELECT p.chunk FROM proposals AS p LEFT JOIN candidates AS k ON k.id = p.candidate
JOIN queries AS q ON q.id = coalesce(p.query, k.query) WHERE q.query_id = :query
UNION
SELECT u.chunk FROM ungraded AS u JOIN queries AS q ON q.id = u.query WHERE q.query_id = :query
UNION
SELECT j.chunk FROM judgments AS j JOIN queries AS q ON q.id = j.query WHERE q.query_id = :query
"""
# What people say of a chunk now becomes what they say of its copy, unless they have judged that.
GRADE_COPY = f"""
INSERT INTO judgments (
    event_id, query, chunk, grader, kind, grade, reason, note, blind, source, text_hash,
    created_at, evidence
)
SELECT
    j.event_id || '{COPY_MARK}' || (
        SELECT count(*) + 1 FROM judgments AS known WHERE known.query = j.query
            AND substr(known.event_id, 1, length(j.event_id) + {len(COPY_MARK)})
                = j.event_id || '{COPY_MARK}'
    ),
    j.query, copy.id, j.grader, j.kind, j.grade, j.reason, j.note, j.blind, '{COPY_SOURCE}',
    copy.text_hash, :at, j.evidence
FROM current_judgments AS j
JOIN queries AS q ON q.id = j.query AND q.query_id = :query
JOIN chunks AS c ON c.id = j.chunk AND c.id = :chunk
JOIN chunks AS copy ON copy.id = :copy AND {SAME_TEXT}
WHERE j.kind IN ('grade', 'cannot_tell', 'adjudicate') AND q.retired_at IS NULL
    AND coalesce(j.text_hash, c.text_hash) = c.text_hash
    AND NOT EXISTS (
        SELECT 1 FROM current_judgments AS own
        WHERE own.query = j.query AND own.chunk = copy.id AND +own.grader = j.grader
            AND (own.kind = 'adjudicate') = (j.kind = 'adjudicate')
            AND coalesce(own.text_hash, copy.text_hash) = copy.text_hash
    )
ORDER BY j.id
"""


class CopyReader(ContentsReader):
    """Which chunks repeat the text of others."""

    def copies_in(self, pool: Mapping[str, Iterable[int]]) -> Copies:
        """Return which chunks of each query's pool repeat the text and title of an earlier one.

        Queries without a copy are left out; the earliest is the chunk with the lowest number.
        """
        texts = self.repeated_texts()
        if not texts:
            return {}
        found: dict[str, dict[int, int]] = {}
        for query_id, chunks in pool.items():
            firsts: dict[int, int] = {}
            for chunk in sorted(texts.keys() & chunks):
                first = firsts.setdefault(texts[chunk], chunk)
                if first != chunk:
                    found.setdefault(query_id, {})[chunk] = first
        return found

    def repeated_texts(self) -> dict[int, int]:
        """Return the chunks whose text and title others have too: number to the text's number."""
        numbers: dict[tuple[object, ...], int] = {}
        rows = self._rows(REPEATED_TEXTS, [BLANKS])
        texts = {chunk: numbers.setdefault(tuple(text), chunk) for chunk, *text in rows}
        often = Counter(texts.values())
        return {chunk: text for chunk, text in texts.items() if often[text] > 1}

    def family_of(self, query_id: str, chunk_id: str) -> list[int]:
        """Return the numbers of a chunk and its copies in a query's pool; none without a copy."""
        named = {"chunk": chunk_id, "blanks": BLANKS}
        same = [number for (number,) in self._rows(CHUNKS_WITH_SAME_TEXT, named)]
        if len(same) < 2:
            return []
        own = self._value("SELECT id FROM chunks WHERE chunk_id = ?", [chunk_id])
        pooled = {own, *self._pooled(query_id)}
        family = [number for number in same if number in pooled]
        return family if len(family) > 1 else []

    def chunk_ids(self, numbers: Sequence[int]) -> dict[int, str]:
        """Return the ids of chunks by number."""
        if not numbers:
            return {}
        wanted = as_json(list(numbers))
        return dict(self._rows(IDS_OF_CHUNKS, [wanted]))

    def _pooled(self, query_id: str) -> set[int]:
        rows, depth = (
            self._rows(OTHER_CHUNKS_OF_QUERY, {"query": query_id}),
            self.settings().pool_depth,
        )
        pooled = {chunk for (chunk,) in rows}
        for (chunks,) in self._rows(LISTS_OF_QUERY, [depth, query_id]):
            pooled.update(np.frombuffer(chunks or b"", "<i4").tolist())
        return pooled

    def copy_grades(self) -> list[CopyGrades]:
        """Return the texts that several chunks of a query's pool have, with their golden grades.

        A chunk that is not in the pool of the runs belongs to it where it has a golden grade. Of
        texts without any golden grade nothing is returned.
        """
        texts = self.repeated_texts()
        if not texts:
            return []
        depth = self.settings().pool_depth
        rows = self._rows(GOLDEN_OF_REPEATED, [as_json(sorted(texts))])
        golden = {(query_id, chunk): grade for query_id, chunk, grade in rows}
        families: dict[tuple[str, int], set[int]] = {}
        for query_id, chunk in golden:
            families.setdefault((query_id, texts[chunk]), set()).add(chunk)
        for query_id, chunks in self._rows(LISTS_IN_USE, [depth]):
            for chunk in texts.keys() & np.frombuffer(chunks or b"", "<i4").tolist():
                if family := families.get((query_id, texts[chunk])):
                    family.add(chunk)
        names = self.chunk_ids(sorted(set().union(*families.values())))
        return [
            CopyGrades(
                query_id,
                tuple((names[each], golden.get((query_id, each))) for each in sorted(family)),
            )
            for (query_id, _), family in families.items()
            if len(family) > 1
        ]

    def grade_copies(self, copies: Sequence[tuple[Pair, int]]) -> int:
        """Write what people said of chunks for their copies; return how many events that makes.

        Each copy is a pair and the number of the chunk, of the same query, whose text it repeats:
        it came after that was graded. What people said of the copy itself stays.
        """
        added = 0
        with self._transaction():
            for (query_id, copy), chunk in copies:
                named = {"query": query_id, "chunk": chunk, "copy": copy, "at": moment()}
                added += self._db.execute(GRADE_COPY, named).rowcount
        return added


def is_copied(event_id: str) -> bool:
    """Tell whether an event was written for a copy of what was graded."""
    return COPY_MARK in event_id

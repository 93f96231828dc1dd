"""How a golden grade came to be: what was said of its pair, and what a carried one rests on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from labeler.errors import NotFound
from labeler.model import CarriedFrom, Judgment, Passage
from labeler.store.carrying import Carrying
from labeler.store.columns import carried_of, judgment_of, passages_of, text_hash
from labeler.store.reading import EVENTS

CARRIED = """
SELECT q.query_id, q.text, c.id, c.chunk_id, c.title, coalesce(k.name, ''), g.grade,
    coalesce(j.note, 'it follows'), j.carried_from, j.evidence, j.created_at
FROM golden AS g JOIN judgments AS j ON j.id = g.judgment
JOIN queries AS q ON q.id = g.query JOIN chunks AS c ON c.id = g.chunk
LEFT JOIN chunkings AS k ON k.id = c.chunking
WHERE g.kind = 'carry' AND q.retired_at IS NULL AND (:query IS NULL OR q.query_id = :query)
ORDER BY q.id, c.id
"""
GOLDEN = """
SELECT g.grade FROM golden AS g
JOIN queries AS q ON q.id = g.query JOIN chunks AS c ON c.id = g.chunk
WHERE q.query_id = ? AND c.chunk_id = ?
"""


@dataclass(frozen=True, slots=True)
class CarriedGrade:
    """A carried grade that counts, why it follows, and the judgments that it rests on.

    ``passages`` are those that made it, in the text of the chunk ``chunk_id``, number ``chunk``.
    """

    query_id: str
    query: str
    chunk: int
    chunk_id: str
    title: str | None
    chunking: str
    grade: int
    why: str
    bases: tuple[CarriedFrom, ...]
    passages: tuple[Passage, ...]
    created_at: str

    @property
    def trail(self) -> str:
        """Say why it follows and whose grades it rests on, of which chunks and days."""
        return f"{self.why}; rests on {'; '.join(base.in_words for base in self.bases)}"


class Said(NamedTuple):
    """A judgment, and the words of what it marked, as far as that is of the present text."""

    event: Judgment
    words: tuple[str, ...]


class Trails(Carrying):
    """What stands behind a golden grade."""

    def carried_grades(self, query_id: str | None = None) -> list[CarriedGrade]:
        """Return the carried grades that count, of all queries in use or of one."""
        return [
            CarriedGrade(*(*row, carried_of(bases) or (), passages_of(evidence), created_at))
            for *row, bases, evidence, created_at in self._rows(CARRIED, {"query": query_id})
        ]

    def carried_trails(self, query_id: str) -> dict[str, str]:
        """Return by chunk the trail of each carried grade of a query that counts."""
        return {each.chunk_id: each.trail for each in self.carried_grades(query_id)}

    def said_of(self, query_id: str, chunk_id: str) -> tuple[list[Said], int | None]:
        """Return every judgment of a pair, the oldest first, and its golden grade.

        Raises `NotFound` for a query or a chunk that is not there.
        """
        with self._reading():
            for what, table, name in (
                ("query", "queries", query_id),
                ("chunk", "chunks", chunk_id),
            ):
                if self._value(f"SELECT 1 FROM {table} WHERE {what}_id = ?", [name]) is None:
                    raise NotFound(f"there is no {what} {name!r} in the golden set")
            where = "WHERE q.query_id = ? AND c.chunk_id = ? ORDER BY j.id"
            rows = self._rows(f"{EVENTS} {where}", [query_id, chunk_id])
            golden = self._value(GOLDEN, [query_id, chunk_id])
            chunk = self.chunk(chunk_id)
        text = chunk.text if chunk else None
        return [_said(judgment_of(row), text or "", text_hash(text)) for row in rows], golden

    def marked_by(self, query_id: str, base: CarriedFrom) -> tuple[str, ...]:
        """Return the words that were marked by a judgment a carried grade rests on."""
        said, _ = self.said_of(query_id, base.chunk_id)
        return next((each.words for each in said if each.event.event_id == base.event_id), ())


def _said(event: Judgment, text: str, wording: str | None) -> Said:
    is_present = event.text_hash == wording
    return Said(event, words_at(text, event.evidence) if is_present else ())


def words_at(text: str, passages: Sequence[Passage]) -> tuple[str, ...]:
    """Return the words of passages, as one line each.

    >>> words_at("Fees are due\\nin May.", [(9, 19)])
    ('due in May',)
    """
    return tuple(" ".join(text[start:end].split()) for start, end in passages)

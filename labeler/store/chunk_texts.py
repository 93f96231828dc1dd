"""Texts of chunks for graders: paired with their query, cut to a length, or found by search.

Of a long text only the part asked for is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from labeler.errors import NotFound
from labeler.model import Chunk, Query
from labeler.store.chunks import CHUNK_COLUMNS
from labeler.store.columns import as_json, chunk_from_row
from labeler.store.connection import Connection
from labeler.store.queries import Queries

MOST_BYTES = 4  # of one character in UTF-8
# Numbers of chunkings, 0 for the default one, which is null in the tables.
CHUNKINGS_OF_QUERY = """
SELECT DISTINCT coalesce(r.chunking, 0) FROM runs AS r
WHERE EXISTS (SELECT 1 FROM ranked_lists AS l WHERE l.run = r.id AND l.query_id = ?)
"""


@dataclass(frozen=True, slots=True)
class PairContent:
    """One pair as a grader sees it: the query with its reference and guideline, and the chunk.

    ``more`` is the byte of the text to go on from, None where all of it is here.
    """

    query: Query
    chunk: Chunk
    text_hash: str
    more: int | None = None


class ChunkTexts:
    """Reads and searches the texts of chunks."""

    def __init__(self, connection: Connection) -> None:
        self._db = connection
        self._queries = Queries(connection)

    def items(
        self, pairs: Sequence[tuple[str, int]], longest: int | None = None
    ) -> dict[tuple[str, int], PairContent]:
        """Return what a grader sees of pairs, without those whose chunk has no text.

        A text of more than ``longest`` characters is cut there.
        """
        queries = self._queries.by_id(query_id for query_id, _ in pairs)
        chunks = self.by_number([chunk for _, chunk in pairs], longest)
        return {
            (query_id, chunk): PairContent(queries[query_id], *chunks[chunk])
            for query_id, chunk in pairs
            if query_id in queries and chunk in chunks
        }

    def numbered(self, numbers: Iterable[int], longest: int | None = None) -> dict[int, Chunk]:
        """Return the chunks of a list by number, without those that have no text.

        A text of more than ``longest`` characters ends there, in an ellipsis.
        """
        found = self.by_number(sorted(set(numbers)), longest)
        return {
            number: chunk if more is None else replace(chunk, text=f"{chunk.text}…")
            for number, (chunk, _, more) in found.items()
        }

    def by_number(
        self, numbers: Sequence[int], longest: int | None
    ) -> dict[int, tuple[Chunk, str, int | None]]:
        """Return chunks with their text's hash, and where the text goes on if it was cut."""
        text = "c.text" if longest is None else "NULL"
        rows = self._db.rows(
            f"SELECT c.id, c.text_hash, c.chunk_id, {text}, c.title, c.document_id, c.position, "
            'c.metadata, c.start, c."end" FROM chunks AS c '
            "WHERE c.id IN (SELECT CAST(value AS INTEGER) FROM json_each(?)) "
            "AND c.text_hash IS NOT NULL",
            [as_json(numbers)],
        )
        found: dict[int, tuple[Chunk, str, int | None]] = {}
        for number, text_hash, *columns in rows:
            chunk, more = chunk_from_row(columns), None
            if longest is not None:
                text, more = self._part(number, 0, longest)
                chunk = replace(chunk, text=text)
            found[number] = chunk, text_hash, more
        return found

    def _part(self, number: int, start: int, longest: int) -> tuple[str, int | None]:
        """Return at most ``longest`` characters from a byte on, and the byte to go on from.

        Where more follows, the part ends at the last line end in its second half, if there is one.
        """
        with self._db.translated():
            found = self._db.engine.read_text_part(
                self._db.handle, number, start, longest * MOST_BYTES
            )
        read, length = found
        part = read.decode("utf-8", "ignore")[:longest]
        ends = min(start, length) + len(part.encode())
        line_end = part.rfind("\n") + 1
        if ends < length and line_end > longest // 2:
            part = part[:line_end]
            ends = start + len(part.encode())
        return part, ends if ends < length and part else None

    def read_from(self, chunk_id: str, start: int, longest: int) -> tuple[str, int | None]:
        """Return at most ``longest`` characters of a chunk's text, and the byte to go on from.

        Raises `NotFound` for a chunk without text.
        """
        asked = "SELECT id FROM chunks WHERE chunk_id = ? AND text IS NOT NULL"
        number = self._db.value(asked, [chunk_id])
        if number is None:
            raise NotFound(f"there is no chunk {chunk_id!r} with a text")
        return self._part(number, start, longest)

    def neighbours(self, chunk_id: str) -> tuple[Chunk | None, Chunk | None]:
        """Return the chunks before and after a chunk in its document and chunking, if with text."""
        both: list[Chunk | None] = []
        for beside, order in (("<", "DESC"), (">", "ASC")):
            rows = self._db.rows(
                f"SELECT {CHUNK_COLUMNS} FROM chunks AS c JOIN chunks AS own "
                f"ON own.document_id = c.document_id AND c.position {beside} own.position "
                "AND coalesce(own.chunking, 0) = coalesce(c.chunking, 0) "
                "WHERE own.chunk_id = ? AND c.text IS NOT NULL "
                f"ORDER BY c.position {order}, c.id {order} LIMIT 1",
                [chunk_id],
            )
            both.append(chunk_from_row(rows[0]) if rows else None)
        return both[0], both[1]

    def search(self, words: str, limit: int, query_id: str | None = None) -> list[int]:
        """Return the numbers of the chunks that match best, those with all words first.

        The last word may be the beginning of one. Case and accents are ignored. With a query, only
        the chunkings of runs that have a list for it are searched, or all where no run has one.
        """
        sought = search_words(words)
        if not sought:
            return []
        among = self._asked_for(query_id)
        found = dict.fromkeys(self._matches(sought, limit, among, all_of=True))
        if len(found) < limit and len(sought) > 1:
            found |= dict.fromkeys(self._matches(sought, limit, among, all_of=False))
        return list(found)[:limit]

    def _asked_for(self, query_id: str | None) -> list[int] | None:
        """Return the chunkings of the runs that have a list for a query, None for all."""
        if query_id is None or self._db.value("SELECT 1 FROM chunkings LIMIT 1") is None:
            return None
        return [number for (number,) in self._db.rows(CHUNKINGS_OF_QUERY, [query_id])] or None

    def _matches(
        self, sought: Sequence[str], limit: int, among: Sequence[int] | None, *, all_of: bool
    ) -> list[int]:
        with self._db.translated():
            return self._db.engine.search(
                self._db.handle, sought, all_of=all_of, most=limit, among=among
            )


def search_words(text: str) -> list[str]:
    """Return the words of a text without anything that is an operator of a search.

    >>> search_words('refund OR "late')
    ['refund', 'OR', 'late']
    """
    return re.findall(r"[^\W_]+", text)

"""What a grader reads of a pair: a text whole, its beginning, or the piece one reads on with.

Long texts are read from the file no further than they are asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from labeler.errors import NotFound
from labeler.model import Chunk, Query
from labeler.store.columns import as_json, chunk_of
from labeler.store.reading import Reading

WIDEST = 4  # bytes of a character


@dataclass(frozen=True, slots=True)
class Item:
    """One pair as a grader sees it: the query with its help, the chunk with its text.

    ``more`` is where in the text one reads on, in bytes, None where all of it is here.
    """

    query: Query
    chunk: Chunk
    text_hash: str
    more: int | None = None


class Texts(Reading):
    """Reads what stands before a grader, as much of it as is wanted."""

    def items(
        self, pairs: Sequence[tuple[str, int]], longest: int | None = None
    ) -> dict[tuple[str, int], Item]:
        """Return what a grader sees of pairs, without those whose chunk has no text.

        A text of more than ``longest`` characters is cut there.
        """
        queries = {
            query.query_id: query
            for query in self._queries(
                "WHERE q.query_id IN (SELECT value FROM json_each(?))",
                [as_json([query_id for query_id, _ in pairs])],
            )
        }
        chunks = self._chunks_of([chunk for _, chunk in pairs], longest)
        return {
            (query_id, chunk): Item(queries[query_id], *chunks[chunk])
            for query_id, chunk in pairs
            if query_id in queries and chunk in chunks
        }

    def chunks_numbered(
        self, numbers: Iterable[int], longest: int | None = None
    ) -> dict[int, Chunk]:
        """Return the chunks of a list by number, without those that have no text.

        A text of more than ``longest`` characters ends there, in an ellipsis.
        """
        found = self._chunks_of(sorted(set(numbers)), longest)
        return {
            number: chunk if more is None else replace(chunk, text=f"{chunk.text}…")
            for number, (chunk, _, more) in found.items()
        }

    def _chunks_of(
        self, numbers: Sequence[int], longest: int | None
    ) -> dict[int, tuple[Chunk, str, int | None]]:
        text = "c.text" if longest is None else "NULL"
        rows = self._rows(
            f"SELECT c.id, c.text_hash, c.chunk_id, {text}, c.title, c.document_id, c.position, "
            'c.metadata, c.start, c."end" FROM chunks AS c '
            "WHERE c.id IN (SELECT value FROM json_each(?)) AND c.text_hash IS NOT NULL",
            [as_json(numbers)],
        )
        found: dict[int, tuple[Chunk, str, int | None]] = {}
        for number, text_hash, *columns in rows:
            chunk, more = chunk_of(columns), None
            if longest is not None:
                text, more = self._part(number, 0, longest)
                chunk = replace(chunk, text=text)
            found[number] = chunk, text_hash, more
        return found

    def text_from(self, chunk_id: str, start: int, longest: int) -> tuple[str, int | None]:
        """Return a chunk's text from byte ``start`` on, and where it goes on after ``longest``.

        Raises `NotFound` for a chunk without text.
        """
        asked = "SELECT id FROM chunks WHERE chunk_id = ? AND text IS NOT NULL"
        number = self._value(asked, [chunk_id])
        if number is None:
            raise NotFound(f"there is no chunk {chunk_id!r} with a text")
        return self._part(number, start, longest)

    def _part(self, number: int, start: int, longest: int) -> tuple[str, int | None]:
        """Return at most so many characters of a text, and the byte it goes on at, if any."""
        with self._translated():
            found = self._engine.part_of_text(self._db, number, start, longest * WIDEST)
        read, length = found
        part = read.decode("utf-8", "ignore")[:longest]
        ends = min(start, length) + len(part.encode())
        return part, ends if ends < length and part else None

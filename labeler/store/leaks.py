"""What of the golden set was found in other texts, and what it is looked for in."""

from __future__ import annotations

from collections.abc import Iterator

from labeler.store.reading import Reading


class Leaks(Reading):
    """The texts of chunks; which queries are marked as leaked."""

    def chunk_texts(self) -> Iterator[tuple[str, str]]:
        """Give the id and the text of every chunk that has one, title first, one after another."""
        with self._reading():
            for chunk_id, title, text in self._db.execute(
                "SELECT chunk_id, title, text FROM chunks WHERE text IS NOT NULL ORDER BY id"
            ):
                if title:
                    yield chunk_id, title
                yield chunk_id, text

"""Documents: loading and reading the whole texts that chunks were cut from.

A chunk with a start and an end must equal its document between these two.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from labeler.errors import BadInput
from labeler.model import Chunk, Document, Loaded, LoadReport
from labeler.store.audit import Audit
from labeler.store.columns import as_json, hash_text
from labeler.store.connection import Connection
from labeler.store.load_reports import load_report

PLACED_CHUNKS = """
SELECT c.chunk_id, c.start, c."end", c.text FROM chunks AS c
WHERE c.document_id = ? AND c.start IS NOT NULL ORDER BY c.id
"""


class Documents:
    """Loads and reads documents."""

    def __init__(self, connection: Connection) -> None:
        self._db = connection
        self._audit = Audit(connection)

    def text(self, document_id: str) -> str | None:
        """Return the text of a document, None if it is not loaded."""
        text: str | None = self._db.value(
            "SELECT text FROM documents WHERE document_id = ?", [document_id]
        )
        return text

    def all(self) -> list[Document]:
        """Return all loaded documents in the order of loading."""
        rows = self._db.rows("SELECT document_id, text, title, metadata FROM documents ORDER BY id")
        return [Document(name, text, title, json.loads(data)) for name, text, title, data in rows]

    def cut(self) -> set[str]:
        """Return the documents that chunks name as their source."""
        rows = self._db.rows(
            "SELECT DISTINCT document_id FROM chunks WHERE document_id IS NOT NULL"
        )
        return {document_id for (document_id,) in rows}

    def of_chunks(self, numbers: Iterable[int]) -> dict[int, str]:
        """Return the documents of chunks by number, without chunks of an unknown document."""
        return dict(
            self._db.rows(
                "SELECT id, document_id FROM chunks "
                "WHERE id IN (SELECT CAST(value AS INTEGER) FROM json_each(?)) "
                "AND document_id IS NOT NULL",
                [as_json(sorted(set(numbers)))],
            )
        )

    def load(self, loaded: Loaded[Document], *, update: bool = False) -> LoadReport:
        """Add the whole texts that chunks were cut from.

        Raises `BadInput` for another text of a known document, unless ``update`` replaces it, and
        for a text that differs from a chunk between the chunk's start and end.
        """
        with self._db.writing():
            counts = self.put(loaded, update=update)
            self._audit.put_load("documents", loaded.source, counts)
            cut = self.cut()
        given = {document.document_id for document in loaded.records}
        counts["documents of chunks that are not among them"] = len(cut - given)
        warnings = list(loaded.warnings)
        if cut and not cut & given:
            warnings.append(
                f"no chunk was cut from any of these documents (one is {min(given)!r}, and a "
                f"chunk's is {min(cut)!r}); are the document ids the same?"
            )
        return load_report("documents", replace(loaded, warnings=tuple(warnings)), counts)

    def put(self, loaded: Loaded[Document], *, update: bool) -> Counter[str]:
        """Add documents in the caller's transaction; count the new, updated and known ones."""
        counts: Counter[str] = Counter()
        there = dict(self._db.rows("SELECT document_id, text_hash FROM documents"))
        for index, document in enumerate(loaded.records):
            where, digest = loaded.where(index), hash_text(document.text)
            known = there.get(document.document_id)
            if known is not None and known != digest and not update:
                raise BadInput(
                    f"{where}: document {document.document_id!r} is already in the golden set "
                    "with another text; replace it with --update"
                )
            counts[
                "new" if known is None else "already there" if known == digest else "updated"
            ] += 1
            self._check_places(document, where)
            with self._db.translated(where):
                self._db.execute(
                    "INSERT INTO documents (document_id, title, text, text_hash, metadata) "
                    "VALUES (?, ?, ?, ?, ?) ON CONFLICT (document_id) DO UPDATE SET "
                    "title = excluded.title, text = excluded.text, "
                    "text_hash = excluded.text_hash, metadata = excluded.metadata",
                    [
                        *(document.document_id, document.title, document.text, digest),
                        as_json(document.metadata),
                    ],
                )
        return counts

    def _check_places(self, document: Document, where: str) -> None:
        """Raise `BadInput` for a chunk that differs from its document at its place."""
        for chunk_id, start, end, text in self._db.rows(PLACED_CHUNKS, [document.document_id]):
            check_chunk_position(Chunk(chunk_id, text, start=start, end=end), document.text, where)

    def check_place(self, chunk: Chunk, where: str) -> None:
        """Raise `BadInput` if a chunk differs from its document at its place."""
        if chunk.start is not None and chunk.document_id is not None:
            text = self.text(chunk.document_id)
            if text is not None:
                check_chunk_position(chunk, text, where)


def check_chunk_position(chunk: Chunk, document: str, where: str) -> None:
    """Raise `BadInput` if a chunk differs from its document between its start and end."""
    if chunk.start is None or chunk.end is None:
        return
    place = f"{where}: chunk {chunk.chunk_id!r} has start {chunk.start} and end {chunk.end}"
    if chunk.end > len(document):
        raise BadInput(f"{place}, and its document has {len(document):,} characters")
    if chunk.text is not None and chunk.text != document[chunk.start : chunk.end]:
        raise BadInput(
            f"{place}, where its document has another text, beginning "
            f"{document[chunk.start : chunk.start + 40]!r}; offsets count characters from 0, the "
            "end not included"
        )

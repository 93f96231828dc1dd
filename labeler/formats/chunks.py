"""Files of chunks; knows what a chunk's fields may be called."""

from __future__ import annotations

from labeler.formats.names import CHUNK_ID, CHUNK_TEXT, DOCUMENT_ID, POSITION, TITLE
from labeler.formats.queries import refuse_second
from labeler.formats.reading import Progress, Source, StrPath, file_source, open_lines
from labeler.formats.records import (
    Record,
    as_id,
    merged,
    outer_spaces,
    take,
    take_count,
    take_id,
    take_mapping,
    take_text,
)
from labeler.formats.tables import read_records
from labeler.model import Chunk, Loaded

_WANTED = {"chunk id": CHUNK_ID}
_OTHERS = (*CHUNK_TEXT, *TITLE, *DOCUMENT_ID, *POSITION, "metadata")


def read_chunks(
    path: StrPath, *, name: str | None = None, progress: Progress | None = None
) -> Loaded[Chunk]:
    """Read chunks from JSONL, a BEIR ``corpus.jsonl``, CSV or TSV, plain or gzip.

    A chunk may come with its id alone. Every key or column without a meaning of its own is kept
    in the metadata. Raises `BadInput` with file and line, `NotFound` for a missing file.
    """
    return chunks_from(file_source(path, name), progress)


def chunks_from(source: Source, progress: Progress | None = None) -> Loaded[Chunk]:
    """Read chunks from a source, as `read_chunks` does."""
    chunks: list[Chunk] = []
    lines: dict[str, int] = {}
    with open_lines(source, progress) as raw:
        for number, record in read_records(source, raw, _WANTED, _OTHERS):
            with source.at(number):
                chunk = _chunk_of(record)
                refuse_second(lines, chunk.chunk_id, number, "chunk")
            chunks.append(chunk)
    if not chunks:
        raise source.fail(None, "there is no chunk in it")
    warnings = outer_spaces(lines, "chunk")
    return Loaded(source.name, chunks, list(lines.values()), _facts(chunks), warnings)


def _chunk_of(record: Record) -> Chunk:
    chunk_id = take_id(record, CHUNK_ID, "chunk")
    document = take(record, DOCUMENT_ID)
    given = take_mapping(record, "metadata")
    return Chunk(
        chunk_id=chunk_id,
        text=take_text(record, CHUNK_TEXT) or None,
        title=take_text(record, TITLE) or None,
        document_id=None if document in (None, "") else as_id(document, "document"),
        position=take_count(record, POSITION),
        metadata=merged(given, record),
    )


def _facts(chunks: list[Chunk]) -> dict[str, int | str]:
    facts: dict[str, int | str] = {"chunks": len(chunks)}
    documents = {chunk.document_id for chunk in chunks if chunk.document_id is not None}
    if documents:
        facts["documents"] = len(documents)
    facts["without text"] = sum(not (chunk.text or "").strip() for chunk in chunks)
    facts["longest text (characters)"] = max(len(chunk.text or "") for chunk in chunks)
    return facts

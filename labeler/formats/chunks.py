"""Files of chunks; knows what a chunk's fields may be called."""

from __future__ import annotations

from labeler.errors import BadInput
from labeler.formats import ragas
from labeler.formats.documents import Document
from labeler.formats.limits import LIMITS, Limits
from labeler.formats.names import CHUNK_ID, CHUNK_TEXT, DOCUMENT_ID, END, POSITION, START, TITLE
from labeler.formats.peers import in_json
from labeler.formats.reading import (
    Lines,
    Progress,
    Source,
    StrPath,
    file_source,
    open_lines,
    peek_line,
)
from labeler.formats.records import (
    Record,
    Records,
    as_id,
    merged,
    take,
    take_count,
    take_id,
    take_mapping,
    take_text,
)
from labeler.formats.spool import Ids, Spool, lines_of_records, weight_of
from labeler.formats.tables import read_table
from labeler.model import Chunk, Loaded

_WANTED = {"chunk id": CHUNK_ID}
_OTHERS = (*CHUNK_TEXT, *TITLE, *DOCUMENT_ID, *POSITION, *START, *END, "metadata")


def read_chunks(
    path: StrPath,
    *,
    name: str | None = None,
    progress: Progress | None = None,
    limits: Limits = LIMITS,
) -> Loaded[Chunk]:
    """Read chunks from JSONL, a BEIR ``corpus.jsonl``, CSV or TSV, plain or gzip.

    A chunk may come with its id alone. Every key or column without a meaning of its own is kept
    in the metadata. Raises `BadInput` with file and line, `NotFound` for a missing file.
    """
    return chunks_from(file_source(path, name, limits), progress)


def chunks_from(source: Source, progress: Progress | None = None) -> Loaded[Chunk]:
    """Read chunks from a source, as `read_chunks` does."""
    chunks: Spool[Chunk] = Spool()
    ids, counts = Ids("chunk"), _Counts()
    with open_lines(source, progress) as raw:
        for number, record in _records(source, raw):
            weight = weight_of(record)
            with source.at(number):
                chunk = chunk_of(record, source.limits)
                ids.add(chunk.chunk_id, number)
            chunks.add(chunk, weight)
            counts.add(chunk, number)
    if not chunks:
        raise source.fail(None, "there is no chunk in it")
    ids.check(source, lambda place: chunks[place].chunk_id)
    warnings = (*ids.warnings(), *counts.warnings())
    return Loaded(source.name, chunks, lines_of_records(ids.lines), counts.facts(), warnings)


def _records(source: Source, raw: Lines) -> Records:
    """Give the records of a file, whatever it is; the contexts of samples each once."""
    number, first, lines = peek_line(source, raw)
    if number == 0:
        return
    found = in_json(source, number, first, lines)
    if isinstance(found, Document):
        raise source.fail(number, "one JSON object; chunks are a JSON object a line, or a list")
    if found is None:
        yield from read_table(source, lines, _WANTED, _OTHERS)
        return
    texts: dict[str, str] = {}
    for line, record in found:
        if not (ragas.is_sample(record) or ragas.is_result(record)):
            yield line, record
            continue
        with source.at(line):
            for chunk_id, text in ragas.chunks_in(record, source.limits):
                known = texts.get(chunk_id)
                if known is None:
                    texts[chunk_id] = str(text)
                    yield line, {"chunk_id": chunk_id, "text": text}
                elif known != text:
                    raise BadInput(f"chunk {chunk_id!r} has another text on an earlier line")


def chunk_of(record: Record, limits: Limits) -> Chunk:
    """Return the chunk a record describes; the record is used up."""
    chunk_id = take_id(record, CHUNK_ID, "chunk", limits)
    document = take(record, DOCUMENT_ID)
    given = take_mapping(record, "metadata", limits)
    document_id = None if document in (None, "") else as_id(document, "document", limits)
    start, end = (None, None) if document_id is None else _place(record)
    return Chunk(
        chunk_id=chunk_id,
        text=take_text(record, CHUNK_TEXT) or None,
        title=take_text(record, TITLE) or None,
        document_id=document_id,
        position=take_count(record, POSITION),
        metadata=merged(given, record),
        start=start,
        end=end,
    )


def _place(record: Record) -> tuple[int | None, int | None]:
    """Return where a chunk starts and ends in its document, if both are whole numbers.

    Without a document, and where they are something else, such as seconds of a recording, they
    stay what they are: metadata.
    """
    for names in (START, END):
        given = next((record[name] for name in names if record.get(name) is not None), None)
        if isinstance(given, bool) or not str(given).removeprefix("-").isdecimal():
            return None, None
    return take_count(record, START), take_count(record, END)


class _Counts:
    """What a file of chunks holds, counted as it is read."""

    def __init__(self) -> None:
        self.chunks = self.without_text = self.longest = 0
        self.nowhere: list[int] = []  # lines of chunks with a place and no document
        self.documents: set[int] = set()  # their hashes: ids would take as much memory as texts

    def add(self, chunk: Chunk, line: int) -> None:
        """Count a chunk."""
        text = chunk.text or ""
        self.chunks += 1
        self.without_text += not text.strip()
        self.longest = max(self.longest, len(text))
        if chunk.document_id is not None:
            self.documents.add(hash(chunk.document_id))
        elif all(any(name in chunk.metadata for name in names) for names in (START, END)):
            self.nowhere.append(line)

    def facts(self) -> dict[str, int | str]:
        """Return the counts as a report names them."""
        documents = {"documents": len(self.documents)} if self.documents else {}
        return {
            "chunks": self.chunks,
            **documents,
            "without text": self.without_text,
            "longest text (characters)": self.longest,
        }

    def warnings(self) -> tuple[str, ...]:
        """Say of places that are not known as such why they are not."""
        if not self.nowhere:
            return ()
        have = "1 chunk has" if len(self.nowhere) == 1 else f"{len(self.nowhere):,} chunks have"
        return (
            f"{have} a start and an end and no document_id (line {self.nowhere[0]:,}): they stay "
            "metadata, since nothing says of which document they are",
        )

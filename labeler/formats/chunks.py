"""Files of chunks, and of the documents they were cut from.

Documents may also be a folder of texts, where the path of a file is the document's id. Unknown
fields are kept in the metadata.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace
from pathlib import Path

from labeler.errors import BadInput
from labeler.formats.csv_tables import read_table
from labeler.formats.field_aliases import (
    CHUNK_ID,
    CHUNK_ID_OR_DOCUMENT,
    CHUNK_TEXT,
    DOCUMENT_ID,
    END,
    POSITION,
    START,
    TITLE,
)
from labeler.formats.json_records import (
    MOST_SHAPES,
    JsonDocument,
    Record,
    Records,
    as_id,
    format_keys,
    merge_metadata,
    or_list,
    take,
    take_count,
    take_id,
    take_mapping,
    take_text,
    with_known_names,
)
from labeler.formats.limits import LIMITS, Limits
from labeler.formats.lines import (
    InputFile,
    Lines,
    Progress,
    StrPath,
    decode,
    file_source,
    open_lines,
    peek_line,
)
from labeler.formats.peers.detection import read_json
from labeler.formats.retrieval.parts import chunk_records, retrievals_in, sample
from labeler.formats.spool import Spool, UniqueIds, compact_lines, estimate_size
from labeler.model import Chunk, Document, Loaded
from labeler.model.text import visible_text

_CHUNK_IDS = CHUNK_ID.then(CHUNK_ID_OR_DOCUMENT)
_CHUNK_REQUIRED = {"chunk id": _CHUNK_IDS}
_CHUNK_OPTIONAL = (*CHUNK_TEXT, *TITLE, *DOCUMENT_ID, *POSITION, *START, *END, "metadata")


def read_chunks(
    path: StrPath,
    *,
    name: str | None = None,
    progress: Progress | None = None,
    limits: Limits = LIMITS,
) -> Loaded[Chunk]:
    """Read chunks from JSONL, a BEIR ``corpus.jsonl``, CSV or TSV, plain or gzip.

    A chunk may have an id only. Unknown keys and columns are kept in the metadata. Raises
    `BadInput` with file and line, `NotFound` for a missing file.
    """
    return chunks_from(file_source(path, name, limits), progress)


def chunks_from(source: InputFile, progress: Progress | None = None) -> Loaded[Chunk]:
    """Read chunks from a source, as `read_chunks` does."""
    chunks: Spool[Chunk] = Spool()
    ids, counts = UniqueIds("chunk"), _ChunkCounts()
    with open_lines(source, progress) as raw:
        for number, record in _chunk_records(source, raw):
            weight = estimate_size(record)
            with source.at(number):
                chunk = parse_chunk(record, source.limits)
                ids.add(chunk.chunk_id, number)
            chunks.add(chunk, weight)
            counts.add(chunk, number)
    if not chunks:
        raise source.fail(None, "there is no chunk in it")
    ids.check(source, lambda place: chunks[place].chunk_id)
    warnings = (*ids.warnings(), *counts.warnings())
    return Loaded(source.name, chunks, compact_lines(ids.lines), counts.facts(), warnings)


def _chunk_records(source: InputFile, raw: Lines) -> Records:
    """Yield the records of a file in any format; of retrieval records each chunk once."""
    number, first, lines = peek_line(source, raw)
    if number == 0:
        return
    found = read_json(source, number, first, lines)
    if isinstance(found, JsonDocument):
        raise source.fail(number, "one JSON object; chunks are a JSON object a line, or a list")
    if found is None:
        yield from read_table(source, lines, _CHUNK_REQUIRED, _CHUNK_OPTIONAL)
        return
    sampled = sample(found)
    if (retrievals := retrievals_in(source, sampled)) is not None:
        yield from chunk_records(source, retrievals)
        return
    yield from with_known_names(sampled.records, (*_CHUNK_IDS, *_CHUNK_OPTIONAL))


def parse_chunk(record: Record, limits: Limits) -> Chunk:
    """Return the chunk in a record, emptying the record."""
    names = _CHUNK_IDS if record.keys().isdisjoint(CHUNK_ID) else CHUNK_ID
    chunk_id = take_id(record, names, "chunk", limits)
    document = take(record, DOCUMENT_ID)
    given = take_mapping(record, "metadata", limits)
    document_id = None if document in (None, "") else as_id(document, "document", limits)
    start, end = (None, None) if document_id is None else _take_span(record)
    return Chunk(
        chunk_id=chunk_id,
        text=visible_text(take_text(record, CHUNK_TEXT)),
        title=take_text(record, TITLE) or None,
        document_id=document_id,
        position=take_count(record, POSITION),
        metadata=merge_metadata(given, record),
        start=start,
        end=end,
    )


def _take_span(record: Record) -> tuple[int | None, int | None]:
    """Return where a chunk starts and ends in its document, if both are whole numbers.

    Other values, such as seconds of a recording, stay in the record and become metadata.
    """
    for names in (START, END):
        given = next((record[name] for name in names if record.get(name) is not None), None)
        if isinstance(given, bool) or not str(given).removeprefix("-").isdecimal():
            return None, None
    return take_count(record, START), take_count(record, END)


class _ChunkCounts:
    """Counts of what a file of chunks holds, updated while reading."""

    def __init__(self) -> None:
        self.chunks = self.without_text = self.longest = 0
        self.nowhere: list[int] = []  # lines of chunks with a span and no document
        self.fields: dict[str, None] = {}  # what chunks have beside their own fields
        self.documents: set[int] = set()  # their hashes: ids would take as much memory as texts

    def add(self, chunk: Chunk, line: int) -> None:
        """Count a chunk."""
        text = chunk.text or ""
        self.chunks += 1
        self.without_text += not text.strip()
        if chunk.metadata.keys() - self.fields.keys() and len(self.fields) < MOST_SHAPES:
            self.fields |= dict.fromkeys(chunk.metadata)
        self.longest = max(self.longest, len(text))
        if chunk.document_id is not None:
            self.documents.add(hash(chunk.document_id))
        elif all(any(name in chunk.metadata for name in names) for names in (START, END)):
            self.nowhere.append(line)

    def facts(self) -> dict[str, int | str]:
        """Return the counts under the names of the report."""
        documents = {"documents": len(self.documents)} if self.documents else {}
        return {
            "chunks": self.chunks,
            **documents,
            "without text": self.without_text,
            "longest text (characters)": self.longest,
            **({"kept as metadata": format_keys(self.fields)} if self.fields else {}),
        }

    def warnings(self) -> tuple[str, ...]:
        """Warn of spans without a document, which stay metadata, and of fields but no text."""
        textless = self.without_text == self.chunks and bool(self.fields)
        return (*self._of_texts(), *self._of_spans()) if textless else self._of_spans()

    def _of_texts(self) -> tuple[str, ...]:
        return (
            f"no chunk has a text; kept as metadata are {format_keys(self.fields)}; if one of them "
            f"is the text, name it {or_list(CHUNK_TEXT)}",
        )

    def _of_spans(self) -> tuple[str, ...]:
        if not self.nowhere:
            return ()
        have = "1 chunk has" if len(self.nowhere) == 1 else f"{len(self.nowhere):,} chunks have"
        return (
            f"{have} a start and an end and no document_id (line {self.nowhere[0]:,}): they stay "
            "metadata, since nothing says of which document they are",
        )


TEXT_SUFFIXES = (".md", ".txt")
DOCUMENT_IDS = (*DOCUMENT_ID, "_id", "id")
_DOCUMENT_REQUIRED = {"document id": DOCUMENT_IDS}
_DOCUMENT_OPTIONAL = (*CHUNK_TEXT, *TITLE, "metadata")


def read_documents(
    path: StrPath,
    *,
    name: str | None = None,
    progress: Progress | None = None,
    limits: Limits = LIMITS,
) -> Loaded[Document]:
    """Read documents from a folder, or from JSONL, CSV or TSV, plain or gzip.

    In a folder every ``.md`` and ``.txt`` file at any depth is a document in UTF-8, with its path
    as id. A record has document_id and text; unknown fields are kept in the metadata. Raises
    `BadInput` with file and line, `NotFound` for a missing file.
    """
    if Path(path).is_dir():
        return _read_folder(Path(path), name or str(path), progress, limits)
    return documents_from(file_source(path, name, limits), progress)


def documents_from(source: InputFile, progress: Progress | None = None) -> Loaded[Document]:
    """Read documents from a source with a record per document."""
    documents: Spool[Document] = Spool()
    ids = UniqueIds("document")
    with open_lines(source, progress) as raw:
        number, first, lines = peek_line(source, raw)
        if number == 0:
            raise source.fail(None, "there is no document in it")
        found = read_json(source, number, first, lines)
        if isinstance(found, JsonDocument):
            raise source.fail(number, "one JSON object; documents are a JSON object a line")
        records = (
            read_table(source, lines, _DOCUMENT_REQUIRED, _DOCUMENT_OPTIONAL)
            if found is None
            else found
        )
        for line, record in records:
            weight = estimate_size(record)
            with source.at(line):
                document = parse_document(record, source.limits)
                ids.add(document.document_id, line)
            documents.add(document, weight)
    ids.check(source, lambda place: documents[place].document_id)
    lines_read = compact_lines(ids.lines)
    return Loaded(source.name, documents, lines_read, {"documents": len(documents)}, ids.warnings())


def parse_document(record: Record, limits: Limits) -> Document:
    """Return the document in a record, emptying the record."""
    document_id = take_id(record, DOCUMENT_IDS, "document", limits)
    given = take_mapping(record, "metadata", limits)
    return Document(
        document_id,
        visible_text(take_text(record, CHUNK_TEXT)) or "",
        take_text(record, TITLE) or None,
        merge_metadata(given, record),
    )


def match_document_names(
    loaded: Loaded[Document], path: StrPath, cut: Set[str]
) -> Loaded[Document]:
    """Return a folder's documents under the ids in ``cut``, by which chunks name them.

    Chunks may name a file without its suffix or its folder; a document that no chunk names keeps
    its path as id. Documents that were read from records keep their ids.
    """
    if not Path(path).is_dir():
        return loaded
    named = [
        replace(each, document_id=_name_among(each.document_id, cut)) for each in loaded.records
    ]
    seen: dict[str, str] = {}
    for each, before in zip(named, loaded.records, strict=True):
        other = seen.setdefault(each.document_id, before.document_id)
        if other != before.document_id:
            raise BadInput(
                f"{loaded.source}: {other!r} and {before.document_id!r} would both be the document "
                f"{each.document_id!r} that chunks name; keep one of them"
            )
    return replace(loaded, records=named)


def _name_among(path: str, cut: Set[str]) -> str:
    stem = path.rpartition(".")[0]
    names = (path, stem, path.rpartition("/")[2], stem.rpartition("/")[2])
    return next((name for name in names if name in cut), path)


def _read_folder(
    folder: Path, name: str, progress: Progress | None, limits: Limits
) -> Loaded[Document]:
    found = sorted(
        path
        for path in folder.rglob("*")
        if path.suffix.lower() in TEXT_SUFFIXES and path.is_file()
    )
    if not found:
        raise BadInput(f"{name}: there is no .md and no .txt in this folder")
    documents: Spool[Document] = Spool()
    unpacked = 0
    for path in found:
        document_id, size = path.relative_to(folder).as_posix(), path.stat().st_size
        source = file_source(path, f"{name}/{document_id}", limits)
        check_inside_folder(folder, path, source)
        if size > limits.text:
            raise source.fail(None, limits.over("text", size, "the text"))
        unpacked += size
        if unpacked > limits.unpacked:
            raise BadInput(f"{name}: {limits.over('unpacked', None, 'what is in this folder')}")
        if text := visible_text(decode(source, 1, path.read_bytes()).removeprefix("\ufeff")):
            documents.add(Document(_path_as_id(document_id, source), text), size)
    facts: dict[str, int | str] = {"documents": len(documents)}
    if len(documents) < len(found):
        facts["empty files, left out"] = len(found) - len(documents)
    if progress is not None:
        progress(1.0)
    return Loaded(name, documents, [1] * len(documents), facts)


def check_inside_folder(folder: Path, path: Path, source: InputFile) -> None:
    """Raise `BadInput` for a link out of a folder, since it could expose other files."""
    if not path.resolve().is_relative_to(folder.resolve()):
        raise source.fail(
            None, "is a link that leads out of the folder; put the file itself in its place"
        )


def _path_as_id(path: str, source: InputFile) -> str:
    try:
        return as_id(path, "document", source.limits)
    except BadInput as error:
        raise source.fail(None, f"its path is its id: {error}") from error

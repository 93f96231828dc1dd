"""The documents that chunks were cut from, whole: a folder of texts, or a record each."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace
from pathlib import Path

from labeler.errors import BadInput
from labeler.formats.documents import Document as JsonDocument
from labeler.formats.limits import LIMITS, Limits
from labeler.formats.names import CHUNK_TEXT, DOCUMENT_ID, TITLE
from labeler.formats.peers import in_json
from labeler.formats.reading import (
    Progress,
    Source,
    StrPath,
    decode,
    file_source,
    open_lines,
    peek_line,
)
from labeler.formats.records import Record, as_id, merged, take_id, take_mapping, take_text
from labeler.formats.spool import Ids, Spool, lines_of_records, weight_of
from labeler.formats.tables import read_table
from labeler.model import Document, Loaded

TEXTS = (".md", ".txt")
IDS = (*DOCUMENT_ID, "_id", "id")
_WANTED = {"document id": IDS}
_OTHERS = (*CHUNK_TEXT, *TITLE, "metadata")


def read_documents(
    path: StrPath,
    *,
    name: str | None = None,
    progress: Progress | None = None,
    limits: Limits = LIMITS,
) -> Loaded[Document]:
    """Read documents from a folder, or from JSONL, CSV or TSV, plain or gzip.

    Of a folder every ``.md`` and ``.txt`` in it and below is one, byte for byte UTF-8, under its
    path in the folder. A record has document_id and text; what has no meaning of its own is kept
    in the metadata. Raises `BadInput` with file and line, `NotFound` for a missing file.
    """
    if Path(path).is_dir():
        return _folder(Path(path), name or str(path), progress, limits)
    return documents_from(file_source(path, name, limits), progress)


def documents_from(source: Source, progress: Progress | None = None) -> Loaded[Document]:
    """Read documents from a source, a record each."""
    documents: Spool[Document] = Spool()
    ids = Ids("document")
    with open_lines(source, progress) as raw:
        number, first, lines = peek_line(source, raw)
        if number == 0:
            raise source.fail(None, "there is no document in it")
        found = in_json(source, number, first, lines)
        if isinstance(found, JsonDocument):
            raise source.fail(number, "one JSON object; documents are a JSON object a line")
        records = read_table(source, lines, _WANTED, _OTHERS) if found is None else found
        for line, record in records:
            weight = weight_of(record)
            with source.at(line):
                document = document_of(record, source.limits)
                ids.add(document.document_id, line)
            documents.add(document, weight)
    ids.check(source, lambda place: documents[place].document_id)
    lines_read = lines_of_records(ids.lines)
    return Loaded(source.name, documents, lines_read, {"documents": len(documents)}, ids.warnings())


def document_of(record: Record, limits: Limits) -> Document:
    """Return the document a record describes; the record is used up."""
    document_id = take_id(record, IDS, "document", limits)
    given = take_mapping(record, "metadata", limits)
    return Document(
        document_id,
        take_text(record, CHUNK_TEXT) or "",
        take_text(record, TITLE) or None,
        merged(given, record),
    )


def named_as_cut(loaded: Loaded[Document], path: StrPath, cut: Set[str]) -> Loaded[Document]:
    """Return a folder's documents under the names that chunks have for them, of which ``cut`` are.

    A file's name may have lost its ending there, or stand without its folder; what no chunk names
    keeps its path. Records have their own ids, which stay.
    """
    if not Path(path).is_dir():
        return loaded
    named = [replace(each, document_id=_name_in(each.document_id, cut)) for each in loaded.records]
    seen: dict[str, str] = {}
    for each, before in zip(named, loaded.records, strict=True):
        other = seen.setdefault(each.document_id, before.document_id)
        if other != before.document_id:
            raise BadInput(
                f"{loaded.source}: {other!r} and {before.document_id!r} would both be the document "
                f"{each.document_id!r} that chunks name; keep one of them"
            )
    return replace(loaded, records=named)


def _name_in(path: str, cut: Set[str]) -> str:
    stem = path.rpartition(".")[0]
    names = (path, stem, path.rpartition("/")[2], stem.rpartition("/")[2])
    return next((name for name in names if name in cut), path)


def _folder(folder: Path, name: str, progress: Progress | None, limits: Limits) -> Loaded[Document]:
    """Read the texts of a folder, in the order of their paths."""
    found = sorted(
        path for path in folder.rglob("*") if path.suffix.lower() in TEXTS and path.is_file()
    )
    if not found:
        raise BadInput(f"{name}: there is no .md and no .txt in this folder")
    documents: Spool[Document] = Spool()
    unpacked = 0
    for path in found:
        document_id, size = path.relative_to(folder).as_posix(), path.stat().st_size
        source = file_source(path, f"{name}/{document_id}", limits)
        check_inside(folder, path, source)
        if size > limits.text:
            raise source.fail(None, limits.over("text", size, "the text"))
        unpacked += size
        if unpacked > limits.unpacked:
            raise BadInput(f"{name}: {limits.over('unpacked', None, 'what is in this folder')}")
        if text := decode(source, 1, path.read_bytes()).removeprefix("\ufeff"):
            documents.add(Document(_as_id(document_id, source), text), size)
    facts: dict[str, int | str] = {"documents": len(documents)}
    if len(documents) < len(found):
        facts["empty files, left out"] = len(found) - len(documents)
    if progress is not None:
        progress(1.0)
    return Loaded(name, documents, [1] * len(documents), facts)


def check_inside(folder: Path, path: Path, source: Source) -> None:
    """Raise `BadInput` for a link out of a folder: its maker may not know what it leads to."""
    if not path.resolve().is_relative_to(folder.resolve()):
        raise source.fail(
            None, "is a link that leads out of the folder; put the file itself in its place"
        )


def _as_id(path: str, source: Source) -> str:
    try:
        return as_id(path, "document", source.limits)
    except BadInput as error:
        raise source.fail(None, f"its path is its id: {error}") from error

"""Preview of a file of retrieval records: its fields, and its first record as it would be read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any

from labeler.errors import BadInput
from labeler.formats.json_records import Record, begins_document, parse_beginning
from labeler.formats.lines import InputFile, StrPath, file_source, memory_source, read_head
from labeler.formats.retrieval.field_map import FieldMap, unpack
from labeler.formats.retrieval.reader import open_records
from labeler.formats.retrieval.record import Retrieval, RetrievedChunk
from labeler.formats.retrieval.tool_readers import find_reader

_MOST_READ = 100
_MOST_PATHS = 40
_DEEPEST = 6
_LONGEST_NAME = 60
_NAME = "the file"


@dataclass(frozen=True, slots=True)
class RetrievalPreview:
    """The first retrieval of a file, ``first``; None where none is among its first records.

    ``read_as`` is what one record is, ``map`` the field map that read it, as it is written; None
    where a tool's own reader did.
    """

    read_as: str
    map: str | None
    first: Retrieval | None

    @property
    def has_chunks(self) -> bool:
        """Return whether the first record names a chunk."""
        return self.first is not None and bool(self.first.results or self.first.graded)


def first_records(
    path: StrPath, content: bytes | None = None, columns: Sequence[str] = ()
) -> list[tuple[int, Record]]:
    """Return the first records of a file with their lines, from its beginning alone.

    ``columns`` are those of a table without a header. Raises `BadInput` for a file that holds no
    records.
    """
    source = memory_source(_NAME, content) if content is not None else file_source(path, _NAME)
    head = "\n".join(read_head(source))
    if begins_document(head.strip().partition("\n")[0].strip().encode(errors="replace")):
        if head.lstrip().startswith("["):
            found = [each for each in parse_beginning(head) if isinstance(each, dict)]
            return [*enumerate(found[:_MOST_READ], 1)]
        return _records(source, columns)
    return _records(memory_source(_NAME, f"{head}\n".encode(errors="replace")), columns)


def _records(source: InputFile, columns: Sequence[str]) -> list[tuple[int, Record]]:
    with open_records(source, columns=columns) as records:
        return [*islice(records, _MOST_READ)]


def preview_retrievals(
    path: StrPath, content: bytes | None = None, field_map: FieldMap | None = None
) -> RetrievalPreview:
    """Return how the first retrieval of a file is read: by a map, or by what its keys say.

    Raises `BadInput` where nothing can be read from it.
    """
    columns = () if field_map is None else field_map.columns
    numbered = first_records(path, content, columns)
    reader = find_reader([record for _, record in numbered], field_map)
    if reader is None:
        raise BadInput("no question with its results is found under known keys")
    first = None
    for line, record in numbered:
        first = next((found for found in reader.read(line, record)), None)
        if first is not None:
            break
    if first is None and (finish := getattr(reader, "finish", None)) is not None:
        with suppress(BadInput):  # spans whose others are further on in the file
            first = next(iter(finish()), None)
    if first is None and field_map is not None:
        raise BadInput(f"the map takes none of the first {len(numbered)} records: see its 'where'")
    by_map = getattr(reader, "map", None)  # a reader of one tool has none
    return RetrievalPreview(reader.describe(), None if by_map is None else str(by_map), first)


def has_named_fields(record: Record) -> bool:
    """Return whether the keys of a record may be names, and not the first row of a bare table."""
    return bool(record) and all(len(key) <= _LONGEST_NAME for key in record)


def field_paths(record: Record) -> list[str]:
    """Return the paths of a record's fields, as a field map names them; [] marks a list of objects.

    Those in such a list begin there.

    >>> field_paths({"in": {"q": "why?"}, "found": [{"key": "c1", "m": {"n": 2}}]})
    ['in.q', 'found[]', 'found[]: key', 'found[]: m.n']
    """
    return [*islice(_paths(record, "", 0), _MOST_PATHS)]


def _paths(value: Mapping[str, Any], before: str, depth: int) -> Iterator[str]:
    for key, given in value.items():
        path, inner = f"{before}{key}", unpack(given)
        if isinstance(inner, dict) and inner and depth < _DEEPEST:
            yield from _paths(inner, f"{path}.", depth + 1)
        elif (objects := _objects_in(inner)) and depth < _DEEPEST:
            yield f"{path}[]"
            yield from _paths(objects[0], f"{path}[]: ", depth + 1)
        else:
            yield path


def _objects_in(value: Any) -> Sequence[Record]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def describe_result(result: RetrievedChunk) -> str:
    """Return a result's id and score in a few words.

    >>> describe_result(RetrievedChunk("c1", "so", score=2.5))
    'c1, score 2.5'
    >>> describe_result(RetrievedChunk(None, "so"))
    'an id made of its text'
    """
    parts = ["an id made of its text" if result.chunk_id is None else result.chunk_id]
    if result.score is not None:
        parts.append(f"score {result.score:g}")
    if result.rank is not None:
        parts.append(f"rank {result.rank}")
    if result.grade is not None:
        parts.append(f"grade {result.grade}")
    return ", ".join(parts)

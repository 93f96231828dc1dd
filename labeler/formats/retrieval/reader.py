"""Reading of files of retrieval records, each as one stream of `Retrieval`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice

from labeler.errors import BadInput
from labeler.formats.csv_tables import numbered_rows
from labeler.formats.grades import GradeRule
from labeler.formats.json_records import JsonDocument, Record, Records, format_keys, short
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
from labeler.formats.ranked_lists import OnDuplicate
from labeler.formats.result_fields import Order
from labeler.formats.retrieval.collector import RetrievalCollector
from labeler.formats.retrieval.document_rows import DocumentRowReader
from labeler.formats.retrieval.field_map import FieldMap
from labeler.formats.retrieval.openinference import SpanReader
from labeler.formats.retrieval.record_mapper import RecordMapper
from labeler.formats.retrieval.spans import is_batch, read_otlp
from labeler.formats.retrieval.tool_readers import find_reader
from labeler.formats.retrieval.wrapped import records_of_document
from labeler.model import LoadedRetrievals

_SAMPLED = 100  # records from which it is told what wrote them
_SEPARATORS = "\t,"


def read_retrievals(
    path: StrPath,
    *,
    field_map: FieldMap | None = None,
    order: Order = "score",
    on_duplicate: OnDuplicate = "refuse",
    rule: GradeRule | None = None,
    facets: Sequence[str] | None = None,
    name: str | None = None,
    progress: Progress | None = None,
    limits: Limits = LIMITS,
) -> LoadedRetrievals:
    """Read the queries, chunks, runs and golden grades of one file of retrieval records.

    What wrote it is told by its keys, unless a ``field_map`` says where its fields stand. Raises
    `BadInput` with file and line, `NotFound` for a missing file.
    """
    source = file_source(path, name, limits)
    collector = RetrievalCollector(source, order, on_duplicate, rule or GradeRule())
    columns = () if field_map is None else field_map.columns
    with open_records(source, progress, columns) as records:
        first = [*islice(records, _SAMPLED)]
        if not first:
            raise source.fail(None, "there is no record in it")
        with source.at(first[0][0]):
            reader = find_reader([record for _, record in first], field_map, limits)
        if reader is None:
            raise source.fail(
                first[0][0],
                "no question with its results is found under known keys (the keys are "
                f"{format_keys(first[0][1])}); name their fields: --map 'query=... results=... "
                "id=... text=... score=...'",
            )
        for line, record in chain(first, records):
            with source.at(line):
                for found in reader.read(line, record):
                    collector.add(found)
    if isinstance(reader, RecordMapper) and (why := reader.missing()) is not None:
        raise source.fail(None, why)
    if not isinstance(reader, SpanReader | DocumentRowReader):
        return collector.loaded(facets, reader.facts())
    try:
        for found in reader.finish():
            collector.add(found)
    except BadInput as error:
        raise source.fail(None, str(error)) from error
    return reader.settle(collector.loaded(facets, reader.facts()))


@contextmanager
def open_records(
    source: InputFile, progress: Progress | None = None, columns: Sequence[str] = ()
) -> Iterator[Records]:
    """Open a file and give its records with their lines: JSON lines, a JSON list, CSV, TSV.

    ``columns`` are those of a table without a header.
    """
    with open_lines(source, progress) as raw:
        number, first, lines = peek_line(source, raw)
        if number == 0:
            raise source.fail(None, "there is no record in it")
        if is_batch(first):
            yield read_otlp(source, lines)
            return
        found = read_json(source, number, first, lines)
        if isinstance(found, JsonDocument):
            yield records_of_document(number, found)
        elif found is None:
            yield _rows(source, first, lines, columns)
        else:
            yield found


def _rows(source: InputFile, first: bytes, lines: Lines, columns: Sequence[str]) -> Records:
    """Yield the rows of a table under the names of its header; blank cells are left out."""
    head = decode(source, 1, first)
    separator = next((each for each in _SEPARATORS if each in head), ",")
    rows = numbered_rows(source, lines, separator)
    number, header = next(rows, (0, []))
    if columns and not {*columns} & {*header}:
        header, rows = [*columns], chain([(number, header)], rows)
    twice = len({*header}) < len(header)
    for line, cells in rows:
        if len(cells) != len(header):
            raise source.fail(line, f"{len(cells)} columns where the header has {len(header)}")
        row = {name: cell for name, cell in zip(header, cells, strict=True) if name and cell}
        if twice:  # as where the index of a frame is one of its columns, too
            _check_alike(source, line, header, cells, row)
        yield line, row


def _check_alike(
    source: InputFile, line: int, header: Sequence[str], cells: Sequence[str], row: Record
) -> None:
    """Raise `BadInput` where columns of one name have different values."""
    for name, cell in zip(header, cells, strict=True):
        if name and cell and row[name] != cell:
            raise source.fail(line, f"the column {short(name)} stands twice, with two values here")

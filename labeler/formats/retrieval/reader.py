"""Reading of files of retrieval records, each as one stream of `Retrieval`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from typing import Protocol

from labeler.formats.csv_tables import numbered_rows
from labeler.formats.grades import GradeRule
from labeler.formats.json_records import JsonDocument, Record, Records, format_keys
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
from labeler.formats.retrieval.field_map import FieldMap
from labeler.formats.retrieval.inference import infer_map
from labeler.formats.retrieval.record import Retrieval
from labeler.formats.retrieval.record_mapper import RecordMapper
from labeler.formats.retrieval.tool_maps import find_tool
from labeler.model import LoadedRetrievals

_SAMPLED = 100  # records from which it is told what wrote them
_SEPARATORS = "\t,"


class RetrievalReader(Protocol):
    """Reads what the records of one tool say."""

    def describe(self) -> str:
        """Return what one record is, to go before "a line"."""

    def read(self, line: int, record: Record) -> Iterator[Retrieval]:
        """Yield the retrievals in a record; raises `BadInput` where it has a field amiss."""

    def facts(self) -> Mapping[str, int | str]:
        """Return field by field what was taken and what was left, once all is read."""


def find_reader(
    records: Sequence[Record], field_map: FieldMap | None = None, limits: Limits = LIMITS
) -> RetrievalReader | None:
    """Return the reader of a file from its first records; None for no retrieval records."""
    found = field_map or find_tool(records) or infer_map(records)
    return None if found is None else RecordMapper(found, limits)


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
    with open_records(source, progress) as records:
        first = [*islice(records, _SAMPLED)]
        if not first:
            raise source.fail(None, "there is no record in it")
        with source.at(first[0][0]):
            reader = find_reader([record for _, record in first], field_map, limits)
        if reader is None:
            raise source.fail(
                first[0][0],
                "no question with its results is found under known keys (the keys are "
                f"{format_keys(first[0][1])}); say where they stand: --map 'query=... results=... "
                "id=... text=... score=...'",
            )
        for line, record in chain(first, records):
            with source.at(line):
                for found in reader.read(line, record):
                    collector.add(found)
    return collector.loaded(facets, reader.facts())


@contextmanager
def open_records(source: InputFile, progress: Progress | None = None) -> Iterator[Records]:
    """Open a file and give its records with their lines: JSON lines, a JSON list, CSV, TSV."""
    with open_lines(source, progress) as raw:
        number, first, lines = peek_line(source, raw)
        if number == 0:
            raise source.fail(None, "there is no record in it")
        found = read_json(source, number, first, lines)
        if isinstance(found, JsonDocument):
            yield iter([(number, found.value)])
        else:
            yield _rows(source, first, lines) if found is None else found


def _rows(source: InputFile, first: bytes, lines: Lines) -> Records:
    """Yield the rows of a table under the names of its header; blank cells are left out."""
    head = decode(source, 1, first)
    separator = next((each for each in _SEPARATORS if each in head), ",")
    rows = numbered_rows(source, lines, separator)
    number, header = next(rows, (0, []))
    if len(set(header)) < len(header):
        raise source.fail(number, "a column stands twice in the header")
    for line, cells in rows:
        if len(cells) != len(header):
            raise source.fail(line, f"{len(cells)} columns where the header has {len(header)}")
        yield line, {name: cell for name, cell in zip(header, cells, strict=True) if name and cell}

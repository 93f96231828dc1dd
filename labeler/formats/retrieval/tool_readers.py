"""Readers of retrieval records, chosen by the records' keys or by the map that is given."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Protocol, TypeAlias

from labeler.formats.json_records import Record
from labeler.formats.limits import LIMITS, Limits
from labeler.formats.retrieval.annotations import (
    AnnotationReader,
    ArgillaReader,
    LabelStudioReader,
)
from labeler.formats.retrieval.document_rows import DocumentRowReader, is_document_row
from labeler.formats.retrieval.field_map import FieldMap, Path
from labeler.formats.retrieval.inference import complete_map, infer_map
from labeler.formats.retrieval.openinference import SpanReader
from labeler.formats.retrieval.record import Retrieval
from labeler.formats.retrieval.record_mapper import RecordMapper
from labeler.formats.retrieval.reranking_answers import RerankerReader
from labeler.formats.retrieval.spans import (
    as_record,
    is_otlp,
    is_span,
    kind_of,
    otlp_span,
    spans_of_batch,
)
from labeler.formats.retrieval.tool_maps import ARGILLA, LABEL_STUDIO, RERANKED, find_tool

ToolReader: TypeAlias = RecordMapper | AnnotationReader | RerankerReader

_OWN: Mapping[str, Callable[[FieldMap, Limits], ToolReader]] = MappingProxyType(
    {LABEL_STUDIO: LabelStudioReader, ARGILLA: ArgillaReader, RERANKED: RerankerReader}
)


def reader_of(field_map: FieldMap, limits: Limits) -> ToolReader:
    """Return the reader of the records that a map is for."""
    return _OWN.get(field_map.name, RecordMapper)(field_map, limits)


class RetrievalReader(Protocol):
    """Reads what the records of one tool say."""

    def describe(self) -> str:
        """Return what one record is, to go before "a line"."""

    def read(self, line: int, record: Record) -> Iterator[Retrieval]:
        """Yield the retrievals in a record; raises `BadInput` where it has a field amiss."""

    def facts(self) -> Mapping[str, int | str]:
        """Return field by field what was taken and what was left, once all is read."""


class MappedSpans:
    """Reads the spans in batches of OTLP by a field map, each as an object of its own."""

    def __init__(self, mapper: RetrievalReader) -> None:
        self.mapper = mapper
        self._projects: dict[str, None] = {}

    def describe(self) -> str:
        """Return what one record holds."""
        return "spans of a trace"

    def read(self, line: int, record: Record) -> Iterator[Retrieval]:
        """Yield what the map finds in the spans of a batch."""
        if not is_otlp(record):
            yield from self.mapper.read(line, record)
            return
        for span, attributes in spans_of_batch(record, self._projects):
            one = otlp_span(span, attributes, kind_of(attributes))
            yield from self.mapper.read(line, as_record(one))

    def facts(self) -> Mapping[str, int | str]:
        """Return field by field what was taken and what was left."""
        return self.mapper.facts()


def find_reader(
    records: Sequence[Record], field_map: FieldMap | None = None, limits: Limits = LIMITS
) -> RetrievalReader | None:
    """Return the reader of a file from its first records; None for no retrieval records."""
    if field_map is not None and field_map.names_query:
        mapper = reader_of(complete_map(field_map, records), limits)
        return MappedSpans(mapper) if any(map(is_otlp, records)) else mapper
    if _are_spans(records):
        return SpanReader(limits)
    if any(map(is_document_row, records)):
        return DocumentRowReader(limits)
    chosen: Mapping[str, tuple[Path, ...]] = {} if field_map is None else field_map.paths
    found = find_tool(records) or infer_map(records, chosen)
    if found is None:
        return None
    return reader_of(replace(found, paths={**found.paths, **chosen}), limits)


def is_of_tool(records: Sequence[Record]) -> bool:
    """Return whether a tool is known to have written these records."""
    return (
        _are_spans(records) or any(map(is_document_row, records)) or find_tool(records) is not None
    )


def _are_spans(records: Sequence[Record]) -> bool:
    return any(map(is_otlp, records)) or any(map(is_span, records))

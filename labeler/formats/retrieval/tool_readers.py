"""Readers of tools whose records a field map alone cannot read, by the names of their maps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TypeAlias

from labeler.formats.limits import Limits
from labeler.formats.retrieval.annotations import (
    AnnotationReader,
    ArgillaReader,
    LabelStudioReader,
)
from labeler.formats.retrieval.field_map import FieldMap
from labeler.formats.retrieval.record_mapper import RecordMapper
from labeler.formats.retrieval.reranking_answers import RerankerReader
from labeler.formats.retrieval.tool_maps import ARGILLA, LABEL_STUDIO, RERANKED

ToolReader: TypeAlias = RecordMapper | AnnotationReader | RerankerReader

_OWN: Mapping[str, Callable[[FieldMap, Limits], ToolReader]] = MappingProxyType(
    {LABEL_STUDIO: LabelStudioReader, ARGILLA: ArgillaReader, RERANKED: RerankerReader}
)


def reader_of(field_map: FieldMap, limits: Limits) -> ToolReader:
    """Return the reader of the records that a map is for."""
    return _OWN.get(field_map.name, RecordMapper)(field_map, limits)

"""Retrieval records of any tool: one reader, field maps, and what it makes of a file."""

from labeler.formats.retrieval.field_map import FieldMap
from labeler.formats.retrieval.preview import (
    RetrievalPreview,
    describe_result,
    field_paths,
    first_records,
    has_named_fields,
    preview_retrievals,
)
from labeler.formats.retrieval.reader import find_reader, read_retrievals
from labeler.formats.retrieval.tool_maps import TOOL_MAPS, map_named, map_text

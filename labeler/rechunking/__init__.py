"""Rechunking: where chunks are in their documents, and which grades transfer to new chunks."""

from labeler.rechunking.grade_transfer import transfer_grades
from labeler.rechunking.location import LocatedChunkings, check_offsets, find_locations
from labeler.rechunking.normalised_text import (
    Span,
    intersect_spans,
    merge_spans,
    subtract_spans,
    total_length,
)
from labeler.rechunking.overlap import LocatedChunk, MappedPassages, locate_chunkings, map_passages
from labeler.rechunking.records import (
    ChunkLocation,
    Cut,
    DerivedGrade,
    GradeBasis,
    OldGrade,
    Segment,
    cut_from_chunk,
)

__all__ = [
    "ChunkLocation",
    "Cut",
    "DerivedGrade",
    "GradeBasis",
    "LocatedChunk",
    "LocatedChunkings",
    "MappedPassages",
    "OldGrade",
    "Segment",
    "Span",
    "check_offsets",
    "cut_from_chunk",
    "find_locations",
    "intersect_spans",
    "locate_chunkings",
    "map_passages",
    "merge_spans",
    "subtract_spans",
    "total_length",
    "transfer_grades",
]

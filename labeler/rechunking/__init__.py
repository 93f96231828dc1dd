"""Rechunking: locating chunks in documents, and transferring grades to new chunks."""

from labeler.rechunking.grade_transfer import transfer_grades
from labeler.rechunking.location import LocatedChunkings, find_locations
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
    cut_from_chunk,
)
from labeler.rechunking.repeated_pairs import describe_repeated_pairs

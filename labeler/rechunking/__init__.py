"""Grades of one chunking carried over to another: where chunks stand, what follows, what is open.

Knows documents, chunks, passages and grades; not where they are stored, nor any page.
"""

from labeler.rechunking.carrying import carry
from labeler.rechunking.placing import Places, check_offsets, find_places
from labeler.rechunking.records import Basis, Carried, Cut, Graded, Place, Segment, cut_of
from labeler.rechunking.spans import Span, common, joined, length, without
from labeler.rechunking.standing import Stood, stand
from labeler.rechunking.tracing import Traced, trace

__all__ = [
    "Basis",
    "Carried",
    "Cut",
    "Graded",
    "Place",
    "Places",
    "Segment",
    "Span",
    "Stood",
    "Traced",
    "carry",
    "check_offsets",
    "common",
    "cut_of",
    "find_places",
    "joined",
    "length",
    "stand",
    "trace",
    "without",
]

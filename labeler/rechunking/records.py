"""Records of rechunking: chunks as given, their locations, old grades and the derived ones."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, TypeAlias

from labeler.model import Chunk
from labeler.rechunking.normalised_text import Span

TransferState: TypeAlias = Literal["decided", "proposed", "open"]


class Cut(NamedTuple):
    """A chunk with its text and, where the chunker gave them, its offsets in the document.

    ``start`` and ``end`` are Unicode code points of the document, half open; ``position`` orders
    the chunks of a document.
    """

    chunk_id: str
    text: str
    document_id: str | None = None
    position: int | None = None
    start: int | None = None
    end: int | None = None


def cut_from_chunk(chunk: Chunk) -> Cut:
    """Return a chunk as a cut of its document; a chunk without a text becomes an empty cut."""
    place = (chunk.position, chunk.start, chunk.end)
    return Cut(chunk.chunk_id, chunk.text or "", chunk.document_id, *place)


def sort_key(cut: Cut) -> tuple[bool, int]:
    """Return the key that orders the chunks of a document: by ``position``, else by ``start``."""
    order = cut.start if cut.position is None else cut.position
    return (order is None, order or 0)


class Segment(NamedTuple):
    """``size`` equal characters, at ``at`` in a chunk's text and at ``start`` in the text index.

    All three are counted in characters of normalised text.
    """

    at: int
    start: int
    size: int


LOCATED_SHARE = 0.98  # a chunk counts as located if this share of its text was found


@dataclass(frozen=True, slots=True)
class ChunkLocation:
    """The location of a chunk in the text index; without segments it was not found.

    ``size`` is the number of normalised characters of the chunk's text, ``heading`` the number of
    those at its beginning that were added to the document's text. ``others`` counts further
    locations that fit as well, so that the right one is unknown. ``is_changed`` is true if words
    differ between the first and the last character that match. ``starts`` are those of all places
    with exactly its text, if there are several and not too many.
    """

    size: int
    segments: tuple[Segment, ...] = ()
    heading: int = 0
    others: int = 0
    is_changed: bool = False
    starts: tuple[int, ...] = ()

    @property
    def found(self) -> float:
        """The share of the text, apart from its heading, that is in the text index."""
        return sum(each.size for each in self.segments) / max(1, self.size - self.heading)

    @property
    def is_found(self) -> bool:
        """Whether at least 98% of the text was found."""
        return self.found >= LOCATED_SHARE

    @property
    def spans(self) -> list[Span]:
        """The spans of the text index that the chunk covers."""
        return [(each.start, each.start + each.size) for each in self.segments]

    def at(self, start: int) -> ChunkLocation:
        """Return the location at one of its ``starts``, which is then the only one."""
        [segment] = self.segments
        segments = (segment._replace(start=start),)
        return replace(self, segments=segments, others=0, starts=())


class GradeBasis(NamedTuple):
    """A judgment that counts towards a golden grade, and the passages it marks in the chunk's text.

    Passages are code points of the text, half open, in order. Without passages, the evidence for
    the grade may be anywhere in the text.
    """

    judgment: int
    passages: tuple[Span, ...] = ()


class OldGrade(NamedTuple):
    """The golden grade of a query and a chunk of the old chunking, and the judgments behind it."""

    query_id: str
    chunk_id: str
    grade: int
    bases: tuple[GradeBasis, ...] = ()


class DerivedGrade(NamedTuple):
    """The grade of a query and a new chunk that follows from the grades of the old chunking.

    A ``decided`` grade follows from the judgments ``rests_on``: those of the graded chunks that
    share text with the new one (not those that only helped to calibrate shares of marked text). A
    ``proposed`` grade is likely; an ``open`` pair has no grade. In every state the grade is from
    ``low`` to ``high`` if the old grades and the location are right. ``covered`` is the share of
    the text that graded chunks cover. ``passages`` are the marked passages in the new text (code
    points). If text that repeats is a reason against a decision, ``if_located`` is the share of its
    places at which the grade would be decided; else None.
    """

    query_id: str
    chunk_id: str
    state: TransferState
    grade: int | None
    reason: str
    covered: float
    low: int
    high: int
    rests_on: tuple[int, ...]
    passages: tuple[Span, ...]
    if_located: float | None = None

"""Records of rechunking: chunks as given, their locations, old grades and the derived ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from labeler.model import Chunk
from labeler.rechunking.normalised_text import Span

TransferState: TypeAlias = Literal["decided", "proposed", "open"]


class Cut(NamedTuple):
    """A chunk with its text. What a chunker knows of its place may be given, too.

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
    """Return a chunk as a cut of its document; one without a text is an empty cut."""
    place = (chunk.position, chunk.start, chunk.end)
    return Cut(chunk.chunk_id, chunk.text or "", chunk.document_id, *place)


class Segment(NamedTuple):
    """``size`` characters that a text from ``at`` on and the ground from ``start`` on have alike.

    All of it is counted in squeezed characters.
    """

    at: int
    start: int
    size: int


@dataclass(frozen=True, slots=True)
class ChunkLocation:
    """Where a chunk stands in the ground; without a segment it could not be placed.

    ``size`` are the squeezed characters of its text, ``heading`` those in front that were added
    to what the document says there. ``others`` places fit as well: then nobody knows which it is.
    ``is_changed`` says that words differ between the first character that fits and the last.
    """

    size: int
    segments: tuple[Segment, ...] = ()
    heading: int = 0
    others: int = 0
    is_changed: bool = False

    @property
    def found(self) -> float:
        """The share of the text, apart from its heading, that stands in the ground."""
        return sum(each.size for each in self.segments) / max(1, self.size - self.heading)

    @property
    def spans(self) -> list[Span]:
        """What it takes of the ground."""
        return [(each.start, each.start + each.size) for each in self.segments]


class GradeBasis(NamedTuple):
    """A judgment whose grade is the golden grade, and the passages it marks in its chunk's text.

    Passages are code points of the text, half open, in order. Without one, what made the grade
    may stand anywhere in the text.
    """

    judgment: int
    passages: tuple[Span, ...] = ()


class OldGrade(NamedTuple):
    """The golden grade of a query and a chunk of the old chunking, and what it rests on."""

    query_id: str
    chunk_id: str
    grade: int
    bases: tuple[GradeBasis, ...] = ()


class DerivedGrade(NamedTuple):
    """What the grades of an old chunking say of a query and a chunk of the new one.

    A ``decided`` ``grade`` follows from the judgments ``rests_on``, which are those of the graded
    chunks it shares text with (not of others that taught it by their shares of what is marked); a
    ``proposed`` one is likely; an ``open`` pair has none. Whatever the state, the grade is from
    ``low`` to ``high`` if the old grades and this place are right. ``covered`` is the share of the
    text that lies in graded chunks, and ``passages`` are the marked ones as they stand in the new
    text (code points).
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

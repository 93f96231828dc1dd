"""Overlap of chunks of different chunkings, and of the passages that graders marked in them.

Nothing is decided about grades here; that is in `grade_transfer`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from labeler.rechunking.location import LocatedChunkings, find_locations
from labeler.rechunking.normalised_text import (
    Span,
    has_words,
    intersect_spans,
    merge_spans,
    normalised,
    sizes_in_original,
    spans_in_normalised,
    spans_in_original,
    subtract_spans,
    total_length,
)
from labeler.rechunking.records import ChunkLocation, Cut, OldGrade
from labeler.rechunking.source_texts import TextIndex

TRIFLE = 0.02  # the share of a text or of a passage whose loss changes nothing


@dataclass(frozen=True, slots=True)
class GradedChunk:
    """A graded chunk in the ground, with the passages each judgment marks, and what they take.

    A judgment of which a passage was not placed is left out: what made its grade may be anywhere.
    """

    grade: OldGrade
    place: ChunkLocation
    spans: list[Span]
    marked: list[list[list[Span]]]
    evidence: list[Span]


@dataclass(frozen=True, slots=True)
class Coverage:
    """What a new chunk holds of an old one: spans of the new text, and shares of the old.

    ``share`` is how much it holds of what made the grade: of the passages where they are marked,
    else of the text. It holds ``all`` of it, or at least ``some`` whole passage.
    """

    old: GradedChunk
    cover: list[Span]
    evidence: list[Span]
    of_text: float
    share: float
    all: bool
    some: bool

    @property
    def grade(self) -> int:
        """The old chunk's golden grade."""
        return self.old.grade.grade

    @property
    def is_marked(self) -> bool:
        """Whether it is known which passages made its grade."""
        return bool(self.old.marked)


@dataclass(frozen=True)
class ChunkOverlap:
    """A new chunk and all graded chunks of a query that it has text in common with."""

    chunk_id: str
    text: str
    place: ChunkLocation
    held: list[Coverage]

    @cached_property
    def plain(self) -> str:
        """The squeezed text."""
        return normalised(self.text)

    @cached_property
    def size(self) -> int:
        """How many squeezed characters it has beside its heading."""
        return max(1, self.place.size - self.place.heading)

    @cached_property
    def cover(self) -> list[Span]:
        """What of it lies in graded chunks."""
        return merge_spans(span for each in self.held for span in each.cover)

    @cached_property
    def covered(self) -> float:
        """The share of its text, apart from a heading, that lies in graded chunks."""
        body = self.place.heading, self.place.size
        if self.cover[:1] == [body]:
            return 1.0
        sizes = sizes_in_original(self.text, [body, *intersect_spans(self.cover, [body])])
        return sum(sizes[1:]) / max(1, sizes[0])

    @cached_property
    def evidence(self) -> list[Span]:
        """What of it is marked."""
        return merge_spans(span for each in self.held for span in each.evidence)

    @cached_property
    def possible(self) -> list[Span]:
        """What of it may answer: marked, or in a relevant chunk of which nobody knows what does.

        What another chunk has in common with that one and is graded 0 or marked elsewhere is not.
        """
        unknown = [each for each in self.held if each.grade and not each.is_marked]
        known = [each for each in self.held if not (each.grade and not each.is_marked)]
        maybe = subtract_spans(
            merge_spans(span for each in unknown for span in each.cover),
            merge_spans(span for each in known for span in each.cover),
        )
        if total_length(maybe) <= TRIFLE * self.size:
            maybe = []
        return merge_spans([*self.evidence, *maybe])

    @property
    def passages(self) -> tuple[Span, ...]:
        """What of it is marked, as code points of its text."""
        return tuple(spans_in_original(self.text, self.evidence))

    def says(self, spans: Iterable[Span]) -> bool:
        """Say whether there are letters or digits in parts of it."""
        return has_words("".join(self.plain[start:end] for start, end in spans))


def locate_graded_chunk(grade: OldGrade, places: LocatedChunkings) -> GradedChunk:
    """Return a graded chunk as it stands in the ground."""
    place = places.old[grade.chunk_id]
    text = places.old_texts[grade.chunk_id]
    bases = [basis for basis in grade.bases if basis.passages] if grade.grade else []
    marked = [found for basis in bases if (found := locate_passages(basis.passages, text, place))]
    evidence = merge_spans(span for found in marked for passage in found for span in passage)
    return GradedChunk(grade, place, merge_spans(place.spans), marked, evidence)


def locate_passages(marks: Sequence[Span], text: str, place: ChunkLocation) -> list[list[Span]]:
    """Return what each passage takes of the ground; nothing where one is not found there."""
    passages = [span for span in spans_in_normalised(text, marks) if span[0] < span[1]]
    found = [_spans_in_index([span], place) for span in passages]
    is_found = all(
        total_length(each) >= (1 - TRIFLE) * (end - start)
        for each, (start, end) in zip(found, passages, strict=True)
    )
    return found if is_found else []


def find_overlap(
    chunk_id: str, olds: Iterable[GradedChunk], places: LocatedChunkings
) -> ChunkOverlap:
    """Return what a new chunk holds of graded chunks."""
    place = places.new[chunk_id]
    stands = merge_spans(place.spans)
    held = []
    for old in olds:
        shared = intersect_spans(old.spans, stands)
        if shared:
            held.append(_coverage_of(old, shared, place, places.ground))
    return ChunkOverlap(chunk_id, places.new_texts[chunk_id], place, held)


def _coverage_of(
    old: GradedChunk, shared: list[Span], place: ChunkLocation, ground: TextIndex
) -> Coverage:
    cover = spans_in_chunk(shared, place)
    of_text = total_length(shared) / max(1, old.place.size - old.place.heading)
    if not old.marked:
        return Coverage(old, cover, [], of_text, of_text, of_text >= 1 - TRIFLE, False)
    shares = [[_passage_share(passage, shared, ground) for passage in each] for each in old.marked]
    touched = [
        intersect_spans(passage, shared)
        for passages, found in zip(old.marked, shares, strict=True)
        for passage, share in zip(passages, found, strict=True)
        if share > TRIFLE
    ]
    return Coverage(
        old,
        cover,
        spans_in_chunk(merge_spans(span for each in touched for span in each), place),
        of_text,
        max(sum(each) / len(each) for each in shares),
        any(min(each) >= 1 - TRIFLE for each in shares),
        any(max(each) >= 1 - TRIFLE for each in shares),
    )


def _passage_share(passage: list[Span], shared: list[Span], ground: TextIndex) -> float:
    """Return how much of a passage is shared: all or nothing where the rest is punctuation."""
    size, found = total_length(passage), intersect_spans(passage, shared)
    if not found:
        return 0.0
    missed = subtract_spans(passage, shared)
    if not has_words("".join(ground.text(*span) for span in missed)):
        return 1.0
    if not has_words("".join(ground.text(*span) for span in found)):
        return 0.0
    return total_length(found) / size


def _spans_in_index(spans: Sequence[Span], place: ChunkLocation) -> list[Span]:
    """Return spans of a chunk's squeezed text as spans of the ground, as far as it was placed."""
    return merge_spans(
        (start - each.at + each.start, end - each.at + each.start)
        for each in place.segments
        for start, end in intersect_spans(spans, [(each.at, each.at + each.size)])
    )


def spans_in_chunk(spans: Sequence[Span], place: ChunkLocation) -> list[Span]:
    """Return spans of the ground as spans of a chunk's squeezed text."""
    return merge_spans(
        (start - each.start + each.at, end - each.start + each.at)
        for each in place.segments
        for start, end in intersect_spans(spans, [(each.start, each.start + each.size)])
    )


@dataclass(frozen=True, slots=True)
class LocatedChunk:
    """A chunk's text, its place in the ground that all chunkings share, and its document's id.

    The document is the one it names, else the one it was found in; None where that is not known.
    """

    text: str
    place: ChunkLocation
    document_id: str | None

    def marked(self, passages: Iterable[Span]) -> list[Span] | None:
        """Return what passages, in code points, take of the ground; None where one is not there.

        >>> [stood] = locate_chunkings([[Cut("c", "Fees are due.")]]).values()
        >>> stood.marked([(5, 8)])
        [(4, 7)]
        """
        found = locate_passages(tuple(passages), self.text, self.place)
        return merge_spans(span for each in found for span in each) or None

    def size_of(self, left: int) -> int:
        """Return how many characters but white space the first ``left`` code points have."""
        return len(normalised(self.text[:left]))


def locate_chunkings(
    chunkings: Sequence[Sequence[Cut]], documents: Mapping[str, str] | None = None
) -> dict[str, LocatedChunk]:
    """Find where chunks of all chunkings stand, by their ids, which are unique among all of them.

    The chunks of the first chunking stand for a document whose text is not given, and those of
    another one for a document of which the first has no chunk. Raises `BadInput` as
    `find_locations`.

    >>> one, other = Cut("1", "Fees are due in May."), Cut("v2:1", "due in May.")
    >>> {name: stood.place.spans for name, stood in locate_chunkings([[one], [other]]).items()}
    {'1': [(0, 16)], 'v2:1': [(7, 16)]}
    """
    if not chunkings:
        return {}
    first, *others = chunkings
    base, rest = _base_chunking(list(first), others, documents or {})
    places = find_locations(base, rest[0] if rest else [], documents)
    found = {cut.chunk_id: (cut, places.old[cut.chunk_id]) for cut in base}
    for at, cuts in enumerate(rest):
        there = places if not at else find_locations(base, cuts, documents)
        found |= {cut.chunk_id: (cut, there.new[cut.chunk_id]) for cut in cuts}
    return {
        name: LocatedChunk(cut.text, place, cut.document_id or places.document_of(place))
        for name, (cut, place) in found.items()
    }


def _base_chunking(
    first: list[Cut], others: Sequence[Sequence[Cut]], documents: Mapping[str, str]
) -> tuple[list[Cut], list[Sequence[Cut]]]:
    """Return the chunks that stand for documents, and those of other chunkings that are left."""
    known = {cut.document_id for cut in first} | documents.keys()
    if None in known:  # nobody knows what the first chunking is of: it may be of any document
        return first, list(others)
    base = first
    rest: list[Sequence[Cut]] = []
    for cuts in others:
        new = {cut.document_id for cut in cuts} - known - {None}
        base = [*base, *(cut for cut in cuts if cut.document_id in new)]
        rest.append([cut for cut in cuts if cut.document_id not in new])
        known |= new
    return base, rest


class MappedPassages(NamedTuple):
    """What became of the passages of a graded chunk in a new one.

    ``passages`` are code points of the new text. ``is_cut`` says that a part of one stands outside
    of it; ``elsewhere`` counts those that wholly do, and ``lost`` those found nowhere.
    """

    passages: tuple[Span, ...] = ()
    is_cut: bool = False
    elsewhere: int = 0
    lost: int = 0


def map_passages(
    passages: Sequence[Span], old_id: str, new_id: str, places: LocatedChunkings
) -> MappedPassages:
    """Return where passages of an old chunk, in code points of its text, stand in a new chunk.

    >>> from labeler.rechunking import Cut, find_locations
    >>> old = [Cut("o", "Fees are due in May. Late fees are refused.")]
    >>> places = find_locations(old, [Cut("n", "due in May. Late fees")])
    >>> map_passages([(0, 19), (31, 42)], "o", "n", places)
    MappedPassages(passages=((0, 10),), is_cut=True, elsewhere=1, lost=0)
    """
    text, stands = places.old_texts[old_id], places.old[old_id]
    new_text, place = places.new_texts[new_id], places.new[new_id]
    plain, room = normalised(new_text), merge_spans(place.spans)
    here: list[Span] = []
    is_cut, elsewhere, lost = False, 0, 0
    for passage in passages:
        found = [span for part in locate_passages([passage], text, stands) for span in part]
        shared = intersect_spans(found, room)
        spans = spans_in_chunk(shared, place)
        if not found:
            lost += 1
        elif not has_words("".join(plain[start:end] for start, end in spans)):
            elsewhere += 1
        else:
            here += spans
            is_cut = is_cut or total_length(shared) < (1 - TRIFLE) * total_length(found)
    return MappedPassages(
        tuple(spans_in_original(new_text, merge_spans(here))), is_cut, elsewhere, lost
    )

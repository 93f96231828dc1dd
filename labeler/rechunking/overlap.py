"""Overlap of chunks of different chunkings, and of the passages that graders marked in them."""

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

TRIFLE = 0.02  # the share of a text or of a passage that may be missing


@dataclass(frozen=True, slots=True)
class GradedChunk:
    """A graded chunk, its spans of the text index, and the spans of its marked passages.

    ``marked`` has the spans of each passage of each judgment. A judgment with a passage that was
    not located is left out: its evidence may be anywhere. ``evidence`` is the union of the
    passages.
    """

    grade: OldGrade
    location: ChunkLocation
    spans: list[Span]
    marked: list[list[list[Span]]]
    evidence: list[Span]


@dataclass(frozen=True, slots=True)
class Coverage:
    """The part of an old graded chunk that a new chunk contains.

    ``cover`` and ``evidence`` are spans of the new text. ``of_text`` is the share of the old text,
    and ``share`` the share of the evidence: of the marked passages, else of the text. The new chunk
    contains ``all`` evidence, or at least ``some`` whole passage.
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
        return self.old.grade.grade

    @property
    def is_marked(self) -> bool:
        """Whether the passages behind its grade are known."""
        return bool(self.old.marked)


@dataclass(frozen=True)
class ChunkOverlap:
    """A new chunk and the graded chunks of a query that share text with it."""

    chunk_id: str
    text: str
    location: ChunkLocation
    coverages: list[Coverage]

    @cached_property
    def plain(self) -> str:
        return normalised(self.text)

    @cached_property
    def size(self) -> int:
        """The number of normalised characters after the heading, at least 1."""
        return max(1, self.location.size - self.location.heading)

    @cached_property
    def cover(self) -> list[Span]:
        """The spans of the text that graded chunks cover."""
        return merge_spans(span for each in self.coverages for span in each.cover)

    @cached_property
    def covered(self) -> float:
        """The share of the text, apart from a heading, that graded chunks cover."""
        body = self.location.heading, self.location.size
        if self.cover[:1] == [body]:
            return 1.0
        sizes = sizes_in_original(self.text, [body, *intersect_spans(self.cover, [body])])
        return sum(sizes[1:]) / max(1, sizes[0])

    @cached_property
    def evidence(self) -> list[Span]:
        """The marked spans of the text."""
        return merge_spans(span for each in self.coverages for span in each.evidence)

    @cached_property
    def possible(self) -> list[Span]:
        """The spans that may answer: marked ones, and those of relevant chunks without marks.

        Text of the latter that is also in a chunk graded 0, or marked elsewhere, is not among them.
        """
        unknown = [each for each in self.coverages if each.grade and not each.is_marked]
        known = [each for each in self.coverages if not (each.grade and not each.is_marked)]
        maybe = subtract_spans(
            merge_spans(span for each in unknown for span in each.cover),
            merge_spans(span for each in known for span in each.cover),
        )
        if total_length(maybe) <= TRIFLE * self.size:
            maybe = []
        return merge_spans([*self.evidence, *maybe])

    @property
    def passages(self) -> tuple[Span, ...]:
        """The marked passages, as code points of the text."""
        return tuple(spans_in_original(self.text, self.evidence))

    def has_words_in(self, spans: Iterable[Span]) -> bool:
        """Say whether spans of the normalised text have a letter or a digit."""
        return has_words("".join(self.plain[start:end] for start, end in spans))


def locate_graded_chunk(grade: OldGrade, places: LocatedChunkings) -> GradedChunk:
    """Return a graded chunk with its spans and marked passages in the text index."""
    location = places.old[grade.chunk_id]
    text = places.old_texts[grade.chunk_id]
    bases = [basis for basis in grade.bases if basis.passages] if grade.grade else []
    marked = [*filter(None, (locate_passages(basis.passages, text, location) for basis in bases))]
    evidence = merge_spans(span for found in marked for passage in found for span in passage)
    return GradedChunk(grade, location, merge_spans(location.spans), marked, evidence)


def locate_passages(marks: Sequence[Span], text: str, location: ChunkLocation) -> list[list[Span]]:
    """Return each passage's spans of the text index; an empty list if one was not found."""
    passages = [span for span in spans_in_normalised(text, marks) if span[0] < span[1]]
    found = [_spans_in_index([span], location) for span in passages]
    is_found = all(
        total_length(each) >= (1 - TRIFLE) * (end - start)
        for each, (start, end) in zip(found, passages, strict=True)
    )
    return found if is_found else []


def find_overlap(
    chunk_id: str,
    graded: Iterable[GradedChunk],
    places: LocatedChunkings,
    location: ChunkLocation | None = None,
) -> ChunkOverlap:
    """Return the overlap of a new chunk with graded chunks, or that at another location."""
    location = location or places.new[chunk_id]
    spans = merge_spans(location.spans)
    coverages = []
    for old in graded:
        shared = intersect_spans(old.spans, spans)
        if shared:
            coverages.append(_coverage_of(old, shared, location, places.index))
    return ChunkOverlap(chunk_id, places.new_texts[chunk_id], location, coverages)


def _coverage_of(
    old: GradedChunk, shared: list[Span], location: ChunkLocation, index: TextIndex
) -> Coverage:
    cover = spans_in_chunk(shared, location)
    of_text = total_length(shared) / max(1, old.location.size - old.location.heading)
    if not old.marked:
        return Coverage(old, cover, [], of_text, of_text, of_text >= 1 - TRIFLE, False)
    shares = [[_passage_share(passage, shared, index) for passage in each] for each in old.marked]
    shared_passages = [
        intersect_spans(passage, shared)
        for passages, found in zip(old.marked, shares, strict=True)
        for passage, share in zip(passages, found, strict=True)
        if share > TRIFLE
    ]
    return Coverage(
        old,
        cover,
        spans_in_chunk(merge_spans(span for each in shared_passages for span in each), location),
        of_text,
        max(sum(each) / len(each) for each in shares),
        any(min(each) >= 1 - TRIFLE for each in shares),
        any(max(each) >= 1 - TRIFLE for each in shares),
    )


def _passage_share(passage: list[Span], shared: list[Span], index: TextIndex) -> float:
    """Return the shared share of a passage: 0 or 1 if the rest is only punctuation."""
    size, found = total_length(passage), intersect_spans(passage, shared)
    if not found:
        return 0.0
    missed = subtract_spans(passage, shared)
    if not has_words("".join(index.text(*span) for span in missed)):
        return 1.0
    if not has_words("".join(index.text(*span) for span in found)):
        return 0.0
    return total_length(found) / size


def _spans_in_index(spans: Sequence[Span], location: ChunkLocation) -> list[Span]:
    """Convert spans of a chunk's normalised text to the text index, as far as it was located."""
    return merge_spans(
        (start - each.at + each.start, end - each.at + each.start)
        for each in location.segments
        for start, end in intersect_spans(spans, [(each.at, each.at + each.size)])
    )


def spans_in_chunk(spans: Sequence[Span], location: ChunkLocation) -> list[Span]:
    """Convert spans of the text index to a chunk's normalised text."""
    return merge_spans(
        (start - each.start + each.at, end - each.start + each.at)
        for each in location.segments
        for start, end in intersect_spans(spans, [(each.start, each.start + each.size)])
    )


@dataclass(frozen=True, slots=True)
class LocatedChunk:
    """A chunk's text, its location in the text index of all chunkings, and its document's id.

    The document is the one given with the chunk, else the one it was found in, else None.
    """

    text: str
    location: ChunkLocation
    document_id: str | None

    def marked(self, passages: Iterable[Span]) -> list[Span] | None:
        """Return the index spans of passages (code points); None if one was not found.

        >>> [chunk] = locate_chunkings([[Cut("c", "Fees are due.")]]).values()
        >>> chunk.marked([(5, 8)])
        [(4, 7)]
        """
        found = locate_passages(tuple(passages), self.text, self.location)
        return merge_spans(span for each in found for span in each) or None

    def size_of(self, left: int) -> int:
        """Return the number of characters but white space in the first ``left`` code points."""
        return len(normalised(self.text[:left]))


def locate_chunkings(
    chunkings: Sequence[Sequence[Cut]], documents: Mapping[str, str] | None = None
) -> dict[str, LocatedChunk]:
    """Locate the chunks of all chunkings in one text index, by chunk ids unique among all of them.

    A document without a given text is rebuilt from the chunks of the first chunking that has some
    of it. Raises `BadInput` as `find_locations` does.

    >>> one, other = Cut("1", "Fees are due in May."), Cut("v2:1", "due in May.")
    >>> {name: chunk.location.spans for name, chunk in locate_chunkings([[one], [other]]).items()}
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
        name: LocatedChunk(cut.text, location, cut.document_id or places.document_of(location))
        for name, (cut, location) in found.items()
    }


def _base_chunking(
    first: list[Cut], others: Sequence[Sequence[Cut]], documents: Mapping[str, str]
) -> tuple[list[Cut], list[Sequence[Cut]]]:
    """Return the chunks that documents are rebuilt from, and the rest of the other chunkings."""
    known = {cut.document_id for cut in first} | documents.keys()
    if None in known:  # a chunk without a document id may be of any document
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
    """The passages of an old chunk as far as they are in a new one.

    ``passages`` are code points of the new text. ``is_cut`` is true if a part of one is outside it;
    ``elsewhere`` counts passages that are wholly outside, ``lost`` those that were not found at
    all.
    """

    passages: tuple[Span, ...] = ()
    is_cut: bool = False
    elsewhere: int = 0
    lost: int = 0


def map_passages(
    passages: Sequence[Span], old_id: str, new_id: str, places: LocatedChunkings
) -> MappedPassages:
    """Map passages of an old chunk to a new one, both in code points of the chunk's text.

    >>> from labeler.rechunking import Cut, find_locations
    >>> old = [Cut("o", "Fees are due in May. Late fees are refused.")]
    >>> places = find_locations(old, [Cut("n", "due in May. Late fees")])
    >>> map_passages([(0, 19), (31, 42)], "o", "n", places)
    MappedPassages(passages=((0, 10),), is_cut=True, elsewhere=1, lost=0)
    """
    text, old_location = places.old_texts[old_id], places.old[old_id]
    new_text, location = places.new_texts[new_id], places.new[new_id]
    plain, chunk_spans = normalised(new_text), merge_spans(location.spans)
    here: list[Span] = []
    is_cut, elsewhere, lost = False, 0, 0
    for passage in passages:
        found = [span for part in locate_passages([passage], text, old_location) for span in part]
        shared = intersect_spans(found, chunk_spans)
        spans = spans_in_chunk(shared, location)
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

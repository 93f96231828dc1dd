"""Location of chunks in documents, or in the chunks of another chunking: exact, else by alignment.

White space, Unicode form, invisible characters and headings in front do not count. A text that is
not found exactly is aligned with RapidFuzz: parts of it may be changed, left out or moved.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from rapidfuzz import fuzz
from rapidfuzz.distance import Levenshtein

from labeler.errors import BadInput
from labeler.rechunking.normalised_text import (
    Span,
    has_words,
    intersect_spans,
    merge_spans,
    normalised,
    original_positions,
    spans_in_normalised,
    total_length,
)
from labeler.rechunking.records import ChunkLocation, Cut, Segment
from labeler.rechunking.repeated_text import FoundPlaces, choose_places
from labeler.rechunking.source_texts import (
    GRAM,
    LENGTH_WITH_GRAM,
    GramHits,
    Headings,
    SourceText,
    TextIndex,
    grams_of,
    reconstruct,
)

Progress = Callable[[float], None]

MOST_PLACES = 100  # of an exact text: one with more is not told apart by order
_MOST_POSITIONS, _FEW_STARTS = 1_000, 10
_SHORT_SOURCE = 1_000_000  # characters: a longer source is not searched for a heading
_NEARLY_EQUAL = 90  # of 100: least similarity of a text to the document at its offsets


@dataclass(frozen=True, slots=True)
class LocatedChunkings:
    """The locations of the chunks of two chunkings in one text index, by chunk id."""

    index: TextIndex
    old: Mapping[str, ChunkLocation]
    new: Mapping[str, ChunkLocation]
    old_texts: Mapping[str, str]
    new_texts: Mapping[str, str]
    documents: Mapping[str, str] = field(default_factory=dict)

    @property
    def unplaced(self) -> list[str]:
        """The new chunks with less than 98% of their text found."""
        return [chunk_id for chunk_id, place in self.new.items() if not place.is_found]

    @property
    def ambiguous(self) -> list[str]:
        """The new chunks with several equally good locations: they decide no grade."""
        return [chunk_id for chunk_id, place in self.new.items() if place.others]

    def document_of(self, location: ChunkLocation) -> str | None:
        """Return the id of the document of a location; None if there is none, or several."""
        numbers = {self.index.number_at(start) for start, _ in location.spans}
        return self.index.sources[numbers.pop()].document_id if len(numbers) == 1 else None

    def where(self, location: ChunkLocation) -> tuple[str, int, int] | None:
        """Return a location's document and its code points there, half open, from first to last.

        None if the document's text was not given, or if the location spans several documents.
        """
        document_id = self.document_of(location)
        if document_id is None or document_id not in self.documents:
            return None
        first, _ = self.index.range_of(document_id)
        originals, spans = original_positions(self.documents[document_id]), location.spans
        start, end = spans[0][0] - first, spans[-1][1] - first
        return document_id, int(originals[start]), int(originals[end - 1]) + 1


def find_locations(
    old: Iterable[Cut],
    new: Iterable[Cut],
    documents: Mapping[str, str] | None = None,
    progress: Progress | None = None,
) -> LocatedChunkings:
    """Locate the chunks of an old and of a new chunking in one text index.

    ``documents`` are texts by document id. A document that is not among them is rebuilt from its
    old chunks, joined in order. White space, Unicode form, invisible characters and headings in
    front do not count. A chunk of a known document is searched in that document alone, other chunks
    everywhere; a chunk that is the same in both chunkings keeps its location. Raises `BadInput` for
    an id that occurs twice in one chunking, and for offsets that lie outside a document or have
    another text there.

    >>> old = [Cut("o1", "Fees are due in May."), Cut("o2", "Dues are paid in June.")]
    >>> places = find_locations(old, [Cut("n1", "due in May.\\nDues are  paid"),
    ...     Cut("n2", "Never.")])
    >>> places.new["n1"].spans, places.unplaced
    ([(7, 27)], ['n2'])
    """
    old_cuts, new_cuts, documents = _by_id(old), _by_id(new), documents or {}
    without_text = [cut for cut in old_cuts.values() if cut.document_id not in documents]
    assembled = list(reconstruct(without_text))
    sources = [SourceText(name, normalised(text)) for name, text in documents.items()]
    index = TextIndex([*sources, *(each.source for each in assembled)])
    spans = {
        chunk_id: (index.starts[number] + start, index.starts[number] + end)
        for number, each in enumerate(assembled, len(sources))
        for chunk_id, (start, end) in each.parts.items()
    }
    reporter = _ProgressReporter(progress, len(old_cuts) - len(spans) + len(new_cuts))
    finder = _Finder(
        index, documents, [cut for cut in old_cuts.values() if cut.chunk_id not in spans]
    )
    old_found = {
        name: FoundPlaces(cut, _in_part(spans[name], cut))
        if name in spans
        else reporter.after(finder.locate(cut))
        for name, cut in old_cuts.items()
    }
    old_locations = choose_places(old_found, (), index, finder.locate_within)
    old_found = {name: FoundPlaces(cut, old_locations[name]) for name, cut in old_cuts.items()}
    finder = _Finder(index, documents, new_cuts.values())
    new_found = {
        name: reporter.after(old_found[name] if old_cuts.get(name) == cut else finder.locate(cut))
        for name, cut in new_cuts.items()
    }
    new_locations = choose_places(new_found, old_found.values(), index, finder.locate_within)
    texts = _texts_by_id(old_cuts), _texts_by_id(new_cuts)
    return LocatedChunkings(index, old_locations, new_locations, *texts, documents)


def check_offsets(cut: Cut, document: str) -> None:
    """Raise `BadInput` if a chunk's offsets are outside its document, or have another text there.

    White space, Unicode form and a heading in front may differ.

    >>> check_offsets(Cut("c1", "Fees", "d", start=0, end=9), "Fees.")
    Traceback (most recent call last):
    labeler.errors.BadInput: chunk 'c1': 0 to 9 lies outside document 'd', which has 5 characters
    """
    size = len(document)
    start, end = cut.start or 0, size if cut.end is None else cut.end
    if not 0 <= start <= end <= size:
        raise BadInput(
            f"chunk {cut.chunk_id!r}: {start} to {end} lies outside document "
            f"{cut.document_id!r}, which has {size:,} characters"
        )
    there, text = normalised(document[start:end]), normalised(cut.text)
    if there not in text and fuzz.ratio(there, text) < _NEARLY_EQUAL:
        raise BadInput(
            f"chunk {cut.chunk_id!r}: its text is not what document {cut.document_id!r} has from "
            f"{start} to {end}; offsets count Unicode code points, not bytes"
        )


class _ProgressReporter:
    def __init__(self, progress: Progress | None, size: int) -> None:
        self._progress, self._size, self._done = progress, max(1, size), 0

    def after(self, found: FoundPlaces) -> FoundPlaces:
        self._done += 1
        if self._progress is not None and (self._done % 256 == 0 or self._done == self._size):
            self._progress(self._done / self._size)
        return found


class _Finder:
    def __init__(self, index: TextIndex, documents: Mapping[str, str], cuts: Iterable[Cut]) -> None:
        self._index, self._documents = index, documents
        self._headings = Headings(cut.text for cut in cuts)

    def locate(self, cut: Cut) -> FoundPlaces:
        """Return a chunk's places: exact matches, else without its heading, else aligned."""
        return self._locate(cut, self._within(cut))

    def locate_within(self, cut: Cut, within: Span) -> ChunkLocation:
        """Return a chunk's location in a span of the index."""
        return self._locate(cut, within).location

    def _locate(self, cut: Cut, within: Span) -> FoundPlaces:
        text = normalised(cut.text)
        for front in (0, *self._headings.repeated(cut.text)):
            found = self._exact(text[front:], within)
            if found:
                segment = Segment(front, found[0], len(text) - front)
                starts = tuple(found) if 1 < len(found) <= MOST_PLACES else ()
                location = ChunkLocation(
                    len(text), (segment,), front, len(found) - 1, False, starts
                )
                return FoundPlaces(cut, location)
        return FoundPlaces(cut, self._nearly(cut, text, within))

    def _within(self, cut: Cut) -> Span:
        """Return the span of the index to search: the chunk's offsets, document, or everything."""
        within = self._index.range_of(cut.document_id)
        document = self._documents.get(cut.document_id or "")
        if document is None or (cut.start is None and cut.end is None):
            return within
        check_offsets(cut, document)
        size = len(document)
        span = (cut.start or 0, size if cut.end is None else cut.end)
        [(start, end)] = spans_in_normalised(document, [span])
        return within[0] + start, within[0] + end

    def _exact(self, text: str, within: Span) -> list[int]:
        """Return the first positions of an exact match, one more than `MOST_PLACES`."""
        most = MOST_PLACES + 1
        if not text:
            return []
        if len(text) < LENGTH_WITH_GRAM:
            return self._index.all_of(text, within, most)
        starts = self._starts(text, within)
        if starts is None:
            return self._index.all_of(text, within, most)
        fits = (
            start
            for start in starts
            if within[0] <= start <= within[1] - len(text) and self._index.has(text, start)
        )
        return [start for start, _ in zip(fits, range(most), strict=False)]

    def _starts(self, text: str, within: Span) -> list[int] | None:
        """Return all positions at which a text might begin; None if there are too many."""
        found: list[int] | None = None
        for at in (0, (len(text) - LENGTH_WITH_GRAM) // 2, len(text) - LENGTH_WITH_GRAM):
            hits = self._index.hits(
                grams_of(text[at : at + LENGTH_WITH_GRAM]), within, _MOST_POSITIONS
            )
            starts = set((hits.positions - hits.places - at).tolist())
            if hits.is_whole and (found is None or len(starts) < len(found)):
                found = sorted(starts)
            if found is not None and len(found) <= _FEW_STARTS:
                break
        return found

    def _nearly(self, cut: Cut, text: str, within: Span) -> ChunkLocation:
        added = self._headings.added(cut.text)
        segments, others, is_changed = align_text(text[added:], self._index, within)
        if not segments:
            return ChunkLocation(len(text))
        segments = [each._replace(at=each.at + added) for each in segments]
        if added == segments[0].at:
            return ChunkLocation(len(text), tuple(segments), added, others, is_changed)
        low, high = self._index.range_at(segments[0].start)
        known = self._index.text(low, high) if high - low <= _SHORT_SOURCE else ""
        heading = self._headings.front(cut.text, segments[0].at, known)
        return ChunkLocation(len(text), tuple(segments), heading, others, is_changed)


def _in_part(part: Span, cut: Cut) -> ChunkLocation:
    """Return the location of a chunk that its document was rebuilt from."""
    size = len(normalised(cut.text))
    heading = size - (part[1] - part[0])
    segments = (Segment(heading, part[0], part[1] - part[0]),) if part[0] < part[1] else ()
    return ChunkLocation(size, segments, heading)


def _by_id(cuts: Iterable[Cut]) -> dict[str, Cut]:
    found: dict[str, Cut] = {}
    for cut in cuts:
        if found.setdefault(cut.chunk_id, cut) is not cut:
            raise BadInput(f"chunk {cut.chunk_id!r} stands twice in one chunking; ids are unique")
    return found


def _texts_by_id(cuts: Mapping[str, Cut]) -> dict[str, str]:
    return {name: cut.text for name, cut in cuts.items()}


SLACK = 300  # characters that may be inserted or left out at one point
ENOUGH = 0.98  # of the best fit: another fit as good makes the location ambiguous
_MOST_GRAM_POSITIONS = 100  # a gram with more positions is ignored
_LEAST_BLOCK, _LEAST_AT_ENDS = 4, 8
_STEP = 64  # of this many grams in a row, the first few are searched in the first pass
_SHIFT = 8  # characters that text before the first run or after the last may be shifted by
_FARTHEST = 2  # times its length
_SIMILAR = 0.3  # least similarity of the text between two runs; less is chance
_MOST_CELLS = 4_000_000


class TextAlignment(NamedTuple):
    """The aligned parts of a text, how many other locations fit, and whether words differ."""

    segments: list[Segment]
    others: int
    is_changed: bool


class _Fit(NamedTuple):
    """Segments near each other in one source, and the spans of the text that they cover."""

    source: int
    segments: list[Segment]
    spans: list[Span]


def align_text(text: str, index: TextIndex, within: Span) -> TextAlignment:
    """Align a normalised text: the best fit first, then each remaining part separately."""
    fits = _fits(text, index, within)
    found: list[Segment] = []
    others, is_changed = 0, False
    pending = [(0, len(text))]
    while pending:
        free = pending.pop()
        best = max(fits, key=lambda fit: _length_within(fit, free), default=None)
        if best is None or _length_within(best, free) < GRAM:
            continue
        others += _count_equal_fits(best, fits, free)
        chain = _chain(text, index, best, free)
        found += chain
        is_changed |= any(_differs(text, index, *pair) for pair in itertools.pairwise(chain))
        pending += [
            rest
            for rest in ((free[0], chain[0].at), (chain[-1].at + chain[-1].size, free[1]))
            if rest[1] - rest[0] >= GRAM and rest != free
        ]
    return TextAlignment(sorted(found), others, is_changed)


def _length_within(fit: _Fit, free: Span) -> int:
    return total_length(intersect_spans(fit.spans, [free]))


def _count_equal_fits(best: _Fit, fits: Sequence[_Fit], free: Span) -> int:
    """Count the other fits that cover nearly all that the best one covers."""
    taken = intersect_spans(best.spans, [free])
    least = ENOUGH * total_length(taken)
    return sum(
        fit is not best and total_length(intersect_spans(fit.spans, taken)) >= least for fit in fits
    )


def _fits(text: str, index: TextIndex, within: Span) -> list[_Fit]:
    """Return the longest equal runs, grouped by the position at which the text would begin."""
    fits: list[_Fit] = []
    before: tuple[int, int] | None = None
    for source, segment in sorted(_runs(text, index, within), key=_by_diagonal):
        diagonal = segment.start - segment.at
        if before is None or source != before[0] or diagonal - before[1] > SLACK:
            fits.append(_Fit(source, [], []))
        fits[-1].segments.append(segment)
        before = source, diagonal
    return [fit._replace(spans=merge_spans(_span(each) for each in fit.segments)) for fit in fits]


def _by_diagonal(run: tuple[int, Segment]) -> tuple[int, int, int]:
    source, segment = run
    return source, segment.start - segment.at, segment.at


def _span(segment: Segment) -> Span:
    return segment.at, segment.at + segment.size


def _runs(text: str, index: TextIndex, within: Span) -> Iterator[tuple[int, Segment]]:
    """Yield the longest runs that a text and the index share, with the number of the source.

    Each run contains an indexed gram. The first pass searches a part of the grams, the second all
    grams outside the runs found.
    """
    grams = grams_of(text)
    is_free = np.ones(len(grams), dtype=np.bool_)
    some = np.flatnonzero(np.arange(len(grams)) % _STEP < GRAM)
    for run in _runs_at(text, index, index.hits(grams, within, _MOST_GRAM_POSITIONS, some)):
        is_free[run[1].at : run[1].at + run[1].size] = False
        yield run
    is_free[some] = False
    if is_free.any():
        others = np.flatnonzero(is_free)
        yield from _runs_at(text, index, index.hits(grams, within, _MOST_GRAM_POSITIONS, others))


def _runs_at(text: str, index: TextIndex, hits: GramHits) -> Iterator[tuple[int, Segment]]:
    reached: dict[int, int] = {}
    for at, position in zip(hits.places.tolist(), hits.positions.tolist(), strict=True):
        diagonal = position - at
        if at < reached.get(diagonal, 0):
            continue
        low, high = index.range_at(position)
        back = min(at, position - low)
        before = _alike(text[at - back : at][::-1], index.text(position - back, position)[::-1])
        ahead = min(len(text) - at, high - position)
        after = _alike(text[at : at + ahead], index.text(position, position + ahead))
        reached[diagonal] = at + max(1, after)
        if before + after >= GRAM:
            run = Segment(at - before, position - before, before + after)
            yield index.number_at(position), run


def _alike(one: str, other: str) -> int:
    """Return the length of the common beginning of two texts of one length."""
    if one == other:
        return len(one)
    low, high = 0, len(one)
    while low < high - 1:
        middle = (low + high) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle
    return low


def _chain(text: str, index: TextIndex, fit: _Fit, free: Span) -> list[Segment]:
    """Return the segments of one fit in order: the longest first, then the gaps between them."""
    low, high = index.range_at(fit.segments[0].start)
    found: list[Segment] = []
    pending = [(free, (low, high), fit.segments)]
    while pending:
        text_span, index_span, segments = pending.pop()
        here = [*filter(None, (_cut_segment(each, text_span, index_span) for each in segments))]
        if here:
            best = max(here, key=lambda each: each.size)
            found.append(best)
            after = best.at + best.size, best.start + best.size
            pending.append(((text_span[0], best.at), (index_span[0], best.start), here))
            pending.append(((after[0], text_span[1]), (after[1], index_span[1]), here))
    found = _drop_far_segments(found)
    parts = [*itertools.starmap(_gap, itertools.pairwise(found))]
    between = [each for part in parts for each in _between(text, index, *part)]
    ends = [
        each
        for part in _around(found, free, (low, high))
        for each in _between(text, index, *part)
        if each.size >= _LEAST_AT_ENDS
    ]
    return sorted([*found, *between, *ends])


def _drop_far_segments(segments: Sequence[Segment]) -> list[Segment]:
    """Return the longest segment and its neighbours that are near for their length.

    A short segment that is far away is equal by chance.
    """
    ordered = sorted(segments)
    middle = ordered.index(max(ordered, key=lambda each: each.size))
    kept = [ordered[middle]]
    for each in ordered[middle + 1 :]:
        if each.at - kept[-1].at - kept[-1].size > _FARTHEST * each.size:
            break
        kept.append(each)
    for each in reversed(ordered[:middle]):
        if kept[0].at - each.at - each.size > _FARTHEST * each.size:
            break
        kept.insert(0, each)
    return kept


def _around(found: Sequence[Segment], free: Span, source: Span) -> list[tuple[Span, Span]]:
    """Return the parts just before the first segment and after the last: too short for a gram."""
    first, last = found[0], found[-1]
    wide = min(first.at - free[0], LENGTH_WITH_GRAM)
    before = (first.at - wide, first.at), (max(source[0], first.start - wide - _SHIFT), first.start)
    at, start = last.at + last.size, last.start + last.size
    wide = min(free[1] - at, LENGTH_WITH_GRAM)
    return [before, ((at, at + wide), (start, min(source[1], start + wide + _SHIFT)))]


def _gap(one: Segment, other: Segment) -> tuple[Span, Span]:
    return (one.at + one.size, other.at), (one.start + one.size, other.start)


def _cut_segment(segment: Segment, text_span: Span, index_span: Span) -> Segment | None:
    """Return the part of a segment within a span of the text and a span of the index."""
    skip = max(0, text_span[0] - segment.at, index_span[0] - segment.start)
    start = segment.at + skip, segment.start + skip
    size = min(segment.size - skip, text_span[1] - start[0], index_span[1] - start[1])
    return Segment(*start, size) if size >= _LEAST_BLOCK else None


def _between(text: str, index: TextIndex, text_span: Span, index_span: Span) -> Iterator[Segment]:
    """Yield the equal parts of a span of the text and one of the index, aligned by RapidFuzz."""
    text_size, index_size = text_span[1] - text_span[0], index_span[1] - index_span[0]
    if not text_size or not index_size or text_size * index_size > _MOST_CELLS:
        return
    one, other = text[text_span[0] : text_span[1]], index.text(*index_span)
    if Levenshtein.normalized_similarity(one, other) < _SIMILAR:
        return
    for block in Levenshtein.opcodes(one, other):
        size = block.src_end - block.src_start
        if block.tag == "equal" and size >= _LEAST_BLOCK:
            yield Segment(text_span[0] + block.src_start, index_span[0] + block.dest_start, size)


def _differs(text: str, index: TextIndex, one: Segment, other: Segment) -> bool:
    """Say whether words were inserted, left out or changed between two segments of one fit.

    Text left out where a piece begins does not count: it is a heading, or overlap with the piece
    before.
    """
    if has_words(text[one.at + one.size : other.at]):
        return True
    left_out = one.start + one.size, other.start
    return not index.has_edge(*left_out) and has_words(index.text(*left_out))

"""Where each chunk stands in the documents, or in the chunks of another chunking.

Knows texts, places and what was added in front; no query and no grade.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from rapidfuzz import fuzz

from labeler.errors import BadInput
from labeler.rechunking.aligning import align
from labeler.rechunking.assembling import assemble
from labeler.rechunking.ground import SURE, Ground, Source, grams_of
from labeler.rechunking.headings import Headings
from labeler.rechunking.records import Cut, Place, Segment
from labeler.rechunking.spans import Span
from labeler.rechunking.squeezing import origins, spans_squeezed, squeezed

Progress = Callable[[float], None]

PLACED = 0.98  # the share of a text that is found where it can be placed
_MOST_LOOKED_AT, _FEW = 1_000, 10
_SHORT = 1_000_000  # characters: a longer source is not searched for a heading
_NEARLY = 90  # of 100: as like a text must be to what its offsets say


@dataclass(frozen=True, slots=True)
class Places:
    """Where the chunks of two chunkings stand in one ground, by their ids."""

    ground: Ground
    old: Mapping[str, Place]
    new: Mapping[str, Place]
    old_texts: Mapping[str, str]
    new_texts: Mapping[str, str]
    documents: Mapping[str, str] = field(default_factory=dict)

    @property
    def unplaced(self) -> list[str]:
        """The new chunks of whose text less than 98% was found."""
        return [chunk_id for chunk_id, place in self.new.items() if place.found < PLACED]

    @property
    def ambiguous(self) -> list[str]:
        """The new chunks that stand in several places alike: they decide nothing."""
        return [chunk_id for chunk_id, place in self.new.items() if place.others]

    def document_of(self, place: Place) -> str | None:
        """Return the id of the one document a place is of; None where there is none, or several."""
        numbers = {self.ground.number_at(start) for start, _ in place.spans}
        return self.ground.sources[numbers.pop()].document_id if len(numbers) == 1 else None

    def where(self, place: Place) -> tuple[str, int, int] | None:
        """Return a place's document and its code points there, half open, from first to last.

        None where the document's text was not given, or the place is of several documents.
        """
        document_id = self.document_of(place)
        if document_id is None or document_id not in self.documents:
            return None
        first, _ = self.ground.range_of(document_id)
        stood, spans = origins(self.documents[document_id]), place.spans
        start, end = spans[0][0] - first, spans[-1][1] - first
        return document_id, int(stood[start]), int(stood[end - 1]) + 1


def find_places(
    old: Iterable[Cut],
    new: Iterable[Cut],
    documents: Mapping[str, str] | None = None,
    progress: Progress | None = None,
) -> Places:
    """Find where the chunks of an old and of a new chunking stand.

    ``documents`` are texts by document id. The old chunks of a document that is not among them
    stand for it, joined in their order. White space, Unicode form, invisible characters and
    headings in front do not count. A chunk with a document that is known is looked for in that
    alone, others everywhere; one that is the same in both chunkings stands where it stood. Raises
    `BadInput` for an id that stands twice, and for offsets outside a document or whose text is
    another one.

    >>> old = [Cut("o1", "Fees are due in May."), Cut("o2", "Dues are paid in June.")]
    >>> places = find_places(old, [Cut("n1", "due in May.\\nDues are  paid"), Cut("n2", "Never.")])
    >>> places.new["n1"].spans, places.unplaced
    ([(7, 27)], ['n2'])
    """
    olds, news, documents = _by_id(old), _by_id(new), documents or {}
    standing = [cut for cut in olds.values() if cut.document_id not in documents]
    assembled = list(assemble(standing))
    sources = [Source(name, squeezed(text)) for name, text in documents.items()]
    ground = Ground([*sources, *(each.source for each in assembled)])
    known = {
        chunk_id: (ground.starts[number] + start, ground.starts[number] + end)
        for number, each in enumerate(assembled, len(sources))
        for chunk_id, (start, end) in each.parts.items()
    }
    told = _Told(progress, len(olds) - len(known) + len(news))
    finder = _Finder(ground, documents, [cut for cut in olds.values() if cut.chunk_id not in known])
    placed = {
        name: _in_part(known[name], cut) if name in known else told.after(finder.place(cut))
        for name, cut in olds.items()
    }
    finder = _Finder(ground, documents, news.values())
    found = {
        name: told.after(placed[name] if olds.get(name) == cut else finder.place(cut))
        for name, cut in news.items()
    }
    return Places(ground, placed, found, _texts(olds), _texts(news), documents)


def check_offsets(cut: Cut, document: str) -> None:
    """Raise `BadInput` where a chunk's offsets lie outside its document, or say another text.

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
    there, text = squeezed(document[start:end]), squeezed(cut.text)
    if there not in text and fuzz.ratio(there, text) < _NEARLY:
        raise BadInput(
            f"chunk {cut.chunk_id!r}: its text is not what document {cut.document_id!r} has from "
            f"{start} to {end}; offsets count Unicode code points, not bytes"
        )


class _Told:
    """Tells how much of the work is done."""

    def __init__(self, progress: Progress | None, size: int) -> None:
        self._progress, self._size, self._done = progress, max(1, size), 0

    def after(self, place: Place) -> Place:
        self._done += 1
        if self._progress is not None and (self._done % 256 == 0 or self._done == self._size):
            self._progress(self._done / self._size)
        return place


class _Finder:
    """Finds the chunks of one chunking in a ground."""

    def __init__(self, ground: Ground, documents: Mapping[str, str], cuts: Iterable[Cut]) -> None:
        self._ground, self._documents = ground, documents
        self._headings = Headings(cut.text for cut in cuts)

    def place(self, cut: Cut) -> Place:
        """Return where a chunk stands: as it is, without its heading, or as near as may be."""
        text = squeezed(cut.text)
        within = self._within(cut)
        heading = self._headings.repeated(cut.text)
        for front in (0, heading) if heading else (0,):
            found = self._exact(text[front:], within)
            if found:
                segment = Segment(front, found[0], len(text) - front)
                return Place(len(text), (segment,), front, others=len(found) - 1)
        return self._nearly(cut, text, within)

    def _within(self, cut: Cut) -> Span:
        """Return what of the ground a chunk is looked for in."""
        within = self._ground.range_of(cut.document_id)
        document = self._documents.get(cut.document_id or "")
        if document is None or (cut.start is None and cut.end is None):
            return within
        check_offsets(cut, document)
        size = len(document)
        span = (cut.start or 0, size if cut.end is None else cut.end)
        [(start, end)] = spans_squeezed(document, [span])
        return within[0] + start, within[0] + end

    def _exact(self, text: str, within: Span) -> list[int]:
        """Return the first two positions at which a text stands just so."""
        if not text:
            return []
        if len(text) < SURE:
            return self._ground.all_of(text, within, 2)
        starts = self._starts(text, within)
        if starts is None:
            return self._ground.all_of(text, within, 2)
        fits = (
            start
            for start in starts
            if within[0] <= start <= within[1] - len(text) and self._ground.has(text, start)
        )
        return [start for start, _ in zip(fits, range(2), strict=False)]

    def _starts(self, text: str, within: Span) -> list[int] | None:
        """Return all positions at which a text might begin; None where they are too many."""
        found: list[int] | None = None
        for at in (0, (len(text) - SURE) // 2, len(text) - SURE):
            hits = self._ground.hits(grams_of(text[at : at + SURE]), within, _MOST_LOOKED_AT)
            starts = set((hits.positions - hits.places - at).tolist())
            if hits.is_whole and (found is None or len(starts) < len(found)):
                found = sorted(starts)
            if found is not None and len(found) <= _FEW:
                break
        return found

    def _nearly(self, cut: Cut, text: str, within: Span) -> Place:
        added = self._headings.added(cut.text)
        segments, others, is_changed = align(text[added:], self._ground, within)
        if not segments:
            return Place(len(text))
        segments = [each._replace(at=each.at + added) for each in segments]
        if added == segments[0].at:
            return Place(len(text), tuple(segments), added, others, is_changed)
        low, high = self._ground.range_at(segments[0].start)
        known = self._ground.text(low, high) if high - low <= _SHORT else ""
        heading = self._headings.front(cut.text, segments[0].at, known)
        return Place(len(text), tuple(segments), heading, others, is_changed)


def _in_part(part: Span, cut: Cut) -> Place:
    """Return the place of a chunk of which a part of the ground was made."""
    size = len(squeezed(cut.text))
    heading = size - (part[1] - part[0])
    segments = (Segment(heading, part[0], part[1] - part[0]),) if part[0] < part[1] else ()
    return Place(size, segments, heading)


def _by_id(cuts: Iterable[Cut]) -> dict[str, Cut]:
    found: dict[str, Cut] = {}
    for cut in cuts:
        if found.setdefault(cut.chunk_id, cut) is not cut:
            raise BadInput(f"chunk {cut.chunk_id!r} stands twice in one chunking; ids are unique")
    return found


def _texts(cuts: Mapping[str, Cut]) -> dict[str, str]:
    return {name: cut.text for name, cut in cuts.items()}

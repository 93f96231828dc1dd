"""Choice among the places of repeated text: by the offsets of chunks, and by their order.

A text that a document has in several places is often told apart by what is known of its chunk: its
offsets in the document, or the chunks before and after it. Where two places remain equally good,
the location stays ambiguous.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from labeler.rechunking.normalised_text import Numbers, Span
from labeler.rechunking.records import LOCATED_SHARE, ChunkLocation, Cut, sort_key
from labeler.rechunking.source_texts import GRAM, TextIndex

Relocate = Callable[[Cut, Span], ChunkLocation]
Costs = npt.NDArray[np.int64]

IN_ORDER = 0.95  # the least share of sure neighbours in order, for the order to be used
CONNECTED = 0.9  # the least share of sure neighbours without a gap, for gaps to count
_LEAST_NEIGHBOURS = 10
_GAP = GRAM  # characters that a chunker may leave out between two chunks
_CLEAR, _AGREEING = 3, 0.5
_NEXT, _APART, _BACKWARDS = 0, 1, 3  # what it costs to put a chunk there, after the one before it
_MISSING = -(1 << 40)
_NOTHING = np.empty(0, np.int64)


@dataclass(frozen=True, slots=True)
class FoundPlaces:
    """A chunk and its location, which may be one of several."""

    cut: Cut
    location: ChunkLocation

    @property
    def size(self) -> int:
        """The number of normalised characters after the heading."""
        return self.location.size - self.location.heading

    @property
    def span(self) -> Span:
        """The span of the index from the first to the last character found."""
        spans = self.location.spans
        return spans[0][0], spans[-1][1]

    @property
    def is_sure(self) -> bool:
        """Whether all of the text was found near one place, and nowhere else."""
        if self.location.others or not self.location.is_found:
            return False
        start, end = self.span
        return 0 < end - start <= self.size + _GAP

    @property
    def is_open(self) -> bool:
        return bool(self.location.others)

    def at(self, start: int) -> FoundPlaces:
        """Return the chunk at one of its places, which is then the only one."""
        return FoundPlaces(self.cut, self.location.at(start))


def choose_places(
    found: Mapping[str, FoundPlaces],
    others: Iterable[FoundPlaces],
    index: TextIndex,
    relocate: Relocate,
) -> dict[str, ChunkLocation]:
    """Return the locations of a chunking's chunks, ambiguous ones resolved where that is possible.

    ``others`` are chunks of the other chunking, whose offsets help too. ``relocate`` locates a
    chunk again in a part of the index.
    """
    locations = {name: each.location for name, each in found.items()}
    if not any(each.is_open for each in found.values()):
        return locations
    documents = [
        _ChunksInOrder(document_id, chunks) for document_id, chunks in _by_document(found.values())
    ]
    offsets = dict(_by_document(others))
    for document in documents:
        if document.document_id is not None and document.is_open:
            document.use_offsets(offsets.get(document.document_id, ()), index, relocate)
    unstated = [pair for each in documents if not each.is_stated for pair in each.sure_neighbours()]
    are_in_order = len(unstated) >= _LEAST_NEIGHBOURS and _in_order(unstated)
    ordered = [
        document
        for document in documents
        if (document.is_stated or are_in_order) and _in_order([*document.sure_neighbours()])
    ]
    overlap = _usual_overlap(ordered, index)
    for document in ordered:
        if document.is_open:
            document.use_order(overlap, index, relocate)
            document.use_positions()
    for document in documents:
        locations |= {each.cut.chunk_id: each.location for each in document.chunks}
    return locations


def _by_document(
    chunks: Iterable[FoundPlaces],
) -> Iterator[tuple[str | None, list[FoundPlaces]]]:
    documents: dict[str | None, list[FoundPlaces]] = {}
    for each in chunks:
        documents.setdefault(each.cut.document_id, []).append(each)
    yield from documents.items()


def _in_order(pairs: Sequence[tuple[Span, Span, bool]]) -> bool:
    """Return whether chunks with only one possible place are in the order of these places."""
    return sum(one <= two for one, two, _ in pairs) >= IN_ORDER * len(pairs)


class _ChunksInOrder:
    """The chunks of one document, or those without one, in their order."""

    def __init__(self, document_id: str | None, chunks: Iterable[FoundPlaces]) -> None:
        self.document_id = document_id
        self.chunks = sorted(chunks, key=lambda each: sort_key(each.cut))

    @property
    def is_open(self) -> bool:
        return any(each.is_open for each in self.chunks)

    @property
    def is_stated(self) -> bool:
        """Whether the document and the order of its chunks are given, not only their order."""
        is_given = not any(sort_key(each.cut)[0] for each in self.chunks)
        return self.document_id is not None and is_given

    @cached_property
    def is_complete(self) -> bool:
        """Whether nearly all chunks were found, so that hardly any text is missing in the index."""
        return sum(each.location.is_found for each in self.chunks) >= IN_ORDER * len(self.chunks)

    @cached_property
    def is_next(self) -> list[bool]:
        """For each two chunks in a row, whether none is missing between, as far as is known."""
        positions = [each.cut.position for each in self.chunks]
        steps = [
            0 if one is None or other is None else other - one
            for one, other in itertools.pairwise(positions)
        ]
        least = min((step for step in steps if step > 0), default=0)
        return [step <= least for step in steps]

    def sure_neighbours(self) -> Iterator[tuple[Span, Span, bool]]:
        """Yield the spans of each two chunks in a row that have one place, and `is_next`."""
        pairs = itertools.pairwise(self.chunks)
        for (one, other), is_next in zip(pairs, self.is_next, strict=True):
            if one.is_sure and other.is_sure:
                yield one.span, other.span, is_next

    def use_offsets(
        self, others: Iterable[FoundPlaces], index: TextIndex, relocate: Relocate
    ) -> None:
        """Resolve ambiguous chunks by their offsets in the document."""
        offsets = _best_offsets(others, [each for each in self.chunks if each.is_sure])
        if offsets is None:
            return
        within = index.range_of(self.document_id)
        self.chunks = [
            _at_offsets(each, offsets, within, relocate) if each.is_open else each
            for each in self.chunks
        ]

    def use_order(self, overlap: int | None, index: TextIndex, relocate: Relocate) -> None:
        """Resolve ambiguous chunks by the chunks before and after them.

        With an ``overlap``, neighbours share at most so many characters and have no gap between
        them.
        """
        if overlap is None and not self.is_complete:
            return
        for first, last in self._open_runs():
            chosen = _cheapest_places(*self._run(first, last, overlap, index))
            for number, start in zip(range(first, last), chosen[1:], strict=False):
                if start is not None and self.chunks[number].is_open:
                    self.chunks[number] = self.chunks[number].at(start)
        self._use_neighbours(index.range_of(self.document_id), relocate)

    def _run(
        self, first: int, last: int, overlap: int | None, index: TextIndex
    ) -> tuple[list[_Places], list[int | None]]:
        """Return the places of some chunks and of those around, and the overlap of each two.

        The document's edges are around its first and last chunk.
        """
        may_miss = not self.is_complete
        nothing = _Places(_NOTHING, _NOTHING)
        around = [nothing, nothing]
        if last - first == len(self.chunks) and index.has_document(self.document_id):
            around = _edges_of(index.range_of(self.document_id))
        if first:
            around[0] = _places_of(self.chunks[first - 1])
        if last < len(self.chunks):
            around[1] = _places_of(self.chunks[last])
        run = [_places_of(each, may_miss=may_miss) for each in self.chunks[first:last]]
        is_next = [True, *self.is_next, True][first : last + 1]
        return [around[0], *run, around[1]], [overlap if each else None for each in is_next]

    def _open_runs(self) -> Iterator[Span]:
        """Yield the spans of numbers of chunks without one place, as far as some are open."""
        number = 0
        for is_sure, chunks in itertools.groupby(self.chunks, lambda each: each.is_sure):
            run = list(chunks)
            if not is_sure and any(each.is_open for each in run):
                yield number, number + len(run)
            number += len(run)

    def _use_neighbours(self, within: Span, relocate: Relocate) -> None:
        """Locate aligned chunks again, between the nearest ones that have one place."""
        if not self.is_complete:
            return
        sure = [number for number, each in enumerate(self.chunks) if each.is_sure]
        at = 0
        for number, each in enumerate(self.chunks):
            while at < len(sure) and sure[at] < number:
                at += 1
            if not each.is_open or each.location.starts:
                continue
            low = self.chunks[sure[at - 1]].span[0] if at else within[0]
            high = self.chunks[sure[at]].span[1] if at < len(sure) else within[1]
            self.chunks[number] = _within_span(each, (low, high), relocate)

    def use_positions(self) -> None:
        """Resolve ambiguous chunks by how far their positions are between those of others.

        Where chunks in between are not known, neighbours alone may leave several places.
        """
        sure = [each for each in self.chunks if each.is_sure and each.cut.position is not None]
        at = np.array([each.cut.position for each in sure], np.float64)
        starts = np.array([each.span[0] for each in sure], np.float64)
        if not self.is_complete or len(at) < _LEAST_NEIGHBOURS or np.diff(at).min() <= 0:
            return
        around = at[2:] - at[:-2]
        expected = starts[:-2] + (starts[2:] - starts[:-2]) * (at[1:-1] - at[:-2]) / around
        error = float(np.quantile(abs(expected - starts[1:-1]) / around, IN_ORDER))
        for number, each in enumerate(self.chunks):
            position = each.cut.position
            if each.location.starts and position is not None and at[0] < position < at[-1]:
                after = int(np.searchsorted(at, position))
                wide = error * (at[after] - at[after - 1])
                start = float(np.interp(position, at, starts))
                nearest = _nearest_place(each, start, wide, _CLEAR * wide)
                self.chunks[number] = each if nearest is None else each.at(nearest)


def _nearest_place(each: FoundPlaces, start: float, wide: float, clear: float) -> int | None:
    """Return the place within ``wide`` of a start, if all others are farther than ``clear``."""
    (least, place), (second, _) = sorted((abs(at - start), at) for at in each.location.starts)[:2]
    return place if least <= wide and second > max(clear, least) else None


def _within_span(each: FoundPlaces, within: Span, relocate: Relocate) -> FoundPlaces:
    """Return a chunk located in a part of the index, if as much of it is found there."""
    if within[1] - within[0] < GRAM:
        return each
    location = relocate(each.cut, within)
    return each if location.found < each.location.found else replace(each, location=location)


class _Places(NamedTuple):
    """Where a chunk may start and end; nothing for a chunk of which that is not known.

    A start of `_MISSING` is the possibility that its text is missing in the index.
    """

    starts: Numbers
    ends: Numbers


def _places_of(each: FoundPlaces, *, may_miss: bool = False) -> _Places:
    spans = (
        [each.span]
        if each.is_sure
        else [(start, start + each.size) for start in each.location.starts]
    )
    if may_miss and spans and not each.is_sure:
        spans.append((_MISSING, _MISSING))
    starts, ends = np.array(spans, dtype=np.int64).reshape(-1, 2).T
    return _Places(starts, ends)


def _edges_of(document: Span) -> list[_Places]:
    """Return the places before the first chunk of a document and after its last."""
    low, high = (np.array([edge], dtype=np.int64) for edge in document)
    return [_Places(low - 1, low), _Places(high, high + 1)]


def _usual_overlap(documents: Sequence[_ChunksInOrder], index: TextIndex) -> int | None:
    """Return how many characters neighbours share at most; None if many have a gap between them.

    With too few neighbours to tell, chunks that are together as long as their documents have
    neither overlap nor gaps.
    """
    pairs = [pair for document in documents for pair in document.sure_neighbours()]
    gaps = np.array([two[0] - one[1] for one, two, is_next in pairs if is_next and one <= two])
    if len(gaps) < _LEAST_NEIGHBOURS:
        known = [each for each in documents if index.has_document(each.document_id)]
        ranges = [index.range_of(each.document_id) for each in known]
        sizes = sum(chunk.size for each in known for chunk in each.chunks)
        length = sum(end - start for start, end in ranges)
        return 0 if 0 < LOCATED_SHARE * length <= sizes <= length else None
    if np.mean(gaps <= _GAP) < CONNECTED:
        return None
    return max(0, int(-np.quantile(gaps, 1 - IN_ORDER, method="lower")))


def _cheapest_places(run: Sequence[_Places], overlaps: Sequence[int | None]) -> list[int | None]:
    """Return the start of each chunk of a run, None if unknown or if another is as good.

    The cost of all steps from a chunk to the next is least. ``overlaps`` are those of each two
    chunks in a row, None if they may have a gap between them.
    """
    known = [number for number, each in enumerate(run) if len(each.starts)]
    steps = [
        _step_costs(run[one], run[two], overlaps[one] if two == one + 1 else None)
        for one, two in itertools.pairwise(known)
    ]
    ahead = [np.zeros(len(run[number].starts), np.int64) for number in known]
    back = [each.copy() for each in ahead]
    for number, step in enumerate(steps):
        ahead[number + 1] = (ahead[number][:, None] + step).min(axis=0)
    for number, step in reversed([*enumerate(steps)]):
        back[number] = (step + back[number + 1]).min(axis=1)
    chosen: list[int | None] = [None] * len(run)
    for number, before, after in zip(known, ahead, back, strict=True):
        costs = before + after
        [best, *others] = np.flatnonzero(costs == costs.min()).tolist()
        start = int(run[number].starts[best])
        chosen[number] = None if others or start == _MISSING else start
    return chosen


def _step_costs(one: _Places, two: _Places, overlap: int | None) -> Costs:
    """Return what each step from a place of one chunk to a place of a later one costs."""
    gaps = two.starts - one.ends[:, None]
    is_apart = False if overlap is None else (gaps < -overlap) | (gaps > _GAP)
    is_later = two.starts > one.starts[:, None]
    costs = np.where(is_later, np.where(is_apart, _APART, _NEXT), _BACKWARDS)
    costs[:, two.starts == _MISSING] = _NEXT if overlap is None else _APART
    costs[one.starts == _MISSING] = _NEXT
    return costs


class _Offsets:
    """Positions in the index by offsets in a document, from chunks of which both are known."""

    def __init__(self, chunks: Iterable[FoundPlaces]) -> None:
        known: dict[int, int] = {}
        for each in chunks:
            offsets = offsets_of(each.cut, each.location)
            if offsets is not None and each.is_sure:
                known |= dict(zip(offsets, each.span, strict=True))
        self._offsets = np.array(sorted(known), dtype=np.float64)
        self._positions = np.array([known[at] for at in sorted(known)], dtype=np.float64)

    def __len__(self) -> int:
        return len(self._offsets)

    def position(self, offset: int) -> float:
        """Return the position of an offset, in proportion between the two nearest known ones."""
        offsets, positions = self._offsets, self._positions
        number = int(np.clip(np.searchsorted(offsets, offset), 1, len(offsets) - 1))
        width = offsets[number] - offsets[number - 1]
        slope = (positions[number] - positions[number - 1]) / width
        if not offsets[0] <= offset <= offsets[-1]:
            slope = (positions[-1] - positions[0]) / (offsets[-1] - offsets[0])
        near = number if offset > offsets[-1] else number - 1
        return float(positions[near] + slope * (offset - offsets[near]))

    @property
    def are_in_order(self) -> bool:
        return bool(np.mean(np.diff(self._positions) > 0) >= IN_ORDER)

    def agrees(self, each: FoundPlaces) -> bool:
        """Say whether a chunk of which all is known is where its offsets say."""
        offsets = offsets_of(each.cut, each.location)
        if offsets is None:
            return True
        wrong = abs(self.position(offsets[0]) - each.span[0])
        return wrong <= _tolerance(each)


def _tolerance(each: FoundPlaces) -> float:
    return 2 * GRAM + each.location.size / 10


def _best_offsets(others: Iterable[FoundPlaces], sure: Sequence[FoundPlaces]) -> _Offsets | None:
    """Return the offsets by other chunks, else by the chunking's own; None if they do not agree."""
    offsets = _Offsets(others)
    if len(offsets) > 1 and sum(map(offsets.agrees, sure)) >= _AGREEING * len(sure):
        return offsets
    offsets = _Offsets(sure)
    return offsets if len(offsets) > 1 and offsets.are_in_order else None


def offsets_of(cut: Cut, location: ChunkLocation) -> Span | None:
    """Return the offsets of a chunk's first and last visible character, after its heading.

    >>> offsets_of(Cut("c", " Fees ", "d", start=10, end=16), ChunkLocation(4))
    (11, 15)
    """
    if cut.start is None and cut.end is None:
        return None
    size = len(cut.text)
    if cut.start is None:
        first = (cut.end or 0) - size
    elif cut.end is None:
        first = cut.start
    else:
        first = min(cut.start, cut.end - size)
    end = first + len(cut.text.rstrip())
    if location.heading:
        return cut.start if cut.start is not None else first, end
    return first + size - len(cut.text.lstrip()), end


def _at_offsets(
    each: FoundPlaces, offsets: _Offsets, within: Span, relocate: Relocate
) -> FoundPlaces:
    """Return an ambiguous chunk at the place that its offsets say, if one place is the nearest."""
    stated = offsets_of(each.cut, each.location)
    if stated is None:
        return each
    start, end = map(offsets.position, stated)
    wide = _tolerance(each)
    if not each.location.starts:
        span = max(within[0], int(start - wide)), min(within[1], int(end + wide) + 1)
        return _within_span(each, span, relocate)
    least = min(abs(place - start) for place in each.location.starts)
    nearest = _nearest_place(each, start, wide, _CLEAR * least + _CLEAR)
    return each if nearest is None else each.at(nearest)

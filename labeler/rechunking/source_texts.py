"""Index of the source texts that chunks are located in, and documents rebuilt from chunks.

The index holds hashes of 16-grams. A document that was not given is rebuilt from the chunks of one
chunking, in order; text that two neighbours share is kept once. Headings that a chunker added in
front of its chunks are not part of the document.
"""

from __future__ import annotations

import itertools
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from labeler.rechunking.normalised_text import Numbers, Span, normalised
from labeler.rechunking.records import Cut, sort_key

GRAM = 16
LENGTH_WITH_GRAM = 2 * GRAM - 1  # a text of this length contains an indexed gram at any offset
_AT_ONCE = 1 << 20  # characters hashed in one step
_POWERS = [np.uint64(pow(0x9E3779B97F4A7C15, power, 1 << 64)) for power in range(GRAM)]
_WEIGHTS = np.array(_POWERS[::-1], dtype=np.uint64)
_NOTHING = np.empty(0, dtype=np.int64)
_NO_HASHES = np.empty(0, dtype=np.uint64)
_BITS_FOR_EACH = 4  # bits per indexed gram, at least: at most a quarter of other grams pass
_THREE, _SEVEN = np.uint64(3), np.uint64(7)
_BIT = 1 << np.arange(8, dtype=np.uint8)

Hashes = npt.NDArray[np.uint64]


class SourceText(NamedTuple):
    """A normalised text to search in; ``edges`` are the positions at which its pieces begin."""

    document_id: str | None
    text: str
    edges: Sequence[int] = (0,)


class GramHits(NamedTuple):
    """Indexed grams found in a text: places in that text, and positions in the index.

    ``is_whole`` is false if grams with too many positions were left out.
    """

    places: Numbers
    positions: Numbers
    is_whole: bool


class TextIndex:
    """Source texts laid end to end, one character apart, so that one number is a position.

    Every `GRAM`-th gram of a source is indexed, and the grams at the edges of its pieces.
    """

    def __init__(self, sources: Sequence[SourceText]) -> None:
        self.sources = sources
        sizes = [len(source.text) + 1 for source in sources]
        self.starts = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]).tolist()
        self._by_document: dict[str | None, int] = {
            source.document_id: number
            for number, source in enumerate(sources)
            if source.document_id is not None
        }
        self.edges = np.concatenate(
            [np.empty(0, np.int64)]
            + [
                np.asarray(source.edges, dtype=np.int64) + start
                for source, start in zip(sources, self.starts, strict=False)
            ]
        )
        self._index()

    def _index(self) -> None:
        grams = [(np.empty(0, np.uint64), np.empty(0, np.int64))]
        for source, start in zip(self.sources, self.starts, strict=False):
            grams += [(hashes, at + start) for hashes, at in _known_grams(source)]
        hashes = np.concatenate([each for each, _ in grams])
        positions = np.concatenate([at for _, at in grams])
        order = np.argsort(hashes, kind="stable")
        self._positions = positions[order]
        hashes = hashes[order]
        is_new = np.append(True, hashes[1:] != hashes[:-1])[: len(hashes)]
        self._hashes = hashes[is_new]
        self._first = np.append(np.flatnonzero(is_new), len(hashes))
        self._seen = _HashFilter(self._hashes)

    def range_of(self, document_id: str | None) -> Span:
        """Return the span of a document on the axis; the whole axis for an unknown document."""
        number = self._by_document.get(document_id)
        return (0, self.starts[-1]) if number is None else self._range(number)

    def has_document(self, document_id: str | None) -> bool:
        """Say whether a document is one of the sources."""
        return document_id in self._by_document

    def range_at(self, position: int) -> Span:
        """Return the span of the source that contains a position."""
        return self._range(self.number_at(position))

    def number_at(self, position: int) -> int:
        """Return the number of the source that contains a position."""
        return bisect_right(self.starts, position) - 1

    def _range(self, number: int) -> Span:
        return self.starts[number], self.starts[number] + len(self.sources[number].text)

    def text(self, start: int, end: int) -> str:
        """Return the text between two positions, both in one source."""
        number = self.number_at(start)
        first = self.starts[number]
        return self.sources[number].text[start - first : end - first]

    def has(self, text: str, position: int) -> bool:
        """Say whether a text begins at a position."""
        number = self.number_at(position)
        return self.sources[number].text.startswith(text, position - self.starts[number])

    def has_edge(self, start: int, end: int) -> bool:
        """Say whether a piece begins between two positions, both included."""
        return bool(np.searchsorted(self.edges, start) < np.searchsorted(self.edges, end, "right"))

    def all_of(self, text: str, within: Span, most: int) -> list[int]:
        """Return the first ``most`` positions at which a text begins."""
        found: list[int] = []
        for number in range(self.number_at(within[0]), len(self.sources)):
            source, first = self.sources[number].text, self.starts[number]
            if first >= within[1]:
                break
            part = max(0, within[0] - first), min(len(source), within[1] - first)
            at = source.find(text, *part)
            while at >= 0 and len(found) < most:
                found.append(first + at)
                at = source.find(text, at + 1, part[1])
        return found

    def hits(
        self, grams: Hashes, within: Span, most: int, asked: Numbers | None = None
    ) -> GramHits:
        """Return the positions of a text's grams: of all, or of those at the places ``asked``.

        ``grams`` come from `grams_of`. Grams with more than ``most`` indexed positions are left
        out.
        """
        hashes = grams if asked is None else grams[asked]
        places = self._seen.some_of(hashes).nonzero()[0]
        if not len(places):
            return GramHits(_NOTHING, _NOTHING, True)
        hashes, places = hashes[places], places if asked is None else asked[places]
        number = self._hashes.searchsorted(hashes)
        number[number == len(self._hashes)] = 0
        is_known = self._hashes[number] == hashes
        number, places = number[is_known], places[is_known]
        first = self._first[number]
        counts = self._first[number + 1] - first
        too_many = counts > most
        counts[too_many] = 0
        ends = counts.cumsum()
        found = places.repeat(counts)
        positions = self._positions[(first - ends + counts).repeat(counts) + np.arange(len(found))]
        inside = (positions >= within[0]) & (positions < within[1])
        return GramHits(found[inside], positions[inside], not too_many.any())


class _HashFilter:
    """A bit table that excludes most hashes not in the index, so that few need a search."""

    def __init__(self, hashes: Hashes) -> None:
        bits = max(3, (_BITS_FOR_EACH * len(hashes)).bit_length())
        self._shift = np.uint64(64 - bits)
        slots = np.zeros(1 << bits, dtype=np.bool_)
        slots[hashes >> self._shift] = True
        self._slots = np.packbits(slots, bitorder="little")

    def some_of(self, hashes: Hashes) -> npt.NDArray[np.uint8]:
        """Return 0 for each hash that is certainly not in the index."""
        slots = hashes >> self._shift
        found: npt.NDArray[np.uint8] = self._slots[slots >> _THREE] & _BIT[slots & _SEVEN]
        return found


def grams_of(text: str) -> Hashes:
    """Return the hash of each gram of a text; none for a text shorter than a gram."""
    return _hashes_of(_codes(text)) if len(text) >= GRAM else _NO_HASHES


def _codes(text: str) -> npt.NDArray[np.uint64]:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4").astype(np.uint64)


def _hashes_of(codes: Hashes) -> Hashes:
    """Return the hash of each gram of a text with at least one; each step doubles the length."""
    hashes, size = codes, 1
    while size < GRAM:
        hashes = hashes[:-size] * _POWERS[size] + hashes[size:]
        size *= 2
    return hashes


def _known_grams(source: SourceText) -> Iterator[tuple[Hashes, Numbers]]:
    """Yield the hashes and positions of a source's indexed grams, block by block."""
    text = source.text
    edges = np.unique(np.asarray(source.edges, dtype=np.int64))
    ends = np.append(edges[1:], len(text)) - GRAM
    asked = np.unique(np.concatenate([edges, ends]))
    asked = asked[(asked >= 0) & (asked % GRAM != 0)]
    for start in range(0, len(text) - GRAM + 1, _AT_ONCE):
        codes = _codes(text[start : start + _AT_ONCE + GRAM])
        whole = codes[: min(len(codes), _AT_ONCE) // GRAM * GRAM]
        places = np.arange(0, len(whole), GRAM)
        yield whole.reshape(-1, GRAM) @ _WEIGHTS, places + start
        here = asked[(asked >= start) & (asked < start + min(_AT_ONCE, len(codes) - GRAM + 1))]
        yield codes[(here - start)[:, None] + np.arange(GRAM)] @ _WEIGHTS, here


class ReconstructedDocument(NamedTuple):
    """A source rebuilt from chunks, and the span of each chunk in it, by chunk id.

    A span may be shorter than its chunk: a heading before overlapping text is not part of it.
    """

    source: SourceText
    parts: dict[str, Span]


class _Piece(NamedTuple):
    chunk_id: str
    text: str
    heading: int


def reconstruct(cuts: Iterable[Cut]) -> Iterator[ReconstructedDocument]:
    """Join the chunks of each document in order; text that two neighbours share is kept once.

    Chunks are ordered by ``position``, else by ``start``, else by their overlaps, else as given.
    Chunks without a document are joined too: this finds texts that continue in the next chunk, and
    does no harm where they do not.

    >>> cuts = [Cut("a", "All men are created equal, by law,", "d", 1),
    ...         Cut("b", "created equal, by law, and in dignity.", "d", 2)]
    >>> [assembled] = reconstruct(cuts)
    >>> assembled.source.text, assembled.parts["b"]
    ('Allmenarecreatedequal,bylaw,andindignity.', (9, 41))
    """
    documents: dict[str | None, list[Cut]] = {}
    for cut in cuts:
        documents.setdefault(cut.document_id, []).append(cut)
    for document_id, chunks in documents.items():
        headings = Headings(cut.text for cut in chunks)
        ordered = sorted(chunks, key=sort_key)
        pieces = [_piece(cut, headings) for cut in ordered]
        if all(sort_key(cut)[0] for cut in chunks):
            pieces = [pieces[number] for number in text_order([piece.text for piece in pieces])]
        yield _join_pieces(document_id, pieces)


def _piece(cut: Cut, headings: Headings) -> _Piece:
    added = headings.added(cut.text)
    heading = max(headings.repeated(cut.text), default=0) - added
    return _Piece(cut.chunk_id, normalised(cut.text)[added:], heading)


def _join_pieces(document_id: str | None, pieces: Sequence[_Piece]) -> ReconstructedDocument:
    overlaps = [_overlap_of_pieces(one, other) for one, other in itertools.pairwise(pieces)]
    if sum(size > 0 for _, size in overlaps) < OVERLAPPING_SHARE * len(overlaps):
        overlaps = [(0, 0)] * len(overlaps)
    texts, parts, edges, end = [], {}, [], 0
    for piece, (heading, size) in zip(pieces, [(0, 0), *overlaps], strict=False):
        start = end - size
        texts.append(piece.text[heading + size :])
        end = start + len(piece.text) - heading
        parts[piece.chunk_id] = (start, end)
        edges.append(start)
    return ReconstructedDocument(SourceText(document_id, "".join(texts), edges), parts)


def _overlap_of_pieces(one: _Piece, other: _Piece) -> Span:
    """Return the length of the second piece's heading, and of the overlap after it."""
    for heading in {0, other.heading}:
        size = overlap_size(one.text, other.text[heading:])
        if size:
            return heading, size
    return 0, 0


LONGEST_HEADING = 200  # normalised characters
HEADED_SHARE = 0.5
_HARDLY_REPEATED = 0.1
_MOST_LINES = 4
_WRITTEN_AS_HEADING = re.compile(r"\s*#{1,6}\s|.*\S\s*[>›»→]\s*\S")


class Headings:
    """First lines of a chunking's texts; one that several texts have may be an added heading.

    The document's own lines may repeat as well. So first lines are compared with last ones, which
    no chunker adds.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        counts: Counter[str] = Counter()
        lasts: Counter[str] = Counter()
        firsts: list[list[str]] = []
        for text in texts:
            lines = [normalised(line) for line in _first_lines(text)]
            counts.update(set(lines))
            firsts.append(lines)
            lasts.update([normalised(text[text.rstrip().rfind("\n") + 1 :])] if lines else [])
        self._repeated = {line for line, count in counts.items() if count > 1}
        sizes = [_most_in(self._repeated, lines) for lines in firsts]
        own = sum(count for count in lasts.values() if count > 1) / max(1, len(firsts))
        levels = [sum(size > level for size in sizes) for level in range(_MOST_LINES)]
        most = sum(
            count - own * len(firsts) >= HEADED_SHARE * (1 - own) * len(firsts) > HEADED_SHARE
            for count in levels
        )
        self._most_added = _MOST_LINES if most and own < _HARDLY_REPEATED else most

    def added(self, text: str) -> int:
        """Return the same as `repeated` if most texts begin with a repeated line, else 0.

        If most do, the chunker adds headings; if not, the lines may be the document's own. Where
        the document repeats itself, no more lines are counted than most texts have.

        >>> Headings(["Fees\\nIn May", "Fees\\nIn June", "Dues"]).added("Fees\\nIn May")
        4
        """
        return max(self.repeated(text)[: self._most_added], default=0)

    def repeated(self, text: str) -> list[int]:
        """Return the normalised size of the first line, of the first two and so on.

        Counted are lines that other chunks have among their first ones.

        >>> headings = Headings(["Fees\\nIn May", "Fees\\nIn June", "Dues"])
        >>> headings.repeated("Fees\\nIn May"), headings.repeated("Dues")
        ([4], [])
        """
        found: list[int] = []
        for line in _first_lines(text):
            plain = normalised(line)
            size = len(plain) + (found[-1] if found else 0)
            if plain not in self._repeated or size > LONGEST_HEADING:
                break
            found.append(size)
        return found

    def front(self, text: str, size: int, known: str) -> int:
        """Return ``size`` if the first ``size`` normalised characters are headings, else 0.

        Each heading is a whole line that is repeated in the chunking, or looks like a heading, or
        is in ``known``, the document's text.
        """
        found = 0
        for line in _first_lines(text):
            plain = normalised(line)
            is_heading = plain in self._repeated or _WRITTEN_AS_HEADING.match(line)
            if not (is_heading or plain in known):
                return 0
            found += len(plain)
            if found >= size:
                break
        return size if found == size <= LONGEST_HEADING else 0


def _most_in(known: Set[str], lines: Iterable[str]) -> int:
    """Return how many of the first lines are all known."""
    return sum(1 for _ in itertools.takewhile(known.__contains__, lines))


def _first_lines(text: str) -> list[str]:
    """Return the first lines that are not blank, without the text's last line, never a heading."""
    lines: list[str] = []
    at = 0
    while len(lines) < _MOST_LINES and at < 4 * LONGEST_HEADING:
        end = text.find("\n", at)
        if end < 0:
            break
        if not text[at:end].isspace() and end > at:
            lines.append(text[at:end])
        at = end + 1
    return lines


LEAST_OVERLAP = 16
OVERLAPPING_SHARE = 0.25  # share of neighbours that overlap if the chunker makes overlaps
_IN_ORDER = 0.95
_DISTINCT = 0.98
_USUAL, _MOST_USUAL = 1.25, 0.75  # most overlaps of one chunking differ by at most this factor
_MOST_ASKED = 200  # texts sampled to see whether the chunking has overlaps


def overlap_size(one: str, other: str) -> int:
    """Return the length of the longest suffix of ``one`` that is a proper prefix of ``other``.

    An overlap shorter than `LEAST_OVERLAP` counts as 0.

    >>> overlap_size("All men are created equal, by law,", "created equal, by law, and in dignity.")
    22
    """
    head = other[:LEAST_OVERLAP]
    if len(head) < LEAST_OVERLAP:
        return 0
    at = one.find(head, max(0, len(one) - len(other) + 1))
    while at >= 0:
        if other.startswith(one[at:]):
            return len(one) - at
        at = one.find(head, at + 1)
    return 0


def text_order(texts: Sequence[str]) -> list[int]:
    """Return the order in which texts continue each other, as numbers of texts.

    The given order is kept if most neighbours already overlap, or if hardly any text continues in
    another. It is also kept if several texts often continue in the same one, as repeated text does,
    unless most of them share about as many characters with the next.

    >>> text_order(["and by the law of the land it is", "All are equal and by the law of the land"])
    [1, 0]
    """
    given = list(range(len(texts)))
    if (
        _share_of_votes(bool(overlap_size(*pair)) for pair in itertools.pairwise(texts))
        >= _IN_ORDER
    ):
        return given
    heads: dict[str, list[int]] = {}
    for number, text in enumerate(texts):
        heads.setdefault(text[:LEAST_OVERLAP], []).append(number)
    some = given[:: max(1, len(texts) // _MOST_ASKED)]
    followed = [_following_text(texts, number, heads) for number in some]
    found = [each for each in followed if each is not None]
    if len(found) < OVERLAPPING_SHARE * len(some):
        return given
    most = None
    if len({number for number, _ in found}) < max(_DISTINCT * len(found), len(some) / 2):
        most = _usual_size([size for _, size in found])
        capped = [_following_text(texts, number, heads, most) for number in some]
        usual = sum(each is not None and each[1] * _USUAL >= most for each in capped)
        if usual < _MOST_USUAL * len(some):
            return given
    follows: dict[int, int] = {}
    has_predecessor: set[int] = set()
    for number in given:
        following = _following_text(texts, number, heads, most, has_predecessor)
        if following is not None:
            follows[number] = following[0]
            has_predecessor.add(following[0])
    ordered: dict[int, None] = {}
    for number in [*(each for each in given if each not in has_predecessor), *given]:
        at: int | None = number
        while at is not None and at not in ordered:
            ordered[at] = None
            at = follows.get(at)
    return list(ordered)


def _share_of_votes(votes: Iterable[bool]) -> float:
    given = list(votes)
    return sum(given) / max(1, len(given))


def _usual_size(sizes: Sequence[int]) -> int:
    """Return a limit of sizes: most are just below it, compared with other limits."""
    ordered = sorted(sizes)
    counts = [bisect_right(ordered, _USUAL * size) - at for at, size in enumerate(ordered)]
    return int(_USUAL * ordered[counts.index(max(counts))])


def _following_text(
    texts: Sequence[str],
    number: int,
    heads: Mapping[str, Sequence[int]],
    most: int | None = None,
    without: Set[int] = frozenset(),
) -> tuple[int, int] | None:
    """Return a text that begins with the longest suffix of this one, and the suffix's length.

    The suffix has at most ``most`` characters. None if there is no such text.
    """
    text = texts[number]
    for at in range(max(1, len(text) - (most or len(text))), len(text) - LEAST_OVERLAP + 1):
        for other in heads.get(text[at : at + LEAST_OVERLAP], ()):
            if other != number and other not in without and texts[other].startswith(text[at:]):
                return other, len(text) - at
    return None

"""The texts that chunks are looked for in, end to end, and which of their parts are alike.

Knows squeezed texts and places in them; not which chunk is looked for, nor any grade.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from labeler.rechunking.spans import Span
from labeler.rechunking.squeezing import Numbers

GRAM = 16
SURE = 2 * GRAM - 1  # so long a text holds a gram that is known, wherever it stands
_AT_ONCE = 1 << 20  # characters that are hashed together
_POWERS = [np.uint64(pow(0x9E3779B97F4A7C15, power, 1 << 64)) for power in range(GRAM)]
_WEIGHTS = np.array(_POWERS[::-1], dtype=np.uint64)
_NOTHING = np.empty(0, dtype=np.int64)
_NO_HASHES = np.empty(0, dtype=np.uint64)
_BITS_FOR_EACH = 4  # known gram, at least: what is not known seems so in a quarter of the cases
_THREE, _SEVEN = np.uint64(3), np.uint64(7)
_BIT = 1 << np.arange(8, dtype=np.uint8)

Hashes = npt.NDArray[np.uint64]


class Source(NamedTuple):
    """A squeezed text to stand in; ``edges`` are where the pieces begin that it was joined of."""

    document_id: str | None
    text: str
    edges: Sequence[int] = (0,)


class Hits(NamedTuple):
    """Grams that are known: their places in a text, and positions; whether none was left out."""

    places: Numbers
    positions: Numbers
    is_whole: bool


class Ground:
    """Sources on one axis, so that a place is a number; one character is free between two.

    Of each source every `GRAM`-th gram is known, and those at which its pieces begin and end.
    """

    def __init__(self, sources: Sequence[Source]) -> None:
        self.sources = sources
        sizes = [len(source.text) + 1 for source in sources]
        self.starts = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]).tolist()
        self._by_document = {
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
        self._seen = _Seen(self._hashes)

    def range_of(self, document_id: str | None) -> Span:
        """Return where on the axis a document lies; all of it for one that is not known."""
        number = None if document_id is None else self._by_document.get(document_id)
        return (0, self.starts[-1]) if number is None else self._range(number)

    def knows(self, document_id: str | None) -> bool:
        """Say whether there is a document of this id."""
        return document_id in self._by_document

    def range_at(self, position: int) -> Span:
        """Return from where to where the source goes in which a position lies."""
        return self._range(self.number_at(position))

    def number_at(self, position: int) -> int:
        """Return the number of the source in which a position lies."""
        return bisect_right(self.starts, position) - 1

    def _range(self, number: int) -> Span:
        return self.starts[number], self.starts[number] + len(self.sources[number].text)

    def text(self, start: int, end: int) -> str:
        """Return what stands from one position to before another, both of one source."""
        number = self.number_at(start)
        first = self.starts[number]
        return self.sources[number].text[start - first : end - first]

    def has(self, text: str, position: int) -> bool:
        """Say whether a text stands at a position."""
        number = self.number_at(position)
        return self.sources[number].text.startswith(text, position - self.starts[number])

    def has_edge(self, start: int, end: int) -> bool:
        """Say whether a piece begins between two positions, or at one of them."""
        return bool(np.searchsorted(self.edges, start) < np.searchsorted(self.edges, end, "right"))

    def all_of(self, text: str, within: Span, most: int) -> list[int]:
        """Return the first positions at which a text stands, as many as are asked for."""
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

    def hits(self, grams: Hashes, within: Span, most: int, asked: Numbers | None = None) -> Hits:
        """Return where grams of a text stand: all of them, or those asked for by their places.

        ``grams`` are as `grams_of` has them. Those that stand at more than ``most`` known positions
        are left out.
        """
        hashes = grams if asked is None else grams[asked]
        places = self._seen.some_of(hashes).nonzero()[0]
        if not len(places):
            return Hits(_NOTHING, _NOTHING, True)
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
        return Hits(found[inside], positions[inside], not too_many.any())


class _Seen:
    """Says of most hashes that are not among some that they are not: so few are looked for."""

    def __init__(self, hashes: Hashes) -> None:
        bits = max(3, (_BITS_FOR_EACH * len(hashes)).bit_length())
        self._shift = np.uint64(64 - bits)
        slots = np.zeros(1 << bits, dtype=np.bool_)
        slots[hashes >> self._shift] = True
        self._slots = np.packbits(slots, bitorder="little")

    def some_of(self, hashes: Hashes) -> npt.NDArray[np.uint8]:
        """Return 0 for those that are surely not among them."""
        slots = hashes >> self._shift
        found: npt.NDArray[np.uint8] = self._slots[slots >> _THREE] & _BIT[slots & _SEVEN]
        return found


def grams_of(text: str) -> Hashes:
    """Return the hash of each gram of a text; there is none where it is shorter than a gram."""
    return _hashes_of(_codes(text)) if len(text) >= GRAM else _NO_HASHES


def _codes(text: str) -> npt.NDArray[np.uint64]:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4").astype(np.uint64)


def _hashes_of(codes: Hashes) -> Hashes:
    """Return the hash of each gram of a text that has at least one: twice as long in each step."""
    hashes, size = codes, 1
    while size < GRAM:
        hashes = hashes[:-size] * _POWERS[size] + hashes[size:]
        size *= 2
    return hashes


def _known_grams(source: Source) -> Iterator[tuple[Hashes, Numbers]]:
    """Give hashes with where their grams stand in a source, block after block."""
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

"""Documents put together from the chunks that were cut out of them, where nobody has the documents.

Knows the chunks' order and what neighbours have in common; not what is looked for in them.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from labeler.rechunking.ground import Source
from labeler.rechunking.headings import Headings
from labeler.rechunking.records import Cut
from labeler.rechunking.spans import Span
from labeler.rechunking.squeezing import squeezed

LEAST_OVERLAP = 16
MOSTLY = 0.25  # of all neighbours overlap where the chunker made them; fewer are chance


class Assembled(NamedTuple):
    """A source made of chunks, and which part of it each is, by its id.

    A part may be shorter than its chunk: a heading in front of what overlaps is not of it.
    """

    source: Source
    parts: dict[str, Span]


class _Piece(NamedTuple):
    chunk_id: str
    text: str
    heading: int


def assemble(cuts: Iterable[Cut]) -> Iterator[Assembled]:
    """Join the chunks of each document in order, what neighbours have in common only once.

    Chunks are in the order of ``position``, else of ``start``, else as they are given. Those
    without a document are joined as they are given, too: a text that goes on in the next one is
    found, and no harm is done where it does not.

    >>> cuts = [Cut("a", "All men are created equal, by law,", "d", 1),
    ...         Cut("b", "created equal, by law, and in dignity.", "d", 2)]
    >>> [assembled] = assemble(cuts)
    >>> assembled.source.text, assembled.parts["b"]
    ('Allmenarecreatedequal,bylaw,andindignity.', (9, 41))
    """
    documents: dict[str | None, list[Cut]] = {}
    for cut in cuts:
        documents.setdefault(cut.document_id, []).append(cut)
    for document_id, own in documents.items():
        headings = Headings(cut.text for cut in own)
        ordered = sorted(own, key=_order)
        pieces = [
            _Piece(cut.chunk_id, squeezed(cut.text), headings.repeated(cut.text)) for cut in ordered
        ]
        yield _joined(document_id, pieces)


def _order(cut: Cut) -> tuple[bool, int]:
    order = cut.start if cut.position is None else cut.position
    return (order is None, order or 0)


def _joined(document_id: str | None, pieces: Sequence[_Piece]) -> Assembled:
    overlaps = [_overlap(one, other) for one, other in itertools.pairwise(pieces)]
    if sum(size > 0 for _, size in overlaps) < MOSTLY * len(overlaps):
        overlaps = [(0, 0)] * len(overlaps)
    texts, parts, edges, end = [], {}, [], 0
    for piece, (heading, size) in zip(pieces, [(0, 0), *overlaps], strict=False):
        start = end - size
        texts.append(piece.text[heading + size :])
        end = start + len(piece.text) - heading
        parts[piece.chunk_id] = (start, end)
        edges.append(start)
    return Assembled(Source(document_id, "".join(texts), edges), parts)


def _overlap(one: _Piece, other: _Piece) -> Span:
    """Return how long a heading is and how much after it the one ends with, too."""
    for heading in {0, other.heading}:
        size = _shared(one.text, other.text[heading:])
        if size:
            return heading, size
    return 0, 0


def _shared(one: str, other: str) -> int:
    """Return how many characters, short of all, the one ends with and the other begins with."""
    head = other[:LEAST_OVERLAP]
    if len(head) < LEAST_OVERLAP:
        return 0
    at = one.find(head, max(0, len(one) - len(other) + 1))
    while at >= 0:
        if other.startswith(one[at:]):
            return len(one) - at
        at = one.find(head, at + 1)
    return 0

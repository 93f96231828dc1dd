"""Documents put together from the chunks that were cut out of them, where nobody has the documents.

Knows the chunks' order and what neighbours have in common; not what is looked for in them.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from labeler.rechunking.ground import Source
from labeler.rechunking.headings import Headings
from labeler.rechunking.ordering import MOSTLY, order_of, overlap_of
from labeler.rechunking.records import Cut
from labeler.rechunking.spans import Span
from labeler.rechunking.squeezing import squeezed


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

    Chunks are in the order of ``position``, else of ``start``, else as they overlap, else as they
    are given. Those without a document are joined, too: a text that goes on in the next one is
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
        pieces = [_piece(cut, headings) for cut in ordered]
        if all(_order(cut)[0] for cut in own):
            pieces = [pieces[number] for number in order_of([piece.text for piece in pieces])]
        yield _joined(document_id, pieces)


def _piece(cut: Cut, headings: Headings) -> _Piece:
    added = headings.added(cut.text)
    heading = headings.repeated(cut.text) - added
    return _Piece(cut.chunk_id, squeezed(cut.text)[added:], heading)


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
        size = overlap_of(one.text, other.text[heading:])
        if size:
            return heading, size
    return 0, 0

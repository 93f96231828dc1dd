"""Where all chunks stand, of however many chunkings, and what passages of theirs are there.

Knows texts and places; no query, no grade and no run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from labeler.rechunking.placing import find_places
from labeler.rechunking.records import Cut, Place
from labeler.rechunking.seeing import marked_in
from labeler.rechunking.spans import Span, joined
from labeler.rechunking.squeezing import squeezed


@dataclass(frozen=True, slots=True)
class Stood:
    """A chunk's text, its place in the ground that all chunkings share, and its document's id.

    The document is the one it names, else the one it was found in; None where that is not known.
    """

    text: str
    place: Place
    document_id: str | None

    def marked(self, passages: Iterable[Span]) -> list[Span] | None:
        """Return what passages, in code points, take of the ground; None where one is not there.

        >>> [stood] = stand([[Cut("c", "Fees are due.")]]).values()
        >>> stood.marked([(5, 8)])
        [(4, 7)]
        """
        found = marked_in(tuple(passages), self.text, self.place)
        return joined(span for each in found for span in each) or None

    def size_of(self, left: int) -> int:
        """Return how many characters but white space the first ``left`` code points have."""
        return len(squeezed(self.text[:left]))


def stand(
    chunkings: Sequence[Sequence[Cut]], documents: Mapping[str, str] | None = None
) -> dict[str, Stood]:
    """Find where chunks of all chunkings stand, by their ids, which are unique among all of them.

    The chunks of the first chunking stand for a document whose text is not given, and those of
    another one for a document of which the first has no chunk. Raises `BadInput` as `find_places`.

    >>> one, other = Cut("1", "Fees are due in May."), Cut("v2:1", "due in May.")
    >>> {name: stood.place.spans for name, stood in stand([[one], [other]]).items()}
    {'1': [(0, 16)], 'v2:1': [(7, 16)]}
    """
    if not chunkings:
        return {}
    first, *others = chunkings
    base, rest = _base(list(first), others, documents or {})
    places = find_places(base, rest[0] if rest else [], documents)
    found = {cut.chunk_id: (cut, places.old[cut.chunk_id]) for cut in base}
    for at, cuts in enumerate(rest):
        there = places if not at else find_places(base, cuts, documents)
        found |= {cut.chunk_id: (cut, there.new[cut.chunk_id]) for cut in cuts}
    return {
        name: Stood(cut.text, place, cut.document_id or places.document_of(place))
        for name, (cut, place) in found.items()
    }


def _base(
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

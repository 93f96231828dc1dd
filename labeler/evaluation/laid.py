"""Where the chunks of a golden set stand, by number, and what each is of; found once for a text.

Brings numbers to places; knows no grade and no run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from labeler.measures import Bools, Ints
from labeler.model import Passage, Texts
from labeler.rechunking import Cut, Span, Stood, cut_of, stand

NOWHERE = -1  # the document of a chunk of which nobody knows it
_KEPT = 2


@dataclass(frozen=True, eq=False)
class Laid:
    """The places of chunks: arrays have an entry for each chunk number, and one for all others.

    ``document`` numbers the documents, `NOWHERE` for none. ``size`` are the characters of the text
    but white space, ``length`` all of them. Chunks that are ``unplaced`` have a text that stands
    nowhere, those that are ``doubtful`` fit several places and are taken to stand in the first. All
    that a chunk takes of the ground lies between ``low`` and ``high``.
    """

    stood: Mapping[int, Stood]
    documents: tuple[str, ...]
    document: Ints
    size: Ints
    length: Ints
    low: Ints
    high: Ints
    unplaced: Bools
    doubtful: Bools

    def near(self, chunks: npt.NDArray[np.signedinteger], spans: Sequence[Span]) -> list[int]:
        """Return those of some chunks that may have something of spans of the ground, rising."""
        every = np.unique(chunks)
        at = self.at(every)
        edges = np.array(spans, dtype=np.int64).reshape(-1, 2)
        reach = (self.low[at, np.newaxis] < edges[:, 1]) & (edges[:, 0] < self.high[at, np.newaxis])
        found: list[int] = every[reach.any(axis=1)].tolist()
        return found

    def at(self, chunks: npt.NDArray[np.signedinteger]) -> Ints:
        """Return where in the arrays chunks stand."""
        places: Ints = np.minimum(chunks, len(self.size) - 1)
        return places

    def marked(self, chunk: int, passages: Iterable[Passage]) -> list[Span] | None:
        """Return what passages of a chunk take of the ground; None where they are not there."""
        stood = self.stood.get(chunk)
        return None if stood is None else stood.marked(passages)


@lru_cache(maxsize=_KEPT)
def lay(texts: Texts) -> Laid:
    """Find where all chunks stand; it takes some seconds for a hundred thousand."""
    chunkings: list[Sequence[Cut]] = [
        [cut_of(chunk) for chunk in cuts.values()] for cuts in texts.cuts.values()
    ]
    by_id = stand(chunkings, texts.documents)
    numbers = {
        chunk.chunk_id: number for cuts in texts.cuts.values() for number, chunk in cuts.items()
    }
    return _laid({numbers[chunk_id]: stood for chunk_id, stood in by_id.items()})


def _laid(stood: Mapping[int, Stood]) -> Laid:
    width = max(stood, default=-1) + 2
    documents: dict[str, int] = {}
    document = np.full(width, NOWHERE, dtype=np.int64)
    size, length, low, high = (np.zeros(width, dtype=np.int64) for _ in range(4))
    unplaced, doubtful = (np.zeros(width, dtype=np.bool_) for _ in range(2))
    for number, each in stood.items():
        if each.document_id is not None:
            document[number] = documents.setdefault(each.document_id, len(documents))
        size[number], length[number] = each.place.size, len(each.text)
        if spans := each.place.spans:
            low[number], high[number] = min(spans)[0], max(end for _, end in spans)
        unplaced[number] = not spans
        doubtful[number] = each.place.others > 0
    sizes = (document, size, length, low, high)
    return Laid(stood, tuple(documents), *sizes, unplaced, doubtful)


NOTHING_LAID = _laid({})
"""Where nobody keeps the texts."""

"""A run's lists as they are held: one after the other in two arrays, and cut out when asked for.

An object for each list would take more memory than what is in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from labeler.model.collected import StoredList


class JoinedLists(Mapping[int, StoredList]):
    """The lists of a run by query: each is a view into what all of them share.

    ``places`` maps a query to which list is its, 0 for the first; runs can share it. The list at
    place i is ``chunks[bounds[i]:bounds[i + 1]]``, best first, and so are its ``scores``, which
    are None where the run has none; no list has scores where another has none.

    >>> both = np.array([5, 7, 9], dtype=np.int32)
    >>> lists = JoinedLists({3: 0, 8: 1}, [2, 1], both, None)
    >>> {query: each.chunks.tolist() for query, each in lists.items()}, lists.get(4)
    ({3: [5, 7], 8: [9]}, None)
    """

    __slots__ = ("bounds", "chunks", "places", "scores")

    def __init__(
        self,
        places: Mapping[int, int],
        lengths: Sequence[int],
        chunks: npt.NDArray[np.int32],
        scores: npt.NDArray[np.float32] | None,
    ) -> None:
        self.places = places
        self.bounds: npt.NDArray[np.int64] = np.cumsum([0, *lengths])
        self.chunks = chunks
        self.scores = scores

    def __getitem__(self, query: int) -> StoredList:
        inside = self._inside(self.places[query])
        return StoredList(self.chunks[inside], None if self.scores is None else self.scores[inside])

    def __iter__(self) -> Iterator[int]:
        return iter(self.places)

    def __len__(self) -> int:
        return len(self.places)

    def chunks_of(self, query: int) -> npt.NDArray[np.int32] | None:
        """Return the chunks of a query's list, None where it has none."""
        place = self.places.get(query)
        return None if place is None else self.chunks[self._inside(place)]

    def _inside(self, place: int) -> slice:
        return slice(self.bounds[place], self.bounds[place + 1])

"""What a run's lists add up to while they are stored; runs no SQL."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from labeler.model import Ranking


class StoredLists:
    """What became of a run: whose its lists are, how deep, and of which chunks no text is known."""

    def __init__(self) -> None:
        self.query_ids: set[str] = set()
        self.depth = 0
        self.readable = False
        self._bare = bytearray()  # by number; a set would take thirty times as much

    def add(self, rankings: Iterable[Ranking], numbers: Mapping[str, tuple[int, bool]]) -> None:
        """Count some lists; ``numbers`` are their chunks', and if their texts are known."""
        for ranking in rankings:
            self.query_ids.add(ranking.query_id)
            self.depth = max(self.depth, len(ranking.chunk_ids))
        largest = max((number for number, _ in numbers.values()), default=0)
        self._bare.extend(bytes(max(0, largest + 1 - len(self._bare))))
        for number, known in numbers.values():
            self._bare[number] = not known
            self.readable |= known

    def bare(self) -> int:
        """Return how many of the chunks are known by id only."""
        return self._bare.count(1)

"""What a run's lists add up to while they are stored; runs no SQL."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from labeler.model import Ranking


class StoredLists:
    """What became of a run: whose its lists are, how deep, and of which chunks no text is known."""

    def __init__(self) -> None:
        self.query_ids: set[str] = set()
        self.depth = 0
        self.readable = False
        self._bare = bytearray()  # by number; a set would take thirty times as much

    def add(self, rankings: Iterable[Ranking], bare: Sequence[int], *, readable: bool) -> None:
        """Count some lists, whose chunks without text are ``bare``; ``readable`` if others are."""
        for ranking in rankings:
            self.query_ids.add(ranking.query_id)
            self.depth = max(self.depth, len(ranking.chunk_ids))
        self._bare.extend(bytes(max(0, max(bare, default=0) + 1 - len(self._bare))))
        for number in bare:
            self._bare[number] = 1
        self.readable |= readable

    def bare(self) -> int:
        """Return how many of the chunks are known by id only."""
        return self._bare.count(1)

"""What a run's lists add up to while they are stored; runs no SQL."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from labeler.model import Ranking


class StoredLists:
    """What became of a run: whose its lists are, how deep, of which chunks; which have no text."""

    def __init__(self) -> None:
        self.query_ids: set[str] = set()
        self.depth = 0
        self.readable = False
        self._bare = bytearray()  # by number; a set would take thirty times as much
        self._there = bytearray()

    def add(
        self, rankings: Iterable[Ranking], there: Collection[int], bare: Collection[int]
    ) -> None:
        """Count some lists; ``there`` are all their chunks, ``bare`` those without text."""
        for ranking in rankings:
            self.query_ids.add(ranking.query_id)
            self.depth = max(self.depth, len(ranking.chunk_ids))
        _mark(self._bare, bare)
        _mark(self._there, there)
        self.readable |= len(bare) < len(there)

    def bare(self) -> int:
        """Return how many of the chunks are known by id only."""
        return self._bare.count(1)

    def has_any_of(self, chunks: Iterable[int]) -> bool:
        """Say whether one of these chunks stands in any list."""
        return any(number < len(self._there) and self._there[number] for number in chunks)


def _mark(marks: bytearray, numbers: Collection[int]) -> None:
    marks.extend(bytes(max(0, max(numbers, default=0) + 1 - len(marks))))
    for number in numbers:
        marks[number] = 1

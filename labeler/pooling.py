"""Chooses which chunk is graded next; knows pools and pairs, not where they are stored.

Graders go query by query, in an order of their own: the same grader always meets the same order,
two graders start at different places, and nobody can tell a run's ranking from it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping

Pair = tuple[str, int]


class Pool:
    """The chunks to be graded, by query, and which of them are still open."""

    def __init__(
        self,
        chunks: Mapping[str, Iterable[int]],
        settled: Collection[Pair] = (),
        without_text: int = 0,
    ) -> None:
        """Take the pool's ``chunks`` and the pairs that are ``settled`` already.

        ``without_text`` is how many pairs are left out because nobody could read their chunk.
        """
        self.without_text = without_text
        self._chunks = {query_id: frozenset(pooled) for query_id, pooled in chunks.items()}
        self._open = {
            query_id: {chunk for chunk in pooled if (query_id, chunk) not in settled}
            for query_id, pooled in self._chunks.items()
        }

    def settle(self, pair: Pair) -> None:
        """Close a pair for everybody; one outside the pool is none of ours."""
        self._open.get(pair[0], set()).discard(pair[1])

    def reopen(self, pair: Pair) -> None:
        """Open a pair again, if it is in the pool."""
        query_id, chunk = pair
        if chunk in self._chunks.get(query_id, ()):
            self._open[query_id].add(chunk)

    def count_open(self, own: Mapping[Pair, bool]) -> int:
        """Count what `in_order` yields."""
        done = sum(
            present and chunk in self._open.get(query_id, ())
            for (query_id, chunk), present in own.items()
        )
        return sum(map(len, self._open.values())) - done

    def in_order(self, seed: int, own: Mapping[Pair, bool]) -> Iterator[Pair]:
        """Yield the open pairs a grader has not judged, query by query, shuffled by ``seed``.

        ``own`` tells of the pairs they have judged whether it was the chunk's present text.

        >>> pool = Pool({"q1": [1, 2, 3], "q2": [4]}, settled={("q1", 2)})
        >>> sorted(pool.in_order(7, own={("q2", 4): True, ("q1", 1): False}))
        [('q1', 1), ('q1', 3)]
        """
        left = [query_id for query_id, chunks in self._open.items() if chunks]
        for query_id in sorted(left, key=lambda query_id: shuffled(seed, query_id)):
            chunks = [chunk for chunk in self._open[query_id] if not own.get((query_id, chunk))]
            for chunk in sorted(chunks, key=lambda chunk: shuffled(seed, query_id, chunk)):
                yield query_id, chunk


def shuffled(*key: object) -> bytes:
    """Return a sort key that looks random and is always the same for the same ``key``."""
    return hashlib.blake2b(repr(key).encode(), digest_size=8).digest()

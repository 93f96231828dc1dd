"""What a carry-over left open of a pool, the most useful first; knows no grader by name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from functools import cached_property

from labeler.model import Judged, Pair
from labeler.services.assignment.pooling import Pool, Worth
from labeler.services.carryover import Hint, Opened

AT_ONCE = 40
AT_FIRST = 5  # while nothing is known of them yet: what comes soon after is told more of


class Remaining:
    """The pairs of one pool that a carry-over left open."""

    def __init__(self, pool: Pool, opened: Opened) -> None:
        """Take what is ``opened`` as it is now known; the pool may go on to change."""
        self._pool, self._opened = pool, opened

    def is_of(self, pool: Pool, opened: Opened) -> bool:
        """Say whether this is what remains of them."""
        mine = self._opened
        is_known_as = mine.hints is opened.hints and mine.chunks is opened.chunks
        return self._pool is pool and is_known_as

    @property
    def at_once(self) -> int:
        """How many of them to hand out at once."""
        return AT_ONCE if self._opened.hints is not None else AT_FIRST

    @cached_property
    def worth(self) -> Mapping[Pair, Worth]:
        """What each pair is worth, see `Hint.worth`.

        As long as nothing is known of them these are all of the new chunking in the pool.
        """
        hints = self._opened.hints
        if hints is not None:
            return {pair: hint.worth for pair, hint in hints.items()}
        return {
            (query_id, chunk): (0, False)
            for query_id in self._pool.queries()
            for chunk in self._pool.chunks(query_id)
            if chunk in self._opened.chunks
        }

    @cached_property
    def pairs(self) -> list[Pair]:
        """The pairs of the pool, the most useful first: by worth, then by their ranks."""
        return self._pool.by_worth(self.worth)

    @cached_property
    def totals(self) -> Mapping[str, int]:
        """How many pairs of each query there are, graded or not."""
        return Counter(query_id for query_id, _ in self.pairs)

    def left(self, own: Mapping[Pair, Judged], among: Collection[str] | None) -> dict[str, int]:
        """Count the open pairs of each query, for who has judged their ``own``."""
        left: dict[str, int] = {}
        for pair in self.pairs:
            if among is None or pair[0] in among:
                left[pair[0]] = left.get(pair[0], 0) + self._pool.is_open(pair, own)
        return left

    def hint(self, pair: Pair, wording: str | None) -> Hint | None:
        """Return what grades say of a pair, if they say anything of the text that it has now."""
        found = (self._opened.hints or {}).get(pair)
        if found is None or found.wording != wording or not found.sways:
            return None
        return found

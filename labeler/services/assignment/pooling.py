"""Pools: the chunks to grade per query, which are still open, and the order for each grader.

Each grader has a different but fixed order of queries, so that two graders start at different
places, and the order of chunks does not reveal a run's ranking. A share of the queries goes to
every grader, in the same order, so that agreement can be measured.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from labeler.model import (
    ACTIVE_OF_TWO,
    LEAST_JUDGED,
    MOST_USEFUL,
    QUERY_BY_QUERY,
    UNJUDGED_OF_TWO,
    CurrentJudgment,
    Pair,
)
from labeler.services.transfer import Hint, OpenPairs
from labeler.store import Copies

IN_A_ROUND = 5  # chunks of a query before the next query, where the most useful come first
DECIDING_AT_ONCE = 20  # pairs that decide between two runs, before they are chosen again
REPEATED_SHARE = 0.02
REPEATED_AFTER = 30  # judgments of other pairs

Worth = tuple[int, bool]
"""How useful a grade is: sorted by the number, then with true before false."""


class Pool:
    """The chunks to grade, by query, and which of them are still open."""

    def __init__(
        self,
        chunks: Mapping[str, Mapping[int, Sequence[int]] | Iterable[int]],
        settled: Iterable[Pair] = (),
        without_text: int = 0,
        *,
        overlap: float = 0.0,
        strategy: str = QUERY_BY_QUERY,
        copies: Copies | None = None,
    ) -> None:
        """Create a pool of ``chunks`` by query, with their ranks in the runs where known.

        ``settled`` pairs are not open. ``without_text`` counts the pairs left out because their
        chunk has no text. ``overlap`` is the share of queries that every grader gets. ``copies``
        are not pairs of their own: the first chunk with their text is one for all of them.
        """
        self.without_text = without_text
        self.strategy = strategy
        self._firsts = copies or {}
        self._families: dict[str, dict[int, list[int]]] = {}
        for query_id, firsts in self._firsts.items():
            families = self._families.setdefault(query_id, {})
            for chunk, first in firsts.items():
                families.setdefault(first, [first]).append(chunk)
        self._chunks = {
            query_id: pooled if isinstance(pooled, Mapping) else dict.fromkeys(pooled, ())
            for query_id, pooled in chunks.items()
        }
        self._open = {query_id: set(self.chunks(query_id)) for query_id in self._chunks}
        self._open_copies = {
            (query_id, chunk)
            for query_id, families in self._families.items()
            for family in families.values()
            for chunk in family
        }
        self._stale: set[Pair] = set()
        shuffled = sorted(self._chunks, key=lambda query_id: stable_key("shared", query_id))
        has_shared = strategy not in (UNJUDGED_OF_TWO, ACTIVE_OF_TWO)
        count = math.ceil(round(overlap * len(shuffled), 9)) if has_shared else 0
        self._shared = dict.fromkeys(shuffled[:count])
        self._orders: dict[int, list[str]] = {}
        self._useful: dict[str, list[int]] = {}
        for pair in settled:
            self.settle(pair)

    def __contains__(self, pair: object) -> bool:
        """Tell whether a pair is in the pool, open or not."""
        return isinstance(pair, tuple) and pair[1] in self._chunks.get(pair[0], ())

    def __len__(self) -> int:
        """Return the number of queries that have a pool."""
        return len(self._chunks)

    def queries(self) -> Collection[str]:
        return self._chunks.keys()

    def chunks(self, query_id: str) -> Collection[int]:
        """Return the chunks in a query's pool, in arbitrary order; empty where it has none.

        Of copies of a text only the first.
        """
        pooled = self._chunks.get(query_id, {}).keys()
        copies = self._firsts.get(query_id)
        return pooled - copies.keys() if copies else pooled

    def first(self, pair: Pair) -> Pair:
        """Return the pair that stands for all copies of a pair's text; mostly the pair itself."""
        copies = self._firsts.get(pair[0])
        return (pair[0], copies.get(pair[1], pair[1])) if copies else pair

    def family(self, pair: Pair) -> Sequence[int]:
        """Return the chunks with the text of a pair's chunk; it alone where it has no copy."""
        query_id, first = self.first(pair)
        return self._families.get(query_id, {}).get(first, (first,))

    def firsts(self, own: Mapping[Pair, CurrentJudgment]) -> Mapping[Pair, CurrentJudgment]:
        """Return a grader's judgments without those of copies, where the first is among them."""
        if not self._firsts:
            return own
        return {
            pair: judged
            for pair, judged in own.items()
            if (first := self.first(pair)) == pair or first not in own
        }

    def ranks(self, pair: Pair) -> Sequence[int]:
        """Return the ranks of a pair's chunk in the runs, in arbitrary order."""
        return self._chunks.get(pair[0], {}).get(pair[1], ())

    def ranks_of_text(self, pair: Pair) -> Sequence[int]:
        """Return the ranks of a pair's chunk and its copies in the runs, in arbitrary order."""
        family = self.family(pair)
        if len(family) == 1:
            return self.ranks(pair)
        return [rank for chunk in family for rank in self.ranks((pair[0], chunk))]

    def is_shared(self, query_id: str) -> bool:
        return query_id in self._shared

    def is_stale(self, pair: Pair) -> bool:
        """Tell whether a pair, or a copy, was graded for an earlier text of its chunk."""
        return any((pair[0], chunk) in self._stale for chunk in self.family(pair))

    def settle(self, pair: Pair, *, by_grader: bool = False) -> None:
        """Close a pair for everybody; pairs outside the pool are ignored.

        A grade ``by_grader`` leaves a pair of a shared query open for the other graders. A text is
        closed once all copies of it are.
        """
        self._stale.discard(pair)
        query_id, chunk = self.first(pair)
        if by_grader and query_id in self._shared:
            self.reopen(pair)
            return
        self._open_copies.discard(pair)
        family = self._families.get(query_id, {}).get(chunk, ())
        if not any((query_id, each) in self._open_copies for each in family):
            self._open.get(query_id, set()).discard(chunk)

    def reopen(self, pair: Pair, *, stale: bool = False) -> None:
        """Open a pair of the pool again; ``stale`` means that its text has changed."""
        if pair not in self:
            return
        query_id, chunk = self.first(pair)
        self._open[query_id].add(chunk)
        if chunk in self._families.get(query_id, {}):
            self._open_copies.add(pair)
        if stale:
            self._stale.add(pair)
        else:
            self._stale.discard(pair)

    def open_in(self, query_id: str, own: Mapping[Pair, CurrentJudgment]) -> list[int]:
        """Return a query's open chunks that a grader with the judgments ``own`` has not judged.

        A judgment of an earlier text of the chunk does not count.
        """
        return [
            chunk
            for chunk in self._open.get(query_id, ())
            if (judged := own.get((query_id, chunk))) is None or not judged.present
        ]

    def count_judged(self, query_id: str, own: Mapping[Pair, CurrentJudgment]) -> int:
        """Count the chunks of a query of which a grader has judged the present text."""
        judged = (own.get((query_id, chunk)) for chunk in self.chunks(query_id))
        return sum(each is not None and each.present for each in judged)

    def is_open(self, pair: Pair, own: Mapping[Pair, CurrentJudgment]) -> bool:
        """Tell whether `open_in` returns a pair's chunk for its query."""
        if pair[1] not in self._open.get(pair[0], ()):
            return False
        return (judged := own.get(pair)) is None or not judged.present

    def left(self, own: Mapping[Pair, CurrentJudgment]) -> dict[str, int]:
        """Count what `open_in` returns for each query, in time linear in ``own`` and queries."""
        left = {query_id: len(chunks) for query_id, chunks in self._open.items()}
        for (query_id, chunk), judged in own.items():
            if judged.present and chunk in self._open.get(query_id, ()):
                left[query_id] -= 1
        return left

    def in_order(
        self,
        seed: int,
        own: Mapping[Pair, CurrentJudgment],
        *,
        among: Collection[str] | None = None,
        without: Collection[str] = (),
        first: str | None = None,
        last: Collection[str] = (),
    ) -> Iterator[Pair]:
        """Yield the open pairs that a grader has not judged, shuffled by ``seed``.

        ``among`` restricts them to some queries, ``without`` leaves queries out. The query
        ``first``, which the grader is working on, comes before all others; the queries in ``last``,
        which other graders are working on, come after all others.

        >>> pool = Pool({"q1": [1, 2, 3], "q2": [4]}, settled={("q1", 2)})
        >>> [pair for pair in pool.in_order(7, own={}) if pair[0] == "q2"]
        [('q2', 4)]
        >>> sorted(pool.in_order(7, own={}, without={"q2"}))
        [('q1', 1), ('q1', 3)]
        """
        left = [
            query_id
            for query_id in self._order(seed)
            if self._open[query_id]
            and query_id not in without
            and (among is None or query_id in among)
        ]
        if self.strategy == LEAST_JUDGED:
            left.sort(key=self._judged_share)
        left.sort(key=lambda query_id: (query_id in last, query_id != first))
        if self.strategy == MOST_USEFUL:
            yield from self._in_rounds(seed, own, left)
            return
        for query_id in left:
            for chunk in shuffled_chunks(seed, query_id, self.open_in(query_id, own)):
                yield query_id, chunk

    def telling(
        self,
        seed: int,
        own: Mapping[Pair, CurrentJudgment],
        ahead: Iterable[Pair],
        *,
        among: Collection[str] | None = None,
        without: Collection[str] = (),
        first: str | None = None,
        last: Collection[Pair] = (),
        at_once: int = DECIDING_AT_ONCE,
        worth: Mapping[Pair, Worth] | None = None,
    ) -> list[Pair]:
        """Return the first ``at_once`` of the pairs ``ahead`` that are open to a grader.

        They are shuffled query by query, so that their order does not reveal how much they decide;
        only pairs of more ``worth`` come first. Pairs in ``last``, which other graders have, are
        taken after all others. The other arguments are those of `in_order`.
        """
        candidates = [
            pair
            for pair in dict.fromkeys(map(self.first, ahead))
            if self.is_open(pair, own)
            and pair[0] not in without
            and (among is None or pair[0] in among)
        ]
        candidates.sort(key=lambda pair: pair in last)
        place = {query_id: at for at, query_id in enumerate(self._order(seed))}
        return sorted(
            candidates[:at_once],
            key=lambda pair: (
                _worth_key(worth, pair),
                pair[0] != first,
                place[pair[0]],
                stable_key(seed, *pair),
            ),
        )

    def by_worth(self, worth: Mapping[Pair, Worth]) -> list[Pair]:
        """Return the pairs of the pool, open or not, that have a ``worth``, the highest first.

        Of pairs with equal worth, those that many runs have near their top come first.

        >>> pool = Pool({"q": {1: [9], 2: [1], 3: [2]}})
        >>> pool.by_worth({("q", 1): (3, True), ("q", 2): (0, False), ("q", 4): (3, True)})
        [('q', 1), ('q', 2)]
        """
        there = [pair for pair in worth if pair in self and self.first(pair) == pair]
        return sorted(
            there,
            key=lambda pair: (_worth_key(worth, pair), -rank_usefulness(self.ranks_of_text(pair))),
        )

    def _in_rounds(
        self, seed: int, own: Mapping[Pair, CurrentJudgment], query_ids: Sequence[str]
    ) -> Iterator[Pair]:
        # Shuffled within a round, so that the position of a chunk does not reveal its rank.
        longest = max((len(self.chunks(query_id)) for query_id in query_ids), default=0)
        for start in range(0, longest, IN_A_ROUND):
            for query_id in query_ids:
                left = set(self._by_use(query_id)[start : start + IN_A_ROUND])
                left &= set(self.open_in(query_id, own))
                for chunk in shuffled_chunks(seed, query_id, left):
                    yield query_id, chunk

    def _by_use(self, query_id: str) -> Sequence[int]:
        if query_id not in self._useful:
            self._useful[query_id] = sorted(
                self.chunks(query_id),
                key=lambda chunk: -rank_usefulness(self.ranks_of_text((query_id, chunk))),
            )
        return self._useful[query_id]

    def _judged_share(self, query_id: str) -> float:
        return 1 - len(self._open[query_id]) / len(self.chunks(query_id))

    def _order(self, seed: int) -> list[str]:
        """Return all queries in a grader's order; the shared ones have the same order for all."""
        if seed not in self._orders:
            own = sorted(
                (query_id for query_id in self._chunks if query_id not in self._shared),
                key=lambda query_id: stable_key(seed, query_id),
            )
            self._orders[seed] = interleave(own, list(self._shared))
        return self._orders[seed]


def interleave(many: Sequence[str], few: Sequence[str]) -> list[str]:
    """Return both in one list, with the ``few`` evenly spaced among the ``many``.

    >>> interleave(["a", "b", "c", "d"], ["X", "Y"])
    ['a', 'b', 'X', 'c', 'd', 'Y']
    """
    placed = [((at + 1) / (len(many) + 1), 0, item) for at, item in enumerate(many)]
    placed += [((at + 1) / len(few), 1, item) for at, item in enumerate(few)]
    return [item for _, _, item in sorted(placed, key=lambda place: place[:2])]


def _worth_key(worth: Mapping[Pair, Worth] | None, pair: Pair) -> Worth:
    if worth is None or pair not in worth:
        return 0, False
    most, more = worth[pair]
    return -most, not more


def rank_usefulness(ranks: Sequence[int]) -> float:
    """Return the sum of reciprocal ranks: high where many runs have the chunk near the top."""
    return math.fsum(1 / rank for rank in ranks)


def repeats_due(
    seed: int, own: Mapping[Pair, CurrentJudgment], share: float = REPEATED_SHARE
) -> list[Pair]:
    """Return the pairs that a grader is to grade a second time, the oldest first.

    They are a random ``share`` of the pairs the grader graded at least `REPEATED_AFTER` judgments
    ago, each repeated once.
    """
    numbers = sorted(judged.number for judged in own.values())
    if len(numbers) <= REPEATED_AFTER:
        return []
    newest = numbers[-REPEATED_AFTER]
    due = [
        (judged.number, pair)
        for pair, judged in own.items()
        if judged.number < newest
        and judged.kind == "grade"
        and judged.present
        and not judged.repeated
        and stable_fraction(seed, "again", *pair) < share
    ]
    return [pair for _, pair in sorted(due)]


def shuffled_chunks(seed: int, query_id: str, chunks: Iterable[int]) -> list[int]:
    """Return chunks of a query in the grader's random but fixed order."""
    return sorted(chunks, key=lambda chunk: stable_key(seed, query_id, chunk))


def stable_key(*key: object) -> bytes:
    """Return a pseudorandom sort key that depends on ``key`` alone."""
    return hashlib.blake2b(repr(key).encode(), digest_size=8).digest()


def stable_fraction(*key: object) -> float:
    """Return a pseudorandom number from 0 to 1 that depends on ``key`` alone."""
    return int.from_bytes(stable_key(*key)) / 2**64


TRANSFER_AT_ONCE = 40
TRANSFER_AT_FIRST = 5  # while hints are being computed: pairs returned later come with hints


class TransferPool:
    """The pairs of a pool that a transfer left open."""

    def __init__(self, pool: Pool, open_pairs: OpenPairs) -> None:
        """Combine both; the pool may change afterwards."""
        self._pool, self._open_pairs = pool, open_pairs

    def is_of(self, pool: Pool, open_pairs: OpenPairs) -> bool:
        """Tell whether this was made of the same pool and open pairs."""
        own = self._open_pairs
        is_same = own.hints is open_pairs.hints and own.chunks is open_pairs.chunks
        return self._pool is pool and is_same

    @property
    def at_once(self) -> int:
        return TRANSFER_AT_ONCE if self._open_pairs.hints is not None else TRANSFER_AT_FIRST

    @cached_property
    def worth(self) -> Mapping[Pair, Worth]:
        """The worth of each pair, see `Hint.worth`.

        Until hints are known, all pairs of the pool in the new chunking have the lowest worth. A
        text that the old chunking has, too, is in both.
        """
        if self._open_pairs.hints is not None:
            return {pair: hint.worth for pair, hint in self._hints.items()}
        return {
            pair: (0, False)
            for query_id in self._pool.queries()
            for pair in ((query_id, chunk) for chunk in self._pool.chunks(query_id))
            if not self._open_pairs.chunks.isdisjoint(self._pool.family(pair))
        }

    @cached_property
    def _hints(self) -> Mapping[Pair, Hint]:
        """The hints, each for the first chunk with its text."""
        found: dict[Pair, Hint] = {}
        for pair, hint in (self._open_pairs.hints or {}).items():
            found.setdefault(self._pool.first(pair), hint)
        return found

    @cached_property
    def pairs(self) -> list[Pair]:
        """The open pairs of the transfer in the pool, by worth, then by `rank_usefulness`."""
        return self._pool.by_worth(self.worth)

    @cached_property
    def totals(self) -> Mapping[str, int]:
        """The number of pairs of each query, graded or not."""
        return Counter(query_id for query_id, _ in self.pairs)

    def left(
        self, own: Mapping[Pair, CurrentJudgment], among: Collection[str] | None
    ) -> dict[str, int]:
        """Count the pairs of each query that are open to a grader with the judgments ``own``."""
        left: dict[str, int] = {}
        for pair in self.pairs:
            if among is None or pair[0] in among:
                left[pair[0]] = left.get(pair[0], 0) + self._pool.is_open(pair, own)
        return left

    def hint(self, pair: Pair, wording: str | None) -> Hint | None:
        """Return the hint on a pair if it is about the present text and shows any grade."""
        found = self._hints.get(pair)
        if found is None or found.wording != wording or not found.reveals_grades:
            return None
        return found

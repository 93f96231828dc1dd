"""One query in two runs of different chunkings: which of their chunks have text in common."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from labeler.evaluation import Scoreboard

LEAST = 0.1
"""The share of either text from which two chunks are said to have some in common."""


@dataclass(frozen=True, slots=True)
class SharedText:
    """A chunk of A's list and one of B's, at their ranks, with the share of each that both have."""

    chunk_a: int
    chunk_b: int
    rank_a: int
    rank_b: int
    of_a: float
    of_b: float

    @property
    def size(self) -> float:
        """How much the one is like the other: what both have, of the longer of them."""
        return min(self.of_a, self.of_b)


def shared_text(board: Scoreboard, a: str, b: str, query_id: str) -> list[SharedText] | None:
    """Return which chunks of two lists share text, by rank in A; None where ids tell it already.

    That is where both runs are of one chunking. What both share is `LEAST` of one of them at least,
    white space not counted. Raises `NotFound` for an unknown run or query.
    """
    board = board.snapshot()
    one, other = (board.chunking_of(run) for run in (a, b))
    if one == other:
        return None
    in_a, in_b = (board.chunks(run, query_id).tolist() for run in (a, b))
    found = [
        SharedText(in_a[at], in_b[beside], at + 1, beside + 1, of_a, of_b)
        for at, beside, of_a, of_b in board.overlaps(in_a, in_b)
    ]
    return [each for each in found if max(each.of_a, each.of_b) >= LEAST]


def partners(shared: Iterable[SharedText]) -> dict[int, int]:
    """Return of each chunk the rank of the one that it is most like in the other list."""
    best: dict[int, tuple[float, int]] = {}
    for each in shared:
        for chunk, rank in ((each.chunk_a, each.rank_b), (each.chunk_b, each.rank_a)):
            best[chunk] = max(best.get(chunk, (0.0, 0)), (each.size, -rank))
    return {chunk: -rank for chunk, (_, rank) in best.items()}


def shared_in_words(shared: Iterable[SharedText]) -> Mapping[int, str]:
    """Say of each chunk with which ones of the other list it shares text, and how much.

    >>> shared_in_words([SharedText(1, 2, 3, 1, 1.0, 0.62)])
    {1: 'B 1: 100% of it, 62% of that', 2: 'A 3: 62% of it, 100% of that'}
    """
    said: dict[int, list[str]] = {}
    for each in shared:
        in_b = f"B {each.rank_b}: {each.of_a:.0%} of it, {each.of_b:.0%} of that"
        in_a = f"A {each.rank_a}: {each.of_b:.0%} of it, {each.of_a:.0%} of that"
        said.setdefault(each.chunk_a, []).append(in_b)
        said.setdefault(each.chunk_b, []).append(in_a)
    return {chunk: "; ".join(words) for chunk, words in said.items()}

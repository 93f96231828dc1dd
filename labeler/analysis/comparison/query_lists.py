"""Ranked lists of one query beside each other: who stands where, and what that says in words."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from typing import Literal, NamedTuple

from labeler.analysis.comparison.deltas import TOLERANCE
from labeler.analysis.comparison.rank_changes import RankChange

USEFUL_DEPTH = 10  # ranks among which useful chunks are counted
RANK_WORDS = (
    *("", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth"),
    "tenth",
)

Ranks = Sequence[int | None]


class PlacedChunk(NamedTuple):
    """A chunk in one run's list: its rank there and in the other, None where it is not.

    ``term`` is what it adds to the query's value, None where that is not known.
    """

    change: RankChange
    rank: int | None
    other: int | None
    term: float | None


def place_chunks(
    changes: Iterable[RankChange],
    side: Literal["a", "b"],
    depth: int,
    useful: Collection[int] = (),
    *,
    apart: bool = False,
) -> tuple[list[PlacedChunk], list[PlacedChunk]]:
    """Return a list's chunks down to ``depth``, then those below that are shown all the same.

    Below are the chunks that the other list has down to ``depth``, those that this one lacks last,
    and what is ``useful`` or adds to the value from further down. Lists that are ``apart``, of two
    chunkings, share none.
    """
    top, below = [], []
    for change in changes:
        ranks = (change.rank_a, change.rank_b)
        terms = (change.term_a, change.term_b)
        rank, other = ranks if side == "a" else ranks[::-1]
        placed = PlacedChunk(change, rank, other, terms[side == "b"])
        if rank is not None and rank <= depth:
            top.append(placed)
        elif (other is not None and other <= depth and not apart) or (
            rank is not None and (placed.term or change.chunk in useful)
        ):
            below.append(placed)
    top.sort(key=lambda each: each.rank or 0)
    below.sort(key=lambda each: (each.rank or math.inf, each.other or math.inf))
    return top, below


def terms_sum_to(changes: Iterable[RankChange], side: Literal["a", "b"], value: float) -> bool:
    """Say whether what the chunks of a list add is the value, so that it can be shown by chunk."""
    terms = [change.term_a if side == "a" else change.term_b for change in changes]
    known = [term for term in terms if term is not None]
    return len(known) == len(terms) and abs(math.fsum(known) - value) <= TOLERANCE


def rank_in_words(rank: int) -> str:
    """Return a rank as a sentence has it.

    >>> rank_in_words(5), rank_in_words(13), rank_in_words(42)
    ('fifth', '13th', '42nd')
    """
    if rank < len(RANK_WORDS):
        return RANK_WORDS[rank]
    is_teen = rank % 100 in (11, 12, 13)
    return f"{rank:,}{'th' if is_teen else {1: 'st', 2: 'nd', 3: 'rd'}.get(rank % 10, 'th')}"


def describe_useful_ranks(useful: Sequence[tuple[str, Ranks]]) -> str:
    """Say where one or two runs rank the chunks that are useful; empty if none is known.

    ``useful`` has for each run what it is called and the rank of each useful chunk, None where the
    run does not return it.

    >>> describe_useful_ranks([("bm25", [1]), ("hybrid", [5])])
    'bm25 ranks the one useful chunk first, hybrid fifth.'
    >>> describe_useful_ranks([("bm25", [13]), ("hybrid", [None])])
    'hybrid does not return the one useful chunk, bm25 ranks it 13th.'
    >>> describe_useful_ranks([("bm25", [3, None]), ("hybrid", [2, 40])])
    'Both find 1 of 2 useful chunks in the top 10, hybrid higher.'
    >>> describe_useful_ranks([("hybrid", [None])]), describe_useful_ranks([("hybrid", [])])
    ('hybrid does not return the one useful chunk.', '')
    """
    known = len(useful[0][1])
    if not known:
        return ""
    if known == 1:
        return _describe_one_chunk([(name, ranks[0]) for name, ranks in useful])
    counts = [
        sum(rank is not None and rank <= USEFUL_DEPTH for rank in ranks) for _, ranks in useful
    ]
    of = f"of {known:,} useful chunks in the top {USEFUL_DEPTH}"
    names = [name for name, _ in useful]
    if len(useful) == 1:
        return f"{names[0]} finds {counts[0]:,} {of}."
    if counts[0] != counts[1]:
        return f"{names[1]} finds {counts[1]:,} {of}, {names[0]} {counts[0]:,}."
    if not counts[0]:
        return f"Neither run has one of the {known:,} useful chunks in its top {USEFUL_DEPTH}."
    first_of_a, first_of_b = (min(filter(None, ranks)) for _, ranks in useful)
    higher = f", {names[first_of_b < first_of_a]} higher" if first_of_a != first_of_b else ""
    return f"Both find {counts[0]:,} {of}{higher}."


def _describe_one_chunk(ranks: Sequence[tuple[str, int | None]]) -> str:
    """Say where each run ranks the one useful chunk."""
    there = [(name, rank_in_words(rank)) for name, rank in ranks if rank is not None]
    missing = [name for name, rank in ranks if rank is None]
    if not there:
        if len(missing) > 1:
            return "Neither run returns the one useful chunk."
        return f"{missing[0]} does not return the one useful chunk."
    [name, said] = there[0]
    if missing:
        return f"{missing[0]} does not return the one useful chunk, {name} ranks it {said}."
    if len(there) == 1:
        return f"{name} ranks the one useful chunk {said}."
    if said == there[1][1]:
        return f"Both rank the one useful chunk {said}."
    return f"{name} ranks the one useful chunk {said}, {there[1][0]} {there[1][1]}."

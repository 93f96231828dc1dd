"""The order of texts that overlap, found by what each ends with; knows nothing of chunks."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence

LEAST_OVERLAP = 16
MOSTLY = 0.25  # of all texts go on in another where the chunker made them overlap; fewer are chance
_IN_ORDER = 0.95
_ASKED = 200  # texts that say whether it is so


def overlap_of(one: str, other: str) -> int:
    """Return how many characters, short of all, the one ends with and the other begins with.

    >>> overlap_of("All men are created equal, by law,", "created equal, by law, and in dignity.")
    22
    """
    head = other[:LEAST_OVERLAP]
    if len(head) < LEAST_OVERLAP:
        return 0
    at = one.find(head, max(0, len(one) - len(other) + 1))
    while at >= 0:
        if other.startswith(one[at:]):
            return len(one) - at
        at = one.find(head, at + 1)
    return 0


def order_of(texts: Sequence[str]) -> list[int]:
    """Return in which order texts go on in each other, by their numbers.

    They stay as they are given where most neighbours overlap already, or hardly any text goes on.

    >>> order_of(["and by the law of the land it is", "All are equal and by the law of the land"])
    [1, 0]
    """
    given = list(range(len(texts)))
    if _share(bool(overlap_of(*pair)) for pair in itertools.pairwise(texts)) >= _IN_ORDER:
        return given
    heads = {text[:LEAST_OVERLAP]: number for number, text in enumerate(texts)}
    step = max(1, len(texts) // _ASKED)
    if _share(_next(texts, number, heads) is not None for number in given[::step]) < MOSTLY:
        return given
    follows: dict[int, int] = {}
    led: set[int] = set()
    for number in given:
        after = _next(texts, number, heads)
        if after is not None and after not in led:
            follows[number] = after
            led.add(after)
    ordered: dict[int, None] = {}
    for number in [*(each for each in given if each not in led), *given]:
        at: int | None = number
        while at is not None and at not in ordered:
            ordered[at] = None
            at = follows.get(at)
    return list(ordered)


def _share(votes: Iterable[bool]) -> float:
    said = list(votes)
    return sum(said) / max(1, len(said))


def _next(texts: Sequence[str], number: int, heads: Mapping[str, int]) -> int | None:
    """Return the text that begins with most of what one ends with."""
    text = texts[number]
    for at in range(1, len(text) - LEAST_OVERLAP + 1):
        other = heads.get(text[at : at + LEAST_OVERLAP])
        if other is not None and other != number and texts[other].startswith(text[at:]):
            return other
    return None

"""Near-duplicate detection: texts that share most of their word 3-shingles."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable

SHINGLE_WORDS = 3
NEAR_DUPLICATE_SHARE = 0.8


def first_near_duplicates(texts: Iterable[str | None]) -> list[int | None]:
    """Return for each text the index of the first one it nearly repeats, None for a new text.

    Two texts are near-duplicates if they share at least four fifths of all their runs of three
    words (Jaccard similarity of word 3-shingles >= 0.8); case and punctuation do not count. None
    and texts without words are never near-duplicates.

    >>> first_near_duplicates(["Three days.", "Four days", "three days", None])
    [None, None, 0, None]
    """
    sizes: dict[int, int] = {}
    holders: dict[tuple[str, ...], list[int]] = defaultdict(list)
    alike: list[int | None] = []
    for index, text in enumerate(texts):
        shingles = word_shingles(text or "")
        common = Counter(at for shingle in shingles for at in holders.get(shingle, ()))
        near = (at for at in common if is_near_duplicate(len(shingles), sizes[at], common[at]))
        first = min(near, default=None)
        alike.append(first)
        if first is None:
            sizes[index] = len(shingles)
            for shingle in shingles:
                holders[shingle].append(index)
    return alike


def word_shingles(text: str) -> frozenset[tuple[str, ...]]:
    """Return all runs of three words; a shorter text is one run of all its words."""
    words = re.findall(r"\w+", text.lower())
    size = min(SHINGLE_WORDS, len(words))
    return frozenset(tuple(words[at : at + size]) for at in range(len(words) - size + 1) if size)


def is_near_duplicate(one: int, other: int, common: int) -> bool:
    """Return whether texts with so many shingles each, and so many in common, are near-duplicates.

    >>> is_near_duplicate(10, 10, 9)
    True
    """
    return common >= NEAR_DUPLICATE_SHARE * (one + other - common)

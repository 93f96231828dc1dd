"""The order of the buckets of a facet, the same on every page and in every file."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

BUCKET_SCALES = (
    ("single", "research", "compliance", "longtail"),
    ("trivial", "very easy", "easy", "medium", "moderate", "hard", "difficult", "very hard"),
    ("very low", "low", "medium", "moderate", "normal", "high", "very high", "critical"),
    ("very short", "short", "medium", "long", "very long"),
    ("tiny", "very small", "small", "medium", "large", "very large", "huge"),
    ("never", "rarely", "sometimes", "often", "always"),
    ("rare", "uncommon", "common", "frequent", "very frequent"),
    ("tail", "torso", "head"),
    ("beginner", "novice", "intermediate", "advanced", "expert"),
    ("none", "few", "some", "many", "most", "all"),
    ("first", "second", "third", "fourth", "fifth"),
    ("no", "maybe", "yes"),
    ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
)
"""Bucket names in their natural order; case does not matter."""
FEW_BUCKETS = 8
"""Up to this many buckets keep the order of the queries; more are sorted by size."""


def order_buckets(queries_in: Mapping[str, int]) -> tuple[str, ...]:
    """Return buckets in the order a reader expects.

    ``queries_in`` counts the queries of each bucket, in the order in which queries first name them.
    Numbers are sorted by value, words of one of `BUCKET_SCALES` in its order. Others keep their
    order or, if there are more than `FEW_BUCKETS`, the one with the most queries comes first.

    >>> order_buckets({"hard": 3, "easy": 9, "Medium": 5})
    ('easy', 'Medium', 'hard')
    >>> order_buckets({"10": 1, "9": 4}), order_buckets({"setup": 1, "refund": 7})
    (('9', '10'), ('setup', 'refund'))
    """
    names = list(queries_in)
    positions = _scale_positions(names) or _numeric_positions(names)
    if positions is None:
        positions = (
            [0.0] * len(names)
            if len(names) <= FEW_BUCKETS
            else [-queries_in[name] for name in names]
        )
    pairs = sorted(zip(positions, names, strict=True), key=lambda pair: pair[0])
    return tuple(name for _, name in pairs)


def count_buckets(given: Iterable[str | None]) -> dict[str, int]:
    """Count queries by bucket, in order of first appearance; ``given`` has one bucket per query."""
    counts: dict[str, int] = {}
    for bucket in given:
        if bucket is not None:
            counts[bucket] = counts.get(bucket, 0) + 1
    return counts


def _scale_positions(names: Sequence[str]) -> list[float] | None:
    words = [name.strip().casefold() for name in names]
    for scale in BUCKET_SCALES:
        if set(words) <= set(scale):
            return [float(scale.index(word)) for word in words]
    return None


def _numeric_positions(names: Sequence[str]) -> list[float] | None:
    try:
        numbers = [float(name) for name in names]
    except ValueError:
        return None
    return numbers if all(map(math.isfinite, numbers)) else None

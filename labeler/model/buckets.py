"""The order of the buckets of a facet, the same on every page and in every file."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from labeler.model.records import TASKS

BUCKET_SCALES = (
    TASKS,
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
"""Words that have an order of their own, whatever their case."""
FEW_BUCKETS = 8
"""So many buckets keep the order in which the queries name them; more of them stand by size."""


def order_buckets(queries_in: Mapping[str, int]) -> tuple[str, ...]:
    """Return buckets in the order a reader expects.

    ``queries_in`` has each bucket in the order in which the queries first name it, with how many
    do. Numbers stand by size, words of one of `BUCKET_SCALES` by its order; any others as the
    queries name them first, or where they are more than `FEW_BUCKETS` the one with the most queries
    first.

    >>> order_buckets({"hard": 3, "easy": 9, "Medium": 5})
    ('easy', 'Medium', 'hard')
    >>> order_buckets({"10": 1, "9": 4}), order_buckets({"setup": 1, "refund": 7})
    (('9', '10'), ('setup', 'refund'))
    """
    names = list(queries_in)
    places = _scale_positions(names) or _numeric_positions(names)
    if places is None:
        places = (
            [0.0] * len(names)
            if len(names) <= FEW_BUCKETS
            else [-queries_in[name] for name in names]
        )
    return tuple(name for _, name in sorted(zip(places, names, strict=True), key=lambda at: at[0]))


def count_buckets(given: Iterable[str | None]) -> dict[str, int]:
    """Count the queries of each bucket, given query by query, in the order they are first named."""
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

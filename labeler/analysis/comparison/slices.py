"""Which buckets are looked at first: the worst ones, before those of too few queries to tell."""

from __future__ import annotations

import math
from collections.abc import Iterable

from labeler.analysis.comparison.deltas import Comparison
from labeler.evaluation import Score


def worst_first(comparison: Comparison, least: int) -> list[str]:
    """Return the buckets by how far B is below A by the first measure, the farthest first.

    Those of fewer than ``least`` queries come after all others, those without a value last. Equal
    ones keep the order of the facet.
    """
    first = comparison.measures[0]
    rows = [(row.bucket, row.n, row.delta) for row in comparison.buckets if row.measure == first]
    return _worst(rows, least)


def lowest_first(scores: Iterable[Score], least: int) -> list[str]:
    """Return the buckets of one run by their value, the lowest first; otherwise `worst_first`.

    ``scores`` are those of one measure.
    """
    return _worst([(row.bucket, row.n, row.value) for row in scores], least)


def _worst(rows: Iterable[tuple[str | None, int, float]], least: int) -> list[str]:
    def place(row: tuple[str | None, int, float]) -> tuple[bool, bool, float]:
        _, n, value = row
        undefined = math.isnan(value)
        return undefined, n < least, 0.0 if undefined else value

    return [str(bucket) for bucket, _, _ in sorted(rows, key=place)]

"""The order that values put runs in, and how far two such orders agree; knows values alone."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from labeler.measures import Floats

SAME = 1e-12
"""Values nearer than this are equal: they differ by the order of adding."""


def ranks(values: Sequence[float]) -> list[int | None]:
    """Return each value's rank: 1 plus how many are higher; None for NaN.

    >>> ranks([0.5, math.nan, 0.7, 0.5])
    [2, None, 1, 2]
    """
    found = np.array(values, dtype=np.float64)
    higher = (found[:, np.newaxis] < found - SAME).sum(axis=1)
    return [
        None if math.isnan(value) else 1 + above
        for value, above in zip(found.tolist(), higher.tolist(), strict=True)
    ]


def equal_ones(names: Sequence[str], values: Sequence[float]) -> tuple[tuple[str, ...], ...]:
    """Return the names that share a rank, each group of them once.

    >>> equal_ones("abcd", [0.5, math.nan, 0.7, 0.5])
    (('a', 'd'),)
    """
    groups: dict[int, list[str]] = {}
    for name, rank in zip(names, ranks(values), strict=True):
        if rank is not None:
            groups.setdefault(rank, []).append(name)
    return tuple(tuple(group) for group in groups.values() if len(group) > 1)


def kendall_tau(one: Sequence[float], other: Sequence[float]) -> tuple[float, str | None]:
    """Return Kendall's tau-b of two orders of the same things, or NaN and why there is none.

    What has no value in one of them is left out. Pairs that are equal in one order agree in
    nothing and shorten the scale: 1 needs the same pairs to be equal in both.

    >>> kendall_tau([0.1, 0.2, 0.3], [0.1, 0.3, 0.2])[0].__round__(4)
    0.3333
    >>> kendall_tau([0.1, 0.1], [0.1, 0.3])
    (nan, 'all values of one order are equal')
    """
    both = np.array([one, other], dtype=np.float64)
    signs = [_signs(row) for row in both[:, ~np.isnan(both).any(axis=0)]]
    if not len(signs[0]):
        return math.nan, "fewer than two have a value in both orders"
    untied = [int(np.count_nonzero(row)) for row in signs]
    if not all(untied):
        return math.nan, "all values of one order are equal"
    return float(np.sum(signs[0] * signs[1]) / math.sqrt(math.prod(untied))), None


def _signs(values: Floats) -> Floats:
    """Say of each pair which is higher, 0 for equal ones."""
    first, second = np.triu_indices(len(values), 1)
    apart = values[first] - values[second]
    return np.where(np.abs(apart) <= SAME, 0.0, np.sign(apart))

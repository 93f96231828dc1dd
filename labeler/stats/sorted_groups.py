"""Sums and maxima within groups of entries that stand together: numbers in, numbers out."""

from __future__ import annotations

import numpy as np

from labeler.measures import Bools, Floats, Ints


def running(values: Floats | Ints | Bools, group: Ints) -> Floats:
    """Return the sum of each entry and those before it in its group; groups stand together.

    >>> running(np.array([1.0, 2.0, 4.0]), np.array([0, 0, 3])).tolist()
    [1.0, 3.0, 4.0]
    """
    sums = np.cumsum(values, dtype=np.float64)
    first = np.flatnonzero(np.diff(group, prepend=-1))
    before = np.concatenate([[0.0], sums])[first]
    found: Floats = sums - np.repeat(before, np.diff(first, append=len(group)))
    return found


def place_in(group: Ints) -> Ints:
    """Return the place of each entry in its group, from 1; groups stand together.

    >>> place_in(np.array([4, 4, 7])).tolist()
    [1, 2, 1]
    """
    first = np.flatnonzero(np.diff(group, prepend=-1))
    sizes = np.diff(first, append=len(group))
    places: Ints = np.arange(1, len(group) + 1) - np.repeat(first, sizes)
    return places


def total(values: Floats | Ints, group: Ints, size: int) -> Floats:
    """Return the sum of each group, (size,)."""
    return np.bincount(group, values, minlength=size).astype(np.float64)


def highest(values: Floats, group: Ints, size: int) -> tuple[Floats, Ints]:
    """Return the highest value of each group that stands together, and its entry, (size,).

    NaN is no value; a group without any has -inf and entry -1. Of equal ones the first is named.
    """
    best, at = np.full(size, -np.inf), np.full(size, -1)
    if len(values):
        found = np.where(np.isnan(values), -np.inf, values)
        first = np.flatnonzero(np.diff(group, prepend=-1))
        best[group[first]] = np.maximum.reduceat(found, first)
        equal = np.flatnonzero((found == best[group]) & (found > -np.inf))[::-1]
        at[group[equal]] = equal
    return best, at

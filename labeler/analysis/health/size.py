"""What so many queries are good for, by arithmetic; knows no query."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from labeler.stats import reach_of

USUAL_SPREAD = 0.25
"""How far differences of two runs by query are taken to spread where no runs tell."""
SURELY = 0.95
EACH = 5  # buckets that the largest mark is taken to have


class Mark(NamedTuple):
    """A size of golden sets, and what such a set is good for.

    A kind of failure that ``rarest`` of the questions show is met at least once with 95%. Two runs
    that truly differ by ``reach`` are told apart with 80% power at the 5% level.
    """

    queries: int
    rarest: float
    reach: float
    good_for: str


def rarest_seen(queries: int) -> float:
    """Return how rare a kind of failure can be and still be met at least once with 95%.

    From 1 − (1 − share)ⁿ = 0.95, which is near 3 / n.

    >>> [round(rarest_seen(n), 3) for n in (50, 200, 1000)]
    [0.058, 0.015, 0.003]
    """
    return 1 - (1 - SURELY) ** (1 / queries) if queries else math.nan


def marks(spread: float) -> tuple[Mark, ...]:
    """Return the three marks; ``spread`` is how far differences by query spread.

    >>> [round(mark.reach, 2) for mark in marks(USUAL_SPREAD)]
    [0.1, 0.05, 0.02]
    """
    words = (
        (50, "to look at failures one by one; runs are told apart only where they differ much"),
        (200, "to tell two runs apart over all queries"),
        (1000, f"for buckets: each of {EACH} equal ones tells runs apart as 200 queries do"),
    )
    return tuple(mark_of(queries, spread, said) for queries, said in words)


def mark_of(queries: int, spread: float, good_for: str = "") -> Mark:
    """Return what so many queries are good for."""
    return Mark(queries, rarest_seen(queries), reach_of(spread, queries), good_for)


def spread_of(values: npt.NDArray[np.float64]) -> tuple[float, int] | None:
    """Return how far the differences of two runs spread, and of how many pairs it is the median.

    ``values`` (queries, runs) are NaN where there is none. None where no two runs differ on two
    queries or more.

    >>> spread_of(np.array([[0.0, 0.1], [0.0, 0.3], [0.5, 0.5]]))[1]
    1
    """
    known = values[:, ~np.isnan(values).all(axis=0)]
    known = known[~np.isnan(known).any(axis=1)]
    if len(known) < 2:
        return None
    covered = np.atleast_2d(np.cov(known, rowvar=False))
    own = np.diag(covered)
    squares = (own[:, np.newaxis] + own - 2 * covered)[np.triu_indices(len(own), 1)]
    moved = squares[squares > 1e-12]
    return (float(np.median(np.sqrt(moved))), len(moved)) if len(moved) else None

"""Measures of a reader who goes down the list and may stop at any chunk: RBP and ERR."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from labeler.measures.hits import WHOLE_LIST, Floats, Hits, Ints


@lru_cache(maxsize=64)
def _powers(base: float, size: int) -> Floats:
    """Return ``base`` to the power of 0, 1, 2 and so on.

    By scalar powers: vector units may round the tail of an array differently.
    """
    return np.array([base**exponent for exponent in range(size)])


def _power(base: float, exponents: Ints) -> Floats:
    powers: Floats = _powers(base, 1 << int(exponents.max(initial=0)).bit_length())[exponents]
    return powers


def reached(hits: Hits, p: float) -> Floats:
    """Return the weight RBP gives to the rank of each hit.

    >>> reached(Hits.of([[3, None, 0]]), 0.5).tolist()
    [0.5, 0.125]
    """
    return (1 - p) * _power(p, hits.rank - 1)


def rank_biased_precision(hits: Hits, k: int | Ints = WHOLE_LIST, *, rel: int, p: float) -> Floats:
    """Expected share of relevant chunks for a reader who goes on to the next with chance ``p``.

    Of a list with n relevant chunks and no others the value is 1 - p**n, not 1: a short list
    cannot be perfect.

    >>> rank_biased_precision(Hits.of([[1, 0, 1]]), rel=1, p=0.5).tolist()
    [0.625]
    """
    relevant = hits.relevant(rel).top(k)
    values = relevant.sums(reached(relevant, p), k)
    # The weights add up to 1 only without rounding: a last bit too many is taken off.
    return np.where(hits.wanted(rel) > 0, np.minimum(values, 1.0), np.nan)


def rbp_residual(hits: Hits, k: int | Ints = WHOLE_LIST, *, p: float) -> Floats:
    """How much RBP could rise if everything that nobody graded were relevant, from 0 to 1.

    That is the weight of the ungraded chunks in the top ``k`` and, as Moffat and Zobel define it,
    of all ranks below ``k`` or below the end of the list: the RBP of an endless list lies between
    the value and the value plus this. It needs no threshold, and is defined for every row.

    >>> rbp_residual(Hits.of([[3, None, 0], []]), p=0.5).tolist()
    [0.375, 1.0]
    """
    return np.maximum(1 - hits.sums(reached(hits, p), k), 0.0)


def stopped(hits: Hits, max_grade: int) -> Floats:
    """Return, divided by its rank, the chance that a reader stops at each hit.

    The reader is satisfied by a chunk with the chance (2^grade - 1) / 2^max, else reads on.

    >>> stopped(Hits.of([[3, None, 3]]), 3).tolist()
    [0.875, 0.036458333333333336]
    """
    satisfied = np.array([math.ldexp(2**grade - 1, -max_grade) for grade in range(4)])
    chances = satisfied[hits.grade]
    first = np.arange(len(hits.row)) - hits.ordinal + 1
    for grade in (1, 2, 3):
        seen = np.cumsum(hits.grade == grade) - (hits.grade == grade)
        chances *= _power(1 - satisfied[grade], seen - seen[first])
    return chances / hits.rank


def expected_reciprocal_rank(hits: Hits, k: int | Ints = WHOLE_LIST, *, max: int) -> Floats:
    """1 / rank at which a reader stops, expected; a better grade stops more readers.

    ``max`` is the highest grade of the scale: with 4, as in gdeval, grade 3 stops fewer readers
    than with 3, so that the same list has about half the value.

    >>> expected_reciprocal_rank(Hits.of([[0, 3]]), max=3).tolist()
    [0.4375]
    >>> expected_reciprocal_rank(Hits.of([[0, 3]]), max=4).tolist()
    [0.21875]
    """
    graded = hits.relevant(1).top(k)
    return np.where(hits.wanted(1) > 0, graded.sums(stopped(graded, max), k), np.nan)

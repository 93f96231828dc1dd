"""Quantiles of Student's t distribution, for any number of degrees of freedom above 0."""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist

MOST_STEPS = 500
CLOSE_ENOUGH = 1e-13
LIKE_NORMAL = 1e8  # degrees of freedom from which on t is the normal distribution to 8 digits
_TINY = 1e-300


@lru_cache(maxsize=4096)
def student_t_quantile(tail: float, freedom: float) -> float:
    """Return the value that Student's t exceeds with the chance ``tail``, at most one half.

    Newton's method starts at the normal quantile, which is smaller; the tail is convex, so each
    step stays below the quantile and nears it.

    >>> round(student_t_quantile(0.025, 9), 4), round(student_t_quantile(0.05, 30), 4)
    (2.2622, 1.6973)
    """
    if not 0 < tail <= 0.5 or not freedom > 0:
        raise ValueError(f"no t quantile for a tail of {tail} and {freedom} degrees of freedom")
    found = -NormalDist().inv_cdf(tail)
    if freedom > LIKE_NORMAL:
        return found
    scale = math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)
    scale -= 0.5 * math.log(freedom * math.pi)
    for _ in range(MOST_STEPS):
        density = math.exp(scale - (freedom + 1) / 2 * math.log1p(found * found / freedom))
        step = (_upper_tail(found, freedom) - tail) / density
        found += step
        if abs(step) <= CLOSE_ENOUGH * (1 + found):
            break
    return found


def _upper_tail(t: float, freedom: float) -> float:
    """Return the chance of more than ``t``, at least 0: half a regularised incomplete beta."""
    square = t * t
    return _incomplete_beta(freedom / (freedom + square), freedom / 2, 0.5) / 2


def _incomplete_beta(x: float, a: float, b: float) -> float:
    """Return I_x(a, b) by its continued fraction (DLMF 8.17.22), with Lentz's method."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - _incomplete_beta(1 - x, b, a)
    front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    front = math.exp(front + a * math.log(x) + b * math.log1p(-x)) / a
    c, d = 1.0, 1 / _apart_from_0(1 - (a + b) * x / (a + 1))
    found = d
    for m in range(1, MOST_STEPS):
        before = found
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1 / _apart_from_0(1 + term * d)
            c = _apart_from_0(1 + term / c)
            found *= c * d
        if abs(found - before) <= CLOSE_ENOUGH / 100 * abs(found):
            break
    return front * found


def _apart_from_0(value: float) -> float:
    return value if abs(value) > _TINY else _TINY

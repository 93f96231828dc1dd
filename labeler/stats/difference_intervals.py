"""Confidence intervals of mean paired differences, which agree with the sign-flip test.

An interval is Student's t, and its ends yield to the test: 0 is inside exactly where the test, at
the same level and with the same correction, finds nothing. Few differing queries have no interval,
or Tango's score interval where a measure is 0 or 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np

from labeler.measures import Floats
from labeler.stats.confidence_intervals import (
    ConfidenceInterval,
    T,
    as_equal_weights,
    count_effective,
    no_interval,
    t_half_width,
)
from labeler.stats.paired_tests import ALPHA, EQUAL_WITHIN

FEWEST_QUERIES = 10
"""The fewest queries for an interval of a difference, or for calling it more than chance."""

FEWEST_DIFFERING = 6
"""The fewest differing queries for a t interval; with fewer, no two-sided sign-flip test can reach
p = 0.05: the smallest p-value of five is 2 / 2**5."""

TANGO = "Tango"
_HALVINGS = 60  # of the search for an end of Tango's interval: to 1e-18


def difference_intervals(
    samples: Sequence[Floats],
    weights: Sequence[Floats],
    p_values: Sequence[float],
    *,
    tests: Sequence[int],
    zero_or_one: Sequence[bool],
    alpha: float = ALPHA,
) -> list[ConfidenceInterval]:
    """Return the interval of each sample's mean paired difference.

    ``p_values`` are the uncorrected two-sided p-values of the sign-flip test, and ``tests`` is how
    many tests each is corrected for, in one step (Bonferroni): an interval has the level
    1 - alpha / tests. Where the corrected p-value is above ``alpha``, 0 is inside: an end that
    misses it is moved to it. Else 0 is outside: an end beyond it stops at the smallest number
    on the side of the mean, so that `ConfidenceInterval.excludes_zero` agrees with the test.

    With fewer than `FEWEST_QUERIES` queries, or fewer than `FEWEST_DIFFERING` that differ, there is
    no interval, and ``reason`` says so. From ten queries on, differences of a 0/1 measure
    (``zero_or_one``) then have Tango's (1998) score interval. Weighted queries count as their
    effective number. Samples must not hold NaN.

    >>> sample = np.array([0.3, 0.1, 0.2, 0.4, -0.1, 0.2, 0.1, 0.3, 0.0, 0.0])
    >>> [found] = difference_intervals([sample], [np.ones(10)], [0.0234], tests=[1],
    ...     zero_or_one=[False])
    >>> round(found.lo, 4), round(found.hi, 4), found.method, found.excludes_zero
    (0.0369, 0.2631, 't', True)
    >>> [found] = difference_intervals([sample[5:]], [np.ones(5)], [0.25], tests=[1],
    ...     zero_or_one=[False])
    >>> found.reason
    'fewer than 10 queries: too few for an interval'
    """
    rows = zip(samples, weights, p_values, tests, zero_or_one, strict=True)
    return [
        _one_interval(sample, weight, min(1.0, count * p) <= alpha, alpha / count, is_binary)
        for sample, weight, p, count, is_binary in rows
    ]


def count_differing(sample: Floats) -> int:
    """Count the differences that are more than rounding error.

    >>> count_differing(np.array([0.0, 1e-17, 0.25, -0.25]))
    2
    """
    return int(np.sum(np.abs(sample) > EQUAL_WITHIN))


def _one_interval(
    sample: Floats, weights: Floats, is_found: bool, alpha: float, is_binary: bool
) -> ConfidenceInterval:
    n, differing = len(sample), count_differing(sample)
    if n < FEWEST_QUERIES:
        return no_interval(f"fewer than {FEWEST_QUERIES} queries: too few for an interval")
    if not differing:
        return no_interval("no query differs")
    counted = count_effective(weights)
    if counted < FEWEST_QUERIES:
        return no_interval(
            f"by their weights {n:,} queries tell as much as {counted:.1f}: too few for an interval"
        )
    is_alike = bool(np.ptp(sample) <= EQUAL_WITHIN)
    if differing < FEWEST_DIFFERING or is_alike:
        if counted == n and (is_binary or (is_alike and abs(sample[0]) == 1)):
            better, worse = int(np.sum(sample > 0.5)), int(np.sum(sample < -0.5))
            return _yield_to_test(tango_interval(better, worse, n, alpha), sample.mean(), is_found)
        if is_alike:
            return no_interval(f"all {n:,} queries differ by the same: no spread to tell from")
        return no_interval(f"{differing} of {n:,} queries differ: too few for an interval")
    even = as_equal_weights(sample, weights)
    mean = float(even.mean())
    half = t_half_width(even, weights, alpha / 2)
    ends = (mean - half, mean + half)
    if np.abs(sample).max() <= 1:
        ends = (max(-1.0, ends[0]), min(1.0, ends[1]))
    return _yield_to_test(ConfidenceInterval(*ends, T), mean, is_found)


def _yield_to_test(found: ConfidenceInterval, mean: float, is_found: bool) -> ConfidenceInterval:
    """Move an end to, or away from, 0 where the interval disagrees with the test."""
    if not is_found:
        return found._replace(lo=min(found.lo, 0.0), hi=max(found.hi, 0.0))
    if mean > 0:
        return found._replace(lo=max(found.lo, math.nextafter(0, 1)))
    return found._replace(hi=min(found.hi, math.nextafter(0, -1)))


def tango_interval(better: int, worse: int, n: int, alpha: float = 0.05) -> ConfidenceInterval:
    """Return Tango's (1998) score interval of the difference of two paired shares.

    ``better`` of ``n`` pairs are 1 in the second and 0 in the first, ``worse`` the other way round.

    >>> found = tango_interval(1, 7, 21)
    >>> round(found.lo, 3), round(found.hi, 3)
    (-0.517, -0.026)
    """
    z2 = NormalDist().inv_cdf(1 - alpha / 2) ** 2
    seen = (better - worse) / n

    def is_inside(delta: float) -> bool:
        a, b = 2 * n, (2 * n - better + worse) * delta - better - worse
        share = (math.sqrt(b * b + 4 * a * worse * delta * (1 - delta)) - b) / (2 * a)
        return n * (seen - delta) ** 2 <= z2 * (2 * share + delta * (1 - delta))

    ends = []
    for end in (-1.0, 1.0):
        inside, outside = seen, end
        for _ in range(_HALVINGS):
            middle = (inside + outside) / 2
            if is_inside(middle):
                inside = middle
            else:
                outside = middle
        ends.append(inside)
    return ConfidenceInterval(ends[0], ends[1], TANGO)

"""Tests of paired differences: permutation test, power, and Holm's correction for many tests.

The permutation test flips the signs of queries' differences and counts how often the mean is at
least as large as the observed one. Power uses the normal approximation, which is slightly
optimistic for few queries.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from labeler.measures import Floats
from labeler.stats.draws import (
    DRAWS,
    group_by_length,
    in_whole_steps,
    multiply_in_parts,
    sign_bits,
    sign_flips,
)

SMALLEST_P = 1 / (DRAWS + 1)  # that a sampled test can give

EXACT = 16
"""Up to this many differences other than 0, all sign flips are counted."""

EQUAL_WITHIN = 1e-12
"""A draw that is smaller than the observed mean by no more than this counts as equal."""


class PValue(NamedTuple):
    """A two-sided p-value; ``exact`` where all flips were counted, NaN where not tested."""

    p: float
    exact: bool


NOT_TESTED = PValue(math.nan, False)


def p_values(samples: Sequence[Floats], draws: int = DRAWS) -> list[PValue]:
    """Return the two-sided p-value of each sample of paired differences.

    The randomisation test of Fisher (1935): if A and B are equally good, each query's difference
    could as well have the other sign. With up to `EXACT` differences other than 0, the p-value is a
    share of all flips; else it is (b + 1) / (B + 1), for B seeded draws of which b are as large. A
    sample of fewer than two queries is not tested. Samples must not hold NaN.

    >>> p_values([np.array([0.1, 0.3, 0.2]), np.array([0.0, 0.0]), np.array([0.5])])
    [PValue(p=0.25, exact=True), PValue(p=1.0, exact=True), PValue(p=nan, exact=False)]
    """
    found = [NOT_TESTED] * len(samples)
    many = []
    for at, sample in enumerate(samples):
        moved = sample[sample != 0]
        if len(sample) >= 2 and len(moved) <= EXACT:
            found[at] = PValue(_exact_p_value(moved, len(sample)), True)
        elif len(sample) >= 2:
            many.append(at)
    for at, p in zip(many, _sampled_p_values([samples[at] for at in many], draws), strict=True):
        found[at] = PValue(p, False)
    return found


def _exact_p_value(moved: Floats, n: int) -> float:
    """Count all flips of the differences; by symmetry, the first may keep its sign."""
    if not len(moved):
        return 1.0
    [whole], [step] = in_whole_steps(moved[np.newaxis])
    sums = whole[:1]
    for each in whole[1:].tolist():
        sums = np.concatenate([sums + each, sums - each])
    return float(np.mean(np.abs(sums) >= _threshold(whole.sum(), step, n)))


def _sampled_p_values(samples: Sequence[Floats], draws: int) -> list[float]:
    """Draw flips once and count them for all samples; shorter samples use the first rows."""
    parts = group_by_length(samples)
    whole, bars, counts = {}, {}, np.zeros(len(samples))
    for n, places in parts.items():
        whole[n], step = in_whole_steps(np.stack([samples[at] for at in places]))
        bars[n] = _threshold(whole[n].sum(axis=1), step, n)[:, np.newaxis]
    for flips in sign_flips(sign_bits(max(parts, default=0), draws), draws):
        for n, places in parts.items():
            flipped = multiply_in_parts(whole[n], flips[:n])
            sums = whole[n].sum(axis=1)[:, np.newaxis] - 2.0 * flipped
            counts[places] += np.sum(np.abs(sums) >= bars[n], axis=1)
    found: list[float] = ((counts + 1) / (draws + 1)).tolist()
    return found


def _threshold(total: Floats | float, step: Floats | float, n: int) -> Floats:
    """Return the smallest sum, in steps, that counts as large as the observed one."""
    bar: Floats = np.abs(total) - EQUAL_WITHIN * n / step
    return bar


def resolve_p_value(found: PValue, sample: Floats) -> float:
    """Return a p-value that may be smaller than draws can show, for corrections over many tests.

    No larger share of all flips than 2 exp(-t²/2) is as extreme, where t is the sum of the
    differences divided by the root of the sum of their squares (Hoeffding, 1963). It takes the
    place of a drawn p-value where it is below the smallest that draws can give.

    >>> sample = np.array([0.5] * 40)
    >>> [found] = p_values([sample])
    >>> round(found.p, 6), round(resolve_p_value(found, sample) * 1e9, 2)
    (0.0001, 4.12)
    """
    squares = float(np.sum(sample * sample))
    if found.exact or not squares:
        return found.p
    bound = 2 * math.exp(-(float(sample.sum()) ** 2) / (2 * squares))
    return bound if bound < SMALLEST_P else found.p


ALPHA, POWER = 0.05, 0.80
_SUM_OF_Z = NormalDist().inv_cdf(1 - ALPHA / 2) + NormalDist().inv_cdf(POWER)


def detectable_difference(sample: Floats) -> float:
    """Return the smallest true mean difference that this many queries would detect.

    With 80% power at the 5% level, from the spread of the differences. NaN for fewer than two
    queries, and where all differences are equal: then their spread is unknown.

    >>> round(detectable_difference(np.array([0.1, -0.1] * 50)), 4)
    0.0282
    """
    spread = _spread(sample)
    return detectable_with_spread(spread, len(sample)) if spread else math.nan


def detectable_with_spread(spread: float, queries: int) -> float:
    """Return the detectable difference for a standard deviation of the differences.

    >>> round(detectable_with_spread(0.25, 200), 4)
    0.0495
    """
    return _SUM_OF_Z * spread / math.sqrt(queries) if queries else math.nan


def queries_needed(sample: Floats) -> int | None:
    """Return how many more queries it takes to detect the observed difference, if it is true.

    With 80% power at the 5% level; 0 where there are enough. None where the spread or the
    difference is 0.

    >>> queries_needed(np.array([0.1, -0.1, 0.1, 0.1] * 10)), queries_needed(np.array([1.0, -1.0]))
    (0, None)
    """
    spread, mean = _spread(sample), float(sample.mean()) if len(sample) else 0.0
    if not spread or abs(mean) < 1e-12:
        return None
    return max(0, math.ceil((_SUM_OF_Z * spread / mean) ** 2) - len(sample))


def _spread(sample: Floats) -> float:
    """Return the standard deviation, 0 where it is only rounding error or not defined."""
    if len(sample) < 2 or np.ptp(sample) <= 1e-12:
        return 0.0
    return float(np.std(sample, ddof=1))


def holm(p_values: Sequence[float] | Floats) -> Floats:
    """Return p-values corrected for their number; NaN stays NaN and does not count.

    Holm (1979), A simple sequentially rejective multiple test procedure.

    >>> holm([0.04, 0.01, np.nan, 0.03]).round(4).tolist()
    [0.06, 0.03, nan, 0.06]
    """
    found = np.array(p_values, dtype=np.float64)
    known = np.flatnonzero(~np.isnan(found))
    order = known[np.argsort(found[known], kind="stable")]
    stepped = np.minimum(found[order] * np.arange(len(order), 0, -1), 1.0)
    found[order] = np.maximum.accumulate(stepped)
    return found

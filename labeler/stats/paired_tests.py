"""Tests of paired differences: permutation test, power, and Holm's correction for many tests.

The permutation test flips the sign of each query's difference and counts how often the mean is as
large as the observed one. Power uses the normal approximation, which is a little hopeful for few
queries.
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

EXACT = 16
"""Up to as many differences that are not 0, all ways of flipping them are counted."""

EQUAL_WITHIN = 1e-12
"""A draw that falls short of the observed mean by no more than this is as large."""


class PValue(NamedTuple):
    """A two-sided p-value; ``exact`` where all flips were counted, NaN where nothing was."""

    p: float
    exact: bool


NOT_TESTED = PValue(math.nan, False)


def p_values(samples: Sequence[Floats], draws: int = DRAWS) -> list[PValue]:
    """Return for each sample the chance that its mean is at least as far from 0 if signs are moot.

    The randomisation test of Fisher (1935): if A and B are alike, each query's difference could as
    well have had the other sign. Up to `EXACT` differences that are not 0, the p-value is the share
    of all flips; else it is (b + 1) / (B + 1), of B seeded draws of which b are as large. A sample
    of fewer than two queries is not tested. Samples hold no NaN.

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
    """Count all flips of the differences; the first keeps its sign, as its mirror counts alike."""
    if not len(moved):
        return 1.0
    [whole], [step] = in_whole_steps(moved[np.newaxis])
    sums = whole[:1]
    for each in whole[1:].tolist():
        sums = np.concatenate([sums + each, sums - each])
    return float(np.mean(np.abs(sums) >= _threshold(whole.sum(), step, n)))


def _sampled_p_values(samples: Sequence[Floats], draws: int) -> list[float]:
    """Draw flips once, and count them for all samples: those of fewer queries use the first."""
    parts = group_by_length(samples)
    whole, bars, counts = {}, {}, np.zeros(len(samples))
    for n, places in parts.items():
        whole[n], step = in_whole_steps(np.stack([samples[at] for at in places]))
        bars[n] = _threshold(whole[n].sum(axis=1), step, n)[:, np.newaxis]
    for turned in sign_flips(sign_bits(max(parts, default=0), draws), draws):
        for n, places in parts.items():
            sums = whole[n].sum(axis=1)[:, np.newaxis] - 2.0 * multiply_in_parts(
                whole[n], turned[:n]
            )
            counts[places] += np.sum(np.abs(sums) >= bars[n], axis=1)
    found: list[float] = ((counts + 1) / (draws + 1)).tolist()
    return found


def _threshold(total: Floats | float, step: Floats | float, n: int) -> Floats:
    """Return from which sum on a draw is as large as the observed one, in steps."""
    bar: Floats = np.abs(total) - EQUAL_WITHIN * n / step
    return bar


def smallest_p_value(draws: int = DRAWS) -> float:
    """Return the smallest p-value that a sampled test can give.

    >>> round(smallest_p_value(), 6)
    0.0001
    """
    return 1 / (draws + 1)


ALPHA, POWER = 0.05, 0.80
_SUM_OF_Z = NormalDist().inv_cdf(1 - ALPHA / 2) + NormalDist().inv_cdf(POWER)


def detectable_difference(sample: Floats) -> float:
    """Return the smallest true mean difference that so many queries would show.

    With 80% power at the 5% level, from the spread of the differences. NaN for fewer than two
    queries, and where all differ by the same: then nothing says how others would.

    >>> round(detectable_difference(np.array([0.1, -0.1] * 50)), 4)
    0.0282
    """
    spread = _spread(sample)
    return detectable_with_spread(spread, len(sample)) if spread else math.nan


def detectable_with_spread(spread: float, queries: int) -> float:
    """Return the same where differences have this standard deviation.

    >>> round(detectable_with_spread(0.25, 200), 4)
    0.0495
    """
    return _SUM_OF_Z * spread / math.sqrt(queries) if queries else math.nan


def queries_needed(sample: Floats) -> int | None:
    """Return how many more queries it takes to show the difference seen, if it were the true one.

    With 80% power at the 5% level; 0 where there are enough. None where there is no spread to go
    by, or no difference.

    >>> queries_needed(np.array([0.1, -0.1, 0.1, 0.1] * 10)), queries_needed(np.array([1.0, -1.0]))
    (0, None)
    """
    spread, mean = _spread(sample), float(sample.mean()) if len(sample) else 0.0
    if not spread or abs(mean) < 1e-12:
        return None
    return max(0, math.ceil((_SUM_OF_Z * spread / mean) ** 2) - len(sample))


def _spread(sample: Floats) -> float:
    """Return the standard deviation, 0 where it is nothing but rounding or not defined."""
    if len(sample) < 2 or np.ptp(sample) <= 1e-12:
        return 0.0
    return float(np.std(sample, ddof=1))


def holm(p_values: Sequence[float] | Floats) -> Floats:
    """Return p-values corrected for how many were looked at; NaN stays NaN and does not count.

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

"""Whether a mean difference is more than chance: flip each query's sign, and see how often it is
as large.

Knows no run and no measure: paired differences by query in, one p-value for each sample out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from labeler.measures import Floats
from labeler.stats.draws import DRAWS, by_length, flips, in_steps, product, sign_bits

EXACT = 16
"""Up to as many differences that are not 0, all ways of flipping them are counted."""

ALIKE = 1e-12
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
            found[at] = PValue(_exact(moved, len(sample)), True)
        elif len(sample) >= 2:
            many.append(at)
    for at, p in zip(many, _sampled([samples[at] for at in many], draws), strict=True):
        found[at] = PValue(p, False)
    return found


def _exact(moved: Floats, n: int) -> float:
    """Count all flips of the differences; the first keeps its sign, as its mirror counts alike."""
    if not len(moved):
        return 1.0
    [whole], [step] = in_steps(moved[np.newaxis])
    sums = whole[:1]
    for each in whole[1:].tolist():
        sums = np.concatenate([sums + each, sums - each])
    return float(np.mean(np.abs(sums) >= _bar(whole.sum(), step, n)))


def _sampled(samples: Sequence[Floats], draws: int) -> list[float]:
    """Draw flips once, and count them for all samples: those of fewer queries use the first."""
    parts = by_length(samples)
    whole, bars, counts = {}, {}, np.zeros(len(samples))
    for n, places in parts.items():
        whole[n], step = in_steps(np.stack([samples[at] for at in places]))
        bars[n] = _bar(whole[n].sum(axis=1), step, n)[:, np.newaxis]
    for turned in flips(sign_bits(max(parts, default=0), draws), draws):
        for n, places in parts.items():
            sums = whole[n].sum(axis=1)[:, np.newaxis] - 2.0 * product(whole[n], turned[:n])
            counts[places] += np.sum(np.abs(sums) >= bars[n], axis=1)
    found: list[float] = ((counts + 1) / (draws + 1)).tolist()
    return found


def _bar(total: Floats | float, step: Floats | float, n: int) -> Floats:
    """Return from which sum on a draw is as large as the observed one, in steps."""
    bar: Floats = np.abs(total) - ALIKE * n / step
    return bar


def smallest(draws: int = DRAWS) -> float:
    """Return the smallest p-value that a sampled test can give.

    >>> round(smallest(), 6)
    0.0001
    """
    return 1 / (draws + 1)

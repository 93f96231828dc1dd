"""Whether a difference of means is more than chance: a paired t-test and Holm's correction.

Knows no run and no measure: differences by query in, one p-value for each group of queries out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from labeler.measures import Bools, Floats, Ints

FEW = 10
"""A mean over fewer queries is never called more than chance: one query decides too much of it."""

LEVEL = 0.05

RULE = (
    f"more than chance: a paired t-test with p ≤ {LEVEL} after Holm's correction, over at least "
    f"{FEW} queries"
)


def t_test(delta: Floats, group: Ints, size: int) -> Floats:
    """Return the two-sided p-value that the mean difference of each group is 0, (size,).

    A NaN is left out, and so is a query whose group is ``size`` or more. Where all differences of a
    group are equal p is 0, and where all are 0 it is 1; of fewer than two it is NaN.

    >>> t_test(np.array([0.1, 0.3, 0.2, 0.0, 0.0]), np.array([0, 0, 0, 1, 1]), 3).round(4).tolist()
    [0.0742, 1.0, nan]
    """
    known = ~np.isnan(delta) & (group < size)
    delta, group = delta[known], group[known]
    n = np.bincount(group, minlength=size)
    mean = np.bincount(group, delta, minlength=size) / np.maximum(n, 1)
    spread = np.bincount(group, (delta - mean[group]) ** 2, minlength=size)
    rows = zip(n.tolist(), mean.tolist(), spread.tolist(), strict=True)
    return np.array([_of_one(*row) for row in rows], dtype=np.float64)


def _of_one(n: int, mean: float, spread: float) -> float:
    if n < 2:
        return math.nan
    if not mean:
        return 1.0
    error = math.sqrt(spread / (n - 1) / n)
    return two_sided(mean / error if error else math.inf, n - 1)


def two_sided(t: float, df: int) -> float:
    """Return the chance that Student's t with ``df`` degrees of freedom is at least as far from 0.

    The finite series of Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.3 and
    26.7.4: exact for whole ``df``, to about 1e-14, so that far smaller chances come out as 0.

    >>> round(two_sided(2.228139, 10), 6)
    0.05
    """
    angle, odd, terms = math.atan2(abs(t), math.sqrt(df)), df % 2, df // 2
    step = np.arange(1, max(terms, 1))
    ratios = (2 * step - 1 + odd) / (2 * step + odd) * math.cos(angle) ** 2
    series = float(np.cumprod(np.concatenate([[1.0], ratios])).sum()) if terms else 0.0
    inside = math.sin(angle) * series
    if odd:
        inside = 2 / math.pi * (angle + inside * math.cos(angle))
    return max(0.0, 1.0 - inside)


def holm(p_values: Sequence[float] | Floats) -> Floats:
    """Return p-values corrected for how many were looked at; NaN stays NaN and does not count.

    Holm (1979), A simple sequentially rejective multiple test procedure.

    >>> holm([0.04, 0.01, math.nan, 0.03]).round(4).tolist()
    [0.06, 0.03, nan, 0.06]
    """
    found = np.array(p_values, dtype=np.float64)
    known = np.flatnonzero(~np.isnan(found))
    order = known[np.argsort(found[known], kind="stable")]
    stepped = np.minimum(found[order] * np.arange(len(order), 0, -1), 1.0)
    found[order] = np.maximum.accumulate(stepped)
    return found


def beyond_chance(p_values: Sequence[float], n: Sequence[int]) -> Bools:
    """Say which differences are more than chance among those looked at together.

    ``n`` is over how many queries each mean is; those over fewer than `FEW` are never more than
    chance, and do not count as looked at.
    """
    enough = np.array(n, dtype=np.int64) >= FEW
    beyond: Bools = holm(np.where(enough, np.array(p_values, dtype=np.float64), np.nan)) <= LEVEL
    return beyond

"""Between which means the true one may lie, as far as the choice of queries goes.

Knows no run and no measure: values by query in, an interval out. Says nothing of holes or graders.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from labeler.measures import Floats
from labeler.stats.draws import DRAWS, by_length, in_steps
from labeler.stats.resampled import sums_of

LEVEL = 0.95
BCA, PERCENTILE, WILSON = "BCa", "percentile", "Wilson"
Sums = Callable[[Floats, int], Floats]
TOGETHER = 256  # samples, so that their draws take some 20 MB and not what memory there is
_NORMAL = NormalDist()


class Interval(NamedTuple):
    """An interval, of 95% unless asked otherwise.

    Where there is none the ends are NaN, and ``reason`` says why. ``method`` is `BCA`, `PERCENTILE`
    or `WILSON`. Where there is no spread to resample, both ends are the mean itself, and ``reason``
    says so.
    """

    lo: float
    hi: float
    method: str = ""
    reason: str = ""


NO_QUERY = Interval(math.nan, math.nan, reason="no query counts")
ONE_QUERY = Interval(math.nan, math.nan, reason="one query: nothing to resample")
ALL_ALIKE = "all queries alike: no spread to resample"


def intervals(
    samples: Sequence[Floats], draws: int = DRAWS, sums: Sums = sums_of, *, level: float = LEVEL
) -> list[Interval]:
    """Return the bootstrap interval of each sample's mean, resampling its queries.

    ``level`` is how often both ends hold; one end alone holds more often, at 0.9 in 95 of 100.

    BCa of Efron (1987), the draws seeded and shared by samples of the same length; where it is not
    defined the percentile interval stands, and is named. A sample of one query has none. Samples
    hold no NaN. ``sums`` adds up the resamples; a `Resampled` does it sooner the second time.

    >>> [low] = intervals([np.array([0.0, 0.0, 0.1, 0.2, 0.9] * 4)])
    >>> round(low.lo, 3), round(low.hi, 3), low.method
    (0.115, 0.43, 'BCa')
    >>> intervals([np.array([0.5, 0.5])])[0].reason
    'all queries alike: no spread to resample'
    """
    found = [NO_QUERY] * len(samples)
    for n, places in by_length(samples).items():
        for first in range(0, len(places), TOGETHER):
            part = places[first : first + TOGETHER].tolist()
            some = np.stack([samples[at] for at in part])
            alike = [_of_none_or_one(n)] * len(part)
            made = _of_length(some, draws, sums, level) if n > 1 else alike
            for at, each in zip(part, made, strict=True):
                found[at] = each
    return found


def _of_none_or_one(n: int) -> Interval:
    return ONE_QUERY if n else NO_QUERY


def wilson(ones: float, n: float, *, level: float = LEVEL) -> Interval:
    """Return the interval of a share, ``ones`` of ``n``: Wilson's (1927), without correction.

    Neither has to be whole: weighted queries count as fewer equal ones.

    >>> lo, hi, *_ = wilson(8, 10)
    >>> round(lo, 4), round(hi, 4)
    (0.4902, 0.9433)
    """
    if not n:
        return NO_QUERY
    z = _NORMAL.inv_cdf((1 + level) / 2)
    share, z2 = ones / n, z * z
    middle = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = z / (1 + z2 / n) * math.sqrt(share * (1 - share) / n + z2 / (4 * n * n))
    lo = 0.0 if ones == 0 else max(0.0, middle - half)
    hi = 1.0 if ones >= n else min(1.0, middle + half)
    return Interval(lo, hi, WILSON)


def _of_length(samples: Floats, draws: int, sums: Sums, level: float) -> list[Interval]:
    """Return the intervals of samples, (samples, n), of two queries or more."""
    whole, step = in_steps(samples)
    n = whole.shape[1]
    drawn = sums(whole, draws)
    drawn.sort(axis=1)
    rows = zip(samples, whole, drawn, (step / n).tolist(), strict=True)
    return [_of_one(*row, level) for row in rows]


def _of_one(sample: Floats, whole: Floats, drawn: Floats, unit: float, level: float) -> Interval:
    if np.ptp(whole) == 0:
        mean = float(sample.mean())
        return Interval(mean, mean, PERCENTILE, ALL_ALIKE)
    return ends_of(float(whole.sum()), whole - whole.mean(), drawn, level, unit)


def ends_of(total: float, off: Floats, drawn: Floats, level: float, unit: float = 1.0) -> Interval:
    """Return the interval of what was found as ``total``, by sorted draws of it.

    ``off`` is how far each query moves it, by which BCa knows its skewness. ``unit`` is what the
    ends are multiplied by.
    """
    ends = _bca_shares(total, off, drawn, level)
    method = PERCENTILE if ends is None else BCA
    lo, hi = (_below(drawn, share) * unit for share in ends or ((1 - level) / 2, (1 + level) / 2))
    return Interval(lo, hi, method)


def _below(drawn: Floats, share: float) -> float:
    """Return the value below which a share of all draws there could be lies, of sorted draws.

    The (B + 1)-th part of Davison and Hinkley (1997), Bootstrap Methods and their Application, 5.2:
    numpy's quantile would put both ends one draw further in.
    """
    place = min(max(share * (len(drawn) + 1) - 1, 0.0), len(drawn) - 1.0)
    at = int(place)
    here, there = drawn[at], drawn[min(at + 1, len(drawn) - 1)]
    return float(here + (there - here) * (place - at))


def _bca_shares(
    total: float, off: Floats, drawn: Floats, level: float
) -> tuple[float, float] | None:
    """Return below which shares of the draws the ends stand; None where that is not defined."""
    below, at_most = (int(drawn.searchsorted(total, side)) for side in ("left", "right"))
    share = (below + at_most) / (2 * len(drawn))
    if not 0 < share < 1:
        return None
    skew = float(np.sum(off**3)) / (6 * float(np.sum(off**2)) ** 1.5)
    bias, ends = _NORMAL.inv_cdf(share), []
    end = _NORMAL.inv_cdf((1 + level) / 2)
    for z in (-end, end):
        bent = 1 - skew * (bias + z)
        if bent <= 0:
            return None
        ends.append(_NORMAL.cdf(bias + (bias + z) / bent))
    return ends[0], ends[1]

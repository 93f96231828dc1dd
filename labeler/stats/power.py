"""What so many queries can show: the smallest difference they would find, and how many it takes.

Knows paired differences only. Both by the normal approximation, which is a little hopeful for few
queries.
"""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np

from labeler.measures import Floats

LEVEL, POWER = 0.05, 0.80
_REACH = NormalDist().inv_cdf(1 - LEVEL / 2) + NormalDist().inv_cdf(POWER)


def detectable(sample: Floats) -> float:
    """Return the smallest true mean difference that so many queries would show.

    With 80% power at the 5% level, from the spread of the differences. NaN for fewer than two
    queries, and where all differ by the same: then nothing says how others would.

    >>> round(detectable(np.array([0.1, -0.1] * 50)), 4)
    0.0282
    """
    spread = _spread(sample)
    return reach_of(spread, len(sample)) if spread else math.nan


def reach_of(spread: float, queries: int) -> float:
    """Return the same where differences have this standard deviation.

    >>> round(reach_of(0.25, 200), 4)
    0.0495
    """
    return _REACH * spread / math.sqrt(queries) if queries else math.nan


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
    return max(0, math.ceil((_REACH * spread / mean) ** 2) - len(sample))


def _spread(sample: Floats) -> float:
    """Return the standard deviation, 0 where it is nothing but rounding or not defined."""
    if len(sample) < 2 or np.ptp(sample) <= 1e-12:
        return 0.0
    return float(np.std(sample, ddof=1))

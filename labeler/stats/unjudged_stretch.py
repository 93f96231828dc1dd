"""Stretching of sampled 90% ranges, so that they hold what they say.

The model draws too few of the best grades near the top of lists, so that ranges of some measures
are too low; queries and runs also err together more than it knows. By how much was measured where
all grades were known and some were hidden: see docs/statistics.md, and
``tests/benchmarks/calibration.py``, which measures it again.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

from labeler.measures import Floats


class Stretch(NamedTuple):
    """Factors on the lower and on the upper half of a range, seen from its middle."""

    below: float = 1.0
    above: float = 1.0

    def apply(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """Return the stretched ends.

        >>> import numpy as np
        >>> Stretch(above=1.5).apply(np.array([0.25]), np.array([0.75]))
        (array([0.25]), array([0.875]))
        """
        middle, half = (low + high) / 2, (high - low) / 2
        return middle - self.below * half, middle + self.above * half


NO_LIKELY_RANGE = Stretch(math.nan, math.nan)

STRETCHES: Mapping[str, Stretch] = {
    "nDCG": Stretch(above=1.22),
    "AP": Stretch(above=1.22),
    "R": Stretch(above=1.18),
    "P": Stretch(),
    "RR": Stretch(),
    "Success": Stretch(),
    "F1": Stretch(),
    "ERR": Stretch(),
    "RBP": Stretch(),
}
"""By measure, what 90% ranges of means are stretched by; measures that are not here have none."""

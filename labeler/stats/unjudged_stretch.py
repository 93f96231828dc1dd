"""Stretching of sampled 90% ranges, so that they hold what they say.

The model draws too few of the best grades near the top of lists, so that ranges of some measures
are too low; and it does not know all that queries and runs have in common. By how much was measured
where all grades were known and some were hidden: see docs/explanation/statistics.md, and
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


OF_MEANS: Mapping[str, Stretch] = {
    "nDCG": Stretch(above=1.35),
    "AP": Stretch(above=1.35),
    "R": Stretch(1.1, 1.45),
    "F1": Stretch(1.3, 1.25),
    "P": Stretch(below=1.3),
    "RBP": Stretch(below=1.2),
    "ERR": Stretch(below=1.1),
    "RR": Stretch(below=1.25),
    "Success": Stretch(below=1.2),
}
"""What the 90% range of a mean is stretched by. Measures that are not here have no 90% range, as
nobody has measured whether it holds.
"""

OF_DIFFERENCES = Stretch(1.2, 1.2)
"""What the 90% range of a difference of two means is stretched by."""

NO_RANGE = Stretch(math.nan, math.nan)


def stretch_ranges(measure: str, runs: int, ends: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    """Return the ends of 90% ranges, stretched: of ``runs`` means, then of differences.

    NaN for a measure without a 90% range.
    """
    of_means = OF_MEANS.get(measure, NO_RANGE)
    of_differences = OF_DIFFERENCES if measure in OF_MEANS else NO_RANGE
    low, high = (end.copy() for end in ends)
    for part, stretch in ((slice(runs), of_means), (slice(runs, None), of_differences)):
        low[part], high[part] = stretch.apply(low[part], high[part])
    return low, high

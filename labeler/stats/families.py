"""Many tests looked at together: the more there are, the more each has to show.

Knows p-values only, not what was tested.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from labeler.measures import Floats


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

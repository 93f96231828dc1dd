"""Write t_test.json: what scipy says of drawn differences, and of Student's t at chosen points.

Run by hand from the project's top, and only to change the data: ``python
tests/goldens/make_t_test.py``. scipy comes with ir_measures; the product does without it.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import scipy
from scipy import stats

SEED = 1908
TARGET = Path(__file__).with_name("t_test.json")


def main() -> None:
    draw = np.random.default_rng(SEED)
    samples = [
        np.round(draw.normal(shift, 0.3, size), 4).tolist()
        for size in (2, 3, 10, 11, 42, 225, 1000)
        for shift in (0.0, 0.05, 0.2)
    ]
    points = [(t, df) for df in (1, 2, 3, 9, 10, 41, 224, 999) for t in (0.1, 1.0, 2.0, 3.5, 6.0)]
    found = {
        "made by": f"python tests/goldens/make_t_test.py, with scipy {scipy.__version__}",
        "t_test": [[each, float(stats.ttest_1samp(each, 0).pvalue)] for each in samples],
        "two_sided": [[t, df, float(2 * stats.t.sf(t, df))] for t, df in points],
    }
    TARGET.write_text(json.dumps(found) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

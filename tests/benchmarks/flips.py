"""Time the randomisation test beside scipy and ranx: ``python -m tests.benchmarks.flips``.

The work is that of the Compare page: 8 measures of two runs over 1,000 queries, 10,000 draws.
Everyone gets the same differences, in rounds in turns. After that come all pairs of 10 runs.
"""

from __future__ import annotations

import gc
import os
import platform
import statistics
import time
import warnings
from collections.abc import Callable
from itertools import combinations

import numpy as np
from scipy import stats

from labeler.stats import DRAWS, p_values

QUERIES, RUNS, MEASURES, ROUNDS = 1_000, 10, 8, 3


def values(draw: np.random.Generator) -> np.ndarray:
    """Return made-up values, (runs, measures, queries): measures and runs hang together."""
    hard = draw.normal(0, 0.25, QUERIES)
    runs = draw.normal(0, 0.02, (RUNS, 1, 1))
    noise = draw.normal(0, 0.15, (RUNS, MEASURES, QUERIES))
    found = np.clip(0.4 + hard + runs + noise, 0, 1)
    found[:, MEASURES // 2 :] = np.round(found[:, MEASURES // 2 :] * 10) / 10  # many ties
    return found


def timed(work: dict[str, Callable[[], object]], rounds: int = ROUNDS) -> dict[str, float]:
    """Return the median of each, in milliseconds, in rounds in turns."""
    taken: dict[str, list[float]] = {name: [] for name in work}
    for first in range(rounds):
        names = list(work)
        for name in names[first % len(names) :] + names[: first % len(names)]:
            gc.collect()
            start = time.perf_counter()
            work[name]()
            taken[name].append((time.perf_counter() - start) * 1000)
    return {name: statistics.median(each) for name, each in taken.items()}


def show(title: str, taken: dict[str, float]) -> None:
    """Print medians, and how many times longer than ours each takes."""
    print(title)
    ours = taken["labeler"]
    for name, each in taken.items():
        print(f"  {name:<40} {each:12,.1f} ms {each / ours:9.1f}×")


def main() -> None:
    """Time the randomisation test."""
    warnings.simplefilter("ignore")
    print(f"{platform.platform()}, {os.cpu_count()} CPUs, Python {platform.python_version()}, ")
    print(f"numpy {np.__version__}, load {os.getloadavg()[0]:.1f}")
    found = values(np.random.default_rng(3))
    deltas = list(found[1] - found[0])

    def mean(sample, axis):
        return np.mean(sample, axis=axis)

    def scipy_test() -> list[float]:
        return [
            stats.permutation_test(
                (delta,),
                mean,
                permutation_type="samples",
                n_resamples=DRAWS,
                vectorized=True,
                batch=500,
                rng=np.random.default_rng(0),
            ).pvalue
            for delta in deltas
        ]

    tests: dict[str, Callable[[], object]] = {
        "labeler": lambda: p_values(deltas),
        "scipy permutation_test": scipy_test,
    }
    if (ranx := ranx_test()) is not None:
        pairs = list(zip(found[1], found[0], strict=True))
        tests["ranx fisher_randomization_test"] = lambda: [ranx(b, a, DRAWS) for b, a in pairs]
        ranx(*pairs[0], 10)  # numba compiles
    show(f"randomisation test, {MEASURES} measures, {QUERIES:,} queries", timed(tests))
    every = [d for a, b in combinations(range(RUNS), 2) for d in found[b] - found[a]]
    taken = timed({"labeler": lambda: p_values(every)})
    show(f"randomisation test, all {len(every)} of {RUNS} runs' pairs and measures", taken)


def ranx_test() -> Callable[..., object] | None:
    """Return ranx's test, None where it is not installed."""
    try:
        from ranx.statistical_tests import fisher_randomization_test
    except ImportError:
        return None
    found: Callable[..., object] = fisher_randomization_test
    return found


if __name__ == "__main__":
    main()

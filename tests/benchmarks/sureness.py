"""Time tests and intervals beside scipy and ranx, and simulate how often intervals hold the truth.

``python -m tests.benchmarks.sureness``. The work is that of the Compare page: 8 measures of two
runs over 1,000 queries, 10,000 draws. Everyone gets the same differences, in rounds in turns. After
that come all pairs of 10 runs, and the coverage of the 95% intervals over 10,000 simulations.
"""

from __future__ import annotations

import gc
import os
import platform
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from itertools import combinations

import numpy as np

from labeler.stats import DRAWS, p_values, wilson_interval
from labeler.stats.confidence_intervals import bootstrap_intervals

QUERIES, RUNS, MEASURES, ROUNDS = 1_000, 10, 8, 3
SIMULATIONS, FEWER_DRAWS, AT_ONCE = 10_000, 2_000, 1_000


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


def speed() -> None:
    """Time the randomisation test and the BCa interval."""
    from scipy import stats  # here, so that coverage alone can be asked for without it

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

    def scipy_bootstrap() -> list[object]:
        return [
            stats.bootstrap(
                (delta,),
                mean,
                vectorized=True,
                n_resamples=DRAWS,
                batch=500,
                method="BCa",
                rng=np.random.default_rng(0),
            ).confidence_interval
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
    bootstraps: dict[str, Callable[[], object]] = {
        "labeler": lambda: bootstrap_intervals(deltas),
        "scipy bootstrap BCa": scipy_bootstrap,
    }
    show(f"BCa interval, {MEASURES} measures, {QUERIES:,} queries", timed(bootstraps))
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


# --- coverage ------------------------------------------------------------------------------------

Sampler = Callable[[np.random.Generator, tuple[int, int]], np.ndarray]


def ternary(draw: np.random.Generator, size: tuple[int, int]) -> np.ndarray:
    """Differences of a 0/1 measure: most queries tie."""
    return draw.choice([-1.0, 0.0, 1.0], size, p=[0.10, 0.75, 0.15])


KINDS: dict[str, tuple[float, Sampler]] = {
    "normal differences": (0.02, lambda draw, size: draw.normal(0.02, 0.3, size)),
    "skewed differences": (0.0, lambda draw, size: draw.exponential(0.2, size) - 0.2),
    "half of them ties": (
        0.02,
        lambda draw, size: draw.normal(0.04, 0.4, size) * (draw.random(size) < 0.5),
    ),
    "one run's nDCG-like values": (0.4, lambda draw, size: draw.beta(0.8, 1.2, size)),
    "differences of a 0/1 measure": (0.05, ternary),
}


def coverage() -> None:
    """Print how often 95% intervals hold the true mean."""
    print(f"coverage of 95% intervals, {SIMULATIONS:,} simulations, {FEWER_DRAWS:,} draws")
    for name, (true, sampler) in KINDS.items():
        for n in (20, 50, 200):
            print_held(name, n, "BCa", bootstrap_held(true, sampler, n))
    for share in (0.1, 0.5, 0.9):
        for n in (20, 50, 200):
            held = wilson_held(share, n)
            print_held(f"one run's 0/1 measure, {share:.0%} ones", n, "Wilson", held)


def print_held(name: str, n: int, method: str, held: float) -> None:
    """Print a share and how many points it is off."""
    print(f"  {name:<34} n {n:<4} {method:<7} {held:7.2%}   {(held - 0.95) * 100:+.2f} points")


def bootstrap_held(true: float, sampler: Sampler, n: int) -> float:
    """Return how often the bootstrap interval of n queries holds the true mean."""
    draw, held = np.random.default_rng(17), 0
    for _ in range(SIMULATIONS // AT_ONCE):
        samples = sampler(draw, (AT_ONCE, n))
        found = bootstrap_intervals(list(samples), FEWER_DRAWS)
        held += sum(each.lo <= true <= each.hi for each in found)
    return held / SIMULATIONS


def wilson_held(share: float, n: int) -> float:
    """Return how often Wilson's interval of n queries holds the true share."""
    drawn = np.random.default_rng(17).binomial(n, share, SIMULATIONS)
    by_count = {int(ones): wilson_interval(int(ones), n) for ones in np.unique(drawn)}
    return sum(by_count[o].lo <= share <= by_count[o].hi for o in drawn.tolist()) / SIMULATIONS


def main() -> None:
    """Print both, or with ``coverage`` that alone."""
    warnings.simplefilter("ignore")
    print(f"{platform.platform()}, {os.cpu_count()} CPUs, Python {platform.python_version()}, ")
    print(f"numpy {np.__version__}, load {os.getloadavg()[0]:.1f}")
    if sys.argv[1:] != ["coverage"]:
        speed()
    coverage()


if __name__ == "__main__":
    main()

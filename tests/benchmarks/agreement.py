"""How often the intervals of agreement hold what is true, and what measuring it costs.

Two graders are simulated. ``differing``: queries differ in how many of their chunks are relevant
and in how hard they are to grade. ``close``: both differ in one query of ten only. ``random``: both
press any key. What is true is measured over 20,000 queries of the same kind.

    python -m tests.benchmarks.agreement
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial

import numpy as np

from labeler.analysis.agreement import (
    Agreement,
    GradeMatrix,
    compare_with_others,
    compute_agreement,
)
from labeler.analysis.agreement.grader_agreement import Coefficient
from labeler.model import GivenGrade, agreed_grade

TRULY, SIMULATED = 20_000, 1_000  # queries, samples of queries
CHUNKS = 5  # of a query
QUERIES, GRADERS, POOL, GRADED = 1_000, 5, 12, 0.6  # of the speed
SEED = 3
COMMON = (0.6, 0.2, 0.1, 0.1)  # how often each grade is given


def differing(
    random: np.random.Generator, queries: int, chunks: int = CHUNKS, graders: int = 2
) -> np.ndarray:
    """Return what graders give, (graders, queries * chunks)."""
    mixed = random.dirichlet([3, 1, 1, 0.7], queries)
    true = np.concatenate([random.choice(4, chunks, p=each) for each in mixed])
    return _moved(random, true, np.repeat(random.uniform(0.1, 0.6, queries), chunks), graders)


def close(random: np.random.Generator, queries: int) -> np.ndarray:
    """Return the same of two graders who differ in a tenth of the queries."""
    true = random.choice(4, queries * CHUNKS, p=COMMON)
    return _moved(random, true, np.repeat(0.3 * (random.random(queries) < 0.1), CHUNKS), 2)


def at_random(random: np.random.Generator, queries: int) -> np.ndarray:
    """Return the same of two graders who agree as chance does."""
    return random.choice(4, (2, queries * CHUNKS), p=COMMON)


def _moved(
    random: np.random.Generator, true: np.ndarray, unsure: np.ndarray, graders: int
) -> np.ndarray:
    """Return grades near the true ones; each differs with its chance."""
    moved = random.choice([-1, 1, 2], (graders, true.size))
    differs = random.random((graders, true.size)) < unsure
    return np.clip(true + np.where(differs, moved, 0), 0, 3)


KINDS: Mapping[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "differing": differing,
    "close": close,
    "random": at_random,
}


def numbers_of(found: Agreement) -> dict[str, Coefficient]:
    """Return what is looked at of two graders."""
    [pair] = found.pairs
    return {"alpha": found.alpha, "weighted kappa": pair.kappa, "same grade": found.same}


def measured(grades: np.ndarray) -> dict[str, Coefficient]:
    """Measure two graders over simulated queries."""
    names = [str(at // CHUNKS) for at in range(grades.shape[1])]
    return numbers_of(compute_agreement(GradeMatrix.of_ratings(grades.astype(float), names)))


def coverage() -> None:
    """Print how often the 95% interval holds the true number, where there is an interval."""
    for kind, grade in KINDS.items():
        random = np.random.default_rng(SEED)
        truth = {name: each.value for name, each in measured(grade(random, TRULY)).items()}
        print(kind, *(f"{name} {value:.3f}" for name, value in truth.items()), sep="\t")
        for queries in (5, 10, 30, 100):
            held = {name: np.zeros(2) for name in truth}  # intervals that hold it, intervals
            for _ in range(SIMULATED):
                for name, found in measured(grade(random, queries)).items():
                    held[name] += found.low <= truth[name] <= found.high, found.unsure is None
            shares = (f"{holds / of:.1%} of {int(of):,}" for holds, of in held.values())
            print(queries, *shares, sep="\t")


def as_stored(random: np.random.Generator) -> Iterator[GivenGrade]:
    """Give grades as the store does; each grader has graded a part of the chunks."""
    for who, row in enumerate(differing(random, QUERIES, POOL, GRADERS)):
        for at, grade in enumerate(row):
            if random.random() < GRADED:
                query, chunk = divmod(at, POOL)
                day = f"2026-{1 + query % 12:02}-{1 + query % 28:02}T10:00:00Z"
                names = f"q{query}", f"q{query}c{chunk}", None, f"grader {who}"
                yield GivenGrade(*names, int(grade), True, day)


def speed() -> None:
    """Print what it costs to measure five graders over a thousand queries."""
    rows = list(as_stored(np.random.default_rng(SEED)))
    sheet = GradeMatrix.of_grades(rows)
    steps: dict[str, Callable[[], object]] = {
        f"{len(rows):,} grades laid out": partial(GradeMatrix.of_grades, rows),
        "every coefficient, with intervals": partial(compute_agreement, sheet),
        "each against the others": partial(compare_with_others, sheet, agreed_grade),
    }
    for name, step in steps.items():
        taken = []
        for _ in range(5):
            began = time.perf_counter()
            step()
            taken.append(time.perf_counter() - began)
        print(f"{name}\t{np.median(taken) * 1000:.0f} ms")


if __name__ == "__main__":
    coverage()
    speed()

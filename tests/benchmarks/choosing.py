"""Time the choice of what is graded next: ``python -m tests.benchmarks.choosing``.

On 1,000 queries x 10 runs x depth 100 with 20,000 golden grades: the next 20 of the 40,000 pairs
and more that two runs have near their top and nobody has graded, first of a golden set that was
never looked at, then after 20 more grades each time.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

import numpy as np

from labeler.analysis.active import BATCH, Decider, DecidingPair
from labeler.analysis.active.simulation import choose_pairs
from labeler.evaluation import Conventions, Scoreboard
from labeler.model import GradeChange
from tests.benchmarks.live import machine
from tests.benchmarks.workloads import SIZES, collection_of

MEASURE = "nDCG@32"
"""As deep as it takes for 40,000 pairs to be open; at 10 there are no more than 20,000."""

ROUNDS = 7
Spent = tuple[float, float]
T = TypeVar("T")


def timed(what: Callable[[], T]) -> tuple[T, Spent]:
    """Return what comes of it, and the processor time and the time by the clock, in ms."""
    cpu, clock = time.process_time(), time.perf_counter()
    found = what()
    return found, ((time.process_time() - cpu) * 1000, (time.perf_counter() - clock) * 1000)


def in_words(spent: list[Spent]) -> str:
    """Return medians, and the slowest."""
    cpu, clock = zip(*spent, strict=True)
    middle = f"{statistics.median(cpu):6.0f} ms CPU, {statistics.median(clock):6.0f} ms"
    return f"{middle} (slowest {max(clock):.0f} ms)"


def main() -> None:
    """Print how long it takes to choose, and to follow the grades that were chosen."""
    print(machine())
    board = Scoreboard(collection_of(SIZES["M"]), Conventions.of())
    [measure] = board.conventions.measures(MEASURE)
    a, b = board.run_names[:2]
    decider, draw = Decider(), np.random.default_rng(3)
    trial, first = timed(lambda: decider.trial(board, a, b, measure))
    print(f"{SIZES['M']}, {measure.label}: {len(trial.places):,} open pairs of two runs")
    choosing, following = [], []
    for revision in range(1, ROUNDS + 1):
        fresh = replace(trial)  # remembers nothing of what was chosen before
        pairs, spent = timed(lambda fresh=fresh: choose_pairs(board, fresh))
        choosing.append(spent)
        board.refresh(graded(pairs, draw), revision)
        trial, spent = timed(lambda: decider.trial(board, a, b, measure))
        following.append(spent)
    print(f"  a golden set never looked at      {in_words([first])}")
    print(f"  the next {BATCH} pairs                 {in_words(choosing)}")
    print(f"  to follow {BATCH} grades before that   {in_words(following)}")
    _, spent = timed(lambda: decider.standing(board, a, b, measure))
    print(f"  whether it is settled             {in_words([spent])}")


def graded(pairs: list[DecidingPair], draw: np.random.Generator) -> list[GradeChange]:
    """Return grades for what was chosen, by lot."""
    grades = draw.integers(4, size=len(pairs)).tolist()
    return [
        GradeChange(pair.query_id, pair.chunk, grade)
        for pair, grade in zip(pairs, grades, strict=True)
    ]


if __name__ == "__main__":
    main()

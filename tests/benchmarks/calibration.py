"""How often 90% ranges over unjudged chunks hold what they are of: ``python -m
tests.benchmarks.calibration --sample --zero cranfield --drop codec dl21``.

Takes graded collections as truths (see ``published.py``) or, with ``--made-up``, new ones (see
``simulated.py``); hides some of the grades in the top 20 of the runs, and looks whether each run's
true mean, and a pair's true difference, is inside the 90% range, and inside
the possible one. Hidden are

- at random: all but a share of 5, 10, 20, 50, 80 or 90% of what is in a top 20;
- by rank: all that no run has above some rank from 2 to 15, as where people grade from the top;
- by run: a share of 10 to 90% of what only one run, each in turn, has in its top 20.

The true mean is what pages speak of: a hidden chunk that is no unjudged chunk of a measure, such as
one at rank 12 for nDCG@10, stays ungraded. Of more than six runs six are drawn for each hiding.
``--unstretched`` leaves out the stretch of the ranges. ``--keep FILE`` adds a line for each value.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import NamedTuple, TextIO

import numpy as np
import numpy.typing as npt

from labeler.evaluation import Conventions, Scoreboard
from labeler.measures import Measure
from labeler.model import Collection
from labeler.stats import (
    DEPTH,
    LiveRanges,
    TopChunks,
    UnjudgedRange,
    find_top_chunks,
    unjudged_stretch,
)
from labeler.stats.unjudged_stretch import OF_MEANS, Stretch
from tests.benchmarks.published import Graded, read, read_sample, without
from tests.benchmarks.simulated import KINDS, simulate

MEASURES = "nDCG@10 AP R@5 R@10 P@5 P@10 RR Success@3 F1@10 ERR@10 RBP(p=0.8)"
SHARES = (0.05, 0.1, 0.2, 0.5, 0.8, 0.9)
DRAWS, MOST_RUNS = 39, 6
EXACT = 1e-9

Mask = npt.NDArray[np.bool_]
Hider = Callable[[TopChunks, np.random.Generator, int], Mask]
Truth = Callable[[int], Collection]
Means = dict[tuple[str, Measure], float]


class Outcome(NamedTuple):
    """A range, and the true value that it should hold."""

    measure: str
    is_delta: bool
    lowest: float
    low: float
    true: float
    high: float
    highest: float

    @property
    def side(self) -> int:
        """Say whether the true value is inside (0), above (1) or below (-1) the 90% range."""
        return int(self.true > self.high + EXACT) - int(self.true < self.low - EXACT)


def at_random(tops: TopChunks, draw: np.random.Generator, turn: int) -> Mask:
    """Hide all but a share of everything."""
    hidden: Mask = draw.random(len(tops.query)) >= SHARES[turn % len(SHARES)]
    return hidden


def by_rank(tops: TopChunks, draw: np.random.Generator, _: int) -> Mask:
    """Hide all that no run has above some rank."""
    best = np.where(tops.ranks > 0, tops.ranks, 10**6).min(axis=1)
    hidden: Mask = best > draw.integers(2, 16)
    return hidden


def by_run(tops: TopChunks, draw: np.random.Generator, turn: int) -> Mask:
    """Hide a share of what only one run has."""
    inside = (tops.ranks > 0) & (tops.ranks <= DEPTH)
    only = (inside.sum(axis=1) == 1) & inside[:, turn % inside.shape[1]]
    hidden: Mask = only & (draw.random(len(only)) < draw.uniform(0.1, 0.9))
    return hidden


HIDERS: dict[str, Hider] = {"at random": at_random, "by rank": by_rank, "by run": by_run}


class Replay:
    """Grades of one truth that were hidden, and what their true means are."""

    def __init__(self, truth: Collection, tops: TopChunks, hidden: Mask) -> None:
        self._truth, self._tops, self._hidden = truth, tops, hidden
        self.seen = Scoreboard(self._less(hidden), Conventions.of())

    def outcomes(self, measures: Sequence[Measure], pair: tuple[int, int]) -> list[Outcome]:
        """Return the ranges of each run's means, and of the difference of a pair."""
        true = self._true(measures)
        bands = LiveRanges(self.seen, draws=DRAWS).means(self.seen, measures)
        found = [
            outcome(measure, band, true[run, measure])
            for (run, measure, _), band in bands.items()
            if band.is_open
        ]
        a, b = (self.seen.run_names[at] for at in pair)
        deltas = LiveRanges(self.seen, (a, b), DRAWS).deltas(self.seen, measures)
        return found + [
            outcome(measure, band, true[b, measure] - true[a, measure], is_delta=True)
            for (measure, _), band in deltas.items()
            if band.is_open
        ]

    def _true(self, measures: Sequence[Measure]) -> Means:
        """Return the means once the unjudged chunks are graded, and nothing else."""
        found: Means = {}
        for cutoff in {measure.cutoff for measure in measures}:
            alike = [measure for measure in measures if measure.cutoff == cutoff]
            deep = np.full(self._tops.queries, DEPTH)
            depth = deep if cutoff is None else self.seen.cutoffs(alike[0])
            board = Scoreboard(
                self._less(self._hidden & ~self._tops.within(None, depth)), Conventions.of()
            )
            found |= {(row.run, row.measure): row.value for row in board.table(alike)}
        return found

    def _less(self, gone: Mask) -> Collection:
        return without(self._truth, self._tops.query[gone], self._tops.chunk[gone])


def outcome(
    measure: Measure, band: UnjudgedRange, true: float, *, is_delta: bool = False
) -> Outcome:
    """Return a range with its true value."""
    ends = (band.lowest, band.low, true, band.high, band.highest)
    return Outcome(measure.label, is_delta, *ends)


def replays(name: str, truth: Truth, hidings: int, way: str) -> Iterator[list[Outcome]]:
    """Hide grades again and again; yield what came of each hiding."""
    measures = Conventions.of().measures(MEASURES)
    draw, before = np.random.default_rng(5), None
    for turn in range(hidings):
        collection = truth(turn)
        if collection is not before:
            before, tops = collection, find_top_chunks(Scoreboard(collection, Conventions.of()))
        pairs = list(combinations(range(len(collection.runs)), 2))
        pair = pairs[turn // len(SHARES) % len(pairs)]
        hidden = HIDERS[way](tops, draw, turn)
        yield Replay(collection, tops, hidden).outcomes(measures, pair)


def truth_of(graded: Graded) -> Truth:
    """Return the collection for each hiding: all its runs, or six that are drawn."""
    names, draw = list(graded.runs), np.random.default_rng(7)
    if len(names) > MOST_RUNS:
        return lambda _: graded.collection(draw.choice(names, MOST_RUNS, replace=False).tolist())
    whole = graded.collection(names)
    return lambda _: whole


def show(name: str, way: str, hidings: int, found: Sequence[Outcome], seconds: float) -> None:
    """Print the shares by measure, with the misses on each side, and the mean width."""
    possible = np.mean([each.lowest - EXACT <= each.true <= each.highest + EXACT for each in found])
    print(f"\n{name}, hidden {way} {hidings} times, {seconds:.0f} s of CPU; ", end="")
    print(f"in the possible range {possible:.2%}")
    by: dict[tuple[str, bool], list[Outcome]] = defaultdict(list)
    for each in found:
        by[each.measure, each.is_delta].append(each)
    for (measure, is_delta), of in sorted(by.items(), key=lambda each: each[0][1]):
        sides = np.array([each.side for each in of])
        width = np.mean([each.high - each.low for each in of])
        print(
            f"  {'delta ' * is_delta + measure:<18} {np.mean(sides == 0):6.1%} of {len(of):>5,}",
            end="",
        )
        print(f"  above {np.sum(sides > 0):>4}  below {np.sum(sides < 0):>4}  width {width:.4f}")


def keep(file: TextIO, name: str, way: str, turn: int, found: Sequence[Outcome]) -> None:
    """Add a line for each value."""
    for each in found:
        file.write(json.dumps([name, way, turn, *each]) + "\n")


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--zero", nargs="*", type=Path, default=[], metavar="FOLDER")
    parser.add_argument("--drop", nargs="*", type=Path, default=[], metavar="FOLDER")
    parser.add_argument("--sample", action="store_true")
    parser.add_argument("--made-up", action="store_true")
    parser.add_argument("--hidings", type=int, default=400)
    parser.add_argument("--ways", nargs="*", choices=HIDERS, default=list(HIDERS))
    parser.add_argument("--unstretched", action="store_true")
    parser.add_argument("--keep", type=Path, metavar="FILE")
    return parser.parse_args()


def truths(asked: argparse.Namespace) -> dict[str, Truth]:
    """Return what is asked for, by name."""
    graded = [read(each, drop=False) for each in asked.zero]
    graded += [read(each, drop=True) for each in asked.drop]
    graded += [read_sample()] * asked.sample
    found = {each.name: truth_of(each) for each in graded}
    for kind, like in KINDS.items() if asked.made_up else ():
        found[f"made up, {kind} relevant"] = lambda turn, like=like: simulate(like, turn)
    return found


def main() -> None:
    """Replay every collection, and print the tables."""
    asked = arguments()
    if asked.unstretched:
        unjudged_stretch.OF_MEANS = dict.fromkeys(OF_MEANS, Stretch())
        unjudged_stretch.OF_DIFFERENCES = Stretch()
    for name, truth in truths(asked).items():
        for way in asked.ways:
            start, every = time.process_time(), []
            for turn, found in enumerate(replays(name, truth, asked.hidings, way)):
                every += found
                if asked.keep is not None:
                    with asked.keep.open("a") as file:
                        keep(file, name, way, turn, found)
            show(name, way, asked.hidings, every, time.process_time() - start)


if __name__ == "__main__":
    main()

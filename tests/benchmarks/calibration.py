"""How often what the holes could make of a mean holds what it is: ``python -m
tests.benchmarks.calibration FOLDER [HIDINGS [COLLECTION [WAY]]]``.

Takes the public collections in FOLDER as truths (see ``published.py``), hides some of the grades
in the top 20 of the runs, and looks whether each run's true mean, and each pair's true delta, is
inside the sampled 90% interval, and inside the lowest and highest. Hidden are

- at random: a share of 10 to 90% of all that is in a top 20;
- by rank: all that no run has above some rank from 2 to 15, as where people grade from the top;
- by run: a share of 10 to 90% of what only one run, each in turn, has in its top 20.

The true mean is what the pages speak of: a hidden chunk that is no hole of a measure, such as one
at rank 12 for nDCG@10, stays ungraded. "All grades" is against the mean with every hidden grade.
"""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path

import numpy as np
import numpy.typing as npt

from labeler.evaluation import Conventions, Scoreboard
from labeler.measures import Measure
from labeler.model import Collection
from labeler.uncertainty import DEPTH, Band, Bands, Tops, find_tops
from tests.benchmarks.published import read_all, without

MEASURES = "nDCG@10 R@5 P@5 Success@3 RR AP"
HIDINGS, DRAWS = 1000, 39
EXACT = 1e-9

Mask = npt.NDArray[np.bool_]
Hider = Callable[[Tops, np.random.Generator, int], Mask]
Means = dict[tuple[str, Measure], float]


def at_random(tops: Tops, draw: np.random.Generator, _: int) -> Mask:
    """Hide a share of everything."""
    hidden: Mask = draw.random(len(tops.query)) < draw.uniform(0.1, 0.9)
    return hidden


def by_rank(tops: Tops, draw: np.random.Generator, _: int) -> Mask:
    """Hide all that no run has above some rank."""
    best = np.where(tops.ranks > 0, tops.ranks, 10**6).min(axis=1)
    hidden: Mask = best > draw.integers(2, 16)
    return hidden


def by_run(tops: Tops, draw: np.random.Generator, turn: int) -> Mask:
    """Hide a share of what only one run has."""
    inside = (tops.ranks > 0) & (tops.ranks <= DEPTH)
    only = (inside.sum(axis=1) == 1) & inside[:, turn % inside.shape[1]]
    hidden: Mask = only & (draw.random(len(only)) < draw.uniform(0.1, 0.9))
    return hidden


HIDERS: dict[str, Hider] = {"at random": at_random, "by rank": by_rank, "by run": by_run}


class Tally:
    """How often true values were inside, by what they are of."""

    def __init__(self) -> None:
        self.likely: dict[str, list[bool]] = defaultdict(list)
        self.reach: list[bool] = []
        self.width: list[float] = []

    def add(self, name: str, band: Band, true: float, whole: float) -> None:
        """Count one true value, in the pages' words and with every hidden grade known."""
        inside = band.low - EXACT <= true <= band.high + EXACT
        self.likely[name].append(inside)
        self.likely["all means" if "delta" not in name else "all deltas"].append(inside)
        if "delta" not in name:
            self.likely["all grades"].append(band.low - EXACT <= whole <= band.high + EXACT)
        self.reach.append(band.lowest - EXACT <= true <= band.highest + EXACT)
        self.width.append((band.high - band.low) / max(band.highest - band.lowest, 1e-12))


def means_of(collection: Collection, measures: tuple[Measure, ...]) -> Means:
    """Return all means."""
    board = Scoreboard(collection, Conventions.of())
    return {(row.run, row.measure): row.value for row in board.table(measures)}


def replay(
    truth: Collection, tops: Tops, measures: tuple[Measure, ...], hidden: Mask, tally: Tally
) -> None:
    """Hide grades once, and count what is inside; a pair of runs takes its turn."""
    seen = Scoreboard(without(truth, tops.query[hidden], tops.chunk[hidden]), Conventions.of())
    whole = means_of(truth, measures)
    true: Means = {}
    every = list(range(len(seen.run_names)))
    for measure in measures:
        cutoffs = seen.cutoffs(measure) if measure.cutoff else np.full(tops.queries, DEPTH)
        stays = hidden & ~tops.within(every, cutoffs)
        true |= means_of(without(truth, tops.query[stays], tops.chunk[stays]), (measure,))
    bands = Bands(seen, draws=DRAWS)
    for (run, measure, _), band in bands.means(seen, measures).items():
        if band.is_open:
            tally.add(measure.label, band, true[run, measure], whole[run, measure])


def replay_pair(
    truth: Collection,
    tops: Tops,
    measures: tuple[Measure, ...],
    hidden: Mask,
    tally: Tally,
    pair: tuple[int, int],
) -> None:
    """Do the same for the delta of two runs alone."""
    seen = Scoreboard(without(truth, tops.query[hidden], tops.chunk[hidden]), Conventions.of())
    a, b = (seen.run_names[at] for at in pair)
    for measure in measures:
        cutoffs = seen.cutoffs(measure) if measure.cutoff else np.full(tops.queries, DEPTH)
        stays = hidden & ~tops.within(pair, cutoffs)
        true = means_of(without(truth, tops.query[stays], tops.chunk[stays]), (measure,))
        bands = Bands(seen, (a, b), DRAWS)
        for band in bands.deltas(seen, [measure]).values():
            if band.is_open:
                delta = true[b, measure] - true[a, measure]
                tally.add(f"{measure.label} delta", band, delta, delta)


def pairs_in_turn(runs: int) -> Iterator[tuple[int, int]]:
    """Give the pairs of runs, over and over."""
    while True:
        yield from combinations(range(runs), 2)


def main() -> None:
    """Replay every collection, hidden in each way, and print the table."""
    folder, hidings, only, one_way = [
        *sys.argv[1:],
        *["", str(HIDINGS), "", ""][len(sys.argv) - 1 :],
    ]
    measures = Conventions.of().measures(MEASURES)
    for name, truth in read_all(Path(folder)).items():
        if only not in ("", name):
            continue
        tops = find_tops(Scoreboard(truth, Conventions.of()))
        print(f"{name}: {len(truth.query_ids)} queries, {len(truth.runs)} runs, ", end="")
        print(f"{len(tops.query):,} pairs in a top {DEPTH}")
        for way, hide in HIDERS.items():
            if one_way not in ("", way):
                continue
            draw, tally, started = np.random.default_rng(5), Tally(), time.perf_counter()
            pairs = pairs_in_turn(len(truth.runs))
            for turn in range(int(hidings)):
                hidden = hide(tops, draw, turn)
                replay(truth, tops, measures, hidden, tally)
                if turn % 3 == 0:
                    replay_pair(truth, tops, measures, hidden, tally, next(pairs))
            print(
                f"  hidden {way}, {hidings} times, {time.perf_counter() - started:.0f} s: ", end=""
            )
            print(f"inside lowest and highest {np.mean(tally.reach):.2%}, ", end="")
            print(f"interval's share of that band {np.median(tally.width):.2f}")
            for of, inside in tally.likely.items():
                print(f"    {of:<18} {np.mean(inside):7.1%} of {len(inside):,}")


if __name__ == "__main__":
    main()

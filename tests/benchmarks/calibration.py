"""How often what the unjudged chunks could make of a mean holds what it is: ``python -m
tests.benchmarks.calibration FOLDER [HIDINGS [COLLECTION [WAY]]]``.

Takes the public collections in FOLDER as truths (see ``published.py``), or, where the COLLECTION is
"made-up", one anew for each hiding (see ``simulated.py``); hides some of the grades in the top 20
of the runs, and looks whether each run's true mean, and in each third hiding a pair's true delta,
is inside the sampled 90% interval, and inside the lowest and highest. Hidden are

- at random: a share of 10 to 90% of all that is in a top 20;
- by rank: all that no run has above some rank from 2 to 15, as where people grade from the top;
- by run: a share of 10 to 90% of what only one run, each in turn, has in its top 20.

The true mean is what the pages speak of: a hidden chunk that is no unjudged chunk of a measure,
such as one at rank 12 for nDCG@10, stays ungraded. "All grades" is against the mean with every
hidden grade. What was counted so far is printed, collection by collection, whenever hidings have
doubled.
"""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, zip_longest
from pathlib import Path

import numpy as np
import numpy.typing as npt

from labeler.evaluation import Conventions, Scoreboard
from labeler.measures import Measure
from labeler.model import Collection
from labeler.stats import DEPTH, LiveRanges, TopChunks, UnjudgedRange, find_top_chunks
from tests.benchmarks.published import read_all, without
from tests.benchmarks.simulated import KINDS, simulate

MEASURES = "nDCG@10 R@5 P@5 Success@3 RR AP"
HIDINGS, DRAWS, PAIR_EVERY, FIRST_PRINTED = 1000, 39, 3, 25
EXACT = 1e-9
MADE_UP = "made-up"

Mask = npt.NDArray[np.bool_]
Hider = Callable[[TopChunks, np.random.Generator, int], Mask]
Truth = Callable[[int], Collection]
Means = dict[tuple[str, Measure], float]
Outcome = tuple[str, bool, bool]


def at_random(tops: TopChunks, draw: np.random.Generator, _: int) -> Mask:
    """Hide a share of everything."""
    hidden: Mask = draw.random(len(tops.query)) < draw.uniform(0.1, 0.9)
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


def outcome(name: str, band: UnjudgedRange, true: float) -> Outcome:
    """Say whether a true value is likely by a band, and within it."""
    likely = band.low - EXACT <= true <= band.high + EXACT
    return name, likely, band.lowest - EXACT <= true <= band.highest + EXACT


class Tally:
    """How often true values were inside, by what they are of."""

    def __init__(self) -> None:
        self.likely: dict[str, list[bool]] = defaultdict(list)
        self.reach: list[bool] = []
        self.seconds = 0.0

    def add(self, outcomes: Sequence[Outcome]) -> None:
        """Count true values of one hiding."""
        for name, likely, reach in outcomes:
            self.likely[name].append(likely)
            self.reach.append(reach)

    def show(self, way: str, hidings: int) -> None:
        """Print the shares, and of how many values they are."""
        print(f"  hidden {way}, {hidings} times, {self.seconds:.0f} s of CPU: ", end="")
        print(f"inside lowest and highest {np.mean(self.reach):.2%}")
        sums: dict[str, list[bool]] = {"all means": [], "all deltas": []}
        for of, inside in self.likely.items():
            if of != "all grades":
                sums["all deltas" if of.endswith("delta") else "all means"] += inside
        for of, inside in {**self.likely, **sums}.items():
            print(f"    {of:<18} {np.mean(inside):7.1%} of {len(inside):,}")
        sys.stdout.flush()


class Replay:
    """Grades of one truth that were hidden, and what their true means are."""

    def __init__(self, truth: Collection, tops: TopChunks, hidden: Mask) -> None:
        self._truth, self._tops, self._hidden = truth, tops, hidden
        self.seen = Scoreboard(self._less(hidden), Conventions.of())

    def of_means(self, measures: Sequence[Measure]) -> list[Outcome]:
        """Return what is inside for each run's means, all runs being looked at together."""
        every = list(range(len(self.seen.run_names)))
        true, whole = self._true(measures, every), means_of(self._truth, measures)
        bands = LiveRanges(self.seen, draws=DRAWS).means(self.seen, measures)
        found = []
        for (run, measure, _), band in bands.items():
            if band.is_open:
                found.append(outcome(measure.label, band, true[run, measure]))
                _, likely, _ = outcome("", band, whole[run, measure])
                found.append(("all grades", likely, True))
        return found

    def of_pair(self, measures: Sequence[Measure], pair: tuple[int, int]) -> list[Outcome]:
        """Do the same for the delta of two runs alone."""
        a, b = (self.seen.run_names[at] for at in pair)
        true = self._true(measures, pair)
        bands = LiveRanges(self.seen, (a, b), DRAWS).deltas(self.seen, measures)
        return [
            outcome(f"{measure.label} delta", band, true[b, measure] - true[a, measure])
            for (measure, _), band in bands.items()
            if band.is_open
        ]

    def _true(self, measures: Sequence[Measure], columns: Sequence[int]) -> Means:
        """Return the means once the unjudged chunks of some runs are graded, and nothing else."""
        found: Means = {}
        for cutoff in {measure.cutoff for measure in measures}:
            alike = [measure for measure in measures if measure.cutoff == cutoff]
            deep = np.full(self._tops.queries, DEPTH)
            depth = deep if cutoff is None else self.seen.cutoffs(alike[0])
            graded = self._less(self._hidden & ~self._tops.within(columns, depth))
            found |= means_of(graded, alike)
        return found

    def _less(self, gone: Mask) -> Collection:
        return without(self._truth, self._tops.query[gone], self._tops.chunk[gone])


def means_of(collection: Collection, measures: Sequence[Measure]) -> Means:
    """Return all means."""
    board = Scoreboard(collection, Conventions.of())
    return {(row.run, row.measure): row.value for row in board.table(measures)}


def replayed(
    replay: Replay, measures: Sequence[Measure], pair: tuple[int, int] | None
) -> list[Outcome]:
    """Return what is inside for means, and for the delta of a pair if there is one."""
    return replay.of_means(measures) + ([] if pair is None else replay.of_pair(measures, pair))


def replays(name: str, truth: Truth, hidings: int, ways: dict[str, Hider]) -> Iterator[None]:
    """Hide grades again and again, each way in turn; give way each time it was printed."""
    measures = Conventions.of().measures(MEASURES)
    draws = {way: np.random.default_rng(5) for way in ways}
    tallies = {way: Tally() for way in ways}
    printed, before = FIRST_PRINTED, None
    known: dict[object, list[Outcome]] = {}  # the same grades hidden again give the same again
    for turn in range(hidings):
        collection = truth(turn)
        if collection is not before:
            known, before = {}, collection
            tops = find_top_chunks(Scoreboard(collection, Conventions.of()))
        pairs = list(combinations(range(len(collection.runs)), 2))
        for way, hide in ways.items():
            start = time.process_time()
            hidden = hide(tops, draws[way], turn)
            pair = pairs[turn // PAIR_EVERY % len(pairs)] if turn % PAIR_EVERY == 0 else None
            asked = (hidden.tobytes(), pair)
            if asked not in known:
                known[asked] = replayed(Replay(collection, tops, hidden), measures, pair)
            tallies[way].add(known[asked])
            tallies[way].seconds += time.process_time() - start
        if turn + 1 in (printed, hidings):
            printed *= 2
            print(f"{name}: {len(collection.query_ids)} queries, {len(collection.runs)} runs")
            for way, tally in tallies.items():
                tally.show(way, turn + 1)
            yield


def main() -> None:
    """Replay every collection, and print the tables."""
    given = [*sys.argv[1:], *["", str(HIDINGS), "", ""][len(sys.argv) - 1 :]]
    folder, hidings, only, one_way = given
    truths: dict[str, Truth] = {
        name: lambda _, truth=truth: truth for name, truth in read_all(Path(folder)).items()
    }
    if only == MADE_UP:
        truths = {
            f"made up, {name} relevant": lambda turn, kind=kind: simulate(kind, turn)
            for name, kind in KINDS.items()
        }
    ways = {way: hide for way, hide in HIDERS.items() if one_way in ("", way)}
    begun = [
        replays(name, truth, int(hidings), ways)
        for name, truth in truths.items()
        if only in ("", MADE_UP, name)
    ]
    for _ in zip_longest(*begun):
        pass


if __name__ == "__main__":
    main()

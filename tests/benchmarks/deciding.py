"""Replay graded collections as if nobody had graded them, and see how few grades decide A or B.

``python -m tests.benchmarks.deciding --zero cranfield --drop codec``: folders with queries, qrels
and runs; of more than six runs six are drawn for each seed. All pairs of runs, by three measures:
five pairs, then the twentieth part of those known, are "graded" at a time, from the published
grades, until the verdict is settled. Of chunks without a published grade those under ``--zero``
count as graded 0, those under ``--drop`` are taken out of the lists first. Right is the sign of the
delta under all published grades. ``--keep FILE`` writes each replay as it ends, and the next time
goes on from there.

A second table says how often the run that is likelier to be ahead is ahead, by the certainty that
is claimed. For it, some more pairs are graded at random after the verdict is settled.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np

from labeler.analysis.active import Certainty, Decider
from labeler.analysis.active.certainty import LEAST_GRADES, SMALLEST_MATTERING
from labeler.analysis.active.simulation import Simulation
from labeler.measures import Ints, Measure
from labeler.model import GradeChange
from tests.benchmarks.published import Graded, read, read_sample

MEASURES = "nDCG@10 RR@10 P@10"
STEP, GROWTH, GO_ON, MOST_RUNS = 5, 0.05, 6, 6
CLAIMS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.97, 0.99, 1.0 + 1e-9)
SIZES = (0.0, 0.01, 0.02, 0.05, 1.0)
Key = tuple[str, int, str, str, str, str]
Claim = tuple[float, bool]


@dataclass(frozen=True)
class Replay:
    """How one replay ended: how much of the pool it took, and whether it was right."""

    order: str
    seed: int
    collection: str
    measure: str
    a: str
    b: str
    truth: float
    share: float
    right: bool
    claims: list[Claim]

    @property
    def key(self) -> Key:
        """What tells it from other replays."""
        return (self.order, self.seed, self.collection, self.measure, self.a, self.b)

    @property
    def matters(self) -> bool:
        """Whether the difference under the truth is one that matters."""
        return abs(self.truth) >= SMALLEST_MATTERING


def replay(
    graded: Graded, a: str, b: str, measure: Measure, seed: int, order: str
) -> Iterator[Certainty]:
    """Grade from the truth what is chosen next until the verdict is settled, and a little more."""
    board, decider = graded.board(), Decider(seed)
    lot, ids, settled = np.random.default_rng(seed), board.collection, 0
    for revision in range(1, 100_000):
        standing = decider.standing(board, a, b, measure)
        yield standing
        settled += settled > 0 or standing.settled
        if settled > GO_ON or not standing.open:
            break
        order = "random" if settled else order
        trial = decider.trial(board, a, b, measure)
        places = trial.places[chosen(trial, max(STEP, round(standing.graded * GROWTH)), lot, order)]
        tops, changes = trial.model.tops, []
        pairs = np.stack([tops.query, tops.chunk], axis=1)[places]
        for query, chunk in pairs.tolist():
            query_id, chunk_id = ids.query_ids[query], ids.chunk_ids[chunk]
            changes.append(GradeChange(query_id, chunk, graded.qrels[query_id].get(chunk_id, 0)))
        board.refresh(changes, revision)


def chosen(trial: Simulation, many: int, lot: np.random.Generator, order: str) -> Ints:
    """Return where the pairs stand that are graded next: by what they decide, or by lot."""
    if order == "random":
        return lot.permutation(len(trial.places))[:many]
    return np.argsort(-trial.moves, kind="stable")[:many]


def replays(graded: Graded, measures: str, seed: int, order: str) -> Iterator[Asked]:
    """Give the replays of all pairs of a collection's runs."""
    truth = graded.truth()
    for measure in truth.resolve(truth.conventions.measures(measures)):
        values = truth.values(measure)
        for a, b in combinations(graded.runs, 2):
            columns = values[:, truth.column_of(b)] - values[:, truth.column_of(a)]
            yield Asked(graded, a, b, measure, seed, order, float(np.nanmean(columns)))


@dataclass(frozen=True)
class Asked:
    """A replay that is to be done; ``truth`` is the delta under all published grades."""

    graded: Graded
    a: str
    b: str
    measure: Measure
    seed: int
    order: str
    truth: float

    @property
    def key(self) -> Key:
        """What tells it from other replays."""
        return (self.order, self.seed, self.graded.name, self.measure.label, self.a, self.b)

    def done(self) -> Replay:
        """Do it."""
        steps = list(replay(self.graded, self.a, self.b, self.measure, self.seed, self.order))
        end = next((step for step in steps if step.settled), steps[-1])
        claims = [
            (max(step.ahead, 1 - step.ahead), (step.delta > 0) == (self.truth > 0))
            for step in steps
            if step.known and step.open and step.graded >= LEAST_GRADES
        ]
        right = end.leader == (self.b if self.truth > 0 else self.a)
        right |= end.leader is None and abs(self.truth) < SMALLEST_MATTERING
        return Replay(*self.key, self.truth, end.graded / end.pool, right, claims)


def all_done(wanted: Iterable[Asked], kept: Path | None) -> list[Replay]:
    """Do the replays that are not kept yet, keeping each as it ends; return all."""
    lines = kept.read_text().splitlines() if kept is not None and kept.exists() else []
    known = {each.key: each for each in (Replay(**json.loads(line)) for line in lines)}
    ends = []
    for asked in wanted:
        if asked.key not in known:
            known[asked.key] = end = asked.done()
            if kept is not None:
                with kept.open("a") as file:
                    file.write(json.dumps(asdict(end)) + "\n")
        ends.append(known[asked.key])
    return ends


def row(name: str, ends: list[Replay]) -> str:
    """Return a row: over all replays, of how many pairs of runs they are."""
    pairs = {(end.collection, end.a, end.b, end.measure) for end in ends}
    shares = [end.share for end in ends]
    right = statistics.mean(end.right for end in ends)
    middle, mean = statistics.median(shares), statistics.mean(shares)
    return f"| {name} | {len(pairs)} | {middle:.1%} | {mean:.1%} | {right:.1%} |"


def table(ends: list[Replay], order: str) -> Iterator[str]:
    """Give the rows of the table: those that matter, in all and by part, then the smaller ones."""
    for words, matters in ((f"≥ {SMALLEST_MATTERING}", True), (f"< {SMALLEST_MATTERING}", False)):
        some = [end for end in ends if end.matters is matters]
        if some:
            yield row(f"**{order}, all with \\|delta\\| {words}**", some)
        for name in dict.fromkeys(end.collection for end in some):
            for measure in dict.fromkeys(end.measure for end in some):
                part = [end for end in some if (end.collection, end.measure) == (name, measure)]
                if part:
                    yield row(f"{order}, {name}, {measure}, {words}", part)


def reliability(ends: list[Replay]) -> Iterator[str]:
    """Give the rows of the second table: how often who was said to be ahead was, by size."""
    yield (
        "\n| claimed | all | "
        + " | ".join(f"{low:g} to {high:g}" for low, high in pairwise(SIZES))
        + " |"
    )
    yield "|---" * (len(SIZES) + 1) + "|"
    for low, high in pairwise(CLAIMS):
        cells = []
        for least, most in ((0.0, 1.0), *pairwise(SIZES)):
            right = [
                was
                for end in ends
                if least <= abs(end.truth) < most
                for claimed, was in end.claims
                if low <= claimed < high
            ]
            cells.append(f"{np.mean(right):.1%} of {len(right):,}" if right else "-")
        yield f"| {low:.0%} to {min(high, 1.0):.0%} | {' | '.join(cells)} |"


def of_seed(graded: Graded, seed: int) -> Graded:
    """Return a collection with all its runs, or six that are drawn."""
    names = list(graded.runs)
    if len(names) > MOST_RUNS:
        names = np.random.default_rng(seed).choice(names, MOST_RUNS, replace=False).tolist()
    return replace(graded, runs={name: graded.runs[name] for name in names})


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--zero", nargs="*", type=Path, default=[], metavar="FOLDER")
    parser.add_argument("--drop", nargs="*", type=Path, default=[], metavar="FOLDER")
    parser.add_argument("--sample", action="store_true")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--random-seeds", type=int, default=3, help="0 leaves random order out")
    parser.add_argument("--measures", default=MEASURES)
    parser.add_argument("--pairs", action="store_true", help="print every pair of runs, too")
    parser.add_argument("--keep", type=Path, metavar="FILE", help="of replays, to go on from")
    asked = parser.parse_args()
    if not asked.zero and not asked.drop and not asked.sample:
        parser.error("name a folder of a graded collection, with --zero or --drop, or --sample")
    return asked


def main() -> None:
    """Replay, and print the table."""
    asked = arguments()
    print(f"{platform.platform()}, {os.cpu_count()} CPUs, Python {platform.python_version()}")
    start = time.perf_counter()
    found = [read(each, drop=False) for each in asked.zero]
    found += [read(each, drop=True) for each in asked.drop] + [read_sample()] * asked.sample
    print("\n| order | pairs of runs | median share | mean share | right |\n|---|---|---|---|---|")
    for order, seeds in (("what decides", asked.seeds), ("random", asked.random_seeds)):
        wanted = [
            each
            for seed in range(seeds)
            for graded in found
            for each in replays(of_seed(graded, seed), asked.measures, seed, order)
        ]
        ends = all_done(wanted, asked.keep)
        for line in table(ends, order):
            print(line, flush=True)
        if asked.pairs:
            print("\n".join(each_pair(ends)))
        if ends:
            print("\n".join(reliability(ends)), flush=True)
    print(f"\n{time.perf_counter() - start:.0f} s")


def each_pair(ends: Iterable[Replay]) -> Iterator[str]:
    """Give a line for each pair of runs."""
    pairs: dict[str, list[Replay]] = {}
    for end in ends:
        name = f"{end.collection} {end.a} {end.b} {end.measure} {end.truth:+.4f}"
        pairs.setdefault(name, []).append(end)
    for name, of in pairs.items():
        yield row(name, of)


if __name__ == "__main__":
    main()

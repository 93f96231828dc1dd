"""How often intervals hold the true mean, and bounds of the gate stay below it: ``python -m
tests.benchmarks.coverage [--collection NAME=FOLDER ...] [--rel NAME=2 ...] [--samples 4000]``.

Takes graded collections as the whole population (see ``published.py``; the sample is always one):
the mean over all queries of a collection is the truth, and each sample draws queries from it with
replacement. Of more than twelve runs twelve are drawn. Pairs of runs are close where their means
differ by less than 0.05 and some query differs. Prints the tables of
docs/explanation/statistics.md:

- differences: the share that held the truth, of those with an interval, and the share without one;
- the share that disagree with their test, which has to be 0;
- families of three measures, corrected: how often all intervals held;
- weighted differences, where a query weighs 0.5, 1, 2 or 4;
- means, and lower bounds with 95% confidence: how often they were too high;
- looks: how often a bound was too high at one of 300 looks while queries arrive;
- commits: the same of 300 runs over 200 queries, each like the last one but for 5% of its values.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np

from labeler.evaluation import Conventions, Scoreboard, collect
from labeler.measures import Bools, Floats, Measure
from labeler.stats import (
    ALPHA,
    ConfidenceInterval,
    anytime_difference_bound,
    anytime_mean_bound,
    difference_bounds,
    difference_intervals,
    mean_bound,
    p_values,
)
from labeler.stats.confidence_bounds import BET_SIZES
from labeler.stats.confidence_intervals import mean_interval
from tests.benchmarks.published import Graded, read, read_sample

MEASURES = "nDCG@10 AP RR P@5 R@5 Success@3"
FAMILY = ("nDCG@10", "R@5", "RR")
SIZES = (10, 20, 50, 200)
MOST_RUNS, CLOSE, AT_ONCE = 12, 0.05, 500
WEIGHTS = np.array([0.5, 1.0, 2.0, 4.0])
FIRST_LOOK, LOOKS, CONFIDENCE = 20, 300, 0.95
COMMIT_QUERIES, CHANGED = 200, 0.05
NEEDED = math.log(len(BET_SIZES) / (1 - CONFIDENCE))


class Population(NamedTuple):
    """A collection's values by measure, (queries, runs), only of queries where all are defined."""

    name: str
    measures: Sequence[Measure]
    values: dict[str, Floats]

    def pairs(self, label: str, *, close: bool) -> list[tuple[int, int]]:
        """Return the ordered pairs of runs that differ in some query."""
        values = self.values[label]
        means = values.mean(axis=0)
        return [
            pair
            for a, b in combinations(range(values.shape[1]), 2)
            if np.any(values[:, a] != values[:, b])
            and (not close or abs(means[a] - means[b]) < CLOSE)
            for pair in ((a, b), (b, a))
        ]


def population(graded: Graded, rel: int, draw: np.random.Generator) -> Population:
    """Score the runs of a collection."""
    names = list(graded.runs)
    if len(names) > MOST_RUNS:
        names = sorted(draw.choice(names, MOST_RUNS, replace=False).tolist())
    runs = {name: graded.runs[name] for name in names}
    board = Scoreboard(collect(graded.qrels, runs), Conventions.of(rel=rel))
    measures = board.resolve(board.conventions.measures(MEASURES))
    values = {measure.label: board.values(measure) for measure in measures}
    known = ~np.any([np.isnan(each).any(axis=1) for each in values.values()], axis=0)
    return Population(graded.name, measures, {name: v[known] for name, v in values.items()})


class Drawn(NamedTuple):
    """Samples of differences of one measure, (samples, n), with the truth of each."""

    samples: Floats
    weights: Floats
    truths: Floats
    collections: list[str]


def draw_differences(
    every: Sequence[Population], labels: Sequence[str], n: int, count: int, **how: bool
) -> dict[str, Drawn]:
    """Draw samples of a pair of runs, the same queries for all ``labels``."""
    draw = np.random.default_rng(n)
    close, weighted = how.get("close", True), how.get("weighted", False)
    there = [each for each in every if each.pairs(labels[0], close=close)]
    made: dict[str, list[tuple[Floats, float]]] = {label: [] for label in labels}
    weights, names = [], []
    for _ in range(count):
        of = there[int(draw.integers(len(there)))]
        pairs = of.pairs(labels[0], close=close)
        a, b = pairs[int(draw.integers(len(pairs)))]
        queries = len(of.values[labels[0]])
        weight = draw.choice(WEIGHTS, queries) if weighted else np.ones(queries)
        picked = draw.integers(queries, size=n)
        for label in labels:
            delta = of.values[label][:, b] - of.values[label][:, a]
            delta[np.abs(delta) <= 1e-12] = 0.0
            made[label].append((delta[picked], float(np.average(delta, weights=weight))))
        weights.append(weight[picked])
        names.append(of.name)
    return {
        label: Drawn(
            np.stack([sample for sample, _ in some]),
            np.stack(weights),
            np.array([truth for _, truth in some]),
            names,
        )
        for label, some in made.items()
    }


def intervals(drawn: Drawn, *, binary: bool, tests: int = 1) -> list[ConfidenceInterval]:
    """Return the interval of each sample, and check that none disagrees with its test."""
    found: list[ConfidenceInterval] = []
    for first in range(0, len(drawn.samples), AT_ONCE):
        part = slice(first, first + AT_ONCE)
        samples, weights = list(drawn.samples[part]), list(drawn.weights[part])
        ps = [p.p for p in p_values([x * w for x, w in zip(samples, weights, strict=True)])]
        some = len(samples)
        made = difference_intervals(
            samples, weights, ps, tests=[tests] * some, zero_or_one=[binary] * some
        )
        for each, p in zip(made, ps, strict=True):
            if each.method and each.excludes_zero != (tests * p <= ALPHA):
                raise SystemExit(f"{each} disagrees with its p-value {p}")
        found += made
    return found


def held(found: Sequence[ConfidenceInterval], truths: Floats) -> Floats:
    """Return 1 where an interval holds the truth, 0 where not, NaN where there is none."""
    ends = np.array([(each.lo, each.hi) for each in found])
    inside = (ends[:, 0] <= truths + 1e-12) & (truths - 1e-12 <= ends[:, 1])
    return np.where(np.isnan(ends[:, 0]), np.nan, inside.astype(np.float64))


def percent(shares: Floats) -> str:
    """Return the mean of those that are known, as a percentage with the share of the others."""
    known = shares[~np.isnan(shares)]
    none = 100 * (1 - len(known) / len(shares))
    shown = f"{100 * known.mean():.1f}" if len(known) else "–"
    return shown if none < 0.5 else f"{shown} ({none:.0f})"


def table(title: str, head: str, rows: dict[str, list[str]]) -> None:
    """Print a Markdown table."""
    print(f"\n{title}\n")
    print(f"| {head} |" + "".join(f" n {n} |" for n in SIZES))
    print("|---" * (len(SIZES) + 1) + "|")
    for name, cells in rows.items():
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


def print_differences(every: Sequence[Population], count: int) -> None:
    """Print how often intervals of differences hold the truth, by measure and by collection."""
    labels = list(every[0].values)
    by_collection: dict[str, dict[int, list[Floats]]] = {}
    for close in (True, False):
        rows: dict[str, list[str]] = {}
        for label in labels:
            for n in SIZES:
                drawn = draw_differences(every, [label], n, count, close=close)[label]
                shares = held(intervals(drawn, binary=label.startswith("Success")), drawn.truths)
                rows.setdefault(label, []).append(percent(shares))
                for name in {each.name for each in every if close}:
                    own = shares[np.array(drawn.collections) == name]
                    by_collection.setdefault(name, {}).setdefault(n, []).append(own)
        which = "close pairs" if close else "all pairs"
        table(f"Differences, {which}, % (in brackets: % without an interval)", "measure", rows)
    rows = {
        name: [percent(np.concatenate(of[n])) for n in SIZES] for name, of in by_collection.items()
    }
    table("Differences, close pairs, all measures, %", "collection", rows)


def print_families(every: Sequence[Population], count: int) -> None:
    """Print how often all intervals of three measures hold, each at the corrected level."""
    rows: dict[str, list[str]] = {}
    for n in SIZES:
        drawn = draw_differences(every, FAMILY, n, count)
        for tests in (1, len(FAMILY)):
            inside = [
                held(intervals(each, binary=False, tests=tests), each.truths)
                for each in drawn.values()
            ]
            known = ~np.all(np.isnan(inside), axis=0)
            name = "corrected for 3" if tests > 1 else "not corrected"
            rows.setdefault(name, []).append(percent(np.nanmin(np.array(inside)[:, known], axis=0)))
    table(f"All intervals of {', '.join(FAMILY)} hold, %", "", rows)


def print_weighted(every: Sequence[Population], count: int) -> None:
    """Print how often intervals of weighted differences hold the weighted truth."""
    rows: dict[str, list[str]] = {}
    for label in every[0].values:
        for n in SIZES:
            drawn = draw_differences(every, [label], n, count, weighted=True)[label]
            shares = held(intervals(drawn, binary=label.startswith("Success")), drawn.truths)
            rows.setdefault(label, []).append(percent(shares))
    table("Weighted differences, close pairs, % (% without an interval)", "measure", rows)


def draw_means(
    every: Sequence[Population], label: str, n: int, count: int
) -> Iterator[tuple[Floats, float]]:
    """Yield samples of one run's values, with the mean of all."""
    draw = np.random.default_rng(n)
    for _ in range(count):
        values = every[int(draw.integers(len(every)))].values[label]
        column = values[:, int(draw.integers(values.shape[1]))]
        yield column[draw.integers(len(column), size=n)], float(column.mean())


def print_means(every: Sequence[Population], count: int) -> None:
    """Print how often intervals of means hold, and how often lower bounds are too high."""
    inside: dict[str, list[str]] = {}
    above: dict[str, list[str]] = {}
    falls: dict[str, list[str]] = {}
    for measure in every[0].measures:
        label = measure.label
        for n in SIZES:
            whole, low = [], []
            for sample, truth in draw_means(every, label, n, count):
                found = mean_interval(sample, np.ones(n), measure)
                whole.append(found.lo - 1e-12 <= truth <= found.hi + 1e-12)
                low.append(mean_bound(sample, np.ones(n), measure, CONFIDENCE).lo > truth + 1e-12)
            inside.setdefault(label, []).append(f"{100 * np.mean(whole):.1f}")
            above.setdefault(label, []).append(f"{100 * np.mean(low):.1f}")
            drawn = draw_differences(every, [label], n, count)[label]
            bounds = difference_bounds(
                list(drawn.samples),
                list(drawn.weights),
                CONFIDENCE,
                [measure.is_zero_or_one] * count,
            )
            high = np.array([each.lo for each in bounds]) > drawn.truths + 1e-12
            known = ~np.isnan([each.lo for each in bounds])
            falls.setdefault(label, []).append(percent(np.where(known, high, np.nan)))
    table("Means of one run, %", "measure", inside)
    table("95% lower bounds of means that are too high, % (5 is right)", "measure", above)
    title = "95% lower bounds of differences that are too high, % (% where no query differs)"
    table(title, "measure", falls)


Bound = Callable[[Floats], float]


def ever_above(samples: Floats, truth: float, bound: Bound | None) -> tuple[bool, bool]:
    """Say whether a lower bound is above the truth at any look, and at the last one.

    None is the bound for every look, for values from 0 to 1: it is above the truth where the bets
    against the truth have won enough, which is worked out for all looks at once.
    """
    looks = range(FIRST_LOOK, FIRST_LOOK + LOOKS)
    if bound is not None:
        high = [bound(samples[:n]) > truth for n in looks]
    else:
        won = np.cumsum(np.log1p(np.outer(BET_SIZES, samples / truth - 1)), axis=1)
        high = has_won(won[:, [n - 1 for n in looks]]).tolist()
    return any(high), high[-1]


def has_won(won: Floats) -> Bools:
    """Say whether bets, (bets, looks) of the logarithm of what each has, have won enough."""
    enough: Bools = np.logaddexp.reduce(won, axis=0) >= NEEDED
    return enough


def print_looks(every: Sequence[Population], count: int) -> None:
    """Print how often bounds are too high at some look, and how far they are below the mean."""
    print(f"\nToo high at one of {LOOKS} looks, while the queries grow from {FIRST_LOOK}\n")
    print("| | one look, at the last | one look, at any | anytime, at any |\n|---|---|---|---|")
    for measure in every[0].measures:
        label, single, always, gaps = measure.label, [], [], []
        for sample, truth in draw_means(every, label, FIRST_LOOK + LOOKS - 1, count):
            bound: Bound = lambda x: mean_bound(x, np.ones(len(x)), measure, CONFIDENCE).lo  # noqa: B023, E731
            single.append(ever_above(sample, truth, bound))
            always.append(ever_above(sample, truth, None)[0])
            gaps.append(gap(sample, bound(sample), anytime_mean_bound(sample, CONFIDENCE).lo))
        print_look(label, single, always, gaps)
    for label in ("nDCG@10", "RR"):
        single, always, gaps = [], [], []
        drawn = draw_differences(every, [label], FIRST_LOOK + LOOKS - 1, count // 4)[label]
        for sample, truth in zip(drawn.samples, drawn.truths.tolist(), strict=True):
            lows = bounds_at_looks(sample)
            single.append((bool(np.any(lows > truth + 1e-12)), bool(lows[-1] > truth + 1e-12)))
            always.append(ever_above((1 + sample) / 2, (1 + truth) / 2, None)[0])
            gaps.append(gap(sample, lows[-1], anytime_difference_bound(sample, CONFIDENCE).lo))
        print_look(f"{label}, differences", single, always, gaps)


def print_commits(every: Sequence[Population], count: int) -> None:
    """Print how often bounds are too high for one of many runs over the same queries."""
    print(f"\nToo high for one of {LOOKS} runs over {COMMIT_QUERIES} queries\n")
    print("| | one look, of the last | one look, of any | anytime, of any |\n|---|---|---|---|")
    draw = np.random.default_rng(11)
    for measure in every[0].measures:
        single, always = [], []
        pools = draw_means(every, measure.label, LOOKS * COMMIT_QUERIES, count)
        for pool, truth in pools:
            runs = changing_runs(pool.reshape(LOOKS, COMMIT_QUERIES), draw)
            ones = np.ones(COMMIT_QUERIES)
            high = [mean_bound(run, ones, measure, CONFIDENCE).lo > truth for run in runs]
            single.append((any(high), high[-1]))
            won = [np.log1p(np.outer(BET_SIZES, run / truth - 1)).sum(axis=1) for run in runs]
            always.append(bool(has_won(np.array(won).T).any()))
        print_look(measure.label, single, always, [])


def changing_runs(fresh: Floats, draw: np.random.Generator) -> Floats:
    """Return runs, (runs, queries), that each change a few of their values."""
    runs = fresh.copy()
    for at in range(1, len(runs)):
        same = draw.random(runs.shape[1]) >= CHANGED
        runs[at, same] = runs[at - 1, same]
    return runs


def bounds_at_looks(sample: Floats) -> Floats:
    """Return the bound of a difference for one look, at each look."""
    parts = [sample[:n] for n in range(FIRST_LOOK, FIRST_LOOK + LOOKS)]
    found = difference_bounds(parts, [np.ones(len(x)) for x in parts], CONFIDENCE, [False] * LOOKS)
    return np.array([each.lo for each in found])


def gap(sample: Floats, single: float, always: float) -> float:
    """Return how many times further below the mean the bound for every look is."""
    below = float(sample.mean()) - single
    return (float(sample.mean()) - always) / below if below > 0 else math.nan


def print_look(
    name: str, single: Sequence[tuple[bool, bool]], always: Sequence[bool], gaps: Sequence[float]
) -> None:
    """Print a row of shares, and the width in units of a bound for one look."""
    anyone, last = (100 * np.mean([each[at] for each in single]) for at in (0, 1))
    width = f" ({np.nanmedian(gaps):.1f} times as far below)" if gaps else ""
    print(
        f"| {name} | {last:.1f} | {anyone:.1f} | {100 * np.mean(always):.1f}{width} |", flush=True
    )


def main() -> None:
    """Read the collections and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--collection", nargs="*", default=[], metavar="NAME=FOLDER")
    parser.add_argument("--rel", nargs="*", default=[], metavar="NAME=GRADE")
    parser.add_argument("--samples", type=int, default=4000)
    parser.add_argument("--only", nargs="*", default=[])
    asked = parser.parse_args()
    rels = {name: int(rel) for name, _, rel in (each.partition("=") for each in asked.rel)}
    draw, every = np.random.default_rng(7), [population(read_sample(), 1, np.random.default_rng(7))]
    for each in asked.collection:
        name, _, folder = each.partition("=")
        graded = read(Path(folder), drop=False)
        every.append(population(graded, rels.get(name, 1), draw)._replace(name=name))
    for one in every:
        queries, runs = one.values[MEASURES.split()[0]].shape
        print(f"{one.name}: {queries} queries, {runs} runs")
    parts: dict[str, Callable[[], None]] = {
        "differences": lambda: print_differences(every, asked.samples),
        "families": lambda: print_families(every, asked.samples),
        "weighted": lambda: print_weighted(every, asked.samples),
        "means": lambda: print_means(every, asked.samples),
        "looks": lambda: print_looks(every, asked.samples // 8),
        "commits": lambda: print_commits(every, asked.samples // 8),
    }
    for name, part in parts.items():
        if not asked.only or name in asked.only:
            start = time.process_time()
            part()
            print(f"\n{name}: {time.process_time() - start:.0f} s of CPU", flush=True)


if __name__ == "__main__":
    main()

"""How often means are said to mislead where they do not: ``python -m tests.benchmarks.misleading
--sample --zero cranfield --drop codec dl21``.

Two runs of a graded collection swap the lists of each query at random, so that no measure can truly
tell them apart, and every chunk of a top 20 is graded. Each query gets a bucket, and all of a set
the same task, at random. The lines have the share of such sets with a caution, by measure that
leads. What is said of both runs, such as that grades are counted alike, is so in most sets or none.
"""

from __future__ import annotations

import argparse
from collections import Counter
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np

from labeler.analysis.cautions import find_cautions
from labeler.evaluation import DEFAULT_MEASURES, Conventions, Scoreboard
from tests.benchmarks.published import Graded, read, read_sample

LEADING = (" ".join(DEFAULT_MEASURES), "RR", "Success@3", "R@5", "R@10", "AP")
SETS, BUCKETS, MOST_PAIRS = 200, 5, 5


def a_clean_set(given: Graded, names: tuple[str, str], source: np.random.Generator) -> Scoreboard:
    """Return two runs that differ by chance alone, with buckets and tasks at random."""
    ids = [*given.qrels]
    swapped = dict(zip(ids, source.random(len(ids)) < 0.5, strict=True))
    first, second = (given.runs[name] for name in names)
    runs = {
        "A": {q: (second if swapped[q] else first).get(q, []) for q in ids},
        "B": {q: (first if swapped[q] else second).get(q, []) for q in ids},
    }
    task = "single" if source.random() < 0.5 else "research"
    facets = {
        "topic": {q: f"t{source.integers(BUCKETS)}" for q in ids},
        "task": dict.fromkeys(ids, task),
    }
    graded = replace(given, runs=runs, buckets=facets)
    return Scoreboard(graded.collection(["A", "B"]), Conventions.of())


def count_cautions(given: Graded, names: str) -> Counter[str]:
    """Return in how many of the sets each kind is said."""
    source, found = np.random.default_rng(1), Counter[str]()
    pairs = [*combinations(sorted(given.runs), 2)][:MOST_PAIRS]
    for at in range(SETS):
        board = a_clean_set(given, pairs[at % len(pairs)], source)
        said = find_cautions(board, board.conventions.measures(names), most=None)
        found.update({each.kind for each in said})
    return found


def main() -> None:
    """Print a line for each collection and leading measure."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--sample", action="store_true", help="the sample data")
    for way in ("zero", "drop"):
        asked.add_argument(f"--{way}", nargs="*", type=Path, default=[], metavar="FOLDER")
    given = asked.parse_args()
    found = [read_sample()] if given.sample else []
    found += [read(folder, drop=False) for folder in given.zero]
    found += [read(folder, drop=True) for folder in given.drop]
    for each in found:
        for names in LEADING:
            counts = count_cautions(each, names)
            shares = ", ".join(f"{kind} {n / SETS:.1%}" for kind, n in counts.most_common())
            print(f"{each.name:10} n {len(each.qrels):4} {names.split()[0]:9} {shares or 'none'}")


if __name__ == "__main__":
    main()

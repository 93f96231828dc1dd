"""Time the ranges over unjudged chunks: ``python -m tests.benchmarks.holes``.

On 1,000 queries x 10 runs x depth 100 with 20,000 golden grades: the possible and the 90% ranges of
8 measures, for all runs at once and for the difference of two, first of a golden set that was never
looked at, then after one more grade. Times are the processor's.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import numpy as np

from labeler.evaluation import Conventions, Scoreboard
from labeler.model import GradeChange
from labeler.stats import LiveRanges, find_top_chunks
from tests.benchmarks.live import machine
from tests.benchmarks.workloads import SIZES, collection_of

MEASURES = "nDCG@10 R@prompt P@prompt Success@3 RR AP F1@5 ERR@10"
ROUNDS, GRADES = 3, 15
Look = Callable[[LiveRanges, Scoreboard], object]


def main() -> None:
    """Print medians of several rounds, and how many draws they are of."""
    print(machine())
    collection = collection_of(SIZES["M"])
    conventions = Conventions.of()
    measures = conventions.measures(MEASURES)
    board = Scoreboard(collection, conventions)
    board.table(measures)
    looks: dict[str, tuple[tuple[str, ...], Look]] = {
        "all runs": (board.run_names, lambda bands, at: bands.means(at, measures)),
        "delta of two": (board.run_names[:2], lambda bands, at: bands.deltas(at, measures)),
    }
    tops, draw = find_top_chunks(board), np.random.default_rng(3)
    print(f"{SIZES['M']}, {len(measures)} measures, {len(tops.query):,} pairs in a top 20")
    revision = 0
    for name, (runs, look) in looks.items():
        first, again, draws = [], [], 0
        for _ in range(ROUNDS):
            start = time.process_time()
            bands = LiveRanges(board, runs)
            look(bands, board)
            first.append(time.process_time() - start)
            draws = bands.draws
        for at in draw.integers(len(tops.query), size=GRADES).tolist():
            revision += 1
            query_id, chunk = collection.query_ids[tops.query[at]], int(tops.chunk[at])
            board.refresh([GradeChange(query_id, chunk, int(draw.integers(4)))], revision)
            start = time.process_time()
            look(bands, board)
            again.append(time.process_time() - start)
        print(f"  {name:<14} {draws:>4} draws  first {statistics.median(first):6.2f} s  ", end="")
        print(f"after one grade {statistics.median(again) * 1000:6.1f} ms, ", end="")
        print(f"slowest {max(again) * 1000:6.1f} ms")


if __name__ == "__main__":
    main()

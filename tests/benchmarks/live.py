"""Time the live board on synthetic data: ``python -m tests.benchmarks.live [S|M|L ...]``.

One grade after another changes, and all means of all runs, measures and buckets are read again;
and a new process opens the golden set's file and computes everything, watched for its memory.
"""

from __future__ import annotations

import argparse
import math
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from labeler.evaluation import Conventions, Scoreboard
from labeler.model import Collection, GradeChange
from labeler.store import Store
from tests.benchmarks.workloads import (
    BUCKETS,
    MEASURES,
    SEED,
    SIZES,
    collection_of,
    make_collection,
    write_database,
)

__all__ = ["machine", "make_collection", "time_grades", "time_opening"]


def machine() -> str:
    """Say what the figures were measured on."""
    with open("/proc/loadavg") as file:
        load = file.read().split()[0]
    return (
        f"{platform.platform()}, {platform.processor() or platform.machine()}, {os.cpu_count()} "
        f"CPUs (load {load}), Python {platform.python_version()}, numpy {np.__version__}"
    )


def clock(action: Callable[[], object], *, cpu: bool = False) -> float:
    """Return milliseconds by the clock on the wall, or of all threads' work."""
    now = time.process_time if cpu else time.perf_counter
    start = now()
    action()
    return (now() - start) * 1000


def time_grades(
    collection: Collection, changes: int, *, rows: bool = True
) -> list[tuple[float, float]]:
    """Change one grade at a time; milliseconds to fresh means as arrays, and as rows of text.

    Without ``rows``, NaN, grades come in a row: nothing else has the processor's caches meanwhile.
    """
    draw = np.random.default_rng(SEED + 1)
    board = Scoreboard(collection, Conventions.of())
    measures = board.conventions.measures(MEASURES)
    board.table(measures), board.table(measures, "intent")
    times = []
    for revision in range(1, changes + 1):
        query = int(draw.integers(len(collection.query_ids)))
        ranked = collection.runs[int(draw.integers(len(collection.runs)))].lists[query].chunks
        chunk = int(draw.choice(ranked[:30]))
        change = GradeChange(collection.query_ids[query], chunk, int(draw.integers(4)))

        def regrade(change: GradeChange = change, revision: int = revision) -> None:
            board.refresh([change], revision)
            board.means(measures)
            board.means(measures, "intent")

        def write_out() -> None:
            board.table(measures)
            board.table(measures, "intent")

        fresh = clock(regrade)
        times.append((fresh, fresh + clock(write_out) if rows else math.nan))
    return times


def time_opening(collection: Collection) -> tuple[float, float]:
    """Return seconds from the file to all means, and the peak of memory in GB, in a new process."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "golden.db")
        write_database(collection, path)
        command = [sys.executable, "-m", "tests.benchmarks.live", "--open", str(path)]
        seconds, peak = subprocess.run(
            command, check=True, capture_output=True, text=True
        ).stdout.split()
    return float(seconds), float(peak)


def open_file(path: str) -> None:
    """Open a golden set, compute everything, print the seconds and the peak of memory in GB."""
    start = time.perf_counter()
    with Store(path) as store:
        board = Scoreboard(store.collection.read(), Conventions.of())
    measures = board.conventions.measures(MEASURES)
    board.means(measures), board.means(measures, "intent")
    seconds = time.perf_counter() - start
    print(seconds, peak_memory() / 1e9)


def peak_memory() -> float:
    """Return the most memory this process has had, in bytes.

    Linux counts the parent's memory in ru_maxrss too, so its own file is asked there.
    """
    status = Path("/proc/self/status")
    if status.exists():
        [line] = [line for line in status.read_text().splitlines() if line.startswith("VmHWM")]
        return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def main() -> None:
    """Time one changed grade, and opening the file, for each size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sizes", nargs="*", default=["M"], metavar="S|M|L")
    parser.add_argument("--changes", type=int, default=300)
    parser.add_argument("--open", metavar="FILE", help="what the benchmark's own process is given")
    arguments = parser.parse_args()
    if arguments.open:
        open_file(arguments.open)
        return
    print(machine())
    for name in arguments.sizes:
        collection = collection_of(SIZES[name])
        rows = len(MEASURES) * len(collection.runs) * (BUCKETS + 1)
        print(SIZES[name])
        print(f"  a grade to {rows:,} means: {len(MEASURES)} measures, {BUCKETS} buckets and all")
        for what, is_written in (("in a row", False), ("after rows", True)):
            times = np.array(time_grades(collection, arguments.changes, rows=is_written))
            median, (p95, _) = np.median(times, axis=0), np.percentile(times, 95, axis=0)
            print(f"    {what:12} {median[0]:8.2f} ms   p95 {p95:.2f} ms")
        print(f"    and written out as rows {median[1]:.2f} ms")
        seconds, peak = time_opening(collection)
        print(f"  from the file to live {seconds:8.2f} s    peak {peak:.2f} GB")


if __name__ == "__main__":
    main()

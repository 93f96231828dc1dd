"""What a very large board takes to open: ``python -m tests.benchmarks.opening [QUERIES]``.

200,000 queries x 5 runs x depth 100 over a million chunks, with ten grades a query of two people:
100 million ranked results and two million grades in a file of 1.4 GB. Prints the seconds and the
largest memory of a process that opens it, and what of them is reading.
"""

from __future__ import annotations

import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from labeler.evaluation import Conventions, Scoreboard
from labeler.store import Store
from tests.conftest import ROOT

QUERIES, RUNS, DEPTH, CHUNKS, GRADES = 200_000, 5, 100, 1_000_000, 10
AT = "2024-02-29T00:00:00.000Z"
MEASURES = "nDCG@10 R@10 P@5 Success@3 RR AP Judged@10"


def write(path: Path, queries: int) -> None:
    """Write the golden set straight into its tables."""
    Store(path, create=True).close()
    draw = np.random.default_rng(7)
    near = draw.integers(1, CHUNKS - 200, queries)
    numbers = range(1, queries + 1)
    scores = np.linspace(1, 0, DEPTH, endpoint=False, dtype="<f4").tobytes()

    def judgments() -> Iterator[tuple[object, ...]]:
        for query in numbers:
            for chunk in (near[query - 1] + draw.permutation(150)[:GRADES]).tolist():
                grader, grade = 1 + chunk % 2, max(0, chunk % 7 - 3)
                yield f"{query}/{chunk}", query, chunk, grader, grade, AT

    with sqlite3.connect(path) as db:
        db.executemany(
            "INSERT INTO queries (id, query_id, text) VALUES (?, ?, 'What?')",
            ((n, f"q{n:06}") for n in numbers),
        )
        db.executemany(
            "INSERT INTO query_buckets (query, facet, bucket) VALUES (?, 'intent', ?)",
            ((n, f"b{n % 8}") for n in numbers),
        )
        db.executemany(
            "INSERT INTO chunks (id, chunk_id) VALUES (?, ?)",
            ((n, f"c{n:07}") for n in range(1, CHUNKS + 1)),
        )
        db.execute("INSERT INTO graders (id, name, seed) VALUES (1, 'Ann', 1), (2, 'Bob', 2)")
        db.executemany(
            "INSERT INTO judgments "
            "(event_id, query, chunk, grader, kind, grade, blind, created_at) "
            "VALUES (?, ?, ?, ?, 'grade', ?, 0, ?)",
            judgments(),
        )
        for run in range(1, RUNS + 1):
            db.execute(
                "INSERT INTO runs (id, name, system, created_at, depth, source_hash) "
                "VALUES (?, ?, 'made', ?, ?, ?)",
                [run, f"run{run}", AT, DEPTH, f"run{run}"],
            )
            db.executemany(
                "INSERT INTO ranked_lists (run, query_id, chunks, scores) VALUES (?, ?, ?, ?)",
                (
                    (
                        *(run, f"q{n:06}"),
                        (near[n - 1] + draw.permutation(150)[:DEPTH]).astype("<i4").tobytes(),
                        scores,
                    )
                    for n in numbers
                ),
            )
    db.close()


def opened(path: Path) -> None:
    """Open it and print what that took: in a process of its own."""
    began, used = time.perf_counter(), time.process_time()
    with Store(path) as store:
        collection = store.collection.read()
    read, read_used = time.perf_counter() - began, time.process_time() - used
    conventions = Conventions.of()
    board = Scoreboard(collection, conventions)
    board.table(conventions.measures(MEASURES))
    whole, whole_used = time.perf_counter() - began, time.process_time() - used
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(
        f"opened with {most:.2f} GB in {whole:.1f} s ({whole_used:.1f} s of a processor), of which "
        f"{read:.1f} s ({read_used:.1f} s) are reading; golden {collection.golden.hash[:8]}"
    )


def main(queries: int) -> None:
    """Make the golden set and open it three times."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "golden.db"
        write(path, queries)
        print(f"{queries:,} queries x {RUNS} x {DEPTH}: {path.stat().st_size / 1e9:.1f} GB")
        for _ in range(3):
            command = [sys.executable, "-m", "tests.benchmarks.opening", str(path)]
            subprocess.run(command, cwd=ROOT, check=True)


if __name__ == "__main__":
    given = sys.argv[1:] or [str(QUERIES)]
    if given[0].isdigit():
        main(int(given[0]))
    else:
        opened(Path(given[0]))

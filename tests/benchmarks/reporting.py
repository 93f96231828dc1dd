"""Time ``labeler report`` as a whole process: ``python -m tests.benchmarks.reporting [DATABASE]``.

1,000 queries x 2 runs x depth 100 and 20 golden grades each; of a golden set of its own, named as
argument, the last two runs. Prints the median and the longest of the wall clock, the processor time
and the memory of each process, and how large the file is.
"""

from __future__ import annotations

import os
import platform
import sys
import tempfile
from pathlib import Path

from labeler.store import Store
from tests.benchmarks.processes import print_middles, took
from tests.benchmarks.workloads import make_collection, write_database

ROUNDS = 5


def main() -> None:
    """Write the same report again and again, each time in a process of its own."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        path = Path(sys.argv[1]) if len(sys.argv) > 1 else folder / "golden.db"
        if len(sys.argv) == 1:
            write_database(make_collection(1_000, 2, 100, 100_003), path)
        with Store(path) as store:
            names, contents = store.runs.names()[-2:], store.golden_set.contents()
        file = folder / "report.html"
        command = [sys.executable, "-m", "labeler", "--db", str(path), "report", *names]
        command += ["-o", str(file), "--force"]
        print(f"{platform.platform()}, {os.cpu_count()} CPUs, Python {platform.python_version()}")
        print(f"{contents.queries:,} queries, {contents.runs} runs, load {os.getloadavg()[0]:.1f}")
        told = [took(command) for _ in range(ROUNDS)][1:]
        print_middles("labeler report", told)
        print(f"labeler report, the file: {file.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()

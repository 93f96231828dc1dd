"""Time ``labeler gate`` as a whole process: ``python -m tests.benchmarks.gating [DATABASE]``.

1,000 queries x 2 runs x depth 100 and 20 golden grades each; limits with 95% confidence on five
measures over all queries, and on one in each of eight buckets, least values and drops alike. With
a golden set of its own, named as argument, the last two runs of that one are taken. Prints the
median and the longest of the wall clock, the processor time and the memory of each process.
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

ROUNDS = 7
LIMITS = "{at_least = 0.1, drop = 0.9}"
FILE = """
confidence = 0.95
[overall]
"nDCG@10" = LIMITS
"R@prompt" = LIMITS
"Success@3" = LIMITS
RR = LIMITS
AP = LIMITS
[each.FACET]
"nDCG@10" = {at_least = 0, drop = 0.9}
"""


def main() -> None:
    """Judge the same run again and again, each time in a process of its own."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        path = Path(sys.argv[1]) if len(sys.argv) > 1 else folder / "golden.db"
        if len(sys.argv) == 1:
            write_database(make_collection(1_000, 2, 100, 100_003), path)
        with Store(path) as store:
            names = store.runs.names()[-2:]
            facet = next(name for name in store.queries.facets() if name != "task")
            contents = store.golden_set.contents()
        (folder / "gate.toml").write_text(
            FILE.replace("LIMITS", LIMITS).replace("FACET", facet), encoding="utf-8"
        )
        command = [sys.executable, "-m", "labeler", "--db", str(path), "gate"]
        command += [str(folder / "gate.toml"), "--run", names[1], "--baseline", names[0]]
        print(f"{platform.platform()}, {os.cpu_count()} CPUs, Python {platform.python_version()}")
        print(f"{contents.queries:,} queries, {contents.runs} runs, load {os.getloadavg()[0]:.1f}")
        told = [took(command, allowed=(0, 1)) for _ in range(ROUNDS)][1:]
        print_middles("labeler gate", told)


if __name__ == "__main__":
    main()

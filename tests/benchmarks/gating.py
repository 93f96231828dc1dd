"""Time ``labeler gate`` as a whole process: ``python -m tests.benchmarks.gating [DATABASE]``.

1,000 queries x 2 runs x depth 100 and 20 golden grades each; limits with 95% confidence on five
measures over all queries, and on one in each of eight buckets, least values and drops alike. With
a golden set of its own, named as argument, the last two runs of that one are taken. Prints the
median and the longest of the wall clock, the processor time and the memory of each process.
"""

from __future__ import annotations

import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from labeler.store import Store
from tests.benchmarks.workloads import make_collection, write_database

ROUNDS = 7
LIMITS = "{at_least = 0.1, drop = 0.9}"
FILE = """
confidence = 0.95
[overall]
"nDCG@10" = LIMITS
"R@budget" = LIMITS
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
            names = store.run_names()[-2:]
            facet = next(name for name in store.facets() if name != "task")
            contents = store.contents()
        (folder / "gate.toml").write_text(
            FILE.replace("LIMITS", LIMITS).replace("FACET", facet), encoding="utf-8"
        )
        command = [sys.executable, "-m", "labeler", "--db", str(path), "gate"]
        command += [str(folder / "gate.toml"), "--run", names[1], "--baseline", names[0]]
        print(f"{platform.platform()}, {os.cpu_count()} CPUs, Python {platform.python_version()}")
        print(f"{contents.queries:,} queries, {contents.runs} runs, load {os.getloadavg()[0]:.1f}")
        told = [judged(command) for _ in range(ROUNDS)][1:]
        for what, unit, values in zip(
            ("wall clock", "processor time", "memory"),
            ("s", "s", "MB"),
            zip(*told, strict=True),
            strict=True,
        ):
            middle, most = statistics.median(values), max(values)
            print(f"labeler gate, {what}: {middle:.2f} {unit} (longest {most:.2f})")


def judged(command: list[str]) -> tuple[float, float, float]:
    """Return what one process took: seconds, seconds of processor time, megabytes."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    said = process.stdout.read() if process.stdout else ""
    _, status, used = os.wait4(process.pid, 0)
    taken = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode == 2 or "≥" not in said:
        raise SystemExit(said)
    return taken, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


if __name__ == "__main__":
    main()

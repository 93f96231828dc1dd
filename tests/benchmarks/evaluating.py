"""What evaluating takes: ``python -m tests.benchmarks.evaluating [QUERIES] [WAY ...] [commands]``.

Long logs, and with ``commands``, or without a way, ``labeler evaluate`` as a whole process beside
trec_eval: see `commands`.

Two runs of QUERIES (200,000) queries x depth 50 and ten grades a query, as Parquet. The ways are
``frames``, ``parquet``, ``workers``, ``sail``, and ``spark``, which needs Java and an interpreter
with Spark in it, named in LABELER_SPARK (``.ci/spark`` makes one). Prints for each the seconds, the
processor time and the largest memory of each of its processes, above its input where that is in
memory, and whether all means are the same to the bit.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import labeler
from tests.benchmarks.processes import Took, print_middles, took
from tests.conftest import ROOT

QUERIES, DEPTH, GRADES, AT_ONCE = 200_000, 50, 10, 10_000
RUNS = ("bm25", "dense")
MEASURES = "nDCG@10 R@10 P@5 Success@3 RR AP Judged@10"
PARTITIONS = 50
LEAST = 0.1  # GB: what helps a process to start is not spoken of
WAYS = ("frames", "parquet", "workers", "sail", "spark")


def write(folder: Path, queries: int) -> None:
    """Write qrels and runs, a folder of Parquet files each, sorted by query as files and rows."""
    draw = np.random.default_rng(7)
    for name in ("qrels", *RUNS):
        (folder / name).mkdir()
    for start in range(0, queries, AT_ONCE):
        numbers = np.arange(start, min(start + AT_ONCE, queries))
        pools = np.argsort(draw.random((len(numbers), 2 * DEPTH)), axis=1)
        for name in RUNS:
            noisy = np.argsort(np.arange(2 * DEPTH) + draw.normal(0, 30, pools.shape), axis=1)
            found = np.take_along_axis(pools, noisy, axis=1)[:, :DEPTH]
            scores = np.tile(np.linspace(1, 0, DEPTH, endpoint=False), len(numbers))
            put(folder / name / f"{start:09}.parquet", numbers, found, score=scores)
        grades = draw.choice(4, len(numbers) * GRADES, p=[0.55, 0.2, 0.15, 0.1])
        golden = np.sort(pools[:, :GRADES], axis=1)
        put(folder / "qrels" / f"{start:09}.parquet", numbers, golden, relevance=grades)


def put(path: Path, numbers: Any, chunks: Any, **values: Any) -> None:
    """Write the rows of some queries."""
    each = chunks.shape[1]
    query = np.repeat([f"q{n:07}" for n in numbers], each)
    chunk = [f"{q}-{c:03}" for q, c in zip(query, chunks.ravel().tolist(), strict=True)]
    pd.DataFrame({"query_id": query, "doc_id": chunk, **values}).to_parquet(path)


def evaluated(way: str, folder: Path) -> dict[str, Any]:
    """Evaluate in this way, and say what it took and a hash of the means."""
    given: Any = {name: str(folder / name) for name in ("qrels", *RUNS)}
    held = 0.0
    if way == "frames":
        given = {name: pd.read_parquet(path) for name, path in given.items()}
        held = memory_of(os.getpid())
    session, server = session_of(way) if way in ("sail", "spark") else (None, None)
    began = time.perf_counter()
    if session is None:
        runs = {name: given[name] for name in RUNS}
        workers = 0 if way == "workers" else 1
        frame = labeler.evaluate(given["qrels"], runs, MEASURES, workers=workers)
    else:
        from labeler import spark

        read = {name: session.read.parquet(path) for name, path in given.items()}
        runs = {name: read[name] for name in RUNS}
        frame = spark.evaluate(read["qrels"], runs, MEASURES, partitions=PARTITIONS)
        session.stop()
        if server is not None:
            server.stop()
    took = time.perf_counter() - began
    same = hashlib.sha256(frame.value.to_numpy().tobytes()).hexdigest()
    return {"seconds": took, "held": held, "means": same}


def session_of(way: str) -> tuple[Any, Any]:
    """Start Spark on two cores, or Sail, and return what else has to be stopped."""
    from pyspark.sql import SparkSession

    if way == "spark":
        os.environ["PYSPARK_PYTHON"] = sys.executable
        builder = SparkSession.builder.master("local[2]").config("spark.driver.memory", "2g")
        return builder.config("spark.ui.enabled", "false").getOrCreate(), None
    from pysail.spark import SparkConnectServer

    server = SparkConnectServer("127.0.0.1", 0)
    server.start(background=True)
    where = f"sc://127.0.0.1:{server.listening_address[1]}"
    return SparkSession.builder.remote(where).getOrCreate(), server


def memory_of(process: int) -> float:
    """Return the largest memory a process has had, in GB; 0 where it is gone."""
    try:
        status = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    except OSError:
        return 0.0
    lines = [line for line in status.splitlines() if line.startswith("VmHWM")]
    return int(lines[0].split()[1]) / 1e6 if lines else 0.0


def below(root: int) -> list[int]:
    """Return a process and all that it started."""
    children: dict[int, list[int]] = defaultdict(list)
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text(encoding="utf-8").rpartition(")")[2].split()
        except OSError:
            continue
        children[int(fields[1])].append(int(stat.parent.name))
    found = [root]
    for process in found:
        found += children[process]
    return found


def watched(command: list[str]) -> tuple[dict[str, Any], dict[int, float], float]:
    """Run a way; return what it says, the most memory of each process, and processor seconds."""
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    most: dict[int, float] = defaultdict(float)
    over = threading.Event()

    def watch() -> None:
        while not over.wait(0.3):
            for each in below(process.pid):
                most[each] = max(most[each], memory_of(each))

    watcher = threading.Thread(target=watch)
    watcher.start()
    before = sum(os.times()[2:4])
    printed, _ = process.communicate()
    over.set()
    watcher.join()
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    return json.loads(printed.splitlines()[-1]), most, sum(os.times()[2:4]) - before


def main(queries: int, ways: list[str]) -> None:
    """Write the log and evaluate it in each way."""
    rows = queries * DEPTH * len(RUNS)
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), queries)
        print(f"{rows / 1e6:g} million rows, {len(MEASURES.split())} measures", flush=True)
        means = set()
        for way in ways:
            python = os.environ.get("LABELER_SPARK", "") if way == "spark" else sys.executable
            if not python:
                print("spark: not measured, LABELER_SPARK names no interpreter")
                continue
            command = [python, "-m", "tests.benchmarks.evaluating", way, folder]
            said, most, processor = watched(command)
            means.add(said["means"])
            first, *others = sorted(most.items(), key=lambda each: each[0])
            above = f" ({first[1] - said['held']:.2f} above its input)" if said["held"] else ""
            speed = f"{processor:.0f} s of processors, {rows / processor:,.0f} rows a second of one"
            print(
                f"{way}: {said['seconds']:.0f} s, "
                f"{'processors not counted' if way == 'spark' else speed}; {first[1]:.2f} GB{above}"
                + "".join(f", {each:.2f}" for _, each in others if each > LEAST),
                flush=True,
            )
        print("the means are the same to the bit" if len(means) == 1 else f"MEANS DIFFER: {means}")


ROUNDS = 5
TREC_EVAL = os.environ.get("LABELER_TREC_EVAL") or shutil.which("trec_eval")
THEIR_MEASURES = ("ndcg_cut.10", "recall.10", "P.5", "success.3", "recip_rank", "map")
OUR_MEASURES = "nDCG@10 R@10 P@5 Success@3 RR AP"
BY_PYTREC_EVAL = """
import sys, pytrec_eval
qrels, measures, *runs = sys.argv[1:]
with open(qrels) as file:
    judge = pytrec_eval.RelevanceEvaluator(pytrec_eval.parse_qrel(file), set(measures.split()))
for run in runs:
    with open(run) as file:
        judge.evaluate(pytrec_eval.parse_run(file))
"""


def commands() -> None:
    """Time ``labeler evaluate`` as a whole process beside trec_eval, in turns.

    That is the C program, called once for each run, where it is on the path or named in
    LABELER_TREC_EVAL; and pytrec_eval, which holds it, in one process for all runs.
    """
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # installed modules are compiled
    for queries, depth, count in ((1000, 100, 10), (60, 50, 1)):
        with tempfile.TemporaryDirectory() as folder:
            qrels, *runs = write_trec(Path(folder), queries, depth, count)
            ways = commands_of(qrels, runs)
            told: dict[str, list[Took]] = {name: [] for name in ways}
            for at in range(ROUNDS + 1):
                for name, calls in ways.items():
                    each = [took(call) for call in calls]
                    if at:  # the first round fills caches
                        wall, processor, memory = zip(*each, strict=True)
                        told[name].append(Took(sum(wall), sum(processor), max(memory)))
        print(f"{count} TREC runs of {queries:,} queries x depth {depth}, each a whole process")
        for name, figures in told.items():
            print_middles(name, figures)


def commands_of(qrels: str, runs: list[str]) -> dict[str, list[list[str]]]:
    """Return the commands that each way needs to evaluate all runs."""
    python = sys.executable
    ours = [python, "-m", "labeler", "evaluate", qrels, *runs, "--measures", OUR_MEASURES]
    theirs = [python, "-c", BY_PYTREC_EVAL, qrels, " ".join(THEIR_MEASURES), *runs]
    ways = {"labeler evaluate": [ours], "pytrec_eval": [theirs]}
    if TREC_EVAL is not None:
        options = [word for measure in THEIR_MEASURES for word in ("-m", measure)]
        ways["trec_eval"] = [[TREC_EVAL, "-c", *options, qrels, run] for run in runs]
    return ways


def write_trec(folder: Path, queries: int, depth: int, count: int) -> list[str]:
    """Write qrels of 20 grades a query and some runs; return their paths, the qrels first."""
    draw = random.Random(7)
    pool = range(2 * depth)
    lines = [
        f"q{q} 0 q{q}-{c} {draw.choice((0, 0, 1, 2, 3))}\n"
        for q in range(queries)
        for c in draw.sample(pool, 20)
    ]
    paths = [folder / "qrels"]
    paths[0].write_text("".join(lines), encoding="utf-8")
    for run in range(count):
        paths.append(folder / f"run{run}.trec")
        lines = [
            f"q{q} Q0 q{q}-{c} {rank} {depth - rank + draw.random():.6f} run{run}\n"
            for q in range(queries)
            for rank, c in enumerate(draw.sample(pool, depth), start=1)
        ]
        paths[-1].write_text("".join(lines), encoding="utf-8")
    return [str(path) for path in paths]


if __name__ == "__main__":
    asked = sys.argv[1:]
    if asked and asked[0] in WAYS and len(asked) == 2 and asked[1] not in WAYS:
        print(json.dumps(evaluated(asked[0], Path(asked[1]))))
    else:
        count = [int(each) for each in asked if each.isdigit()]
        ways = [each for each in asked if each in WAYS]
        if ways or "commands" not in asked:
            main(*(count or [QUERIES]), ways or list(WAYS))
        if not ways or "commands" in asked:
            commands()

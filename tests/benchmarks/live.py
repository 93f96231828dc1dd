"""Time the board against pytrec_eval on synthetic data: ``python -m tests.benchmarks.live``.

Prints medians of interleaved rounds. Each side starts from its own best form: a board that is open
and aligned; an evaluator that holds its judgments and runs as dicts. Then one grade after another
changes, and all means of all runs, measures and buckets are read again.
"""

from __future__ import annotations

import os
import platform
import statistics
import sys
import time
from collections.abc import Callable

import numpy as np
import pytrec_eval

from labeler.evaluation import Conventions, Score, Scoreboard
from labeler.model import Collection, GradeChange, StoredList, StoredRun

CUTOFFS = (1, 3, 5, 10, 100)
MEASURES = [
    *(f"{name}@{k}" for name in ("nDCG", "P", "R", "Success", "Judged") for k in CUTOFFS),
    *("nDCG", "RR", "RR@10", "AP", "AP@10"),
]
TREC_EVAL_MEASURES = {
    *(f"{name}.1,3,5,10,100" for name in ("ndcg_cut", "P", "recall", "success")),
    *("ndcg", "recip_rank", "map", "map_cut.10"),
}
BUCKETS = 8
SEED = 20240229


def make_collection(queries: int, runs: int, depth: int, chunks: int) -> Collection:
    """Draw runs as noisy orders of one pool per query, and judge about 20 chunks of each pool."""
    draw = np.random.default_rng(SEED)
    pools = np.array([draw.choice(chunks, 2 * depth, replace=False) for _ in range(queries)])
    pools = pools.astype(np.int32)
    lists = []
    for _ in range(runs):
        noise = np.arange(2 * depth) + draw.normal(0, depth / 2, pools.shape)
        lists.append(np.take_along_axis(pools, np.argsort(noise, axis=1), axis=1)[:, :depth])
    scores = np.linspace(1, 0, depth, endpoint=False, dtype=np.float32)
    judged = [np.sort(pool[draw.random(2 * depth) < 10 / depth]) for pool in pools]
    query = np.repeat(np.arange(queries, dtype=np.int32), [len(each) for each in judged])
    grade = draw.choice(4, len(query), p=[0.55, 0.2, 0.15, 0.1]).astype(np.int8)
    return Collection(
        query_ids=tuple(f"q{number}" for number in range(queries)),
        facets={"intent": tuple(f"b{number % BUCKETS}" for number in range(queries))},
        chunk_ids=[f"c{number:07d}" for number in range(chunks)],
        runs=tuple(
            StoredRun(
                f"run{i}", f"run{i}", "", {q: StoredList(row, scores) for q, row in enumerate(r)}
            )
            for i, r in enumerate(lists)
        ),
        golden_query=query,
        golden_chunk=np.concatenate(judged),
        golden_grade=grade,
        stale=np.zeros(len(query), dtype=np.bool_),
        revision=0,
        data_revision=0,
    )


def as_dicts(collection: Collection) -> tuple[dict, list[dict]]:
    """Turn a collection into what pytrec_eval takes."""
    ids, names = collection.query_ids, collection.chunk_ids
    qrels: dict[str, dict[str, int]] = {}
    golden = (collection.golden_query, collection.golden_chunk, collection.golden_grade)
    for query, chunk, grade in zip(*(array.tolist() for array in golden), strict=True):
        qrels.setdefault(ids[query], {})[names[chunk]] = grade
    runs = [
        {
            ids[query]: dict(
                zip(map(names.__getitem__, ranked.chunks), ranked.scores.tolist(), strict=True)
            )
            for query, ranked in run.lists.items()
        }
        for run in collection.runs
    ]
    return qrels, runs


def clock(action: Callable[[], object]) -> float:
    """Return milliseconds."""
    start = time.perf_counter()
    action()
    return (time.perf_counter() - start) * 1000


def compare_batch(collection: Collection, conventions: Conventions, rounds: int) -> None:
    """Score everything afresh, both ways in turn."""
    measures = conventions.measures(MEASURES)
    qrels, runs = as_dicts(collection)
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, TREC_EVAL_MEASURES)

    def theirs() -> list[dict[str, float]]:
        means = []
        for run in runs:
            rows = list(evaluator.evaluate(run).values())
            means.append({name: sum(row[name] for row in rows) / len(qrels) for name in rows[0]})
        return means

    opening, scoring, reference = [], [], []
    for _ in range(rounds):
        boards: list[Scoreboard] = []
        opening.append(
            clock(lambda boards=boards: boards.append(Scoreboard(collection, conventions)))
        )
        boards[0].table(conventions.measures("Judged@7"))  # joins the hits
        scoring.append(clock(lambda boards=boards: boards[0].table(measures)))
        reference.append(clock(theirs))
    ours, other = statistics.median(scoring), statistics.median(reference)
    check_agreement(boards[0].table(measures), theirs(), collection)
    print(f"  open and align        {statistics.median(opening):10.2f} ms")
    print(f"  score {len(measures)} measures     {ours:10.2f} ms")
    print(f"  pytrec_eval, {len(theirs()[0])}       {other:10.2f} ms   ratio {other / ours:.0f}x")


def check_agreement(table: list[Score], theirs: list[dict[str, float]], of: Collection) -> None:
    """Refuse to time two programs that compute different things."""
    names = {"nDCG@10": "ndcg_cut_10", "AP": "map", "RR": "recip_rank", "R@100": "recall_100"}
    ours = {(row.run, row.measure.label): row.value for row in table}
    for run, reference in zip(of.runs, theirs, strict=True):
        for label, name in names.items():
            if abs(ours[run.name, label] - reference[name]) > 1e-9:
                raise SystemExit(f"{run.name}: {label} differs from pytrec_eval's")


def time_grades(collection: Collection, conventions: Conventions, changes: int) -> None:
    """Change one grade at a time and read every mean again."""
    draw = np.random.default_rng(SEED + 1)
    measures = conventions.measures(MEASURES)
    board = Scoreboard(collection, conventions)
    board.table(measures, "intent")
    times = []
    for revision in range(1, changes + 1):
        query = int(draw.integers(len(collection.query_ids)))
        ranked = collection.runs[int(draw.integers(len(collection.runs)))].lists[query].chunks
        grade = int(draw.integers(4))
        change = GradeChange(collection.query_ids[query], int(draw.choice(ranked)), grade)

        def regrade(change: GradeChange = change, revision: int = revision) -> None:
            board.refresh([change], revision)
            board.table(measures)
            board.table(measures, "intent")

        times.append(clock(regrade))
    median, p95 = np.percentile(times, [50, 95])
    print(f"  one changed grade     {median:10.2f} ms   p95 {p95:.2f} ms")
    rows = len(board.table(measures)) + len(board.table(measures, "intent"))
    print(
        f"    to {rows} fresh means: {len(measures)} measures, all runs, {BUCKETS} buckets and all"
    )


def main() -> None:
    """Run the standard size, and with ``--large`` the size of a big public collection as well."""
    print(f"{platform.platform()}, {platform.processor() or platform.machine()}, ", end="")
    print(f"{os.cpu_count()} CPUs, Python {platform.python_version()}, numpy {np.__version__}")
    sizes = [(1_000, 10, 100, 100_003, 7, 300)]
    if "--large" in sys.argv:
        sizes.append((6_980, 5, 1_000, 1_000_003, 1, 100))
    for queries, runs, depth, chunks, rounds, changes in sizes:
        print(f"{queries} queries x {runs} runs x depth {depth}")
        collection = make_collection(queries, runs, depth, chunks)
        compare_batch(collection, Conventions.of("trec_eval"), rounds)
        time_grades(collection, Conventions.of("graded"), changes)


if __name__ == "__main__":
    main()

"""Time what the Compare page asks for, on synthetic data: ``python -m tests.benchmarks.compare``.

Prints medians and the slowest of several rounds. "First" is a board that has computed nothing yet;
after that another pair, measure or sort is a new question to a board that is open, and the grades
change between rounds so that nothing can be kept.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from labeler.analysis.cautions import find_cautions
from labeler.analysis.comparison import (
    DecisionRules,
    assess_pair,
    compare,
    compare_candidates,
    cross_facets,
    dcg_table,
    find_rank_changes,
    grade_strips,
    perfect_rerankings,
    split_delta,
)
from labeler.analysis.comparison.what_if import what_if_values
from labeler.analysis.failures import count_by_bucket
from labeler.analysis.failures.diagnosis import diagnose
from labeler.analysis.run_verdict import judge_pair
from labeler.evaluation import Conventions, Scoreboard
from labeler.model import Collection, GradeChange

QUERIES, RUNS, DEPTH, CHUNKS, ROUNDS = 1_000, 10, 100, 100_003, 15
MEASURES = "nDCG@10 R@prompt P@prompt Success@3 RR AP Judged@10"


def make_collection() -> Collection:
    """Take the collection of ``live.py``, and put a task beside its one facet."""
    path = Path(__file__).with_name("live.py")
    spec = importlib.util.spec_from_file_location("live", path)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{path} is not there")
    live = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(live)
    made: Collection = live.make_collection(QUERIES, RUNS, DEPTH, CHUNKS)
    tasks = ("single", "research", "compliance", "longtail")
    facets = {**made.facets, "task": tuple(tasks[number % 4] for number in range(QUERIES))}
    return replace(made, facets=facets)


def main() -> None:
    """Ask everything once of a new board, then again and again of one whose grades change."""
    print(f"{platform.platform()}, {platform.processor() or platform.machine()}, ", end="")
    print(f"{os.cpu_count()} CPUs, Python {platform.python_version()}, numpy {np.__version__}")
    print(f"{QUERIES} queries x {RUNS} runs x depth {DEPTH}, {len(MEASURES.split())} measures")
    collection = make_collection()
    conventions = Conventions.of()
    measures = conventions.measures(MEASURES)
    ndcg, query = measures[0], collection.query_ids[7]
    texts = {number: f"text of chunk {number} in a few words" for number in range(CHUNKS)}
    board = Scoreboard(collection, conventions)
    chunk_id = board.ranked("run1", query)[50].chunk_id

    def first_paint() -> None:
        board = Scoreboard(collection, conventions)
        compare(board, "run0", "run1", measures, "intent")
        judge_pair(board, "run0", "run1", DecisionRules())

    questions: dict[str, Callable[[], object]] = {
        "open a board, compare A with B": first_paint,
        "compare A with B": lambda: compare(board, "run0", "run1", measures),
        "compare A with B by bucket": lambda: compare(board, "run0", "run1", measures, "intent"),
        "rows of all queries": lambda: compare(board, "run0", "run1", [ndcg]).queries(),
        "strips of A and B, top 10": lambda: [grade_strips(board, r, 10) for r in ("run0", "run1")],
        "strips of A and B, top 100": lambda: [
            grade_strips(board, r, 100) for r in ("run0", "run1")
        ],
        "two facets crossed": lambda: cross_facets(board, ["run0", "run1"], ndcg, "intent", "task"),
        "is it a rerank": lambda: compare_candidates(board, "run0", "run1"),
        "split into candidates and order": lambda: split_delta(board, "run0", "run1", ndcg),
        "moves of one query": lambda: find_rank_changes(board, "run0", "run1", query, ndcg),
        "what if at rank 1": lambda: what_if_values(board, "run1", query, chunk_id, 1, measures),
        "a perfect reranker of the top 50": lambda: perfect_rerankings(board, "run1", measures, 50),
        "DCG table of one query": lambda: dcg_table(board, "run1", query, ndcg),
        "why queries fail": lambda: count_by_bucket(
            board, diagnose(board, "run1", corpus=texts, text_of=texts), "task"
        ),
        "tests of A and B and of all buckets": lambda: assess_pair(board, "run0", "run1"),
        "verdict with unjudged chunks": lambda: judge_pair(board, "run0", "run1", DecisionRules()),
        "cautions": lambda: find_cautions(board, measures),
    }
    times: dict[str, list[float]] = {name: [] for name in questions}
    draw = np.random.default_rng(11)
    for revision in range(1, ROUNDS + 1):
        at = int(draw.integers(QUERIES))
        chunk = int(draw.choice(collection.runs[0].lists[at].chunks))
        change = GradeChange(collection.query_ids[at], chunk, int(draw.integers(4)))
        board.refresh([change], revision)
        for name, question in questions.items():
            start = time.perf_counter()
            question()
            times[name].append((time.perf_counter() - start) * 1000)
    for name, taken in times.items():
        print(f"  {name:<34} {statistics.median(taken):9.2f} ms   slowest {max(taken):9.2f} ms")


if __name__ == "__main__":
    main()

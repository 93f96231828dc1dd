"""Write trec_eval.json: what pytrec_eval says about a small drawn collection.

Run by hand from the project's top, and only to change the data: ``python tests/goldens/make.py``.
The collection holds what tools disagree on: tied scores, scores that differ in 64 bits alone,
unjudged chunks, queries that a run lacks, queries with nothing relevant, grades that no run
retrieves, and ids whose order by byte is not that of any alphabet.
"""

from __future__ import annotations

import json
import random
from importlib.metadata import version
from pathlib import Path

import pytrec_eval

SEED = 1992
TARGET = Path(__file__).with_name("trec_eval.json")
NAMES = {
    "nDCG(dcg='log2')": "ndcg",
    **{f"nDCG(dcg='log2')@{k}": f"ndcg_cut_{k}" for k in (1, 3, 5, 10)},
    **{f"P(rel={{rel}})@{k}": f"P_{k}" for k in (1, 3, 5, 10)},
    **{f"R(rel={{rel}})@{k}": f"recall_{k}" for k in (1, 3, 5, 10)},
    **{f"Success(rel={{rel}})@{k}": f"success_{k}" for k in (1, 3, 5, 10)},
    "RR(rel={rel})": "recip_rank",
    "AP(rel={rel})": "map",
    **{f"AP(rel={{rel}})@{k}": f"map_cut_{k}" for k in (3, 10)},
}
MEASURES = {
    *("ndcg", "ndcg_cut.1,3,5,10", "P.1,3,5,10", "recall.1,3,5,10", "success.1,3,5,10"),
    *("recip_rank", "map", "map_cut.3,10"),
}

Qrels = dict[str, dict[str, int]]
Run = dict[str, dict[str, float]]


def draw_collection(draw: random.Random) -> tuple[Qrels, dict[str, Run]]:
    """Draw twelve queries with their grades, and three runs."""
    chunks = [f"{letter}{number}" for letter in ("a", "Z", "é", "ａ", "😀") for number in range(8)]
    scores = [0.5, 0.5 + 1e-10, 0.25, 1.0, 1e-7, -3.0, 0.0]
    qrels: Qrels = {}
    runs: dict[str, Run] = {"first": {}, "second": {}, "third": {}}
    for number in range(12):
        query = f"q{number:02}"
        pool = draw.sample(chunks, 24)
        grades = [0] if number % 5 == 4 else [0, 0, 1, 2, 3]
        qrels[query] = {chunk: draw.choice(grades) for chunk in pool[: draw.randint(1, 12)]}
        for run in runs.values():
            if draw.random() < 0.85:
                retrieved = draw.sample(pool, draw.randint(1, 20))
                run[query] = {chunk: draw.choice([*scores, draw.random()]) for chunk in retrieved}
    return qrels, runs


def evaluate(qrels: Qrels, run: Run, rel: int) -> dict[str, dict[str, float]]:
    """Return {our name: {query: value}} for the queries that the run has."""
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, MEASURES, relevance_level=rel)
    rows = evaluator.evaluate(run)
    return {
        ours.format(rel=rel): {query: row[theirs] for query, row in sorted(rows.items())}
        for ours, theirs in NAMES.items()
    }


def main() -> None:
    """Write the file."""
    qrels, runs = draw_collection(random.Random(SEED))
    values = [
        {"run": name, "measure": measure, "values": by_query}
        for name, run in runs.items()
        for rel in (1, 2, 3)
        for measure, by_query in evaluate(qrels, run, rel).items()
        if rel == 1 or "rel=" in measure
    ]
    header = {
        "tool": "pytrec_eval-terrier",
        "version": version("pytrec_eval-terrier"),
        "trec_eval": "9, which the package holds: scores are compared as 32-bit floats",
        "command": "python tests/goldens/make.py",
        "calls": [f"RelevanceEvaluator(qrels, {sorted(MEASURES)}, relevance_level=1, 2, 3)"],
        "seed": SEED,
    }
    content = {"header": header, "qrels": qrels, "runs": runs, "values": values}
    TARGET.write_text(json.dumps(content, indent=1, ensure_ascii=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

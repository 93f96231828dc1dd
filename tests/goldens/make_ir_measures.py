"""Write ir_measures.json: what ir_measures and the tools it asks say about a drawn collection.

Run by hand from the project's top, and only to change the data, where Perl (for gdeval) and
``pip install ir_measures cwl-eval`` are at hand: ``python tests/goldens/make_ir_measures.py``.
Queries have numbers for names because gdeval reads no others. Lists are written by score, ties by
id descending, so that providers that keep the order of the file agree with those that sort; in the
run without ties all do.
"""

from __future__ import annotations

import json
import platform
import random
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import ir_measures
from ir_measures import (
    AP,
    ERR,
    RBP,
    RR,
    Bpref,
    Judged,
    Measure,
    NumRel,
    NumRet,
    P,
    R,
    Rprec,
    SetF,
    SetP,
    SetR,
    Success,
    nDCG,
)

SEED = 2004
TARGET = Path(__file__).with_name("ir_measures.json")
SORTING_TIES_UPWARDS = ("judged", "msmarco")

Qrels = dict[str, dict[str, int]]
Run = dict[str, dict[str, float]]


def measures() -> Iterator[Measure]:
    """Give all measures, with every parameter they take."""
    yield from (Judged, Judged @ 5, NumRet, NumRel, nDCG, nDCG @ 5, nDCG(judged_only=True) @ 5)
    yield from (nDCG(dcg="exp-log2") @ 5, ERR @ 1, ERR @ 5, ERR @ 20)
    yield from (nDCG(gains={1: 1, 2: 10, 3: 100}), nDCG(gains={1: 0, 2: 4, 3: 5}) @ 5)
    for rel in (1, 2, 3):
        yield from (Bpref(rel=rel), SetR(rel=rel), NumRet(rel=rel), RR(rel=rel) @ 3)
        yield from (RBP(rel=rel), RBP(rel=rel, p=0.5), RBP(rel=rel, p=0.95))
        for judged_only in (False, True):
            given = {"rel": rel, "judged_only": judged_only}
            yield from (P(**given) @ 5, R(**given) @ 5, Success(**given) @ 2, RR(**given))
            yield from (AP(**given), AP(**given) @ 5, Rprec(**given))
            yield from (SetP(**given), SetF(**given), SetF(beta=2.5, **given))


def draw_collection(draw: random.Random) -> tuple[Qrels, dict[str, Run]]:
    """Draw ten queries with their grades, and two runs: one with ties, one without."""
    chunks = [f"{letter}{number}" for letter in "aZb" for number in range(10)]
    qrels: Qrels = {}
    runs: dict[str, Run] = {"tied": {}, "untied": {}}
    for number in range(1, 11):
        pool = draw.sample(chunks, 24)
        grades = [0] if number % 5 == 0 else [0, 0, 1, 2, 3]
        judged = pool[: draw.randint(2, 16)]
        qrels[str(number)] = {chunk: draw.choice(grades) for chunk in judged}
        for name, run in runs.items():
            if draw.random() < 0.85:
                retrieved = draw.sample(pool, draw.randint(1, 20))
                scores = [draw.randint(0, 6) / 4 for _ in retrieved]
                if name == "untied":
                    scores = [-rank / 8 for rank in range(len(retrieved))]
                best_first = sorted(zip(scores, retrieved, strict=True), reverse=True)
                run[str(number)] = {chunk: score for score, chunk in best_first}
    return qrels, runs


def provider_of(measure: Measure) -> str:
    """Return the provider that ir_measures asks by default."""
    providers = ir_measures.DefaultPipeline.providers
    return str(next(p.NAME for p in providers if p.is_available() and p.supports(measure)))


def evaluate(qrels: Qrels, runs: dict[str, Run]) -> Iterator[dict[str, object]]:
    """Give one entry for each run and measure, with the queries that the run has."""
    for name, run in runs.items():
        for measure in measures():
            provider = provider_of(measure)
            if name == "untied" or provider not in SORTING_TIES_UPWARDS:
                rows = ir_measures.iter_calc([measure], qrels, run)
                values = {row.query_id: row.value for row in rows if row.query_id in run}
                by_query = {query: values[query] for query in run}
                yield {"run": name, "measure": str(measure), "by": provider, "values": by_query}


def main() -> None:
    """Write the file."""
    qrels, runs = draw_collection(random.Random(SEED))
    header = {
        "tool": "ir_measures",
        "version": version("ir_measures"),
        "providers": {
            "pytrec_eval": f"pytrec_eval-terrier {version('pytrec_eval-terrier')}",
            "cwl_eval": f"cwl-eval {version('cwl-eval')}",
            "gdeval": "gdeval.pl 1.2a as ir_measures ships it: five decimals",
            "judged, msmarco": "part of ir_measures",
        },
        "python": platform.python_version(),
        "command": "python tests/goldens/make_ir_measures.py",
        "seed": SEED,
    }
    values = list(evaluate(qrels, runs))
    content = {"header": header, "qrels": qrels, "runs": runs, "values": values}
    TARGET.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

"""Synthetic runs and judgments with a fixed seed, in the form that each library likes best."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from labeler.model import Collection, StoredList, StoredRun
from labeler.store import Store

SEED = 20240229
JUDGED = 20
BUCKETS = 8
CUTOFFS = (1, 3, 5, 10, 100)
MEASURES = [
    *(f"{name}@{k}" for name in ("nDCG(dcg='log2')", "nDCG(dcg='exp-log2')") for k in CUTOFFS),
    *(f"{name}@{k}" for name in ("P", "R", "Success", "Judged") for k in CUTOFFS),
    *("RR", "RR@10", "AP", "Bpref"),
]


@dataclass(frozen=True)
class Size:
    """How much there is of everything."""

    name: str
    queries: int
    runs: int
    depth: int
    chunks: int

    def __str__(self) -> str:
        return f"{self.name}: {self.queries:,} queries x {self.runs} runs x depth {self.depth:,}"


SIZES = {
    size.name: size
    for size in (
        Size("S", 60, 3, 50, 5_003),
        Size("M", 1_000, 10, 100, 100_003),
        Size("L", 6_980, 5, 1_000, 1_000_003),
    )
}


def make_collection(queries: int, runs: int, depth: int, chunks: int) -> Collection:
    """Draw runs as noisy orders of one pool per query, and judge about 20 chunks of each pool.

    What stands early in the pool, and so in the runs, is judged more often. Ids of queries and
    chunks are texts; scores fall strictly, also as 32-bit floats.
    """
    draw = np.random.default_rng(SEED)
    pools = np.array([draw.choice(chunks, 2 * depth, replace=False) for _ in range(queries)])
    pools = pools.astype(np.int32)
    lists = []
    for _ in range(runs):
        noise = np.arange(2 * depth) + draw.normal(0, depth / 2, pools.shape)
        lists.append(np.take_along_axis(pools, np.argsort(noise, axis=1), axis=1)[:, :depth])
    scores = np.linspace(1, 0, depth, endpoint=False, dtype=np.float32)
    early = 1 / (np.arange(2 * depth) + 10)
    chance = early / early.sum() * JUDGED
    judged = [np.sort(pool[draw.random(2 * depth) < chance]) for pool in pools]
    query = np.repeat(np.arange(queries, dtype=np.int32), [len(each) for each in judged])
    grade = draw.choice(4, len(query), p=[0.55, 0.2, 0.15, 0.1]).astype(np.int8)
    return Collection(
        query_ids=tuple(f"q{number:05d}" for number in range(queries)),
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


def collection_of(size: Size) -> Collection:
    """Make the collection of a size."""
    return make_collection(size.queries, size.runs, size.depth, size.chunks)


Qrels = dict[str, dict[str, int]]
Runs = dict[str, dict[str, dict[str, float]]]


def as_dicts(collection: Collection) -> tuple[Qrels, Runs]:
    """Turn a collection into what every library takes; all of its queries have judgments.

    As in files, ids differ from query to query, and each run has texts of its own.
    """
    ids, names = collection.query_ids, collection.chunk_ids
    qrels: Qrels = {query_id: {} for query_id in ids}
    golden = (collection.golden_query, collection.golden_chunk, collection.golden_grade)
    for query, chunk, grade in zip(*(array.tolist() for array in golden), strict=True):
        qrels[ids[query]][f"{ids[query]}-{names[chunk]}"] = grade
    runs = {
        run.name: {
            ids[query]: dict(
                zip(
                    [f"{ids[query]}-{names[chunk]}" for chunk in ranked.chunks.tolist()],
                    ranked.scores.tolist(),
                    strict=True,
                )
            )
            for query, ranked in run.lists.items()
        }
        for run in collection.runs
    }
    return {query_id: grades for query_id, grades in qrels.items() if grades}, runs


def write_trec(qrels: Qrels, runs: Runs, folder: Path) -> tuple[Path, list[Path]]:
    """Write a qrels file, and a run file for each run."""
    golden = folder / "golden.qrels"
    golden.write_text(
        "".join(
            f"{q} 0 {c} {grade}\n" for q, grades in qrels.items() for c, grade in grades.items()
        )
    )
    paths = []
    for name, run in runs.items():
        paths.append(folder / f"{name}.trec")
        with paths[-1].open("w") as file:
            for query, ranking in run.items():
                lines = enumerate(ranking.items(), 1)
                file.writelines(f"{query} Q0 {c} {rank} {s!r} {name}\n" for rank, (c, s) in lines)
    return golden, paths


def write_database(collection: Collection, path: Path) -> None:
    """Write a golden set as the store would, but straight into its tables: that is faster."""
    with Store(path, create=True):
        pass
    golden = (collection.golden_query, collection.golden_chunk, collection.golden_grade)
    db = sqlite3.connect(path)
    with db:
        db.executemany(
            "INSERT INTO queries (id, query_id, text) VALUES (?, ?, ?)",
            ((n, query_id, query_id) for n, query_id in enumerate(collection.query_ids, 1)),
        )
        db.executemany(
            "INSERT INTO query_buckets (query, facet, bucket) VALUES (?, 'intent', ?)",
            enumerate(collection.facets["intent"], 1),
        )
        db.executemany(
            "INSERT INTO chunks (id, chunk_id) VALUES (?, ?)", enumerate(collection.chunk_ids, 1)
        )
        db.executemany(
            "INSERT INTO judgments "
            "(event_id, query, chunk, kind, grade, graders, blind, created_at) "
            "VALUES (?, ?, ?, 'import', ?, '[]', 0, '2024-02-29T00:00:00.000Z')",
            (
                (f"event{at}", query + 1, chunk + 1, grade)
                for at, (query, chunk, grade) in enumerate(np.stack(golden, axis=1).tolist())
            ),
        )
        for number, run in enumerate(collection.runs, 1):
            depth = max(map(len, (ranked.chunks for ranked in run.lists.values())))
            db.execute(
                "INSERT INTO runs (id, name, system, created_at, depth, source_hash) "
                "VALUES (?, ?, ?, '2024-02-29T00:00:00.000Z', ?, ?)",
                [number, run.name, run.system, depth, run.name],
            )
            db.executemany(
                "INSERT INTO ranked_lists (run, query_id, chunks, scores) VALUES (?, ?, ?, ?)",
                (
                    (
                        number,
                        collection.query_ids[query],
                        (ranked.chunks + 1).astype("<i4").tobytes(),
                        ranked.scores.astype("<f4").tobytes(),
                    )
                    for query, ranked in run.lists.items()
                ),
            )
    db.close()

"""A golden set with a year of runs: one system whose lists drift from day to day, and drop once."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from datetime import date, timedelta
from itertools import pairwise
from pathlib import Path

import numpy as np

from labeler.model import Collection
from tests.benchmarks.workloads import SEED, make_collection, write_database

FIRST = date(2025, 1, 1)
SYSTEM = "retriever"
DROPS_ON = 250  # the day from which on relevant chunks stand deeper
GAIN, LOSS = 0.08, 12.0  # ranks: how far they rise in a day, and how far they fell on that one


def write_drifting(
    path: Path, *, runs: int = 365, queries: int = 1_000, depth: int = 100, chunks: int = 100_003
) -> None:
    """Write a golden set with so many daily runs of one system, straight into its tables."""
    collection = make_collection(queries, 1, depth, chunks)
    write_database(replace(collection, runs=()), path)
    pools, grades = _pools(collection, 2 * depth)
    draw = np.random.default_rng(SEED + 1)
    place = np.arange(2 * depth) + draw.normal(0, depth / 4, pools.shape)
    scores = np.linspace(1, 0, depth, endpoint=False, dtype="<f4").tobytes()
    db = sqlite3.connect(path)
    with db:
        for day in range(runs):
            place += draw.normal(0, depth / 100, pools.shape)
            risen = GAIN * day - (LOSS if day >= DROPS_ON else 0)
            order = np.argsort(place - risen * (grades > 0), axis=1)[:, :depth]
            lists = (np.take_along_axis(pools, order, axis=1) + 1).astype("<i4")
            when = (FIRST + timedelta(days=day)).isoformat()
            db.execute(
                "INSERT INTO runs (id, name, system, created_at, depth, source_hash) "
                "VALUES (?, ?, ?, ?, ?, ?)",
                [day + 1, f"{SYSTEM}-{when}", SYSTEM, when, depth, when],
            )
            db.executemany(
                "INSERT INTO ranked_lists (run, query_id, chunks, scores) VALUES (?, ?, ?, ?)",
                (
                    (day + 1, query_id, row.tobytes(), scores)
                    for query_id, row in zip(collection.query_ids, lists, strict=True)
                ),
            )
    db.close()


def _pools(collection: Collection, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the chunks a query's lists are of, judged ones first, and their grades; -1 is none."""
    draw = np.random.default_rng(SEED + 2)
    chunks = len(collection.chunk_ids)
    pools = np.empty((len(collection.query_ids), size), dtype=np.int32)
    grades = np.full(pools.shape, -1)
    bounds = np.searchsorted(collection.golden_query, np.arange(len(pools) + 1))
    for query, (start, stop) in enumerate(pairwise(bounds)):
        judged = collection.golden_chunk[start:stop]
        others = np.setdiff1d(draw.choice(chunks, size + len(judged), replace=False), judged)
        mixed = draw.permutation(size)
        pools[query, mixed] = np.concatenate([judged, others[: size - len(judged)]])
        grades[query, mixed[: len(judged)]] = collection.golden_grade[start:stop]
    return pools, grades

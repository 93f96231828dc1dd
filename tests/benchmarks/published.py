"""Graded collections as truths: all that a run has in its top 20 is graded.

A folder has queries.jsonl, qrels and runs, and is no part of this repository; the sample is. Of
chunks that nobody graded those in a top 20 count as 0, or they are taken out of the lists.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from labeler.api.grade_scales import grade_rule
from labeler.api.inputs import qrels_to_dicts, runs_to_lists
from labeler.api.options import RunRule
from labeler.cli.demo_data import build_demo
from labeler.evaluation import Conventions, Scoreboard, collect
from labeler.formats import read_queries
from labeler.model import Collection
from labeler.store import Store

DEPTH = 20
RUNS = ("*.trec", "*.trec.gz", "*.run", "*.run.gz", "runs/*.trec.gz")
QRELS = ("qrels/test.tsv", "qrels.txt", "*.qrels", "qrels/*.tsv")
Golden = dict[str, dict[str, int]]
Lists = dict[str, dict[str, list[str]]]
Buckets = dict[str, dict[str, str]]


@dataclass(frozen=True)
class Graded:
    """A collection with its published grades, and the lists of its runs."""

    name: str
    qrels: Golden
    runs: Lists
    buckets: Buckets

    def board(self) -> Scoreboard:
        """Return a board without grades."""
        return Scoreboard(collect({q: {} for q in self.qrels}, self.runs), Conventions.of())

    def truth(self) -> Scoreboard:
        """Return a board that knows all grades."""
        return Scoreboard(collect(self.qrels, self.runs), Conventions.of())

    def collection(self, names: list[str]) -> Collection:
        """Return some of its runs, with a 0 for what nobody graded in a top 20 of them."""
        golden = {query: dict(grades) for query, grades in self.qrels.items()}
        runs = {name: self.runs[name] for name in names}
        for lists in runs.values():
            for query, chunks in lists.items():
                for chunk in chunks[:DEPTH]:
                    golden[query].setdefault(chunk, 0)
        return collect(golden, runs, self.buckets)


def read(folder: Path, *, drop: bool) -> Graded:
    """Read a folder's qrels and runs; of a chunk that is there twice the better rank counts."""
    [qrels, *_] = [path for pattern in QRELS for path in sorted(folder.glob(pattern))]
    grades = qrels_to_dicts(qrels, grade_rule(None, negative_as_zero=True))
    files = sorted(path for pattern in RUNS for path in folder.glob(pattern))
    lists = runs_to_lists(
        {path.name.split(".trec")[0]: path for path in files}, RunRule(on_duplicate="first")
    )
    runs = {
        name: {query: list(ranked.chunk_ids) for query, ranked in of.items()}
        for name, of in lists.items()
    }
    queries, buckets = folder / "queries.jsonl", Buckets()
    for query in read_queries(queries).records if queries.exists() else ():
        for facet, bucket in query.buckets.items():
            buckets.setdefault(facet, {})[query.query_id] = bucket
    return Graded(folder.name, grades, kept(grades, runs, drop=drop), buckets)


def read_sample() -> Graded:
    """Read the sample's golden grades and the runs of its first chunking, without ungraded
    chunks.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sample.db"
        build_demo(path)
        with Store(path) as store:
            board = Scoreboard(store.collection.read(), Conventions.of())
    ids, names = board.collection.chunk_ids, board.collection.query_ids
    grades = {q: {ids[c]: grade for c, grade in board.golden(q).items()} for q in names}
    runs = {
        run: {q: [ids[c] for c in board.chunks(run, q).tolist()] for q in names}
        for run in board.run_names
    }
    buckets = {
        facet: dict(zip(names, of, strict=True)) for facet, of in board.collection.facets.items()
    }
    return Graded("sample", grades, kept(grades, runs, drop=True), buckets)


def kept(grades: Golden, runs: Lists, *, drop: bool) -> Lists:
    """Return the lists of queries with grades, without ungraded chunks if these are to ``drop``."""
    return {
        name: {
            query: [chunk for chunk in chunks if not drop or chunk in grades[query]]
            for query, chunks in of.items()
            if query in grades
        }
        for name, of in runs.items()
    }


def without(
    collection: Collection, queries: npt.NDArray[np.int64], chunks: npt.NDArray[np.int64]
) -> Collection:
    """Return the collection without the grades of some pairs, given by their numbers."""
    known = collection.golden_query.astype(np.int64) << 32 | collection.golden_chunk
    keep = ~np.isin(known, queries << 32 | chunks)
    return replace(
        collection,
        golden_query=collection.golden_query[keep],
        golden_chunk=collection.golden_chunk[keep],
        golden_grade=collection.golden_grade[keep],
        stale=collection.stale[keep],
    )

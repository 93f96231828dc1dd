"""Plain dicts as a collection: for notebooks, where no database is wanted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from labeler.model import Collection, StoredList, StoredRun

GivenList: TypeAlias = Mapping[str, float] | Sequence[str]


class _Numbers(dict[str, int]):
    """Numbers texts from 0 in the order in which they are first looked up."""

    def __missing__(self, text: str) -> int:
        self[text] = len(self)
        return self[text]


def collect(
    qrels: Mapping[str, Mapping[str, int]],
    runs: Mapping[str, Mapping[str, GivenList]],
    facets: Mapping[str, Mapping[str, str]] | None = None,
) -> Collection:
    """Make a collection from ``{query: {chunk: grade}}`` and ``{run: {query: ranking}}``.

    A ranking is ``{chunk: score}``, put in order here (ties stay as given), or chunks in order. The
    queries are those of ``qrels``; one with no grades yet is there as ``{}``. ``facets`` is
    ``{facet: {query: bucket}}``.

    >>> collect({"q1": {"c1": 3}}, {"A": {"q1": ["c2", "c1"], "q9": []}}).runs[0].unknown_queries
    1
    """
    chunks = _Numbers()
    golden = sorted(
        (at, chunks[chunk], grade)
        for at, grades in enumerate(qrels.values())
        for chunk, grade in grades.items()
    )
    stored = tuple(_store(name, run, list(qrels), chunks) for name, run in runs.items())
    columns = np.array(golden, dtype=np.int32).reshape(-1, 3)
    return Collection(
        query_ids=tuple(qrels),
        facets={facet: tuple(map(buckets.get, qrels)) for facet, buckets in (facets or {}).items()},
        chunk_ids=tuple(chunks),
        runs=stored,
        golden_query=columns[:, 0],
        golden_chunk=columns[:, 1],
        golden_grade=columns[:, 2].astype(np.int8),
        stale=np.zeros(len(columns), dtype=np.bool_),
        revision=0,
        data_revision=0,
    )


def _store(
    name: str, run: Mapping[str, GivenList], queries: Iterable[str], chunks: _Numbers
) -> StoredRun:
    lists = {at: _rank(run[query], chunks) for at, query in enumerate(queries) if query in run}
    return StoredRun(name, name, "", lists, unknown_queries=len(run) - len(lists))


def _rank(ranked: GivenList, chunks: _Numbers) -> StoredList:
    scores = None
    if isinstance(ranked, Mapping):
        best_first = sorted(ranked.items(), key=lambda pair: -pair[1])
        ranked = [chunk for chunk, _ in best_first]
        scores = np.array([score for _, score in best_first], dtype=np.float32)
    return StoredList(np.array([chunks[chunk] for chunk in ranked], dtype=np.int32), scores)

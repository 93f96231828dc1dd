"""Golden sets and runs as RAGAS samples; `labeler.formats.retrieval` reads them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from labeler.formats.peers.peer_rows import RELEVANT
from labeler.model import Chunk, GoldenGrade, Query


def golden_samples(
    queries: Sequence[Query], grades: Sequence[GoldenGrade], chunks: Mapping[str, Chunk]
) -> Iterator[str]:
    """Yield a golden set as lines of RAGAS samples, with extra fields that restore it on loading.

    Reference contexts are the chunks of grade 1 or better, with texts where all of them have one.
    The extra fields, which RAGAS ignores, are the query's id and a map of all grades.
    """
    by_query: dict[str, list[GoldenGrade]] = {query.query_id: [] for query in queries}
    for grade in grades:
        by_query[grade.query_id].append(grade)
    for query in queries:
        given = by_query[query.query_id]
        right = [each.chunk_id for each in given if each.grade >= RELEVANT]
        texts = [chunks[each].text if each in chunks else None for each in right]
        sample = {
            "user_input": query.text,
            "reference": query.reference,
            "reference_contexts": None if None in texts else texts,
            "reference_context_ids": right,
            "query_id": query.query_id,
            "relevance_map": {each.chunk_id: each.grade for each in given},
        }
        kept = {key: value for key, value in sample.items() if value is not None}
        yield json.dumps(kept, ensure_ascii=False)


def run_samples(
    queries: Mapping[str, str], ranked: Mapping[str, Sequence[str]], texts: Mapping[str, str | None]
) -> Iterator[str]:
    """Yield a run as lines of RAGAS samples, best first; ``queries`` are texts by id."""
    for query_id, chunk_ids in ranked.items():
        contexts = [texts.get(chunk_id) for chunk_id in chunk_ids]
        sample = {
            "user_input": queries.get(query_id, query_id),
            "retrieved_contexts": None if None in contexts else contexts,
            "retrieved_context_ids": list(chunk_ids),
            "query_id": query_id,
        }
        kept = {key: value for key, value in sample.items() if value is not None}
        yield json.dumps(kept, ensure_ascii=False)

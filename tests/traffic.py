"""Puts logs and proposed grades into a golden set, for tests of what is made of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tests.databases import rewrite


def log(path: Path, facet: str, counts: Mapping[str, int], source: str = "log") -> None:
    """Count questions of each bucket of a facet, as if a log of them had been loaded."""
    times = sum(counts.values())
    batch = f"(SELECT id FROM batches WHERE hash = '{source} by {facet}')"
    rewrite(
        path,
        "INSERT INTO batches (source, hash, at, times, texts, kept) VALUES "
        f"('{source}', '{source} by {facet}', '2026-11-01T00:00:00Z', {times}, {times}, 0)",
        *(
            f"INSERT INTO batch_buckets VALUES ({batch}, '{facet}', '{bucket}', {n}, {n})"
            for bucket, n in counts.items()
        ),
    )


def propose(path: Path, query_id: str, chunk_id: str, grade: int, source: str = "clicks") -> None:
    """Propose a grade for a chunk of a query."""
    rewrite(
        path,
        "INSERT INTO proposals (query, chunk, source, grade, times, at) SELECT q.id, c.id, "
        f"'{source}', {grade}, 1, '2026-11-01T00:00:00Z' FROM queries AS q, chunks AS c "
        f"WHERE q.query_id = '{query_id}' AND c.chunk_id = '{chunk_id}'",
    )

"""Puts a log of production into a golden set, for tests of what is made of its counts."""

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

"""Puts logs and proposed grades into a golden set, for tests of what is made of them."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path

from click.testing import CliRunner

from labeler.cli import main
from tests.support.databases import rewrite


def log(path: Path, facet: str, counts: Mapping[str, int], source: str = "log") -> None:
    """Load a question of each bucket of a facet, asked so many times, as `labeler` is typed."""
    rows = [(f"question about {bucket}", n, bucket, "c1") for bucket, n in counts.items()]
    asked = path.parent / f"{source}.csv"
    with asked.open("w", newline="") as file:
        csv.writer(file).writerows([("question", "count", facet, "chunk_id"), *rows])
    given = ["--db", str(path), "load", "candidates", str(asked), "--from", source]
    result = CliRunner().invoke(main, [*given, "--facet", facet])
    assert result.exit_code == 0, result.output


def propose(path: Path, query_id: str, chunk_id: str, grade: int, source: str = "clicks") -> None:
    """Propose a grade for a chunk of a query."""
    rewrite(
        path,
        "INSERT INTO proposals (query, chunk, source, grade, times, at) SELECT q.id, c.id, "
        f"'{source}', {grade}, 1, '2026-11-01T00:00:00Z' FROM queries AS q, chunks AS c "
        f"WHERE q.query_id = '{query_id}' AND c.chunk_id = '{chunk_id}'",
    )

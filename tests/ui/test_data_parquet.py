"""Parquet on the Data page: told by its content and loaded like any other file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from labeler.store import Store
from tests.support.page import empty_golden_set, open_page, words


def parquet(rows: list[dict[str, Any]]) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pylist(rows), sink)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def test_parquet_files_are_dropped_like_any_other(tmp_path: Path) -> None:
    database = empty_golden_set(tmp_path)
    files = {
        "bm25.parquet": parquet([{"query_id": "q1", "chunk_id": "c1", "rank": 1}]),
        "grades.parquet": parquet([{"query_id": "q1", "chunk_id": "c1", "grade": 3}]),
        "chunks.parquet": parquet([{"chunk_id": "c1", "text": "Ann"}]),
        "asked.parquet": parquet([{"query_id": "q1", "query": "who?"}]),
    }
    app = open_page("data")
    app.file_uploader[0].set_value([(*item, "application/octet-stream") for item in files.items()])
    app.run()
    assert "a query and a chunk per row, with rank" in words(app)
    [button] = [each for each in app.button if each.label == "Load 4 files"]
    button.click().run()
    assert "1 query · 1 chunk · 1 run · 1 golden grade" in words(app)
    with Store(database) as store:
        assert [run.name for run in store.runs.all()] == ["bm25"]

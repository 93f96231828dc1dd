"""The parts of a golden set as files: JSONL and CSV load back as the same queries, chunks, runs."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from labeler.errors import BadInput
from labeler.model import Chunk, Judgment, Query, Ranking, Selection
from labeler.services import import_export
from labeler.services.import_export.parts import PARTS, write_part
from labeler.store import Store

LOADED = {"queries": "queries", "chunks": "chunks", "runs": "run", "grades": "golden"}


@pytest.fixture
def filled(store: Store, loaded) -> Store:
    """A query with a bucket, two chunks, two runs and a grade with a note that is a formula."""
    asked = Query("q1", "How long?", "single", "Three days.", None, ("c7",), {"intent": "refunds"})
    store.queries.load(loaded([asked]))
    store.chunks.load(loaded([Chunk("c1", "Three days.", "Refunds", "d1"), Chunk("c2", "=1+1")]))
    store.runs.load(loaded([Ranking("q1", ("c1", "c2"), (2.5, 1.25))]), name="bm25")
    store.runs.load(loaded([Ranking("q1", ("c2", "c1"), (0.5, 0.25))]), name="dense")
    store.people.add("Ann")
    store.judgments.add(Judgment("e1", "q1", "c1", "Ann", grade=3, note="=SUM(A1)"))
    return store


@pytest.mark.parametrize("kind", ["jsonl", "csv"])
def test_parts_load_back_as_they_were(filled: Store, tmp_path: Path, kind):
    options = import_export.LoadOptions(facets=["intent"] if kind == "csv" else None)
    with Store(tmp_path / "again.db", create=True) as again:
        for part, loads in LOADED.items():
            file = tmp_path / f"{part}.{kind}"
            file.write_bytes(write_part(filled, part, kind))
            import_export.read(loads, file, options)(again)
        assert [each.text for each in again.queries.all()] == ["How long?"]
        assert [each.buckets for each in again.queries.all()] == [{"intent": "refunds"}]
        assert again.runs.names() == ["bm25", "dense"]
        for run in again.runs.names():
            assert list(again.runs.lists(run)) == list(filled.runs.lists(run))
        assert [(each.chunk_id, each.grade) for each in again.golden_set.read()[1]] == [("c1", 3)]
        texts = {each.chunk_id: each.text for each in again.chunks.all()}
        assert texts == {"c1": "Three days.", "c2": "'=1+1" if kind == "csv" else "=1+1"}


def test_every_judgment_is_a_row_and_no_cell_of_csv_is_a_formula(filled: Store):
    [event] = map(json.loads, write_part(filled, "judgments", "jsonl").splitlines())
    assert (event["event_id"], event["grader"], event["note"]) == ("e1", "Ann", "=SUM(A1)")
    [row] = csv.DictReader(write_part(filled, "judgments", "csv").decode().splitlines())
    assert (row["grade"], row["note"]) == ("3", "'=SUM(A1)")


def test_a_part_of_a_split_has_its_queries_and_their_lists_alone(filled: Store, loaded):
    filled.queries.load(loaded([Query("q2", "How much?", split="dev")]))
    filled.runs.load(loaded([Ranking("q2", ("c1",))]), name="later")
    dev = Selection("dev")
    rows = {
        part: [json.loads(line) for line in write_part(filled, part, "jsonl", dev).splitlines()]
        for part in PARTS
        if part != "judgments"
    }
    assert [row["query_id"] for row in rows["queries"]] == ["q2"]
    assert rows["runs"] == [{"run": "later", "query_id": "q2", "chunk_id": "c1", "rank": 1}]
    assert rows["grades"] == []
    with pytest.raises(BadInput, match="the log is one chain"):
        write_part(filled, "judgments", "jsonl", dev)

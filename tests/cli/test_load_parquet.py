"""``labeler load`` on Parquet: files and MTEB folders, and what ``labeler.record`` wrote."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

import labeler
from labeler.cli import main
from labeler.store import Store


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LABELER_DB", raising=False)
    monkeypatch.delenv("LABELER_RECORD", raising=False)


def load(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["load", *arguments], prog_name="labeler")


def write(path: str, rows: list[dict[str, Any]]) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows), path)


def mteb_folder(name: str) -> None:
    corpus = [{"_id": f"c{n}", "title": "", "text": f"text {n}"} for n in range(6)]
    write(f"{name}/corpus/corpus-00000-of-00002.parquet", corpus[:4])
    write(f"{name}/corpus/corpus-00001-of-00002.parquet", corpus[4:])
    queries = [{"_id": f"q{n}", "text": f"question {n}?"} for n in range(2)]
    write(f"{name}/queries/queries-00000-of-00001.parquet", queries)
    grades = [{"query-id": f"q{n}", "corpus-id": f"c{n}", "score": 1.0} for n in range(2)]
    write(f"{name}/data/test-00000-of-00001.parquet", grades)


RUN = [{"query_id": "q0", "chunk_id": f"c{n}", "score": 0.9 - n / 10} for n in range(3)]


def test_a_folder_of_mteb_and_a_run_in_parquet_load_together() -> None:
    mteb_folder("scifact")
    write("bm25.parquet", RUN)
    result = load("files", "bm25.parquet", "scifact")
    assert result.exit_code == 0, result.output
    assert [line for line in result.output.splitlines() if " from " in line] == [
        "chunks from scifact/corpus (2 files)",
        "queries from scifact/queries/queries-00000-of-00001.parquet",
        "golden grades from scifact/data/test-00000-of-00001.parquet",
        "run 'bm25' from bm25.parquet",
    ]
    with Store("golden.db") as store:
        contents = store.golden_set.contents()
        assert (contents.queries, contents.golden, contents.runs) == (2, 2, 1)
        [ranking] = store.runs.lists("bm25")
        assert ranking.chunk_ids == ("c0", "c1", "c2")


def test_each_kind_loads_by_its_command() -> None:
    write("q.parquet", [{"query_id": "q0", "query": "why?"}])
    write("c.parquet", [{"chunk_id": f"c{n}", "text": f"text {n}"} for n in range(3)])
    write("g.parquet", [{"query_id": "q0", "chunk_id": "c1", "grade": 2}])
    write("bm25.parquet", RUN)
    for kind, name in (("queries", "q"), ("chunks", "c"), ("golden", "g"), ("run", "bm25")):
        result = load(kind, f"{name}.parquet")
        assert result.exit_code == 0, result.output
    mteb_folder("scifact")
    again = load("beir", "scifact", "--split", "train")
    assert (again.exit_code, again.output) == (
        1,
        "Error: scifact: there is no qrels/train.tsv; the splits are: test\n",
    )


def test_what_was_recorded_loads_in_the_order_of_its_lists() -> None:
    lists = {
        "scores fall": [{"id": "a", "text": "A", "score": 3}, {"id": "b", "text": "B", "score": 1}],
        "distances": [{"id": "b", "text": "B", "score": 0.1}, {"id": "a", "text": "A", "score": 2}],
        "reranked": [{"id": f"{n}", "text": f"T{n}", "score": n % 3} for n in range(1, 6)],
        "without scores": ["B", "C"],
        "nothing found": [],
    }
    for system in ("bm25", "dense"):
        for query, results in lists.items():
            assert labeler.record(query, results, system=system, on_error="raise")
    result = load("retrieval.jsonl")
    assert result.exit_code == 0, result.output
    with Store("golden.db") as store:
        assert sorted(run.name for run in store.runs.all()) == ["bm25", "dense"]
        texts = {query.query_id: query.text for query in store.queries.all()}
        assert {*texts.values()} == {*lists}
        chunks = {texts[each.query_id]: each.chunk_ids for each in store.runs.lists("bm25")}
        ranked = {text: chunks[text] for text in ("scores fall", "distances", "reranked")}
    assert ranked == {
        "scores fall": ("a", "b"),
        "distances": ("b", "a"),
        "reranked": ("1", "2", "3", "4", "5"),
    }

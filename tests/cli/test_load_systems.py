"""``labeler load run`` and ``load files`` of one file that names several systems."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from labeler.cli import main
from labeler.store import Store

ROWS = [
    ("q1", "c2", 12.5, "bm25"),
    ("q1", "c1", 0.9, "dense"),
    ("q1", "c1", 11.5, "bm25"),
    ("q1", "c3", 0.8, "dense"),
    ("q2", "c1", 0.7, "dense"),
]
NESTED = [
    {
        "question": "q1",
        "run": "bm25",
        "results": [{"id": "c1", "score": 1}, {"id": "c2", "score": 2}],
    },
    {"question": "q1", "run": "dense", "results": ["c1", "c3"]},
    {"question": "q2", "run": "dense", "results": ["c1"]},
]
FILES = {
    "table.csv": "query_id,chunk_id,score,System\n"
    + "".join(f"{q},{c},{score},{system}\n" for q, c, score, system in ROWS),
    "lines.jsonl": "".join(
        json.dumps({"qid": q, "docno": c, "_score": score, "Run-ID": system}) + "\n"
        for q, c, score, system in ROWS
    ),
    "lists.json": json.dumps(NESTED, indent=1),
}
QUERIES = "query_id,query\nq1,first?\nq2,second?\n"


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Load with these words in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LABELER_DB", raising=False)
    (tmp_path / "queries.csv").write_text(QUERIES)

    def invoke(*words: str) -> Result:
        return CliRunner().invoke(main, ["--db", "set.db", "load", *words], prog_name="labeler")

    assert invoke("queries", "queries.csv").exit_code == 0
    return invoke


def lists(name: str) -> dict[str, tuple[str, ...]]:
    with Store(Path("set.db")) as store:
        return {each.query_id: tuple(each.chunk_ids) for each in store.runs.lists(name)}


@pytest.mark.parametrize("kind", ["run", "files"])
@pytest.mark.parametrize("name", ["table.csv", "lines.jsonl"])
def test_each_system_of_a_file_becomes_a_run(load: Callable[..., Result], name: str, kind: str):
    Path(name).write_text(FILES[name])
    result = load(kind, name)
    assert result.exit_code == 0, result.output
    assert f"run 'bm25' from {name}" in result.output
    assert f"run 'dense' from {name}" in result.output
    assert lists("bm25") == {"q1": ("c2", "c1")}
    assert lists("dense") == {"q1": ("c1", "c3"), "q2": ("c1",)}
    again = load(kind, name)
    assert "run 'dense' is already there with the same content" in again.output


def test_each_system_of_nested_json_becomes_a_run(load: Callable[..., Result]):
    Path("lists.json").write_text(FILES["lists.json"])
    assert load("run", "lists.json").exit_code == 0
    assert lists("bm25") == {"q1": ("c2", "c1")}
    assert lists("dense") == {"q1": ("c1", "c3"), "q2": ("c1",)}


def test_nothing_is_stored_where_one_system_has_another_run_already(load: Callable[..., Result]):
    Path("dense.csv").write_text("query_id,chunk_id,score\nq1,c9,1.5\n")
    assert load("run", "dense.csv").exit_code == 0
    Path("table.csv").write_text(FILES["table.csv"])
    result = load("run", "table.csv")
    assert result.exit_code
    assert "there is already a run named 'dense' with other content" in result.output
    with Store(Path("set.db")) as store:
        assert store.runs.names() == ["dense"]


@pytest.mark.parametrize(
    ("words", "content", "said"),
    [
        (["--name", "a"], FILES["table.csv"], "names 2 systems (bm25, dense), and a run is of one"),
        ([], FILES["table.csv"].replace("System", "tag"), "'tag' names 2 systems (bm25, dense)"),
        ([], FILES["table.csv"] + "q9,c1,1,\n", "table.csv:7: no system is named here, but on"),
        ([], FILES["table.csv"] + "q9,c1,x,other\n", "table.csv:7: score must be a finite number"),
        ([], FILES["table.csv"] + 'q9,c1,1,"a\tb"\n', "control character"),
    ],
)
def test_what_is_no_run_of_each_system_is_refused_whole(
    load: Callable[..., Result], words: list[str], content: str, said: str
):
    Path("table.csv").write_text(content)
    result = load("run", "table.csv", *words)
    assert result.exit_code
    assert said in result.output
    with Store(Path("set.db")) as store:
        assert store.runs.names() == []

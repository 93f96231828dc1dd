"""Fields that a load or an evaluation does not read are named, with what was done."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import labeler as python
from labeler.cli import main
from labeler.store import Store

Labeler = Callable[..., Result]


@pytest.fixture
def labeler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Labeler:
    """Run a command in a folder with two queries, their grades and a run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LABELER_DB", raising=False)
    Path("q.tsv").write_text("query_id\tquery\nk1\twhen?\nk2\twhere?\n")
    Path("g.qrels").write_text("k1 0 a 3\nk1 0 b 0\n")
    Path("r.trec").write_text("k1 Q0 a 1 2.5 r\nk1 Q0 b 2 1.5 r\n")

    def invoke(*words: str) -> Result:
        return CliRunner().invoke(main, words, prog_name="labeler")

    return invoke


def said(result: Result, what: str) -> str | None:
    """Return what a report says after a fact's name."""
    assert result.exit_code == 0, result.output
    lines = (line.strip() for line in result.output.splitlines())
    return next((line[len(what) :].strip() for line in lines if line.startswith(what)), None)


GRADES = {
    "g.csv": "query_id,doc_id,grade,model,confidence\nk1,a,3,m,0.5\n",
    "g.jsonl": '{"query_id": "k1", "doc_id": "a", "grade": 3, "model": "m", "confidence": 0.5}\n',
    "g.tsv": "query_id\tquery\tdoc_id\tgrade\tmodel\tconfidence\nk1\twhen?\ta\t3\tm\t0.5\n",
    "g2.csv": "query_id,doc_id,grade,grader,model,confidence\nk1,a,3,an,m,0.5\nk1,a,2,bo,m,0.5\n",
}


@pytest.mark.parametrize("name", GRADES)
def test_columns_beside_golden_grades_are_named(labeler: Labeler, name: str):
    Path(name).write_text(GRADES[name])
    assert labeler("load", "queries", "q.tsv").exit_code == 0
    assert said(labeler("load", "golden", name), "not read") == "model, confidence"
    shown = labeler("evaluate", name, "r.trec")
    assert f"{name}: not read: model, confidence" in shown.output
    notes = python.evaluate(name, {"A": "r.trec"}, "RR").attrs["notes"]
    assert f"{name}: not read: model, confidence" in notes


@pytest.mark.parametrize("name", ["g.qrels", "plain.csv", "plain.jsonl"])
def test_nothing_is_named_where_all_is_read(labeler: Labeler, name: str):
    Path("plain.csv").write_text("query_id,query,iteration,doc_id,grade\nk1,when?,0,a,3\n")
    Path("plain.jsonl").write_text('{"query_id": "k1", "doc_id": "a", "grade": 3, "note": "x"}\n')
    assert labeler("load", "queries", "q.tsv").exit_code == 0
    assert said(labeler("load", "golden", name), "not read") is None
    assert "not read" not in labeler("evaluate", name, "r.trec").output


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("r.csv", "query_id,chunk_id,score,colour,text,title\nk1,a,2,red,t,t\n"),
        ("r.jsonl", '{"query_id": "k1", "chunk_id": "a", "score": 2, "colour": "red"}\n'),
        ("r.json", '[{"query_id": "k1", "results": [{"id": "a", "score": 2, "colour": 1}]}]'),
    ],
)
def test_columns_of_a_run_are_named_by_evaluate(labeler: Labeler, name: str, content: str):
    Path(name).write_text(content)
    assert f"{name}: not read: colour" in labeler("evaluate", "g.qrels", name).output
    found = python.evaluate("g.qrels", {"A": name}, "RR")
    assert f"{name}: not read: colour" in found.attrs["notes"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("c.csv", "chunk_id,text,page,colour\na,Open.,3,red\n"),
        ("c.jsonl", '{"chunk_id": "a", "text": "Open.", "page": 3, "colour": "red"}\n'),
        ("c.json", '[{"id": "a", "content": "Open.", "metadata": {"page": 3}, "colour": "red"}]'),
    ],
)
def test_fields_that_chunks_keep_as_metadata_are_named(labeler: Labeler, name: str, content: str):
    Path(name).write_text(content)
    assert said(labeler("load", "chunks", name), "kept as metadata") == "page, colour"
    with Store("golden.db") as store:
        assert {*store.chunks.get("a").metadata} == {"page", "colour"}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("q.jsonl", '{"query_id": "k1", "query": "when?", "steps": [1, 2], "level": 3}\n'),
        ("q.json", '[{"qid": "k1", "question": "when?", "steps": {"a": 1}, "level": 3}]'),
        (
            "q2.jsonl",
            '{"query_id": "k1", "query": "when?", "metadata": {"steps": [], "level": 1}}\n',
        ),
    ],
)
def test_fields_that_queries_keep_as_metadata_are_named(labeler: Labeler, name: str, content: str):
    Path(name).write_text(content)
    assert said(labeler("load", "queries", name), "kept as metadata") == "steps, level"


@pytest.mark.parametrize("name", ["g.csv", "g.jsonl", "g.tsv"])
@pytest.mark.parametrize("column", ["relevance_score", "score", "similarity"])
def test_who_says_that_a_file_is_golden_grades_may_call_them_scores(
    labeler: Labeler, name: str, column: str
):
    mark = "\t" if name.endswith("tsv") else ","
    rows = [("qid", "docid", column), ("k1", "a", "3"), ("k1", "b", "0")]
    text = "".join(mark.join(row) + "\n" for row in rows)
    if name.endswith("jsonl"):
        text = "".join(
            f'{{"qid": "k1", "docid": "{c}", "{column}": {g}}}\n' for _, c, g in rows[1:]
        )
    Path(name).write_text(text)
    assert labeler("load", "queries", "q.tsv").exit_code == 0
    asked = labeler("load", "files", name)
    assert asked.exit_code == 1, "grades, or the scores of a run?"
    assert "'labeler load golden'" in asked.output
    done = labeler("load", "golden", name)
    assert done.exit_code == 0, done.output
    with Store("golden.db") as store:
        assert [each.grade for each in store.golden_set.read()[1]] == [3, 0]


LOOKS = [("caf\u00e9 menu", "cafe\u0301 menu"), ("star wars", "star\u00a0wars"), ("a b", "a  b")]


@pytest.mark.parametrize(("known", "given"), LOOKS)
def test_evaluate_names_a_query_that_only_looks_like_one_of_the_qrels(
    labeler: Labeler, known: str, given: str
):
    Path("g.csv").write_text(f"query,docid,rating\n{known},a,1\nother text,a,1\n")
    Path("r.csv").write_text(f"query,docid,score\n{given},a,1\nother text,a,1\n")
    shown = labeler("evaluate", "g.csv", "r.csv")
    assert "differs from a query of the qrels in blanks or Unicode form only" in shown.output
    notes = python.evaluate({known: {"a": 1}, "k": {"a": 1}}, {"A": {given: ["a"], "k": ["a"]}})
    assert [note for note in notes.attrs["notes"] if "differs from a query of the qrels" in note]


def test_what_a_list_and_a_map_contradict_is_said_by_evaluate_too(labeler: Labeler):
    Path("t.jsonl").write_text(
        '{"query_id": "k1", "query": "when?", "relevant_ids": ["a"], "relevance_map": {"a": 0}}\n'
    )
    shown = labeler("evaluate", "t.jsonl", "r.trec")
    assert "the list of relevant chunks and relevance_map differ on 1 pair" in shown.output

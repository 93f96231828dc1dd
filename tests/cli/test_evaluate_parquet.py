"""Runs and qrels in Parquet: evaluated as the same tables in text are, with the same words."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner, Result

import labeler
from labeler.cli import main
from labeler.errors import BadInput

Evaluate = Callable[..., Result]
GRADES = {"k1": {"a": 3, "b": 0}, "k2": {"c": 2, "d": 0}}
ROWS = [("k1", "b", 1), ("k1", "a", 9), ("k2", "d", 2), ("k2", "c", 7)]


@pytest.fixture
def evaluate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Evaluate:
    """Evaluate files in a folder with qrels."""
    monkeypatch.chdir(tmp_path)
    lines = [f"{q} 0 {c} {grade}\n" for q, of in GRADES.items() for c, grade in of.items()]
    Path("g.qrels").write_text("".join(lines))

    def invoke(*words: str) -> Result:
        return CliRunner().invoke(main, ["evaluate", *words], prog_name="labeler")

    return invoke


def put(columns: dict[str, object], name: str = "run.parquet") -> str:
    frame = pd.DataFrame(ROWS, columns=["query_id", "doc_id", "value"]).assign(**columns)
    frame = frame.drop(columns="value") if "value" not in columns else frame
    if name.endswith("/"):
        Path(name).mkdir()
        for at, (_, part) in enumerate(frame.groupby("query_id")):
            part.to_parquet(Path(name, f"part-{at}.parquet"))
    else:
        frame.to_parquet(name)
    return name


def values(result: Result) -> dict[str, float]:
    assert result.exit_code == 0, result.output
    rows = csv.DictReader(io.StringIO(result.output))
    return {row["run"]: float(row["value"]) for row in rows}


VALUES = [value for _, _, value in ROWS]
ASKED = ("--measures", "RR", "--format", "csv")


@pytest.mark.parametrize("name", ["run.parquet", "run/"])
@pytest.mark.parametrize(
    ("column", "expected", "said"),
    [
        ("_score", 1.0, ""),
        ("relevance_score", 1.0, ""),
        ("distance", 0.5, "the smallest distance is best; scores are minus the distances"),
        ("rank", 0.5, ""),
        ("position", 0.5, ""),
    ],
)
def test_what_orders_a_run_has_any_of_its_names(
    evaluate: Evaluate, name: str, column: str, expected: float, said: str
):
    given = put({column: VALUES}, name)
    assert [*values(evaluate("g.qrels", given, *ASKED)).values()] == [expected]
    assert said in evaluate("g.qrels", given).output
    for qrels in (GRADES, pd.read_csv("g.qrels", sep=" ", names=["qid", "0", "docno", "label"])):
        found = labeler.evaluate(qrels, {"A": given}, "RR")
        assert found.value.tolist() == [expected]
        assert not said or f"run 'A': {said}" in found.attrs["notes"]


def test_nothing_that_orders_a_run_is_asked_about(evaluate: Evaluate):
    given = put({"weight": VALUES})
    refused = evaluate("g.qrels", given)
    assert refused.exit_code == 1
    assert "no column score" in refused.output
    assert "--order file" in refused.output
    assert values(evaluate("g.qrels", given, "--order", "file", *ASKED)) == {"run": 0.5}
    with pytest.raises(BadInput, match=r"order='file'"):
        labeler.evaluate(GRADES, {"A": given}, "RR")
    assert labeler.evaluate(GRADES, {"A": given}, "RR", order="file").value.tolist() == [0.5]


@pytest.mark.parametrize("column", ["system", "run", "run_id"])
def test_several_systems_are_never_one_run(evaluate: Evaluate, column: str):
    given = put({"score": VALUES, column: ["one", "one", "two", "two"]})
    assert values(evaluate("g.qrels", given, *ASKED)) == {"one": 0.5, "two": 0.5}
    with pytest.raises(BadInput, match="names 2 systems"):
        labeler.evaluate(GRADES, {"A": given}, "RR")


@pytest.mark.parametrize("more", ["colour", "page_number", "source_node"])
def test_columns_that_are_not_read_are_named(evaluate: Evaluate, more: str):
    given = put({"score": VALUES, more: "x", "text": "t"})
    assert f"columns that are not read: {more}" in evaluate("g.qrels", given).output
    qrels = put({"grade": [0, 3, 0, 2], more: "x"}, "g.parquet")
    assert f"qrels: columns that are not read: {more}" in evaluate(qrels, given).output


def test_scores_that_rise_are_asked_about(evaluate: Evaluate):
    rows = [(query, f"c{at}", at / 8) for query in ("k1", "k2") for at in range(4)]
    pd.DataFrame(rows, columns=["qid", "docno", "score"]).to_parquet("up.parquet")
    assert "are they distances? The highest counts" in evaluate("g.qrels", "up.parquet").output


def test_several_graders_in_parquet_are_their_lower_median(evaluate: Evaluate):
    rows = [("k1", "a", 3, "ann"), ("k1", "a", 0, "bo"), ("k1", "b", 1, "ann")]
    frame = pd.DataFrame(rows, columns=["query_id", "doc_id", "grade", "grader"])
    frame.to_parquet("g.parquet")
    Path("r.trec").write_text("k1 Q0 a 1 2 r\nk1 Q0 b 2 1 r\n")
    shown = evaluate("g.parquet", "r.trec", "--measures", "RR")
    assert "several graders grade the same pair; the lower median counts" in shown.output
    assert values(evaluate("g.parquet", "r.trec", *ASKED)) == {"r": 0.5}

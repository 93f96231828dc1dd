"""Tables as JSON column by column are refused, with what would be right."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from labeler.cli import main
from labeler.errors import BadInput
from labeler.formats import guess, read_chunks, read_golden, read_queries, read_run

FRAME = pd.DataFrame(
    {"Query-ID": [7, 7, 8], "docno": [1, 2, 1], "score": [0.5, 0.25, 3.0], "color": [1, 1, 1]}
)
QUESTIONS = {"questions": ["Is it free?", "Who pays?"], "ground_truths": ["yes", "we do"]}
TABLES = {
    **{how: str(FRAME.to_json(orient=how)) for how in ("columns", "index", "split", "table")},
    "indented": str(FRAME.to_json(indent=2)),
    "texts": str(FRAME.astype(str).to_json()),
    "lists": json.dumps(FRAME.to_dict(orient="list")),
    "questions": json.dumps(QUESTIONS),
    "indented questions": json.dumps(QUESTIONS, indent=1),
    "questions and contexts": json.dumps({**QUESTIONS, "contexts": [["a"], ["b", "c"]]}),
}
REMEDY = 'write a record a line, as df.to_json(path, orient="records", lines=True) does'


@pytest.mark.parametrize("content", TABLES.values(), ids=TABLES.keys())
def test_a_table_column_by_column_is_no_run_and_nothing_else(content: str, tmp_path: Path):
    path = tmp_path / "frame.json"
    path.write_text(content)
    for read in (read_run, read_golden, read_queries, read_chunks):
        with pytest.raises(BadInput, match=r"frame\.json:1: a table column by column \(") as error:
            read(path)
        assert str(error.value).endswith(REMEDY)
    found = guess(path)
    assert found.kind is None
    assert found.why.endswith(REMEDY)


def test_what_the_refusal_says_makes_the_file_load(tmp_path: Path):
    path = tmp_path / "frame.json"
    FRAME.to_json(path, orient="records", lines=True)
    assert [each.query_id for each in read_run(path).records] == ["7", "8"]


def test_load_files_refuses_it_and_leaves_nothing_behind(tmp_path: Path):
    path, database = tmp_path / "frame.json", tmp_path / "db"
    FRAME.to_json(path)
    result = CliRunner().invoke(main, ["--db", str(database), "load", "files", str(path)])
    assert result.exit_code
    assert "a table column by column (Query-ID, docno, score, color)" in result.output
    assert not database.exists()


BY_QUERY = {
    "runs": {"q1": {"0": 2.5, "1": 0.5}, "q2": {"0": 1.5, "1": 0.5}},
    "lists": {"q1": ["a", "b"], "q2": ["c", "d"]},
    "a query of one word": {"score": {"a": 2.5}, "how to score": {"b": 1.5}},
    "two queries of one word": {"label": ["a", "b"], "title": ["c"]},
    "words by ids": {"label": {"d1": 2.5}, "title": {"d2": 1.5}},
    "numbers as ids": {"1": {"10": 2.5, "11": 0.5}, "2": {"10": 1.5}},
}


@pytest.mark.parametrize("given", BY_QUERY.values(), ids=BY_QUERY.keys())
def test_lists_by_query_are_a_run_as_before(given: dict[str, object], tmp_path: Path):
    path = tmp_path / "run.json"
    for indent in (None, 1):
        path.write_text(json.dumps(given, indent=indent))
        assert [each.query_id for each in read_run(path).records] == [*given]
        assert guess(path).kind == "run"

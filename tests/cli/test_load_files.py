"""``labeler load files``: many files at once, each taken for what its content says."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from labeler.cli import main
from labeler.store import Store

FILES = {
    "a.trec": "q1 Q0 c1 1 3.0 a\nq1 Q0 c2 2 2.0 a\n",
    "grades.txt": "q1 0 c1 3\n",
    "texts": '{"chunk_id": "c1", "text": "Refunds take three days."}\n',
    "what-people-ask": '{"query_id": "q1", "query": "how do I get my money back"}\n',
}

Load = Callable[..., Result]


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Load:
    """Load files in a folder that holds only them."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LABELER_DB", raising=False)
    for name, content in FILES.items():
        (tmp_path / name).write_text(content)

    def invoke(*paths: str) -> Result:
        return CliRunner().invoke(main, ["load", "files", *paths], prog_name="labeler")

    return invoke


def titles(result: Result) -> list[str]:
    """Return the first lines of the reports, in the order of loading."""
    return [line for line in result.output.splitlines() if " from " in line]


def test_files_are_loaded_in_the_order_they_need_each_other(load: Load):
    result = load(*FILES)
    assert result.exit_code == 0, result.output
    assert titles(result) == [
        "queries from what-people-ask",
        "chunks from texts",
        "golden grades from grades.txt",
        "run 'a' from a.trec",
    ]
    with Store("golden.db") as store:
        contents = store.golden_set.contents()
        assert (contents.queries, contents.golden, contents.runs) == (1, 1, 1)


def test_what_cannot_be_loaded_is_named_and_the_rest_is_there(load: Load):
    Path("letter.pdf").write_bytes(b"%PDF-1.7")
    Path("b.trec").write_text("q1 Q0 c1 1 3.0 b\nq1 Q0 c1 2 2.0 b\n")
    result = load("b.trec", "letter.pdf", *FILES, "nowhere")
    assert result.exit_code == 1
    assert result.stderr.splitlines() == [
        "Error: letter.pdf: the file is a PDF; save its texts as CSV or JSONL in UTF-8",
        "nowhere: there is no such file",
        "b.trec:2: chunk 'c1' appears twice for query 'q1' (first on line 1); keep the better "
        "placed with --on-duplicate first",
        "4 files are loaded, 3 not",
    ]
    assert len(titles(result)) == 4
    with Store("golden.db") as store:
        assert [run.name for run in store.runs.all()] == ["a"]


@pytest.mark.parametrize(
    ("name", "content", "options"),
    [
        ("odd.qrels", "q1 0 c1 -1\n", ["--negative-as-zero"]),
        ("five.qrels", "q1 0 c1 5\n", ["--grade-map", "5=3"]),
        ("other", '{"query_id": "q1", "query": "a"}\n', ["--update"]),
        ("b.trec", "q1 Q0 c1 1 3.0 b\nq1 Q0 c1 2 2.0 b\n", ["--on-duplicate", "first"]),
    ],
)
def test_an_option_that_a_refusal_names_is_taken_where_no_kind_is_named(
    load, name, content, options
):
    load("what-people-ask", "texts")
    Path(name).write_text(content)
    refused = load(name)
    assert refused.exit_code == 1
    assert options[0] in refused.stderr
    assert load(name, *options).exit_code == 0


def test_a_file_is_loaded_without_a_word_what_it_holds(load: Load):
    load("what-people-ask")
    result = CliRunner().invoke(main, ["load", "texts"], prog_name="labeler")
    assert (result.exit_code, titles(result)) == (0, ["chunks from texts"])
    given = ["load", "--name", "first", "a.trec"]
    result = CliRunner().invoke(main, given, prog_name="labeler")
    assert titles(result) == ["run 'first' from a.trec"]
    for name in ("nowhere", "x" * 5000):
        result = CliRunner().invoke(main, ["load", name])
        assert (result.exit_code, f"No such command '{name}'" in result.stderr) == (2, True)


def test_a_command_wins_over_a_file_of_its_name(load: Load):
    Path("queries").write_text(Path("texts").read_text())
    result = CliRunner().invoke(main, ["load", "queries", "what-people-ask"])
    assert titles(result) == ["queries from what-people-ask"]


def test_grades_do_not_load_without_their_queries_and_make_no_file(load: Load):
    result = load("grades.txt")
    assert result.exit_code == 1
    assert "query 'q1' is not in the golden set; load its queries first" in result.stderr
    assert sorted(os.listdir()) == sorted(FILES)


def test_a_run_of_which_no_text_is_known_says_so(load: Load):
    said = "no text is known of any chunk of this run, so nobody can grade them"
    assert said in load("what-people-ask", "a.trec").output
    Path("b.trec").write_text("q1 Q0 c1 1 3.0 b\nq1 Q0 c9 2 2.0 b\n")
    assert said not in load("texts", "b.trec").output


def test_the_same_files_again_change_nothing(load: Load):
    load(*FILES)
    with Store("golden.db") as store:
        before = store.golden_set.data_revision(), store.judgments.revision()
    assert load(*FILES).exit_code == 0
    with Store("golden.db") as store:
        assert (store.golden_set.data_revision(), store.judgments.revision()) == before

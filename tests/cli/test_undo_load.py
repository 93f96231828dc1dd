"""``labeler undo-load``: the list of loads, taking one back, and what is said of wrong numbers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from labeler.cli import main
from labeler.store import Store

Labeler = Callable[..., Result]
FILES = {
    "queries.tsv": "query_id\tquery\nk1\twhen do you open?\nk2\twhere do I park?\n",
    "chunks.jsonl": '{"chunk_id": "a", "text": "at nine"}\n{"chunk_id": "b", "text": "here"}\n',
    "bm25.trec": "k1 Q0 a 1 2.0 bm25\nk1 Q0 b 2 1.0 bm25\nk2 Q0 b 1 1.0 bm25\n",
    "first.qrels": "k1 0 a 3\nk1 0 b 0\n",
    "later.qrels": "k1 0 a 1\nk2 0 b 2\n",
    "people.csv": "query_id,chunk_id,grader,grade\nk1,a,Ann,1\nk1,a,Bob,2\nk2,a,Ann,3\n",
}


@pytest.fixture
def labeler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Labeler:
    """Run a command in a folder with a golden set of two queries, chunks and a run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LABELER_DB", raising=False)
    monkeypatch.setattr("getpass.getuser", lambda: "lea")
    for name, content in FILES.items():
        Path(name).write_text(content)

    def invoke(*words: str) -> Result:
        return CliRunner().invoke(main, words, prog_name="labeler")

    for what, name in (
        ("queries", "queries.tsv"),
        ("chunks", "chunks.jsonl"),
        ("run", "bm25.trec"),
    ):
        assert invoke("load", what, name).exit_code == 0
    return invoke


def golden() -> dict[tuple[str, str], int]:
    with Store("golden.db") as store:
        return {(each.query_id, each.chunk_id): each.grade for each in store.golden_set.read()[1]}


def score(labeler: Labeler) -> str:
    done = labeler("score", "--format", "csv")
    assert done.exit_code == 0, done.output
    return done.stdout


def test_a_load_ends_with_its_number_and_the_command_takes_it_back(labeler: Labeler):
    labeler("load", "golden", "first.qrels")
    before = score(labeler)
    loaded = labeler("load", "golden", "later.qrels", "--update")
    last = loaded.stdout.splitlines()[-1]
    assert last == "  load 2; undo it with 'labeler undo-load 2'"
    assert score(labeler) != before
    done = labeler("undo-load", "2")
    assert (done.exit_code, done.stdout) == (
        0,
        "load 2 (later.qrels):\n"
        "  2 grades are undone\n"
        "  1 grade that it had replaced counts again\n",
    )
    assert score(labeler) == before
    assert golden() == {("k1", "a"): 3, ("k1", "b"): 0}
    check = labeler("check")
    assert (check.exit_code, "6 are unchanged since" in check.stdout) == (0, True)


def test_doing_it_twice_says_there_is_nothing_left_and_is_no_error(labeler: Labeler):
    labeler("load", "golden", "first.qrels")
    labeler("undo-load", "1")
    again = labeler("undo-load", "1")
    assert (again.exit_code, again.stdout) == (
        0,
        "load 1 (first.qrels):\n"
        "  there is nothing left to undo\n"
        "  2 are left: they were undone before\n",
    )


def test_a_dry_run_only_says_what_would_be_done(labeler: Labeler):
    labeler("load", "golden", "people.csv")
    done = labeler("undo-load", "1", "--dry-run")
    assert done.stdout == "load 1 (people.csv):\n  3 grades would be undone\n"
    assert golden() == {("k1", "a"): 1, ("k2", "a"): 3}
    assert labeler("undo-load", "--dry-run").exit_code == 2


def test_without_a_number_the_loads_are_listed(labeler: Labeler):
    assert labeler("undo-load").stdout == "there is no load of golden grades to undo\n"
    labeler("load", "golden", "first.qrels")
    labeler("load", "golden", "later.qrels", "--update")
    labeler("load", "files", "people.csv")
    labeler("undo-load", "3")
    listed = labeler("undo-load")
    assert listed.exit_code == 0
    headings, *rows = [line.split() for line in listed.stdout.splitlines()]
    assert headings == [
        "load",
        "when",
        "(UTC)",
        "by",
        "file",
        "undone",
        "(UTC)",
        "grades",
        "current",
    ]
    assert [(row[0], row[3], row[4], *row[-2:]) for row in rows[:2]] == [
        ("1", "lea", "first.qrels", "2", "1"),
        ("2", "lea", "later.qrels", "2", "2"),
    ]
    assert rows[2][-2:] == ["3", "0"]
    records = [
        json.loads(line) for line in labeler("undo-load", "--format", "jsonl").output.splitlines()
    ]
    assert [(each["number"], each["brought"], each["current"]) for each in records] == [
        (1, 2, 1),
        (2, 2, 2),
        (3, 3, 0),
    ]
    assert [each["undone"] is None for each in records] == [True, True, False]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            "7",
            "there is no load 7 of golden grades; there is load 1 alone, and 'labeler undo-load'",
        ),
        ("0", "there is no load 0 of golden grades"),
        ("9" * 30, "there is no load 9999"),
        ("bm25", "'bm25' is a run, and only loads of golden grades are undone here; to take"),
        ("bm25.trec", "to take the run away: labeler drop run bm25"),
        ("chunks.jsonl", "'chunks.jsonl' was loaded as chunks, and only loads of golden grades"),
        (
            "first.qrels",
            "'first.qrels' came with load 1; name it by its number: labeler undo-load 1",
        ),
        ("٣", "is no number of a load of golden grades; 'labeler undo-load' lists them"),
        ("a\x1b[2J", "'a\\x1b[2J' is no number"),
    ],
)
def test_what_is_no_load_of_grades_is_an_error_with_a_remedy(
    labeler: Labeler, given: str, said: str
):
    labeler("load", "golden", "first.qrels")
    refused = labeler("undo-load", given)
    assert (refused.exit_code, said in refused.stderr) == (1, True), refused.stderr
    assert golden() == {("k1", "a"): 3, ("k1", "b"): 0}


def test_a_folder_of_beir_is_a_load_as_well(labeler: Labeler):
    for name, content in {
        "queries.jsonl": '{"_id": "b1", "text": "which one?"}\n',
        "corpus.jsonl": '{"_id": "x", "title": "", "text": "this one"}\n',
        "qrels/test.tsv": "query-id\tcorpus-id\tscore\nb1\tx\t1\n",
    }.items():
        path = Path("beir", name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    loaded = labeler("load", "beir", "beir")
    assert loaded.stdout.splitlines()[-1] == "  load 1; undo it with 'labeler undo-load 1'"
    assert golden() == {("b1", "x"): 1}
    assert "1 grade is undone" in labeler("undo-load", "1").stdout
    assert golden() == {}


def test_the_history_of_a_pair_and_the_audit_tell_of_the_undo(labeler: Labeler):
    labeler("load", "golden", "people.csv")
    labeler("undo-load", "1")
    told = labeler("history", "k1", "--chunk", "a").stdout
    assert told.count("load 1 is undone: the judgment of 20") == 2
    assert "no grade counts" in told
    (entry,) = [
        json.loads(line)
        for line in labeler("audit", "--kind", "undo_load", "--format", "jsonl").output.splitlines()
    ]
    assert (entry["who"], entry["subject"], entry["detail"]) == (
        "lea",
        "people.csv",
        {"load": 1, "undone": 3},
    )

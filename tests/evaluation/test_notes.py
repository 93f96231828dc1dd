"""What people are told under a table, programs are told in the rows it concerns."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import labeler
from labeler.analysis.comparison import COVERAGE_NOTE, METHODS_NOTE, SIGNIFICANCE_RULE
from labeler.cli import main
from labeler.evaluation import find_tie_ranges, tie_notes
from tests.support.boards import board_of, change
from tests.support.documentation import ALL
from tests.support.page import open_page, words

QUERIES = """\
{"query_id": "q1", "query": "money back", "task": "single", "buckets": {"intent": "refund"}}
{"query_id": "q2", "query": "parcel lost", "task": "single", "buckets": {"intent": "shipping"}}
{"query_id": "q3", "query": "phone number", "task": "single", "buckets": {"intent": "refund"}}
{"query_id": "q4", "query": "opening hours", "task": "single"}
"""
RUNS = {
    "a": "q1 Q0 x 1 9 a\nq1 Q0 c1 2 8 a\nq2 Q0 c2 1 9 a\nq3 Q0 c3 1 9 a\nq4 Q0 c3 1 9 a\n",
    "b": "q1 Q0 c1 1 9 b\nq1 Q0 x 2 9 b\nq2 Q0 x 1 9 b\nq2 Q0 c2 2 8 b\nzz Q0 c1 1 9 b\n",
    "other": "q1 Q0 doc-1 1 9 o\nq2 Q0 doc-2 1 9 o\nq4 Q0 doc-3 1 9 o\n",
    "none": "q3 Q0 c1 1 9 n\n",
}
QRELS = "q1 0 c1 3\nq1 0 x 0\nq2 0 c2 2\nq2 0 c1 1\nq4 0 c3 1\n"
NOTHING_GRADED = (
    "none of its chunks is graded, while 4 others are, hence the zeros: was it made on another "
    "chunking, or with other chunk ids?"
)

Labeler = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Labeler:
    """Run a labeler command where runs of all kinds are loaded."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LABELER_DB", str(tmp_path / "golden.db"))

    def invoke(*arguments: str) -> Result:
        return CliRunner().invoke(main, arguments, prog_name="labeler")

    for what, name, text in (
        ("queries", "queries.jsonl", QUERIES),
        *(("run", f"{name}.trec", text) for name, text in RUNS.items()),
        ("golden", "grades.qrels", QRELS),
    ):
        Path(name).write_text(text, encoding="utf-8")
        assert invoke("load", what, name).exit_code == 0
    return invoke


def printed(result: Result) -> str:
    assert (result.exit_code, result.stderr) == (0, "")
    return result.stdout


def rows_of(run: Labeler, *arguments: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(printed(run(*arguments, "--format", "json")))
    return rows


def told(table: str) -> set[str]:
    """Return the warnings, and the sentences under the conventions."""
    lines = table.splitlines()
    [at] = [at for at, line in enumerate(lines) if line.startswith("golden ")]
    warnings = {line[2:] for line in lines if line.startswith("! ")}
    return {*warnings, *filter(None, lines[at + 1 :])}


def lines_of(row: dict[str, Any]) -> list[str]:
    """Return what a row's notes say, each with its heading."""
    return [
        f"{note['heading']}: {note['text']}" if note.get("heading") else note["text"]
        for note in row["notes"]
    ]


def kinds(row: dict[str, Any]) -> list[str]:
    return [note["kind"] for note in row["notes"]]


COMMANDS = [
    ("score", "--measures", "nDCG@10 RBP"),
    ("score", "--by", "intent"),
    ("score", "--per-query"),
    ("score", "--preset", "trec_eval"),
    ("compare", "a", "b", "--measures", "RR R@1"),
    ("compare", "a", "b", "--measures", "RR R@1", "--by", "intent"),
    ("compare", "a", "b", "--per-query"),
    ("compare", "a", "other"),
    ("compare", "a", "none"),
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_programs_are_told_all_that_people_are_told(run: Labeler, command: tuple[str, ...]):
    shown = printed(run(*command, "--explain"))
    rows = rows_of(run, *command)
    by_programs = {line for row in rows for line in lines_of(row)}
    assert told(shown)
    assert told(shown) <= by_programs
    lines = [line.removeprefix("! ") for line in shown.splitlines()]
    assert by_programs - set(lines) <= {METHODS_NOTE, f"{SIGNIFICANCE_RULE}; {COVERAGE_NOTE}"}
    text = printed(run(*command, "--format", "csv"))
    table = list(csv.DictReader(io.StringIO(text)))
    assert [row["notes"] for row in table] == [" · ".join(lines_of(row)) for row in rows]
    assert len({len(row) for row in csv.reader(io.StringIO(text))}) == 1, "one rectangular table"
    assert "\x1b" not in text


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_the_readme_names_every_column_and_every_kind_of_note(
    run: Labeler, command: tuple[str, ...]
):
    first_cells = " ".join(re.findall(r"^\| (`.*?`) \|", ALL, re.MULTILINE))
    for row in rows_of(run, *command):
        names = {name: re.sub("_[ab]$", "", name) for name in row}
        assert [a for a, b in names.items() if f"`{a}`" not in ALL and f"`{b}`" not in ALL] == []
        assert [kind for kind in kinds(row) if f"`{kind}`" not in first_cells] == []


def test_a_row_has_the_notes_of_its_own_run_and_of_the_whole(run: Labeler):
    found = {row["run"]: row for row in rows_of(run, "score", "--measures", "RR")}
    whole = ["ungraded", "few"]
    assert kinds(found["a"]) == whole
    assert kinds(found["b"]) == [
        "unknown queries",
        "ties",
        "absent",
        "ungraded",
        "tie range",
        "few",
    ]
    assert kinds(found["other"]) == ["nothing graded", *whole, "unjudged"]
    assert kinds(found["none"]) == ["no result", *whole]
    assert found["b"]["notes"][2] == {
        "kind": "absent",
        "text": "b: no list for 1 query of 3 with golden grades, where its values are 0",
    }
    assert found["none"]["value"] is None
    assert found["b"]["value"] == pytest.approx((1 + 0.5 + 0) / 3, abs=1e-15), "every digit"


def test_where_every_grade_is_0_one_note_says_why_there_is_no_value(run: Labeler):
    Path("grades.qrels").write_text("q1 0 c1 0\nq1 0 x 0\nq2 0 c2 0\nq2 0 c1 0\nq4 0 c3 0\n")
    assert run("load", "golden", "grades.qrels", "--update").exit_code == 0
    for asked in (["score"], ["score", "--by", "intent"], ["compare", "a", "b"]):
        rows = rows_of(run, *asked, "--measures", "RR P@1")
        assert {row["value" if "value" in row else "delta"] for row in rows} == {None}
        assert all(kinds(row).count("nothing relevant") == 1 for row in rows)
    assert "`nothing relevant`" in ALL
    rows = rows_of(run, "score", "--measures", "Judged@1")
    assert not any("nothing relevant" in kinds(row) for row in rows)


def test_what_concerns_one_bucket_is_in_its_rows_alone(run: Labeler):
    asked = ["compare", "a", "b", "--measures", "R@1 RR"]
    rows = rows_of(run, *asked, "--by", "intent")
    few = [note["text"] for row in rows for note in row["notes"] if note["kind"] == "few"]
    assert [text.split(":")[0] for text in few if "intent" in text] == [
        f"intent = {row['bucket']}" for row in rows
    ]
    assert all("no bucket" in kinds(row) for row in rows)


def test_what_is_said_of_two_runs_is_in_each_of_their_rows_whatever_is_shown(run: Labeler):
    for more in (["--measures", "RR"], ["--by", "intent"], ["--per-query"]):
        rows = rows_of(run, "compare", "a", "b", *more)
        found = [[note for note in row["notes"] if "severity" in note] for row in rows]
        assert all(each == found[0] for each in found)
        assert found[0][0]["kind"] == "too few queries"


def test_the_same_candidates_and_the_same_run_have_kinds_of_their_own(run: Labeler):
    for name, text in (("copy", RUNS["a"]), ("shorter", RUNS["a"].replace("q1 Q0 x 1 9 a\n", ""))):
        Path(f"{name}.trec").write_text(text)
        assert run("load", "run", f"{name}.trec").exit_code == 0
    [row] = rows_of(run, "compare", "a", "copy", "--measures", "RR")
    assert kinds(row)[0] == "identical"
    [row] = rows_of(run, "compare", "a", "shorter", "--measures", "RR")
    assert {"same chunks", "parts"} <= set(kinds(row))


def test_names_in_notes_are_no_formula_and_move_no_cursor(run: Labeler):
    for name in ("=cmd()", "old"):
        assert run("load", "run", "b.trec", "--name", name).exit_code == 0
    with closing(sqlite3.connect(os.environ["LABELER_DB"])) as db, db:  # as it once was taken
        db.execute("UPDATE runs SET name = ? WHERE name = 'old'", ["b\x1b[2J"])
    text = printed(run("score", "=cmd()", "--measures", "RR", "--format", "csv"))
    [row] = csv.DictReader(io.StringIO(text))
    assert (row["run"], row["notes"][:7]) == ("'=cmd()", "'=cmd()")
    for kind in ("table", "md"):
        assert "\x1b" not in printed(run("score", "--format", kind))
    assert "\x1b" not in printed(run("score", "--format", "json"))


# A run that shares no graded chunk -------------------------------------------------------------


def test_a_run_that_shares_no_graded_chunk_says_why_its_values_are_0(run: Labeler):
    assert f"other: {NOTHING_GRADED}" in told(printed(run("score")))
    assert f"other: {NOTHING_GRADED}" in told(printed(run("compare", "a", "other")))
    assert NOTHING_GRADED in words(open_page("scores"))
    computed = {"show": "How computed"}
    assert f"other: {NOTHING_GRADED}" in words(open_page("compare", a="a", b="other", **computed))
    assert f"other: {NOTHING_GRADED}" in words(open_page("slices", a="other"))
    for page, more in (("compare", computed), ("slices", {})):
        shown = words(open_page(page, a="a", b="b", **more))
        assert NOTHING_GRADED not in shown, "it is not shown there"


def test_evaluate_says_so_too():
    qrels, run = {"q1": {"c1": 3, "c2": 0}, "q2": {"c3": 0, "c4": 0}}, {"q1": ["doc-1", "doc-2"]}
    found = labeler.evaluate(qrels, {"A": run}, "RR")
    assert (found["value"].tolist(), found["reason"].tolist()) == ([0.0], [None])
    assert found.attrs["notes"][-1] == f"A: {NOTHING_GRADED}"
    compared = labeler.compare(qrels, run, {"q1": ["c1"]}, "RR")
    assert [note for note in compared.attrs["notes"] if NOTHING_GRADED in note] == [
        f"A: {NOTHING_GRADED}"
    ]


@pytest.mark.parametrize(
    "ranked",
    [
        {"q1": ["x", "c2"]},  # graded, and not relevant
        {"q2": ["c3"]},  # of a query that has nothing relevant
        {"q1": ["x", "y", "z", "c1"]},  # far below any cut-off
        {},  # no result at all, which is said otherwise
    ],
)
def test_a_run_that_only_finds_nothing_relevant_is_not_suspected(ranked: dict[str, list[str]]):
    qrels = {"q1": {"c1": 3, "c2": 0}, "q2": {"c3": 0}, "q3": {}}
    board = board_of(qrels, {"A": ranked, "B": {"q1": ["c1"]}})
    assert "nothing graded" not in [note.kind for note in board.notes()]


def test_nobody_is_suspected_before_there_is_a_grade_and_none_after_the_first_shared_one():
    board = board_of({"q1": {}, "q2": {}}, {"A": {"q1": ["c1"], "q2": ["c2"]}, "B": {"q1": ["x"]}})

    def suspected() -> list[str]:
        return [note.runs[0] for note in board.notes() if note.kind == "nothing graded"]

    assert suspected() == []
    board.refresh([change(board, "q1", "x", 0)], 1)
    assert suspected() == ["A"]
    board.refresh([change(board, "q2", "c2", 0)], 2)
    assert suspected() == []


def test_a_run_of_known_chunks_that_are_graded_for_other_queries_is_of_no_other_chunking():
    board = board_of({"q1": {"c1": 1}, "q2": {"c2": 1}}, {"A": {"q1": ["c2"], "q2": ["c1"]}})
    [sentence] = [note.sentence for note in board.notes() if note.kind == "nothing graded"]
    assert sentence == (
        "A: no chunk in its lists is graded for the query it was found for, hence the zeros"
    )


# Ties ------------------------------------------------------------------------------------------


def test_a_range_that_four_digits_do_not_show_is_not_spoken_of():
    qrels = {f"q{n}": {"c": 1, "x": 0} for n in range(30_000)}
    lists = {query: {"c": 2.0, "x": 1.0} for query in qrels}
    lists["q0"] = {"c": 1.0, "x": 1.0}

    def said() -> list[str]:
        board = board_of(qrels, {"A": lists})
        ranges = find_tie_ranges(board, board.conventions.measures("RR"))
        return [note.sentence for note in tie_notes(ranges, board.conventions)]

    assert said() == []
    lists["q1"] = lists["q2"] = lists["q3"] = lists["q4"] = lists["q5"] = {"c": 1.0, "x": 1.0}
    [sentence] = said()
    assert sentence == "A: other orders of its ties could give RR 0.9999 to 1.0000"


def test_programs_get_how_far_ties_could_move_a_mean_in_every_digit(run: Labeler):
    a, b = rows_of(run, "score", "a", "b", "--measures", "RR")
    assert (a["lowest"], a["value"], a["highest"]) == (a["value"],) * 3, "it has no ties"
    assert (b["lowest"], b["value"], b["highest"]) == ((0.5 + 0.5) / 3, 0.5, 0.5)
    [pair] = rows_of(run, "compare", "a", "b", "--measures", "RR")
    assert (pair["lowest_a"], pair["highest_a"]) == (pair["a"], pair["a"])
    assert (pair["lowest_b"], pair["highest_b"]) == (b["lowest"], b["highest"])
    [none] = rows_of(run, "score", "none", "--measures", "RR")
    assert (none["lowest"], none["highest"]) == (None, None)
    for more in (["--by", "intent"], ["--per-query"]):
        assert "lowest" not in rows_of(run, "score", "--measures", "RR", *more)[0]

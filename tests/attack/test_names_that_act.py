"""A name that could move a cursor, fake a line or be Markdown is refused, or shown written out."""

from __future__ import annotations

import csv
import io
import json
import logging
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from streamlit.logger import get_logger

from labeler.cli import main
from labeler.errors import BadInput
from labeler.formats import read_golden, read_queries
from labeler.model import Judgment
from labeler.store import Store
from labeler.web.auth.access import AccessPolicy, Credentials
from labeler.web.log_escape import escape_log_records

ESCAPE, FAKED = "a\x1b]0;PWNED\x07", "Ann\nRoot  lead  link"
ACTING = [ESCAPE, FAKED, "tab\there", "\x9b2J", "gnp.\u202eexe", "line\u2028line", "\u2066x"]
GOOD = ["Zoë 👩\u200d🏫", "مريم", "O'Brien & <b>", "__proto__", "a\\b", "=1+1"]


@pytest.fixture
def run(filled: Store) -> Callable[..., Result]:
    """Run a command on the filled golden set."""
    return lambda *arguments: CliRunner().invoke(
        main, ["--db", str(filled.path), *arguments], prog_name="labeler"
    )


def store_as_once(path: Path, sql: str, *values: str) -> None:
    """Write what an earlier version took."""
    connection = sqlite3.connect(path)
    with connection:
        connection.execute(sql, values)
    connection.close()


# At the door ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ACTING)
def test_a_name_that_acts_is_refused_on_the_command_line(
    run, filled: Store, tmp_path: Path, name: str
):
    path = tmp_path / "run.trec"
    path.write_text("q1 Q0 c1 1 2 tag\n")
    before = filled.people.ways_in(), filled.runs.all()
    for arguments in (
        ("invite", name),
        ("invite", "--login", "ann@example.org", "--name", name),
        ("rename", "grader", "Ann", name),
        ("rename", "run", "first", name),
        ("change", "run", "first", "--system", name),
        ("load", "run", str(path), "--name", name),
        ("load", "run", str(path), "--system", name),
    ):
        result = run(*arguments)
        assert result.exit_code == 1, arguments
        assert len(result.output.splitlines()) == 1
        assert not any(letter in result.output for letter in "\x1b\x07\t\x9b\u202e\u2028\u2066")
    assert (filled.people.ways_in(), filled.runs.all()) == before


@pytest.mark.parametrize("name", ACTING)
def test_a_cookie_with_a_name_that_acts_names_nobody(filled: Store, name: str):
    person = AccessPolicy().visitor(filled, Credentials(name=name))
    assert person is not None
    assert person.name is None
    with pytest.raises(BadInput, match="control character"):
        filled.people.add(name)


@pytest.mark.parametrize("name", GOOD)
def test_any_other_name_is_kept_exactly(filled: Store, name: str):
    filled.people.add(name)
    assert name in [way.name for way in filled.people.ways_in()]
    assert AccessPolicy().visitor(filled, Credentials(name=name)).name == name


@pytest.mark.parametrize(
    "record",
    [
        {"buckets": {ESCAPE: "a"}},
        {"buckets": {"intent": FAKED}},
    ],
)
def test_a_facet_or_bucket_that_acts_is_refused_with_its_line(tmp_path: Path, record):
    path = tmp_path / "queries.jsonl"
    path.write_text(json.dumps({"query_id": "q1", "query": "a"} | record))
    with pytest.raises(BadInput, match=r"queries.jsonl:1: .*control character"):
        read_queries(path)


def test_a_field_of_prose_is_no_facet_and_refuses_no_file(tmp_path: Path):
    path = tmp_path / "queries.jsonl"
    rows = [
        {"query_id": f"q{n}", "query": "a", "how": "one\ntwo", "where": "here", "x\x1b": "y"}
        for n in range(4)
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    query, *_ = read_queries(path).records
    assert query.buckets == {"where": "here"}
    assert query.metadata["how"] == "one\ntwo"
    with pytest.raises(BadInput, match="control character"):
        read_queries(path, facets=["how"])
    with pytest.raises(BadInput, match="control character"):
        read_queries(path, facets=["x\x1b"])


@pytest.mark.parametrize(
    "record",
    [
        {"query_id": "q1", "chunk_id": "c1", "grade": 1, "graders": ["Ann", ESCAPE]},
        {
            "query_id": "q1",
            "query": "a",
            "judgments": [{"chunk_id": "c", "grade": 1, "graders": [FAKED]}],
        },
        {"event_id": "e", "query_id": "q1", "chunk_id": "c1", "grader": ESCAPE, "grade": 1},
        {"event_id": "e", "query_id": "q1", "grader": FAKED, "kind": "unclear"},
    ],
)
def test_a_grader_in_a_file_whose_name_acts_is_refused_with_its_line(tmp_path: Path, record):
    path = tmp_path / "golden.jsonl"
    path.write_text(json.dumps(record))
    with pytest.raises(BadInput, match=r"golden.jsonl:1: .*control character"):
        read_golden(path)


# What is stored already -------------------------------------------------------------------------


def test_names_of_earlier_versions_are_written_out_on_a_terminal(run, filled: Store):
    with filled:
        pass
    graders = "INSERT INTO graders (name, role, seed) VALUES (?, 'lead', 1)"
    store_as_once(filled.path, graders, ESCAPE)
    store_as_once(filled.path, graders, FAKED)
    store_as_once(filled.path, "UPDATE runs SET name = ? WHERE name = 'first'", ESCAPE)
    store_as_once(filled.path, "UPDATE runs SET system = ? WHERE name = 'second'", FAKED)
    store_as_once(filled.path, "UPDATE query_buckets SET facet = ?", ESCAPE)
    store_as_once(filled.path, "UPDATE query_buckets SET bucket = ?", FAKED)
    for arguments in (
        ("people",),
        ("runs",),
        ("score",),
        ("score", "--by", ESCAPE, "--format", "md"),
        ("compare", ESCAPE, "second", "--by", ESCAPE),
        ("score", "nothing"),
        ("drop", "run", "nothing"),
        ("change", "setting", "unjudged-of", "a", "b"),
    ):
        said = run(*arguments).output
        assert "\x1b" not in said, arguments
        assert "\nRoot" not in said, arguments
    assert r"Ann\nRoot  lead  link" in run("people").output
    assert r"a\x1b]0;PWNED\x07" in run("runs").output


def test_a_grader_with_such_a_name_still_grades_and_can_be_renamed(run, filled: Store):
    store_as_once(
        filled.path, "INSERT INTO graders (name, role, seed) VALUES (?, 'lead', 1)", ESCAPE
    )
    filled.people.add(ESCAPE)
    result = run("rename", "grader", ESCAPE, "Eve")
    assert result.exit_code == 0
    assert result.output == "a\\x1b]0;PWNED\\x07 is now Eve; all their judgments are kept\n"


def test_ids_and_tags_of_a_file_are_written_out_in_what_a_load_says(run, tmp_path: Path):
    path = tmp_path / "run.trec"
    path.write_text("q1 Q0 c1 1 2 \x1b[31mtag\nq2 Q0 \x1b[2Jc\x07 1 2 \x1b[31mtag\n")
    result = run("load", "run", str(path), "--name", "r")
    assert result.exit_code == 0, result.output
    assert "\\x1b[31mtag" in result.output
    assert "\x1b" not in result.output
    path.write_text("q1 Q0 \x1b[2Jc 1 2 a\nq1 Q0 \x1b[2Jc 2 1 a\n")
    assert "\x1b" not in run("load", "run", str(path), "--name", "s").output


def test_the_server_s_log_is_letters_whoever_logs(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("logging._logRecordFactory", logging.LogRecord)
    escape_log_records()
    told = io.StringIO()
    log = get_logger("labeler.test")  # of Streamlit, which logs what a login's address says
    log.handlers[:] = [logging.StreamHandler(told)]
    log.error("the login failed: %s (%d)", FAKED + ESCAPE, 7)
    try:
        raise BadInput(ESCAPE)
    except BadInput:
        log.exception("and again")
    said = told.getvalue()
    assert said.startswith(r"the login failed: Ann\nRoot  lead  linka\x1b]0;PWNED\x07 (7)")
    assert said.count("and again\nTraceback") == 1
    assert "\x1b" not in said


# Files ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", [("score", "=1+1"), ("compare", "=1+1", "second")])
def test_a_csv_of_the_command_line_is_harmless_unless_it_is_asked_for_raw(
    run, filled: Store, command
):
    filled.runs.rename("first", "=1+1")
    for more in ((), ("--per-query",), ("--by", "intent")):
        asked = (*command, "--measures", "RR", *more, "--format", "csv")
        safe, raw = run(*asked).output, run(*asked, "--raw").output
        assert "'=1+1" in safe
        assert "'=1+1" not in raw
        assert safe.replace("'=1+1", "=1+1") == raw


@pytest.mark.parametrize("raw", [(), ("--raw",)])
def test_no_line_end_of_a_note_begins_a_cell_that_a_spreadsheet_runs(run, filled: Store, raw):
    note = "well\r=1+1"
    for name, grade in (("Ann", 0), ("Bob", 3)):
        filled.judgments.add(Judgment(name, "q1", "c3", name, grade=grade, note=note))
    table = run("disagreements", "--format", "csv", *raw).output
    assert [row["note"] for row in csv.DictReader(io.StringIO(table, newline=""))] == [note, note]


def test_raw_is_for_csv_alone(run):
    result = run("score", "--raw")
    assert result.exit_code == 2
    assert "--raw goes with --format csv" in result.output


def test_a_name_in_a_table_of_markdown_is_a_name(run, filled: Store):
    filled.runs.rename("first", "![x](http://evil.example/a.png)<img src=x>")
    said = run("score", "--format", "md").output
    assert "![" not in said
    assert "<img" not in said
    assert "http://" not in said

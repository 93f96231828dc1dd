"""``labeler runs`` and ``queries``, and what is done to one of them, as it is typed."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from click.testing import CliRunner

from labeler.cli import main
from labeler.model import Query
from labeler.store import Store

Run = Callable[..., str]


@pytest.fixture
def run(filled: Store) -> Run:
    """Run a command on the filled golden set; return what it printed."""

    def invoke(*arguments: str, exit_code: int = 0) -> str:
        result = CliRunner().invoke(main, ["--db", str(filled.path), *arguments])
        assert result.exit_code == exit_code, result.output
        return result.output

    return invoke


def cells(said: str) -> list[list[str]]:
    """Return the cells of a table."""
    return [re.split(r"\s{2,}", line) for line in said.splitlines()]


def test_runs_are_listed_with_an_empty_date_where_nobody_knows_it(run: Run, filled: Store):
    filled.runs.change("second", created_at="")
    assert cells(run("runs")) == [
        ["run", "system", "made on", "queries", "depth"],
        ["first", "bm25", "2026-01-31", "2", "3"],
        ["second", "second", "3", "2"],
    ]
    for name in ("first", "second"):
        run("drop", "run", name)
    assert run("runs") == "There are no runs yet: 'labeler load run FILE' adds one.\n"


def test_a_dropped_run_is_gone_and_its_judgments_stay(run: Run, filled: Store):
    assert run("drop", "run", "first") == "run 'first' is removed; its judgments stay\n"
    said = run("drop", "run", "first", exit_code=1)
    assert said == "Error: there is no run named 'first'; there are: second\n"
    assert filled.golden_set.contents().judgments == 3


def test_a_run_gets_another_name_system_and_date(run: Run, filled: Store):
    assert run("rename", "run", "second", "lsa") == (
        "run 'second' is now 'lsa', and so is its system\n"
    )
    assert run("rename", "run", "first", "tuned") == "run 'first' is now 'tuned'\n"
    said = run("change", "run", "lsa", "--date", "2026-03-01")
    assert said == "run 'lsa' is of system 'lsa', made on 2026-03-01\n"
    said = run("change", "run", "lsa", "--date", "", "--system", "vectors")
    assert said == "run 'lsa' is of system 'vectors', of unknown date\n"
    assert "calendar has no such day" in run(
        "change", "run", "lsa", "--date", "2026-02-30", exit_code=1
    )
    assert "say what is to change" in run("change", "run", "lsa", exit_code=2)
    assert "no run named 'lsi'" in run("change", "run", "lsi", "--system", "x", exit_code=1)
    assert [(run.name, run.system) for run in filled.runs.all()] == [
        ("tuned", "bm25"),
        ("lsa", "vectors"),
    ]


def test_queries_are_found_with_how_many_grades_they_have(run: Run, filled: Store, loaded):
    filled.queries.load(loaded([Query("q3", "one\nline \x1b[2J" + "long " * 40)]))
    assert cells(run("queries", "INVOICES")) == [
        ["query", "task", "text", "grades"],
        ["q2", "research", "where are my invoices", "1"],
    ]
    assert run("queries", "nowhere") == "No query holds 'nowhere' in its id or text.\n"
    shown = run("queries", "--most", "2")
    assert shown.endswith("... and 1 more; --most lists them\n")
    odd = run("queries", "q3")
    assert "\x1b" not in odd
    assert "one line \\x1b[2Jlong" in odd
    assert "…" in odd


def test_a_retired_query_is_out_of_the_means_until_restored(run: Run):
    before = run("score")
    assert run("queries", "retire", "q1") == "query 'q1' is retired\n"
    assert run("score") != before
    assert [line[0] for line in cells(run("queries", "--retired"))] == ["query", "q1"]
    assert run("queries", "restore", "q1") == "query 'q1' is in use again\n"
    assert run("score") == before
    assert run("queries", "--retired") == "No query is retired.\n"
    for verb in ("retire", "restore"):
        assert "there is no query 'q9'" in run("queries", verb, "q9", exit_code=1)


def test_queries_are_listed_where_no_command_is_named(run: Run):
    everything = run("queries")
    assert everything == run("queries", "list")
    assert run("queries", "q1") == run("queries", "list", "q1") != everything
    assert run("queries", "--most", "1") == run("queries", "list", "--most", "1")
    shown = run("queries", "--help")
    assert re.findall(r"^  (\w+)  ", shown, flags=re.MULTILINE) == [
        *("list", "retire", "restore", "promote"),
    ]


def test_earlier_names_of_what_changes_queries_work_and_are_not_listed(run: Run):
    assert run("retire", "query", "q1") == "query 'q1' is retired\n"
    assert run("restore", "query", "q1") == "query 'q1' is in use again\n"
    assert "there is no candidate 7" in run("take", "candidate", "7", exit_code=1)
    assert "there is no candidate 7" in run("queries", "promote", "7", exit_code=1)
    listed = re.findall(r"^  (\w+)  ", run("--help"), flags=re.MULTILINE)
    assert "queries" in listed
    assert not {"take", "retire"} & {*listed}
    assert "query " not in run("restore", "--help")

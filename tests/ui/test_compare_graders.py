"""Compare under each grader's own grades, as the page shows it and the command prints it."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from labeler.cli import main
from labeler.model import Judgment, Query, Ranking
from labeler.store import Store
from tests.support.page import empty_golden_set, loaded, open_page, words

NAMES = [f"q{number:02}" for number in range(25)]
MARIT = "*Ma* <b>rit</b>"


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    """B is better with Ann's grades, of which each pair's lower counts, and A with Marit's."""
    path = empty_golden_set(tmp_path)
    with Store(path) as store:
        store.queries.load(loaded([Query(name, f"query {name}") for name in NAMES]))
        for run, list_of in (("A", ("a", "b")), ("B", ("b", "a"))):
            store.runs.load(loaded([Ranking(name, list_of) for name in NAMES]), name=run)
        with store.connection.transaction():
            for who, grades in (("Ann", {"a": 1, "b": 3}), (MARIT, {"a": 3, "b": 0})):
                store.people.add(who)
                for chunk, grade in grades.items():
                    for name in NAMES[: 22 if who == MARIT else None]:
                        event = f"{who}/{name}/{chunk}"
                        store.judgments.append(Judgment(event, name, chunk, who, grade=grade))
    return path


def compare(path: Path, *arguments: str, exit_code: int = 0) -> str:
    asked = ["--db", str(path), "compare", "A", "B", "--graders", *arguments]
    result = CliRunner().invoke(main, asked)
    assert result.exit_code == exit_code, result.output
    return result.output


def test_the_page_says_whether_it_holds_under_every_grader(filled: Path) -> None:
    asked = {"by": "nDCG@2", "measure": ["nDCG@2"], "show": "Statistics"}
    shown = words(open_page("compare", a="A", b="B", **asked))
    assert "B is worse than A, but not by every grader's grades." in shown
    assert "By Ann's own grades, B is ahead (22 grades differ from those that" in shown
    assert "Ann's own grades|" in shown
    assert f"{MARIT}'s own grades|" in shown, "a name is never markup"
    assert "Nothing changes with: the lowest grade of each chunk, the lower median" in shown


def test_where_nobody_differs_the_page_says_why_nothing_is_said(filled: Path) -> None:
    with Store(filled) as store, store.connection.transaction():
        for name in NAMES:
            for chunk, grade in {"a": 1, "b": 0}.items():
                for who in ("Ann", MARIT):
                    store.judgments.append(
                        Judgment(f"{who}2/{name}{chunk}", name, chunk, who, grade=grade)
                    )
    shown = words(open_page("compare", a="A", b="B", show="Statistics"))
    assert "No grader's own grades change 20 pairs or more" in shown


def test_the_command_has_a_line_for_each_reading_that_changes_something(filled: Path) -> None:
    rows = [re.split(r"\s{2,}", line) for line in compare(filled, "--measures", "RR").splitlines()]
    counts = ["wins", "ties", "losses", "n", "p"]
    assert rows[0] == ["measure", "grades", "pairs differ", "A", "B", "delta", *counts]
    assert [row[1:6] for row in rows[1:5]] == [
        ["the golden grades", "0", "1.0000", "0.5600", "−0.4400"],
        [f"{MARIT}'s own grades", "22", "1.0000", "0.5600", "−0.4400"],
        ["Ann's own grades", "22", "1.0000", "1.0000", "0.0000"],
        ["the highest grade of each chunk", "44", "1.0000", "1.0000", "0.0000"],
    ]
    assert ["! With Ann's grades neither is visibly ahead by RR (22 pairs differ)"] in rows


def test_programs_get_every_reading(filled: Path) -> None:
    rows = json.loads(compare(filled, "--measures", "RR P@1", "--format", "json"))
    assert [row["reading"] for row in rows[:8]] == [
        *("golden", "grader", "grader", "lowest", "median", "highest"),
        *("without stale", "without non-blind"),
    ]
    assert len(rows) == 16
    assert (rows[1]["grader"], rows[1]["pairs_changed"]) == (MARIT, 22)
    assert [note["kind"] for note in rows[1]["notes"]].count("survives") == 1
    [row, *_] = csv.DictReader(io.StringIO(compare(filled, "--format", "csv")))
    assert (row["reading"], row["grader"], row["pairs_changed"]) == ("golden", "", "0")


@pytest.mark.parametrize("also", [["--per-query"], ["--strips"], ["--by", "task"]])
def test_what_cannot_be_asked_together_is_said(filled: Path, also: list[str]) -> None:
    assert "--graders is over all queries" in compare(filled, *also, exit_code=2)


# The way to the grades that decide ---------------------------------------------------------------


def asked_for(path: Path) -> tuple[str, tuple[str, str] | None, str]:
    with Store(path) as store:
        settings = store.settings.read()
    return settings.strategy, settings.unjudged_of, settings.decide_by


def test_the_button_beside_the_answer_asks_graders_for_what_decides(filled: Path) -> None:
    with Store(filled) as store:
        store.runs.load(loaded([Ranking(name, ("x", "a", "b")) for name in NAMES]), name="C")
        store.settings.save(replace(store.settings.read(), decide_by="R@prompt"))
    app = open_page("compare", a="C", b="A", by="RR", measure=["RR"])
    [button] = [each for each in app.button if each.label.startswith("Grade the ")]
    button.click().run()
    assert asked_for(filled) == ("what decides A vs B", ("C", "A"), "R@prompt")
    stop = "Stop asking for these first"
    assert stop in [each.label for each in open_page("compare", a="C", b="A").button]
    other = open_page("compare", a="C", b="B")
    assert stop not in [each.label for each in other.button], "another question was asked"


def test_where_no_grade_could_change_it_there_is_no_button(filled: Path) -> None:
    app = open_page("compare", a="A", b="B", by="RR", measure=["RR"])
    labels = [each.label for each in app.button if each.label.startswith("Grade the ")]
    assert not labels, "everything is graded"

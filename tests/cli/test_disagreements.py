"""Disagreements where grades are odd, names hostile, lists long, or two decide at once."""

from __future__ import annotations

import csv
import io
import threading
from collections import Counter
from collections.abc import Callable

import pytest
from click.testing import CliRunner

from labeler.cli import main
from labeler.model import MAJORITY, Chunk, Judgment, Query, Ranking, Settings
from labeler.store import Store
from tests.support.grading_client import Pad, pad
from tests.web.test_adjudication import asked, event, pairs, post, say, undo

__all__ = ["pad"]

HOSTILE = '=cmd|"/c calc"!A1 <img src=x onerror=alert(1)> **b** :red[x]\u202e \x1b[31m'


@pytest.fixture
def lead(filled: Store, ask: Callable) -> Pad:
    """A lead, where nobody has graded yet."""
    filled.people.add("Lea")
    return Pad(filled, ask, "Lea")


GRADES = ("Ann", "Bob", "Cy")
NOBODY: dict[str, dict[str, int]] = {}
AGREED = {
    "nobody has graded": NOBODY,
    "one grader alone": {"c1": {"Ann": 0}, "c2": {"Ann": 3}},
    "no two graded the same": {"c1": {"Ann": 0}, "c2": {"Bob": 3}, "c3": {"Cy": 1}},
    "all constant and alike": {chunk: dict.fromkeys(GRADES, 0) for chunk in ("c1", "c2", "c3")},
}


@pytest.mark.parametrize("what", AGREED)
def test_where_nobody_differs_there_is_nothing_to_decide_and_nothing_breaks(
    filled: Store, lead: Pad, what: str
):
    for chunk, grades in AGREED[what].items():
        say(filled, chunk, grades)
    answer = asked(lead)
    assert (answer["items"], answer["total"], answer["open"]) == ([], 0, 0)
    assert (answer["from"], answer["next_open"]) == (0, None)
    result = CliRunner().invoke(main, ["--db", str(filled.path), "disagreements"])
    assert result.exit_code == 0, result.output


def test_two_constant_graders_differ_on_all_that_both_have_graded_and_on_nothing_else(
    filled: Store, lead: Pad
):
    for chunk in ("c1", "c2", "c3"):
        say(filled, chunk, {"Ann": 0, "Bob": 3})
    say(filled, "c4", {"Ann": 0})
    assert {(each["chunk"], each["spread"]) for each in asked(lead)["items"]} == {
        (chunk, 3) for chunk in ("c1", "c2", "c3")
    }
    assert asked(lead, grader="Bob")["total"] == 3


def test_one_rare_grade_among_many_is_listed_with_what_the_others_gave(filled: Store, lead: Pad):
    for chunk in ("c1", "c2", "c3"):
        say(filled, chunk, dict.fromkeys(GRADES, 0))
    say(filled, "c4", {"Ann": 0, "Bob": 0, "Cy": 3})
    filled.settings.save(Settings(golden_rule=MAJORITY))
    [item] = asked(lead)["items"]
    assert (item["chunk"], item["spread"], item["agreed"]) == ("c4", 3, 0)
    assert sorted(each["grade"] for each in item["opinions"]) == [0, 0, 3]


def test_hostile_names_are_told_as_they_are_and_reach_no_spreadsheet_and_no_terminal(
    filled: Store, lead: Pad, loaded: Callable
):
    name, chunk = HOSTILE.replace("\x1b[31m", "").replace("\u202e", "").strip(), HOSTILE.strip()
    chunk = chunk.replace("\x1b[31m", "").replace("\u202e", "").strip()
    filled.chunks.load(loaded([Chunk(chunk, HOSTILE, HOSTILE)]))
    filled.queries.load(loaded([Query(chunk, HOSTILE)]))
    say(filled, chunk, {"Ann": 0, name: 3}, chunk, note=HOSTILE)
    [item] = asked(lead)["items"]
    assert (item["query"], item["chunk"]) == (chunk, chunk)
    assert name in [each["grader"] for each in item["opinions"]]
    assert post(lead, event(lead, item, "v1", 1)) == [{"event_id": "v1", "saved": True}]
    shown = CliRunner().invoke(main, ["--db", str(filled.path), "disagreements"]).output
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    asked_for = ["--db", str(filled.path), "disagreements", "--format", "csv"]
    text = CliRunner().invoke(main, asked_for).output
    cells = [cell for row in csv.reader(io.StringIO(text)) for cell in row]
    assert any("cmd|" in cell for cell in cells)
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@"))]


def test_thousands_of_disagreements_are_each_on_one_page_and_the_way_leads_through_all(
    filled: Store, lead: Pad, loaded: Callable
):
    filled.connection.execute("PRAGMA synchronous = OFF")
    names = [f"n{number:04}" for number in range(2_000)]
    filled.chunks.load(loaded([Chunk(name, f"text of {name}") for name in names]))
    filled.runs.load(loaded([Ranking("q2", tuple(names))]), name="many")
    for grader, grade in (("Ann", 0), ("Bob", 2)):
        filled.people.add(grader)
        given = [Judgment(f"{grader}{n}", "q2", n, grader, grade=grade) for n in names]
        for each in given:
            filled.judgments.add(each)
    first = asked(lead)
    assert (first["total"], first["open"], len(first["items"])) == (2_000, 2_000, 20)
    seen = Counter(
        item["chunk"]
        for start in (0, 20, 980, 1_980)
        for item in asked(lead, **{"from": start})["items"]
    )
    assert list(seen.values()) == [1] * 80
    assert asked(lead, query="q2", chunk="n1999")["from"] == 1_980
    assert asked(lead, **{"from": 1_980})["next_open"] == 0, "and around"


def test_a_query_that_is_retired_meanwhile_is_listed_no_more_and_who_decides_is_told(
    filled: Store, lead: Pad
):
    say(filled, "c4", {"Ann": 0, "Bob": 3})
    [item] = asked(lead)["items"]
    filled.queries.retire("q1")
    assert asked(lead)["total"] == 0
    [result] = post(lead, event(lead, item, "v1", 1))
    assert result["refused"] == "query 'q1' has been retired from this golden set"
    assert asked(lead)["undoable"] == []
    assert lead.answer("disagreements", query="q1", chunk="c4").status == 200


def test_a_chunk_whose_runs_are_gone_is_decided_all_the_same(filled: Store, lead: Pad):
    say(filled, "c4", {"Ann": 0, "Bob": 3})
    for run in filled.runs.all():
        filled.runs.drop(run.name)
    [item] = asked(lead)["items"]
    assert post(lead, event(lead, item, "v1", 1)) == [{"event_id": "v1", "saved": True}]
    assert filled.adjudication.disagreements()[0].golden == 1


def test_of_many_leads_who_decide_in_one_instant_one_is_first_and_the_others_are_told(
    filled: Store, lead: Pad
):
    say(filled, "c4", {"Ann": 0, "Bob": 3})
    names = [f"Lead {number}" for number in range(8)]
    for name in names:
        filled.people.add(name)
    ready, errors, first = threading.Barrier(len(names)), Counter[str](), list[str]()

    def decide(name: str, grade: int) -> None:
        said = Judgment(f"v {name}", "q1", "c4", name, "adjudicate", grade, blind=False)
        with Store(filled.path) as own:
            ready.wait()
            try:
                own.adjudication.adjudicate(said, None)
                first.append(name)
            except ValueError as error:
                errors[str(error).partition(" ")[2].partition(":")[0].partition("has")[2]] += 1

    threads = [threading.Thread(target=decide, args=(n, at % 4)) for at, n in enumerate(names)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(first) == 1
    assert errors == {" adjudicated this chunk meanwhile": 7}
    decided = filled.adjudication.disagreements()[0].adjudication
    assert decided is not None
    assert decided.grader == first[0]


def test_an_undone_adjudication_leaves_anothers_on_top_of_it_alone(filled: Store, lead: Pad):
    say(filled, "c4", {"Ann": 0, "Bob": 3})
    filled.people.add("Max")
    other = lead.beside(filled, "Max")
    post(lead, event(lead, asked(lead)["items"][0], "v1", 1))
    post(other, event(other, asked(other)["items"][0], "v2", 2))
    assert pairs(filled) == [("q1", "c4", 3)]
    [result] = post(lead, undo(lead, "u1", "v1"))
    assert result.get("saved"), result
    [found] = filled.adjudication.disagreements()
    assert found.golden == 2, "Max's decision stands"
    [result] = post(other, undo(other, "u2", "v2"))
    assert result.get("saved"), result
    [found] = filled.adjudication.disagreements()
    assert (found.golden, found.is_open) == (0, True), "and below it nothing is left"
    [again] = post(other, undo(other, "u3", "v2"))
    assert "refused" in again, "it is taken back once"

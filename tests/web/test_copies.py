"""Chunks of one query with the same text: handed out, graded and decided through the routes."""

from __future__ import annotations

from typing import Any

import pytest
from click.testing import CliRunner

from labeler.cli import main
from labeler.model import Chunk, GoldenGrade, Judgment, Query, Ranking
from labeler.store import Store
from tests.support.grading_client import Pad
from tests.web.test_adjudication import asked, event, post, undo


@pytest.fixture
def twice(store: Store, loaded) -> Store:
    """A query with a passage twice, and another one."""
    store.queries.load(loaded([Query("q1", "How long?")]))
    texts = {"c1": "Three days.", "c2": "Four days.", "c3": "Three days."}
    store.chunks.load(loaded([Chunk(name, text, "Refunds") for name, text in texts.items()]))
    store.runs.load(loaded([Ranking("q1", tuple(texts))]), name="bm25")
    for name in ("Ann", "Bob", "Lea"):
        store.people.add(name)
    return store


@pytest.fixture
def ann(twice: Store, ask) -> Pad:
    return Pad(twice, ask)


@pytest.fixture
def lea(ann: Pad, twice: Store) -> Pad:
    return ann.beside(twice, "Lea")


def of_text(items: list[dict[str, Any]]) -> dict[str, Any]:
    [found] = [item for item in items if item["text"] == "Three days."]
    return found


def golden(store: Store) -> dict[str, tuple[int, str]]:
    rows = store.connection.rows(
        "SELECT c.chunk_id, g.grade, g.kind FROM golden AS g JOIN chunks AS c ON c.id = g.chunk"
    )
    return {chunk: (grade, kind) for chunk, grade, kind in rows}


# Grading -----------------------------------------------------------------------------------------


def test_a_passage_that_appears_twice_is_handed_out_once_and_says_so(ann: Pad):
    answer = ann.next()
    assert (answer["open"], answer["queries"]["q1"]["total"]) == (2, 2)
    assert of_text(answer["items"])["copies"] == 2
    assert [item.get("copies") for item in ann.get("query", query="q1")["items"]].count(2) == 1
    [found] = ann.get("search", query="q1", words="three")["items"]
    assert found["copies"] == 2


def test_a_grade_and_its_undo_hold_for_both_and_count_once(twice: Store, ann: Pad):
    item = of_text(ann.next()["items"])
    kept = ann.event("e1", 3, **{each: item[each] for each in item if each in SENT}, note="yes")
    for _ in range(2):
        assert ann.send(kept) == [{"event_id": "e1", "saved": True}]
    assert {chunk: grade for chunk, (grade, _) in golden(twice).items()} == {"c1": 3, "c3": 3}
    answer = ann.next()
    assert (answer["saved"], answer["open"], answer["pace_ms"]) == (1, 1, 900)
    assert [step["event_id"] for step in answer["undoable"]] == ["e1"]
    for _ in range(2):
        back = ann.event("u1", None, undoes="e1", query="q1", chunk=item["chunk"])
        assert ann.send(back) == [{"event_id": "u1", "saved": True}]
    assert golden(twice) == {}
    assert ann.next()["saved"] == 0


SENT = {"query", "chunk", "text_hash", "replaces", "source", "slip"}


def test_a_grade_is_not_blind_where_another_s_grade_of_a_copy_was_told(twice: Store, ann: Pad):
    item = of_text(ann.next()["items"])
    other = {"c1": "c3", "c3": "c1"}[item["chunk"]]
    twice.exposure.note_told("Ann", [("q1", other)])
    ann.grade(item)
    assert [each.blind for each in twice.judgments.log()] == [False, False]


def test_a_grade_kept_while_a_copy_came_counts_for_that_copy_too(twice: Store, ann: Pad, loaded):
    item = of_text(ann.next()["items"])
    twice.chunks.load(loaded([Chunk("late", "Three days.", "Refunds")]))
    twice.runs.load(loaded([Ranking("q1", ("late",))]), name="dense")
    ann.grade(item, 1)
    assert {chunk for chunk, (grade, _) in golden(twice).items() if grade == 1} == {
        *("c1", "c3", "late")
    }


# Deciding ----------------------------------------------------------------------------------------


@pytest.fixture
def unlike(twice: Store, golden) -> Store:
    """A file says 3 of one copy and 0 of the other."""
    twice.golden_loads.add(golden([GoldenGrade("q1", "c1", 3), GoldenGrade("q1", "c3", 0)]))
    return twice


def test_copies_whose_golden_grades_differ_are_a_disagreement(unlike: Store, lea: Pad):
    [found] = unlike.adjudication.disagreements()
    assert (found.chunk_id, found.spread, found.is_open, found.grades) == ("c1", 3, True, {})
    assert unlike.adjudication.disagreements(["Ann"]) == [], "nobody has graded them"
    [item] = asked(lea)["items"]
    assert [(copy["chunk"], copy["grade"], copy["kind"]) for copy in item["copies"]] == [
        *(("c1", 3, "import"), ("c3", 0, "import"))
    ]
    assert asked(lea, query="q1", chunk="c3")["items"] == asked(lea)["items"]


def test_one_decision_is_for_all_copies_and_one_undo_takes_it_back(unlike: Store, lea: Pad):
    [item] = asked(lea)["items"]
    given = event(lea, item, "v1", 2, copies=["c3"], note="half of it")
    for _ in range(2):
        assert post(lea, given) == [{"event_id": "v1", "saved": True}]
    assert golden(unlike) == {"c1": (2, "adjudicate"), "c3": (2, "adjudicate")}
    [found] = unlike.adjudication.disagreements()
    assert (found.is_open, found.golden) == (False, 2), "it stays listed, as decided"
    assert [each["event_id"] for each in asked(lea)["undoable"]] == ["v1"]
    assert post(lea, undo(lea, "u1", "v1")) == [{"event_id": "u1", "saved": True}]
    assert golden(unlike) == {"c1": (3, "import"), "c3": (0, "import")}


def test_one_copy_alone_can_be_decided(unlike: Store, lea: Pad):
    [item] = asked(lea)["items"]
    copy = item["copies"][1]
    alone = {"chunk": "c3", "slip": copy["slip"], "replaces": copy["replaces"]}
    assert post(lea, event(lea, item, "v1", 1, **alone)) == [{"event_id": "v1", "saved": True}]
    assert golden(unlike) == {"c1": (3, "import"), "c3": (1, "adjudicate")}
    [found] = unlike.adjudication.disagreements()
    assert (found.is_open, found.spread) == (True, 3), "deciding moves none"
    [item] = asked(lea)["items"]
    again = {"chunk": "c3", "slip": item["copies"][1]["slip"], "replaces": "v1"}
    post(lea, event(lea, item, "v2", 3, **again))
    assert not unlike.adjudication.disagreements()[0].is_open, "both have one grade now"


def test_a_decision_for_a_chunk_with_another_text_is_refused_whole(unlike: Store, lea: Pad):
    [item] = asked(lea)["items"]
    [answer] = post(lea, event(lea, item, "v1", 2, copies=["c3", "c2"]))
    assert "does not have the text of chunk 'c1'" in answer["refused"]
    assert golden(unlike) == {"c1": (3, "import"), "c3": (0, "import")}
    for odd in ("c3", [3], ["c3", "c3"]):
        [answer] = post(lea, event(lea, item, "v2", 2, copies=odd))
        assert "refused" in answer


def test_graders_who_differ_on_a_text_differ_once(twice: Store, ann: Pad, lea: Pad):
    for name, grade in (("Ann", 3), ("Bob", 0)):
        twice.judgments.add(Judgment(name, "q1", "c1", name, grade=grade), to_copies=True)
    [found] = twice.adjudication.disagreements()
    assert (found.grades, found.agreed, found.spread) == ({"Ann": 3, "Bob": 0}, 0, 3)
    assert [copy.chunk_id for copy in found.copies] == ["c1", "c3"]
    [item] = asked(lea)["items"]
    assert [(each["grader"], each["grade"]) for each in item["opinions"]] == [
        *(("Ann", 3), ("Bob", 0))
    ]
    post(lea, event(lea, item, "v1", 2, copies=["c3"]))
    assert not twice.exposure.is_blind("Lea", "q1", "c3"), "they were told of both"
    assert not twice.adjudication.disagreements()[0].is_open


def test_the_terminal_lists_copies_that_differ_and_files_have_each(unlike: Store):
    def run(*words: str) -> str:
        done = CliRunner().invoke(main, ["--db", str(unlike.path), *words])
        assert done.exit_code == 0, done.output
        return done.output

    assert "same text: c1 3, c3 0" in run("disagreements")
    rows = run("disagreements", "--format", "csv").splitlines()
    assert [row.split(",")[2] for row in rows[1:]] == ["c1", "c3"]
    assert [row.split(",")[-2:] for row in rows] == [
        ["copy_of", "golden"],
        ["c1", "3"],
        ["c1", "0"],
    ]
    said = run("health")
    unlike = "! 1 text occurs in several chunks of one query, with different golden grades: q1 "
    assert f"{unlike}(c1 3, c3 0)." in said


def test_a_load_says_that_it_grades_one_text_in_two_ways(twice: Store, tmp_path):
    def load(*rows: str) -> str:
        (tmp_path / "golden.qrels").write_text("".join(f"q1 0 {row}\n" for row in rows))
        words = ["--db", str(twice.path), "load", "golden", str(tmp_path / "golden.qrels")]
        done = CliRunner().invoke(main, words)
        assert done.exit_code == 0, done.output
        return done.output

    said = "1 text has chunks of one query with different golden grades (q1: c1 3, c3 0)"
    assert said in load("c1 3", "c3 0")
    assert "different golden grades" not in load("c2 1"), "it is said once"


def test_health_counts_ungraded_copies_of_graded_chunks(twice: Store, golden):
    twice.golden_loads.add(golden([GoldenGrade("q1", "c1", 3)]))
    [text] = twice.copies.grades()
    assert (text.grades, text.differ, text.ungraded) == ((("c1", 3), ("c3", None)), False, 1)
    done = CliRunner().invoke(main, ["--db", str(twice.path), "health"])
    assert "! 1 chunk repeats a graded text and is unjudged." in done.output

"""The log of judgments: added to, never changed; an event counts once; undo restores."""

from __future__ import annotations

import sqlite3

import pytest

from labeler.errors import BadInput, NotFound
from labeler.model import Judgment
from labeler.store import Store


def grade_of(store: Store, query_id: str = "q1", chunk_id: str = "c3") -> int | None:
    """Return the golden grade of a pair, as exports carry it."""
    return next(
        (
            golden.grade
            for golden in store.golden_set()[1]
            if (golden.query_id, golden.chunk_id) == (query_id, chunk_id)
        ),
        None,
    )


def graded(event_id: str, grade: int | None, grader: str = "Ann", **more) -> Judgment:
    kind = "cannot_tell" if grade is None else "grade"
    return Judgment(event_id, "q1", "c3", grader, **{"kind": kind, "grade": grade, **more})


@pytest.mark.parametrize("recursive", ["on", "off"])
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE judgments SET grade = 0",
        "UPDATE OR REPLACE judgments SET id = 1 WHERE id = 2",
        "DELETE FROM judgments",
        "DELETE FROM judgments WHERE id = 1",
        "INSERT OR REPLACE INTO judgments SELECT * FROM judgments WHERE id = 1",
        "REPLACE INTO judgments (id, event_id, query, chunk, grader, kind, grade, blind, "
        "created_at) VALUES (1, 'other', 1, 1, 1, 'grade', 0, 1, 'now')",
        "REPLACE INTO judgments (event_id, query, chunk, grader, kind, grade, blind, created_at) "
        "VALUES ('e1', 1, 1, 1, 'grade', 0, 1, 'now')",
        "REPLACE INTO judgments (event_id, query, chunk, grader, kind, grade, blind, created_at, "
        "undoes) SELECT 'other', 1, 1, 1, 'grade', 0, 1, 'now', undoes FROM judgments "
        "WHERE undoes IS NOT NULL",
        "INSERT INTO judgments SELECT * FROM judgments WHERE true "
        "ON CONFLICT (event_id) DO UPDATE SET grade = 0",
    ],
)
def test_no_statement_changes_what_was_said(filled: Store, statement: str, recursive: str):
    filled.judge(graded("e1", 2))
    filled.undo(event_id="u1", undoes="e1", grader="Ann")
    before = filled._rows("SELECT * FROM judgments ORDER BY id")
    other = sqlite3.connect(filled.path)
    other.execute(f"PRAGMA recursive_triggers = {recursive}")
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        other.execute(statement)
    other.commit()
    other.close()
    assert filled._rows("SELECT * FROM judgments ORDER BY id") == before


def test_an_event_sent_twice_counts_once(filled: Store):
    assert filled.judge(graded("e1", 2))
    revision = filled.revision()
    assert not filled.judge(graded("e1", 2))
    assert filled.revision() == revision


@pytest.mark.parametrize(
    "other",
    [
        graded("e1", 1),
        graded("e1", None),
        graded("e1", 2, "Bob"),
        graded("e1", 2, note="on second thoughts"),
        graded("e1", 2, kind="adjudicate"),
        Judgment("e1", "q2", "c3", "Ann", grade=2),
        Judgment("e1", "q1", "c1", "Ann", grade=2),
        Judgment("e1", "nobody", "c1", "Ann", grade=2),
    ],
)
def test_an_event_id_is_not_used_for_something_else(filled: Store, other: Judgment):
    filled.judge(graded("e1", 2))
    with pytest.raises(BadInput, match="event 'e1' is in the log with other content"):
        filled.judge(other)
    assert grade_of(filled) == 2
    assert filled.contents().judgments == 4


@pytest.mark.parametrize(
    ("judgment", "said"),
    [
        (Judgment("e", "q7", "c1", "Ann", grade=1), "there is no query 'q7'"),
        (Judgment("e", "Q1", "c1", "Ann", grade=1), "there is no query 'Q1'"),
        (Judgment("e", "q1", "c7", "Ann", grade=1), "there is no chunk 'c7'"),
        (Judgment("e", "q1", "c1", "Zoe", grade=1), "there is no grader named 'Zoe'"),
        (Judgment("e", "q1", "c1", "Ann", grade=1, undoes="x"), "'Ann' has no event 'x'"),
    ],
)
def test_what_is_not_there_cannot_be_judged(filled: Store, judgment: Judgment, said: str):
    with pytest.raises(NotFound, match=said):
        filled.judge(judgment)
    assert filled.contents().judgments == 3


def test_a_retired_query_is_not_judged_but_what_was_saved_stays_acknowledged(filled: Store):
    filled.judge(graded("e1", 2))
    filled.retire_query("q1")
    with pytest.raises(NotFound, match="query 'q1' has been retired"):
        filled.judge(graded("e2", 1))
    assert not filled.judge(graded("e1", 2))
    assert filled.contents().judgments == 4


def test_text_that_cannot_be_stored_is_refused_in_words(filled: Store):
    with pytest.raises(BadInput, match=r"holds '\\ud800', which cannot be stored"):
        filled.judge(graded("e1", 2, note="half \ud800"))
    with pytest.raises(BadInput, match="too large"):
        filled.judge(graded("e1", 2, elapsed_ms=2**70))
    assert filled.contents().judgments == 3


def test_undo_goes_back_step_by_step_to_not_graded(filled: Store):
    for number, grade in enumerate([1, 3, 0]):
        filled.judge(graded(f"e{number}", grade))
    seen = []
    for number in (2, 1, 0):
        filled.undo(event_id=f"u{number}", undoes=f"e{number}", grader="Ann")
        seen.append(grade_of(filled))
    assert seen == [3, 1, None]
    assert filled.undoable("Ann", 5) == []
    assert [event.grade for event in filled.events()[-3:]] == [3, 1, None]
    assert filled.events()[-1].kind == "withdraw"
    assert len(filled.events()) == 9, "undo takes nothing out of the log"


def test_after_an_undo_the_grader_goes_on_from_there(filled: Store):
    filled.judge(graded("e1", 1))
    filled.judge(graded("e2", 3))
    filled.undo(event_id="u2", undoes="e2", grader="Ann")
    filled.judge(graded("e3", 0))
    assert grade_of(filled) == 0
    filled.undo(event_id="u3", undoes="e3", grader="Ann")
    assert grade_of(filled) == 1, "e2 was taken back and must not return"
    filled.undo(event_id="u1", undoes="e1", grader="Ann")
    assert grade_of(filled) is None


def test_undo_restores_a_cannot_tell(filled: Store):
    filled.judge(graded("e1", None))
    filled.judge(graded("e2", 2))
    filled.undo(event_id="u2", undoes="e2", grader="Ann")
    assert grade_of(filled) is None
    assert filled.judged_by("Ann") != {}, "can't tell is a judgment, so the pair is not new again"


def test_an_undo_sent_twice_counts_once(filled: Store):
    filled.judge(graded("e1", 2))
    assert filled.undo(event_id="u1", undoes="e1", grader="Ann")
    revision = filled.revision()
    assert not filled.undo(event_id="u1", undoes="e1", grader="Ann")
    filled.judge(graded("e2", 3))
    assert not filled.undo(event_id="u1", undoes="e1", grader="Ann")
    assert grade_of(filled) == 3
    assert filled.revision() == revision + 1


@pytest.mark.parametrize(
    ("asked", "error", "said"),
    [
        ({"undoes": "e1", "grader": "Bob"}, NotFound, "'Bob' has no event 'e1' to undo"),
        ({"undoes": "e1", "grader": "Zoe"}, NotFound, "'Zoe' has no event 'e1' to undo"),
        ({"undoes": "nothing"}, NotFound, "'Ann' has no event 'nothing' to undo"),
        ({"undoes": "e1"}, BadInput, "graded again since; undo that grade first"),
        ({"undoes": "gone"}, BadInput, "already been taken back"),
        ({"undoes": "undo"}, BadInput, "an undo cannot be undone"),
        ({"undoes": "e2", "event_id": "b1"}, BadInput, "'b1' is in the log with other content"),
    ],
)
def test_what_cannot_be_undone_stays(filled: Store, asked, error, said: str):
    filled.judge(Judgment("gone", "q1", "c4", "Ann", grade=3))
    filled.undo(event_id="undo", undoes="gone", grader="Ann")
    for event in (graded("e1", 1), graded("e2", 2), graded("b1", 2, "Bob")):
        filled.judge(event)
    before = filled.events()
    with pytest.raises(error, match=said):
        filled.undo(**{"event_id": "new", "grader": "Ann", **asked})
    assert filled.events() == before


def test_an_adjudication_and_a_grade_of_one_person_are_undone_apart(filled: Store):
    filled.judge(graded("grade", 1))
    filled.judge(graded("verdict", 3, kind="adjudicate"))
    assert [event for event, _, _ in filled.undoable("Ann", 5)] == ["grade"]
    filled.undo(event_id="u1", undoes="verdict", grader="Ann")
    filled.judge(graded("again", 2))
    filled.undo(event_id="u2", undoes="again", grader="Ann")
    assert grade_of(filled) == 1, "the verdict's undo must not count as the state before"


def test_undoing_an_older_verdict_does_not_outrank_a_newer_one(filled: Store):
    filled.judge(graded("a1", 3, kind="adjudicate"))
    filled.judge(graded("a2", 2, kind="adjudicate"))
    filled.judge(graded("b1", 0, "Bob", kind="adjudicate"))
    filled.undo(event_id="u", undoes="a2", grader="Ann")
    assert grade_of(filled) == 0


def test_a_grade_can_be_undone_while_a_verdict_stands(filled: Store):
    filled.judge(graded("grade", 1))
    filled.judge(graded("verdict", 3, kind="adjudicate"))
    filled.undo(event_id="u", undoes="grade", grader="Ann")
    assert grade_of(filled) == 3


def test_a_graders_newest_grades_come_first_and_others_never(filled: Store):
    for number, chunk in enumerate(["c1", "c2", "c3", "c4"]):
        filled.judge(Judgment(f"a{number}", "q1", chunk, "Ann", grade=1))
        filled.judge(Judgment(f"b{number}", "q1", chunk, "Bob", grade=1))
    filled.undo(event_id="u", undoes="a2", grader="Ann")
    assert [event for event, _, _ in filled.undoable("Ann", 2)] == ["a3", "a1"]
    filled.retire_query("q1")
    assert filled.undoable("Ann", 2) == []


def test_a_grade_knows_which_wording_it_was_given_for(filled: Store):
    filled.judge(graded("seen", 2, text_hash="the wording on the screen"))
    filled.judge(graded("now", 2, "Bob"))
    seen, now = filled.events()[-2:]
    assert seen.text_hash == "the wording on the screen"
    assert now.text_hash == filled._value("SELECT text_hash FROM chunks WHERE chunk_id = 'c3'")

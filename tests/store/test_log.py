"""The log of judgments: added to, never changed; an event counts once; undo restores."""

from __future__ import annotations

from dataclasses import replace

import pytest

from labeler.errors import BadInput, NotFound
from labeler.model import Chunk, Judgment
from labeler.store import JudgmentConflict, Store
from tests.support.databases import assert_refused


def grade_of(store: Store, query_id: str = "q1", chunk_id: str = "c3") -> int | None:
    """Return the golden grade of a pair, as exports carry it."""
    return next(
        (
            golden.grade
            for golden in store.golden_set.read()[1]
            if (golden.query_id, golden.chunk_id) == (query_id, chunk_id)
        ),
        None,
    )


def graded(event_id: str, grade: int | None, grader: str = "Ann", **more) -> Judgment:
    kind = "cannot_tell" if grade is None else "grade"
    return Judgment(event_id, "q1", "c3", grader, **{"kind": kind, "grade": grade, **more})


def undoable(store: Store, limit: int = 5, **more) -> list[str]:
    return [done.judgment.event_id for done in store.assignment.undoable("Ann", limit, **more)]


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
    filled.judgments.add(graded("e1", 2))
    filled.judgments.undo(event_id="u1", undoes="e1", grader="Ann")
    assert_refused(filled, "judgments", statement, recursive)


def test_an_event_sent_twice_counts_once(filled: Store):
    assert filled.judgments.add(graded("e1", 2))
    revision = filled.judgments.revision()
    assert not filled.judgments.add(graded("e1", 2))
    assert filled.judgments.revision() == revision


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
    filled.judgments.add(graded("e1", 2))
    with pytest.raises(BadInput, match="event 'e1' is in the log with other content"):
        filled.judgments.add(other)
    assert grade_of(filled) == 2
    assert filled.golden_set.contents().judgments == 4


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
        filled.judgments.add(judgment)
    assert filled.golden_set.contents().judgments == 3


def test_a_retired_query_is_not_judged_but_what_was_saved_stays_acknowledged(filled: Store):
    filled.judgments.add(graded("e1", 2))
    filled.queries.retire("q1")
    with pytest.raises(NotFound, match="query 'q1' has been retired"):
        filled.judgments.add(graded("e2", 1))
    assert not filled.judgments.add(graded("e1", 2))
    assert filled.golden_set.contents().judgments == 4


def test_text_that_cannot_be_stored_is_refused_in_words(filled: Store):
    with pytest.raises(BadInput, match=r"holds '\\ud800', which cannot be stored"):
        filled.judgments.add(graded("e1", 2, note="half \ud800"))
    with pytest.raises(BadInput, match="too large"):
        filled.judgments.add(graded("e1", 2, elapsed_ms=2**70))
    assert filled.golden_set.contents().judgments == 3


def test_undo_goes_back_step_by_step_to_not_graded(filled: Store):
    for number, grade in enumerate([1, 3, 0]):
        filled.judgments.add(graded(f"e{number}", grade))
    seen = []
    for number in (2, 1, 0):
        filled.judgments.undo(event_id=f"u{number}", undoes=f"e{number}", grader="Ann")
        seen.append(grade_of(filled))
    assert seen == [3, 1, None]
    assert filled.assignment.undoable("Ann", 5) == []
    assert [event.grade for event in filled.judgments.log()[-3:]] == [3, 1, None]
    assert filled.judgments.log()[-1].kind == "withdraw"
    assert len(filled.judgments.log()) == 9, "undo takes nothing out of the log"


def test_after_an_undo_the_grader_goes_on_from_there(filled: Store):
    filled.judgments.add(graded("e1", 1))
    filled.judgments.add(graded("e2", 3))
    filled.judgments.undo(event_id="u2", undoes="e2", grader="Ann")
    filled.judgments.add(graded("e3", 0))
    assert grade_of(filled) == 0
    filled.judgments.undo(event_id="u3", undoes="e3", grader="Ann")
    assert grade_of(filled) == 1, "e2 was taken back and must not return"
    filled.judgments.undo(event_id="u1", undoes="e1", grader="Ann")
    assert grade_of(filled) is None


def test_undo_restores_a_cannot_tell(filled: Store):
    filled.judgments.add(graded("e1", None))
    filled.judgments.add(graded("e2", 2))
    filled.judgments.undo(event_id="u2", undoes="e2", grader="Ann")
    assert grade_of(filled) is None
    assert filled.assignment.judged_by("Ann") != {}, (
        "can't tell is a judgment, so the pair is not new again"
    )


def test_an_undo_sent_twice_counts_once(filled: Store):
    filled.judgments.add(graded("e1", 2))
    assert filled.judgments.undo(event_id="u1", undoes="e1", grader="Ann")
    revision = filled.judgments.revision()
    assert not filled.judgments.undo(event_id="u1", undoes="e1", grader="Ann")
    filled.judgments.add(graded("e2", 3))
    assert not filled.judgments.undo(event_id="u1", undoes="e1", grader="Ann")
    assert grade_of(filled) == 3
    assert filled.judgments.revision() == revision + 1


@pytest.mark.parametrize(
    ("asked", "error", "said"),
    [
        ({"undoes": "e1", "grader": "Bob"}, NotFound, "'Bob' has no event 'e1' to undo"),
        ({"undoes": "e1", "grader": "Zoe"}, NotFound, "'Zoe' has no event 'e1' to undo"),
        ({"undoes": "nothing"}, NotFound, "'Ann' has no event 'nothing' to undo"),
        ({"undoes": "e1"}, BadInput, "graded again since; undo that grade first"),
        ({"undoes": "gone"}, BadInput, "was already undone"),
        ({"undoes": "undo"}, BadInput, "an undo cannot be undone"),
        ({"undoes": "e2", "event_id": "b1"}, BadInput, "'b1' is in the log with other content"),
    ],
)
def test_what_cannot_be_undone_stays(filled: Store, asked, error, said: str):
    filled.judgments.add(Judgment("gone", "q1", "c4", "Ann", grade=3))
    filled.judgments.undo(event_id="undo", undoes="gone", grader="Ann")
    for event in (graded("e1", 1), graded("e2", 2), graded("b1", 2, "Bob")):
        filled.judgments.add(event)
    before = filled.judgments.log()
    with pytest.raises(error, match=said):
        filled.judgments.undo(**{"event_id": "new", "grader": "Ann", **asked})
    assert filled.judgments.log() == before


def test_an_adjudication_and_a_grade_of_one_person_are_undone_apart(filled: Store):
    filled.judgments.add(graded("grade", 1))
    filled.adjudication.adjudicate(graded("verdict", 3, kind="adjudicate"), None)
    assert undoable(filled) == ["grade"]
    filled.judgments.undo(event_id="u1", undoes="verdict", grader="Ann")
    filled.judgments.add(graded("again", 2))
    filled.judgments.undo(event_id="u2", undoes="again", grader="Ann")
    assert grade_of(filled) == 1, "the verdict's undo must not count as the state before"


def test_undoing_an_older_verdict_does_not_outrank_a_newer_one(filled: Store):
    filled.adjudication.adjudicate(graded("a1", 3, kind="adjudicate"), None)
    filled.adjudication.adjudicate(graded("a2", 2, kind="adjudicate"), "a1")
    filled.adjudication.adjudicate(graded("b1", 0, "Bob", kind="adjudicate"), "a2")
    filled.judgments.undo(event_id="u", undoes="a2", grader="Ann")
    assert grade_of(filled) == 0


def test_a_grade_can_be_undone_while_a_verdict_stands(filled: Store):
    filled.judgments.add(graded("grade", 1))
    filled.adjudication.adjudicate(graded("verdict", 3, kind="adjudicate"), None)
    filled.judgments.undo(event_id="u", undoes="grade", grader="Ann")
    assert grade_of(filled) == 3


def test_a_graders_newest_grades_come_first_and_others_never(filled: Store):
    for number, chunk in enumerate(["c1", "c2", "c3", "c4"]):
        filled.judgments.add(Judgment(f"a{number}", "q1", chunk, "Ann", grade=1))
        filled.judgments.add(Judgment(f"b{number}", "q1", chunk, "Bob", grade=1))
    filled.judgments.undo(event_id="u", undoes="a2", grader="Ann")
    assert undoable(filled, 2) == ["a3", "a1"]
    filled.queries.retire("q1")
    assert filled.assignment.undoable("Ann", 2) == []


def test_older_judgments_come_page_by_page(filled: Store):
    for number, chunk in enumerate(["c1", "c2", "c3", "c4"]):
        filled.judgments.add(Judgment(f"a{number}", "q1", chunk, "Ann", grade=1))
    assert undoable(filled, 2) == ["a3", "a2"]
    assert undoable(filled, 2, before="a2") == ["a1", "a0"]
    filled.judgments.undo(event_id="u", undoes="a2", grader="Ann")
    assert undoable(filled, 2, before="a2") == ["a1", "a0"], "what is undone still has its place"
    assert undoable(filled, 2, before="a0") == undoable(filled, before="nothing") == []


def timeless(judgment: Judgment) -> Judgment:
    return replace(judgment, created_at=None)


def test_it_is_said_what_an_undo_would_leave(filled: Store):
    filled.judgments.add(graded("e1", 1, note="at first"))
    filled.judgments.add(graded("e2", None, reason="too short"))
    filled.judgments.add(graded("e3", 3, source="repeat"))
    filled.judgments.add(graded("b1", 2, "Bob"))
    newest, middle, oldest = filled.assignment.undoable("Ann", 5)
    assert newest.former == middle.judgment
    assert timeless(middle.judgment) == graded("e2", None, reason="too short")
    assert middle.former == oldest.judgment
    assert timeless(oldest.judgment) == graded("e1", 1, note="at first")
    assert oldest.former is None, "another's grade is not what would be left"
    assert newest.judgment.source == "repeat"
    filled.judgments.undo(event_id="u", undoes="e3", grader="Ann")
    assert filled.assignment.judgment_of("Ann", "q1", "c3").event_id == newest.former.event_id


def test_who_knows_what_stands_may_replace_it(filled: Store):
    assert filled.judgments.add_knowing(graded("e1", 1), None)
    assert filled.judgments.add_knowing(graded("e2", None), "e1")
    assert filled.judgments.add_knowing(graded("e3", 3), "e2")
    assert not filled.judgments.add_knowing(graded("e1", 1), None), "sent again, long outdated"
    filled.judgments.undo(event_id="u3", undoes="e3", grader="Ann")
    assert filled.judgments.add_knowing(graded("e4", 0), "e2"), "what the undo brought back stands"
    assert [event.event_id for event in filled.judgments.log()[3:]] == [
        "e1",
        "e2",
        "e3",
        "u3",
        "e4",
    ]


@pytest.mark.parametrize("replaces", [None, "e1", "b1", "verdict", "never was"])
def test_who_does_not_know_what_stands_is_refused(filled: Store, replaces: str | None):
    filled.judgments.add(graded("e1", 1))
    filled.judgments.add(graded("e2", 2))
    filled.judgments.add(graded("b1", 2, "Bob"))
    filled.adjudication.adjudicate(graded("verdict", 2, kind="adjudicate"), None)
    before = filled.judgments.log()
    with pytest.raises(JudgmentConflict, match="in another tab or on another device"):
        filled.judgments.add_knowing(graded("new", 3), replaces)
    assert filled.judgments.log() == before
    assert filled.judgments.add_knowing(graded("new", 3), "e2")


def test_what_is_not_there_is_said_before_what_stands(filled: Store):
    filled.judgments.add(graded("e1", 1))
    with pytest.raises(NotFound, match="there is no chunk 'c9'"):
        filled.judgments.add_knowing(Judgment("e2", "q1", "c9", "Ann", grade=1), "e1")
    with pytest.raises(BadInput, match="other content"):
        filled.judgments.add_knowing(graded("e1", 2), "e1")
    filled.queries.retire("q1")
    with pytest.raises(NotFound, match="has been retired"):
        filled.judgments.add_knowing(graded("e2", 1), None)


def test_what_a_grader_said_of_a_pair_is_known(filled: Store, loaded):
    assert filled.assignment.judgment_of("Ann", "q1", "c3") is None
    filled.judgments.add(graded("e1", None, reason="too short", note="see above", source="repeat"))
    said = filled.assignment.judgment_of("Ann", "q1", "c3")
    assert (said.event_id, said.kind, said.grade) == ("e1", "cannot_tell", None)
    assert (said.reason, said.note) == ("too short", "see above")
    assert (said.repeated, said.present) == (True, True)
    number = filled.chunks.number("c3")
    assert filled.assignment.judged_by("Ann") == {("q1", number): said}
    assert filled.assignment.judged_since(3) == [("Ann", ("q1", number), said)]
    filled.chunks.load(loaded([Chunk("c3", "another text")]), update=True)
    assert not filled.assignment.judgment_of("Ann", "q1", "c3").present
    filled.judgments.undo(event_id="u1", undoes="e1", grader="Ann")
    assert filled.assignment.judged_by("Ann") == {}
    assert filled.assignment.judged_since(4) == [("Ann", ("q1", number), None)]
    assert filled.assignment.judged_by("Bob") == filled.assignment.judged_by("Zoe") == {}


def test_a_pair_that_came_back_stays_known_as_such(filled: Store):
    filled.judgments.add(graded("e1", 1, source="pool"))
    assert not filled.assignment.judgment_of("Ann", "q1", "c3").repeated
    filled.judgments.add(graded("e2", 1, source="repeat"))
    filled.judgments.add(graded("e3", 2, source="list"))
    filled.judgments.add(graded("b1", 2, "Bob"))
    assert filled.assignment.judgment_of("Ann", "q1", "c3").repeated
    assert not filled.assignment.judgment_of("Bob", "q1", "c3").repeated


def test_what_others_said_is_counted_without_names_and_notes(filled: Store):
    filled.judgments.add(graded("a1", 0))
    for name in ("Bob", "Cy"):
        filled.judgments.add(graded(name, 2, name, note="a secret"))
    filled.judgments.add(graded("changed", 3, "Cy"))
    filled.adjudication.adjudicate(graded("verdict", 1, "Bob", kind="adjudicate"), None)
    assert filled.assignment.others_said("Ann", "q1", "c3") == [
        ("adjudicate", 1, 1),
        ("grade", 2, 1),
        ("grade", 3, 1),
    ]
    assert filled.assignment.others_said("Ann", "q1", "c1") == [("import", 3, 1)]
    assert filled.assignment.others_said("Ann", "q1", "c4") == []


def test_the_pace_is_the_median_of_the_newest_without_breaks(filled: Store):
    assert filled.assignment.pace("Ann") is None
    for number, elapsed in enumerate([1000, None, 3000, 2000, 900_000_00]):
        filled.judgments.add(graded(f"e{number}", 1, elapsed_ms=elapsed))
    assert filled.assignment.pace("Ann") == 2000
    assert filled.assignment.pace("Bob") is None


def test_a_grade_knows_which_wording_it_was_given_for(filled: Store):
    filled.judgments.add(graded("seen", 2, text_hash="the wording on the screen"))
    filled.judgments.add(graded("now", 2, "Bob"))
    seen, now = filled.judgments.log()[-2:]
    assert seen.text_hash == "the wording on the screen"
    assert now.text_hash == filled.connection.value(
        "SELECT text_hash FROM chunks WHERE chunk_id = 'c3'"
    )

"""Which grades agreement is measured from: one's own, blind, as they stand, of one wording."""

from __future__ import annotations

from itertools import count

import pytest

from labeler.analysis.agreement import (
    GradeMatrix,
    agreement_statements,
    compare_with_others,
    compute_agreement,
)
from labeler.model import Chunk, GoldenGrade, Judgment
from labeler.store import Store


@pytest.fixture
def say(filled: Store):
    """Let somebody judge a chunk of q1."""
    numbers = count(1)

    def judge(grader: str, chunk: str, grade: int | None, query: str = "q1", **more) -> str:
        event = f"e{next(numbers)}"
        kind = "cannot_tell" if grade is None else "grade"
        filled.judgments.add(
            Judgment(event, query, chunk, grader, **{"kind": kind, "grade": grade, **more})
        )
        return event

    return judge


def sheet_of(store: Store) -> GradeMatrix:
    return GradeMatrix.of_grades(store.activity.given_grades())


def given(store: Store) -> dict[str, dict[str, int]]:
    """Return who gave what to the chunks of q1, as the sheet has it."""
    sheet = sheet_of(store)
    chunks = dict.fromkeys(
        row.chunk_id for row in store.activity.given_grades() if row.blind and not row.overrules
    )
    return {
        name: {chunk: int(code) for chunk, code in zip(chunks, row, strict=True) if code >= 0}
        for name, row in zip(sheet.graders, sheet.codes, strict=True)
    }


def test_a_grade_counts_as_it_stands_now(filled: Store, say):
    say("Ann", "c1", 3)
    say("Ann", "c1", 1)
    say("Ann", "c2", 2)
    undone = say("Ann", "c2", 0)
    filled.judgments.undo(event_id="u1", undoes=undone, grader="Ann")
    taken_back = say("Ann", "c3", 1)
    filled.judgments.undo(event_id="u2", undoes=taken_back, grader="Ann")
    say("Ann", "c4", None)
    assert given(filled) == {"Ann": {"c1": 1, "c2": 2}}


def test_what_came_with_a_file_is_nobodys_blind_grade(filled: Store):
    assert filled.activity.given_grades() == []
    assert "Bea" not in sheet_of(filled).graders


def test_grades_not_given_blind_are_counted_aside(filled: Store, say):
    say("Ann", "c1", 3)
    say("Bob", "c1", 3, blind=False)
    say("Bob", "c2", 1)
    say("Ann", "c2", 1)
    say("Ann", "c2", 2, blind=False)
    assert given(filled) == {"Ann": {"c1": 3}, "Bob": {"c2": 1}}
    sheet = sheet_of(filled)
    [note] = [
        each.sentence
        for each in agreement_statements(compute_agreement(sheet), sheet.aside)
        if each.kind == "not blind"
    ]
    assert note == "2 grades were not given blind and left out: Ann 1, Bob 1."


def test_a_retired_query_is_left_out(filled: Store, say):
    say("Ann", "c1", 3)
    say("Ann", "c3", 3, query="q2")
    filled.queries.retire("q2")
    assert [row.query_id for row in filled.activity.given_grades()] == ["q1"]


def test_grades_of_two_wordings_are_not_compared(filled: Store, say, loaded):
    say("Ann", "c1", 3)
    say("Ann", "c2", 1)
    filled.chunks.load(loaded([Chunk("c1", "another text", "title 1")]), update=True)
    say("Bob", "c1", 0)
    say("Bob", "c2", 1)
    [pair] = compute_agreement(sheet_of(filled)).pairs
    assert (pair.kappa.n, pair.same.value) == (1, 1.0)


def test_a_grade_that_names_no_wording_is_of_the_present_one(filled: Store, say, golden):
    """As in a log that was exported before its chunks had texts."""
    filled.golden_loads.add(
        golden(
            events=[Judgment("x1", "q1", "c1", "Ann", grade=2, created_at="2026-03-02T10:00:00Z")]
        )
    )
    say("Bob", "c1", 2)
    [pair] = compute_agreement(sheet_of(filled)).pairs
    assert pair.kappa.n == 1


def test_the_newest_adjudication_counts_and_is_nobodys_own_grade(filled: Store, say):
    say("Ann", "c1", 3)
    say("Bob", "c1", 1)
    say("Ann", "c1", 0, kind="adjudicate")
    say("Cy", "c1", 2, kind="adjudicate")
    sheet = sheet_of(filled)
    assert sheet.graders == ("Ann", "Bob")
    assert sheet.overruled.tolist() == [2]


def median(grades):
    return sorted(grades)[(len(grades) - 1) // 2]


def test_each_grader_is_set_against_what_the_others_agree_on(filled: Store, say):
    for chunk, *grades in (("c1", 3, 1, 2), ("c2", 0, 0, 1), ("c3", 2, 2, None)):
        for grader, grade in zip(("Ann", "Bob", "Cy"), grades, strict=True):
            if grade is not None:
                say(grader, chunk, grade)
    ann, bob, cy = compare_with_others(sheet_of(filled), median)
    assert (ann.difference.value, ann.difference.n) == (pytest.approx(2 / 3), 3)  # 3-1, 0-0, 2-2
    assert (bob.difference.value, bob.difference.n) == (pytest.approx(-1 / 3), 3)  # 1-2, 0-0, 2-2
    assert (cy.difference.value, cy.difference.n) == (pytest.approx(1), 2)  # 2-1, 1-0
    assert (ann.same.value, ann.near.value) == (pytest.approx(2 / 3), pytest.approx(2 / 3))


def test_an_adjudication_of_somebody_else_comes_before_the_others_grades(filled: Store, say):
    say("Ann", "c1", 3)
    say("Bob", "c1", 1)
    say("Ann", "c1", 2, kind="adjudicate")
    ann, bob = compare_with_others(sheet_of(filled), median)
    assert ann.difference.value == 3 - 1, "their own adjudication says nothing of their grade"
    assert bob.difference.value == 1 - 2


def test_where_others_are_at_odds_or_have_not_graded_nothing_is_compared(filled: Store, say):
    say("Ann", "c1", 3)
    say("Ann", "c2", 3)
    say("Bob", "c2", 1)
    say("Cy", "c2", 2)
    ann, bob, _ = compare_with_others(sheet_of(filled), lambda grades: None)
    assert (ann.alone, ann.at_odds, ann.difference.n) == (1, 1, 0)
    assert ann.kappa.reason == "no passage was graded by two"
    assert (bob.alone, bob.at_odds) == (0, 1)


def test_drift_is_by_week_from_monday_to_sunday(filled: Store, say):
    moments = {
        "c1": "2026-03-01T23:59:59.000Z",
        "c2": "20260302T010000+0100",  # as a log may say it: midnight in Greenwich
        "c3": "2026-03-08T23:59:59.000Z",
        "c4": "2026-03-08T20:00:00-05:00",
    }
    for chunk, at in moments.items():
        say("Ann", chunk, 2, created_at=at)
        say("Bob", chunk, 1)
    ann, _ = compare_with_others(sheet_of(filled), median)
    assert [(week.monday, week.difference, week.n) for week in ann.weeks] == [
        ("2026-02-23", 1.0, 1),
        ("2026-03-02", 1.0, 2),
        ("2026-03-09", 1.0, 1),
    ]


def test_a_sheet_can_be_of_some_graders_and_some_queries(filled: Store, say):
    for grader in ("Ann", "Bob", "Cy"):
        say(grader, "c1", 2)
        say(grader, "c3", 1, query="q2")
    say("Cy", "c1", 0, kind="adjudicate")
    sheet = sheet_of(filled)
    two = sheet.among(["Bob", "Ann"])
    assert (two.graders, two.codes.tolist()) == (("Ann", "Bob"), [[2, 1], [2, 1]])
    assert two.by.tolist() == [-1, -1], "Cy's adjudication stays, as that of somebody else"
    assert two.overruled.tolist() == [0, -1]
    part = sheet.within({"q2"})
    assert part.codes.tolist() == [[1], [1], [1]]
    assert compute_agreement(part).alpha.queries == 1


def test_imports_do_not_take_part_in_the_agreed_grade(filled: Store, say):
    filled_golden = {(row.query_id, row.chunk_id): row for row in filled.golden_set.read()[1]}
    assert filled_golden["q1", "c1"] == GoldenGrade("q1", "c1", 3, ("Bea",))
    say("Ann", "c1", 0)
    [ann] = compare_with_others(sheet_of(filled), median)
    assert (ann.alone, ann.difference.n) == (1, 0)

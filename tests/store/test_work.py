"""What the lead reads of the log: who did what, and how far the pool is."""

from __future__ import annotations

from itertools import count

import pytest

from labeler.model import Chunk, GoldenGrade, Judgment, Query, Ranking, Remark
from labeler.store import Store
from labeler.store.activity import GraderActivity, Progress
from tests.support.page import loaded


@pytest.fixture
def say(filled: Store):
    """Let somebody judge; returns the event's id, so that it can be taken back."""
    numbers = count(1)

    def judge(grader: str, chunk: str, grade: int | None, query: str = "q1", **more) -> str:
        event = f"e{next(numbers)}"
        kind = "cannot_tell" if grade is None else "grade"
        filled.judgments.add(
            Judgment(event, query, chunk, grader, **{"kind": kind, "grade": grade, **more})
        )
        return event

    return judge


def work_of(store: Store, grader: str) -> GraderActivity:
    return next(row for row in store.activity.work() if row.grader == grader)


def days_of(store: Store) -> list[tuple[str, str, int]]:
    return [(row.day, row.grader, row.grades) for row in store.activity.work_by_day()]


def test_a_grade_that_was_changed_counts_once_for_the_pair_and_on_both_days(filled, say):
    say("Ann", "c3", 1, created_at="2026-03-01T23:59:59.999Z")
    say("Ann", "c3", 2, created_at="2026-03-02T00:00:00.000Z")
    row = work_of(filled, "Ann")
    assert (row.grades, row.first, row.last) == (1, "2026-03-01", "2026-03-02")
    assert days_of(filled) == [("2026-03-02", "Ann", 1), ("2026-03-01", "Ann", 1)]


def test_what_was_taken_back_is_nobodys_work(filled, say):
    filled.judgments.undo(event_id="u1", undoes=say("Ann", "c3", 1), grader="Ann")
    say("Ann", "c4", 1)
    filled.judgments.add(Judgment("w", "q1", "c4", "Ann", kind="withdraw"))
    row = work_of(filled, "Ann")
    assert (row.grades, row.cannot_tell) == (0, 0)
    assert sum(grades for *_, grades in days_of(filled)) == 1, "c4 was graded and then withdrawn"


def test_an_undo_brings_back_the_cannot_tell_before_it(filled, say):
    say("Ann", "c3", None, reason="outside my field")
    filled.judgments.undo(event_id="u1", undoes=say("Ann", "c3", 3), grader="Ann")
    assert (work_of(filled, "Ann").grades, work_of(filled, "Ann").cannot_tell) == (0, 1)
    assert [row.reason for row in filled.activity.cannot_tells()] == ["outside my field"]


def test_the_seconds_are_a_median_without_pauses(filled, say):
    given = [("c1", 2_000), ("c2", 4_000), ("c3", 300_001), ("c4", 900_000), ("c5", None)]
    for chunk, elapsed in given:
        say("Ann", chunk, 1, elapsed_ms=elapsed)
    say("Ann", "c6", None, elapsed_ms=90_000)
    assert work_of(filled, "Ann").seconds == 3.0
    say("Ann", "c1", 1, "q2", elapsed_ms=300_000)
    assert work_of(filled, "Ann").seconds == 4.0
    assert work_of(filled, "Bob").seconds is None


def test_a_chunk_found_by_hand_stays_found_when_it_is_graded_again(filled, say):
    say("Ann", "c4", 3, "q2", source="search")
    say("Ann", "c4", 2, "q2", source="repeat")
    found = say("Ann", "c2", 3, "q2", source="search")
    assert work_of(filled, "Ann").found == 2
    by_hand = {("q2", filled.chunks.number(chunk)) for chunk in ("c2", "c4")}
    assert filled.assignment.pairs_found_by_hand() == by_hand
    filled.judgments.undo(event_id="u1", undoes=found, grader="Ann")
    assert work_of(filled, "Ann").found == 1
    assert filled.assignment.pairs_found_by_hand() == {("q2", filled.chunks.number("c4"))}


def test_a_retired_query_is_in_none_of_the_lists(filled, say):
    say("Ann", "c3", 1, "q2", note="a note", source="repeat")
    say("Ann", "c5", None, "q2")
    filled.remarks.add(Remark("r1", "q2", "Ann", "unclear", "what?"))
    filled.queries.retire("q2")
    row = work_of(filled, "Ann")
    assert (row.grades, row.cannot_tell, row.remarks, row.first) == (0, 0, 0, None)
    assert [
        filled.activity.work_by_day(),
        filled.activity.cannot_tells(),
        filled.activity.notes(),
    ] == [[], [], []]
    assert filled.activity.repeated_grades() == []


def test_everyone_known_is_listed_with_their_role_who_did_most_first(filled, say):
    filled.people.add("Zoe", role="grader")
    say("Cy", "c1", 1)
    filled.remarks.add(Remark("r1", "q1", "Ann", "unclear"))
    filled.remarks.add(Remark("r2", "q2", "Ann", "unanswered"))
    filled.remarks.add(Remark("r3", "q2", "Ann", "withdraw"))
    rows = filled.activity.work()
    assert [row.grader for row in rows] == ["Cy", "Ann", "Bob", "Zoe"]
    assert [row.remarks for row in rows] == [0, 1, 0, 0]
    assert rows[-1].role == "grader"


def test_a_repeat_is_set_against_the_grade_before_it(filled, say):
    say("Ann", "c1", 0)
    say("Ann", "c1", 3)
    say("Bob", "c1", 1)
    say("Ann", "c1", 2, source="repeat")
    assert filled.activity.repeated_grades() == [("Ann", 3, 2)]
    assert (filled.activity.self_repeats("Ann"), filled.activity.self_repeats("Bob")) == (
        [(3, 2)],
        [],
    )


def test_only_a_grade_for_the_same_text_and_as_it_came_to_mind_is_set_against(filled, say):
    say("Ann", "c1", 1, source="repeat")
    assert filled.activity.repeated_grades() == [], "nothing stood before it"
    say("Ann", "c2", 1, text_hash="an earlier wording")
    say("Ann", "c2", 3, source="repeat")
    say("Ann", "c3", 1)
    undone = say("Ann", "c3", 3, source="repeat")
    filled.judgments.undo(event_id="u", undoes=undone, grader="Ann")
    say("Ann", "c4", 1)
    say("Ann", "c4", None, source="repeat")
    assert filled.activity.repeated_grades() == []
    say("Ann", "c3", 1, source="repeat")
    say("Ann", "c3", 2, source="repeat")
    assert filled.activity.repeated_grades() == [("Ann", 1, 1)], "the second corrects the first"


def test_cannot_tell_is_listed_until_that_grader_grades(filled, say):
    say("Ann", "c3", None, reason="  ", note="no idea")
    say("Bob", "c3", 2)
    [row] = filled.activity.cannot_tells()
    assert (row.query_id, row.query, row.chunk_id, row.title) == (
        *("q1", "how long does a refund take"),
        *("c3", "title 3"),
    )
    assert (row.grader, row.reason, row.note) == ("Ann", None, "no idea")
    say("Ann", "c3", 1)
    assert filled.activity.cannot_tells() == []


def test_notes_are_those_that_hold_the_newest_first(filled, say):
    say("Ann", "c1", 1, note="at first", created_at="2026-03-01T10:00:00.000Z")
    say("Ann", "c1", 2, note="then", created_at="2026-03-01T11:00:00.000Z")
    say("Ann", "c1", 2, source="repeat", created_at="2026-03-01T12:00:00.000Z")
    say("Bob", "c2", 3, note=" \n", created_at="2026-03-01T13:00:00.000Z")
    say("Bob", "c3", 3, note="gone")
    say("Bob", "c3", 3)
    filled.remarks.add(Remark("r1", "q2", "Cy", "unclear", "why?", "2026-03-01T11:30:00.000Z"))
    found = [
        (row.grader, row.chunk_id, row.kind, row.grade, row.note) for row in filled.activity.notes()
    ]
    assert found == [("Cy", None, "unclear", None, "why?"), ("Ann", "c1", "grade", 2, "then")]


def test_a_note_that_came_with_a_file_names_those_the_file_named(filled, golden):
    filled.golden_loads.add(golden([GoldenGrade("q1", "c4", 2, ("Dee", "Eli"), "from before")]))
    [row] = filled.activity.notes()
    assert (row.grader, row.kind, row.grade) == ("Dee, Eli", "import", 2)


@pytest.fixture
def pooled(store: Store) -> Store:
    """Three queries in the buckets a, b and none, each with the chunks c0 to c3 in its pool."""
    store.chunks.load(loaded([Chunk(f"c{n}", f"text {n}") for n in range(4)]))
    buckets = [{"kind": "b"}, {"kind": "a"}, {}]
    store.queries.load(
        loaded([Query(f"q{n}", "?", buckets=given) for n, given in enumerate(buckets)])
    )
    lists = [Ranking(f"q{n}", ("c0", "c1", "c2", "c3")) for n in range(3)]
    store.runs.load(loaded(lists), name="run")
    store.people.add("Ann")
    store.people.add("Bob")
    return store


def progress(store: Store, facet: str | None = None) -> tuple[list[Progress], Progress]:
    return store.activity.progress(store.assignment.pool(10)[0], facet)


def test_every_pair_of_the_pool_is_in_one_state(pooled: Store):
    pooled.judgments.add(Judgment("e1", "q0", "c0", "Ann", grade=0))
    pooled.judgments.add(Judgment("e2", "q0", "c1", "Ann", kind="cannot_tell"))
    pooled.judgments.add(Judgment("e3", "q0", "c2", "Ann", kind="cannot_tell"))
    pooled.judgments.add(Judgment("e4", "q0", "c2", "Bob", grade=1))
    pooled.judgments.add(Judgment("e5", "q0", "c3", "Ann", grade=1, text_hash="an earlier text"))
    [b, a, none], whole = progress(pooled, "kind")
    assert b == Progress("b", 1, 0, pool=4, graded=2, stale=1, cannot_tell=1)
    assert (a.bucket, a.open, a.graded) == ("a", 4, 0)
    assert (none.bucket, none.open) == (None, 4)
    assert whole == Progress(None, 3, 0, pool=12, graded=2, stale=1, cannot_tell=1)
    assert whole.open == 8


def test_a_query_is_finished_where_nothing_is_open_or_stale(pooled: Store):
    for number in range(4):
        pooled.judgments.add(
            Judgment(f"e{number}", "q0", f"c{number}", "Ann", kind="cannot_tell")
            if number == 3
            else Judgment(f"e{number}", "q0", f"c{number}", "Ann", grade=0)
        )
    assert progress(pooled)[1].finished == 1
    pooled.judgments.undo(event_id="u", undoes="e3", grader="Ann")
    assert progress(pooled)[1].finished == 0


def test_the_task_is_a_facet_and_without_one_all_queries_are_one_row(filled: Store):
    rows, whole = progress(filled, "task")
    assert [row.bucket for row in rows] == ["single", "research"]
    assert [row.graded for row in rows] == [2, 1], "grades that came with a file are done too"
    rows, alone = progress(filled)
    assert rows == [whole] == [alone]


def test_without_runs_there_is_no_pool_and_no_error(store: Store):
    assert progress(store) == ([], Progress(None, 0, 0, 0, 0, 0, 0))
    assert store.activity.work() == []

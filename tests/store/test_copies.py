"""Chunks of one query with the same text: graded once, each with grades of its own in the log."""

from __future__ import annotations

from dataclasses import replace

import pytest

from labeler.analysis.agreement import GradeMatrix, compute_agreement
from labeler.model import Chunk, GoldenGrade, Judgment, Query, Ranking
from labeler.store import JudgmentConflict, Store
from tests.support.store_reads import check_seals
from tests.support.traffic import propose


@pytest.fixture
def twice(store: Store, loaded) -> Store:
    """Two queries, one of which has a passage twice and its text under another title once."""
    store.queries.load(loaded([Query("q1", "How long?"), Query("q2", "How much?")]))
    store.chunks.load(
        loaded(
            [
                Chunk("c1", "Three days.", "Refunds"),
                Chunk("c2", "Four days.", "Refunds"),
                Chunk("c3", "Three days.", "Refunds"),
                Chunk("c4", "Three days.", "Holidays"),
                Chunk("c5", "Three days.", "Refunds"),
            ]
        )
    )
    lists = [Ranking("q1", ("c1", "c2", "c3", "c4")), Ranking("q2", ("c1", "c2", "c5"))]
    store.runs.load(loaded(lists), name="bm25")
    store.people.add("Ann")
    store.people.add("Bob")
    return store


def grade(store: Store, event: str, chunk: str = "c1", grader: str = "Ann", **more) -> bool:
    known = more.pop("replaces", None)
    said = {"grade": 2, "source": "pool", "elapsed_ms": 900, **more}
    return store.judgments.add_knowing(Judgment(event, "q1", chunk, grader, **said), known)


def grades(store: Store, grader: str = "Ann", query: str = "q1") -> dict[str, int | None]:
    """What stands for a grader by chunk; None is "can't tell"."""
    rows = store.connection.rows(
        "SELECT c.chunk_id, j.grade FROM current_judgments AS j JOIN chunks AS c ON c.id = j.chunk "
        "JOIN queries AS q ON q.id = j.query JOIN graders AS g ON g.id = j.grader "
        "WHERE g.name = ? AND q.query_id = ? AND j.kind IN ('grade', 'cannot_tell') ORDER BY c.id",
        [grader, query],
    )
    return dict(rows)


def events(store: Store) -> list[tuple[str, str, str | None, int | None]]:
    return store.connection.rows(
        "SELECT j.event_id, c.chunk_id, j.source, j.elapsed_ms FROM judgments AS j "
        "JOIN chunks AS c ON c.id = j.chunk ORDER BY j.id"
    )


def test_a_grade_counts_for_every_chunk_of_its_query_with_the_same_text_and_title(twice: Store):
    assert grade(twice, "e1", "c3")
    assert grades(twice) == {"c1": 2, "c3": 2}
    assert grades(twice, query="q2") == {}, "another query has another answer"
    assert events(twice) == [("e1", "c3", "pool", 900), ("e1:twin:1", "c1", "twin", None)]


def test_what_was_on_screen_of_one_was_on_screen_of_its_copies(twice: Store):
    grade(twice, "e1", seen_whole=False, highlighted=True)
    screens = [(event.seen_whole, event.highlighted) for event in twice.judgments.log()]
    assert screens == [(False, True), (False, True)]
    twice.tamper_check.seal()
    assert check_seals(twice).faults == ()


def test_a_late_copy_keeps_what_was_on_screen_of_the_text_that_was_graded(twice: Store, loaded):
    grade(twice, "e1", seen_whole=True, highlighted=False)
    twice.chunks.load(loaded([Chunk("c6", "Three days.", "Refunds")]))
    twice.runs.load(loaded([Ranking("q1", ("c6", "c2"))]), name="dense")
    assert twice.copies.grade_late() == 1
    assert [(event.seen_whole, event.highlighted) for event in twice.judgments.log()] == 3 * [
        (True, False)
    ]
    twice.tamper_check.seal()
    assert check_seals(twice).faults == ()


def test_an_event_that_is_sent_again_changes_nothing(twice: Store, loaded):
    assert grade(twice, "e1")
    assert not grade(twice, "e1")
    twice.runs.load(loaded([Ranking("q1", ("c5", "c2"))]), name="dense")
    assert not grade(twice, "e1"), "not even where a copy has come meanwhile"
    assert [event for event, *_ in events(twice)] == ["e1", "e1:twin:1"]


def test_a_changed_grade_changes_all_copies_and_one_undo_takes_it_back(twice: Store):
    grade(twice, "e1", grade=3, note="all of it", evidence=((0, 5),))
    grade(twice, "e2", grade=0, replaces="e1")
    assert grades(twice) == {"c1": 0, "c3": 0}
    assert twice.judgments.undo(event_id="u2", undoes="e2", grader="Ann")
    assert grades(twice) == {"c1": 3, "c3": 3}
    kept = [twice.assignment.judgment_of("Ann", "q1", chunk) for chunk in ("c1", "c3")]
    assert [(each.note, each.evidence) for each in kept] == [("all of it", ((0, 5),))] * 2
    assert not twice.judgments.undo(event_id="u2", undoes="e2", grader="Ann")
    assert twice.judgments.undo(event_id="u1", undoes="e1", grader="Ann")
    assert grades(twice) == {}


def test_an_undo_leaves_a_copy_that_was_graded_otherwise_since(twice: Store):
    grade(twice, "e1")
    twice.judgments.add(Judgment("alone", "q1", "c3", "Ann", grade=1))
    assert twice.judgments.undo(event_id="u1", undoes="e1", grader="Ann")
    assert grades(twice) == {"c3": 1}


def test_nobody_undoes_what_another_gave_to_a_copy(twice: Store):
    grade(twice, "e1")
    grade(twice, "e1:twin:7", grader="Bob", grade=0)
    twice.judgments.undo(event_id="u1", undoes="e1", grader="Ann")
    assert grades(twice, "Bob") == {"c1": 0, "c3": 0}


def test_what_cannot_be_told_of_one_cannot_be_told_of_its_copies(twice: Store):
    grade(twice, "e1", kind="cannot_tell", grade=None, reason="outside my field")
    assert grades(twice) == {"c1": None, "c3": None}


def test_a_second_tab_that_knows_of_no_grade_is_refused_whichever_copy_it_shows(twice: Store):
    grade(twice, "e1", "c1")
    with pytest.raises(JudgmentConflict):
        grade(twice, "e2", "c3", grade=0)
    assert grades(twice) == {"c1": 2, "c3": 2}


def test_a_grade_for_an_earlier_text_is_of_no_copy(twice: Store, loaded):
    [(before,)] = twice.connection.rows("SELECT text_hash FROM chunks WHERE chunk_id = 'c1'")
    newer = [Chunk(name, "Five days.", "Refunds") for name in ("c1", "c3")]
    twice.chunks.load(loaded(newer), update=True)
    grade(twice, "e1", "c1", text_hash=before)
    assert grades(twice) == {"c1": 2}


def test_chunks_without_a_text_to_read_are_no_copies(store: Store, loaded):
    store.queries.load(loaded([Query("q1", "How long?")]))
    store.chunks.load(loaded([Chunk("c1", " \n\u00a0"), Chunk("c2", " \n\u00a0"), Chunk("c3")]))
    store.runs.load(loaded([Ranking("q1", ("c1", "c2", "c3", "c4"))]), name="bm25")
    store.people.add("Ann")
    grade(store, "e1", "c1")
    grade(store, "e2", "c3")
    assert grades(store) == {"c1": 2, "c3": 2}
    assert store.copies.in_pool(store.assignment.pool(10)[0]) == {}


@pytest.fixture
def cut_twice(store: Store, loaded) -> Store:
    """A query with one text in two chunkings, the second of which has another text as well."""
    store.queries.load(loaded([Query("q1", "How long?")]))
    store.chunks.load(loaded([Chunk("c1", "Three days.")]))
    store.runs.load(loaded([Ranking("q1", ("c1",))]), name="bm25")
    store.chunks.load(loaded([Chunk("c1", "Three days."), Chunk("c2", "Four.")]), chunking="v2")
    store.runs.load(loaded([Ranking("q1", ("c1", "c2"))]), name="again", chunking="v2")
    store.people.add("Ann")
    store.people.add("Bob")
    return store


@pytest.mark.parametrize(("shown", "other"), [("c1", "v2:c1"), ("v2:c1", "c1")])
def test_a_text_is_graded_once_in_all_chunkings(cut_twice: Store, shown: str, other: str):
    one, two = (cut_twice.chunks.number(name) for name in ("c1", "v2:c1"))
    assert cut_twice.copies.in_pool(cut_twice.assignment.pool(10)[0]) == {"q1": {two: one}}
    grade(cut_twice, "e1", shown)
    assert grades(cut_twice) == {"c1": 2, "v2:c1": 2}
    with pytest.raises(JudgmentConflict):
        grade(cut_twice, "e2", other, grade=0)
    cut_twice.judgments.undo(event_id="u", undoes="e1", grader="Ann")
    assert grades(cut_twice) == {}


def test_a_chunking_that_is_loaded_later_has_the_grades_of_its_texts(cut_twice: Store):
    cut_twice.judgments.add(Judgment("before", "q1", "c1", "Ann", grade=3))
    assert grades(cut_twice) == {"c1": 3}
    assert cut_twice.copies.grade_late() == 1
    assert grades(cut_twice) == {"c1": 3, "v2:c1": 3}


def test_different_grades_of_a_text_in_two_chunkings_are_a_disagreement(cut_twice: Store):
    cut_twice.judgments.add(Judgment("before", "q1", "c1", "Ann", grade=3))
    cut_twice.judgments.add(Judgment("since", "q1", "v2:c1", "Ann", grade=0))
    [found] = cut_twice.adjudication.disagreements()
    assert [(copy.chunk_id, copy.grade) for copy in found.copies] == [("c1", 3), ("v2:c1", 0)]
    assert [each.differ for each in cut_twice.copies.grades()] == [True]


def test_agreement_is_of_a_text_in_whichever_chunking_each_read_it(cut_twice: Store):
    grade(cut_twice, "e1", "c1", grade=3)
    grade(cut_twice, "e2", "v2:c1", "Bob", grade=2)
    given = cut_twice.activity.given_grades()
    assert [(each.grader, each.chunk_id, each.grade) for each in given] == [
        *(("Ann", "c1", 3), ("Bob", "c1", 2))
    ]
    assert work_of(cut_twice)[0] == 1


def test_the_log_names_each_copy_and_what_was_taken_back_with_it(twice: Store):
    grade(twice, "e1", grade=3)
    grade(twice, "e2", grade=1, replaces="e1")
    twice.judgments.undo(event_id="u2", undoes="e2", grader="Ann")
    written = list(twice.judgments.log())
    assert [each.event_id for each in written] == [
        *("e1", "e1:twin:1", "e2", "e2:twin:1", "u2", "u2:twin:1")
    ]
    assert [each.undoes for each in written[4:]] == ["e2", "e2:twin:1"]


def test_what_a_file_says_people_gave_is_not_given_to_a_later_copy(twice: Store, golden, loaded):
    given = Judgment("f1", "q1", "c1", "Ann", grade=3)
    twice.golden_loads.add(replace(golden(), by_graders=loaded([given])))
    assert grades(twice) == {"c1": 3}
    assert twice.copies.grade_late() == 0
    twice.judgments.add(Judgment("e1", "q1", "c1", "Bob", grade=1))
    assert twice.copies.grade_late() == 1
    assert (grades(twice), grades(twice, "Bob")) == ({"c1": 3}, {"c1": 1, "c3": 1})


# What is counted ---------------------------------------------------------------------------------


def work_of(store: Store, grader: str = "Ann") -> tuple[int, int, float | None]:
    row = next(each for each in store.activity.work() if each.grader == grader)
    return row.grades, row.cannot_tell, row.seconds


def test_a_text_is_one_piece_of_work_and_has_one_note(twice: Store):
    grade(twice, "e1", note="all of it", elapsed_ms=1_000)
    assert work_of(twice) == (1, 0, 1.0)
    assert [row.grades for row in twice.activity.work_by_day()] == [1]
    assert [(row.chunk_id, row.note) for row in twice.activity.notes()] == [("c1", "all of it")]
    assert twice.assignment.pace("Ann") == 1_000
    unsure = {"kind": "cannot_tell", "grade": None, "note": "which year?"}
    grade(twice, "e2", replaces="e1", elapsed_ms=3_000, **unsure)
    assert work_of(twice)[:2] == (0, 1)
    assert [row.chunk_id for row in twice.activity.cannot_tells()] == ["c1"]
    assert twice.assignment.pace("Ann") == 2_000


def test_progress_counts_a_text_once_and_as_far_as_its_least_copy(twice: Store, golden):
    pool, _ = twice.assignment.pool(10)
    _, total = twice.activity.progress(pool)
    assert (total.pool, total.graded) == (5, 0), "c3 repeats c1 in q1, and c5 in q2"
    twice.golden_loads.add(golden([GoldenGrade("q1", "c1", 3)]))
    assert twice.activity.progress(pool)[1].graded == 0
    grade(twice, "e1", "c3")
    assert twice.activity.progress(pool)[1].graded == 1


def test_agreement_is_of_texts_whichever_copy_each_was_shown(twice: Store):
    grade(twice, "e1", "c1", grade=3)
    grade(twice, "e2", "c3", "Bob", grade=2)
    grade(twice, "e3", "c2", grade=1)
    given = twice.activity.given_grades()
    assert [(each.grader, each.chunk_id, each.grade) for each in given] == [
        *(("Ann", "c1", 3), ("Bob", "c1", 2), ("Ann", "c2", 1))
    ]
    assert compute_agreement(GradeMatrix.of_grades(given)).alpha.n == 1


def test_of_grades_that_one_gave_to_copies_apart_the_newest_is_compared(twice: Store):
    twice.judgments.add(Judgment("before", "q1", "c3", "Ann", grade=3))
    twice.judgments.add(Judgment("since", "q1", "c1", "Ann", grade=0))
    assert [(each.chunk_id, each.grade) for each in twice.activity.given_grades()] == [("c3", 0)]


def test_a_proposed_grade_meets_the_grade_of_a_text_once(twice: Store):
    for chunk in ("c1", "c3", "c2"):
        propose(twice.path, "q1", chunk, 3)
    grade(twice, "e1", "c1", grade=2)
    met, left = twice.suggestions.met()
    assert [(each.proposed, each.given) for each in met] == [(3, 2)]
    assert left == 1

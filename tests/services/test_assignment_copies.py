"""Chunks of one query with the same text are handed out once, and count once."""

from __future__ import annotations

import pytest

from labeler.model import ACTIVE_OF_TWO, Chunk, GoldenGrade, Judgment, Query, Ranking, Settings
from labeler.services import import_export
from labeler.services.assignment.assigner import Assigner
from labeler.services.assignment.pooling import Pool
from labeler.services.assignment.scope import Scope
from labeler.services.transfer import OpenPairsCache
from labeler.store import Store
from tests.support.assignment import ask, judge, make_order_alike, numbers, pairs_of


@pytest.fixture
def shelf(store: Store, loaded) -> Store:
    """Two queries of five chunks each, two of which have the same text, and three graders."""
    store.queries.load(loaded([Query("q1", "How long?"), Query("q2", "How much?")]))
    texts = {f"c{n}": f"text {n}" for n in range(1, 6)} | {"c2": "text 1"}
    store.chunks.load(loaded([Chunk(name, text) for name, text in texts.items()]))
    store.runs.load(loaded([Ranking(name, tuple(texts)) for name in ("q1", "q2")]), name="bm25")
    for name in ("Ann", "Bob", "Cy"):
        store.people.add(name)
    make_order_alike(store)
    store.settings.save(Settings(overlap=0))
    return store


def grade_all(desk: Assigner, store: Store, grader: str = "Ann", grade: int = 2) -> int:
    papers = ask(desk, store, grader, 50).papers
    for paper in papers:
        judge(store, paper, grader, grade=grade)
    return len(papers)


def golden_of(store: Store, query: str = "q1") -> dict[str, int]:
    rows = store.connection.rows(
        "SELECT c.chunk_id, g.grade FROM golden AS g JOIN chunks AS c ON c.id = g.chunk "
        "JOIN queries AS q ON q.id = g.query WHERE q.query_id = ?",
        [query],
    )
    return dict(rows)


def test_copies_are_handed_out_once_and_count_once(shelf: Store):
    desk = Assigner()
    found, about = desk.next_for(shelf, "Ann", 50)
    assert len(pairs_of(found)) == 8
    assert numbers(found) == (0, 8, 0, 2)
    assert {name: (each.total, each.left) for name, each in about.items()} == {
        "q1": (4, 4),
        "q2": (4, 4),
    }
    assert sorted((paper.item.chunk.chunk_id, paper.copies) for paper in found.papers[:4]) == [
        *(("c1", 2), ("c3", 1), ("c4", 1), ("c5", 1))
    ]
    assert grade_all(desk, shelf) == 8
    assert numbers(ask(desk, shelf)) == (8, 0, 2, 2)
    assert numbers(ask(Assigner(), shelf)) == (8, 0, 2, 2), "and so it is after a start"


def cut_again(store: Store, loaded) -> None:
    """Load a second chunking, of which two texts are those of the first, with a run for q1."""
    texts = {"n1": "text 3", "n2": "text 4", "n3": "text 9"}
    store.chunks.load(
        loaded([Chunk(name, text) for name, text in texts.items()]),
        chunking="v2",
    )
    store.runs.load(loaded([Ranking("q1", tuple(texts))]), name="again", chunking="v2")


def test_a_text_of_two_chunkings_is_handed_out_once(shelf: Store, loaded):
    cut_again(shelf, loaded)
    desk = Assigner()
    found, about = desk.next_for(shelf, "Ann", 50)
    own = [each for each in found.papers if each.item.query.query_id == "q1"]
    assert sorted((each.item.chunk.chunk_id, each.copies) for each in own) == [
        *(("c1", 2), ("c3", 2), ("c4", 2), ("c5", 1), ("v2:n3", 1))
    ]
    assert (about["q1"].total, about["q1"].left) == (5, 5)
    assert grade_all(desk, shelf) == 9
    assert numbers(ask(desk, shelf)) == (9, 0, 2, 2)
    assert golden_of(shelf)["v2:n1"] == golden_of(shelf)["v2:n2"] == 2
    found = desk.search(shelf, "Ann", "q1", "text 3")
    assert sum(each.item.chunk.text == "text 3" for each in found) == 1


def test_a_new_chunking_asks_only_for_the_texts_that_it_changed(shelf: Store, loaded):
    desk = Assigner()
    grade_all(desk, shelf)
    cut_again(shelf, loaded)
    assert pairs_of(ask(desk, shelf, limit=50)) == [("q1", "v2:n3")]
    assert golden_of(shelf)["v2:n1"] == 2


def test_a_text_that_both_chunkings_left_ungraded_is_among_what_the_new_one_did(
    shelf: Store, loaded
):
    cut_again(shelf, loaded)
    shelf.judgments.add(Judgment("e1", "q1", "c3", "Bob", grade=1))
    for patience in (60, 0):
        desk = Assigner(opening=OpenPairsCache(rest=0, patience=patience))
        within = Scope(between=("", "v2"))
        found, about = desk.next_for(shelf, "Ann", 50, within)
        assert {("q1", "c4"), ("q1", "v2:n3")} == set(pairs_of(found))
        assert about["q1"].left == 2


def test_an_undo_opens_a_text_once(shelf: Store):
    desk = Assigner()
    paper = next(each for each in ask(desk, shelf, limit=50).papers if each.copies == 2)
    event = judge(shelf, paper)
    assert numbers(ask(desk, shelf))[:2] == (1, 7)
    steps = desk.history(shelf, "Ann")
    assert [step[0].judgment.event_id for step in steps] == [event], "one grade, one step"
    shelf.judgments.undo(event_id="u", undoes=event, grader="Ann")
    assert numbers(ask(desk, shelf))[:2] == (0, 8)


def test_a_chunk_that_comes_later_has_what_people_said_of_its_text(shelf: Store, loaded):
    desk = Assigner()
    grade_all(desk, shelf)
    shelf.chunks.load(loaded([Chunk("late", "text 3"), Chunk("other", "text 9")]))
    shelf.runs.load(loaded([Ranking("q1", ("late", "other"))]), name="dense")
    found = ask(desk, shelf, limit=50)
    assert pairs_of(found) == [("q1", "other")], "nobody reads the same text for the query again"
    assert shelf.assignment.judgment_of("Ann", "q1", "late").grade == 2
    assert found.saved == 8
    before = shelf.judgments.revision()
    ask(Assigner(), shelf)
    assert shelf.judgments.revision() == before, "it is written once"


def test_what_came_later_is_taken_back_with_what_it_follows_from(shelf: Store, loaded):
    desk = Assigner()
    paper = next(each for each in ask(desk, shelf, limit=50).papers if each.copies == 2)
    event, query = judge(shelf, paper), paper.item.query.query_id
    shelf.chunks.load(loaded([Chunk("late", "text 1")]))
    shelf.runs.load(loaded([Ranking(query, ("late",))]), name="dense")
    ask(desk, shelf)
    ids = [each.event_id for each in shelf.judgments.log()]
    assert ids == [event, f"{event}:twin:1", f"{event}:twin:2"]
    shelf.judgments.undo(event_id="u", undoes=event, grader="Ann")
    assert shelf.assignment.judgment_of("Ann", query, "late") is None
    assert numbers(ask(desk, shelf))[:2] == (0, 8)


def test_everybody_who_graded_a_text_graded_its_later_copy(shelf: Store, loaded):
    shelf.settings.save(Settings(overlap=1))
    desk = Assigner()
    grade_all(desk, shelf, "Ann", 3)
    grade_all(desk, shelf, "Bob", 1)
    shelf.chunks.load(loaded([Chunk("late", "text 3")]))
    shelf.runs.load(loaded([Ranking("q1", ("late",))]), name="dense")
    assert pairs_of(ask(desk, shelf, "Ann")) == []
    assert [shelf.assignment.judgment_of(name, "q1", "late").grade for name in ("Ann", "Bob")] == [
        3,
        1,
    ]


def test_what_a_lead_decided_of_a_text_is_decided_of_its_later_copy(shelf: Store, loaded):
    desk = Assigner()
    grade_all(desk, shelf)
    shelf.adjudication.adjudicate(Judgment("said", "q1", "c3", "Cy", "adjudicate", 0), None)
    shelf.chunks.load(loaded([Chunk("late", "text 3")]))
    shelf.runs.load(loaded([Ranking("q1", ("late",))]), name="dense")
    ask(desk, shelf)
    assert golden_of(shelf)["late"] == 0


def test_what_a_file_says_of_one_copy_is_read_by_a_person_for_both(shelf: Store, golden):
    shelf.golden_loads.add(golden([GoldenGrade("q1", "c1", 3)]))
    desk = Assigner()
    assert ("q1", "c1") in pairs_of(ask(desk, shelf, limit=50))
    grade_all(desk, shelf, grade=1)
    assert golden_of(shelf) == {"c1": 1, "c2": 1, "c3": 1, "c4": 1, "c5": 1}


def test_pairs_that_decide_are_handed_out_once_for_all_copies(shelf: Store, loaded):
    shelf.runs.load(loaded([Ranking("q1", ("c5",))]), name="dense")
    shelf.settings.save(Settings(overlap=0, strategy=ACTIVE_OF_TWO, unjudged_of=("bm25", "dense")))
    one, two = (shelf.chunks.number(name) for name in ("c1", "c2"))
    desk = Assigner(lambda: [("q1", two), ("q1", one)])
    assert pairs_of(ask(desk, shelf, limit=50)) == [("q1", "c1")]


def test_a_list_and_a_search_show_a_text_once(shelf: Store, loaded):
    shelf.chunks.load(loaded([Chunk("far", "text 1 unread"), Chunk("away", "text 1 unread")]))
    desk = Assigner()
    listed, judged = desk.whole(shelf, "Ann", "q1")
    assert sorted((each.item.chunk.chunk_id, each.copies) for each in listed) == [
        *(("c1", 2), ("c3", 1), ("c4", 1), ("c5", 1))
    ]
    assert len(judged) == 4
    found = desk.search(shelf, "Ann", "q1", "unread")
    assert len(found) == 1
    assert not found[0].pooled
    found = desk.search(shelf, "Ann", "q1", "text 1")
    assert sum(each.item.chunk.text == "text 1" for each in found) == 1


def test_a_text_is_open_until_all_its_copies_are_settled():
    pool = Pool({"q": [1, 2, 3]}, copies={"q": {2: 1}})
    assert pool.left({}) == {"q": 2}
    pool.settle(("q", 2))
    assert sorted(pool.open_in("q", {})) == [1, 3]
    pool.settle(("q", 1))
    assert pool.open_in("q", {}) == [3]
    pool.reopen(("q", 2), stale=True)
    assert sorted(pool.open_in("q", {})) == [1, 3]
    assert pool.is_stale(("q", 1))


@pytest.mark.in_a_file
def test_where_nothing_can_be_written_copies_are_graded_later(shelf: Store, loaded):
    grade_all(Assigner(), shelf)
    shelf.chunks.load(loaded([Chunk("late", "text 3")]))
    shelf.runs.load(loaded([Ranking("q1", ("late",))]), name="dense")
    with Store(shelf.path, busy_seconds=0.05) as other:
        with shelf.connection.transaction():
            assert pairs_of(ask(Assigner(), other)) == []
        assert shelf.assignment.judgment_of("Ann", "q1", "late") is None
        ask(Assigner(), other)
    assert shelf.assignment.judgment_of("Ann", "q1", "late").grade == 2


def test_a_load_grades_chunks_whose_text_was_graded_before(shelf: Store, loaded, tmp_path):
    grade_all(Assigner(), shelf)
    shelf.chunks.load(loaded([Chunk("late", "text 3"), Chunk("other", "text 9")]))
    file = tmp_path / "dense.trec"
    file.write_text("q1 Q0 late 1 9 dense\nq1 Q0 other 2 8 dense\nq2 Q0 late 1 9 dense\n")
    apply = import_export.read("run", file, import_export.LoadOptions())
    [report] = apply(shelf)
    assert report.facts["with a text that was graded before, graded"] == 2
    assert golden_of(shelf)["late"] == golden_of(shelf, "q2")["late"] == 2
    [report] = apply(shelf)
    assert "with a text that was graded before, graded" not in report.facts

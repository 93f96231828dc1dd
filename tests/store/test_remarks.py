"""What graders say of whole queries, and how they take it back."""

from __future__ import annotations

from pathlib import Path

import pytest

from labeler.errors import BadInput, NotFound
from labeler.formats import read_golden
from labeler.model import Query, Remark
from labeler.services.import_export import export
from labeler.store import Store


@pytest.fixture
def said(filled: Store) -> Store:
    """Two graders have spoken of q1, one of them twice."""
    filled.people.add("Ann")
    filled.people.add("Bob")
    filled.remarks.add(Remark("a1", "q1", "Ann", "unanswered", "nothing on refunds"))
    filled.remarks.add(Remark("a2", "q1", "Ann", "unclear"))
    filled.remarks.add(Remark("b1", "q1", "Bob", "unclear"))
    return filled


def of(store: Store, grader: str) -> list[tuple[str, str | None]]:
    """Return what a grader says of queries now."""
    return [
        (remark.kind, remark.note) for remark in store.remarks.current() if remark.grader == grader
    ]


def test_what_is_taken_back_leaves_what_was_said_before_it(said: Store):
    said.remarks.take_back(event_id="a3", undoes="a2", grader="Ann")
    assert of(said, "Ann") == [("unanswered", "nothing on refunds")]
    said.remarks.take_back(event_id="a4", undoes="a1", grader="Ann")
    assert of(said, "Ann") == []
    assert of(said, "Bob") == [("unclear", None)]


def test_the_same_undo_sent_twice_counts_once(said: Store):
    assert said.remarks.take_back(event_id="a3", undoes="a2", grader="Ann")
    assert not said.remarks.take_back(event_id="a3", undoes="a2", grader="Ann")
    assert not said.remarks.add(Remark("a2", "q1", "Ann", "unclear")), (
        "it was there before its undo"
    )
    assert of(said, "Ann") == [("unanswered", "nothing on refunds")]


def test_only_the_newest_of_ones_own_remarks_is_taken_back(said: Store):
    for event_id, undoes, error, why in [
        ("x1", "a1", BadInput, "said something else of this query since"),
        ("x2", "b1", NotFound, "'Ann' has no remark 'b1'"),
        ("b1", "a2", BadInput, "in the log with other content"),
    ]:
        with pytest.raises(error, match=why):
            said.remarks.take_back(event_id=event_id, undoes=undoes, grader="Ann")
    said.remarks.take_back(event_id="a3", undoes="a2", grader="Ann")
    with pytest.raises(BadInput, match="was already undone"):
        said.remarks.take_back(event_id="a4", undoes="a2", grader="Ann")
    assert [remark.event_id for remark in said.remarks.log()] == ["a1", "a2", "b1", "a3"]


def test_what_can_be_taken_back_is_told_with_what_holds_then(said: Store):
    newest, oldest = said.remarks.undoable("Ann", 9)
    assert (newest.remark.event_id, newest.former and newest.former.event_id) == ("a2", "a1")
    assert (oldest.remark.event_id, oldest.former) == ("a1", None)
    assert [each.remark.event_id for each in said.remarks.undoable("Ann", 9, "a2")] == ["a1"]
    said.remarks.take_back(event_id="a3", undoes="a2", grader="Ann")
    assert [each.remark.event_id for each in said.remarks.undoable("Ann", 9)] == ["a1"]


def test_a_log_with_remarks_that_were_taken_back_loads_as_it_was_written(
    said: Store, tmp_path: Path, loaded
):
    said.remarks.take_back(event_id="a3", undoes="a2", grader="Ann")
    log = tmp_path / "log.jsonl"
    log.write_bytes(export(said, "events"))
    with Store(tmp_path / "other.db", create=True) as other:
        other.queries.load(
            loaded([Query(query.query_id, query.text) for query in said.queries.all()])
        )
        other.golden_loads.add(read_golden(log))
        assert other.remarks.log() == said.remarks.log()
        assert other.remarks.current() == said.remarks.current()
        assert [each.remark.event_id for each in other.remarks.undoable("Ann", 9)] == ["a1"]
        assert not other.golden_loads.add(read_golden(log)).changed

"""What graders say of whole queries: a log like that of judgments, the newest of each counts."""

from __future__ import annotations

import pytest

from labeler.errors import BadInput, NotFound
from labeler.model import Remark
from labeler.store import Store
from tests.databases import assert_refused


def remark(event_id: str = "r1", kind: str = "unclear", grader: str = "Ann", **more) -> Remark:
    return Remark(event_id, **{"query_id": "q1", "grader": grader, "kind": kind, **more})


def counted(store: Store) -> list[str]:
    return [each.event_id for each in store.remarks()]


@pytest.mark.parametrize("recursive", ["on", "off"])
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE remarks SET kind = 'withdraw'",
        "DELETE FROM remarks",
        "INSERT OR REPLACE INTO remarks SELECT * FROM remarks WHERE id = 1",
        "REPLACE INTO remarks (event_id, query, grader, kind, created_at) "
        "VALUES ('r1', 1, 1, 'withdraw', 'now')",
        "INSERT INTO remarks SELECT * FROM remarks WHERE true "
        "ON CONFLICT (event_id) DO UPDATE SET kind = 'withdraw'",
    ],
)
def test_no_statement_changes_what_was_said(filled: Store, statement: str, recursive: str):
    filled.remark(remark("r1", note="what is a refund"))
    assert_refused(filled, "remarks", statement, recursive)


def test_the_newest_of_each_grader_counts(filled: Store):
    filled.remark(remark("r1", "unclear"))
    filled.remark(remark("r2", "unanswered", "Bob", note="nothing on this"))
    filled.remark(remark("r3", "unanswered"))
    filled.remark(remark("r4", "unclear", query_id="q2"))
    assert counted(filled) == ["r4", "r3", "r2"], "the newest first"
    assert {query: each.kind for query, each in filled.remarks_by("Ann").items()} == {
        "q1": "unanswered",
        "q2": "unclear",
    }
    assert filled.remarks_by("Bob")["q1"].note == "nothing on this"
    assert filled.remarks_by("Cy") == filled.remarks_by("Zoe") == {}


def test_what_is_withdrawn_counts_no_more_and_stays_in_the_log(filled: Store):
    filled.remark(remark("r1", "unclear"))
    filled.remark(remark("r2", "unclear", "Bob"))
    filled.remark(remark("r3", "withdraw"))
    assert counted(filled) == ["r2"]
    assert filled.remarks_by("Ann") == {}, "what came before must not come back"
    filled.remark(remark("r4", "unanswered"))
    assert counted(filled) == ["r4", "r2"]
    assert [each.event_id for each in filled.remark_log()] == ["r1", "r2", "r3", "r4"]


def test_a_remark_sent_twice_counts_once(filled: Store):
    assert filled.remark(remark("r1"))
    assert filled.remark(remark("r2", "withdraw"))
    assert not filled.remark(remark("r1")), "a late copy must not undo the withdrawal"
    assert counted(filled) == []
    filled.retire_query("q1")
    assert not filled.remark(remark("r1")), "what was saved stays acknowledged"


@pytest.mark.parametrize(
    "other",
    [
        remark("r1", "unanswered"),
        remark("r1", grader="Bob"),
        remark("r1", query_id="q2"),
        remark("r1", query_id="nobody's"),
        remark("r1", note="more"),
    ],
)
def test_an_event_id_is_not_used_for_something_else(filled: Store, other: Remark):
    filled.remark(remark("r1"))
    with pytest.raises(BadInput, match="event 'r1' is in the log with other content"):
        filled.remark(other)
    assert [each.kind for each in filled.remark_log()] == ["unclear"]


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (remark(query_id="q7"), "query 'q7' is not in"),
        (remark(grader="Zoe"), "no grader named 'Zoe'"),
        (remark(query_id="q2"), "query 'q2' has been retired"),
    ],
)
def test_what_is_not_there_cannot_be_remarked_on(filled: Store, said: Remark, why: str):
    filled.retire_query("q2")
    with pytest.raises(NotFound, match=why):
        filled.remark(said)
    assert filled.remark_log() == []


def test_remarks_on_a_retired_query_are_kept_but_count_no_more(filled: Store):
    filled.remark(remark("r1"))
    filled.retire_query("q1")
    assert filled.remarks() == []
    assert [each.event_id for each in filled.remark_log()] == ["r1"]


def test_a_remark_moves_neither_measures_nor_what_they_are_made_of(filled: Store):
    before = filled.revision(), filled.data_revision(), filled.golden_set()
    filled.remark(remark())
    assert (filled.revision(), filled.data_revision(), filled.golden_set()) == before


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"kind": "boring"}, "a remark can be unanswered, unclear, withdraw, not 'boring'"),
        ({"kind": None}, "a remark can be"),
        ({"event_id": ""}, "event id"),
        ({"query_id": "a\0b"}, "query id"),
        ({"grader": None}, "grader id"),
    ],
)
def test_a_remark_checks_itself(given: dict[str, object], why: str):
    with pytest.raises(BadInput, match=why):
        remark(**{"event_id": "r1", **given})

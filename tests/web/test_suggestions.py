"""Proposed grades and the person who grades: nothing of them before one's own, one line after."""

from __future__ import annotations

import json

import pytest

from labeler.model import Judgment
from labeler.store import Store
from tests.support.grading_client import Pad, pad
from tests.support.store_reads import all_suggestions
from tests.support.traffic import propose

__all__ = ["pad"]

SOURCE = "clicks-of-last-week"


@pytest.fixture
def proposing(filled: Store, pad: Pad) -> Pad:
    """Two chunks of q1 have a proposed grade, and nobody has graded them."""
    for chunk, grade in (("c3", 1), ("c4", 3)):
        propose(filled.path, "q1", chunk, grade, SOURCE)
    return pad


def everything(pad: Pad) -> str:
    """All that a grader's browser can ask for of q1 and its chunks, in one text."""
    found = []
    for name in ("next", "history", "query", "text", "search", "neighbours", "told", "whose"):
        for asked in (
            {},
            {"query": "q1"},
            {"query": "q1", "chunk": "c3"},
            {"query": "q1", "words": "text"},
            {"query": "q1", "text": "text"},
        ):
            found.append(pad.answer(name, **asked).body)
    return b"".join(found).decode()


def test_a_proposal_is_told_once_the_grader_s_own_grade_is_saved(proposing: Pad) -> None:
    assert SOURCE not in everything(proposing)
    assert proposing.send(proposing.event("e1", 2)) == [
        {"event_id": "e1", "saved": True, "proposed": [[SOURCE, 1]]}
    ]
    assert SOURCE not in everything(proposing), "what is proposed for c4 is nobody's to know yet"
    assert proposing.send(proposing.event("e1", 2))[0]["proposed"], "sent again, told again"


def test_who_gives_no_grade_is_told_nothing(filled: Store, proposing: Pad) -> None:
    withheld = [
        proposing.event("e1", None, kind="cannot_tell"),
        proposing.event("e2", 7),
        proposing.event("e3", 2, golden_set="another"),
        proposing.event("e4", 2, slip="forged"),
        proposing.event("e5", 2, query="q9"),
        proposing.remark("r1"),
        proposing.event("e6", None, undoes="e1"),
    ]
    answers = proposing.send(*withheld)
    assert SOURCE not in json.dumps(answers)
    assert [("saved" in each) for each in answers] == [True, *[False] * 4, True, True]
    other = proposing.beside(filled, "Bob")
    proposing.send(proposing.event("e7", 2))
    assert SOURCE not in everything(other), "another's grade tells Bob nothing"


def test_a_grade_changed_after_the_proposal_was_told_is_not_blind(
    filled: Store, proposing: Pad
) -> None:
    proposing.send(proposing.event("e1", 2))
    proposing.send(proposing.event("e2", 1, replaces="e1"))
    blind = dict(
        filled.connection.rows(
            "SELECT event_id, blind FROM judgments WHERE event_id IN ('e1', 'e2')"
        )
    )
    assert blind == {"e1": 1, "e2": 0}


def test_a_proposal_never_counts(filled: Store, proposing: Pad) -> None:
    before = filled.collection.read().golden_grade.tolist()
    assert len(before) == 3, "what came with a file"
    proposing.send(proposing.event("e1", 2))
    assert sorted(filled.collection.read().golden_grade.tolist()) == sorted([*before, 2])


def test_votes_of_a_source_are_weighed_for_one_pair_as_for_all(filled: Store) -> None:
    for grade, times in ((0, 1), (3, 1)):
        propose(filled.path, "q1", "c3", grade, "torn")
        for _ in range(times):
            propose(filled.path, "q1", "c4", grade, f"sure {grade}")
    every = {(p.query_id, p.chunk_id, p.source, p.grade) for p in all_suggestions(filled)}
    one = {
        ("q1", chunk, source, grade)
        for chunk in ("c3", "c4")
        for source, grade in filled.suggestions.proposed_for("q1", chunk)
    }
    assert one == every == {("q1", "c4", "sure 0", 0), ("q1", "c4", "sure 3", 3)}
    filled.judgments.add(Judgment("e1", "q1", "c4", "Ann", grade=3))
    met, waiting = filled.suggestions.met()
    assert sorted(met) == [("q1", "sure 0", 0, 3), ("q1", "sure 3", 3, 3)]
    assert waiting == 0, "where a source is torn, nothing is proposed"

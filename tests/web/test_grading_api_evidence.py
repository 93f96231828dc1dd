"""What a browser says was marked is a claim: it is looked at, and it never costs the grade."""

from __future__ import annotations

from typing import Any

import pytest

from labeler.model import Chunk, Judgment, Settings
from labeler.store import Store
from labeler.store.columns import hash_text
from tests.support.grading_client import Pad, pad

__all__ = ["pad"]

TEXT = "text 3"  # of c3, as the fixture makes it
HASH = hash_text(TEXT)


def marking(pad: Pad, event_id: str = "e1", evidence: Any = ((0, 4),), **more: Any) -> Any:
    """Send a grade with passages; return the server's answer."""
    event = pad.event(event_id, text_hash=HASH, evidence=evidence, **more)
    [answer] = pad.send(event)
    return answer


def stored(store: Store) -> list[tuple[str, Any, Any]]:
    return [(each.event_id, each.grade, each.evidence) for each in store.judgments.log()[3:]]


def test_a_grade_brings_its_passages_along_and_gets_them_back_in_every_list(
    filled: Store, pad: Pad
):
    assert marking(pad, evidence=[[0, 4], [5, 6]]) == {"event_id": "e1", "saved": True}
    assert stored(filled) == [("e1", 2, ((0, 4), (5, 6)))]
    [done] = pad.get("history")["done"]
    assert done["evidence"] == [[0, 4], [5, 6]]
    assert done["item"]["judged"]["evidence"] == [[0, 4], [5, 6]]
    [judged] = [each["judged"] for each in pad.get("query", query="q1")["items"] if each["judged"]]
    assert judged["evidence"] == [[0, 4], [5, 6]]
    [found] = [
        each["judged"]
        for each in pad.get("search", query="q1", words="text")["items"]
        if each["judged"]
    ]
    assert found["evidence"] == [[0, 4], [5, 6]]


@pytest.mark.parametrize(
    "evidence",
    [
        "all of it",
        {"start": 0},
        [[0, 7]],
        [[-1, 3]],
        [[3, 1]],
        [[2, 2]],
        [[0, 3], [2, 5]],
        [[4, 5], [0, 1]],
        [[0, 10**18]],
        [[0, 1.5]],
        [[None, 3]],
        [[0, True]],
        [[0, "3"]],
        [[0, 1]] * 101,
        [[[[[0]]]]],
        7,
    ],
)
def test_passages_that_cannot_be_are_refused_and_the_grade_is_kept(
    filled: Store, pad: Pad, evidence: Any
):
    answer = marking(pad, evidence=evidence)
    assert answer["saved"] is True
    assert "evidence" in answer["unmarked"]
    assert stored(filled) == [("e1", 2, ())]
    assert marking(pad, evidence=evidence)["saved"] is True, "sent again it is the same event"
    assert len(stored(filled)) == 1


def test_what_is_no_number_is_no_place_and_takes_no_grade_along(filled: Store, pad: Pad):
    event = pad.event(text_hash=HASH, evidence=[[0, float("nan")], [0, float("inf")]])
    [answer] = pad.send(event)
    assert answer["saved"] is True
    assert "whole number" in answer["unmarked"]
    assert stored(filled) == [("e1", 2, ())]


def test_passages_of_another_chunk_are_refused_with_their_grade(
    filled: Store, pad: Pad, loaded: Any
):
    filled.chunks.load(loaded([Chunk("long", "a text that is longer than that of c3")]))
    shown = {"chunk": "long", "text_hash": hash_text("a text that is longer than that of c3")}
    foreign = {**pad.event(evidence=[[7, 30]], **shown), "chunk": "c3"}
    [answer] = pad.send(foreign)
    assert "did not hand you this passage" in answer["refused"]
    assert "ends beyond the text" in marking(pad, "e2", evidence=[[7, 30]])["unmarked"]
    assert stored(filled) == [("e2", 2, ())]


def test_refused_passages_leave_those_that_were_marked_before(filled: Store, pad: Pad):
    marking(pad)
    assert "unmarked" in marking(pad, "e2", evidence=[[0, 99]], replaces="e1")
    assert stored(filled) == [("e1", 2, ((0, 4),)), ("e2", 2, ((0, 4),))]


def test_marks_taken_away_are_an_event_of_their_own(filled: Store, pad: Pad):
    marking(pad)
    marking(pad, "e2", evidence=[], replaces="e1", elapsed_ms=None)
    assert stored(filled)[-1] == ("e2", 2, ())
    assert filled.assignment.pace("Ann") == 900, "how long marking took says nothing of grading"


def test_cannot_tell_has_no_evidence(filled: Store, pad: Pad):
    answer = marking(pad, kind="cannot_tell", grade=None)
    assert "evidence is for a grade" in answer["unmarked"]
    assert stored(filled) == [("e1", None, ())]


def test_marking_what_was_graded_blind_leaves_it_blind(filled: Store, pad: Pad):
    marking(pad, evidence=[])
    pad.get("told", query="q1", chunk="c3")
    marking(pad, "e2", replaces="e1")
    marking(pad, "e3", grade=3, replaces="e2")
    blind = [each.blind for each in filled.judgments.log()[3:]]
    assert blind == [True, True, False], "another grade knows what others gave"


@pytest.mark.parametrize(("grade", "kept"), [(2, ((0, 4),)), (3, ())])
def test_a_chunk_that_comes_back_unmarked_keeps_its_passages_if_it_keeps_its_grade(
    filled: Store, pad: Pad, grade: int, kept: Any
):
    marking(pad)
    again = pad.event("e2", grade, text_hash=HASH, source="repeat", replaces="e1")
    for _ in range(2):  # the answer to the first may be lost
        assert pad.send(again) == [{"event_id": "e2", "saved": True}]
    assert stored(filled)[-1] == ("e2", grade, kept)
    assert filled.activity.self_repeats("Ann") == [(2, grade)]
    marking(pad, "e3", grade=grade, source="repeat", replaces="e2", evidence=[[5, 6]])
    assert filled.activity.self_repeats("Ann") == [(2, grade)], "marking is no second answer"


def test_nobody_replaces_passages_that_another_tab_marked_meanwhile(filled: Store, pad: Pad):
    marking(pad)
    marking(pad, "e2", evidence=[[0, 6]], replaces="e1")
    answer = marking(pad, "e3", evidence=[[5, 6]], replaces="e1")
    assert answer["instead"]["event_id"] == "e2"
    assert filled.evidence.of_grades()[0].passages == ((0, 6),)


def test_passages_of_the_text_that_was_on_screen_are_kept_after_it_changed(
    filled: Store, pad: Pad, loaded: Any
):
    event = pad.event(text_hash=HASH, evidence=[[0, 6]])
    filled.chunks.load(loaded([Chunk("c3", "t")]), update=True)
    assert pad.send(event) == [{"event_id": "e1", "saved": True}]
    [mine] = [each["judged"] for each in pad.get("query", query="q1")["items"] if each["judged"]]
    assert (mine["lost"], "evidence" in mine) == (1, False)
    assert not filled.evidence.of_grades()[0].is_found


def test_others_passages_are_told_to_nobody_on_the_pad(filled: Store, pad: Pad):
    filled.judgments.add(Judgment("b1", "q1", "c3", "Bob", grade=2, evidence=((0, 4),)))
    for answer in (pad.get("next"), pad.get("query", query="q1"), pad.get("history")):
        assert "evidence" not in str(answer)


def test_the_team_asks_for_evidence_from_a_grade_that_there_is(filled: Store):
    filled.settings.save(Settings(evidence_from=2))
    assert filled.settings.read().evidence_from == 2
    with pytest.raises(ValueError, match="a grade must be 0, 1, 2 or 3"):
        Settings(evidence_from=4)

"""What graders marked is shown where their grades are looked at, and says whose it is."""

from __future__ import annotations

from typing import Any

from labeler.model import Chunk, GradeEvidence, Judgment
from labeler.render import tables
from labeler.render.tables.chunk_text import lost_note, marked_text
from labeler.store import Store
from tests.support.grading_client import Pad, pad

__all__ = ["pad"]

TEXT = "Refunds 👩‍🏫 take 30 days."


def marked(who: str, *passages: tuple[int, int], **more: Any) -> GradeEvidence:
    said = {"kind": "grade", "text_hash": "", "is_golden": True, "is_found": True} | more
    return GradeEvidence("q1", "c1", 2, (who,), 1, passages=passages, **said)


def test_words_that_several_people_marked_say_whose_they_are():
    shown = "".join(map(str, marked_text(TEXT, [marked("Ann", (0, 11)), marked("Bob", (8, 16))])))
    assert shown == (
        '<mark class="evidence"><small>2 Ann</small>Refunds </mark>'
        '<mark class="evidence"><small>2 Bob</small>👩‍🏫</mark>'
        '<mark class="evidence"> take</mark> 30 days.'
    )


def test_a_name_and_a_text_that_look_like_html_are_text():
    evidence = [marked("<b>Ann</b>", (0, 9))]
    shown = str(tables.chunk_text("c1", None, "<img src=x>", evidence))
    assert "<img" not in shown
    assert "<b>Ann" not in shown
    assert "&lt;img src" in shown


def test_what_was_marked_in_an_earlier_text_is_never_shown_at_a_wrong_place():
    evidence = [marked("Ann", (0, 7), is_found=False)]
    assert marked_text(TEXT, evidence) == [TEXT]
    assert "not found any more: evidence of Ann" in lost_note(evidence)
    assert "evidence of Ann" in str(tables.chunk_text("c1", None, TEXT, evidence))


def test_a_text_that_is_cut_has_the_marks_that_are_in_it():
    assert marked_text("Ref", [marked("Ann", (2, 9), (12, 15))])[0] == "Re"


def test_a_disagreement_comes_with_what_both_graders_marked(filled: Store, pad: Pad, loaded: Any):
    for grader, grade, passages in (("Ann", 3, ((0, 4),)), ("Bob", 0, ((5, 6),))):
        filled.judgments.add(Judgment(grader, "q1", "c1", grader, grade=grade, evidence=passages))
    [item] = pad.get("disagreements")["items"]
    assert [each["evidence"] for each in item["opinions"]] == [[[0, 4]], [[5, 6]]]
    filled.chunks.load(loaded([Chunk("c1", "another text")]), update=True)
    [item] = pad.get("disagreements")["items"]
    assert not any("evidence" in each for each in item["opinions"])

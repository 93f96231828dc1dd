"""How much of the marked passages is retrieved: the same evidence, whichever way it was cut."""

from __future__ import annotations

import math

from labeler.rechunking import Basis, Cut, Graded, evidence_of, find_places, score_evidence

FEES = "Annual fees are due in May, and are taken from the account."
LATE = "A late transfer costs twelve euros, which the branch may waive."
OLD = [Cut("o1", f"{FEES} {LATE}"), Cut("o2", "Cards are sent by letter within ten days.")]
NEW = [Cut("n1", FEES), Cut("n2", LATE), Cut("n3", f"{FEES} {LATE}")]
MARKED = [Graded("q", "o1", 2, (Basis(1, ((0, len(FEES)), (60, 60 + len(LATE)))),))]
PLACES = find_places(OLD, NEW)


def plain(text: str) -> int:
    return len(text.replace(" ", ""))


def test_both_chunkings_are_measured_by_one_evidence() -> None:
    [evidence] = evidence_of(MARKED, PLACES).values()
    old = score_evidence(["o1"], evidence, PLACES.old, PLACES.old_texts)
    new = score_evidence(["n1", "n2"], evidence, PLACES.new, PLACES.new_texts)
    assert old == new
    assert (new.recall, new.precision, new.iou) == (1, 1, 1)


def test_text_retrieved_twice_counts_twice_and_evidence_once() -> None:
    [evidence] = evidence_of(MARKED, PLACES).values()
    found = score_evidence(["n1", "n3"], evidence, PLACES.new, PLACES.new_texts)
    assert found.recall == 1
    assert found.retrieved == 2 * plain(FEES) + plain(LATE)
    assert found.precision == found.total / found.retrieved
    assert found.iou == found.total / found.retrieved


def test_a_budget_of_characters_cuts_the_last_chunk() -> None:
    [evidence] = evidence_of(MARKED, PLACES).values()
    cut = len(FEES) + 6
    ranked = ["n1", "n2"]
    found = score_evidence(ranked, evidence, PLACES.new, PLACES.new_texts, characters=cut)
    assert found.found == found.retrieved == plain(FEES) + plain("A late")
    whole = score_evidence(["n3"], evidence, PLACES.new, PLACES.new_texts, characters=cut)
    assert abs(whole.found - found.found) <= 1
    first = score_evidence(ranked, evidence, PLACES.new, PLACES.new_texts, k=1)
    assert first.found == plain(FEES)


def test_a_zero_has_no_evidence_and_without_any_nothing_is_defined() -> None:
    zero = [Graded("q", "o1", 0, (Basis(1, ((0, 9),)),)), Graded("q", "o2", 3)]
    assert evidence_of(zero, PLACES) == {}
    found = score_evidence(["n1"], [], PLACES.new, PLACES.new_texts)
    assert all(map(math.isnan, (found.recall, found.precision, found.iou)))

"""How far a grader agrees with themselves: counted, and said kindly."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeler.analysis.agreement import (
    SelfAgreement,
    describe_self_agreement,
    self_agreement,
)

grades = st.integers(0, 3)
pairs = st.lists(st.tuples(grades, grades))


def test_what_differs_by_more_than_one_is_neither_same_nor_near():
    assert self_agreement([(2, 2), (3, 2), (1, 2), (0, 3), (2, 0)]) == SelfAgreement(5, 1, 2)
    assert self_agreement([]) is None


@given(pairs)
def test_same_and_near_are_never_more_than_were_shown_again(given_pairs: list[tuple[int, int]]):
    found = self_agreement(given_pairs)
    if found is None:
        assert not given_pairs
    else:
        assert found.again == len(given_pairs)
        assert 0 <= found.same <= found.same + found.near <= found.again


@given(pairs)
def test_which_grade_came_first_does_not_matter(given_pairs: list[tuple[int, int]]):
    assert self_agreement(given_pairs) == self_agreement([(b, a) for a, b in given_pairs])


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (None, "too early"),
        (
            (20, 18, 2),
            "Of 20 chunks that Ann saw again, 18 got the same grade; the other two differ by one.",
        ),
        (
            (20, 18, 0),
            "Of 20 chunks that Ann saw again, 18 got the same grade; "
            "the other two differ by more than one.",
        ),
        (
            (20, 17, 1),
            "Of 20 chunks that Ann saw again, 17 got the same grade; "
            "one differs by one and two by more.",
        ),
        (
            (20, 19, 1),
            "Of 20 chunks that Ann saw again, 19 got the same grade; the other one differs by one.",
        ),
        (
            (3, 0, 3),
            "Of 3 chunks that Ann saw again, 0 got the same grade; all three differ by one.",
        ),
        ((40, 40, 0), "All 40 chunks that Ann saw again got the same grade."),
        ((1, 1, 0), "The one chunk that Ann saw again got the same grade."),
        ((1, 0, 1), "The one chunk that Ann saw again got another grade, one apart."),
        ((1, 0, 0), "The one chunk that Ann saw again got another grade, more than one apart."),
    ],
)
def test_a_lead_reads_a_sentence(found: tuple[int, int, int] | None, said: str):
    assert describe_self_agreement(None if found is None else SelfAgreement(*found), "Ann") == said


@given(pairs.filter(bool))
def test_nobody_is_judged_and_no_percentage_is_made_of_a_few(given_pairs: list[tuple[int, int]]):
    said = describe_self_agreement(self_agreement(given_pairs))
    assert "that you saw again" in said
    assert not re.search(r"%|wrong|only|mistake|bad|poor|inconsistent", said)

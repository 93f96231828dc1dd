"""How sure it is who is ahead once the unjudged chunks are graded, in sentences."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from labeler.analysis.active import Certainty
from labeler.measures import parse

OPEN = Certainty(
    *("one", "two", parse("RR@10"), 0.02, 0.019, 0.869, 0.1),
    graded=1_000,
    pool=1_120,
    likely=40,
    matters=0.01,
    settled=False,
)


def test_what_is_open_leads_to_what_to_grade_and_who_is_ahead_so_far() -> None:
    assert OPEN.sentence() == (
        "Grade about 40 more chunks to know who is ahead by RR@10. So far it is "
        "two, with 86% certainty."
    )
    behind = replace(OPEN, delta=-0.02, ahead=0.131, likely=120)
    assert behind.sentence(("A", "B")) == (
        "Grade all unjudged chunks to know who is ahead by RR@10. So far it is A, with 86% "
        "certainty."
    )
    assert (
        replace(OPEN, graded=1_119, likely=1)
        .sentence()
        .startswith("Grade the one unjudged chunk to know who is ahead by RR@10.")
    )


def test_what_more_grades_hardly_change_is_never_called_certain_or_settled() -> None:
    said = replace(OPEN, ahead=0.99999, settled=True, likely=0).sentence()
    assert said == (
        "More grades are unlikely to change who is ahead by RR@10: two, with over 90% certainty."
    )
    whole = replace(OPEN, ahead=1.0, settled=True, likely=0).sentence()
    assert whole == said, "a chunk is unjudged"


def test_a_difference_that_does_not_matter_is_not_called_none() -> None:
    near = replace(OPEN, near=0.92, settled=True)
    assert near.sentence() == (
        "one and two differ by less than what matters (0.01) by RR@10, with over 90% certainty, "
        "however the unjudged chunks are graded."
    )
    assert near.leader is None


def test_before_there_are_grades_enough_nobody_is_ahead() -> None:
    assert replace(OPEN, graded=12, likely=90).sentence() == (
        "Grade about 90 more chunks to know who is ahead by RR@10. Only 12 of "
        "1,120 chunks are graded so far."
    )


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (
            {"delta": math.nan},
            "No query has a value for both one and two, so there is nothing to decide.",
        ),
        ({"pool": 0}, "one and two have no chunk for any query, so there is nothing to decide."),
        ({"graded": 1_120}, "two is ahead of one by RR@10. All 1,120 chunks are graded."),
        (
            {"graded": 1_120, "near": 1.0},
            "one and two differ by less than what matters (0.01) by RR@10. All 1,120 chunks are "
            "graded.",
        ),
    ],
)
def test_where_nothing_is_open_it_says_what_is_so(changed: dict[str, float], said: str) -> None:
    assert replace(OPEN, **changed).sentence() == said  # type: ignore[arg-type]

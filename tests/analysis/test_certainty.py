"""How sure a verdict is once the unjudged chunks are graded: the sentence under Compare's
answer.
"""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from labeler.analysis.active import Certainty
from labeler.analysis.active.certainty import explain_certainty
from labeler.analysis.comparison import Delta
from labeler.evaluation import Conventions
from labeler.measures import parse
from labeler.stats import UnjudgedRange

CONVENTIONS, RR = Conventions.of(), parse("RR@10")
OPEN = Certainty(
    *("one", "two", RR, 0.02, 0.019, 0.869, 0.1),
    graded=84,
    pool=1_120,
    likely=60,
    matters=0.01,
    settled=False,
)


def seen(delta: float, bucket: str | None = None) -> Delta:
    return Delta(RR, None, bucket, 0.5, 0.5 + delta, delta, 30, 50, 10, 90, 0, 9, 9, 0, 0)


def told(standing: Certainty, *beside: object) -> str:
    return explain_certainty(standing, CONVENTIONS, ("A", "B"), *beside)


def test_who_is_ahead_how_surely_and_what_settles_it_is_one_sentence() -> None:
    assert told(OPEN, seen(0.03)) == (
        "Once all unjudged chunks are graded, B is ahead on these queries by RR@10 "
        "with 86%; about 60 of the "
        "1,036 open grades settle it."
    )
    done = replace(OPEN, ahead=1.0, settled=True, likely=0)
    assert told(done).endswith("with over 99%; that is settled, with 84 of 1,120 grades.")
    far = replace(OPEN, delta=-0.02, ahead=0.131, likely=1_036)
    assert told(far).endswith("86%; it takes about all of the 1,036 open grades to settle it.")
    assert "A is ahead on these queries" in told(far)


def test_a_difference_that_does_not_matter_is_said_to_be_none() -> None:
    same = replace(OPEN, near=0.98, settled=True)
    assert "there is no difference of 0.01 or more on these queries by RR@10 with 98%" in told(same)


def test_before_there_are_grades_enough_nobody_is_ahead() -> None:
    said = told(replace(OPEN, graded=12, likely=90))
    assert said == (
        "Too few grades to say who will be ahead by RR@10: 12 of 1,120 are given, about 90 more "
        "are likely needed."
    )
    assert "ahead" not in told(replace(OPEN, delta=math.nan))


@pytest.mark.parametrize(
    ("delta", "low", "high", "why"),
    [
        (0.03, 0.001, 0.04, " (a stricter count than the 90%);"),
        (0.03, -0.001, 0.04, " 86%;"),
        (-0.03, -0.001, 0.04, ", the unjudged chunks are likely to turn it: B is ahead"),
        (0.03, math.nan, math.nan, " 86%;"),
    ],
)
def test_where_what_stands_beside_it_says_otherwise_a_word_says_why(
    delta: float, low: float, high: float, why: str
) -> None:
    assert why in told(OPEN, seen(delta), UnjudgedRange(-0.2, 0.2, True, low, high, 1_036))
    sure = replace(OPEN, ahead=0.96)
    assert "(from other draws than the 90%)" in told(
        sure, seen(0.03), UnjudgedRange(-1, 1, True, -1, 1, 9)
    )


def test_beside_the_answer_for_a_bucket_it_says_that_it_is_of_all_queries() -> None:
    said = told(OPEN, seen(-0.2, "hard"), UnjudgedRange(-0.3, -0.1, True, -0.3, -0.1, 9))
    start = (
        "Of all queries, not of this bucket alone: once all unjudged chunks are "
        "graded, B is ahead on all"
    )
    assert said.startswith(start)
    few = told(replace(OPEN, graded=12, likely=90), seen(-0.2, "hard"))
    assert few.startswith("Of all queries, not of this bucket alone: too few grades to say who")


@pytest.mark.parametrize(
    ("graded", "likely", "said"),
    [
        (1_119, 1, "it takes the one open grade to settle it."),
        (1_110, 10, "it takes about all of the 10 open grades to settle it."),
        (1_110, 1, "about 1 of the 10 open grades settles it."),
        (12, 1, "about 1 more is likely needed."),
    ],
)
def test_one_grade_is_spoken_of_as_one(graded: int, likely: int, said: str) -> None:
    assert told(replace(OPEN, graded=graded, likely=likely)).endswith(said)

"""A decision between two runs in sentences: nothing graded, not decided, decided."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from labeler.analysis.active import Certainty, describe_decision
from labeler.analysis.active.decision import DECIDED, RELIABILITY, UNDECIDED
from labeler.measures import parse
from labeler.paths import PACKAGE

BEGUN = Certainty(
    *("one", "two", parse("nDCG@10"), 0.05, 0.04, 0.8, 0.1),
    graded=12,
    pool=500,
    likely=18,
    matters=0.01,
    settled=False,
)


def sentences(standing: Certainty) -> list[str]:
    """Return the lines that are said."""
    return [each.line for each in describe_decision(standing)]


def test_before_the_first_grade_it_says_how_many_it_takes() -> None:
    assert sentences(replace(BEGUN, graded=0, likely=30)) == [
        "Next step: Nothing is graded yet: about 30 grades will say which of the two is ahead by "
        "nDCG@10."
    ]


def test_with_few_grades_no_certainty_is_claimed() -> None:
    answer, more = describe_decision(BEGUN)
    assert (answer.kind, answer.sentence) == (
        UNDECIDED,
        "one against two is not decided yet: 12 chunks are graded.",
    )
    assert more.sentence.startswith("It takes about 18 more grades.")
    assert not any("%" in line for line in sentences(BEGUN))


def test_who_is_ahead_so_far_comes_with_the_certainty_and_how_many_more() -> None:
    so_far = replace(BEGUN, graded=40, likely=25)
    assert sentences(so_far) == [
        "Not decided yet: so far two is ahead of one by nDCG@10, with 80% certainty.",
        "+0.0500 nDCG@10 is expected once all are graded (−0.0013 to +0.1013, 80% range); 40 of "
        "500 chunks are graded.",
        "Next step: It takes about 25 more grades to decide it: 90% certainty is enough.",
    ]


def test_a_decided_verdict_says_how_often_such_verdicts_are_right() -> None:
    answer, _, often = describe_decision(replace(BEGUN, ahead=0.94, graded=44, settled=True))
    assert answer.kind == DECIDED
    assert answer.sentence == (
        "Decided: two is ahead of one by nDCG@10 on these queries, with over 90% certainty."
    )
    assert "92% of verdicts that claimed 90% or more named the right run" in often.sentence


def test_a_difference_that_does_not_matter_is_decided_too() -> None:
    answer = describe_decision(replace(BEGUN, near=0.95, graded=90, settled=True))[0]
    assert answer.sentence.startswith(
        "Decided: one and two differ by less than what matters (0.01) by nDCG@10 on these queries"
    )


def test_where_all_is_graded_the_verdict_on_the_grades_says_it() -> None:
    assert describe_decision(replace(BEGUN, graded=500)) == ()


@pytest.mark.parametrize("at", range(len(RELIABILITY)))
def test_the_documentation_has_the_table_that_is_quoted(at: int) -> None:
    text = (PACKAGE.parent / "docs" / "explanation" / "statistics.md").read_text(encoding="utf-8")
    rows = text[text.index("| claimed | right |") :].splitlines()[2:]
    [(share, of)] = re.findall(r"^(\d+)% of (\d+)$", rows[at].split("|")[2].strip())
    found = RELIABILITY[at]
    assert found.verdicts == int(of)
    assert round(100 * found.right / found.verdicts) == int(share)

"""The one answer on top of Compare: it says no more than the numbers can bear."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from labeler.analysis.comparison import (
    Delta,
    GraderSensitivity,
    Headline,
    HeadlineDelta,
    Power,
    ReadingDelta,
    Significance,
    Verdict,
    choose_headline_row,
    write_headline,
)
from labeler.analysis.comparison.grader_sensitivity import GradeReading
from labeler.analysis.comparison.verdict import AT_ODDS, OPEN, SURE, TOO_FEW
from labeler.evaluation import Conventions
from labeler.measures import Measure, parse
from labeler.stats import ConfidenceInterval, UnjudgedRange

CONVENTIONS = Conventions.of()
RR, AP, R5 = parse("RR"), parse("AP"), parse("R@5")


def band_of(
    lowest: float, highest: float, low: float, high: float, unjudged: int, exact: bool = True
) -> UnjudgedRange:
    return UnjudgedRange(lowest, highest, exact, low, high, unjudged)


def moved(delta: float, measure: Measure = RR, n: int = 90) -> Delta:
    return Delta(measure, None, None, 0.5, 0.5 + delta, delta, 30, 50, 10, n, 0, 9, 9, 0, 0)


def lead(
    row: Delta,
    band: UnjudgedRange | None = None,
    survival: GraderSensitivity | None = None,
    more: int | None = None,
    p: float = 0.0123,
) -> HeadlineDelta:
    interval = ConfidenceInterval(row.delta - 0.03, row.delta + 0.03, "BCa")
    return HeadlineDelta(
        row, Significance(p, p, False, 7, True), Power(interval, 0.05, more), band, survival
    )


def told(verdict: Verdict, one: HeadlineDelta) -> Headline:
    return write_headline(verdict, one, CONVENTIONS, ("A", "B"))


UP, DOWN = moved(0.09), moved(-0.09)
RISES = Verdict(SURE, (UP,), (), "as ever", (moved(0.01, AP), moved(0.02, R5)))
FALLS = Verdict(SURE, (), (DOWN,), "as ever")
UNSURE = Verdict(OPEN, (), (), "as ever", (UP, moved(0.01, AP)))


def under(*graders: tuple[str, int, float, float], golden: Delta = UP) -> GraderSensitivity:
    """How it comes out under graders: pairs that differ, the difference, its p."""
    none = np.array([], dtype=np.int64)
    rows = [ReadingDelta(GradeReading("golden", None, none, none), golden, 0.01)]
    for name, pairs, delta, p in graders:
        numbers = np.arange(pairs)
        rows.append(ReadingDelta(GradeReading("grader", name, numbers, numbers), moved(delta), p))
    return GraderSensitivity(RR, tuple(rows), True, "RR")


def test_which_is_better_is_said_first_with_how_surely() -> None:
    assert told(RISES, lead(UP)).known == (
        "B is better than A: RR +0.0900 (95% +0.0600 to +0.1200, corrected p 0.0123); 2 other "
        "measures may be chance"
    )
    assert told(FALLS, lead(DOWN)).known == (
        "A is better than B: RR −0.0900 (95% −0.1200 to −0.0600, corrected p 0.0123)"
    )
    both = Verdict(SURE, (UP, moved(0.04, AP)), (), "as ever")
    assert told(both, lead(UP)).known.endswith("0.0123); also by AP")


def test_the_p_of_one_test_alone_is_not_called_corrected() -> None:
    alone = replace(lead(UP), surety=Significance(0.0123, 0.0123, False, 1, True))
    assert "+0.1200, p 0.0123)" in told(RISES, alone).known


def test_what_may_be_chance_is_not_called_better_and_more_queries_are_named() -> None:
    found = told(UNSURE, lead(UP, more=1200, p=0.4))
    assert found.known == (
        "B cannot be told from A: RR +0.0900 (95% +0.0600 to +0.1200, corrected p 0.4000); "
        "1 other measure may be chance"
    )
    assert found.change == ("About 1,200 more queries would tell.")
    assert told(UNSURE, lead(UP, more=1, p=0.4)).change == "About 1 more query would tell."


@pytest.mark.parametrize(
    ("band", "said"),
    [
        (
            band_of(0.01, 0.2, 0.05, 0.1, 40),
            "No grade of the 40 unjudged chunks in the top 20 can turn it (+0.0100 to +0.2000).",
        ),
        (
            band_of(-0.2, 0.3, 0.05, 0.1, 1_040),
            "The 1,040 unjudged chunks in the top 20 could make it −0.2000 to "
            "+0.3000, likely +0.0500 to "
            "+0.1000 (90%).",
        ),
        (band_of(0.09, 0.09, 0.09, 0.09, 0), "No unjudged chunk could change it."),
        (band_of(math.nan, math.nan, math.nan, math.nan, 3), ""),
        (None, ""),
    ],
)
def test_holes_that_cannot_or_will_hardly_turn_it_are_said_to(
    band: UnjudgedRange | None, said: str
) -> None:
    found = told(RISES, lead(UP, band))
    assert (found.known.startswith("B is better than A: RR +0.0900"), found.change) == (True, said)


@pytest.mark.parametrize(
    "likely", [(-0.02, 0.2), (-0.2, -0.01), (0.0, 0.1)], ids=["either way", "the other way", "to 0"]
)
def test_where_holes_may_turn_it_nothing_is_called_better(likely: tuple[float, float]) -> None:
    found = told(RISES, lead(UP, band_of(-0.3, 0.4, *likely, 120)))
    assert found.known == (
        "Neither is known to be better: RR +0.0900 (95% +0.0600 to +0.1200, corrected p "
        "0.0123) is more than chance, but unjudged chunks may turn it"
    )
    assert found.change.startswith(
        "The 120 unjudged chunks in the top 20 could make it −0.3000 to "
    )
    both = Verdict(SURE, (UP, moved(0.04, AP)), (), "as ever")
    said = told(both, lead(UP, band_of(-0.3, 0.4, *likely, 120))).known
    assert said == f"{found.known}; also more than chance: AP"
    turned = told(FALLS, lead(DOWN, band_of(-0.4, 0.3, -likely[1], -likely[0], 1)))
    assert turned.known.startswith("Neither is known to be better: RR −0.0900")
    assert turned.change.startswith("The one unjudged chunk in the top 20 could make it ")


def test_graders_who_would_turn_it_are_named_and_those_who_agree_counted() -> None:
    agree = under(("Ann", 40, 0.08, 0.01), ("Marit", 112, 0.05, 0.01))
    assert told(RISES, lead(UP, survival=agree)).change == "B is ahead under every grader."
    some = under(("Ann", 3, 0.08, 0.01), ("Marit", 112, 0.05, 0.01))
    assert told(RISES, lead(UP, survival=some)).change == ("B is ahead with Marit's grades, too.")
    turned = under(("Ann", 40, 0.08, 0.01), ("Marit", 112, -0.05, 0.01), ("Zoë", 50, 0.0, 1.0))
    assert told(RISES, lead(UP, survival=turned)).change == (
        "With Marit's grades and 1 more A is ahead (112 pairs differ)."
    )
    silent = under(("Ann", 3, 0.08, 0.01))
    assert told(RISES, lead(UP, survival=silent)).change == ""


def test_all_that_would_change_it_stands_in_one_line() -> None:
    graders = under(("Ann", 40, 0.08, 0.01))
    found = told(UNSURE, lead(UP, band_of(-0.2, 0.3, 0.05, 0.1, 7), graders, more=30))
    assert found.change == (
        "The 7 unjudged chunks in the top 20 could make it −0.2000 to +0.3000, "
        "likely +0.0500 to +0.1000 "
        "(90%); B is ahead under every grader; about 30 more queries would tell."
    )
    assert found.sentence == f"{found.known}. {found.change}"


def test_measures_at_odds_hidden_or_not_moving_keep_the_verdict_s_own_words() -> None:
    odds = Verdict(AT_ODDS, (UP,), (moved(-0.04, AP),), "No one number tells: …")
    found = told(odds, lead(UP, band_of(0.01, 0.2, 0.05, 0.1, 40)))
    assert found.known == "No one number tells: …"
    assert found.change == (
        "RR +0.0900: no grade of the 40 unjudged chunks in the top 20 can turn it "
        "(+0.0100 to +0.2000)."
    ), "what it is about is named"
    hidden = Verdict(SURE, (moved(0.2, AP),), (), "B is better than A by more than chance: AP")
    assert told(hidden, lead(UP)).known == "B is better than A by more than chance: AP"
    still = Verdict(OPEN, (), (), "No measure moves from A to B")
    assert told(still, lead(moved(0.0))) == Headline("No measure moves from A to B")


def test_of_few_queries_nothing_is_told() -> None:
    few = Verdict(TOO_FEW, (), (), "Fewer than 10 queries")
    found = told(few, lead(moved(0.4, n=9), band_of(-1, 1, -1, 1, 9), more=3))
    assert found == Headline("Fewer than 10 queries")


def test_the_answer_is_about_what_was_asked_unless_only_another_is_sure() -> None:
    ap, judged = moved(0.01, AP), moved(0.3, parse("Judged@10"))
    rows = [judged, ap, UP]
    assert choose_headline_row(UNSURE, rows, AP) == ap
    assert choose_headline_row(RISES, rows, AP) == UP, "only RR is more than chance"
    assert choose_headline_row(RISES, [ap], AP) == ap, "it is not shown"
    assert choose_headline_row(RISES, rows, parse("Judged@10")) == UP
    assert choose_headline_row(UNSURE, [judged, moved(math.nan)], RR) is None

"""What unjudged chunks could change about a difference, in one statement."""

from __future__ import annotations

import math

import pytest

from labeler.analysis.comparison import Delta
from labeler.analysis.comparison.unjudged_doubt import advise_grades, describe_unjudged
from labeler.evaluation import Conventions, Scoreboard, collect
from labeler.measures import parse
from labeler.model.results import DOUBT, Statement
from labeler.stats import LiveRanges, UnjudgedRange

NDCG, NAMES = parse("nDCG@10"), ("bm25", "hybrid")


def told(
    delta: float,
    ends: tuple[float, float, float, float],
    unjudged: int = 120,
    measure: str = "nDCG@10",
) -> Statement | None:
    """Describe a difference with a possible range and a 90% range."""
    lowest, highest, low, high = ends
    row = Delta(
        *(parse(measure), None, None, 0.5, 0.5 + delta, delta), *(30, 50, 10, 90, 0, 9, 9, 0, 0)
    )
    band = UnjudgedRange(lowest, highest, True, low, high, unjudged)
    return describe_unjudged(row, band, NAMES)


def sentence(*given: object, measure: str = "nDCG@10") -> str:
    found = told(*given, measure=measure)
    assert found is not None
    return found.sentence


def test_the_statement_has_its_heading_and_the_numbers_that_chose_it() -> None:
    found = told(0.1, (-0.2, 0.3, 0.05, 0.2))
    assert found is not None
    assert (found.heading, found.severity) == ("Unjudged chunks", DOUBT)
    assert found.numbers == {
        "unjudged": 120,
        "lowest": -0.2,
        "highest": 0.3,
        "low": 0.05,
        "high": 0.2,
    }


@pytest.mark.parametrize(
    "ends", [(0.1, 0.1, 0.1, 0.1), (math.nan,) * 4, (0.1, 0.1 + 1e-15, 0.1, 0.1)]
)
def test_where_no_grade_changes_the_number_nothing_is_said(ends) -> None:
    assert told(0.1, ends) is None


def test_without_an_unjudged_chunk_or_a_range_nothing_is_said() -> None:
    assert told(0.1, (0.1, 0.1, 0.1, 0.1), 0) is None
    row = Delta(NDCG, None, None, 0.5, 0.6, 0.1, 30, 50, 10, 90, 0, 9, 9, 0, 0)
    assert describe_unjudged(row, None, NAMES) is None


def test_a_possible_range_on_one_side_of_zero_cannot_change_who_is_ahead() -> None:
    said = "No grade of the 120 unjudged chunks in the two top 10s can change who is ahead."
    assert sentence(0.1, (0.01, 0.3, 0.05, 0.2)) == said
    assert sentence(-0.1, (-0.3, -0.01, -0.2, -0.05)) == said
    one = "No grade of the one unjudged chunk in the two top 10s can change who is ahead."
    assert sentence(0.1, (0.01, 0.3, 0.05, 0.2), 1) == one


@pytest.mark.parametrize("end", [0.0, -4.8e-17, 4.8e-17])
def test_an_end_of_zero_or_of_rounding_can_make_the_difference_vanish(end: float) -> None:
    said = (
        "The 20 unjudged chunks in the two top 10s can make the difference vanish, but not turn it "
        "round."
    )
    assert sentence(-0.0845, (-0.1845, end, -0.1, -0.01), 20) == said
    assert sentence(0.0845, (end, 0.1845, 0.01, 0.1), 20) == said


def test_a_90_percent_range_with_the_value_s_sign_makes_a_change_unlikely() -> None:
    said = "More grades are unlikely to change who is ahead (120 unjudged in the two top 10s)."
    assert sentence(0.1, (-0.2, 0.3, 0.05, 0.2)) == said
    assert sentence(-0.1, (-0.3, 0.2, -0.2, -0.05)) == said


def test_a_value_outside_its_own_range_is_likely_to_move_into_it() -> None:
    assert sentence(-0.0182, (-0.2, 0.2, -0.0131, -0.0051)) == (
        "More grades are unlikely to change who is ahead (120 unjudged in the two top 10s). "
        "The difference is likely smaller once graded: −0.0131 to −0.0051 (90% range)."
    )
    assert sentence(0.01, (-0.2, 0.3, 0.05, 0.2)).endswith(
        "likely larger once graded: +0.0500 to +0.2000 (90% range)."
    )


def test_a_90_percent_range_that_includes_zero_could_change_it() -> None:
    ends = (-0.2, 0.3, -0.05, 0.2)
    assert (
        sentence(0.1, ends) == "120 unjudged chunks in the two top 10s could change who is ahead."
    )
    assert (
        sentence(0.1, ends, 1) == "One unjudged chunk in the two top 10s could change who is ahead."
    )


def test_the_next_step_names_how_many_grades_are_useful() -> None:
    said = [advise_grades(*each).line for each in [(40, 120), (1, 120), (120, 120), (1, 1), (9, 0)]]
    assert said == [
        "Next step: Grade the 40 chunks that decide most.",
        "Next step: Grade the chunk that decides most.",
        "Next step: Grade all of them.",
        "Next step: Grade it.",
        "Next step: Grade the 9 chunks that decide most.",
    ]


def test_a_90_percent_range_of_the_other_sign_says_the_other_way_round() -> None:
    assert sentence(0.02, (-0.2, 0.1, -0.1, -0.01)) == (
        "120 unjudged chunks in the two top 10s could change who is ahead. "
        "Likely the other way round once graded: −0.1000 to −0.0100 (90% range)."
    )


def test_a_measure_without_a_90_percent_range_never_makes_a_change_unlikely() -> None:
    said = "120 unjudged chunks in the two top 10s could change who is ahead."
    assert sentence(0.1, (-0.2, 0.3, math.nan, math.nan)) == said
    assert sentence(0.0, (-0.2, 0.3, math.nan, math.nan)) == said.replace("change", "decide")


def test_where_nobody_is_ahead_yet_the_chunks_decide_it() -> None:
    assert sentence(0.0, (-0.2, 0.3, 0.05, 0.2)) == (
        "120 unjudged chunks in the two top 10s could decide who is ahead. "
        "Likely hybrid is ahead once graded: +0.0500 to +0.2000 (90% range)."
    )
    assert sentence(math.nan, (-0.2, 0.3, -0.2, 0.3)) == (
        "120 unjudged chunks in the two top 10s could decide who is ahead."
    )


def test_without_a_cut_off_the_chunks_are_those_in_the_top_20() -> None:
    assert sentence(0.1, (-0.2, 0.3, -0.05, 0.2), measure="RR") == (
        "120 unjudged chunks in the two top 20s could change who is ahead."
    )


def test_chunks_are_counted_once_in_the_lists_of_these_two_runs_for_queries_that_count() -> None:
    runs = {
        "a": {"q1": ["good", "x", "y"], "q2": ["v", "w"], "q3": ["no"]},
        "b": {"q1": ["x", "good", "z"], "q2": ["v", "u"], "q3": ["no"]},
        "c": {"q1": ["c1", "c2", "c3", "c4"], "q2": ["c5"], "q3": ["c6"]},
    }
    golden = {"q1": {"good": 3}, "q2": {}, "q3": {"no": 0}}
    board = Scoreboard(collect(golden, runs), Conventions.of())
    [measure] = board.conventions.measures("nDCG@10")

    def counted(a: str, b: str) -> int:
        [found] = LiveRanges(board, (a, b)).deltas(board, [measure]).values()
        return found.unjudged

    assert (counted("a", "b"), counted("a", "c"), counted("b", "c")) == (3, 6, 6)


def test_chunks_of_other_queries_and_runs_are_not_said_to_be_in_these_lists() -> None:
    assert sentence(0.1, (-0.2, 0.3, -0.05, 0.2), 0) == (
        "Unjudged chunks of other queries or runs could change who is ahead."
    )


def test_more_than_a_hundred_grades_are_no_single_next_step() -> None:
    assert advise_grades(2_437, 2_575).sentence == (
        "Deciding it takes about 2,400 more grades; start with the 12 chunks that decide most."
    )

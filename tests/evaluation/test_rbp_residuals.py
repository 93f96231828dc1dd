"""What RBP leaves open, worked out by hand: weights 1/2, 1/4, 1/8 and so on for p = 0.5."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeler.errors import NotFound
from labeler.evaluation import (
    Conventions,
    Scoreboard,
    residual_means,
    residual_notes,
    residuals_by_query,
)
from labeler.measures import parse
from tests.support.boards import board_of, change, rows

QRELS = {"q1": {"c": 3, "d": 0}, "q2": {"c": 1}, "none": {"c": 0}, "ungraded": {}}
RUNS = {
    "A": {"q1": ["c", "x", "d"], "q2": ["x", "c"], "none": ["c"], "ungraded": ["c"]},
    "B": {"q1": ["c"]},
}


def shown(
    board: Scoreboard, names: str, facet: str | None = None
) -> list[tuple[str, str | None, float, float]]:
    found = residual_means(board, board.conventions.measures(names), facet)
    return [(each.run, each.bucket, each.value, each.residual) for each in found]


def test_the_residual_is_a_mean_over_the_queries_that_are_in_the_mean() -> None:
    """Run A leaves 1/4 and all below rank 3, and in q2 all but rank 2; B leaves all of q2."""
    board = board_of(QRELS, RUNS)
    assert shown(board, "nDCG@10 RBP(p=0.5) RR") == [
        ("A", None, (1 / 2 + 1 / 4) / 2, (3 / 8 + 3 / 4) / 2),
        ("B", None, (1 / 2 + 0) / 2, (1 / 2 + 1) / 2),
    ]
    by_query = residuals_by_query(board, parse("RBP(p=0.5)"))
    assert by_query[:2].tolist() == [[3 / 8, 1 / 2], [3 / 4, 1.0]]
    assert all(map(math.isnan, by_query[2:].ravel())), "nothing relevant, and nothing graded"


def test_a_query_that_counts_as_zero_leaves_open_what_it_leaves_open() -> None:
    board = board_of(QRELS, RUNS, preset="trec_eval")
    [(_, _, value, residual), _] = shown(board, "RBP(p=0.5)")
    assert rows(board, "RBP(p=0.5)")[0].n == 3
    assert (value, residual) == (0.75 / 3, (3 / 8 + 3 / 4 + 1 / 2) / 3)


def test_all_below_a_cut_off_is_open() -> None:
    board = board_of(QRELS, RUNS)
    assert shown(board, "RBP(p=0.5)@1")[0][2:] == (1 / 4, (1 / 2 + 1) / 2)
    assert shown(board, "RBP(p=0.5)@2")[0][2:] == (3 / 8, (1 / 2 + 3 / 4) / 2)
    assert shown(board, "RBP(p=0.5)@3") == shown(board, "RBP(p=0.5)")


def test_each_task_has_its_own_budget() -> None:
    tasks = {"task": {"q1": "single", "q2": "research"}}
    board = board_of(QRELS, RUNS, tasks, prompt_k=2, prompt_k_by_task={"single": 1})
    assert shown(board, "RBP(p=0.5)@prompt", "task")[:2] == [
        ("A", "single", 1 / 2, 1 / 2),
        ("A", "research", 1 / 4, 3 / 4),
    ]
    assert shown(board, "RBP(p=0.5)@prompt")[0][2:] == (3 / 8, (1 / 2 + 3 / 4) / 2)
    with pytest.raises(NotFound, match="no facet is called 'topic'; there are: task"):
        shown(board, "RBP", "topic")


def test_a_bucket_without_a_defined_query_has_neither_value_nor_residual() -> None:
    board = board_of(QRELS, RUNS, {"intent": {"none": "odd", "q1": "usual"}})
    [usual, odd, *_] = residual_means(board, board.conventions.measures("RBP"), "intent")
    assert (usual.bucket, odd.bucket) == ("usual", "odd")
    assert math.isnan(odd.value)
    assert math.isnan(odd.residual)
    assert math.isnan(odd.highest)
    assert usual.highest == usual.value + usual.residual < 1.0


def test_the_threshold_decides_which_queries_count_and_not_what_is_open() -> None:
    board = board_of(QRELS, RUNS)
    assert shown(board, "RBP(rel=2, p=0.5)")[0][2:] == (1 / 2, 3 / 8), "q2 has no grade of 2"
    assert shown(board, "RBP(rel=3, p=0.5)")[0][3] == 3 / 8


@given(st.integers(0, 3), st.sampled_from(["RBP(p=0.5)", "RBP(p=0.5)@2", "RBP(rel=2, p=0.8)"]))
def test_a_grade_given_takes_from_the_residual_what_it_may_add(grade: int, name: str) -> None:
    board = board_of(QRELS, RUNS)
    measures = board.conventions.measures(name)
    before, _ = residual_means(board, measures)
    still = board.snapshot()
    board.refresh([change(board, "q1", "x", grade)], 1)
    after, other = residual_means(board, measures)
    assert after.residual < before.residual
    relevant = grade >= (measures[0].rel or 1)
    moved = pytest.approx(before.highest) if relevant else pytest.approx(before.value)
    assert (after.highest if relevant else after.value) == moved
    assert other == residual_means(still, measures)[1], "B does not hold that chunk"


def test_a_sentence_for_each_rbp_names_every_run() -> None:
    board = board_of(QRELS, RUNS)
    measures = board.conventions.measures("AP RBP(p=0.5) RBP(rel=2)@3")
    assert [note.sentence for note in residual_notes(board, measures)] == [
        "RBP(p=0.5): ungraded chunks could add up to 0.5625 (A), 0.7500 (B)",
        "RBP(rel=2, p=0.8)@3: ungraded chunks and all below the cut-off could add up to "
        "0.6720 (A), 0.8000 (B)",
    ]
    assert residual_notes(board, board.conventions.measures("nDCG@10 AP ERR")) == []
    nothing = board_of({"q": {"c": 0}}, {"A": {"q": ["c", "x"]}})
    assert residual_notes(nothing, nothing.conventions.measures("RBP")) == []


def test_a_board_without_queries_has_no_residual() -> None:
    board = Scoreboard(board_of({}, {"A": {}}).collection, Conventions.of())
    [row] = residual_means(board, board.conventions.measures("RBP"))
    assert math.isnan(row.residual)

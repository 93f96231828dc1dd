"""What a perfect reranker would make of a run: the mean it would give, and the rest to recall."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import labeler
from labeler.analysis.comparison import (
    CANDIDATE_COUNTS,
    describe_perfect_reranking,
    perfect_rerankings,
)
from labeler.errors import BadInput, NotFound
from labeler.evaluation import PRESETS, Conventions, Scoreboard, collect

CHUNKS = [f"c{number}" for number in range(8)]
MEASURES = "nDCG@3 nDCG P@2 R@2 RR AP AP@3 RBP ERR@3 Success@1 Rprec Bpref F1@3 Judged@3 SetP"
LISTS = st.lists(st.sampled_from(CHUNKS), unique=True, min_size=1)
GRADES = st.dictionaries(st.sampled_from(CHUNKS), st.integers(0, 3), min_size=1)
QRELS = st.fixed_dictionaries({"q1": GRADES}, optional={"q2": GRADES, "q3": GRADES})
RUNS = st.fixed_dictionaries({"q1": LISTS, "q2": LISTS})


def board_of(qrels: Mapping[str, Any], lists: Mapping[str, Any], preset: str = "graded") -> Any:
    collection = collect(qrels, {"A": lists, "B": {"q1": ["c0"], "q2": ["c0"]}})
    return Scoreboard(collection, Conventions.of(preset))


def by_hand(ranked: list[str], grades: Mapping[str, int], top: int) -> list[str]:
    """What a perfect reranker does: Python's sort keeps what is equal in its order."""
    first = sorted(ranked[:top], key=lambda chunk: -grades.get(chunk, 0))
    return first + ranked[top:]


@given(QRELS, RUNS, st.integers(1, 10))
@pytest.mark.parametrize("preset", PRESETS)
def test_it_is_what_evaluating_the_reranked_run_gives(
    preset: str, qrels: dict[str, Any], lists: dict[str, list[str]], top: int
) -> None:
    board = board_of(qrels, lists, preset)
    found = perfect_rerankings(board, "A", board.conventions.measures(MEASURES), top)
    again = {name: by_hand(ranked, qrels.get(name, {}), top) for name, ranked in lists.items()}
    frame = labeler.evaluate(qrels, {"A": again}, MEASURES, preset=preset)
    assert [row.n for row in found] == frame.n.tolist()
    assert [row.reranked for row in found] == pytest.approx(frame.value.tolist(), nan_ok=True)


@given(QRELS, RUNS, st.integers(1, 10))
def test_it_is_never_below_the_mean_nor_above_1_nor_above_what_is_complete(
    qrels: dict[str, Any], lists: dict[str, list[str]], top: int
) -> None:
    board = board_of(qrels, lists)
    for row in perfect_rerankings(board, "A", board.conventions.measures(MEASURES), top):
        if row.n and not math.isnan(row.now):
            assert row.now - 1e-12 <= row.reranked <= 1 + 1e-12
            assert row.measure.name == "SetP" or row.reranked <= row.complete + 1e-12


@given(QRELS, RUNS)
def test_a_top_as_deep_as_the_lists_leaves_recall_alone(
    qrels: dict[str, Any], lists: dict[str, list[str]]
) -> None:
    """So it is the best that `split` knows of the candidates."""
    board = board_of(qrels, lists)
    for measure in board.conventions.measures("nDCG@3 nDCG R@2 RR AP RBP"):
        [row] = perfect_rerankings(board, "A", [measure], len(CHUNKS))
        best = board.measured(measure, board.hits("A").best_order)
        known = best[~np.isnan(best)]
        if math.isnan(row.now):
            continue
        assert row.reranked == pytest.approx(known.mean())
        [deeper] = perfect_rerankings(board, "A", [measure], 100)
        assert deeper.reranked == pytest.approx(row.reranked, nan_ok=True)


def test_what_is_first_already_stays_and_gains_nothing() -> None:
    board = board_of({"q1": {"c0": 3, "c1": 1, "c2": 0}}, {"q1": ["c0", "c1", "c2", "c3"]})
    for row in perfect_rerankings(board, "A", board.conventions.measures(MEASURES), 50):
        assert (row.reranked, row.order) == (row.now, 0.0)


def test_chunks_of_the_pool_that_nobody_graded_stay_above_what_no_reranker_saw() -> None:
    grades = {"c0": 1, "c1": -1, "c2": 1}
    collection = collect({"q1": grades}, {"A": {"q1": ["c0", "c1", "c2"]}})
    board = Scoreboard(collection, Conventions())
    [row] = perfect_rerankings(board, "A", board.conventions.measures("infAP"), 1)
    assert (row.reranked, row.order) == (row.now, 0.0)


def test_the_rest_is_recall_and_said() -> None:
    qrels = {"q1": {"c0": 1}, "q2": {"c1": 1}}
    board = board_of(qrels, {"q1": ["x", "c0"], "q2": ["x", "y"]})
    [row] = perfect_rerankings(board, "A", board.conventions.measures("nDCG@10"), 50)
    assert (row.reranked, row.complete, row.recall, row.n) == (0.5, 1.0, 0.5, 2)
    assert describe_perfect_reranking(row, board.conventions) == (
        "a perfect reranker of the top 50 would give nDCG@10 0.5000 (+0.1845). The remaining "
        "0.5000, up to 1.0000, is recall: relevant chunks not in its top 50"
    )


def test_where_a_measure_cannot_reach_1_recall_ends_where_the_grades_do() -> None:
    board = board_of({"q1": {"c0": 1}}, {"q1": ["x", "y", "c0"]})
    [row] = perfect_rerankings(board, "A", board.conventions.measures("P@2"), 10)
    assert (row.now, row.reranked, row.complete, row.recall) == (0.0, 0.5, 0.5, 0.0)


def test_it_looks_no_deeper_than_the_reranker_and_at_the_queries_asked_for_alone() -> None:
    qrels = {"q1": {"c0": 1}, "q2": {"c1": 1}}
    board = board_of(qrels, {"q1": ["x", "y", "c0"], "q2": ["c1"]})
    measures = board.conventions.measures("RR")
    assert perfect_rerankings(board, "A", measures, 2, only={"q1"})[0].order == 0.0
    assert perfect_rerankings(board, "A", measures, 3, only={"q1"})[0].reranked == 1.0
    assert perfect_rerankings(board, "A", measures, 3, only=set())[0].n == 0


@pytest.mark.parametrize("grade", [None, 0])
def test_without_anything_relevant_there_is_nothing_to_gain(grade: int | None) -> None:
    qrels = {"q1": {} if grade is None else {"c0": grade}}
    board = board_of(qrels, {"q1": ["c0"]})
    [row] = perfect_rerankings(board, "A", board.conventions.measures("nDCG@10"), 50)
    assert math.isnan(row.reranked)
    assert row.n == 0
    assert describe_perfect_reranking(row, board.conventions) == (
        "nDCG@10 has no value here, so there is nothing to gain"
    )


def test_a_run_that_is_absent_for_most_queries_loses_to_recall() -> None:
    qrels = {f"q{n}": {"c0": 1} for n in range(1, 5)}
    board = board_of(qrels, {"q1": ["x", "c0"]})
    [row] = perfect_rerankings(board, "A", board.conventions.measures("RR"), 50)
    assert (row.reranked, row.recall, row.n) == (0.25, 0.75, 4)
    none = board_of(qrels, {})
    [silent] = perfect_rerankings(none, "A", none.conventions.measures("RR"), 50)
    assert math.isnan(silent.reranked), "a run without any result has no value to raise"


def test_a_top_that_is_no_rank_and_an_unknown_run_are_refused() -> None:
    board = board_of({"q1": {"c0": 1}}, {"q1": ["c0"]})
    measures = board.conventions.measures("RR")
    with pytest.raises(BadInput, match="the first 1 or more chunks of a list, not 0"):
        perfect_rerankings(board, "A", measures, 0)
    with pytest.raises(NotFound, match="no run is called 'Z'"):
        perfect_rerankings(board, "Z", measures, CANDIDATE_COUNTS[0])

"""How far the order of tied scores could move a mean: against all orders there are."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeler.errors import NotFound
from labeler.evaluation import Conventions, Scoreboard, collect
from labeler.evaluation.ties_and_residuals import tie_ranges_of_run
from tests.support.examples import examples

ALL = (
    "nDCG nDCG@2 nDCG(dcg='log2')@3 P@2 P(rel=2)@2 R@2 Success@1 RR RR(rel=2) AP AP@2 Judged@2 "
    "Rprec Bpref Bpref(rel=2) RBP ERR ERR@2 SetP SetF F1@2 NumRet"
)
CHUNKS = "abcde"


def orders(scores: dict[str, float]) -> list[list[str]]:
    """All orders of a list that keep a higher score above a lower one."""
    levels = sorted(set(scores.values()), reverse=True)
    tied = [[chunk for chunk in scores if scores[chunk] == level] for level in levels]
    return [
        [chunk for part in parts for chunk in part]
        for parts in product(*(permutations(level) for level in tied))
    ]


@examples(60)
@given(
    st.dictionaries(st.sampled_from(CHUNKS), st.integers(0, 3), min_size=1),
    st.dictionaries(st.sampled_from(CHUNKS), st.sampled_from([1.0, 2.0]), min_size=1),
    st.sampled_from(["graded", "trec_eval"]),
)
def test_the_range_is_that_of_all_orders(grades, scores, preset) -> None:
    conventions = Conventions.of(preset)
    board = Scoreboard(collect({"q": grades}, {"A": {"q": scores}}), conventions)
    lists = {str(n): {"q": ranked} for n, ranked in enumerate(orders(scores))}
    every = Scoreboard(collect({"q": grades}, lists), conventions)
    for found in tie_ranges_of_run(board, "A", conventions.measures(ALL)):
        values = [row.value for row in every.table([found.measure])]
        assert found.lowest == pytest.approx(min(values), abs=1e-12, nan_ok=True), found.measure
        assert found.highest == pytest.approx(max(values), abs=1e-12, nan_ok=True), found.measure
        assert found.value != found.value or found.lowest - 1e-12 <= found.value
        assert found.value != found.value or found.value <= found.highest + 1e-12


def test_under_trec_eval_equal_means_equal_as_32_bit_numbers() -> None:
    near = {"q": {"x": 0.1 + 1e-12, "c": 0.1}}
    for preset, ends in (("graded", (0.5, 0.5, 0.5)), ("trec_eval", (0.5, 0.5, 1.0))):
        board = Scoreboard(collect({"q": {"c": 1}}, {"A": near}), Conventions.of(preset))
        [found] = tie_ranges_of_run(board, "A", board.conventions.measures("RR"))
        assert (found.lowest, found.value, found.highest) == ends


def test_a_list_without_scores_has_no_ties_and_an_unknown_run_is_said() -> None:
    board = Scoreboard(collect({"q": {"c": 1}}, {"A": {"q": ["x", "c"]}}), Conventions.of())
    [found] = tie_ranges_of_run(board, "A", board.conventions.measures("RR"))
    assert (found.lowest, found.highest) == (0.5, 0.5)
    with pytest.raises(NotFound, match="no run is called 'B'"):
        tie_ranges_of_run(board, "B", board.conventions.measures("RR"))


@examples(40)
@given(
    st.lists(st.dictionaries(st.sampled_from(CHUNKS), st.integers(0, 3)), min_size=3, max_size=3),
    st.lists(
        st.dictionaries(st.sampled_from(CHUNKS), st.sampled_from([1.0, 2.0, 3.0])),
        min_size=3,
        max_size=3,
    ),
    st.sampled_from(["graded", "trec_eval"]),
)
def test_the_range_of_a_mean_takes_each_query_at_its_worst_and_its_best(
    grades, scores, preset
) -> None:
    conventions = Conventions.of(preset)
    qrels = {f"q{n}": each for n, each in enumerate(grades)}
    run = {f"q{n}": each for n, each in enumerate(scores) if each}
    board = Scoreboard(collect(qrels, {"A": run}), conventions)
    measures = board.conventions.measures("nDCG@2 RR Judged@2 Bpref P@1")
    ends: dict[str, list[tuple[float, float]]] = {str(measure): [] for measure in measures}
    for query, golden in qrels.items():
        lists = {str(n): {query: order} for n, order in enumerate(orders(run.get(query, {})))}
        every = Scoreboard(collect({query: golden}, lists), conventions)
        for measure in measures:
            found = [every.measured(measure, every.hits(name))[0] for name in lists]
            values = np.array(found)
            if not np.isnan(values).any():
                ends[str(measure)].append((values.min(), values.max()))
    for found in tie_ranges_of_run(board, "A", measures):
        known = ends[str(found.measure)] if not np.isnan(found.value) else []
        wanted = np.mean(known or [(np.nan, np.nan)], axis=0)
        assert (found.lowest, found.highest) == pytest.approx(wanted, abs=1e-12, nan_ok=True)

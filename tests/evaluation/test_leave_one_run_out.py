"""Trust in recall: what a run's recall is if only what others found, too, is relevant."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import replace

import numpy as np
import pytest

from labeler.errors import BadInput
from labeler.evaluation import (
    Conventions,
    OwnPoolComparison,
    Scoreboard,
    collect,
    compare_own_pools,
    describe_tau,
    own_pool_table,
)
from labeler.evaluation.leave_one_run_out import NOTHING_LEFT, ONE_SYSTEM
from labeler.model import Pair
from tests.support.boards import board_of, change, golden_of, regraded

Qrels = Mapping[str, Mapping[str, int]]
Lists = Mapping[str, Mapping[str, list[str]]]


def with_systems(board: Scoreboard, systems: Mapping[str, str]) -> Scoreboard:
    """The same board with runs of these systems."""
    runs = [replace(run, system=systems.get(run.name, run.name)) for run in board.collection.runs]
    return Scoreboard(replace(board.collection, runs=tuple(runs)), board.conventions)


def asked(
    board: Scoreboard, name: str = "R@2", by_hand: Collection[Pair] = ()
) -> OwnPoolComparison:
    [found] = compare_own_pools(board, board.conventions.measures(name), by_hand)
    return found


QRELS = {"q1": {"a": 2, "b": 1, "both": 3, "x": 0, "missed": 1}, "q2": {"both": 1, "b": 1}}
RUNS = {
    "A": {"q1": ["a", "both", "x"], "q2": ["both"]},
    "B": {"q1": ["b", "both"], "q2": ["b", "both"]},
}


def test_what_a_run_alone_found_is_counted_and_left_out_of_its_own_recall() -> None:
    found = asked(board_of(QRELS, RUNS))
    a, b = found.rows
    assert (a.only_run, a.only_system, b.only_run, b.only_system) == (1, 1, 2, 2)
    assert a.value == pytest.approx((2 / 4 + 1 / 2) / 2)
    assert a.without == pytest.approx((1 / 3 + 1 / 2) / 2), "q1 keeps both, b and missed"
    assert b.without == pytest.approx((1 / 3 + 1 / 1) / 2), "q2 keeps both alone"
    assert (a.rank, b.rank, a.rank_without, b.rank_without) == (2, 1, 2, 1)
    assert found.tau == 1.0


def test_all_runs_of_a_system_are_left_out_together() -> None:
    twins = {**RUNS, "A2": RUNS["A"]}
    alone = asked(board_of(QRELS, twins))
    assert [row.only_system for row in alone.rows] == [0, 2, 0], "A2 is a witness of its own"
    found = asked(with_systems(board_of(QRELS, twins), {"A2": "A"}))
    assert [row.only_run for row in found.rows] == [0, 2, 0]
    assert [row.only_system for row in found.rows] == [1, 2, 1]
    assert found.rows[0].without == found.rows[2].without == asked(board_of(QRELS, RUNS)).rows[0][5]


def test_a_chunk_of_another_run_of_the_system_is_left_out_as_well() -> None:
    """It is known of because the system was asked, whichever of its runs had it near the top."""
    board = board_of(
        {"q": {"c": 1, "d": 1}}, {"A": {"q": ["c"]}, "A2": {"q": ["d"]}, "B": {"q": ["d"]}}
    )
    a, a2, b = asked(with_systems(board, {"A2": "A"})).rows
    assert (a.only_run, a2.only_run, b.only_run) == (1, 0, 0)
    assert a.only_system == a2.only_system == 1
    assert (a2.value, a2.without) == (0.5, 1.0)


def test_what_was_found_by_hand_stays_relevant() -> None:
    board = board_of(QRELS, RUNS)
    number = board.collection.chunk_ids.index("a")
    a = asked(board, by_hand=[("q1", number), ("retired", number)]).rows[0]
    assert (a.only_run, a.only_system, a.without) == (0, 0, a.value)


def test_only_what_is_within_the_pool_depth_brings_a_chunk_in() -> None:
    runs = {"A": {"q": ["x", "c", "d"]}, "B": {"q": ["d", "y", "c"]}}
    qrels = {"q": {"c": 1, "d": 1}}
    assert [row.only_run for row in asked(board_of(qrels, runs)).rows] == [0, 0]
    shallow = asked(board_of(qrels, runs, pool_depth=2), "R@3")
    assert [row.only_run for row in shallow.rows] == [1, 1]
    assert [row.without for row in shallow.rows] == [1.0, 1.0]


def test_the_threshold_is_the_measure_s_own() -> None:
    found = asked(board_of(QRELS, RUNS), "R(rel=2)@2")
    assert [row.only_run for row in found.rows] == [1, 0], "b is of grade 1"


def test_of_one_system_nothing_can_be_said_and_no_number_is_made_up() -> None:
    board = with_systems(board_of(QRELS, RUNS), {"A": "one", "B": "one"})
    found = asked(board)
    assert all(math.isnan(row.without) and row.reason == ONE_SYSTEM for row in found.rows)
    assert [row.rank for row in found.rows] == [2, 1]
    assert math.isnan(found.tau)
    assert describe_tau(found, board.conventions) == (
        "Kendall's tau-b of the two orders by R@2 is not defined: all runs are of one system: "
        "nobody else could have found what it did"
    )


def test_where_nothing_is_left_there_is_no_value_and_the_reason_is_said() -> None:
    found = asked(board_of({"q": {"c": 1}}, {"A": {"q": ["c"]}, "B": {"q": ["x"]}}))
    assert (found.rows[0].value, found.rows[0].reason) == (1.0, NOTHING_LEFT)
    assert math.isnan(found.rows[0].without)
    assert (found.rows[1].without, found.rows[1].reason) == (0.0, None)
    assert found.why == "fewer than two have a value in both orders"


def test_an_empty_run_has_no_rank_and_stands_in_nobody_s_way() -> None:
    found = asked(board_of(QRELS, {**RUNS, "empty": {"q1": []}}))
    assert [row.rank for row in found.rows] == [2, 1, None]
    assert found.rows[2].reason == "no result for any query that counts"
    assert found.runs == 2


def test_nothing_graded_gives_no_number() -> None:
    found = asked(board_of({"q1": {}}, {"A": {"q1": ["a"]}, "B": {"q1": ["b"]}}))
    assert all(math.isnan(row.value) and math.isnan(row.without) for row in found.rows)
    assert all(row.reason for row in found.rows)


def test_equal_runs_share_a_rank_and_are_named() -> None:
    board = board_of(
        {"q": {"c": 1, "d": 1}}, {run: {"q": ["c"]} for run in "ABC"} | {"D": {"q": ["c", "d"]}}
    )
    found = asked(board)
    assert [row.rank for row in found.rows] == [2, 2, 2, 1]
    assert [row.rank_without for row in found.rows] == [2, 2, 2, 1]
    assert describe_tau(found, board.conventions) == (
        "Kendall's tau-b of the two orders of 4 runs by R@2 is 1.0000; equal as it is: A, B, C; "
        "equal without: A, B, C"
    )
    [first, *_] = own_pool_table([found]).rows
    assert (first["rank"], first["tau"], first["only_this_system"]) == (2, 1.0, 0)


def test_it_follows_a_grade() -> None:
    board = board_of(QRELS, RUNS)
    before = asked(board)
    board.refresh([change(board, "q1", "b", 0)], 1)
    after = asked(board)
    assert (before.rows[1].only_run, after.rows[1].only_run) == (2, 1)
    assert after == asked(
        Scoreboard(regraded(board.collection, golden_of(board)), board.conventions)
    )


def test_within_a_bucket_only_its_queries_count() -> None:
    facets = {"intent": {"q1": "refund", "q2": "billing"}}
    board = board_of(QRELS, RUNS, facets).within("intent", "billing")
    assert [(row.only_run, row.n) for row in asked(board).rows] == [(0, 1), (1, 1)]


def test_a_measure_that_is_no_recall_is_refused() -> None:
    with pytest.raises(BadInput, match=r"P\(rel=1\)@5 is no recall; there are R and SetR"):
        asked(board_of(QRELS, RUNS), "P@5")


# Against brute force -----------------------------------------------------------------------------


def brute_force(board: Scoreboard, name: str, by_hand: Collection[Pair]) -> list[tuple[float, int]]:
    """Set what only one system has near its top to grade 0, and score everything afresh."""
    [measure] = board.conventions.measures(name)
    depth, ids = board.conventions.pool_depth, board.collection.chunk_ids
    systems = {run.name: run.system for run in board.collection.runs}
    found = []
    for run in board.run_names:
        golden = golden_of(board)
        for (query, chunk), grade in list(golden.items()):
            number = ids.index(chunk)
            has = {
                systems[each]
                for each in board.run_names
                if number in board.chunks(each, query)[:depth].tolist()
            }
            is_own = has == {systems[run]} and (query, number) not in by_hand
            if is_own and grade >= measure.parameters["rel"]:
                golden[query, chunk] = 0
        anew = Scoreboard(regraded(board.collection, golden), board.conventions)
        [row] = [row for row in anew.table([measure]) if row.run == run]
        found.append((row.value, row.n))
    return found


@pytest.mark.parametrize("preset", ["graded", "trec_eval"])
@pytest.mark.parametrize("seed", range(8))
def test_it_is_what_scoring_afresh_gives(preset: str, seed: int) -> None:
    draw = np.random.default_rng(seed)
    chunks = [f"c{n}" for n in range(12)]
    qrels = {
        f"q{n}": {
            str(c): int(draw.integers(0, 4))
            for c in draw.permutation(chunks)[: draw.integers(0, 9)]
        }
        for n in range(7)
    }
    runs = {
        run: {
            query: [str(each) for each in draw.permutation(chunks)[: draw.integers(0, 8)]]
            for query in qrels
            if draw.random() < 0.85
        }
        for run in "ABCD"
    }
    board = Scoreboard(
        collect(qrels, runs), Conventions.of(preset, pool_depth=int(draw.integers(1, 6)))
    )
    board = with_systems(board, {"C": "A"} if seed % 2 else {})
    by_hand = {("q1", 1), ("q2", 2), ("q3", 3)}
    for name in ("R@2", "R(rel=2)@5", "R", "SetR", "R(judged_only=True)@2"):
        found = asked(board, name, by_hand)
        expected = brute_force(board, name, by_hand)
        assert [row.without for row in found.rows] == pytest.approx(
            [value for value, _ in expected], nan_ok=True, abs=1e-12
        )
        assert [row.n_without for row in found.rows] == [n for _, n in expected]
        assert [row.value for row in found.rows] == pytest.approx(
            [row.value for row in board.table(board.conventions.measures(name))], nan_ok=True
        )

"""Ranked lists of one query beside each other, and what-if values."""

from __future__ import annotations

import math

import pytest

from labeler.analysis.comparison import (
    compare,
    describe_useful_ranks,
    find_rank_changes,
    place_chunks,
    terms_sum_to,
    try_grades,
    try_ranks,
)
from labeler.evaluation import Conventions, Scoreboard, collect

GOLDEN = {"q": {"a": 3, "b": 0, "k": 2, "z": 1}, "r": {"a": 1}}
LISTS = {
    "A": {"q": [*"abcdefghij", "k", "l"], "r": ["a"]},
    "B": {"q": ["k", *"bacdefghi"], "r": ["b"]},
}


@pytest.fixture
def board() -> Scoreboard:
    return Scoreboard(collect(GOLDEN, LISTS), Conventions.of())


@pytest.mark.parametrize("measure", ["nDCG@10", "RR", "R@5", "AP", "P@10", "Judged@10", "nDCG@20"])
def test_what_the_shown_chunks_add_is_the_value_of_each_list(
    board: Scoreboard, measure: str
) -> None:
    [by] = board.conventions.measures(measure)
    changes = find_rank_changes(board, "A", "B", "q", by)
    values = compare(board, "A", "B", [by]).queries(by)[0]
    for side, value in (("a", values.a), ("b", values.b)):
        assert terms_sum_to(changes, side, value)
        top, below = place_chunks(changes, side, 10)
        assert math.isclose(sum(each.term for each in (*top, *below)), value)
        assert [each.rank for each in top] == [*range(1, 11)]


def test_below_the_top_is_what_the_other_has_there_with_its_true_rank_or_none(
    board: Scoreboard,
) -> None:
    [by] = board.conventions.measures("nDCG@10")
    changes = find_rank_changes(board, "A", "B", "q", by)
    names = {
        side: [(each.change.chunk_id, each.rank, each.other) for each in below]
        for side, (_, below) in (
            ("a", place_chunks(changes, "a", 10)),
            ("b", place_chunks(changes, "b", 10)),
        )
    }
    assert names == {"a": [("k", 11, 1)], "b": [("j", None, 10)]}
    alone = find_rank_changes(board, None, "B", "q", by)
    top, below = place_chunks(alone, "b", 10)
    assert (len(top), below) == (10, [])
    assert {each.other for each in top} == {None}


def test_what_adds_from_below_the_top_is_shown(board: Scoreboard) -> None:
    [by] = board.conventions.measures("nDCG@20")
    changes = find_rank_changes(board, None, "A", "q", by)
    _, below = place_chunks(changes, "b", 10)
    assert [(each.change.chunk_id, each.rank) for each in below] == [("k", 11)]
    [shallow] = board.conventions.measures("nDCG@10")
    changes = find_rank_changes(board, None, "A", "q", shallow)
    assert place_chunks(changes, "b", 10)[1] == []
    useful = {board.collection.chunk_ids.index("k")}
    _, below = place_chunks(changes, "b", 10, useful)
    assert [(each.change.chunk_id, each.rank) for each in below] == [("k", 11)]


@pytest.mark.parametrize("measure", ["NumRet", "NumRel"])
def test_terms_that_are_not_the_value_are_known_as_such(board: Scoreboard, measure: str) -> None:
    [by] = board.conventions.measures(measure)
    changes = find_rank_changes(board, None, "A", "q", by)
    value = float(board.values(by)[0, 0])
    assert not terms_sum_to(changes, "b", value)


@pytest.mark.parametrize(
    ("ranks", "said"),
    [
        ([("A", [1]), ("B", [1])], "Both rank the one useful chunk first."),
        ([("A", [None]), ("B", [None])], "Neither run returns the one useful chunk."),
        (
            [("A", [None]), ("B", [12])],
            "A does not return the one useful chunk, B ranks it 12th.",
        ),
        (
            [("A", [1, 2, None]), ("B", [3, 11, 4])],
            "Both find 2 of 3 useful chunks in the top 10, A higher.",
        ),
        ([("A", [1, 2]), ("B", [1, 20])], "B finds 1 of 2 useful chunks in the top 10, A 2."),
        (
            [("A", [11, 20]), ("B", [None, None])],
            "Neither run has one of the 2 useful chunks in its top 10.",
        ),
        ([("B", [11, 2])], "B finds 1 of 2 useful chunks in the top 10."),
        ([("B", [10])], "B ranks the one useful chunk tenth."),
    ],
)
def test_ranks_of_what_is_useful_are_said_in_one_sentence(
    ranks: list[tuple[str, list[int | None]]], said: str
) -> None:
    assert describe_useful_ranks(ranks) == said


def test_a_rank_is_tried_beside_the_present_one_with_the_mean_it_would_give(
    board: Scoreboard,
) -> None:
    measures = board.conventions.measures("RR nDCG@10")
    trials = try_ranks(board, "A", "q", "k", measures, also=7)
    assert [each.at for each in trials] == [1, 2, 3, 5, 7, 10, 11]
    assert [each.at for each in trials if each.is_now] == [11]
    by_rank = {each.at: each for each in trials}
    assert by_rank[1].values[0].value == 1.0
    assert (by_rank[1].mean, by_rank[1].mean_now, by_rank[1].n) == (1.0, 1.0, 2)
    ndcg = try_ranks(board, "A", "q", "k", board.conventions.measures("nDCG@10"))[0]
    assert ndcg.mean - ndcg.mean_now == pytest.approx(ndcg.values[0].delta / 2)
    absent = try_ranks(board, "B", "q", "z", measures, also=99)
    assert not any(each.is_now for each in absent)
    assert max(each.at for each in absent) == 10


def test_measures_of_documents_are_not_tried(board: Scoreboard) -> None:
    measures = board.conventions.measures("nDCG(documents=True)@10")
    assert try_ranks(board, "A", "q", "k", measures) == []
    assert try_grades(board, "A", "q", 1, measures, (0, 1)) == []


def test_a_grade_is_tried_in_the_list_and_in_the_ideal(board: Scoreboard) -> None:
    chunk = board.collection.chunk_ids.index("c")
    measures = board.conventions.measures("nDCG@10 RR")
    trials = try_grades(board, "B", "q", chunk, measures, range(4))
    assert trials[0].values[0].value == pytest.approx(trials[0].values[0].present)
    regraded = Scoreboard(
        collect({"q": {**GOLDEN["q"], "c": 3}, "r": GOLDEN["r"]}, LISTS), Conventions.of()
    )
    [by] = regraded.conventions.measures("nDCG@10")
    values = regraded.values(by)[:, 1]
    assert trials[3].values[0].value == values[0]
    assert trials[3].mean == pytest.approx(values.mean())
    assert not any(each.is_now for each in trials)

"""What moved most: parts that sum to the mean difference, each with its queries and its ranks."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeler.analysis.comparison import (
    add_up_movers,
    compare,
    find_contributions,
    find_rank_changes,
)
from labeler.errors import BadInput
from labeler.evaluation import DEFAULT_MEASURES, Scoreboard
from labeler.measures import parse
from tests.support.boards import board_of

QRELS = {
    "q1": {"c1": 3, "c2": 1},
    "q2": {"c1": 2, "c3": 1, "lost": 3},
    "q3": {"c2": 0},
    "q4": {},
}
RUNS = {
    "A": {"q1": ["x", "c1", "c2"], "q2": ["c1", "c3"], "q3": ["c2"], "q4": ["c1"]},
    "B": {"q1": ["c1", "c2"], "q2": ["y", "c3", "x", "lost"], "q3": ["x", "c2"], "q4": ["x"]},
}


def test_a_chunk_is_followed_through_all_queries() -> None:
    board = board_of(QRELS, RUNS)
    found = find_contributions(board, "A", "B", parse("RR"))
    names = board.collection.chunk_ids
    assert sorted(
        (m.query_id, names[m.chunk], m.rank_a, m.rank_b, m.moves, m.adds) for m in found
    ) == [
        ("q1", "c1", 2, 1, 0.5, 0.25),
        ("q2", "c1", 1, None, -1.0, -0.5),
        ("q2", "c3", 2, 2, 0.5, 0.25),
    ]
    first, second = add_up_movers(found, names.__getitem__)
    assert {(m.name, m.adds, m.queries) for m in (first, second)} == {
        ("c1", -0.25, 2),
        ("c3", 0.25, 1),
    }
    by_name = {mover.name: mover for mover in (first, second)}
    assert [place.query_id for place in by_name["c1"].places] == ["q2", "q1"], "the largest first"


def test_documents_add_up_their_chunks_and_those_of_none_are_left_out() -> None:
    board = board_of(QRELS, RUNS)
    found = find_contributions(board, "A", "B", parse("RR"))
    chunk = board.collection.chunk_ids.index("c1")
    [document] = add_up_movers(found, {chunk: "doc"}.get)
    assert (document.name, document.adds, document.queries) == ("doc", -0.25, 2)


def test_only_the_queries_asked_for_count() -> None:
    board = board_of(QRELS, RUNS)
    [found] = find_contributions(board, "A", "B", parse("RR"), ["q1", "q3", "q4"])
    assert (found.query_id, found.adds) == ("q1", 0.5)
    assert find_contributions(board, "A", "B", parse("RR"), []) == []


def test_what_cannot_be_compared_is_refused() -> None:
    with pytest.raises(BadInput, match="A and B are both 'A'"):
        find_contributions(board_of(QRELS, RUNS), "A", "A", parse("RR"))


CHUNKS = [f"c{number}" for number in range(6)]
LISTS = st.fixed_dictionaries(
    {f"q{n}": st.lists(st.sampled_from(CHUNKS), unique=True, min_size=1) for n in range(4)}
)
GRADES = st.fixed_dictionaries(
    {f"q{n}": st.dictionaries(st.sampled_from(CHUNKS), st.integers(0, 3)) for n in range(4)}
)


@given(GRADES, LISTS, LISTS, st.sampled_from(["graded", "trec_eval"]))
def test_the_parts_sum_to_the_mean_difference(
    qrels: dict[str, dict[str, int]],
    a: dict[str, list[str]],
    b: dict[str, list[str]],
    preset: str,
) -> None:
    board = board_of(qrels, {"A": a, "B": b}, preset=preset)
    for row in compare(board, "A", "B", board.conventions.measures(DEFAULT_MEASURES)).deltas:
        there, back = (find_contributions(board, *runs, row.measure) for runs in ("AB", "BA"))
        total = math.fsum(each.adds for each in there)
        assert total == pytest.approx(0.0 if math.isnan(row.delta) else row.delta, abs=1e-12)
        assert sorted((m.query_id, m.chunk, m.adds) for m in there) == sorted(
            (m.query_id, m.chunk, -m.adds) for m in back
        )
        check_ranks(board, there)


def check_ranks(board: Scoreboard, found: list) -> None:
    """Each rank is that of the list, as the moves of its query say it."""
    for each in found:
        of_query = find_rank_changes(board, "A", "B", each.query_id, parse("RR"))
        [move] = [move for move in of_query if move.chunk == each.chunk]
        assert (move.rank_a, move.rank_b) == (each.rank_a, each.rank_b)

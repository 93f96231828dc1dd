"""Which chunk is graded next: an order per grader that shows nothing of any run's ranking."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeler.model import STRATEGIES, CurrentJudgment, Pair
from labeler.services.assignment.pooling import (
    IN_A_ROUND,
    REPEATED_AFTER,
    Pool,
    rank_usefulness,
    repeats_due,
    stable_fraction,
)

QUERY_BY_QUERY, MOST_USEFUL, LEAST_JUDGED, UNJUDGED_OF_TWO_RUNS, WHAT_DECIDES = STRATEGIES
CHUNKS = {f"q{q}": list(range(100 * q, 100 * q + 12)) for q in range(8)}
ALL = {(query_id, chunk) for query_id, chunks in CHUNKS.items() for chunk in chunks}
NO_ONE: Mapping[Pair, CurrentJudgment] = {}


def said(number: int = 1, *, present: bool = True, **more: object) -> CurrentJudgment:
    """Return a judgment of which only what the test is about matters."""
    given = {"kind": "grade", "grade": 1, "reason": None, "note": None, "repeated": False}
    return CurrentJudgment(f"e{number}", number, present=present, **{**given, **more})


def queries_of(pairs: list[Pair]) -> list[str]:
    return list(dict.fromkeys(query_id for query_id, _ in pairs))


def shared_of(pool: Pool) -> set[str]:
    return {query_id for query_id in pool.queries() if pool.is_shared(query_id)}


# The order --------------------------------------------------------------------------------------


def test_the_same_grader_always_meets_the_same_order():
    once, again = (list(Pool(CHUNKS).in_order(7, {})) for _ in range(2))
    assert once == again
    assert set(once) == ALL
    assert len(once) == len(ALL), "no pair may come twice"


def test_two_graders_meet_different_orders():
    orders = {tuple(Pool(CHUNKS).in_order(seed, {})) for seed in range(20)}
    assert len(orders) == 20
    assert len({order[0][0] for order in orders}) > 1, "they must not all start at one query"


def test_a_grader_finishes_a_query_before_the_next():
    queries = [query_id for query_id, _ in Pool(CHUNKS, overlap=0.3).in_order(7, {})]
    changes = sum(a != b for a, b in pairwise(queries))
    assert changes == len(CHUNKS) - 1


def test_the_order_does_not_come_from_the_ranking():
    places = [
        chunks.index(chunk)
        for seed in range(150)
        for query_id, chunk in islice(Pool(CHUNKS).in_order(seed, {}), 1)
        for chunks in [CHUNKS[query_id]]
    ]
    assert set(places) == set(range(12)), "every rank comes first for somebody"
    reverse = {query_id: chunks[::-1] for query_id, chunks in CHUNKS.items()}
    assert list(Pool(reverse).in_order(7, {})) == list(Pool(CHUNKS).in_order(7, {}))


def test_grading_does_not_change_the_order_of_what_is_left():
    pool = Pool(CHUNKS)
    before = list(pool.in_order(7, {}))
    for pair in before[::3]:
        pool.settle(pair)
    assert list(pool.in_order(7, {})) == [pair for pair in before if pair not in before[::3]]


def test_what_is_not_in_the_pool_does_not_get_in():
    pool = Pool({"q": [1]})
    for pair in [("q", 2), ("other", 1)]:
        pool.settle(pair)
        pool.reopen(pair, stale=True)
        assert pair not in pool
        assert not pool.is_stale(pair)
    assert list(pool.in_order(7, {("q", 2): said(), ("other", 1): said()})) == [("q", 1)]
    assert pool.open_in("other", {}) == []


def test_a_pair_judged_in_an_older_wording_comes_again():
    pool = Pool({"q": [1, 2]})
    own = {("q", 1): said(1, present=False), ("q", 2): said(2)}
    assert list(pool.in_order(7, own)) == [("q", 1)]
    assert pool.open_in("q", own) == [1]


def test_a_stale_pair_is_stale_until_it_is_settled():
    pool = Pool({"q": [1, 2]}, settled=ALL)
    pool.settle(("q", 1))
    pool.reopen(("q", 1), stale=True)
    assert pool.is_stale(("q", 1))
    assert not pool.is_stale(("q", 2))
    pool.settle(("q", 1), by_grader=True)
    assert not pool.is_stale(("q", 1))
    pool.reopen(("q", 1))
    assert not pool.is_stale(("q", 1)), "a grade that was taken back leaves nothing stale"


def test_queries_are_chosen_left_out_put_first_and_put_last():
    pool = Pool(CHUNKS)
    order = queries_of(list(pool.in_order(7, {})))
    chosen = list(pool.in_order(7, {}, among={"q1", "q2", "q3"}, without={"q2"}))
    assert {query_id for query_id, _ in chosen} == {"q1", "q3"}
    ends = queries_of(list(pool.in_order(7, {}, first=order[5], last=[order[6], order[0]])))
    middle = [query_id for query_id in order if query_id not in (order[5], order[6], order[0])]
    assert ends == [order[5], *middle, order[0], order[6]]
    ends = queries_of(list(pool.in_order(7, {}, first=order[5], last=order[4:6])))
    assert ends[-2:] == [order[5], order[4]], "what another is at goes last even so"


PAIRS = st.tuples(st.sampled_from("abcd"), st.integers(0, 7))


@given(
    chunks=st.dictionaries(
        st.sampled_from("abc"), st.dictionaries(st.integers(0, 6), st.lists(st.integers(1, 9)))
    ),
    settled=st.sets(PAIRS),
    steps=st.lists(st.tuples(st.sampled_from(["settle", "grade", "reopen", "stale"]), PAIRS)),
    own=st.dictionaries(PAIRS, st.booleans()),
    overlap=st.floats(0, 1),
    strategy=st.sampled_from(STRATEGIES),
    first=st.sampled_from("abcx"),
    last=st.sets(st.sampled_from("abc")),
)
def test_the_count_is_the_length_of_what_comes(
    chunks, settled, steps, own, overlap, strategy, first, last
):
    pool = Pool(chunks, settled, overlap=overlap, strategy=strategy)
    judged = {pair: said(present=present) for pair, present in own.items()}
    closed = set(settled)
    for what, pair in steps:
        if what in ("settle", "grade"):
            pool.settle(pair, by_grader=what == "grade")
            shared = what == "grade" and pool.is_shared(pair[0])
            (closed.discard if shared else closed.add)(pair)
        else:
            pool.reopen(pair, stale=what == "stale")
            closed.discard(pair)
    left = list(pool.in_order(7, judged, first=first, last=last))
    counts = {query_id: len(pool.open_in(query_id, judged)) for query_id in pool.queries()}
    assert pool.left(judged) == counts
    assert len(left) == sum(counts.values())
    assert len(left) == len(set(left)), "no pair may come twice"
    assert set(left) == {
        (query_id, chunk)
        for query_id, pooled in chunks.items()
        for chunk in pooled
        if (query_id, chunk) not in closed and not own.get((query_id, chunk))
    }


# Queries that everyone gets ---------------------------------------------------------------------


@given(st.integers(0, 200), st.integers(0, 100))
def test_the_share_of_queries_that_everyone_gets_is_rounded_up(size: int, percent: int):
    pool = Pool({f"q{n}": [n] for n in range(size)}, overlap=percent / 100)
    assert len(shared_of(pool)) == -(-size * percent // 100)


def test_shared_queries_come_to_everyone_in_one_order_and_not_all_at_the_end():
    chunks = {f"q{n}": [n] for n in range(60)}
    pool = Pool(chunks, overlap=0.1)
    shared = shared_of(pool)
    orders = [[query_id for query_id, _ in pool.in_order(seed, {})] for seed in range(20)]
    assert len({tuple(name for name in order if name in shared) for order in orders}) == 1
    assert len({tuple(name for name in order if name not in shared) for order in orders}) == 20
    places = [order.index(name) for order in orders for name in shared]
    assert min(places) < 12, "who stops early must have met some"
    assert shared_of(Pool(dict(reversed(chunks.items())), overlap=0.1)) == shared


def test_anothers_grade_closes_a_pair_but_not_of_a_shared_query():
    pool = Pool(CHUNKS, overlap=0.25)
    shared = shared_of(pool)
    for pair in ALL:
        pool.settle(pair, by_grader=True)
    assert set(pool.in_order(7, {})) == {pair for pair in ALL if pair[0] in shared}
    assert len(shared) == 2
    for pair in ALL:
        pool.settle(pair)
    assert list(pool.in_order(7, {})) == [], "an import or a verdict closes it for everyone"


def test_a_verdict_that_was_taken_back_opens_a_shared_query_again():
    pool = Pool({"q": [1]}, overlap=1)
    pool.settle(("q", 1))
    pool.settle(("q", 1), by_grader=True)
    assert list(pool.in_order(7, {})) == [("q", 1)]


# Strategies -------------------------------------------------------------------------------------

RANKED = {f"q{q}": {100 * q + n: [n + 1] * (1 + (n + q) % 3) for n in range(12)} for q in range(6)}


def test_the_most_useful_come_first_in_rounds():
    pool = Pool(RANKED, strategy=MOST_USEFUL)
    order = list(pool.in_order(7, {}))
    assert set(order) == {(query_id, chunk) for query_id in RANKED for chunk in RANKED[query_id]}
    first = order[: IN_A_ROUND * len(RANKED)]
    for query_id, pooled in RANKED.items():
        best = sorted(pooled, key=lambda chunk: -rank_usefulness(pooled[chunk]))[:IN_A_ROUND]
        assert {chunk for name, chunk in first if name == query_id} == set(best)
    assert len(queries_of(first)) == len(RANKED)
    changes = sum(a != b for (a, _), (b, _) in pairwise(first))
    assert changes == len(RANKED) - 1, "a grader stays with a query for the round"


def test_a_place_within_a_round_says_nothing_of_the_rank():
    pool = Pool(RANKED, strategy=MOST_USEFUL)
    starts = {seed: next(pool.in_order(seed, {})) for seed in range(300)}
    places = {chunk % 100 for query_id, chunk in starts.values() if query_id == "q0"}
    best = sorted(RANKED["q0"], key=lambda chunk: -rank_usefulness(RANKED["q0"][chunk]))
    assert places == {chunk % 100 for chunk in best[:IN_A_ROUND]}


def test_a_chunk_that_many_runs_have_near_the_top_is_more_useful():
    assert (
        rank_usefulness([1, 2])
        > rank_usefulness([1])
        > rank_usefulness([2, 9])
        > rank_usefulness([2])
        > 0
    )
    assert rank_usefulness([]) == 0


def test_the_least_judged_query_comes_first():
    pool = Pool(CHUNKS, strategy=LEAST_JUDGED)
    for at, query_id in enumerate(CHUNKS):
        for chunk in CHUNKS[query_id][:at]:
            pool.settle((query_id, chunk), by_grader=True)
    assert queries_of(list(pool.in_order(7, {}))) == list(CHUNKS)
    assert queries_of(list(Pool(CHUNKS, strategy=LEAST_JUDGED).in_order(7, {}))) != list(CHUNKS)


def test_of_the_holes_of_two_runs_nothing_is_given_to_everyone():
    pool = Pool(CHUNKS, overlap=1, strategy=UNJUDGED_OF_TWO_RUNS)
    assert shared_of(pool) == set()
    for pair in ALL:
        pool.settle(pair, by_grader=True)
    assert list(pool.in_order(7, {})) == []


# Chunks that come back --------------------------------------------------------------------------


def graded(count: int, **more: object) -> dict[Pair, CurrentJudgment]:
    return {("q", number): said(number, **more) for number in range(1, count + 1)}


def test_nothing_comes_back_before_thirty_others_are_judged():
    assert repeats_due(7, graded(REPEATED_AFTER), share=1) == []
    assert repeats_due(7, graded(REPEATED_AFTER + 1), share=1) == [("q", 1)]
    assert repeats_due(7, graded(REPEATED_AFTER + 3), share=1) == [("q", 1), ("q", 2), ("q", 3)]


def test_what_came_back_once_and_what_was_never_graded_stays_away():
    for more in (
        {"repeated": True},
        {"kind": "cannot_tell", "grade": None},
        {"present": False},
    ):
        assert repeats_due(7, graded(100, **more), share=1) == []


@pytest.mark.parametrize("seed", range(5))
def test_about_one_chunk_in_fifty_comes_back(seed: int):
    own = graded(3_000)
    due = repeats_due(seed, own)
    assert 30 < len(due) < 90
    assert due == sorted(due), "the longest waiting first"
    assert due == repeats_due(seed, own), "the lot does not change its mind"
    assert due != repeats_due(seed + 1, own), "everyone gets others"


@given(st.integers(), st.text())
def test_a_lot_is_a_number_from_0_to_1(seed: int, word: str):
    assert 0 <= stable_fraction(seed, word) < 1

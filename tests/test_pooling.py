"""Which chunk is graded next: an order per grader that shows nothing of any run's ranking."""

from __future__ import annotations

from itertools import islice, pairwise

from hypothesis import given
from hypothesis import strategies as st

from labeler.pooling import Pool

CHUNKS = {f"q{q}": list(range(100 * q, 100 * q + 12)) for q in range(8)}
ALL = {(query_id, chunk) for query_id, chunks in CHUNKS.items() for chunk in chunks}


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
    queries = [query_id for query_id, _ in Pool(CHUNKS).in_order(7, {})]
    changes = sum(a != b for a, b in pairwise(queries))
    assert changes == len(CHUNKS) - 1


def test_the_order_does_not_come_from_the_ranking():
    places = [
        chunks.index(chunk)
        for seed in range(200)
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
        pool.reopen(pair)
    assert list(pool.in_order(7, {})) == [("q", 1)]
    assert pool.count_open({("q", 2): True, ("other", 1): True}) == 1


def test_a_pair_judged_in_an_older_wording_comes_again():
    pool = Pool({"q": [1, 2]})
    assert list(pool.in_order(7, {("q", 1): False, ("q", 2): True})) == [("q", 1)]
    assert pool.count_open({("q", 1): False, ("q", 2): True}) == 1


PAIRS = st.tuples(st.sampled_from("abc"), st.integers(0, 4))


@given(
    st.dictionaries(st.sampled_from("ab"), st.sets(st.integers(0, 3))),
    st.sets(PAIRS),
    st.lists(st.tuples(st.booleans(), PAIRS)),
    st.dictionaries(PAIRS, st.booleans()),
)
def test_the_count_is_the_length_of_what_comes(chunks, settled, steps, own):
    pool = Pool(chunks, settled)
    closed = set(settled)
    for settle, pair in steps:
        (pool.settle if settle else pool.reopen)(pair)
        (closed.add if settle else closed.discard)(pair)
    left = list(pool.in_order(7, own))
    assert pool.count_open(own) == len(left)
    assert set(left) == {
        (query_id, chunk)
        for query_id, pooled in chunks.items()
        for chunk in pooled
        if (query_id, chunk) not in closed and not own.get((query_id, chunk))
    }

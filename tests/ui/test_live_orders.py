"""Rows keep the order a reader saw them in, whatever their numbers do meanwhile."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeler.ui.live.row_order import RowOrders, count_moved


def keep(orders: RowOrders, rows: str, question: object = "worst first") -> str:
    orders.moved = 0
    return "".join(orders.keep(rows, str, question))


def test_rows_stay_where_they_were_and_those_elsewhere_now_are_counted():
    orders = RowOrders()
    assert (keep(orders, "abcd"), orders.moved) == ("abcd", 0)
    assert (keep(orders, "dabc"), orders.moved) == ("abcd", 1)
    assert (keep(orders, "dcba"), orders.moved) == ("abcd", 3)
    assert (keep(orders, "abcd"), orders.moved) == ("abcd", 0)


def test_whoever_asks_for_it_sees_the_rows_sorted():
    orders = RowOrders()
    keep(orders, "abcd")
    orders.forget()
    assert (keep(orders, "dabc"), orders.moved) == ("dabc", 0)


def test_another_question_has_an_order_of_its_own():
    orders = RowOrders()
    keep(orders, "abc")
    assert keep(orders, "cba", question="best first") == "cba"
    assert keep(orders, "bca") == "abc", "nor is the first one forgotten"


def test_a_new_row_comes_last_and_one_that_has_gone_leaves_no_gap():
    orders = RowOrders()
    keep(orders, "abc")
    assert (keep(orders, "xca"), orders.moved) == ("acx", 2)


def test_a_session_remembers_few_questions():
    orders = RowOrders()
    keep(orders, "ab", question=0)
    for number in range(1, 100):
        keep(orders, "ab", question=number)
    assert keep(orders, "ba", question=0) == "ba"
    assert keep(orders, "ba", question=99) == "ab"


@pytest.mark.parametrize("size", [0, 1, 2, 5])
def test_the_fewest_moves_are_counted(size: int):
    """Against trying all: what stays is the longest part that is in order already."""

    def fewest(places: tuple[int, ...]) -> int:
        keeps = [{()}]
        for place in places:
            keeps.append(keeps[-1] | {(*k, place) for k in keeps[-1] if not k or k[-1] < place})
        return len(places) - max(map(len, keeps[-1]))

    for places in permutations(range(size)):
        assert count_moved(places) == fewest(places)


@given(st.lists(st.lists(st.integers(0, 9), unique=True), min_size=1, max_size=6))
def test_no_row_is_lost_doubled_or_made_up(looks: list[list[int]]):
    orders = RowOrders()
    for rows in looks:
        assert sorted(orders.keep(rows, int, "all")) == sorted(rows)


def test_several_runs_of_one_page_may_keep_its_orders_at_once():
    orders, before = RowOrders(), sys.getswitchinterval()

    def page(number: int) -> None:
        for look in range(5_000):
            assert keep(orders, "abcd", question=(number, look)) == "abcd"

    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(8) as runs:
            list(runs.map(page, range(8)))
    finally:
        sys.setswitchinterval(before)

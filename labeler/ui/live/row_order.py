"""Row order of live tables: rows keep their places until the reader asks for a new sort.

The order is kept in the session, because a URL would need the position of every row: a revision is
not enough, as a scoreboard has only the newest values. Reloading the page sorts again.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TypeVar

import streamlit as st

SESSION_KEY = "orders"
MOST_KEPT = 64  # orders; a page has one for each of its tables
RowT = TypeVar("RowT")


class RowOrders:
    """The orders that a reader saw, by question; ``moved`` is for one run of the page.

    A lock guards them, because a script run that is being replaced goes on beside the next one.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: dict[Hashable, list[Hashable]] = {}
        self.moved = 0

    def keep(
        self, sorted_now: Iterable[RowT], name: Callable[[RowT], Hashable], question: Hashable
    ) -> list[RowT]:
        """Return rows in the order in which the reader saw them, new rows last."""
        rows = {name(row): row for row in sorted_now}
        place = {each: at for at, each in enumerate(rows)}
        with self._lock:
            seen = [each for each in self._kept.pop(question, ()) if each in rows]
            known = set(seen)
            order = [*seen, *(each for each in rows if each not in known)]
            self.moved += count_moved([place[each] for each in order])
            self._kept[question] = order
            while len(self._kept) > MOST_KEPT:
                del self._kept[next(iter(self._kept))]
        return [rows[each] for each in order]

    def forget(self) -> None:
        """Let every table be sorted again."""
        with self._lock:
            self._kept.clear()


def count_moved(places: Sequence[int]) -> int:
    """Return the fewest elements that have to be moved to sort ``places``, which are distinct.

    >>> count_moved([0, 1, 2, 3]), count_moved([3, 0, 1, 2]), count_moved([1, 0, 3, 2])
    (0, 1, 2)
    """
    ends: list[int] = []  # the lowest last element of a rising subsequence, by its length
    for place in places:
        at = bisect_left(ends, place)
        ends[at : at + 1] = [place]
    return len(places) - len(ends)


def session_orders() -> RowOrders:
    """Return the orders of this session."""
    if SESSION_KEY not in st.session_state:
        st.session_state[SESSION_KEY] = RowOrders()
    orders: RowOrders = st.session_state[SESSION_KEY]
    return orders


def keep_order(
    sorted_now: Iterable[RowT], name: Callable[[RowT], Hashable], question: Hashable
) -> list[RowT]:
    """Return rows in the order in which this reader saw them, so that no push moves them.

    ``name`` identifies a row. ``question`` is everything that the reader chose, such as page, runs,
    measure, sort and filters; each question has its own order. The line of `follow` says how many
    rows a new sort would move.
    """
    return session_orders().keep(sorted_now, name, question)

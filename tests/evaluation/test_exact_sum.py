"""Rows add up to buckets: to the nearest float, and so to the same bits in whatever order."""

from __future__ import annotations

import math

import numpy as np
import pytest

from labeler.evaluation.value_table import Grouping, add_up, row_change, update_sums

WIDTH = 5
BUCKETS = ("one query", "seventeen", "no query", "hundreds")


def drawn(draw: np.random.Generator, queries: int) -> np.ndarray:
    """Draw rows, of which some do not count, with shares and counts."""
    rows = draw.random((queries, WIDTH))
    rows[:, 0] = draw.random(queries) < 0.8
    rows[:, 3] = np.floor(rows[:, 3] * 1_000_000)
    rows[:, 4] = 1 / np.ceil(rows[:, 4] * 1_000)
    return rows


@pytest.fixture
def grouping() -> Grouping:
    """Give some queries to no bucket; hundreds are more than are added at once."""
    group = np.repeat([0, 1, 3, 4], [1, 17, 600, 30])
    return Grouping(BUCKETS, np.random.default_rng(1).permutation(group))


def test_after_many_changes_sums_have_the_bits_of_all_rows_added_at_once(grouping):
    draw = np.random.default_rng(2)
    table = drawn(draw, len(grouping.group))
    rows, sums = list(table), add_up(grouping, table)
    for _ in range(200):
        changed = draw.choice(len(rows), 1 + int(draw.integers(3)), replace=False).tolist()
        steps = {}
        for query, row in zip(changed, drawn(draw, len(changed)), strict=True):
            steps[query], rows[query] = row_change(rows[query], row), row
        before, at_first = sums, sums.totals.tobytes()
        sums = update_sums(before, grouping, steps)
        assert before.totals.tobytes() == at_first
    assert sums.totals.tobytes() == add_up(grouping, np.array(rows)).totals.tobytes()


def test_rows_in_another_order_add_up_to_the_same_bits(grouping):
    table, order = drawn(np.random.default_rng(4), 648), np.random.default_rng(5).permutation(648)
    turned = add_up(Grouping(BUCKETS, grouping.group[order]), table[order])
    assert turned.totals.tobytes() == add_up(grouping, table).totals.tobytes()


def test_a_bucket_adds_up_its_rows_that_count_and_no_other_to_the_nearest_float(grouping):
    table = drawn(np.random.default_rng(3), len(grouping.group))
    totals = add_up(grouping, table).totals
    for at in range(len(BUCKETS)):
        mine = table[(grouping.group == at) & (table[:, 0] > 0)]
        assert totals[at].tolist() == [math.fsum(column) for column in mine.T]
    assert totals[2].tolist() == [0.0] * WIDTH


def test_many_rows_are_added_exactly():
    """Tenths come to a little less if they are added one after the other."""
    table = np.tile([1.0, 0.1], (100_000, 1))
    [total] = add_up(Grouping((None,), np.zeros(100_000, dtype=np.int64)), table).totals
    assert total.tolist() == [100_000, math.fsum([0.1] * 100_000)]


def test_the_sum_of_one_row_is_that_row():
    table = np.array([[1.0, 1 / 3, 0.01, 1 / 999]])
    [total] = add_up(Grouping((None,), np.zeros(1, dtype=np.int64)), table).totals
    assert total.tolist() == table[0].tolist()

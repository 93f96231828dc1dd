"""Rows add up to buckets: to the same bits after many changes as at once, and to the true sum."""

from __future__ import annotations

import math

import numpy as np
import pytest

from labeler.evaluation.adding import Grouping, add_up, readd

WIDTH = 5
BUCKETS = ("one query", "seventeen", "no query", "hundreds")


def drawn(draw: np.random.Generator, queries: int) -> np.ndarray:
    """Draw rows, of which some do not count."""
    rows = draw.random((queries, WIDTH))
    rows[:, 0] = draw.random(queries) < 0.8
    return rows


@pytest.fixture
def grouping() -> Grouping:
    """Give some queries to no bucket; hundreds take three steps to add up."""
    group = np.repeat([0, 1, 3, 4], [1, 17, 600, 30])
    return Grouping(BUCKETS, np.random.default_rng(1).permutation(group))


def test_after_many_changes_sums_have_the_bits_of_all_rows_added_at_once(grouping):
    draw = np.random.default_rng(2)
    table = drawn(draw, len(grouping.group))
    rows, sums = list(table), add_up(grouping, table, WIDTH)
    for _ in range(200):
        changed = draw.choice(len(rows), 1 + int(draw.integers(3)), replace=False).tolist()
        for query, row in zip(changed, drawn(draw, len(changed)), strict=True):
            rows[query] = row
        before, at_first = sums, sums.totals.tobytes()
        sums = readd(before, grouping, rows, changed)
        assert before.totals.tobytes() == at_first
    assert sums.totals.tobytes() == add_up(grouping, rows, WIDTH).totals.tobytes()
    assert sums.totals.tobytes() == add_up(grouping, np.array(rows), WIDTH).totals.tobytes()


def test_a_bucket_adds_up_its_rows_that_count_and_no_other(grouping):
    table = drawn(np.random.default_rng(3), len(grouping.group))
    totals = add_up(grouping, table, WIDTH).totals
    for at in range(len(BUCKETS)):
        mine = table[(grouping.group == at) & (table[:, 0] > 0)]
        assert totals[at] == pytest.approx([math.fsum(column) for column in mine.T], abs=1e-11)
    assert totals[2].tolist() == [0.0] * WIDTH

"""Ranks, and how far two orders agree."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest

from labeler.evaluation.leave_one_run_out import kendall_tau, ranks

nan = math.nan


def by_hand(one: list[float], other: list[float]) -> float:
    """Kendall's tau-b as its definition counts it."""
    pairs = list(combinations(zip(one, other, strict=True), 2))
    agree = sum((a - c) * (b - d) > 0 for (a, b), (c, d) in pairs)
    differ = sum((a - c) * (b - d) < 0 for (a, b), (c, d) in pairs)
    in_one = sum(a != c for (a, _), (c, _) in pairs)
    in_other = sum(b != d for (_, b), (_, d) in pairs)
    return (agree - differ) / math.sqrt(in_one * in_other)


def test_tau_b_is_what_counting_the_pairs_gives() -> None:
    draw = np.random.default_rng(5)
    compared = 0
    for _ in range(200):
        size = int(draw.integers(2, 9))
        one, other = (draw.integers(0, 4, size).astype(float).tolist() for _ in range(2))
        found, why = kendall_tau(one, other)
        if why is None:
            compared += 1
            assert found == pytest.approx(by_hand(one, other))
            assert kendall_tau(other, one)[0] == found
        else:
            assert len(set(one)) == 1 or len(set(other)) == 1
    assert compared > 100


def test_a_published_tau_b_comes_out() -> None:
    """The example of scipy.stats.kendalltau, which has ties."""
    assert kendall_tau([12, 2, 1, 12, 2], [1, 4, 7, 1, 0])[0] == pytest.approx(-0.47140452)


def test_the_same_order_has_1_and_the_other_way_round_minus_1() -> None:
    assert kendall_tau([0.1, 0.4, 0.2], [1, 3, 2]) == (1.0, None)
    assert kendall_tau([0.1, 0.4, 0.2], [3, 1, 2]) == (-1.0, None)


def test_what_is_not_there_is_left_out_and_too_little_has_no_tau() -> None:
    assert kendall_tau([0.1, nan, 0.2, 0.3], [1, 2, nan, 3]) == (1.0, None)
    for one, other in (([0.1], [0.2]), ([], []), ([0.1, nan], [0.1, 0.2])):
        found, why = kendall_tau(one, other)
        assert math.isnan(found)
        assert why == "fewer than two have a value in both orders"


def test_values_that_differ_by_rounding_alone_share_a_rank() -> None:
    assert ranks([0.1 + 0.2, 0.3, 0.2]) == [1, 1, 3]

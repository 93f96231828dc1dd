"""Intervals of differences agree with the sign-flip test, and are not made of too few queries."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from labeler.stats import (
    FEWEST_DIFFERING,
    FEWEST_QUERIES,
    ConfidenceInterval,
    count_differing,
    difference_intervals,
    p_values,
)
from labeler.stats.difference_intervals import tango_interval
from labeler.stats.student_t import student_t_quantile
from tests.support.examples import examples

DIFFERENCES = np.round(np.random.default_rng(4).normal(0.04, 0.2, 30), 3)


def interval_of(sample, weights=None, *, tests=1, zero_or_one=False, alpha=0.05):
    """Return the interval of one sample, with the p-value of its own test."""
    sample = np.array(sample, dtype=np.float64)
    weights = np.ones(len(sample)) if weights is None else np.array(weights, dtype=np.float64)
    [tested] = p_values([sample * weights])
    [found] = difference_intervals(
        [sample], [weights], [tested.p], tests=[tests], zero_or_one=[zero_or_one], alpha=alpha
    )
    return found, tested.p


def test_t_quantiles_are_those_of_textbooks() -> None:
    """Table III of Fisher and Yates, with the digits that scipy adds."""
    book = {(0.025, 1): 12.7062047, (0.025, 2): 4.3026527, (0.05, 5): 2.0150484}
    book |= {(0.025, 9): 2.2621572, (0.005, 30): 2.7499957, (0.025, 120): 1.9799304}
    for (tail, freedom), value in book.items():
        assert student_t_quantile(tail, freedom) == pytest.approx(value, abs=1e-7)


@examples(100)
@given(st.floats(1e-6, 0.5), st.floats(0.5, 2_000))
def test_t_quantiles_are_those_of_scipy(tail: float, freedom: float) -> None:
    wanted = stats.t.isf(tail, freedom)
    assert student_t_quantile(tail, freedom) == pytest.approx(wanted, rel=1e-8, abs=1e-9)


def test_t_with_very_many_queries_is_the_normal_distribution() -> None:
    for freedom in (1e5, 1e7, 1e9):
        found = student_t_quantile(0.025, freedom)
        assert found == pytest.approx(stats.norm.isf(0.025), abs=1e-4)
    with pytest.raises(ValueError, match="no t quantile"):
        student_t_quantile(0.025, 0)


def test_where_the_test_agrees_an_interval_is_the_t_interval_of_scipy() -> None:
    found, p = interval_of(DIFFERENCES)
    theirs = stats.ttest_1samp(DIFFERENCES, 0).confidence_interval(0.95)
    assert found[:2] == pytest.approx((theirs.low, theirs.high), abs=1e-12)
    assert (found.method, found.excludes_zero) == ("t", p <= 0.05)


def test_an_interval_corrected_for_tests_has_the_corrected_level() -> None:
    found, _ = interval_of(DIFFERENCES, tests=5)
    theirs = stats.ttest_1samp(DIFFERENCES, 0).confidence_interval(0.99)
    assert found[:2] == pytest.approx((theirs.low, theirs.high), abs=1e-12)


def test_an_end_that_misses_zero_without_the_test_is_moved_to_zero() -> None:
    """The t interval of these is 0.0262 to 0.4538, and the exact p-value is 0.0547."""
    sample = [-0.1, 0.6, 0.4, 0.0, -0.1, 0.0, 0.7, 0.3, 0.5, 0.1]
    theirs = stats.ttest_1samp(sample, 0).confidence_interval(0.95)
    found, p = interval_of(sample)
    assert theirs.low > 0.02
    assert p > 0.05
    assert found.lo == 0
    assert found.hi == pytest.approx(theirs.high)
    assert not found.excludes_zero


def test_an_end_beyond_zero_stops_beside_it_where_the_test_finds_a_difference() -> None:
    """One large difference makes t wide, and the signs all agree."""
    sample = [0.9, *[0.01] * 11]
    theirs = stats.ttest_1samp(sample, 0).confidence_interval(0.95)
    found, p = interval_of(sample)
    assert theirs.low < 0
    assert p <= 0.05
    assert found.excludes_zero
    assert 0 < found.lo < 1e-300
    mirrored, _ = interval_of([-each for each in sample])
    assert (mirrored.lo, mirrored.hi) == (-found.hi, -found.lo)
    corrected, _ = interval_of(sample, tests=200)
    assert not corrected.excludes_zero


VALUES = st.sampled_from([0.0, 0.0, 0.0, 0.1, -0.1, 0.25, 1.0, -1.0, 1 / 3, 1e-17])


@examples(200)
@given(st.lists(VALUES, max_size=30), st.integers(1, 20), st.booleans(), st.floats(0.01, 0.4))
def test_no_interval_disagrees_with_its_test_or_has_no_width(values, tests, binary, alpha) -> None:
    sample = np.round(values) if binary else np.array(values)
    found, p = interval_of(sample, tests=tests, zero_or_one=binary, alpha=alpha)
    if math.isnan(found.lo):
        assert found.reason
        assert not found.excludes_zero
        assert found.method == ""
        return
    assert found.excludes_zero == (min(1.0, tests * p) <= alpha)
    assert -1 <= found.lo < found.hi <= 1
    assert found.lo <= sample.mean() <= found.hi
    assert found.reason == ""


def test_few_queries_have_no_interval_and_it_says_how_few() -> None:
    assert FEWEST_QUERIES == 10
    assert FEWEST_DIFFERING == 6
    nine, _ = interval_of([0.1, 0.2, 0.3] * 3)
    assert nine.reason == "fewer than 10 queries: too few for an interval"
    five, _ = interval_of([0.1, 0.2, 0.3, 0.4, -0.5, *[0.0] * 5])
    assert five.reason == "5 of 10 queries differ: too few for an interval"
    none, _ = interval_of([0.0] * 10)
    assert none.reason == "no query differs"
    binary, _ = interval_of([0.0] * 10, zero_or_one=True)
    assert binary.reason == "no query differs"
    alike, p = interval_of([0.37] * 12)
    assert alike.reason == "all 12 queries differ by the same: no spread to tell from"
    assert p < 0.05
    assert count_differing(np.array([0.1, 1e-16, -0.1])) == 2


def test_few_differences_of_a_measure_of_zeros_and_ones_have_tangos_interval() -> None:
    found, p = interval_of([1.0, 1.0, 1.0, *[0.0] * 27], zero_or_one=True)
    assert found.method == "Tango"
    assert p == 0.25
    assert not found.excludes_zero, "its own end is -0.0199, and no end is above 0"
    assert found.lo < 0 < 0.1 < found.hi
    every, _ = interval_of([1.0] * 12)
    assert (every.method, every.hi) == ("Tango", 1.0)
    assert 0.5 < every.lo < 0.8, "twelve of twelve are not sure to be all"


def test_tangos_interval_is_that_of_the_literature() -> None:
    """Newcombe (1998), Statistics in Medicine 17, 2635: 1 against 7 of 21."""
    assert tango_interval(1, 7, 21)[:2] == pytest.approx((-0.5174, -0.0260), abs=2e-4)
    for better, worse, n in [(0, 0, 10), (10, 0, 10), (0, 10, 10), (5, 5, 10), (1, 0, 50)]:
        lo, hi, *_ = tango_interval(better, worse, n)
        assert -1 <= lo < hi <= 1
        back = tango_interval(worse, better, n)
        assert (back.lo, back.hi) == pytest.approx((-hi, -lo), abs=1e-12)


def test_equal_weights_give_the_bits_of_no_weights() -> None:
    assert interval_of(DIFFERENCES, np.full(30, 0.3))[0] == interval_of(DIFFERENCES)[0]


def test_weighted_differences_need_as_much_as_ten_queries() -> None:
    few, _ = interval_of(DIFFERENCES[:12], [9.0, *[1.0] * 11])
    assert few.reason == "by their weights 12 queries tell as much as 4.3: too few for an interval"
    found, p = interval_of(DIFFERENCES, [3.0] * 10 + [1.0] * 20)
    plain, _ = interval_of(DIFFERENCES)
    assert found.hi - found.lo > plain.hi - plain.lo
    assert found.excludes_zero == (p <= 0.05)


def test_a_difference_of_counts_may_be_above_one() -> None:
    found, _ = interval_of(np.array([3.0, 5.0, 4.0, 2.0, 6.0] * 3))
    assert found.hi > 1
    assert ConfidenceInterval(math.nan, math.nan).excludes_zero is False

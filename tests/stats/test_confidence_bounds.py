"""One-sided bounds, for one look and for every look, claim no more than the values show."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from labeler.measures import parse
from labeler.stats import (
    anytime_difference_bound,
    anytime_mean_bound,
    difference_bounds,
    mean_bound,
)
from tests.support.examples import examples

VALUES = st.lists(st.sampled_from([0.0, 1.0, 0.5]) | st.floats(0, 1), min_size=1, max_size=40)


def bound_of(sample, weights=None, *, confidence=0.95, zero_or_one=False):
    """Return the bound of a difference, with equal weights unless they are given."""
    sample = np.array(sample, dtype=np.float64)
    weights = np.ones(len(sample)) if weights is None else np.array(weights)
    [found] = difference_bounds([sample], [weights], confidence, [zero_or_one])
    return found


def test_the_bound_of_a_difference_is_the_lower_end_of_a_one_sided_t_interval() -> None:
    sample = np.round(np.random.default_rng(4).normal(0.04, 0.2, 30), 3)
    theirs = stats.ttest_1samp(sample, 0, alternative="greater").confidence_interval(0.95)
    assert bound_of(sample).lo == pytest.approx(theirs.low, abs=1e-12)


def test_few_differing_queries_fall_at_most_as_far_as_if_each_fell_by_one() -> None:
    found = bound_of([-0.5, -0.5, 0.25, *[0.0] * 37])
    wilson = stats.binomtest(2, 40).proportion_ci(0.9, method="wilson")
    assert found.lo == pytest.approx(-wilson.high)
    assert found.reason == "3 of 40 queries differ: too few for an interval"
    heavy = bound_of([-0.5, -0.5, 0.25, *[0.0] * 37], [4.0, 4.0, *[1.0] * 38])
    assert heavy.lo < found.lo, "heavier queries may be more of the whole"


def test_without_a_difference_there_is_no_bound_and_it_says_so() -> None:
    assert bound_of([0.0] * 30).reason == "no query differs"
    assert np.isnan(bound_of([0.0] * 30).lo)
    assert np.isnan(bound_of([3.0, *[0.0] * 30]).lo), "a count may fall by more than 1"


def test_ten_perfect_queries_do_not_bound_a_mean_by_one() -> None:
    found = mean_bound(np.ones(10), np.ones(10), parse("RR"), 0.95)
    assert found.lo == pytest.approx(10 / (10 + stats.norm.ppf(0.95) ** 2))


@examples(60)
@given(VALUES, st.randoms())
def test_a_bound_for_every_look_does_not_depend_on_the_order_of_queries(values, shuffler) -> None:
    shuffled = list(values)
    shuffler.shuffle(shuffled)
    found = anytime_mean_bound(np.array(values), 0.95)
    again = anytime_mean_bound(np.array(shuffled), 0.95)
    assert found.lo == pytest.approx(again.lo, abs=1e-9)
    assert 0 <= found.lo <= np.mean(values) + 1e-12
    assert anytime_mean_bound(np.array(values), 0.99).lo <= found.lo + 1e-9


def test_a_bound_for_every_look_is_the_mean_at_which_the_bets_have_won_enough() -> None:
    """One bet worked by hand: ten values of 1 win (1 + c (1 / m - 1)) ** 10."""
    from labeler.stats.confidence_bounds import BET_SIZES

    bound = anytime_mean_bound(np.ones(10), 0.95).lo
    wealth = np.mean((1 + BET_SIZES * (1 / bound - 1)) ** 10)
    assert wealth == pytest.approx(20, rel=1e-6)


def test_more_queries_raise_a_bound_for_every_look_towards_the_mean() -> None:
    half = np.array([0.0, 1.0, 0.5, 0.5])
    bounds = [anytime_mean_bound(np.tile(half, times), 0.95).lo for times in (1, 5, 25, 250)]
    assert bounds == sorted(bounds)
    assert 0.45 < bounds[-1] < 0.5
    assert anytime_difference_bound(np.zeros(400), 0.95).lo > -0.01
    assert anytime_mean_bound(np.zeros(5), 0.95).lo == pytest.approx(0, abs=1e-9)
    assert anytime_mean_bound(np.array([]), 0.95).reason == "no query counts"

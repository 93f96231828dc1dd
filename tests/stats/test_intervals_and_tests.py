"""How sure a difference is: tests against scipy's, Wilson's interval, Holm and power."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from labeler.stats import (
    DRAWS,
    EXACT,
    detectable_difference,
    holm,
    p_values,
    queries_needed,
    resolve_p_value,
    wilson_interval,
)
from labeler.stats.paired_tests import SMALLEST_P
from tests.support.examples import examples

DRAW = np.random.default_rng(5)
SKEWED = np.round(DRAW.exponential(0.2, 60) - 0.15, 3)
FEW = np.array([0.3, -0.1, 0.25, 0.0, 0.4, 0.1, -0.05, 0.0, 0.2])


def mean(values, axis):
    return np.mean(values, axis=axis)


# The randomisation test ---------------------------------------------------------------------------


def test_up_to_sixteen_differences_all_flips_are_counted_as_scipy_counts_them() -> None:
    sixteen = np.round(DRAW.normal(0.1, 0.3, EXACT), 2)
    for sample in (FEW, sixteen, np.append(sixteen, [0.0] * 30)):
        [found] = p_values([sample])
        moved = sample[sample != 0]
        theirs = stats.permutation_test(
            (moved,), mean, permutation_type="samples", n_resamples=np.inf, vectorized=True
        )
        assert found.exact
        assert found.p == pytest.approx(theirs.pvalue, abs=1e-15)


def test_an_exact_p_value_is_a_share_of_all_flips_without_one_more() -> None:
    assert p_values([np.array([0.5] * 5)])[0].p == 2 / 2**5
    assert p_values([np.array([0.5] * 5 + [0.0] * 7)])[0].p == 2 / 2**5
    moved = FEW[FEW != 0]
    signs = np.array(list(product((1, -1), repeat=len(moved))))
    as_large = np.abs((signs * moved).mean(axis=1)) >= abs(moved.mean()) - 1e-12
    assert p_values([FEW])[0].p == as_large.mean()


def test_more_than_sixteen_differences_are_drawn_and_agree_with_scipy() -> None:
    for shift in (0.0, 0.05, 0.1):
        sample = SKEWED + shift
        [found] = p_values([sample])
        theirs = stats.permutation_test(
            (sample,),
            mean,
            permutation_type="samples",
            n_resamples=200_000,
            vectorized=True,
            batch=2_000,
            rng=np.random.default_rng(1),
        )
        error = math.sqrt(theirs.pvalue * (1 - theirs.pvalue) / DRAWS)
        assert not found.exact
        assert found.p == pytest.approx(theirs.pvalue, abs=4 * error + 1e-4)


def test_a_drawn_p_value_counts_what_was_seen_among_the_draws() -> None:
    [found] = p_values([np.array([0.5] * 40)])
    assert found.p == SMALLEST_P == 1 / (DRAWS + 1), "no draw is as large: (0 + 1) / (B + 1)"
    assert (found.p * (DRAWS + 1)) % 1 == pytest.approx(0, abs=1e-9)


def test_a_draw_that_only_rounding_keeps_below_counts_as_as_large() -> None:
    """Sums of tenths in another order fall short by a bit; every flip here is as large."""
    third = np.array([0.1, 0.2, 0.3, -0.6, 0.1 + 0.2, -0.3])
    assert p_values([third])[0].p == 1.0
    many = np.array([0.1, 0.2, 0.3] * 10)
    shuffled = many[np.random.default_rng(0).permutation(len(many))]
    ours = [p.p for p in p_values([many, shuffled / 3 * 3])]
    assert ours[0] == pytest.approx(ours[1], abs=0.01)


def test_what_cannot_be_tested_has_no_p_value() -> None:
    empty, one, ties = p_values([np.array([]), np.array([0.5]), np.zeros(20)])
    assert math.isnan(empty.p)
    assert math.isnan(one.p)
    assert ties.p == 1.0, "no query differs: every flip is as large"
    assert p_values([]) == []


def test_a_p_value_does_not_depend_on_what_else_is_tested() -> None:
    samples = [SKEWED, SKEWED[:30], FEW, SKEWED * 3, SKEWED[:47]]
    together = p_values(samples)
    assert together == [p_values([sample])[0] for sample in samples]
    assert together[0] == together[3], "nor on the unit"


SAMPLES = st.lists(st.sampled_from([0.0, 0.0, 0.1, -0.1, 0.25, 1.0, -1.0, 1 / 3]), max_size=40)


@examples(50)
@given(SAMPLES)
def test_a_p_value_is_a_chance_and_has_no_side(values: list[float]) -> None:
    sample = np.array(values)
    [there, back] = p_values([sample, -sample])
    assert there == back or math.isnan(there.p)
    assert math.isnan(there.p) == (len(values) < 2)
    assert math.isnan(there.p) or 0 < there.p <= 1


def test_the_draws_are_the_same_on_every_machine() -> None:
    """These digits were printed once; another machine, or another order of adding, prints them."""
    assert p_values([SKEWED])[0].p == 0.3234676532346765


# Wilson's interval --------------------------------------------------------------------------------


def test_wilson_is_that_of_scipy() -> None:
    for ones, n in [(0, 1), (1, 1), (0, 10), (8, 10), (50, 97), (97, 97), (3, 1000)]:
        theirs = stats.binomtest(ones, n).proportion_ci(method="wilson")
        found = wilson_interval(ones, n)
        assert (found.lo, found.hi) == pytest.approx((theirs.low, theirs.high), abs=1e-12)
        assert found.method == "Wilson"
    assert wilson_interval(0, 0).reason == "no query counts"


# Families, and what so many queries can show ------------------------------------------------------


def test_holm_is_that_of_r() -> None:
    """R 4.3: p.adjust(c(0.01, 0.02, 0.03, 0.04, 0.05), "holm")."""
    assert holm([0.05, 0.01, 0.04, 0.02, 0.03]).round(10).tolist() == [0.09, 0.05, 0.09, 0.08, 0.09]
    assert holm([0.6, 0.7]).tolist() == [1.0, 1.0], "a chance is at most 1"
    assert holm([]).tolist() == []


@given(st.lists(st.floats(0, 1) | st.just(math.nan), max_size=20))
def test_a_corrected_chance_is_never_smaller_and_keeps_the_order(p_values: list[float]) -> None:
    found = holm(p_values).tolist()
    for p, corrected in zip(p_values, found, strict=True):
        assert math.isnan(corrected) if math.isnan(p) else p <= corrected <= 1
    known = sorted((p, c) for p, c in zip(p_values, found, strict=True) if not math.isnan(p))
    assert [c for _, c in known] == sorted(c for _, c in known)


def test_the_smallest_difference_found_is_found_four_times_of_five() -> None:
    """Simulated: samples whose true mean is what is called detectable, tested at 5%."""
    spread = np.random.default_rng(3).normal(0, 0.3, (4_000, 100))
    reach = detectable_difference(spread[0] / spread[0].std(ddof=1) * 0.3)
    shown = stats.ttest_1samp(spread + reach, 0.0, axis=1).pvalue < 0.05
    assert shown.mean() == pytest.approx(0.8, abs=0.02)


def test_with_as_many_queries_as_are_needed_the_difference_seen_is_detectable() -> None:
    sample = SKEWED + 0.02
    more = queries_needed(sample)
    assert more
    n = len(sample) + more
    assert detectable_difference(sample) * math.sqrt(len(sample) / n) <= abs(sample.mean())
    assert detectable_difference(sample) * math.sqrt(len(sample) / (n - 1)) > abs(sample.mean())
    assert queries_needed(SKEWED + 1) == 0, "there are enough"


@pytest.mark.parametrize("sample", [[], [0.5], [0.25] * 9, [0.0] * 9])
def test_without_a_spread_nothing_is_said_of_what_could_be_shown(sample: list[float]) -> None:
    assert math.isnan(detectable_difference(np.array(sample)))
    assert queries_needed(np.array(sample)) is None


def test_a_p_value_that_draws_cannot_resolve_is_bounded_from_above() -> None:
    many = np.array([0.5] * 200 + [-0.1] * 20)
    drawn, exact = p_values([many, FEW])
    assert drawn.p == SMALLEST_P
    normal = 2 * stats.norm.sf(many.sum() / np.sqrt(np.sum(many**2)))
    assert normal < resolve_p_value(drawn, many) < 1e-30
    assert resolve_p_value(exact, FEW) == exact.p
    [large] = p_values([SKEWED])
    assert resolve_p_value(large, SKEWED) == large.p, "the bound is only for the smallest"

"""More than chance: the t-test against scipy's numbers, Holm's against R's, and what never counts.

tests/goldens/t_test.json was made by scipy 1.17.1 with ``python tests/goldens/make_t_test.py``.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeler.comparison import FEW, beyond_chance, holm, t_test, two_sided

GOLDEN: dict[str, Any] = json.loads(
    (Path(__file__).parent / "goldens" / "t_test.json").read_text(encoding="utf-8")
)


def p_of(*differences: float) -> float:
    [p] = t_test(np.array(differences), np.zeros(len(differences), dtype=np.int64), 1).tolist()
    return float(p)


def test_the_golden_numbers_say_how_they_were_made() -> None:
    assert GOLDEN["made by"] == "python tests/goldens/make_t_test.py, with scipy 1.17.1"


@pytest.mark.parametrize(("t", "df", "p"), GOLDEN["two_sided"])
def test_students_t_is_that_of_scipy(t: float, df: int, p: float) -> None:
    assert two_sided(t, df) == pytest.approx(p, abs=1e-13)
    assert two_sided(-t, df) == two_sided(t, df)


@pytest.mark.parametrize(("differences", "p"), GOLDEN["t_test"])
def test_the_t_test_is_that_of_scipy(differences: list[float], p: float) -> None:
    assert p_of(*differences) == pytest.approx(p, abs=1e-13)


def test_students_own_sleep_data_have_the_p_value_he_published() -> None:
    """Student (1908), The probable error of a mean: hours of sleep gained by ten patients."""
    assert p_of(1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4) == pytest.approx(
        0.00283, abs=5e-6
    )


def test_equal_differences_are_no_chance_and_none_at_all_is_no_evidence() -> None:
    assert p_of(0.5, 0.5, 0.5) == 0.0
    assert p_of(0.1, 0.1, 0.1) == pytest.approx(0.0, abs=1e-12)
    assert p_of(0.0, 0.0, 0.0) == 1.0
    assert p_of(0.5, -0.5) == 1.0
    assert math.isnan(p_of(0.5))
    assert math.isnan(p_of())


def test_each_group_is_tested_alone_and_what_has_no_value_is_left_out() -> None:
    delta = np.array([0.1, 0.4, math.nan, 0.3, 9.0, -1.0])
    p = t_test(delta, np.array([0, 0, 0, 1, 2, 1]), 2)
    assert p.tolist() == [p_of(0.1, 0.4), p_of(0.3, -1.0)]
    assert p[0] != p_of(0.1, 0.4, 0.0)


def test_holm_is_that_of_r() -> None:
    """R 4.3: p.adjust(c(0.01, 0.02, 0.03, 0.04, 0.05), "holm")."""
    assert holm([0.05, 0.01, 0.04, 0.02, 0.03]).round(10).tolist() == [0.09, 0.05, 0.09, 0.08, 0.09]
    assert holm([0.6, 0.7]).tolist() == [1.0, 1.0], "a chance is at most 1"
    assert holm([]).tolist() == []


def test_the_more_is_looked_at_the_more_a_difference_has_to_show() -> None:
    assert beyond_chance([0.04], [10]).tolist() == [True]
    assert beyond_chance([0.04, 0.5], [10, 10]).tolist() == [False, False]
    assert beyond_chance([0.04, math.nan], [10, 10]).tolist() == [True, False]
    assert beyond_chance([0.04, 0.5], [10, FEW - 1]).tolist() == [True, False], "not looked at"
    assert beyond_chance([0.0], [FEW - 1]).tolist() == [False]
    assert beyond_chance([], []).tolist() == []


P_VALUES = st.lists(st.floats(0, 1) | st.just(math.nan), max_size=20)


@given(P_VALUES)
def test_a_corrected_chance_is_never_smaller_and_keeps_the_order(p_values: list[float]) -> None:
    found = holm(p_values).tolist()
    for p, corrected in zip(p_values, found, strict=True):
        assert math.isnan(corrected) if math.isnan(p) else p <= corrected <= 1
    known = sorted((p, c) for p, c in zip(p_values, found, strict=True) if not math.isnan(p))
    assert [c for _, c in known] == sorted(c for _, c in known)


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=30))
def test_a_p_value_is_a_chance_and_has_no_side(differences: list[float]) -> None:
    p = p_of(*differences)
    assert 0 <= p <= 1
    assert p_of(*(-each for each in differences)) == p

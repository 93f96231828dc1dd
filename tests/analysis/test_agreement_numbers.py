"""Coefficients against published values, and against their definitions worked out pair by pair."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeler.analysis.agreement import (
    METRICS,
    Agreement,
    GradeMatrix,
    compute_agreement,
)
from labeler.errors import BadInput
from tests.support.examples import examples

Ratings = Sequence[Sequence[int | None]]
__ = None

# Krippendorff (2011), Computing Krippendorff's alpha-reliability: four observers, twelve units.
FOUR_OBSERVERS: Ratings = (
    (1, 2, 3, 3, 2, 1, 4, 1, 2, __, __, __),
    (1, 2, 3, 3, 2, 2, 4, 1, 2, 5, __, 3),
    (__, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, __),
    (1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, __),
)
# The example in the article on Krippendorff's alpha in Wikipedia: three coders, fifteen units.
THREE_CODERS: Ratings = (
    (__, __, __, __, __, 3, 4, 1, 2, 1, 1, 3, 3, __, 3),
    (1, __, 2, 1, 3, 3, 4, 3, __, __, __, __, __, __, __),
    (__, __, 2, 1, 3, 4, 4, __, 2, 1, 1, 3, 3, __, 4),
)
# Fleiss (1971), Measuring nominal scale agreement: 30 patients, 6 psychiatrists, 5 diagnoses. Each
# line says how many gave which diagnosis.
DIAGNOSES = """
00060 03003 01401 00006 03030 20400 00402 20310 20040 00006
10050 11040 03300 10050 02031 00501 30012 51000 02040 10203
00006 01050 02013 20040 10041 05010 40002 02040 10500 00006
"""
# The example in the article on Fleiss' kappa in Wikipedia: 10 subjects, 14 raters, 5 categories.
FOURTEEN_RATERS = """
0,0,0,0,14 0,2,6,4,2 0,0,3,5,6 0,3,9,2,0 2,2,8,1,1
7,7,0,0,0 3,2,6,3,0 2,5,3,2,2 6,5,2,1,0 0,2,2,3,7
"""
# The data set "anxiety" of R's package irr, its second and third rater. No one gave them a 5, but
# a 4 and a 6 are two apart.
ANXIETY = (
    (3, 6, 4, 6, 2, 4, 2, 4, 3, 3, 2, 3, 3, 3, 2, 2, 1, 3, 3, 4),
    (2, 1, 4, 4, 3, 2, 1, 6, 1, 1, 1, 2, 3, 3, 1, 1, 3, 3, 2, 2),
)


def measured(ratings: Ratings, **more) -> Agreement:
    return compute_agreement(GradeMatrix.of_ratings(ratings), **more)


def one_column_each(counts: Sequence[Sequence[int]]) -> list[list[int]]:
    """Make up raters who together gave these grades; who gave which matters to nobody here."""
    columns = [np.repeat(np.arange(len(row)), row).tolist() for row in counts]
    return [list(row) for row in zip(*columns, strict=True)]


# --- published values ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ratings", "metric", "published"),
    [
        (FOUR_OBSERVERS, "nominal", 0.743),
        (FOUR_OBSERVERS, "ordinal", 0.815),
        (FOUR_OBSERVERS, "interval", 0.849),
        (THREE_CODERS, "nominal", 0.691),
        (THREE_CODERS, "ordinal", 0.807),
        (THREE_CODERS, "interval", 0.811),
    ],
    ids=str,
)
def test_alpha_with_missing_grades_is_the_published_one(ratings, metric, published):
    assert measured(ratings, metric=metric).alpha.value == pytest.approx(published, abs=5e-4)


def test_alpha_rests_on_the_chunks_that_two_or_more_graded():
    assert measured(FOUR_OBSERVERS).alpha.n == 11, "the twelfth unit has one observer"
    assert measured(THREE_CODERS).alpha.n == 12


def test_fleiss_kappa_is_the_published_one():
    diagnoses = [[int(digit) for digit in line] for line in DIAGNOSES.split()]
    found = measured(one_column_each(diagnoses)).fleiss
    assert (found.value, found.n) == (pytest.approx(0.4302445, abs=5e-8), 30)
    raters = [[int(number) for number in line.split(",")] for line in FOURTEEN_RATERS.split()]
    assert measured(one_column_each(raters)).fleiss.value == pytest.approx(0.210, abs=5e-4)


def test_weights_are_of_the_grades_and_not_of_their_places_among_those_in_use():
    [pair] = measured(ANXIETY).pairs
    assert pair.kappa.value == pytest.approx(0.2297980, abs=5e-8)
    closed_up = [[each - (each > 5) for each in row] for row in ANXIETY]
    [pair] = measured(closed_up).pairs
    assert pair.kappa.value == pytest.approx(0.2520325, abs=5e-8), "what irr prints, closing gaps"


# --- definitions, worked out pair by pair in whole numbers ------------------------------------


def defined_alpha(ratings: Ratings, metric: str) -> Fraction | None:
    """Krippendorff's alpha: 1 - observed / expected disagreement over pairs of values."""
    units = [[row[at] for row in ratings if row[at] is not None] for at in range(len(ratings[0]))]
    units = [unit for unit in units if len(unit) > 1]
    values = [value for unit in units for value in unit]
    counts = Counter(values)

    def apart(one: int, other: int) -> Fraction:
        if metric == "nominal":
            return Fraction(one != other)
        if metric == "interval":
            return Fraction(one - other) ** 2
        low, high = sorted((one, other))
        between = sum(count for value, count in counts.items() if low <= value <= high)
        return (between - Fraction(counts[low] + counts[high], 2)) ** 2

    expected = sum((apart(*two) for two in permutations(values, 2)), Fraction())
    if not expected:
        return None
    observed = sum(
        (apart(*two) / (len(unit) - 1) for unit in units for two in permutations(unit, 2)),
        Fraction(),
    )
    return 1 - observed * (len(values) - 1) / expected


def defined_kappa(ratings: Ratings) -> Fraction | None:
    """Cohen's kappa: 1 - mean squared difference of pairs / that of all with all."""
    pairs = [pair for pair in zip(*ratings, strict=True) if None not in pair]
    seen = sum((Fraction(one - other) ** 2 for one, other in pairs), Fraction())
    chance = sum((Fraction(one - other) ** 2 for one, _ in pairs for _, other in pairs), Fraction())
    return 1 - seen * len(pairs) / chance if chance else None


def defined_fleiss(ratings: Ratings) -> Fraction | None:
    """Fleiss' kappa: the chance that two graders agree, against two grades of any chunks."""
    units = [unit for unit in zip(*ratings, strict=True) if None not in unit]
    values = [value for unit in units for value in unit]
    pairs = [two for unit in units for two in combinations(unit, 2)]
    if not pairs:
        return None
    seen = Fraction(sum(one == other for one, other in pairs), len(pairs))
    chance = sum((Fraction(count, len(values)) ** 2 for count in Counter(values).values()), 0)
    return None if chance == 1 else (seen - chance) / (1 - chance)


@st.composite
def sheets(draw, least: int = 2, most: int = 4) -> list[list[int | None]]:
    """Give ratings of a few graders with unjudged chunks, some grades being rare."""
    often = draw(st.sampled_from([(0, 1, 2, 3), (0, 0, 0, 0, 3), (0, 0, 0, 1, 3), (2, 2)]))
    cell = st.one_of(st.none(), st.sampled_from(often))
    chunks = draw(st.integers(1, 12))
    return [
        draw(st.lists(cell, min_size=chunks, max_size=chunks))
        for _ in range(draw(st.integers(least, most)))
    ]


def agrees(found: float, defined: Fraction | None) -> bool:
    return (
        math.isnan(found) if defined is None else found == pytest.approx(float(defined), abs=1e-12)
    )


@examples(60)
@given(sheets())
def test_every_number_is_as_defined(ratings: Ratings):
    for metric in METRICS:
        found = measured(ratings, metric=metric)
        assert agrees(found.alpha.value, defined_alpha(ratings, metric))
    assert agrees(found.fleiss.value, defined_fleiss(ratings))
    for pair, (one, other) in zip(found.pairs, combinations(ratings, 2), strict=True):
        assert agrees(pair.kappa.value, defined_kappa([one, other]))
    whole = [unit for unit in zip(*ratings, strict=True) if None not in unit]
    if whole:
        pairs = [one == other for unit in whole for one, other in combinations(unit, 2)]
        assert agrees(found.same.value, Fraction(sum(pairs), len(pairs)))
        same = sum(len(set(unit)) == 1 for unit in whole)
        assert agrees(found.all_same.value, Fraction(same, len(whole)))


# --- where there is no number -----------------------------------------------------------------


def test_a_constant_grader_has_kappa_0_and_it_is_said():
    [pair] = measured([[0, 1, 2, 3, 1], [2, 2, 2, 2, 2]]).pairs
    assert pair.kappa.value == 0
    assert pair.kappa.reason is None
    assert pair.notes == ("2 gave 2 to all 5 passages, so kappa is 0",)
    [pair] = measured([[1, 1, 1], [2, 2, 2]]).pairs
    assert pair.kappa.value == 0, "two constants that differ: all of it was to be expected"


def test_where_both_gave_one_grade_to_all_kappa_and_alpha_are_not_defined():
    found = measured([[2, 2, 2, __], [2, 2, 2, 2]])
    [pair] = found.pairs
    for each in (pair.kappa, found.alpha, found.fleiss):
        assert math.isnan(each.value)
        assert "no disagreement is to be expected" in str(each.reason)
        assert each.n == 3
    assert pair.same.value == found.same.value == found.all_same.value == 1
    assert pair.notes == ()


def test_without_a_chunk_in_common_there_is_no_number_but_a_reason():
    found = measured([[1, 2, __, __], [__, __, 3, 0]])
    numbers = [found.alpha, found.fleiss, found.same, found.pairs[0].kappa, found.pairs[0].same]
    for each in numbers:
        assert math.isnan(each.value)
        assert each.n == each.queries == 0
        assert str(each.reason).startswith("no passage was graded by")


def test_one_grader_and_none_have_no_pairs_and_no_alpha():
    alone = measured([[1, 2, 3]])
    assert (alone.pairs, alone.alpha.n) == ((), 0)
    assert math.isnan(alone.alpha.value)
    assert math.isnan(alone.fleiss.value)
    nobody = compute_agreement(GradeMatrix.of_grades([]))
    assert math.isnan(nobody.alpha.value)


@pytest.mark.parametrize("ratings", [[], [[1, 2], [1]]], ids=["none", "ragged"])
def test_ratings_that_are_no_grid_are_refused(ratings):
    with pytest.raises(BadInput, match="a row for each grader"):
        GradeMatrix.of_ratings(ratings)


def test_every_chunk_needs_its_query():
    with pytest.raises(BadInput, match="3 chunks need as many queries, not 2"):
        GradeMatrix.of_ratings([[1, 2, 3]], ["q1", "q2"])


# --- intervals ---------------------------------------------------------------------------------


def of_queries(number: int, seed: int = 1) -> tuple[list[list[int]], list[str]]:
    """Two graders who mostly agree, over three chunks of each query."""
    random = np.random.default_rng(seed)
    one = random.integers(0, 4, number * 3)
    other = np.where(random.random(number * 3) < 0.7, one, random.integers(0, 4, number * 3))
    return [one.tolist(), other.tolist()], [f"q{at // 3}" for at in range(number * 3)]


def test_an_interval_holds_its_number_and_is_the_same_every_time():
    ratings, queries = of_queries(40)
    found, again = (compute_agreement(GradeMatrix.of_ratings(ratings, queries)) for _ in range(2))
    for one, other in (
        (found.alpha, again.alpha),
        (found.fleiss, again.fleiss),
        (found.pairs[0].kappa, again.pairs[0].kappa),
    ):
        assert one.low < one.value < one.high
        assert (one.low, one.high) == (other.low, other.high)


def test_queries_are_left_out_and_not_chunks():
    """Three copies of every chunk in its query add nothing: the interval stays where it was."""
    ratings, queries = of_queries(40)
    few = compute_agreement(GradeMatrix.of_ratings(ratings, queries)).pairs[0].kappa
    many = (
        compute_agreement(GradeMatrix.of_ratings([row * 3 for row in ratings], queries * 3))
        .pairs[0]
        .kappa
    )
    assert (many.value, many.low, many.high) == pytest.approx((few.value, few.low, few.high))
    assert many.n == 3 * few.n
    assert many.queries == few.queries == 40


def test_more_queries_make_an_interval_narrower():
    few, many = (
        compute_agreement(GradeMatrix.of_ratings(*of_queries(number))).alpha for number in (20, 200)
    )
    assert many.high - many.low < (few.high - few.low) / 2


def test_one_query_has_a_value_and_no_interval():
    found = measured(FOUR_OBSERVERS).alpha
    assert found.unsure == "it rests on one query"
    assert math.isnan(found.low)
    assert math.isnan(found.high)


@pytest.mark.parametrize(
    ("ratings", "queries", "why"),
    [
        ([[1, 2, 1], [1, 3, 1]], "aab", "it is not defined without one of the queries"),
        ([[1, 2, 1, 2], [1, 2, 1, 2]], "aabb", "it is exactly 1"),
        ([[0, 3, 0, 3], [1, 3, 1, 3]], "aabb", "it is the same without any one of the queries"),
    ],
)
def test_queries_that_say_nothing_of_others_give_no_interval(ratings, queries, why):
    found = compute_agreement(GradeMatrix.of_ratings(ratings, list(queries))).pairs[0].kappa
    assert math.isnan(found.low)
    assert found.unsure == why


def test_an_interval_stays_between_the_least_and_the_largest_value():
    """All differences are in two of ten queries: an interval of equal sides would leave it."""
    one = [0, 1, 2, 3] * 10
    other = [*one[:32], 1, 1, 2, 3, 0, 2, 2, 3]
    names = [f"q{at // 4}" for at in range(40)]
    found = compute_agreement(GradeMatrix.of_ratings([one, other], names))
    for each in (found.alpha, found.same, found.pairs[0].kappa):
        assert 0 < each.low < each.value < each.high < 1

"""Measures on arrays of grades: worked examples, and traps."""

from __future__ import annotations

import numpy as np
import pytest

from labeler.errors import BadInput
from labeler.measures import MEASURES, Hits, parse, rbp_residual, score
from tests.support.rankings import OF_CHUNKS, Row, value, values


def near(expected: float | np.floating, digits: int = 4) -> object:
    return pytest.approx(expected, abs=0.5 * 10**-digits)


# Worked examples --------------------------------------------------------------------------------

TEN = [None, 3, None, 1, None, 2, None, None, 3, None]


def test_ten_chunks_with_four_relevant() -> None:
    """A tutorial prints R@3 = .50 for this list: it counted the chunk at rank 4."""
    assert value("R@3", TEN) == 0.25
    assert value("R@3", TEN) != 0.50
    assert value("R@5", TEN) == 0.50
    assert value("R@10", TEN) == 1.0
    assert value("RR", TEN) == 0.5
    assert value("P@5", TEN) == 0.4
    assert value("P@10", TEN) == 0.4
    assert value("Success@1", TEN) == 0
    assert value("Success@2", TEN) == 1
    assert value("AP", TEN) == near(0.4861)


def test_ten_chunks_give_another_ndcg_for_each_gain() -> None:
    """Both are printed as "the" nDCG@10: 2^g - 1 gives .6011 (8.0230 / 13.3472), g gives .6229."""
    assert value("nDCG(dcg='exp-log2')@10", TEN) == near(0.6011)
    assert value("nDCG(dcg='exp-log2')@10", TEN) == near(8.0230 / 13.3472)
    assert value("nDCG(dcg='log2')@10", TEN) == near(0.6229)


def test_three_graded_chunks_in_nearly_the_best_order() -> None:
    assert value("nDCG(dcg='log2')", [2, 3, 1]) == near(0.9225)
    assert value("nDCG(dcg='log2')", [2, 3, 1]) != 1.0


def test_five_binary_grades() -> None:
    """DCG 1.4485 over an ideal of 2.1309; taken from the top 3 alone the ideal would be wrong."""
    assert value("nDCG(dcg='log2')@5", [0, 1, 0, 1, 1]) == near(1.4485 / 2.1309)
    assert value("nDCG(dcg='log2')@5", [0, 1, 0, 1, 1]) == near(0.6797)
    assert value("nDCG(dcg='exp-log2')@5", [0, 1, 0, 1, 1]) == near(0.6797), "0 and 1 gain the same"


@pytest.mark.parametrize(("firsts", "mean"), [([3, 1, 2], 0.6111), ([2, 1, 5], 0.5667)])
def test_the_mean_of_reciprocal_ranks(firsts: list[int], mean: float) -> None:
    rows: list[Row] = [([0] * (k - 1) + [1], []) for k in firsts]
    assert values("RR", rows).mean() == near(mean)
    assert values("RR", rows).mean() != near(1 / np.mean(firsts)), "not 1 / the mean rank"


THREE: list[Row] = [
    ([1, None, 1, None], []),
    ([None, 1, None], []),
    ([1, 1, None, 1], []),
]


def test_three_queries_with_short_lists() -> None:
    """P@5 is .400: divided by the list's length it would be .528.

    The tutorial's own comment says its parts are .43, .78, .61 and .74, which they are not.
    """
    assert values("P@5", THREE).mean() == near(0.400, 3)
    assert values("P@5", THREE).mean() != near(0.528, 3)
    assert values("R@5", THREE).mean() == 1.0
    assert values("RR", THREE).mean() == near(0.833, 3)
    assert values("nDCG@5", THREE).mean() == near(0.839, 3)


def test_moving_a_relevant_chunk_up_is_seen_by_rank_measures_only() -> None:
    bottom, top = [None, None, None, None, 1], [1, None, None, None, None]
    for blind in ("P@5", "R@5", "Success@5"):
        assert value(blind, bottom) == value(blind, top)
    for seeing in ("RR", "nDCG@5", "AP"):
        assert value(seeing, bottom) < value(seeing, top)


def test_two_systems_with_the_same_recall() -> None:
    """R@10 is 1 for both, which hides that one of them puts everything at the bottom."""
    a: list[int | None] = [int(rank in (1, 4, 8, 10)) for rank in range(1, 11)]
    b: list[int | None] = [int(rank in (7, 8, 9, 10)) for rank in range(1, 11)]
    both: list[Row] = [(a, []), (b, [])]
    assert values("R@10", both).tolist() == [1.0, 1.0]
    assert values("RR", both).tolist() == [1.0, near(0.1429)]
    assert values("nDCG@10", both).tolist() == [near(0.7945), near(0.4836)]
    assert values("AP", both).tolist() == [near(0.5688), near(0.2815)]


def test_r_precision_looks_as_deep_as_chunks_are_relevant() -> None:
    """Four are relevant, two of them in the top four."""
    assert value("Rprec", TEN) == 0.5
    assert value("Rprec(rel=2)", TEN) == near(1 / 3), "rank 4 is no longer looked at"
    assert value("Rprec", TEN, missed=[1, 1, 1, 1]) == 3 / 8


def test_bpref_counts_graded_chunks_above_only() -> None:
    """The example of its authors: what nobody graded is as if it were not there."""
    assert value("Bpref", [1, 0, 1, None]) == 0.5, (
        "one of one known worse chunk is above the second"
    )
    assert value("Bpref", [None, None, 1, None, 1, 0]) == 1.0
    assert value("Bpref", [1, 0, 1], missed=[0]) == 0.75, "divided by min(R, N), not by those seen"
    assert value("Bpref", [0, 0, 1], missed=[1]) == 0.0
    assert value("Bpref", [0, 0, 0, 1], missed=[0]) == 0.0, "never below 0"


def test_rank_biased_precision_is_a_weighted_share() -> None:
    """.2 · (.8 + .8^3 + .8^5 + .8^8) by hand."""
    assert value("RBP(p=0.8)", TEN) == near(0.2 * (0.8 + 0.512 + 0.32768 + 0.16777))
    assert value("RBP(p=0.5)", TEN) == near(0.5**2 + 0.5**4 + 0.5**6 + 0.5**9)
    assert value("RBP(p=0.8, rel=2)@6", TEN) == near(0.2 * (0.8 + 0.32768))
    assert value("RBP(p=0.5)", [1]) == 0.5, "a perfect list of one is not 1"
    assert value("RBP(p=0.39709788892019515)", [1] * 40) == 1.0, "its weights add up to more"


def test_the_residual_is_what_the_ungraded_could_add() -> None:
    """And what stands below the end: RBP lies between the value and their sum."""
    ranking = [1, None, 0, None]
    hits = Hits.of([ranking])
    best = value("RBP(p=0.6)", [1, 1, 0, 1]) + 0.6**4
    assert rbp_residual(hits, p=0.6).tolist() == [near(best - value("RBP(p=0.6)", ranking), 12)]
    assert rbp_residual(hits, 1, p=0.6).tolist() == [near(0.6, 12)], "all below rank 1"
    assert rbp_residual(Hits.of([[1] * 400]), p=0.6).tolist() == [near(0, 12)]


def test_expected_reciprocal_rank_by_hand() -> None:
    """Grades 3 2 0 1: 7/8 stop at once, 3/8 of the rest at rank 2, 1/8 of those left at rank 4."""
    by_hand = 7 / 8 + (1 / 8) * (3 / 8) / 2 + (1 / 8) * (5 / 8) * (1 / 8) / 4
    assert value("ERR", [3, 2, 0, 1]) == near(by_hand, 12)
    assert value("ERR", [3, 2, None, 1]) == near(by_hand, 12), "what nobody graded stops nobody"
    assert value("ERR@1", [3, 2, 0, 1]) == 7 / 8
    assert value("ERR(max=4)@1", [3, 2, 0, 1]) == 7 / 16, "gdeval's scale has a grade 4"


def test_sets_know_no_order_and_divide_by_the_list() -> None:
    ranking = [0, 1, None, 1, None]
    assert value("SetP", ranking, missed=[1]) == 0.4
    assert value("SetP", ranking[::-1], missed=[1]) == 0.4
    assert value("SetP(judged_only=True)", ranking, missed=[1]) == near(2 / 3)
    assert value("SetR", ranking, missed=[1]) == near(2 / 3)
    assert value("SetF", ranking, missed=[1]) == near(0.5)


def test_set_f_does_not_square_beta() -> None:
    """P = .4, R = 2/3. What textbooks call F2, 5PR / (4P + R), is trec_eval's beta of 4."""
    ranking, p, r = [0, 1, None, 1, None], 0.4, 2 / 3
    assert value("SetF(beta=2.0)", ranking, missed=[1]) == near(3 * p * r / (r + 2 * p), 12)
    assert value("SetF(beta=2.0)", ranking, missed=[1]) != near(5 * p * r / (4 * p + r))
    assert value("SetF(beta=4.0)", ranking, missed=[1]) == near(5 * p * r / (4 * p + r), 12)


def test_f1_is_the_harmonic_mean_of_p_and_r_at_k() -> None:
    p, r = value("P@5", TEN, missed=[1]), value("R@5", TEN, missed=[1])
    assert value("F1@5", TEN, missed=[1]) == near(2 * p * r / (p + r), 12)
    assert value("F1@5", [1]) == near(2 * 0.2 / 1.2), "P@5 of a short list divides by 5"


def test_counts_are_not_shares() -> None:
    assert value("NumRet", TEN) == 10
    assert value("NumRet(rel=2)", TEN, missed=[3]) == 3
    assert value("NumRel(rel=2)", TEN, missed=[3]) == 4
    assert [d.name for d in MEASURES.values() if d.count] == ["NumRet", "NumRel"]


def test_own_gains_take_the_place_of_the_formula() -> None:
    """DCG 100/1 + 1/log2(3), ideal 100/1 + 10/log2(3) + 1/2."""
    own = "nDCG(gains={0: 0, 1: 1, 2: 10, 3: 100})"
    expected = (100 + 1 / np.log2(3)) / (100 + 10 / np.log2(3) + 1 / 2)
    assert value(own, [3, 1], missed=[2]) == near(expected, 12)
    ranking = [2, None, 3, 1]
    for gains, name in (("{1: 1}", "log2"), ("{1: 1, 2: 3, 3: 7}", "exp-log2")):
        assert value(f"nDCG(gains={gains})@3", ranking) == value(f"nDCG(dcg='{name}')@3", ranking)


def test_judged_only_drops_what_nobody_graded_before_it_counts_ranks() -> None:
    ranking = [None, 0, None, 1, 2]
    assert value("RR(judged_only=True)", ranking) == 0.5
    assert value("RR", ranking) == 0.25
    for name in ("nDCG", "P", "R", "Success", "AP", "F1"):
        left = value(f"{name}(judged_only=True)@2", ranking, missed=[3])
        assert left == value(f"{name}@2", [0, 1, 2], missed=[3]), name
    assert value("P(judged_only=True)@2", [None, 1]) == 0.5, "still divided by k"


# Traps ------------------------------------------------------------------------------------------


def test_the_ideal_counts_a_chunk_that_was_not_retrieved() -> None:
    """Taken from the retrieved list, the ideal would make this ranking perfect."""
    assert value("nDCG@2", [2, 1], missed=[3]) < 1.0
    assert value("nDCG@2", [2, 1]) == 1.0


def test_the_ideal_is_cut_at_k() -> None:
    assert value("nDCG@2", [3, 3], missed=[3, 3]) == 1.0


def test_precision_divides_by_k_even_where_the_list_is_shorter() -> None:
    assert value("P@5", [1, 1]) == 0.4
    assert value("P@5", [1, 1]) != 1.0


def test_average_precision_divides_by_all_known_relevant() -> None:
    assert value("AP@1", [1, 1], missed=[1, 1]) == 0.25
    assert value("AP@1", [1, 1], missed=[1, 1]) != 1.0, "not by those found in the top k"


def test_reciprocal_rank_is_zero_beyond_the_cut_off() -> None:
    assert value("RR@2", [0, 0, 1]) == 0.0
    assert value("RR@3", [0, 0, 1]) == pytest.approx(1 / 3)


def test_judged_divides_by_the_list_where_it_is_shorter_than_k() -> None:
    assert value("Judged@10", [0, None]) == 0.5
    assert value("Judged@10", []) == 0.0
    assert not np.isnan(value("Judged", [None])), "always defined"


def test_a_grade_below_the_threshold_is_judged_but_not_relevant() -> None:
    assert value("RR(rel=2)", [1, 2]) == 0.5
    assert value("Judged@2", [1, 2]) == 1.0
    assert np.isnan(value("RR(rel=3)", [1, 2]))


def test_nothing_relevant_leaves_every_measure_undefined_but_counts_of_something_else() -> None:
    for definition in OF_CHUNKS:
        undefined = np.isnan(value(definition.example, [0, None, 0]))
        assert undefined == (definition.name not in ("Judged", "NumRet", "NumRel")), definition.name
    assert value("Judged@5", [0, None, 0]) == pytest.approx(2 / 3)
    assert value("NumRet", [0, None, 0]) == 3
    assert value("NumRet(rel=1)", [0, None, 0]) == value("NumRel", [0, None, 0]) == 0


@pytest.mark.parametrize("name", ["RBP(rel=2)", "Rprec(rel=2)", "Bpref(rel=2)", "SetP(rel=2)"])
def test_a_binary_measure_needs_a_grade_of_its_threshold(name: str) -> None:
    assert np.isnan(value(name, [1, 0]))
    assert value(name, [1, 0], missed=[2]) == 0.0
    assert value("ERR", [1, 0]) > 0, "graded measures need a grade of 1"


def test_gains_that_make_a_grade_worthless_leave_it_undefined() -> None:
    """Its ideal gain is 0, and 0 / 0 is no value; `least_grade` is how others can tell."""
    measure = parse("nDCG(gains={1: 0})")
    assert np.isnan(value(measure, [1, 0]))
    assert measure.least_grade == 2
    assert value(measure, [1, 2]) == near(1 / np.log2(3))


def test_an_empty_list_is_worth_nothing_but_is_defined() -> None:
    for definition in OF_CHUNKS:
        expected = 1.0 if definition.name == "NumRel" else 0.0
        assert value(definition.example, [], missed=[3]) == expected, definition.name


def test_a_cut_off_can_differ_from_row_to_row() -> None:
    hits = Hits.of([[0, 1], [0, 1], [0, 1]])
    cutoffs = np.array([1, 2, 5])
    assert score(hits, parse("R@prompt"), cutoffs).tolist() == [0.0, 1.0, 1.0]
    assert score(hits, parse("P@prompt"), cutoffs).tolist() == [0.0, 0.5, 0.2]
    with pytest.raises(BadInput, match="prompt size"):
        score(hits, parse("R@prompt"))


def test_a_rule_of_thumb_is_in_the_help_of_reciprocal_rank_ndcg_and_recall_alone() -> None:
    banded = [name for name, each in MEASURES.items() if each.bands]
    assert banded == ["nDCG", "R", "RR"]
    for name in banded:
        said = MEASURES[name].help
        assert said.startswith(MEASURES[name].meaning)
        assert all(f"from {bound} " in said for bound in ("0.9", "0.75", "0.5"))
    assert MEASURES["P"].help == MEASURES["P"].meaning

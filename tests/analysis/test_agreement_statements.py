"""What is said of graders' agreement, situation by situation: the words are true of the numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeler.analysis.agreement import GradeMatrix, agreement_statements, compute_agreement
from labeler.analysis.agreement.grader_agreement import Coefficient
from labeler.analysis.agreement.statements import BANDS_NOTE
from labeler.model.results import ANSWER, DOUBT, NOTE, Statement
from tests.support.examples import examples

__ = None
CYCLE = [0, 1, 2, 3]

# Passages that both graded, by the grade of the first (rows) and of the second, as in the sample.
EXCEPT_ON_2 = [[176, 6, 2, 0], [13, 11, 7, 0], [2, 17, 0, 3], [0, 1, 6, 28]]


def said(
    ratings: Sequence[Sequence[int | None]],
    names: Sequence[str] = ("Ann", "Bob", "Cy", "Di", "Eve", "Flo", "Gus", "Hal"),
    per_query: int = 3,
) -> dict[str, Statement]:
    """Return the statements on graders by kind; each query has a few passages."""
    queries = [f"q{at // per_query}" for at in range(len(ratings[0]))]
    matrix = replace(GradeMatrix.of_ratings(ratings, queries), graders=tuple(names[: len(ratings)]))
    return {each.kind: each for each in agreement_statements(compute_agreement(matrix))}


def headline(ratings: Sequence[Sequence[int | None]], **more) -> str:
    return next(iter(said(ratings, **more).values())).sentence


def from_table(table: Sequence[Sequence[int]]) -> list[list[int]]:
    """Return grades with this confusion matrix, in a fixed order that mixes the queries."""
    cells = [(down, across) for down in range(4) for across in range(4)]
    pairs = [cell for cell in cells for _ in range(table[cell[0]][cell[1]])]
    order = np.random.default_rng(1).permutation(len(pairs))
    return [[pairs[at][side] for at in order] for side in (0, 1)]


def nearly(share: float, number: int = 120, seed: int = 2) -> list[list[int]]:
    """Return two graders who agree in a share of passages; the rest is any key."""
    random = np.random.default_rng(seed)
    one = random.integers(0, 4, number)
    other = np.where(random.random(number) < share, one, random.integers(0, 4, number))
    return [one.tolist(), other.tolist()]


@pytest.mark.parametrize(
    ("ratings", "words"),
    [
        (nearly(0.95), "agree closely"),
        (nearly(0.75), "agree partly"),
        (nearly(0.4), "agree weakly"),
        (nearly(0.0, seed=5), "agree no more than by chance"),
        ([CYCLE * 10, [3, 2, 1, 0] * 9 + [3, 2, 1, 1]], "agree less than by chance"),
    ],
)
def test_the_words_are_those_of_alpha(ratings, words):
    assert headline(ratings) == f"Ann and Bob {words}."


def test_where_the_interval_includes_0_a_larger_alpha_may_be_chance():
    few = [[0, 1, 2, 3, 0, 1], [0, 2, 2, 1, 0, 1]]
    first = next(iter(said(few, per_query=2).values()))
    assert first.sentence == "Ann and Bob may agree no more than by chance."
    assert first.numbers["alpha"] > 0.7


def test_an_alpha_of_5_thousandths_is_hardly_more_than_chance():
    """Two people who press any key once "agreed in part"."""
    for seed in range(40):
        found = said(nearly(0.0, seed=seed), ("Ahmed", "Zoé"))
        first = next(iter(found.values()))
        if 0 <= round(first.numbers["alpha"], 3) < 0.2:
            assert first.sentence == "Ahmed and Zoé agree hardly more than by chance."
            assert "agree on" not in " ".join(each.sentence for each in found.values())
            break
    else:
        pytest.fail("none of the seeds has an alpha from 0 to 0.2")


@examples(60)
@given(st.integers(2, 4), st.integers(0, 10_000), st.sampled_from([0.0, 0.3, 0.6, 0.9, 1.0]))
def test_no_words_go_beyond_the_number_that_is_shown(graders: int, seed: int, share: float):
    random = np.random.default_rng(seed)
    true = random.integers(0, 4, 30)
    ratings = [
        np.where(random.random(30) < share, true, random.integers(0, 4, 30)).tolist()
        for _ in range(graders)
    ]
    first, *_ = found = list(said(ratings).values())
    alpha = first.numbers["alpha"]
    shown = float(found[1].sentence.split(" is ")[1].split(" on ")[0].replace("−", "-"))
    assert shown == pytest.approx(alpha, abs=5.1e-4)
    if "closely" in first.sentence:
        assert shown >= 0.8
    elif "partly" in first.sentence:
        assert 0.667 <= shown < 0.8
    elif "weakly" in first.sentence:
        assert 0.2 <= shown < 0.667
    elif "hardly" in first.sentence:
        assert 0 <= shown < 0.2
    else:
        assert shown < 0 or first.numbers["low"] < 5e-4


def test_a_grade_on_which_they_agree_by_chance_only_is_the_exception():
    found = said(from_table(EXCEPT_ON_2), ("Marit Dahl", "Joaquín Reyes"))
    first = found["agree closely"]
    assert first.sentence == "Marit Dahl and Joaquín Reyes agree closely, except on grade 2."
    assert first.numbers["except"] == [2]
    assert found["largest difference"].sentence == (
        "Where Marit Dahl gave 2, Joaquín Reyes gave 1 in 17 of 22 passages. Decide these cases, "
        "then say in the guideline what separates 1 from 2."
    )
    assert found["largest difference"].target == {"page": "review", "review": "Disagreements"}


def test_a_grade_that_was_given_a_few_times_is_no_exception():
    rare = [[60, 0, 0, 0], [0, 30, 4, 0], [0, 4, 0, 0], [0, 0, 0, 30]]
    assert headline(from_table(rare)) == "Ann and Bob agree closely."


def test_two_of_four_grades_can_be_exceptions_and_not_three():
    two = [[90, 0, 0, 0], [0, 3, 15, 0], [0, 15, 3, 0], [0, 0, 0, 60]]
    assert headline(from_table(two)) == "Ann and Bob agree closely, except on grades 1 and 2."
    three = [[2, 15, 0, 0], [15, 2, 15, 0], [0, 15, 2, 0], [0, 0, 0, 99]]
    assert "except" not in headline(from_table(three))


def test_the_doubt_says_where_the_interval_reaches_below_the_limit_of_the_words():
    doubt = said(from_table(EXCEPT_ON_2))["other queries"]
    assert (doubt.severity, doubt.heading) == (DOUBT, "Other queries")
    assert doubt.sentence.startswith("The 95% confidence interval is 0.")
    assert doubt.sentence.endswith("It reaches below 0.8, the limit for relying on grades.")
    partly = said(nearly(0.75))["other queries"].sentence
    assert partly.endswith("It reaches below 0.667, the limit for tentative conclusions.")
    sure = said(nearly(0.97, 600))["other queries"].sentence
    assert "reaches" not in sure
    chance = said(nearly(0.0))["other queries"].sentence
    assert chance.endswith("It includes 0, which is agreement by chance.")
    alone = said([CYCLE, [0, 1, 2, 2]], per_query=9)["other queries"].sentence
    assert alone == "There is no 95% confidence interval of alpha: it rests on one query."


@pytest.mark.parametrize(
    ("value", "low", "words", "doubt"),
    [
        (0.7996, 0.7, "closely", "below 0.8"),
        (0.7994, 0.7, "partly", "is 0.700"),
        (0.85, 0.7996, "closely", "is 0.800"),
        (0.6669, 0.3, "partly", "below 0.667"),
        (0.1996, 0.19, "weakly", "below 0.2"),
        (0.4, 4e-4, "may agree no more than by chance", "includes 0"),
        (0.4, -4.8e-17, "may agree no more than by chance", "is 0.000 to 0.9"),
        (-4.8e-17, -0.2, "hardly more than by chance", "includes 0"),
    ],
)
def test_numbers_choose_the_words_as_they_are_shown(value, low, words, doubt):
    found = compute_agreement(GradeMatrix.of_ratings([CYCLE, CYCLE], list("abcd")))
    found = replace(found, alpha=Coefficient(value, 4, 4, None, low, 0.9))
    first, _, second, *_ = agreement_statements(found)
    assert words in first.sentence
    assert doubt in second.sentence


def test_two_of_eight_who_can_be_compared_are_named_and_the_rest_is_a_number():
    alone = [[__] * 12 + [__] * at + [at % 4] + [__] * (5 - at) for at in range(6)]
    both = CYCLE * 3 + [__] * 6
    found = said([both, both, *alone])
    assert found["agree closely"].sentence == (
        "2 of 8 graders can be compared: Ann and Bob agree closely. "
        "The other six share no passage with anybody."
    )
    assert found["no overlap"].sentence == "27 of 28 pairs share no passage."
    assert found["no overlap"].severity == NOTE
    assert not any("Hal" in each.sentence for each in found.values())


@pytest.mark.parametrize(
    ("left", "end"),
    [
        (1, "Cy shares no passage with anybody."),
        (2, "Cy and Di share no passage with anybody."),
        (3, "The other three share no passage with anybody."),
    ],
)
def test_a_few_who_share_nothing_are_named(left: int, end: str):
    alone = [[__] * 12 + [__] * at + [1] + [__] * (left - 1 - at) for at in range(left)]
    both = CYCLE * 3 + [__] * left
    assert headline([both, both, *alone]).endswith(end)


def test_groups_that_share_nothing_agree_only_where_they_share_passages():
    one, other = CYCLE * 3 + [__] * 12, [__] * 12 + CYCLE * 3
    found = said([one, one, other, other])
    assert found["agree closely"].sentence == (
        "The 4 graders agree closely where they share passages."
    )
    assert found["no overlap"].sentence == "4 of 6 pairs share no passage."


def test_who_shares_a_few_passages_is_named_and_not_hidden_among_the_others():
    found = said([CYCLE * 10, CYCLE * 10, [3] + [__] * 39])
    assert found["few shared"].sentence == "Cy shares at most 1 passage with anybody."
    assert "few shared" not in said([CYCLE, CYCLE, [0, 1, 2, 2]]), "nobody shares more"


def test_a_grader_of_one_key_is_named_once_and_no_grade_is_blamed():
    found = said([CYCLE * 10] * 4 + [[2] * 40])
    assert found["constant grader"].sentence == (
        "Eve gave 2 to all passages shared with each of four graders, so these kappas are 0."
    )
    assert "except" not in next(iter(found.values())).sentence
    found = said([CYCLE * 10, [2] * 40])
    assert found["constant grader"].sentence == (
        "Bob gave 2 to all passages shared with Ann, so their kappa is 0."
    )


def test_of_several_graders_it_says_which_grades_are_exchanged_most():
    found = said([CYCLE * 9, CYCLE * 9, [0, 1, 1, 3] * 9])
    assert found["largest difference"].sentence.startswith(
        "Where one grader gave 2, another gave 1 in 18 of 36 comparisons. Decide these cases"
    )


def test_where_agreement_is_by_chance_no_pair_of_grades_is_blamed():
    found = said([CYCLE * 10, [3, 2, 1, 0] * 9 + [3, 2, 1, 1]])
    assert "largest difference" not in found
    assert found["no common reading"].sentence == (
        "Talk about passages on which they differ before more are graded. Perhaps one of them "
        "reads the scale the other way round."
    )


@pytest.mark.parametrize(
    ("ratings", "kind", "sentence"),
    [
        (
            [[1, 2]],
            "one grader",
            "Only Ann has graded blind. Agreement needs two graders.",
        ),
        (
            [[1, __], [__, 2]],
            "nothing shared",
            "Ann and Bob share no passage, so their agreement cannot be measured.",
        ),
        (
            [[1, __, __], [__, 2, __], [__, __, 2]],
            "nothing shared",
            "No two graders share a passage, so their agreement cannot be measured.",
        ),
        (
            [[2, 2, 2, 2], [2, 2, 2, 2]],
            "one grade",
            "Everybody gave 2 to the 4 passages of 2 queries that two or more graded. Where only "
            "one grade is in use, nobody can say whether agreement is more than chance.",
        ),
    ],
)
def test_without_an_alpha_the_answer_says_why_and_nothing_else(ratings, kind, sentence):
    [found] = said(ratings).values()
    assert (found.kind, found.sentence, found.severity) == (kind, sentence, ANSWER)


def test_the_bands_name_their_sources():
    assert said(nearly(0.5))["bands"].sentence == BANDS_NOTE
    assert "Krippendorff (2004)" in BANDS_NOTE
    assert "Landis and Koch (1977)" in BANDS_NOTE

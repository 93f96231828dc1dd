"""Keyword measures: the label-free baseline, by the examples tutorials print and by laws."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from labeler.errors import BadInput
from labeler.keywords import Corpus, keyword_score, rank_agreement

TEXTS = {n: f"text {n} speaks of thing{n}" for n in range(1, 7)}


def test_keywords_at_ranks_one_three_five_and_never() -> None:
    score = keyword_score(
        Corpus(TEXTS), ["thing1", "thing3", "thing5", "nothing"], [*range(1, 7)], 6
    )
    assert score is not None
    assert round(score.rr, 4) == 0.3833
    assert score.coverage == 0.75
    assert (score.keywords, score.unknown) == (4, 1)


def test_words_are_whole_and_case_and_hyphens_do_not_count() -> None:
    corpus = Corpus({1: "The CUPS, and error E-104.", 2: "a Cup of tea; straße"})
    assert [corpus.count(word) for word in ("cup", "Cups", "e 104", "E104", "STRASSE")] == [
        *(1, 1, 1, 0, 1)
    ]
    assert corpus.count("cup of tea") == 1
    assert corpus.count("tea cup") == 0, "a phrase keeps its order"
    inside = Corpus({1: "The CUPS", 2: "a Cup"}, substring=True)
    assert inside.count("cup") == 2


def test_the_ideal_is_what_the_database_holds_and_never_the_list() -> None:
    corpus = Corpus({1: "cup", 2: "cup", 3: "cup", 4: "lid"})
    score = keyword_score(corpus, ["cup"], [4, 1], 2)
    assert score is not None
    ideal = 1 + 1 / math.log2(3)
    assert score.ndcg == pytest.approx((1 / math.log2(3)) / ideal, abs=1e-15)
    assert keyword_score(corpus, ["cup"], [1, 2], 2).ndcg == 1.0
    assert math.isnan(keyword_score(corpus, ["nowhere"], [1, 2], 2).ndcg)


def test_what_cannot_be_looked_up_is_said() -> None:
    corpus = Corpus({1: "cup"})
    assert keyword_score(corpus, [], [1], 5) is None
    with pytest.raises(BadInput, match="no letter or digit"):
        keyword_score(corpus, ["--"], [1], 5)
    with pytest.raises(BadInput, match="whole number from 1"):
        keyword_score(corpus, ["cup"], [1], 0)
    assert keyword_score(corpus, ["cup"], [9], 5).coverage == 0.0, "a chunk without text"


@given(st.permutations(range(1, 7)), st.integers(1, 6), st.integers(1, 8))
def test_values_lie_between_0_and_1_and_ranks_below_k_change_nothing(order, word, k) -> None:
    corpus, words = Corpus(TEXTS), [f"thing{word}", "speaks"]
    score = keyword_score(corpus, words, order, k)
    assert all(0 <= value <= 1 for value in (score.rr, score.ndcg, score.coverage))
    assert keyword_score(corpus, words, order[:k], k) == score


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=30))
def test_agreement_is_spearmans(pairs) -> None:
    one, other = (np.array(column, dtype=float) for column in zip(*pairs, strict=True))
    found = rank_agreement(np.append(one, np.nan), np.append(other, 1.0))
    if len(set(one)) == 1 or len(set(other)) == 1:
        assert math.isnan(found)
    else:
        assert found == pytest.approx(spearmanr(one, other).statistic, abs=1e-12)

"""Keyword measures: the label-free baseline, by the examples tutorials print and by laws."""

from __future__ import annotations

import math
import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from labeler.analysis.keyword_corpus import Corpus, fold_text
from labeler.analysis.keywords import (
    describe_unusable,
    keyword_score,
    keyword_scores,
    rank_agreement,
)
from labeler.errors import BadInput

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


def test_a_keyword_of_signs_alone_is_left_out_of_a_run_and_named() -> None:
    corpus = Corpus({1: "a cup", 2: "C++"})
    keywords = {"q1": ["cup", "++"], "q2": ["--", " "], "q3": ["nowhere"]}
    scores = keyword_scores(corpus, keywords, lambda _: [1, 2], 2)
    assert list(scores) == ["q1", "q3"]
    assert (scores["q1"].rr, scores["q1"].keywords) == (1.0, 1)
    assert describe_unusable(corpus, keywords) == (
        "3 keywords hold no letter or digit and are left out, such as '++' of query q1; "
        "1 query has no other and is in no mean"
    )
    assert describe_unusable(corpus, {"q1": ["cup", "++"]}) == (
        "1 keyword holds no letter or digit and is left out, such as '++' of query q1"
    )
    assert describe_unusable(corpus, {"q3": ["nowhere"], "q4": []}) is None


def test_as_a_part_of_a_text_signs_can_be_looked_for_and_nothing_cannot() -> None:
    corpus = Corpus({1: "a cup", 2: "C++"}, substring=True)
    assert corpus.count("++") == 1
    scores = keyword_scores(corpus, {"q1": ["++"], "q2": [" ", "\u200d"]}, lambda _: [1, 2], 2)
    assert scores["q1"].rr == 0.5
    assert "q2" not in scores
    with pytest.raises(BadInput, match="no letter or digit"):
        corpus.count("\u200d")


@pytest.mark.parametrize(
    ("text", "keyword", "whole", "inside"),
    [
        ("मनी", "मन", False, True),
        ("यह मन है", "मन", True, True),
        ("ते क्‍षण", "क्‍षण", True, True),
        ("می\u200cخواهم", "می", False, True),
        ("کتاب\u200c خوب", "کتاب", True, True),
        ("a cafe\u0301.", "café", True, True),
        ("a café.", "cafe\u0301", True, True),
        ("a cafe\u0301.", "cafe", False, False),
        ("İstanbul", "istanbul", True, True),
        ("İstanbul", "İSTANBUL", True, True),
        ("I\u0307stanbul", "Istanbul", True, True),
        ("istanbul", "İstanbul", True, True),
        ("İstanbul", "stanbul", False, True),
        ("Straße", "STRASSE", True, True),
        ("ΐ", "Ϊ\u0301", True, True),
        ("tea™", "tea", True, True),
        ("❤\ufe0f tea", "❤ Tea", True, True),
        ("snake_case", "snake", True, True),
        ("Sam's well-known cup", "sam", True, True),
        ("Sam's well-known cup", "well known", True, False),
        ("第二章", "二", False, True),
        ("m²", "m", False, True),
        ("\U00011103\U00011127", "\U00011103", False, True),  # Chakma, above U+FFFF
    ],
)
def test_words_end_where_their_script_ends_them(
    text: str, keyword: str, whole: bool, inside: bool
) -> None:
    assert Corpus({1: text}).holds(1, keyword) is whole
    assert Corpus({1: text}, substring=True).holds(1, keyword) is inside


MARKED = st.text("eİIiß\u0301\u0307\u0323\u0345\u200dमनीα가_ ", max_size=12)


@given(MARKED, st.sampled_from(["NFC", "NFD"]))
def test_how_a_text_spells_its_accents_does_not_count(text, form) -> None:
    assert fold_text(unicodedata.normalize(form, text)) == fold_text(text)


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

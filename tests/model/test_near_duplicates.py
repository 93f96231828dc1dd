"""What passes for nearly the same text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from labeler.model.near_duplicates import first_near_duplicates, word_shingles

WORDS = [f"w{number}" for number in range(20)]


def test_near_means_four_fifths_of_the_word_triples() -> None:
    changed = " ".join([*WORDS[:-1], "new"])
    assert first_near_duplicates([" ".join(WORDS), changed]) == [None, 0], (
        "17 of 19 triples are common"
    )
    assert first_near_duplicates([" ".join(WORDS), " ".join([*WORDS[:10], "new"])]) == [None, None]


def test_what_has_no_words_is_like_nothing() -> None:
    assert first_near_duplicates(["", "", None, "!!", "!!", "one", "one two"]) == [None] * 7


def test_all_of_a_group_name_its_first() -> None:
    assert first_near_duplicates(["same", "other words", "Same.", "SAME"]) == [None, None, 0, 0]


@given(st.lists(st.text("ab ", max_size=12), max_size=6))
def test_the_first_with_a_jaccard_of_four_fifths_is_named(texts: list[str]) -> None:
    kept: dict[int, frozenset] = {}
    for place, (text, found) in enumerate(zip(texts, first_near_duplicates(texts), strict=True)):
        one = word_shingles(text)
        near = [
            at for at, other in kept.items() if one and 5 * len(one & other) >= 4 * len(one | other)
        ]
        assert found == (near[0] if near else None)
        if not near and one:
            kept[place] = one

"""Long names side by side: what they share is folded, what tells them apart is not."""

from __future__ import annotations

import re
import unicodedata

from hypothesis import example, given
from hypothesis import strategies as st

from labeler.render import tables
from labeler.render.short_names import ELLIPSIS, short_names

MODELS = ["bge-large-en-v1.5", "bm25-tuned-k1-0.9-b-0.4", "colbertv2.0", "text-embedding-3-large"]
REAL = [
    f"2026-11-{10 + day}_production-index_chunk-size-{size}_overlap-{overlap}_{model}"
    "_reranked-top-50"
    for day, model in enumerate(MODELS)
    for size in (256, 512)
    for overlap in (0, 64)
]
ALPHABET = "ab1_-. é\u0301\u200d…👩‍👧<&"
pieces = st.lists(st.sampled_from(["production", "index", "a", "b", "64", "_", "-", *ALPHABET]))
beginnings = st.sampled_from(["", "", "production-index_", "nightly/build_64_of-", "x" * 90])
names_lists = st.lists(
    st.builds("{}{}".format, beginnings, st.builds("".join, pieces)),
    max_size=8,
)
words = st.text("abcxyz0123456789", min_size=1, max_size=9)


def test_names_of_twenty_runs_keep_what_differs_and_lose_the_rest():
    short = short_names(REAL)
    assert short[REAL[0]] == "…11-10…size-256_overlap-0_bge-large-en-v1.5…"
    assert short[REAL[7]] == "…11-11…size-512_overlap-64_bm25-tuned-k1-0.9-b-0.4…"
    assert max(map(len, short.values())) < 60 < min(map(len, REAL))


def test_a_number_keeps_the_word_before_it():
    assert list(short_names(f"production/nightly/run-{n}" for n in (1, 2, 10)).values()) == [
        "…run-1",
        "…run-2",
        "…run-10",
    ]


def test_a_name_that_begins_another_keeps_its_last_word():
    assert list(short_names(["production-index-bm25", "production-index-bm25-tuned"]).values()) == [
        "…bm25",
        "…bm25-tuned",
    ]


def test_a_stranger_among_long_names_keeps_none_from_being_folded():
    short = short_names([*REAL, "bm25", "splade-v3"])
    assert [short["bm25"], short["splade-v3"]] == ["bm25", "splade-v3"]
    assert {name: short[name] for name in REAL} == short_names(REAL)
    letters = ["x" * 150 + letter + "y" * 149 for letter in "ab"]
    assert list(short_names([*letters, "bm25"]).values()) == ["…a…", "…b…", "bm25"]


def test_names_of_several_kinds_keep_the_word_they_begin_with():
    ends = ["chunk-size-256_top-50", "chunk-size-512_top-50"]
    names = [f"{model}_production-index_{end}" for model in ("bge", "e5") for end in ends]
    assert list(short_names([*names, "a stranger"]).values()) == [
        *("bge…size-256…", "bge…size-512…"),
        *("e5…size-256…", "e5…size-512…"),
        "a stranger",
    ]


def test_one_name_short_names_and_strangers_stay_whole():
    for names in ([REAL[0][:80]], ["system-a", "system-b"], ["x" * 80, "y" * 80], []):
        assert short_names(names) == {name: name for name in names}


def test_a_name_that_nothing_folds_is_its_beginning_and_its_end():
    assert list(short_names(["x" * 199 + "a", "y" * 300]).values()) == [
        f"{'x' * 40}…{'x' * 18}a",
        f"{'y' * 40}…{'y' * 19}",
    ]
    assert list(short_names(["one name alone " * 14]).values()) == [
        "one name alone one name alone one name a…one one name alone "
    ]
    letter = "e\u0301\u0302"
    assert list(short_names([letter * 100]).values()) == [letter * 40 + ELLIPSIS + letter * 19]


def test_names_that_differ_only_where_they_would_be_cut_stay_whole():
    names = ["x" * 150 + middle + "x" * 150 for middle in ("_a_b", "_b_a", "_c")]
    short = list(short_names(names).values())
    assert len(set(short)) == 3
    assert all(middle in name for middle, name in zip(("a_b", "b_a", "c"), short, strict=True))


def test_names_of_three_hundred_characters_that_differ_in_one_letter_are_told_apart():
    names = ["x" * 150 + letter + "y" * 149 for letter in "abcdefghijklmnopqrst"]
    assert list(short_names(names).values()) == [f"…{letter}…" for letter in "abcdefghijklmnopqrst"]
    ends = [f"{letter}{'x' * 298}{letter}" for letter in "abc"]
    assert list(short_names(ends).values()) == ["a…a", "b…b", "c…c"]


def test_no_emoji_and_no_accent_is_torn_apart():
    family, name = "👩‍👩‍👧", "x" * 100
    short = short_names([f"{name}e\u0301{name}", f"{name}e{name}", f"{name}{family}{name}"])
    assert list(short.values()) == ["…e\u0301…", "…e…", f"…{family}…"]


@given(names_lists)
@example(["… long enough to be folded a", "… long enough to be folded b"])
@example(["a……long enough to be folded", "a…long enough to be folded"])
def test_no_two_names_are_shown_alike_and_each_is_found_again(names):
    short = short_names(names)
    assert list(short) == list(dict.fromkeys(names))
    assert len(set(short.values())) == len(short)


@given(names_lists)
def test_what_is_shown_stands_in_the_name_in_its_order(names):
    for name, short in short_names(names).items():
        parts = map(re.escape, short.split(ELLIPSIS))
        assert re.fullmatch(".*".join(parts), name, re.DOTALL), (name, short)
        assert len(short) <= len(name)


@given(words, words, st.lists(words, min_size=2, max_size=6, unique=True))
def test_what_differs_is_kept_whole_between_what_is_common(before, after, differing):
    head, tail = f"production-index_{before}_", f"_{after}_reranked-top"
    short = short_names(f"{head}{word}{tail}" for word in differing)
    for word in differing:
        assert word in short[f"{head}{word}{tail}"]
    assert all("production" not in each and "reranked" not in each for each in short.values())


@given(names_lists)
def test_nothing_shown_begins_with_a_mark_of_what_is_folded(names):
    for name, short in short_names(names).items():
        for part in short.split(ELLIPSIS)[1:]:
            if ELLIPSIS not in name:
                assert not part or unicodedata.category(part[0]) not in ("Mn", "Mc", "Cf")


def test_a_table_shows_the_short_name_and_the_whole_where_one_hovers():
    hostile = [f'"><b onclick="x">{"long " * 9}{letter}' for letter in "ab"]
    for name, short in short_names(hostile).items():
        shown = str(tables.run_name(name, {name: short}))
        assert shown.count("<") == 2
        assert f">{short}</bdi>" in shown
        assert 'title="&#34;&gt;&lt;b onclick' in shown
    assert str(tables.run_name("bm25", {})) == "<bdi>bm25</bdi>"

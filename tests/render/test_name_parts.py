"""Long names of runs in parts: the columns of Scores, and what two runs are called."""

from __future__ import annotations

from labeler.render.name_parts import called, name_parts, parameter_parts

KB = "2026-11-{}_prod-kb_{}_chunk512_{}_top50"


def test_parts_that_all_names_share_are_apart_from_those_in_columns():
    names = (KB.format(24, "hybrid_bge-m3", "cohere"), KB.format(25, "dense_e5", "none"))
    parts = name_parts(names)
    assert parts is not None
    assert parts.shared == ("prod-kb", "chunk512", "top50")
    assert [parts.of[name] for name in names] == [
        ("2026-11-24", "hybrid", "bge-m3", "cohere"),
        ("2026-11-25", "dense", "e5", "none"),
    ]


def test_a_name_with_fewer_parts_leaves_a_gap_where_it_has_none():
    names = (
        KB.format(24, "hybrid_bge-m3", "cohere"),
        KB.format(25, "dense_e5", "none"),
        KB.format(26, "bm25-elasticsearch", "cohere"),
    )
    parts = name_parts(names)
    assert parts is not None
    first, *between, last = parts.of[names[2]]
    assert (first, last) == ("2026-11-26", "cohere")
    assert sorted(between) == ["", "bm25-elasticsearch"]


def test_two_long_names_are_called_by_what_differs():
    a, b = KB.format(24, "hybrid", "cohere"), f"{KB.format(25, 'hybrid', 'cohere')}_hyde"
    assert called([a, b]) == {a: "2026-11-24", b: "2026-11-25 · hyde"}


def test_names_that_differ_in_nothing_but_letters_and_short_names_have_no_parts():
    long = ["x" * 200 + end for end in "ab"]
    assert name_parts(tuple(long)) is None
    assert sorted(called(long).values()) == ["…a", "…b"]
    assert name_parts(("bm25", "lsa")) is None
    same = "one-two_three-four_five-six"
    assert name_parts((same, "three-four_one-two_five-six")) is None


def test_parameters_come_before_parts_and_have_titles():
    found = parameter_parts({"a": {"k": "60", "top": "50"}, "b": {"k": "20", "top": "50"}})
    assert found is not None
    assert (found.titles, found.shared, found.called("b")) == (("k",), ("top 50",), "20")
    assert parameter_parts({"a": {"k": "60"}, "b": {}}) is None

"""The order of buckets: as a reader expects it, the same on every page and in every file."""

from __future__ import annotations

from pathlib import Path

import pytest

from labeler.model import Query, count_buckets, order_buckets
from labeler.store import Store
from tests.support.boards import board_of
from tests.support.page import loaded


def ordered(*given: str | None) -> list[str]:
    return list(order_buckets(count_buckets(given)))


@pytest.mark.parametrize(
    ("given", "order"),
    [
        (["hard", "easy", "medium"], ["easy", "medium", "hard"]),
        (["High", "LOW", "Medium"], ["LOW", "Medium", "High"]),
        (["10", "9", "-1", "2.5"], ["-1", "2.5", "9", "10"]),
        (["longtail", "single"], ["single", "longtail"]),
        (["setup", None, "refund", "setup"], ["setup", "refund"]),
        (["nan", "1"], ["nan", "1"]),
        (["only"], ["only"]),
        ([None], []),
    ],
)
def test_buckets_stand_by_number_by_the_sense_of_their_words_or_as_the_queries_name_them(
    given: list[str | None], order: list[str]
):
    assert ordered(*given) == order


def test_of_many_buckets_the_one_with_the_most_queries_is_first():
    many = [f"topic {n}" for n in range(1_000)]
    assert ordered(*many, "topic 700", "topic 3", "topic 700")[:3] == [
        "topic 700",
        "topic 3",
        "topic 0",
    ]


def test_the_board_and_the_store_agree_on_the_order(tmp_path: Path):
    levels = {"q1": "hard", "q2": "easy", "q3": "medium", "q4": "easy"}
    board = board_of({query: {"c": 1} for query in levels}, {"A": {}}, {"level": levels})
    assert board.facets == {"level": ("easy", "medium", "hard")}
    with Store(tmp_path / "golden.db", create=True) as store:
        queries = [
            Query(query, query, buckets={"level": level, "product": product})
            for (query, level), product in zip(levels.items(), "zaza", strict=True)
        ]
        store.queries.load(loaded(queries))
        assert store.queries.facets() == {
            "level": ["easy", "medium", "hard"],
            "product": ["z", "a"],
        }
        rows, _ = store.activity.progress({query: [] for query in levels}, "level")
        assert [row.bucket for row in rows] == ["easy", "medium", "hard"]

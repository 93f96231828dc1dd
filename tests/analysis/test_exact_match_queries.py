"""Queries that name something letter by letter, and what is said of those that fail."""

from __future__ import annotations

import pytest

from labeler.analysis.failures import describe_exact_queries, exact_match_advice
from labeler.analysis.failures.diagnosis import diagnose
from labeler.analysis.failures.failure_summary import exact_words
from tests.support.boards import board_of


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("osprey E07, water on the floor", ["E07"]),
        ("recall check serial PH-240-24-04100.", ["PH-240-24-04100"]),
        ("what does ERR_CONN_RESET mean with --force?", ["ERR_CONN_RESET", "--force"]),
        ("is 4006381333931 in stock", ["4006381333931"]),
        ("who wrote it? Was it the House Martin", ["House Martin"]),
        ("does TravelGuard, or travelguard, cover it", ["TravelGuard"]),
        ("BPA or PFAS in the water tank?", ["PFAS"]),
    ],
)
def test_codes_numbers_and_names_are_exact(text: str, named: list[str]) -> None:
    assert exact_words(text) == named


@pytest.mark.parametrize(
    "text",
    [
        "10kg in 30min, the 2nd time, 1.5x, 1,290 in 2026",
        "Where Are My Invoices And Who Pays For Them",
        "wo finde ich die Rechnung für den Kauf",
        "how do I reset it? It is broken. Why",
        "temperature of 90 °C or °dH",
        "",
    ],
)
def test_amounts_headlines_and_nouns_are_not(text: str) -> None:
    assert exact_words(text) == []


def test_hybrid_search_is_the_lever_only_where_an_exact_word_was_not_retrieved() -> None:
    texts = {"q1": "heron E07", "q2": "heron leaks", "q3": "osprey E11"}
    qrels = {name: {"c": 3, "x": 0} for name in texts}
    runs = {"A": {"q1": ["x"], "q2": ["x"], "q3": [*(f"y{n}" for n in range(9)), "c"]}}
    found = diagnose(board_of(qrels, runs), "A")
    levers = {name: exact_match_advice(each, texts[name]) for name, each in found.items() if each}
    assert levers["q1"].startswith("It names E07 letter by letter: hybrid search")
    assert levers == {"q1": levers["q1"], "q2": "", "q3": ""}
    assert describe_exact_queries(found, texts) == (
        "1 of 2 queries whose relevant chunks are not retrieved names something letter by letter "
        "(E07 in q1): hybrid search, which matches letters beside meanings, finds such words"
    )
    assert describe_exact_queries({"q2": found["q2"], "q3": found["q3"]}, texts) == ""

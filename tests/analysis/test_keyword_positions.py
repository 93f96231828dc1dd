"""Keyword by keyword: where each is found, in a terminal and in Python, without any grade."""

from __future__ import annotations

import csv
import io
import json
import math
from dataclasses import replace

import pytest
from click.testing import CliRunner

import labeler
from labeler.analysis.keyword_corpus import Corpus
from labeler.analysis.keywords import (
    describe_missed,
    find_keyword_ranks,
    found_by_one_run,
)
from labeler.cli import main
from labeler.errors import BadInput
from labeler.model import Chunk, Query, Ranking
from labeler.store import Store
from tests.support.page import loaded

TEXTS = {1: "TravelGuard covers it", 2: "a refund takes 30 days", 3: "see the form"}


@pytest.fixture
def worded(store: Store) -> Store:
    """Two queries with keywords and one without; run ``b`` finds one that ``a`` has not."""
    store.queries.load(
        loaded(
            [
                Query("q1", "cover", keywords=("TravelGuard", "form"), buckets={"kind": "name"}),
                Query("q2", "refund", keywords=("30 days", "++"), buckets={"kind": "time"}),
                Query("q3", "nothing"),
            ]
        )
    )
    store.chunks.load(loaded([Chunk(f"c{number}", text) for number, text in TEXTS.items()]))
    for run, lists in {"a": ("c3", "c2"), "b": ("c2 c3", "c3 c2")}.items():
        rankings = [Ranking(f"q{n}", tuple(ids.split())) for n, ids in enumerate(lists, 1)]
        store.runs.load(loaded(rankings), name=run)
    return store


def score(store: Store, *arguments: str, exit_code: int = 0) -> str:
    asked = ["--db", str(store.path), "score", *arguments]
    result = CliRunner().invoke(main, asked)
    assert result.exit_code == exit_code, result.output
    return result.output


def test_a_keyword_that_no_run_finds_is_named(worded: Store) -> None:
    lines = score(worded, "--keywords").splitlines()
    assert lines[0].split() == (
        ["run", "RR@10", "nDCG@10", "coverage@10", "n", "keywords", "in", "no", "chunk"]
    )
    assert lines[1].split() == ["a", "0.7500", "0.7500", "0.7500", "2", "3", "0"]
    assert lines[2].split()[:2] == ["b", "0.3750"]
    assert "whole words, in any case · top 10" in lines[4]
    said = "1 keyword is found by no run, though chunks hold it: 'TravelGuard' of query q1"
    assert f"! {said}" in lines
    assert any("'++' of query q2" in line for line in lines)
    [row, _] = json.loads(score(worded, "--keywords", "--format", "json", "--top", "1"))
    assert (row["run"], row["k"], row["coverage"], row["n"]) == ("a", 1, 0.75, 2)
    assert said in row["notes"]


def test_each_keyword_of_each_query_has_a_rank_or_none(worded: Store) -> None:
    text = score(worded, "--keywords", "--per-query", "--format", "csv", "--top", "1")
    rows = list(csv.DictReader(io.StringIO(text)))
    found = {(row["run"], row["keyword"]): row for row in rows}
    assert {place: row["rank"] for place, row in found.items()} == {
        ("a", "TravelGuard"): "",
        ("b", "TravelGuard"): "",
        ("a", "form"): "1",
        ("b", "form"): "2",
        ("a", "30 days"): "1",
        ("b", "30 days"): "2",
    }
    assert found["b", "form"]["in_top"] == "False"
    assert found["a", "TravelGuard"]["found_by_no_run"] == "True"
    assert found["a", "TravelGuard"]["chunks"] == "1"
    [head, first, *_] = score(worded, "--keywords", "--per-query").splitlines()
    assert head.split()[:4] == ["query", "keyword", "a", "b"]
    assert first.split() == ["q1", "TravelGuard", "–", "–", "1"]


def test_keywords_are_counted_bucket_by_bucket(worded: Store) -> None:
    rows = json.loads(score(worded, "--keywords", "--by", "kind", "--format", "json"))
    found = {(row["run"], row["bucket"]): (row["coverage"], row["n"]) for row in rows}
    assert found == {
        ("a", "name"): (0.5, 1),
        ("b", "name"): (0.5, 1),
        ("a", "time"): (1.0, 1),
        ("b", "time"): (1.0, 1),
    }
    assert score(worded, "--keywords", "--by", "kind").splitlines()[1].split()[:2] == ["name", "a"]
    assert "| name | a |" in score(worded, "--keywords", "--by", "kind", "--format", "md")


@pytest.mark.parametrize(
    ("arguments", "exit_code", "said"),
    [
        (["--top", "3"], 2, "--top and --substring go with --keywords"),
        (["--substring"], 2, "--top and --substring go with --keywords"),
        (["--keywords", "--reranked", "10"], 2, "--reranked is by grades"),
        (["--keywords", "--by", "colour"], 1, "no facet is called 'colour'; there are: kind"),
        (["--keywords", "third"], 1, "no run is called 'third'"),
    ],
    ids=["top", "substring", "reranked", "facet", "run"],
)
def test_what_says_nothing_together_is_refused(
    worded: Store, arguments: list[str], exit_code: int, said: str
) -> None:
    assert said in score(worded, *arguments, exit_code=exit_code)


def test_a_set_without_keywords_says_how_they_come(filled: Store) -> None:
    assert "no query has keywords; give queries `keywords`" in (
        score(filled, "--keywords", exit_code=1)
    )


def test_keywords_of_a_split_are_those_of_its_queries(worded: Store) -> None:
    queries = [replace(each, split="dev") for each in worded.queries.all() if each.query_id == "q2"]
    worded.queries.load(loaded(queries), update=True)
    [row, _] = json.loads(score(worded, "--keywords", "--split", "dev", "--format", "json"))
    assert (row["n"], row["keywords"], row["coverage"]) == (1, 1, 1.0)


def test_python_needs_texts_and_runs_and_no_grades() -> None:
    texts = {f"c{number}": text for number, text in TEXTS.items()}
    runs = {"a": {"q1": ["c3"], "q2": ["c2"]}, "b": {"q1": {"c2": 0.5, "c3": 0.4}}}
    keywords = {"q1": ["TravelGuard", "form"], "q2": ["30 days"]}
    frame = labeler.find_keywords(keywords, texts, runs, k=1)
    assert frame[["run", "coverage", "n"]].values.tolist() == [["a", 0.75, 2], ["b", 0.0, 2]]
    each = labeler.find_keywords(keywords, texts, runs, per_keyword=True)
    ranks = dict(zip(zip(each["run"], each["keyword"], strict=True), each["rank"], strict=True))
    assert ranks["b", "form"] == 2
    assert math.isnan(ranks["b", "30 days"])
    assert each.attrs["notes"] == [
        "1 keyword is found by no run, though chunks hold it: 'TravelGuard' of query q1"
    ]
    with pytest.raises(BadInput, match="keywords must be"):
        labeler.find_keywords({"q1": "form"}, texts, runs)


def test_words_say_who_finds_a_keyword_and_who_does_not() -> None:
    lists = {"A": lambda _: [3, 2], "B": lambda _: [2]}
    keywords = {"q1": ["form", "30 days", "TravelGuard", "nowhere"]}
    form, days, guard, nowhere = find_keyword_ranks(Corpus(TEXTS), keywords, lists)
    assert form.in_words() == "form: first at rank 1 in A; not in B"
    assert days.in_words({"A": "x"}) == "30 days: first at rank 2 in x, 1 in B"
    assert guard.in_words() == ("TravelGuard: found by no run (1 chunk of the database holds it)")
    assert nowhere.in_words() == "nowhere: found by no run (no chunk of the database holds it)"
    only_a, only_b = found_by_one_run([form, days, guard, nowhere], "A", "B", 1)
    assert (only_a, only_b) == ([form], [days])
    assert describe_missed([form, days]) == []


def test_a_chunk_of_another_chunking_is_none_that_a_run_missed(worded: Store):
    """Values and counts are the same, whichever other chunkings of the texts are loaded."""
    more = [("--keywords",), ("--keywords", "--per-query")]
    before = [score(worded, *each, "--format", "csv") for each in more]
    worded.chunks.load(loaded([Chunk(f"d{n}", text) for n, text in TEXTS.items()]), chunking="v2")
    worded.runs.load(loaded([Ranking("q1", ("d1",))]), name="late", chunking="v2")
    assert [score(worded, *each, "--format", "csv") for each in more] == before
    [late] = json.loads(score(worded, "--keywords", "--format", "json", "--chunking", "v2"))
    assert (late["run"], late["ndcg"], late["n"]) == ("late", 0.25, 2)

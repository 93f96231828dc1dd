"""The keywords view of Scores: what it says without grades, and of keywords nobody can look for."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from labeler.analysis.keyword_corpus import Corpus
from labeler.analysis.keywords import compare_with_grades, keyword_scores
from labeler.evaluation import Conventions, Scoreboard
from labeler.model import Chunk, Judgment, Query, Ranking
from labeler.render import csv_exports
from labeler.store import Store
from tests.support.page import empty_golden_set, loaded, open_page, words

NOTHING_GRADED = "Nobody has graded"
TEXTS = ["a cup of tea", "the kettle", "C++ in a nutshell", "cups"]
QUERIES = [
    Query("q1", "one", keywords=("cup", "++"), buckets={"intent": "buy"}),
    Query("q2", "two", keywords=("kettle",), buckets={"intent": "buy"}),
    Query("q3", "three", keywords=("++",)),
    Query("q4", "four"),
]


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """Three queries with keywords, one of them with none that is a word; a run; no grade."""
    path = empty_golden_set(tmp_path)
    with Store(path) as store:
        store.queries.load(loaded(QUERIES))
        store.chunks.load(loaded([Chunk(f"c{n}", text) for n, text in enumerate(TEXTS)]))
        lists = [Ranking(query.query_id, ("c1", "c0", "c2", "c3")) for query in QUERIES]
        store.runs.load(loaded(lists), name="<b>run</b>")
    return path


def grade(path: Path, query_id: str, chunk_id: str, grade: int) -> None:
    with Store(path) as store:
        store.people.add("Ann")
        store.judgments.add(
            Judgment(f"{query_id} {chunk_id}", query_id, chunk_id, "Ann", "grade", grade)
        )


def row(said: str) -> list[str]:
    """Return the numbers of the one run."""
    return re.findall(r"–|\d\.\d{4}", said.split("|Keywords|")[1])


def open_keywords(**parameters: str) -> AppTest:
    return open_page("scores", view="keywords", measure=["nDCG@10", "RR@10"], **parameters)


def test_keywords_need_no_grade(database: Path):
    app = open_keywords()
    said = words(app)
    assert NOTHING_GRADED not in said
    assert row(said) == ["0.7500", "0.8155", "1.0000", "–", "–", "–"]
    assert "none of these queries is graded yet" in said
    assert "0 of 4 queries have grades" in said
    assert "Every query with keywords counts here, graded or not" in said
    assert "nan" not in said.lower().replace("conventions", "")
    assert [button.label for button in app.get("download_button")] == ["Download keywords as CSV"]


@pytest.mark.parametrize("view", ["measures", "by task", "recall over k", "ties"])
def test_what_needs_grades_still_says_so(database: Path, view: str):
    assert NOTHING_GRADED in words(open_page("scores", view=view))


def test_one_graded_query_gives_its_means_and_no_agreement(database: Path):
    grade(database, "q1", "c0", 3)
    said = words(open_keywords())
    assert row(said) == ["0.7500", "0.8155", "1.0000", "0.6309", "0.5000", "–"]
    assert "at least two graded queries" in said
    assert "1 of these queries is graded so far" in said
    assert "none of these queries" not in said
    grade(database, "q2", "c1", 3)
    said = words(open_keywords())
    assert row(said)[-1] == "1.0000"
    assert "at least two graded queries" not in said


def test_a_grade_of_a_query_without_keywords_is_no_grade_of_these(database: Path):
    grade(database, "q4", "c0", 3)
    assert "none of these queries is graded yet" in words(open_keywords())


def test_a_keyword_without_letter_or_digit_is_left_out_and_counted(database: Path):
    said = words(open_keywords())
    assert (
        "2 keywords hold no letter or digit and are left out, such as '++' of query q1; "
        "1 query has no other and is in no mean" in said
    )
    assert "queries with keywords: 2, graded of them: 0" in said


def test_inside_longer_words_a_keyword_of_signs_counts(database: Path):
    said = words(open_keywords(substring="true"))
    assert "left out, such as" not in said
    assert "queries with keywords: 3, graded of them: 0" in said


def test_only_keywords_of_signs_leave_every_value_undefined(database: Path):
    with Store(database) as store:
        only_signs = [Query(q.query_id, q.text, keywords=("++",)) for q in QUERIES[:3]]
        store.queries.load(loaded(only_signs), update=True)
    said = words(open_keywords())
    assert "queries with keywords: 0" in said
    assert row(said) == ["–"] * 6
    assert "No query has keywords" not in said


def test_a_facet_without_a_bucket_is_said_to_change_nothing(database: Path):
    grade(database, "q4", "c0", 3)
    said = words(open_keywords(facet="intent"))
    assert "are in none of these rows" not in said
    assert "Over all queries: this shows one bucket of intent at a time" in said


def test_keywords_of_one_bucket_are_those_of_its_queries(database: Path):
    assert "queries with keywords: 2, graded of them: 0" in words(open_keywords())
    with Store(database) as store:
        store.queries.load(loaded([replace(QUERIES[1], buckets={"intent": "sell"})]), update=True)
    said = words(open_keywords(facet="intent", bucket="sell"))
    assert "queries with keywords: 1, graded of them: 0" in said
    assert row(said)[0] == "1.0000", "the kettle stands first"
    assert "intent: sell" in said


def test_the_chosen_measures_stand_beside_those_by_keyword(database: Path):
    grade(database, "q1", "c0", 3)
    said = words(open_page("scores", view="keywords", measure=["P@2", "AP"]))
    assert "|P@2|" in said
    assert "with P@2 by grades" in said
    assert "RR@10" not in said


def test_the_file_holds_the_numbers_of_the_table(database: Path):
    with Store(database) as store:
        board = Scoreboard(store.collection.read(), chosen := Conventions())
    corpus = Corpus(dict(enumerate(TEXTS, 1)))
    wanted = {query.query_id: query.keywords for query in QUERIES if query.keywords}
    scores = keyword_scores(corpus, wanted, lambda q: board.chunks("<b>run</b>", q).tolist(), 10)
    beside = chosen.measures("nDCG@10 RR@10")
    found = compare_with_grades(board, "<b>run</b>", scores, beside)
    text = csv_exports.keyword_csv(
        [found], 10, ["nDCG@10", "RR@10"], chosen, substring=False
    ).decode()
    [record] = csv.DictReader(io.StringIO(text))
    assert record["run"] == "<b>run</b>"
    assert (record["queries with keywords"], record["graded of them"]) == ("2", "0")
    assert float(record["RR by keyword"]) == 0.75
    assert record["nDCG@10"] == record["agreement"] == "", "undefined is empty, never 0"
    assert record["found as"] == "whole words"
    assert record["conventions"].startswith("graded: ")

"""Keywords where people look: on Scores, Compare, Slices and beside one query."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from labeler.model import Chunk, GoldenGrade, LoadedGolden, Query, Ranking
from labeler.store import Store
from tests.support.page import empty_golden_set, loaded, open_page, words

TEXTS = ["TravelGuard covers it", "a refund takes 30 days", "see the <b>form</b>"]
QUERIES = [
    Query("q1", "cover", "single", keywords=("TravelGuard", "form"), buckets={"kind": "name"}),
    Query("q2", "refund", "single", keywords=("30 days",), buckets={"kind": "time"}),
    Query("q3", "without any", "single", buckets={"kind": "none"}),
]


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """Run ``new`` has the form of q1 second, and nothing of q2; nobody finds TravelGuard."""
    path = empty_golden_set(tmp_path)
    with Store(path) as store:
        store.queries.load(loaded(QUERIES))
        store.chunks.load(loaded([Chunk(f"c{n}", text) for n, text in enumerate(TEXTS)]))
        for run, lists in {"old": ("c2", "c1", "c0"), "new": ("c1 c2", "c2", "c0")}.items():
            rankings = [Ranking(f"q{n}", tuple(ids.split())) for n, ids in enumerate(lists, 1)]
            store.runs.load(loaded(rankings), name=run)
        grades = [GoldenGrade(f"q{n}", "c2", 3) for n in (1, 2, 3)]
        store.golden_loads.add(LoadedGolden(loaded([]), loaded(grades), loaded([])))
    return path


def test_scores_names_the_keywords_that_no_run_finds_when_asked(database: Path) -> None:
    assert "TravelGuard" not in words(open_page("scores", view="keywords"))
    said = words(open_page("scores", view="keywords", missed="true", k="1"))
    assert "1 of 3 keywords is found by no run, at any depth." in said
    assert "'TravelGuard' of query q1" in said
    assert "coverage@1" in said


def test_compare_sets_b_against_a_by_keyword_at_any_depth(database: Path) -> None:
    app = open_page("compare", a="old", b="new", show="Keywords", k="1")
    said, folded = words(app), [each.label for each in app.expander]
    assert "coverage@1" in said
    assert "whole words, in any case · top 1" in said
    assert "−0.7500" in said
    assert "Only old has these in its top 1: 2" in folded
    assert not [label for label in folded if label.startswith("Only new")]
    assert "found by neither old nor new, though chunks hold it: 'TravelGuard' of query q1" in said


def test_slices_shows_keywords_by_bucket_when_asked(database: Path) -> None:
    assert "coverage@10" not in words(open_page("slices", a="old", facet="kind"))
    said = words(open_page("slices", a="old", b="new", facet="kind", keywords="true"))
    for heading in ("coverage@10 A", "coverage@10 B", "all of them", "name", "time"):
        assert heading in said
    one = words(open_page("slices", a="old", facet="kind", keywords="true"))
    assert "coverage@10" in one
    assert "coverage@10 A" not in one


def test_slices_shows_them_before_anybody_has_graded(tmp_path: Path) -> None:
    with Store(empty_golden_set(tmp_path)) as store:
        store.queries.load(loaded(QUERIES))
        store.chunks.load(loaded([Chunk(f"c{n}", text) for n, text in enumerate(TEXTS)]))
        store.runs.load(loaded([Ranking("q1", ("c2",))]), name="old")
    said = words(open_page("slices", a="old", facet="kind", keywords="true"))
    assert "Nobody has graded a chunk yet" in said
    assert "coverage@10" in said


def test_keywords_of_a_split_stand_alone_on_pages(database: Path) -> None:
    with Store(database) as store:
        kept = [replace(each, split="dev") for each in store.queries.all() if each.query_id == "q2"]
        store.queries.load(loaded(kept), update=True)
    said = words(open_page("scores", view="keywords", missed="true", split="dev"))
    assert "0 of 1 keywords are found by no run" in said
    both = words(open_page("compare", a="old", b="new", show="Keywords", split="dev"))
    assert "TravelGuard" not in both


WHERE = {
    "scores": {"view": "keywords"},
    "compare": {"a": "old", "b": "new", "show": "Keywords"},
    "slices": {"a": "old", "facet": "kind", "keywords": "true"},
}


@pytest.mark.parametrize("page", WHERE)
def test_where_no_query_has_keywords_it_says_how_they_come(page: str, database: Path) -> None:
    with Store(database) as store:
        without = [replace(each, keywords=()) for each in store.queries.all()]
        store.queries.load(loaded(without), update=True)
    app = open_page(page, **WHERE[page])
    assert "No query has keywords" in words(app)
    assert "labeler load queries FILE --update" in [block.value for block in app.code]


@pytest.mark.parametrize("page", WHERE)
def test_where_only_the_chosen_queries_have_none_nothing_needs_loading(
    page: str, database: Path
) -> None:
    with Store(database) as store:
        [third] = [replace(each, split="dev") for each in store.queries.all() if not each.keywords]
        store.queries.load(loaded([third]), update=True)
    app = open_page(page, **WHERE[page], split="dev")
    assert "None of the queries that are chosen has keywords." in words(app)
    assert not app.code


@pytest.mark.parametrize("page", ["scores", "compare"])
def test_a_bucket_without_keywords_says_nothing_of_all_queries(page: str, database: Path) -> None:
    app = open_page(page, **WHERE[page], facet="kind", bucket="none")
    assert "None of the queries that are chosen has keywords." in words(app)


def test_one_query_says_of_each_keyword_where_it_stands(database: Path) -> None:
    on_queries = words(open_page("queries", run="new", query="q1"))
    assert "TravelGuard: found by no run" in on_queries
    assert "form: first at rank 2 in new (2 of all 2 runs find it)" in on_queries
    on_compare = words(open_page("compare", a="old", b="new", query="q1"))
    assert "form: first at rank 1 in old, 2 in new" in on_compare
    assert "TravelGuard: found by no run" in on_compare
    assert "30 days: first at rank 1 in old; not in new" in (
        words(open_page("compare", a="old", b="new", query="q2"))
    )

"""Names and texts without a place to break: they wrap, or end at the edge of their box."""

from __future__ import annotations

import re
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from labeler.model import Chunk, GoldenGrade, Loaded, LoadedGolden, Query, Ranking
from labeler.store import Store
from tests.browser.padpage import PHONE

pytestmark = pytest.mark.browser

FACET, RUN, OTHER, WORD = "f" * 300, "r" * 300, "u" * 300, "a" * 300
MARKED = "Z" + "\u0301\u0323\u0489" * 100  # one letter, which nothing can break
# What is wider than the page and in no box that scrolls or clips.
FITS = """() => {
    const main = document.querySelector("[data-testid=stMain]");
    return [document.documentElement, main].every(each => each.scrollWidth <= each.clientWidth);
}"""

IS_READ_IN_FULL = "box => box.scrollWidth <= box.clientWidth"


def loaded(records):
    return Loaded("test", records, range(1, len(records) + 1))


@pytest.fixture
def long(tmp_path):
    path = tmp_path / "long.db"
    names = [WORD, MARKED]
    with Store(path, create=True) as store:
        store.queries.load(
            loaded(
                [
                    Query(each, f"{each} {WORD}", buckets={FACET: each, MARKED: each})
                    for each in names
                ]
            )
        )
        store.chunks.load(loaded([Chunk(each, f"{MARKED} {each}", each, each) for each in names]))
        for run, order in ((RUN, names), (OTHER, names[::-1]), (MARKED, names)):
            lists = [Ranking(each, tuple(order), (1.0, 1.0)) for each in names]
            store.runs.load(loaded(lists), name=run, system=f"{run}s")
        grades = [GoldenGrade(each, WORD, 3) for each in names]
        store.golden_loads.add(LoadedGolden(loaded([]), loaded(grades), loaded([])))
    return path


def test_no_name_makes_a_page_wider_than_a_phone(serve, visit, long):
    server = serve(long)
    page = visit(server.url, **PHONE)
    bucket, pair = {"facet": FACET, "bucket": WORD}, {"a": RUN, "b": OTHER}
    for path, asked, sign in (
        ("", bucket, ".chunk .text"),
        ("scores", {}, ".ranking"),
        ("scores", {"facet": FACET}, ".scores"),
        ("compare", {**pair, "query": WORD}, ".chunk-shown"),
        ("slices", {**pair, "facet": FACET, "numbers": "true"}, ".pictured"),
        ("queries", {**pair, "facet": FACET, "view": "Causes by bucket"}, ".failures"),
        ("queries", {"a": RUN, "query": MARKED}, ".duel"),
        ("data", {"section": "Queries"}, "[data-testid=stText]"),
    ):
        page.goto(f"{server.url}/{path}?{urlencode(asked)}")
        expect(page.locator(sign).first).to_be_visible()
        page.wait_for_function(FITS)  # a page is drawn piece by piece


@pytest.mark.slow
def test_on_a_phone_no_name_of_a_run_lies_over_its_first_number(serve, visit, long):
    with Store(long) as store:
        for run in (
            "a model of many words, " * 5,
            "nothing that others have in common with it " * 3,
        ):
            store.runs.load(loaded([Ranking(WORD, (WORD, MARKED))]), name=run.strip())
    page = visit(f"{serve(long).url}/scores", **PHONE)
    rows = page.locator(".ranking tbody tr:not(.axis)")
    expect(rows).to_have_count(5)
    for row in rows.all():
        name, number = row.locator("th bdi").first, row.locator("td:visible").first
        left = name.bounding_box()
        assert left["x"] + left["width"] <= number.bounding_box()["x"]


@pytest.mark.slow
def test_a_query_of_many_lines_leaves_its_results_in_sight(serve, visit, long):
    with Store(long) as store:
        store.queries.load(loaded([Query(WORD, "a question " * 2_000)]), update=True)
    server = serve(long)
    page = visit(server.url, viewport={"width": 1440, "height": 900})
    for path in ("queries", "compare"):
        page.goto(f"{server.url}/{path}?{urlencode({'a': RUN, 'b': OTHER, 'query': WORD})}")
        text = page.locator(".question h2")
        expect(text).to_contain_text("a question")
        assert text.bounding_box()["height"] < 250
        assert text.evaluate("text => text.scrollHeight > text.clientHeight"), "the rest scrolls"


@pytest.mark.slow
def test_names_of_runs_leave_the_usual_measures_their_room(serve, visit, long):
    models = ("bge-large-en-v1.5", "e5-mistral-7b-instruct", "snowflake-arctic-embed-l-v2.0")
    with Store(long) as store:
        for run in (RUN, OTHER, MARKED):
            store.runs.drop(run)
        for run in [f"hybrid_{model}_rerank-monot5-3b-msmarco-top50" for model in models]:
            store.runs.load(
                loaded([Ranking(each, (WORD, MARKED)) for each in (WORD, MARKED)]), name=run
            )
    page = visit(f"{serve(long).url}/scores", viewport={"width": 1024, "height": 768})
    columns = page.locator(".ranking thead th")
    expect(columns).to_have_count(5)
    expect(columns.nth(4)).to_be_in_viewport(ratio=1)


@pytest.mark.slow
def test_what_tells_runs_apart_is_read_in_full_in_the_boxes(serve, visit, long):
    told_apart = (
        "baai-bge-large-en-v1.5-finetuned-on-tickets_rerank-monot5-3b-msmarco-10k",
        "intfloat-e5-mistral-7b-instruct-lora-r16-merged_without-any-reranking-at-all",
    )
    with Store(long) as store:
        for run in (RUN, OTHER, MARKED):
            store.runs.drop(run)
        for run in told_apart:
            lists = [Ranking(each, (WORD, MARKED)) for each in (WORD, MARKED)]
            store.runs.load(loaded(lists), name=f"prod-2026-11_{run}_top50")
    page = visit(f"{serve(long).url}/compare", viewport={"width": 1440, "height": 900})
    for label in ("A", "B"):
        box = page.get_by_role("combobox", name=label, exact=True)
        expect(box).to_have_value(re.compile("baai|intfloat"))
        page.wait_for_function(IS_READ_IN_FULL, arg=box.element_handle())
    answer = page.locator(".answer .says")
    expect(answer).to_be_visible()
    assert answer.bounding_box()["y"] < 450, "it begins in the upper half"

"""Slices and Queries in a real browser: from a bucket to its queries, to one query, and back."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from urllib.parse import parse_qs, urlparse

import pytest
from playwright.sync_api import Page, expect

from labeler.cli.demo_data import build_demo
from labeler.model import Chunk, GoldenGrade, LoadedGolden, Query, Ranking
from labeler.store import Store
from tests.browser.server import loaded
from tests.browser.still import stand_still
from tests.support.page import add_collapsed_bucket, empty_golden_set

pytestmark = pytest.mark.browser

FIRST_SCREENS = {
    "/slices?a=bm25&b=hybrid": 180,
    "/slices?a=hybrid": 180,
    "/queries?a=hybrid": 300,
}
HOSTILE = "<img src=x onerror=alert(1)> **bold** :red[x]"


@pytest.fixture
def graded(tmp_path: Path) -> Path:
    """Twelve queries in two buckets: B wins all of the larger bucket and loses the smaller."""
    chunks = tuple(f"c{n}" for n in range(12))
    late = (*chunks[1:], chunks[0])
    path = tmp_path / "graded.db"
    with Store(path, create=True) as store:
        store.chunks.load(loaded([Chunk(name, f"The text of {name}.", HOSTILE) for name in chunks]))
        store.queries.load(
            loaded(
                [
                    Query(
                        f"q{n:02}",
                        f"{HOSTILE} number {n}",
                        "single" if n % 2 else "research",
                        buckets={"intent": "refund" if n < 9 else "setup"},
                    )
                    for n in range(12)
                ]
            )
        )
        for name, in_front in (("first", False), ("second", True)):
            lists = [
                Ranking(f"q{n:02}", chunks if (n < 9) == in_front else late) for n in range(12)
            ]
            store.runs.load(loaded(lists), name=name)
        grades = [
            GoldenGrade(f"q{n:02}", name, 3 * (name == "c0"))
            for n in range(12)
            for name in chunks[:6]
        ]
        store.golden_loads.add(LoadedGolden(loaded([]), loaded(grades), loaded([])))
    return path


def chosen(page: Page) -> dict[str, list[str]]:
    """Return what the address says."""
    return parse_qs(urlparse(page.url).query)


def open_first_row(page: Page, query_id: str) -> None:
    """Click the first query of the list, in the middle of its line."""
    row = page.locator(".queries tbody tr").first
    expect(row.get_by_role("rowheader")).to_have_text(query_id)
    row.click()


def test_a_slice_opens_its_queries_and_a_click_opens_one_in_full(serve, visit, graded):
    server = serve(graded)
    page = visit(
        f"{server.url}/slices?a=first&b=second&facet=intent&measure=RR&least=5", grader=None
    )
    expect(page.get_by_text("No intent bucket has 10 queries")).to_be_visible()
    expect(page.locator(".slices tr.few")).to_have_count(1)
    expect(page.locator(".slices .plot .plain")).to_have_count(2)
    page.locator(".slices").get_by_role("link", name="setup").click()
    expect(page.get_by_text("3 of 12 queries · largest loss first")).to_be_visible()
    assert chosen(page)["bucket"] == ["setup"]
    open_first_row(page, "q09")
    expect(page.locator(".question h2")).to_contain_text(f"{HOSTILE} number 9")
    expect(page.get_by_text("1 of 3", exact=True)).to_be_visible()
    assert chosen(page)["query"] == ["q09"]
    page.get_by_role("button", name="Next").click()
    expect(page.locator(".question h2")).to_contain_text("number 10")
    page.get_by_role("button", name="Queries of").click()
    expect(page.get_by_text("3 of 12 queries")).to_be_visible()
    assert "query" not in chosen(page)
    assert not page.locator(".question img, .duel img").count()


WORDS_IN_SIGHT = """() => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const range = document.createRange();
    let words = 0;
    while (walker.nextNode()) {
        const parent = walker.currentNode.parentElement;
        if (parent.closest(".top, style, script, .stTooltipIcon")) continue;
        if (!parent.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
        range.selectNodeContents(walker.currentNode);
        const box = range.getBoundingClientRect();
        if (box.height < 2 || box.bottom <= 0 || box.top >= innerHeight) continue;
        words += walker.currentNode.textContent.match(/(?<=^|\\s)\\p{L}\\S*/gu)?.length ?? 0;
    }
    return words;
}"""


@pytest.fixture
def demo(tmp_path: Path) -> Path:
    """Make the golden set of the sample data."""
    path = tmp_path / "demo.db"
    build_demo(path)
    return path


@pytest.mark.slow
def test_the_first_screen_has_few_words(serve, visit, demo):
    server, size = serve(demo), {"width": 1440, "height": 900}
    for address, most in FIRST_SCREENS.items():
        page = stand_still(visit(f"{server.url}{address}", grader=None, viewport=size))
        expect(page.locator(".answer .says")).to_be_visible()
        assert page.evaluate(WORDS_IN_SIGHT) <= most, address


@pytest.mark.slow
def test_dots_have_room_to_tell_their_side_however_many_columns_there_are(serve, visit, graded):
    server = serve(graded)
    pair = "slices?a=first&b=second&facet=intent&numbers=true"
    many = "&".join(f"measure={name}@{k}" for name in ("nDCG", "P", "R") for k in (1, 2, 3, 5))
    page = visit(f"{server.url}/{pair}", grader=None)
    for wide, asked in ((1440, ""), (1440, many), (1200, ""), (1200, many), (390, many)):
        page.set_viewport_size({"width": wide, "height": 900})
        page.goto(f"{server.url}/{pair}&{asked}")
        expect(page.locator(".pictured .dot")).to_have_count(36 if asked else 9)
        tracks = page.locator(".pictured .track").evaluate_all(
            "all => all.map(each => each.getBoundingClientRect().width)"
        )
        assert min(tracks) > 30, (wide, asked)


def test_one_query_shows_its_list_what_is_unjudged_and_ndcg_worked_out(serve, visit, graded):
    server = serve(graded)
    page = visit(f"{server.url}/queries?query=q01&run=first&measure=nDCG@10", grader=None)
    rows = page.locator(".duel.single li.r")
    expect(rows.first.locator(".gd")).to_have_text("0")
    expect(rows.nth(5).locator(".gd.open")).to_have_count(1)
    expect(page.locator(".duel .edge .rank")).to_have_text("rank 5")
    expect(page.locator(".answer .says")).to_have_text("first ranks the one useful chunk 12th.")
    rows.nth(1).locator("a").click()
    expect(page.get_by_text("The text of c2.")).to_be_visible()
    page.get_by_text("nDCG worked out").click()
    expect(page.get_by_text(re.compile("DCG / IDCG = 0.0000 / 7.0000"))).to_be_visible()
    page.get_by_text("All measures, and why it fails in each run").click()
    expect(page.locator(".why tbody tr").first).to_contain_text("ranked too low")


@pytest.mark.slow
def test_the_address_of_the_classes_of_failure_holds_every_choice(serve, visit, graded):
    server = serve(graded)
    view = "view=Why+they+fail&run=second&facet=intent&bar=RR&below=0.5"
    page = visit(f"{server.url}/queries?{view}", grader=None)
    expect(page.get_by_text("Retrieval fails on 3 of 12 graded queries.")).to_be_visible()
    expect(page.get_by_text("Retrieval fails where RR is below 0.5.")).to_be_visible()
    expect(page.locator(".failures tbody tr")).to_have_count(1)
    page.locator(".failures").get_by_role("link", name="ranked too low").click()
    expect(page.get_by_text("3 of 12 queries · worst first")).to_be_visible()
    assert chosen(page)["class"] == ["ranked too low"]
    page.go_back()
    expect(page.locator(".failures tbody tr")).to_have_count(1)
    page.get_by_role("link", name="Slices", exact=True).click()
    expect(page.locator(".slices")).to_be_visible()
    page.get_by_role("link", name="Queries", exact=True).click()
    expect(page.get_by_text("Retrieval fails where RR is below 0.5")).to_be_visible()
    assert (chosen(page)["a"], chosen(page)["facet"]) == (["second"], ["intent"])


@pytest.mark.slow
def test_a_run_that_is_not_there_is_said_and_the_page_goes_on_without_it(serve, visit, graded):
    server = serve(graded)
    page = visit(f"{server.url}/queries?a=nope&measure=RR", grader=None)
    expect(page.get_by_text("no run is called 'nope'; there are: second, first")).to_be_visible()
    expect(page.get_by_text("Traceback")).to_have_count(0)
    page.get_by_role("button", name="Go on without it").click()
    expect(page.get_by_text("12 of 12 queries · worst first")).to_be_visible()
    assert "nope" not in page.url


@pytest.mark.slow
def test_from_what_compare_says_of_a_bucket_it_is_a_click_to_its_worst_query(
    serve, visit, tmp_path
):
    path = empty_golden_set(tmp_path)
    add_collapsed_bucket(path)
    server = serve(path)
    page = visit(f"{server.url}/compare?a=old&b=new&measure=RR&leaked=with", grader=None)
    page.get_by_role("link", name="All 2 buckets").click()
    expect(page.locator(".slices .dot").first).to_be_visible()
    falls = page.get_by_role("link", name="intent = setup: −")
    falls.click()
    expect(page.get_by_text("new is better on 0, worse on 11")).to_be_visible()
    assert chosen(page).pop("leaked") == ["with"]
    page.get_by_role("button", name="query q00").click()
    expect(page.locator(".question h2")).to_contain_text("query q00")
    page.go_back()
    page.go_back()
    expect(falls).to_be_visible()


def test_who_goes_through_the_list_by_keys_opens_the_query_that_is_asked_for(graded, serve, visit):
    page = stand_still(visit(f"{serve(graded).url}/queries?a=first"))
    page.get_by_role("textbox", name="Query").focus()
    focused = page.locator(":focus")
    passed = [""]
    while not passed[-1].endswith("number 10"):
        page.keyboard.press("Tab")
        passed.append(focused.inner_text())
        assert len(passed) < 20, passed
    assert "query" not in chosen(page), "who only passes a query opens none"
    assert passed[-2].endswith("number 9"), "each is a stop, the worst first"
    page.keyboard.press("Enter")
    expect(page.locator(".question h2")).to_contain_text("number 10")
    page.go_back()
    expect(page.locator(".queries tbody tr")).to_have_count(12)
    expect(focused).to_contain_text("number 10")


def test_back_from_a_query_leads_to_its_row(graded, serve, visit):
    with Store(graded) as store:
        store.queries.load(loaded([Query(f"z{n:02}", f"text {n}") for n in range(60)]))
    page = stand_still(visit(f"{serve(graded).url}/queries?every=true", grader=None))
    page.locator(".queries tbody tr").nth(50).click()
    expect(page.locator(".question h2")).to_be_visible()
    name = page.locator(".question h2").inner_text().split()[-1]
    page.go_back()
    row = page.locator(".queries tbody tr").nth(50)
    expect(row.get_by_role("link")).to_be_focused()
    expect(row).to_be_in_viewport()
    assert name in row.inner_text()


@pytest.mark.slow
def test_no_heading_covers_the_query_that_has_the_focus(graded, serve, visit):
    with Store(graded) as store:
        store.queries.load(loaded([Query(f"z{n:02}", f"text {n}") for n in range(40)]))
    page = stand_still(visit(f"{serve(graded).url}/queries?every=true", grader=None))
    links = page.locator(".queries tbody a")
    links.last.focus()
    heads = page.locator(".queries thead th").first
    for _ in range(40):
        page.keyboard.press("Shift+Tab")
        top = page.locator(".queries tr:has(a:focus)").bounding_box()["y"]
        under = heads.bounding_box()
        assert top >= under["y"] + under["height"] - 2


@pytest.mark.slow
def test_why_a_query_fails_and_its_numbers_are_in_sight(graded, serve, visit):
    with Store(graded) as store:
        names = [f"{HOSTILE} {n:02}".replace(" ", "-") * 3 for n in range(3)]
        store.queries.load(loaded([Query(name, "a text of many words " * 20) for name in names]))
    many = "&".join(f"measure=nDCG@{k}" for k in (1, 2, 3, 5))
    server = serve(graded)
    for width, asked in ((1440, many), (1440, "a=first"), (1024, "")):
        size = {"width": width, "height": 900}
        page = visit(f"{server.url}/queries?numbers=true&{asked}", grader=None, viewport=size)
        stand_still(page)
        listed = page.locator(".queries")
        expect(listed.locator("tbody tr")).to_have_count(15)
        measure = listed.get_by_role("columnheader", name="nDCG@5" if asked == many else "RR")
        box, last = (each.bounding_box() for each in (listed, measure.last))
        assert last["x"] + last["width"] <= box["x"] + box["width"] + 1, (width, asked)
        rows = listed.locator("tbody tr").evaluate_all("all => all.map(each => each.clientHeight)")
        assert max(rows) < 80, "a long name takes two lines"


@pytest.mark.slow
def test_who_comes_back_from_another_query_finds_it_in_the_list(graded, serve, visit):
    with Store(graded) as store:
        store.queries.load(loaded([Query(f"z{n:03}", f"text {n}") for n in range(200)]))
    page = stand_still(visit(f"{serve(graded).url}/queries?every=true", grader=None))
    page.locator(".queries tbody tr").last.click()
    expect(page.get_by_text("200 of 212")).to_be_visible()
    page.get_by_role("button", name="Next").click()
    expect(page.get_by_text("201 of 212")).to_be_visible()
    name = page.locator(".question h2").inner_text()
    page.get_by_role("button", name="Queries of").click()
    expect(page.locator(".queries tbody tr")).to_have_count(12)
    assert name.split()[-1] in page.locator(".queries tbody tr").first.inner_text()


@pytest.mark.slow
def test_the_first_click_opens_a_query_after_a_choice_too(graded, serve, visit):
    page = stand_still(visit(f"{serve(graded).url}/queries?a=first"))
    for box, option in (("A", "second"), ("Sorted", "most unjudged first")):
        page.get_by_role("combobox", name=box, exact=True).click()
        page.get_by_role("option", name=option).first.click()
        stand_still(page)
        page.locator(".queries tbody tr").nth(3).click()
        page.wait_for_url("**query=q**")
        page.get_by_role("button", name="Queries of").click()
        page.wait_for_url(lambda url: "query=" not in url)
        stand_still(page)


@pytest.mark.slow
def test_the_file_of_crossed_facets_says_how_many_chunks_a_prompt_holds(serve, visit, graded):
    where = "facet=intent&other=task&a=first&measure=R@prompt"
    page = visit(f"{serve(graded).url}/slices?{where}")
    expect(page.get_by_text("R@5: mean of first by intent and task")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("button").filter(has_text="as CSV").click()
    rows = csv.DictReader(download.value.path().read_text().splitlines())
    assert {row["full_name"] for row in rows} == {"R(rel=1)@5"}

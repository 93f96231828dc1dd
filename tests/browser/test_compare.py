"""The Compare page in a real browser: every way to a query, its lists, and a grade given there."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from labeler.cli.demo_data import build_demo
from labeler.model import Chunk, GoldenGrade, LoadedGolden, Query, Ranking
from labeler.store import Store
from tests.browser.padpage import PHONE
from tests.browser.server import WarmServer, loaded
from tests.browser.still import follow, stand_still

pytestmark = pytest.mark.browser

EVIL = "<img src=http://evil.example/q.png onerror='window.ran = 1'> :red[x]"


def made(path: Path) -> Path:
    """Make three queries over six chunks; c5 is highly relevant, old has it last, new first."""
    ids = [f"c{number}" for number in range(6)]
    with Store(path, create=True) as store:
        texts = {"q0": "why is the kettle cold", "q1": EVIL, "q2": "when is the shop open"}
        store.queries.load(
            loaded([Query(name, text, buckets={"topic": name}) for name, text in texts.items()])
        )
        store.chunks.load(loaded([Chunk(name, f"Text of {name} {EVIL}", EVIL) for name in ids]))
        new = {"q0": ids[::-1], "q1": ids, "q2": [*ids[1:], "c9"]}
        store.runs.load(loaded([Ranking(query, tuple(ids)) for query in texts]), name="old")
        store.runs.load(loaded([Ranking(q, tuple(names)) for q, names in new.items()]), name="new")
        grades = [GoldenGrade(query, "c5", 3) for query in texts]
        store.golden_loads.add(LoadedGolden(loaded([]), loaded(grades), loaded([])))
    return path


@pytest.fixture
def pair(tmp_path: Path) -> Path:
    """Make the same for a test that changes it."""
    return made(tmp_path / "pair.db")


@pytest.fixture(scope="module")
def golden(serve_to_all, tmp_path_factory) -> WarmServer:
    """Serve it to all tests that do not change it."""
    return serve_to_all(made(tmp_path_factory.mktemp("compare") / "pair.db"))


@pytest.fixture(scope="module")
def tab(golden, visit_for_all) -> Page:
    """Give a page of Ann's that goes on from test to test."""
    return stand_still(visit_for_all(f"{golden.url}/scores"))


@pytest.fixture
def look(tab, golden) -> Callable[[str], Page]:
    """Go on to what an address of Compare names, of old as A and new as B unless it says."""

    def go(named: str) -> Page:
        pair = "" if "a=" in named.replace("measure=", "") else "a=old&b=new&"
        return follow(tab, f"{golden.url}/compare?{pair}{named}")

    return go


def address(page: Page) -> dict[str, list[str]]:
    return parse_qs(urlsplit(page.url).query)


def expect_query(page: Page, query: str) -> None:
    """Wait until a query's lists are on screen and the address names it."""
    expect(page.locator(".question .facts")).to_contain_text(f"{query} ·")
    expect(page.locator(".duel .a li.r").first).to_be_visible()
    page.wait_for_url(re.compile(rf"query={query}"))


def test_a_click_on_a_strip_opens_the_query_and_the_way_back_leads_back(look):
    page = look("measure=RR")
    rows = page.locator(".strips tbody tr")
    expect(rows).to_have_count(3)
    expect(page.locator(".strips thead .bucket")).to_have_text("topic")
    expect(rows.locator("button").first).to_have_text(EVIL)
    expect(rows.nth(2).locator(".strip").nth(0).locator(".cell")).to_have_text([*[""] * 5, "3"])
    expect(rows.nth(2).locator(".strip").nth(1).locator(".cell")).to_have_text(["3", *[""] * 5])
    expect(rows.nth(2).locator(".cell.unjudged")).to_have_count(10)
    rows.nth(2).locator("td.delta").click()
    expect_query(page, "q0")
    page.get_by_role("button", name="Compare old with new").click()
    expect(page.locator(".strips tbody tr")).to_have_count(3)
    page.wait_for_url(lambda url: "query=" not in url)
    assert page.evaluate("window.ran") is None


@pytest.mark.slow
def test_on_a_phone_a_query_opens_from_its_top_and_closes_to_where_its_reader_was(golden, visit):
    page = stand_still(visit(f"{golden.url}/compare?a=old&b=new&measure=RR", grader=None, **PHONE))
    row = page.locator(".strips tbody tr").last
    row.scroll_into_view_if_needed()
    before = page.locator('[data-testid="stMain"]').evaluate("it => it.scrollTop")
    assert before > PHONE["viewport"]["height"] / 2
    row.locator("td.delta").tap()
    expect_query(page, "q0")
    expect(page.locator(".question h2")).to_be_in_viewport(ratio=1)
    page.locator(".duel .b li.r a").last.tap()
    expect(page.locator(".chunk-shown")).to_be_in_viewport()
    page.get_by_role("button", name="Compare old with new").tap()
    is_back = """to => document.querySelector('[data-testid="stMain"]').scrollTop === to"""
    page.wait_for_function(is_back, arg=before)
    page.go_back()
    expect_query(page, "q0")
    page.go_back()
    expect(row).to_be_visible()
    page.wait_for_function(is_back, arg=before)


@pytest.mark.slow
def test_on_a_phone_rows_are_named_however_far_a_table_is_scrolled(golden, visit):
    page = stand_still(visit(f"{golden.url}/compare", grader=None, **PHONE))
    page.get_by_text("All numbers").click()
    table = page.locator(".sheet").first
    table.evaluate("it => it.scrollTo(it.scrollWidth, 0)")
    assert table.evaluate("it => it.scrollLeft") > 100
    for row in table.get_by_role("rowheader").all():
        row.scroll_into_view_if_needed()
        expect(row).to_be_in_viewport(ratio=0.9)
    assert table.evaluate("it => it.scrollLeft") > 100


def test_the_keyboard_walks_the_rows_and_opens_one(look):
    page = look("measure=RR")
    page.get_by_role("combobox").first.press("ControlOrMeta+a")  # as Tab leaves it, too
    page.locator(".strips tbody button").first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect_query(page, "q2")
    expect(page.get_by_role("button", name="Compare old with new")).to_be_focused()
    page.get_by_role("button", name="Next").click()
    expect_query(page, "q0")
    expect(page.get_by_role("button", name="Next")).to_be_disabled()
    page.get_by_role("button", name="Previous").click()
    expect_query(page, "q2")


def test_lines_join_equal_chunks_and_show_which_are_relevant_without_colour(look):
    page = look("measure=RR&query=q2")
    expect_query(page, "q2")
    expect(page.locator(".duel .a .below .rank")).to_have_text("rank none")
    expect(page.locator(".duel .b .below .move")).to_have_text("–")
    expect(page.locator(".duel .b li.r .move").nth(5)).to_have_text("new")
    expect(page.locator(".wires path")).to_have_count(7)
    page = look("measure=RR&query=q0")
    expect_query(page, "q0")
    lines = page.locator(".wires path")
    expect(lines).to_have_count(6)
    look_of = "path => [getComputedStyle(path).strokeDasharray, getComputedStyle(path).strokeWidth]"
    assert page.locator(".wires .open").first.evaluate(look_of) == ["3px, 3px", "1.25px"]
    assert page.locator(".wires .l3").first.evaluate(look_of) == ["none", "4px"]
    expect(page.locator(".duel .b li.r .move").first).to_have_text("↑ 5")
    says = page.locator(".answer .says")
    expect(says).to_have_text("old ranks the one useful chunk sixth, new first.")
    ends = page.locator(".duel .a li.r .gd, .duel .b li.r .gd").evaluate_all(
        "all => all.map(box => { const it = box.getBoundingClientRect();"
        " return [it.left, it.right, (it.top + it.bottom) / 2]; })"
    )
    line = page.locator(".wires .l3").evaluate(
        "path => { const it = path.getBoundingClientRect();"
        " return [it.left, it.right, it.top, it.bottom]; }"
    )
    assert abs(line[0] - ends[5][1]) < 3, "it begins at the grade of A's last"
    assert abs(line[1] - ends[6][0]) < 3, "and ends at the grade of B's first"
    assert abs(line[2] - ends[6][2]) < 4
    assert abs(line[3] - ends[5][2]) < 4


def test_what_the_other_list_has_in_its_top_ten_stands_below_with_its_rank(serve, visit, tmp_path):
    build_demo(tmp_path / "demo.db")
    page = visit(serve(tmp_path / "demo.db").url + "/compare?a=bm25&b=hybrid&query=q-079")
    for side, ranks in {"a": ["11", "12", "13"], "b": ["11", "13", "14"]}.items():
        expect(page.locator(f".duel .{side} .cut")).to_have_text("below the top 10")
        shown = [f"rank {rank}" for rank in ranks]
        expect(page.locator(f".duel .{side} .below .rank")).to_have_text(shown)
    height = page.locator(".duel .a ol").bounding_box()["height"]
    assert page.locator("svg.wires").evaluate("svg => svg.viewBox.baseVal.height") == height
    expect(page.locator(".duel .a .edge .rank")).to_have_text("rank 5")


def test_j_and_k_go_on_and_back_returns_after_any_number_of_chunks(look):
    page = look("measure=RR")
    page.locator(".strips tbody td.delta").first.click()
    expect_query(page, "q1")
    page.keyboard.press("j")
    expect_query(page, "q2")
    page.keyboard.press("j")
    expect_query(page, "q0")
    page.keyboard.press("k")
    expect_query(page, "q2")
    for place in (1, 2):
        row = page.locator(".duel .b li.r").nth(place)
        row.locator("a").focus()
        page.keyboard.press("Enter")
        expect(row).to_have_class(re.compile("current"))
        expect(row.locator("a")).to_be_focused()
        expect(page.locator(".chunk-shown small").first).to_have_text(f"c{place + 1}")
    assert address(page)["chunk"] == ["c3"]
    for query in ("q0", "q2", "q1"):
        page.go_back()
        expect_query(page, query)
    page.go_back()
    expect(page.locator(".strips tbody tr")).to_have_count(3)


def test_a_grade_given_here_moves_the_delta_and_is_not_blind(serve, visit, pair):
    server = serve(pair)
    page = visit(f"{server.url}/compare?a=old&b=new&measure=nDCG@10&query=q0")
    expect_query(page, "q0")
    total = page.locator(".answer .figure b")
    expect(total).to_have_text("+0.6438")
    page.locator(".duel .a li.r a").first.click()
    expect(page.locator(".who-graded")).to_contain_text("Nobody has graded this chunk.")
    expect(page.locator(".chunk-shown .text")).to_have_text(f"Text of c0 {EVIL}")
    page.get_by_role("radio", name="3", exact=True).click()
    expect(page.locator(".who-graded")).to_have_text("3Ann 3")
    expect(total).to_have_text("0.8316")
    expect(page.locator(".answer .figure")).to_contain_text("nDCG@10, the same in both")
    assert address(page)["chunk"] == ["c0"]
    with server.store() as store:
        event = store.judgments.log()[-1]
    said = (event.query_id, event.chunk_id, event.grade, event.grader, event.kind)
    assert said == ("q0", "c0", 3, "Ann", "grade")
    assert (event.blind, event.source) == (False, "compare")
    # The control is a fresh one for each revision, and for a moment the old one stands beside it.
    zero = page.get_by_role("radio", name="0", exact=True)
    expect(zero).to_have_count(1)
    zero.click()
    expect(total).to_have_text("+0.6438")
    assert page.evaluate("window.ran") is None


def test_what_if_is_shown_and_not_saved(serve, visit, pair):
    server = serve(pair)
    page = visit(f"{server.url}/compare?a=old&b=new&measure=RR&query=q0&chunk=c5")
    expect_query(page, "q0")
    expect(page.locator(".duel .b li.edge .ends")).to_have_text("end of the prompt")
    table = page.get_by_role("table", name="What if new had it at …")
    table.get_by_role("link", name="rank 2", exact=True).click()
    expect(table.locator(".tried")).to_contain_text("0.5000−0.5000")
    expect(page.get_by_text("At rank 2 the mean of 3 queries would be")).to_be_visible()
    page.get_by_role("link", name="The same for old").click()
    table = page.get_by_role("table", name="What if old had it at …")
    expect(table.locator(".tried")).to_contain_text("0.5000+0.3333")
    page.locator(".duel .a li.r a").first.click()
    grades = page.get_by_role("table", name="What if it had grade … in new")
    expect(grades.get_by_role("row")).to_have_count(5)
    with server.store() as store:
        assert len(store.judgments.log()) == 3


@pytest.mark.slow
def test_a_narrow_page_shows_of_a_its_ranks_and_grades(golden, visit):
    page = stand_still(visit(f"{golden.url}/compare?a=old&b=new&measure=RR&query=q0", **PHONE))
    expect_query(page, "q0")
    expect(page.locator(".duel .a .part").first).to_be_hidden()
    expect(page.locator(".duel .a li.r .gd").first).to_be_in_viewport()
    expect(page.locator(".duel .b li.r .named").first).to_be_visible()
    wide = page.evaluate("document.querySelector('.stApp').scrollWidth")
    assert wide <= PHONE["viewport"]["width"]
    page.locator(".duel .a li.r").nth(2).tap()
    expect(page.locator(".chunk-shown")).to_be_in_viewport()
    expect(page.locator(".chunk-shown small").first).to_have_text("c2")


@pytest.mark.slow
def test_who_has_not_said_a_name_is_sent_to_label(serve, visit, pair):
    page = visit(f"{serve(pair).url}/compare?query=q0", grader=None)
    expect_query(page, "q0")
    expect(page.get_by_role("link", name="Label").last).to_be_visible()
    expect(page.get_by_role("radio", name="3", exact=True)).to_have_count(0)


@pytest.mark.slow
def test_the_address_shows_the_same_thing_again(serve, visit, pair):
    page = visit(f"{serve(pair).url}/compare?a=new&b=old&measure=RR&measure=P@1&by=P@1")
    expect(page.locator(".strips thead .name").first).to_have_text("■new")
    expect(page.locator(".strips tbody td.delta").first).to_have_text("−1.0000")
    page.locator(".strips tbody button").first.click()
    expect_query(page, "q0")
    again = visit(page.url)
    expect_query(again, "q0")
    expect(again.locator(".answer .figure")).to_contain_text("P@1, from")
    page.go_back()
    expect(page.locator(".strips tbody tr")).to_have_count(3)


@pytest.mark.slow
def test_a_further_run_is_set_beside_a_and_b_and_stays_in_the_address(serve, visit, pair):
    server = serve(pair)
    with server.store() as store:
        third = [Ranking(query, ("c5", "c0")) for query in ("q0", "q1", "q2")]
        store.runs.load(loaded(third), name="third")
    page = visit(f"{server.url}/compare?a=old&b=new&measure=RR")
    expect(page.locator(".strips tbody tr").first.locator(".strip")).to_have_count(2)
    stand_still(page).locator(".st-key-folded-also summary").click()
    box = stand_still(page).get_by_role("combobox", name="Further runs")
    box.click()
    box.press_sequentially("third")  # keys open a list that has closed
    page.get_by_role("option", name="third").click()
    lanes = page.locator(".strips tbody tr").first.locator(".lane")
    expect(lanes).to_have_count(3)
    expect(lanes.last).to_have_text("▲3")
    expect(page.locator(".strips .legend")).to_have_text("■old●new▲third")
    page.wait_for_url(re.compile("also=third"))
    again = visit(page.url)
    expect(again.locator(".strips tbody tr").first.locator(".lane")).to_have_count(3)
    table = again.get_by_role("table", name="old against new by measure")
    expect(table.get_by_role("row").last).to_contain_text("1.0000")


def test_what_moved_most_leads_to_the_query_in_which_it_did(look):
    page = look("a=old&b=new&measure=RR")
    page.get_by_role("link", name="What moved most").click()
    table = page.locator(".movers").last
    expect(table).to_contain_text("6 → 1, +0.8333")
    table.get_by_role("link", name="q0", exact=True).click()
    expect_query(page, "q0")
    assert address(page)["chunk"] == ["c5"]
    assert address(page)["a"] == ["old"]
    page.go_back()
    expect(page.locator(".movers").last).to_contain_text("6 → 1, +0.8333")
    assert page.evaluate("window.ran") is None


def test_on_a_phone_the_query_has_a_line_of_its_own(look):
    page = look("a=old&b=new&measure=RR")
    usual = page.viewport_size
    page.set_viewport_size({"width": 390, "height": 844})
    row = page.locator(".strips tbody tr").nth(2)
    expect(row.locator("button")).to_have_text("why is the kettle cold")
    text, first, second = (
        row.locator(part).bounding_box() for part in (".query", ".strip.at-0", ".strip.at-1")
    )
    assert text["width"] > 300
    assert text["y"] + text["height"] <= first["y"]
    assert first["y"] + first["height"] <= second["y"]
    assert row.locator("button").evaluate("each => each.scrollWidth <= each.clientWidth")
    row.locator("td.delta").click()
    expect_query(page, "q0")
    page.set_viewport_size(usual)


def test_how_the_numbers_were_computed_is_opened_by_a_click(look):
    page = look("a=old&b=new&measure=RR")
    expect(page.locator(".answer .says")).to_contain_text("Too few queries")
    rule = page.get_by_text("A difference is clear where")
    expect(rule).to_be_hidden()
    page.get_by_text("How computed").click()
    expect(rule).to_be_visible()


def test_what_is_chosen_stands_under_the_picture(look):
    page = look("a=old&b=new&measure=RR")
    top = page.get_by_role("table", name="old against new by measure").bounding_box()["y"]
    assert page.locator(".strips").bounding_box()["y"] > top
    page.get_by_text("What moved most").click()
    moved = page.get_by_text(re.compile("These (chunks cost|help) new most")).first
    expect(moved).to_be_visible()
    assert moved.bounding_box()["y"] > top


WORDS_IN_SIGHT = """() => {
  const words = [];
  const top = document.querySelector("h1").getBoundingClientRect().top;
  const visit = (root) => {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      if (node instanceof Element) {
        if (node.shadowRoot) visit(node.shadowRoot);
        continue;
      }
      const seen = { opacityProperty: true, visibilityProperty: true };
      const parent = node.parentElement;
      if (parent.closest("style, script") || !parent.checkVisibility(seen)) continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      const box = range.getBoundingClientRect();
      if (box.width > 2 && box.bottom > top && box.top < innerHeight)
        words.push(...node.textContent.split(/\\s+/));
    }
  };
  visit(document.querySelector('[data-testid="stMain"]'));
  return words.filter((word) => /^\\p{L}/u.test(word)).length;
}"""


@pytest.mark.slow
def test_the_first_screen_of_the_sample_has_at_most_170_words(serve, visit, tmp_path):
    build_demo(tmp_path / "demo.db")
    device = {"viewport": {"width": 1440, "height": 900}}
    address = "/compare?a=bm25&b=hybrid"
    page = stand_still(visit(serve(tmp_path / "demo.db").url + address, **device))
    expect(page.locator(".answer .says")).to_contain_text("hybrid is ahead on these")
    expect(page.locator(".picture .lead")).to_contain_text("+0.0477")
    expect(page.locator(".strips")).to_be_visible()
    assert 100 < page.evaluate(WORDS_IN_SIGHT) <= 170


def test_all_measures_and_the_queries_of_a_bucket_are_one_click_away(serve, visit, tmp_path):
    build_demo(tmp_path / "demo.db")
    page = visit(serve(tmp_path / "demo.db").url + "/compare?a=bm25&b=hybrid")
    rows = page.locator(".picture tbody").get_by_role("rowheader")
    expect(rows).to_have_text(
        [
            "nDCG@10 deciding measure",
            "R@5",
            "RR",
            "compliance task",
            "safety intent",
            "account intent",
        ]
    )
    page.get_by_role("link", name="All measures").click()
    expect(rows.filter(has_text="Success@3")).to_be_visible()
    page.wait_for_url(re.compile("show=measures"))
    page.get_by_role("link", name="compliance").click()
    expect(page.locator(".answer .says")).to_contain_text("task = compliance:")

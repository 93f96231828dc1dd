"""The Scores page in a real browser while somebody else grades."""

from __future__ import annotations

import csv
import re
from dataclasses import replace
from itertools import pairwise

import pytest
from playwright.sync_api import Locator, Page, expect

from labeler.model import Judgment, Ranking
from tests.browser.server import WarmServer
from tests.browser.still import stand_still, wait_for_links
from tests.support.contrast import contrast
from tests.support.page import loaded

pytestmark = pytest.mark.browser


def cell(page: Page, run: str, measure: str) -> Locator:
    """Find the value of a run in the column of a measure."""
    expect(page.locator(".scores table").first).to_be_visible()
    columns = page.locator(".scores thead th").all_inner_texts()
    place = next(n for n, text in enumerate(columns) if text.split()[0] == measure)
    row = page.locator(".scores tbody tr").filter(has=page.get_by_role("rowheader", name=run))
    return row.locator("td").nth(place - 1)


def test_scores_move_by_themselves_while_another_browser_grades(server, visit):
    scores = visit(f"{server.url}/scores?measure=P@5&measure=Judged@10", grader=None)
    expect(scores.get_by_text("Nobody has graded a chunk yet")).to_be_visible()
    pad = visit(server.url, grader="Bob")
    expect(pad.locator(".chunk .text")).to_contain_text("This is the text")
    for _ in range(30):
        pad.keyboard.press("3")
    expect(pad.locator(".status .state")).to_have_text("30 saved")
    expect(cell(scores, "forward", "P@5")).to_contain_text("1.0000")
    expect(cell(scores, "forward", "P@5")).not_to_contain_text("unjudged chunk")
    expect(scores.locator(".scores thead th").nth(1)).to_contain_text("n 1")
    pad.keyboard.press("u")
    expect(scores.get_by_text(re.compile(r"1 of 4 queries .* 29 grades"))).to_be_visible()
    with server.store() as store:
        assert all(run.name in ("forward", "backward") for run in store.runs())


def test_the_address_holds_every_selection(server, visit):
    with server.store() as store:
        store.add_grader("Ann")
        store.judge(Judgment("event", "q0", "c0", "Ann", "grade", 2))
    selections = "measure=RR&measure=P@2&facet=task&bucket=single&preset=trec_eval"
    page = visit(f"{server.url}/scores?{selections}")
    expect(page.locator(".scores thead th").nth(1)).to_contain_text("RR")
    expect(page.locator(".scores thead th")).to_have_count(3)
    expect(page.get_by_text("task: single", exact=True)).to_be_visible()
    expect(
        page.get_by_text(re.compile(r"Conventions \(trec_eval\): .*gain = grade"))
    ).to_be_visible()
    page.get_by_role("link", name="Data").click()
    expect(page.get_by_text("Drop your files here, all at once")).to_be_visible()
    page.get_by_role("link", name="Scores").click()
    expect(page.locator(".scores thead th")).to_have_count(3)
    expect(page.get_by_text("Conventions (trec_eval)")).to_be_visible()
    assert "preset=trec_eval" in page.url


def test_a_wrong_measure_in_the_address_is_said_in_words(server, visit):
    page = visit(f"{server.url}/scores?measure=nDGC@10")
    expect(page.get_by_text("nDCG")).to_be_visible()
    expect(page.get_by_text("Traceback")).to_have_count(0)


@pytest.mark.slow
def test_what_goes_wrong_in_a_view_is_said_in_words(server, visit):
    with server.store() as store:
        store.add_grader("Ann")
        store.judge(Judgment("event", "q0", "c0", "Ann", "grade", 2))
    page = visit(f"{server.url}/scores?measure=RR&facet=task")
    expect(page.get_by_text("in each bucket of task")).to_be_visible()
    with server.store() as store:
        untold = [replace(query, task=None) for query in store.queries()]
        store.add_queries(loaded(untold), update=True)
    expect(page.get_by_text("no facet is called 'task'")).to_be_visible()
    expect(page.get_by_text("Traceback")).to_have_count(0)
    expect(page.get_by_test_id("stException")).to_have_count(0)


# --- many runs ---------------------------------------------------------------------------------

LONG = "2026-11-10_production-index_chunk-size-256_overlap-64_model-{}_reranked-top-50"
LETTERS = "abcdefghijklmnopqrst"


@pytest.fixture
def crowd(server: WarmServer) -> WarmServer:
    """Twenty more runs whose long names differ in one letter; run a has the best list."""
    with server.store() as store:
        store.add_grader("Ann")
        store.judge(Judgment("event", "q0", "c0", "Ann", "grade", 3))
        for place, letter in enumerate(LETTERS):
            chunks = [f"c{number}" for number in range(1, 25)]
            chunks.insert(place, "c0")
            system = "even" if place % 2 else "odd"
            store.add_run(
                loaded([Ranking("q0", tuple(chunks))]), name=LONG.format(letter), system=system
            )
        for name in ("forward", "backward"):
            store.drop_run(name)
    return server


def names(page: Page) -> list[str]:
    return page.locator(".scores tbody bdi").all_inner_texts()


def heading(page: Page, name: str) -> Locator:
    return page.locator(".scores thead th").filter(has=page.get_by_role("link", name=name))


@pytest.mark.slow
def test_twenty_runs_with_long_names_fit_on_the_first_screen(crowd, visit):
    page = visit(f"{crowd.url}/scores", viewport={"width": 1440, "height": 900})
    expect(page.locator(".scores tbody tr")).to_have_count(20)
    assert names(page)[:2] == ["…a…", "…b…"], "the best stands first"
    expect(page.get_by_title(LONG.format("a"), exact=True).first).to_be_visible()
    last = stand_still(page).locator(".scores tbody tr").last.bounding_box()
    assert last is not None
    assert last["y"] + last["height"] <= 900
    assert last["height"] <= 32, "a row is one line"


@pytest.mark.slow
def test_on_a_narrow_page_each_run_says_its_share_of_holes_and_bands_stay_apart(crowd, visit):
    page = visit(f"{crowd.url}/scores", viewport={"width": 1024, "height": 768})
    expect(page.locator(".scores tbody tr")).to_have_count(20)
    expect(page.locator(".scores td small").first).to_be_hidden()
    first = page.locator(".scores tbody tr").first
    expect(first.locator(".gaps")).to_be_visible()
    expect(first.locator(".gaps")).to_have_text("◌ 90% unjudged chunks, of the top 10")
    table = page.locator(".scores")
    assert table.evaluate("it => it.scrollWidth <= it.clientWidth"), "nothing is scrolled to"
    boxes = [band.bounding_box() for band in first.locator(".band").all()]
    ends = [(box["x"], box["x"] + box["width"]) for box in boxes if box is not None]
    assert len(ends) > 3
    assert all(end < start for (_, end), (start, _) in pairwise(ends)), "bands do not touch"
    wide = visit(f"{crowd.url}/scores", viewport={"width": 1440, "height": 900})
    expect(wide.locator(".scores td small").first).to_be_visible()
    expect(wide.locator(".gaps").first).to_be_hidden()


def test_a_click_on_a_heading_sorts_and_back_undoes_it(crowd, visit):
    page = visit(f"{crowd.url}/scores?measure=RR&measure=P@5")
    expect(heading(page, "RR")).to_have_attribute("aria-sort", "descending")
    expect(page.locator(".scores tbody tr")).to_have_count(20)
    page.get_by_role("link", name="RR").click()
    expect(heading(page, "RR")).to_have_attribute("aria-sort", "ascending")
    assert names(page)[0] == "…t…"
    assert "sort=RR" in page.url
    page.get_by_role("link", name="Run", exact=True).click()
    expect(heading(page, "Run")).to_have_attribute("aria-sort", "ascending")
    assert names(page)[0] == "…a…"
    page.go_back()
    expect(heading(page, "RR")).to_have_attribute("aria-sort", "ascending")
    assert names(page)[0] == "…t…"


def test_sorting_by_the_keyboard_keeps_the_focus_and_the_place(crowd, visit):
    page = visit(f"{crowd.url}/scores?measure=RR", viewport={"width": 1024, "height": 400})
    wait_for_links(page).get_by_role("link", name="RR").focus()
    before = page.locator('[data-testid="stMain"]').evaluate("it => it.scrollTop")
    page.keyboard.press("Enter")
    expect(heading(page, "RR")).to_have_attribute("aria-sort", "ascending")
    expect(page.get_by_role("link", name="RR")).to_be_focused()
    assert page.locator('[data-testid="stMain"]').evaluate("it => it.scrollTop") == before


@pytest.mark.slow
def test_runs_are_hidden_one_after_the_other_by_the_keyboard(crowd, visit):
    page = visit(f"{crowd.url}/scores?measure=RR")
    wait_for_links(page).get_by_role("link", name=f"Hide {LONG.format('s')}", exact=True).focus()
    for left, focused in ((19, "t"), (18, "r"), (17, "q")):
        page.keyboard.press("Enter")
        expect(page.locator(".scores tbody tr")).to_have_count(left)
        following = page.get_by_role("link", name=f"Hide {LONG.format(focused)}", exact=True)
        expect(following).to_be_focused()


@pytest.mark.slow
def test_runs_are_pinned_and_hidden_by_links_that_another_browser_opens(crowd, visit):
    page = visit(f"{crowd.url}/scores?measure=RR")
    page.get_by_role("link", name=f"Pin {LONG.format('q')} on top").click()
    expect(page.get_by_role("link", name=f"Unpin {LONG.format('q')}")).to_be_visible()
    page.get_by_role("link", name=f"Hide {LONG.format('a')}", exact=True).click()
    expect(page.locator(".scores tbody tr")).to_have_count(19)
    expect(page.get_by_text("19 of 20 runs are shown")).to_be_visible()
    assert names(page)[:2] == ["…q…", "…b…"]
    expect(page.locator(".legend bdi")).to_have_text(["…q…"])
    other = visit(page.url)
    expect(other.locator(".scores tbody tr")).to_have_count(19)
    assert names(other)[:2] == ["…q…", "…b…"]
    other.get_by_role("link", name="Show all").click()
    expect(other.locator(".scores tbody tr")).to_have_count(20)
    assert names(other)[0] == "…q…", "it stays pinned"
    page.go_back()
    expect(page.locator(".scores tbody tr")).to_have_count(20)


@pytest.mark.slow
def test_runs_are_chosen_found_and_grouped(crowd, visit):
    page = visit(f"{crowd.url}/scores?measure=RR&systems=true&find=ODD")
    expect(page.locator(".scores tr.group")).to_have_text(["odd 10 runs"])
    page = visit(f"{crowd.url}/scores?measure=RR&run={LONG.format('c')}&run={LONG.format('b')}")
    expect(page.locator(".scores tbody bdi")).to_have_text(["…b…", "…c…"])
    stand_still(page).locator("summary").filter(has_text="Choose runs").press("Enter")
    named = page.get_by_label("Whose name or system holds")
    expect(named).to_be_visible()
    for _ in range(4):  # the boxes come next by Tab
        page.keyboard.press("Tab")
        if named.evaluate("it => it === document.activeElement"):
            break
    page.keyboard.type("even")
    page.keyboard.press("Enter")
    expect(page.locator(".scores tbody bdi")).to_have_text(["…b…"])
    assert "find=even" in page.url


@pytest.mark.slow
def test_a_run_that_is_not_there_is_said_in_words(crowd, visit):
    page = visit(f"{crowd.url}/scores?run=dropped")
    expect(page.get_by_text("no run is called 'dropped'")).to_be_visible()
    page.get_by_role("button", name="Go on without it").click()
    expect(page.locator(".scores tbody tr")).to_have_count(20)


@pytest.mark.slow
def test_every_run_in_a_chart_has_its_legend_entry_in_full(crowd, visit):
    page = visit(f"{crowd.url}/scores?view=recall+over+k")
    expect(page.locator(".legend li")).to_have_count(5)
    expect(page.get_by_text("Drawn are the first 5 runs")).to_be_visible()
    expect(page.locator("svg.marks")).to_have_count(2)
    for name in page.locator(".legend bdi").all():
        assert name.evaluate("it => it.scrollWidth <= it.clientWidth || it.clientWidth === 0")


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.slow)])
def test_what_charts_say_can_be_read_on_either_ground(crowd, visit, scheme):
    page = visit(f"{crowd.url}/scores?measure=RR&measure=AP", color_scheme=scheme)
    expect(page.locator("svg.marks")).to_have_count(1)
    found = page.locator("svg.marks").evaluate(READ_CHART)
    ground = page.locator(".stApp").evaluate("it => getComputedStyle(it).backgroundColor")
    assert len(found["points"]) == 10
    assert all(contrast(colour, ground) >= 3 for colour in found["points"])
    assert all(contrast(colour, ground) >= 4.5 for colour in found["texts"])
    assert min(found["sizes"]) >= 12


READ_CHART = """svg => {
    const look = element => getComputedStyle(element);
    const points = [...svg.querySelectorAll(".mark-symbol path")].map(it => look(it).fill);
    const shown = [...svg.querySelectorAll("text")].filter(it => it.textContent);
    return {
        points,
        texts: shown.map(it => look(it).fill),
        sizes: shown.map(it => parseFloat(look(it).fontSize)),
    };
}"""


@pytest.mark.slow
def test_the_file_of_keywords_has_the_runs_that_are_shown(server, visit):
    with server.store() as store:
        queries = [replace(query, keywords=("text",)) for query in store.queries()]
        store.add_queries(loaded(queries), update=True)
    page = visit(f"{server.url}/scores?view=keywords&run=backward", grader=None)
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download these numbers as CSV").click()
    rows = csv.DictReader(waiting.value.path().read_text(encoding="utf-8").splitlines())
    assert {row["run"] for row in rows} == {"backward"}

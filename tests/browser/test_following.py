"""Pages follow the grades that others give, and leave alone what their reader is at."""

from __future__ import annotations

import csv
import signal
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from labeler.model import Judgment
from labeler.store import Store
from tests.browser.choices import open_choices
from tests.browser.server import Server
from tests.browser.still import stand_still

pytestmark = pytest.mark.browser

LIVE = ".top .live"
SILENT = "no connection to the server"
# A page by its address, and what it says before and after the grade that `judge` gives below.
PAGES = {
    "/scores?measure=P@5&facet=task": ("0.2000", "0.2500"),
    "/compare?a=forward&b=backward&measure=P@5": ("0.2000", "0.2500"),
    "/slices?a=forward&facet=task&measure=P@5": ("0.2000", "0.2500"),
    "/queries?a=forward&measure=P@5&query=q0": ("0.2000", "0.4000"),
    "/review": ("lead4", "lead5"),  # Bea's role, then her grades
}


# Scrolls to the end, and notes from then on how far from it the page is: what is read stays where
# it is though a line comes above it.
SCROLL_AND_NOTE = """main => {
    main.scrollTo(0, main.scrollHeight);
    window.places = [];
    const note = () => {
        const left = Math.round(main.scrollHeight - main.clientHeight - main.scrollTop);
        if (window.places.at(-1) !== left) window.places.push(left);
        requestAnimationFrame(note);
    };
    note();
    return main.scrollTop;
}"""


@pytest.fixture
def server(golden_set, serve) -> Server:
    """Serve four queries with a relevant chunk each."""
    path: Path = golden_set()
    with Store(path) as store:
        for number in range(4):
            judge(store, f"q{number}", "c0", 3)
    return serve(path)


def judge(store: Store, query: str, chunk: str, grade: int, grader: str = "Bea") -> None:
    """Grade from another process than the server's."""
    store.people.add(grader)
    event = f"{query} {chunk} {grade} {grader}"
    store.judgments.add(Judgment(event, query, chunk, grader, grade=grade))


def follows(page: Page) -> Page:
    """Wait until the page listens."""
    expect(page.locator(LIVE)).to_be_visible()
    return page


def strips(page: Page) -> list[str]:
    """Return the queries of Compare in the order they stand in."""
    rows = page.locator(".strips tbody tr")
    return [row.get_attribute("data-query") or "" for row in rows.all()]


def strip(page: Page, query: str) -> Locator:
    return page.locator(f".strips tbody tr[data-query={query}]")


# The numbers move ----------------------------------------------------------------------------


def test_a_grade_in_one_browser_moves_the_numbers_on_every_page_in_another(server, visit):
    first = visit(f"{server.url}/review", grader=None)
    tabs = {"/review": first}
    for path in PAGES:
        if path not in tabs:
            tabs[path] = visit(f"{server.url}{path}", grader=None, context=first.context)
    for path, page in tabs.items():
        numbers = follows(page).locator("table").first
        expect(numbers).to_contain_text(PAGES[path][0])
        expect(numbers).not_to_contain_text(PAGES[path][1])
    pad = visit(f"{server.url}/?query=q0", grader="Bea")
    pad.locator(".whole .row").filter(has_text="chunk c1.").first.click()
    pad.keyboard.press("3")
    expect(pad.locator(".status .state")).to_have_text("5 saved")
    for path, page in tabs.items():
        expect(page.locator("table").first).to_contain_text(PAGES[path][1])


@pytest.mark.slow
def test_what_another_process_loads_is_shown_too(server, visit):
    page = follows(visit(f"{server.url}/scores", grader=None))
    with server.store() as store:
        store.runs.rename("forward", "renamed")
    expect(page.locator(".ranking").get_by_role("rowheader", name="renamed")).to_be_visible()
    follows(page)


@pytest.mark.slow
def test_ten_tabs_of_one_browser_load_follow_and_leave_grading_as_it_was(server, visit):
    paths = [path for path in PAGES if path != "/review"] * 3
    first = follows(visit(f"{server.url}{paths[0]}"))
    tabs = [first]
    for path in paths[1:10]:
        tabs.append(follows(visit(f"{server.url}{path}", context=first.context)))
    pad = visit(f"{server.url}/?query=q0", context=first.context)
    pad.locator(".whole .row").filter(has_text="chunk c1.").first.click()
    for key in "300":
        pad.keyboard.press(key)
    expect(pad.locator(".status .state")).to_have_text("3 saved")
    # Ten runs of pages are paid from the share that pages have beside grading.
    for path, tab in zip(paths, tabs, strict=False):
        numbers = tab.locator("table").first
        expect(numbers).to_contain_text(PAGES[path][1], timeout=120_000)


# What the reader is at stays -----------------------------------------------------------------


def test_a_push_leaves_scroll_focus_and_typed_text_alone(server, visit):
    tabs: dict[str, Page] = {}
    for path in PAGES:
        if path != "/review":
            context = tabs["/scores?measure=P@5&facet=task"].context if tabs else None
            size = {"viewport": {"width": 1000, "height": 420}}
            tabs[path] = follows(visit(f"{server.url}{path}", context=context, **size))
    for page in tabs.values():
        assert stand_still(page).get_by_test_id("stMain").evaluate(SCROLL_AND_NOTE) > 100
    with server.store() as store:
        judge(store, "q0", "c1", 3)
    before, typed = {}, {}
    for path, page in tabs.items():
        expect(page.locator("table").first).to_contain_text(PAGES[path][1])
        assert stand_still(page).evaluate("window.places") == [0]
        before[path] = page.locator("table").first.inner_text()
        if "query=" in path:  # has no choices
            continue
        open_choices(page)
        typed[path] = page.get_by_role("combobox", name="Measures")
        typed[path].click()
        typed[path].press_sequentially("nDC")
    with server.store() as store:
        judge(store, "q0", "c2", 3)
    for path, page in tabs.items():
        numbers = page.locator("table").first
        expect(numbers).not_to_have_text(before[path], use_inner_text=True)
        stand_still(page)
        if path in typed:
            expect(typed[path]).to_have_value("nDC")
            expect(typed[path]).to_be_focused()


@pytest.mark.slow
def test_a_push_closes_nothing_and_takes_no_focus_from_a_link_in_a_table(server, visit):
    page = follows(visit(f"{server.url}/slices?a=forward&facet=task&measure=P@5", grader=None))
    link = page.locator("table a").first
    link.focus()
    with server.store() as store:
        judge(store, "q0", "c1", 3)
    expect(page.locator("table").first).to_contain_text("0.2500")
    expect(link).to_be_focused()

    page = follows(visit(f"{server.url}/compare?a=forward&b=backward&measure=P@5"))
    page.get_by_role("link", name="All numbers").click()
    numbers = page.get_by_role("table", name="All numbers of forward and backward")
    expect(numbers).to_be_visible()
    with server.store() as store:
        judge(store, "q0", "c2", 3)
    compared = page.get_by_role("table", name="forward against backward by measure")
    expect(compared).to_contain_text("0.3000")
    expect(numbers).to_be_visible()


@pytest.mark.slow
def test_a_push_leaves_an_opened_query_open_with_what_is_tried_on_it(server, visit):
    address = "compare?a=forward&b=backward&measure=P@5&query=q0&chunk=c3&rank=2"
    page = follows(visit(f"{server.url}/{address}"))
    tried = page.locator(".what-if .tried").first
    expect(tried).to_contain_text("rank 2")
    with server.store() as store:
        judge(store, "q0", "c1", 3)
    expect(page.locator(".answer")).to_contain_text("0.4000")
    expect(tried).to_contain_text("rank 2")
    expect(page.locator(".chunk-shown small").first).to_have_text("c3")
    assert "query=q0" in page.url

    page = follows(visit(f"{server.url}/queries?a=forward&measure=P@5&query=q0"))
    page.get_by_text("All measures, and why it fails in each run").click()
    with server.store() as store:
        judge(store, "q0", "c2", 3)
    expect(page.locator(".why")).to_contain_text("0.6000")
    expect(page.locator(".why")).to_be_visible()


# The order stays -----------------------------------------------------------------------------


def test_rows_of_compare_keep_their_order_until_the_reader_asks(server, visit):
    page = follows(visit(f"{server.url}/compare?a=forward&b=backward&measure=P@5", grader=None))
    expect(page.locator(".strips tbody tr")).to_have_count(4)
    before = strips(page)
    assert before[0] == "q0"
    again = page.get_by_role("button", name="sort again")
    expect(again).to_be_hidden()
    with server.store() as store:
        for chunk in ("c1", "c2", "c3"):
            judge(store, "q3", chunk, 3)
    expect(strip(page, "q3")).to_contain_text("0.8000")
    expect(again).to_have_text("1 moved: sort again")
    assert strips(page) == before
    strip(page, "q1").click()
    page.get_by_role("button", name="Compare").click()
    expect(page.locator(".strips tbody tr")).to_have_count(4)
    assert strips(page) == before, "nor does a look at one query sort the others"
    again.click()
    expect(again).to_be_hidden()
    assert strips(page) == ["q3", "q0", "q1", "q2"]


@pytest.mark.slow
def test_rows_of_scores_keep_their_order_until_the_reader_asks(server, visit):
    page = follows(visit(f"{server.url}/scores?measure=P@5", grader=None))
    runs = page.locator(".ranking tbody bdi")
    expect(runs).to_have_text(["forward", "backward"])
    again = page.get_by_role("button", name="sort again")
    expect(again).to_be_hidden()
    with server.store() as store:
        for chunk in ("c29", "c28", "c27", "c26", "c25"):
            judge(store, "q0", chunk, 3)
    expect(page.locator(".ranking")).to_contain_text("0.2500")
    expect(again).to_have_text("1 moved: sort again")
    expect(runs).to_have_text(["forward", "backward"])
    again.press("Enter")
    expect(again).to_be_hidden()
    expect(runs).to_have_text(["backward", "forward"])
    expect(page.locator(".state")).to_be_focused()


@pytest.mark.slow
def test_rows_of_queries_keep_their_order_until_the_reader_asks(server, visit):
    page = follows(visit(f"{server.url}/queries?a=forward&measure=P@5", grader=None))

    def listed() -> list[str]:
        with page.expect_download() as waiting:
            page.get_by_role("button", name="Download these queries as CSV").click()
        text = waiting.value.path().read_text(encoding="utf-8")
        return [row["query_id"] for row in csv.DictReader(text.splitlines())]

    before = listed()
    assert before == ["q0", "q1", "q2", "q3"]
    with server.store() as store:
        for chunk in ("c1", "c2"):
            judge(store, "q0", chunk, 3)
    again = page.get_by_role("button", name="sort again")
    expect(again).to_have_text("1 moved: sort again")
    assert listed() == before
    again.click()
    expect(again).to_be_hidden()
    assert listed() == ["q1", "q2", "q3", "q0"]


# The server goes and comes -------------------------------------------------------------------


def test_a_page_says_that_the_server_is_gone_only_after_long_and_catches_up(server, visit):
    page = follows(visit(f"{server.url}/scores?measure=P@5", grader=None))
    server.stop(signal.SIGKILL)
    expect(page.get_by_text(SILENT)).to_have_count(0)
    expect(page.locator(LIVE)).to_be_visible()
    expect(page.get_by_text(SILENT)).to_be_visible()
    expect(page.locator(LIVE)).to_be_hidden()
    page.wait_for_timeout(4_000)  # in which Streamlit puts its own dialog over the page
    expect(page.get_by_role("dialog")).to_have_count(0)
    with server.store() as store:
        judge(store, "q0", "c1", 3)
    server.start()
    expect(page.get_by_text(SILENT)).to_have_count(0)
    expect(page.locator(".ranking table")).to_contain_text("0.2500")
    follows(page)
    with server.store() as store:
        judge(store, "q0", "c2", 3)
    expect(page.locator(".ranking table")).to_contain_text("0.3000")


@pytest.mark.slow
def test_a_short_restart_is_not_worth_a_word(server, visit):
    page = follows(visit(f"{server.url}/scores?measure=P@5", grader=None))
    said = page.locator(".state")
    said.evaluate(
        """each => {
            window.said = [];
            const note = () => window.said.push(each.textContent);
            new MutationObserver(note).observe(each, { childList: true, characterData: true });
        }"""
    )
    server.stop(signal.SIGKILL)
    server.start()
    with server.store() as store:
        judge(store, "q0", "c1", 3)
    expect(page.locator(".ranking table")).to_contain_text("0.2500")
    assert not any(SILENT in words for words in page.evaluate("window.said"))

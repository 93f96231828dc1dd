"""Every page with hostile, huge or hardly any data, at five sizes and over a slow network."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from labeler.store import Store
from labeler.ui.grading import COOKIE
from tests.browser.every_page import addresses
from tests.browser.hard_sets import SETS, TEXTS
from tests.browser.sizes import Listener, look
from tests.browser.still import follow, stand_still

pytestmark = pytest.mark.browser

# What a slow network in a train brings: 200 kilobytes a second.
# Counts the frames in which nothing can be read, from now on.
WATCH = """() => {
    window.white = 0;
    const look = () => {
        const words = document.body.innerText.replace("Skip to main content", "").trim();
        if (!words) window.white += 1;
        requestAnimationFrame(look);
    };
    look();
}"""
SLOW = {"offline": False, "latency": 150, "downloadThroughput": 2e5, "uploadThroughput": 2e5}


def names_in(path: Path) -> dict[str, str]:
    """Return what addresses can name in a golden set; the runs are those with hostile names."""
    with Store(path) as store:
        runs, queries = [run.name for run in store.runs.all()], store.queries.all()
        people = store.activity.names_of_graders()
    found = dict(zip("ab", runs[2:4] or runs, strict=False))
    if queries:
        [facet, *_] = queries[0].buckets
        found |= {"query": queries[0].query_id, "facet": facet}
        found["bucket"] = queries[0].buckets[facet]
    return {**found, "person": people[0]} if people else found


def open_label(page: Page, url: str) -> None:
    """Open Label as Ann and wait until it has something to grade, or says that it has not."""
    page.context.add_cookies([{"name": COOKIE, "value": "Ann", "url": url}])
    page.goto(url)
    shown = page.locator(".pad:not([hidden]) .views, [data-testid=stHeading] h2")
    expect(shown.first).to_be_visible()


def hard(path: Path, name: str) -> tuple[Path, list[str]]:
    """Make one of the golden sets, and return the addresses of its pages."""
    SETS[name](path)
    return path, addresses(**names_in(path))


def test_hostile_names_of_200_characters_leave_the_main_pages_whole(serve, visit, tmp_path):
    path, places = hard(tmp_path / "hostile.db", "hostile")
    server = serve(path)
    page = visit("about:blank", grader=None)
    listener = Listener(page, server.url)
    open_label(page, server.url)
    found = {"/": look(page, "a large screen", "a phone")}
    main = {place.partition("?")[0]: place for place in reversed(places)}
    one_query = next(place for place in places if "query=" in place and place[:8] == "/queries")
    for place in (*main.values(), one_query):
        follow(page, server.url + place)
        found[place] = look(page, "a large screen", "a phone")
    assert {place: wrong for place, wrong in found.items() if wrong} == {}
    assert listener.take() == []


@pytest.mark.slow
@pytest.mark.parametrize("name", SETS)
def test_no_data_makes_a_page_too_wide_cut_off_or_broken(serve, visit, tmp_path, name):
    path, places = hard(tmp_path / f"{name}.db", name)
    server = serve(path)
    page = visit("about:blank", grader=None)
    listener = Listener(page, server.url)
    open_label(page, server.url)
    found = {"/": [*look(page), *listener.take()]}
    for place in places:
        page.goto(server.url + place)
        found[place] = [*look(stand_still(page)), *listener.take()]
    assert {place: wrong for place, wrong in found.items() if wrong} == {}


@pytest.mark.slow
def test_every_hostile_passage_is_read_whole_at_every_size(serve, visit, tmp_path):
    path, _ = hard(tmp_path / "hostile.db", "hostile")
    page = visit("about:blank", grader=None)
    server = serve(path)
    listener = Listener(page, server.url)
    open_label(page, server.url)
    found: dict[str, list[str]] = {}
    for _ in range(40):  # more than a query has, so that those of several are seen
        text = page.locator(".chunk .text")
        expect(text).not_to_be_empty()
        shown = text.text_content()[:40]
        if shown not in found:
            found[shown] = look(page)
        page.keyboard.press("1")
        page.wait_for_timeout(100)
    assert len(found) > len(TEXTS)
    assert {text: wrong for text, wrong in found.items() if wrong} == {}
    assert listener.take() == []


@pytest.mark.slow
def test_a_slow_network_leaves_no_page_white(serve, browser, tmp_path):
    server = serve(hard(tmp_path / "one.db", "one query")[0])
    for address in ("/scores", "/"):
        page = browser.new_context().new_page()
        network = page.context.new_cdp_session(page)
        network.send("Network.enable")
        network.send("Network.emulateNetworkConditions", SLOW)
        page.goto(server.url + address, wait_until="commit")
        expect(page.get_by_text("Opening the page…")).to_be_visible()
        page.evaluate(WATCH)
        expect(page.locator("#root .top")).to_be_visible(timeout=120_000)
        expect(page.get_by_text("Opening the page…")).to_be_hidden()
        assert page.evaluate("window.white") == 0, "there was always something to read"
        page.context.close()

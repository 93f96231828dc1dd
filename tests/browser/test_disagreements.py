"""Review > Disagreements in a real browser: one key decides, and nothing of it is lost."""

from __future__ import annotations

import csv
import re
import signal
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.benchpage import (
    HOSTILE,
    MANY,
    at,
    decided,
    dispute,
    open_bench,
    wait_until_decided,
)
from tests.browser.padpage import quick_hand

pytestmark = pytest.mark.browser

UNCOVERED = """tool => {
    const { left, top, width, height } = tool.getBoundingClientRect();
    const there = tool.getRootNode().elementFromPoint(left + width / 2, top + height / 2);
    return tool === there || tool.contains(there);
}"""


@pytest.fixture
def split(golden_set) -> Path:
    """Make a golden set with pairs to decide."""
    return dispute(golden_set())


def test_whoever_has_no_name_yet_gives_it_here_and_decides(serve, visit, split):
    server = serve(split)
    page = visit(f"{server.url}/review?review=Disagreements", grader=None)
    expect(page.get_by_text(f"{MANY} disagreements, {MANY} to decide")).to_be_visible()
    page.get_by_role("textbox", name="Your name").fill("ann")
    page.get_by_role("button", name="Start deciding").click()
    expect(page.get_by_text(f"Ann has graded {MANY} here. Is that you?")).to_be_visible()
    page.get_by_role("button", name="No, someone else").click()
    expect(page.locator(".bench .passage")).to_be_visible()
    page.keyboard.press("2")
    wait_until_decided(server, 1)
    with server.store() as store:
        [*_, last] = store.judgments.log()
    assert last.grader == "ann"


def test_a_phone_shows_both_grades_of_a_case_at_once(serve, visit, split):
    page = open_bench(visit, serve(split), has_touch=True, viewport={"width": 390, "height": 844})
    tops = {tab.bounding_box()["y"] for tab in page.locator(".st-key-review button").all()}
    assert len(tops) == 1, "the tabs are one line"
    count, change = page.locator(".bench .counts"), page.get_by_text("Change", exact=True)
    expect(count).to_contain_text("to decide")
    beside, fold = count.bounding_box(), change.bounding_box()
    assert fold["y"] < beside["y"] + beside["height"] / 2 < fold["y"] + fold["height"]
    assert beside["x"] + beside["width"] < fold["x"]
    assert beside["y"] < 270, "what comes before the case is short"
    bar = page.locator(".bench .deciding").bounding_box()
    last = page.locator(".bench .opinions tr").last.bounding_box()
    assert last["y"] + last["height"] <= bar["y"]
    change.click()  # nothing lies over it, and what it opens has its own place
    facet = page.get_by_role("combobox", name="Facet")
    facet.click()  # it waits until what opens is open
    page.keyboard.press("Escape")
    box = facet.bounding_box()
    assert box["y"] + box["height"] < count.bounding_box()["y"]


def test_a_lead_decides_by_keys_and_nothing_is_lost(serve, visit, split):
    server = serve(split)
    page = open_bench(visit, server)
    at(page, 1)
    expect(page.locator(".bench .opinions")).to_contain_text([HOSTILE])
    expect(page.locator(".bench img, .bench strong")).to_have_count(0)
    expect(page.locator(".counts-now")).to_contain_text(
        "Current result: 0 not relevant (lower median)"
    )

    page.keyboard.press("2")
    at(page, 2)
    page.keyboard.press("n")
    page.keyboard.type("3 is too much, 1")
    page.keyboard.press("Enter")
    at(page, 2)
    assert ("q1", "c1") not in decided(server), "a field keeps its keys"
    page.keyboard.press("s")
    at(page, 3)
    wait_until_decided(server, 2)
    assert decided(server) == {("q1", "c0"): (2, None), ("q1", "c1"): (1, "3 is too much, 1")}
    with server.store() as store:
        [*_, last] = store.judgments.log()
    assert (last.kind, last.grader, last.blind) == ("adjudicate", "Lea", False)

    page.keyboard.press("u")
    at(page, 2)
    wait_until_decided(server, 1)
    page.reload()
    at(page, 2)  # the first that nobody has decided
    page.keyboard.press("u")
    at(page, 1)
    wait_until_decided(server, 0)

    page.keyboard.press("3")
    wait_until_decided(server, 1)
    expect(page.locator(".bench .state")).to_have_attribute("data-state", "idle")
    server.stop(signal.SIGKILL)
    assert decided(server) == {("q1", "c0"): (3, None)}, "what was acknowledged is on the disk"
    page.wait_for_timeout(1500)  # as long as Streamlit takes to put its dialog over the page
    expect(page.locator('[role="dialog"]')).to_have_count(0)
    page.keyboard.press("0")
    at(page, 3)
    expect(page.locator(".bench .state")).to_contain_text("offline: 1 kept, sent when you’re back")
    server.start()
    expect(page.locator(".bench .state")).to_contain_text("saved", timeout=15_000)
    wait_until_decided(server, 2)


@pytest.mark.slow
def test_clicks_decide_too_and_pages_follow_each_other_to_the_end(serve, visit, split):
    server = serve(split)
    page = open_bench(visit, server, has_touch=True, viewport={"width": 390, "height": 844})
    at(page, 1)
    quick_hand(page)  # a press right after a pair came up decides nothing
    page.locator(".bench .actions").get_by_role("button", name="mark evidence").tap()
    tools = page.get_by_role("toolbar", name="Evidence").get_by_role("button")
    expect(tools.first).to_be_visible()
    for tool in tools.all():
        assert tool.evaluate(UNCOVERED), "what marks a sentence can be pressed"
    assert page.locator(".bench mark.aimed").first.evaluate(UNCOVERED), "and the sentence be read"
    page.locator(".bench [data-grade='1']").tap()
    at(page, 2)
    page.locator(".bench .row").nth(4).tap()
    at(page, 5)
    page.keyboard.press("k")
    at(page, 4)
    page.locator(".bench .next-page").tap()
    at(page, 21)
    page.keyboard.press("u")
    at(page, 1)  # what is taken back is shown, on whichever page it is
    expect(page.locator(".bench .counts")).to_have_text(f"{MANY} disagreements, {MANY} to decide")
    page.locator(".bench .next-page").tap()
    page.locator(".bench .back-page").tap()
    at(page, 20)
    width = page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth")
    assert width <= 390

    for left in range(MANY, 0, -1):
        expect(page.locator(".bench .counts")).to_have_text(
            f"{MANY} disagreements, {left} to decide"
        )
        expect(page.locator(".bench .passage")).to_be_visible()
        page.keyboard.press("2")
    expect(page.locator(".bench .done").first).to_have_text("Everything is decided")
    wait_until_decided(server, MANY)
    expect(page.locator(".bench .counts")).to_have_text(f"{MANY} disagreements, 0 to decide")
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download these as CSV").click()
    rows = list(csv.DictReader(waiting.value.path().read_text(encoding="utf-8").splitlines()))
    assert len(rows) == 2 * MANY
    assert [row["adjudicated"] for row in rows].count("2") == 2 * MANY
    assert {row["golden_rule"] for row in rows} == {"lower median"}


@pytest.mark.slow
def test_the_pair_in_focus_stands_in_the_address(serve, visit, split):
    server = serve(split)
    page = open_bench(visit, server)
    at(page, 1)
    for place in (5, 9):
        page.locator(".bench .row").nth(place - 1).click()
        at(page, place)
    page.go_back()
    at(page, 5)
    page.go_forward()
    at(page, 9)
    page.keyboard.press("j")
    at(page, 10)
    page.locator(".bench .next-page").click()
    at(page, 21)
    link = page.url
    page.get_by_role("radio", name="Work").click()
    expect(page.locator(".bench")).to_have_count(0)
    expect(page).not_to_have_url(re.compile("chunk="))
    page.goto(link)
    at(page, 21)
    page.goto(f"{server.url}/review?review=Disagreements&query=q1&chunk=none")
    at(page, 1)
    expect(page.locator(".bench .state")).to_contain_text("is not among these")

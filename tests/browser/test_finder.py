"""Finding a chunk that no run returned, as a person does it, and what the database then holds."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from labeler.model import Chunk, Judgment, Query, Ranking
from labeler.store import Store
from tests.browser.padpage import cut_off, intercept, let_through
from tests.browser.server import loaded

pytestmark = pytest.mark.browser

HELP = "Find a passage that is not among those of this question."
CHUNKS = {
    "kettle": "The kettle takes 15 minutes to descale.",
    "kettle lid": "The lid of the kettle lifts off when it is cold.",
    "missed": "Descale the kettle with vinegar: 30 minutes, then rinse. <b>Twice</b>.",
    "grinder": "The grinder is cleaned with a brush.",
}


@pytest.fixture
def searched(tmp_path) -> Path:
    """Make a golden set whose only run misses two of four chunks; Bob has graded one of them."""
    path = tmp_path / "searched.db"
    with Store(path, create=True) as store:
        store.queries.load(loaded([Query("q", "How do I descale the kettle?")]))
        store.chunks.load(
            loaded([Chunk(f"id-{name}", text, f"On {name}") for name, text in CHUNKS.items()])
        )
        store.runs.load(loaded([Ranking("q", ("id-kettle", "id-kettle lid"))]), name="run-zebra")
        store.people.add("Bob")
        store.judgments.add(Judgment("bob", "q", "id-missed", "Bob", "grade", 1))
    return path


@pytest.fixture
def finder(serve, visit, searched):
    """Open the finder with the key; give the server and the page."""
    server = serve(searched)
    page = visit(server.url)
    expect(page.locator(".chunk .text")).not_to_be_empty()
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox", name=HELP)).to_be_focused()
    return server, page


def row(page: Page, name: str) -> Locator:
    """Return the row of a chunk that was found."""
    return page.locator(".finder .row").filter(has=page.get_by_text(f"On {name}", exact=True))


def own_events(server) -> list[Judgment]:
    """Return what the log holds beside Bob's grade."""
    with server.store() as store:
        return [event for event in store.judgments.log() if event.grader != "Bob"]


def test_a_missed_chunk_is_found_and_graded_by_keyboard_alone(finder):
    server, page = finder
    expect(page.locator(".finder .message")).to_have_text(HELP)
    page.keyboard.type("30 minutes")
    expect(page.locator(".finder .message")).to_contain_text("2 matches")
    assert own_events(server) == []  # digits of a search are no grades
    expect(page.locator(".finder .row").first.locator(".name")).to_have_text("On missed")
    expect(row(page, "missed").locator(".words")).to_have_text("not graded")  # blind to Bob's
    expect(row(page, "kettle").locator(".words")).to_have_text("not graded · among those to grade")
    html = page.locator(".finder").inner_html()
    assert not any(secret in html for secret in ("run-zebra", "id-", "Bob"))

    page.keyboard.press("ArrowDown")
    text = page.locator(".finder .row.current .text")
    expect(text).to_have_text(CHUNKS["missed"])
    expect(text.locator("mark")).to_have_count(0)
    page.keyboard.press("m")  # the query's words and those of the search
    expect(text.locator("mark")).to_have_text(["Descale", "kettle", "30", "minutes"])
    page.keyboard.press("3")
    expect(row(page, "missed").locator(".words")).to_have_text(
        "highly relevant · found by hand, saved"
    )
    page.keyboard.press("0")
    expect(row(page, "kettle").locator(".words")).to_have_text(
        "not relevant · among those to grade"
    )
    expect(page.locator(".status .state")).to_have_text("2 saved")
    assert [(e.chunk_id, e.grade, e.source, e.blind) for e in own_events(server)] == [
        ("id-missed", 3, "search", True),
        ("id-kettle", 0, "search", True),
    ]

    page.keyboard.press("u")
    expect(row(page, "kettle").locator(".words")).to_have_text("not graded · among those to grade")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Escape")
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator(".finder")).to_be_hidden()
    expect(page.locator(".chunk .text")).to_be_visible()
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox")).to_have_value("")
    page.keyboard.type("vinegar")
    expect(row(page, "missed").locator(".words")).to_have_text(
        "highly relevant · found by hand, saved"
    )


@pytest.mark.slow
def test_what_is_not_saved_yet_is_not_called_saved(finder):
    _, page = finder
    page.keyboard.type("vinegar")
    expect(row(page, "missed")).to_be_visible()
    cut_off(page)
    row(page, "missed").get_by_role("button", name="2, partly relevant").click()
    words = row(page, "missed").locator(".words")
    expect(words).to_have_text("partly relevant · found by hand")
    let_through(page)
    expect(words).to_have_text("partly relevant · found by hand, saved")


def test_the_finder_says_when_nothing_is_found_and_when_it_cannot_ask(finder):
    server, page = finder
    message = page.locator(".finder .message")
    page.keyboard.type("zeppelin")
    expect(message).to_have_text("No matches. Try fewer or different words.")
    expect(page.locator(".finder .row")).to_have_count(0)
    page.get_by_role("searchbox").fill('")(* OR <b>')  # an operator of no language
    expect(message).not_to_contain_text("could not be fetched")
    cut_off(page, "**/api/search?*")
    page.get_by_role("searchbox").fill("vinegar")
    page.keyboard.press("Enter")
    expect(message).to_contain_text("could not be fetched")
    let_through(page, "**/api/search?*")
    page.get_by_role("button", name="Try again").click()
    expect(row(page, "missed")).to_be_visible()
    page.get_by_role("searchbox").fill("")
    expect(message).to_have_text(HELP)
    expect(page.locator(".finder .row")).to_have_count(0)
    assert own_events(server) == []


@pytest.mark.slow
def test_a_slow_answer_never_replaces_a_newer_one(finder):
    _, page = finder
    answered: list[str] = []

    def slowly(route: Route) -> None:
        if "brush" in route.request.url:
            time.sleep(1)
        route.continue_()

    intercept(page, "**/api/search?*", slowly)
    page.on("response", lambda answer: answered.append(answer.url))
    page.keyboard.type("brush")
    page.keyboard.press("Enter")
    page.get_by_role("searchbox").fill("vinegar")
    page.keyboard.press("Enter")
    expect(row(page, "missed")).to_be_visible()
    page.wait_for_timeout(1_500)
    assert any("brush" in url for url in answered)
    expect(row(page, "missed")).to_be_visible()
    expect(row(page, "grinder")).to_have_count(0)


@pytest.mark.slow
def test_the_mouse_alone_finds_grades_and_leaves(serve, visit, searched):
    server = serve(searched)
    page = visit(server.url)
    expect(page.locator(".chunk .text")).not_to_be_empty()
    page.get_by_role("button", name=re.compile("find")).click()
    page.get_by_role("searchbox").fill("brush")
    row(page, "grinder").locator(".open").click()
    expect(row(page, "grinder").locator(".text")).to_have_text(CHUNKS["grinder"])
    row(page, "grinder").get_by_role("button", name="1, slightly relevant").click()
    expect(row(page, "grinder").locator(".words")).to_contain_text("found by hand, saved")
    assert [event.chunk_id for event in own_events(server)] == ["id-grinder"]
    page.locator(".bar").get_by_role("button", name="undo").click()
    expect(row(page, "grinder").locator(".words")).to_have_text("not graded")
    page.locator(".finder header").get_by_role("button", name="back").click()
    expect(page.locator(".finder")).to_be_hidden()

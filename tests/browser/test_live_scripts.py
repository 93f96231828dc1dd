"""What the line over a page does around a push: it waits for the page, and holds its reader."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.modules import page_with

pytestmark = pytest.mark.browser

TABLE = """
<style>#list { height: 50px; overflow: auto; } #list p { height: 400px; }</style>
<div data-testid="stApp" data-test-script-state="notRunning"><div data-testid="stHtml"></div></div>
"""
DRAW = """word => { document.querySelector('[data-testid="stHtml"]').innerHTML =
    `<div id="list"><p><a href="#1">first ${word}</a> <a href="#2">second ${word}</a></p></div>
     <details open><summary>open ${word}</summary></details>
     <details><summary>closed ${word}</summary></details>`; }"""


@pytest.fixture
def table(browser):
    with page_with(browser, "live/holding", "live/rest", body=TABLE) as page:
        page.evaluate(DRAW, "old")
        yield page


def act(page) -> None:
    """Scroll the list, open one fold and close the other, and go to the second link."""
    page.get_by_role("link", name="second").focus()
    page.locator("#list").evaluate(
        "it => new Promise(then => { it.onscroll = then; it.scrollTop = 120; })"
    )
    page.locator("details").nth(0).evaluate("it => { it.open = false; }")
    page.locator("details").nth(1).evaluate("it => { it.open = true; }")


def shown(page) -> tuple[float, list[bool], str]:
    return (
        page.locator("#list").evaluate("it => it.scrollTop"),
        page.locator("details").evaluate_all("them => them.map(it => it.open)"),
        page.evaluate("document.activeElement.textContent.trim().slice(0, 10)"),
    )


def test_what_a_reader_does_after_the_news_stays_done(table):
    table.evaluate("hold()")
    act(table)
    table.evaluate(DRAW, "new")
    expect(table.get_by_role("link", name="second new")).to_be_focused()
    assert shown(table) == (120, [False, True], "second new")
    table.locator("#list").evaluate(
        "it => new Promise(then => { it.onscroll = then; it.scrollTop = 60; })"
    )
    table.evaluate(DRAW, "newer")
    expect(table.get_by_role("link", name="second newer")).to_be_focused()
    assert shown(table) == (60, [False, True], "second new")


def test_a_row_that_comes_or_goes_takes_nobody_to_another(table):
    table.evaluate("hold()")
    act(table)
    table.evaluate(
        """() => { document.querySelector('[data-testid="stHtml"]').innerHTML =
            `<h3>One more line</h3><div id="list"><p><a href="#2">second</a></p></div>`; }"""
    )
    expect(table.get_by_role("link", name="second")).to_be_focused()
    assert shown(table)[0] == 120


def test_another_table_than_the_one_that_was_asked_for_begins_at_its_start(table):
    table.evaluate("hold()")
    act(table)
    table.evaluate("release()")
    table.wait_for_timeout(400)
    table.evaluate(DRAW, "other")
    assert shown(table)[:2] == (0, [True, False])
    table.evaluate("hold()")
    act(table)
    table.evaluate("dispatchEvent(new PopStateEvent('popstate'))")
    table.evaluate(DRAW, "elsewhere")
    assert shown(table)[:2] == (0, [True, False])


def test_who_has_clicked_elsewhere_is_not_taken_back(table):
    table.evaluate("hold()")
    act(table)
    table.mouse.click(600, 400)
    table.evaluate(DRAW, "new")
    assert shown(table)[0] == 120
    assert table.evaluate("document.activeElement === document.body")


def test_news_wait_until_nothing_runs(table):
    table.evaluate(
        """() => {
            window.app = document.querySelector('[data-testid="stApp"]');
            window.asked = 0;
            app.dataset.testScriptState = "running";
            whenAtRest(() => asked++, () => true);
            whenAtRest(() => asked++, () => app.id !== "fresh"); // meanwhile the page has them
        }"""
    )
    table.wait_for_timeout(200)
    assert table.evaluate("asked") == 0
    table.evaluate("app.id = 'fresh', app.dataset.testScriptState = 'notRunning'")
    table.wait_for_function("asked === 1")
    table.evaluate("whenAtRest(() => asked++, () => true)")
    assert table.evaluate("asked") == 2, "at once where nothing runs"


def test_news_wait_for_the_page_that_a_link_leads_to(table):
    table.evaluate(
        """() => {
            window.app = document.querySelector('[data-testid="stApp"]');
            window.asked = 0;
            dispatchEvent(new PopStateEvent("popstate"));
            whenAtRest(() => asked++, () => true);
        }"""
    )
    table.wait_for_timeout(200)
    assert table.evaluate("asked") == 0, "it does not run yet"
    table.evaluate("app.dataset.testScriptState = 'running'")
    table.wait_for_timeout(200)
    table.evaluate("app.dataset.testScriptState = 'notRunning'")
    table.wait_for_function("asked === 1")

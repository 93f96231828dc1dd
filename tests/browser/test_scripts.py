"""Scripts in a browser: they come once, and a page says so where they do not come."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from labeler.ui.grading import COOKIE
from tests.browser.padpage import ready

pytestmark = pytest.mark.browser

# A script from the browser's own store costs no byte on the way.
CAME_OVER_THE_NETWORK = """() => performance.getEntriesByType("resource")
    .filter(entry => entry.name.includes("/scripts/"))
    .map(entry => entry.transferSize > 0)"""


def test_scripts_are_fetched_once_and_kept(server, visit, browser):
    context = browser.new_context()  # that has nothing yet
    page = visit(server.url, context=context)
    ready(page)
    first = page.evaluate(CAME_OVER_THE_NETWORK)
    assert len(first) > 10
    assert all(first)
    page.reload()
    ready(page)
    assert page.evaluate(CAME_OVER_THE_NETWORK) == [False] * len(first)
    context.close()


def test_a_page_whose_scripts_do_not_come_says_so(server, visit):
    page = visit("about:blank", grader=None)
    page.context.add_cookies([{"name": COOKIE, "value": "Ann", "url": server.url}])
    page.route("**/scripts/**", lambda route: route.abort())
    page.goto(server.url)
    expect(page.get_by_text("Reload the page to try again").last).to_be_visible()
    page.unroute("**/scripts/**")
    page.reload()
    ready(page)

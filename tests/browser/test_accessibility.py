"""What axe finds in the browser: no serious violation on Label, in any of its states."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser

# Each state, and the keys that lead there from a chunk on screen.
STATES = {
    "a chunk": [],
    "a chunk that was graded": ["2", "k"],
    "can't tell": ["x"],
    "a note": ["n"],
    "the query's menu": ["q"],
    "the guideline": ["i"],
    "the keys": ["?"],
    "the whole query": ["b"],
    "the finder": ["/"],
}


def serious(page: Page) -> list[str]:
    """Return what axe calls serious or critical, with the elements it means."""
    found = Axe().run(page).response["violations"]
    return [
        f"{each['id']}: {each['help']}: {[node['html'][:120] for node in each['nodes'][:3]]}"
        for each in found
        if each["impact"] in ("serious", "critical")
    ]


# In the dark only the colours differ, so the states that show all of them are enough.
SCHEMES = {"light": [*STATES], "dark": ["a chunk that was graded", "can't tell", "the whole query"]}


@pytest.mark.parametrize("scheme", SCHEMES)
def test_nothing_serious_on_label(server, visit, browser, scheme):
    context = browser.new_context(viewport={"width": 1280, "height": 800}, color_scheme=scheme)
    page = visit(server.url, context=context)
    found = {}
    for name in SCHEMES[scheme]:
        expect(page.locator(".chunk .text")).to_contain_text("This is the text")
        for key in STATES[name]:
            page.keyboard.press(key)
        page.wait_for_timeout(200)
        found[name] = serious(page)
        page.reload()
    context.close()
    assert {name: violations for name, violations in found.items() if violations} == {}


def test_nothing_serious_where_the_name_is_asked(server, visit):
    page = visit(server.url, grader=None)
    expect(page.get_by_label("Who is grading?")).to_be_focused()
    assert serious(page) == []

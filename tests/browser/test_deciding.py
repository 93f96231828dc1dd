"""From a question on Compare to the grades that decide it; the grader sees nothing of that."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from labeler.model import ACTIVE_OF_TWO, ACTIVE_SOURCE
from labeler.store import Store
from tests.browser.padpage import ready

pytestmark = pytest.mark.browser


def test_a_lead_asks_on_compare_and_a_grader_grades_what_decides(server, visit):
    page = visit(f"{server.url}/compare?a=forward&b=backward", grader="Ann")
    part = page.locator(".st-key-settling")
    expect(page.locator(".answer")).to_contain_text("share 0.0 of their top 10")
    part.get_by_role("button", name="Grade the 12 passages that decide most").click()
    ready(page)
    with Store(server.database) as store:
        asked = store.settings.read()
    assert (asked.strategy, asked.unjudged_of) == (ACTIVE_OF_TWO, ("forward", "backward"))
    assert asked.decide_by == "nDCG@10"
    page.get_by_role("link", name="Label", exact=True).click()
    expect(page).to_have_url(f"{server.url}/?a=forward&b=backward")
    expect(page.locator(".status .progress")).not_to_contain_text("decide")
    expect(page.locator(".status .progress")).not_to_be_empty()
    ready(page)
    for word in ("forward", "backward", "decid"):
        assert word not in page.locator("main").inner_text()
    page.keyboard.press("3")
    expect(page.get_by_text("1 saved")).to_be_visible()
    with Store(server.database) as store:
        [event] = store.judgments.log()
    assert (event.source, event.blind) == (ACTIVE_SOURCE, True)
    assert event.chunk_id in {f"c{n}" for n in (*range(10), *range(20, 30))}, "the top 10 of either"
    page.get_by_role("link", name="Compare").click()
    expect(part).to_contain_text("1 grade was asked for so")
    part.get_by_role("button", name="Stop asking for these first").click()
    expect(page.get_by_role("button", name="Grade the 12 passages that decide")).to_be_visible()
    expect(part.get_by_role("button")).to_have_count(1)

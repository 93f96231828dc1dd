"""Whoever was shown a query's ranked lists grades it knowing them; the server says so."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from labeler.model import Judgment
from tests.browser.padpage import all_saved, library, ready

pytestmark = pytest.mark.browser


def test_who_looked_at_the_lists_of_a_query_does_not_grade_it_blind(serve, visit, tmp_path):
    served = serve(library(tmp_path / "library.db"))
    page = visit(served.url)
    ready(page)
    page.goto(f"{served.url}/compare?query=q1")
    expect(page.get_by_role("button", name="Compare")).to_be_visible()
    for saved, query_id in ((1, "q1"), (2, "q2")):
        page.goto(f"{served.url}/?query={query_id}")
        expect(page.locator(".query-text")).to_contain_text(f"parcel {query_id[1:]} ")
        expect(page.locator(".whole .row.current")).to_be_visible()  # before, no key grades
        page.keyboard.press("2")
        all_saved(page, saved)
    page.goto(f"{served.url}/queries?query=q2")
    expect(page.get_by_role("button", name="Queries of")).to_be_visible()
    page.goto(f"{served.url}/?query=q2")
    expect(page.locator(".query-text")).to_contain_text("parcel 2 ")
    expect(page.locator(".whole .row.current")).to_be_visible()
    page.keyboard.press("1")
    all_saved(page, 3)
    with served.store() as store:
        blind = [(event.query_id, event.blind) for event in store.judgments.log()]
    assert blind == [("q1", False), ("q2", True), ("q2", False)]


@pytest.mark.slow
def test_who_read_on_review_what_others_gave_does_not_grade_that_chunk_blind(
    serve, visit, tmp_path
):
    served = serve(library(tmp_path / "library.db", queries=1, chunks=2))
    with served.store() as store:
        store.people.add("Bob")
        store.judgments.add(Judgment("bobs", "q0", "c1", "Bob", grade=3, note="see page 3"))
    page = visit(f"{served.url}/review?review=Notes")
    expect(page.get_by_text("see page 3")).to_be_visible()
    page.goto(f"{served.url}/?query=q0")
    for graded in (0, 1):
        expect(page.locator(".whole .progress")).to_contain_text(f"{graded} of 2 graded by you")
        expect(page.locator(".whole .row.current .badge")).to_have_class(re.compile("hollow"))
        page.keyboard.press("1")
    all_saved(page, 2)
    with served.store() as store:
        blind = {event.chunk_id: event.blind for event in store.judgments.log()[1:]}
    assert blind == {"c0": True, "c1": False}

"""The Scores page in a real browser while somebody else grades."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from playwright.sync_api import Locator, Page, expect

from labeler.model import Judgment
from tests.page import loaded

pytestmark = pytest.mark.browser


def cell(page: Page, run: str, measure: str) -> Locator:
    """Find the value of a run in the column of a measure."""
    expect(page.locator(".scores table").first).to_be_visible()
    columns = page.locator(".scores thead th").all_inner_texts()
    place = next(n for n, text in enumerate(columns) if text.split("\n")[0] == measure)
    row = page.locator(".scores tbody tr").filter(has=page.get_by_role("rowheader", name=run))
    return row.locator("td").nth(place - 1)


def test_scores_move_by_themselves_while_another_browser_grades(server, visit):
    scores = visit(f"{server.url}/scores?measure=P@5&measure=Judged@10", grader=None)
    expect(scores.get_by_text("Nothing is graded yet")).to_be_visible()
    pad = visit(server.url, grader="Bob")
    expect(pad.locator(".chunk .text")).to_contain_text("This is the text")
    for _ in range(30):
        pad.keyboard.press("3")
    expect(pad.locator(".status .state")).to_have_text("30 saved")
    expect(cell(scores, "forward", "P@5")).to_contain_text("1.0000", timeout=2_000)
    expect(cell(scores, "forward", "P@5")).to_contain_text("no holes")
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
    expect(page.get_by_text("task: single")).to_be_visible()
    expect(page.get_by_text("Conventions (trec_eval): gain = grade")).to_be_visible()
    page.get_by_role("link", name="Data").click()
    expect(page.get_by_text("Drop files here, all at once")).to_be_visible()
    page.get_by_role("link", name="Scores").click()
    expect(page.locator(".scores thead th")).to_have_count(3)
    expect(page.get_by_text("Conventions (trec_eval)")).to_be_visible()
    assert "preset=trec_eval" in page.url


def test_a_wrong_measure_in_the_address_is_said_in_words(server, visit):
    page = visit(f"{server.url}/scores?measure=nDGC@10")
    expect(page.get_by_text("nDCG")).to_be_visible()
    expect(page.get_by_text("Traceback")).to_have_count(0)


def test_what_goes_wrong_in_a_view_is_said_in_words(server, visit):
    with server.store() as store:
        store.add_grader("Ann")
        store.judge(Judgment("event", "q0", "c0", "Ann", "grade", 2))
    page = visit(f"{server.url}/scores?measure=RR&facet=task")
    expect(page.get_by_text("task: single")).to_be_visible()
    with server.store() as store:
        untold = [replace(query, task=None) for query in store.queries()]
        store.add_queries(loaded(untold), update=True)
    expect(page.get_by_text("no facet is called 'task'")).to_be_visible()
    expect(page.get_by_text("Traceback")).to_have_count(0)
    expect(page.get_by_test_id("stException")).to_have_count(0)

"""A decision outlives the tab, the browser, the network and the token, as a grade does."""

from __future__ import annotations

import json
from collections import Counter
from uuid import uuid4

import pytest
from playwright.sync_api import Page, expect

from labeler.model import Judgment
from labeler.ui.grading import COOKIE
from tests.browser.benchpage import (
    DECISIONS,
    MANY,
    at,
    decided,
    dispute,
    open_bench,
    wait_until_decided,
)
from tests.browser.killable import Killable
from tests.browser.padpage import cut_off, intercept, let_through, press

pytestmark = pytest.mark.browser


@pytest.fixture
def served(serve, golden_set):
    return serve(dispute(golden_set()))


def state(page: Page):
    return page.locator(".bench .state")


def kept_offline(page: Page, count: int) -> None:
    expect(state(page)).to_contain_text(f"offline: {count} kept, sent when you’re back")


def test_what_was_decided_offline_outlives_a_reload_and_is_undone_first(served, visit):
    page = open_bench(visit, served)
    at(page, 1)
    cut_off(page, DECISIONS)
    press(page, "123")
    kept_offline(page, 3)
    page.reload()
    at(page, 4)
    expect(page.locator(".bench .counts")).to_have_text(
        f"{MANY} disagreements, {MANY - 3} to decide"
    )
    press(page, "u")
    at(page, 3)
    kept_offline(page, 4)
    let_through(page, DECISIONS)
    expect(state(page)).to_have_attribute("data-state", "idle")
    assert decided(served) == {("q1", "c0"): (1, None), ("q1", "c1"): (2, None)}


@pytest.mark.slow
def test_what_is_called_kept_is_there_after_the_browser_was_killed(served, browser, tmp_path):
    killable = Killable(browser.browser_type, tmp_path / "profile")
    address = f"{served.url}/review?review=Disagreements"
    cookie = {"name": COOKIE, "value": "Lea", "url": served.url}
    with killable.opened() as context:
        context.add_cookies([cookie])
        page = context.new_page()
        page.goto(address)
        at(page, 1)
        cut_off(page, DECISIONS)
        press(page, "0123")
        expect(state(page)).to_contain_text("offline: 4 kept")
        killable.kill()
    with killable.opened() as context:
        context.add_cookies([cookie])
        page = context.new_page()
        page.goto(address)
        at(page, 5)
        wait_until_decided(served, 4)


def test_two_tabs_send_a_decision_once_and_follow_each_other(served, visit):
    one = open_bench(visit, served)
    at(one, 1)
    sent: Counter[str] = Counter()

    def note(request) -> None:
        if request.url.endswith("/api/adjudications"):
            sent.update(each["event_id"] for each in json.loads(request.post_data)["events"])

    two = open_bench(visit, served, context=one.context)
    at(two, 1)
    for page in (one, two):
        cut_off(page, DECISIONS)
    press(one, "2")
    at(two, 2)  # before the server knows anything
    expect(state(two)).to_contain_text("Decided in your other tab")
    kept_offline(one, 1)
    kept_offline(two, 1)
    one.context.on("requestfinished", note)
    let_through(two, DECISIONS)
    for page in (two, one):
        expect(state(page)).to_have_attribute("data-state", "idle")
    one.wait_for_timeout(300)  # what it may just be trying is cut off, too
    [first] = sent
    let_through(one, DECISIONS)
    press(one, "3")
    expect(one.locator(".bench .state")).to_have_attribute("data-state", "idle")
    wait_until_decided(served, 2)
    assert sent[first] == 1


def test_a_server_that_cannot_save_is_asked_again_when_it_says_and_nothing_is_lost(served, visit):
    page = open_bench(visit, served)
    at(page, 1)
    asked: list[int] = []

    def answer(route) -> None:
        asked.append(1)
        if len(asked) == 1:
            said = {"error": "the disk is full"}
            route.fulfill(status=503, json=said, headers={"retry-after": "3"})
        else:
            route.continue_()

    intercept(page, DECISIONS, answer)
    press(page, "1")
    expect(page.locator(".bench .trouble")).to_contain_text("the disk is full")
    press(page, "2")
    expect(state(page)).to_contain_text("not saving: 2 kept, tried again")
    assert len(asked) == 1, "it is not asked again before"
    expect(state(page)).to_have_text("saved")
    expect(page.locator(".bench .trouble")).to_be_hidden()
    assert decided(served) == {("q1", "c0"): (1, None), ("q1", "c1"): (2, None)}


def test_a_refused_decision_stays_with_its_reason_until_somebody_has_looked(served, visit):
    page = open_bench(visit, served)
    at(page, 1)
    cut_off(page, DECISIONS)
    press(page, "3")
    at(page, 2)
    with served.store() as store:
        judgment = Judgment(
            str(uuid4()), "q1", "c0", "Bea", kind="adjudicate", grade=1, source="adjudication"
        )
        store.people.add("Bea")
        store.adjudication.adjudicate(judgment, None)
    let_through(page, DECISIONS)
    refusals = page.locator(".bench .refused li")
    expect(refusals).to_contain_text(["Refused because"])
    page.reload()
    expect(refusals).to_contain_text(["What stands: 1"])
    expect(page.locator(".bench .trouble")).to_contain_text("Not saved: 1")
    expect(state(page)).to_contain_text("1 refused")
    assert decided(served) == {("q1", "c0"): (1, None)}
    refusals.get_by_role("button", name="Use mine instead").click()
    expect(refusals).to_have_count(0)
    expect(page.locator(".bench .trouble")).to_be_hidden()
    expect(state(page)).to_contain_text("saved")
    assert decided(served) == {("q1", "c0"): (3, None)}


@pytest.mark.slow
def test_a_token_that_is_not_taken_for_long_is_renewed_until_it_is(served, visit):
    page = open_bench(visit, served)
    at(page, 1)
    asked: list[int] = []

    def answer(route) -> None:
        asked.append(1)
        if len(asked) <= 4:
            route.fulfill(status=403, json={"error": "the link has expired"})
        else:
            route.continue_()

    intercept(page, DECISIONS, answer)
    press(page, "2")
    expect(page.locator(".bench .trouble")).to_contain_text("the link has expired")
    expect(state(page)).to_have_text("saved")
    expect(page.locator(".bench .trouble")).to_be_hidden()
    assert decided(served) == {("q1", "c0"): (2, None)}

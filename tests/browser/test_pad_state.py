"""What is saved, kept, refused or done elsewhere: said as it is, and nothing lost or doubled."""

from __future__ import annotations

import re
import signal

import pytest
from playwright.sync_api import expect

from tests.browser.padpage import (
    JUDGMENTS,
    all_saved,
    begin_again,
    cut_off,
    events,
    intercept,
    let_through,
    library,
    press,
    ready,
    shown,
    standing,
)

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def shared(serve_to_all, tmp_path_factory):
    folder = tmp_path_factory.mktemp("library")
    return serve_to_all(library(folder / "library.db"))


@pytest.fixture
def served(shared):
    begin_again(shared.database)
    return shared


def test_two_tabs_of_one_grader_neither_double_nor_overwrite(served, visit):
    one = visit(served.url)
    ready(one)
    two = visit(served.url, context=one.context)
    ready(two)
    assert shown(one) == shown(two)
    first = shown(one)
    press(one, "2")
    expect(two.locator(".announce")).to_have_text("graded in your other tab")
    assert shown(two) != first
    assert shown(two) == shown(one)
    press(two, "1")
    told = re.compile("graded in your other tab|1, slightly relevant, saved")  # the second follows
    expect(one.locator(".announce")).to_have_text(told)
    for page in (one, two):
        all_saved(page, 2)
    press(one, "kk3")  # a change, seen by the other
    all_saved(one, 2)
    press(two, "kk")
    expect(two.locator(".given")).to_have_text("you gave 3 · highly relevant")
    press(two, "jj")
    press(one, "u")
    for page in (one, two):
        expect(page.locator(".trouble")).to_be_hidden()
        all_saved(page, 2)
    press(one, "jj")
    while one.locator(".done").is_hidden():
        press(one, "0")
        one.wait_for_timeout(60)
    for page in (one, two):
        expect(page.get_by_text("Done. Thank you")).to_be_visible()
        all_saved(page, 24)
    with served.store() as store:
        assert len(standing(store)) == 24
        first_grades = [e for e in events(store) if e.kind == "grade" and e.undoes is None]
    assert len(first_grades) == 25  # 24 chunks, one of them changed once


def test_a_grade_from_another_device_is_not_overwritten_unasked(served, visit):
    one = visit(served.url)
    two = visit(served.url)  # a profile of its own: nothing is told between the two
    ready(one)
    ready(two)
    assert shown(one) == shown(two)
    press(one, "1")
    all_saved(one, 1)
    press(two, "3")
    expect(two.locator(".status .state")).to_have_text("1 saved, 1 refused")
    expect(two.locator(".trouble")).to_contain_text("another device")
    two.reload()
    ready(two)
    expect(two.locator(".status .state")).to_have_text("1 saved, 1 refused")
    two.get_by_role("button", name="Look at them").click()
    sheet = two.get_by_role("region", name="What was refused")
    expect(sheet).to_contain_text("You gave: 3 highly relevant")
    expect(sheet).to_contain_text("What stands: 1 slightly relevant")
    expect(sheet).to_contain_text("When is parcel")
    expect(sheet).to_contain_text("Title c")
    with served.store() as store:
        assert list(standing(store).values()) == [1]
    two.get_by_role("button", name="Use mine instead").click()
    all_saved(two, 1)
    expect(two.locator(".trouble")).to_be_hidden()
    ready(two)
    with served.store() as store:
        assert list(standing(store).values()) == [3]


def test_a_refused_grade_can_be_tried_again_or_let_go(served, visit):
    page = visit(served.url)
    ready(page)
    query = page.locator(".query-text").text_content()
    with served.store() as store:
        retired = next(known for known in store.queries.all() if known.text == query)
        store.queries.retire(retired.query_id)
    press(page, "2")
    expect(page.locator(".status .state")).to_have_text("0 saved, 1 refused")
    page.get_by_role("button", name="Look at them").click()
    page.get_by_role("button", name="Try again").click()
    expect(page.locator(".status .state")).to_have_text("0 saved, 1 refused")
    ready(page)
    page.get_by_role("button", name="Look at them").click()
    page.get_by_role("button", name="Discard").click()
    all_saved(page, 0)
    expect(page.locator(".trouble")).to_be_hidden()
    press(page, "1")
    all_saved(page, 1)


@pytest.mark.slow
def test_leaving_with_anything_unsent_warns(served, visit):
    page = visit(served.url)
    ready(page)
    warned = []

    def stay(dialog) -> None:
        warned.append(dialog.type)
        dialog.dismiss()

    page.on("dialog", stay)
    cut_off(page)
    press(page, "2")
    expect(page.locator(".status .state")).to_have_text(
        "0 saved, offline: 1 kept, sent when you’re back"
    )
    page.close(run_before_unload=True)
    page.wait_for_timeout(1_000)
    assert warned == ["beforeunload"]
    let_through(page)
    all_saved(page, 1)
    with page.expect_event("close"):
        page.close(run_before_unload=True)
    assert warned == ["beforeunload"]


def test_a_grade_whose_answer_was_lost_is_counted_once_after_a_reload(served, visit):
    page = visit(served.url)
    ready(page)

    def lose_the_answer(route) -> None:
        route.fetch()
        route.abort()

    intercept(page, JUDGMENTS, lose_the_answer)
    press(page, "2")
    state = page.locator(".status .state")
    expect(state).to_contain_text("1 kept")
    page.reload()
    expect(state).to_have_text(
        "1 saved, offline: 1 kept, sent when you’re back"
    )  # the server has it, the page cannot know
    let_through(page)
    all_saved(page, 1)
    with served.store() as store:
        assert list(standing(store).values()) == [2]


@pytest.mark.slow
def test_slow_answers_hold_nothing_up_and_lose_nothing(served, visit):
    page = visit(served.url)

    def late(route) -> None:
        page.wait_for_timeout(300)
        route.continue_()

    intercept(page, "**/api/**", late)
    ready(page)
    seen = []
    for key in "0123u1k2j30":
        seen.append(shown(page))
        page.keyboard.press(key)
        page.wait_for_timeout(50)
    expect(page.locator(".status .state")).to_contain_text("saved")
    all_saved(page, 6)
    expect(page.locator(".trouble")).to_be_hidden()
    with served.store() as store:
        assert sorted(standing(store).values()) == sorted([0, 1, 2, 2, 3, 0])


def test_changes_and_undos_given_offline_reach_a_restarted_server_in_order(served, visit):
    page = visit(served.url)
    ready(page)
    press(page, "01")
    all_saved(page, 2)
    served.stop(signal.SIGKILL)
    for key in ("2", "3", "u", "k", "3", "x", "2"):
        page.keyboard.press(key)
        page.wait_for_timeout(60)
    expect(page.locator(".status .state")).to_contain_text("offline")
    expect(page.locator(".announce")).to_contain_text("kept")
    served.start()
    all_saved(page, 4)
    expect(page.locator(".trouble")).to_be_hidden()
    with served.store() as store:
        assert sorted(map(str, standing(store).values())) == ["0", "1", "3", "None"]


@pytest.mark.slow
def test_progress_is_kept_up_between_the_servers_answers(served, visit):
    page = visit(served.url)
    ready(page)
    progress, overall = page.locator(".progress"), page.locator(".overall")
    expect(progress).to_have_text("Passage 1 of 8")
    expect(overall).to_have_text("question 1 of 3")
    cut_off(page, "**/api/next*")
    press(page, "22")
    expect(progress).to_have_text("Passage 3 of 8")
    press(page, "u")
    expect(progress).to_have_text("Passage 2 of 8")
    press(page, "2222222")
    expect(progress).to_have_text("Passage 1 of 8")
    expect(overall).to_have_attribute("title", re.compile("3 questions: 1 done, 1 by you"))
    press(page, "k")
    expect(progress).to_have_text("All 8 passages for you are graded")
    let_through(page, "**/api/next*")
    all_saved(page, 8)
    page.reload()
    expect(overall).to_have_attribute("title", re.compile("3 questions: 1 done, 1 by you"))
    expect(overall).to_have_attribute("title", re.compile("left at your pace"))


@pytest.mark.slow
def test_a_changed_text_is_said_and_asked_again(served, visit):
    from labeler.model import Chunk, Loaded

    page = visit(served.url)
    ready(page)
    press(page, "0" * 24)
    all_saved(page, 24)
    with served.store() as store:
        new = [Chunk("c3", "This is the text of c3, new.", "Title c3", "handbook", 3)]
        store.chunks.load(Loaded("test", new, [1]), update=True)
    page.reload()
    ready(page)
    expect(page.locator(".stale")).to_have_text("The text changed since it was graded")
    press(page, "3")
    press(page, "u")
    expect(page.locator(".stale")).to_be_visible()
    press(page, "222")
    expect(page.get_by_text("Done. Thank you")).to_be_visible()
    all_saved(page, 24)
    expect(page.locator(".trouble")).to_be_hidden()
    with served.store() as store:
        stands = standing(store)
    assert sorted(stands.values()) == [0] * 21 + [2] * 3


@pytest.mark.slow
def test_who_is_not_let_in_any_more_is_told_and_keeps_what_was_given(served, visit):
    page = visit(served.url)
    ready(page)
    refusal = {"status": 403, "json": {"error": "Ann is not invited any more"}}
    intercept(page, "**/api/**", lambda route: route.fulfill(**refusal))
    press(page, "2")
    expect(page.locator(".trouble")).to_contain_text("Ann is not invited any more", timeout=30_000)
    expect(page.locator(".status .state")).to_have_text("0 saved, not saving: 1 kept, tried again")
    let_through(page, "**/api/**")
    all_saved(page, 1)

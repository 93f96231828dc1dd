"""What the page calls kept outlives the tab, the browser, a rename, the clock and an upgrade."""

from __future__ import annotations

import signal

import pytest
from playwright.sync_api import Page, expect

from labeler.model import Chunk, Query, Ranking
from labeler.store import Store
from labeler.ui.grading import COOKIE
from tests.browser.doors import DoorServer, link_for
from tests.browser.killable import Killable
from tests.browser.padpage import (
    JUDGMENTS,
    all_saved,
    cut_off,
    intercept,
    let_through,
    library,
    press,
    ready,
    standing,
)
from tests.browser.server import loaded

pytestmark = pytest.mark.browser


@pytest.fixture
def served(serve, tmp_path):
    return serve(library(tmp_path / "library.db"))


def state(page: Page):
    return page.locator(".status .state")


@pytest.mark.slow
def test_what_is_called_kept_is_there_after_the_browser_was_killed(served, browser, tmp_path):
    killable = Killable(browser.browser_type, tmp_path / "profile")
    cookie = {"name": COOKIE, "value": "Ann", "url": served.url}
    with killable.opened() as context:
        context.add_cookies([cookie])
        page = context.new_page()
        page.goto(served.url)
        ready(page)
        cut_off(page)
        press(page, "01230123012301230123")
        press(page, "n")
        page.get_by_role("textbox", name="Note").fill("see page 3")
        page.keyboard.press("Enter")
        expect(page.locator(".said")).to_have_text("Note kept")
        expect(state(page)).to_have_text("0 saved, offline: 20 kept, sent when you’re back")
        page.wait_for_timeout(200)
        killable.kill()
    with killable.opened() as context:
        context.add_cookies([cookie])
        page = context.new_page()
        page.goto(served.url)
        all_saved(page, 20)
        expect(page.locator(".trouble")).to_be_hidden()
        assert "see page 3" in page.evaluate("JSON.stringify(localStorage)")
    with served.store() as store:
        assert sorted(standing(store).values()) == sorted([0, 1, 2, 3] * 5)


def test_a_tab_closed_at_once_loses_nothing(served, visit):
    page = visit(served.url)
    ready(page)
    cut_off(page)
    press(page, "0123012301230123")
    page.close()
    all_saved(visit(served.url, context=page.context), 16)


SET_BACK = "() => { const now = Date.now; Date.now = () => now() - 3600000; }"


@pytest.mark.parametrize(
    ("keys", "stands"),
    [("k3", [3]), pytest.param("u", [], marks=pytest.mark.slow)],
    ids=["changed", "undone"],
)
def test_a_clock_set_back_changes_no_order(served, visit, keys, stands):
    page = visit(served.url)
    ready(page)
    cut_off(page)
    press(page, "1")
    page.evaluate(SET_BACK)
    press(page, keys)
    expect(state(page)).to_have_text("0 saved, offline: 2 kept, sent when you’re back")
    let_through(page)
    all_saved(page, len(stands))
    with served.store() as store:
        assert list(standing(store).values()) == stands


@pytest.mark.slow
def test_grades_of_very_long_ids_are_sent_in_parts(serve, visit, tmp_path):
    path = tmp_path / "long.db"
    ids = [f"{number} {'x' * 30_000}" for number in range(28)]
    with Store(path, create=True) as store:
        store.queries.load(loaded([Query("q", "What does it ask?")]))
        store.chunks.load(loaded([Chunk(name, f"This is the text of {name[:2]}.") for name in ids]))
        store.runs.load(loaded([Ranking("q", tuple(ids))]), name="run")
        store.settings.save(type(store.settings.read())(pool_depth=28))
    served = serve(path)
    page = visit(served.url)
    ready(page)
    sizes: list[int] = []
    page.on("request", lambda request: sizes.append(len(request.post_data or "")))
    cut_off(page)
    press(page, "2" * 28 + "u" * 14)
    expect(state(page)).to_have_text("0 saved, offline: 42 kept, sent when you’re back")
    let_through(page)
    all_saved(page, 14)
    assert max(sizes) < 250_000


@pytest.mark.slow
def test_what_is_too_much_for_a_proxy_is_sent_one_by_one_or_shown_as_refused(served, visit):
    page = visit(served.url)
    ready(page)
    cut_off(page)
    press(page, "0123n")
    page.get_by_role("textbox", name="Note").fill("word " * 300)
    page.keyboard.press("Enter")
    press(page, "2")

    def narrow(route) -> None:
        if len(route.request.post_data) > 1_500:
            route.fulfill(status=413, body="<h1>Request Entity Too Large</h1>")
        else:
            route.continue_()

    intercept(page, JUDGMENTS, narrow)
    expect(state(page)).to_have_text("4 saved, 1 refused")
    expect(page.locator(".trouble")).to_contain_text("HTTP 413")


@pytest.mark.slow
def test_who_has_sent_too_much_waits_as_long_as_the_server_says(served, visit):
    page = visit(served.url)
    ready(page)
    asked: list[int] = []

    def answer(route) -> None:
        asked.append(1)
        if len(asked) == 1:
            said = {"error": "one person can send 5 bytes a minute"}
            route.fulfill(status=429, json=said, headers={"retry-after": "3"})
        else:
            route.continue_()

    intercept(page, JUDGMENTS, answer)
    press(page, "0")
    expect(page.locator(".trouble")).to_contain_text("5 bytes a minute")
    press(page, "12")
    expect(state(page)).to_have_text("0 saved, not saving: 3 kept, tried again")
    assert len(asked) == 1, "it is not asked again before"
    all_saved(page, 3)


@pytest.fixture
def closed_door(tmp_path):
    server = DoorServer(library(tmp_path / "library.db"))
    server.start()
    yield server
    server.stop(signal.SIGKILL)


def test_a_rename_neither_strands_nor_gives_away_what_waits(closed_door, visit):
    link = link_for(closed_door, "Gus")
    page = visit(link, grader=None)
    ready(page)
    cut_off(page)
    press(page, "012301")
    expect(state(page)).to_have_text("0 saved, offline: 6 kept, sent when you’re back")
    press(page, "n")
    page.get_by_role("textbox", name="Note").fill("still typing")
    with closed_door.store() as store:
        store.people.rename("Gus", "Hal")
    other = visit(link_for(closed_door, "Gus"), grader=None, context=page.context)
    page.close()
    ready(other)
    expect(other.locator(".trouble")).to_contain_text("Unsent grades by somebody once called")
    expect(other.locator(".chunk .note")).to_be_hidden()
    press(other, "3")
    all_saved(other, 1)
    other.goto(link)
    other.get_by_role("button", name="Switch to Hal").click()
    all_saved(other, 6)
    expect(other.locator(".status .grader")).to_have_text("grading as Hal")
    notes = other.evaluate("Object.entries(localStorage).filter(([k]) => k.includes('notes'))")
    with closed_door.store() as store:
        assert [(key.split(":")[1], "still typing" in said) for key, said in notes] == [
            (store.people.giver("Hal").key, True)
        ]
        assert list(standing(store, "Gus").values()) == [3]
        assert sorted(standing(store, "Hal").values()) == [0, 0, 1, 1, 2, 3]


@pytest.mark.slow
def test_a_page_that_stays_open_over_a_rename_sends_what_waits(closed_door, visit):
    page = visit(link_for(closed_door, "Gus"), grader=None)
    ready(page)
    cut_off(page)
    press(page, "012")
    with closed_door.store() as store:
        store.people.rename("Gus", "Hal")
    let_through(page)
    expect(page.locator(".status .grader")).to_have_text("grading as Hal")
    all_saved(page, 3)
    with closed_door.store() as store:
        assert sorted(standing(store, "Hal").values()) == [0, 1, 2]


@pytest.mark.slow
def test_who_is_not_in_the_backup_that_was_restored_loses_nothing(served, visit):
    page = visit(served.url)
    ready(page)
    cut_off(page)
    press(page, "012")
    expect(state(page)).to_have_text("0 saved, offline: 3 kept, sent when you’re back")
    with served.store() as store:  # Ann is added again, as another row
        store.connection.execute("UPDATE graders SET seed = seed + 1 WHERE name = 'Ann'")
        store.connection.conn.commit()
    page.unroute_all()
    page.goto(f"{served.url}/?query=q0")
    all_saved(page, 3)
    page.reload()
    all_saved(page, 3)
    expect(page.locator(".trouble")).to_be_hidden()
    with served.store() as store:
        assert sorted(standing(store).values()) == [0, 1, 2]

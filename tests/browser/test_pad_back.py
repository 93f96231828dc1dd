"""Back, the end and one's own grades: what is open closes, and what was done can be looked at."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.padpage import (
    LAPTOP,
    PHONE,
    all_saved,
    library,
    press,
    quick_hand,
    ready,
    shown,
    standing,
)

pytestmark = pytest.mark.browser


def back(page: Page) -> None:
    page.evaluate("history.back()")


@pytest.fixture(scope="module")
def served(serve_to_all, tmp_path_factory):
    folder = tmp_path_factory.mktemp("library")
    return serve_to_all(library(folder / "library.db", queries=2, chunks=4))


def test_ones_own_grades_have_an_address_and_a_link_in_the_header(served, visit):
    page = visit(f"{served.url}/?mine=true", grader="Ada", **LAPTOP)
    expect(page.locator(".mine h2")).to_have_text("My grades")
    expect(page.get_by_text("You have graded nothing yet.")).to_be_visible()
    page.keyboard.press("Escape")
    ready(page)
    assert "mine" not in page.url
    press(page, "2")
    link = page.get_by_role("link", name="My grades")
    link.click()
    expect(page.locator(".mine .row")).to_have_count(1)
    back(page)
    expect(page.locator("section.mine")).to_be_hidden()
    page.reload()
    ready(page)
    link.click()
    expect(page.locator(".mine .row")).to_have_count(1)


def test_back_closes_what_is_asked_beside_a_passage_and_its_context(served, visit):
    page = visit(f"{served.url}/data", **LAPTOP)
    page.wait_for_url("**/data")
    page.goto(served.url)
    ready(page)
    text = shown(page)
    for key, part in (("q", ".tray"), ("x", ".tray"), ("n", ".tray"), ("c", ".beside.after")):
        page.keyboard.press(key)
        expect(page.locator(part)).to_be_visible()
        if key == "n":
            page.keyboard.type("which card?")
        back(page)
        expect(page.locator(part)).to_be_hidden()
        assert shown(page) == text
    expect(page.locator(".chunk .note")).to_contain_text("which card?")
    back(page)
    page.wait_for_url("**/data")


@pytest.mark.parametrize("device", [LAPTOP, PHONE], ids=["laptop", "phone"])
def test_back_closes_what_is_open_and_then_leaves(served, visit, device):
    page = visit(f"{served.url}/data", **device)
    page.wait_for_url("**/data")
    page.goto(served.url)
    ready(page)
    text = shown(page)
    for key, part in (("b", ".whole"), ("/", ".finder"), ("g", "section.mine"), ("i", ".sheet")):
        page.keyboard.press(key)
        expect(page.locator(part)).to_be_visible()
        back(page)
        expect(page.locator(part)).to_be_hidden()
        assert shown(page) == text
    press(page, "b")
    expect(page.locator(".whole .row")).to_have_count(4)
    press(page, "i")
    expect(page.locator(".sheet")).to_be_visible()
    back(page)
    expect(page.locator(".sheet")).to_be_hidden()
    expect(page.locator(".whole .row")).to_have_count(4)  # one at a time
    page.keyboard.press("Escape")
    expect(page.locator(".whole")).to_be_hidden()
    back(page)  # what a key has closed is not in the way
    page.wait_for_url("**/data")


def test_a_note_that_was_typed_is_kept_by_escape_and_dropped_by_its_own_button(served, visit):
    page = visit(served.url, grader="Nora")
    ready(page)
    press(page, "n")
    page.keyboard.type("which card?")
    page.keyboard.press("Escape")
    expect(page.locator(".chunk .note")).to_have_text("Note: which card? (goes with your grade)")
    press(page, "n")
    page.keyboard.type(" never")
    page.get_by_role("button", name="discard").click()
    expect(page.locator(".chunk .note")).to_have_text("Note: which card? (goes with your grade)")
    press(page, "2")
    all_saved(page, 1)
    with served.store() as store:
        assert [each.note for each in store.judgments.log() if each.grader == "Nora"] == [
            "which card?"
        ]


def test_ones_own_grades_are_looked_through_and_changed_and_the_end_says_what_was_done(
    serve, visit, tmp_path
):
    served = serve(library(tmp_path / "library.db", queries=2, chunks=4))  # nobody has graded
    page = visit(served.url, grader="Mia Ott", **LAPTOP)
    ready(page)
    press(page, "l203")
    press(page, "x1")
    press(page, "n")
    page.keyboard.type("hm")
    page.keyboard.press("Enter")
    press(page, "1")
    press(page, "g")
    mine = page.get_by_role("region", name="My grades")
    rows = mine.locator(".row")
    expect(rows).to_have_count(5)
    expect(rows.first.locator(".badge")).to_have_text("1")  # the newest
    for name, count in (("can’t tell 1", 1), ("with note 1", 1), ("later 1", 1), ("all 5", 5)):
        mine.get_by_role("button", name=name).click()
        expect(rows).to_have_count(count)
        expect(mine.get_by_role("button", name=name)).to_have_attribute("aria-pressed", "true")
    mine.get_by_role("button", name="with note 1").click()
    expect(rows).to_have_count(1)
    press(page, "3")
    expect(rows.first.locator(".badge")).to_have_text("3")
    page.keyboard.press("Escape")
    expect(mine).to_be_hidden()
    for count in (6, 7, 8):
        quick_hand(page)
        page.keyboard.press("0")
        all_saved(page, count)
    done = page.locator(".done")
    expect(done).to_contain_text("Done. Thank you, Mia.")
    expect(done).to_contain_text("You graded 7 passages of 2 questions")
    expect(done).to_contain_text("1 can’t tell; 1 note.")
    expect(done).to_contain_text("Everything is saved. You can close this page.")
    expect(done.get_by_role("listitem").first).to_contain_text("highly relevant")
    done.get_by_role("button", name="Look through my grades").click()
    expect(rows).to_have_count(8)
    with served.store() as store:
        assert sorted(map(str, standing(store, "Mia Ott").values())) == sorted(
            ["2", "0", "3", "None", "3", "0", "0", "0"]
        )
    press(page, "3")
    page.keyboard.press("Escape")
    expect(done.locator(".given-all .count")).to_have_text(["3", "1", "0", "3"])


def test_whether_all_of_a_passage_was_on_screen_is_kept_with_its_grade(serve, visit, tmp_path):
    path = library(tmp_path / "long.db", queries=1, chunks=3)
    from labeler.model import Chunk
    from labeler.store import Store
    from tests.browser.server import loaded

    text = "This is the text.\n" + "A line.\n" * 200
    with Store(path) as store:
        store.chunks.load(loaded([Chunk("c0", text), Chunk("c1", text)]), update=True)
    served = serve(path)
    page = visit(served.url)
    ready(page)
    read = None
    for _ in range(3):
        if "A line" in shown(page) and read is None:
            read = True
            page.keyboard.press("End")  # past the middle
            expect(page.locator(".below")).to_be_hidden()
            page.keyboard.press("Home")
            expect(page.locator(".below")).to_be_visible()
            while page.locator(".below").is_visible():
                page.keyboard.press(" ")
                page.evaluate("new Promise(drawn => requestAnimationFrame(drawn))")
        elif "A line" in shown(page):
            page.keyboard.press("m")
            page.keyboard.press("End")
        page.keyboard.press("1")
    all_saved(page, 3)
    with served.store() as store:
        screens = {(each.seen_whole, each.highlighted) for each in store.judgments.log()}
    assert screens >= {(True, False), (False, True)}


def test_back_closes_the_menu_and_whatever_it_leads_to_on_a_phone(served, visit):
    page = visit(f"{served.url}/data", grader="Pia", **PHONE)
    page.wait_for_url("**/data")
    page.goto(served.url)
    ready(page)
    text = shown(page)
    menu, more = page.locator(".actions"), page.get_by_role("button", name="More")
    more.tap()
    expect(menu).to_be_visible()
    back(page)
    expect(menu).to_be_hidden()
    for name, part in (
        ("note", ".tray"),
        ("question problem", ".tray"),
        ("show context", ".beside.after"),
        ("mark evidence", ".work .marker"),
        ("change name", "form.who"),
    ):
        more.tap()
        menu.get_by_role("button", name=name).tap()
        expect(page.locator(part)).to_be_visible()
        back(page)
        expect(page.locator(part)).to_be_hidden()
        expect(menu).to_be_hidden()
        assert shown(page) == text
    page.get_by_role("button", name="can’t tell").tap()
    expect(page.locator(".tray")).to_be_visible()
    back(page)
    expect(page.locator(".tray")).to_be_hidden()
    back(page)
    page.wait_for_url("**/data")


def test_back_leads_from_the_example_to_where_it_was_begun(served, visit):
    page = visit(served.url, grader="Rosa", newcomer=True, **LAPTOP)
    practise = page.get_by_role("button", name="Practise on an example")
    practise.click()
    expect(page.locator(".practice")).to_be_visible()
    back(page)
    expect(page.locator(".practice")).to_be_hidden()
    expect(practise).to_be_visible()

"""My grades: a grader looks through what they gave, and corrects it."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.padpage import LAPTOP, all_saved, library, press, ready, standing

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def served(serve_to_all, tmp_path_factory):
    folder = tmp_path_factory.mktemp("library")
    return serve_to_all(library(folder / "library.db", queries=2, chunks=4))


def opened(page: Page):
    """Open one's own grades, and wait for them."""
    press(page, "g")
    mine = page.get_by_role("region", name="My grades")
    expect(mine.locator(".row").first).to_be_visible()
    return mine


def counted(mine, *counts: int) -> None:
    """Expect these numbers: of all, the grades from 3 down, can't tell, with note, later."""
    expected = [re.compile(rf" {count}$") for count in counts]
    expect(mine.locator(".filters button")).to_have_text(expected)


def test_the_counts_follow_each_grade_that_is_changed(served, visit):
    page = visit(served.url, grader="Cora", **LAPTOP)
    ready(page)
    press(page, "l003")
    mine = opened(page)
    counted(mine, 3, 1, 0, 0, 2, 0, 0, 1)
    press(page, "2")
    counted(mine, 3, 0, 1, 0, 2, 0, 0, 1)
    press(page, "n")
    page.keyboard.type("hm")
    page.keyboard.press("Enter")
    counted(mine, 3, 0, 1, 0, 2, 0, 1, 1)
    press(page, "u")
    counted(mine, 3, 0, 1, 0, 2, 0, 0, 1)
    press(page, "uu")
    counted(mine, 2, 0, 0, 0, 2, 0, 0, 1)
    mine.get_by_role("button", name="later").click()
    expect(mine.locator(".row")).to_have_count(1)
    press(page, "1")
    counted(mine, 3, 0, 0, 1, 2, 0, 0, 0)


def test_a_grade_that_is_corrected_twice_leaves_the_next_one_alone(served, visit):
    page = visit(served.url, grader="Dora", **LAPTOP)
    ready(page)
    press(page, "001")
    mine = opened(page)
    press(page, "23")
    expect(mine.locator(".row .badge")).to_have_text(["3", "0", "0"])
    page.keyboard.press("ArrowDown")
    press(page, "x1")
    press(page, "2")
    expect(mine.locator(".row .badge")).to_have_text(["3", "2", "0"])
    all_saved(page, 3)
    with served.store() as store:
        assert sorted(standing(store, "Dora").values()) == [0, 2, 3]


def test_the_list_is_there_after_a_reload_and_back_closes_it(served, visit):
    page = visit(f"{served.url}/data", grader="Elsa", **LAPTOP)
    page.wait_for_url("**/data")
    page.goto(served.url)
    ready(page)
    press(page, "01")
    all_saved(page, 2)
    mine = opened(page)
    page.reload()
    expect(mine.locator(".row")).to_have_count(2)
    page.evaluate("history.back()")
    expect(mine).to_be_hidden()
    ready(page)
    press(page, "b")
    whole = page.locator(".whole .row")
    expect(whole).to_have_count(4)
    page.reload()
    expect(whole).to_have_count(4)
    page.keyboard.press("Escape")
    expect(page.locator(".whole")).to_be_hidden()
    page.reload()
    ready(page)
    expect(page.locator(".whole")).to_be_hidden()
    page.evaluate("history.back()")
    page.wait_for_url("**/data")


def test_on_a_phone_on_its_side_the_choices_are_one_line_above_the_grades(serve, visit, tmp_path):
    path = library(tmp_path / "library.db")
    page = visit(serve(path).url, viewport={"width": 844, "height": 390}, has_touch=True)
    ready(page)
    press(page, "321g")
    mine = page.locator(".mine")
    expect(mine.locator(".row")).to_have_count(3)
    tops = {each.bounding_box()["y"] for each in mine.locator(".filters button").all()}
    assert len(tops) == 1
    expect(mine.locator(".row.current .name")).to_be_in_viewport(ratio=1)
    expect(mine.locator(".row.current .text")).to_be_in_viewport(ratio=0.2)
    expect(page.get_by_role("button", name="back to grading")).to_be_in_viewport(ratio=1)

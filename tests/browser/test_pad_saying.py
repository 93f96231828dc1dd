"""Saying more than a grade: reasons, notes, remarks on a query; reading more than the chunk."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from labeler.store import Store
from tests.browser.padpage import (
    JUDGMENTS,
    all_saved,
    begin_again,
    events,
    intercept,
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
    return serve_to_all(library(folder / "library.db", guideline="Read the whole chunk first."))


@pytest.fixture
def served(shared):
    begin_again(shared.database)
    return shared


def test_cannot_tell_takes_a_reason_by_key_by_word_and_by_mouse(served, visit):
    page = visit(served.url)
    ready(page)
    first = shown(page)
    press(page, "x")
    expect(page.locator(".grades")).to_be_hidden()
    page.keyboard.press("Escape")
    expect(page.locator(".grades")).to_be_visible()
    assert shown(page) == first
    press(page, "x2")
    press(page, "x")
    page.get_by_label("Other reason").click()
    page.keyboard.type("too old, 3 pages missing")  # neither a digit nor a letter acts
    page.keyboard.press("Enter")
    press(page, "x")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="X can’t tell").click()
    page.get_by_role("button", name="3 the text is broken").click()
    all_saved(page, 4)
    page.keyboard.press("k")
    expect(page.locator(".given")).to_have_text("you gave can’t tell: the text is broken")
    with served.store() as store:
        said = [(event.kind, event.reason) for event in events(store)]
    reasons = ["outside my field", "too old, 3 pages missing", None, "the text is broken"]
    assert said == [("cannot_tell", reason) for reason in reasons]


def test_a_note_goes_with_the_grade_and_can_be_added_afterwards(served, visit):
    page = visit(served.url)
    ready(page)
    press(page, "n")
    page.keyboard.type("0 for now? ask Bob")
    page.keyboard.press("Enter")
    expect(page.locator(".note")).to_have_text("Note: 0 for now? ask Bob (goes with your grade)")
    press(page, "n")
    expect(page.get_by_role("textbox", name="Note")).to_have_value("0 for now? ask Bob")
    page.keyboard.type(" and Eve")
    page.get_by_role("button", name="discard").click()
    expect(page.locator(".note")).to_contain_text("ask Bob (goes")
    press(page, "21")
    all_saved(page, 2)
    press(page, "kn")
    page.keyboard.type("added later")
    page.keyboard.press("Enter")
    expect(page.locator(".note")).to_have_text("Note: added later")
    press(page, "3")  # another grade keeps the note
    expect(page.locator(".status .state")).to_have_text("2 saved")
    with served.store() as store:
        said = [(event.grade, event.note) for event in events(store)]
    assert said == [(2, "0 for now? ask Bob"), (1, None), (1, "added later"), (3, "added later")]


def test_a_whole_query_can_be_set_aside_and_taken_up_again(served, visit):
    page = visit(served.url)
    ready(page)
    query = page.locator(".query-text").text_content()
    expect(page.locator(".progress")).to_have_text("Passage 1 of 8")
    expect(page.locator(".overall")).to_have_text("question 1 of 3")
    press(page, "1q")
    page.get_by_label("Add a note").click()
    page.keyboard.type("no document says so, I read all 3")
    page.keyboard.press("Enter")
    press(page, "1")
    expect(page.locator(".query-text")).not_to_have_text(query)
    expect(page.locator(".overall")).to_have_attribute("title", re.compile("3 questions: 1 done"))
    all_saved(page, 1)
    with served.store() as store:
        remarks = [(remark.kind, remark.note) for remark in store.remarks.by("Ann").values()]
    assert remarks == [("unanswered", "no document says so, I read all 3")]
    page.reload()
    ready(page)
    expect(page.locator(".query-text")).not_to_have_text(query)  # nor asked again
    other = page.locator(".query-text").text_content()
    press(page, "q2")
    expect(page.locator(".query-text")).not_to_have_text(other)
    press(page, "u")
    expect(page.locator(".said")).to_have_text("Undone: “the question is unclear”")
    expect(page.locator(".query-text")).to_have_text(other)
    expect(page.locator(".overall")).to_have_attribute("title", re.compile("3 questions: 1 done"))
    press(page, "u")  # what was said before the reload, and then the grade before that
    expect(page.locator(".said")).to_have_text("Undone: “none of these passages answers it”")
    expect(page.locator(".query-text")).to_have_text(query)
    press(page, "u")
    expect(page.locator(".said")).to_contain_text("Undone (was 1 slightly relevant)")
    press(page, "2q")
    press(page, "k")  # nothing while a menu is open
    page.keyboard.press("Escape")
    press(page, "q2")
    expect(page.locator(".query-text")).not_to_have_text(query)
    press(page, "k")
    expect(page.locator(".remark")).to_have_text("You said: the question is unclear.")
    press(page, "q3")
    expect(page.locator(".remark")).to_be_hidden()
    expect(page.locator(".query-text")).to_have_text(query)
    expect(page.locator(".overall")).to_have_attribute("title", re.compile("3 questions: 0 done"))


def test_sheets_cover_the_chunk_and_let_no_key_grade_it(served, visit):
    page = visit(served.url)
    ready(page)
    press(page, "i")
    sheet = page.get_by_role("region", name="How to grade")
    expect(sheet).to_contain_text("Read the whole chunk first.")
    expect(sheet).to_contain_text("Only days count for parcel")
    expect(sheet).to_contain_text("highly relevant")
    press(page, "3xi")
    expect(sheet).to_be_hidden()
    page.get_by_role("button", name="? all keys").click()
    keys = page.get_by_role("region", name="Keys")
    for action in ("undo the last thing", "all passages of this question"):
        expect(keys).to_contain_text(action)
    page.get_by_role("button", name="Esc close").click()
    expect(keys).to_be_hidden()
    expect(page.get_by_role("button", name="? all keys")).to_be_focused()
    all_saved(page, 0)
    with served.store() as store:
        assert events(store) == []


@pytest.mark.slow
def test_what_stands_around_is_shown_on_demand_and_marks_can_be_switched(served, visit):
    page = visit(served.url)
    ready(page)
    number = int(shown(page).strip(".").rsplit("c", 1)[1])
    assert number in range(8)
    press(page, "c")
    expect(page.locator(".beside.before")).to_have_text(
        f"Title c{number - 1}This is the text of c{number - 1}."
        if number
        else "This is the beginning of the document."
    )
    expect(page.locator(".beside.after")).to_have_text(
        f"Title c{number + 1}This is the text of c{number + 1}."
        if number < 7
        else "This is the end of the document."
    )
    press(page, "c")
    expect(page.locator(".beside.after")).to_be_hidden()
    press(page, "c1")
    expect(page.locator(".beside.after")).to_be_hidden()  # the next chunk stands alone
    expect(page.locator(".chunk mark")).to_have_count(0)
    press(page, "m")
    page.reload()
    ready(page)
    expect(page.get_by_role("button", name="M highlight")).to_have_attribute("aria-pressed", "true")


def test_what_is_known_is_told_after_the_grade_only_and_ends_blindness(served, visit):
    with Store(served.database) as store:
        ids = [chunk.chunk_id for chunk in store.chunks.all()]
    page = visit(served.url)
    ready(page)
    assert not any(f"Chunk {name}" in page.locator(".pad").inner_text() for name in ids)
    press(page, "t")
    expect(page.locator(".announce")).to_contain_text("Grade it first")
    press(page, "2kt")
    told = page.locator(".told")
    expect(told).to_contain_text("of document handbook · found by 2 runs")
    expect(told).to_contain_text("nobody else has graded it")
    all_saved(page, 1)
    page.reload()
    ready(page)
    press(page, "u")
    page.keyboard.press("3")
    all_saved(page, 1)
    with served.store() as store:
        grades = [event for event in events(store) if event.kind == "grade"]
        assert [(event.grade, event.blind) for event in grades] == [(2, True), (3, False)]
        assert list(standing(store).values()) == [3]


@pytest.mark.slow
def test_a_saved_grade_is_announced_once_it_is_saved(served, visit):
    page = visit(served.url)
    ready(page)
    held = []

    def hold_the_first(route) -> None:
        if held:
            route.continue_()
        else:
            held.append(route)

    intercept(page, JUDGMENTS, hold_the_first)
    press(page, "2")
    page.wait_for_timeout(400)
    expect(page.locator(".announce")).not_to_contain_text("saved")
    held[0].continue_()
    expect(page.locator(".announce")).to_have_text("2, partly relevant, saved")
    press(page, "u")
    expect(page.locator(".announce")).to_contain_text("undone, saved")
    assert page.locator(".announce").get_attribute("aria-live") == "polite"

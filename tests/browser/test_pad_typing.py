"""Nothing typed is lost: notes, and what was said of a query, through undo, reload and offline."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from labeler.store import Store
from tests.browser.padpage import (
    PHONE,
    all_saved,
    begin_again,
    cut_off,
    events,
    let_through,
    library,
    press,
    quick_hand,
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


def begin_note(page: Page, text: str) -> None:
    """Write a note without saving it."""
    press(page, "n")
    page.get_by_role("textbox", name="Note").fill(text)


def notes(store: Store) -> list[tuple[int | None, str | None]]:
    """Return the grade and the note of each event that is no undo, as they came."""
    return [(event.grade, event.note) for event in events(store) if event.kind == "grade"]


def test_a_note_is_saved_by_its_button_without_a_keyboard(served, visit):
    page = visit(served.url, **PHONE)
    ready(page)
    page.locator(".grades button").nth(2).tap()
    page.locator(".grades button").nth(0).wait_for()
    page.get_by_role("button", name="More").tap()
    page.locator(".actions").get_by_role("button", name="previous").tap()
    expect(page.locator(".given")).to_have_text("you gave 2 · partly relevant")
    page.get_by_role("button", name="More").tap()
    page.locator(".actions").get_by_role("button", name="note").tap()
    page.get_by_role("textbox", name="Note").fill("first line\nsecond line")
    save = page.get_by_role("button", name="Save")
    expect(save).to_be_in_viewport(ratio=1)
    save.tap()
    expect(page.locator(".chunk .note")).to_have_text("Note: first line\nsecond line")
    expect(page.locator(".said")).to_have_text("Note kept")
    all_saved(page, 1)
    with served.store() as store:
        assert notes(store) == [(2, None), (2, "first line\nsecond line")]


@pytest.mark.slow
def test_a_note_that_was_not_saved_survives_reload_and_another_page(served, visit):
    page = visit(served.url)
    ready(page)
    begin_note(page, "only in 2025")
    page.reload()
    ready(page)
    expect(page.locator(".note")).to_have_text("Note: only in 2025 (goes with your grade)")
    begin_note(page, "only in 2025, ask Bob")
    page.get_by_role("link", name="Review").click()
    expect(page.locator(".pad")).to_have_count(0)
    page.get_by_role("link", name="Label", exact=True).click()
    ready(page)
    expect(page.locator(".note")).to_contain_text("only in 2025, ask Bob (goes")
    press(page, "j")
    expect(page.locator(".note")).to_be_hidden()
    press(page, "k2")
    all_saved(page, 1)
    press(page, "k")
    begin_note(page, "changed on a graded one")
    page.reload()  # before it was saved
    ready(page)
    all_saved(page, 1)
    press(page, "k")
    expect(page.locator(".note")).to_have_text("Note: changed on a graded one")
    with served.store() as store:
        assert notes(store) == [(2, "only in 2025, ask Bob"), (2, "changed on a graded one")]


def test_an_undo_a_new_grade_and_a_redo_keep_the_note(served, visit):
    page = visit(served.url)
    ready(page)
    note = page.locator(".chunk .note")
    begin_note(page, "see page 3")
    page.keyboard.press("Enter")
    press(page, "2u")
    expect(note).to_have_text("Note: see page 3 (goes with your grade)")
    all_saved(page, 0)
    page.reload()
    ready(page)
    expect(note).to_have_text("Note: see page 3 (goes with your grade)")
    press(page, "1k3k")
    expect(note).to_have_text("Note: see page 3")
    begin_note(page, "see page 4")
    page.keyboard.press("Enter")
    expect(note).to_have_text("Note: see page 4")
    press(page, "u")  # of the note: what was typed is still there
    expect(page.locator(".given")).to_have_text("you gave 3 · highly relevant")
    expect(note).to_contain_text("Note not saved")
    press(page, "n")
    expect(page.get_by_role("textbox", name="Note")).to_have_value("see page 4")
    page.keyboard.type("2")
    page.keyboard.press("Enter")
    expect(note).to_have_text("Note: see page 42")
    press(page, "u")
    begin_note(page, "typed before a redo")
    page.get_by_role("button", name="Save").click()
    press(page, "0k")
    expect(note).to_have_text("Note: typed before a redo")
    all_saved(page, 1)
    expect(page.locator(".trouble")).to_be_hidden()
    with served.store() as store:
        (stands,) = store.golden_set.read()[1]
        assert stands.grade == 0
        assert notes(store)[-1] == (0, "typed before a redo")


@pytest.mark.slow
def test_what_was_typed_after_an_undo_is_not_overwritten_by_a_redo(served, visit):
    page = visit(served.url)
    ready(page)
    begin_note(page, "first words")
    page.keyboard.press("Enter")
    press(page, "2u")
    begin_note(page, "better words")
    page.keyboard.press("Enter")
    page.keyboard.press("Shift+U")
    all_saved(page, 1)
    press(page, "k")
    expect(page.locator(".chunk .note")).to_have_text("Note: better words")


@pytest.mark.slow
def test_a_note_that_is_too_long_is_said_and_kept(served, visit):
    page = visit(served.url)
    ready(page)
    text = shown(page)
    long = "word " * 20_000
    begin_note(page, long)
    page.keyboard.press("Enter")
    problem = page.locator(".tray .problem")
    expect(problem).to_contain_text("Too long by 97,999 characters: there is room for 2,000")
    expect(page.get_by_role("textbox", name="Note")).to_have_value(long)
    page.reload()
    ready(page)
    expect(page.locator(".note")).to_have_text("Note not saved: it is 97,999 characters too long")
    press(page, "2k2k")  # the grade does not wait for it, and once is enough
    all_saved(page, 1)
    assert shown(page) == text
    expect(page.locator(".note")).to_contain_text("97,999 characters too long")
    press(page, "n")
    field = page.get_by_role("textbox", name="Note")
    expect(field).to_have_value(long)
    field.fill(long[:2_000])
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".note")).to_have_text(f"Note: {long[:1_999]}")
    all_saved(page, 1)
    with served.store() as store:
        assert notes(store) == [(2, None), (2, long[:1_999])]


def test_a_note_given_offline_is_sent_with_its_grade_once_it_can_be(served, visit):
    page = visit(served.url)
    ready(page)
    cut_off(page)
    begin_note(page, "written on a train")
    page.get_by_role("button", name="Save").click()
    press(page, "3k")
    begin_note(page, "written on a train, and changed")
    page.keyboard.press("Enter")
    expect(page.locator(".status .state")).to_have_text(
        "0 saved, offline: 2 kept, sent when you’re back"
    )
    page.reload()
    expect(page.locator(".status .state")).to_contain_text("kept")
    let_through(page)
    all_saved(page, 1)
    with served.store() as store:
        given = ["written on a train", "written on a train, and changed"]
        assert notes(store) == [(3, note) for note in given]


@pytest.mark.slow
def test_a_tap_while_offline_is_kept_and_sent_later(served, visit):
    page = visit(served.url, **PHONE)
    ready(page)
    page.context.set_offline(True)
    for grade in (2, 0, 3):
        quick_hand(page)
        page.locator(".grades button").nth(grade).tap()
    expect(page.locator(".status .state")).to_have_text(
        "0 saved, offline: 3 kept, sent when you’re back"
    )
    expect(page.locator(".said")).to_have_text("You gave 3 highly relevant")
    page.context.set_offline(False)
    all_saved(page, 3)
    with served.store() as store:
        assert [event.grade for event in events(store)] == [2, 0, 3]


@pytest.mark.slow
def test_undo_and_redo_go_through_grades_and_remarks_in_the_order_they_were_given(served, visit):
    page = visit(served.url)
    ready(page)
    query, said = page.locator(".query-text"), page.locator(".said")
    first = query.text_content()
    press(page, "1q")
    page.get_by_label("Add a note").fill("I read all of it")
    page.get_by_role("button", name="none of these passages answers it").click()
    expect(query).not_to_have_text(first)
    second = query.text_content()
    press(page, "x2")
    press(page, "3")
    all_saved(page, 3)
    page.reload()
    ready(page)
    done = [
        ("3 highly relevant", second),
        ("can’t tell: outside my field", second),
        ("none of these passages answers it", first),
        ("1 slightly relevant", first),
    ]
    for words, where in done:
        press(page, "u")
        expect(said).to_have_text(re.compile(f"^Undone.*{words}"))
        expect(query).to_have_text(where)
    press(page, "u")
    expect(said).to_have_text("Nothing to undo")
    all_saved(page, 0)
    with served.store() as store:
        assert standing(store) == {}
    for (words, _), key in zip(done[::-1], ["Shift+U", "Control+Shift+Z"] * 2, strict=True):
        page.keyboard.press(key)
        expect(said).to_have_text(f"Redone: {words}")
    page.keyboard.press("Shift+U")
    expect(said).to_have_text("Nothing to redo")
    all_saved(page, 3)
    expect(page.locator(".trouble")).to_be_hidden()
    with served.store() as store:
        assert sorted(map(str, standing(store).values())) == ["1", "3", "None"]
        (remark,) = store.remarks.by("Ann").values()
        assert (remark.kind, remark.note) == ("unanswered", "I read all of it")
    press(page, "uu0")  # what is given now ends what could be done again
    page.keyboard.press("Shift+U")
    expect(said).to_have_text("Nothing to redo")

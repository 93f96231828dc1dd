"""Reading a chunk that is longer than its place, by the keys that read everywhere else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from labeler.model import Chunk
from labeler.store import Store
from tests.browser.padpage import (
    LAPTOP,
    all_saved,
    library,
    press,
    quick_hand,
    ready,
    shown,
    standing,
    wide,
)
from tests.browser.server import loaded

pytestmark = pytest.mark.browser

LONG = "A line.\n" * 200  # many lines


@pytest.fixture
def long(tmp_path) -> Path:
    """Make a golden set of two queries with two chunks, the longest of them on every screen."""
    path = library(tmp_path / "long.db", queries=2, chunks=2)
    with Store(path) as store:
        chunks = [Chunk(f"c{n}", f"This is the text of c{n}.\n{LONG}") for n in range(2)]
        store.chunks.load(loaded(chunks), update=True)
    return path


def scrolled(page: Page) -> float:
    """Return how far the chunk on screen is scrolled, from 0 to 1."""
    return page.locator(".chunk").evaluate(
        "host => host.scrollTop / (host.scrollHeight - host.clientHeight)"
    )


def where_after(page: Page, key: str) -> float:
    page.keyboard.press(key)
    return scrolled(page)


def test_the_keys_that_read_everywhere_read_the_chunk(serve, visit, long):
    served = serve(long)
    page = visit(served.url)
    ready(page)
    text = shown(page)
    assert scrolled(page) == 0
    start = 0.0
    for there, back in (("PageDown", "PageUp"), ("ArrowDown", "ArrowUp"), (" ", "Shift+ ")):
        on = where_after(page, there)
        assert start < on < 1
        further = where_after(page, there)
        assert on < further < 1
        assert where_after(page, back) == pytest.approx(on, abs=0.01)
        assert where_after(page, back) == pytest.approx(0, abs=0.01)
    assert where_after(page, "End") == pytest.approx(1, abs=0.01)
    assert where_after(page, "Home") == 0
    assert shown(page) == text
    press(page, "2")
    query = page.locator(".query-text").text_content()
    other = shown(page)
    assert where_after(page, "End") > 0.9
    page.keyboard.press("ArrowLeft")
    assert (shown(page), scrolled(page)) == (text, 0)
    page.keyboard.press("ArrowRight")
    assert (shown(page), page.locator(".query-text").text_content()) == (other, query)
    all_saved(page, 1)
    with served.store() as store:
        assert len(store.judgments.log()) == 1


@pytest.mark.slow
def test_space_presses_a_button_that_tab_reached_and_reads_on_after_the_mouse(serve, visit, long):
    served = serve(long)
    page = visit(served.url)
    ready(page)
    text = shown(page)
    page.locator(".grades button").nth(1).click()
    expect(page.locator(".said")).to_have_text("You gave 1 slightly relevant")
    second = shown(page)
    assert where_after(page, " ") > 0  # the button still has the focus
    assert where_after(page, " ") > 0
    assert shown(page) == second != text
    all_saved(page, 1)
    page.keyboard.press("Tab")
    expect(page.locator(".grades button").nth(2)).to_be_focused()
    page.keyboard.press(" ")
    expect(page.locator(".said")).to_have_text("You gave 2 partly relevant")
    all_saved(page, 2)
    page.locator(".chunk .label").click()
    assert where_after(page, " ") > 0
    with served.store() as store:
        assert sorted(standing(store).values()) == [1, 2]


def test_a_field_keeps_all_its_keys(serve, visit, long):
    served = serve(long)
    page = visit(served.url)
    ready(page)
    press(page, "2")
    all_saved(page, 1)
    text = shown(page)
    press(page, "n")
    note = page.get_by_role("textbox", name="Note")
    page.keyboard.type("one two 3 x")
    for key in ("Home", "Delete", "End", " ", "ArrowLeft", "Backspace", "PageDown", "Shift+U"):
        page.keyboard.press(key)
    expect(note).to_have_value(re.compile("^ne two 3 .*U"))
    page.keyboard.press("Control+z")
    expect(note).not_to_have_value(re.compile("U"))
    page.keyboard.press("Control+Shift+z")
    expect(note).to_have_value(re.compile("U"))
    assert (scrolled(page), shown(page)) == (0, text)
    page.keyboard.press("Escape")
    all_saved(page, 1)  # nothing was taken back
    page.keyboard.press("Control+z")
    all_saved(page, 0)
    page.keyboard.press("Control+Shift+z")
    all_saved(page, 1)
    with served.store() as store:
        assert list(standing(store).values()) == [2]


@pytest.mark.slow
def test_end_goes_to_the_end_of_a_text_that_comes_in_pieces(serve, visit, tmp_path):
    path = library(tmp_path / "huge.db", queries=1, chunks=1)
    with Store(path) as store:
        text = "This is the text of c0.\n" + "A line.\n" * 8_000 + "The very last line."
        store.chunks.load(loaded([Chunk("c0", text)]), update=True)
    page = visit(serve(path).url)
    ready(page)
    page.keyboard.press("End")
    expect(page.locator(".chunk .text")).to_contain_text("The very last line.")
    expect(page.locator(".below")).to_be_hidden()
    assert scrolled(page) == pytest.approx(1, abs=0.01)


def test_a_mark_says_that_there_is_more_below_until_the_end(serve, visit, long):
    with Store(long) as store:
        store.chunks.load(loaded([Chunk("c1", "This is the text, short.")]), update=True)
    page = visit(serve(long).url)
    ready(page)
    below = page.locator(".below")
    if "short" in shown(page):
        expect(below).to_be_hidden()
        press(page, "j")
    expect(below).to_be_visible()
    expect(below).to_be_in_viewport(ratio=1)
    below.click()
    assert scrolled(page) > 0
    page.keyboard.press("End")
    expect(below).to_be_hidden()
    page.keyboard.press("PageUp")
    expect(below).to_be_visible()
    while "short" not in shown(page):
        press(page, "2")
    expect(below).to_be_hidden()


@pytest.mark.slow
def test_a_guideline_is_beside_the_first_question_and_behind_its_heading_later(
    serve, visit, tmp_path
):
    path = library(
        tmp_path / "library.db", guideline="Be strict with what is meant.\n" * 60 + "END"
    )
    page = visit(serve(path).url, **LAPTOP)
    ready(page)
    more = page.get_by_role("button", name="more", exact=True)
    expect(more).to_be_in_viewport(ratio=1)
    more.click()
    sheet = page.get_by_role("region", name="How to grade")
    expect(sheet).to_contain_text("END")
    page.keyboard.press("End")
    expect(sheet.get_by_role("button", name="Practise on an example")).to_be_in_viewport(ratio=1)
    page.keyboard.press("Escape")
    expect(sheet).to_be_hidden()
    first = page.locator(".query-text").text_content()
    while page.locator(".query-text").text_content() == first:
        press(page, "2")
    expect(page.locator(".help.guideline")).to_be_hidden()  # read by now
    page.locator(".query").get_by_role("button", name="How to grade").click()
    expect(sheet).to_contain_text("END")
    page.keyboard.press("Escape")
    page.set_viewport_size({"width": 390, "height": 844})
    expect(page.locator(".query").get_by_role("button")).to_have_count(0)  # it is behind "More"


def test_a_list_that_is_done_leads_to_the_next_question(serve, visit, tmp_path):
    served = serve(library(tmp_path / "library.db", queries=2, chunks=3))
    page = visit(served.url, **LAPTOP)
    ready(page)
    first = page.locator(".query-text").text_content()
    press(page, "b")
    expect(page.locator(".whole .row")).to_have_count(3)
    assert page.locator(".whole").bounding_box()["width"] > 700  # lists use the width
    press(page, "012")
    further = page.get_by_role("button", name="next question")
    expect(further).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator(".query-text")).not_to_have_text(first)
    expect(page.locator(".whole .progress")).to_have_text("0 of 3 graded by you · 3 not yet")
    press(page, "333")
    page.get_by_role("button", name="next question").click()
    expect(page.get_by_text("Done. Thank you")).to_be_visible()
    all_saved(page, 6)
    with served.store() as store:
        assert sorted(standing(store).values()) == [0, 1, 2, 3, 3, 3]


@pytest.mark.slow
def test_an_address_of_a_query_shows_its_help_and_stays_with_it(serve, visit, tmp_path):
    served = serve(library(tmp_path / "library.db", queries=4, chunks=3))
    for query in ("q3", "q1"):
        page = visit(f"{served.url}/?query={query}")
        expect(page.locator(".whole .row")).to_have_count(3)
        number = query[1]
        text = f"When is parcel {number} paid back?"
        for part, words in (
            (".query-text", text),
            (".about dd", f"Only days count for parcel {number}."),
            (".reference dd", f"Parcel {number} is paid back within thirty days."),
            (".guideline dd", "Read the question, then the passage."),
        ):
            expect(page.locator(part)).to_be_visible()
            expect(page.locator(part)).to_contain_text(words)
        press(page, "b")
        ready(page)
        expect(page.locator(".query-text")).to_have_text(text)
        expect(page.locator(".about dd")).to_have_text(f"Only days count for parcel {number}.")
        press(page, "22")
        expect(page.locator(".query-text")).to_have_text(text)
        press(page, "b")
        expect(page.locator(".whole .row")).to_have_count(3)
        press(page, "bj")
        page.close()


@pytest.mark.slow
def test_code_wider_than_its_place_is_scrolled_by_the_arrows_where_tab_led(serve, visit, tmp_path):
    served = serve(wide(tmp_path / "wide.db"))
    page = visit(served.url, viewport={"width": 420, "height": 600})
    ready(page)
    text, code = shown(page), page.get_by_role("group", name="Lines that stay whole")
    code.click()  # as one does to copy a part: the arrows lead on as always
    page.keyboard.press("ArrowRight")
    assert shown(page) != text
    page.keyboard.press("ArrowLeft")
    assert shown(page) == text
    page.locator(".chunk .label").click()
    page.keyboard.press("Tab")
    expect(code).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(code).to_have_js_property("scrollLeft", 40)
    quick_hand(page)  # Chromium takes no way back in the instant in which it arrives
    page.keyboard.press("ArrowLeft")
    expect(code).to_have_js_property("scrollLeft", 0)
    assert where_after(page, "End") > 0.9  # the other keys read the chunk
    press(page, "2")
    assert shown(page) != text
    page.keyboard.press("Tab")
    expect(code).to_be_focused()  # that of the next chunk
    press(page, "1")
    all_saved(page, 2)
    with served.store() as store:
        assert sorted(standing(store).values()) == [1, 2]
    page.set_viewport_size(LAPTOP["viewport"])
    expect(code).not_to_have_attribute("tabindex", "0")  # where it fits, Tab goes past it

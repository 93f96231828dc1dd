"""Grading by mouse and by finger: the grades stay at one place, and every press meant counts."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from labeler.model import Chunk, Query, Ranking
from labeler.store import Store
from tests.browser.padpage import (
    LAPTOP,
    PHONE,
    all_saved,
    cut_off,
    library,
    press,
    quick_hand,
    ready,
    shown,
    standing,
)
from tests.browser.server import loaded

pytestmark = pytest.mark.browser

TABLET = {"viewport": {"width": 1024, "height": 768}}
TERSE = {"words": ("no", "weak", "part", "full"), "meanings": ("none", "little", "some", "all")}
TEN = "Ten signs."
LONG = "A parcel that comes back within thirty days is paid. " * 370  # what is longer is read on


@pytest.fixture
def motley(tmp_path) -> Path:
    """Make a golden set of short and long chunks, with and without title, help and context."""
    path = tmp_path / "motley.db"
    texts = [TEN, LONG, "```\ncode\n```", TEN, LONG]
    with Store(path, create=True) as store:
        store.queries.load(
            loaded(
                [
                    Query("q0", "Paid back?"),
                    Query(
                        "q1",
                        "When is a parcel paid back that came late? " * 12,
                        reference="Within thirty days. " * 30,
                        guideline="Only days count. " * 40,
                    ),
                ]
            )
        )
        store.chunks.load(
            loaded(
                [
                    Chunk(
                        f"c{n}", text, f"A title {n} " * n or None, (n % 2 and "handbook") or None
                    )
                    for n, text in enumerate(texts)
                ]
            )
        )
        ids = tuple(f"c{n}" for n in range(len(texts)))
        store.runs.load(loaded([Ranking("q0", ids), Ranking("q1", ids)]), name="one")
    return path


def places(page: Page) -> list[tuple[float, ...]]:
    """Return where each grade button is, and how large."""
    boxes = [button.bounding_box() for button in page.locator(".grades button").all()]
    return [tuple(round(box[side], 1) for side in ("x", "y", "width", "height")) for box in boxes]


def grade_button(page: Page, grade: int) -> Locator:
    return page.locator(".grades button").nth(grade)


def listed(page: Page) -> Locator:
    """Open the list of the query on screen, which has eight chunks; return its rows."""
    ready(page)
    press(page, "b")
    rows = page.locator(".whole .row")
    expect(rows).to_have_count(8)
    return rows


def middle(button: Locator) -> tuple[float, float]:
    box = button.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


@pytest.mark.parametrize(
    ("device", "settings"),
    [
        (PHONE, {}),
        pytest.param(TABLET, {}, marks=pytest.mark.slow),
        pytest.param(LAPTOP, {}, marks=pytest.mark.slow),
        pytest.param(LAPTOP, TERSE, marks=pytest.mark.slow),
    ],
    ids=["phone", "tablet", "laptop", "terse"],
)
def test_the_grades_stay_at_one_place_whatever_is_read(serve, visit, motley, device, settings):
    with Store(motley) as store:
        store.settings.save(replace(store.settings.read(), **settings))
    page = visit(serve(motley).url, **device)
    expect(page.locator(".chunk .text")).not_to_be_empty()
    page.wait_for_timeout(500)  # what Streamlit puts above has come
    seen = [places(page)]
    texts = set()
    for _ in range(9):
        texts.add(shown(page))
        press(page, "2")
        seen.append(places(page))
    assert {TEN, LONG} < texts
    press(page, "b")
    expect(page.locator(".whole .row")).to_have_count(5)
    for key in "kkj":
        seen.append(places(page))
        press(page, key)
    page.keyboard.press("Escape")
    cut_off(page)
    press(page, "x3u")
    seen.append(places(page))  # with two lines beside the grades
    press(page, "k3")
    expect(page.locator(".status .state")).to_contain_text("offline")
    seen.append(places(page))
    assert seen == [seen[0]] * len(seen)
    height = device["viewport"]["height"]
    assert all(y + tall <= height for _, y, _, tall in seen[0])


def test_twenty_clicks_of_a_resting_mouse_are_twenty_grades(serve, visit, tmp_path):
    served = serve(library(tmp_path / "library.db"))
    page = visit(served.url)
    ready(page)
    page.mouse.move(*middle(grade_button(page, 2)))
    seen = []
    for number in range(20):
        seen.append((page.locator(".query-text").text_content(), shown(page)))
        page.mouse.down(click_count=number + 1)  # as a browser counts clicks at one place
        page.mouse.up(click_count=number + 1)
        quick_hand(page)
    all_saved(page, 20)
    assert len(set(seen)) == 20
    with served.store() as store:
        assert list(standing(store).values()) == [2] * 20


def test_a_press_meant_for_the_chunk_before_grades_nothing_and_says_so(serve, visit, tmp_path):
    served = serve(library(tmp_path / "library.db"))
    page = visit(served.url)
    ready(page)
    texts = grade_button(page, 1).evaluate(
        """async button => {
            const text = button.getRootNode().querySelector(".chunk .text");
            const seen = [text.textContent];
            const press = detail => {
                button.dispatchEvent(new MouseEvent("click", {detail, bubbles: true}));
                seen.push(text.textContent);
            };
            press(1);
            press(2);
            for (let i = 0; i < 3; i++) await new Promise(requestAnimationFrame);
            press(3);
            return seen;
        }"""
    )
    assert texts[0] != texts[1] == texts[2] == texts[3]
    expect(page.locator(".said")).to_have_text(
        "That click came as the passage changed and was ignored"
    )
    expect(page.locator(".announce")).to_contain_text(re.compile("came as the passage|saved"))
    quick_hand(page)
    grade_button(page, 3).click()
    all_saved(page, 2)
    press(page, "12")  # keys do not wait
    all_saved(page, 4)
    with served.store() as store:
        assert sorted(standing(store).values()) == [1, 1, 2, 3]


def test_in_a_list_the_same_row_of_grades_grades_the_current_one(serve, visit, tmp_path):
    served = serve(library(tmp_path / "library.db", queries=1))
    page = visit(served.url)
    rows = listed(page)
    page.mouse.move(*middle(grade_button(page, 1)))
    for number in range(8):
        expect(rows.nth(number)).to_have_class(re.compile("current"))
        page.mouse.down(click_count=number + 1)
        page.mouse.up(click_count=number + 1)
        quick_hand(page)
    expect(page.locator(".whole .progress")).to_have_text("all 8 graded by you")
    page.mouse.down()
    page.mouse.up()  # nothing is current any more
    rows.nth(3).locator(".open").click()
    expect(grade_button(page, 1)).to_have_attribute("aria-pressed", "true")
    grade_button(page, 3).click()
    rows.nth(6).get_by_role("button", name="0, not relevant").click()
    all_saved(page, 8)
    with served.store() as store:
        assert sorted(standing(store).values()) == [0, 1, 1, 1, 1, 1, 1, 3]


@pytest.mark.slow
def test_a_press_anywhere_on_a_row_opens_it(serve, visit, tmp_path):
    page = visit(serve(library(tmp_path / "library.db", queries=1)).url)
    rows = listed(page)
    for number, part in ((3, ".badge"), (5, ".snippet"), (6, ".badge"), (2, ".top")):
        rows.nth(number).locator(part).click()
        expect(rows.nth(number)).to_have_class(re.compile("current"))
    box = rows.nth(4).bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + 2)
    expect(rows.nth(4)).to_have_class(re.compile("current"))


@pytest.mark.slow
def test_a_row_that_moves_away_under_a_press_is_the_one_that_is_graded(serve, visit, tmp_path):
    served = serve(library(tmp_path / "library.db", queries=1))
    page = visit(served.url)
    rows = listed(page)
    title = rows.nth(5).locator(".name").text_content()
    page.mouse.move(*middle(rows.nth(5).locator(".open")))
    page.mouse.down()
    rows.nth(0).evaluate("row => { row.style.paddingTop = '200px'; }")
    page.mouse.up()
    expect(rows.nth(5)).to_have_class(re.compile("current"))
    page.keyboard.press("2")
    all_saved(page, 1)
    with served.store() as store:
        assert list(standing(store)) == [("q0", title.removeprefix("Title "))]


@pytest.mark.slow
def test_a_press_that_is_drawn_to_another_row_opens_neither(serve, visit, tmp_path):
    page = visit(serve(library(tmp_path / "library.db", queries=1)).url)
    rows = listed(page)
    page.mouse.move(*middle(rows.nth(5)))
    page.mouse.down()
    page.mouse.move(*middle(rows.nth(6)))
    page.mouse.up()
    expect(rows.nth(0)).to_have_class(re.compile("current"))


def test_undo_and_back_count_as_often_as_they_are_pressed(serve, visit, tmp_path):
    served = serve(library(tmp_path / "library.db"))
    page = visit(served.url)
    ready(page)
    first = shown(page)
    press(page, "0123")
    for name, saved in (("U undo", 0), ("⇧ U redo", 4), ("K previous", 4)):
        page.mouse.move(*middle(page.get_by_role("button", name=name)))
        for number in range(4):
            quick_hand(page)
            page.mouse.down(click_count=number + 1)
            page.mouse.up(click_count=number + 1)
        all_saved(page, saved)
    assert shown(page) == first
    with served.store() as store:
        assert sorted(standing(store).values()) == [0, 1, 2, 3]


@pytest.mark.slow
def test_the_button_under_the_pointer_never_looks_chosen(serve, visit, tmp_path):
    served = serve(library(tmp_path / "library.db"))
    page = visit(served.url)
    ready(page)
    look = """button => {
        const style = getComputedStyle(button);
        return [style.borderTopColor, style.boxShadow, getComputedStyle(button, "::after").content];
    }"""
    button = grade_button(page, 2)
    rest = grade_button(page, 1).evaluate(look)
    button.hover()
    assert button.get_attribute("aria-pressed") == "false"
    assert button.evaluate(look) == rest
    button.click()
    assert button.get_attribute("aria-pressed") == "false"  # the next chunk has no grade
    assert button.evaluate(look) == rest
    press(page, "k")
    expect(button).to_have_attribute("aria-pressed", "true")
    chosen = button.evaluate(look)
    assert not set(chosen) & set(rest)
    assert chosen[-1] == '"✓"'


@pytest.mark.parametrize(
    "device", [PHONE, pytest.param(LAPTOP, marks=pytest.mark.slow)], ids=["phone", "laptop"]
)
def test_the_grade_just_given_is_said_beside_the_buttons(serve, visit, tmp_path, device):
    served = serve(library(tmp_path / "library.db", chunks=2))
    page = visit(served.url, **device)
    ready(page)
    query = page.locator(".query-text").text_content()
    expect(page.locator(".chunk .news")).to_have_text("New question · 2 for you")
    grade_button(page, 2).click()
    said, undo = page.locator(".said"), page.locator(".steps [data-act=undo]")
    expect(said).to_have_text("You gave 2 partly relevant")
    expect(page.locator(".chunk .news")).to_be_hidden()
    for part in (said, undo):
        expect(part).to_be_in_viewport(ratio=1)
        box, grades = part.bounding_box(), page.locator(".grades").bounding_box()
        above = grades["y"] - (box["y"] + box["height"])
        below = box["y"] - (grades["y"] + grades["height"])
        assert 0 <= above < 60 or 0 <= below < 100
    undo.click()
    expect(said).to_have_text("Undone (was 2 partly relevant)")
    all_saved(page, 0)
    press(page, "3")
    quick_hand(page)
    grade_button(page, 1).click()
    expect(page.locator(".query-text")).not_to_have_text(query)
    expect(page.locator(".chunk .news")).to_be_visible()
    expect(page.locator(".one")).to_have_class(re.compile("fresh"))


@pytest.mark.slow
def test_a_new_query_is_told_to_a_screen_reader(serve, visit, tmp_path):
    page = visit(serve(library(tmp_path / "library.db", chunks=1)).url)
    ready(page)
    page.locator(".announce").evaluate(
        """announce => {
            window.told = [];
            new MutationObserver(() => window.told.push(announce.textContent))
                .observe(announce, {childList: true, characterData: true, subtree: true});
        }"""
    )
    press(page, "2")
    query = page.locator(".query-text").text_content()
    all_saved(page, 1)
    assert f"New question: {query}" in page.evaluate("window.told")
    assert page.locator(".announce").get_attribute("aria-live") == "polite"


SMALL = """pad => {
    const found = [];
    for (const button of pad.querySelectorAll("button, a, input")) {
        const {width, height} = button.getBoundingClientRect();
        if (!width || getComputedStyle(button).visibility === "hidden") continue;
        if (width < 43.9 || height < 43.9) found.push([button.textContent, width, height]);
    }
    return found;
}"""
KEYCAPS = """pad => [...pad.querySelectorAll("kbd")]
    .filter(cap => cap.getBoundingClientRect().width)
    .filter(cap => getComputedStyle(cap).borderTopWidth !== "0px")
    .map(cap => cap.closest("button, span").textContent)"""


def test_a_finger_finds_large_buttons_and_no_keys(serve, visit, tmp_path):
    served = serve(library(tmp_path / "library.db", queries=1, guideline="Be strict. " * 40))
    page = visit(served.url, **PHONE)
    ready(page)
    pad = page.locator(".pad")

    def fits() -> None:
        assert pad.evaluate(SMALL) == []
        assert pad.evaluate(KEYCAPS) == []

    fits()
    assert page.locator(".chunk").bounding_box()["height"] >= 844 / 2
    pages = ["Label", "Scores", "Compare", "Slices", "Queries", "Review", "Data"]
    links = [page.get_by_role("link", name=name, exact=True) for name in pages]
    tops = [link.bounding_box()["y"] for link in links]
    assert len(set(tops)) == 1
    expect(page.locator(".actions")).to_be_hidden()
    page.get_by_role("button", name="can’t tell").tap()
    fits()
    page.locator(".tray").get_by_role("button", name="cancel").tap()
    for name in ("note", "all passages"):
        page.get_by_role("button", name="More").tap()
        expect(page.locator(".actions")).to_be_in_viewport(ratio=1)
        fits()
        page.locator(".actions button", has_text=name).tap()
        expect(page.locator(".actions")).to_be_hidden()
        fits()
        if page.locator(".tray").is_visible():
            page.locator(".tray").get_by_role("button", name="close").tap()
    expect(page.locator(".whole .row")).to_have_count(8)
    fits()
    page.get_by_role("button", name="one passage at a time").tap()
    ready(page)
    page.get_by_role("button", name="More").tap()
    grade_button(page, 2).tap()
    expect(page.locator(".actions")).to_be_hidden()
    all_saved(page, 1)

"""Label where there is little room or no keyboard: phones, zoomed pages, and a panel beside."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from labeler.model import Chunk, Query, Ranking
from labeler.store import Store
from tests.browser.padpage import LAPTOP, PHONE, all_saved, library, press, ready
from tests.browser.server import loaded

pytestmark = pytest.mark.browser

ON_ITS_SIDE = {
    "viewport": {"width": 844, "height": 390},
    "has_touch": True,
    "is_mobile": True,
}
ZOOMED = {"viewport": {"width": 720, "height": 450}}
LOW = pytest.mark.parametrize("device", [ON_ITS_SIDE, ZOOMED], ids=["on its side", "zoomed"])
PLAIN = "Grade what the passage says.\nNothing else counts.\nRead it whole.\nThen give a grade."


@LOW
def test_a_low_window_shows_beside_the_passage_what_helps(serve, visit, tmp_path, device):
    served = serve(library(tmp_path / "library.db", guideline=PLAIN))
    page = visit(served.url, **device)
    ready(page)
    for each in (".reference", ".guideline"):
        expect(page.locator(f".query {each}")).to_be_visible()
    page.locator(".query").evaluate("place => { place.scrollTop = place.scrollHeight; }")
    expect(page.get_by_text("Then give a grade.")).to_be_in_viewport()


@pytest.mark.parametrize(
    ("width", "height", "has_meanings"),
    [(667, 330, True), (640, 340, True), (568, 320, False)],
    ids=["phone with its bars", "zoomed further", "smallest phone"],
)
def test_a_low_window_has_the_meanings_where_they_leave_room_to_read(
    serve, visit, tmp_path, width, height, has_meanings
):
    size = {"viewport": {"width": width, "height": height}}
    page = visit(serve(library(tmp_path / "library.db")).url, **ON_ITS_SIDE | size)
    ready(page)
    card = page.locator(".chunk").bounding_box()
    buttons = page.locator(".grades button").all()
    for button in buttons:
        expect(button).to_be_in_viewport(ratio=1)
        expect(button.locator(".meaning")).to_be_visible(visible=has_meanings)
    tops = {button.bounding_box()["y"] for button in buttons}
    assert len(tops) == 1, "the grades are one row"
    assert card["height"] > 120
    assert card["y"] + card["height"] <= tops.pop()


@LOW
def test_a_low_window_shows_what_is_to_be_pressed_first(serve, visit, tmp_path, device):
    served = serve(library(tmp_path / "library.db"))
    page = visit(served.url, newcomer=True, **device)
    start = page.get_by_role("button", name="Start grading")
    expect(start).to_be_in_viewport(ratio=1)
    assert start.evaluate(
        """button => {
            const { x, y, width, height } = button.getBoundingClientRect();
            const there = button.getRootNode().elementFromPoint(x + width / 2, y + height / 2);
            return button.contains(there);
        }"""
    ), "nothing covers it"


def test_a_guideline_is_cut_between_two_lines(serve, visit, tmp_path):
    served = serve(library(tmp_path / "library.db", guideline=PLAIN))
    page = visit(served.url, **LAPTOP)
    ready(page)
    expect(page.locator(".more-help")).to_be_visible()
    lines = page.locator(".helps").evaluate(
        """host => host.clientHeight / Number.parseFloat(
            getComputedStyle(host.querySelector("dl")).lineHeight
        )"""
    )
    assert lines == pytest.approx(round(lines), abs=0.02)


def test_a_phone_shows_no_rule_where_nothing_helps(serve, visit, tmp_path):
    path = tmp_path / "bare.db"
    with Store(path, create=True) as store:
        store.queries.load(loaded([Query("q1", "How long?")]))
        store.chunks.load(loaded([Chunk("c1", "This is the text of c1.")]))
        store.runs.load(loaded([Ranking("q1", ("c1",))]), name="bm25")
    page = visit(serve(path).url, **PHONE)
    ready(page)
    expect(page.locator(".chunk .helps")).to_be_hidden()


# Without a keyboard ------------------------------------------------------------------------------


def open_more(page: Page, name: str) -> None:
    page.get_by_role("button", name="More").tap()
    page.locator(".actions").get_by_role("button", name=name).tap()


def test_who_has_no_keyboard_is_told_of_no_keys(serve, visit, tmp_path):
    served = serve(library(tmp_path / "library.db"))
    page = visit(served.url, **PHONE)
    ready(page)
    page.get_by_role("button", name="More").tap()
    actions = page.locator(".actions")
    expect(actions.get_by_role("button", name="how to grade")).to_be_visible()
    expect(actions.get_by_role("button", name="all keys")).to_be_hidden()
    actions.get_by_role("button", name="note").tap()
    expect(page.get_by_placeholder("Write a note")).to_be_visible()
    page.locator(".tray").get_by_role("button", name="discard").tap()
    page.get_by_role("button", name="can’t tell").tap()
    reason = page.get_by_role("textbox", name="Other reason")
    expect(reason).to_have_attribute("placeholder", "")
    reason.fill("a scan")
    page.locator(".tray").get_by_role("button", name="OK", exact=True).tap()
    expect(page.locator(".said")).to_contain_text("can’t tell: a scan")
    all_saved(page, 1)
    with served.store() as store:
        assert [event.reason for event in store.judgments.log()] == ["a scan"]


@pytest.mark.parametrize("device", [PHONE, ON_ITS_SIDE], ids=["upright", "on its side"])
def test_a_list_on_a_phone_is_graded_by_one_set_of_grades(serve, visit, tmp_path, device):
    page = visit(serve(library(tmp_path / "library.db")).url, **device)
    ready(page)
    open_more(page, "all passages")
    row = page.locator(".whole .row.current")
    expect(row).to_be_visible()
    expect(page.locator(".whole .row .marks").first).to_be_hidden()
    page.locator(".grades button").nth(2).tap()
    all_saved(page, 1)


# With one ----------------------------------------------------------------------------------------


def test_a_question_problem_moves_nothing_on_a_laptop(serve, visit, tmp_path):
    served = serve(library(tmp_path / "library.db", guideline=PLAIN))
    page = visit(served.url, **LAPTOP)
    ready(page)
    places = [page.locator(each) for each in (".helps", ".chunk")]
    before = [place.bounding_box() for place in places]
    press(page, "q")
    expect(page.get_by_role("group", name="About the whole question")).to_be_visible()
    assert [place.bounding_box() for place in places] == before
    page.keyboard.press("1")
    expect(page.locator(".said")).to_contain_text("You said")


def test_a_lead_without_texts_is_led_to_load_them_and_welcomed_to_nothing(serve, visit, tmp_path):
    path = tmp_path / "bare.db"
    with Store(path, create=True) as store:
        store.queries.load(loaded([Query("q1", "How long?")]))
        store.runs.load(loaded([Ranking("q1", ("c1", "c2"))]), name="bm25")
    page = visit(serve(path).url, newcomer=True, **LAPTOP)
    expect(page.get_by_role("heading", name="No passage can be read yet")).to_be_visible()
    expect(page.get_by_text("The texts of 2 passages haven’t been added yet.")).to_be_visible()
    expect(page.get_by_text("Please tell")).to_be_hidden()
    expect(page.get_by_role("region", name="Welcome")).to_be_hidden()
    page.get_by_role("link", name="Load the texts").click()
    page.wait_for_url("**/data**")

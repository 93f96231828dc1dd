"""Where things stand on a laptop's screen, for the eye, for keys alone, and within one bucket."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from labeler.model import Chunk
from labeler.store import Store
from tests.browser.padpage import (
    LAPTOP,
    PHONE,
    WORDS_150,
    all_saved,
    cut_off,
    library,
    press,
    ready,
)
from tests.browser.server import loaded
from tests.browser.still import follow

pytestmark = pytest.mark.browser

LONGEST_LINE = """host => {
    let longest = 0;
    const texts = document.createTreeWalker(host, NodeFilter.SHOW_TEXT);
    for (let node = texts.nextNode(); node; node = texts.nextNode()) {
        const range = document.createRange();
        const counts = new Map();
        for (let i = 0; i < node.textContent.length; i++) {
            range.setStart(node, i);
            range.setEnd(node, i + 1);
            const top = Math.round(range.getBoundingClientRect().top);
            counts.set(top, (counts.get(top) ?? 0) + 1);
        }
        longest = Math.max(longest, ...counts.values());
    }
    return longest;
}"""
# A window that was made smaller lays its page out more than once.
AT_REST = """host => new Promise(done => {
    let last = null, frames = 0;
    const look = () => {
        const { top } = host.getBoundingClientRect();
        frames = top === last ? frames + 1 : 0;
        last = top;
        if (frames === 12) done(); else requestAnimationFrame(look);
    };
    look();
})"""


def test_a_chunk_of_150_words_needs_no_scrolling_on_a_laptop(serve, visit, tmp_path):
    path = library(tmp_path / "library.db", queries=1, chunks=2, guideline="Be strict. " * 12)
    with Store(path) as store:
        text = f"This is the text. {WORDS_150}"
        chunks = [Chunk(f"c{n}", text, f"A title {n}", "handbook", n) for n in range(2)]
        store.chunks.load(loaded(chunks), update=True)
    page = visit(serve(path).url)
    for width, height in ((1280, 720), (1366, 768)):
        page.set_viewport_size({"width": width, "height": height})
        ready(page)
        for part in (".query-text", ".chunk .title", ".chunk .text", ".status", ".actions"):
            expect(page.locator(part)).to_be_in_viewport(ratio=1)
        for part in (".guideline dd", ".reference dd"):
            expect(page.locator(part)).to_be_in_viewport()
        for button in page.locator(".grades button").all():
            expect(button).to_be_in_viewport(ratio=1)
        scrolled = page.evaluate(
            "() => { const m = document.querySelector('[data-testid=stMain]');"
            " return m.scrollHeight - m.clientHeight; }"
        )
        assert scrolled <= 48  # nothing but the page's own margin below
        assert 60 < page.locator(".chunk .text").evaluate(LONGEST_LINE) < 80


def test_the_card_is_as_tall_as_its_text_up_to_the_room_there_is(serve, visit, tmp_path):
    path = library(tmp_path / "library.db", queries=1, chunks=3)
    with Store(path) as store:
        lines = "\n".join(f"This is the text, line {n}." for n in range(200))
        texts = ("This is the text, short.", "This is the text.\n" * 16, lines)
        chunks = [Chunk(f"c{n}", text, None, "handbook", n) for n, text in enumerate(texts)]
        store.chunks.load(loaded(chunks), update=True)
    page = visit(serve(path).url, **LAPTOP)
    ready(page)
    heights, grades = {}, set()
    for _ in texts:
        card, room, text = (
            page.locator(each).bounding_box() for each in (".chunk", ".work", ".chunk .text")
        )
        heights[round(text["height"])] = (card["height"], room["height"])
        grades.add(page.locator(".grades").bounding_box()["y"])
        press(page, "j")
    (short, room), (longer, _), (longest, _) = (heights[each] for each in sorted(heights))
    assert short < longer < longest == room
    assert len(grades) == 1


@pytest.mark.slow
def test_the_grades_stay_where_they_are_when_a_list_opens(serve, visit, tmp_path):
    page = visit(serve(library(tmp_path / "library.db")).url)
    for width, height in ((1440, 900), (1280, 720), (1024, 768), (390, 844)):
        page.set_viewport_size({"width": width, "height": height})
        ready(page)
        page.locator(".grades").evaluate(AT_REST)
        place = page.locator(".grades").bounding_box()
        press(page, "b")
        expect(page.locator("section.whole li").first).to_be_visible()
        assert page.locator(".grades").bounding_box() == place, width
        press(page, "b")


@pytest.mark.slow
def test_a_phone_on_its_side_shows_what_is_graded_and_the_grades(serve, browser, visit, tmp_path):
    size = {"width": 844, "height": 390}
    context = browser.new_context(viewport=size, has_touch=True, is_mobile=True)
    page = visit(serve(library(tmp_path / "library.db")).url, context=context)
    ready(page)
    chunk, grades = (page.locator(each).bounding_box() for each in (".chunk", ".grades"))
    assert chunk["height"] > 200
    assert chunk["y"] + chunk["height"] <= grades["y"]
    assert grades["y"] + grades["height"] <= size["height"]
    expect(page.get_by_role("button", name="can’t tell")).to_be_in_viewport(ratio=1)
    page.get_by_role("button", name="More").tap()
    expect(page.get_by_role("button", name="how to grade")).to_be_in_viewport()
    context.close()


@pytest.mark.parametrize(
    "device", [PHONE, pytest.param(LAPTOP, marks=pytest.mark.slow)], ids=["phone", "laptop"]
)
def test_what_was_given_or_taken_back_moves_no_grade(serve, visit, tmp_path, device):
    page = visit(serve(library(tmp_path / "library.db")).url, **device)
    ready(page)
    for width in (390,) if device is PHONE else (700, 1024, 1440):
        page.set_viewport_size({"width": width, "height": 800})
        grades = page.locator(".grades button")
        places = [each.bounding_box() for each in grades.all()]
        assert max(place["x"] + place["width"] for place in places) <= width
        for key, said in (("2", ""), ("k", "You gave 2"), ("u", "Undone"), ("Shift+u", "")):
            page.keyboard.press(key)
            expect(page.locator(".said")).to_contain_text(said)
            found = [each.bounding_box() for each in grades.all()]
            assert found == places, f"after {key}, {width} wide"


def test_everything_is_reached_and_seen_by_keyboard_alone(serve, visit, tmp_path):
    served = serve(library(tmp_path / "library.db"))
    page = visit(served.url)
    ready(page)
    page.get_by_role("button", name="2 partly relevant").focus()
    seen = []
    for _ in range(16):
        seen.append(
            page.evaluate(
                """() => {
                    let at = document.activeElement;
                    while (at.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
                    const outline = getComputedStyle(at).outlineStyle;
                    return [at.textContent.trim(), outline];
                }"""
            )
        )
        page.keyboard.press("Tab")
    words = [text for text, _ in seen]
    for hint in ("K previous", "X can’t tell", "N note", "B all passages", "? all keys"):
        assert hint in words
    of_the_pad = seen[: words.index("? all keys") + 1]
    assert [text for text, outline in of_the_pad if outline != "solid"] == []
    page.get_by_role("button", name="X can’t tell").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="1 needs more context")).to_be_focused()
    page.keyboard.press("Enter")
    all_saved(page, 1)
    expect(page.get_by_role("button", name="U undo")).to_be_enabled()
    expect(page.get_by_role("button", name="X can’t tell")).to_be_focused()
    page.get_by_role("button", name="N note").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("textbox", name="Note")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="N note")).to_be_focused()
    with served.store() as store:
        assert [event.reason for event in store.judgments.log()] == ["needs more context"]


@pytest.mark.slow
def test_an_address_confines_grading_to_one_bucket(serve, visit, tmp_path):
    served = serve(library(tmp_path / "library.db", queries=4))
    for address in ("?facet=intent&bucket=refund", "?intent=refund"):
        page = visit(f"{served.url}/{address}")
        ready(page)
        expect(page.locator(".confined")).to_contain_text("only intent = refund")
        expect(page.locator(".overall")).to_have_text(re.compile("question . of 2"))
        assert page.locator(".query-text").text_content()[15] in "02"
        page.get_by_role("link", name="all questions").click()
        ready(page)
        expect(page.locator(".overall")).to_have_text(re.compile("question . of 4"))
        expect(page.locator(".confined")).to_be_hidden()


@pytest.mark.slow
def test_a_lead_chooses_a_split_and_what_waits_is_not_lost(serve, visit, tmp_path):
    path = library(tmp_path / "library.db", queries=4)
    with Store(path) as store:
        store.splits.assign({"q1": "dev", "q2": "test", "q3": "test"}, {})
    served = serve(path)
    page = visit(served.url)
    ready(page)
    cut_off(page)
    press(page, "2")
    expect(page.locator(".status .state")).to_contain_text("1 kept")
    page.on("dialog", lambda dialog: dialog.accept())  # it asks before it leaves what waits
    box = page.get_by_role("combobox", name="Which split to grade")
    box.select_option("test")
    page.wait_for_url("**split=test*")
    page.unroute_all()
    all_saved(page, 1)
    ready(page)
    expect(box).to_have_value("test")
    expect(page.locator(".confined")).to_be_hidden()
    expect(page.locator(".overall")).to_have_text(re.compile("question . of 2"))
    assert page.locator(".query-text").text_content()[15] in "23"
    box.press("1")
    all_saved(page, 1)
    follow(page, f"{page.url}&intent=refund")
    expect(page.locator(".only")).to_have_text("only intent = refund")
    expect(page.locator(".overall")).to_have_text("question 1 of 1")
    page.get_by_role("link", name="all questions").click()
    ready(page)
    expect(page.locator(".overall")).to_have_text(re.compile("question . of 4"))
    assert "split" not in page.url


@pytest.mark.slow
def test_a_bucket_that_is_not_there_is_said(serve, visit, tmp_path):
    served = serve(library(tmp_path / "library.db"))
    page = visit(served.url)
    for address, said in (
        ("?facet=inten&bucket=refund", "no facet is called 'inten'; there are: intent"),
        ("?facet=intent&bucket=refnud", "no bucket of intent is called 'refnud'"),
        ("?intent=refnud", "no bucket of intent is called 'refnud'"),
        ("?bucket=refund", "names the bucket 'refund', but not of which facet"),
    ):
        ready(page)
        follow(page, f"{served.url}/{address}")
        expect(page.get_by_text(said)).to_be_visible()
        expect(page.locator(".chunk")).to_have_count(0)
        page.get_by_role("button", name="Go on without it").click()
    ready(page)

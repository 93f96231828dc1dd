"""What a transfer leaves open: from Data to Label, where a key or a tap takes what was given."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from labeler.cli.demo_data import build_demo
from labeler.model import Chunk, Document, Judgment, Ranking
from labeler.store import Store
from tests.browser.modules import page_with
from tests.browser.padpage import PHONE, all_saved, press, quick_hand
from tests.browser.server import loaded
from tests.browser.still import stand_still
from tests.browser.test_accessibility import CONTRAST, violations
from tests.services.test_transfer_pool import AT, FEES, OLD, fill

pytestmark = pytest.mark.browser

LEFT = "passages the new version (v2) left ungraded"
OPEN = "/?from=default&to=v2"
HOSTILE = "<img src=x onerror=alert(1)> *Zoë* 👩‍🏫"
LONG = "\n\n".join(f"Paragraph {n} tells of what nobody asked for, at length." for n in range(400))
RISE = "Fees 👩‍🏫 rise in June."


@pytest.fixture
def cut_anew(tmp_path: Path) -> Path:
    """Two chunks that two people graded, and what they were cut into; one of it is very long."""
    path = tmp_path / "cut.db"
    with Store(path, create=True) as store:
        fill(store, loaded)
        store.people.add(HOSTILE)
        second = (AT[0][0] + 4, AT[0][1] + 12), (len(FEES) + 20, len(OLD[0].text or ""))
        day = {"created_at": "2026-03-09T10:00:00.000Z"}
        store.judgments.add(Judgment("h1", "q1", "1", HOSTILE, grade=3, evidence=second, **day))
        store.documents.load(loaded([Document("f", f"{LONG} {RISE} {LONG}")]))
        store.chunks.load(loaded([Chunk("7", f"{LONG} {RISE}", None, "f")]))
        at = len(LONG) + 1
        passage = (at, at + len(RISE))
        store.judgments.add(Judgment("h2", "q1", "7", "Ana", grade=2, evidence=(passage,), **day))
        cut = Chunk("7", f"{LONG[500:]} {RISE} {LONG[:3000]}", "A long one", "f")
        store.chunks.load(loaded([cut]), chunking="v2", update=True)
        store.runs.load(loaded([Ranking("q2", ("7",))]), name="long", chunking="v2")
        store.judgments.add(Judgment("h3", "q2", "7", "Ana", grade=3, evidence=(passage,), **day))
    return path


def before(page: Page) -> list[str]:
    """Return the passages that are shown as marked before, each with the signs in front of it."""
    return page.locator(".chunk .text").evaluate(
        """text => {
            const found = [];
            for (const mark of text.querySelectorAll("mark.before")) {
                if (mark.classList.contains("begins")) found.push(`${mark.dataset.sign}:`);
                found[found.length - 1] += mark.textContent;
            }
            return found;
        }"""
    )


def own(page: Page) -> str:
    """Return what is shown as marked by oneself."""
    marks = page.locator(".chunk .text mark.evidence").all_text_contents()
    return "".join(marks)


def test_from_the_carry_over_one_key_takes_what_was_given_before(serve, visit, tmp_path):
    path = tmp_path / "demo.db"
    build_demo(path, rechunked=True)
    served = serve(path)
    page = visit(f"{served.url}/data?section=Carry+over")
    page.get_by_role("button", name="Preview").click()
    page.get_by_role("button", name="Transfer 546 grades").click()
    expect(page.get_by_text("546 grades transferred from")).to_be_visible()
    stand_still(page).get_by_role("link", name="Grade the rest").click()
    take, marked = page.locator(".take button"), page.locator(".chunk .text mark.before")
    expect(take).to_have_text("Y take 2 partly relevant, with the marks")
    expect(page.locator(".earlier")).to_contain_text("Marit Dahl gave 3 highly relevant on Feb")
    expect(page.get_by_label("What to grade")).to_have_value(LEFT)
    words = "".join(marked.all_text_contents())
    text = page.locator(".chunk .text").text_content()
    assert words in text
    press(page, "y")
    expect(page.locator(".said")).to_have_text("You gave 2 partly relevant · evidence marked")
    all_saved(page, 1)
    press(page, "k")
    assert own(page) == words
    expect(page.locator(".chunk .given")).to_have_text("you gave 2 · partly relevant")
    with served.store() as store:
        event = list(store.judgments.log())[-1]
        [stored] = [store.chunks.get(event.chunk_id).text]
        assert "".join(stored[start:end] for start, end in event.evidence) == words
        assert (event.grade, event.blind) == (2, False)
    press(page, "u")
    expect(page.locator(".said")).to_contain_text("Undone")
    all_saved(page, 0)
    press(page, "1")
    all_saved(page, 1)
    with served.store() as store:
        assert [each.grade for each in store.judgments.log() if each.grader == "Ann"] == [
            2,
            None,
            1,
        ]


@pytest.mark.slow
def test_whose_marks_these_are_is_said_beside_the_text_and_at_each_mark(
    serve, visit, cut_anew: Path
):
    page = visit(f"{serve(cut_anew).url}{OPEN}")
    told = page.locator(".earlier li")
    expect(page.locator(".take button")).to_be_visible()
    seen: dict[str, tuple[list[str], list[str]]] = {}
    for _ in range(3):
        text = page.locator(".chunk .text").text_content()
        seen[text] = before(page), told.all_text_contents()
        press(page, "j")
    marks, lines = seen[FEES]
    assert marks == ["²:due ", "¹²:in May 👩‍🏫", "¹:, and are ta"]
    assert lines == [
        f"¹ {HOSTILE} gave 3 highly relevant on Mar 9, 2026 for the words marked so, and others "
        "that are not in this text",
        "² Ana gave 3 highly relevant on Mar 4, 2026 for the words marked so, and others that are "
        "not in this text",
    ]
    [(marks, lines)] = [each for text, each in seen.items() if text.startswith("transfer")]
    assert marks[0].startswith("²:transfer")
    assert (
        "² Ana gave 3 highly relevant on Mar 4, 2026 for the words marked so, which go on"
        in (lines[1])
    )
    assert page.locator(".chunk img").count() == 0
    press(page, "km")  # the words of the question are painted anew
    assert before(page)
    assert violations(stand_still(page)) == []
    page.emulate_media(color_scheme="dark")
    assert violations(stand_still(page), CONTRAST) == []


@pytest.mark.slow
def test_a_tap_takes_it_and_without_a_likely_grade_the_marks_alone(serve, visit, cut_anew: Path):
    served = serve(cut_anew)
    page = visit(f"{served.url}{OPEN}", **PHONE)
    take = page.locator(".take button")
    for count in (1, 2, 3):
        expect(take).to_contain_text("relevant, with the marks")
        quick_hand(page)  # a tap sooner was meant for what was there before
        take.tap()
        all_saved(page, count)
    expect(page.locator(".chunk .title")).to_have_text("A long one")
    expect(take).to_contain_text("take the marks")
    expect(page.locator(".chunk .text mark.before").first).to_be_in_viewport()
    expect(take).to_be_in_viewport()
    assert before(page) == [f"¹:{RISE}"]
    quick_hand(page)
    take.tap()
    expect(page.locator(".said")).to_have_text("Evidence marked: goes with your grade")
    assert own(page) == RISE
    page.locator(".grades button").nth(1).tap()
    all_saved(page, 4)
    with served.store() as store:
        mine = [each for each in store.judgments.log() if each.grader == "Ann"]
        text = store.chunks.get("v2:7").text
        assert [text[start:end] for start, end in mine[-1].evidence] == [RISE]
        assert [each.grade for each in mine][-1] == 1
        assert {each.blind for each in mine} == {False}


@pytest.mark.slow
def test_nothing_is_taken_where_nothing_was_given(serve, visit, cut_anew: Path):
    served = serve(cut_anew)
    page = visit(served.url)
    expect(page.locator(".chunk .text")).not_to_be_empty()
    press(page, "y")
    expect(page.locator(".said")).to_have_text("Nothing was given here before")
    assert before(page) == []
    page.get_by_label("What to grade").select_option(LEFT)
    page.wait_for_url("**/?from=*&to=v2")
    expect(page.locator(".take")).to_be_visible()
    for _ in range(3):
        press(page, "0")
    all_saved(page, 3)
    with served.store() as store:
        assert {each.evidence for each in store.judgments.log() if each.grader == "Ann"} == {()}
    page.get_by_label("What to grade").select_option("all passages")
    page.wait_for_url("**/")
    expect(page.locator(".take")).to_be_hidden()


@pytest.mark.slow
def test_marks_that_overlap_are_cut_apart_and_taken_as_one(browser: Browser):
    with page_with(browser, "grading/transfer_hint") as page:
        found = page.evaluate(
            """text => {
                const one = { passages: [[0, 3], [6, 9]] }, none = { passages: [] };
                const told = [one, none, { passages: [[2, 7]] }];
                const parts = partsOf({ told }, text);
                return [parts.map(({ start, end, signs }) => [text.slice(start, end), signs]),
                    passagesBefore({ told }), partsOf({ told: [{ passages: [[2, 99]] }] }, text)];
            }""",
            "a👩cdefghijk",
        )
    assert found[0] == [["a👩", "¹"], ["c", "¹²"], ["def", "²"], ["g", "¹²"], ["hi", "¹"]]
    assert found[1:] == [[[0, 9]], []]

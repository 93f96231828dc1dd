"""The grading pages in German: every part of the pad, what a lead has named, and sign-in."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.padpage import LAPTOP, PHONE, library, press, ready

pytestmark = pytest.mark.browser

GERMAN = {"locale": "de-DE"}
# a placeholder that nothing filled, or the key of a sentence that is not there
RAW = re.compile(r"\{\w*\}|\b[a-z_]+\.[a-z_]+_[a-z_]+\b")
TOO_WIDE = """() => [...document.querySelectorAll('.pad *')].filter((each) =>
    each.clientWidth && each.scrollWidth > each.clientWidth + 1 && !each.closest('.chunk .text') &&
    getComputedStyle(each).overflowX === 'hidden' && !each.closest('.announce, .snippet, .name'))
    .map((each) => `${each.className}: ${each.textContent.slice(0, 60)}`)"""


@pytest.fixture(scope="module")
def served(serve_to_all, tmp_path_factory):
    folder = tmp_path_factory.mktemp("library")
    return serve_to_all(library(folder / "library.db", queries=2, chunks=6))


def check(page: Page) -> None:
    """Nothing stands raw, and no word of the pad is cut."""
    assert not RAW.findall(page.locator(".pad").inner_text())
    assert page.evaluate(TOO_WIDE) == []


@pytest.mark.parametrize("device", [LAPTOP, PHONE], ids=["laptop", "phone"])
def test_a_browser_that_asks_for_german_gets_every_part_of_the_pad_in_german(served, visit, device):
    page = visit(served.url, grader=f"Uta {len(device)}", newcomer=True, **device, **GERMAN)
    expect(page.locator(".welcome")).to_contain_text("Willkommen, Uta")
    size = re.compile(r"2 Fragen und \d+ Textstellen: insgesamt etwa 1 Minute")
    expect(page.locator(".welcome")).to_contain_text(size)
    check(page)
    expect(page).to_have_title(re.compile("^Bewerten · "))
    assert page.evaluate("document.documentElement.lang") == "de"
    page.get_by_role("button", name="Beginnen").click()
    ready(page)
    expect(page.locator(".status .progress")).to_have_text("Textstelle 1 von 6")
    expect(page.get_by_role("button", name="3 sehr relevant")).to_be_visible()
    check(page)
    press(page, "2")
    expect(page.locator(".said-line .said")).to_have_text("Zuletzt: 2 teilweise relevant")
    expect(page.locator(".status .state")).to_have_text("1 gespeichert")
    for key, words in (
        ("x", "Warum lässt es sich nicht beurteilen?"),
        ("n", "Notiz: Textstelle"),
        ("q", "Frage insgesamt"),
        ("i", "Bewerten Sie, was im Text steht"),
        ("?", "den letzten Schritt zurücknehmen"),
        ("e", "Satz 1 von 1, nicht markiert"),
        ("b", "1 von 6 bewertet · 5 offen"),
        ("/", "Frage: weitere Textstellen suchen."),
        ("g", "Meine Bewertungen"),
    ):
        page.keyboard.press(key)
        expect(page.locator(".pad")).to_contain_text(words)
        check(page)
        page.keyboard.press("Escape")


def test_other_pages_stay_in_english_and_a_setting_comes_before_the_browser(serve, visit, tmp_path):
    set_ = library(tmp_path / "set.db", queries=1, chunks=2, language="de", passage=("Absatz",) * 2)
    page = visit(serve(set_).url, locale="en-GB")
    ready(page)
    expect(page.locator(".status .progress")).to_have_text("Absatz 1 von 2")
    press(page, "3")
    press(page, "0")
    expect(page.get_by_role("heading", name="Geschafft. Danke, Ann.")).to_be_visible()
    expect(page.locator(".did")).to_have_text("Bewertet: 2 Absatz, 1 Frage.")
    check(page)
    page.get_by_role("link", name="Scores").click()
    expect(page.get_by_role("heading", name="Scores")).to_be_visible()
    assert page.evaluate("document.documentElement.lang") == "en"

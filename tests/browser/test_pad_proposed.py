"""What was proposed for a chunk: on the pad after the grader's own grade, and never before."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.padpage import all_saved, library, press, ready, shown
from tests.support.traffic import propose

pytestmark = pytest.mark.browser

HOSTILE = "<img src=x onerror=alert(1)> *clicks*"


def test_one_quiet_line_says_what_was_proposed_once_the_grade_is_saved(serve, visit, tmp_path):
    path = library(tmp_path / "library.db", queries=1, chunks=4)
    for n in range(4):
        propose(path, "q0", f"c{n}", 1, HOSTILE)
    served = serve(path)
    page = visit(served.url)
    seen = []
    page.on("response", lambda answer: seen.append(answer) if "/api/" in answer.url else None)
    ready(page)
    first, said = shown(page), page.locator(".said")
    assert not any("onerror" in answer.text() for answer in seen)
    place = page.locator(".grades").bounding_box()
    press(page, "3")
    expect(said).to_have_text(f"You gave 3 highly relevant · 1 proposed by {HOSTILE}")
    assert shown(page) != first
    assert page.locator(".grades").bounding_box() == place, "the grades must not move"
    press(page, "x")
    page.keyboard.press("Enter")
    all_saved(page, 2)
    expect(said).not_to_contain_text("proposed")

"""Compare across chunkings in a real browser: lines between texts, and marks that move numbers."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from labeler.model import Judgment
from labeler.store import Store
from tests.support.two_chunkings import recut

pytestmark = pytest.mark.browser

LINES = ".wires path"


@pytest.fixture
def recut_set(tmp_path: Path) -> Path:
    path = tmp_path / "recut.db"
    with Store(path, create=True) as store:
        recut(store)
        store.people.add("Ann")
    return path


def test_lists_are_joined_by_text_in_common_and_follow_what_is_marked(recut_set, serve, visit):
    server = serve(recut_set)
    page = visit(
        f"{server.url}/compare?a=old&b=new&query=q1&by=EvidenceR%401&measure=EvidenceR%401"
    )
    lines = page.locator(LINES)
    expect(lines).to_have_count(4)
    shares = lines.evaluate_all("all => all.map(p => Number(p.style.getPropertyValue('--share')))")
    assert min(shares) > 0.1
    expect(page.get_by_text("A line joins chunks that have text in common")).to_be_visible()
    second = page.locator(".duel .b li.r").nth(1)
    assert "A 1: 20% of it, 50% of that" in (second.locator("a").get_attribute("title") or "")
    second.hover()
    width = "path => getComputedStyle(path).strokeWidth"
    expect(lines.nth(1)).to_have_css("stroke-width", "2.5px")
    assert lines.nth(0).evaluate(width) != "2.5px"

    value = page.locator(".answer .figure")
    expect(value).to_contain_text("to 0.5455")
    with Store(recut_set) as store:
        store.judgments.add(Judgment("e1", "q1", "1", "Ann", grade=3, evidence=((0, 10),)))
    expect(value).to_contain_text("to 0.7619")

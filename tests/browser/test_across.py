"""Compare across chunkings in a real browser: lines between texts, and marks that move numbers."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from labeler.model import Judgment
from labeler.store import Store
from tests.support.two_chunkings import recut

pytestmark = pytest.mark.browser

LINES = ".ranks .lines path"


@pytest.fixture
def recut_set(tmp_path: Path) -> Path:
    path = tmp_path / "recut.db"
    with Store(path, create=True) as store:
        recut(store)
        store.add_grader("Ann")
    return path


def test_lists_are_joined_by_text_in_common_and_follow_what_is_marked(recut_set, serve, visit):
    server = serve(recut_set)
    page = visit(
        f"{server.url}/compare?a=old&b=new&query=q1&by=EvidenceR%401&measure=EvidenceR%401"
    )
    lines = page.locator(LINES)
    expect(lines).to_have_count(4)
    ways = [
        each.split()[0] for each in lines.evaluate_all("all => all.map(p => p.className.baseVal)")
    ]
    assert ways == ["same", "down", "up", "up"]
    expect(page.locator(".ranks .list-a .place").first).to_contain_text("=")
    expect(page.locator(".ranks .key")).to_contain_text("a line: text in common")
    second = page.locator(".ranks .list-b .place").nth(1)
    second.hover()
    expect(page.locator(f"{LINES}.met title")).to_have_text(
        "50% of A 1 and 20% of B 2 is the same text"
    )
    expect(page.locator(".ranks .list-a .place.met")).to_have_count(1)
    assert "A 1: 20% of it, 50% of that" in (second.get_attribute("title") or "")
    shares = page.locator(".ranks .moves td.shares")
    expect(shares).to_have_count(5)
    expect(shares.first).to_contain_text("of it")

    value = page.locator(".compare.one tbody tr", has_text="EvidenceR@1").locator("td").nth(1)
    expect(value).to_have_text("0.5455")
    with Store(recut_set) as store:
        store.judge(Judgment("e1", "q1", "1", "Ann", grade=3, evidence=((0, 10),)))
    expect(value).to_have_text("0.7619")

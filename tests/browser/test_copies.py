"""A passage that a question has twice, graded and decided once by real keys."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from labeler.model import Chunk, GoldenGrade, Loaded, LoadedGolden, Query, Ranking
from labeler.store import Store
from tests.browser.padpage import LAPTOP, PHONE, all_saved, cut_off, let_through
from tests.browser.server import loaded

pytestmark = pytest.mark.browser

TEXTS = {"c1": "Within three days.", "c2": "Within four days.", "c3": "Within three days."}
BOTH = "This passage appears twice; your grade counts for both."


@pytest.fixture
def twice(tmp_path: Path) -> Path:
    path = tmp_path / "twice.db"
    with Store(path, create=True) as store:
        store.queries.load(loaded([Query("q1", "How long does a refund take?")]))
        store.chunks.load(loaded([Chunk(name, text, "Refunds") for name, text in TEXTS.items()]))
        store.runs.load(loaded([Ranking("q1", tuple(TEXTS))]), name="bm25")
    return path


def grades(server) -> dict[str, int]:
    with server.store() as store:
        rows = store.connection.rows(
            "SELECT c.chunk_id, g.grade FROM golden AS g JOIN chunks AS c ON c.id = g.chunk"
        )
    return dict(rows)


def to_the_text(page: Page) -> None:
    """Put the text that appears twice on screen, by keys that grade nothing."""
    expect(page.locator(".chunk .text")).not_to_be_empty()
    if not page.locator(".chunk .copies").is_visible():
        page.keyboard.press("j")
    expect(page.locator(".chunk .copies")).to_have_text(BOTH)


@pytest.mark.parametrize("kind", [LAPTOP, PHONE], ids=["laptop", "phone"])
def test_one_key_grades_both_and_one_takes_it_back(serve, visit, twice, kind):
    server = serve(twice)
    page = visit(server.url, grader="Ann", **kind)
    expect(page.locator(".status .progress")).to_have_text("Passage 1 of 2")
    to_the_text(page)
    place = page.locator(".status .progress").text_content()  # the second where one was skipped
    page.keyboard.press("3")
    expect(page.locator(".status .progress")).to_have_text("Passage 2 of 2")
    all_saved(page, 1)
    assert grades(server) == {"c1": 3, "c3": 3}
    page.keyboard.press("u")
    expect(page.locator(".status .progress")).to_have_text(place)
    all_saved(page, 0)
    assert grades(server) == {}
    page.keyboard.press("b")
    expect(page.locator(".whole .row")).to_have_count(2)
    expect(page.locator(".whole .row .words").filter(has_text="2 copies")).to_have_count(1)
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    page.keyboard.type("three")
    expect(page.locator(".finder .row .words")).to_contain_text("2 copies")


def test_a_grade_that_was_kept_offline_counts_for_both_once_it_is_sent(serve, visit, twice):
    server = serve(twice)
    page = visit(server.url, grader="Ann")
    to_the_text(page)
    cut_off(page)
    page.keyboard.press("2")
    expect(page.locator(".status .state")).to_contain_text("kept")
    let_through(page)
    page.reload()
    expect(page.locator(".status .progress")).to_have_text("Passage 2 of 2")
    all_saved(page, 1)
    assert grades(server) == {"c1": 2, "c3": 2}


def test_a_lead_decides_for_both_chunks_or_for_one(serve, visit, twice):
    with Store(twice) as store:
        given = [GoldenGrade("q1", "c1", 3), GoldenGrade("q1", "c3", 0)]
        parts = [Loaded("grades", part, range(len(part))) for part in ([], given, [])]
        store.golden_loads.add(LoadedGolden(*parts))
    server = serve(twice)
    page = visit(f"{server.url}/review?review=Disagreements", grader="Lea")
    copies = page.locator(".bench .copies")
    expect(copies).to_contain_text("2 chunks have this text, and their golden grades differ:")
    page.locator(".bench .for-which").select_option("c3")
    page.keyboard.press("2")
    expect(copies.locator("li").nth(1)).to_contain_text("decided")
    expect(page.locator(".bench .counts")).to_have_text("1 disagreement, 1 to decide")
    expect(page.locator(".bench .state")).to_contain_text("saved")
    assert grades(server) == {"c1": 3, "c3": 2}
    page.keyboard.press("1")
    expect(page.locator(".bench .counts")).to_have_text("1 disagreement, 0 to decide")
    expect(page.locator(".bench .state")).to_have_text("saved")
    assert grades(server) == {"c1": 1, "c3": 1}
    page.keyboard.press("u")
    expect(page.locator(".bench .counts")).to_have_text("1 disagreement, 1 to decide")
    expect(page.locator(".bench .state")).to_contain_text("saved")
    assert grades(server) == {"c1": 3, "c3": 2}

"""A report opened from a disk by a browser that has no network: nothing is asked for, all drawn."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from playwright.sync_api import Browser, expect

from labeler.cli import main
from labeler.model import Chunk, GoldenGrade, LoadedGolden, Query, Ranking
from labeler.store import Store
from tests.support.page import loaded

pytestmark = pytest.mark.browser

NAME = "</script><img src=http://evil.example/x.png onerror='window.ran = 1'>"
HOSTILE = f"{NAME}\u2028"


@pytest.fixture
def report(tmp_path: Path) -> Path:
    """Write a report of two runs whose names, queries and buckets are as hostile as can be."""
    path = tmp_path / "golden.db"
    with Store(path, create=True) as store:
        queries = [Query(f"q{n}", f"{HOSTILE} {n}", buckets={"intent": NAME}) for n in range(12)]
        store.queries.load(loaded(queries))
        store.chunks.load(loaded([Chunk(name, HOSTILE, HOSTILE) for name in ("c1", "c2")]))
        for run, order in ((f"{NAME}a", ("c1", "c2")), (f"{NAME}b", ("c2", "c1"))):
            lists = [Ranking(query.query_id, order) for query in queries]
            store.runs.load(loaded(lists), name=run)
        grades = [GoldenGrade(f"q{n}", "c1" if n < 4 else "c2", 3) for n in range(12)]
        store.golden_loads.add(LoadedGolden(loaded([]), loaded(grades), loaded([])))
    runs = (f"{NAME}a", f"{NAME}b")
    made = tmp_path / "report.html"
    result = CliRunner().invoke(main, ["--db", str(path), "report", *runs, "-o", str(made)])
    assert result.exit_code == 0, result.output
    return made


def test_a_report_asks_for_nothing_runs_nothing_and_draws_the_pictures_of_the_pages(
    browser: Browser, report: Path
) -> None:
    context = browser.new_context(offline=True, viewport={"width": 390, "height": 800})
    page = context.new_page()
    asked: list[str] = []
    wrong: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: wrong.append(message.text))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.goto(report.as_uri())
    expect(page.locator(".picture .lead .mark")).to_be_visible()
    expect(page.locator(".listed .total .dot")).to_be_visible()
    expect(page.get_by_role("heading", level=1)).to_contain_text("onerror='window.ran = 1'")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.locator(".strips").count() >= 12
    link = page.locator(".movers a").first
    row = page.locator(f"{link.get_attribute('href')}")
    link.click()
    expect(row).to_be_in_viewport()
    assert page.evaluate("window.ran === undefined")
    assert page.locator("img").count() == 0
    page.emulate_media(media="print")
    assert page.pdf().startswith(b"%PDF")
    assert asked == [report.as_uri()]
    assert wrong == []
    context.close()

"""The Review page in a real browser: its sections, its links and its files."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from labeler.model import Judgment, Remark
from labeler.store import Store

pytestmark = pytest.mark.browser

FILES = {
    "Work": "Download this table as CSV",
    "Can't tell": "Download this list as CSV",
    "Progress": "Download this table as CSV",
    "Notes": "Download this list as CSV",
    "Agreement": "Download all of it as CSV",
}
HOSTILE = "<img src=x onerror=alert(1)> **bold** :red[x]"


@pytest.fixture
def judged(golden_set) -> Path:
    """Two graders have graded some, could not tell once, and wrote notes."""
    path = golden_set()
    with Store(path) as store:
        store.people.add("Ann")
        store.people.add(HOSTILE, role="grader")
        for number in range(6):
            store.judgments.add(
                Judgment(
                    f"a{number}", "q1", f"c{number}", "Ann", grade=number % 4, elapsed_ms=3_000
                )
            )
        store.judgments.add(Judgment("again", "q1", "c2", "Ann", grade=2, source="repeat"))
        store.judgments.add(Judgment("b1", "q2", "c1", HOSTILE, grade=2, note=HOSTILE))
        store.judgments.add(
            Judgment("b2", "q2", "c2", HOSTILE, kind="cannot_tell", reason="=1+1", note=HOSTILE)
        )
        store.remarks.add(Remark("r1", "q3", HOSTILE, "unanswered", HOSTILE))
    return path


def open_section(page: Page, name: str) -> None:
    page.get_by_role("radio", name=name, exact=True).or_(
        page.get_by_role("button", name=name, exact=True)
    ).first.click()


def downloaded(page: Page, label: str, which: int = 0) -> list[dict[str, str]]:
    with page.expect_download() as waiting:
        page.get_by_role("button", name=label).nth(which).click()
    return list(csv.DictReader(waiting.value.path().read_text(encoding="utf-8").splitlines()))


def test_a_lead_goes_through_the_sections_to_a_query(serve, visit, judged):
    server = serve(judged)
    page = visit(f"{server.url}/review", grader=None)
    ann = page.locator(".review tbody tr").filter(
        has_text="The one chunk that Ann saw again got the same grade."
    )
    expect(ann.locator("td")).to_contain_text(["Ann", "6", "0", "0", "0", "3.0"])
    page.locator(".st-key-days summary").click()
    expect(page.get_by_test_id("stVegaLiteChart").locator("canvas, svg").first).to_be_visible()
    for _ in range(2):  # a file can be taken twice
        rows = downloaded(page, "Download this table as CSV")
        assert [row["grades"] for row in rows] == ["6", "1"]

    expect(page.locator(".review tbody tr").last).to_contain_text("all queries")
    [row] = downloaded(page, "Download this table as CSV", -1)
    assert (row["graded"], row["cannot_tell"], row["open"]) == ("7", "1", "112")

    open_section(page, "Comments")
    expect(page).to_have_url(re.compile("review=Comments"))
    open_section(page, "Can't tell")
    expect(page.locator(".review").last).to_contain_text(HOSTILE)
    [row] = downloaded(page, "Download this list as CSV")
    assert (row["reason"], row["note"]) == ("'=1+1", HOSTILE)

    open_section(page, "Notes")
    expect(page.locator(".review tbody tr")).to_have_count(3)
    expect(page.locator(".review img, .review strong")).to_have_count(0)
    page.reload()
    expect(page.locator(".review tbody tr")).to_have_count(3)

    open_section(page, "Remarks on queries")
    page.locator(".review").get_by_role("link", name="What does query 3 ask?").click()
    expect(page.locator(".question h2")).to_contain_text("What does query 3 ask?")
    expect(page).to_have_url(re.compile(r"[?&]query=q3(&|$)"))


@pytest.mark.slow
def test_no_section_is_wider_than_the_window(serve, visit, judged):
    with Store(judged) as store:
        for number in range(6):
            day = f"2026-03-{2 + 7 * (number % 2):02}T10:00:00.000Z"
            given = {"grade": number % 3, "created_at": day}
            store.judgments.add(Judgment(f"c{number}", "q1", f"c{number}", HOSTILE, **given))
    server = serve(judged)
    page = visit(server.url, grader=None)
    for section in FILES:
        page.goto(f"{server.url}/review?facet=task&review={quote(section)}")
        expect(page.get_by_role("button", name=FILES[section]).first).to_be_visible()
        for width in (1440, 1024):
            page.set_viewport_size({"width": width, "height": 800})
            tables = page.locator(".review, .confusion")
            assert tables.evaluate_all(
                "all => all.every(each => each.scrollWidth <= each.clientWidth)"
            ), section
    expect(page.locator(".answer").first).to_contain_text("Krippendorff's alpha")
    expect(page.locator(".confusion td.same")).to_have_count(4)
    page.locator(".st-key-weeks summary").click()
    expect(page.locator("canvas, .vega-embed svg").first).to_be_visible()

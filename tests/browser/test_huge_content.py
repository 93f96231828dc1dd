"""Texts and lists that are too long to come whole: read on, and shown in parts, without a loss."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from labeler.model import Chunk, Query, Ranking, Settings
from labeler.store import Store
from tests.browser.padpage import LAPTOP
from tests.browser.server import loaded

pytestmark = pytest.mark.browser

LONG = "".join(f"Sentence {n} of a long text. " for n in range(2_000))


@pytest.fixture
def huge(tmp_path):
    path = tmp_path / "huge.db"
    names = tuple(f"c{n}" for n in range(230))
    with Store(path, create=True) as store:
        store.queries.load(loaded([Query("long", "what?"), Query("many", "which?")]))
        store.chunks.load(loaded([Chunk("whole", LONG, "A long one")]))
        store.chunks.load(loaded([Chunk(name, f"words {name} only", name) for name in names]))
        store.runs.load(
            loaded([Ranking("long", ("whole",)), Ranking("many", names)]),
            name="run",
        )
        store.settings.save(Settings(pool_depth=1000))
    return path


@pytest.mark.slow
def test_a_long_text_is_read_on_to_its_end_and_a_long_list_is_shown_in_parts(serve, visit, huge):
    page = visit(f"{serve(huge).url}/?query=long")
    row = page.locator(".whole .row.current")
    expect(row.locator(".text")).to_contain_text("Sentence 1 of")
    expect(row.locator(".more-text")).to_have_count(1)
    while row.locator(".more-text").count():
        row.locator(".more-text").scroll_into_view_if_needed()
        page.wait_for_timeout(50)
    assert row.locator(".text").text_content() == LONG
    page.goto(page.url.replace("query=long", "query=many"))
    rows = page.locator(".whole .row")
    expect(rows).to_have_count(200)
    expect(page.locator(".whole .progress")).to_have_text("0 of 230 graded by you · 230 not yet")
    page.keyboard.press("2")
    expect(page.locator(".whole .progress")).to_have_text("1 of 230 graded by you · 229 not yet")
    page.get_by_role("button", name="Show more: 30 to come").click()
    expect(rows).to_have_count(230)
    expect(page.get_by_role("button", name="Show more")).to_have_count(0)
    expect(page.locator(".whole .progress")).to_have_text("1 of 230 graded by you · 229 not yet")
    page.keyboard.press("End")
    expect(rows.last).to_have_class("row current")
    page.keyboard.press("1")
    expect(rows.last.locator(".badge")).to_have_text("1")


LINES = "".join(f"Line {n} says a little of the matter, as the others do.\n" for n in range(900))
ONE_LINE = "".join(f"Sentence {n} of one line. " for n in range(1_600))


@pytest.mark.parametrize("text", [LINES, ONE_LINE], ids=["lines", "one line"])
def test_a_text_that_comes_in_pieces_is_one_text_in_one_column(serve, visit, tmp_path, text):
    path = tmp_path / "pieces.db"
    with Store(path, create=True) as store:
        store.queries.load(loaded([Query("q", "what?")]))
        store.chunks.load(loaded([Chunk("c", text, "A long one")]))
        store.runs.load(loaded([Ranking("q", ("c",))]), name="run")
    page: Page = visit(serve(path).url, **LAPTOP)
    host = page.locator(".chunk .text")
    expect(host).to_contain_text("0 ")
    for _ in range(4):
        page.keyboard.press("End")
        page.wait_for_timeout(100)
    expect(host.locator(".more-text")).to_have_count(0)
    assert host.text_content() == text
    page.keyboard.press("End")
    expect(page.locator(".chunk")).to_have_js_property(
        "scrollTop", page.locator(".chunk").evaluate("e => e.scrollHeight - e.clientHeight")
    )
    blocks = host.evaluate("e => [...e.children].map((c) => [c.offsetLeft, c.offsetWidth])")
    assert len(set(map(tuple, blocks))) == 1
    read = host.evaluate("e => [...e.children].map((c) => c.textContent)")
    assert all(each.endswith("\n") for each in read[:-1])

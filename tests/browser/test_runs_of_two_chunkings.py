"""From page to page with runs of two chunkings: every link shows the runs that it is about."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from labeler.model import Chunk, GoldenGrade, LoadedGolden, Query, Ranking
from labeler.store import Store
from tests.browser.choices import choose
from tests.browser.server import loaded
from tests.browser.still import stand_still

pytestmark = pytest.mark.browser


@pytest.fixture
def cut_twice(tmp_path: Path) -> Path:
    """One query in a bucket; first-1 is of the default chunking, second-1 and -2 are of v2."""
    path = tmp_path / "golden.db"
    chunks = loaded([Chunk("c1", "Ann is who."), Chunk("c2", "Bob is not.")])
    grades = loaded([GoldenGrade("q1", "c1", 3), GoldenGrade("q1", "c2", 0)])
    with Store(path, create=True) as store:
        store.queries.load(loaded([Query("q1", "who?", buckets={"intent": "names"})]))
        for chunking, names in (("", ["first-1"]), ("v2", ["second-1", "second-2"])):
            store.chunks.load(chunks, chunking=chunking)
            for name in names:
                order = ("c2", "c1") if name == "second-2" else ("c1", "c2")
                store.runs.load(loaded([Ranking("q1", order)]), name=name, chunking=chunking)
            golden = LoadedGolden(loaded([]), grades, loaded([]))
            store.golden_loads.add(golden, chunking=chunking)
    return path


@pytest.fixture
def at(serve, visit, cut_twice) -> Callable[[str], Page]:
    """Open a page by its address."""
    server = serve(cut_twice)
    return lambda address: stand_still(visit(f"{server.url}/{address}"))


def shows(page: Page, boxes: dict[str, str]) -> None:
    """Check which run stands in each box, by its label."""
    for label, run in boxes.items():
        expect(page.get_by_role("combobox", name=label, exact=True)).to_have_value(run)


def go(page: Page, title: str, boxes: dict[str, str]) -> None:
    """Follow the link to a page, and check which runs it shows."""
    link = page.get_by_role("link", name=title, exact=True)
    link.click()
    expect(link).to_have_attribute("aria-current", "page")
    stand_still(page)
    shows(page, boxes)
    expect(page.get_by_text("no run is called")).to_have_count(0)


def test_who_chooses_a_chunking_sees_its_runs_on_every_page(at):
    page = at("slices")
    shows(page, {"A": "first-1"})
    choose(page, "Chunking", "v2")
    shows(page, {"A": "second-1"})
    go(page, "Compare", {"A": "second-1", "B": "second-2"})
    go(page, "Slices", {"A": "second-1", "B": "second-2"})
    go(page, "Queries", {"A": "second-1", "B": "second-2"})
    choose(page, "Chunking", "default")
    shows(page, {"A": "first-1"})
    go(page, "Scores", {})
    expect(page.get_by_role("table").first).to_contain_text("first-1")
    expect(page.get_by_role("table").first).not_to_contain_text("second-1")


@pytest.mark.slow
def test_a_page_without_a_chunking_shows_that_of_its_runs(at):
    page = at("compare?a=second-1&b=second-2")
    go(page, "Slices", {"A": "second-1", "B": "second-2"})
    go(page, "Queries", {"A": "second-1", "B": "second-2"})
    choose(page, "B", "no other run")
    go(page, "Review", {})
    go(page, "Queries", {"A": "second-1"})


@pytest.mark.slow
def test_a_pair_of_two_chunkings_stands_together_where_it_can(at):
    page = at("compare?chunking=v2&b=second-2")
    choose(page, "A", "first-1")
    go(page, "Slices", {"A": "first-1", "B": "second-2"})
    go(page, "Queries", {"A": "second-2", "B": "no other run"})
    apart = "first-1 has other chunks, so only second-2 is shown."
    expect(page.get_by_text(apart)).to_be_visible()
    page.get_by_role("link", name="Compare both").click()
    stand_still(page)
    shows(page, {"A": "first-1", "B": "second-2"})


@pytest.mark.slow
def test_the_chunking_of_an_address_with_a_run_of_another_can_be_left(at):
    page = at("slices?chunking=v2&a=first-1")
    expect(page.get_by_text("no run is called 'first-1'")).to_be_visible()
    page.get_by_role("button", name="Go on without it").click()
    shows(stand_still(page), {"A": "second-1"})

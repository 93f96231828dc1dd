"""A second chunking comes in through the Data page, is listed, chosen and taken out alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from labeler.model import Chunk, GoldenGrade, LoadedGolden, Query, Ranking
from labeler.services import import_export
from labeler.store import Store
from tests.browser.server import loaded
from tests.browser.test_data import drop, load

pytestmark = pytest.mark.browser

CHUNKS = (
    '{"chunk_id": "c1", "text": "Ann is", "document_id": "d", "start": 0, "end": 6}\n'
    '{"chunk_id": "c2", "text": "who.", "document_id": "d", "start": 7, "end": 11}\n'
)


@pytest.fixture
def cut_once(tmp_path: Path) -> Path:
    """One query, a chunk of it, a run and a grade."""
    path = tmp_path / "golden.db"
    with Store(path, create=True) as store:
        store.queries.load(loaded([Query("q1", "who?")]))
        store.chunks.load(loaded([Chunk("c1", "Ann is who.", document_id="d")]))
        store.runs.load(loaded([Ranking("q1", ("c1",))]), name="before")
        empty = loaded([])
        store.golden_loads.add(LoadedGolden(empty, loaded([GoldenGrade("q1", "c1", 2)]), empty))
    return path


def name_it(page: Page, chunking: str) -> None:
    """Write which chunking the files are of."""
    name = page.get_by_role("textbox", name="Chunking")
    name.fill(chunking)
    name.press("Enter")
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")


@pytest.mark.slow
def test_a_second_chunking_comes_in_stands_beside_the_first_and_goes_out_alone(
    serve, visit, cut_once
):
    server = serve(cut_once)
    page = visit(f"{server.url}/data")
    load(page, {"new.jsonl": CHUNKS.encode()})
    expect(page.get_by_text("is in the golden set with other content")).to_be_visible()
    expect(page.get_by_text('On this page: Options, "Chunking"')).to_be_visible()
    page.get_by_text("Options", exact=True).click()
    for written, said in (
        ("v 2", "a chunking is named by up to 60 letters"),
        ("v2", "1 query · 3 chunks · 1 run · 1 golden grade"),
    ):
        name_it(page, written)
        page.get_by_role("button", name="Load 1 file").click()
        expect(page.get_by_text(said).first).to_be_visible()
    lists, grades = b"q1 Q0 c2 1 2 x\nq1 Q0 c1 2 1 x\n", b"q1 0 c1 3\nq1 0 c2 0\n"
    drop(page, {"after.trec": lists, "new.qrels": grades})
    page.get_by_text("Options", exact=True).click()
    name_it(page, "v2")
    page.get_by_role("button", name="Load 2 files").click()
    expect(page.get_by_text("1 query · 3 chunks · 2 runs · 3 golden grades")).to_be_visible()

    page.get_by_role("radio", name="Runs").click()
    expect(page.get_by_text("Several chunkings: ids begin with")).to_be_visible()
    listed = page.get_by_test_id("stDataFrame").last.locator("td")
    expect(listed).to_have_text(
        [*("default", "1", "0", "0", "1", "1"), *("v2", "2", "0", "2", "1", "2")]
    )
    page.get_by_role("radio", name="Download").click()
    page.get_by_role("combobox", name="Chunks").click()
    page.get_by_role("option", name="v2", exact=True).click()
    expect(page.get_by_text("This is a part: chunking v2.")).to_be_visible()
    with server.store() as store:
        named = import_export.dated_name("golden-v2.qrels", store.judgments.revision())
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")
    page.locator(".st-key-tools summary").click()
    with page.expect_download() as download:
        page.get_by_role("button", name=named).click()
    assert Path(download.value.path()).read_text() == "q1 0 c1 3\nq1 0 c2 0\n"

    page.goto(f"{server.url}/scores")
    left_out = "1 more run, after, returns other chunks (chunking v2)"
    expect(page.get_by_text(left_out)).to_be_visible()
    page.goto(f"{server.url}/scores?chunking=v2")
    expect(page.get_by_role("table").first).to_contain_text("after")
    expect(page.get_by_text("before", exact=True)).to_have_count(0)

"""The Data page in a real browser: files in, the same golden set out and in again."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from labeler import transfer
from labeler.store import Store

pytestmark = pytest.mark.browser

QUERIES = '{"query_id": "q1", "query": "who?", "task": "single", "intent": "names"}\n'
CHUNKS = '{"chunk_id": "c1", "text": "Ann"}\n{"chunk_id": "c2", "text": "Bob"}\n'
RUN = "q1 Q0 c1 1 2.5 x\nq1 Q0 c2 2 1.5 x\n"
QRELS = "q1 0 c1 3\nq1 0 c2 0\n"


@pytest.fixture
def empty(tmp_path: Path) -> Path:
    path = tmp_path / "empty.db"
    Store(path, create=True).close()
    return path


def choose(page: Page, kind: str) -> None:
    """Say what is in the file."""
    page.get_by_role("combobox", name="What is in the file?").click()
    page.get_by_role("option", name=kind).click()


def upload(page: Page, kind: str, name: str, content: bytes) -> None:
    """Load a file as a person does."""
    choose(page, kind)
    # A file given while the page is still being put together can be lost with the first draft.
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")
    page.locator("input[type=file]").set_input_files(
        {"name": name, "mimeType": "application/octet-stream", "buffer": content}
    )
    expect(page.get_by_text(name, exact=True)).to_be_visible()
    page.get_by_role("button", name="Load", exact=True).last.click()


def test_upload_export_and_reimport_give_an_equal_golden_set(serve, visit, empty, tmp_path):
    server = serve(empty)
    page = visit(f"{server.url}/data")
    upload(page, "Queries:", "queries.jsonl", QUERIES.encode())
    expect(page.get_by_text("queries from queries.jsonl")).to_be_visible()
    upload(page, "Chunks:", "chunks.jsonl", CHUNKS.encode())
    expect(page.get_by_text("chunks from chunks.jsonl")).to_be_visible()
    upload(page, "Run:", "bm25.trec", RUN.encode())
    expect(page.get_by_text("run 'bm25' from bm25.trec")).to_be_visible()
    upload(page, "Golden grades", "golden.qrels", QRELS.encode())
    expect(page.get_by_text("golden grades from golden.qrels")).to_be_visible()

    expect(page.get_by_text("1 query · 2 chunks · 1 run · 2 golden grades")).to_be_visible()
    page.get_by_role("radio", name="Download").click()
    downloads = {}
    for kind, name in transfer.EXPORTS.items():
        with page.expect_download() as download:
            page.get_by_role("button", name=name).click()
        downloads[kind] = Path(download.value.path()).read_bytes()
        assert download.value.suggested_filename == name
    with server.store() as store:
        assert downloads == {kind: transfer.export(store, kind) for kind in transfer.EXPORTS}

    again = tmp_path / "again.jsonl"
    again.write_bytes(downloads["jsonl"])
    with Store(tmp_path / "again.db", create=True) as store:
        transfer.read("golden", again, transfer.LoadOptions())(store)
        assert transfer.export(store, "jsonl") == downloads["jsonl"]


def test_a_bad_file_is_refused_with_its_line_and_changes_nothing(serve, visit, empty):
    server = serve(empty)
    page = visit(f"{server.url}/data")
    upload(page, "Queries:", "queries.jsonl", QUERIES.encode())
    expect(page.get_by_text("queries from queries.jsonl")).to_be_visible()
    upload(page, "Golden grades", "bad.qrels", b"q1 0 c1 3\nq1 0 c2 7\n")
    expect(page.get_by_text("bad.qrels:2:")).to_be_visible()
    expect(page.get_by_text("Traceback")).to_have_count(0)
    expect(page.get_by_text('On this page: "Grade map"')).to_be_visible()
    expect(page.get_by_test_id("stProgress")).to_have_count(0)
    expect(page.get_by_text("1 query · 0 chunks")).to_be_visible()
    with server.store() as store:
        assert store.events() == []


def test_settings_are_kept_and_used(server, visit):
    page = visit(f"{server.url}/data?section=Settings")
    page.get_by_label("Grade 3 means").fill("answers it")
    page.get_by_role("button", name="Save settings").click()
    expect(page.get_by_text("Saved")).to_be_visible()
    page.get_by_role("link", name="Label").click()
    expect(page.get_by_role("button", name="3 answers it")).to_be_visible()
    with server.store() as store:
        assert store.settings().words[3] == "answers it"
        assert store.settings().pool_depth == 30

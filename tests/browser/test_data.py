"""The Data page in a real browser: files in, the same golden set out and in again."""

from __future__ import annotations

import base64
import gzip
import shutil
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from labeler.model import GoldenGrade, Judgment, LoadedGolden, Query
from labeler.services import import_export
from labeler.store import Store, query_fingerprint
from tests.browser.server import loaded
from tests.store.test_transfers import fill
from tests.support.databases import assert_whole

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


def drop(page: Page, files: dict[str, bytes]) -> None:
    """Let files fall on the page, as from a folder beside it."""
    # A file given while the page is still being put together can be lost with the first draft.
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")
    given = {name: base64.b64encode(content).decode() for name, content in files.items()}
    data = page.evaluate_handle(
        """given => {
            const data = new DataTransfer();
            for (const [name, text] of Object.entries(given)) {
                const bytes = Uint8Array.from(atob(text), letter => letter.charCodeAt(0));
                data.items.add(new File([bytes], name));
            }
            return data;
        }""",
        given,
    )
    place = page.get_by_test_id("stFileUploaderDropzone")
    for event in ("dragenter", "dragover", "drop"):
        place.dispatch_event(event, {"dataTransfer": data})
    for name in files:
        expect(page.locator(".st-key-files").get_by_text(name, exact=True)).to_be_visible()


def load(page: Page, files: dict[str, bytes]) -> None:
    """Drop files and load all of them."""
    drop(page, files)
    many = f"{len(files)} files" if len(files) > 1 else "1 file"
    page.get_by_role("button", name=f"Load {many}").click()


AT_ONCE = 8  # Chromium lets a page that is not loaded anew have ten files in a row


def test_files_dropped_at_once_go_out_again_and_make_an_equal_golden_set(
    serve, visit, empty, tmp_path
):
    server = serve(empty)
    page = visit(f"{server.url}/data")
    files = {"golden.qrels": QRELS, "bm25.trec": RUN, "c.jsonl": CHUNKS, "q.jsonl": QUERIES}
    load(page, {name: content.encode() for name, content in files.items()})
    expect(page.get_by_text("Loaded", exact=True)).to_be_visible()
    expect(page.get_by_text("1 query · 2 chunks · 1 run · 2 golden grades")).to_be_visible()
    page.get_by_role("radio", name="Download").click()
    downloads = {}
    offered = {
        kind: name
        for kind, name in import_export.EXPORTS.items()
        if kind not in import_export.FEEDBACK_KINDS  # no run came from another tool
    }
    for kind, name in offered.items():
        named = import_export.dated_name(name, 2)
        if len(downloads) == AT_ONCE:
            page.reload()
        label = f"Download {name}" if kind in ("jsonl", "csv") else named
        button = page.get_by_role("button", name=label, exact=True)
        fold = {"events": "tamper", "complete": "backup"}.get(kind, "tools")
        if kind not in ("jsonl", "csv") and not button.is_visible():
            page.locator(f".st-key-{fold} summary").click()
        with page.expect_download() as download:
            button.click()
        downloads[kind] = Path(download.value.path()).read_bytes()
        assert download.value.suggested_filename == named
    with server.store() as store:
        assert downloads == {kind: import_export.export(store, kind) for kind in offered}

    again = tmp_path / "again.jsonl"
    again.write_bytes(downloads["jsonl"])
    with Store(tmp_path / "again.db", create=True) as store:
        import_export.read("golden", again, import_export.LoadOptions())(store)
        assert import_export.export(store, "jsonl") == downloads["jsonl"]

    named = import_export.dated_name("golden.db", 2)
    with page.expect_download() as download:
        page.get_by_role("button", name=named).click()
    assert download.value.suggested_filename == named
    with Store(shutil.copy(download.value.path(), tmp_path / named)) as store:
        assert_whole(store)
        assert import_export.export(store, "jsonl") == downloads["jsonl"]
    left = {each.name for each in server.database.parent.iterdir() if ".part" in each.name}
    assert not left, "nothing stays beside the golden set"


def test_a_bad_file_is_named_with_its_line_and_more_can_be_dropped_after(serve, visit, empty):
    server = serve(empty)
    page = visit(f"{server.url}/data")
    files = {"queries.jsonl": QUERIES.encode(), "bad.qrels": b"q1 0 c1 3\nq1 0 c2 7\n"}
    load(page, files)
    expect(page.get_by_text("1 of 2 files is loaded")).to_be_visible()
    expect(page.get_by_text("bad.qrels:2:")).to_be_visible()
    expect(page.get_by_text("Traceback")).to_have_count(0)
    expect(page.get_by_text('On this page: Options, "Grade map"')).to_be_visible()
    expect(page.get_by_test_id("stProgress")).to_have_count(0)
    expect(page.get_by_text("1 query · 0 chunks")).to_be_visible()
    with server.store() as store:
        assert store.judgments.log() == []
    page.get_by_text("Options", exact=True).click()
    page.get_by_role("textbox", name="Grade map").fill("7=3")
    page.get_by_role("textbox", name="Grade map").press("Enter")
    page.get_by_role("button", name="Load 2 files").click()
    expect(page.get_by_text("Loaded", exact=True)).to_be_visible()
    load(page, {"bm25.trec.gz": gzip.compress(RUN.encode()), "chunks.jsonl": CHUNKS.encode()})
    expect(page.get_by_text("1 query · 2 chunks · 1 run · 2 golden grades")).to_be_visible()


ODD = '{"in": {"q": "who?"}, "out": {"found": [{"key": "c1", "words": "Ann"}]}}\n'
RERANKED = (
    '{"query": "who?", "results": [{"id": "c1", "text": "Ann", "score": 1}, '
    '{"id": "c2", "text": "Bob", "score": 2}]}\n'
    '{"query": "where?", "results": [{"id": "c1", "text": "Ann", "score": 2}, '
    '{"id": "c2", "text": "Bob", "score": 1}]}\n'
)


def test_a_file_of_an_unknown_tool_is_read_by_a_map_that_the_next_one_needs_no_more(
    serve, visit, empty
):
    server = serve(empty)
    page = visit(f"{server.url}/data")
    drop(page, {"odd.jsonl": ODD.encode()})
    place = page.get_by_role("textbox", name="Field names")
    place.fill("query=in.q results=out.found id=key text=words")
    place.press("Enter")
    expect(page.get_by_text("read by the map below")).to_be_visible()
    expect(page.locator(".sample").get_by_text("Ann", exact=True)).to_be_visible()
    page.get_by_role("button", name="Load 1 file").click()
    expect(page.get_by_text("✓ loaded: 1 query, 1 chunk, run 'odd'")).to_be_visible()
    load(page, {"more.jsonl": ODD.replace("who", "where").encode()})
    expect(page.get_by_text("✓ loaded: 1 query, 1 chunk, run 'more'")).to_be_visible()
    expect(page.get_by_text("2 queries · 1 chunk · 2 runs")).to_be_visible()


def test_what_a_load_asks_is_answered_in_its_row(serve, visit, empty):
    server = serve(empty)
    page = visit(f"{server.url}/data")
    drop(page, {"dump.jsonl": RERANKED.encode(), "asks.csv": b"qid,docid,score\nq1,c1,3\n"})
    expect(page.get_by_text("⚠ golden grades or a run?")).to_be_visible()
    page.get_by_role("button", name="Load 1 file (1 not recognised)").click()
    expect(page.get_by_text("⚠ the order of 1 of 2 lists is not that of their")).to_be_visible()
    page.get_by_role("button", name="The order of the file is right").click()
    expect(page.get_by_text("✓ loaded again, in the order of the file")).to_be_visible()
    expect(page.get_by_text("⚠ the order of 1 of 2 lists")).to_have_count(0)
    with server.store() as store:
        assert [each.chunk_ids for each in store.runs.lists("dump")] == [("c1", "c2")] * 2
    page.get_by_role("combobox", name="What file 2 holds").click()
    page.get_by_role("option").first.click()
    page.get_by_role("button", name="Load 2 files").click()
    expect(page.get_by_text("✓ nothing new: all of it was loaded before")).to_be_visible()


@pytest.mark.slow
def test_files_of_numbers_say_of_which_day_and_revision_they_are(server, visit):
    with server.store() as store:
        grades = [GoldenGrade("q0", "c1", 3), GoldenGrade("q1", "c2", 0)]
        empty = loaded([])
        store.golden_loads.add(LoadedGolden(empty, loaded(grades), empty))
        store.people.add("Ann")
        store.judgments.add(Judgment("e1", "q0", "c3", "Ann", grade=2))
    page = visit(server.url)
    for address, name in {
        "scores": "scores.csv",
        "compare": "compare.csv",
        "slices?facet=task": "slices.csv",
        "queries": "queries.csv",
        "review": "graders.csv",
    }.items():
        page.goto(f"{server.url}/{address}")
        button = page.get_by_role("button").filter(has_text="CSV").first
        expect(button).to_be_visible()
        expect(page.get_by_test_id("stApp")).to_have_attribute(
            "data-test-script-state", "notRunning"
        )
        with page.expect_download() as download:
            button.click()
        assert download.value.suggested_filename == import_export.dated_name(name, 3)


def test_settings_are_kept_and_used(server, visit):
    page = visit(f"{server.url}/data?section=Settings")
    page.get_by_label("Name of grade 3").fill("answers it")
    page.get_by_role("button", name="Save settings").click()
    expect(page.get_by_text("Saved")).to_be_visible()
    page.get_by_role("link", name="Label", exact=True).click()
    expect(page.get_by_role("button", name="3 answers it")).to_be_visible()
    with server.store() as store:
        assert store.settings.read().words[3] == "answers it"
        assert store.settings.read().pool_depth == 30


@pytest.mark.slow
def test_what_is_typed_stays_when_somebody_was_faster_and_back_leads_to_the_list(
    serve, visit, empty: Path
):
    with Store(empty, create=True) as store:
        store.queries.load(loaded([Query("q1", "who?"), Query("q2", "where?")]))
    page = visit(f"{serve(empty).url}/data?section=Queries")
    page.locator(".st-key-Edit-q1 button").click()
    question = page.get_by_label("Question")
    expect(question).to_have_value("who?")
    with Store(empty) as store:
        store.queries.edit(Query("q1", "who else?"), query_fingerprint(store.queries.get("q1")))
    question.fill("mine")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("has changed this query since you opened it: text")).to_be_visible()
    expect(question).to_have_value("mine")
    page.go_back()
    expect(page.get_by_role("button", name="Add a query")).to_be_visible()
    with Store(empty) as store:
        assert store.queries.get("q1").text == "who else?"


@pytest.mark.slow
def test_grades_are_carried_over_after_a_look_and_taken_back(serve, visit, tmp_path):
    path = tmp_path / "cut.db"
    with Store(path, create=True) as store:
        fill(store, loaded)
    page = visit(f"{serve(path).url}/data?section=Carry+over")
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_text("to transfer 2 · suggested 0 · left to graders 4")).to_be_visible()
    page.get_by_role("button", name="Transfer 2 grades").click()
    expect(page.get_by_text("2 grades transferred from the default chunking")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("2 grades transferred from the default chunking")).to_have_count(0)
    with Store(path) as store:
        assert {event.kind for event in store.judgments.log()[2:]} == {"carry", "withdraw"}

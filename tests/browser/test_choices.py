"""What is chosen on a page stands in one line above the result; the boxes are one click away."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Locator, Page, expect

from labeler.cli.demo_data import build_demo
from labeler.model import Ranking
from labeler.store import Store
from tests.browser.choices import choose, open_choices, unfolded
from tests.browser.still import follow
from tests.support.page import loaded

pytestmark = pytest.mark.browser

LONG = "2026-11-10_production-index_chunk-size-{}_overlap-64_bge-large-en-v1.5_reranked-top-50"
PAIR = "a=bm25&b=hybrid"
RESULTS = {
    "/scores": ".answer",
    "/scores?view=recall+over+k&facet=intent&bucket=refund&hide=bm25": ".answer",
    f"/compare?{PAIR}": ".answer .says",
    "/slices?a=bm25&facet=intent": ".answer",
    f"/slices?{PAIR}&facet=intent": ".answer",
    f"/queries?{PAIR}&facet=intent": ".answer",
}


@pytest.fixture
def demo(tmp_path: Path) -> Path:
    """Make the sample, with two more runs whose names are long and nearly the same."""
    path = tmp_path / "demo.db"
    build_demo(path)
    with Store(path) as store:
        [first, *_] = store.queries.all()
        [chunk, *_] = store.chunks.all()
        for size in (256, 512):
            lists = [Ranking(first.query_id, (chunk.chunk_id,))]
            store.runs.load(loaded(lists), name=LONG.format(size), chunking="")
    return path


def line(page: Page) -> Locator:
    """Return the line that says what is chosen."""
    return page.locator(".chosen")


def says(page: Page) -> dict[str, list[str]]:
    """Return what the address says."""
    return parse_qs(urlsplit(page.url).query)


def test_the_result_begins_in_the_upper_half_of_a_small_laptop(serve, visit, demo):
    server = serve(demo)
    page = visit(f"{server.url}/data", grader=None, viewport={"width": 1024, "height": 768})
    for address, result in RESULTS.items():
        top = follow(page, server.url + address).locator(result).first.bounding_box()["y"]
        assert top < 384, address


@pytest.mark.slow
def test_the_choices_take_few_lines_on_a_phone_where_names_are_short(serve, visit, demo):
    with Store(demo) as store:
        for name in store.runs.names()[-2:]:
            store.runs.drop(name)
    server = serve(demo)
    page = visit(f"{server.url}/data", grader=None, viewport={"width": 390, "height": 844})
    lines = {"/scores": 0, "/compare": 1, "/slices": 1, "/queries": 1}  # of boxes
    for address in RESULTS:
        row = follow(page, server.url + address).locator(".st-key-choices")
        boxes, said = row.get_by_role("combobox"), line(page).bounding_box()
        tops = {round(box.bounding_box()["y"]) for box in boxes.all()}
        assert len(tops) == lines[urlsplit(address).path], address
        assert said["height"] <= 45, f"{address}: the line is two lines of text at most"
        assert row.bounding_box()["height"] <= 130, address


@pytest.mark.slow
def test_slices_has_its_choices_in_a_row_on_a_tablet_and_whole_heads_on_a_phone(serve, visit, demo):
    with Store(demo) as store:
        for name in store.runs.names()[-2:]:
            store.runs.drop(name)
    page = visit(f"{serve(demo).url}/slices?{PAIR}", grader=None)
    page.set_viewport_size({"width": 1024, "height": 768})
    expect(page.locator(".slices .side").first).to_be_visible()
    places = [page.get_by_role("combobox", name="B"), page.locator(".st-key-folded summary")]
    upper, lower = (place.bounding_box() for place in places)
    assert lower["y"] < upper["y"] + upper["height"]
    for width in (1024, 390):
        page.set_viewport_size({"width": width, "height": 844})
        for head in page.locator(".slices thead :is(th, .side)").all():
            is_whole = head.evaluate("head => head.scrollWidth <= Math.ceil(head.clientWidth)")
            assert is_whole, f"{head.inner_text()} is cut at {width}"


def test_a_choice_behind_the_line_is_made_by_keys_and_said_in_it(serve, visit, demo):
    page = visit(f"{serve(demo).url}/slices?{PAIR}&facet=intent", grader=None)
    expect(line(page)).to_have_text("by nDCG@10")
    boxes = page.locator(".st-key-boxes")
    expect(boxes).not_to_be_visible()
    page.locator(".st-key-folded summary").focus()
    page.keyboard.press("Enter")
    unfolded(page)
    crossed = page.get_by_role("combobox", name="Crossed with")
    page.keyboard.press("Tab")
    expect(crossed).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("option", name="task", exact=True)).to_be_visible()
    crossed.press_sequentially("task")  # as people do: keys open a list that has closed
    expect(page.get_by_role("option")).to_have_text(["task"])
    page.keyboard.press("Enter")
    expect(line(page)).to_contain_text("by intent and task")
    assert says(page)["other"] == ["task"]
    expect(boxes).to_be_visible()
    page.locator(".st-key-folded summary").press("Enter")
    expect(boxes).not_to_be_visible()


@pytest.mark.parametrize("label", ["Measures", "Add a measure"])
def test_enter_adds_the_measure_that_was_typed_and_no_other_like_it(serve, visit, demo, label):
    page = visit(f"{serve(demo).url}/scores", grader=None)
    there = ["nDCG@10", "R@5", "RR"]
    for typed in ("R@10", "R@1", "MRR@7"):
        open_choices(page)
        box = page.get_by_role("combobox", name=label, exact=True)
        box.click()
        box.press_sequentially(typed)
        page.keyboard.press("Enter")
        there.append(typed)
        expect(line(page)).to_contain_text(f"and {len(there) - 2} more measures")
        assert says(page)["measure"] == there


@pytest.mark.slow
def test_what_was_chosen_stays_when_the_boxes_are_closed_and_the_page_is_loaded_anew(
    serve, visit, demo
):
    page = visit(f"{serve(demo).url}/queries?a=bm25", grader=None)
    expect(line(page)).not_to_contain_text("conventions")
    choose(page, "Conventions", "trec_eval")
    expect(line(page)).to_contain_text("trec_eval conventions")
    choose(page, "Class", "failing")
    expect(line(page)).to_contain_text("failing")
    page.reload()
    expect(line(page)).to_contain_text("all queries · failing · nDCG@10, R@5, RR")
    expect(line(page)).to_contain_text("trec_eval conventions")
    open_choices(page)
    expect(page.get_by_role("combobox", name="Class", exact=True)).to_have_value("failing")


@pytest.mark.slow
def test_runs_are_told_apart_in_their_boxes(serve, visit, demo):
    with Store(demo) as store:
        for name in store.runs.names()[:-2]:
            store.runs.drop(name)
    page = visit(f"{serve(demo).url}/compare", grader=None)
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 844})
        for label, size in zip("BA", (256, 512), strict=True):
            box = page.get_by_role("combobox", name=label, exact=True)
            expect(box).to_have_value(re.compile(f"size-{size}"))
            assert box.evaluate("box => box.scrollWidth <= box.clientWidth"), f"cut at {width}"
    assert says(page)["a"] == [LONG.format(512)]

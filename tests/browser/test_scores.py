"""The Scores page in a real browser while somebody else grades."""

from __future__ import annotations

import csv
import re
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from labeler.cli.demo_data import build_demo
from labeler.model import Judgment, Ranking
from tests.browser.server import WarmServer
from tests.browser.still import stand_still, wait_for_links
from tests.support.contrast import contrast
from tests.support.page import loaded

pytestmark = pytest.mark.browser


def cell(page: Page, run: str, measure: str) -> Locator:
    """Find the value of a run in the column of a measure."""
    expect(page.locator(".ranking table")).to_be_visible()
    columns = page.locator(".ranking thead th").all_inner_texts()
    place = next(n for n, text in enumerate(columns) if text.split()[0] == measure)
    row = page.locator(".ranking tbody tr").filter(has=page.get_by_role("rowheader", name=run))
    return row.locator("td").nth(place + 1)  # after the mark and the picture


def test_scores_move_by_themselves_while_another_browser_grades(server, visit):
    scores = visit(f"{server.url}/scores?measure=P@5&measure=Judged@10", grader=None)
    expect(scores.get_by_text("Nobody has graded a chunk yet")).to_be_visible()
    pad = visit(server.url, grader="Bob")
    expect(pad.locator(".chunk .text")).to_contain_text("This is the text")
    for _ in range(30):
        pad.keyboard.press("3")
    expect(pad.locator(".status .state")).to_have_text("30 saved")
    expect(cell(scores, "forward", "P@5")).to_contain_text("1.0000")
    expect(scores.get_by_text("1 of 4 queries (3 not graded) · 30 grades")).to_be_visible()
    pad.keyboard.press("u")
    expect(scores.get_by_text(re.compile(r"1 of 4 queries .* 29 grades"))).to_be_visible()
    with server.store() as store:
        assert all(run.name in ("forward", "backward") for run in store.runs.all())


def test_the_address_holds_every_selection(server, visit):
    with server.store() as store:
        store.people.add("Ann")
        store.judgments.add(Judgment("event", "q0", "c0", "Ann", "grade", 2))
    selections = "measure=RR&measure=P@2&facet=task&bucket=single&preset=trec_eval"
    page = visit(f"{server.url}/scores?{selections}")
    expect(page.locator(".ranking thead th")).to_have_count(4)
    expect(page.locator(".ranking thead th").nth(1)).to_contain_text("RR")
    expect(page.get_by_text("of task = single")).to_be_visible()
    wait_for_links(page).get_by_role("link", name="How computed").click()
    expect(
        page.get_by_text(re.compile(r"Conventions \(trec_eval\): .*gain = grade"))
    ).to_be_visible()
    page.get_by_role("link", name="Data").click()
    expect(page.get_by_text("Drop your files here, all at once")).to_be_visible()
    page.get_by_role("link", name="Scores").click()
    expect(page.locator(".ranking thead th")).to_have_count(4)
    assert "preset=trec_eval" in page.url


def test_a_wrong_measure_in_the_address_is_said_in_words(server, visit):
    page = visit(f"{server.url}/scores?measure=nDGC@10")
    expect(page.get_by_text("nDCG")).to_be_visible()
    expect(page.get_by_text("Traceback")).to_have_count(0)


@pytest.mark.slow
def test_what_goes_wrong_in_a_view_is_said_in_words(server, visit):
    with server.store() as store:
        store.people.add("Ann")
        store.judgments.add(Judgment("event", "q0", "c0", "Ann", "grade", 2))
    page = visit(f"{server.url}/scores?measure=RR&facet=task")
    expect(page.get_by_text("in each bucket of task")).to_be_visible()
    with server.store() as store:
        untold = [replace(query, task=None) for query in store.queries.all()]
        store.queries.load(loaded(untold), update=True)
    expect(page.get_by_text("no facet is called 'task'")).to_be_visible()
    expect(page.get_by_text("Traceback")).to_have_count(0)
    expect(page.get_by_test_id("stException")).to_have_count(0)


# --- many runs ---------------------------------------------------------------------------------

LONG = "2026-11-10_production-index_chunk-size-256_overlap-64_model-{}_reranked-top-50"
LETTERS = "abcdefghijklmnopqrst"


@pytest.fixture
def crowd(server: WarmServer) -> WarmServer:
    """Twenty more runs whose long names differ in one letter; run a has the best list."""
    with server.store() as store:
        store.people.add("Ann")
        store.judgments.add(Judgment("event", "q0", "c0", "Ann", "grade", 3))
        for place, letter in enumerate(LETTERS):
            chunks = [f"c{number}" for number in range(1, 25)]
            chunks.insert(place, "c0")
            system = "even" if place % 2 else "odd"
            store.runs.load(
                loaded([Ranking("q0", tuple(chunks))]), name=LONG.format(letter), system=system
            )
        for name in ("forward", "backward"):
            store.runs.drop(name)
    return server


def names(page: Page) -> list[str]:
    return page.locator(".ranking tbody bdi").all_inner_texts()


def heading(page: Page, name: str) -> Locator:
    return page.locator(".ranking thead th").filter(has=page.get_by_role("link", name=name))


def rows(page: Page) -> Locator:
    return page.locator(".ranking tbody tr:not(.axis)")


@pytest.mark.slow
def test_twenty_runs_with_long_names_are_a_line_each_and_nothing_is_scrolled_to(crowd, visit):
    for width in (1440, 1024):
        page = visit(f"{crowd.url}/scores", viewport={"width": width, "height": 900})
        expect(rows(page)).to_have_count(20)
        assert names(page)[:2] == ["model-a", "model-b"], "the best stands first"
        expect(page.get_by_title(LONG.format("a"), exact=True).first).to_be_visible()
        last = stand_still(page).locator(".ranking tbody tr:not(.axis)").last.bounding_box()
        assert last is not None
        assert last["height"] < 34
        table = page.locator(".ranking")
        assert table.evaluate("it => it.scrollWidth <= it.clientWidth")
        expect(rows(page).first.locator("td").last).to_have_text("90%")


def test_a_click_on_a_heading_sorts_and_back_undoes_it(crowd, visit):
    page = visit(f"{crowd.url}/scores?measure=RR&measure=P@5")
    expect(heading(page, "RR")).to_have_attribute("aria-sort", "descending")
    expect(rows(page)).to_have_count(20)
    page.get_by_role("link", name="RR", exact=True).click()
    expect(heading(page, "RR")).to_have_attribute("aria-sort", "ascending")
    assert names(page)[0] == "model-t"
    assert "sort=RR" in page.url
    page.get_by_role("link", name="Run", exact=True).click()
    expect(heading(page, "Run")).to_have_attribute("aria-sort", "ascending")
    assert names(page)[0] == "model-a"
    page.go_back()
    expect(heading(page, "RR")).to_have_attribute("aria-sort", "ascending")
    assert names(page)[0] == "model-t"


def test_sorting_by_the_keyboard_keeps_the_focus_and_the_place(crowd, visit):
    page = visit(f"{crowd.url}/scores?measure=RR", viewport={"width": 1024, "height": 400})
    wait_for_links(page).get_by_role("link", name="RR", exact=True).focus()
    before = page.locator('[data-testid="stMain"]').evaluate("it => it.scrollTop")
    page.keyboard.press("Enter")
    expect(heading(page, "RR")).to_have_attribute("aria-sort", "ascending")
    expect(page.get_by_role("link", name="RR", exact=True)).to_be_focused()
    assert page.locator('[data-testid="stMain"]').evaluate("it => it.scrollTop") == before


def test_runs_are_marked_by_the_keyboard_and_another_browser_compares_them(crowd, visit):
    page = visit(f"{crowd.url}/scores?measure=RR&measure=nDCG@10")
    expect(page.locator("tr.run-b bdi")).to_have_text("model-a")
    expect(page.locator("tr.run-a bdi")).to_have_text("model-b")
    mark = {letter: f"Mark {LONG.format(letter)} to compare" for letter in "de"}
    wait_for_links(page).get_by_role("link", name=mark["d"]).focus()
    page.keyboard.press("Enter")
    expect(page.locator("tr.beside bdi")).to_have_text("model-d")
    turned = page.get_by_role("link", name=f"Unmark {LONG.format('d')}")
    expect(turned).to_be_focused()
    page.get_by_role("link", name=f"Unmark {LONG.format('a')}").click()
    expect(page.locator("tr.run-b bdi")).to_have_text("model-d")
    expect(page.locator("tr.run-a bdi")).to_have_text("model-b")
    other = visit(page.url)
    expect(other.locator("tr.run-b bdi")).to_have_text("model-d")
    wait_for_links(other).get_by_role("link", name="Compare the 2 marked runs").click()
    expect(other).to_have_title(re.compile("^Compare"))
    assert f"a={LONG.format('b')}" in other.url
    assert f"b={LONG.format('d')}" in other.url


@pytest.mark.slow
def test_runs_that_an_old_address_hides_are_shown_again_by_a_link(crowd, visit):
    page = visit(f"{crowd.url}/scores?measure=RR&hide={LONG.format('a')}&pin={LONG.format('q')}")
    expect(rows(page)).to_have_count(19)
    assert names(page)[:2] == ["model-q", "model-b"]
    wait_for_links(page).get_by_role("link", name="Show all").click()
    expect(rows(page)).to_have_count(20)


@pytest.mark.slow
def test_runs_are_chosen_found_and_grouped(crowd, visit):
    page = visit(f"{crowd.url}/scores?measure=RR&systems=true&find=ODD")
    expect(page.locator(".ranking tr.system")).to_have_text(["odd"])
    page = visit(f"{crowd.url}/scores?measure=RR&run={LONG.format('c')}&run={LONG.format('b')}")
    expect(page.locator(".ranking tbody bdi")).to_have_text(["model-b", "model-c"])
    stand_still(page).locator("summary").filter(has_text="Choose runs").press("Enter")
    named = page.get_by_label("Whose name or system holds")
    expect(named).to_be_visible()
    for _ in range(4):  # the boxes come next by Tab
        page.keyboard.press("Tab")
        if named.evaluate("it => it === document.activeElement"):
            break
    page.keyboard.type("even")
    page.keyboard.press("Enter")
    expect(page.locator(".ranking tbody bdi")).to_have_text(["model-b"])
    assert "find=even" in page.url


@pytest.mark.slow
def test_a_run_that_is_not_there_is_said_in_words(crowd, visit):
    page = visit(f"{crowd.url}/scores?run=dropped")
    expect(page.get_by_text("no run is called 'dropped'")).to_be_visible()
    page.get_by_role("button", name="Go on without it").click()
    expect(rows(page)).to_have_count(20)


@pytest.mark.slow
def test_every_run_in_a_chart_has_its_legend_entry_in_full(crowd, visit):
    page = visit(f"{crowd.url}/scores?view=recall+over+k")
    expect(page.locator(".legend li")).to_have_count(5)
    expect(page.get_by_text("Only the first 5 runs")).to_be_visible()
    expect(page.locator("svg.marks")).to_have_count(2)
    for name in page.locator(".legend bdi").all():
        assert name.evaluate("it => it.scrollWidth <= it.clientWidth || it.clientWidth === 0")


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.slow)])
def test_what_pictures_say_can_be_read_on_either_ground(crowd, visit, scheme):
    page = visit(f"{crowd.url}/scores?view=recall+over+k", color_scheme=scheme)
    expect(page.locator("svg.marks")).to_have_count(2)
    found = page.locator("svg.marks").first.evaluate(READ_CHART)
    ground = page.locator(".stApp").evaluate("it => getComputedStyle(it).backgroundColor")
    assert all(contrast(colour, ground) >= 4.5 for colour in found["texts"])
    assert min(found["sizes"]) >= 12
    drawn = page.locator(".ranking").evaluate(READ_PICTURE)
    assert len(drawn["points"]) == 20
    assert all(contrast(colour, ground) >= 3 for colour in drawn["points"])
    assert all(contrast(colour, ground) >= 4.5 for colour in drawn["texts"])


READ_CHART = """svg => {
    const look = element => getComputedStyle(element);
    const shown = [...svg.querySelectorAll("text")].filter(it => it.textContent);
    return {
        texts: shown.map(it => look(it).fill),
        sizes: shown.map(it => parseFloat(look(it).fontSize)),
    };
}"""
READ_PICTURE = """table => {
    const look = (query, name) =>
        [...table.querySelectorAll(query)].map(it => getComputedStyle(it)[name]);
    const points = [...look(".point", "borderTopColor"), ...look(".level", "backgroundColor")];
    return { points, texts: look(".tick, td, th a", "color") };
}"""


@pytest.fixture
def sample(tmp_path: Path, serve) -> WarmServer:
    """Serve the sample data, with a run on a second chunking."""
    build_demo(tmp_path / "sample.db", rechunked=True)
    return serve(tmp_path / "sample.db")


# The words in sight, without the header, that begin with a letter.
WORDS_IN_SIGHT = r"""() => {
    const found = [];
    const read = node => {
        if (node.nodeType === Node.TEXT_NODE) {
            const range = document.createRange();
            range.selectNodeContents(node);
            const isSeen = box => box.width > 1 && box.height > 1 && box.top < innerHeight;
            const isShown = node.parentElement?.checkVisibility({ visibilityProperty: true });
            if (isShown && [...range.getClientRects()].some(isSeen)) found.push(node.textContent);
        }
        if (node instanceof HTMLStyleElement || node.classList?.contains("top")) return;
        for (const child of (node.shadowRoot ?? node).childNodes) read(child);
    };
    read(document.querySelector('[data-testid="stMain"]'));
    return found.join(" ").split(/\s+/).filter(word => /^\p{L}/u.test(word));
}"""


def test_the_first_screen_says_which_run_is_best_in_few_words(sample, visit):
    page = visit(f"{sample.url}/scores", viewport={"width": 1440, "height": 900}, grader=None)
    answer = page.get_by_text("hybrid scores highest; lsa and bm25 are not clearly lower.")
    expect(answer).to_be_visible()
    expect(page.get_by_text("93 of 105 queries (8 not graded, 4 with")).to_be_visible()
    expect(page.get_by_text("1 more run, hybrid-v2, returns other chunks")).to_be_visible()
    words = stand_still(page).evaluate(WORDS_IN_SIGHT)
    assert "hybrid" in words
    assert len(words) <= 210, words


def test_two_runs_have_one_interval_and_one_colour_on_scores_and_on_compare(sample, visit):
    page = visit(f"{sample.url}/scores", grader=None)
    said = page.locator(".answer p").filter(has_text="hybrid is ").inner_text()
    low, high = re.findall(r"[−+]\d\.\d{4}", said)
    wait_for_links(page).get_by_role("link", name="Compare the 2 marked runs").click()
    expect(page).to_have_title(re.compile("^Compare"))
    expect(page.get_by_text(f"{low} to {high}").first).to_be_visible()


def test_a_fold_opens_in_place_by_the_keyboard_and_its_address_opens_it(sample, visit):
    page = visit(f"{sample.url}/scores", grader=None)
    fold = wait_for_links(page).get_by_role("link", name="Over k")
    fold.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name="Over k")).to_have_attribute("aria-expanded", "true")
    expect(page.get_by_role("link", name="Over k")).to_be_focused()
    expect(page.locator("svg.marks")).to_have_count(2)
    expect(page.locator(".ranking")).to_be_visible()
    assert "view=recall+over+k" in page.url
    page.keyboard.press("Enter")
    expect(page.locator("svg.marks")).to_have_count(0)
    expect(page.get_by_role("link", name="Over k")).to_have_attribute("aria-expanded", "false")


def test_all_measures_are_one_click_away_and_in_the_address(sample, visit):
    page = visit(f"{sample.url}/scores", grader=None)
    expect(page.locator(".ranking thead th")).to_have_count(5)
    wait_for_links(page).get_by_role("link", name="All measures").click()
    expect(page.locator(".ranking thead th")).to_have_count(9)
    expect(page.locator(".ranking thead th").nth(7)).to_contain_text("97 queries")
    assert "measure=AP" in page.url
    page.get_by_role("link", name="Only the usual measures").click()
    expect(page.locator(".ranking thead th")).to_have_count(5)


@pytest.mark.slow
def test_the_file_of_keywords_has_the_runs_that_are_shown(server, visit):
    with server.store() as store:
        queries = [replace(query, keywords=("text",)) for query in store.queries.all()]
        store.queries.load(loaded(queries), update=True)
    page = visit(f"{server.url}/scores?view=keywords&run=backward", grader=None)
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download keywords as CSV").click()
    rows = csv.DictReader(waiting.value.path().read_text(encoding="utf-8").splitlines())
    assert {row["run"] for row in rows} == {"backward"}

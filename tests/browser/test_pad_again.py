"""Coming back to the pad: what was given before, a note begun, a chunk that is shown again."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from labeler.model import Judgment
from labeler.services.assignment.pooling import REPEATED_SHARE, stable_fraction
from labeler.store import Store
from tests.browser.padpage import all_saved, library, ready, shown, standing

pytestmark = pytest.mark.browser


def test_after_a_reload_one_can_step_back_through_what_was_graded(serve, visit, tmp_path):
    server = serve(library(tmp_path / "golden.db"))
    page = visit(server.url)
    ready(page)
    seen = []
    for key in "012":
        seen.append(shown(page))
        page.keyboard.press(key)
    all_saved(page, 3)
    page.reload()
    ready(page)
    for text, grade in zip(seen[::-1], "210", strict=True):
        page.keyboard.press("k")
        expect(page.locator(".chunk .text")).to_have_text(text)
        expect(page.locator(".grades [aria-pressed=true]")).to_contain_text(grade)
    page.keyboard.press("3")
    all_saved(page, 3)
    with server.store() as store:
        assert sorted(standing(store).values()) == [1, 2, 3]


@pytest.mark.slow
def test_a_note_begun_survives_a_reload_and_goes_with_the_grade(serve, visit, tmp_path):
    server = serve(library(tmp_path / "golden.db", chunks=1, queries=1))
    page = visit(server.url)
    ready(page)
    page.keyboard.press("n")
    page.keyboard.type("only in 2025")
    page.keyboard.press("Enter")
    page.reload()
    ready(page)
    expect(page.get_by_text("only in 2025")).to_be_visible()
    page.keyboard.press("2")
    all_saved(page, 1)
    with server.store() as store:
        assert [(event.grade, event.note) for event in store.judgments.log()] == [
            (2, "only in 2025")
        ]


@pytest.mark.slow
def test_an_address_opens_a_query_as_a_list_and_says_when_it_is_not_there(serve, visit, tmp_path):
    server = serve(library(tmp_path / "golden.db"))
    page = visit(f"{server.url}/?query=q1")
    expect(page.locator("section.whole .row")).to_have_count(8)
    expect(page.locator(".query-text")).to_have_text("When is parcel 1 paid back?")
    page.keyboard.press("Escape")
    ready(page)
    page = visit(f"{server.url}/?query=q7")
    expect(page.get_by_text("there is no query 'q7'")).to_be_visible()
    page.get_by_role("button", name="Go on without it").click()
    ready(page)


@pytest.mark.slow
def test_a_strategy_whose_run_has_gone_is_said_and_grades_are_kept(serve, visit, tmp_path):
    path = library(
        tmp_path / "golden.db",
        strategy="only unjudged of A vs B",
        unjudged_of=("forward", "backward"),
    )
    with Store(path) as store:
        store.runs.drop("forward")
    page = visit(serve(path).url)
    expect(page.locator(".trouble")).to_contain_text("choose another strategy in the settings")


def grader_with_one_repeat(store: Store, pairs: list[tuple[str, str]]) -> tuple[str, tuple]:
    """Return a grader to whom the lot will show exactly one of these pairs again, an early one."""
    for n in range(1_000):
        store.people.add(f"Ann {n}")
        seed = store.people.seed(f"Ann {n}")
        drawn = [
            at
            for at, (query_id, chunk_id) in enumerate(pairs)
            if stable_fraction(seed, "again", query_id, store.chunks.number(chunk_id))
            < REPEATED_SHARE
        ]
        if len(drawn) == 1 and drawn[0] < 10:
            return f"Ann {n}", pairs[drawn[0]]
    raise LookupError("the lot is not what it should be")


def test_a_chunk_comes_back_unmarked_and_self_agreement_is_shown_kindly(serve, visit, tmp_path):
    path = library(tmp_path / "golden.db", queries=6, chunks=10, overlap=1.0)
    pairs = [(f"q{q}", f"c{c}") for q in range(6) for c in range(10)]
    with Store(path) as store:
        name, drawn = grader_with_one_repeat(store, pairs)
        for n, (query_id, chunk_id) in enumerate(pairs[:40]):
            store.judgments.add(Judgment(f"e{n}", query_id, chunk_id, name, grade=2, source="pool"))
    page = visit(serve(path).url, grader=name)
    ready(page)
    for _ in range(21):
        assert "again" not in page.locator(".one").inner_text().lower()
        page.keyboard.press("2")
    expect(page.get_by_text("Done. Thank you")).to_be_visible()
    all_saved(page, len(pairs))
    with Store(path) as store:
        repeats = [event for event in store.judgments.log() if event.source == "repeat"]
        assert [(event.query_id, event.chunk_id) for event in repeats] == [drawn]
    page.reload()
    expect(
        page.get_by_text("The one passage that you saw again got the same grade")
    ).to_be_visible()

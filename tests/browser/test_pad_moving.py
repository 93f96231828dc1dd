"""Going back and ahead, putting off, changing and taking back grades, by key and by mouse."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.padpage import (
    all_saved,
    begin_again,
    events,
    library,
    press,
    ready,
    shown,
    standing,
    watch_keys,
)

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def shared(serve_to_all, tmp_path_factory):
    folder = tmp_path_factory.mktemp("library")
    return serve_to_all(library(folder / "library.db"))


@pytest.fixture
def served(shared):
    begin_again(shared.database)
    return shared


def test_stepping_back_shows_the_grade_and_another_one_replaces_it(served, visit):
    page = visit(served.url)
    ready(page)
    texts = []
    for key in "201":
        texts.append(shown(page))
        page.keyboard.press(key)
    front = shown(page)
    press(page, "kk")
    assert shown(page) == texts[1]
    expect(page.locator(".given")).to_have_text("you gave 0 · not relevant")
    chosen = page.locator(".grades button[aria-pressed=true]")
    expect(chosen).to_contain_text("0 not relevant")
    page.keyboard.press("3")  # another grade, and one chunk ahead
    assert shown(page) == texts[2]
    page.keyboard.press("s")  # the same grade: only a step ahead
    assert shown(page) == front
    all_saved(page, 3)
    with served.store() as store:
        assert [event.grade for event in events(store)] == [2, 0, 1, 3]
        assert sorted(standing(store).values()) == [1, 2, 3]
    page.keyboard.press("ArrowLeft")
    page.get_by_role("button", name="K previous").click()
    expect(page.locator(".given")).to_have_text("you gave 3 · highly relevant")


def test_stepping_ahead_leaves_chunks_open_and_they_come_again(served, visit):
    page = visit(served.url)
    ready(page)
    query = page.locator(".query-text").text_content()
    skipped = [shown(page)]
    page.keyboard.press("j")
    skipped.append(shown(page))
    page.keyboard.press("ArrowRight")
    for _ in range(6):
        assert shown(page) not in skipped
        page.keyboard.press("2")
    assert page.locator(".query-text").text_content() == query
    assert shown(page) == skipped[0]  # before the next query begins
    press(page, "11")
    expect(page.locator(".query-text")).not_to_have_text(query)
    all_saved(page, 8)
    with served.store() as store:
        assert len(events(store)) == 8


def test_a_chunk_put_off_comes_last_and_is_never_lost(serve, visit, tmp_path):
    served = serve(library(tmp_path / "library.db", queries=1, chunks=5))
    page = visit(served.url)
    ready(page)
    later = shown(page)
    page.keyboard.press("l")
    assert shown(page) != later
    expect(page.locator(".announce")).to_have_text("Saved for later")
    press(page, "0000")
    assert shown(page) == later
    expect(page.locator(".put-off")).to_be_visible()
    all_saved(page, 4)
    page.keyboard.press("l")
    expect(page.locator(".announce")).to_have_text("This is the only passage left")
    page.keyboard.press("3")
    expect(page.get_by_text("Done. Thank you, Ann.")).to_be_visible()
    expect(page.get_by_text("You graded 5 passages")).to_be_visible()
    keys = page.locator(".actions button").filter(visible=True)
    expect(keys).to_have_text(
        [re.compile(each) for each in ("previous", "my g", "how", "all keys")]
    )
    all_saved(page, 5)
    press(page, "k")
    assert shown(page) == later
    with served.store() as store:
        assert [event.grade for event in events(store)] == [0, 0, 0, 0, 3]


@pytest.mark.slow
def test_chunks_put_off_by_the_dozen_do_not_keep_new_ones_away(serve, visit, tmp_path):
    served = serve(library(tmp_path / "library.db", queries=4, chunks=30))
    page = visit(served.url)
    ready(page)
    seen = set()
    for _ in range(1_000):  # more often than there are chunks where fetching is slow
        seen.add((page.locator(".query-text").text_content(), shown(page)))
        if len(seen) == 100:
            break
        page.keyboard.press("l")
        page.wait_for_timeout(15)
    assert len(seen) == 100
    with served.store() as store:
        assert events(store) == []


@pytest.mark.slow
def test_undo_goes_all_the_way_back_across_a_reload(serve, visit, tmp_path):
    served = serve(library(tmp_path / "library.db", queries=3, chunks=10))
    page = visit(served.url)
    ready(page)
    texts = []
    for number in range(28):
        texts.append((page.locator(".query-text").text_content(), shown(page)))
        page.keyboard.press("0123"[number % 4])
    all_saved(page, 28)
    page.reload()
    ready(page)
    for left in range(27, -1, -1):
        page.keyboard.press("u")
        all_saved(page, left)
        assert (page.locator(".query-text").text_content(), shown(page)) == texts[left]
    page.keyboard.press("u")
    expect(page.locator(".announce")).to_have_text("Nothing to undo")
    with served.store() as store:
        assert standing(store) == {}
        assert len(events(store)) == 56


def test_undo_of_a_changed_grade_brings_the_earlier_one_back(served, visit):
    page = visit(served.url)
    ready(page)
    first = shown(page)
    press(page, "1k3")
    all_saved(page, 1)
    page.reload()
    ready(page)
    page.keyboard.press("u")
    assert shown(page) == first
    expect(page.locator(".again")).to_have_text("undone (was 3 highly relevant)")
    expect(page.locator(".given")).to_have_text("you gave 1 · slightly relevant")
    all_saved(page, 1)
    with served.store() as store:
        assert list(standing(store).values()) == [1]
    page.keyboard.press("2")  # on top of the grade that stands again
    all_saved(page, 1)
    press(page, "uu")
    all_saved(page, 0)
    expect(page.locator(".trouble")).to_be_hidden()
    with served.store() as store:
        assert standing(store) == {}


@pytest.mark.slow
def test_sixty_mixed_keys_at_speed_all_act_on_the_chunk_on_screen(serve, visit, tmp_path):
    served = serve(library(tmp_path / "library.db", queries=4, chunks=30))
    page = visit(served.url)
    ready(page)
    watch_keys(page)
    for key in "23l1k0j31u2lj0kk3jj1su0u12ljd3f0kkjaj" + "1l0u2j3k01lsd2uj03k2a1f":
        page.keyboard.press(key)
        page.wait_for_timeout(40)
    expect(page.locator(".status .state")).not_to_contain_text("waiting")
    expect(page.locator(".trouble")).to_be_hidden()
    grades = {**{str(g): g for g in range(4)}, "a": 0, "s": 1, "d": 2, "f": 3}
    given: dict[tuple[str, str], list[int]] = {}
    steps: list[tuple[str, str]] = []
    for key, query, text in page.evaluate("window.pressed"):
        pair = (query, text)
        if key in grades and (given.get(pair) or [None])[-1] != grades[key]:
            given.setdefault(pair, []).append(grades[key])
            steps.append(pair)
        elif key == "u" and steps:
            given[steps.pop()].pop()
    with served.store() as store:
        queries = {query.query_id: query.text for query in store.queries.all()}
        texts = {chunk.chunk_id: chunk.text for chunk in store.chunks.all()}
        stands = {(queries[q], texts[c]): grade for (q, c), grade in standing(store).items()}
    assert stands == {pair: history[-1] for pair, history in given.items() if history}
    all_saved(page, len(stands))

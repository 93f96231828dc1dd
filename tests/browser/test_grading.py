"""Grading as a person does it: keys in a real browser, a real server, what the database holds."""

from __future__ import annotations

import json
import signal

import pytest
from playwright.sync_api import expect

from labeler.model import Chunk, Loaded, Query
from labeler.store import Store
from tests.browser.padpage import (
    JUDGMENTS,
    all_saved,
    cut_off,
    intercept,
    let_through,
    ready,
    watch_keys,
)

pytestmark = pytest.mark.browser


def graded(store: Store) -> list[tuple[str, str, str, int | None]]:
    """List what the log holds as graders saw it: key, query text, chunk text."""
    queries = {query.query_id: query.text for query in store.queries.all()}
    chunks = {chunk.chunk_id: chunk.text for chunk in store.chunks.all()}
    return [
        [str(event.grade), queries[event.query_id], chunks[event.chunk_id]]
        for event in store.judgments.log()
    ]


def test_a_first_visit_leads_to_a_graded_chunk_by_keyboard_only(server, visit):
    page = visit(server.url, grader=None)
    expect(page.get_by_label("What’s your name?")).to_be_focused()
    page.keyboard.type("Zoë 320")
    page.keyboard.press("Enter")
    ready(page)
    with server.store() as store:
        assert store.judgments.log() == []  # the digits of a name are no grades
    page.keyboard.press("2")
    all_saved(page, 1)
    with server.store() as store:
        (event,) = store.judgments.log()
    assert (event.grader, event.kind, event.grade, event.blind) == ("Zoë 320", "grade", 2, True)
    page.reload()
    ready(page)
    expect(page.locator(".status .grader")).to_have_text("grading as Zoë 320")


def test_sixty_keys_at_twenty_five_a_second_all_grade_the_chunk_on_screen(server, visit):
    page = visit(server.url)
    ready(page)
    watch_keys(page)
    for number in range(60):
        page.keyboard.press("0123asdf"[number % 8])
        page.wait_for_timeout(40)
    all_saved(page, 60)
    keys = {"a": "0", "s": "1", "d": "2", "f": "3"}
    pressed = [[keys.get(key, key), *seen] for key, *seen in page.evaluate("window.pressed")]
    with server.store() as store:
        assert graded(store) == pressed
    assert len({tuple(seen) for _, *seen in pressed}) == 60  # no chunk was graded twice


def test_a_held_down_key_grades_once(server, visit):
    page = visit(server.url)
    ready(page)
    for _ in range(10):
        page.keyboard.down("3")  # without an up in between the browser marks them as repeats
    page.keyboard.up("3")
    all_saved(page, 1)
    page.wait_for_timeout(300)
    with server.store() as store:
        assert len(store.judgments.log()) == 1


def test_keys_with_a_modifier_and_keys_in_a_field_are_not_grades(server, visit):
    page = visit(server.url)
    ready(page)
    page.keyboard.press("Control+a")
    page.keyboard.press("Alt+2")
    page.keyboard.press("7")
    page.keyboard.press("1")
    all_saved(page, 1)
    with server.store() as store:
        assert [event.grade for event in store.judgments.log()] == [1]


def test_undo_brings_the_chunk_back_and_takes_the_grade_away(server, visit):
    page = visit(server.url)
    ready(page)
    first = page.locator(".chunk .text").text_content()
    page.keyboard.press("3")
    page.keyboard.press("u")
    expect(page.locator(".chunk .text")).to_have_text(first)
    expect(page.locator(".again")).to_have_text("undone (was 3 highly relevant)")
    all_saved(page, 0)
    with server.store() as store:
        assert store.golden_set.read()[1] == []
        assert [event.kind for event in store.judgments.log()] == ["grade", "withdraw"]
    page.keyboard.press("1")
    all_saved(page, 1)
    with server.store() as store:
        assert [grade.grade for grade in store.golden_set.read()[1]] == [1]


@pytest.mark.slow
def test_undo_reaches_a_grade_from_before_a_reload(server, visit):
    page = visit(server.url)
    ready(page)
    first = page.locator(".chunk .text").text_content()
    page.keyboard.press("2")
    all_saved(page, 1)
    page.reload()
    ready(page)
    page.keyboard.press("u")
    expect(page.locator(".chunk .text")).to_have_text(first)
    all_saved(page, 0)
    with server.store() as store:
        assert store.golden_set.read()[1] == []


def test_cannot_tell_is_no_grade_and_is_not_asked_again(server, visit):
    page = visit(server.url)
    ready(page)
    first = page.locator(".chunk .text").text_content()
    page.keyboard.press("x")
    page.keyboard.press("x")  # no reason
    expect(page.locator(".chunk .text")).not_to_have_text(first)
    all_saved(page, 1)
    with server.store() as store:
        assert store.golden_set.read()[1] == []
        assert [event.kind for event in store.judgments.log()] == ["cannot_tell"]


def test_buttons_grade_by_mouse(server, visit):
    page = visit(server.url)
    ready(page)
    page.get_by_role("button", name="1 slightly relevant").click()
    all_saved(page, 1)
    with server.store() as store:
        assert [event.grade for event in store.judgments.log()] == [1]


def test_nothing_is_lost_or_doubled_when_the_server_stops_and_starts_again(server, visit):
    page = visit(server.url)
    ready(page)
    watch_keys(page)
    for key in "012":
        page.keyboard.press(key)
    all_saved(page, 3)
    server.stop(signal.SIGKILL)
    for key in "3210":
        page.keyboard.press(key)
        page.wait_for_timeout(100)
    expect(page.locator(".status .state")).to_have_text(
        "3 saved, offline: 4 kept, sent when you’re back"
    )
    server.start()
    all_saved(page, 7)
    page.keyboard.press("1")
    all_saved(page, 8)
    with server.store() as store:
        assert graded(store) == page.evaluate("window.pressed")


def test_grades_given_offline_survive_a_reload_and_are_sent_once(server, visit):
    page = visit(server.url)
    ready(page)
    watch_keys(page)
    cut_off(page)
    for key in "3031":
        page.keyboard.press(key)
    expect(page.locator(".status .state")).to_have_text(
        "0 saved, offline: 4 kept, sent when you’re back"
    )
    pressed = page.evaluate("window.pressed")
    with server.store() as store:
        assert store.judgments.log() == []
    let_through(page)
    page.reload()
    all_saved(page, 4)
    with server.store() as store:
        assert graded(store) == pressed


def test_an_answer_that_was_lost_does_not_double_the_grade(server, visit):
    page = visit(server.url)
    ready(page)
    lost = []

    def lose_the_first_answer(route) -> None:
        if lost:
            route.continue_()
            return
        lost.append(route.fetch())
        route.abort()

    intercept(page, JUDGMENTS, lose_the_first_answer)
    page.keyboard.press("2")
    all_saved(page, 1)
    assert lost[0].ok
    with server.store() as store:
        assert len(store.judgments.log()) == 1


def test_a_token_that_runs_out_is_renewed_and_nothing_is_lost(serve, visit):
    server = serve(LABELER_TOKEN_SECONDS="1")
    page = visit(server.url)
    ready(page)
    refusals: list[int] = []
    page.on("response", lambda answer: refusals.append(answer.status))
    saved = 0
    for keys in ("0", "123"):  # the first is renewed at once, the next ones after a while
        page.wait_for_timeout(2_200)  # a token's age is counted in whole seconds
        refusals.clear()
        for key in keys:
            page.keyboard.press(key)
        saved += len(keys)
        all_saved(page, saved)
        assert 403 in refusals
    with server.store() as store:
        assert [event.grade for event in store.judgments.log()] == [0, 1, 2, 3]


def test_waiting_grades_are_never_sent_under_another_name(server, visit):
    page = visit(server.url)
    ready(page)
    cut_off(page)
    page.keyboard.press("3")
    expect(page.locator(".status .state")).to_contain_text("1 kept")
    page.evaluate("document.cookie = 'labeler_grader=Bob; Path=/'")
    page.reload()
    expect(page.locator(".status .grader")).to_have_text("grading as Bob")
    let_through(page)
    ready(page)
    page.keyboard.press("1")
    all_saved(page, 1)
    given = {("Bob", 1), ("Ann", 3)}
    with server.store() as store:  # a browser that leaves a page can still send what it kept
        found = {(event.grader, event.grade) for event in store.judgments.log()}
    assert ("Bob", 1) in found
    assert found <= given
    page.evaluate("document.cookie = 'labeler_grader=Ann; Path=/'")
    page.reload()
    all_saved(page, 1)
    with server.store() as store:
        assert sorted((event.grader, event.grade) for event in store.judgments.log()) == sorted(
            given
        )


def test_the_name_can_be_changed(server, visit):
    page = visit(server.url)
    ready(page)
    page.get_by_role("button", name="Change name").click()
    page.get_by_label("What’s your name?").fill("Cleo")
    page.keyboard.press("Enter")
    expect(page.locator(".status .grader")).to_have_text("grading as Cleo")
    ready(page)
    page.keyboard.press("2")
    all_saved(page, 1)
    with server.store() as store:
        assert [event.grader for event in store.judgments.log()] == ["Cleo"]


def test_a_refused_grade_is_said_and_the_others_are_saved(server, visit):
    page = visit(server.url)
    ready(page)
    query = page.locator(".query-text").text_content()
    with server.store() as store:
        retired = next(known for known in store.queries.all() if known.text == query)
        store.queries.retire(retired.query_id)
    page.keyboard.press("2")
    expect(page.locator(".trouble")).to_contain_text("Not saved: 1. Last reason:")
    expect(page.locator(".trouble")).to_contain_text("has been retired")
    expect(page.locator(".query-text")).not_to_have_text(query)
    with server.store() as store:
        assert store.judgments.log() == []


def test_the_pool_runs_out_with_a_word_and_undo_still_works(serve, visit, golden_set):
    server = serve(golden_set(queries=1, chunks=3))
    page = visit(server.url)
    ready(page)
    for key in "012":
        page.keyboard.press(key)
    expect(page.get_by_text("Done. Thank you")).to_be_visible()
    page.keyboard.press("u")
    ready(page)
    page.keyboard.press("3")
    all_saved(page, 3)
    with server.store() as store:
        assert sorted(grade.grade for grade in store.golden_set.read()[1]) == [0, 1, 3]


def test_what_the_pad_gets_does_not_tell_system_rank_or_score(server, visit):
    page = visit("about:blank", grader=None)
    page.context.add_cookies([{"name": "labeler_grader", "value": "Ann", "url": server.url}])
    with page.expect_response("**/api/next*") as response:
        page.goto(server.url)
    answer = response.value.text()
    ready(page)
    keys = {key for item in json.loads(answer)["items"] for key in item}
    assert not keys & {"run", "system", "rank", "score", "grade", "graders"}
    assert "forward" not in answer
    assert "backward" not in answer


@pytest.mark.slow
def test_the_next_chunk_starts_at_its_top(serve, visit, golden_set):
    path = golden_set(queries=1, chunks=2)
    with Store(path) as store:
        long = [Chunk(f"c{n}", "This is the text.\n" * 200, f"Title {n}") for n in range(2)]
        store.chunks.load(Loaded("test", long, [1, 2]), update=True)
    page = visit(serve(path).url)
    ready(page)
    page.locator(".chunk").hover()
    page.mouse.wheel(0, 3_000)
    expect(page.locator(".chunk .title")).not_to_be_in_viewport()
    expect(page.locator(".query-text")).to_be_in_viewport()  # it stays beside the text
    expect(page.get_by_role("button", name="2 partly relevant")).to_be_in_viewport()
    page.keyboard.press("2")
    expect(page.locator(".chunk .title")).to_be_in_viewport()


def test_a_held_enter_on_a_button_and_a_double_click_grade_once(server, visit):
    page = visit(server.url)
    ready(page)
    button = page.get_by_role("button", name="1 slightly relevant")
    button.dblclick()
    all_saved(page, 1)
    button.focus()
    for _ in range(10):
        page.keyboard.down("Enter")
    page.keyboard.up("Enter")
    all_saved(page, 2)
    page.wait_for_timeout(300)
    with server.store() as store:
        assert len(store.judgments.log()) == 2


@pytest.mark.slow
def test_no_dialog_hides_the_chunk_while_the_server_is_away(server, visit):
    page = visit(server.url)
    ready(page)
    server.stop(signal.SIGKILL)
    page.keyboard.press("2")
    expect(page.locator(".status .state")).to_have_text(
        "0 saved, offline: 1 kept, sent when you’re back"
    )
    page.wait_for_timeout(6_000)  # Streamlit says so after a few seconds, in a dialog
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.keyboard.press("3")
    expect(page.locator(".status .state")).to_have_text(
        "0 saved, offline: 2 kept, sent when you’re back"
    )


@pytest.mark.slow
def test_keys_are_mute_under_a_dialog(server, visit):
    page = visit(server.url)
    ready(page)
    page.evaluate("document.body.insertAdjacentHTML('beforeend', '<div role=dialog>look</div>')")
    page.keyboard.press("3")
    page.evaluate("document.querySelector('[role=dialog]').remove()")
    page.keyboard.press("1")
    all_saved(page, 1)
    with server.store() as store:
        assert [event.grade for event in store.judgments.log()] == [1]


@pytest.mark.slow
def test_waiting_grades_of_another_name_are_still_spoken_of(server, visit):
    page = visit(server.url)
    ready(page)
    cut_off(page)
    for key in "321":
        page.keyboard.press(key)
    expect(page.locator(".status .state")).to_contain_text("3 kept")
    page.get_by_role("button", name="Change name").click()
    page.get_by_role("button", name="Stay").click()
    expect(page.locator(".status .grader")).to_have_text("grading as Ann")
    page.get_by_role("button", name="Change name").click()
    expect(page.get_by_label("What’s your name?")).to_have_value("Ann")
    page.get_by_label("What’s your name?").fill("Bob")
    page.keyboard.press("Enter")
    expect(page.locator(".trouble")).to_contain_text("Unsent grades by Ann on this device: 3.")
    with server.store() as store:
        assert store.judgments.log() == []


@pytest.mark.slow
def test_a_very_long_query_leaves_the_chunk_in_sight(serve, visit, golden_set):
    path = golden_set(queries=1, chunks=2)
    with Store(path) as store:
        words = "What does this very long query ask? " * 200
        store.queries.load(Loaded("test", [Query("q0", words)], [1]), update=True)
    page = visit(serve(path).url)
    ready(page)
    expect(page.locator(".chunk .text")).to_be_in_viewport(ratio=1)


@pytest.mark.slow
def test_label_is_found_under_its_name(server, visit):
    page = visit(f"{server.url}/label")
    ready(page)
    expect(page.get_by_role("dialog")).to_have_count(0)


@pytest.mark.slow
def test_a_server_that_cannot_save_is_not_called_offline(server, visit):
    page = visit(server.url)
    ready(page)
    with server.store() as store:
        store.connection.execute("BEGIN IMMEDIATE")  # another writer that takes long
        page.keyboard.press("2")
        expect(page.locator(".status .state")).to_have_text(
            "0 saved, not saving: 1 kept, tried again"
        )
        expect(page.locator(".trouble")).to_contain_text("another process is writing")
        store.connection.conn.rollback()
    all_saved(page, 1)
    expect(page.locator(".trouble")).to_be_hidden()

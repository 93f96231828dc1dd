"""The list of a whole query as a person uses it: keys, mouse, and what the database then holds."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from labeler.model import Chunk, Judgment, Query, Ranking
from labeler.store import Store
from tests.browser.padpage import JUDGMENTS, cut_off, intercept, let_through
from tests.browser.server import loaded

pytestmark = pytest.mark.browser

NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
TEXTS = {
    **{name: f"Paragraph {name}: the refund comes some day. " * 3 for name in NUMBERS},
    "twin": "Money comes back within five days after we have received a machine in its box.",
    "other twin": "Money comes back within five days after we have received a machine in its bag.",
}
LONG = "This sentence is one of many in a chunk that says nothing of interest. " * 60


@pytest.fixture
def listed(tmp_path) -> Path:
    """Make a golden set of one query with twelve chunks, two of them nearly the same."""
    path = tmp_path / "listed.db"
    texts = {**TEXTS, "ten": f"{LONG} The REFUND. {LONG}"}
    with Store(path, create=True) as store:
        store.queries.load(
            loaded(
                [
                    Query("query-x", "How long does a refund take?", keywords=("five days",)),
                    Query("query-y", "What else?"),
                ]
            )
        )
        store.chunks.load(
            loaded(
                [
                    Chunk(f"id-{n}", text, f"Title {name}", document_id="handbook")
                    for n, (name, text) in enumerate(texts.items())
                ]
            )
        )
        ids = tuple(f"id-{n}" for n in range(len(texts)))
        lists = [Ranking("query-x", ids), Ranking("query-y", ids[:2])]
        store.runs.load(loaded(lists), name="run-zebra")
        settings = store.settings.read()
        store.settings.save(type(settings)(pool_depth=20))
    return path


@pytest.fixture
def open_list(serve, visit, listed):
    """Open the list of the query with twelve chunks; give the server and the page."""

    def begin(grader: str = "Ann"):
        server = serve(listed)
        page = visit(server.url, grader=grader)
        expect(page.locator(".chunk .text")).not_to_be_empty()
        while "refund" not in page.locator(".query-text").text_content():
            page.keyboard.press("1")
        page.keyboard.press("b")
        expect(page.locator(".whole .row")).to_have_count(12)
        return server, page

    return begin


def current(page: Page) -> Locator:
    """Return the row that keys grade."""
    return page.locator(".whole .row.current")


def title(row: Locator) -> str:
    """Return the title on a row."""
    return row.locator(".name").text_content()


def titles(page: Page) -> list[str]:
    """Return the titles of all rows."""
    return page.locator(".whole .name").all_text_contents()


def grades(store: Store) -> dict[str, int | None]:
    """Return the golden grade of each chunk of the query, by title."""
    names = {chunk.chunk_id: chunk.title for chunk in store.chunks.all()}
    return {
        names[grade.chunk_id]: grade.grade
        for grade in store.golden_set.read()[1]
        if grade.query_id == "query-x"
    }


def events(server) -> list[Judgment]:
    """Return what the log holds of the query."""
    with server.store() as store:
        return [event for event in store.judgments.log() if event.query_id == "query-x"]


def all_saved(page: Page) -> None:
    """Wait until nothing waits."""
    expect(page.locator(".status .state")).to_have_text(re.compile(r"^\d+ saved$"))


def test_keys_grade_the_row_they_stand_on_and_move_to_the_next_open_one(serve, visit, listed):
    server = serve(listed)
    page = visit(server.url)
    expect(page.locator(".chunk .text")).not_to_be_empty()
    while "refund" not in page.locator(".query-text").text_content():
        page.keyboard.press("0")
    page.keyboard.press("3")
    page.keyboard.press("2")
    on_screen = page.locator(".chunk .title").text_content()
    page.keyboard.press("b")
    expect(page.locator(".whole .row")).to_have_count(12)
    expect(page.locator(".chunk")).to_be_hidden()
    order = titles(page)
    assert title(current(page)) == on_screen  # where the grader was
    expect(page.locator(".whole .progress")).to_have_text("2 of 12 graded by you · 10 not yet")

    expected = dict.fromkeys(order)
    for row in range(12):
        badge = page.locator(".whole .row").nth(row).locator(".badge").text_content()
        expected[order[row]] = int(badge) if badge else None
    assert sorted(grade for grade in expected.values() if grade is not None) == [2, 3]
    for key, grade in (("1", 1), ("f", 3), ("0", 0)):
        name = title(current(page))
        assert expected[name] is None
        expected[name] = grade
        page.keyboard.press(key)
        assert title(current(page)) != name
    page.keyboard.press("Home")
    assert title(current(page)) == order[0]
    page.keyboard.press("ArrowUp")
    assert title(current(page)) == order[0]
    page.keyboard.press("j")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("k")
    assert title(current(page)) == order[1]
    assert page.evaluate(FOCUSED) == order[1]  # what a screen reader reads
    page.keyboard.press("End")
    assert title(current(page)) == order[-1]
    expect(page.locator(".whole .progress")).to_have_text("5 of 12 graded by you · 7 not yet")

    page.keyboard.press("Escape")
    expect(page.locator(".whole")).to_be_hidden()
    shown = page.locator(".chunk .title").text_content()
    assert expected.get(shown) is None  # an open chunk, whatever the list has answered
    all_saved(page)
    with server.store() as store:
        given = {name: grade for name, grade in expected.items() if grade is not None}
        assert grades(store) == given
    assert {event.source for event in events(server)} == {"pool", "list"}
    assert all(event.blind for event in events(server))


FOCUSED = """() => {
    let focused = document.activeElement;
    while (focused.shadowRoot?.activeElement) focused = focused.shadowRoot.activeElement;
    return focused.querySelector(".name")?.textContent;
}"""


@pytest.mark.slow
def test_another_grade_replaces_the_first_and_undo_goes_back_step_by_step(open_list):
    server, page = open_list()
    page.keyboard.press("Home")
    first, second, third = titles(page)[:3]
    page.keyboard.type("123")
    page.keyboard.press("Home")
    page.keyboard.press("1")  # the same grade again: only a step ahead
    assert title(current(page)) == second
    page.keyboard.press("k")
    page.keyboard.press("3")  # another one: a step ahead, past no row
    assert title(current(page)) == second
    all_saved(page)
    with server.store() as store:
        assert grades(store) == {first: 3, second: 2, third: 3}
    assert [event.grade for event in events(server)] == [1, 2, 3, 3]

    states = []
    for _ in range(4):
        page.keyboard.press("u")
        all_saved(page)
        with server.store() as store:
            states.append(grades(store))
    assert states == [{first: 1, second: 2, third: 3}, {first: 1, second: 2}, {first: 1}, {}]
    assert title(current(page)) == first
    expect(page.locator(".whole .progress")).to_have_text("0 of 12 graded by you · 12 not yet")
    page.keyboard.press("u")
    expect(page.locator(".announce")).to_have_text("Nothing to undo here")
    assert len(events(server)) == 8


def test_chunks_that_are_nearly_the_same_stand_together_and_share_a_grade(open_list):
    server, page = open_list()
    order = titles(page)
    lower = page.locator(".whole .row.twin")
    expect(lower).to_have_count(1)
    at = order.index(title(lower))
    assert {order[at - 1], order[at]} == {"Title twin", "Title other twin"}
    lower.locator(".open").click()
    same = lower.get_by_role("button", name="same grade as the one above")
    expect(same).to_be_disabled()
    page.keyboard.press("=")
    expect(page.locator(".announce")).to_have_text("The one above is not graded yet")
    page.keyboard.press("k")
    page.keyboard.press("=")
    expect(page.locator(".announce")).to_have_text("This passage differs from the one above")
    page.keyboard.press("2")
    assert title(current(page)) == order[at]
    same.click()
    all_saved(page)
    with server.store() as store:
        assert grades(store) == {"Title twin": 2, "Title other twin": 2}
    page.keyboard.press("u")
    all_saved(page)
    page.keyboard.press("=")
    all_saved(page)
    with server.store() as store:
        assert grades(store) == {"Title twin": 2, "Title other twin": 2}


@pytest.mark.slow
def test_a_reason_and_a_note_go_with_the_row_they_were_written_for(open_list):
    server, page = open_list()
    page.keyboard.press("Home")
    second = titles(page)[1]
    page.keyboard.press("x")
    page.keyboard.press("2")
    row = page.locator(".whole .row").nth(0)
    expect(row.locator(".words")).to_have_text("can’t tell: outside my field")
    assert title(current(page)) == second
    page.keyboard.press("x")
    page.keyboard.press("Escape")
    assert title(current(page)) == second  # nothing was said, nothing moved
    page.keyboard.press("3")
    page.keyboard.press("k")
    page.keyboard.press("n")
    page.keyboard.type("123 says it best")
    page.keyboard.press("Enter")
    expect(current(page).locator(".said")).to_have_text("Note: 123 says it best")
    assert title(current(page)) == second
    page.keyboard.press("2")  # another grade keeps the note
    all_saved(page)
    assert [(e.kind, e.grade, e.reason, e.note) for e in events(server)] == [
        ("cannot_tell", None, "outside my field", None),
        ("grade", 3, None, None),
        ("grade", 3, None, "123 says it best"),
        ("grade", 2, None, "123 says it best"),
    ]
    page.reload()
    expect(page.locator(".whole .row .words").first).to_have_text("can’t tell: outside my field")
    page.keyboard.press("Home")
    page.keyboard.press("j")
    expect(current(page).locator(".said")).to_have_text("Note: 123 says it best")


# A place of a row that is none of its buttons.
BARE = """row => {
    const { left, top, width, height } = row.getBoundingClientRect();
    for (let x = 1; x < width; x += 2) {
        for (let y = 1; y < height; y += 2) {
            if (row.getRootNode().elementFromPoint(left + x, top + y) === row) return { x, y };
        }
    }
}"""


def test_the_mouse_alone_opens_grades_takes_back_and_leaves(open_list):
    server, page = open_list()
    order = titles(page)
    rows = page.locator(".whole .row")
    rows.nth(5).click(position=rows.nth(5).evaluate(BARE))
    assert title(current(page)) == order[5]
    rows.nth(3).locator(".open").click()
    assert title(current(page)) == order[3]
    expect(rows.nth(3).locator(".full")).to_be_visible()
    expect(page.locator(".whole .full:visible")).to_have_count(1)
    rows.nth(3).get_by_role("button", name="2, partly relevant").click()
    assert title(current(page)) == order[4]
    rows.nth(6).get_by_role("button", name="0, not relevant").dblclick()  # counts once
    assert title(current(page)) == order[4]
    all_saved(page)
    with server.store() as store:
        assert grades(store) == {order[3]: 2, order[6]: 0}
    expect(rows.nth(6).get_by_role("button", name="0, not relevant")).to_have_attribute(
        "aria-pressed", "true"
    )
    page.locator(".bar").get_by_role("button", name="undo").click()
    all_saved(page)
    with server.store() as store:
        assert grades(store) == {order[3]: 2}
    page.get_by_role("button", name="one passage at a time").click()
    expect(page.locator(".whole")).to_be_hidden()
    expect(page.locator(".chunk .text")).to_be_visible()


@pytest.mark.slow
def test_sixty_keys_a_quick_hand_types_grade_each_row_once_and_then_nothing(open_list):
    server, page = open_list()
    page.keyboard.press("Home")
    page.locator(".whole").evaluate(WATCH)
    for number in range(60):
        page.keyboard.press("0123asdf"[number % 8])
        page.wait_for_timeout(40)
    expect(page.locator(".whole .progress")).to_have_text("all 12 graded by you")
    expect(current(page)).to_have_count(0)
    expect(page.get_by_role("button", name="next question")).to_be_focused()
    all_saved(page)
    values = {"a": 0, "s": 1, "d": 2, "f": 3, "0": 0, "1": 1, "2": 2, "3": 3}
    pressed = {name: values[key] for key, name in page.evaluate("window.pressed") if name}
    with server.store() as store:
        assert grades(store) == pressed
    assert len(events(server)) == len(pressed) == 12
    page.keyboard.press("k")  # back to the last row, where another grade counts again
    last = title(current(page))
    page.keyboard.press("0" if pressed[last] else "1")
    all_saved(page)
    assert len(events(server)) == 13


WATCH = """(whole) => {
    window.pressed = [];
    window.addEventListener("keydown", (event) => window.pressed.push(
        [event.key, whole.querySelector(".row.current .name")?.textContent ?? ""]), true);
}"""


@pytest.mark.slow
def test_the_list_is_blind_marked_whole_and_narrow_enough_to_read(serve, visit, listed):
    with Store(listed) as store:
        store.people.add("Bob")
        store.judgments.add(
            Judgment("e1", "query-x", "id-3", "Bob", "grade", 3, note="Bob wrote this")
        )
    server = serve(listed)
    page = visit(server.url)
    answers: list[str] = []
    page.on(
        "response",
        lambda answer: answers.append(answer.text()) if "/api/query" in answer.url else None,
    )
    expect(page.locator(".chunk .text")).not_to_be_empty()
    while "refund" not in page.locator(".query-text").text_content():
        page.keyboard.press("1")
    page.keyboard.press("b")
    expect(page.locator(".whole .row")).to_have_count(12)
    expect(page.locator(".whole .badge.hollow")).to_have_count(12)  # Bob's grade is not shown
    html = page.locator(".whole").inner_html()
    for secret in ("run-zebra", "id-", "Bob", "rank"):
        assert secret not in html
    assert answers
    assert not any(secret in answer for answer in answers for secret in ("run-zebra", "Bob"))

    page.get_by_role("button", name="Title ten").click()
    text = current(page).locator(".text")
    assert text.evaluate(LONGEST_LINE) < 80
    expect(page.locator(".whole mark")).to_have_count(0)
    page.keyboard.press("m")
    expect(text.locator("mark.word")).to_have_text(["REFUND"])
    expect(page.locator(".whole mark.keyword").first).to_have_text("five days")
    page.keyboard.press("m")
    expect(page.locator(".whole mark")).to_have_count(0)
    page.keyboard.press("m")
    expect(page.locator(".whole mark.keyword").first).to_be_visible()
    text.click()
    page.keyboard.press("2")  # the keys go on after a click into the text
    all_saved(page)
    assert events(server)[-1].chunk_id == "id-9"


LONGEST_LINE = """(host) => {
    let longest = 0, length = 0, top = null;
    const node = document.createTreeWalker(host, NodeFilter.SHOW_TEXT).nextNode();
    for (let at = 0; at < node.length; at++) {
        const range = document.createRange();
        range.setStart(node, at);
        range.setEnd(node, at + 1);
        const box = range.getBoundingClientRect();
        length = box.top === top ? length + 1 : 1;
        top = box.top;
        longest = Math.max(longest, length);
    }
    return longest;
}"""


@pytest.mark.slow
def test_what_was_just_graded_is_graded_in_the_list_though_it_still_waits(serve, visit, listed):
    server = serve(listed)
    page = visit(server.url)
    expect(page.locator(".chunk .text")).not_to_be_empty()
    while "refund" not in page.locator(".query-text").text_content():
        page.keyboard.press("1")
    all_saved(page)

    def late(route: Route) -> None:
        time.sleep(0.5)
        route.continue_()

    intercept(page, JUDGMENTS, late)
    graded = []
    for key in "123":
        graded.append(page.locator(".chunk .title").text_content())
        page.keyboard.press(key)
    page.keyboard.press("b")
    expect(page.locator(".whole .row")).to_have_count(12)
    expect(page.locator(".whole .progress")).to_have_text("3 of 12 graded by you · 9 not yet")
    page.locator(".whole .row", has_text=graded[0]).locator(".open").first.click()
    page.keyboard.press("0")  # knows what it replaces
    all_saved(page)
    expect(page.locator(".trouble")).to_be_hidden()
    with server.store() as store:
        assert grades(store) == {graded[0]: 0, graded[1]: 2, graded[2]: 3}


@pytest.mark.slow
def test_a_grade_for_an_older_text_is_marked_and_open_again(serve, visit, listed):
    with Store(listed) as store:
        store.people.add("Ann")
        store.judgments.add(Judgment("old", "query-x", "id-3", "Ann", "grade", 2, note="short"))
        changed = Chunk("id-3", "Another text.", "Title four", document_id="handbook")
        store.chunks.load(loaded([changed]), update=True)
    server = serve(listed)
    page = visit(server.url)
    expect(page.locator(".chunk .text")).not_to_be_empty()
    while "refund" not in page.locator(".query-text").text_content():
        page.keyboard.press("1")
    all_saved(page)
    page.keyboard.press("b")
    row = page.locator(".whole .row").filter(has=page.get_by_text("Title four", exact=True))
    stale = "partly relevant · the text changed since it was graded"
    expect(row.locator(".words")).to_have_text(stale)
    row.locator(".open").click()
    page.keyboard.press("2")  # the same grade, but for the new text
    expect(row.locator(".words")).to_have_text("partly relevant")
    all_saved(page)
    newest = events(server)[-1]
    assert newest.event_id != "old"
    assert (newest.chunk_id, newest.grade, newest.note) == ("id-3", 2, "short")
    page.keyboard.press("u")
    expect(row.locator(".words")).to_have_text(stale)


def test_a_rule_tells_what_a_grader_is_asked_for_from_what_others_have_graded(serve, visit, listed):
    with Store(listed) as store:
        store.settings.save(replace(store.settings.read(), overlap=0))
        store.people.add("Bob")
        for n in range(8):
            store.judgments.add(Judgment(f"b{n}", "query-x", f"id-{n}", "Bob", "grade", 1))
        for n in (0, 1):
            store.judgments.add(Judgment(f"y{n}", "query-y", f"id-{n}", "Bob", "grade", 1))
    page = visit(serve(listed).url)
    expect(page.locator(".query-text")).to_contain_text("refund")
    page.keyboard.press("b")
    lines = page.locator(".whole .rows > li")
    expect(lines).to_have_count(13)
    expect(lines.nth(4)).to_have_text("not asked of you")
    assert sorted(titles(page)[:4]) == ["Title nine", "Title other twin", "Title ten", "Title twin"]
    go_on = page.get_by_role("button", name="next question")
    for key in "0123":
        expect(go_on).to_be_hidden()
        page.keyboard.press(key)
    all_saved(page)
    expect(go_on).to_be_visible()  # though eight were not asked of her
    expect(lines.nth(4)).to_have_text("not asked of you")
    expect(lines.nth(5)).to_have_class(re.compile("current"))
    page.keyboard.press("2")
    expect(page.locator(".whole .progress")).to_have_text("5 of 12 graded by you · 7 not yet")


@pytest.mark.slow
def test_a_list_that_does_not_come_says_so_and_comes_again(serve, visit, listed):
    server = serve(listed)
    page = visit(server.url)
    expect(page.locator(".chunk .text")).not_to_be_empty()
    cut_off(page, "**/api/query?*")
    page.keyboard.press("b")
    expect(page.locator(".whole .message >> nth=0")).to_contain_text("Nothing you graded is lost")
    page.keyboard.press("2")
    all_saved(page)
    with server.store() as store:
        assert store.judgments.log() == []  # no key grades what is not on screen
    let_through(page, "**/api/query?*")
    page.get_by_role("button", name="Try again").click()
    expect(page.locator(".whole .row").first).to_be_visible()
    expect(page.locator(".whole .message >> nth=0")).to_be_empty()

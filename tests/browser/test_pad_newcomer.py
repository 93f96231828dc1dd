"""Told what to do: what a new grader reads, tries on and is told of how far it is."""

from __future__ import annotations

import re
import signal
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from playwright.sync_api import Page, expect

from labeler.model import Chunk, GoldenGrade, Judgment, LoadedGolden, Settings
from labeler.store import Store
from tests.browser.doors import DoorServer, link_for
from tests.browser.padpage import (
    LAPTOP,
    PHONE,
    all_saved,
    intercept,
    let_through,
    library,
    press,
    ready,
    shown,
    standing,
)
from tests.browser.server import loaded

pytestmark = pytest.mark.browser
WORDS = ("no", "weak", "part", "full")


@pytest.fixture
def invited(tmp_path) -> Iterator[Callable[..., DoorServer]]:
    """Serve a library with a lead, so that its door is closed; ends with the test."""
    servers: list[DoorServer] = []

    def start(**settings: object) -> DoorServer:
        server = DoorServer(library(tmp_path / "library.db", **settings))
        servers.append(server)
        server.start()
        link_for(server, "Lea", "lead")
        return server

    yield start
    for server in servers:
        server.stop(signal.SIGKILL)


def welcome(page: Page):
    return page.get_by_role("region", name="Welcome")


@pytest.mark.parametrize("device", [LAPTOP, PHONE], ids=["laptop", "phone"])
def test_an_invitation_says_all_one_needs_and_leads_to_the_first_passage(invited, visit, device):
    server = invited(contact="Lea, room 12", words=WORDS)
    link = link_for(server, "Ann")
    page = visit(server.url, grader=None, newcomer=True, **device)
    page.goto(link)
    for words in (
        "You are invited to grade passages for library",
        "3 questions and 24 passages: about 3 min",
        "Questions? Ask Lea, room 12",
    ):
        expect(page.get_by_text(words)).to_be_in_viewport(ratio=1)
    start = page.get_by_role("button", name="Start grading as Ann")
    expect(start).to_be_in_viewport(ratio=1)
    start.click()
    ready(page)
    expect(welcome(page)).to_have_count(0)
    expect(page.locator(".grades")).to_contain_text("answers it fully")
    press(page, "2")
    all_saved(page, 1)


def test_who_types_a_name_grades_nothing_unread(serve, visit, tmp_path):
    path = library(tmp_path / "library.db", contact="Lea, room 12", words=WORDS)
    page = visit(serve(path).url, newcomer=True, **PHONE)
    card = welcome(page)
    expect(card).to_contain_text("Welcome, Ann")
    for words in (
        "Questions? Ask Lea, room 12",
        "answers it fully",
        "you can undo any of them",
    ):
        expect(card).to_contain_text(words)
    expect(card).to_contain_text("3 questions and 24 passages: about 3 min")
    for each in card.get_by_role("button").all():
        expect(each).to_be_in_viewport(ratio=1)
    expect(page.locator(".chunk")).to_be_hidden()
    page.reload()
    expect(card).to_be_visible()  # they have not done anything yet
    press(page, "2")
    expect(card).to_be_visible()  # nor read anything
    expect(card.get_by_role("button", name="Start grading")).to_be_focused()
    page.keyboard.press("Enter")
    expect(card).to_have_count(0)
    press(page, "2")
    all_saved(page, 1)
    page.reload()
    ready(page)
    expect(card).to_have_count(0)


def test_who_types_a_name_is_welcomed_too_until_they_start(serve, visit, tmp_path):
    server = serve(library(tmp_path / "library.db"))
    page = visit(server.url, newcomer=True)
    expect(welcome(page)).to_contain_text("Here you grade passages for library")
    welcome(page).get_by_role("button", name="How to grade").click()
    expect(page.get_by_role("region", name="How to grade")).to_be_visible()
    page.keyboard.press("Escape")
    welcome(page).get_by_role("button", name="Start grading").click()
    page.reload()
    ready(page)
    expect(welcome(page)).to_have_count(0)


def test_what_is_coming_is_said_while_the_first_passage_is_fetched(serve, visit, tmp_path):
    server = serve(library(tmp_path / "library.db"))
    page = visit(server.url)
    ready(page)
    held = []
    intercept(page, "**/api/next*", lambda route: held.append(route))
    with page.expect_request("**/api/next*"):
        page.reload()
    expect(page.get_by_text("Getting your first question…")).to_be_visible()
    expect(page.locator(".desk")).to_be_hidden()
    let_through(page, "**/api/next*")
    for route in held:
        route.continue_()
    ready(page)
    expect(page.get_by_text("Getting your first question…")).to_be_hidden()


@pytest.mark.slow
def test_who_has_graded_before_is_not_welcomed(invited, visit):
    server = invited()
    page = visit(link_for(server, "Ann"), grader=None)
    ready(page)
    press(page, "2")
    all_saved(page, 1)
    page = visit(link_for(server, "Ann"), grader=None, newcomer=True)  # another browser
    ready(page)
    expect(welcome(page)).to_have_count(0)


def test_the_example_to_try_on_counts_for_nothing(serve, visit, tmp_path):
    server = serve(library(tmp_path / "library.db"))
    page = visit(server.url, newcomer=True)
    expect(welcome(page)).to_be_visible()
    first = shown(page)
    welcome(page).get_by_role("button", name="Practise on an example").click()
    expect(page.locator(".practice")).to_be_visible()
    expect(page.locator(".query-text")).to_have_text("Do I need a ticket for my dog on the train?")
    words = page.locator(".practice-words")
    expect(words).to_have_text("Practice: nothing here is saved.")
    for key in "nqxlb":  # none of them reaches the golden set
        press(page, key)
        expect(page.locator(".said")).to_have_text("Not in the example")
    for key, told in zip("0312", ("Same as ours",) * 4, strict=True):
        press(page, key)
        expect(words).to_contain_text(told)
    expect(words).to_contain_text("That was the last one; nothing here was saved.")
    start = page.get_by_role("button", name="Start grading")
    expect(start).to_be_focused()
    press(page, "0")
    expect(words).to_have_text("That was the last one; nothing here was saved.")
    start.click()
    expect(page.locator(".practice")).to_be_hidden()
    expect(page.locator(".chunk .text")).to_have_text(first)
    page.get_by_role("button", name="I how to grade").click()
    page.get_by_role("button", name="Practise on an example").click()
    expect(page.locator(".practice")).to_be_visible()
    press(page, "3")
    expect(words).to_contain_text("We’d give it 0: it’s about tickets, but")
    page.get_by_role("button", name="Stop practising").click()
    ready(page)
    assert shown(page) == first
    all_saved(page, 0)
    press(page, "u")
    expect(page.locator(".said")).to_have_text("Nothing to undo")
    with server.store() as store:
        assert store.judgments.log() == []
        assert store.remarks.current() == []
    press(page, "1")
    all_saved(page, 1)


def test_passages_that_a_lead_chose_are_practised_on_and_count_for_nothing(serve, visit, tmp_path):
    path = library(tmp_path / "library.db", practice=("q0", "c1", "q1", "c2", "q0", "c3"))
    with Store(path) as store:
        store.people.add("Bob")
        for query, chunk, grade in (("q0", "c1", 3), ("q1", "c2", 0), ("q0", "c3", 1)):
            store.judgments.add(Judgment(f"b-{chunk}", query, chunk, "Bob", grade=grade))
    server = serve(path)
    page = visit(server.url, newcomer=True)
    welcome(page).get_by_role("button", name="Practise on an example").click()
    question, words = page.locator(".query-text"), page.locator(".practice-words")
    expect(page.locator(".chunk .text")).to_have_text("This is the text of c1.")
    expect(question).to_have_text("When is parcel 0 paid back?")
    press(page, "3")
    expect(words).to_contain_text("Same as ours: answers it fully")
    expect(question).to_have_text("When is parcel 1 paid back?")
    press(page, "2")
    expect(words).to_contain_text("We’d give it 0: about something else")
    press(page, "1")
    expect(words).to_contain_text("That was the last one; nothing here was saved.")
    page.get_by_role("button", name="Start grading").click()
    expect(page.locator(".practice")).to_be_hidden()
    all_saved(page, 0)
    with server.store() as store:
        assert {event.grader for event in store.judgments.log()} == {"Bob"}


@pytest.mark.slow
def test_the_scale_says_what_each_grade_means_and_a_guideline_is_always_there(
    serve, visit, tmp_path
):
    meanings = ("no use", "some use", "much use", "all one needs")
    path = library(tmp_path / "library.db", meanings=meanings)
    page = visit(serve(path).url)
    ready(page)
    expect(page.locator(".guideline dd")).to_have_text(Settings().default_guideline)
    for grade, meaning in enumerate(meanings):
        button = page.locator(".grades button").nth(grade)
        expect(button.get_by_text(meaning)).to_be_visible()
        expect(button).to_have_accessible_description(meaning)
    press(page, "i")
    sheet = page.get_by_role("region", name="How to grade")
    for words in ("For example, the question", *meanings):
        expect(sheet).to_contain_text(words)
    page.keyboard.press("Escape")
    with Store(path) as store:
        store.settings.save(replace(store.settings.read(), guideline="Only statutes count."))
    page.reload()
    ready(page)
    expect(page.locator(".guideline dd")).to_have_text("Only statutes count.")


@pytest.mark.slow
def test_the_pad_says_what_the_team_calls_things(serve, visit, tmp_path):
    path = library(
        tmp_path / "library.db",
        question=("claim", "claims"),
        passage=("paragraph", "paragraphs"),
        contact="Lea",
    )
    page = visit(serve(path).url)
    ready(page)
    said = []

    def note() -> None:
        said.append(page.locator(".pad").inner_text())
        said.append(
            page.locator(".pad").evaluate(
                "pad => [...pad.querySelectorAll('[aria-label], [title], [placeholder]')].map(e =>"
                " [e.ariaLabel, e.title, e.placeholder].join(' ')).join(' ')"
            )
        )

    note()
    expect(page.locator(".overall")).to_have_text("claim 1 of 3")
    for key in ("b", "/", "q", "n", "x", "i", "?"):
        press(page, key)
        page.wait_for_timeout(100)
        note()
        page.keyboard.press("Escape")
    press(page, "l")
    note()
    press(page, "0" * 24)
    expect(page.get_by_text("You graded 24 paragraphs")).to_be_visible()
    note()
    whole = " ".join(said).replace("Questions? Ask Lea", "")  # whatever somebody may ask
    assert re.findall(r".{0,30}\b(?:question|passage|query|queries|chunk)s?\b.*", whole, re.I) == []
    assert not re.search("long tail|single", whole)


@pytest.mark.slow
def test_progress_counts_questions_and_what_was_imported_is_not_called_theirs(
    serve, visit, tmp_path
):
    path = library(tmp_path / "library.db", queries=5, chunks=2)
    with Store(path) as store:
        grades = [GoldenGrade("q0", f"c{n}", 2, ("Zed",)) for n in range(2)]
        store.golden_loads.add(LoadedGolden(loaded([]), loaded(grades), loaded([])))
    page = visit(serve(path).url)
    ready(page)
    overall = page.locator(".overall")
    expect(overall).to_have_attribute("title", re.compile("5 questions: 1 done, 0 by you"))
    all_saved(page, 0)
    press(page, "2")
    expect(overall).to_have_attribute("title", re.compile("5 questions: 1 done, 0 by you"))
    press(page, "2")
    expect(overall).to_have_attribute("title", re.compile("5 questions: 2 done, 1 by you"))
    all_saved(page, 2)
    page.reload()
    expect(overall).to_have_attribute("title", re.compile("5 questions: 2 done, 1 by you"))
    press(page, "q1")
    expect(overall).to_have_attribute("title", re.compile("5 questions: 3 done, 2 by you"))
    page.reload()
    expect(overall).to_have_attribute("title", re.compile("5 questions: 3 done, 2 by you"))
    other = visit(page.url, grader="Bob")
    expect(other.locator(".overall")).to_have_attribute("title", re.compile("0 by you"))
    all_saved(other, 0)
    with Store(path) as store:
        assert len(standing(store)) == 2


def test_code_is_shown_as_a_block_and_stays_text(serve, visit, tmp_path):
    path = library(tmp_path / "library.db", queries=1, chunks=1)
    code = "def f(x):\n    return '<b>no</b>' + x\n"
    text = f"This is the text.\n```python\n{code}```\nAfter it, parcel."
    with Store(path) as store:
        store.chunks.load(loaded([Chunk("c0", text)]), update=True)
    page = visit(serve(path).url)
    ready(page)
    assert shown(page) == text
    block = page.locator(".chunk .code")
    expect(block).to_have_text(code, use_inner_text=False)
    assert "mono" in block.evaluate("code => getComputedStyle(code).fontFamily").lower()
    expect(page.locator(".chunk b")).to_have_count(0)
    for fence in page.locator(".chunk .fence").all():
        assert fence.bounding_box()["height"] <= 1
    press(page, "b")
    expect(page.locator(".whole .code")).to_contain_text("return '<b>no</b>' + x")


def type_name(page: Page, name: str) -> None:
    page.get_by_label("What’s your name?").fill(name)
    page.get_by_role("button", name="Start grading").click()


def test_a_name_of_somebody_who_has_graded_is_asked_about(serve, visit, tmp_path):
    path = library(tmp_path / "library.db")
    with Store(path) as store:
        store.people.add("Marit Dahl")
        query = store.queries.all()[0].query_id
        store.judgments.add(Judgment("e1", query, "c0", "Marit Dahl", grade=2))
    server = serve(path)
    page = visit(server.url, grader=None)
    type_name(page, " marit  DAHL ")
    expect(page.get_by_text("Marit Dahl has graded 1 here. Is that you?")).to_be_visible()
    page.get_by_role("button", name="Yes, that’s me").click()
    ready(page)
    expect(page.locator(".top .named")).to_have_text("Marit Dahl")

    other = visit(server.url, grader=None)
    type_name(other, "Marit Dahl")
    expect(other.get_by_text("Marit Dahl has graded 1 here. Is that you?")).to_be_visible()
    other.get_by_role("button", name="No, someone else").click()
    expect(other.get_by_text("Please add something to your name")).to_be_visible()
    type_name(other, "Marit D.")
    ready(other)
    with server.store() as store:
        assert store.people.names_like("marit dahl") == ["Marit Dahl"]


@pytest.mark.parametrize("size", [(844, 390), (720, 450), (390, 664)])
def test_the_button_of_an_invitation_is_in_sight_however_small_the_window(invited, visit, size):
    server = invited(contact="Lea, room 12")
    width, height = size
    page = visit(server.url, grader=None, viewport={"width": width, "height": height})
    page.goto(link_for(server, "Ann"))
    start = page.get_by_role("button", name="Start grading as Ann")
    expect(start).to_be_in_viewport(ratio=1)
    start.click()
    ready(page)

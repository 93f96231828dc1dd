"""A closed door as invited people meet it: the link, the pages, the files, and being revoked."""

from __future__ import annotations

import re
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, WebSocketRoute, expect

from labeler.web.auth.access import SESSION_COOKIE
from tests.browser.doors import DoorServer, come_in, link_for
from tests.browser.padpage import ready

pytestmark = pytest.mark.browser

LEADS_PAGES = ["scores", "compare", "slices", "queries", "review", "data"]
# What only a lead's page would show of the golden set: its runs, and the words for its measures.
LEADS_THINGS = re.compile("forward|backward|nDCG|live")
FILES = [
    ("GET", "media/0123456789.csv"),
    ("GET", "_stcore/metrics"),
    ("PUT", "_stcore/upload_file/session/file"),
    ("POST", "_stcore/agent/interact"),
]


@pytest.fixture
def serve_with(golden_set: Callable[..., Path]) -> Iterator[Callable[..., DoorServer]]:
    """Start servers with more arguments; they end with the test."""
    servers: list[DoorServer] = []

    def start(*arguments: str) -> DoorServer:
        server = DoorServer(golden_set(), *arguments)
        servers.append(server)
        server.start()
        return server

    yield start
    for server in servers:
        server.stop(signal.SIGKILL)


def saved(page: Page, count: int) -> None:
    """Wait until the pad says that so many grades are saved."""
    expect(page.locator(".status .state")).to_contain_text(f"{count} saved")


def assert_nothing_of_a_leads(page: Page) -> None:
    """No link to a lead's page, nothing that such a page shows."""
    links = page.locator("[data-testid=stPageLink-NavLink]").all_text_contents()
    assert [text for text in links if "Go to Label" not in text] == []
    assert not LEADS_THINGS.search(page.locator("body").inner_text())


def status_of_files(context: BrowserContext, url: str) -> set[int]:
    """Ask for each file and service beside the pages."""
    return {context.request.fetch(f"{url}/{path}", method=method).status for method, path in FILES}


def test_an_invited_grader_grades_and_reaches_nothing_of_a_leads(serve_with, visit):
    server = serve_with()
    page = visit(link_for(server, "Ann"), grader=None)
    ready(page)
    assert page.url == f"{server.url}/"
    cookie = next(c for c in page.context.cookies() if c["name"] == SESSION_COOKIE)
    assert (cookie["httpOnly"], cookie["sameSite"], cookie["path"]) == (True, "Lax", "/")
    assert SESSION_COOKIE not in page.evaluate("document.cookie")
    page.keyboard.press("3")
    saved(page, 1)
    page.reload()
    ready(page)
    saved(page, 1)
    assert_nothing_of_a_leads(page)
    for name in LEADS_PAGES:
        page.goto(f"{server.url}/{name}")
        expect(page.get_by_text(f"{name.capitalize()} is for leads")).to_be_visible()
        assert_nothing_of_a_leads(page)
    assert status_of_files(page.context, server.url) == {403}
    page.get_by_role("link", name="Go to Label").click()
    ready(page)
    with server.store() as store:
        assert [event.grader for event in store.judgments.log()] == ["Ann"]


@pytest.mark.slow
def test_a_claimed_name_opens_no_closed_door(serve_with, visit):
    server = serve_with()
    link_for(server, "Ann")
    page = visit(server.url, grader="Ann")
    expect(page.get_by_text("You need an invitation")).to_be_visible()
    page.goto(f"{server.url}/join/nonsense")
    expect(page.get_by_text("This link doesn't work")).to_be_visible()
    for name in ["", "label", *LEADS_PAGES]:
        page.goto(f"{server.url}/{name}")
        expect(page.get_by_text("You need an invitation")).to_be_visible()
        assert_nothing_of_a_leads(page)
    assert status_of_files(page.context, server.url) == {403}


def test_who_is_revoked_is_told_so_at_the_next_key(serve_with, visit):
    server = serve_with()
    link_for(server, "Lea", "lead")
    page = visit(link_for(server, "Ann"), grader=None)
    ready(page)
    page.keyboard.press("1")
    saved(page, 1)
    with server.store() as store:
        store.people.revoke("Ann")
    with page.expect_response(lambda response: response.status == 403) as refused:
        page.keyboard.press("2")
    assert "Ann is not invited, or not any more" in refused.value.text()
    expect(page.get_by_text("Your access has ended")).to_be_visible()
    with server.store() as store:
        assert [event.grade for event in store.judgments.log()] == [1]


@pytest.mark.slow
def test_a_leads_link_opens_everything_until_it_is_revoked(serve_with, visit):
    server = serve_with()
    page = visit(link_for(server, "Lea", "lead"), grader=None)
    ready(page)
    page.get_by_role("link", name="Scores").click()
    expect(page.locator(".top .live")).to_be_visible()
    assert page.context.request.get(f"{server.url}/media/0123456789.csv").status == 404
    with server.store() as store:
        store.people.invite("Bea", "hash of a secret nobody has", role="lead")
        store.people.revoke("Lea")
    # a page that is told of something runs without the script that checks who it is
    expect(page.get_by_text("you are not invited, or not any more")).to_be_visible()
    assert page.context.request.get(f"{server.url}/media/0123456789.csv").status == 403


def test_a_lead_who_becomes_a_grader_sees_no_more_measures(serve_with, visit):
    server = serve_with()
    page = visit(link_for(server, "Lea", "lead"), grader=None)
    page.route_web_socket("**/api/live", without_news)
    page.goto(f"{server.url}/scores")
    expect(page.locator(".top .live")).to_be_visible()
    link_for(server, "Bea", "lead")
    link_for(server, "Lea", "grader")
    expect(page.get_by_text(re.compile("Your access has ended|for leads"))).to_be_visible()
    assert_nothing_of_a_leads(page)


@pytest.mark.slow
def test_a_lead_who_is_none_before_the_page_listens_sees_no_more_measures(serve_with, visit):
    server = serve_with()
    page = visit(link_for(server, "Lea", "lead"), grader=None)

    def too_late(socket: WebSocketRoute) -> None:
        page.unroute_all()
        link_for(server, "Bea", "lead")
        link_for(server, "Lea", "grader")
        socket.connect_to_server()

    page.route_web_socket("**/api/live", too_late)
    page.goto(f"{server.url}/scores")
    expect(page.get_by_text(re.compile("Your access has ended|for leads"))).to_be_visible()
    assert_nothing_of_a_leads(page)


def without_news(page: WebSocketRoute) -> None:
    """Let a page hear all but that there is news, as if the run that this asks for got lost."""
    server = page.connect_to_server()
    server.on_message(lambda words: page.send(words) if "newest" not in words else None)


@pytest.mark.slow
def test_a_server_for_graders_only_shows_the_label_page_alone(serve_with, visit):
    server = serve_with("--graders-only")
    page = visit(server.url)  # nobody is invited: the door is open
    ready(page)
    assert_nothing_of_a_leads(page)
    page.goto(f"{server.url}/scores")
    expect(page.get_by_text("This server is for grading only")).to_be_visible()
    assert status_of_files(page.context, server.url) == {403}
    page.goto(link_for(server, "Lea", "lead"))
    come_in(page)
    ready(page)
    assert_nothing_of_a_leads(page)
    page.goto(f"{server.url}/data")
    expect(page.get_by_text("This server is for grading only")).to_be_visible()


@pytest.mark.slow
def test_a_door_that_is_kept_open_asks_nobody(serve_with, visit):
    server = serve_with("--allow-unauthenticated")
    link_for(server, "Ann")
    page = visit(f"{server.url}/scores", grader=None)
    expect(page.locator(".top .live")).to_be_visible()
    assert page.context.request.get(f"{server.url}/media/0123456789.csv").status == 404

"""What a page asks the server for: invited people get all of it, and nothing that is guarded."""

from __future__ import annotations

import http.client
import re
from collections.abc import Callable, Iterator
from contextlib import closing

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Response, expect

from labeler.web.auth.access import SESSION_COOKIE, session_by_link
from tests.browser.doors import come_in, link_for
from tests.browser.padpage import ready

pytestmark = pytest.mark.browser

PAGES = ["scores", "compare", "slices", "queries", "review", "data"]
# Opened by its address, a page below the root first asks for these two beside itself: that is how
# Streamlit's browser side finds out under which path the server is.
PROBES = ("_stcore/health", "_stcore/host-config")
SNEAKY = [
    "/static/media/../../media/{file}",
    "/static/media/%2e%2e/%2e%2e/media/{file}",
    "/static/media/..%2F..%2Fmedia%2F{file}",
    "/static%2Fmedia/..%2f..%2fmedia/{file}",
    "/static/media/..\\..\\media\\{file}",
    "/x/static/media/{file}",
    "/static/media/x/{file}",
    "/static/media//{file}",
    "//static/media/{file}",
    "//media/{file}",
    "/media//{file}",
    "/media/static/media/{file}",
    "/media/{file}?/static/media/font.woff2",
    "/%6dedia/{file}",
    "/media%2F{file}",
    "/x/../media/{file}",
]
GUARDED = [
    "/media/{file}",
    "/app/static/{file}",
    "/static/media/../../app/static/{file}",
    "/_stcore/metrics",
    "/_stcore/upload_file/session/file",
    "/static/media/../../_stcore/metrics",
    "/_stcore/agent/openapi.json",
]


@pytest.fixture
def look(
    visit: Callable[..., Page], browser: Browser
) -> Iterator[Callable[..., tuple[Page, list[Response]]]]:
    """Come in by a link with a browser that has nothing yet, and note every answer from then on."""
    opened: list[BrowserContext] = []

    def come(link: str) -> tuple[Page, list[Response]]:
        opened.append(browser.new_context())
        page = visit("about:blank", grader=None, context=opened[-1])
        answers: list[Response] = []
        page.context.on("response", lambda answer: answers.append(answer))
        page.goto(link)
        come_in(page)
        return page, answers

    yield come
    for context in opened:
        context.close()


def refused(answers: list[Response]) -> set[tuple[str, int]]:
    """Return what was answered with an error, but for Streamlit's two probes."""
    probes = tuple(f"/{page}/{probe}" for page in PAGES for probe in PROBES)
    return {
        (answer.url, answer.status)
        for answer in answers
        if answer.status >= 400 and not answer.url.endswith(probes)
    }


def fonts(answers: list[Response]) -> list[int]:
    """Return how the fonts were answered."""
    return [answer.status for answer in answers if answer.url.endswith(".woff2")]


@pytest.mark.parametrize("role", ["grader", pytest.param("lead", marks=pytest.mark.slow)])
def test_an_invited_person_is_refused_nothing_that_a_page_asks_for(serve, look, role: str):
    server = serve()
    page, answers = look(link_for(server, "Ann", role))
    ready(page)
    page.wait_for_load_state("networkidle")
    assert {*fonts(answers)} == {200}, "the words are in Streamlit's own font"
    for name in PAGES:
        page.goto(f"{server.url}/{name}")
        if role == "grader":
            expect(page.get_by_text(f"{name.capitalize()} is for leads")).to_be_visible()
        else:
            expect(page.get_by_role("link", name="Data", exact=True)).to_be_visible()
        page.wait_for_load_state("networkidle")
    assert refused(answers) == set()
    assert {*fonts(answers)} == {200}


def ask(server, path: str, secret: str) -> tuple[int, bytes]:
    """Ask for a path as it is spelled: a browser would tidy it up before."""
    with closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)) as connection:
        connection.request("GET", path, headers={"Cookie": f"{SESSION_COOKIE}={secret}"})
        answer = connection.getresponse()
        return answer.status, answer.read()


def test_no_spelling_of_a_path_brings_a_grader_a_leads_file(serve, look):
    server = serve()
    links = {role: link_for(server, role, role) for role in ("lead", "grader")}
    with server.store() as store:
        secrets = {
            role: session_by_link(store, link.rsplit("/", 1)[-1]) for role, link in links.items()
        }
    page, _ = look(links["lead"])
    page.goto(f"{server.url}/data")
    page.get_by_role("radio", name="Download").click()
    with page.expect_download() as started:
        page.get_by_role("button", name="Download golden.jsonl").click()
    found = re.fullmatch(rf"{server.url}/media/([^?]+).*", started.value.url)
    assert found
    status, content = ask(server, f"/media/{found[1]}", secrets["lead"])
    assert (status, len(content) > 100) == (200, True)
    for path in GUARDED:
        assert ask(server, path.format(file=found[1]), secrets["grader"])[0] == 403, path
    for path in SNEAKY:
        status, got = ask(server, path.format(file=found[1]), secrets["grader"])
        assert (status, content in got) == (403, False), path

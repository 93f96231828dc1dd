"""An address without a page: our own words, with links to the pages one may open."""

from __future__ import annotations

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from labeler.store import Store
from labeler.web.auth.access import SESSION_COOKIE
from labeler.web.auth.middleware import SignInRequired
from labeler.web.unknown_pages import UnknownPages
from tests.support.signed_in import let_in

TITLES = {"/": "Label", "/scores": "Scores"}
BROWSER = {"accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


@pytest.fixture
def served(store: Store) -> Starlette:
    """The pages before an application that answers everything else."""

    async def anything(_: Request) -> Response:
        return PlainTextResponse("served")

    path = str(store.path)
    listed = {"titles": TITLES, "for_graders": ["/"], "others": ["/label"]}
    return Starlette(
        routes=[Route("/{path:path}", anything)],
        middleware=[
            Middleware(SignInRequired, path=path),
            Middleware(UnknownPages, path=path, **listed),
        ],
    )


def test_an_address_without_a_page_says_so_and_leads_to_the_pages(served, ask):
    answer = ask(served, "GET", "/nowhere", headers=BROWSER)
    assert answer.status == 404
    assert b"There is no page at this address" in answer.body
    assert b'<a href="/scores" data-title="Scores">Scores</a>' in answer.body


@pytest.mark.parametrize(
    "path",
    [
        *("/", "/label", "/scores", "/scores/", "/favicon.png", "/static/index.js", "/join/secret"),
        *("/_stcore/health", "/scores/_stcore/host-config", "/api/next", "/component/x/y.html"),
    ],
)
def test_pages_and_files_are_served(served, ask, path):
    accept = BROWSER if "_stcore" not in path else {"accept": "application/json"}
    assert ask(served, "GET", path, headers=accept).body == b"served"


def test_what_no_browser_opens_as_a_page_is_served(served, ask):
    assert ask(served, "GET", "/nowhere", headers={"accept": "*/*"}).body == b"served"


def test_a_grader_is_led_to_their_own_pages_only(served, store, ask):
    let_in(store, "Ann", "anns")
    cookie = {"cookie": f"{SESSION_COOKIE}=anns"}
    body = ask(served, "GET", "/nowhere", headers={**BROWSER, **cookie}).body
    assert b"Go to Label" in body
    assert b"Ann" in body
    assert b"Scores" not in body


def test_who_has_no_access_is_not_told_which_pages_there_are(served, store, ask):
    let_in(store, "Ann", "anns")
    answer = ask(served, "GET", "/nowhere", headers=BROWSER)
    assert answer.status == 403
    assert b"You need an invitation" in answer.body

"""Streamlit's page has our header until its scripts draw one; its files travel compressed."""

from __future__ import annotations

import gzip
import re
from dataclasses import replace

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route

from labeler.store import Store
from labeler.web.app_files import AppFiles
from labeler.web.first_visit import STATIC

BROWSER = {"accept": "text/html,*/*", "accept-encoding": "gzip, br"}
SCRIPT, SHEET = (
    f"/static/{kind}/{next((STATIC / 'static' / kind).glob(f'index.*.{kind}')).name}"
    for kind in ("js", "css")
)


@pytest.fixture
def app(filled: Store) -> Starlette:
    """Make an application that serves Streamlit's files as they are."""

    async def file(request):
        path = STATIC / "static" / request.path_params["name"]
        return Response(path.read_bytes()) if path.is_file() else Response(status_code=404)

    async def page(_):
        headers = {"cache-control": "no-cache", "etag": "as it was", "last-modified": "long ago"}
        return HTMLResponse((STATIC / "index.html").read_bytes(), headers=headers)

    async def words(_):
        return PlainTextResponse("a page of words", headers={"etag": "as it was"})

    return Starlette(
        routes=[
            Route("/", page),
            Route("/words", words),
            Route("/static/{name:path}", file),
        ],
        middleware=[Middleware(AppFiles, path=str(filled.path)), Middleware(GZipMiddleware)],
    )


@pytest.mark.parametrize("path", [SCRIPT, SHEET])
def test_a_file_travels_compressed_and_is_kept_for_good(app, ask, path):
    answer = ask(app, "GET", path, headers=BROWSER)
    assert gzip.decompress(answer.body) == (STATIC / path[1:]).read_bytes()
    assert answer.headers["content-encoding"] == "gzip"
    assert int(answer.headers["content-length"]) == len(answer.body)
    assert "immutable" in answer.headers["cache-control"]


@pytest.mark.parametrize("headers", [{}, {"accept-encoding": "gzip", "range": "bytes=0-9"}])
def test_whoever_takes_no_compressed_file_gets_what_streamlit_sends(app, ask, headers):
    assert "cache-control" not in ask(app, "GET", SCRIPT, headers=headers).headers


@pytest.mark.parametrize("path", ["/static/js/gone.js", "/static/js/..%2f..%2findex.html"])
def test_what_is_not_there_is_not_found(app, ask, path):
    assert ask(app, "GET", path, headers=BROWSER).status == 404


def test_a_page_says_that_it_opens_before_any_script_has_come(app, ask):
    answer = ask(app, "GET", "/", headers={**BROWSER, "if-none-match": '"as it was"'})
    page, streamlit = answer.body.decode(), (STATIC / "index.html").read_text()
    assert "Opening the page…" in page
    assert int(answer.headers["content-length"]) == len(answer.body)
    assert not {"etag", "last-modified"} & set(answer.headers)
    assert answer.headers["cache-control"] == "no-cache"
    scripts = re.compile("<script.*?</script>", re.DOTALL)
    assert scripts.findall(page) == scripts.findall(streamlit), "the policy knows these by hash"


def test_that_a_page_opens_is_said_in_the_language_of_the_setting(app, ask, filled: Store):
    filled.settings.save(replace(filled.settings.read(), language="de"))
    page = ask(app, "GET", "/", headers={**BROWSER, "accept-language": "en"}).body.decode()
    assert "Die Seite wird geöffnet…" in page


def test_what_is_not_streamlits_page_stays_as_it_is(app, ask):
    for path, headers in (("/words", BROWSER), ("/", {"accept": "application/json"})):
        answer = ask(app, "GET", path, headers=headers)
        assert b"Opening" not in answer.body
        assert answer.headers["etag"]

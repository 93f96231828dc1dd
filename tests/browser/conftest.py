"""A real server and a real Chromium for the tests in this folder."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from labeler.grading import COOKIE
from tests.browser.doors import come_in
from tests.browser.server import WarmServer, launch, small_golden_set

expect.set_options(timeout=30_000)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give a browser test a second try: on a busy machine a page may be slower than any wait."""
    for item in items:
        if item.get_closest_marker("browser"):
            item.add_marker(pytest.mark.flaky(reruns=1))


# Not for the session: Playwright runs an event loop of its own in this thread while it is open,
# and the tests after these start one too.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Give one Chromium for a module; the tests make contexts of their own in it."""
    with sync_playwright() as playwright:
        chromium = launch(playwright)
        yield chromium
        chromium.close()


@pytest.fixture
def golden_set(tmp_path: Path) -> Callable[..., Path]:
    """Make a small golden set, see `small_golden_set`."""
    return lambda **sizes: small_golden_set(tmp_path / "golden.db", **sizes)


@pytest.fixture
def serve(golden_set: Callable[..., Path]) -> Iterator[Callable[..., WarmServer]]:
    """Start servers that end with the test."""
    servers: list[WarmServer] = []

    def start(database: Path | None = None, **environment: str) -> WarmServer:
        server = WarmServer(database or golden_set(), **environment)
        servers.append(server)
        server.start()
        return server

    yield start
    for server in servers:
        server.stop(signal.SIGKILL)


@pytest.fixture
def server(serve: Callable[..., WarmServer]) -> WarmServer:
    """Serve `small_golden_set`."""
    return serve()


@pytest.fixture
def visit(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Open pages, each in a context (a browser profile) of its own, as a grader who is known.

    What else is named describes the device, see `tests.browser.padpage.PHONE`.
    """
    contexts: list[BrowserContext] = []

    def open_page(
        url: str,
        grader: str | None = "Ann",
        context: BrowserContext | None = None,
        **device: object,
    ) -> Page:
        if context is None:
            context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **device})
            contexts.append(context)
        if grader is not None:
            context.add_cookies([{"name": COOKIE, "value": grader, "url": url}])
        page = context.new_page()
        page.goto(url)
        if "/join/" in url:
            come_in(page)
        return page

    yield open_page
    for context in contexts:
        context.close()

"""A real server and a real Chromium for the tests in this folder."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    Page,
    Playwright,
    expect,
    sync_playwright,
)

from labeler.ui.grading import COOKIE
from tests.browser.doors import come_in
from tests.browser.profiles import HAS_READ_THE_WELCOME, ONE_PROCESS, Profiles
from tests.browser.server import KnownServer, WarmServer, launch, small_golden_set

expect.set_options(timeout=30_000)
FOLDER = Path(__file__).parent


# For all modules of this folder that follow one another. Not for the session: Playwright runs an
# event loop of its own in this thread while it is open, and the tests elsewhere start one too.
OPENED = pytest.StashKey[ExitStack]()
PLAYWRIGHT = pytest.StashKey[Playwright]()
CHROMIUM = pytest.StashKey[Profiles]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(
    item: pytest.Item, nextitem: pytest.Item | None
) -> Generator[None, object, object]:
    """Close the browser after the last test that may use it."""
    done = yield
    stash = item.config.stash
    if OPENED in stash and (nextitem is None or FOLDER not in nextitem.path.parents):
        stash[OPENED].close()
        for key in (OPENED, PLAYWRIGHT, CHROMIUM):
            if key in stash:  # whoever starts a browser of their own has none of this one
                del stash[key]
    return done


@pytest.fixture(scope="module")
def playwright(pytestconfig: pytest.Config) -> Playwright:
    """Give what starts browsers."""
    stash = pytestconfig.stash
    if OPENED not in stash:
        stash[OPENED] = ExitStack()
        stash[PLAYWRIGHT] = stash[OPENED].enter_context(sync_playwright())
    return stash[PLAYWRIGHT]


@pytest.fixture(scope="module")
def profiles(pytestconfig: pytest.Config, playwright: Playwright) -> Profiles:
    """Give the profiles of one Chromium."""
    stash = pytestconfig.stash
    if CHROMIUM not in stash:
        # its scripts are short: threads that make them faster take more time than they save
        chromium = launch(playwright, "--js-flags=--single-threaded", ONE_PROCESS)
        stash[OPENED].callback(chromium.close)
        stash[CHROMIUM] = Profiles(chromium)
    return stash[CHROMIUM]


@pytest.fixture(scope="module")
def browser(profiles: Profiles) -> Browser:
    """Give the Chromium itself, for contexts that nothing was ever opened in."""
    return profiles.browser


@pytest.fixture
def golden_set(tmp_path: Path) -> Callable[..., Path]:
    """Make a small golden set, see `small_golden_set`."""
    return lambda **sizes: small_golden_set(tmp_path / "golden.db", **sizes)


@contextmanager
def servers() -> Iterator[Callable[..., WarmServer]]:
    """Start servers that end with the block."""
    with ExitStack() as started:

        def start(database: Path, **environment: str) -> WarmServer:
            server = KnownServer(database, **environment)
            started.callback(server.end)
            server.start()
            return server

        yield start


@contextmanager
def pages(profiles: Profiles) -> Iterator[Callable[..., Page]]:
    """Open pages, each in a context (a browser profile) of its own, as a grader who is known.

    What else is named describes the device, see `tests.browser.padpage.PHONE`.
    """
    with ExitStack() as taken:

        def open_page(
            url: str,
            grader: str | None = "Ann",
            context: BrowserContext | None = None,
            **device: object,
        ) -> Page:
            if context is None:
                profile = profiles.take(device)
                taken.callback(profiles.give_back, profile)
                context = profile.context
            elif not device.get("newcomer"):
                context.add_init_script(HAS_READ_THE_WELCOME)
            if grader is not None:
                context.add_cookies([{"name": COOKIE, "value": grader, "url": url}])
            page = context.new_page()
            page.goto(url)
            if "/join/" in url:
                come_in(page)
            return page

        yield open_page


@pytest.fixture
def serve(golden_set: Callable[..., Path]) -> Iterator[Callable[..., WarmServer]]:
    """Start servers that end with the test."""
    with servers() as start:
        yield lambda database=None, **more: start(database or golden_set(), **more)


@pytest.fixture(scope="module")
def serve_to_all() -> Iterator[Callable[..., WarmServer]]:
    """Start servers for all tests of a module: for what no test of it changes."""
    with servers() as start:
        yield start


@pytest.fixture
def server(serve: Callable[..., WarmServer]) -> WarmServer:
    """Serve `small_golden_set`."""
    return serve()


@pytest.fixture
def visit(profiles: Profiles) -> Iterator[Callable[..., Page]]:
    """Open pages that close with the test, see `pages`."""
    with pages(profiles) as open_page:
        yield open_page


@pytest.fixture(scope="module")
def visit_for_all(profiles: Profiles) -> Iterator[Callable[..., Page]]:
    """Open pages that all tests of a module go on with."""
    with pages(profiles) as open_page:
        yield open_page

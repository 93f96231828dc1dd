"""A page of its own that has imported some of the components' scripts, to ask them directly."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, Page, Route

from labeler.paths import PACKAGE

ADDRESS = "http://scripts.test/"


@contextmanager
def page_with(browser: Browser, *names: str, body: str = "") -> Iterator[Page]:
    """Open a page on which everything these scripts export is at hand by its name.

    A name is a script's place below ``ui/``, without its ending: ``grading/deck``.
    """
    imports = "".join(f'Object.assign(window, await import("/{name}.js"));' for name in names)
    html = f'{body}<script type="module">{imports} window.isReady = true;</script>'

    def answer(route: Route) -> None:
        name = route.request.url.removeprefix(ADDRESS)
        if name:
            route.fulfill(path=PACKAGE / "ui" / name, content_type="text/javascript")
        else:
            route.fulfill(body=html, content_type="text/html")

    context = browser.new_context()
    page = context.new_page()
    page.route(f"{ADDRESS}**", answer)
    page.goto(ADDRESS)
    page.wait_for_function("window.isReady")
    yield page
    context.close()

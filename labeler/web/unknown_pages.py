"""Middleware that answers unknown addresses with our own page, which links to known ones.

Streamlit would open its main page at any address, with a dialog.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from labeler.errors import LabelerError
from labeler.store import Store
from labeler.web.auth import login_pages
from labeler.web.auth.middleware import identify_visitor, is_page
from labeler.web.language import reason_for, words_for


class UnknownPages:
    """Middleware that answers 404 to a browser that opens an address without a page.

    ``titles`` maps paths of pages to their titles, ``others`` are further known addresses, and
    ``for_graders`` are the paths that everybody with access may open.
    """

    def __init__(
        self,
        app: ASGIApp,
        path: str,
        titles: Mapping[str, str],
        for_graders: Sequence[str],
        others: Sequence[str] = (),
    ) -> None:
        self.app = app
        self.path = path
        self.titles = titles
        self.for_graders = for_graders
        self.known = {*titles, *others}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and self.is_unknown(scope):
            answer = await run_in_threadpool(self.answer, HTTPConnection(scope))
            await answer(scope, receive, send)
            return
        await self.app(scope, receive, send)

    def is_unknown(self, scope: Scope) -> bool:
        """Return whether a browser opens an address of neither a page nor a file."""
        path: str = scope["path"]
        opens = scope["method"] == "GET" and "text/html" in Headers(scope=scope).get("accept", "")
        is_file = "." in path.rpartition("/")[2]
        return opens and is_page(path) and not is_file and self.named(path) not in self.known

    @staticmethod
    def named(path: str) -> str:
        """Return a path as it is listed in ``titles``.

        >>> UnknownPages.named("/scores/"), UnknownPages.named("/")
        ('/scores', '/')
        """
        return path.rstrip("/") or "/"

    def answer(self, connection: HTTPConnection) -> Response:
        """Return the 404 page, with links to the pages that the visitor may open."""
        try:
            with Store(self.path) as store:
                person, name = identify_visitor(store, connection), store.golden_set.name()
                words = words_for(connection, store)
        except LabelerError as error:
            words = words_for(connection)
            return login_pages.unavailable(words, reason_for(error, self.path, words))
        is_lead = person is not None and person.is_lead
        pages = {
            words.say("page.title") if path == "/" else title: path
            for path, title in self.titles.items()
            if is_lead or path in self.for_graders
        }
        return login_pages.no_such_page(words, name, person.name if person else None, pages)

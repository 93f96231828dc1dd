"""Stands before pages, sockets and files: strangers find the door, graders no file of a lead's.

Draws no page but the door; what somebody brings is exchanged here for a session.
"""

from __future__ import annotations

import re

from starlette.concurrency import run_in_threadpool
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from labeler.errors import LabelerError
from labeler.store import Store
from labeler.web.auth import pages
from labeler.web.auth.access import Door, Person
from labeler.web.auth.cookies import claims_on, stranger_at
from labeler.web.auth.entering import exchange
from labeler.web.auth.hosts import WRITES_NOTHING
from labeler.web.auth.naming import refuse_socket
from labeler.web.discretion import without_path

FOR_LEADS = "This is for leads.\n"
NO_STORE = {"cache-control": "no-store"}
STREAM = "/_stcore/stream"
# What Streamlit serves beside its pages: files that were uploaded or offered for download, and
# everything of its own but what the pages of a grader need.
GUARDED = re.compile(
    "(^|/)(media/|app/static/|_stcore/(?!(health|host-config|stream)$|bidi-components/))"
)
# The fonts and pictures of Streamlit's own, which stand in a folder of that name, too: a plain
# file in it, and no other spelling.
STREAMLITS_OWN = re.compile(r"/static/media/[\w-]+(\.[\w-]+)+", re.ASCII)
# What is no page: programs that are the same for everyone, and what says for itself who may.
NO_PAGE = re.compile(
    r"/(static|scripts|component|_stcore|api|media|app/static|join|login|auth)/|/(leave|oauth2callback)$"
)


def is_guarded(path: str) -> bool:
    """Say whether what stands under a path, as the server reads it, is for leads.

    >>> is_guarded("/media/scores.csv"), is_guarded("/static/media/Sans.B1.woff2")
    (True, False)
    >>> is_guarded("/static/media/../../media/scores.csv")
    True
    """
    return bool(GUARDED.search(path)) and not STREAMLITS_OWN.fullmatch(path)


def is_page(path: str) -> bool:
    """Say whether a path leads to a page.

    >>> is_page("/"), is_page("/data"), is_page("/static/index.js"), is_page("/api/next")
    (True, True, False, False)
    """
    return not NO_PAGE.match(path)


def comes_as(store: Store, connection: HTTPConnection) -> Person | None:
    """Return who asks, None for one who may not come in."""
    door = Door.of_this_server()
    return door.visitor(store, claims_on(connection, door))


def comes_as_lead(store: Store, connection: HTTPConnection) -> bool:
    """Say whether what a request or a socket brings makes its visitor a lead, now."""
    person = comes_as(store, connection)
    return person is not None and person.is_lead


class FilesForLeads:
    """Refuses uploads, downloads and Streamlit's other services to anyone who is no lead."""

    def __init__(self, app: ASGIApp, path: str) -> None:
        self.app = app
        self.path = path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request that is a lead's or asks for nothing guarded."""
        if scope["type"] == "http" and is_guarded(scope["path"]):
            refusal = await run_in_threadpool(self.refusal, HTTPConnection(scope))
            if refusal is not None:
                await refusal(scope, receive, send)
                return
        await self.app(scope, receive, send)

    def refusal(self, connection: HTTPConnection) -> Response | None:
        """Return the answer to a visitor who may not have what they ask for."""
        try:
            with Store(self.path) as store:
                if comes_as_lead(store, connection):
                    return None
        except LabelerError as error:
            return PlainTextResponse(f"{without_path(error, self.path)}\n", status_code=503)
        return PlainTextResponse(FOR_LEADS, status_code=403, headers=NO_STORE)


class ClosedDoor:
    """Shows a stranger the door in a page's place, and opens none of Streamlit's sockets for them.

    Whoever comes with a login that has not opened its session yet, or with the cookie of an
    earlier version, gets a session as their page is served.
    """

    def __init__(self, app: ASGIApp, path: str) -> None:
        self.app = app
        self.path = path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve what is no page, and pages and sockets to whoever may come in."""
        if scope["type"] == "websocket" and scope["path"].endswith(STREAM):
            if await run_in_threadpool(self.is_strangers, HTTPConnection(scope)):
                await refuse_socket(receive, send)
                return
        elif scope["type"] == "http" and is_page(scope["path"]):
            met = await run_in_threadpool(self.meet, HTTPConnection(scope), scope["method"])
            if isinstance(met, Response):
                await met(scope, receive, send)
                return
            send = adding(met, send)
        await self.app(scope, receive, send)

    def is_strangers(self, connection: HTTPConnection) -> bool:
        """Say whether whoever opens a socket may not come in."""
        try:
            with Store(self.path) as store:
                return comes_as(store, connection) is None
        except LabelerError:
            return True  # the page says why when it is loaded again

    def meet(self, connection: HTTPConnection, method: str) -> Response | list[bytes]:
        """Return the door for a stranger, and the cookies to set for anybody else."""
        door = Door.of_this_server()
        claims = claims_on(connection, door)
        try:
            with Store(self.path) as store:
                store.actor = stranger_at(connection)
                if not door.is_closed(store):
                    return []
                if door.visitor(store, claims) is None:
                    return pages.closed(store, door, claims)
                if method not in WRITES_NOTHING:
                    return []
                return exchange(store, door, claims, connection)
        except LabelerError as error:
            return pages.out_of_order(without_path(error, self.path))


def adding(cookies: list[bytes], send: Send) -> Send:
    """Return a way to send an answer with these cookies."""

    async def send_with_cookies(message: Message) -> None:
        if message["type"] == "http.response.start" and cookies:
            more = [(b"set-cookie", cookie) for cookie in cookies]
            message["headers"] = [*message["headers"], *more]
        await send(message)

    return send_with_cookies

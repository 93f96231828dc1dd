"""Middleware that refuses foreign hosts and origins, visitors not signed in, and files for leads.

`HostCheck` is the outermost: what passes it was asked by this server's own name and, for a
socket or a change, by its own page. `SignInRequired` also exchanges a login, or the cookie of
an earlier version, for a session.
"""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, urlencode

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from labeler.errors import LabelerError
from labeler.store import Store
from labeler.web.auth import login_pages
from labeler.web.auth.access import AccessPolicy, Person
from labeler.web.auth.allowed_hosts import READ_METHODS, AllowedHosts, hostname, is_https
from labeler.web.auth.login_flow import exchange_for_session
from labeler.web.auth.session_cookies import credentials_on, unknown_actor
from labeler.web.redact import redact_path

CALLBACK = "/oauth2callback"
LONGEST_ERROR = 200
HOST_MISSING = "A request needs the name of this server in its Host header.\n"
FOREIGN_ORIGIN = "This is taken from labeler's own pages only.\n"
HOST_UNKNOWN = (
    "This server does not answer to the name {name}.\n"
    "If that is its name, whoever runs it starts it with: labeler serve --host-name {name}\n"
)


class HostCheck:
    """Refuses a foreign name, and a socket or a change that another site's page asks for.

    Streamlit would refuse most such sockets too, but asks a public service for this machine's
    address first, in case that is where the page came from. Behind a proxy that puts a name of
    its own into ``Host``, the name that the page has is put back: Streamlit compares the two.
    """

    def __init__(self, app: ASGIApp, names: AllowedHosts) -> None:
        self.app = app
        self.names = names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve what this server's own pages and links ask for."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        if (refusal := self.refusal(scope, headers)) is None:
            await self.app(with_origin_host(scope, headers), receive, send)
        elif scope["type"] == "http":
            await refusal(scope, receive, send)
        else:
            await refuse_socket(receive, send)

    def refusal(self, scope: Scope, headers: Headers) -> PlainTextResponse | None:
        """Return the answer to a request that is not for this server or not by its page."""
        host, origin = headers.get("host"), headers.get("origin")
        if host is None or not self.names.admit(host):
            name = hostname(host or "")
            said = HOST_UNKNOWN.format(name=name) if name and name.isascii() else HOST_MISSING
            return PlainTextResponse(said, status_code=400)
        changes = scope["type"] == "websocket" or scope["method"] not in READ_METHODS
        secure = is_https(scope["scheme"], headers)
        if changes and not self.names.own(origin, host, secure=secure):
            return PlainTextResponse(FOREIGN_ORIGIN, status_code=403)
        return None


def with_origin_host(scope: Scope, headers: Headers) -> Scope:
    """Return the scope with the host of the page that asks, which has been found to be ours."""
    there = headers.get("origin", "").partition("://")[2]
    if scope["type"] == "http" and scope["method"] in READ_METHODS:
        return scope
    if not there or there == headers["host"]:
        return scope
    others = [(name, value) for name, value in scope["headers"] if name != b"host"]
    return {**scope, "headers": [*others, (b"host", there.encode("latin-1"))]}


async def refuse_socket(receive: Receive, send: Send) -> None:
    """Close a websocket before it is open: the browser is answered with 403."""
    await receive()
    await send({"type": "websocket.close", "code": 1008})


class EscapedCallback:
    """Escapes what a stranger says at the address where logins come back.

    Streamlit writes it to its log as it is, and whoever reads that at a terminal would have the
    terminal obey it.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request, its query in plain letters if it is for that address."""
        if scope["type"] == "http" and scope["path"] == CALLBACK:
            scope = {**scope, "query_string": escape_query(scope["query_string"])}
        await self.app(scope, receive, send)


def escape_query(query: bytes) -> bytes:
    r"""Return a query with what an error says cut short, and what is no printable ASCII escaped.

    >>> escape_query(b"error=%1b[31mred%0aline&code=1")
    b'error=%5Cx1b%5B31mred%5Cnline&code=1'
    """
    given = parse_qsl(query.decode("latin-1"), keep_blank_values=True)
    plain = [(name, ascii(value)[1:-1]) for name, value in given]
    short = [(n, said[:LONGEST_ERROR] if n.startswith("error") else said) for n, said in plain]
    return urlencode(short).encode()


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
STREAMLIT_ASSET = re.compile(r"/static/media/[\w-]+(\.[\w-]+)+", re.ASCII)
# What is no page: programs that are the same for everyone, and what says for itself who may.
NOT_A_PAGE = re.compile(
    r"/(static|scripts|component|_stcore|api|media|app/static|join|login|auth)/|/(leave|oauth2callback)$"
)


def is_guarded(path: str) -> bool:
    """Say whether what stands under a path, as the server reads it, is for leads.

    >>> is_guarded("/media/scores.csv"), is_guarded("/static/media/Sans.B1.woff2")
    (True, False)
    >>> is_guarded("/static/media/../../media/scores.csv")
    True
    """
    return bool(GUARDED.search(path)) and not STREAMLIT_ASSET.fullmatch(path)


def is_page(path: str) -> bool:
    """Say whether a path leads to a page.

    >>> is_page("/"), is_page("/data"), is_page("/static/index.js"), is_page("/api/next")
    (True, True, False, False)
    """
    return not NOT_A_PAGE.match(path)


def identify_visitor(store: Store, connection: HTTPConnection) -> Person | None:
    """Return who asks, None for one who may not come in."""
    door = AccessPolicy.from_environment()
    return door.visitor(store, credentials_on(connection, door))


def is_visitor_lead(store: Store, connection: HTTPConnection) -> bool:
    """Say whether what a request or a socket brings makes its visitor a lead, now."""
    person = identify_visitor(store, connection)
    return person is not None and person.is_lead


class LeadFilesOnly:
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
                if is_visitor_lead(store, connection):
                    return None
        except LabelerError as error:
            return PlainTextResponse(f"{redact_path(error, self.path)}\n", status_code=503)
        return PlainTextResponse(FOR_LEADS, status_code=403, headers=NO_STORE)


class SignInRequired:
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
            send = with_cookies(met, send)
        await self.app(scope, receive, send)

    def is_strangers(self, connection: HTTPConnection) -> bool:
        """Say whether whoever opens a socket may not come in."""
        try:
            with Store(self.path) as store:
                return identify_visitor(store, connection) is None
        except LabelerError:
            return True  # the page says why when it is loaded again

    def meet(self, connection: HTTPConnection, method: str) -> Response | list[bytes]:
        """Return the door for a stranger, and the cookies to set for anybody else."""
        door = AccessPolicy.from_environment()
        claims = credentials_on(connection, door)
        try:
            with Store(self.path) as store:
                store.actor = unknown_actor(connection)
                if not door.is_closed(store):
                    return []
                if door.visitor(store, claims) is None:
                    return login_pages.invitation_needed(store, door, claims)
                if method not in READ_METHODS:
                    return []
                return exchange_for_session(store, door, claims, connection)
        except LabelerError as error:
            return login_pages.unavailable(redact_path(error, self.path))


def with_cookies(cookies: list[bytes], send: Send) -> Send:
    """Return a way to send an answer with these cookies."""

    async def send_with_cookies(message: Message) -> None:
        if message["type"] == "http.response.start" and cookies:
            more = [(b"set-cookie", cookie) for cookie in cookies]
            message["headers"] = [*message["headers"], *more]
        await send(message)

    return send_with_cookies

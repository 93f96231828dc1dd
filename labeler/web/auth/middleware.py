"""Middleware that refuses foreign hosts and origins, visitors not signed in, and files for leads.

`HostCheck` is the outermost: it passes only requests by this server's own name and, for a socket
or a change, from its own page. `SignInRequired` also exchanges a login, or the cookie of an earlier
version, for a session.
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
from labeler.web.language import reason_for, words_at, words_for

CALLBACK = "/oauth2callback"
LONGEST_ERROR = 200
HOST_MISSING = "A request needs the name of this server in its Host header.\n"
FOREIGN_ORIGIN = "This is taken from labeler's own pages only.\n"
HOST_UNKNOWN = (
    "This server does not answer to the name {name}.\n"
    "If that is its name, whoever runs it starts it with: labeler serve --host-name {name}\n"
)


class HostCheck:
    """Middleware that refuses foreign host names, and sockets and changes from other sites' pages.

    Streamlit would refuse most such sockets too, but first asks a public service for this machine's
    address, in case the page came from there. Behind a proxy that puts its own name into ``Host``,
    the page's name is restored, as Streamlit compares the two.
    """

    def __init__(self, app: ASGIApp, names: AllowedHosts) -> None:
        self.app = app
        self.names = names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
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
        """Return the response to a request for another host or from another site's page."""
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
    """Return the scope with the host of the requesting page, which was checked to be ours."""
    there = headers.get("origin", "").partition("://")[2]
    if scope["type"] == "http" and scope["method"] in READ_METHODS:
        return scope
    if not there or there == headers["host"]:
        return scope
    others = [(name, value) for name, value in scope["headers"] if name != b"host"]
    return {**scope, "headers": [*others, (b"host", there.encode("latin-1"))]}


async def refuse_socket(receive: Receive, send: Send) -> None:
    """Close a websocket before it is open: the browser gets a 403."""
    await receive()
    await send({"type": "websocket.close", "code": 1008})


class EscapedCallback:
    """Middleware that escapes the query of the address that logins return to.

    Streamlit logs it unescaped, so control characters in it would reach the terminal that shows the
    log.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] == CALLBACK:
            scope = {**scope, "query_string": escape_query(scope["query_string"])}
        await self.app(scope, receive, send)


def escape_query(query: bytes) -> bytes:
    r"""Return a query with error texts cut short and anything but printable ASCII escaped.

    >>> escape_query(b"error=%1b[31mred%0aline&code=1")
    b'error=%5Cx1b%5B31mred%5Cnline&code=1'
    """
    given = parse_qsl(query.decode("latin-1"), keep_blank_values=True)
    plain = [(name, ascii(value)[1:-1]) for name, value in given]
    short = [(n, text[:LONGEST_ERROR] if n.startswith("error") else text) for n, text in plain]
    return urlencode(short).encode()


NO_STORE = {"cache-control": "no-store"}
STREAM = "/_stcore/stream"
# What Streamlit serves beside its pages: uploaded files, files for download, and all services
# but those that a grader's pages need.
GUARDED = re.compile(
    "(^|/)(media/|app/static/|_stcore/(?!(health|host-config|stream)$|bidi-components/))"
)
# Streamlit's own fonts and pictures are in a folder called media, too: only plain files in it.
STREAMLIT_ASSET = re.compile(r"/static/media/[\w-]+(\.[\w-]+)+", re.ASCII)
# Not pages: scripts that are the same for everyone, and routes that check access themselves.
NOT_A_PAGE = re.compile(
    r"/(static|scripts|component|_stcore|api|media|app/static|join|login|auth)/|/(leave|oauth2callback)$"
)


def is_guarded(path: str) -> bool:
    """Return whether the server serves a path to leads only.

    >>> is_guarded("/media/scores.csv"), is_guarded("/static/media/Sans.B1.woff2")
    (True, False)
    >>> is_guarded("/static/media/../../media/scores.csv")
    True
    """
    return bool(GUARDED.search(path)) and not STREAMLIT_ASSET.fullmatch(path)


def is_page(path: str) -> bool:
    """Return whether a path is that of a page.

    >>> is_page("/"), is_page("/data"), is_page("/static/index.js"), is_page("/api/next")
    (True, True, False, False)
    """
    return not NOT_A_PAGE.match(path)


def identify_visitor(store: Store, connection: HTTPConnection) -> Person | None:
    """Return the visitor of a request or socket, None for one without access."""
    policy = AccessPolicy.from_environment()
    return policy.visitor(store, credentials_on(connection, policy))


def is_visitor_lead(store: Store, connection: HTTPConnection) -> bool:
    """Return whether the visitor of a request or a socket is a lead now."""
    person = identify_visitor(store, connection)
    return person is not None and person.is_lead


class LeadFilesOnly:
    """Middleware that refuses uploads, downloads and Streamlit's other services to non-leads."""

    def __init__(self, app: ASGIApp, path: str) -> None:
        self.app = app
        self.path = path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and is_guarded(scope["path"]):
            refusal = await run_in_threadpool(self.refusal, HTTPConnection(scope))
            if refusal is not None:
                await refusal(scope, receive, send)
                return
        await self.app(scope, receive, send)

    def refusal(self, connection: HTTPConnection) -> Response | None:
        """Return the response to a visitor without access to the file."""
        words = words_for(connection)
        try:
            with Store(self.path) as store:
                if is_visitor_lead(store, connection):
                    return None
                words = words_for(connection, store)
        except LabelerError as error:
            said = reason_for(error, self.path, words)
            return PlainTextResponse(f"{said}\n", status_code=503)
        said = words.say("api.for_leads")
        return PlainTextResponse(f"{said}\n", status_code=403, headers=NO_STORE)


class SignInRequired:
    """Middleware that shows the sign-in page to visitors without access and refuses their sockets.

    A visitor with a login that has not opened its session yet, or with the cookie of an earlier
    version, gets a session when their page is served.
    """

    def __init__(self, app: ASGIApp, path: str) -> None:
        self.app = app
        self.path = path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket" and scope["path"].endswith(STREAM):
            if await run_in_threadpool(self.is_strangers, HTTPConnection(scope)):
                await refuse_socket(receive, send)
                return
        elif scope["type"] == "http" and is_page(scope["path"]):
            result = await run_in_threadpool(self.meet, HTTPConnection(scope), scope["method"])
            if isinstance(result, Response):
                await result(scope, receive, send)
                return
            send = with_cookies(result, send)
        await self.app(scope, receive, send)

    def is_strangers(self, connection: HTTPConnection) -> bool:
        """Return whether a socket's visitor has no access."""
        try:
            with Store(self.path) as store:
                return identify_visitor(store, connection) is None
        except LabelerError:
            return True  # the page says why when it is loaded again

    def meet(self, connection: HTTPConnection, method: str) -> Response | list[bytes]:
        """Return the sign-in page for a visitor without access, and cookies to set for others."""
        policy = AccessPolicy.from_environment()
        credentials = credentials_on(connection, policy)
        try:
            with Store(self.path) as store:
                store.connection.actor = unknown_actor(connection)
                if not policy.is_closed(store):
                    return []
                if policy.visitor(store, credentials) is None:
                    words = words_for(connection, store)
                    return login_pages.invitation_needed(words, store, policy, credentials)
                if method not in READ_METHODS:
                    return []
                return exchange_for_session(store, policy, credentials, connection)
        except LabelerError as error:
            words = words_at(connection, self.path)
            return login_pages.unavailable(words, reason_for(error, self.path, words))


def with_cookies(cookies: list[bytes], send: Send) -> Send:
    """Return a ``send`` that adds these cookies to the response."""

    async def send_with_cookies(message: Message) -> None:
        if message["type"] == "http.response.start" and cookies:
            more = [(b"set-cookie", cookie) for cookie in cookies]
            message["headers"] = [*message["headers"], *more]
        await send(message)

    return send_with_cookies

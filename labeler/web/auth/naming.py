"""Stands before everything: foreign names, other sites' pages, what a stranger would write to logs.

Whatever passes here is asked of this server by its own name and, by a socket or to change
something, by its own page. Knows nobody's rights.
"""

from __future__ import annotations

from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from labeler.web.auth.hosts import WRITES_NOTHING, HostNames, came_by_https, name_in

CALLBACK = "/oauth2callback"
LONGEST_ERROR = 200
NOT_A_NAME = "A request needs the name of this server in its Host header.\n"
ANOTHER_SITES = "This is taken from labeler's own pages only.\n"
NOT_MY_NAME = (
    "This server does not answer to the name {name}.\n"
    "If that is its name, whoever runs it starts it with: labeler serve --host-name {name}\n"
)


class OwnNames:
    """Refuses a foreign name, and a socket or a change that another site's page asks for.

    Streamlit would refuse most such sockets too, but asks a public service for this machine's
    address first, in case that is where the page came from. Behind a proxy that puts a name of
    its own into ``Host``, the name that the page has is put back: Streamlit compares the two.
    """

    def __init__(self, app: ASGIApp, names: HostNames) -> None:
        self.app = app
        self.names = names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve what this server's own pages and links ask for."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        if (refusal := self.refusal(scope, headers)) is None:
            await self.app(as_the_page_says(scope, headers), receive, send)
        elif scope["type"] == "http":
            await refusal(scope, receive, send)
        else:
            await refuse_socket(receive, send)

    def refusal(self, scope: Scope, headers: Headers) -> PlainTextResponse | None:
        """Return the answer to a request that is not for this server or not by its page."""
        host, origin = headers.get("host"), headers.get("origin")
        if host is None or not self.names.admit(host):
            name = name_in(host or "")
            said = NOT_MY_NAME.format(name=name) if name and name.isascii() else NOT_A_NAME
            return PlainTextResponse(said, status_code=400)
        changes = scope["type"] == "websocket" or scope["method"] not in WRITES_NOTHING
        secure = came_by_https(scope["scheme"], headers)
        if changes and not self.names.own(origin, host, secure=secure):
            return PlainTextResponse(ANOTHER_SITES, status_code=403)
        return None


def as_the_page_says(scope: Scope, headers: Headers) -> Scope:
    """Return the scope with the host of the page that asks, which has been found to be ours."""
    there = headers.get("origin", "").partition("://")[2]
    if scope["type"] == "http" and scope["method"] in WRITES_NOTHING:
        return scope
    if not there or there == headers["host"]:
        return scope
    others = [(name, value) for name, value in scope["headers"] if name != b"host"]
    return {**scope, "headers": [*others, (b"host", there.encode("latin-1"))]}


async def refuse_socket(receive: Receive, send: Send) -> None:
    """Close a websocket before it is open: the browser is answered with 403."""
    await receive()
    await send({"type": "websocket.close", "code": 1008})


class PlainCallback:
    """Escapes what a stranger says at the address where logins come back.

    Streamlit writes it to its log as it is, and whoever reads that at a terminal would have the
    terminal obey it.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request, its query in plain letters if it is for that address."""
        if scope["type"] == "http" and scope["path"] == CALLBACK:
            scope = {**scope, "query_string": in_plain_letters(scope["query_string"])}
        await self.app(scope, receive, send)


def in_plain_letters(query: bytes) -> bytes:
    r"""Return a query with what an error says cut short, and what is no printable ASCII escaped.

    >>> in_plain_letters(b"error=%1b[31mred%0aline&code=1")
    b'error=%5Cx1b%5B31mred%5Cnline&code=1'
    """
    given = parse_qsl(query.decode("latin-1"), keep_blank_values=True)
    plain = [(name, ascii(value)[1:-1]) for name, value in given]
    short = [(n, said[:LONGEST_ERROR] if n.startswith("error") else said) for n, said in plain]
    return urlencode(short).encode()

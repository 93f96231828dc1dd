"""What a browser brings, and the cookie it keeps a session in: its name, its guards."""

from __future__ import annotations

from starlette.requests import HTTPConnection
from starlette.responses import Response

from labeler.model import Actor
from labeler.web.auth.access import FORMER_COOKIE, SECURE_COOKIE, SESSION_COOKIE, Claims, Door
from labeler.web.auth.hosts import came_by_https
from labeler.web.auth.visitors import claims_of

A_YEAR_SECONDS = 365 * 24 * 3600


def is_secure(connection: HTTPConnection) -> bool:
    """Say whether the visitor's browser came by https, to this server or to a proxy before it."""
    return came_by_https(connection.scope["scheme"], connection.headers)


def claims_on(connection: HTTPConnection, door: Door) -> Claims:
    """Return what a request or a socket brings."""
    return claims_of(connection.cookies, door, secure=is_secure(connection))


def stranger_at(connection: HTTPConnection) -> Actor:
    """Return who asks as the audit names them before it is known who that is."""
    return Actor(None, "unknown", connection.client.host if connection.client else None)


def keep_session(response: Response, token: str, *, secure: bool) -> None:
    """Let a browser keep a session, and drop what an earlier version let it keep."""
    response.set_cookie(
        SECURE_COOKIE if secure else SESSION_COOKIE,
        token,
        max_age=A_YEAR_SECONDS,
        httponly=True,
        samesite="lax",
        secure=secure,
    )
    response.delete_cookie(FORMER_COOKIE, httponly=True, samesite="lax")


def drop_session(response: Response, *, secure: bool) -> None:
    """Let a browser drop its session, and what an earlier version let it keep."""
    name = SECURE_COOKIE if secure else SESSION_COOKIE
    response.delete_cookie(name, httponly=True, samesite="lax", secure=secure)
    response.delete_cookie(FORMER_COOKIE, httponly=True, samesite="lax")

"""Cookies: the session that a browser keeps, and the login that Streamlit keeps.

Streamlit tells only its own scripts who has logged in. A request for a file has nothing but the
cookie, so both read it here, with the functions that Streamlit reads it with.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import Any

from starlette.requests import HTTPConnection
from starlette.responses import Response
from streamlit.auth_util import (
    get_cookie_with_chunks,
    get_origin_from_redirect_uri,
    get_secrets_auth_section,
)
from streamlit.web.server.server_util import get_cookie_secret
from streamlit.web.server.starlette.starlette_app_utils import decode_signed_value
from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME

from labeler.model import Actor
from labeler.web.auth import access
from labeler.web.auth.access import (
    FORMER_COOKIE,
    SECURE_COOKIE,
    SESSION_COOKIE,
    AccessPolicy,
    Credentials,
)
from labeler.web.auth.allowed_hosts import is_https

A_YEAR_SECONDS = 365 * 24 * 3600


def is_secure(connection: HTTPConnection) -> bool:
    """Say whether the visitor's browser came by https, to this server or to a proxy before it."""
    return is_https(connection.scope["scheme"], connection.headers)


def credentials_on(connection: HTTPConnection, door: AccessPolicy) -> Credentials:
    """Return what a request or a socket brings."""
    return credentials_from_cookies(connection.cookies, door, secure=is_secure(connection))


def unknown_actor(connection: HTTPConnection) -> Actor:
    """Return who asks as the audit names them before it is known who that is."""
    return Actor(None, "unknown", connection.client.host if connection.client else None)


def set_session_cookie(response: Response, token: str, *, secure: bool) -> None:
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


def delete_session_cookie(response: Response, *, secure: bool) -> None:
    """Let a browser drop its session, and what an earlier version let it keep."""
    name = SECURE_COOKIE if secure else SESSION_COOKIE
    response.delete_cookie(name, httponly=True, samesite="lax", secure=secure)
    response.delete_cookie(FORMER_COOKIE, httponly=True, samesite="lax")


def credentials_from_cookies(
    cookies: Mapping[str, str], door: AccessPolicy, name: str | None = None, *, secure: bool = False
) -> Credentials:
    """Return what a visitor brings; their ``name`` is whatever they say it is.

    Where the browser came by https (``secure``) only a cookie counts that was set over https.
    """
    return Credentials(
        name=name,
        session=cookies.get(SECURE_COOKIE if secure else SESSION_COOKIE),
        secret=cookies.get(FORMER_COOKIE),
        login=access.login_from_user(user_of(cookies), door.trusted_issuers)
        if door.login
        else None,
    )


def user_of(cookies: Mapping[str, str]) -> Mapping[str, Any]:
    """Return what the login provider said of the visitor; empty where they have not logged in."""
    signed = get_cookie_with_chunks(partial(_verified_cookie, cookies), USER_COOKIE_NAME)
    user = json.loads(signed) if signed else {}
    # Other servers may share the secret that signs: the cookie says for which one it was made.
    here = user.get("is_logged_in") and user.get("origin") == get_origin_from_redirect_uri()
    return user if here else {}


def _verified_cookie(cookies: Mapping[str, str], name: str) -> bytes | None:
    value = cookies.get(name)
    return decode_signed_value(get_cookie_secret(), name, value) if value else None


def configured_providers() -> list[str]:
    """Return the names of the providers a visitor may log in with."""
    return access.provider_names(get_secrets_auth_section())

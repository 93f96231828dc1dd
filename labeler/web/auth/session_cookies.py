"""Cookies: labeler's session, and the login that Streamlit stores.

Streamlit tells only its own scripts who has logged in. A request for a file has only its cookies,
so both are read here, with the functions that Streamlit uses.
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
    SECURE_COOKIE,
    SESSION_COOKIE,
    AccessPolicy,
    Credentials,
)
from labeler.web.auth.allowed_hosts import is_https

A_YEAR_SECONDS = 365 * 24 * 3600


def is_secure(connection: HTTPConnection) -> bool:
    return is_https(connection.scope["scheme"], connection.headers)


def credentials_on(connection: HTTPConnection, policy: AccessPolicy) -> Credentials:
    """Return the credentials of a request or a websocket."""
    return credentials_from_cookies(connection.cookies, policy, secure=is_secure(connection))


def unknown_actor(connection: HTTPConnection) -> Actor:
    """Return the audit log's actor for a visitor not yet identified."""
    return Actor(None, "unknown", connection.client.host if connection.client else None)


def set_session_cookie(response: Response, token: str, *, secure: bool) -> None:
    """Set the session cookie."""
    response.set_cookie(
        SECURE_COOKIE if secure else SESSION_COOKIE,
        token,
        max_age=A_YEAR_SECONDS,
        httponly=True,
        samesite="lax",
        secure=secure,
    )


def delete_session_cookie(response: Response, *, secure: bool) -> None:
    """Delete the session cookie."""
    name = SECURE_COOKIE if secure else SESSION_COOKIE
    response.delete_cookie(name, httponly=True, samesite="lax", secure=secure)


def credentials_from_cookies(
    cookies: Mapping[str, str],
    policy: AccessPolicy,
    name: str | None = None,
    *,
    secure: bool = False,
) -> Credentials:
    """Return a visitor's credentials; ``name`` is what they typed and is not verified.

    If the browser came by https (``secure``), only a cookie set over https counts.
    """
    return Credentials(
        name=name,
        session=cookies.get(SECURE_COOKIE if secure else SESSION_COOKIE),
        login=access.login_from_user(user_of(cookies), policy.trusted_issuers)
        if policy.login
        else None,
    )


def user_of(cookies: Mapping[str, str]) -> Mapping[str, Any]:
    """Return the login provider's claims about the visitor; empty if they have not logged in."""
    signed = get_cookie_with_chunks(partial(_verified_cookie, cookies), USER_COOKIE_NAME)
    user = json.loads(signed) if signed else {}
    # Other servers may share the signing secret; the cookie names the server it was made for.
    here = user.get("is_logged_in") and user.get("origin") == get_origin_from_redirect_uri()
    return user if here else {}


def _verified_cookie(cookies: Mapping[str, str], name: str) -> bytes | None:
    value = cookies.get(name)
    return decode_signed_value(get_cookie_secret(), name, value) if value else None


def configured_providers() -> list[str]:
    """Return the names of the providers a visitor may log in with."""
    return access.provider_names(get_secrets_auth_section())

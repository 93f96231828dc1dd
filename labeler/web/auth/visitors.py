"""What a visitor's cookies claim: a session, a login, a link's secret; knows nobody's rights.

Streamlit tells only its own scripts who has logged in. A request for a file has nothing but the
cookie, so that both read it here, by the functions Streamlit reads it with.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import Any

from streamlit.auth_util import (
    get_cookie_with_chunks,
    get_origin_from_redirect_uri,
    get_secrets_auth_section,
)
from streamlit.web.server.server_util import get_cookie_secret
from streamlit.web.server.starlette.starlette_app_utils import decode_signed_value
from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME

from labeler.web.auth import access
from labeler.web.auth.access import FORMER_COOKIE, SECURE_COOKIE, SESSION_COOKIE, Claims, Door


def claims_of(
    cookies: Mapping[str, str], door: Door, name: str | None = None, *, secure: bool = False
) -> Claims:
    """Return what a visitor brings; their ``name`` is whatever they say it is.

    Where the browser came by https (``secure``) only a cookie counts that was set over https.
    """
    return Claims(
        name=name,
        session=cookies.get(SECURE_COOKIE if secure else SESSION_COOKIE),
        secret=cookies.get(FORMER_COOKIE),
        login=access.login_of(user_of(cookies), door.trusted_issuers) if door.login else None,
    )


def user_of(cookies: Mapping[str, str]) -> Mapping[str, Any]:
    """Return what the login provider said of the visitor; empty where they have not logged in."""
    signed = get_cookie_with_chunks(partial(_checked, cookies), USER_COOKIE_NAME)
    user = json.loads(signed) if signed else {}
    # Other servers may share the secret that signs: the cookie says for which one it was made.
    here = user.get("is_logged_in") and user.get("origin") == get_origin_from_redirect_uri()
    return user if here else {}


def _checked(cookies: Mapping[str, str], name: str) -> bytes | None:
    value = cookies.get(name)
    return decode_signed_value(get_cookie_secret(), name, value) if value else None


def providers() -> list[str]:
    """Return the names of the providers a visitor may log in with."""
    return access.providers(get_secrets_auth_section())

"""Whether a login can work, asked before the server starts: the file it is set up in, the library.

Streamlit would say it later, page by page, to people who cannot mend it.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from labeler.errors import BadInput, NotFound
from labeler.web.auth.access import DEFAULT_PROVIDER, PROVIDER_KEYS, providers

CALLBACK = "/oauth2callback"
SHORTEST_SECRET = 32
SECRET = "STREAMLIT_SERVER_COOKIE_SECRET"  # what Streamlit signs with where the file has none


def check_login(path: Path) -> None:
    """Raise unless people can log in as the file at ``path`` says; names file and key."""
    auth = auth_section(path)
    check_keys(path, "[auth]", auth, ("redirect_uri",))
    if not auth["redirect_uri"].endswith(CALLBACK):
        raise BadInput(f"{path}: redirect_uri in [auth] must end with {CALLBACK}")
    check_secret(path, auth)
    names = providers(auth)
    if not names:
        check_keys(path, "[auth]", auth, PROVIDER_KEYS)
    for name in names:
        if "_" in name:
            raise BadInput(f"{path}: [auth.{name}] must have a name without an underscore")
        usual = name == DEFAULT_PROVIDER
        place, section = ("[auth]", auth) if usual else (f"[auth.{name}]", auth[name])
        check_keys(path, place, section, PROVIDER_KEYS)
    if find_spec("authlib") is None or find_spec("httpx") is None:
        raise BadInput(
            "--login needs a library that is missing: pip install 'retrieval-labeler[login]'"
        )


def check_secret(path: Path, auth: Mapping[str, Any]) -> None:
    """Raise `BadInput` unless file or environment has a secret that nobody guesses."""
    secret, where = os.environ.get(SECRET, ""), SECRET
    if "cookie_secret" in auth or not secret.strip():
        check_keys(path, "[auth]", auth, ("cookie_secret",))
        secret, where = auth["cookie_secret"], f"{path}: cookie_secret in [auth]"
    if len(secret) < SHORTEST_SECRET:
        raise BadInput(
            f"{where} can be guessed; make it {SHORTEST_SECRET} random characters or more"
        )


def host_of_login(path: Path) -> str:
    """Return the name, and the port if there is one, at which the server's logins come back."""
    return urlsplit(str(auth_section(path)["redirect_uri"])).netloc.lower()


def auth_section(path: Path) -> Mapping[str, Any]:
    """Return the ``[auth]`` section of Streamlit's secrets at ``path``."""
    if not path.exists():
        raise NotFound(f"{path}: there is no such file")
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise BadInput(f"{path}: is not TOML: {error}") from error
    auth = content.get("auth")
    if not isinstance(auth, Mapping):
        raise BadInput(f"{path}: has no [auth] section")
    return auth


def check_keys(path: Path, place: str, section: Mapping[str, Any], keys: tuple[str, ...]) -> None:
    """Raise `BadInput` for the first of the keys that the section does not give."""
    for key in keys:
        value = section.get(key)
        if not isinstance(value, str) or not value.strip():
            raise BadInput(f"{path}: {key} is missing in {place}")

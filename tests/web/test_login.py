"""What a login needs before the server starts, and what its cookie is believed."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from streamlit.auth_util import decode_provider_token
from streamlit.runtime.secrets import Secrets
from streamlit.web.server.starlette.starlette_app_utils import create_signed_value

from labeler.cli.server import SECRET as SHARED_SECRET
from labeler.cli.server import check_login
from labeler.errors import BadInput, LabelerError
from labeler.store import Store
from labeler.web.auth import session_cookies
from labeler.web.auth.access import LOGIN as LOGIN_FLAG
from labeler.web.auth.access import (
    SECURE_COOKIE,
    SESSION_COOKIE,
    AccessPolicy,
    Credentials,
)
from labeler.web.auth.login_flow import login_routes
from labeler.web.auth.middleware import SignInRequired

SECRET = "0123456789abcdef" * 2
ORIGIN = "https://grading.example"
GENERAL = {"redirect_uri": f"{ORIGIN}/oauth2callback", "cookie_secret": SECRET}
PROVIDER = {"client_id": "me", "client_secret": "shh", "server_metadata_url": "https://id.example"}


def toml_of(sections: dict[str, dict[str, str]]) -> str:
    """Write sections as TOML."""
    lines = []
    for name, values in sections.items():
        lines += [f"[{name}]", *(f'{key} = "{value}"' for key, value in values.items())]
    return "\n".join(lines)


@pytest.fixture
def file(tmp_path: Path) -> Callable[[str], Path]:
    """Write a secrets file."""

    def write(text: str) -> Path:
        path = tmp_path / "secrets.toml"
        path.write_text(text)
        return path

    return write


@pytest.mark.parametrize(
    "sections",
    [
        {"auth": {**GENERAL, **PROVIDER}},
        {"auth": GENERAL, "auth.google": PROVIDER},
        {"auth": {**GENERAL, **PROVIDER}, "auth.google": PROVIDER, "database": {"password": "x"}},
    ],
)
def test_a_whole_section_is_fine(file, sections):
    check_login(file(toml_of(sections)))


def test_servers_may_share_their_secret_in_the_environment(file, monkeypatch):
    path = file(
        toml_of({"auth": {**GENERAL, **PROVIDER}}).replace(f'cookie_secret = "{SECRET}"', "")
    )
    monkeypatch.setenv(SHARED_SECRET, SECRET)
    check_login(path)
    monkeypatch.setenv(SHARED_SECRET, "secret")
    with pytest.raises(BadInput, match=f"^{SHARED_SECRET} can be guessed; make it 32 random"):
        check_login(path)
    monkeypatch.delenv(SHARED_SECRET)
    with pytest.raises(BadInput, match=r"cookie_secret is missing in \[auth\]"):
        check_login(path)


@pytest.mark.parametrize("key", [*GENERAL, *PROVIDER])
def test_a_missing_key_is_named_with_its_file(file, key: str):
    whole = {**GENERAL, **PROVIDER}
    for value in ({}, {key: "  "}):
        path = file(toml_of({"auth": {k: v for k, v in whole.items() if k != key} | value}))
        with pytest.raises(BadInput) as error:
            check_login(path)
        assert str(error.value) == f"{path}: {key} is missing in [auth]"


def test_a_provider_with_a_name_that_streamlit_does_not_take_is_refused(file):
    with pytest.raises(BadInput, match=r"\[auth.my_id\] must have a name without an underscore"):
        check_login(file(toml_of({"auth": GENERAL, "auth.my_id": PROVIDER})))


def test_a_missing_key_of_a_named_provider_is_named_with_its_section(file):
    half = {"client_id": "me", "server_metadata_url": "u"}
    with pytest.raises(BadInput, match=r"client_secret is missing in \[auth.google\]"):
        check_login(file(toml_of({"auth": GENERAL, "auth.google": half})))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "has no [auth] section"),
        ("auth = 3", "has no [auth] section"),
        ("[auth", "is not TOML"),
        ("[auth]\n" + toml_of({"x": {}}), "redirect_uri is missing in [auth]"),
        (
            toml_of({"auth": {**GENERAL, **PROVIDER, "redirect_uri": ORIGIN}}),
            "must end with /oauth2callback",
        ),
        (
            toml_of({"auth": {**GENERAL, **PROVIDER, "cookie_secret": "secret"}}),
            "cookie_secret in [auth] can be guessed",
        ),
        (toml_of({"auth": GENERAL}), "client_id is missing in [auth]"),
    ],
)
def test_a_file_that_lets_nobody_in_is_refused_in_one_sentence(file, text: str, said: str):
    path = file(text)
    with pytest.raises(BadInput) as error:
        check_login(path)
    assert str(error.value).startswith(f"{path}: ")
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_a_file_that_is_not_there_is_said_to_be_missing(tmp_path: Path):
    with pytest.raises(LabelerError, match="there is no such file"):
        check_login(tmp_path / "nowhere.toml")


@pytest.mark.parametrize("missing", ["authlib", "httpx"])
def test_a_missing_library_is_said_with_what_installs_it(file, monkeypatch, missing: str):
    real = importlib.util.find_spec
    monkeypatch.setattr(
        "labeler.cli.server.find_spec", lambda name: None if name == missing else real(name)
    )
    with pytest.raises(BadInput, match=r"pip install 'retrieval-labeler\[login\]'"):
        check_login(file(toml_of({"auth": {**GENERAL, **PROVIDER}})))


@pytest.fixture
def signed(monkeypatch: pytest.MonkeyPatch) -> Callable[..., dict[str, str]]:
    """Make the cookies Streamlit sets after a login at this server."""
    secrets = Secrets()
    content = {"auth": {**GENERAL, **PROVIDER, "google": PROVIDER}}
    monkeypatch.setattr(secrets, "_secrets", content)
    for module in ("streamlit.auth_util", "streamlit.web.server.server_util"):
        monkeypatch.setattr(f"{module}.secrets_singleton", secrets)

    def sign(text: str, secret: str = SECRET, name: str = "_streamlit_user") -> dict[str, str]:
        return {name: create_signed_value(secret, name, text).decode()}

    return sign


ANN = (
    '{"iss": "https://id.example", "sub": "a1", "email": "Ann@example.org", '
    f'"email_verified": true, "is_logged_in": true, "origin": "{ORIGIN}"}}'
)
LOGIN = AccessPolicy(login=True)


def address_in(cookies: dict[str, str]) -> str | None:
    """Return the address that the cookies' login claims."""
    login = session_cookies.credentials_from_cookies(cookies, LOGIN).login
    return None if login is None else login.address


def test_a_login_claims_its_issuer_its_subject_and_its_address(signed):
    login = session_cookies.credentials_from_cookies(signed(ANN), LOGIN).login
    assert (login.issuer, login.subject) == ("https://id.example", "a1")
    assert login.address == "ann@example.org"
    nameless = session_cookies.credentials_from_cookies(
        signed(ANN.replace('"sub"', '"sab"')), LOGIN
    )
    assert nameless == Credentials()


def test_a_long_login_comes_in_several_cookies(signed):
    cookies = signed("chunks-2")
    cookies |= signed(ANN[:20], name="_streamlit_user_1") | signed(
        ANN[20:], name="_streamlit_user_2"
    )
    assert address_in(cookies) == "ann@example.org"
    del cookies["_streamlit_user_2"]
    assert address_in(cookies) is None


def test_only_our_own_signature_for_this_very_server_counts(signed):
    forged = [
        {"_streamlit_user": ANN},
        signed(ANN, secret="another secret"),
        signed(ANN.replace(ORIGIN, "https://another.example")),
        signed(ANN.replace('in": true', 'in": false')),
        signed(ANN, name="_streamlit_user_tokens"),
        {"_streamlit_user": signed(ANN, name="_streamlit_xsrf")["_streamlit_xsrf"]},
        {"_streamlit_user": ""},
        {},
    ]
    for cookies in forged:
        assert address_in(cookies) is None


def test_a_server_without_a_login_believes_none(signed):
    cookies = {**signed(ANN), SESSION_COOKIE: "plain", SECURE_COOKIE: "sure"}
    claims = session_cookies.credentials_from_cookies(cookies, AccessPolicy(), "Ann")
    assert claims == Credentials(name="Ann", session="plain")
    assert (
        session_cookies.credentials_from_cookies(cookies, AccessPolicy(), secure=True).session
        == "sure"
    )


def test_every_provider_is_offered_at_the_door_and_led_to(signed, store: Store, ask, monkeypatch):
    assert session_cookies.configured_providers() == ["default", "google"]
    monkeypatch.setenv(LOGIN_FLAG, "1")
    app = Starlette(
        routes=login_routes(str(store.path)),
        middleware=[Middleware(SignInRequired, path=str(store.path))],
    )
    door = ask(app, "GET", "/scores").body.decode()
    assert re.findall('href="(/login/[^"]+)">([^<]+)<', door) == [
        ("/login/default", "Sign in"),
        ("/login/google", "Sign in with google"),
    ]
    for name in ("default", "google"):
        answer = ask(app, "GET", f"/login/{name}")
        begin, _, token = answer.headers["location"].partition("=")
        assert (answer.status, begin) == (303, "/auth/login?provider")
        assert decode_provider_token(token)["provider"] == name
    assert ask(app, "GET", "/login/another").headers["location"] == "/"


def test_who_has_logged_in_and_may_not_come_in_is_told_why(signed, store: Store, ask, monkeypatch):
    monkeypatch.setenv(LOGIN_FLAG, "1")
    app = Starlette(middleware=[Middleware(SignInRequired, path=str(store.path))])

    def told(user: str) -> str:
        cookies = "; ".join(f"{name}={value}" for name, value in signed(user).items())
        return ask(app, "GET", "/", headers={"cookie": cookies}).body.decode()

    assert "You are not on the list" in told(ANN)
    unconfirmed = told(ANN.replace('"email_verified": true, ', ""))
    assert "labeler serve --trust-addresses-of https://id.example" in unconfirmed
    store.people.allow("Ann", "ann@example.org", issuer="https://other.example")
    assert "Your address belongs to another login" in told(ANN)
    hostile = told(ANN.replace("https://id.example", "<script>alert(1)</script>"))
    assert "&lt;script&gt;" in hostile
    assert "<script" not in hostile

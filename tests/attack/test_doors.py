"""The doors under attack: foreign names, stolen sessions, guesses, what strangers read."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

from labeler.store import Login, Store
from labeler.store.sessions import MOST_SESSIONS
from labeler.web.auth import access
from labeler.web.auth.access import (
    SECURE_COOKIE,
    SESSION_COOKIE,
    AccessPolicy,
    Credentials,
    hash_secret,
    new_secret,
    session_by_login,
)
from labeler.web.auth.allowed_hosts import BOUND_ADDRESS, HOST_NAMES
from labeler.web.auth.login_flow import MOST_WAITING, LinkThrottle, login_routes
from labeler.web.auth.middleware import escape_query
from tests.support.grading_client import Pad
from tests.support.signed_in import let_in

PUBLIC = "labels.example.org"


@pytest.fixture(autouse=True)
def _plain_server(monkeypatch: pytest.MonkeyPatch) -> None:
    flags = (access.ANY_HOST, access.OPEN, access.LOGIN, access.GRADERS_ONLY)
    for name in (*flags, access.TRUSTED_ISSUERS, HOST_NAMES, BOUND_ADDRESS):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def app(store: Store, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Starlette]:
    """Make what stands before the pages, with something that answers in their place."""
    from labeler.app import main as server

    async def page(request: Request) -> Response:
        asked = "&".join(f"{name}={value}" for name, value in request.query_params.items())
        return PlainTextResponse(f"a page under {request.headers['host']} asked {asked}")

    async def stream(socket: WebSocket) -> None:
        await socket.accept()

    monkeypatch.setattr(server, "DATABASE", str(store.path))
    return lambda: Starlette(
        routes=[
            *login_routes(str(store.path)),
            WebSocketRoute("/_stcore/stream", stream),
            Route("/{path:path}", page, methods=["GET", "POST"]),
        ],
        middleware=server.middleware(),
    )


def socket(app: Starlette, headers: dict[str, str]) -> str:
    """Ask for Streamlit's socket; return how the server answers."""
    sent: list[str] = []

    async def receive() -> dict[str, Any]:
        return {"type": "websocket.connect"}

    async def send(message: Any) -> None:
        sent.append(message["type"])

    scope = {
        "type": "websocket",
        "scheme": "ws",
        "path": "/_stcore/stream",
        "root_path": "",
        "query_string": b"",
        "subprotocols": [],
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }
    asyncio.run(app(scope, receive, send))
    return sent[0].removeprefix("websocket.")


def cookie_of(answer: Any, name: str = SESSION_COOKIE) -> str:
    """Return the value of a cookie that an answer sets."""
    return SimpleCookie("\r\n".join(answer.cookies))[name].value


# Names ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "flags", [{}, {access.OPEN: "1"}, {access.OPEN: "1", BOUND_ADDRESS: "127.0.0.2"}]
)
def test_a_name_that_somebody_else_points_here_reads_nothing(app, ask, monkeypatch, flags):
    for name, value in flags.items():
        monkeypatch.setenv(name, value)
    evil = {"host": "evil.example:9207", "origin": "http://evil.example:9207"}
    assert ask(app(), "GET", "/", headers=evil).status == 400
    assert socket(app(), evil) == "close"


@pytest.mark.parametrize("host", [PUBLIC, "127.0.0.1:8501"])  # kept by the proxy, or rewritten
def test_a_proxy_may_keep_the_name_or_put_another_in_its_place(app, ask, monkeypatch, host: str):
    monkeypatch.setenv(HOST_NAMES, PUBLIC)
    monkeypatch.setenv(access.OPEN, "1")
    asked = {"host": host, "origin": f"https://{PUBLIC}", "x-forwarded-proto": "https"}
    assert ask(app(), "GET", "/", headers={"host": host}).status == 200
    assert ask(app(), "POST", "/", headers=asked).body == f"a page under {PUBLIC} asked ".encode()
    assert socket(app(), asked) == "accept"
    for origin in (f"http://{PUBLIC}", "https://evil.example", f"https://{PUBLIC}:9999", "null"):
        assert ask(app(), "POST", "/", headers={**asked, "origin": origin}).status == 403
        assert socket(app(), {**asked, "origin": origin}) == "close"


def test_what_came_by_https_stays_on_https(app, ask):
    assert "strict-transport-security" not in ask(app(), "GET", "/").headers
    answer = ask(app(), "GET", "/", headers={"x-forwarded-proto": "https"})
    assert answer.headers["strict-transport-security"] == "max-age=31536000"


# Strangers -----------------------------------------------------------------------------------


def test_a_stranger_is_shown_a_plain_page_and_opens_no_socket(app, ask, store: Store):
    inside = let_in(store, "Lea", "leas", "lead")
    home = {"host": "127.0.0.1", "origin": "http://127.0.0.1"}
    for cookie in ("", f"{SESSION_COOKIE}=guess", "labeler_grader=Lea", f"{SECURE_COOKIE}=leas"):
        asked = {**home, "cookie": cookie}
        answer = ask(app(), "GET", "/scores", headers=asked)
        assert answer.status == 403
        assert b"You need an invitation" in answer.body
        assert b"<script" not in answer.body
        assert socket(app(), asked) == "close"
    [(name, token)] = inside.items()
    asked = {**home, "cookie": f"{name}={token}"}
    assert ask(app(), "GET", "/scores", headers=asked).status == 200
    assert socket(app(), asked) == "accept"
    store.people.invite("Bea", hash_secret("beas"), role="lead")
    store.people.revoke("Lea")
    assert ask(app(), "GET", "/scores", headers=asked).status == 403
    assert socket(app(), asked) == "close"


@pytest.mark.parametrize("role", ["stranger", "grader"])
def test_nobody_but_the_operator_learns_where_the_golden_set_lies(
    app, ask, filled: Store, role: str, tmp_path: Path
):
    pad = Pad(filled, ask, "Ann")
    [answer] = pad.send({**pad.event(), "text_hash": "\ud800"})
    assert str(tmp_path) not in answer.get("refused", "")
    let_in(filled, "Ann", "anns")
    filled.close()
    filled.path.rename(tmp_path / "away.db")
    cookie = {"cookie": f"{SESSION_COOKIE}=anns"} if role == "grader" else {}
    for path in ("/join/abc", "/media/abc", "/", "/leave", "/data"):
        answer = ask(app(), "GET", path, headers=cookie)
        assert answer.status == 503
        assert str(tmp_path).encode() not in answer.body
    filled.path.symlink_to(tmp_path / "nowhere" / "golden.db")
    assert str(tmp_path) not in pad.refused("next")


def test_what_a_stranger_says_at_the_callback_cannot_move_a_terminal(app, ask):
    said = ask(app(), "GET", "/oauth2callback?error=%1b%5b31mred%0aline&state=s").body.decode()
    assert said.endswith(r" asked error=\x1b[31mred\nline&state=s")
    plain = escape_query(b"error=%1b%5d0%3bPWNED%07&error_description=%c2%9b31m" + b"x" * 9999)
    assert not any(code in plain for code in (b"%1B", b"%07", b"%C2", b"\x1b", b"\x9b"))
    assert len(plain) < 1000
    assert escape_query(b"state=aZ09-_&code=4%2F0Ab%3D") == b"state=aZ09-_&code=4%2F0Ab%3D"


# Links and sessions --------------------------------------------------------------------------


def test_another_sites_page_lets_no_browser_in_as_somebody_else(app, ask, store: Store):
    let_in(store, "Lea", "leas", "lead")
    store.people.invite("Gil", hash_secret("gils"))
    lea = {"cookie": f"{SESSION_COOKIE}=leas"}
    asked = ask(app(), "GET", "/join/gils", headers=lea)
    assert (asked.status, asked.cookies) == (200, ())
    assert b"You are signed in as Lea. This link signs in Gil." in asked.body
    foreign = ask(app(), "POST", "/join/gils", headers={**lea, "origin": "https://evil.example"})
    assert (foreign.status, foreign.cookies) == (403, ())
    own = ask(app(), "POST", "/join/gils", headers={**lea, "origin": "http://127.0.0.1"})
    assert store.sessions.get(hash_secret(cookie_of(own))).name == "Gil"
    assert store.sessions.get(hash_secret("leas")) is None, "the one whose place it takes has ended"


def test_a_link_for_once_is_not_used_up_by_who_looks_at_it_first(app, ask, store: Store):
    secret, _ = access.invite(store, "Ann", once=True)
    for _ in range(3):  # a mail scanner
        assert ask(app(), "GET", f"/join/{secret}").status == 200
        assert ask(app(), "HEAD", f"/join/{secret}").status == 200
    answer = ask(app(), "POST", f"/join/{secret}")
    token = cookie_of(answer)
    for method in ("GET", "POST"):
        again = ask(app(), method, f"/join/{secret}")
        assert (again.status, again.cookies) == (403, ())
        assert b"It works once and has been used" in again.body
    assert store.sessions.get(hash_secret(token)).name == "Ann"
    asked = ask(app(), "GET", "/leave", headers={"cookie": f"{SESSION_COOKIE}={token}"})
    assert b"to sign in again you need a new one" in asked.body


def test_a_link_that_has_expired_opens_nothing_and_what_it_opened_stays(app, ask, store: Store):
    store.people.invite(
        "Ann", hash_secret("anns"), expires_at=datetime.now(UTC) + timedelta(days=1)
    )
    token = cookie_of(ask(app(), "POST", "/join/anns"))
    with store.connection.transaction():
        store.connection.execute("UPDATE invitations SET expires_at = '2020-01-01T00:00:00.000Z'")
    for method in ("GET", "POST"):
        late = ask(app(), method, "/join/anns")
        assert (late.status, b"It has expired" in late.body) == (403, True)
    assert store.sessions.get(hash_secret(token)).name == "Ann"


def test_a_session_is_not_the_link_and_ends_after_a_year(app, ask, store: Store):
    store.people.invite("Ann", hash_secret("anns"))
    token = cookie_of(ask(app(), "POST", "/join/anns"))
    assert ask(app(), "GET", "/", headers={"cookie": f"{SESSION_COOKIE}=anns"}).status == 403
    assert ask(app(), "GET", f"/join/{token}").status == 403
    with store.connection.transaction():
        store.connection.execute("UPDATE sessions SET created_at = '2020-01-01T00:00:00.000Z'")
    assert ask(app(), "GET", "/", headers={"cookie": f"{SESSION_COOKIE}={token}"}).status == 403


def test_everybody_logs_out_here_or_everywhere(app, ask, store: Store):
    store.people.invite("Ann", hash_secret("anns"))
    store.people.invite("Bob", hash_secret("bobs"))
    first, second, bobs = (
        {"cookie": f"{SESSION_COOKIE}={cookie_of(ask(app(), 'POST', f'/join/{secret}'))}"}
        for secret in ("anns", "anns", "bobs")
    )

    def inside() -> list[bool]:
        return [ask(app(), "GET", "/", headers=who).status == 200 for who in (first, second, bobs)]

    assert b"Sign out, Ann?" in ask(app(), "GET", "/leave", headers=first).body
    assert inside() == [True, True, True], "being asked is not leaving"
    answer = ask(app(), "POST", "/leave?where=here", headers=first)
    assert (answer.status, cookie_of(answer)) == (303, "")
    assert inside() == [False, True, True]
    first = {"cookie": f"{SESSION_COOKIE}={cookie_of(ask(app(), 'POST', '/join/anns'))}"}
    ask(app(), "POST", "/leave?where=everywhere", headers=second)
    assert inside() == [False, False, True]
    evil = {**bobs, "origin": "https://evil.example"}
    assert ask(app(), "POST", "/leave?where=everywhere", headers=evil).status == 403
    assert inside() == [False, False, True]


def test_whoever_opens_their_link_for_ever_fills_no_disk(store: Store):
    store.people.invite("Ann", hash_secret("anns"))
    store.people.invite("Bob", hash_secret("bobs"))
    bobs = access.session_by_link(store, "bobs")
    anns = [access.session_by_link(store, "anns") for _ in range(MOST_SESSIONS + 5)]
    inside = [store.sessions.get(hash_secret(token)) is not None for token in anns]
    assert inside == [False] * 5 + [True] * MOST_SESSIONS
    with store.connection.transaction():
        store.connection.execute("UPDATE sessions SET ended_at = '2020' WHERE ended_at IS NOT NULL")
    access.session_by_link(store, "anns")
    assert store.connection.value("SELECT count(*) FROM sessions") == MOST_SESSIONS + 2
    assert store.sessions.get(hash_secret(bobs)).name == "Bob"


# Guesses -------------------------------------------------------------------------------------


def test_guesses_are_slowed_and_counted_and_fill_no_log(caplog, monkeypatch):
    waited: list[float] = []

    async def pause(seconds: float) -> None:
        waited.append(seconds)

    async def guess() -> None:
        guesses = LinkThrottle(pause)
        for _ in range(200):
            assert await guesses.slow()
        guesses._tell()

    with caplog.at_level(logging.WARNING):
        asyncio.run(guess())
    assert waited == sorted(waited)
    assert waited[0] < 0.1
    assert waited[-1] == 3.0
    assert [each.getMessage() for each in caplog.records] == [
        "links that do not work were opened 200 times in a minute"
    ]


def test_a_flood_of_guesses_holds_no_answers_and_no_valid_link(ask, store: Store):
    async def flood() -> list[bool]:
        guesses = LinkThrottle(lambda _: asyncio.sleep(0.01))
        return await asyncio.gather(*(guesses.slow() for _ in range(3 * MOST_WAITING)))

    waited: list[float] = []

    async def pause(seconds: float) -> None:
        waited.append(seconds)

    assert asyncio.run(flood()).count(True) == MOST_WAITING
    store.people.invite("Ann", hash_secret("anns"))
    served = Starlette(routes=login_routes(str(store.path), LinkThrottle(pause)))
    for _ in range(3):
        assert ask(served, "GET", "/join/guess").status == 403
    assert ask(served, "POST", "/join/anns").status == 303
    assert len(waited) == 3, "whoever has a link waits for no guess"


# Logins --------------------------------------------------------------------------------------


def login(issuer: str = "https://id.example", subject: str = "1", **said: Any) -> Login:
    """Return what a provider says of whoever has Ann's address."""
    given = {"fingerprint": new_secret(), "at": datetime.now(UTC), "address": "ann@example.org"}
    return Login(issuer, subject, **{**given, **said})


def test_an_address_at_another_issuer_or_of_another_subject_is_somebody_else(store: Store):
    store.people.allow("Ann", "Ann@example.org", role="lead")
    door = AccessPolicy(login=True)
    assert session_by_login(store, login())
    assert door.visitor(store, Credentials(login=login(address=None))).name == "Ann"
    for other in (login("https://evil.example"), login(subject="2")):
        assert door.visitor(store, Credentials(login=other)) is None
        assert session_by_login(store, other) is None
    store.people.allow("Ann", "Ann@example.org", role="lead", issuer="https://new.example")
    assert session_by_login(store, login()) is None
    assert session_by_login(store, login("https://new.example", "9"))


def test_letters_beyond_ascii_are_compared_byte_for_byte(store: Store):
    store.people.allow("Kate", "Kate@Example.org")
    kelvin, kate = (
        access.login_from_user({"iss": "i", "sub": "s", "email": email, "email_verified": True})
        for email in ("\u212aate@example.org", "KATE@example.org")
    )
    assert kelvin is not None
    assert kate is not None
    assert session_by_login(store, kelvin) is None
    assert session_by_login(store, kate)


def test_a_login_opens_one_session_and_none_after_its_person_has_left(store: Store):
    store.people.allow("Ann", "ann@example.org")
    first, unused = login(), login(at=datetime.now(UTC) - timedelta(hours=1))
    token = session_by_login(store, first)
    access.log_out(store, token)
    assert session_by_login(store, first) is None
    token = session_by_login(store, login())
    access.log_out(store, token, everywhere=True)
    assert session_by_login(store, unused) is None, "it lay in another browser all the time"
    assert session_by_login(store, login())


def test_a_lead_whose_link_is_used_up_and_who_has_left_is_no_lead_who_can_come_in(store: Store):
    secret, _ = access.invite(store, "Lea", "lead", once=True)
    store.people.invite("Bea", hash_secret("beas"), role="lead")
    token = access.session_by_link(store, secret)
    assert store.people.leads() == ["Bea", "Lea"]
    access.log_out(store, token)
    assert store.people.leads() == ["Bea"]

"""Strangers who want to be in the audit a thousand times, or to hide in it."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp, Message
from starlette.websockets import WebSocket

from labeler.errors import LabelerError
from labeler.model import AuditEntry, Judgment
from labeler.store import Store
from labeler.web.audit_log import (
    MOST_MINUTES,
    RefusalMinute,
    RefusalMonitor,
    Refusals,
    audit_log_writer,
    write_audit_log,
)
from labeler.web.auth import tokens
from labeler.web.auth.access import hash_secret, session_by_link
from labeler.web.auth.allowed_hosts import AllowedHosts
from labeler.web.auth.login_flow import LinkThrottle, login_routes
from labeler.web.auth.middleware import HostCheck, LeadFilesOnly, SignInRequired
from labeler.web.grading_api import grading_routes

MINUTE = "2026-11-22T10:00"


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = f"{MINUTE}:00.000Z"

    def __call__(self) -> str:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def refusals(clock: Clock) -> Refusals:
    return Refusals(clock)


async def at_once(_: float) -> None:
    """Wait for nothing."""


@pytest.fixture
def served(filled: Store, refusals: Refusals) -> ASGIApp:
    """What reaches a server with a closed door; Ann is invited, and Lea as lead."""
    filled.people.invite("Ann", hash_secret("anns"))
    filled.people.invite("Lea", hash_secret("leas"), role="lead")

    async def refuse(socket: WebSocket) -> None:
        await socket.close(1008)

    async def page(request: Request) -> Response:
        is_busy = request.url.path == "/api/busy"
        return PlainTextResponse("a page", status_code=429 if is_busy else 200)

    path = str(filled.path)
    return Starlette(
        routes=[
            *login_routes(path, LinkThrottle(at_once)),
            *grading_routes(path),
            WebSocketRoute("/api/live", refuse),
            Route("/{path:path}", page, methods=["GET", "POST"]),
        ],
        middleware=[
            Middleware(RefusalMonitor, refusals=refusals),
            Middleware(HostCheck, names=AllowedHosts()),
            Middleware(LeadFilesOnly, path=path),
            Middleware(SignInRequired, path=path),
        ],
    )


def refused(store: Store) -> list[AuditEntry]:
    return store.audit.search(kind="refuse", most=1_000)[0]


def write_minutes(store: Store, refusals: Refusals) -> None:
    refused = refusals.finished()
    try:
        write_audit_log(str(store.path), refused)
    except LabelerError:
        refusals.put_back(refused)


def test_a_thousand_guesses_are_one_entry_and_no_guess_is_in_it(
    served: ASGIApp, ask, filled: Store, refusals: Refusals, clock: Clock
):
    size = filled.path.stat().st_size + Path(f"{filled.path}-wal").stat().st_size
    for number in range(300):
        assert ask(served, "GET", f"/media/guess-{number}.csv").status == 403
    write_minutes(filled, refusals)
    assert refused(filled) == [], "the minute is not over"
    clock.now = "2026-11-22T10:01:00.000Z"
    write_minutes(filled, refusals)
    [entry] = refused(filled)
    assert (entry.subject, entry.count, entry.who) == ("page or file", 300, None)
    assert entry.at == f"{MINUTE}:00.000Z"
    assert entry.address == "127.0.0.1"
    assert "guess" not in str(entry.as_dict())
    grown = filled.path.stat().st_size + Path(f"{filled.path}-wal").stat().st_size - size
    assert grown < 50_000


def test_many_addresses_do_not_make_many_entries(filled: Store, refusals: Refusals, clock: Clock):
    for number in range(5_000):
        refusals.add("link", f"2001:db8::{number:x}")
    clock.now = "2026-11-22T10:02:00.000Z"
    write_minutes(filled, refusals)
    [entry] = refused(filled)
    assert entry.count == 5_000
    assert entry.detail == {"from": "2001:db8::0, 2001:db8::1, 2001:db8::2, and others"}


@pytest.mark.parametrize(
    ("path", "headers", "kind"),
    [
        ("/join/wrong", {}, "link"),
        ("/media/scores.csv", {}, "page or file"),
        ("/", {}, "page or file"),
        ("/scores", {}, "page or file"),
        ("/_stcore/upload_file/x", {}, "page or file"),
        ("/api/next", {"x-labeler-token": "made up"}, "grading"),
        ("/api/next", {"origin": "http://evil.example"}, "grading"),
        ("/", {"host": "evil.example"}, "host"),
        ("/", {"host": "a b"}, "host"),
    ],
)
def test_whatever_is_refused_is_counted(
    served: ASGIApp,
    ask,
    filled: Store,
    refusals: Refusals,
    clock: Clock,
    path: str,
    headers: dict[str, str],
    kind: str,
):
    assert ask(served, "GET", path, headers=headers).status in (400, 403)
    clock.now = "2026-11-22T10:01:00.000Z"
    write_minutes(filled, refusals)
    assert [(entry.subject, entry.count) for entry in refused(filled)] == [(kind, 1)]


def test_a_socket_that_is_not_let_in_is_counted(served: ASGIApp, refusals: Refusals):
    sent = []

    async def receive() -> Message:
        return {"type": "websocket.connect"}

    async def send(message: Message) -> None:
        sent.append(message["type"])

    scope = {
        "type": "websocket",
        "scheme": "ws",
        "path": "/api/live",
        "query_string": b"",
        "subprotocols": [],
    }
    scope |= {"headers": [(b"host", b"127.0.0.1")], "client": ("192.0.2.1", 40000)}
    asyncio.run(served(scope, receive, send))
    assert sent == ["websocket.close"]
    assert [(each.kind, each.count) for each in refusals.all()] == [("socket", 1)]


def test_what_is_served_and_a_page_that_was_open_for_long_are_no_refusals(
    served: ASGIApp, ask, filled: Store, refusals: Refusals, monkeypatch: pytest.MonkeyPatch
):
    assert ask(served, "POST", "/api/busy").status == 429
    assert come_in(ask, served, "anns").status == 303
    monkeypatch.setattr(tokens, "LIFETIME_SECONDS", -1)
    old = tokens.issue_token(filled.golden_set.signing_key(), filled.golden_set.uuid(), "Ann")
    answer = ask(served, "GET", "/api/next", headers={"x-labeler-token": old})
    assert (answer.status, answer.headers["x-labeler-token"]) == (403, "expired")
    assert refusals.all() == []


def come_in(ask, served: ASGIApp, secret: str):
    return ask(served, "POST", f"/join/{secret}", headers={"origin": "http://127.0.0.1"})


def test_who_comes_in_and_goes_is_kept_by_name_and_never_with_a_secret(
    served: ASGIApp, ask, filled: Store
):
    assert ask(served, "GET", "/join/anns").status == 200
    assert filled.audit.search(kind="sign_in")[1] == 0, "looking at a link opens nothing"
    come_in(ask, served, "anns")
    come_in(ask, served, "leas")
    token = session_by_link(filled, "anns")
    leaving = {"origin": "http://127.0.0.1", "cookie": f"labeler_session={token}"}
    assert ask(served, "POST", "/leave", headers=leaving).status == 303
    found, _ = filled.audit.search()
    assert [(each.kind, each.who, each.way, each.address) for each in found[:4]] == [
        ("sign_out", "Ann", "link", "127.0.0.1"),
        ("sign_in", "Ann", "link", None),
        ("sign_in", "Lea", "link", "127.0.0.1"),
        ("sign_in", "Ann", "link", "127.0.0.1"),
    ]
    written = str([entry.as_dict() for entry in filled.audit.log()])
    assert not any(secret in written for secret in ("anns", "leas", token))


@pytest.mark.slow
def test_refusals_that_cannot_be_written_are_written_later_and_fill_no_memory(
    filled: Store, refusals: Refusals, clock: Clock, caplog: pytest.LogCaptureFixture
):
    elsewhere = filled.path.with_name("elsewhere.db")

    async def serve() -> None:
        async with audit_log_writer(str(filled.path), refusals, every=0.02):
            await asyncio.sleep(0)
            filled.path.rename(elsewhere)
            while "not in the audit yet" not in caplog.text:
                await asyncio.sleep(0.02)
            elsewhere.rename(filled.path)
            for _ in range(500):
                if len(refused(filled)) == 2:
                    break
                await asyncio.sleep(0.02)
            assert not refusals.all()

    refusals.add("link", "192.0.2.1")
    refusals.add("grading", "192.0.2.1")
    clock.now = "2026-11-22T10:01:00.000Z"
    asyncio.run(serve())
    assert sorted(entry.subject or "" for entry in refused(filled)) == ["grading", "link"]
    refusals.put_back(RefusalMinute("link", f"{number:016}") for number in range(2 * MOST_MINUTES))
    assert len(refusals.all()) == MOST_MINUTES


def test_a_server_seals_what_is_graded_and_writes_up_the_rest_when_it_stops(
    filled: Store, refusals: Refusals
):
    async def serve() -> None:
        async with audit_log_writer(str(filled.path), refusals, every=0.02):
            filled.judgments.add(Judgment("e1", "q1", "c3", "Ann", grade=2))
            for _ in range(200):
                if sealed(filled) == 4:
                    break
                await asyncio.sleep(0.02)
            assert sealed(filled) == 4
            refusals.add("link", "192.0.2.1")
            filled.judgments.add(Judgment("e2", "q1", "c4", "Ann", grade=2))

    asyncio.run(serve())
    assert sealed(filled) == 5
    assert [entry.subject for entry in refused(filled)] == ["link"]


def sealed(store: Store) -> int:
    with sqlite3.connect(store.path) as other:
        [(newest,)] = other.execute("SELECT max(event) FROM seals WHERE log = 'judgments'")
    other.close()
    return newest

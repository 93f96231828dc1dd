"""The headers that keep a page from loading anything from elsewhere, and who may ask at all."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import http.client
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from labeler.store import Store
from labeler.web.auth.access import SESSION_COOKIE, hash_secret
from labeler.web.auth.allowed_hosts import HOST_NAMES, AllowedHosts
from labeler.web.auth.login_flow import login_routes
from labeler.web.grading_api import grading_routes
from tests.support.signed_in import let_in

DIRECTIVES = {
    "default-src": "'self'",
    "style-src": "'self' 'unsafe-inline'",
    "img-src": "'self' data: blob:",
    "font-src": "'self' data:",
    "connect-src": "'self'",
    "worker-src": "'self' blob:",
    "object-src": "'none'",
    "base-uri": "'self'",
    "form-action": "'self'",
    "frame-ancestors": "'self'",
}


@pytest.fixture
def app(filled: Store, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Starlette]:
    """Make an application that has the server's middleware and a page that fails."""
    from labeler.app.main import middleware, server_error

    monkeypatch.delenv("LABELER_ANY_HOST", raising=False)

    async def page(_: Request) -> Response:
        return PlainTextResponse("a page")

    async def fail(_: Request) -> Response:
        raise RuntimeError("a mistake of the program")

    return lambda: Starlette(
        routes=[
            *grading_routes(str(filled.path)),
            *login_routes(str(filled.path)),
            Route("/", page),
            Route("/fail", fail),
        ],
        middleware=middleware(),
        exception_handlers={Exception: server_error},
    )


def assert_guarded(headers: dict[str, str]) -> None:
    policy = dict(part.split(" ", 1) for part in headers["content-security-policy"].split("; "))
    scripts = policy.pop("script-src").split()
    assert policy == DIRECTIVES
    assert {source for source in scripts if not source.startswith("'sha256-")} == {
        *("'self'", "blob:", "'unsafe-eval'"),
    }
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"
    assert not re.search(r"https?:|wss?:|\*|\w\.\w", headers["content-security-policy"])


@pytest.mark.parametrize(
    ("method", "path", "host", "status"),
    [
        ("GET", "/", "127.0.0.1", 200),
        ("GET", "/api/next", "127.0.0.1", 403),
        ("POST", "/api/judgments", "127.0.0.1", 403),
        ("GET", "/join/nonsense", "127.0.0.1", 403),
        ("GET", "/nowhere", "127.0.0.1", 404),
        ("DELETE", "/api/next", "127.0.0.1", 405),
        ("GET", "/", "evil.example", 400),
        ("GET", "/", "", 400),
    ],
)
def test_every_answer_carries_the_headers(app, ask, method: str, path: str, host: str, status: int):
    answer = ask(app(), method, path, headers={"host": host})
    assert answer.status == status
    assert_guarded(answer.headers)
    assert b"Traceback" not in answer.body


@pytest.mark.parametrize(
    ("origin", "answer"),
    [
        (None, "websocket.accept"),
        ("http://127.0.0.1:8501", "websocket.accept"),
        ("http://evil.example", "websocket.close"),
        ("http://127.0.0.1:9999", "websocket.close"),
        ("null", "websocket.close"),
    ],
)
def test_only_our_own_pages_open_a_websocket(origin: str | None, answer: str):
    from labeler.web.auth.middleware import HostCheck

    sent: list[str] = []

    async def accept(scope, receive, send):
        await send({"type": "websocket.accept"})

    async def receive():
        return {"type": "websocket.connect"}

    async def send(message):
        sent.append(message["type"])

    headers = [(b"host", b"127.0.0.1:8501")]
    headers += [] if origin is None else [(b"origin", origin.encode())]
    scope = {"type": "websocket", "scheme": "ws", "headers": headers}
    asyncio.run(HostCheck(accept, AllowedHosts())(scope, receive, send))
    assert sent == [answer]


def test_a_failure_carries_the_headers_and_tells_nothing(app, ask):
    sent = []

    async def note(scope, receive, send):
        async def keep(message):
            sent.append(message)
            await send(message)

        await app()(scope, receive, keep)

    with pytest.raises(RuntimeError, match="a mistake of the program"):  # for the server's log
        ask(note, "GET", "/fail")
    assert sent[0]["status"] == 500
    assert_guarded({name.decode(): value.decode() for name, value in sent[0]["headers"]})
    assert b"mistake" not in sent[1]["body"]


@pytest.mark.parametrize(
    "host",
    [
        *("localhost", "LOCALHOST", "127.0.0.1", "[::1]", "localhost:8501", "[::1]:8501"),
        *("10.0.0.7", "[fe80::1]:80", "localhost."),
    ],
)
def test_this_machines_own_names_are_served(app, ask, host: str):
    assert ask(app(), "GET", "/", headers={"host": host}).status == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", "localhost.evil.example", "evil.localhost", "127.0.0.1.nip.io", "::1", "a b"],
)
def test_a_foreign_name_that_points_here_is_refused(app, ask, host: str):
    answer = ask(app(), "GET", "/", headers={"host": host})
    assert answer.status == 400
    assert b"a page" not in answer.body


@pytest.mark.parametrize("flag", ["LABELER_ANY_HOST", "LABELER_OPEN"])
def test_a_server_for_others_is_found_under_its_given_names_alone(app, ask, monkeypatch, flag: str):
    monkeypatch.setenv(flag, "1")
    answer = ask(app(), "GET", "/", headers={"host": "grading.example"})
    assert answer.status == 400
    assert b"labeler serve --host-name grading.example" in answer.body
    monkeypatch.setenv(HOST_NAMES, "grading.example other.example:8443")
    for host in ("grading.example", "Grading.Example:80", "other.example"):
        assert ask(app(), "GET", "/", headers={"host": host}).status != 400
    assert ask(app(), "GET", "/", headers={"host": "evil.example"}).status == 400


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """Run the real server on the loopback, for tests that change nothing; give its port."""
    path = tmp_path_factory.mktemp("headers") / "golden.db"
    Store(path, create=True).close()
    with serving(path) as port:
        yield port


@contextmanager
def serving(path: Path) -> Iterator[int]:
    """Run the real server of a golden set on the loopback; give its port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    root = Path(__file__).parents[2]
    command = [sys.executable, "-m", "streamlit", "run", root / "labeler" / "app" / "main.py"]
    options = {
        "server.port": port,
        "server.address": "127.0.0.1",
        "server.headless": "true",
        "browser.gatherUsageStats": "false",
    }
    environment = {key: v for key, v in os.environ.items() if key != "LABELER_ANY_HOST"}
    process = subprocess.Popen(
        [*command, *(f"--{name}={value}" for name, value in options.items())],
        env={**environment, "LABELER_DB": str(path), "PYTHONPATH": str(root)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_until_it_answers(process, port)
        yield port
    finally:
        process.terminate()
        process.wait(20)


def wait_until_it_answers(process: subprocess.Popen[bytes], port: int) -> None:
    give_up = time.monotonic() + 60
    while time.monotonic() < give_up and process.poll() is None:
        try:
            if request(port, "/_stcore/health")[0] == 200:
                return
        except OSError:
            time.sleep(0.1)
    raise TimeoutError("the server did not start")


def request(port: int, path: str, **headers: str) -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    try:
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        fields = {name.lower(): value for name, value in answer.getheaders()}
        return answer.status, fields, answer.read()
    finally:
        connection.close()


def test_the_real_server_guards_its_page_its_files_and_the_routes(server: int):
    status, headers, page = request(server, "/")
    assert status == 200
    assert_guarded(headers)
    script = re.search(rb'src="\./(static/[^"]+\.js)"', page)
    assert script, "Streamlit's page loads a script of its own"
    for path, expected in [
        (f"/{script[1].decode()}", 200),
        ("/_stcore/health", 200),
        ("/api/next", 403),
    ]:
        status, headers, _ = request(server, path)
        assert (path, status) == (path, expected)
        assert_guarded(headers)
    status, headers, body = request(server, "/", Host="evil.example")
    assert status == 400
    assert_guarded(headers)
    assert b"<script" not in body


@pytest.fixture
def own_server(filled: Store) -> Iterator[int]:
    """Run the real server of `filled`; give its port."""
    with serving(filled.path) as port:
        yield port


def test_the_real_server_keeps_files_for_leads_once_somebody_is_invited(
    own_server: int, filled: Store
):
    server = own_server
    assert request(server, "/media/x.csv")[0] == 404
    let_in(filled, "Ann", "anns")
    let_in(filled, "Lea", "leas", "lead")
    for secret, expected in (("anns", 403), ("leas", 404), ("", 403)):
        cookie = f"{SESSION_COOKIE}={secret}"
        status, headers, _ = request(server, "/media/x.csv", Cookie=cookie)
        assert (secret, status) == (secret, expected)
        assert_guarded(headers)
    status, headers, _ = request(server, "/join/leas")
    assert (status, headers["cache-control"]) == (200, "no-store")
    assert_guarded(headers)
    for path in ("/", "/data", "/nowhere"):
        status, headers, body = request(server, path)
        assert (path, status, b"<script" in body) == (path, 403, False)
        assert_guarded(headers)
    filled.people.revoke_everyone()
    filled.people.invite("Ann", hash_secret("anns again"))
    assert request(server, "/media/x.csv", Cookie=f"{SESSION_COOKIE}=leas")[0] == 403


def test_every_inline_script_of_streamlits_page_is_allowed_by_its_hash(server: int):
    _, headers, page = request(server, "/")
    inline = re.findall(rb"<script(?![^>]*\bsrc=)[^>]*>(.*?)</script>", page, re.DOTALL)
    policy = headers["content-security-policy"]
    for script in inline:
        digest = base64.b64encode(hashlib.sha256(script).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    assert policy.count("'sha256-") == len(inline)
    assert "'unsafe-inline'" not in policy.split("script-src")[1].split(";")[0]

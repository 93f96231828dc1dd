"""The documented proxies before the server: pages, sockets, grades, uploads, logins, cookies."""

from __future__ import annotations

import http.client
import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, expect

from labeler.cli.server import SECRET
from labeler.web.auth.access import SECURE_COOKIE
from tests.browser.doors import DoorServer, Provider, come_in, link_for
from tests.browser.padpage import ready
from tests.browser.profiles import HAS_READ_THE_WELCOME
from tests.browser.server import QUIET, any_port, launch

pytestmark = pytest.mark.browser

ROOT = Path(__file__).parents[2]
NAME = "labels.example.org"
LEA = {"lea": {"email": "lea@example.org", "email_verified": True}}
QUERIES = '{"query_id": "new", "query": "What came through the proxy?"}\n' * 1
FRAME = """
daemon off; pid {folder}/pid; error_log {folder}/log;
events {{}}
http {{
    log_format which '$uri $upstream_addr'; access_log {folder}/access which;
    client_body_temp_path {folder}/a; proxy_temp_path {folder}/b; fastcgi_temp_path {folder}/c;
    uwsgi_temp_path {folder}/d; scgi_temp_path {folder}/e;
    {content}
}}
"""


def documented(language: str, server: str = "127.0.0.1:8501") -> str:
    """Return the documented example in a language that passes on to a server."""
    texts = [each.read_text(encoding="utf-8") for each in (ROOT / "docs").glob("**/*.md")]
    found = re.findall(rf"```{language}\n(.*?)```", "\n".join(texts), re.DOTALL)
    [example] = [each for each in found if server in each]
    return example


def certificate(folder: Path) -> None:
    """Make a certificate and its key."""
    kind = ["-x509", "-nodes", "-newkey", "rsa:2048", "-days", "2"]
    command = ["openssl", "req", *kind, "-keyout", "key", "-out", "pem", "-subj"]
    subprocess.run([*command, f"/CN={NAME}"], cwd=folder, check=True, **QUIET)


def nginx_command(folder: Path, server: int, public: int) -> list[str]:
    """Return how nginx is started as documented, but for ports and files."""
    content = documented("nginx")
    ports = {
        "127.0.0.1:8501": f"127.0.0.1:{server}",
        "listen 80;": f"listen 127.0.0.1:{any_port()};",
    }
    return as_nginx_takes_it(folder, content, public, ports)


def as_nginx_takes_it(
    folder: Path, content: str, public: int, ports: Mapping[str, str]
) -> list[str]:
    """Write an example down with other ports and files; return nginx's arguments for it."""
    mine = {"listen 443 ssl": f"listen 127.0.0.1:{public} ssl", f"/etc/ssl/{NAME}": str(folder)}
    for said, meant in {**ports, **mine}.items():
        assert said in content
        content = content.replace(said, meant)
    content = content.replace(f"{folder}.", f"{folder}/")
    (folder / "conf").write_text(FRAME.format(folder=folder, content=content))
    return ["-e", f"{folder}/log", "-c", f"{folder}/conf"]


def caddy_command(folder: Path, server: int, public: int) -> list[str]:
    """Return how Caddy is started as documented, but for ports and where certificates are."""
    content = documented("caddyfile")
    for said, meant in {
        "127.0.0.1:8501": f"127.0.0.1:{server}",
        f"{NAME} {{": f"{NAME}:{public} {{\n    tls {folder}/pem {folder}/key",
    }.items():
        assert said in content
        content = content.replace(said, meant)
    alone = "{\n    admin off\n    auto_https disable_redirects\n    default_bind 127.0.0.1\n}\n"
    (folder / "Caddyfile").write_text(alone + content)
    return ["run", "--config", f"{folder}/Caddyfile"]


PROXIES = {"nginx": nginx_command, "caddy": caddy_command}


@pytest.fixture
def proxy(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[int, int], None]]:
    """Start a proxy before a server as documented; the test names which."""
    found = os.environ.get(f"LABELER_{request.param.upper()}") or shutil.which(request.param)
    if not found or not shutil.which("openssl"):
        pytest.skip(f"there is no {request.param}, or no openssl")
    folder = tmp_path / request.param
    folder.mkdir()
    certificate(folder)
    monkeypatch.setenv("HOME", str(folder))  # where Caddy keeps what it knows
    started: list[subprocess.Popen[bytes]] = []

    def start(server: int, public: int) -> None:
        arguments = PROXIES[request.param](folder, server, public)
        started.append(subprocess.Popen([str(Path(found).absolute()), *arguments], **QUIET))
        wait_until_open(public)

    yield start
    for process in started:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=20)


def wait_until_open(port: int) -> None:
    """Return once a proxy answers."""
    for _ in range(600):
        try:
            if asked(port, "/_stcore/health")[0] == 200:
                return
        except OSError:
            time.sleep(0.05)
    raise TimeoutError("the proxy does not answer")


def asked(port: int, path: str) -> tuple[int, str | None]:
    """Ask the proxy; return the status and what it says of https."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    connection = http.client.HTTPConnection(NAME, port)
    with closing(connection):
        plain = socket.create_connection(("127.0.0.1", port), timeout=20)
        connection.sock = context.wrap_socket(plain, server_hostname=NAME)
        connection.request("GET", path, headers={"Host": f"{NAME}:{port}"})
        answer = connection.getresponse()
        return answer.status, answer.getheader("strict-transport-security")


@pytest.fixture
def public(
    tmp_path: Path, golden_set: Callable[..., Path], proxy: Callable[[int, int], None], monkeypatch
) -> Iterator[DoorServer]:
    """Serve behind a proxy, with a login for Lea, as servers do that share their secret."""
    monkeypatch.setenv(SECRET, "0123456789abcdef" * 2)
    provider, port, secrets = Provider(any_port(), LEA), any_port(), tmp_path / "secrets.toml"
    server = DoorServer(golden_set(), "--host-name", f"{NAME}:{port}", "--login", str(secrets))
    at_home, server.url = server.url, f"https://{NAME}:{port}"
    secrets.write_text(
        "[auth]\n"
        f'redirect_uri = "{server.url}/oauth2callback"\n'
        "[auth.mine]\n"
        'client_id = "labeler"\n'
        'client_secret = "any"\n'
        f'server_metadata_url = "{provider.url}/.well-known/openid-configuration"\n'
        "[auth.yours]\n"
        'client_id = "labeler"\n'
        'client_secret = "any"\n'
        'server_metadata_url = "http://127.0.0.1:9/.well-known/openid-configuration"\n'
    )
    with server.store() as store:
        store.people.allow("Lea", "lea@example.org", role="lead")
    public_url, server.url = server.url, at_home
    server.start()
    server.url = public_url
    proxy(server.port, port)
    yield server
    server.stop(signal.SIGKILL)
    provider.stop()


@pytest.fixture
def outside(playwright) -> Iterator[Callable[[], BrowserContext]]:
    """Open browsers for which the public name is this machine's."""
    chromium = launch(playwright, f"--host-resolver-rules=MAP {NAME} 127.0.0.1")

    def open_browser() -> BrowserContext:
        context = chromium.new_context(ignore_https_errors=True)
        context.add_init_script(HAS_READ_THE_WELCOME)
        return context

    yield open_browser
    chromium.close()


@pytest.mark.parametrize(
    "proxy", ["nginx", pytest.param("caddy", marks=pytest.mark.slow)], indirect=True
)
def test_behind_a_proxy_people_log_in_load_grade_and_log_out(public, outside):
    page = outside().new_page()
    page.goto(f"{public.url}/data")
    page.get_by_role("link", name="Sign in with mine").click()
    page.get_by_role("button", name="lea", exact=True).click()
    ready(page)
    cookies = {cookie["name"]: cookie for cookie in page.context.cookies()}
    assert cookies[SECURE_COOKIE]["secure"]
    page.goto(f"{public.url}/data")
    file = {"name": "more.jsonl", "mimeType": "text/plain", "buffer": QUERIES.encode()}
    page.locator("input[type=file]").set_input_files(file)
    page.get_by_role("button", name="Load 1 file").click()
    expect(page.get_by_text("✓ loaded")).to_be_visible()

    grader = outside().new_page()
    grader.goto(link_for(public, "Ann"))
    come_in(grader)
    ready(grader)
    grader.keyboard.press("2")
    expect(grader.locator(".status .state")).to_contain_text("1 saved")
    page.goto(f"{public.url}/scores")
    expect(page.locator(".top .live")).to_be_visible()
    page.get_by_role("link", name="Sign out").click()
    page.get_by_role("button", name="Sign out here").click()
    page.goto(f"{public.url}/scores")
    expect(page.get_by_role("link", name="Sign in with yours")).to_be_visible()
    with public.store() as store:
        assert [event.grader for event in store.judgments.log()] == ["Ann"]
        assert "new" in {query.query_id for query in store.queries.all()}
    port = int(public.url.rpartition(":")[2])
    assert asked(port, "/") == (403, "max-age=31536000")

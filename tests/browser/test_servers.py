"""Two servers over one PostgreSQL behind the documented nginx: each may end, the database too."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from labeler.store import Store
from labeler.store.addresses import Address
from labeler.store.postgres import pool
from labeler.web.auth.access import hash_secret
from labeler.web.push import LOOK_EVERY_SECONDS
from tests.browser import test_proxy
from tests.browser.doors import come_in
from tests.browser.padpage import all_saved, ready
from tests.browser.server import QUIET, Server, WarmServer, any_port, small_golden_set
from tests.browser.test_proxy import NAME, as_nginx_takes_it, certificate, documented, outside
from tests.support.postgres import Server as Database
from tests.support.postgres import server_or_skip

__all__ = ["outside"]

pytestmark = pytest.mark.browser

SECRET = "never-to-be-seen"
LIVE = ".top .live"
SILENT = "no connection to the server"


class Spoken(Server):
    """A server as it is started by hand, its address in the environment; what it says is kept."""

    said: Path

    def begin(self, arguments: list[str], environment: dict[str, str]) -> subprocess.Popen[bytes]:
        """Start the process."""
        secret = {"LABELER_DB": str(self.database).replace("@/", f":{SECRET}@/")}
        with self.said.open("ab") as said:
            return subprocess.Popen(
                [sys.executable, "-m", "labeler", *arguments[2:]],
                env={**environment, **secret},
                stdout=said,
                stderr=said,
            )


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    """A PostgreSQL of the test's own, with a small golden set in `golden`."""
    server_or_skip()
    own = Database(synchronous_commit="on")
    address = own.database("golden")
    with (
        Store(small_golden_set(tmp_path / "golden.db")) as made,
        Store(address, create=True) as store,
    ):
        store.full_copy.become(made.full_copy)
    yield own
    pool.close_pool(Address.parse(address))
    own.remove()


@pytest.fixture
def two(database: Database, tmp_path: Path) -> Iterator[tuple[str, Server, Server]]:
    """Two servers of that golden set, and where nginx gives them to everybody."""
    found = os.environ.get("LABELER_NGINX") or shutil.which("nginx")
    if not found or not shutil.which("openssl"):
        pytest.skip("there is no nginx, or no openssl")
    certificate(tmp_path)
    public, address = any_port(), database.address("golden")
    servers = tuple(
        kind(address, "--host-name", f"{NAME}:{public}") for kind in (Spoken, WarmServer)
    )
    Spoken.said = tmp_path / "said"
    with Store(address) as store:  # somebody is: else a public address is not served
        store.people.invite("Bob", hash_secret("Bob"), role="lead")
    for server in servers:
        server.start()
    ports = {f"10.0.0.{n}:8501": f"127.0.0.1:{server.port}" for n, server in enumerate(servers, 1)}
    content = documented("nginx", "10.0.0.1:8501")
    arguments = as_nginx_takes_it(tmp_path, content, public, ports)
    nginx = subprocess.Popen([str(Path(found).absolute()), *arguments], **QUIET)
    test_proxy.wait_until_open(public)
    yield f"https://{NAME}:{public}", *servers
    nginx.send_signal(signal.SIGTERM)
    nginx.wait(timeout=20)
    for server in servers:
        server.stop(signal.SIGKILL)


class Team:
    """Ann's pad and Lea's page of numbers, which says how many grades there are."""

    def __init__(self, folder: Path, ann: Page, lea: Page) -> None:
        self.folder, self.ann, self.lea = folder, ann, lea
        self.given = 0

    def grade(self) -> None:
        self.given += 1
        self.ann.keyboard.press("2")

    def saved(self) -> None:
        all_saved(self.ann, self.given)

    def moved(self) -> None:
        """Wait until the page has moved with the last grade."""
        counted = re.compile(rf" · {self.given} grades?$")
        expect(self.lea.get_by_text(counted)).to_be_visible()
        expect(self.lea.locator(LIVE)).to_be_visible()

    def asked(self, path: str) -> list[int]:
        """Return the ports of the servers that answered for a path, in turn."""
        lines = (self.folder / "access").read_text().splitlines()
        return [int(line.rpartition(":")[2]) for line in lines if line.startswith(f"{path} ")]


@pytest.mark.slow
def test_behind_nginx_two_servers_are_one_and_either_may_end_and_the_database_too(
    two: tuple[str, Server, Server],
    database: Database,
    outside: Callable[[], BrowserContext],
    tmp_path: Path,
):
    url, *servers = two
    with Store(database.address("golden")) as store:
        for name, role in (("Lea", "lead"), ("Ann", "grader")):
            store.people.invite(name, hash_secret(name), role=role)
    lea, ann = outside().new_page(), outside().new_page()
    for page, name in ((lea, "Lea"), (ann, "Ann")):
        page.goto(f"{url}/join/{name}")
        come_in(page)
    ready(ann)
    lea.goto(f"{url}/scores")
    expect(lea.locator(LIVE)).to_be_visible()
    team = Team(tmp_path, ann, lea)

    while len(set(team.asked("/api/judgments"))) < 2:
        assert team.given < 10
        team.grade()
        team.saved()
        team.moved()

    # the server that has the page is gone: both go on at the other one
    [mine] = set(team.asked("/scores"))
    [gone] = [server for server in servers if server.port == mine]
    gone.stop(signal.SIGKILL)
    for _ in range(3):
        team.grade()
        team.saved()
    team.moved()
    gone.start()

    # the database answers nothing for a while: what needs none goes on
    restless = lea.context.new_page()
    restless.goto(f"{url}/review")
    expect(restless.locator(LIVE)).to_be_visible()
    with database.frozen():
        time.sleep(2 * LOOK_EVERY_SECONDS)
        for server in servers:
            urlopen(f"{server.url}/_stcore/health", timeout=10).close()

    # the database is gone: all say so, and go on when it is back
    database.stop(signal.SIGQUIT)
    before = team.given
    team.grade()
    team.grade()
    expect(ann.locator(".status .state")).to_contain_text("2 kept")
    expect(lea.get_by_text(SILENT)).to_be_visible()
    does_not_answer = restless.get_by_text("the database isn't answering")
    # it may have run by itself just then, and says so already
    restless.get_by_role("link", name="Slices").or_(does_not_answer).first.click()
    expect(does_not_answer).to_be_visible()
    newcomer = lea.context.new_page()
    newcomer.goto(f"{url}/compare")
    expect(newcomer.get_by_text("the database isn't answering")).to_be_visible()
    database.start()
    team.saved()
    team.moved()
    for page in (restless, newcomer):
        expect(page.locator(LIVE)).to_be_visible()

    with Store(database.address("golden")) as store:
        events = [event.event_id for event in store.judgments.log()]
        assert len(events) == len(set(events)) == team.given == before + 2
    started = (path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if path.exists())
    assert not [each for each in started if SECRET.encode() in each]
    assert SECRET not in Spoken.said.read_text()
    assert "the database does not answer" in Spoken.said.read_text()

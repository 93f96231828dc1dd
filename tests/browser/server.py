"""The app as a process, a browser for it and a golden set to show, for tests and benchmarks."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import ClassVar

from playwright.sync_api import Browser, Playwright

from labeler.cli.server import is_free
from labeler.model import Chunk, Loaded, Query, Ranking
from labeler.store import Store
from tests.browser.warm import CAN_FORK, Forked
from tests.support.new_golden_set import newborn

# Chromium as root needs no sandbox; the rest keeps it from calling home during a test.
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
QUIET = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
Process = subprocess.Popen[bytes] | Forked
CHROMIUM_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


def launch(playwright: Playwright, *more: str) -> Browser:
    """Start the Chromium that ``LABELER_CHROMIUM`` or the path names, else Playwright's own.

    ``more`` are further arguments of its command line.
    """
    found = next((path for name in CHROMIUM_NAMES if (path := shutil.which(name))), None)
    executable = os.environ.get("LABELER_CHROMIUM") or found
    return playwright.chromium.launch(executable_path=executable, args=[*ARGUMENTS, *more])


class Server:
    """The app as ``labeler serve`` runs it, on a port of its own; can be stopped and started."""

    def __init__(self, database: Path, *arguments: str, **environment: str) -> None:
        self.database = database
        self.arguments = arguments
        self.environment = environment
        self.port = any_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.process: Process | None = None

    def start(self) -> None:
        """Start the server and return once it answers."""
        command = ["--db", str(self.database), "serve", "--no-browser", "--port", str(self.port)]
        arguments = [*command, *self.arguments]
        self.process = self.begin(arguments, {**os.environ, **self.environment})
        wait_for(f"{self.url}/_stcore/health")

    def begin(self, arguments: list[str], environment: dict[str, str]) -> Process:
        """Start the process."""
        command = [sys.executable, "-m", "labeler", *arguments]
        return subprocess.Popen(command, env=environment, **QUIET)

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        """End the server and wait until it is gone."""
        if self.process is not None:
            self.process.send_signal(how)
            self.process.wait(timeout=20)
            self.process = None

    def store(self) -> Store:
        """Open the same golden set from outside."""
        return Store(self.database)


class WarmServer(Server):
    """The same, there sooner, see `tests.browser.warm`; not where labeler's variables say more."""

    def begin(self, arguments: list[str], environment: dict[str, str]) -> Process:
        """Start the process."""
        is_read_early = any(name.startswith("LABELER_") for name in self.environment)
        if not CAN_FORK or is_read_early:
            return super().begin(arguments, environment)
        return Forked(arguments, environment)


class KnownServer(WarmServer):
    """The same, at an address that a browser may know: it keeps the app's files that it had there.

    Only where everybody may have these files: what a browser has, no server can refuse it.
    """

    left: ClassVar[list[int]] = []  # ports of those that are gone

    def __init__(self, database: Path, **environment: str) -> None:
        super().__init__(database, **environment)
        while self.left:
            port = self.left.pop()
            if is_free("127.0.0.1", port):
                self.port, self.url = port, f"http://127.0.0.1:{port}"
                break

    def end(self) -> None:
        """End the server for good: its port is for the next one."""
        self.stop(signal.SIGKILL)
        self.left.append(self.port)


def any_port() -> int:
    """Return a port that is free."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for(url: str) -> None:
    """Return once somebody answers."""
    for _ in range(3_000):
        try:
            urllib.request.urlopen(url, timeout=1).close()
            return
        except OSError:
            time.sleep(0.03)
    raise TimeoutError(f"no answer from {url}")


def loaded(records: list) -> Loaded:
    """Wrap records as a reader would."""
    return Loaded("test", records, list(range(1, len(records) + 1)))


def small_golden_set(path: Path, queries: int = 4, chunks: int = 30) -> Path:
    """Make a golden set of a few queries and two runs over the same chunks; nothing is graded."""
    ids = [f"c{number}" for number in range(chunks)]
    with Store(newborn(path)) as store:
        store.queries.load(
            loaded(
                [Query(f"q{n}", f"What does query {n} ask?", task="single") for n in range(queries)]
            )
        )
        store.chunks.load(
            loaded(
                [Chunk(name, f"This is the text of chunk {name}.", f"Title {name}") for name in ids]
            )
        )
        for name, step in (("forward", 1), ("backward", -1)):
            lists = [Ranking(f"q{n}", tuple(ids[::step])) for n in range(queries)]
            store.runs.load(loaded(lists), name=name)
        settings = store.settings.read()
        store.settings.save(type(settings)(pool_depth=chunks))
    return path

"""150 graders at once on one server: ``python -m tests.benchmarks.load [GRADERS] [SECONDS]``.

Two of them are real browsers, the rest light HTTP clients with tokens of their own; each gives one
grade every three seconds, while one more browser has Scores open. Prints how long a grade took
until SQLite had it on the disk, the server's largest memory, and whether the log holds every
acknowledged grade exactly once.
"""

from __future__ import annotations

import http.client
import json
import multiprocessing
import os
import platform
import random
import statistics
import sys
import tempfile
import threading
import time
import uuid
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from playwright.sync_api import Page, expect, sync_playwright

from labeler.store import Store
from labeler.ui.grading import COOKIE
from labeler.web.auth import tokens
from tests.benchmarks.app import PROBE, fill, percentiles
from tests.browser.profiles import HAS_READ_THE_WELCOME
from tests.browser.server import Server, launch

GRADERS, SECONDS, BROWSERS = 150, 120, 2
EVERY = 3.0
SENT_BACK = ("query", "chunk", "text_hash", "replaces", "source", "slip")


@dataclass
class Client:
    """A grader without a screen: asks for chunks, gives one grade every three seconds."""

    port: int
    golden_set: str
    name: str
    key: str
    token: str
    took: list[float] = field(default_factory=list)
    saved: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)

    def work(self, seconds: float, all_here: threading.Barrier) -> None:
        """Grade so long, once everybody has chunks: nobody's whole team sits down in one second."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        items = self.next_items(connection)
        all_here.wait()
        connection.close()  # the server has, if the others took more than five seconds
        moment = time.monotonic() + random.random() * EVERY
        until = time.monotonic() + seconds
        while moment < until:
            time.sleep(max(0.0, moment - time.monotonic()))
            items = items or self.next_items(connection)
            self.grade(connection, items.pop(0))
            moment += EVERY
        connection.close()

    def next_items(self, connection: http.client.HTTPConnection) -> list[dict]:
        """Return what to grade next."""
        return self.ask(connection, "GET", "/api/next?limit=40")["items"]

    def grade(self, connection: http.client.HTTPConnection, item: dict) -> None:
        """Give one grade and note when it was acknowledged."""
        event = {
            **{name: item[name] for name in SENT_BACK},
            "event_id": str(uuid.uuid4()),
            "golden_set": self.golden_set,
            "grader": self.name,
            "by": self.key,
            "kind": "grade",
            "grade": random.randrange(4),
            "elapsed_ms": 3_000,
        }
        began = time.perf_counter()
        [result] = self.ask(connection, "POST", "/api/judgments", {"events": [event]})["results"]
        self.took.append((time.perf_counter() - began) * 1000)
        (self.saved if result.get("saved") else self.refused).append(event["event_id"])

    def ask(self, connection, method: str, path: str, body: object = None) -> dict:
        """Send a request and return what came back."""
        headers = {"X-Labeler-Token": self.token, "Content-Type": "application/json"}
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        content = answer.read()
        if answer.status != 200:
            raise RuntimeError(f"{path}: {answer.status} {content[:200]!r}")
        return json.loads(content)


def work_all(clients: list[Client], seconds: float, results: multiprocessing.Queue) -> None:
    """Let all clients grade so long, each in a thread of this process."""
    all_here = threading.Barrier(len(clients))
    threads = [threading.Thread(target=each.work, args=(seconds, all_here)) for each in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    results.put([(client.took, client.saved, client.refused) for client in clients])


def clients_of(store: Store, port: int, count: int) -> list[Client]:
    """Make graders with tokens of their own."""
    golden_set, key = store.golden_set.uuid(), store.golden_set.signing_key()
    names = [f"grader {number}" for number in range(count)]
    for name in names:
        store.people.add(name)
    return [
        Client(
            port,
            golden_set,
            name,
            store.people.giver(name).key,
            tokens.issue_token(key, golden_set, name),
        )
        for name in names
    ]


def open_page(browser, url: str, grader: str) -> Page:
    """Open a page in a browser profile of its own."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    context.add_init_script(HAS_READ_THE_WELCOME)
    context.add_cookies([{"name": COOKIE, "value": grader, "url": url}])
    page = context.new_page()
    page.goto(url)
    return page


def memory_of(server: Server) -> float:
    """Return the largest memory the server has had, in MB; not a number where /proc is missing."""
    try:
        status = Path(f"/proc/{server.process.pid}/status").read_text(encoding="utf-8")
    except OSError:
        return float("nan")
    line = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


def main(graders: int = GRADERS, seconds: int = SECONDS) -> None:
    """Run the load and print what came of it."""
    print(f"{platform.machine()}, {os.cpu_count()} CPUs, {platform.system()} {platform.release()}")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = Path(folder) / "load.db"
        fill(path)
        server = Server(path)
        server.start()
        browser = launch(playwright)
        with Store(path) as store:
            clients = clients_of(store, server.port, graders - BROWSERS)
        scores = open_page(browser, f"{server.url}/scores", "lead")
        pads = [open_page(browser, server.url, f"browser {n}") for n in range(BROWSERS)]
        for page in pads:
            expect(page.locator(".chunk .text")).not_to_be_empty(timeout=20_000)
            page.locator(".pad").evaluate(PROBE)
        results: multiprocessing.Queue = multiprocessing.get_context("spawn").Queue()
        until = time.monotonic() + seconds
        spawned = multiprocessing.get_context("spawn").Process(
            target=work_all, args=(clients, seconds, results)
        )
        spawned.start()
        type_along(pads, until)
        told = results.get(timeout=120)
        spawned.join()
        report(path, pads, told, memory_of(server))
        print(f"Scores at the end: {scores.locator('table').first.inner_text()[:60]!r}")
        browser.close()
        server.stop()


def type_along(pads: list[Page], until: float) -> None:
    """Press a key in every browser every three seconds."""
    moment = time.monotonic()
    while moment < until:
        for page in pads:
            page.keyboard.press(random.choice("0123"))
        moment += EVERY
        time.sleep(max(0.0, moment - time.monotonic()))
    for page in pads:
        expect(page.locator(".status .state")).to_have_attribute("data-state", "idle")


def report(path: Path, pads: list[Page], told: list, memory: float) -> None:
    """Print the times and hold what was acknowledged against the log."""
    took = [each for times, _, _ in told for each in times]
    saved = [event for _, events, _ in told for event in events]
    refused = [event for _, _, events in told for event in events]
    print(f"clients, grade to durable: {percentiles(took)}")
    for name in ("painted", "acknowledged"):
        times = [each for page in pads for each in page.evaluate(f"window.{name}")]
        print(f"browsers, {name}: {percentiles(times)}")
    landed = sum(len(page.evaluate("window.landed")) for page in pads)
    with Store(path) as store:
        events = [event.event_id for event in store.judgments.log()]
    lost = len(set(saved) - set(events))
    doubled = len(events) - len(set(events))
    print(
        f"{len(saved) + landed:,} grades given, {len(events):,} in the log, {lost} lost, "
        f"{doubled} doubled, {len(refused)} refused; {len(events) / len(set(events)):.2f} of each"
    )
    print(f"server's largest memory: {memory:.0f} MB; median {statistics.median(took):.1f} ms")
    print(f"p95 {np.percentile(took, 95):.1f} ms against 250 ms")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]))

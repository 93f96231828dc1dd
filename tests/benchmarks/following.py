"""Pages that follow the grades: ``python -m tests.benchmarks.following [PART ...]``.

Three parts, all of them by default, each on a server of its own with 1,000 queries x 10 runs:

- ``moved``: one grade after another is given over HTTP, and a real browser says when the numbers on
  its page have moved, for each page that follows: from before the request to the last change.
- ``idle``: 100 pages are open and nobody grades: the server's processor time.
- ``load``: 150 graders without a screen, first alone and then beside 20 pages in a real browser:
  grade to durable both times, and how often the pages moved. In turns, so that whatever else the
  machine does meets both. The server and the graders have the first core, both times, and the
  browser has the others: on the machines of 20 readers drawing costs the server nothing either.
"""

from __future__ import annotations

import http.client
import json
import multiprocessing
import os
import platform
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path

import numpy as np
from playwright.sync_api import Browser, Page, expect, sync_playwright
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import connect
from websockets.typing import Origin, Subprotocol

from tests.benchmarks.app import large_golden_set, percentiles
from tests.benchmarks.load import clients_of, work_all
from tests.browser.server import Server, launch

GRADES, IDLE_PAGES, IDLE_SECONDS = 30, 100, 60
GRADERS, OPEN_PAGES, LOAD_SECONDS, ROUNDS = 150, 20, 45, 2
PAGES = {
    "Scores": "/scores",
    "Compare": "/compare?a=run0&b=run1",
    "Slices": "/slices?a=run0&b=run1&facet=intent",
    "Queries": "/queries?a=run0",
    "Review": "/review",
}

# Notes when anything on the page has last changed, on the clock of the machine.
WATCH = """() => {
    const note = () => { window.moved = performance.timeOrigin + performance.now(); };
    const all = { subtree: true, childList: true, characterData: true };
    new MutationObserver(note).observe(document.querySelector('[data-testid="stMain"]'), all);
}"""
# Counts what the server tells the page.
COUNT = """
window.told = 0;
const Socket = window.WebSocket;
window.WebSocket = class extends Socket {
    constructor(...given) {
        super(...given);
        if (this.url.endsWith("/api/live")) this.addEventListener("message", () => window.told++);
    }
};
"""
HAS_MOVED = """given => {
    const still = performance.timeOrigin + performance.now() - window.moved;
    return window.moved > given && still > 250;
}"""


@contextmanager
def serving(folder: Path, name: str, playwright) -> Iterator[tuple[Server, Browser]]:
    """Serve a large golden set of its own, and start a browser for it."""
    server = Server(large_golden_set(folder / f"{name}.db"))
    server.start()
    browser = launch(playwright)
    yield server, browser
    browser.close()
    server.stop()


def follow(browser: Browser, url: str) -> Page:
    """Open a page in a browser profile of its own, and wait until it follows."""
    page = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
    page.add_init_script(COUNT)
    page.goto(url)
    expect(page.locator(".top .live")).to_be_visible(timeout=120_000)
    page.wait_for_timeout(1_500)
    return page


def one_grader(server: Server) -> Callable[[], None]:
    """Return what gives one more grade over HTTP."""
    with server.store() as store:
        [client] = clients_of(store, server.port, 1)
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    items: list[dict] = []

    def give() -> None:
        if not items:
            items.extend(client.ask(connection, "GET", "/api/next?limit=40")["items"])
        client.grade(connection, items.pop(0))
        connection.close()  # the server would, before the next one

    return give


def time_moves(server: Server, browser: Browser) -> None:
    """Grade on one side, one at a time, and see when each page has moved on the other."""
    give = one_grader(server)
    give()
    for name, path in PAGES.items():
        page = follow(browser, f"{server.url}{path}")
        page.evaluate(WATCH)
        took, before = [], cpu_of(server)
        for _ in range(GRADES):
            page.wait_for_timeout(700 + random.random() * 600)
            given = time.time() * 1000
            give()
            page.wait_for_function(HAS_MOVED, arg=given, timeout=20_000)
            took.append(page.evaluate("window.moved") - given)
        cpu = (cpu_of(server) - before) * 1000 / GRADES
        print(
            f"a grade to moved numbers on {name + ':':9} {percentiles(took)}; the server works "
            f"{cpu:.0f} ms for each",
            flush=True,
        )
        page.context.close()


def time_idle(server: Server, _: Browser) -> None:
    """Hold many pages open as their browsers would, without them: they take ten gigabytes."""
    paths = list(PAGES.values())
    with ExitStack() as sockets:
        for number in range(IDLE_PAGES):
            hold_open(server, paths[number % len(paths)], sockets)
        time.sleep(10)
        before, began = cpu_of(server), time.monotonic()
        time.sleep(IDLE_SECONDS)
        share = (cpu_of(server) - before) / (time.monotonic() - began)
    print(f"{IDLE_PAGES} open pages, nobody grades: {share:.2%} of one core", flush=True)


def hold_open(server: Server, path: str, sockets: ExitStack) -> None:
    """Open the two sockets of a page that has run once and shows the newest there is."""
    page, _, query = path.removeprefix("/").partition("?")
    asked = BackMsg()
    asked.rerun_script.page_name, asked.rerun_script.query_string = page, query
    root, origin = f"ws://127.0.0.1:{server.port}", Origin(server.url)
    session = sockets.enter_context(
        connect(
            f"{root}/_stcore/stream",
            origin=origin,
            subprotocols=[Subprotocol("streamlit")],
            max_size=None,
        )
    )
    session.send(asked.SerializeToString())
    while True:
        message = ForwardMsg.FromString(bytes(session.recv(timeout=60)))
        if message.WhichOneof("type") == "script_finished":
            break
    line = sockets.enter_context(connect(f"{root}/api/live", origin=origin))
    line.recv(timeout=60)
    with server.store() as store:
        line.send(json.dumps({"shows": store.golden_set.newest()}))


def cpu_of(server: Server) -> float:
    """Return the seconds of processor time the server has had; Linux only."""
    stat = Path(f"/proc/{server.process.pid}/stat").read_text(encoding="utf-8")
    fields = stat.rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def apart(folder: Path) -> Iterator[None]:
    """Give what is started here the first core, and browsers the others; Linux only."""
    cores, chromium = sorted(os.sched_getaffinity(0)), os.environ["LABELER_CHROMIUM"]
    pinned = folder / "chromium"
    others = ",".join(map(str, cores[1:] or cores))
    pinned.write_text(f'#!/bin/sh\nexec taskset -c {others} "{chromium}" "$@"\n')
    pinned.chmod(0o755)
    os.environ["LABELER_CHROMIUM"] = str(pinned)
    os.sched_setaffinity(0, cores[:1])
    yield
    os.sched_setaffinity(0, cores)
    os.environ["LABELER_CHROMIUM"] = chromium


def time_load(server: Server, browser: Browser) -> None:
    """Let many grade, with and without open pages, in turns."""
    times: dict[bool, list[float]] = {False: [], True: []}
    for _ in range(ROUNDS):
        for beside in (False, True):
            paths = list(PAGES.values())
            count = OPEN_PAGES if beside else 0
            pages = [follow(browser, f"{server.url}{paths[n % len(paths)]}") for n in range(count)]
            before = cpu_of(server)
            took = grade_all(server)
            times[beside] += took
            cpu = (cpu_of(server) - before) / LOAD_SECONDS
            runs = sum(page.evaluate("window.told") for page in pages)
            print(
                f"{GRADERS} graders, {count} pages: {percentiles(took)}; server {cpu:.0%} of a "
                f"core; {runs} runs of pages",
                flush=True,
            )
            for page in pages:
                page.context.close()
    for beside, took in times.items():
        print(f"all rounds, pages {beside}: {percentiles(took)}")
    for name, of in (("median", 50), ("p95", 95)):
        alone, beside = (np.percentile(times[each], of) for each in (False, True))
        print(f"{name} beside pages is {beside / alone:.2f} of that without")


def grade_all(server: Server) -> list[float]:
    """Let all graders work for a while; return how long each grade took."""
    with server.store() as store:
        clients = clients_of(store, server.port, GRADERS)
    results: multiprocessing.Queue = multiprocessing.get_context("spawn").Queue()
    spawned = multiprocessing.get_context("spawn").Process(
        target=work_all, args=(clients, LOAD_SECONDS, results)
    )
    spawned.start()
    told = results.get(timeout=LOAD_SECONDS + 120)
    spawned.join()
    return [each for times, _, _ in told for each in times]


PARTS = {"moved": time_moves, "idle": time_idle, "load": time_load}


def main(parts: list[str]) -> None:
    """Run what is asked for."""
    with open("/proc/loadavg") as file:
        load = file.read().split()[0]
    print(f"{platform.platform()}, {os.cpu_count()} CPUs (load {load})", flush=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        for name in parts or PARTS:
            place = apart(Path(folder)) if name == "load" else nullcontext()
            with place, serving(Path(folder), name, playwright) as (server, browser):
                PARTS[name](server, browser)


if __name__ == "__main__":
    main(sys.argv[1:])

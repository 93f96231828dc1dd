"""Ten minutes of everything at once: ``python -m tests.benchmarks.soak [GRADERS] [SECONDS]``.

So many graders give a grade every three seconds while the server makes a backup every minute and a
person grades by keys in a real browser. After a third of the time the server is killed, the person
grades on without it, the browser is killed as soon as it calls these grades kept, and both come
back; after two thirds the server is stopped in an orderly way and started again. Prints whether the
log holds every grade exactly once, and whether each backup is whole and a beginning of the log.
"""

from __future__ import annotations

import http.client
import multiprocessing
import os
import platform
import random
import re
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, expect, sync_playwright

from labeler.store import Store
from labeler.store.backup import file_check
from labeler.ui.grading import COOKIE
from tests.benchmarks.app import fill, percentiles
from tests.benchmarks.load import Client, clients_of, work_all
from tests.browser.killable import Killable
from tests.browser.server import Server

GRADERS, SECONDS = 150, 600
BACKUP_EVERY = 60
AWAY = 20  # keys pressed while no server answers
PERSON = "Ann"
GIVE_UP_SECONDS = 120


class Steadfast(Client):
    """A grader who sends again what was not acknowledged, as the pad does."""

    def ask(self, connection, method: str, path: str, body: object = None) -> dict:
        """Send a request until it is answered, and return what came back."""
        until = time.monotonic() + GIVE_UP_SECONDS
        while True:
            try:
                return super().ask(connection, method, path, body)
            except (OSError, http.client.HTTPException, RuntimeError):
                connection.close()
                if time.monotonic() > until:
                    raise
                time.sleep(0.5 + random.random())


class Person:
    """Somebody at a browser of their own, who presses a key a second; ``keys`` counts them."""

    def __init__(self, playwright, profile: Path, url: str) -> None:
        self.killable = Killable(playwright.chromium, profile)
        self.url = url
        self.keys = 0

    @contextmanager
    def at_the_pad(self) -> Iterator[Page]:
        """Open the browser, and the pad in it."""
        with self.killable.opened() as context:
            context.add_cookies([{"name": COOKIE, "value": PERSON, "url": self.url}])
            page = context.new_page()
            page.goto(self.url)
            expect(page.locator(".chunk .text")).to_contain_text("chunk", timeout=60_000)
            yield page

    def grade(self, page: Page, until: float) -> None:
        """Press a key every second, and wait until all is saved."""
        while time.monotonic() < until:
            self.press(page, 1)
            page.wait_for_timeout(1_000)
        all_saved = re.compile(r"^[\d,]+ saved$")
        expect(page.locator(".status .state")).to_have_text(all_saved, timeout=60_000)

    def press(self, page: Page, count: int) -> None:
        """Grade so many chunks, each once it is on screen and until the next one is."""
        for _ in range(count):
            expect(page.locator(".chunk .text")).to_be_visible(timeout=60_000)
            before = on_screen(page)
            page.keyboard.press(random.choice("0123"))
            until = time.monotonic() + GIVE_UP_SECONDS
            while on_screen(page) == before and time.monotonic() < until:
                page.wait_for_timeout(20)
            if on_screen(page) == before:
                raise TimeoutError(f"the pad took no key at {before}")
            self.keys += 1


def on_screen(page: Page) -> list[str]:
    """Return the query and the chunk that the pad asks about."""
    return page.locator(".pad").evaluate(
        """pad => [".query-text", ".chunk .text"].map(at => pad.querySelector(at)?.textContent)"""
    )


def main(graders: int = GRADERS, seconds: int = SECONDS) -> None:
    """Let all of it happen, then look at what is there."""
    print(f"{platform.machine()}, {os.cpu_count()} CPUs, {platform.system()} {platform.release()}")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path, backups = fill(Path(folder) / "soak.db"), Path(folder) / "backups"
        backups.mkdir()
        every = ["--backup-every", f"{BACKUP_EVERY}s", "--backup-to", str(backups)]
        server = Server(path, *every)
        server.start()
        with Store(path) as store:
            clients = [Steadfast(**vars(each)) for each in clients_of(store, server.port, graders)]
        results: multiprocessing.Queue = multiprocessing.get_context("spawn").Queue()
        began = time.monotonic()
        spawned = multiprocessing.get_context("spawn").Process(
            target=work_all, args=(clients, seconds, results)
        )
        spawned.start()
        person = Person(playwright, Path(folder) / "profile", server.url)
        disturb(server, person, began, seconds)
        told = results.get(timeout=GIVE_UP_SECONDS * 2)
        spawned.join()
        server.stop()
        report(path, backups, person, told)


def disturb(server: Server, person: Person, began: float, seconds: float) -> None:
    """Kill the server and the browser on the way, and start the server anew once more."""
    with person.at_the_pad() as page:
        person.grade(page, began + seconds / 3)
        server.stop(signal.SIGKILL)
        person.press(page, AWAY)
        kept = page.locator(".status .state")
        expect(kept).to_contain_text(f"{AWAY} kept", timeout=60_000)
        person.killable.kill()
    time.sleep(5)
    server.start()
    with person.at_the_pad() as page:
        person.grade(page, began + seconds * 2 / 3)
        server.stop()
        server.start()
        person.grade(page, began + seconds)


def report(path: Path, backups: Path, person: Person, told: list) -> None:
    """Print what was acknowledged, what is there, and what is wrong."""
    took = [each for times, _, _ in told for each in times]
    saved = [event for _, events, _ in told for event in events]
    refused = [event for _, _, events in told for event in events]
    with Store(path) as store:
        log = store.judgments.log()
    events = [event.event_id for event in log]
    by_keys = [(event.query_id, event.chunk_id) for event in log if event.grader == PERSON]
    print(
        f"{len(saved):,} grades acknowledged, {len(set(saved) - set(events))} lost, "
        f"{len(events) - len(set(events))} doubled, {len(refused)} refused"
    )
    print(
        f"{person.keys:,} keys pressed in the browser, {len(by_keys):,} grades of theirs in the "
        f"log, on {len(set(by_keys)):,} chunks"
    )
    print(f"grade to durable: {percentiles(took)}, the longest {max(took) / 1000:.1f} s")
    for file in sorted(backups.glob("*.db")):
        with Store(file) as store:
            held = [event.event_id for event in store.judgments.log()]
        wrong = [each.says for each in file_check.check_file(file) if each.is_wrong]
        beginning = "a beginning of the log" if held == events[: len(held)] else "NO BEGINNING"
        print(f"{file.name}: {len(held):,} grades, {beginning}, {'; '.join(wrong) or 'whole'}")
    wrong = [each.says for each in file_check.check_file(path) if each.is_wrong]
    print(f"the golden set: {'; '.join(wrong) or 'whole'}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]))

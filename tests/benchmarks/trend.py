"""What the trend of a year of daily runs costs: on the page, in the terminal, and in memory.

Prints, for this machine: how long Scores > trend takes until its table is there, at the first
opening of a fresh server, again, and after a grade; how long ``labeler trend`` takes; and the most
memory of either.
"""

from __future__ import annotations

import os
import platform
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from labeler.model import Judgment
from labeler.store import Store
from tests.benchmarks.drifting import write_drifting
from tests.benchmarks.processes import took
from tests.browser.server import Server, launch

RUNS, AGAIN = 365, 5


def open_trend(browser: Browser, url: str) -> float:
    """Open the page in a fresh tab; return the seconds until its table and chart are there."""
    page = browser.new_page()
    began = time.perf_counter()
    page.goto(f"{url}/scores?view=trend")
    page.wait_for_selector(".sheet.trend", timeout=120_000)
    page.wait_for_selector(".stVegaLiteChart canvas, .stVegaLiteChart svg", timeout=120_000)
    seconds = time.perf_counter() - began
    page.close()
    return seconds


def follow_grade(browser: Browser, url: str, path: Path) -> float:
    """Grade a chunk while the page is open; return the seconds until it shows other numbers."""
    page = browser.new_page()
    page.goto(f"{url}/scores?view=trend")
    page.wait_for_selector(".sheet.trend", timeout=120_000)
    page.wait_for_timeout(3_000)
    before = page.locator(".sheet.trend").inner_text()
    with Store(path) as store:
        store.people.add("Ann")
        [query, *_] = store.collection.read().query_ids
        [chunk, *_] = store.collection.read().chunk_ids[1:]
        began = time.perf_counter()
        store.judgments.add(Judgment("bench", query, chunk, "Ann", grade=3))
    page.wait_for_function(
        "said => document.querySelector('.sheet.trend').innerText !== said",
        arg=before,
        timeout=60_000,
    )
    seconds = time.perf_counter() - began
    page.close()
    return seconds


def most_memory(pid: int) -> float:
    """Return the most memory a process ever had, in MB."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    [line] = [line for line in status.splitlines() if line.startswith("VmHWM")]
    return int(line.split()[1]) / 1_000


def processor_seconds(pid: int) -> float:
    """Return how long a process has kept processors busy; others on the machine do not count."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Make the golden set, and open its trend."""
    load = Path("/proc/loadavg").read_text(encoding="utf-8").split()[0]
    print(f"{platform.platform()}, {os.cpu_count()} CPUs (load {load})", flush=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = Path(folder) / "year.db"
        write_drifting(path, runs=RUNS)
        browser = launch(playwright)
        server = Server(path)
        server.start()
        print(f"{RUNS} runs x 1,000 queries x depth 100", flush=True)
        began = processor_seconds(server.process.pid)
        seconds = open_trend(browser, server.url)
        spent = processor_seconds(server.process.pid) - began
        print(f"first opening: {seconds:.1f} s, {spent:.1f} s of a processor", flush=True)
        again = sorted(open_trend(browser, server.url) for _ in range(AGAIN))
        spent = (processor_seconds(server.process.pid) - began - spent) / AGAIN
        print(f"again: {again[AGAIN // 2]:.1f} s, {spent:.1f} s of a processor", flush=True)
        print(f"after a grade: {follow_grade(browser, server.url, path):.1f} s", flush=True)
        print(f"most memory of the server: {most_memory(server.process.pid):,.0f} MB", flush=True)
        server.stop()
        browser.close()
        once = took([sys.executable, "-m", "labeler", "--db", str(path), "trend"])
        print(f"labeler trend: {once.wall:.1f} s, {once.memory:,.0f} MB", flush=True)


if __name__ == "__main__":
    main()

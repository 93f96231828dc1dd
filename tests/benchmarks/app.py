"""Time the running app in a real browser: ``python -m tests.benchmarks.app [PART ...]``.

Prints, for this machine: the start of the server until a chunk can be graded; key to next chunk
painted; key to grade acknowledged, which is after SQLite has it on the disk; rapid keys and where
they landed; a rerun of Scores with 1,000 queries x 10 runs x depth 100, and its first visit with
twice as many of long names. The parts ``keys``, ``moved`` and ``first`` have a target each, which
is printed beside what was measured, with the load of the machine before and after.
"""

from __future__ import annotations

import argparse
import os
import platform
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from playwright.sync_api import Browser, Page, expect, sync_playwright

from labeler.model import Chunk, GoldenGrade, Loaded, LoadedGolden, Query, Ranking
from labeler.store import Store
from labeler.ui.grading import COOKIE
from labeler.web.auth import access
from tests.browser.choices import open_choices
from tests.browser.doors import come_in
from tests.browser.profiles import HAS_READ_THE_WELCOME
from tests.browser.server import Server, launch

OPENS_SECONDS = 15  # within which a server opens the board where nobody asks for anything
LONG_NAME = "prod-eu-west-1_support-kb_chunk512-overlap64_hybrid-rrf-k60_rerank-{}-top50_seed42"
REST = "This chunk stands for a paragraph of a hundred and fifty words. " * 12

# Painted: the frame after the key's has begun. Acknowledged: the answer to the post has come.
PROBE = """pad => {
    window.painted = []; window.acknowledged = []; window.landed = [];
    const sent = new Map();
    const fetch_ = window.fetch;
    window.fetch = async (path, options) => {
        const answer = await fetch_(path, options);
        if (path === "/api/judgments") {
            for (const event of JSON.parse(options.body).events) {
                const start = sent.get(event.chunk);
                if (start) window.acknowledged.push(performance.now() - start);
            }
        }
        return answer;
    };
    window.addEventListener("keydown", event => {
        const start = event.timeStamp;
        const text = pad.querySelector(".chunk .text").textContent;
        const chunk = /chunk (c\\d+)/.exec(text)[1];
        sent.set(chunk, start);
        window.landed.push([event.key, pad.querySelector(".query-text").textContent, chunk]);
        requestAnimationFrame(() => setTimeout(() => {
            if (pad.querySelector(".chunk .text").textContent !== text) {
                window.painted.push(performance.now() - start);
            }
        }));
    }, true);
}"""


# From the key until the frame after all rows are there.
OPEN_LIST = """pad => new Promise(done => {
    const press = key => document.dispatchEvent(new KeyboardEvent("keydown", { key }));
    const rows = () => pad.querySelectorAll(".whole .row").length;
    const start = performance.now();
    press("b");
    const look = () => rows() < 100
        ? requestAnimationFrame(look)
        : requestAnimationFrame(() => setTimeout(() => {
            const took = performance.now() - start;
            press("b");
            setTimeout(() => done(took), 200);
        }));
    look();
})"""


def percentiles(values: list[float]) -> str:
    """Write median, 95th percentile and largest of some milliseconds."""
    return (
        f"p50 {statistics.median(values):.1f} ms, p95 {np.percentile(values, 95):.1f} ms, "
        f"most {max(values):.1f} ms, n {len(values)}"
    )


def open_pad(browser: Browser, url: str) -> Page:
    """Open the Label page as a known grader and wait for a chunk."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    context.add_init_script(HAS_READ_THE_WELCOME)
    context.add_cookies([{"name": COOKIE, "value": "Ann", "url": url}])
    page = context.new_page()
    page.goto(url)
    expect(page.locator(".chunk .text")).not_to_be_empty(timeout=20_000)
    return page


def time_start(browser: Browser, server: Server) -> None:
    """Time the server from its start until a first chunk is on screen."""
    began = time.perf_counter()
    server.start()
    answered = time.perf_counter() - began
    open_pad(browser, server.url).context.close()
    print(f"serve: answers after {answered:.1f} s, a chunk on screen {since(began):.1f} s")


def slow_down(page: Page, away_ms: int) -> None:
    """Let every answer of the server take so much longer."""
    if away_ms:
        network = page.context.new_cdp_session(page)
        network.send("Network.enable")
        limits = {"offline": False, "downloadThroughput": -1, "uploadThroughput": -1}
        network.send("Network.emulateNetworkConditions", {**limits, "latency": away_ms})


def time_invitation(browser: Browser, server: Server, times: int = 9) -> None:
    """Time an invited grader from the click on their link until a first chunk is on screen."""
    with server.store() as store:
        secret, _ = access.invite(store, "Zoe", "lead")
    taken = []
    for _ in range(times):
        context = browser.new_context(viewport={"width": 1280, "height": 800})
        page = context.new_page()
        began = time.perf_counter()
        page.goto(f"{server.url}/join/{secret}")
        come_in(page)
        expect(page.locator(".chunk .text")).not_to_be_empty(timeout=20_000)
        taken.append(since(began))
        context.close()
    print(f"invitation to a first chunk: median {statistics.median(taken):.2f} s of {times}")


def since(began: float) -> float:
    return time.perf_counter() - began


def time_keys(
    browser: Browser, server: Server, keys: int, per_second: float, away_ms: int = 0
) -> None:
    """Press grade keys at a steady pace and see when and where they arrive.

    ``away_ms`` is how much longer every answer of the server takes.
    """
    page = open_pad(browser, server.url)
    slow_down(page, away_ms)
    with server.store() as store:
        before = len(store.judgments.log())
    page.locator(".pad").evaluate(PROBE)
    for number in range(keys):
        page.keyboard.press(str(number % 4))
        page.wait_for_timeout(1000 / per_second)
    expect(page.locator(".status .state[data-state=idle]")).to_be_visible(timeout=60_000)
    page.wait_for_timeout(500)
    landed = [tuple(seen) for seen in page.evaluate("window.landed")]
    with server.store() as store:
        texts = {query.query_id: query.text for query in store.queries.all()}
        stored = [
            (str(e.grade), texts[e.query_id], e.chunk_id) for e in store.judgments.log()[before:]
        ]
    right = sum(seen == kept for seen, kept in zip(landed, stored, strict=False))
    away = f", {away_ms} ms away" if away_ms else ""
    print(f"{keys} keys, {per_second:g} a second{away}: {right} on the chunk that was on screen")
    print(f"  painted       {percentiles(page.evaluate('window.painted'))}")
    print(f"  acknowledged  {percentiles(page.evaluate('window.acknowledged'))}")
    page.context.close()


def fill(path: Path, queries: int = 1_000, pool: int = 40) -> Path:
    """Make a golden set to grade: so many queries, and so many chunks in the pool of each."""
    rng = random.Random(1)
    names = [f"c{number}" for number in range(20_000)]
    with Store(path, create=True) as store:
        store.queries.load(
            loaded([Query(f"q{n}", f"What does query {n} ask?") for n in range(queries)])
        )
        store.chunks.load(loaded([Chunk(name, f"chunk {name}. {REST}", name) for name in names]))
        pools = [tuple(rng.sample(names, pool)) for _ in range(queries)]
        for run in ("forward", "backward"):
            step = 1 if run == "forward" else -1
            lists = [Ranking(f"q{n}", found[::step]) for n, found in enumerate(pools)]
            store.runs.load(loaded(lists), name=run)
        store.settings.save(type(store.settings.read())(pool_depth=pool))
    return path


def large_golden_set(path: Path, runs: int = 10, name: str = "run{}") -> Path:
    """Make 1,000 queries x 10 runs x depth 100 with about 20 grades a query, in 8 buckets."""
    draw = np.random.default_rng(7)
    queries = [Query(f"q{n}", f"query {n}", buckets={"intent": f"b{n % 8}"}) for n in range(1_000)]
    pools = [draw.choice(50_000, 200, replace=False) for _ in queries]
    grades = [
        GoldenGrade(query.query_id, f"c{chunk}", int(draw.integers(4)))
        for query, pool in zip(queries, pools, strict=True)
        for chunk in draw.choice(pool, 20, replace=False)
    ]
    with Store(path, create=True) as store:
        store.queries.load(loaded(queries))
        store.chunks.load(loaded([Chunk(f"c{n}", f"chunk c{n}") for n in range(50_000)]))
        for run in range(runs):
            lists = [
                Ranking(
                    query.query_id, tuple(f"c{chunk}" for chunk in draw.permutation(pool)[:100])
                )
                for query, pool in zip(queries, pools, strict=True)
            ]
            store.runs.load(loaded(lists), name=name.format(run))
        store.golden_loads.add(LoadedGolden(loaded([]), loaded(grades), loaded([])))
    return path


def loaded(records: list) -> Loaded:
    return Loaded("benchmark", records, [1] * len(records))


def time_whole(browser: Browser, server: Server) -> None:
    """Open the list of a query's chunks again and again and wait until all rows are painted."""
    page = open_pad(browser, server.url)
    times = [page.locator(".pad").evaluate(OPEN_LIST) for _ in range(11)]
    print(f"whole query, 100 chunks: {percentiles(times[1:])}, first {times[0]:.0f} ms")
    page.context.close()


def time_scores(browser: Browser, server: Server) -> None:
    """Change the conventions back and forth and wait until the page is done each time."""
    page = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
    began = time.perf_counter()
    page.goto(f"{server.url}/scores")
    expect(page.locator(".ranking table")).to_be_visible(timeout=30_000)
    print(f"Scores, first paint with a cold server: {since(began) * 1000:.0f} ms")
    times = []
    for number in range(21):
        wanted = ("trec_eval", "graded")[number % 2]
        open_choices(page)
        page.get_by_role("combobox", name="Conventions").click()
        option = page.get_by_role("option", name=wanted)
        option.wait_for()
        began = time.perf_counter()
        option.click()
        said = expect(page.locator(".chosen").first)  # the usual ones are not said
        if wanted == "trec_eval":
            said.to_contain_text(wanted)
        else:
            said.not_to_contain_text("trec_eval")
        times.append(since(began) * 1000)
    print(f"Scores, click to new numbers: {percentiles(times[2:])}")
    page.context.close()


def time_first_visit(browser: Browser, server: Server) -> None:
    """Open Scores a while after the server's start, when nobody has opened it yet, and again."""
    times = []
    server.start()
    time.sleep(OPENS_SECONDS)
    for _ in range(6):
        page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
        began = time.perf_counter()
        page.goto(f"{server.url}/scores", wait_until="commit")
        page.locator(".ranking tbody tr").first.wait_for(timeout=30_000)
        times.append(since(began))
        page.context.close()
    server.stop()
    first, *again = times
    print(f"Scores of 20 runs: first {first:.1f} s, again {statistics.median(again):.1f} s")


def time_movement(browser: Browser, server: Server) -> None:
    """Grade on one side and see when the numbers move on the other."""
    page = browser.new_context().new_page()
    page.goto(f"{server.url}/scores?measure=Judged@10")
    expect(page.locator(".ranking table")).to_be_visible(timeout=30_000)
    pad = open_pad(browser, server.url)
    times = []
    for number in range(15):
        before = page.locator(".ranking tbody").inner_text()
        pad.wait_for_timeout(170 * (number % 7))
        pad.keyboard.press("2")
        began = time.perf_counter()
        while page.locator(".ranking tbody").inner_text() == before and since(began) < 10:
            page.wait_for_timeout(10)
        times.append(since(began) * 1000)
    print(f"a grade to moved numbers in another browser: {percentiles(times)}")
    page.context.close()
    pad.context.close()


def time_grading(browser: Browser, folder: Path) -> None:
    """Time the start of a server, and what a grader waits for."""
    server = Server(fill(folder / "small.db"))
    time_start(browser, server)
    time_keys(browser, server, keys=120, per_second=3)
    time_keys(browser, server, keys=60, per_second=10)
    for away_ms in (100, 500):
        time_keys(browser, server, keys=60, per_second=25, away_ms=away_ms)
    time_invitation(browser, server)
    server.stop()


def time_rapid_keys(browser: Browser, folder: Path) -> None:
    """Time 25 keys a second, three times."""
    server = Server(fill(folder / "rapid.db"))
    server.start()
    for _ in range(3):
        time_keys(browser, server, keys=200, per_second=25)
    server.stop()


def time_list(browser: Browser, folder: Path) -> None:
    """Time the list of a query's chunks."""
    server = Server(fill(folder / "listed.db", queries=20, pool=100))
    server.start()
    time_whole(browser, server)
    server.stop()


def time_numbers(browser: Browser, folder: Path) -> None:
    """Time what a click and what a grade change on Scores."""
    server = Server(large_golden_set(folder / "large.db"))
    server.start()
    time_scores(browser, server)
    time_movement(browser, server)
    server.stop()


def time_first_visits(browser: Browser, folder: Path) -> None:
    """Time the first visit of Scores after the start of a server, three times."""
    twice = large_golden_set(folder / "twice.db", runs=20, name=LONG_NAME)
    for _ in range(3):
        time_first_visit(browser, Server(twice))


PARTS: Mapping[str, tuple[Callable[[Browser, Path], None], str | None]] = {
    "grading": (time_grading, None),
    "keys": (time_rapid_keys, "painted p95 at most 17 ms"),
    "list": (time_list, None),
    "moved": (time_numbers, "a grade to moved numbers p95 at most 300 ms"),
    "first": (time_first_visits, "first at most 1.5 s"),
}


def main() -> None:
    """Run the named parts, or everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    wanted = parser.parse_args().parts or list(PARTS)
    print(f"{platform.platform()}, {os.cpu_count()} CPUs, Python {platform.python_version()}")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = launch(playwright)
        print(f"Chromium {browser.version}")
        for part in wanted:
            run, target = PARTS[part]
            print(f"{part}: load {os.getloadavg()[0]:.1f}{f', target: {target}' if target else ''}")
            run(browser, Path(folder))
            print(f"load {os.getloadavg()[0]:.1f} after it", flush=True)
        browser.close()


if __name__ == "__main__":
    main()

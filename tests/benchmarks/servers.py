"""Two servers over one PostgreSQL: ``python -m tests.benchmarks.servers [PART ...]``.

Two parts, both of them by default, PostgreSQL on a disk with every promise it makes switched on:

- ``tail``: ten times, four processes write 250 judgments each, as servers do, while one more reads
  on from the newest it knows, as every open page does: whether it missed one.
- ``crash``: 150 graders without a screen give one grade every three seconds, at one server over a
  file, and then at two over a database, who are asked in turn. Then one of the two is killed, and
  then the whole database, which is started again. Graders send again what was not acknowledged, as
  the pad does. How long a grade took before the first crash, and what is in the log at the end.
"""

from __future__ import annotations

import http.client
import multiprocessing
import os
import platform
import queue
import random
import signal
import statistics
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from labeler.model import Chunk, Judgment, Query
from labeler.store import Store
from tests.benchmarks.app import fill
from tests.benchmarks.load import Client, clients_of
from tests.browser.server import Server, loaded
from tests.support.postgres import Server as Database

ROUNDS, WRITERS, EACH = 10, 4, 250
GRADERS, CALM, KILLED, AWAY, AFTER = 150, 60.0, 15.0, 5.0, 25.0
AGAIN = 1.0  # after which a grade that was not acknowledged is sent once more
spawn = multiprocessing.get_context("spawn")


@contextmanager
def databases() -> Iterator[Database]:
    """Start a PostgreSQL as its makers ship it, on a disk."""
    made = Database(
        on_disk=True, fsync="on", full_page_writes="on", synchronous_commit="on", autovacuum="on"
    )
    try:
        yield made
    finally:
        made.remove()


# The tail ---------------------------------------------------------------------------------------


def write(place: str, name: str, go: Any, told: Any) -> None:
    """Give so many judgments in each round, each as a request of its own; tell how long it took."""
    draw = random.Random(name)
    for turn in range(ROUNDS):
        go.wait()
        took = []
        for number in range(EACH):
            began = time.perf_counter()
            with Store(place) as store:
                pair = f"q{draw.randrange(200)}", f"c{draw.randrange(400)}"
                event_id = f"{turn} {name} {number}"
                store.judgments.add(Judgment(event_id, *pair, name, grade=draw.randrange(4)))
            took.append((time.perf_counter() - began) * 1000)
        told.put(took)


def read_on(place: str, over: Any, told: Any) -> None:
    """Read on from the newest judgment that is known; tell in which rounds they were given."""
    with Store(place) as store:
        seen, found, is_over = store.judgments.revision(), Counter[int](), False
        while not is_over:
            is_over = over.is_set()
            newest = store.judgments.revision()
            asked = "SELECT event_id FROM judgments WHERE id > ? AND id <= ?"
            found.update(
                int(event.split()[0]) for (event,) in store.connection.rows(asked, [seen, newest])
            )
            seen = newest
            time.sleep(0.005)
    told.put(found)


def tailed(place: str) -> tuple[list[int], float, list[float]]:
    """Return how many judgments the reader missed in each round, how many a second, how long."""
    names = [f"writer{each}" for each in range(WRITERS)]
    with Store(place) as store:
        for name in names:
            store.people.add(name)
    go, over, told, read = spawn.Barrier(WRITERS + 1), spawn.Event(), spawn.Queue(), spawn.Queue()
    writers = [spawn.Process(target=write, args=(place, name, go, told)) for name in names]
    reader = spawn.Process(target=read_on, args=(place, over, read))
    for process in (*writers, reader):
        process.start()
    rates, took = [], []
    for _ in range(ROUNDS):
        go.wait()
        began = time.perf_counter()
        took += [each for _ in writers for each in told.get(timeout=300)]
        rates.append(WRITERS * EACH / (time.perf_counter() - began))
    over.set()
    found = read.get(timeout=60)
    for process in (*writers, reader):
        process.join()
    return [WRITERS * EACH - found[turn] for turn in range(ROUNDS)], statistics.median(rates), took


def tail() -> None:
    """Print what the reader of the tail missed, in a file and in a database."""
    print("| ten times 4 processes × 250 judgments | missed by the tail | a second | p50 | p95 |")
    print("|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder, databases() as database:
        for name, place in (
            ("a file", f"{folder}/tail.db"),
            ("PostgreSQL", database.database("tail")),
        ):
            with Store(place, create=True) as store:
                store.queries.load(loaded([Query(f"q{n}", f"query {n}") for n in range(200)]))
                store.chunks.load(loaded([Chunk(f"c{n}", f"text {n}") for n in range(400)]))
            missed, rate, took = tailed(place)
            p50, p95 = np.percentile(took, [50, 95])
            each = ", ".join(map(str, missed))
            print(f"| {name} | {each} | {rate:.0f} | {p50:.1f} ms | {p95:.1f} ms |")


# The crash --------------------------------------------------------------------------------------


@dataclass
class Roaming(Client):
    """A grader who asks servers in turn, and sends again what was not acknowledged."""

    ports: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        self.at: list[float] = []  # when each grade was given
        self.turn = random.randrange(len(self.ports))

    def ask(self, connection: Any, method: str, path: str, body: object = None) -> dict:
        """Ask one server after another until there is an answer."""
        self.at += [time.time()] if method == "POST" else []
        while True:
            self.turn += 1
            port = self.ports[self.turn % len(self.ports)]
            asked = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
            try:
                return super().ask(asked, method, path, body)
            except (OSError, http.client.HTTPException, RuntimeError) as error:
                if isinstance(error, RuntimeError) and " 503 " not in str(error):
                    raise
                time.sleep(AGAIN * random.random())
            finally:
                asked.close()


def work_all(clients: list[Roaming], seconds: float, begun: Any, results: Any) -> None:
    """Let all grade so long, each in a thread of this process; say when they begin."""
    all_here = threading.Barrier(len(clients) + 1)
    works = [threading.Thread(target=each.work, args=(seconds, all_here)) for each in clients]
    for each in works:
        each.start()
    all_here.wait()
    begun.set()
    for each in works:
        each.join()
    results.put([(each.at, each.took, each.saved, each.refused) for each in clients])


@dataclass(frozen=True)
class Given:
    """What graders gave: when, how long each took, which were acknowledged and which refused."""

    at: list[float]
    took: list[float]
    saved: list[str]
    refused: list[str]


def graded(place: str, servers: list[Server], seconds: float, meanwhile: Any) -> Given:
    """Let everybody grade at these servers, and something else happen meanwhile."""
    with Store(place) as store:
        store.settings.save(type(store.settings.read())(pool_depth=40, overlap=0))
        ports = tuple(server.port for server in servers)
        known = clients_of(store, ports[0], GRADERS)
        clients = [Roaming(*vars(each).values(), ports) for each in known]
    begun, results = spawn.Event(), spawn.Queue()
    process = spawn.Process(target=work_all, args=(clients, seconds, begun, results))
    process.start()
    begun.wait(120)
    meanwhile()
    told = results.get(timeout=seconds + 120)
    process.join()
    return Given(*([each for one in told for each in one[at]] for at in range(4)))


def print_times(name: str, given: Given, until: float = float("inf")) -> None:
    """Print how long grades took that were given before a moment."""
    took = [each for at, each in zip(given.at, given.took, strict=True) if at < until]
    p50, p95 = np.percentile(took, [50, 95])
    print(f"| {name} | {len(took):,} | {p50:.1f} ms | {p95:.1f} ms | {max(took):.0f} ms |")


def crash() -> None:
    """Print how long grades took, and what became of them when what serves them was killed."""
    print("| 150 graders, one grade every 3 s each | grades | p50 | p95 | longest |")
    print("|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder, databases() as database:
        path = Path(folder) / "one.db"
        fill(path)
        one = Server(path)
        one.start()
        print_times("one server over a file", graded(str(path), [one], CALM, lambda: None))
        one.stop()
        place = database.database("golden")
        fill(place)
        two = [Server(place), Server(place)]
        for server in two:
            server.start()
        first = queue.SimpleQueue()

        def fail() -> None:
            time.sleep(CALM)
            first.put(time.time())
            two[0].stop(signal.SIGKILL)
            time.sleep(KILLED)
            database.crash()
            time.sleep(AWAY)
            database.start()

        given = graded(place, two, CALM + KILLED + AWAY + AFTER, fail)
        two[1].stop()
        print_times("two servers over PostgreSQL", given, first.get())
        print_times("the same, with both crashes", given)
        print_log(place, given)


def print_log(place: str, given: Given) -> None:
    """Hold what was acknowledged against the log."""
    with Store(place) as store:
        events = [(each.event_id, each.query_id, each.chunk_id) for each in store.judgments.log()]
    ids = [event_id for event_id, _, _ in events]
    pairs = Counter((query_id, chunk_id) for _, query_id, chunk_id in events)
    twice = sum(count > 1 for count in pairs.values())
    print(
        f"\n{len(given.took):,} grades given, {len(given.saved):,} acknowledged, {len(ids):,} in "
        f"the log: {len(set(given.saved) - set(ids))} lost, {len(ids) - len(set(ids))} doubled, "
        f"{len(given.refused)} refused; {twice} pairs were graded by two people"
    )


def main(*parts: str) -> None:
    """Run the parts that are asked for, both by default."""
    print(f"{platform.machine()}, {os.cpu_count()} CPUs, {platform.system()} {platform.release()}")
    print(f"load {os.getloadavg()[0]:.1f} before it began\n")
    for name, run in {"tail": tail, "crash": crash}.items():
        if not parts or name in parts:
            run()
            print()


if __name__ == "__main__":
    main(*sys.argv[1:])

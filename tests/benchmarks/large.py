"""What a golden set costs in which something is far too large: the pool of a query, or a chunk.

Prints, for this machine: the size and the time of the pad's answers for a query with 200,000
chunks and for thirty chunks of 10 MB, and the time to count 200,000 results as rows of the view.
"""

from __future__ import annotations

import http.client
import os
import platform
import sqlite3
import tempfile
import time
from pathlib import Path

from labeler.model import MOST_CHUNKS, Chunk, Loaded, Query, Ranking, Settings
from labeler.store import Store
from tests.benchmarks.load import Client, clients_of
from tests.browser.server import Server

MANY, LONG, LONG_ONES = 200_000, 10_000_000, 30


def loaded(records: list) -> Loaded:
    """Return records as a file would give them."""
    return Loaded("made here", records, range(1, len(records) + 1))


def fill(store: Store, chunks: list[Chunk]) -> None:
    """Put one query in, and runs that find all chunks for it between them."""
    store.chunks.load(loaded(chunks))
    store.queries.load(loaded([Query("q", "What is too large?")]))
    for start in range(0, len(chunks), MOST_CHUNKS):
        found = tuple(chunk.chunk_id for chunk in chunks[start : start + MOST_CHUNKS])
        store.runs.load(loaded([Ranking("q", found)]), name=f"from {start}")
    store.settings.save(Settings(pool_depth=MOST_CHUNKS))


def time_answers(path: Path, what: str) -> None:
    """Serve a golden set, and ask what the pad asks: a chunk to grade, and the query's list."""
    server = Server(path)
    server.start()
    with Store(path) as store:
        [client] = clients_of(store, server.port, 1)
    for asked in ("/api/next?limit=400", "/api/query?query=q"):
        size, seconds = answer(client, asked)
        print(f"{what}, {asked}: {size / 1000:,.0f} kB in {seconds:.2f} s", flush=True)
    server.stop()


def answer(client: Client, path: str) -> tuple[int, float]:
    """Ask once; return the bytes that came and the seconds it took."""
    connection = http.client.HTTPConnection("127.0.0.1", client.port, timeout=120)
    began = time.perf_counter()
    connection.request("GET", path, headers={"X-Labeler-Token": client.token})
    found = connection.getresponse()
    size = len(found.read())
    if found.status != 200:
        raise RuntimeError(f"{path}: {found.status}")
    connection.close()
    return size, time.perf_counter() - began


def time_rows(path: Path) -> None:
    """Count the results of a list by the view that shows them to other tools."""
    connection = sqlite3.connect(path)
    began = time.perf_counter()
    [count] = connection.execute("SELECT count(*) FROM rankings").fetchone()
    print(f"{count:,} rows of the view rankings: {time.perf_counter() - began:.2f} s")
    connection.close()


def main() -> None:
    """Make both golden sets and time them."""
    with open("/proc/loadavg") as file:
        load = file.read().split()[0]
    print(f"{platform.platform()}, {os.cpu_count()} CPUs (load {load})", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        many, long = Path(folder) / "many.db", Path(folder) / "long.db"
        with Store(many, create=True) as store:
            fill(store, [Chunk(f"chunk-{n}", f"Text {n} of many.") for n in range(MANY)])
        time_answers(many, f"{MANY:,} chunks")
        time_rows(many)
        text = "word " * (LONG // 5)
        with Store(long, create=True) as store:
            fill(store, [Chunk(f"chunk-{n}", f"{n} {text}") for n in range(LONG_ONES)])
        time_answers(long, f"{LONG_ONES} chunks of {LONG // 1_000_000} MB")


if __name__ == "__main__":
    main()

"""A long log in a file and in PostgreSQL: ``python -m tests.benchmarks.databases [EVENTS]``.

200,000 judgments of 16 graders: 1,000 queries, each pair judged once. Prints what a page and a
grade ask of it, for both in turns: the least milliseconds of so many rounds, and their median. The
server is one of the tests' own, on this machine, and writes to the disk as one does by default.
"""

from __future__ import annotations

import platform
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from labeler.model import Chunk, Judgment, Loaded, Query, Ranking
from labeler.store import Store
from tests.support.postgres import Server

EVENTS, QUERIES, GRADERS, DEPTH, ROUNDS = 200_000, 1_000, 16, 100, 15
AT = "2024-02-29T00:00:00.000Z"
DURABLE = {"fsync": "on", "full_page_writes": "on", "synchronous_commit": "on", "autovacuum": "on"}
EVENT = ("event_id", "query", "chunk", "grader", "kind", "grade", "blind", "created_at")


def fill(place: str | Path, events: int) -> float:
    """Make the golden set; return the seconds that its log took."""
    with Store(place, create=True) as store:
        store.queries.load(_loaded([Query(f"q{at:04}", "What?") for at in range(QUERIES)]))
        per_query = -(-events // QUERIES)
        store.chunks.load(_loaded([Chunk(f"c{at:04}", f"text {at}") for at in range(per_query)]))
        for at in range(GRADERS):
            store.people.add(f"grader {at}")
        began = time.perf_counter()
        with store.connection.writing():
            rows = (
                (
                    *(f"e{at}", 1 + at % QUERIES, 1 + at // QUERIES, 1 + at % GRADERS),
                    *("grade", at * 7 % 4, 1, AT),
                )
                for at in range(events)
            )
            store.connection.engine.fill(store.connection.handle, "judgments", EVENT, rows)
        took = time.perf_counter() - began
        store.tamper_check.seal()
        return took


def _loaded(records: list[object]) -> Loaded:
    return Loaded("made", records, range(1, len(records) + 1))


def rounds(place: str | Path) -> dict[str, Callable[[], object]]:
    """Return what is measured, by name, each a round of it."""
    store, given = Store(place), iter(range(1_000_000))

    def judge() -> None:
        at = next(given)
        said = Judgment(f"n{at}", f"q{at % QUERIES:04}", "c0001", "grader 1", grade=at % 4)
        with Store(place) as own:  # as a request does
            own.judgments.add(said)

    return {
        "one judgment to the disk": judge,
        "`changes_since`, of that one": lambda: store.judgments.changes_since(
            store.judgments.revision() - 1
        ),
        "`changes_since`, of the newest 20": lambda: store.judgments.changes_since(
            store.judgments.revision() - 20
        ),
        "`undoable`, 20 of them": lambda: store.assignment.undoable("grader 1", 20),
        "`judged_by`": lambda: store.assignment.judged_by("grader 1"),
        "a board opened: `collection()`": store.collection.read,
    }


def load_run(place: str | Path) -> float:
    """Return the seconds in which a run of 200,000 results is stored."""
    numbers = range(QUERIES * 2)
    lists = [Ranking(f"q{at:04}", tuple(f"d{at + n}" for n in range(DEPTH))) for at in numbers]
    with Store(place) as store:
        began = time.perf_counter()
        store.runs.load(_loaded(lists), name="a run")
        return time.perf_counter() - began


def measured(places: Mapping[str, str | Path], events: int) -> dict[str, list[str]]:
    """Return what each place took, by what was done."""
    found = {f"{events:,} judgments added at once": [fill(at, events) for at in places.values()]}
    found["a run of 200,000 results loaded"] = [load_run(at) for at in places.values()]
    table = {what: [f"{each:.1f} s" for each in took] for what, took in found.items()}
    work = [rounds(place) for place in places.values()]
    for what in work[0]:
        taken: list[list[float]] = [[] for _ in places]
        for _ in range(ROUNDS):
            for own, each in zip(taken, work, strict=True):
                began = time.perf_counter()
                each[what]()
                own.append((time.perf_counter() - began) * 1_000)
        table[what] = [f"{min(own):.1f}, {statistics.median(own):.1f} ms" for own in taken]
    return table


def main(events: int) -> None:
    """Measure both and print a table."""
    with tempfile.TemporaryDirectory() as folder:
        server = Server(on_disk=True, **DURABLE)
        try:
            places = {"SQLite": Path(folder) / "golden.db", "PostgreSQL": server.database()}
            table = measured(places, events)
        finally:
            server.remove()
    print(f"{events:,} judgments; {platform.machine()}, Python {platform.python_version()}")
    print(f"| least, median of {ROUNDS} | {' | '.join(places)} |\n|---|{'---|' * len(places)}")
    for what, took in table.items():
        print(f"| {what} | {' | '.join(took)} |")


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else EVENTS)

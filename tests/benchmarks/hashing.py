"""What the hash of a golden set costs: whole, after one grade, and to freeze and read it back.

Run with ``python -m tests.benchmarks.hashing [GRADES_PER_QUERY]``, of 1,000 queries.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from labeler.model import Judgment, Loaded, Query
from labeler.services.import_export import snapshots
from labeler.store import Store

QUERIES = 1_000
ROUNDS = 20


def fill(store: Store, per_query: int) -> None:
    """Let two people grade so many chunks of every query between them."""
    queries = [Query(f"q{at:04}", f"query {at}", buckets={"t": str(at % 40)}) for at in range(1000)]
    store.queries.load(Loaded("queries", queries, range(1, QUERIES + 1)))
    for name in ("Ann", "Bob"):
        store.people.add(name)
    with store.connection.transaction():
        store.connection.conn.executemany(
            "INSERT INTO chunks (chunk_id) VALUES (?)", ((f"c{at:05}",) for at in range(per_query))
        )
        store.connection.conn.executemany(
            "INSERT INTO judgments "
            "(event_id, query, chunk, grader, kind, grade, blind, created_at) "
            "VALUES (?, ?, ?, ?, 'grade', ?, 1, '2026-01-01T00:00:00.000Z')",
            (
                (f"e{query}-{chunk}", query, chunk, 1 + chunk % 2, (query + chunk) % 4)
                for query in range(1, QUERIES + 1)
                for chunk in range(1, per_query + 1)
            ),
        )


def seconds(work: Callable[[], object]) -> float:
    """Return how much of a processor's time something took."""
    started = time.process_time()
    work()
    return time.process_time() - started


def after_one_grade(store: Store) -> float:
    """Return the median of what one more grade costs a page that follows."""
    state, taken = store.collection.golden_state(), []
    for at in range(ROUNDS):
        store.judgments.add(Judgment(f"n{at}", f"q{at:04}", "c00003", "Ann", grade=at % 4))
        started = time.process_time()
        _, _, moved = store.collection.news_since(state.revision, state)
        taken.append(time.process_time() - started)
        state = moved or state
    return median(taken)


def main(per_query: int) -> None:
    """Print seconds of a processor."""
    with (
        tempfile.TemporaryDirectory() as folder,
        Store(Path(folder) / "golden.db", create=True) as store,
    ):
        fill(store, per_query)
        print(f"{QUERIES * per_query:,} golden grades of {QUERIES:,} queries")
        print(f"hash, whole: {seconds(store.collection.golden_state):.2f} s")
        print(f"hash, after one grade: {1000 * after_one_grade(store):.1f} ms")
        print(f"freeze: {seconds(lambda: snapshots.freeze(store, 'v1')):.2f} s")
        print(f"read back: {seconds(lambda: snapshots.collection_of(store, 'v1')):.2f} s")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)

"""How much memory and time ``labeler load`` takes for a large file of each kind.

    python -m tests.benchmarks.loads 500 chunks run

loads a file of 500 MB of each of these kinds into a golden set of its own and prints the largest
memory the process had.
"""

from __future__ import annotations

import json
import random
import resource
import sys
import tempfile
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

from labeler.store import Store
from tests.benchmarks.processes import Took, took

WORDS = [
    "refund",
    "parcel",
    "lost",
    "order",
    "invoice",
    "phone",
    "three",
    "days",
    "returned",
    "damaged",
    "opened",
    "paid",
]
DEPTH = 100


def text_of(numbers: random.Random, words: int) -> str:
    """Return some words in some order."""
    return " ".join(numbers.choices(WORDS, k=words))


def queries(numbers: random.Random) -> Iterator[str]:
    """Give queries with a reference and a guideline, about 600 bytes each."""
    for number in count():
        yield json.dumps(
            {"query_id": f"query-{number}", "query": text_of(numbers, 12), "task": "single"}
            | {"reference": text_of(numbers, 30), "guideline": text_of(numbers, 40)}
            | {"buckets": {"intent": f"intent {number % 40}"}, "metadata": {"row": number}}
        )


def chunks(numbers: random.Random) -> Iterator[str]:
    """Give chunks of about 1,000 letters, eight a document."""
    for number in count():
        chunk = {"chunk_id": f"document-{number // 8}#{number % 8}", "text": text_of(numbers, 160)}
        yield json.dumps(chunk | {"document_id": f"document-{number // 8}", "position": number % 8})


def run(numbers: random.Random) -> Iterator[str]:
    """Give lists of 100 chunks out of two million, as TREC has them."""
    for query in count():
        found = numbers.sample(range(2_000_000), DEPTH)
        for rank, chunk in enumerate(found, 1):
            yield f"query-{query} Q0 document-{chunk // 8}#{chunk % 8} {rank} {90 - rank / 8} bm25"


def golden(numbers: random.Random) -> Iterator[str]:
    """Give queries with 20 judgments each, every fourth with a note, as labeler writes them."""
    for query in count():
        judgments = [
            {
                "chunk_id": f"document-{query}#{number}",
                "grade": number % 4,
                "graders": ["Ann", "Bob"],
                "note": None if number % 4 else text_of(numbers, 20),
            }
            for number in range(20)
        ]
        about = {"query_id": f"query-{query}", "query": text_of(numbers, 12)}
        yield json.dumps({**about, "judgments": judgments})


def events(numbers: random.Random) -> Iterator[str]:
    """Give a log: an event a line, of 100 queries."""
    for number in count():
        yield json.dumps(
            {"event_id": f"00000000-0000-4000-8000-{number:012}", "query_id": f"q{number % 100}"}
            | {"chunk_id": f"document-{number // 100}", "grader": f"grader {number % 9}"}
            | {"kind": "grade", "grade": number % 4, "graders": [], "blind": True}
            | {"elapsed_ms": 1000, "text_hash": "0" * 32, "created_at": "2026-01-31T09:30:00Z"}
        )


KINDS: dict[str, Callable[[random.Random], Iterator[str]]] = {
    "queries": queries,
    "chunks": chunks,
    "run": run,
    "golden": golden,
    "events": events,
}


def write(path: Path, lines: Iterator[str], size: int) -> None:
    """Write lines until there are so many bytes."""
    written = 0
    with path.open("w") as file:
        while written < size:
            written += file.write(next(lines) + "\n")


def measured(kind: str, path: Path, database: Path) -> Took:
    """Load a file in a process of its own."""
    return took([sys.executable, "-m", "labeler", "--db", str(database), "load", kind, str(path)])


def main(megabytes: int, *kinds: str) -> None:
    """Measure the kinds, or all."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for kind in kinds or KINDS:
        with tempfile.TemporaryDirectory() as folder:
            path, database = Path(folder) / f"large.{kind}", Path(folder) / "golden.db"
            write(path, KINDS[kind](random.Random(7)), megabytes * 1_000_000)
            if kind == "events":  # a log needs its queries
                asked = Path(folder) / "queries.jsonl"
                asked.write_text("".join(f'{{"_id": "q{n}", "text": "?"}}\n' for n in range(100)))
                measured("queries", asked, database)
            load = measured("golden" if kind == "events" else kind, path, database)
            with Store(database) as store:
                held = store.golden_set.contents()
            print(f"{kind}: {load.memory:,.0f} MB, {load.wall:.0f} s; {held}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100, *sys.argv[2:])

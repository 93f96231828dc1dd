"""How long ``labeler leakage`` looks for 1,000 queries in 100 MB, and how much memory it takes.

    python -m tests.benchmarks.leakage [MEGABYTES]

The texts are sentences of the sample data in ever new order, as JSONL and as plain text. Queries
are those of the sample, and made of words of its sentences. Some are planted: as they are, in
capitals, with one word changed. What is found must be what was planted.
"""

from __future__ import annotations

import itertools
import json
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from labeler.analysis.leakage import Needle, NeedleFinder
from labeler.analysis.text_similarity import FEWEST_WORDS, comparable_words
from labeler.store import Store
from tests.conftest import ROOT

QUERIES, PLANTED = 1_000, 40
NEAR = 0.65  # what a sentence alone comes to; words before and behind it may be a query's, too
LONGEST_LINE = 90
RUN = """
import resource, sys
from labeler.cli import main
try:
    main(sys.argv[1:])
finally:
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(used.ru_utime + used.ru_stime, used.ru_maxrss, file=sys.stderr)
"""


def sentences() -> list[str]:
    """Return the sentences of the sample's chunks."""
    lines = (ROOT / "sample_data" / "chunks.jsonl").read_text(encoding="utf-8").splitlines()
    texts = (json.loads(line)["text"] for line in lines)
    return [each for text in texts for each in re.split(r"(?<=[.:])\s+", text) if len(each) > 20]


def made_queries(numbers: random.Random, said: list[str]) -> Iterator[tuple[str, str]]:
    """Give ids and texts of queries: beginnings of two sentences, woven into each other."""
    for at in itertools.count():
        one, other = (numbers.choice(said).split()[:8] for _ in range(2))
        words = [word for pair in zip(one, other, strict=False) for word in pair]
        if len(words) >= 8 and one != other:
            yield f"made-{at}", " ".join(words)


def sample_queries() -> Iterator[tuple[str, str]]:
    """Give ids and texts of the sample's queries that are long enough to be found in a text."""
    for line in (ROOT / "sample_data" / "queries.jsonl").read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        if len(comparable_words(record["query"])) >= FEWEST_WORDS:
            yield record["query_id"], record["query"]


def queries_for(numbers: random.Random, said: list[str]) -> dict[str, str]:
    """Return queries by id, without those that the sentences themselves come near."""
    made = itertools.chain(sample_queries(), made_queries(numbers, said))
    some = dict(itertools.islice(made, 2 * QUERIES))
    needles = [Needle(each, "query", text) for each, text in some.items()]
    near = {needles[find.needle].query_id for find in NeedleFinder(needles, NEAR).find(said)}
    return dict(itertools.islice(((i, t) for i, t in some.items() if i not in near), QUERIES))


def changed(text: str) -> str:
    """Return a text with another word in its middle."""
    words = text.split()
    words[len(words) // 2] = "xylophone"
    return " ".join(words)


def write(
    numbers: random.Random, said: list[str], planted: list[str], path: Path, size: int
) -> None:
    """Write sentences with planted texts among them: JSONL or plain text, by the name."""
    waiting = iter(planted)
    written, every = 0, size // (len(planted) + 1)
    due = every
    with path.open("w", encoding="utf-8") as file:
        while written < size:
            body = numbers.choices(said, k=10)
            if written >= due and (plant := next(waiting, None)):
                body[5:5] = [plant]
                due += every
            text = " ".join(body)
            line = json.dumps({"messages": [{"role": "user", "content": text}]})
            if path.suffix == ".txt":
                line = re.sub(rf"(.{{1,{LONGEST_LINE}}})\s", r"\1\n", text)
            written += file.write(f"{line}\n")


def measure(folder: Path, megabytes: int) -> None:
    """Make files, look through each in a new process, and print what it took."""
    numbers, said = random.Random(5), sentences()
    queries = queries_for(numbers, said)
    (folder / "queries.jsonl").write_text(
        "\n".join(json.dumps({"query_id": each, "query": queries[each]}) for each in queries)
    )
    chosen = numbers.sample(list(queries), PLANTED)
    ways = (str, str.upper, changed)
    plants = [way(queries[each]) for each in chosen for way in ways]
    expected = sorted(each for each in chosen for _ in ways)
    database = folder / "golden.db"
    Store(database, create=True).close()
    base = [sys.executable, "-c", RUN, "--db", str(database)]
    subprocess.run(
        [*base, "load", "queries", str(folder / "queries.jsonl")], check=True, capture_output=True
    )
    heads = "file", "seconds", "of processor time", "memory MB", "found", "planted", "others"
    print(*heads, sep="\t")
    for name in ("corpus.jsonl", "corpus.txt"):
        write(numbers, said, plants, folder / name, megabytes * 10**6)
        command = [*base, "leakage", str(folder / name), "--format", "json"]
        started = time.perf_counter()
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        seconds = time.perf_counter() - started
        rows = [row for row in json.loads(done.stdout) if row["found_in"] == "file"]
        found = sorted(row["query_id"] for row in rows)
        others = len(found) - sum(1 for each in found if each in chosen)
        *_, used, memory = done.stderr.split()
        took = f"{seconds:.1f}", f"{float(used):.1f}", f"{int(memory) / 1024:.0f}"
        print(name, *took, len(found), len(plants), others, sep="\t")
        if found != expected:
            odd = [row for row in rows if row["query_id"] not in chosen][:3]
            print("not what was planted:", odd)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        measure(Path(made), int(sys.argv[1]) if len(sys.argv) > 1 else 100)

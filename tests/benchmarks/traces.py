"""How fast, and in how much memory, traces and retrieval records are read and loaded.

    python -m tests.benchmarks.traces 1000 retrievers traces records

writes a file of 1,000 MB of each of these kinds. Of each it prints how long reading took, in which
nothing is stored, and how long ``labeler load`` took, both in megabytes of the file per second of a
processor, and the largest memory of the process. In every kind each chunk has an id of its own, so
that nothing is known already: a log in which questions come again is faster.

- ``retrievers``: OTLP JSON lines of retrievers' spans alone;
- ``traces``: OTLP JSON lines of whole traces, in which a model's prompt repeats the texts;
- ``records``: one question with its results per line, as a retriever's dump has it.
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
from typing import Any

from labeler.formats import read_retrievals
from tests.benchmarks.loads import write
from tests.benchmarks.processes import Took, took

DEPTH = 10
TRACES_PER_LINE = 8
_ENDS = (". ", ". ", ", ", "; ", ".\n", '." ')
Json = dict[str, Any]


def make_words(numbers: random.Random) -> list[str]:
    """Return words of the lengths that words have."""
    letters = 3 * "eeeetttaaooiinnsshhrrddlluucmfwypvbgk" + "éü"
    return ["".join(numbers.choices(letters, k=numbers.randint(1, 11))) for _ in range(8_000)]


class Texts:
    """Passages of about 1,200 letters, cut from a long text that is made once."""

    def __init__(self, numbers: random.Random) -> None:
        self._numbers, words = numbers, make_words(numbers)
        sentences = (
            " ".join(numbers.choices(words, k=numbers.randint(4, 24))) + numbers.choice(_ENDS)
            for _ in range(20_000)
        )
        self._text = "".join(sentences)

    def passage(self) -> str:
        """Return a passage."""
        return self.cut(self._numbers.randint(900, 1_500))

    def cut(self, size: int) -> str:
        """Return so many letters from anywhere."""
        begin = self._numbers.randrange(len(self._text) - size)
        return self._text[begin : begin + size]


def value_of(value: str | float) -> Json:
    """Return a value as OTLP has it."""
    return {"stringValue": value} if isinstance(value, str) else {"doubleValue": value}


def span(numbers: random.Random, kind: str, trace: str, attributes: Json) -> Json:
    """Return a span as OTLP has it."""
    at = 1_769_853_900_000_000_000 + numbers.randrange(10**15)
    attributes = {"openinference.span.kind": kind, **attributes}
    return {
        "traceId": trace,
        "spanId": f"{numbers.getrandbits(64):016x}",
        "parentSpanId": f"{numbers.getrandbits(64):016x}",
        "name": f"{kind.lower()} step",
        "kind": 1,
        "startTimeUnixNano": str(at),
        "endTimeUnixNano": str(at + 120_000_000),
        "attributes": [{"key": key, "value": value_of(each)} for key, each in attributes.items()],
        "status": {},
    }


def retriever(numbers: random.Random, texts: Texts, question: str, trace: str) -> Json:
    """Return a retriever's span with documents that no other span has."""
    attributes: Json = {"input.value": question, "input.mime_type": "text/plain"}
    for at in range(DEPTH):
        of = f"retrieval.documents.{at}.document"
        attributes |= {
            f"{of}.id": f"{numbers.getrandbits(128):032x}",
            f"{of}.content": texts.passage(),
            f"{of}.score": 0.9 - at / 16 - numbers.random() / 32,
            f"{of}.metadata": json.dumps({"source": f"docs/{at}.md", "page": at}),
        }
    return span(numbers, "RETRIEVER", trace, attributes)


def batch(spans: list[Json]) -> str:
    """Return a line of OTLP JSON."""
    about = {"attributes": [{"key": "service.name", "value": {"stringValue": "shop"}}]}
    scope = {"scope": {"name": "openinference.instrumentation"}, "spans": spans}
    return json.dumps({"resourceSpans": [{"resource": about, "scopeSpans": [scope]}]})


def retrievers(numbers: random.Random) -> Iterator[str]:
    """Give batches of retrievers' spans."""
    texts = Texts(numbers)
    while True:
        yield batch(
            [
                retriever(numbers, texts, texts.cut(60), f"{numbers.getrandbits(128):032x}")
                for _ in range(TRACES_PER_LINE)
            ]
        )


def traces(numbers: random.Random) -> Iterator[str]:
    """Give batches of whole traces: a chain, a retriever, and a model that is given the texts."""
    texts = Texts(numbers)
    while True:
        spans = []
        for _ in range(TRACES_PER_LINE):
            trace, question = f"{numbers.getrandbits(128):032x}", texts.cut(60)
            found = retriever(numbers, texts, question, trace)
            context = "\n\n".join(
                each["value"]["stringValue"]
                for each in found["attributes"]
                if each["key"].endswith("content")
            )
            asked = {"llm.input_messages.0.message.content": f"{context}\n\n{question}"}
            said = {"output.value": texts.cut(400)}
            spans += [
                span(numbers, "CHAIN", trace, {"input.value": question, **said}),
                found,
                span(numbers, "LLM", trace, {**asked, **said, "llm.token_count.total": 2_000.0}),
            ]
        yield batch(spans)


def records(numbers: random.Random) -> Iterator[str]:
    """Give questions with their results."""
    texts = Texts(numbers)
    for number in count():
        results = [
            {"id": f"{numbers.getrandbits(128):032x}", "text": texts.passage()}
            | {"score": 0.9 - at / 16 - numbers.random() / 32, "metadata": {"page": at}}
            for at in range(DEPTH)
        ]
        yield json.dumps({"query_id": f"q{number}", "query": texts.cut(60), "results": results})


KINDS: dict[str, Callable[[random.Random], Iterator[str]]] = {
    "retrievers": retrievers,
    "traces": traces,
    "records": records,
}


def read(path: str) -> None:
    """Read a file and store nothing."""
    found = read_retrievals(path)
    print({system: len(run.records) for system, run in found.runs.items()})


def say(what: str, kind: str, size: int, told: Took) -> None:
    """Print a line."""
    print(
        f"{kind}, {what}: {size / 1e6 / told.processor:,.0f} MB/s, {told.processor:,.1f} s of a "
        f"processor ({told.wall:,.1f} s on the wall), {told.memory:,.0f} MB of memory"
    )


def main(megabytes: int, *kinds: str) -> None:
    """Measure the kinds, or all."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for kind in kinds or KINDS:
        with tempfile.TemporaryDirectory() as folder:
            path, database = Path(folder) / "large.jsonl", Path(folder) / "golden.db"
            write(path, KINDS[kind](random.Random(7)), megabytes * 1_000_000)
            size = path.stat().st_size
            reading = [sys.executable, "-m", "tests.benchmarks.traces", "read", str(path)]
            say("read", kind, size, took(reading))
            loading = [sys.executable, "-m", "labeler", "--db", str(database), "load", str(path)]
            say("loaded", kind, size, took(loading))


if __name__ == "__main__":
    if sys.argv[1:2] == ["read"]:
        read(sys.argv[2])
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 100, *sys.argv[2:])

"""How long 20,000 grades take to be transferred to 100,000 new chunks, and how much memory.

    python -m tests.benchmarks.rechunking_large [CHUNKS]

Documents are sentences of made-up words; their chunks of 800 characters are graded at random, with
a passage marked in the relevant ones, and cut anew into 780. What is given are the chunks' texts
alone. Seconds are of processor time. The second time each new chunk has a heading in front, the
third time a word in it differs.
"""

from __future__ import annotations

import bisect
import random
import resource
import sys
import time
from collections.abc import Callable, Iterator

from labeler.rechunking import (
    Cut,
    GradeBasis,
    LocatedChunkings,
    OldGrade,
    find_locations,
    transfer_grades,
)

OLD, NEW = 800, 780
PER_DOCUMENT, PER_QUERY, GRADES = 50, 20, 20_000
WAYS: dict[str, Callable[[str], str]] = {
    "as they are": str,
    "with a heading": "Handbook of fees\n\n{}".format,
    "with a word changed": lambda text: f"{text[:300]} changed {text[300:]}",
}


def documents(numbers: random.Random, count: int) -> Iterator[str]:
    """Give documents of words that are made of numbers."""
    words = [f"{'aeiou'[at % 5]}{at:x}" for at in range(20_000)]
    for _ in range(count):
        yield " ".join(numbers.choices(words, k=PER_DOCUMENT * OLD * 10 // 59))


def chunks(name: str, texts: list[str], size: int, way: Callable[[str], str] = str) -> list[Cut]:
    """Return the chunks of documents."""
    return [
        Cut(f"{name}{number}-{start}", way(text[start : start + size]))
        for number, text in enumerate(texts)
        for start in range(0, len(text), size)
    ]


def grades(numbers: random.Random, old: list[Cut]) -> Iterator[OldGrade]:
    """Give grades of chunks that are neighbours, as where a query asks for a topic."""
    for query in range(GRADES // PER_QUERY):
        first = numbers.randrange(len(old) - PER_QUERY)
        for number, cut in enumerate(old[first : first + PER_QUERY]):
            grade = numbers.choice([0, 0, 0, 1, 2, 3])
            passages = ((100, 200),) if grade else ()
            basis = GradeBasis(query * PER_QUERY + number, passages)
            yield OldGrade(f"q{query}", cut.chunk_id, grade, (basis,))


def pairs(given: list[OldGrade], places: LocatedChunkings) -> list[tuple[str, str]]:
    """Return each query with the new chunks that begin where its graded chunks are."""
    begins = sorted((place.spans[0][0], name) for name, place in places.new.items() if place.spans)
    found: dict[tuple[str, str], None] = {}
    for grade in given:
        for start, end in places.old[grade.chunk_id].spans:
            low = bisect.bisect_left(begins, (start - NEW, ""))
            near = begins[low : bisect.bisect_left(begins, (end, ""))]
            found.update({(grade.query_id, name): None for _, name in near})
    return list(found)


def main() -> None:
    """Transfer, and print what it took."""
    numbers, count = random.Random(5), int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    texts = list(documents(numbers, count // PER_DOCUMENT))
    old = chunks("o", texts, OLD)
    given = list(grades(numbers, old))
    heads = "new chunks", "texts", "places: seconds", "pairs", "carried: seconds"
    print(*heads, "decided", "MB at most", sep="\t")
    for said, way in WAYS.items():
        measure(said, old, chunks("n", texts, NEW, way), given)


def measure(said: str, old: list[Cut], new: list[Cut], given: list[OldGrade]) -> None:
    """Transfer, and print a line."""
    began = time.process_time()
    places = find_locations(old, new, progress=lambda share: None)
    placed = time.process_time() - began
    asked = pairs(given, places)
    began = time.process_time()
    found = transfer_grades(given, asked, places, lambda share: None)
    took = time.process_time() - began
    decided = sum(each.state == "decided" for each in found)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{len(new):,}", said, f"{placed:.1f}", f"{len(asked):,}", sep="\t", end="\t")
    print(f"{took:.1f}", f"{decided:,}", f"{memory:.0f}", sep="\t", flush=True)


if __name__ == "__main__":
    main()

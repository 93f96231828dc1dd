"""Golden sets that are hard to show: hostile and very long names and texts, or hardly anything."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from pathlib import Path

from labeler.model import Chunk, GoldenGrade, Judgment, LoadedGolden, Query, Ranking, Remark
from labeler.store import Store
from tests.browser.server import loaded
from tests.support.new_golden_set import newborn

HTML = "<img src=x onerror='window.ran=1'><script>window.ran=2</script><b>bold</b> & &lt; "
MARKDOWN = "**bold** [link](javascript:alert(1)) $\\LaTeX$ :red[x] `a` ![i](http://evil.example/i) "
RIGHT_TO_LEFT = "מערכת האחזור החדשה של צוות התמיכה مرحبا بالعالم "
MARKS = "Z" + "\u0301\u0323" * 20 + " e\u0301\u0302\u0303 a\u0300 "
PLAIN = "prod-eu-west-1_support-kb_chunk512-overlap64_hybrid-rrf-k60_rerank-monot5-3b-top50_"
WORDS = "a retriever whose name is a whole sentence of words about what was changed and why "


def of_length(text: str, length: int = 200) -> str:
    """Return a text again and again until it is so long."""
    return (text * (length // len(text) + 1))[:length].strip().ljust(length, "x")


RUNS = tuple(
    map(of_length, (PLAIN + "a", PLAIN + "b", HTML, MARKDOWN, RIGHT_TO_LEFT, MARKS, WORDS))
)
TEXTS: Mapping[str, str] = {
    "long": "A sentence of a passage that goes on and on, and says little. " * 323,  # 20,000
    "no blank": "x" * 3_000,
    "html": f"<h1>Heading</h1>{HTML}<table><tr><td>1</td></tr></table><iframe src=//evil.example>",
    "markdown": f"# Heading\n\n<div style='position:fixed'>{HTML}</div>\n\n- {MARKDOWN}\n- two\n\n"
    "| a | b |\n|---|---|\n| <b>1</b> | **2** |\n\n```html\n<script>window.ran=3</script>\n```\n",
    "right to left": RIGHT_TO_LEFT * 20,
    "marks": MARKS * 20,
    "table": "| " + " | ".join(f"column {n}" for n in range(30)) + " |\n" + "|---" * 30 + "|\n",
    "emoji": "👩‍👩‍👧‍👦 🇪🇺 ❤️‍🔥 " * 30,
    "plain": "This is the text.",
}
BUCKETS, FACET = 40, "topic of the question <i>"
BUCKET_NAMES = [
    f"{n:02} {of_length(text, 60)}" if n % 4 == 0 else f"bucket {n}"
    for n in range(BUCKETS)
    for text in [(PLAIN, HTML, MARKDOWN, RIGHT_TO_LEFT, MARKS)[n // 4 % 5]]
]


def fill(
    path: Path,
    *,
    runs: tuple[str, ...] = ("bm25", "dense"),
    queries: int = 12,
    grades: bool = True,
    hostile: bool = False,
) -> Path:
    """Make a golden set with runs of random lists, and grades of the first ten of each query."""
    draw = random.Random(1)
    texts = (
        [*TEXTS.items()]
        if hostile
        else [(f"c{n}", f"This is the text of c{n}.") for n in range(30)]
    )
    chunks = [
        Chunk(name, text, text[:200], f"doc {name}", n) for n, (name, text) in enumerate(texts)
    ]
    chunks += [Chunk(f"more {n}", f"This is one more text, {n}.") for n in range(20)]
    asked = (HTML, MARKDOWN, RIGHT_TO_LEFT, MARKS, of_length(WORDS, 1_500))
    with Store(newborn(path)) as store:
        store.chunks.load(loaded(chunks))
        store.queries.load(
            loaded(
                [
                    Query(
                        f"q-{n}"
                        if not hostile or n % 5
                        else f"{n}{of_length(asked[n // 5 % 5], 100)}",
                        f"What does query {n} ask?"
                        if not hostile or n % 3
                        else f"{asked[n // 3 % 5]} {n}",
                        task=("single", "research")[n % 2],
                        reference=asked[n % 4] if hostile else None,
                        guideline=asked[n % 5] if hostile else None,
                        buckets={
                            FACET if hostile else "topic": BUCKET_NAMES[n % BUCKETS],
                            "difficulty": ("easy", "hard")[n % 2],
                        },
                    )
                    for n in range(queries)
                ]
            )
        )
        ids = [chunk.chunk_id for chunk in chunks]
        pools = {query.query_id: draw.sample(ids, 18) for query in store.queries.all()}
        for run in runs:
            lists = [Ranking(name, tuple(draw.sample(pool, 15))) for name, pool in pools.items()]
            store.runs.load(loaded(lists), name=run)
        if grades:
            grade(store, pools, draw, hostile)
    return path


def grade(store: Store, pools: dict[str, list[str]], draw: random.Random, hostile: bool) -> None:
    """Let two people grade, who disagree and comment."""
    people = (of_length(HTML, 60), RIGHT_TO_LEFT.strip()) if hostile else ("Ann", "Bo")
    for name in people:
        store.people.add(name)
    note = MARKDOWN + HTML if hostile else "see page 2"
    given = [
        GoldenGrade(query_id, chunk, draw.randrange(4), graders=(people[0],))
        for query_id, pool in pools.items()
        for chunk in pool[:10]
    ]
    store.golden_loads.add(LoadedGolden(loaded([]), loaded(given), loaded([])))
    for number, (query_id, pool) in enumerate([*pools.items()][:4]):
        for person, grade in zip(people, (number % 4, 3 - number % 4), strict=True):
            store.judgments.add(
                Judgment(f"{query_id} {grade}", query_id, pool[0], person, grade=grade, note=note)
            )
    [first, *_] = pools
    store.judgments.add(
        Judgment("unsure", first, pools[first][11], people[1], kind="cannot_tell", reason="broken")
    )
    store.remarks.add(Remark("remark", first, people[1], "unclear", note))


SETS: Mapping[str, Callable[[Path], object]] = {
    "hostile": lambda path: fill(path, runs=RUNS, queries=80, hostile=True),
    "one run": lambda path: fill(path, runs=("bm25",)),
    "no run": lambda path: fill(path, runs=()),
    "no grade": lambda path: fill(path, grades=False),
    "one query": lambda path: fill(path, queries=1),
    "empty": newborn,
}

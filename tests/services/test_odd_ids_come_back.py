"""Exports of golden sets and runs with odd ids: each comes back as it was, or is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from labeler.errors import BadInput
from labeler.formats import read_golden, why_not_writable, write_golden, write_run
from labeler.formats.id_resolution import query_id_from_text
from labeler.model import Chunk, GoldenGrade, Loaded, LoadedGolden, Query, Ranking
from labeler.services import import_export
from labeler.services.import_export import LoadOptions
from labeler.store import Store

ODD = [
    *(" lead", "trail ", "  two", "in side", "\u00a0hard", "a\u200bb", "\u3000wide"),
    *("-x", "--", "=A1", "+7", "@me", " -x", " =SUM(1)", "'=1", "''", "'", "＝1", "\t=1"),
    *('"', '"q"', 'a"b', "a,b", "a;b", "a\tb", "a|b", "a:b", "a\\b", "a/b", "../up", "a#1", "#a"),
    *("😀", "café", "cafe\u0301", "ЖЖ", "日本語", "\u202eabc", "ﬁ"),
    *("007", "0", "00", "1e5", "1.0", "-0", "NaN", "null", "None", "true", "TRUE", ""),
    *("9007199254740993", "123456789012345678901234567890", "0x1F", "1_000", "１２"),
    *("query", "query_id", "docid", "rating", "0", "Q0", "sep=,", "{", "[", '{"a": 1}', "<b>"),
    *("x" * 1000, "a\nb", "a\r\nb", "a\x85b", "a\u2028b", "%s", "{0}", "$HOME", "q-1", "c-1"),
]
KINDS = ["jsonl", "qrels", "csv", "beir", "quepid", "quepid-book", "opensearch", "ragas", "ranx"]
# These name a query by its text, so that its id is no part of them.
BY_TEXT = {"quepid", "quepid-book", "opensearch"}
Pair = tuple[str, str, int]


def loaded(records):
    return Loaded("made here", records, range(1, len(records) + 1))


def content_of(pairs: list[Pair]) -> tuple[list[Query], list[GoldenGrade], list[Chunk]]:
    """Return queries, grades and chunks; each query and chunk has a text of its own."""
    queries = dict.fromkeys(query for query, _, _ in pairs)
    chunks = dict.fromkeys(chunk for _, chunk, _ in pairs)
    return (
        [Query(each, f"what is number {at}?") for at, each in enumerate(queries)],
        [GoldenGrade(*pair) for pair in pairs],
        [Chunk(each, f"It is number {at}.") for at, each in enumerate(chunks)],
    )


def made(path: Path, pairs: list[Pair]) -> Store:
    """Return a golden set of these pairs."""
    store = Store(path, create=True)
    queries, grades, chunks = content_of(pairs)
    store.queries.load(loaded(queries))
    store.chunks.load(loaded(chunks))
    store.golden_loads.add(LoadedGolden(loaded([]), loaded(grades), loaded([])))
    return store


def pairs_of(store: Store) -> set[Pair]:
    return {(each.query_id, each.chunk_id, each.grade) for each in store.golden_set.read()[1]}


def ids_of(role: str) -> list[str]:
    """Return the odd ids that a golden set may have."""
    allowed = []
    for each in ODD:
        try:
            Query(each, "t") if role == "query" else Chunk(each)
        except BadInput:
            continue
        allowed.append(each)
    return list(dict.fromkeys(allowed))


def pairs_with(role: str, ids: list[str]) -> list[Pair]:
    if role == "query":
        return [(each, f"c{at}", at % 4) for at, each in enumerate(ids)]
    return [(f"q{at % 3}", each, at % 4) for at, each in enumerate(ids)]


def why_not(kind: str, pairs: list[Pair]) -> str | None:
    queries, grades, _ = content_of(pairs)
    return why_not_writable(kind, queries, grades)


def writable(kind: str, role: str, ids: list[str]) -> list[str]:
    """Return the ids that a format takes; of the others it says which and why."""
    said = {each: why_not(kind, pairs_with(role, [each])) for each in ids}
    assert all("cannot carry" in why and f"the {role} id" in why for why in said.values() if why)
    return [each for each, why in said.items() if why is None]


def comes_back(kind: str, role: str, pairs: list[Pair], folder: Path) -> None:
    """Assert that a golden set comes back into an empty one, and into one with its queries."""
    with made(folder / "given.db", pairs) as store:
        content = import_export.export(store, kind)
        queries = store.queries.all()
    path = folder / import_export.EXPORTS[kind]
    path.write_bytes(content)
    # RAGAS has lists of what is relevant, and no grades; the others have each grade.
    for name in ("known", "empty"):
        with Store(folder / f"{name}.db", create=True) as other:
            if name == "known" or kind in ("qrels", "csv", "ranx"):
                other.queries.load(loaded(queries))
            what = "beir" if kind == "beir" else "golden"
            import_export.read(what, path, LoadOptions())(other)
            found = pairs_of(other)
            if name == "empty" and kind in BY_TEXT:
                texts = {query.query_id: query.text for query in queries}
                here = other.queries.texts()
                assert {(here[q], c, g) for q, c, g in found} == {
                    (texts[q], c, g) for q, c, g in pairs
                }
            else:
                assert found == {*pairs}


@pytest.mark.parametrize("role", ["chunk", "query"])
@pytest.mark.parametrize("kind", KINDS)
def test_odd_ids_of_a_golden_set_come_back(kind: str, role: str, tmp_path: Path):
    ids = writable(kind, role, ids_of(role))
    assert len(ids) > 40 or kind == "qrels"
    comes_back(kind, role, pairs_with(role, ids), tmp_path)


LETTERS = st.characters(exclude_categories=["Cs", "Cc"])
SOME_IDS = st.lists(
    st.text(st.sampled_from("-=+@'\" ,;\t0aé😀\u0301") | LETTERS, min_size=1, max_size=6),
    min_size=1,
    max_size=5,
    unique=True,
)


@pytest.mark.parametrize("role", ["chunk", "query"])
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "beir"])
@example(ids=[" "])  # a cell that looks empty
@given(ids=SOME_IDS)
def test_any_ids_come_back(kind: str, role: str, tmp_path_factory, ids: list[str]):
    path = tmp_path_factory.getbasetemp() / f"any-{kind}-{role}"
    try:
        pairs = pairs_with(role, ids)
        queries, grades, chunks = content_of(pairs)
        if why_not(kind, pairs) is not None:
            return
    except BadInput:  # no id of a golden set
        return
    texts = {chunk.chunk_id: chunk for chunk in chunks}
    path.write_bytes(write_golden(queries, grades, kind, chunks=lambda: texts))
    called = {query.query_id: query.query_id for query in queries}
    if kind in BY_TEXT:
        called = {query.query_id: query_id_from_text(query.text) for query in queries}
    found = {(q, each.chunk_id, each.grade) for q, each in named(read_golden(path))}
    assert found == {(called[q], c, g) for q, c, g in pairs}


def named(read: LoadedGolden) -> Iterator[tuple[str, GoldenGrade]]:
    """Yield the grades of a file with what their queries are called: ids made of texts."""
    made = {query.text: query.query_id for query in read.asked.records}
    return ((made.get(each.query_id, each.query_id), each) for each in read.grades.records)


def is_written(write: Callable[[], bytes]) -> bool:
    """Return whether a run is written, and not refused for an id."""
    try:
        return bool(write())
    except BadInput as error:
        if "cannot carry" not in str(error):
            raise
        return False


@pytest.mark.parametrize("role", ["chunk", "query"])
@pytest.mark.parametrize("kind", ["trec", "ranx", "ragas"])
def test_odd_ids_of_a_run_come_back(kind: str, role: str, tmp_path: Path):
    kept: dict[str, Ranking] = {}
    for at, each in enumerate(ids_of(role)):
        one = (
            Ranking(each, (f"c{at}",), (1.5,)) if role == "query" else Ranking("q", (each,), (at,))
        )
        written = partial(write_run, [one], "r", kind, {one.query_id: "what?"}, {})
        if not is_written(written):
            continue
        kept[each] = one
    assert len(kept) > 40 or kind == "trec"
    lists = [*kept.values()]
    if role == "chunk":
        scores = tuple(float(len(kept) - at) for at in range(len(kept)))
        lists = [Ranking("q", tuple(kept), scores)]
    texts = {each.query_id: f"what is number {at}?" for at, each in enumerate(lists)}
    chunks = {c: f"It is {at}." for at, c in enumerate(c for each in lists for c in each.chunk_ids)}
    path = tmp_path / f"r.{'trec' if kind == 'trec' else 'jsonl' if kind == 'ragas' else 'json'}"
    content = write_run(lists, "r", kind, texts, chunks)
    path.write_bytes(content)
    with Store(tmp_path / "r.db", create=True) as store:
        store.queries.load(loaded([Query(each, text) for each, text in texts.items()]))
        store.chunks.load(loaded([Chunk(each, text) for each, text in chunks.items()]))
        import_export.read("run", path, LoadOptions(run_name="r"))(store)
        found = {each.query_id: each.chunk_ids for each in store.runs.lists("r")}
    assert found == {each.query_id: each.chunk_ids for each in lists}

"""What ``labeler leakage`` found, as rows for programs and as tables for people; finds nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from labeler.analysis.leakage import FEWEST_WORDS, Leak, words_of
from labeler.cli.tables import Table, markdown_lines, text_lines
from labeler.evaluation import Record
from labeler.model import Query, counted, legible
from labeler.store import Leaked

QUERY, REFERENCE = "query", "reference"
MOST_KEPT = 10_000  # finds of a file
MOST_SHOWN, LONGEST_TEXT = 40, 60  # to people, of a kind


@dataclass(slots=True)
class Found:
    """What was found: in files, in ``chunks`` (query and chunk), and ``alike`` in the set.

    Of a file `MOST_KEPT` finds are kept; all are ``counted``, and of each query the surest is
    among the ``leaked``.
    """

    leaks: list[Leak] = field(default_factory=list)
    counted: Counter[str] = field(default_factory=Counter)
    leaked: dict[str, Leak] = field(default_factory=dict)
    chunks: list[tuple[str, str]] = field(default_factory=list)
    alike: list[tuple[str, str, float]] = field(default_factory=list)

    def add(self, leak: Leak) -> None:
        """Add what was found in a file."""
        self.counted[leak.file] += 1
        if self.counted[leak.file] <= MOST_KEPT:
            self.leaks.append(leak)
        best = self.leaked.setdefault(leak.needle.query_id, leak)
        if leak.score > best.score:
            self.leaked[leak.needle.query_id] = leak

    @property
    def more(self) -> int:
        """How many finds in files are counted and not kept."""
        return self.counted.total() - len(self.leaks)


def records(found: Found) -> Iterator[Record]:
    """Give a row for each find; ``found_in`` is file, chunk or query, which ``place`` names."""
    for leak in found.leaks:
        yield {
            "query_id": leak.needle.query_id,
            "part": leak.needle.part,
            "found_in": "file",
            "place": leak.file,
            "line": leak.line,
            "field": leak.field,
            "score": leak.score,
            "exact": leak.is_exact,
            "text": leak.words,
        }
    others = [(query_id, "chunk", chunk, 1.0) for query_id, chunk in found.chunks]
    others += [(query_id, "query", other, score) for query_id, other, score in found.alike]
    for query_id, kind, place, score in others:
        yield {
            "query_id": query_id,
            "part": QUERY,
            "found_in": kind,
            "place": place,
            "line": None,
            "field": None,
            "score": score,
            "exact": score == 1,
            "text": None,
        }


def page(found: Found, queries: Sequence[Query], files: int, kind: str) -> Iterator[str]:
    """Give the lines that people read: what was found where, and what is to be known of it."""
    texts = {query.query_id: _short(query.text) for query in queries}
    shown = [(_of_chunks(found), _chunk_table(found, texts))]
    shown.append((_of_alike(found), _alike_table(found, texts)))
    if files:
        shown.insert(0, (_of_files(found, queries, files), _file_table(found)))
    for heading, table in shown:
        yield heading
        if table.body:
            most = Table(table.names, table.numbers, table.body[:MOST_SHOWN])
            yield from ["", *(markdown_lines if kind == "md" else text_lines)(most)]
        if len(table.body) > MOST_SHOWN:
            more = len(table.body) - MOST_SHOWN
            yield f"... and {more:,} more, which --format csv and json have"
        yield ""
    if found.more:
        yield f"! {found.more:,} finds beyond the first {MOST_KEPT:,} of a file are not listed"
    if short := sum(len(words_of(query.text)) < FEWEST_WORDS for query in queries):
        are = counted(short, "query has", "queries have")
        yield f"! {are} fewer than {FEWEST_WORDS} words: found only where nothing else stands"


def marked_lines(marked: Sequence[Leaked], kind: str) -> Iterator[str]:
    """Give the lines that people read of the queries that are marked as leaked."""
    if not marked:
        yield "No query is marked as leaked."
        return
    body = [
        [
            legible(each.query_id),
            each.part or "",
            legible(each.place),
            _score(each.score or 0),
            legible(each.who or ""),
            (each.at or "")[:10],
        ]
        for each in marked
    ]
    table = Table(["query", "part", "found at", "score", "marked by", "on"], [], body)
    yield from (markdown_lines if kind == "md" else text_lines)(table)


def _of_files(found: Found, queries: Sequence[Query], files: int) -> str:
    references = sum(bool(query.reference) for query in queries)
    sought = counted(len(queries), "query", "queries")
    if references:
        sought += f" and {counted(references, 'reference answer', 'reference answers')}"
    where = f"in {counted(files, 'file', 'files')}"
    if not found.leaks:
        return f"{sought} looked for {where}: none is there."
    exact = sum(leak.is_exact for leak in found.leaks)
    finds = f"{counted(found.counted.total(), 'find', 'finds')}, {exact:,} of them exact"
    of = counted(len(found.leaked), "query", "queries")
    return f"{sought} looked for {where}: {finds}, of {of}."


def _of_chunks(found: Found) -> str:
    if not found.chunks:
        return "No chunk contains a query word for word."
    chunks = counted(len({chunk for _, chunk in found.chunks}), "chunk contains", "chunks contain")
    return f"{chunks} a query word for word: to find it is too easy."


def _of_alike(found: Found) -> str:
    if not found.alike:
        return "No two queries are nearly the same."
    pairs = counted(len(found.alike), "pair of queries is", "pairs of queries are")
    return f"{pairs} nearly the same: such a question counts twice."


def _file_table(found: Found) -> Table:
    body = [
        [
            legible(leak.needle.query_id),
            leak.needle.part,
            legible(f"{leak.file}:{leak.line}"),
            legible(leak.field),
            _short(leak.words),
            _score(leak.score),
        ]
        for leak in found.leaks
    ]
    return Table(["query", "part", "found at", "in", "words there"], ["score"], body)


def _chunk_table(found: Found, texts: dict[str, str]) -> Table:
    body = [[legible(query), legible(chunk), texts[query]] for query, chunk in found.chunks]
    return Table(["query", "chunk", "text of the query"], [], body)


def _alike_table(found: Found, texts: dict[str, str]) -> Table:
    body = [
        [legible(query), legible(other), texts[query], texts[other], _score(score)]
        for query, other, score in found.alike
    ]
    return Table(["query", "like", "its text", "the other's"], ["score"], body)


def _score(score: float) -> str:
    return "exact" if score == 1 else f"{score:.3f}"


def _short(text: str) -> str:
    flat = legible(" ".join(text.split()))
    return flat if len(flat) <= LONGEST_TEXT else f"{flat[: LONGEST_TEXT - 1]}…"

"""``labeler leakage``: queries and answers found in files or chunks, and near-duplicate queries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TypeVar

import click

from labeler.analysis.leakage import Leak, Needle, NeedleFinder, leaks_in
from labeler.analysis.text_similarity import (
    FEWEST_WORDS,
    SIMILARITY_THRESHOLD,
    comparable_words,
    similar_pairs,
)
from labeler.cli.file_options import limit_option
from labeler.cli.groups import FILE, database_option, format_option
from labeler.cli.options import SELECTION_OPTIONS, CountingCommand, selection, with_options
from labeler.cli.output import (
    FOR_PROGRAMS,
    LONGEST_CELL,
    Table,
    format_records,
    markdown_lines,
    one_line,
    progress_bar,
    text_lines,
)
from labeler.errors import NotFound
from labeler.evaluation import Record
from labeler.formats import Limits
from labeler.model import Query, escape_controls, format_count
from labeler.store import LeakedQuery, Store
from labeler.store.addresses import StoreLocation

QUERY, REFERENCE = "query", "reference"
MOST_KEPT = 10_000  # finds per file
MOST_SHOWN = 40  # per kind, to people


@dataclass(slots=True)
class FoundLeaks:
    """Finds in files, in ``chunks`` (query and chunk), and ``alike`` queries of the golden set.

    `MOST_KEPT` finds of a file are kept, and all are counted. ``leaked`` has the surest find of
    each query.
    """

    leaks: list[Leak] = field(default_factory=list)
    counted: Counter[str] = field(default_factory=Counter)
    leaked: dict[str, Leak] = field(default_factory=dict)
    chunks: list[tuple[str, str]] = field(default_factory=list)
    alike: list[tuple[str, str, float]] = field(default_factory=list)

    def add(self, leak: Leak) -> None:
        """Add a find in a file."""
        self.counted[leak.file] += 1
        if self.counted[leak.file] <= MOST_KEPT:
            self.leaks.append(leak)
        best = self.leaked.setdefault(leak.needle.query_id, leak)
        if leak.score > best.score:
            self.leaked[leak.needle.query_id] = leak

    @property
    def more(self) -> int:
        """The number of finds in files that are counted but not kept."""
        return self.counted.total() - len(self.leaks)


def leak_records(found: FoundLeaks) -> Iterator[Record]:
    """Yield a row for each find; ``found_in`` is file, chunk or query, and ``place`` its name."""
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


def leakage_page(
    found: FoundLeaks, queries: Sequence[Query], files: int, kind: str
) -> Iterator[str]:
    """Yield the lines for people: what was found where, and notes."""
    texts = {query.query_id: one_line(query.text, LONGEST_CELL) for query in queries}
    shown = [(_describe_chunks(found), _chunk_table(found, texts))]
    shown.append((_describe_alike(found), _alike_table(found, texts)))
    if files:
        shown.insert(0, (_describe_files(found, queries, files), _file_table(found)))
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
    if short := sum(len(comparable_words(query.text)) < FEWEST_WORDS for query in queries):
        are = format_count(short, "query has", "queries have")
        yield f"! {are} fewer than {FEWEST_WORDS} words: found only as a whole line or sentence"


def marked_lines(marked: Sequence[LeakedQuery], kind: str) -> Iterator[str]:
    """Yield the lines for people on the queries marked as leaked."""
    if not marked:
        yield "No query is marked as leaked."
        return
    body = [
        [
            escape_controls(each.query_id),
            each.part or "",
            escape_controls(each.place),
            _score(each.score or 0),
            escape_controls(each.who or ""),
            (each.at or "")[:10],
        ]
        for each in marked
    ]
    table = Table(["query", "part", "found at", "score", "marked by", "on"], [], body)
    yield from (markdown_lines if kind == "md" else text_lines)(table)


def _describe_files(found: FoundLeaks, queries: Sequence[Query], files: int) -> str:
    references = sum(bool(query.reference) for query in queries)
    sought = format_count(len(queries), "query", "queries")
    if references:
        sought += f" and {format_count(references, 'reference answer', 'reference answers')}"
    where = f"in {format_count(files, 'file', 'files')}"
    if not found.leaks:
        return f"{sought} looked for {where}: none is there."
    exact = sum(leak.is_exact for leak in found.leaks)
    finds = f"{format_count(found.counted.total(), 'find', 'finds')}, {exact:,} of them exact"
    of = format_count(len(found.leaked), "query", "queries")
    return f"{sought} looked for {where}: {finds}, of {of}."


def _describe_chunks(found: FoundLeaks) -> str:
    if not found.chunks:
        return "No chunk contains a query word for word."
    chunks = format_count(
        len({chunk for _, chunk in found.chunks}), "chunk contains", "chunks contain"
    )
    return f"{chunks} a query word for word: to find it is too easy."


def _describe_alike(found: FoundLeaks) -> str:
    if not found.alike:
        return "No two queries are nearly the same."
    pairs = format_count(len(found.alike), "pair of queries is", "pairs of queries are")
    return f"{pairs} nearly the same: such a question counts twice."


def _file_table(found: FoundLeaks) -> Table:
    body = [
        [
            escape_controls(leak.needle.query_id),
            leak.needle.part,
            escape_controls(f"{leak.file}:{leak.line}"),
            escape_controls(leak.field),
            one_line(leak.words, LONGEST_CELL),
            _score(leak.score),
        ]
        for leak in found.leaks
    ]
    return Table(["query", "part", "found at", "in", "words there"], ["score"], body)


def _chunk_table(found: FoundLeaks, texts: dict[str, str]) -> Table:
    body = [
        [escape_controls(query), escape_controls(chunk), texts[query]]
        for query, chunk in found.chunks
    ]
    return Table(["query", "chunk", "text of the query"], [], body)


def _alike_table(found: FoundLeaks, texts: dict[str, str]) -> Table:
    body = [
        [escape_controls(query), escape_controls(other), texts[query], texts[other], _score(score)]
        for query, other, score in found.alike
    ]
    return Table(["query", "like", "its text", "the other's"], ["score"], body)


def _score(score: float) -> str:
    return "exact" if score == 1 else f"{score:.3f}"


CHUNKS_PER_BATCH = 2_000
OfQueryT = TypeVar("OfQueryT", Query, LeakedQuery)


@click.command(cls=CountingCommand)
@click.argument("files", nargs=-1, type=FILE, metavar="[FILE]...")
@click.option(
    "--threshold",
    type=click.FloatRange(0.5, 1),
    default=SIMILARITY_THRESHOLD,
    show_default=True,
    help="The share of a text's words that must be found, in order and close together. 1 finds "
    "whole texts only.",
)
@format_option(
    ("table", "csv", "json", "md"),
    "table and md are for people and show the first of many; csv and json have them all.",
)
@click.option(
    "--raw",
    is_flag=True,
    help="With csv: texts as they are, also those that a spreadsheet would run.",
)
@click.option("--mark", is_flag=True, help="Mark the queries that are found in FILES as leaked.")
@click.option(
    "--unmark",
    "unmarked",
    multiple=True,
    metavar="QUERY",
    help="Take back that a query is marked as leaked; may be repeated.",
)
@click.option("--marked", is_flag=True, help="List the queries that are marked as leaked.")
@limit_option
@with_options(*SELECTION_OPTIONS)
@database_option
@click.pass_obj
def leakage(
    db: StoreLocation,
    files: tuple[Path, ...],
    threshold: float,
    kind: str,
    raw: bool,
    mark: bool,
    unmarked: tuple[str, ...],
    marked: bool,
    limits: Limits,
) -> None:
    """Find queries and reference answers in other files.

    FILES are training sets, prompts or corpora: JSONL, CSV, TSV, Parquet or plain text, plain or
    gzip. Case, white space and punctuation are ignored, and a few words may differ. With FILES or
    without, it lists chunks that contain a whole query, and queries that are nearly the same.

    --mark marks the queries that are found: 'labeler score --leaked without' then leaves them out.
    --unmark takes a mark back.

    A text of fewer than five words is found only where it is a whole line, sentence, cell or JSON
    text. For Parquet the line number is that of the row.
    """
    if raw and kind != "csv":
        raise click.UsageError("--raw goes with --format csv; the others never change a text")
    if unmarked or marked:
        if files or mark:
            raise click.UsageError("--unmark and --marked take no FILES and no --mark")
        print_marked(db, unmarked, kind, raw=raw)
        return
    if mark and not files:
        raise click.UsageError("--mark marks what is found in FILES; name one")
    with Store(db) as store:
        if not store.queries.count():
            raise NotFound("there are no queries yet; add some with 'labeler load queries FILE'")
        queries = among_selected(store, store.queries.all())
        found = FoundLeaks(alike=alike(queries, threshold))
        search_files(files, queries, threshold, limits, found)
        found.chunks = search_chunks(store, queries)
        if mark:
            new = store.splits.mark_leaked(leaked_marks(found))
            told = f"{new:,} of {len(found.leaked):,} queries found are newly marked as leaked"
            click.echo(f"{told}; '--leaked without' leaves them out of scores", err=True)
    if kind in FOR_PROGRAMS:
        click.echo(format_records(kind, leak_records(found), raw=raw), nl=False)
    else:
        click.echo("\n".join(leakage_page(found, queries, len(files), kind)))


def print_marked(db: StoreLocation, unmarked: Sequence[str], kind: str, *, raw: bool) -> None:
    """Remove marks, and print those that are left."""
    with Store(db) as store:
        store.splits.take_leaks_back(dict.fromkeys(unmarked))
        found = among_selected(store, store.splits.leaked())
    rows_of = [asdict(each) for each in found]
    if kind in FOR_PROGRAMS:
        click.echo(format_records(kind, rows_of, raw=raw), nl=False)
    else:
        click.echo("\n".join(marked_lines(found, kind)))


def among_selected(store: Store, every: Sequence[OfQueryT]) -> list[OfQueryT]:
    """Return the items whose query the options select; raise `NotFound` if no query is selected."""
    among = store.splits.selected(selection())
    return [each for each in every if among is None or each.query_id in among]


def leaked_marks(found: FoundLeaks) -> list[LeakedQuery]:
    """Return the surest place of each query that was found in a file."""
    return [
        LeakedQuery(query_id, leak.file, leak.line, leak.needle.part, leak.score, leak.words)
        for query_id, leak in found.leaked.items()
    ]


def needles(queries: Sequence[Query]) -> list[Needle]:
    """Return the texts to search files for: the queries and their reference answers."""
    return [
        Needle(query.query_id, part, text)
        for query in queries
        for part, text in ((QUERY, query.text), (REFERENCE, query.reference))
        if text
    ]


def search_files(
    files: Sequence[Path],
    queries: Sequence[Query],
    threshold: float,
    limits: Limits,
    found: FoundLeaks,
) -> None:
    """Search files one after the other, and add what is found."""
    finder = NeedleFinder(needles(queries), threshold)
    sizes = [path.stat().st_size if path.is_file() else 0 for path in files]
    whole = max(sum(sizes), 1)
    with progress_bar("Looking through the files", then="Looking through the chunks ...") as tell:
        for number, path in enumerate(files):
            done = sum(sizes[:number])
            progress = _part_of_progress(tell, done / whole, sizes[number] / whole)
            for leak in leaks_in(path, finder, progress, limits):
                found.add(leak)


def _part_of_progress(
    tell: Callable[[float], None] | None, done: float, share: float
) -> Callable[[float], None] | None:
    """Return a function that turns one file's progress into the progress over all files."""
    if tell is None:
        return None
    return lambda fraction: tell(done + fraction * share)


def search_chunks(store: Store, queries: Sequence[Query]) -> list[tuple[str, str]]:
    """Return which queries occur word for word in which chunks, as (query id, chunk id)."""
    finder = NeedleFinder([Needle(query.query_id, QUERY, query.text) for query in queries], 1.0)
    found: dict[tuple[str, str], None] = {}
    waiting: list[tuple[str, str]] = []
    for each in store.chunks.texts():
        waiting.append(each)
        if len(waiting) == CHUNKS_PER_BATCH:
            found |= dict.fromkeys(_search_batch(finder, waiting))
            waiting = []
    return [*(found | dict.fromkeys(_search_batch(finder, waiting)))]


def _search_batch(
    finder: NeedleFinder, chunks: Sequence[tuple[str, str]]
) -> Iterator[tuple[str, str]]:
    for find in finder.find([text for _, text in chunks]):
        yield finder.needles[find.needle].query_id, chunks[find.first][0]


def alike(queries: Sequence[Query], threshold: float) -> list[tuple[str, str, float]]:
    """Return the pairs of queries that are nearly the same, with their share of common words."""
    found = similar_pairs([query.text for query in queries], threshold)
    return [
        (queries[each.first].query_id, queries[each.second].query_id, each.score) for each in found
    ]

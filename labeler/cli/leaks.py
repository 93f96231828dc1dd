"""``labeler leakage``: queries and answers found in files or chunks, and near-duplicate queries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

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
    format_records,
    one_line,
    progress_bar,
)
from labeler.errors import NotFound
from labeler.formats import Limits
from labeler.model import Query, format_count
from labeler.model.results import NUMBER, TEXT, Column, Table
from labeler.render.results import markdown_table, text_table
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


def leak_table(found: FoundLeaks) -> Table:
    """Return a row for each find; ``found_in`` is file, chunk or query, and ``place`` its name."""
    names = ("query_id", "part", "found_in", "place", "line", "field", "score", "exact", "text")
    rows: list[tuple[object, ...]] = [
        (
            *(leak.needle.query_id, leak.needle.part, "file", leak.file, leak.line, leak.field),
            *(leak.score, leak.is_exact, leak.words),
        )
        for leak in found.leaks
    ]
    others = [(query_id, "chunk", chunk, 1.0) for query_id, chunk in found.chunks]
    others += [(query_id, "query", other, score) for query_id, other, score in found.alike]
    rows += [
        (query_id, QUERY, kind, place, None, None, score, score == 1, None)
        for query_id, kind, place, score in others
    ]
    return Table(tuple(map(Column, names)), [dict(zip(names, row, strict=True)) for row in rows])


def leakage_page(
    found: FoundLeaks, queries: Sequence[Query], files: int, kind: str
) -> Iterator[str]:
    """Yield the lines for people: what was found where, and notes."""
    rows = leak_table(found).rows
    shown = [("chunk", _describe_chunks(found)), ("query", _describe_alike(found))]
    if files:
        shown.insert(0, ("file", _describe_files(found, queries, files)))
    columns = _columns_of({query.query_id: query.text for query in queries})
    for place, heading in shown:
        yield heading
        there = [row for row in rows if row["found_in"] == place]
        if there:
            most = Table(columns[place], there[:MOST_SHOWN])
            yield from ["", *(markdown_table if kind == "md" else text_table)(most)]
        if len(there) > MOST_SHOWN:
            yield f"... and {len(there) - MOST_SHOWN:,} more, which --format csv and json have"
        yield ""
    if found.more:
        yield f"! {found.more:,} finds beyond the first {MOST_KEPT:,} of a file are not listed"
    if short := sum(len(comparable_words(query.text)) < FEWEST_WORDS for query in queries):
        are = format_count(short, "query has", "queries have")
        yield f"! {are} fewer than {FEWEST_WORDS} words: found only as a whole line or sentence"


def _columns_of(texts: Mapping[str, str]) -> Mapping[str, tuple[Column, ...]]:
    """Return what people see of a find in a file, in a chunk, and in another query."""

    def text(column: str, title: str) -> Column:
        return Column("text", title, show=lambda row: one_line(texts[row[column]], LONGEST_CELL))

    query = Column("query_id", "query")
    words = Column("text", "words there", show=lambda row: one_line(row["text"], LONGEST_CELL))
    own = text("query_id", "text of the query")
    return {
        "file": (query, Column("part", "part"), PLACE, Column("field", "in"), words, SCORE),
        "chunk": (query, Column("place", "chunk"), own),
        "query": (
            *(query, Column("place", "like"), replace(own, title="its text")),
            *(text("place", "the other's"), SCORE),
        ),
    }


def _place(row: Mapping[str, Any]) -> str:
    return row["place"] if row["line"] is None else f"{row['place']}:{row['line']}"


def _score(row: Mapping[str, Any]) -> str:
    return "exact" if row["score"] == 1 else f"{row['score'] or 0:.3f}"


PLACE = Column("place", "found at", show=_place)
SCORE = Column("score", "score", NUMBER, show=_score)
MARKED_COLUMNS = (
    Column("query_id", "query"),
    Column("part", "part"),
    Column("file", "found at", show=lambda row: _place({**row, "place": row["file"] or ""})),
    replace(SCORE, format=TEXT),
    Column("who", "marked by"),
    Column("at", "on", show=lambda row: (row["at"] or "")[:10]),
)


def marked_lines(marked: Sequence[Mapping[str, Any]], kind: str) -> Sequence[str]:
    """Return the lines for people on the queries marked as leaked."""
    if not marked:
        return ["No query is marked as leaked."]
    return (markdown_table if kind == "md" else text_table)(Table(MARKED_COLUMNS, marked))


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
    help="Undo the mark of a query as leaked; may be repeated.",
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
    --unmark undoes a mark.

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
        click.echo(format_records(kind, leak_table(found).records(), raw=raw), nl=False)
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
        click.echo("\n".join(marked_lines(rows_of, kind)))


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

"""``labeler leakage``: what of the golden set stands in other files, in chunks, or twice."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TypeVar

import click

from labeler.analysis.leakage import (
    THRESHOLD,
    Finder,
    Needle,
    alike_texts,
    leaks_in,
)
from labeler.cli.group import FILE, database_option, format_option
from labeler.cli.leaks import QUERY, REFERENCE, Found, marked_lines, page, records
from labeler.cli.loading import limit_option
from labeler.cli.progress import progress_bar
from labeler.cli.scoring import with_options
from labeler.cli.selecting import SELECTION_OPTIONS, selection
from labeler.cli.tables import FOR_PROGRAMS, written
from labeler.errors import NotFound
from labeler.formats import Limits
from labeler.model import Query
from labeler.store import Leaked, Store
from labeler.store.addresses import Place

CHUNKS_AT_ONCE = 2_000
OfQueryT = TypeVar("OfQueryT", Query, Leaked)


@click.command()
@click.argument("files", nargs=-1, type=FILE, metavar="[FILE]...")
@click.option(
    "--threshold",
    type=click.FloatRange(0.5, 1),
    default=THRESHOLD,
    show_default=True,
    help="The least share of a text's words that stand there in its order, among as many words "
    "as it has. 1 finds only whole texts.",
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
@lambda command: with_options(command, SELECTION_OPTIONS)
@database_option
@click.pass_obj
def leakage(
    db: Place,
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
    gzip. Case, white space and punctuation do not count, and a few words may be others. Without
    FILES as well, it lists chunks that contain a query whole, and queries that are nearly the same.

    --split and --leaked say which queries are looked for.

    --mark keeps which queries were found, so that every score can be shown --leaked with, without
    or only them; --unmark takes it back.

    A text of fewer than five words is found only where it stands alone, as a line, a cell or a JSON
    text. A line number of Parquet is that of the row.
    """
    if raw and kind != "csv":
        raise click.UsageError("--raw goes with --format csv; the others never change a text")
    if unmarked or marked:
        if files or mark:
            raise click.UsageError("--unmark and --marked stand without FILES and --mark")
        of_marked(db, unmarked, kind, raw=raw)
        return
    if mark and not files:
        raise click.UsageError("--mark marks what is found in FILES; name one")
    with Store(db) as store:
        if not store.count_queries():
            raise NotFound("there are no queries yet; add some with 'labeler load queries FILE'")
        queries = among_selected(store, store.queries())
        found = Found(alike=alike(queries, threshold))
        in_files(files, queries, threshold, limits, found)
        found.chunks = in_chunks(store, queries)
        if mark:
            new = store.mark_leaked(marks(found))
            told = f"{new:,} of {len(found.leaked):,} queries found are newly marked as leaked"
            click.echo(f"{told}; '--leaked without' leaves them out of scores", err=True)
    if kind in FOR_PROGRAMS:
        click.echo(written(kind, records(found), raw=raw), nl=False)
    else:
        click.echo("\n".join(page(found, queries, len(files), kind)))


def of_marked(db: Place, unmarked: Sequence[str], kind: str, *, raw: bool) -> None:
    """Take marks back, and print those that are left."""
    with Store(db) as store:
        store.take_leaks_back(dict.fromkeys(unmarked))
        found = among_selected(store, store.leaked())
    rows_of = [asdict(each) for each in found]
    if kind in FOR_PROGRAMS:
        click.echo(written(kind, rows_of, raw=raw), nl=False)
    else:
        click.echo("\n".join(marked_lines(found, kind)))


def among_selected(store: Store, every: Sequence[OfQueryT]) -> list[OfQueryT]:
    """Return what is of the queries that the options select; `NotFound` where there are none."""
    among = store.selected_queries(selection())
    return [each for each in every if among is None or each.query_id in among]


def marks(found: Found) -> list[Leaked]:
    """Return the surest place of each query that was found in a file."""
    return [
        Leaked(query_id, leak.file, leak.line, leak.needle.part, leak.score, leak.words)
        for query_id, leak in found.leaked.items()
    ]


def needles(queries: Sequence[Query]) -> list[Needle]:
    """Return what is looked for in files: the queries, and their reference answers."""
    return [
        Needle(query.query_id, part, text)
        for query in queries
        for part, text in ((QUERY, query.text), (REFERENCE, query.reference))
        if text
    ]


def in_files(
    files: Sequence[Path],
    queries: Sequence[Query],
    threshold: float,
    limits: Limits,
    found: Found,
) -> None:
    """Look through files, one after the other, and add what is found."""
    finder = Finder(needles(queries), threshold)
    sizes = [path.stat().st_size if path.is_file() else 0 for path in files]
    whole = max(sum(sizes), 1)
    with progress_bar("Looking through the files", then="Looking through the chunks ...") as tell:
        for number, path in enumerate(files):
            done = sum(sizes[:number])
            progress = _within(tell, done / whole, sizes[number] / whole)
            for leak in leaks_in(path, finder, progress, limits):
                found.add(leak)


def _within(
    tell: Callable[[float], None] | None, done: float, share: float
) -> Callable[[float], None] | None:
    """Return what is told the share of one file that is done, and tells that of all."""
    if tell is None:
        return None
    return lambda fraction: tell(done + fraction * share)


def in_chunks(store: Store, queries: Sequence[Query]) -> list[tuple[str, str]]:
    """Return which queries stand word for word in which chunks, as (query id, chunk id)."""
    finder = Finder([Needle(query.query_id, QUERY, query.text) for query in queries], 1.0)
    found: dict[tuple[str, str], None] = {}
    waiting: list[tuple[str, str]] = []
    for each in store.chunk_texts():
        waiting.append(each)
        if len(waiting) == CHUNKS_AT_ONCE:
            found |= dict.fromkeys(_in_some(finder, waiting))
            waiting = []
    return [*(found | dict.fromkeys(_in_some(finder, waiting)))]


def _in_some(finder: Finder, chunks: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    for find in finder.find([text for _, text in chunks]):
        yield finder.needles[find.needle].query_id, chunks[find.first][0]


def alike(queries: Sequence[Query], threshold: float) -> list[tuple[str, str, float]]:
    """Return the pairs of queries that are nearly the same, with the share of words of both."""
    found = alike_texts([query.text for query in queries], threshold)
    return [
        (queries[each.first].query_id, queries[each.second].query_id, each.score) for each in found
    ]

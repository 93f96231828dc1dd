"""``labeler score --keywords``: scores by keyword, which need no grades."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce

import click

from labeler.analysis.keywords import (
    KeywordMean,
    KeywordRanks,
    build_corpora,
    describe_keyword_conventions,
    describe_missed,
    describe_unusable,
    find_keyword_ranks,
    keyword_mean_records,
    keyword_means,
    keyword_rank_records,
    list_lookups,
)
from labeler.cli.groups import CommandT
from labeler.cli.options import selection
from labeler.cli.output import Table, in_markdown, markdown_lines, text_lines
from labeler.errors import BadInput, NotFound
from labeler.evaluation import Conventions, Record, Scoreboard, format_number
from labeler.formats import csv_tables, json_records
from labeler.model import Collection, escape_controls
from labeler.store import Store
from labeler.store.addresses import StoreLocation

DEFAULT_DEPTH = 10
KEYWORD_OPTIONS: tuple[Callable[[CommandT], CommandT], ...] = (
    click.option(
        "--keywords",
        "by_keyword",
        is_flag=True,
        help="By keyword instead, without grades: where the words an answer should hold turn up; "
        "with --per-query keyword by keyword.",
    ),
    click.option(
        "--top",
        "k",
        type=click.IntRange(min=1),
        metavar="K",
        help=f"With --keywords: how deep they are looked for.  [default: {DEFAULT_DEPTH}]",
    ),
    click.option(
        "--substring", is_flag=True, help="With --keywords: find them inside longer words, too."
    ),
)


def keyword_options(command: CommandT) -> CommandT:
    """Add the options that ask for keywords instead of grades."""
    return reduce(lambda inner, option: option(inner), KEYWORD_OPTIONS[::-1], command)


def check_keyword_options(
    by_keyword: bool, top: int | None, k: int | None, substring: bool
) -> None:
    """Raise a usage error for options that say nothing together."""
    if not by_keyword and (k is not None or substring):
        raise click.UsageError("--top and --substring go with --keywords")
    if by_keyword and top is not None:
        raise click.UsageError("--reranked is by grades; ask for it without --keywords")


def print_keywords(
    db: StoreLocation,
    collection: Collection,
    facet: str | None,
    kind: str,
    *,
    k: int | None,
    substring: bool,
    per_query: bool,
    raw: bool,
) -> None:
    """Print keyword means, of buckets if a facet is given, or each keyword of each query."""
    depth, board = k or DEFAULT_DEPTH, Scoreboard(collection, Conventions.of(selected=selection()))
    if facet is not None and facet not in board.facets:
        known = ", ".join(board.facets) or "none"
        raise NotFound(f"no facet is called {facet!r}; there are: {known}")
    with Store(db) as store:
        given = {query.query_id: query.keywords for query in store.queries() if query.keywords}
        chunks = store.chunks_numbered(store.chunks_with_text())
    there = set(board.collection.query_ids)
    keywords = {name: each for name, each in given.items() if name in there}
    if not keywords:
        raise BadInput(
            "no query has keywords; give queries `keywords` and load them again with --update"
        )
    texts = {number: chunk.text or "" for number, chunk in chunks.items()}
    corpora, lists = (
        build_corpora(board, texts, substring=substring),
        list_lookups(board, board.run_names),
    )
    places = find_keyword_ranks(corpora.whole, keywords, lists)
    notes = [*describe_missed(places), *filter(None, [describe_unusable(corpora.whole, keywords)])]
    if per_query:
        records = keyword_rank_records(places, depth, substring=substring)
        table = place_table(places, board.run_names)
    else:
        found = corpora.scores(keywords, lists, depth)
        means = keyword_means(found, *(buckets_by_query(board, facet) if facet else ()))
        records = keyword_mean_records(means, depth, facet, substring=substring)
        table = mean_table(means, depth, facet)
    said = describe_keyword_conventions(depth, substring=substring)
    click.echo(format_keywords(kind, records, table, said, notes, raw=raw), nl=False)


def buckets_by_query(
    board: Scoreboard, facet: str
) -> tuple[Mapping[str, str | None], Sequence[str]]:
    """Return each query's bucket, and all buckets in their order."""
    given = zip(board.collection.query_ids, board.collection.facets[facet], strict=True)
    return dict(given), board.facets[facet]


def mean_table(means: Sequence[KeywordMean], k: int, facet: str | None) -> Table:
    """Return a line for each run, or for each bucket and run."""
    names = ["run"] if facet is None else [escape_controls(facet), "run"]
    numbers = [f"RR@{k}", f"nDCG@{k}", f"coverage@{k}", "n", "keywords", "in no chunk"]
    places = {each.bucket: at for at, each in enumerate(means)}
    order = sorted(means, key=lambda each: places[each.bucket])
    body = [
        [
            *([] if facet is None else [escape_controls(str(each.bucket))]),
            escape_controls(each.run),
            *map(format_number, (each.rr, each.ndcg, each.coverage)),
            *map(str, (each.n, each.keywords, each.unknown)),
        ]
        for each in order
    ]
    return Table(names, numbers, body)


def place_table(places: Sequence[KeywordRanks], runs: Sequence[str]) -> Table:
    """Return a line for each keyword: the rank of the first chunk that holds it, by run."""
    body = [
        [
            escape_controls(each.query_id),
            escape_controls(each.keyword),
            *("–" if each.ranks[run] is None else str(each.ranks[run]) for run in runs),
            str(each.chunks),
        ]
        for each in places
    ]
    return Table(["query", "keyword"], [*map(escape_controls, runs), "chunks that hold it"], body)


def format_keywords(
    kind: str,
    records: Sequence[Record],
    table: Table,
    described: str,
    notes: Sequence[str],
    *,
    raw: bool,
) -> str:
    """Return rows for programs, with their conventions, or a table for people with notes under."""
    if kind == "json":
        return json_records.as_json(
            {**row, "conventions": described, "notes": notes} for row in records
        )
    if kind == "csv":
        said = " · ".join(notes)
        told = ({**row, "conventions": described, "notes": said} for row in records)
        return csv_tables.as_csv(told, raw=raw)
    if kind == "md":
        noted = [f"\n- {in_markdown(escape_controls(note))}" for note in notes]
        return "\n".join([*markdown_lines(table), "", described, *noted, ""])
    return "\n".join(
        [*text_lines(table), "", described, *(f"! {escape_controls(n)}" for n in notes), ""]
    )

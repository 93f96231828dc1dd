"""``labeler score --keywords``: runs measured by the ranks of keywords, without grades."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import click

from labeler.analysis.keywords import (
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
from labeler.cli.options import ValueOptions, check_facet_name, selection
from labeler.cli.output import (
    RunLabels,
    in_markdown,
)
from labeler.errors import BadInput
from labeler.evaluation import Conventions, Record, Scoreboard
from labeler.formats import csv_tables, json_records
from labeler.model import Collection, escape_controls
from labeler.model.results import COUNT, NUMBER, Column, Table
from labeler.render.results import markdown_table, text_table
from labeler.store import Store
from labeler.store.addresses import StoreLocation


def print_keywords(
    db: StoreLocation,
    collection: Collection,
    options: ValueOptions,
    *,
    k: int,
    substring: bool,
) -> None:
    """Print keyword means, by bucket if a facet is given, or each keyword of each query.

    Keywords are searched in the first ``k`` chunks of each list.
    """
    facet, kind = options.facet, options.kind
    board = Scoreboard(collection, Conventions.of(selected=selection()))
    check_facet_name(facet, board.facets)
    with Store(db) as store:
        given = {query.query_id: query.keywords for query in store.queries.all() if query.keywords}
        chunks = store.texts.numbered(store.chunks.with_text())
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
    labels = RunLabels(board.run_names)
    places = find_keyword_ranks(corpora.whole, keywords, lists)
    notes = [*describe_missed(places), *filter(None, [describe_unusable(corpora.whole, keywords)])]
    if options.per_query:
        records = keyword_rank_records(places, k, substring=substring)
        table = place_table(places, labels)
    else:
        found = corpora.scores(keywords, lists, k)
        means = keyword_means(found, *(buckets_by_query(board, facet) if facet else ()))
        records = keyword_mean_records(means, k, facet, substring=substring)
        table = labels.on(mean_table(records, k, facet))
    said = describe_keyword_conventions(k, substring=substring)
    if not options.for_programs:
        click.echo("".join(f"{line}\n" for line in labels.lines(kind)), nl=False)
    click.echo(format_keywords(kind, records, table, said, notes, raw=options.raw), nl=False)


def buckets_by_query(
    board: Scoreboard, facet: str
) -> tuple[Mapping[str, str | None], Sequence[str]]:
    """Return each query's bucket, and all buckets in order."""
    given = zip(board.collection.query_ids, board.collection.facets[facet], strict=True)
    return dict(given), board.facets[facet]


def mean_table(records: Sequence[Record], k: int, facet: str | None) -> Table:
    """Return the means in a row for each run, or for each bucket and run."""
    columns = [
        *([] if facet is None else [Column("bucket", facet)]),
        Column("run", "run"),
        *(
            Column(name, f"{title}@{k}", NUMBER)
            for name, title in (("rr", "RR"), ("ndcg", "nDCG"), ("coverage", "coverage"))
        ),
        *(Column(name, name.replace("_", " "), COUNT) for name in ("n", "keywords", "in_no_chunk")),
    ]
    places = {each.get("bucket"): at for at, each in enumerate(records)}
    return Table(tuple(columns), sorted(records, key=lambda each: places[each.get("bucket")]))


def place_table(places: Sequence[KeywordRanks], labels: RunLabels) -> Table:
    """Return a row for each keyword, with the rank of the first chunk that holds it, by run."""
    columns = [
        *(Column("query_id", "query"), Column("keyword", "keyword")),
        *(Column(f"rank in {run}", label, COUNT) for run, label in labels.items()),
        Column("chunks", "chunks that hold it", COUNT),
    ]
    rows = [
        {"query_id": each.query_id, "keyword": each.keyword, "chunks": each.chunks}
        | {f"rank in {run}": each.ranks[run] for run in labels}
        for each in places
    ]
    return Table(tuple(columns), rows)


def format_keywords(
    kind: str,
    records: Sequence[Record],
    table: Table,
    described: str,
    notes: Sequence[str],
    *,
    raw: bool,
) -> str:
    """Return rows with their conventions for programs, or a table with notes for people."""
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
        return "\n".join([*markdown_table(table), "", described, *noted, ""])
    return "\n".join(
        [*text_table(table), "", described, *(f"! {escape_controls(n)}" for n in notes), ""]
    )

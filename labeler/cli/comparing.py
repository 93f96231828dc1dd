"""``labeler compare``: run B against run A, as a table, as rows for programs, as strips of text."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from labeler import comparison
from labeler.cli.group import database_option
from labeler.cli.scoring import (
    asking_options,
    check_asked,
    chosen,
    conventions_of,
    measures_of,
    notes_on,
    print_records,
)
from labeler.cli.surviving import check_graders, graders_option, print_survival
from labeler.cli.tables import (
    Table,
    markdown_footer,
    markdown_lines,
    text_footer,
    text_lines,
)
from labeler.comparison import Comparison, Delta, QueryDelta
from labeler.evaluation import (
    Conventions,
    Note,
    Record,
    Scoreboard,
    number,
    signed,
    tie_notes,
    tied_ranges,
)
from labeler.model import legible
from labeler.store import Store

STRIP = 10  # how many ranks a strip shows where the leading measure has no cut-off


@click.command()
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
@asking_options
@click.option(
    "--strips",
    "stripped",
    is_flag=True,
    help="Show the grades at each rank of A and B, a line a query, the largest loss by the first "
    "measure on top; · is a chunk nobody has graded.",
)
@graders_option
@database_option
@click.pass_obj
def compare(
    db: Path,
    a: str,
    b: str,
    texts: tuple[str, ...],
    preset: str,
    rel: int | None,
    budget: int | None,
    facet: str | None,
    per_query: bool,
    kind: str,
    raw: bool,
    stripped: bool,
    by_graders: bool,
) -> None:
    """Compare run B with run A: what rises, what falls, and where.

    A delta is B minus A. Wins, ties and losses count the queries in which B is better, equal and
    worse.
    """
    check_asked(facet, kind, per_query=per_query, raw=raw)
    if stripped and kind in ("csv", "json"):
        raise click.UsageError("--strips are for people; ask for them with --format table or md")
    if by_graders:
        check_graders(facet, per_query=per_query, stripped=stripped)
    with Store(db) as store:
        collection, settings = store.collection(), store.settings()
        singles = store.single_grades() if by_graders else None
    conventions = conventions_of(settings, preset, rel, budget)
    measures = measures_of(conventions, texts)
    board = Scoreboard(chosen(collection, (a, b)), conventions)
    found = comparison.compare(board, a, b, measures, facet)
    notes = notes_on(board, measures, facet)
    if singles is not None:
        said = comparison.verdict(board, found)
        sure = said.sure if said is not None else ()
        print_survival(board, found, singles, sure, kind, notes, raw=raw)
        return
    ranges = tied_ranges(board, measures) if facet is None and not per_query else None
    if ranges is not None:
        notes += tie_notes(ranges, conventions)
    notes += warnings(board, found)
    if kind in ("csv", "json"):
        records = records_of(found, per_query=per_query)
        print_records(kind, records, ranges, conventions, notes, raw=raw)
        return
    table = table_of(found, per_query=per_query)
    strips = strip_lines(board, found) if stripped else []
    click.echo(as_page(kind, table, strips, conventions, notes), nl=False)


def records_of(found: Comparison, *, per_query: bool) -> list[Record]:
    """Return what programs get: the same values in every digit."""
    if per_query:
        return comparison.query_delta_records(found)
    return comparison.delta_records(found, rows_of(found))


def rows_of(found: Comparison) -> tuple[Delta, ...]:
    """Return the means over all queries, or over those of each bucket if they were asked for."""
    return found.buckets if found.facet else found.deltas


def table_of(found: Comparison, *, per_query: bool) -> Table:
    """Return a line for each row, with four digits; a query's needs no counts."""
    place = "query" if per_query else found.facet
    names = ["measure"] if place is None else [legible(place), "measure"]
    counts = [] if per_query else ["wins", "ties", "losses", "n", "undefined"]
    numbers = [legible(found.a), legible(found.b), "delta", *counts, "holes A", "holes B"]
    lines = _query_lines(found) if per_query else _mean_lines(found)
    return Table(names, numbers, list(lines))


def _mean_lines(found: Comparison) -> Iterator[list[str]]:
    for row in rows_of(found):
        counts = (row.wins, row.ties, row.losses, row.n, row.undefined)
        yield _cells(row.bucket, row, found.conventions, counts)


def _query_lines(found: Comparison) -> Iterator[list[str]]:
    columns = [found.queries(measure) for measure in found.measures]
    for rows in zip(*columns, strict=True):
        for row in rows:
            yield _cells(row.query_id, row, found.conventions)


def _cells(
    place: str | None,
    row: Delta | QueryDelta,
    conventions: Conventions,
    counts: tuple[int, ...] = (),
) -> list[str]:
    return [
        *([] if place is None else [legible(place)]),
        conventions.heading(row.measure),
        number(row.a),
        number(row.b),
        signed(row.delta),
        *map(str, (*counts, row.holes_a, row.holes_b)),
    ]


def strip_lines(board: Scoreboard, found: Comparison) -> list[str]:
    """Return two strips a query, sorted by the first measure's delta; undefined ones come last."""
    measure = found.measures[0]
    k = measure.cutoff if isinstance(measure.cutoff, int) else STRIP
    pair = [comparison.strips(board, run, k) for run in (found.a, found.b)]
    rows = found.queries(measure)
    known = [at for at, row in enumerate(rows) if not math.isnan(row.delta)]
    rest = [at for at, row in enumerate(rows) if math.isnan(row.delta)]
    order = [*sorted(known, key=lambda at: rows[at].delta), *rest]
    body = [
        [
            legible(rows[at].query_id),
            *(comparison.strip_text(part[at]) for part in pair),
            signed(rows[at].delta),
        ]
        for at in order
    ]
    heading = f"{found.conventions.heading(measure)} delta"
    return text_lines(Table(["query", legible(found.a), legible(found.b)], [heading], body))


def warnings(board: Scoreboard, found: Comparison) -> Iterator[Note]:
    """Say which run is better and where the table misleads, by no more than chance allows."""
    rerank = comparison.rerank(board, found.a, found.b)
    if rerank.identical:
        yield Note("identical", rerank.sentence)
        return
    if (said := comparison.verdict(board, found)) is not None:
        yield Note(said.kind, f"{said.sentence} ({comparison.RULE})")
    yield from _of_buckets(found)
    if rerank.within == rerank.queries:
        yield Note("same chunks", rerank.sentence)
    parts = comparison.split(board, found.a, found.b, found.measures[0])
    if parts.n:
        yield Note("parts", parts.sentence, measure=parts.measure)


def _of_buckets(found: Comparison) -> Iterator[Note]:
    """Say which buckets move against the total, and where B loses most by the first measure."""
    against = comparison.contradictions(found)
    for each in against:
        place = (each.bucket.facet, each.bucket.bucket)
        yield Note("bucket against total", each.sentence, measure=each.bucket.measure, bucket=place)
    worst = comparison.worst_bucket(found, found.measures[0])
    if worst is not None and worst not in [each.bucket for each in against]:
        sentence = comparison.where_it_loses(found, worst, found.b)
        place = (worst.facet, worst.bucket)
        yield Note("largest loss", sentence, measure=worst.measure, bucket=place)


def as_page(
    kind: str,
    table: Table,
    strips: Sequence[str],
    conventions: Conventions,
    notes: Sequence[Note],
) -> str:
    """Put table, strips, conventions and notes below each other."""
    if kind == "md":
        fenced = ["", "```text", *strips, "```"] if strips else []
        lines = [*markdown_lines(table), *fenced, *markdown_footer(conventions, notes)]
    else:
        spaced = ["", *strips] if strips else []
        lines = [*text_lines(table), *spaced, *text_footer(conventions, notes)]
    return "\n".join(lines)

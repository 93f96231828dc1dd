"""``labeler compare``: runs against each other, as tables, as rows for programs, as strips."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations

import click

from labeler.analysis import comparison
from labeler.analysis.comparison import Answer, Answered, Both, Comparison, Delta, QueryDelta
from labeler.cli.golden import golden_option
from labeler.cli.group import database_option
from labeler.cli.pairs import (
    Shown,
    answered,
    settling_in_words,
    surety_table,
    tested_together,
)
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
from labeler.cli.tables import FOR_PROGRAMS, Table, as_page, text_lines
from labeler.cli.weighting import traffic_asked, weighed, weighted_option
from labeler.errors import BadInput
from labeler.evaluation import (
    USUAL,
    Conventions,
    Note,
    Record,
    Scoreboard,
    number,
    signed,
    tie_notes,
    tied_ranges,
    usual,
)
from labeler.measures import Measure
from labeler.model import legible
from labeler.services.import_export import freezing
from labeler.stats import Bands, with_bands
from labeler.store import Store
from labeler.store.addresses import Place

STRIP = 10  # how many ranks a strip shows where the leading measure has no cut-off


@click.command()
@click.argument("runs", nargs=-1, required=True, metavar="A B [C]...")
@asking_options
@click.option(
    "--strips",
    "stripped",
    is_flag=True,
    help="Show the grades at each rank of A and B, a line a query, the largest loss by the first "
    "measure on top; · is a chunk nobody has graded.",
)
@graders_option
@weighted_option
@golden_option
@database_option
@click.pass_obj
def compare(
    db: Place,
    runs: tuple[str, ...],
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
    golden: str | None,
) -> None:
    """Compare run B with run A: what moves, where, how surely.

    A delta is B minus A. Wins, ties and losses count the queries in which B is better, equal and
    worse. Of three runs or more each is compared with each that is named before it.
    """
    check_asked(facet, kind, per_query=per_query, raw=raw)
    check_runs(runs, kind, stripped=stripped)
    if by_graders and golden is not None:
        raise click.UsageError(
            "--graders reads every single grade, and a frozen version has the agreed ones alone"
        )
    if by_graders:
        check_graders(runs, facet, per_query=per_query, stripped=stripped)
    with Store(db) as store:
        collection, settings = freezing.collection_of(store, golden)
        singles = store.single_grades() if by_graders else None
        traffic = traffic_asked(store, per_query=per_query, graders=by_graders)
    conventions = conventions_of(settings, preset, rel, budget).on(collection.golden)
    if conventions.selected.chunkings is None:
        conventions = conventions.across(collection, runs)
    if texts == USUAL:
        texts = usual(collection, runs)
    measures = measures_of(conventions, texts)
    board, unsaid = weighed(Scoreboard(chosen(collection, runs), conventions), traffic)
    every_run, _ = weighed(Scoreboard(collection, conventions), traffic)
    conventions = board.conventions
    found, refused = compare_each(board, runs, measures, facet)
    shown = tested_together(found)
    notes = notes_on(board, measures, facet) + unsaid
    if singles is not None:
        print_survival(board, shown[0], singles, kind, notes, raw=raw)
        return
    is_plain = traffic is None
    ranges = tied_ranges(board, measures) if is_plain and facet is None and not per_query else None
    if ranges is not None:
        notes += tie_notes(ranges, conventions)
    notes += [*refused, *warnings(board, every_run, shown, settings.matters)]
    notes += [] if per_query else how_sure(shown)
    if kind in FOR_PROGRAMS:
        pairs = [records_of(every_run, each, per_query=per_query) for each in shown]
        records = [row for each in pairs for row in each]
        print_records(kind, records, ranges, conventions, notes, raw=raw)
        return
    tables = [table_of(shown, per_query=per_query)]
    if not per_query:
        tables.append(surety_table(shown))
    strips = strip_lines(board, found[0]) if stripped else []
    click.echo(as_page(kind, tables, conventions, notes, strips), nl=False)


def check_runs(runs: Sequence[str], kind: str, *, stripped: bool) -> None:
    """Raise a usage error for one run alone, and for strips that have no place."""
    if len(runs) < 2:
        raise click.UsageError("Missing argument 'B': name two runs or more.")
    if stripped and kind in FOR_PROGRAMS:
        raise click.UsageError("--strips are for people; ask for them with --format table or md")
    if stripped and len(runs) > 2:
        raise click.UsageError("--strips are of two runs; name A and B alone")


def compare_each(
    board: Scoreboard, runs: Sequence[str], measures: Sequence[Measure], facet: str | None
) -> tuple[list[Comparison], list[Note]]:
    """Compare all pairs of runs, and say which have nothing in common; some pair must have."""
    found, refused = [], []
    for a, b in combinations(runs, 2):
        try:
            found.append(comparison.compare(board, a, b, measures, facet))
        except BadInput as error:
            if len(runs) == 2 or a == b:
                raise
            refused.append(Note("not compared", str(error)))
    if not found:
        raise BadInput("no two of these runs have results for the same query")
    return found, refused


def records_of(every_run: Scoreboard, shown: Shown, *, per_query: bool) -> list[Record]:
    """Return what programs get: the same values in every digit, and what holes could make of it.

    All runs there are tell what ungraded chunks may be, as on the page, and not these two alone.
    """
    found = shown.found
    if per_query:
        return comparison.query_delta_records(found)
    records = comparison.delta_records(found, shown.rows, shown.tested)
    if every_run.weights is not None:
        return records
    bands, asked = Bands(every_run, (found.a, found.b)), (every_run, found.measures, found.facet)
    return with_bands(records, bands.means(*asked), bands.deltas(*asked))


def table_of(shown: Sequence[Shown], *, per_query: bool) -> Table:
    """Return a line for each row, with four digits; a query's needs no counts."""
    found = shown[0].found
    place = "query" if per_query else found.facet
    names = ["measure"] if place is None else [legible(place), "measure"]
    counts = [] if per_query else ["wins", "ties", "losses", "n", "undefined"]
    sides = [legible(found.a), legible(found.b)] if len(shown) == 1 else ["of A", "of B"]
    is_carried = not per_query and any(r.carried_a or r.carried_b for s in shown for r in s.rows)
    carried = ["carried A", "carried B"] if is_carried else []
    numbers = [*sides, "delta", *counts, "holes A", "holes B", *carried]
    lines = [
        [*([legible(each.found.a), legible(each.found.b)] if len(shown) > 1 else []), *line]
        for each in shown
        for line in (_query_lines(each.found) if per_query else _mean_lines(each, is_carried))
    ]
    return Table([*(["A", "B"] if len(shown) > 1 else []), *names], numbers, lines)


def _mean_lines(shown: Shown, is_carried: bool) -> Iterator[list[str]]:
    for row in shown.rows:
        counts = (row.wins, row.ties, row.losses, row.n, row.undefined)
        carried = [str(row.carried_a), str(row.carried_b)] if is_carried else []
        yield [*_cells(row.bucket, row, shown.found.conventions, counts), *carried]
        if (both := shown.found.on_both(row)) is not None:
            yield [*_both_cells(row, both), *([""] * len(carried))]


def _both_cells(row: Delta, both: Both) -> list[str]:
    """Return the line under a row: its values where both runs have results."""
    place = [] if row.bucket is None else [legible(row.bucket)]
    values = [number(both.a), number(both.b), signed(both.delta)]
    return [*place, "· both answered", *values, "", "", "", str(both.n), "", "", ""]


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


def warnings(
    board: Scoreboard, every_run: Scoreboard, shown: Sequence[Shown], matters: float
) -> Iterator[Note]:
    """Say which run is better and where the table misleads, by no more than chance allows.

    Of two runs alone also how sure it is who is ahead once all holes are graded; a difference less
    than ``matters`` is none.
    """
    for each in shown:
        yield from _of_pair(board, every_run, each, matters, alone=len(shown) == 1)


def how_sure(shown: Sequence[Shown]) -> list[Note]:
    """Say by which rule a difference is more than chance, and what intervals and tests cover."""
    sizes = [each.tested.of(row).family for each in shown for row in each.rows]
    family = comparison.family_in_words(sizes)
    return [
        Note("how sure", f"{comparison.RULE}; {family}; {comparison.COVERS}"),
        Note("how worked out", comparison.METHODS),
    ]


def _of_pair(
    board: Scoreboard, every_run: Scoreboard, shown: Shown, matters: float, *, alone: bool
) -> Iterator[Note]:
    found = shown.found
    pair = None if alone else (found.a, found.b)
    rerank = comparison.rerank(board, found.a, found.b)
    if rerank.identical:
        yield Note("identical", rerank.sentence, pair=pair)
        return
    if (said := comparison.verdict(board, found, tested=shown.of_totals)) is not None:
        answer = answered(every_run, shown, said) if alone else Answered(Answer(said.sentence))
        yield Note(said.kind, answer.answer.sentence, pair=pair)
        can_settle = board.conventions.frozen is None and not board.collection.is_of_several
        if alone and board.weights is None and can_settle:
            sure = settling_in_words(every_run, found, answer, matters)
            if sure:
                yield Note("once all is graded", sure)
    yield from _of_buckets(shown, pair)
    if not alone:
        return
    if rerank.within == rerank.queries:
        yield Note("same chunks", rerank.sentence)
    if board.weights is not None:
        return
    parts = comparison.split(board, found.a, found.b, found.measures[0])
    if parts.n:
        yield Note("parts", parts.sentence, measure=parts.measure)


def _of_buckets(shown: Shown, pair: tuple[str, str] | None) -> Iterator[Note]:
    """Say which buckets move against the total, and where B loses most by the first measure."""
    found = shown.found
    worst, against = comparison.of_buckets(found, (found.a, found.b), shown.tested)
    said = [*(("bucket against total", each) for each in against), ("largest loss", worst)]
    for kind, finding in said:
        if finding is not None and (row := finding.about) is not None:
            yield Note(kind, finding.sentence, (), row.measure, (row.facet, row.bucket), pair)

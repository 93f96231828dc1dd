"""``labeler compare``: runs against each other, with tests, strips and each grader's own grades.

All pairs of one call are tested as one family.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import click

from labeler.analysis import comparison
from labeler.analysis.active import Decider, can_decide
from labeler.analysis.active.certainty import can_change, explain_certainty
from labeler.analysis.comparison import (
    CommonMeans,
    Comparison,
    Delta,
    GraderSensitivity,
    Headline,
    HeadlineDelta,
    HeadlineResult,
    Power,
    QueryDelta,
    SignificanceTable,
    Verdict,
)
from labeler.cli.groups import CommandT, database_option
from labeler.cli.options import (
    check_common_options,
    conventions_of,
    golden_option,
    parse_measures,
    requested_traffic,
    select_runs,
    value_options,
    weighted_option,
    with_weights,
)
from labeler.cli.output import (
    FOR_PROGRAMS,
    Table,
    format_page,
    notes_on,
    print_records,
    print_table,
    text_lines,
)
from labeler.errors import BadInput
from labeler.evaluation import (
    DEFAULT_MEASURES,
    Conventions,
    Note,
    Record,
    Scoreboard,
    find_tie_ranges,
    format_number,
    format_signed,
    measures_for_runs,
    tie_notes,
)
from labeler.measures import Measure
from labeler.model import SingleGrades, escape_controls
from labeler.services.import_export import snapshots
from labeler.stats import DeltaRanges, LiveRanges, with_unjudged_ranges
from labeler.store import Store
from labeler.store.addresses import StoreLocation


@dataclass(frozen=True, slots=True)
class TestedPair:
    """Two runs compared: the ``rows`` that the table shows of them, and their tests."""

    found: Comparison
    rows: Sequence[Delta]
    tested: SignificanceTable

    @property
    def of_totals(self) -> SignificanceTable:
        """The tests of the means over all queries, a family of their own where others are shown."""
        if self.found.facet is None:
            return self.tested
        return comparison.assess_significance(self.found, self.found.deltas)


def test_together(found: Sequence[Comparison]) -> list[TestedPair]:
    """Test all that a table shows of all pairs: the means of buckets, or over all queries."""
    rows = [each.buckets if each.facet else each.deltas for each in found]
    tested = comparison.assess_significance_of_pairs(list(zip(found, rows, strict=True)))
    return [TestedPair(*parts) for parts in zip(found, rows, tested, strict=True)]


def answer_for(every_run: Scoreboard, shown: TestedPair, said: Verdict) -> HeadlineResult:
    """Return what is known of two runs, how surely, and what would change it, over all queries.

    All runs there are tell what ungraded chunks may be, as on the page, and not these two alone.
    """
    found, tested = shown.found, shown.of_totals
    row = comparison.choose_headline_row(said, found.deltas, found.measures[0])
    if row is None:
        return HeadlineResult(Headline(said.sentence))
    [reach] = comparison.assess_power(found, [row])
    bands: DeltaRanges = {}
    if found.weights is None:
        bands = LiveRanges(every_run, (found.a, found.b)).deltas(every_run, [row.measure])
    lead = HeadlineDelta(row, tested.of(row), reach, bands.get((row.measure, None)))
    return HeadlineResult(
        comparison.write_headline(said, lead, found.conventions, (found.a, found.b)), lead
    )


def certainty_note(
    every_run: Scoreboard, found: Comparison, answer: HeadlineResult, matters: float
) -> str:
    """Say who is ahead once all chunks are judged, how certainly, and after how many grades.

    As on Compare, nothing if no grade can change it. ``matters`` is the least difference that
    counts.
    """
    measure = found.measures[0] if answer.lead is None else answer.lead.row.measure
    if not can_decide(measure) or not answer.may_be_settled:
        return ""
    standing = Decider().standing(every_run, found.a, found.b, measure, matters)
    if not can_change(standing):
        return ""
    seen, band = (None, None) if answer.lead is None else (answer.lead.row, answer.lead.band)
    return explain_certainty(standing, found.conventions, (found.a, found.b), seen, band)


def significance_table(shown: Sequence[TestedPair]) -> Table:
    """Return how sure each difference is: a line for each, in the order of the table of means."""
    facet = shown[0].found.facet
    pair = ["A", "B"] if len(shown) > 1 else []
    names = [*pair, *([escape_controls(facet)] if facet else []), "measure"]
    numbers = ["delta", "95% interval", "p", "Holm p", "finds from", "more queries"]
    lines, cautions = [], []
    for each in shown:
        runs = [escape_controls(each.found.a), escape_controls(each.found.b)] if pair else []
        reaches = comparison.assess_power(each.found, each.rows)
        for row, reach in zip(each.rows, reaches, strict=True):
            place = [] if row.bucket is None else [escape_controls(row.bucket)]
            heading = each.found.conventions.heading(row.measure)
            lines.append([*runs, *place, heading, *_significance_cells(row, reach, each.tested)])
            cautions.append(comparison.describe_caution(row, reach))
    if any(cautions):
        numbers.append("caution")
        lines = [[*line, said] for line, said in zip(lines, cautions, strict=True)]
    return Table(names, numbers, lines)


def _significance_cells(row: Delta, reach: Power, tested: SignificanceTable) -> list[str]:
    surety = tested.of(row)
    return [
        format_signed(row.delta),
        comparison.format_delta_interval(reach.interval),
        comparison.format_p_value(surety.p),
        comparison.format_p_value(surety.holm),
        format_number(reach.detectable),
        comparison.format_more_queries(reach),
    ]


def graders_option(command: CommandT) -> CommandT:
    """Let the comparison be made under other readings of the grades."""
    return click.option(
        "--graders",
        "by_graders",
        is_flag=True,
        help="Compare with each grader's own grades wherever they gave one, with the lowest, "
        "median and highest, and without stale and without non-blind judgments: a row for each, "
        "and whether the verdict holds.",
    )(command)


def check_graders(
    runs: Sequence[str], facet: str | None, *, per_query: bool, stripped: bool
) -> None:
    """Raise a usage error for what cannot be asked for together with ``--graders``."""
    if len(runs) > 2:
        raise click.UsageError("--graders is of two runs; name A and B alone")
    if facet is not None or per_query or stripped:
        raise click.UsageError(
            "--graders is over all queries, without --by, --per-query and --strips"
        )


def print_survival(
    board: Scoreboard,
    shown: TestedPair,
    singles: SingleGrades,
    kind: str,
    notes: Sequence[Note],
    *,
    raw: bool,
) -> None:
    """Print the readings; to people only those that change something, of the golden grades."""
    found, tested = shown.found, {row.measure: shown.tested.of(row) for row in shown.rows}
    measures = [measure for measure in found.measures if not measure.crosses]
    if not measures:
        raise BadInput(
            "--graders reads what each one says of a chunk, and these measures are of documents "
            "and of the evidence; ask for measures of chunks, such as nDCG@10"
        )
    told = comparison.measure_sensitivity(board, found, singles, measures, tested=tested)
    names, conventions = (found.a, found.b), found.conventions
    if kind in FOR_PROGRAMS:
        records = comparison.sensitivity_records(told, *names)
        said = [*notes, *survival_notes(told, names)]
        print_records(kind, records, None, conventions, said, raw=raw)
        return
    table, said = survival_table(told, found), [*survival_notes(told[:1], names), *notes]
    print_table(table, conventions, said, kind)


def survival_notes(told: Sequence[GraderSensitivity], names: tuple[str, str]) -> list[Note]:
    """Say of each measure whether the verdict holds under every grader, or why nothing is said."""
    return [
        Note(
            "survives",
            comparison.describe_sensitivity(each, names) or f"{each.heading}: {each.why_not_told}",
            measure=each.measure,
        )
        for each in told
    ]


def survival_table(told: Sequence[GraderSensitivity], found: Comparison) -> Table:
    """Return a line for each measure and reading that changes something."""
    numbers = [
        "pairs differ",
        escape_controls(found.a),
        escape_controls(found.b),
        "delta",
        "wins",
        "ties",
    ]
    lines = [line for survival in told for line in _survival_lines(survival)]
    return Table(["measure", "grades"], [*numbers, "losses", "n", "p"], lines)


def _survival_lines(survival: GraderSensitivity) -> Iterator[list[str]]:
    for each in survival.told:
        row = each.row
        if each.changed or each is survival.golden:
            values = [format_number(row.a), format_number(row.b), format_signed(row.delta)]
            counts = map(str, (row.wins, row.ties, row.losses, row.n))
            named = [survival.heading, escape_controls(each.reading.called), str(each.changed)]
            yield [*named, *values, *counts, format_number(each.p)]


DEFAULT_STRIP_RANKS = 10  # how many ranks a strip shows where the leading measure has no cut-off


@click.command()
@click.argument("runs", nargs=-1, required=True, metavar="A B [C]...")
@value_options
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
    db: StoreLocation,
    runs: tuple[str, ...],
    texts: tuple[str, ...],
    preset: str,
    rel: int | None,
    prompt_k: int | None,
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
    check_common_options(facet, kind, per_query=per_query, raw=raw)
    check_runs(runs, kind, stripped=stripped)
    if by_graders and golden is not None:
        raise click.UsageError(
            "--graders reads every single grade, and a frozen version has the agreed ones alone"
        )
    if by_graders:
        check_graders(runs, facet, per_query=per_query, stripped=stripped)
    with Store(db) as store:
        collection, settings = snapshots.collection_of(store, golden)
        singles = store.single_grades() if by_graders else None
        traffic = requested_traffic(store, per_query=per_query, graders=by_graders)
    conventions = conventions_of(settings, preset, rel, prompt_k).on(collection.golden)
    if conventions.selected.chunkings is None:
        conventions = conventions.across(collection, runs)
    if texts == DEFAULT_MEASURES:
        texts = measures_for_runs(collection, runs)
    measures = parse_measures(conventions, texts)
    board, unsaid = with_weights(Scoreboard(select_runs(collection, runs), conventions), traffic)
    every_run, _ = with_weights(Scoreboard(collection, conventions), traffic)
    conventions = board.conventions
    found, refused = compare_each(board, runs, measures, facet)
    shown = test_together(found)
    notes = notes_on(board, measures, facet) + unsaid
    if singles is not None:
        print_survival(board, shown[0], singles, kind, notes, raw=raw)
        return
    is_plain = traffic is None
    ranges = (
        find_tie_ranges(board, measures) if is_plain and facet is None and not per_query else None
    )
    if ranges is not None:
        notes += tie_notes(ranges, conventions)
    notes += [*refused, *comparison_notes(board, every_run, shown, settings.matters)]
    notes += [] if per_query else method_notes(shown)
    if kind in FOR_PROGRAMS:
        pairs = [delta_records(every_run, each, per_query=per_query) for each in shown]
        records = [row for each in pairs for row in each]
        print_records(kind, records, ranges, conventions, notes, raw=raw)
        return
    tables = [delta_table(shown, per_query=per_query)]
    if not per_query:
        tables.append(significance_table(shown))
    strips = strip_lines(board, found[0]) if stripped else []
    click.echo(format_page(kind, tables, conventions, notes, strips), nl=False)


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


def delta_records(every_run: Scoreboard, shown: TestedPair, *, per_query: bool) -> list[Record]:
    """Return rows for programs: the same values in every digit, with ranges over unjudged chunks.

    As on the page, all runs of the golden set inform the ranges, not these two alone.
    """
    found = shown.found
    if per_query:
        return comparison.query_delta_records(found)
    records = comparison.delta_records(found, shown.rows, shown.tested)
    if every_run.weights is not None:
        return records
    bands, asked = (
        LiveRanges(every_run, (found.a, found.b)),
        (every_run, found.measures, found.facet),
    )
    return with_unjudged_ranges(records, bands.means(*asked), bands.deltas(*asked))


def delta_table(shown: Sequence[TestedPair], *, per_query: bool) -> Table:
    """Return a line for each row, with four digits; a query's needs no counts."""
    found = shown[0].found
    place = "query" if per_query else found.facet
    names = ["measure"] if place is None else [escape_controls(place), "measure"]
    counts = [] if per_query else ["wins", "ties", "losses", "n", "undefined"]
    sides = (
        [escape_controls(found.a), escape_controls(found.b)]
        if len(shown) == 1
        else ["of A", "of B"]
    )
    is_transferred = not per_query and any(
        r.transferred_a or r.transferred_b for s in shown for r in s.rows
    )
    transferred = ["transferred A", "transferred B"] if is_transferred else []
    numbers = [*sides, "delta", *counts, "unjudged A", "unjudged B", *transferred]
    lines = [
        [
            *(
                [escape_controls(each.found.a), escape_controls(each.found.b)]
                if len(shown) > 1
                else []
            ),
            *line,
        ]
        for each in shown
        for line in (_query_lines(each.found) if per_query else _mean_lines(each, is_transferred))
    ]
    return Table([*(["A", "B"] if len(shown) > 1 else []), *names], numbers, lines)


def _mean_lines(shown: TestedPair, is_transferred: bool) -> Iterator[list[str]]:
    for row in shown.rows:
        counts = (row.wins, row.ties, row.losses, row.n, row.undefined)
        transferred = [str(row.transferred_a), str(row.transferred_b)] if is_transferred else []
        yield [*_delta_cells(row.bucket, row, shown.found.conventions, counts), *transferred]
        if (both := shown.found.means_in_common(row)) is not None:
            yield [*_both_cells(row, both), *([""] * len(transferred))]


def _both_cells(row: Delta, both: CommonMeans) -> list[str]:
    """Return the line under a row: its values where both runs have results."""
    place = [] if row.bucket is None else [escape_controls(row.bucket)]
    values = [format_number(both.a), format_number(both.b), format_signed(both.delta)]
    return [*place, "· both answered", *values, "", "", "", str(both.n), "", "", ""]


def _query_lines(found: Comparison) -> Iterator[list[str]]:
    columns = [found.queries(measure) for measure in found.measures]
    for rows in zip(*columns, strict=True):
        for row in rows:
            yield _delta_cells(row.query_id, row, found.conventions)


def _delta_cells(
    place: str | None,
    row: Delta | QueryDelta,
    conventions: Conventions,
    counts: tuple[int, ...] = (),
) -> list[str]:
    return [
        *([] if place is None else [escape_controls(place)]),
        conventions.heading(row.measure),
        format_number(row.a),
        format_number(row.b),
        format_signed(row.delta),
        *map(str, (*counts, row.unjudged_a, row.unjudged_b)),
    ]


def strip_lines(board: Scoreboard, found: Comparison) -> list[str]:
    """Return two strips a query, sorted by the first measure's delta; undefined ones come last."""
    measure = found.measures[0]
    k = measure.cutoff if isinstance(measure.cutoff, int) else DEFAULT_STRIP_RANKS
    pair = [comparison.grade_strips(board, run, k) for run in (found.a, found.b)]
    rows = found.queries(measure)
    known = [at for at, row in enumerate(rows) if not math.isnan(row.delta)]
    rest = [at for at, row in enumerate(rows) if math.isnan(row.delta)]
    order = [*sorted(known, key=lambda at: rows[at].delta), *rest]
    body = [
        [
            escape_controls(rows[at].query_id),
            *(comparison.format_strip(part[at]) for part in pair),
            format_signed(rows[at].delta),
        ]
        for at in order
    ]
    heading = f"{found.conventions.heading(measure)} delta"
    return text_lines(
        Table(["query", escape_controls(found.a), escape_controls(found.b)], [heading], body)
    )


def comparison_notes(
    board: Scoreboard, every_run: Scoreboard, shown: Sequence[TestedPair], matters: float
) -> Iterator[Note]:
    """Say which run is better and where the table misleads, by no more than chance allows.

    For two runs alone also who is ahead once all chunks are judged; a difference under ``matters``
    counts as none.
    """
    for each in shown:
        yield from _pair_notes(board, every_run, each, matters, alone=len(shown) == 1)


def method_notes(shown: Sequence[TestedPair]) -> list[Note]:
    """Say by which rule a difference is more than chance, and what intervals and tests cover."""
    sizes = [each.tested.of(row).family for each in shown for row in each.rows]
    family = comparison.describe_correction(sizes)
    return [
        Note("how sure", f"{comparison.SIGNIFICANCE_RULE}; {family}; {comparison.COVERAGE_NOTE}"),
        Note("how worked out", comparison.METHODS_NOTE),
    ]


def _pair_notes(
    board: Scoreboard, every_run: Scoreboard, shown: TestedPair, matters: float, *, alone: bool
) -> Iterator[Note]:
    found = shown.found
    pair = None if alone else (found.a, found.b)
    rerank = comparison.compare_candidates(board, found.a, found.b)
    if rerank.identical:
        yield Note("identical", rerank.sentence, pair=pair)
        return
    if (said := comparison.decide_verdict(board, found, tested=shown.of_totals)) is not None:
        answer = (
            answer_for(every_run, shown, said) if alone else HeadlineResult(Headline(said.sentence))
        )
        yield Note(said.kind, answer.answer.sentence, pair=pair)
        can_settle = board.conventions.frozen is None and not board.collection.has_several_chunkings
        if alone and board.weights is None and can_settle:
            sure = certainty_note(every_run, found, answer, matters)
            if sure:
                yield Note("once all is graded", sure)
    yield from _bucket_notes(shown, pair)
    if not alone:
        return
    if rerank.within == rerank.queries:
        yield Note("same chunks", rerank.sentence)
    if board.weights is not None:
        return
    parts = comparison.split_delta(board, found.a, found.b, found.measures[0])
    if parts.n:
        yield Note("parts", parts.sentence, measure=parts.measure)


def _bucket_notes(shown: TestedPair, pair: tuple[str, str] | None) -> Iterator[Note]:
    """Say which buckets move against the total, and where B loses most by the first measure."""
    found = shown.found
    worst, against = comparison.find_bucket_findings(found, (found.a, found.b), shown.tested)
    said = [*(("bucket against total", each) for each in against), ("largest loss", worst)]
    for kind, finding in said:
        if finding is not None and (row := finding.about) is not None:
            yield Note(kind, finding.sentence, (), row.measure, (row.facet, row.bucket), pair)

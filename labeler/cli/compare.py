"""``labeler compare``: which of two runs is better, by how much, and what could change that."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import chain, combinations

import click

from labeler.analysis import comparison
from labeler.analysis.active import Decider
from labeler.analysis.cautions import find_cautions
from labeler.analysis.comparison import Comparison, DecisionRules, GraderSensitivity, ShownPair
from labeler.analysis.run_verdict import (
    PairResult,
    RangesLookup,
    is_asked_for,
    judge_pair,
)
from labeler.cli.explain import HOW, explain_by, explain_differences
from labeler.cli.groups import CommandT, database_option
from labeler.cli.options import (
    CONVENTION_OPTIONS,
    FORM_OPTIONS,
    PER_VALUE_OPTIONS,
    CountingCommand,
    ValueOptions,
    golden_option,
    measures_option,
    requested_traffic,
    select_runs,
    weighted_option,
    with_value_options,
    with_weights,
)
from labeler.cli.output import (
    RunLabels,
    Table,
    annotated,
    format_records,
    format_result,
    notes_on,
    one_line,
    print_records,
    print_result,
    text_lines,
)
from labeler.errors import BadInput
from labeler.evaluation import (
    DEFAULT_MEASURES,
    Conventions,
    Note,
    Record,
    Scoreboard,
    TieRangesByRun,
    find_tie_ranges,
    format_signed,
    measures_for_runs,
    tie_notes,
)
from labeler.measures import Measure
from labeler.model import Settings, SingleGrades, escape_controls, format_count, results
from labeler.model.results import ANSWER, COUNT, NOTE, NUMBER, SIGNED, Column, Statement
from labeler.stats import LiveRanges
from labeler.store import Store
from labeler.store.addresses import StoreLocation


def graders_option(command: CommandT) -> CommandT:
    """Add ``--graders``, which repeats the comparison under other readings of the grades."""
    return click.option(
        "--graders",
        "by_graders",
        is_flag=True,
        help="Compare again with each grader's own grades, with the lowest, median and highest, "
        "and without stale or non-blind judgments: one row for each, and whether the verdict "
        "stays the same.",
    )(command)


def check_graders(runs: Sequence[str], options: ValueOptions, *, stripped: bool) -> None:
    """Raise a usage error for options that do not go with ``--graders``."""
    if options.golden is not None:
        raise click.UsageError(
            "--graders reads every single grade, and a frozen version has the agreed ones alone"
        )
    if len(runs) > 2:
        raise click.UsageError("--graders is of two runs; name A and B alone")
    if options.facet is not None or options.per_query or stripped:
        raise click.UsageError(
            "--graders is over all queries, without --by, --per-query and --strips"
        )


def print_survival(
    board: Scoreboard,
    shown: ShownPair,
    singles: SingleGrades,
    options: ValueOptions,
    notes: Sequence[Note],
) -> None:
    """Print the values under each reading; people get only the readings that change something."""
    found, tested = shown.compared, {row.measure: shown.tests.of(row) for row in shown.rows}
    measures = [measure for measure in found.measures if not measure.crosses]
    if not measures:
        raise BadInput(
            "--graders reads what each one says of a chunk, and these measures are of documents "
            "and of the evidence; ask for measures of chunks, such as nDCG@10"
        )
    told = comparison.measure_sensitivity(board, found, singles, measures, tested=tested)
    names, conventions = (found.a, found.b), found.conventions
    if options.for_programs:
        records = comparison.sensitivity_records(told, *names)
        said = [*notes, *survival_notes(told, names)]
        print_records(options.kind, records, conventions, said, raw=options.raw)
        return
    table, said = survival_table(told, found), [*survival_notes(told[:1], names), *notes]
    print_result(options.kind, (), table, conventions, said)


def survival_notes(told: Sequence[GraderSensitivity], names: tuple[str, str]) -> list[Note]:
    """Say for each measure whether the verdict holds under every grader, or why that is unknown.

    A verdict that does not hold is a warning.
    """
    return [
        Note(
            "survives",
            comparison.describe_sensitivity(each, names) or f"{each.heading}: {each.why_not_told}",
            measure=each.measure,
            is_warning=each.why_not_told is None and bool(each.opposed),
        )
        for each in told
    ]


def survival_table(told: Sequence[GraderSensitivity], found: Comparison) -> results.Table:
    """Return a row for each measure and reading that changes something."""
    columns = (
        *(Column("measure", "measure"), Column("reading", "grades")),
        Column("pairs_changed", "pairs differ", COUNT),
        *(Column("a", found.a, NUMBER), Column("b", found.b, NUMBER)),
        Column("delta", "delta", SIGNED),
        *(Column(name, name, COUNT) for name in ("wins", "ties", "losses", "n")),
        Column("p", "p", NUMBER),
    )
    rows = comparison.sensitivity_records(told, found.a, found.b, found.conventions)
    return results.Table(columns, rows)


PairResults = Mapping[tuple[str, str], PairResult]
DEFAULT_STRIP_RANKS = 10  # shown in a strip if the leading measure has no cut-off


@click.command(cls=CountingCommand)
@click.argument("runs", nargs=-1, required=True, metavar="A B [C]...")
@with_value_options(
    measures_option(DEFAULT_MEASURES), *CONVENTION_OPTIONS, *PER_VALUE_OPTIONS, *FORM_OPTIONS
)
@click.option(
    "--strips",
    "stripped",
    is_flag=True,
    help="Show the grades at each rank of A and B, one line per query, the largest loss by the"
    " first measure first; · is an unjudged chunk.",
)
@graders_option
@weighted_option
@golden_option
@database_option
@click.pass_obj
def compare(
    db: StoreLocation,
    runs: tuple[str, ...],
    options: ValueOptions,
    stripped: bool,
    by_graders: bool,
) -> None:
    """Say whether run B is better than A, where, and how surely.

    A difference is B minus A. Wins and losses count the queries where B is better and where it
    is worse. Of three runs or more, each is compared with each one named before it.
    """
    options.check()
    check_runs(runs, options, stripped=stripped)
    if by_graders:
        check_graders(runs, options, stripped=stripped)
    with Store(db) as store:
        collection, conventions, settings = options.read(store)
        singles = store.activity.single_grades() if options.golden is None else None
        traffic = requested_traffic(store, per_query=options.per_query, graders=by_graders)
        queries = {} if len(collection.golden_grade) else store.queries.texts()
    if conventions.selected.chunkings is None:
        conventions = conventions.across(collection, runs)
    measures = options.measures(conventions, measures_for_runs(collection, runs))
    board, unsaid = with_weights(Scoreboard(select_runs(collection, runs), conventions), traffic)
    every_run, _ = with_weights(Scoreboard(collection, conventions), traffic)
    found, refused = compare_each(board, runs, measures, options.facet)
    ranges_of = cache(lambda a, b: LiveRanges(every_run, (a, b)))
    labels = RunLabels(board.run_names)
    called = None if options.for_programs else labels
    said = judge_pairs(every_run, found, settings, singles, ranges_of, called)
    shown = [show_pair(each, said[each.a, each.b]) for each in found]
    notes = notes_on(board, measures, options.facet) + unsaid
    if singles is not None and by_graders:
        print_survival(board, shown[0], singles, options, notes)
        return
    ranges = tie_ranges(board, measures, options)
    notes += [] if ranges is None else tie_notes(ranges, board.conventions)
    parting = parting_table(every_run, found, queries)
    judged = JudgedPairs(every_run, shown, said, ranges_of, labels, ranges, parting)
    cautions = judged.cautions(measures, settings)
    strips = strip_lines(board, found[0], labels) if stripped else []
    page = judged.as_text(options, cautions, [*notes, *refused], strips)
    click.echo(page, nl=False)


@dataclass(frozen=True)
class JudgedPairs:
    """Pairs of runs and their verdicts; ranges and cautions are computed from ``every_run``.

    Tables for people use the runs' ``labels``. ``ties`` are the values that other orders of tied
    scores could give, None if not computed. If nothing is graded, people see ``parting``
    instead of values.
    """

    every_run: Scoreboard
    shown: Sequence[ShownPair]
    said: PairResults
    ranges_of: RangesLookup
    labels: RunLabels
    ties: TieRangesByRun | None
    parting: results.Table | None = None

    def cautions(self, measures: Sequence[Measure], settings: Settings) -> list[Statement]:
        """Return how the means of the deciding measure and of those shown could mislead."""
        deciding = [each.tests.deciding for each in self.said.values() if each.tests.deciding]
        runs = list(dict.fromkeys(run for pair in self.said for run in pair))
        asked = [*deciding, *measures]
        return find_cautions(self.every_run, asked, runs=runs, settings=settings)

    def as_text(
        self,
        options: ValueOptions,
        cautions: Sequence[Statement],
        notes: Sequence[Note],
        strips: Sequence[str] = (),
    ) -> str:
        """Return the output for people, or rows for programs."""
        conventions = self.shown[0].compared.conventions
        kind, per_query = options.kind, options.per_query
        if options.for_programs:
            about = (conventions, [*notes, *([] if per_query else [RULE, METHODS])], self.ties)
            records = program_records(
                self.every_run, self.shown, self.ranges_of, per_query=per_query
            )
            told = list(with_statements(kind, records, self.said, cautions, about))
            return format_records(kind, told, raw=options.raw)
        table = people_table(self.shown, self.labels, per_query=per_query)
        notes = [*notes, *self.how()]
        if self.parting is not None:
            table, notes = self.parting, [WHAT_TO_GRADE]
        statements = [*people_statements(self.said), *cautions]
        return format_result(kind, statements, table, conventions, notes, self.labels, strips)

    def how(self) -> list[Note]:
        """Return how differences and tests are computed, as notes."""
        tests = next(iter(self.said.values())).tests
        if tests.deciding is None:
            return []
        heading = self.every_run.conventions.heading
        beside = [heading(row.measure) for row in tests.others]
        how = explain_by(explain_differences(heading(tests.deciding), ", ".join(beside)))
        if (pairs := len(self.said)) > 1:
            said = f"intervals and p-values are corrected for {pairs:,} pairs of runs"
            how.append(Note("corrected", said))
        return how


MOST_PARTING = 10  # queries whose lists differ most, shown to people


def parting_table(
    board: Scoreboard, found: Sequence[Comparison], texts: Mapping[str, str]
) -> results.Table | None:
    """Return the queries whose two lists differ most.

    None if there are grades, more than two runs, or runs of two chunkings, which share no chunk.
    """
    if board.counts.grades or len(found) > 1 or found[0].apart:
        return None
    shown = {query_id: one_line(text) for query_id, text in texts.items()}
    return comparison.compare_lists(board, found[0].a, found[0].b).table(shown, MOST_PARTING)


def show_pair(found: Comparison, said: PairResult) -> ShownPair:
    """Return the rows shown for two runs: buckets if a facet was asked for, else all queries."""
    return ShownPair(found, found.buckets if found.facet else found.deltas, said.tests)


def tie_ranges(
    board: Scoreboard, measures: Sequence[Measure], options: ValueOptions
) -> TieRangesByRun | None:
    """Return the values that other orders of tied scores could give; None if not computed."""
    is_plain = board.weights is None and options.facet is None and not options.per_query
    return find_tie_ranges(board, measures) if is_plain else None


MOST_PAIRS_TOLD = 10  # to people; programs get them all


def judge_pairs(
    every_run: Scoreboard,
    found: Sequence[Comparison],
    settings: Settings,
    singles: SingleGrades | None,
    ranges_of: RangesLookup,
    labels: RunLabels | None,
) -> PairResults:
    """Return which run of each pair is better; for one pair also how many grades would decide."""
    decider, rules = Decider() if len(found) == 1 else None, DecisionRules.of(settings)
    judge = partial(judge_pair, every_run, singles=singles, pairs=len(found), decider=decider)

    def judged(a: str, b: str) -> PairResult:
        asked = decider is not None and is_asked_for(settings, a, b)
        names = None if labels is None else labels.pair(a, b)
        return judge(a, b, rules, ranges_of=ranges_of, asked=asked, names=names)

    return {(each.a, each.b): judged(each.a, each.b) for each in found}


def people_statements(said: PairResults) -> list[Statement]:
    """Return all statements on two runs; for several pairs only which run of each is better."""
    if len(said) == 1:
        [found] = said.values()
        return list(found.statements)
    answers = [
        [each for each in found.statements if each.severity == ANSWER] for found in said.values()
    ]
    told = list(chain.from_iterable(answers[:MOST_PAIRS_TOLD]))
    if (left := len(answers) - MOST_PAIRS_TOLD) > 0:
        more = format_count(left, "more pair", "more pairs")
        told.append(Statement("more pairs", f"{more}, which --format json has.", NOTE))
    return told


AboutRows = tuple[Conventions, Sequence[Note], TieRangesByRun | None]


def with_statements(
    kind: str,
    records: Sequence[Record],
    said: PairResults,
    cautions: Sequence[Statement],
    about: AboutRows,
) -> Iterator[Record]:
    """Yield rows for programs, each with the statements on its two runs."""
    for pair, found in said.items():
        rows = [row for row in records if (row["run_a"], row["run_b"]) == pair]
        yield from annotated(kind, rows, *about, [*found.statements, *cautions])


def check_runs(runs: Sequence[str], options: ValueOptions, *, stripped: bool) -> None:
    """Raise a usage error for a single run, and for ``--strips`` where they cannot be shown."""
    if len(runs) < 2:
        raise click.UsageError("Missing argument 'B': name two runs or more.")
    if stripped and options.for_programs:
        raise click.UsageError("--strips are for people; ask for them with --format table or md")
    if stripped and len(runs) > 2:
        raise click.UsageError("--strips are of two runs; name A and B alone")


def compare_each(
    board: Scoreboard, runs: Sequence[str], measures: Sequence[Measure], facet: str | None
) -> tuple[list[Comparison], list[Note]]:
    """Compare all pairs of runs, and note those that have nothing in common.

    Raises `BadInput` if no pair can be compared.
    """
    found, refused = [], []
    for a, b in combinations(runs, 2):
        try:
            found.append(comparison.compare(board, a, b, measures, facet))
        except BadInput as error:
            if len(runs) == 2 or a == b:
                raise
            refused.append(Note("not compared", str(error), is_warning=True))
    if not found:
        raise BadInput("no two of these runs have results for the same query")
    return found, refused


def program_records(
    every_run: Scoreboard, shown: Sequence[ShownPair], ranges_of: RangesLookup, *, per_query: bool
) -> list[Record]:
    """Return rows for programs: values in full precision, with ranges over unjudged chunks.

    As on the page, the ranges are computed from all runs of the golden set, not only these two.
    """
    if per_query:
        return [row for each in shown for row in comparison.query_delta_records(each.compared)]
    if every_run.weights is None:
        shown = [each.with_ranges(every_run, ranges_of) for each in shown]
    return comparison.comparison_table(shown).records()


def people_table(
    shown: Sequence[ShownPair], labels: RunLabels, *, per_query: bool
) -> results.Table:
    """Return the table for people, with the runs' labels as headings."""
    first = shown[0].compared
    names = labels.pair(first.a, first.b) if len(shown) == 1 else ("of A", "of B")
    if not per_query:
        return comparison.comparison_table(shown, names)
    tables = [comparison.query_table(each.compared, names) for each in shown]
    return replace(tables[0], rows=[row for table in tables for row in table.rows])


def strip_lines(board: Scoreboard, found: Comparison, labels: RunLabels) -> list[str]:
    """Return two strips per query, sorted by the first measure's delta, undefined ones last."""
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
    return text_lines(Table(["query", *labels.pair(found.a, found.b)], [heading], body))


WHAT_TO_GRADE = Note(
    "what to grade",
    "'labeler next A B' lists the chunks that decide most; 'labeler serve' opens the pages, where "
    "Compare has a button that gives them to graders",
)
RULE = Note("what is clear", f"{comparison.SIGNIFICANCE_RULE}; {comparison.COVERAGE_NOTE}")
METHODS = Note(HOW, comparison.METHODS_NOTE)

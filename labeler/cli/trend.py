"""``labeler trend``: a system's runs over time, and with ``--between`` the causes of a change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import click

from labeler.analysis import trend
from labeler.analysis.gate import Gate, read_gate_file, thresholds_for, why_other_conventions
from labeler.analysis.trend import (
    AlertScan,
    ChangeCauses,
    DatedRun,
    Thresholds,
    Timeline,
    TrendSeries,
    Window,
)
from labeler.cli.groups import FILE, database_option
from labeler.cli.options import (
    CONVENTION_OPTIONS,
    FORM_OPTIONS,
    CountingCommand,
    ValueOptions,
    check_facet,
    golden_collection,
    golden_option,
    measures_option,
    requested_traffic,
    select_runs,
    weighted_option,
    with_value_options,
    with_weights,
)
from labeler.cli.output import RunLabels, print_records, print_result
from labeler.cli.signals import print_signals, print_signals_below, stored_signals
from labeler.errors import BadInput, NotFound
from labeler.evaluation import (
    DEFAULT_MEASURES,
    Conventions,
    Note,
    Scoreboard,
)
from labeler.measures import Measure
from labeler.model import Collection, describe_chunking
from labeler.model.results import ANSWER, Statement, Table
from labeler.stats import mean_intervals
from labeler.store import Store
from labeler.store.addresses import StoreLocation


@dataclass(frozen=True)
class TrendRequest:
    """A trend to show: systems with their runs in the window, measures, and queries."""

    systems: dict[str, tuple[DatedRun, ...]]
    measures: tuple[Measure, ...]
    facet: str | None
    bucket: str | None
    gate: Gate | None = None

    @property
    def buckets(self) -> list[str] | None:
        """The one bucket asked for, None for all."""
        return None if self.bucket is None else [self.bucket]


def window_option(_: click.Context, __: click.Parameter, text: str) -> Window:
    """Parse the ``--window`` option."""
    try:
        return trend.parse_window(text)
    except BadInput as error:
        raise click.BadParameter(str(error)) from None


@click.command("trend", cls=CountingCommand)
@click.argument("systems", nargs=-1, metavar="[SYSTEM]...")
@click.option(
    "--window",
    default="all runs",
    show_default=True,
    callback=window_option,
    metavar="SPAN",
    help="How far back from a system's newest run, such as '30 runs' or '90 days'.",
)
@click.option("--by", "facet", metavar="FACET", help="A trend for each bucket of this facet.")
@click.option("--bucket", metavar="NAME", help="With --by: the trend in this bucket alone.")
@click.option("--points", is_flag=True, help="Print every run with its values and intervals.")
@click.option(
    "--signals",
    is_flag=True,
    help="Print every value of the signals by date, with the newest run of that time.",
)
@click.option(
    "--between",
    nargs=2,
    metavar="OLDER NEWER",
    help="Split the change between two runs by cause: the run, the grades and their rule, the "
    "queries.",
)
@click.option(
    "--grades",
    "graded_by",
    metavar="DATE|NAME",
    help="With --between: score the older run by the grades of this day or frozen version.  "
    "[default: of its own date]",
)
@click.option(
    "--gate",
    "gate_file",
    type=FILE,
    help="A gate file; values below its limits are reported.",
)
@with_value_options(measures_option(DEFAULT_MEASURES), *CONVENTION_OPTIONS, *FORM_OPTIONS)
@weighted_option
@golden_option
@database_option
@click.pass_obj
def trends(
    db: StoreLocation,
    systems: tuple[str, ...],
    window: Window,
    bucket: str | None,
    points: bool,
    signals: bool,
    between: tuple[str, str] | None,
    graded_by: str | None,
    gate_file: Path | None,
    options: ValueOptions,
) -> None:
    """Print how systems changed over time, and what fell.

    'load run' has --system and --date, which say what system a run belongs to and when it was
    made. All runs are scored by the same golden grades. A drop is an alert only if it is clear.
    Signals are printed below the runs; --signals prints them for programs.
    """
    if signals:
        check_signal_options(options, between, points=points)
        print_signals(db, systems, window, options.kind, raw=options.raw)
        return
    check_trend_options(options, between, graded_by, bucket, points=points)
    facet = options.facet
    with Store(db) as store:
        collection, conventions, _ = options.read(store)
        traffic = requested_traffic(store, between=between)
        measures, heard = options.measures(conventions), stored_signals(store)
        if between is not None:
            within = None if facet is None or bucket is None else (facet, bucket)
            parts, statements = split_change(
                store, collection, conventions, measures, between, graded_by, within
            )
            table = trend.change_causes_table(parts)
            of = [part.measure for part in parts]
            print_trend(options, statements, table, conventions, of)
            return
    dated = trend.build_timeline(select_runs(collection, ()).runs)
    named = [each.run for name in systems for each in dated.of(name)]
    kept, _ = conventions.selecting(select_runs(collection, named))  # the runs of one chunking
    line = trend.build_timeline(kept.runs)
    order = [name for name in systems or line.systems if name in line.systems]
    runs = {name: window.of(line.of(name)) for name in order}
    if not runs:
        raise NotFound(
            "no run has a date; 'labeler change run NAME --date 2026-01-31' gives one, and "
            "'labeler load run FILE --system NAME --date DATE' as it is loaded"
        )
    there = select_runs(kept, [r.run for each in runs.values() for r in each])
    board, _ = with_weights(Scoreboard(there, conventions), traffic)
    check_facet(board, facet)
    gate = None if gate_file is None else read_gate_file(gate_file)
    asked = TrendRequest(runs, board.resolve(measures), facet, bucket, gate)
    print_trends(board, asked, line, window, options, points=points)
    if not options.for_programs and facet is None:
        print_signals_below(heard, line, list(runs), window, options.kind)


def check_signal_options(
    options: ValueOptions, between: tuple[str, str] | None, *, points: bool
) -> None:
    """Raise a usage error for options that do not go with ``--signals``."""
    if options.facet is not None or between is not None or points:
        raise click.UsageError("--signals does not go with --by, --between or --points")
    if options.raw and options.kind != "csv":
        raise click.UsageError("--raw goes with --format csv; the others never change a name")


def check_trend_options(
    options: ValueOptions,
    between: tuple[str, str] | None,
    graded_by: str | None,
    bucket: str | None,
    *,
    points: bool,
) -> None:
    """Raise a usage error for options that do not go together."""
    facet = options.facet
    if bucket is not None and facet is None:
        raise click.UsageError("--bucket needs --by, which names its facet")
    if between is None and graded_by is not None:
        raise click.UsageError("--grades goes with --between")
    if between is not None and points:
        raise click.UsageError("--between and --points cannot be asked for together")
    if between is not None and facet is not None and bucket is None:
        raise click.UsageError("--between is over all queries or one bucket: name it with --bucket")
    options.check()


def print_trends(
    board: Scoreboard,
    asked: TrendRequest,
    line: Timeline,
    window: Window,
    options: ValueOptions,
    *,
    points: bool,
) -> None:
    """Print a summary of every series, or every point, with what fell."""
    every = series_of(board, asked, with_ends=points)
    bars = series_thresholds(board, asked, every)
    scan = trend.scan_for_alerts(
        trend.QueryValues(board), every, watched_buckets(board, asked), bars
    )
    summaries = trend.summarize_series(board, every)
    below = trend.below_thresholds(summaries, bars, board.conventions, scan.alerts)
    direction = [] if points else [trend.DIRECTION_RULE]
    rules = [trend.describe_window(window), *direction, scan.rule]
    statements = [*alert_statements(scan), *below, *line.statements, *rules]
    table = (
        trend.points_table(every, bars)
        if points
        else trend.summaries_table(summaries, scan.alerts, bars)
    )
    notes = trend_notes(board, asked)
    print_trend(options, statements, table, board.conventions, asked.measures, notes)


def with_headings(table: Table, measures: Sequence[Measure], conventions: Conventions) -> Table:
    """Return the table with measures named as in other tables: R@5, not R@prompt."""
    headings = {name: conventions.heading(each) for each in measures for name in each.names}
    rows = [{**row, "measure": headings.get(row["measure"], row["measure"])} for row in table.rows]
    return replace(table, rows=rows)


def print_trend(
    options: ValueOptions,
    statements: Sequence[Statement],
    table: Table,
    conventions: Conventions,
    measures: Sequence[Measure],
    notes: Sequence[Note] = (),
) -> None:
    """Print a table with its statements; programs get the alerts in their own column."""
    kind = options.kind
    if options.for_programs:
        told = [each for each in statements if each.severity != ANSWER]
        records = table.records()
        print_records(kind, records, conventions, notes, raw=options.raw, statements=told)
        return
    table = with_headings(table, measures, conventions)
    columns = {"run", "system"}.intersection(table.names)
    labels = RunLabels(dict.fromkeys(row[each] for row in table.rows for each in columns))
    print_result(kind, statements, table, conventions, notes, labels)


def alert_statements(scan: AlertScan) -> list[Statement]:
    """Return the worst alerts for people and how many more there are, or that there is none."""
    if not scan.looks:
        said = "There is no trend yet: no system has two runs with a value."
        return [Statement("no trend", said, ANSWER)]
    found, more = scan.statements, len(scan.alerts) - trend.MOST_OPEN_ALERTS
    if more > 0:
        said = f"There are {more} more alerts, which --format json has."
        found = [*found[: trend.MOST_OPEN_ALERTS], Statement("more alerts", said, ANSWER)]
    return found


def series_of(board: Scoreboard, asked: TrendRequest, *, with_ends: bool) -> list[TrendSeries]:
    """Return the series asked for; ``with_ends`` adds the intervals of their points."""
    place = (asked.measures, asked.facet)
    found = mean_intervals(board, *place, buckets=asked.buckets) if with_ends else {}
    return trend.build_series(board, asked.systems, *place, asked.buckets, found)


def series_thresholds(
    board: Scoreboard, asked: TrendRequest, every: Sequence[TrendSeries]
) -> Thresholds:
    """Return the least values that a gate file requires, by series."""
    gate = asked.gate
    if gate is None or why_other_conventions(gate, board.conventions):
        return trend.NO_THRESHOLDS
    return trend.thresholds_by_series(
        every, lambda *place: [each.at_least for each in thresholds_for(gate, board, *place)]
    )


def watched_buckets(board: Scoreboard, asked: TrendRequest) -> list[TrendSeries]:
    """Return a series by the first measure for every bucket; none if a facet was asked for."""
    if asked.facet is not None:
        return []
    first = asked.measures[:1]
    return [
        series
        for facet in board.facets
        for series in trend.build_series(board, asked.systems, first, facet)
    ]


def trend_notes(board: Scoreboard, asked: TrendRequest) -> list[Note]:
    """Return the notes on all runs, and a count of those on single runs."""
    notes = board.notes(asked.measures)
    single = sum(bool(note.runs) for note in notes)
    if asked.facet is not None and (lost := board.unbucketed(asked.facet)):
        sentence = f"judged queries in no bucket of {asked.facet!r}, so in no row: {lost}"
        notes = (*notes, Note("no bucket", sentence))
    if asked.gate is not None and (other := why_other_conventions(asked.gate, board.conventions)):
        notes = (*notes, Note("thresholds", other, is_warning=True))
    found = [note for note in notes if not note.runs]
    if single:
        more = f"notes on single runs, which 'labeler score RUN' prints: {single}"
        found.append(Note("single runs", more))
    return found


def split_change(
    store: Store,
    collection: Collection,
    conventions: Conventions,
    measures: Sequence[Measure],
    between: tuple[str, str],
    graded_by: str | None,
    within: tuple[str, str] | None,
) -> tuple[list[ChangeCauses], list[Statement]]:
    """Split the change between two runs into its causes, by earlier grades and those of now."""
    older, newer = between
    pair = select_runs(collection, between)
    check_same_chunking(pair)
    frozen = conventions.frozen
    now = "of now" if frozen is None else f"frozen as {frozen!r}"
    then, rule, grades = earlier_grades(store, pair, graded_by, now)
    earlier = replace(conventions, golden_rule=rule or conventions.golden_rule)
    boards = Scoreboard(then, earlier), Scoreboard(pair, conventions)
    parts = [
        trend.split_change(*boards, older, newer, measure, within)
        for measure in boards[1].resolve(measures)
    ]
    return parts, trend.cause_statements(parts, grades, in_bucket=within is not None)


def check_same_chunking(pair: Collection) -> None:
    """Raise `BadInput` for runs of two chunkings, whose grades are on different chunks."""
    older, newer = (describe_chunking(run.chunking) for run in pair.runs)
    if older != newer:
        raise BadInput(
            f"run {pair.runs[0].name!r} is of {older} and {pair.runs[1].name!r} of {newer}: a "
            "change is split between runs of one chunking; 'labeler compare' compares these"
        )


def earlier_grades(
    store: Store, pair: Collection, graded_by: str | None, now: str
) -> tuple[Collection, str | None, Statement]:
    """Return the older run with earlier grades, their golden rule, and a sentence on them.

    The grades are those of a day or of a frozen version. The rule is None if it is today's.
    ``now`` describes the grades of the newer run.
    """
    older = pair.runs[0]
    day = graded_by or older.created_at
    if not day:
        raise BadInput(f"run {older.name!r} has no date: name a day with --grades 2026-01-31")
    if graded_by is not None and graded_by in [each.name for each in store.versions.all()]:
        frozen, settings = golden_collection(store, graded_by)
        grades = trend.describe_grades(f"frozen as {graded_by!r}", now)
        return select_runs(frozen, [older.name]), settings.golden_rule, grades
    until = trend.end_of_date(day)
    then = store.versions.collection_at(until, [older.name])
    if graded_by is not None or len(then.golden_grade):
        return then, store.versions.rule_at(until), trend.describe_grades(f"of {day} (UTC)", now)
    grades = trend.describe_missing_grades(day, store.versions.first_judgment_at(), now)
    return replace(pair, runs=pair.runs[:1]), None, grades

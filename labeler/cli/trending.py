"""``labeler trend``: a system's runs over time, and whose doing a change between two was."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from labeler.analysis import trend
from labeler.analysis.gate import Gate, gate_at, other_conventions, thresholds_for
from labeler.analysis.trend import (
    Dated,
    Looked,
    Point,
    Series,
    Summary,
    Thresholds,
    Timeline,
    Window,
)
from labeler.cli.golden import golden_option
from labeler.cli.group import FILE, check_raw, database_option
from labeler.cli.parting import print_parts, split
from labeler.cli.scoring import (
    CONVENTION_OPTIONS,
    FORM_OPTIONS,
    check_facet,
    chosen,
    conventions_of,
    measures_of,
    measures_option,
    print_records,
    print_table,
    with_options,
)
from labeler.cli.signalling import heard_by, print_signals, print_under
from labeler.cli.tables import FOR_PROGRAMS, Table
from labeler.cli.weighting import traffic_asked, weighed, weighted_option
from labeler.errors import BadInput, NotFound
from labeler.evaluation import USUAL, Conventions, Note, Scoreboard, number, signed
from labeler.measures import Measure
from labeler.model import legible
from labeler.services.import_export import freezing
from labeler.stats import mean_intervals
from labeler.store import Store
from labeler.store.addresses import Place


@dataclass(frozen=True)
class Asked:
    """What is looked at: systems with their runs of the window, measures, and which queries."""

    systems: dict[str, tuple[Dated, ...]]
    measures: tuple[Measure, ...]
    facet: str | None
    bucket: str | None
    gate: Gate | None = None

    @property
    def buckets(self) -> list[str] | None:
        """The one bucket that is asked for, None for all."""
        return None if self.bucket is None else [self.bucket]

    @property
    def within(self) -> tuple[str, str] | None:
        """The one bucket, with its facet."""
        return None if self.facet is None or self.bucket is None else (self.facet, self.bucket)


def window_option(_: click.Context, __: click.Parameter, text: str) -> Window:
    """Read how far back is looked."""
    try:
        return trend.window_of(text)
    except BadInput as error:
        raise click.BadParameter(str(error)) from None


@click.command("trend")
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
    help="Print every value of the signals, date by date, with the newest run of the time.",
)
@click.option(
    "--between",
    nargs=2,
    metavar="OLDER NEWER",
    help="Split the change between two runs: of the run, of grades and rule, of the queries.",
)
@click.option(
    "--grades",
    "graded_by",
    metavar="DATE|NAME",
    help="With --between: by which day's grades, or by which frozen version, the older run is "
    "taken.  [default: its own day's]",
)
@click.option(
    "--gate",
    "gate_file",
    type=FILE,
    help="A gate file, whose least values are the thresholds that a drop can pass.",
)
@lambda command: with_options(command, [measures_option(USUAL), *CONVENTION_OPTIONS, *FORM_OPTIONS])
@weighted_option
@golden_option
@database_option
@click.pass_obj
def trends(
    db: Place,
    systems: tuple[str, ...],
    window: Window,
    facet: str | None,
    bucket: str | None,
    points: bool,
    signals: bool,
    between: tuple[str, str] | None,
    graded_by: str | None,
    gate_file: Path | None,
    golden: str | None,
    texts: tuple[str, ...],
    preset: str,
    rel: int | None,
    budget: int | None,
    kind: str,
    raw: bool,
) -> None:
    """Print how systems moved from date to date, and what fell.

    A run belongs to the system that 'load run --system' named, and has the date of '--date'; all
    runs are scored by the same golden grades. What fell is said only where it is more than chance.
    Signals, if there are any, stand below; for programs --signals gives them.
    """
    if signals:
        check_signals(facet, between, points=points, kind=kind, raw=raw)
        print_signals(db, systems, window, kind, raw=raw)
        return
    check_asked(between, graded_by, facet, bucket, kind, points=points, raw=raw)
    with Store(db) as store:
        collection, settings = freezing.collection_of(store, golden)
        conventions = conventions_of(settings, preset, rel, budget).on(collection.golden)
        traffic = traffic_asked(store, between=between)
        measures, heard = measures_of(conventions, texts), heard_by(store)
        if between is not None:
            within = None if facet is None or bucket is None else (facet, bucket)
            parts, notes = split(
                store, collection, conventions, measures, between, graded_by, within
            )
            print_parts(parts, conventions, notes, kind, raw=raw)
            return
    dated = trend.timeline(chosen(collection, ()).runs)
    named = [each.run for name in systems for each in dated.of(name)]
    kept, _ = conventions.selecting(chosen(collection, named))  # the runs of one chunking
    line = trend.timeline(kept.runs)
    order = [name for name in systems or line.systems if name in line.systems]
    runs = {name: window.of(line.of(name)) for name in order}
    if not runs:
        raise NotFound(
            "no run has a date; 'labeler change run NAME --date 2026-01-31' gives one, and "
            "'labeler load run FILE --system NAME --date DATE' as it is loaded"
        )
    there = chosen(kept, [r.run for each in runs.values() for r in each])
    board, _ = weighed(Scoreboard(there, conventions), traffic)
    check_facet(board, facet)
    gate = None if gate_file is None else gate_at(gate_file)
    asked = Asked(runs, board.resolve(measures), facet, bucket, gate)
    print_trends(board, asked, line, window, kind, points=points, raw=raw)
    if kind not in FOR_PROGRAMS and facet is None:
        print_under(heard, line, list(runs), window, kind)


def check_signals(
    facet: str | None,
    between: tuple[str, str] | None,
    *,
    points: bool,
    kind: str,
    raw: bool,
) -> None:
    """Raise a usage error for what cannot be asked for together with --signals."""
    if facet is not None or between is not None or points:
        raise click.UsageError("--signals stands without --by, --between and --points")
    if raw and kind != "csv":
        raise click.UsageError("--raw goes with --format csv; the others never change a name")


def check_asked(
    between: tuple[str, str] | None,
    graded_by: str | None,
    facet: str | None,
    bucket: str | None,
    kind: str,
    *,
    points: bool,
    raw: bool,
) -> None:
    """Raise a usage error for options that cannot be asked for together."""
    if bucket is not None and facet is None:
        raise click.UsageError("--bucket needs --by, which names its facet")
    if between is None and graded_by is not None:
        raise click.UsageError("--grades goes with --between")
    if between is not None and points:
        raise click.UsageError("--between and --points cannot be asked for together")
    if between is not None and facet is not None and bucket is None:
        raise click.UsageError("--between is over all queries or one bucket: name it with --bucket")
    check_raw(kind, raw=raw)


def print_trends(
    board: Scoreboard,
    asked: Asked,
    line: Timeline,
    window: Window,
    kind: str,
    *,
    points: bool,
    raw: bool,
) -> None:
    """Print where every series stands, or every point of them, with what fell."""
    every = series_of(board, asked, with_ends=points)
    values = trend.Values(board)
    bars = bars_of(board, asked, every)
    looked = trend.look(values, every, watched_buckets(board, asked), bars)
    notes = [*general_notes(board, asked), *(Note("trend", said) for said in line.notes)]
    notes += [Note("window", f"{window}: direction and change are over it")]
    notes += [Note("direction", trend.DIRECTION), Note("alerts", looked.rule)]
    if kind in FOR_PROGRAMS:
        if points:
            records = trend.point_records(every, bars)
        else:
            records = trend.summary_records(trend.summaries(board, every), looked.alerts, bars)
        print_records(kind, records, None, board.conventions, notes, raw=raw)
        return
    said = alert_notes(looked)
    conventions = board.conventions
    table = (
        points_table(every, conventions)
        if points
        else summary_table(trend.summaries(board, every), conventions)
    )
    print_table(table, conventions, [*said, *notes], kind)


def alert_notes(looked: Looked) -> list[Note]:
    """Return what people are told of the alerts: the gravest, and how many more there are."""
    said = [alert.sentence for alert in looked.alerts]
    if not said:
        return [Note("alert", "nothing fell by more than chance")] if looked.looks else []
    more = len(said) - trend.MOST_SHOWN
    if more > 0:
        said = [*said[: trend.MOST_SHOWN], f"alerts: {more} more, which --format json has"]
    return [Note("alert", each) for each in said]


def series_of(board: Scoreboard, asked: Asked, *, with_ends: bool) -> list[Series]:
    """Return the series that are asked for, with the intervals of their points if wanted."""
    place = (asked.measures, asked.facet)
    found = mean_intervals(board, *place, buckets=asked.buckets) if with_ends else {}
    return trend.series_of(board, asked.systems, *place, asked.buckets, found)


def bars_of(board: Scoreboard, asked: Asked, every: Sequence[Series]) -> Thresholds:
    """Return the least values that a gate file asks for, by series."""
    gate = asked.gate
    if gate is None or other_conventions(gate, board.conventions):
        return trend.NO_THRESHOLDS
    return trend.thresholds_of(
        every,
        lambda *place: [each.at_least for each in thresholds_for(gate, board, *place)],
    )


def watched_buckets(board: Scoreboard, asked: Asked) -> list[Series]:
    """Return the buckets held against the mean over all queries, by the first measure."""
    if asked.facet is not None:
        return []
    first = asked.measures[:1]
    return [
        series
        for facet in board.facets
        for series in trend.series_of(board, asked.systems, first, facet)
    ]


def general_notes(board: Scoreboard, asked: Asked) -> list[Note]:
    """Return what is to know of all runs, and how much is to know of single ones."""
    notes = board.notes(asked.measures)
    single = sum(bool(note.runs) for note in notes)
    if asked.facet is not None and (lost := board.unbucketed(asked.facet)):
        sentence = f"judged queries in no bucket of {asked.facet!r}, so in no row: {lost}"
        notes = (*notes, Note("no bucket", sentence))
    if asked.gate is not None and (other := other_conventions(asked.gate, board.conventions)):
        notes = (*notes, Note("thresholds", other))
    found = [note for note in notes if not note.runs]
    if single:
        more = f"what is to know of single runs 'labeler score RUN' says: {single}"
        found.append(Note("single runs", more))
    return found


def summary_table(every: Sequence[Summary], conventions: Conventions) -> Table:
    """Return a line for each series."""
    faceted = [] if every[0].series.place.facet is None else [every[0].series.place.facet]
    names = ["system", *map(legible, faceted), "measure"]
    numbers = ["runs", "current", "of", "mean", "median", "spread", "lowest", "highest"]
    lines = [_summary_line(each, conventions) for each in every]
    return Table(names, [*numbers, "change", "direction"], lines)


def _summary_line(each: Summary, conventions: Conventions) -> list[str]:
    place = each.series.place
    middle = (each.mean, each.median, each.spread)
    return [
        legible(place.system),
        *([] if place.bucket is None else [legible(place.bucket)]),
        conventions.heading(place.measure),
        str(len(each.series.points)),
        *([number(each.current.value), each.current.said] if each.current else ["–", "–"]),
        *map(number, middle),
        *(number(end.value if end else math.nan) for end in (each.lowest, each.highest)),
        signed(each.change),
        each.word,
    ]


def points_table(every: Sequence[Series], conventions: Conventions) -> Table:
    """Return a line for each point."""
    faceted = [] if every[0].place.facet is None else [every[0].place.facet]
    names = ["system", *map(legible, faceted), "measure", "date", "run"]
    carried = ["carried"] if any(point.carried for each in every for point in each.points) else []
    lines = [line for each in every for line in _point_lines(each, conventions, bool(carried))]
    return Table(names, ["value", "change", "95% interval", "n", "holes", *carried], lines)


def _point_lines(series: Series, conventions: Conventions, is_carried: bool) -> Iterator[list[str]]:
    place = series.place
    moved = trend.changes(series.points)
    for point, change in zip(series.points, moved, strict=True):
        yield [
            legible(place.system),
            *([] if place.bucket is None else [legible(place.bucket)]),
            conventions.heading(place.measure),
            *(point.said, legible(point.run), number(point.value), signed(change)),
            *(_ends(point), str(point.n), str(point.holes)),
            *([str(point.carried)] if is_carried else []),
        ]


def _ends(point: Point) -> str:
    found = point.interval
    return "–" if found is None or math.isnan(found.lo) else f"{found.lo:.4f}–{found.hi:.4f}"

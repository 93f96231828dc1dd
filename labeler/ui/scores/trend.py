"""The trend on Scores: each system's runs by date, the falls, and online signals below them.

On request a change between two runs is split by cause: the run, the grades and the queries.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import streamlit as st

from labeler.analysis import trend
from labeler.analysis.trend import (
    AlertScan,
    DatedRun,
    SignalSeries,
    Thresholds,
    Timeline,
    TimeSpan,
    TrendSeries,
    TrendSummary,
    Window,
)
from labeler.errors import BadInput
from labeler.evaluation import Conventions, Scoreboard
from labeler.measures import Measure
from labeler.model import SignalPoint, format_count
from labeler.model.results import Statement
from labeler.render import charts, csv_exports, tables
from labeler.render.markup import show_html
from labeler.stats import mean_intervals
from labeler.ui import filter_widgets, scoreboards, url_state
from labeler.ui import shared as ui
from labeler.ui.scores.choices import ScoresChoice
from labeler.ui.scores.thresholds import thresholds_over_time
from labeler.ui.scores.views import FileContent

EVERY_SYSTEM = "every system"
MOST_LINES = 8
MOST_ROWS = 60
AXIS_NOTE = "The axis begins where the values do, not at 0. × marks a run without results."
NO_DATE = (
    "No run that is shown has a date, so there is no order in time. Give runs one, and the "
    "system they belong to, on the Data page or in a terminal:"
)
DATE_COMMANDS = (
    "labeler load run FILE --system SYSTEM --date 2026-01-31\n"
    "labeler change run NAME --system SYSTEM --date 2026-01-31"
)


@dataclass(frozen=True)
class TrendChoice:
    """What the view shows: systems with their runs in the window, measures, and buckets.

    ``drawn`` is the measure of the picture, one of ``measures``.
    """

    systems: Mapping[str, tuple[DatedRun, ...]]
    window: Window
    measures: tuple[Measure, ...]
    drawn: Measure
    facet: str | None
    buckets: tuple[str, ...] | None


@dataclass(frozen=True)
class TrendResult:
    """The results of the view: ``lines`` are the series of the drawn measure, with intervals."""

    rows: Sequence[TrendSummary]
    lines: Sequence[TrendSeries]
    scan: AlertScan


def show_trend(choice: ScoresChoice, board: Scoreboard) -> FileContent | None:
    """Show the systems' runs by date; return a function that makes a file of all points."""
    line = trend.build_timeline(run for run in board.collection.runs if choice.shows(run.name))
    if not line.systems:
        st.write(NO_DATE)
        st.code(DATE_COMMANDS)
        beside = signals_below(choice, board, line, {}, Window())
        show_signal_tables(choice, beside, board.revision)
        return None
    with ui.guard():
        asked = choose_trend(choice, board, line)
    place = (asked.measures, asked.facet, asked.buckets)
    bars = thresholds_over_time(choice, board, trend.build_series(board, asked.systems, *place))
    at = scoreboards.cache_key(board, asked.measures)
    found = _trend_result((*at, repr(asked), repr(bars)), asked, bars, board)
    below = trend.below_thresholds(found.rows, bars, choice.conventions, found.scan.alerts)
    show_alerts(found.scan, below)
    beside = signals_below(choice, board, line, asked.systems, asked.window)
    drawn = draw_lines(choice, asked, found, bars, beside.span)
    show_signal_pictures(beside, drawn, roles_of(asked, choice.marked.roles))
    summaries = trend.summaries_table(found.rows[:MOST_ROWS], thresholds=bars)
    show_html(tables.trend_table(summaries, choice.names.short))
    say_rows_left_out(len(found.rows))
    if url_state.switch("Every run in a table", "runs"):
        points = trend.newest_first(trend.points_table(found.lines, bars))
        show_html(tables.points_table(points, choice.names.short))
    show_signal_tables(choice, beside, board.revision)
    show_parts(choice, board, asked.systems, asked.measures)
    rules = [trend.describe_window(asked.window), trend.DIRECTION_RULE, found.scan.rule]
    show_html(tables.statements_html([*line.statements, *rules]))
    return lambda: trend_file(choice, asked, board, bars)


def say_rows_left_out(count: int) -> None:
    """Say how many of ``count`` rows are shown, if some are left out."""
    if count > MOST_ROWS:
        st.caption(f"The first {MOST_ROWS} of {count:,} rows; the file has all.")


def choose_trend(choice: ScoresChoice, board: Scoreboard, line: Timeline) -> TrendChoice:
    """Let the user choose a system, how far back to look, and the drawn measure.

    Every bucket is shown for one system at a time. Raises `StaleLink` for a wrong URL.
    """
    every_bucket = choice.facet is not None and choice.bucket is None
    measures = board.resolve(choice.measures)
    headings = {choice.conventions.heading(measure): measure for measure in measures}
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="trend"):
        system = choose_system(list(line.systems), alone=every_bucket)
        text = url_state.choose(
            *("Window", trend.WINDOWS, "window"), accept_new_options=True, width=156
        )
        drawn = headings[url_state.choose("Drawn", list(headings), "drawn", width=156)]
    try:
        window = trend.parse_window(text)
    except BadInput as error:
        raise url_state.StaleLink(str(error), ["window"]) from None
    systems = list(line.systems) if system is None else [system]
    one_measure = every_bucket or len(systems) > 1
    buckets = None if choice.bucket is None else (choice.bucket,)
    runs = {name: window.of(line.of(name)) for name in systems}
    shown = (drawn,) if one_measure else measures
    return TrendChoice(runs, window, shown, drawn, choice.facet, buckets)


def choose_system(names: list[str], *, alone: bool) -> str | None:
    """Let the user choose one system or, unless it must be ``alone``, all of them (None)."""
    boxes = filter_widgets.run_box_options(names)
    if alone or len(names) == 1:
        return url_state.choose("System", names, "system", what="system", **boxes)
    return url_state.choose_or_not(
        *("System", names, "system"), nothing=EVERY_SYSTEM, what="system", **boxes
    )


@st.cache_data(max_entries=8, show_spinner="Looking back over the runs …")
def _trend_result(
    at: tuple[Hashable, ...], _asked: TrendChoice, _bars: Thresholds, _board: Scoreboard
) -> TrendResult:
    """Compute the results of the view; cached until the next grade."""
    asked, board = _asked, _board.snapshot()
    place = (asked.facet, asked.buckets)
    every = trend.build_series(board, asked.systems, asked.measures, *place)
    runs = [dated.run for each in asked.systems.values() for dated in each]
    ends = mean_intervals(
        board, [asked.drawn], asked.facet, runs=frozenset(runs), buckets=asked.buckets
    )
    scan = trend.scan_for_alerts(
        trend.QueryValues(board), every, _watched_buckets(asked, board), _bars
    )
    lines = trend.build_series(board, asked.systems, [asked.drawn], *place, ends)
    return TrendResult(trend.summarize_series(board, every), lines, scan)


def _watched_buckets(asked: TrendChoice, board: Scoreboard) -> list[TrendSeries]:
    """Return the buckets compared with the mean over all queries, by the drawn measure."""
    if asked.facet is not None:
        return []
    return [
        series
        for facet in board.facets
        for series in trend.build_series(board, asked.systems, [asked.drawn], facet)
    ]


def show_alerts(scan: AlertScan, below: Sequence[Statement]) -> None:
    """Show what fell, the gravest unfolded, and the values ``below`` their thresholds."""
    show_html(tables.statements_html([*scan.statements[: trend.MOST_OPEN_ALERTS], *below]))
    if more := scan.statements[trend.MOST_OPEN_ALERTS :]:
        show_html(
            tables.folded_sentences(f"{len(more)} more that fell", [each.line for each in more])
        )


def draw_lines(
    choice: ScoresChoice,
    asked: TrendChoice,
    found: TrendResult,
    bars: Thresholds,
    span: TimeSpan | None,
) -> list[str]:
    """Draw as many lines as can be told apart, and say which are drawn if some are left out.

    Return the lines' names. ``span`` is the time axis that the pictures below share.
    """
    lines = dict(list(lines_by_name(found.lines).items())[:MOST_LINES])
    heading = choice.conventions.heading(asked.drawn)
    is_of_systems = asked.facet is None or asked.buckets is not None
    if len(found.lines) > len(lines):
        what = "systems" if is_of_systems else "buckets"
        st.caption(f"Only the first {len(lines)} of {len(found.lines):,} {what} are drawn.")
    roles = roles_of(asked, choice.marked.roles) if is_of_systems else None
    show_html(tables.run_legend(list(lines), {}, roles))
    points = {name: trend.points_table([series]) for name, series in lines.items()}
    share = not asked.drawn.definition.count
    drawn = [bars[series.place] for series in lines.values() if series.place in bars]
    st.altair_chart(charts.trend_chart(points, heading, drawn, share=share, span=span, roles=roles))
    bands = "" if len(lines) <= charts.MOST_BANDS else " Bands are drawn for up to three lines."
    st.caption(f"Bands: 95% interval over the choice of queries.{bands} {AXIS_NOTE}")
    return list(lines)


def roles_of(asked: TrendChoice, marked: Mapping[str, str]) -> dict[str, str]:
    """Return the roles of the systems of run A and run B; a system of both runs has no role."""
    found = {
        system: {marked[dated.run] for dated in runs if dated.run in marked}
        for system, runs in asked.systems.items()
    }
    return {system: role for system, roles in found.items() if len(roles) == 1 for role in roles}


def lines_by_name(every: Iterable[TrendSeries]) -> dict[str, TrendSeries]:
    """Return series by name: the bucket's if there are several, else the system's.

    Lines of several buckets belong to one system.
    """
    given = list(every)
    by_bucket = len({series.place.bucket for series in given}) > 1
    return {
        (series.place.bucket or "") if by_bucket else series.place.system: series
        for series in given
    }


def trend_file(
    choice: ScoresChoice, asked: TrendChoice, board: Scoreboard, bars: Thresholds
) -> bytes:
    """Return the file with every point of every measure."""
    place = (board.resolve(choice.measures), asked.facet)
    runs = frozenset(dated.run for each in asked.systems.values() for dated in each)
    ends = mean_intervals(board, *place, runs=runs, buckets=asked.buckets)
    every = trend.build_series(board, asked.systems, *place, asked.buckets, ends)
    return csv_exports.as_csv(trend.points_table(every, bars).records(), choice.conventions)


def show_parts(
    choice: ScoresChoice,
    board: Scoreboard,
    systems: Mapping[str, Sequence[DatedRun]],
    measures: Sequence[Measure],
) -> None:
    """Show the causes of a change between two runs, if the user asks for it."""
    runs = sorted((run for each in systems.values() for run in each), key=lambda run: run.when)
    if len(runs) < 2 or not url_state.switch("Split a change into its parts", "parts"):
        return
    choice, board = without_weights(choice, board)
    with ui.guard():
        older, newer, graded_by = choose_pair(runs, latest_pair(runs, systems))
    until = trend.end_of_date(graded_by or older.said)
    revision = _revision_on(until)
    then = None
    if revision or graded_by:
        at = (ui.database(), board.data_revision, revision, repr(choice.conventions))
        then = _earlier_board((*at, older.run, until), choice.conventions, older.run, until)
    parts = [
        trend.split_change(then or board, board, older.run, newer.run, measure, choice.within)
        for measure in measures
    ]
    show_html(tables.change_causes_table(trend.change_causes_table(parts)))
    frozen = choice.conventions.frozen
    now = "of now" if frozen is None else f"frozen as {frozen!r}"
    if then is None:
        grades = trend.describe_missing_grades(older.said, _first_judgment_at(), now)
    else:
        grades = trend.describe_grades(f"of {graded_by or older.said} (UTC)", now)
    weighted = choice.traffic is not None
    told = trend.cause_statements(
        parts, grades, in_bucket=choice.within is not None, weighted=weighted
    )
    show_html(tables.statements_html(told))


def without_weights(choice: ScoresChoice, board: Scoreboard) -> tuple[ScoresChoice, Scoreboard]:
    """Return the choice and the board without weights: causes are computed for unweighted means."""
    if choice.traffic is None:
        return choice, board
    conventions = replace(choice.conventions, weighted=None)
    with ui.open_store() as store:
        return replace(choice, conventions=conventions), scoreboards.live_board(store, conventions)


def latest_pair(
    runs: Sequence[DatedRun], systems: Mapping[str, Sequence[DatedRun]]
) -> tuple[DatedRun, DatedRun]:
    """Return the newest run and the one before it, of its own system if there is one.

    ``runs`` are all runs in order of date.
    """
    newest = runs[-1]
    own = next((each for each in systems.values() if newest in each), runs)
    return (own[-2] if len(own) > 1 else runs[-2]), newest


def choose_pair(
    runs: Sequence[DatedRun], usual: tuple[DatedRun, DatedRun]
) -> tuple[DatedRun, DatedRun, str]:
    """Let the user choose two runs, and the day of the grades for the older ("" is its own).

    Raises `StaleLink` if the URL has unknown runs or an invalid day.
    """
    dated = {run.run: run for run in runs}
    boxes = filter_widgets.run_box_options(dated)
    dates = {run.run: f"{run.said} · {boxes['format_func'](run.run)}" for run in runs}
    shown: dict[str, Any] = {
        "what": "run",
        "format_func": lambda name: dates.get(name, name),
        "width": 320,
    }
    with st.container(horizontal=True, vertical_alignment="bottom", key="pair"):
        names = list(dated)
        older = url_state.choose("From", names, "from", default=usual[0].run, **shown)
        newer = url_state.choose("To", names, "to", default=usual[1].run, **shown)
        day = url_state.write_text(
            *("Older run by the grades of", "grades"), placeholder="its own day", width=220
        ).strip()
    if day:
        try:
            trend.end_of_date(day)
        except BadInput as error:
            raise url_state.StaleLink(str(error), ["grades"]) from None
    return dated[older], dated[newer], day


def _first_judgment_at() -> str | None:
    with ui.open_store() as store:
        return store.versions.first_judgment_at()


def _revision_on(until: datetime) -> int:
    with ui.open_store() as store:
        return store.versions.revision_at(until)


@st.cache_resource(max_entries=4, show_spinner="Reading the grades of that day …")
def _earlier_board(
    at: tuple[Hashable, ...], _conventions: Conventions, _run: str, _until: datetime
) -> Scoreboard:
    """Return a run under the golden set of an earlier time; new grades do not change it."""
    with ui.open_store() as store:
        collection, rule = (
            store.versions.collection_at(_until, [_run]),
            store.versions.rule_at(_until),
        )
    return Scoreboard(collection, replace(_conventions, golden_rule=rule, frozen=None))


MOST_SIGNALS_DRAWN = 6
MOST_VALUES = 200


@dataclass(frozen=True)
class TrendSignals:
    """The online signals below a trend: those of its ``systems``, given with their runs.

    ``span`` is the time axis that all pictures share, None if there is no signal.
    """

    every: Sequence[SignalSeries] = ()
    statements: Sequence[Statement] = ()
    systems: Mapping[str, Sequence[DatedRun]] = field(default_factory=dict)
    span: TimeSpan | None = None
    narrowed: bool = False


def signals_below(
    choice: ScoresChoice,
    board: Scoreboard,
    line: Timeline,
    systems: Mapping[str, Sequence[DatedRun]],
    window: Window,
) -> TrendSignals:
    """Return the signals of these systems in the window, for the queries shown.

    A signal without a query is about all queries; it is left out if only some are shown.
    """
    queries = _selected_queries(choice, board)
    points = _signal_points(ui.database(), board.data_revision, queries)
    every = trend.build_signal_series(points, {name: line.of(name) for name in systems}, window)
    statements = trend.signal_statements(points, line, are_shown=bool(every))
    span = trend.find_time_span(systems, every) if every else None
    return TrendSignals(every, statements, systems, span, narrowed=queries is not None)


def _selected_queries(choice: ScoresChoice, board: Scoreboard) -> frozenset[str] | None:
    """Return the queries shown, None for all."""
    if choice.within is None:
        whole = choice.conventions.selected.is_of_all_queries
        return None if whole else frozenset(board.collection.query_ids)
    names, group = board.groups(choice.within[0])
    inside = (group == names.index(choice.within[1])).tolist()
    return frozenset(
        name for name, is_in in zip(board.collection.query_ids, inside, strict=True) if is_in
    )


@st.cache_resource(max_entries=8, show_spinner=False)
def _signal_points(
    path: str, data_revision: int, queries: frozenset[str] | None
) -> Sequence[SignalPoint]:
    with ui.open_store() as store:
        return tuple(store.signals.points(queries))


def show_signal_pictures(
    beside: TrendSignals, lines: Collection[str], roles: Mapping[str, str]
) -> None:
    """Draw a small picture for each signal, with the systems of the ``lines`` above."""
    drawn = [each for each in beside.every if each.system in beside.systems]
    names = list(dict.fromkeys(each.name for each in drawn))
    if not names:
        return
    chosen = names
    if len(names) > 1:
        with ui.guard():
            chosen = url_state.choose_some(
                *("Signals", names, "signal", "signal"), placeholder="all signals", width=420
            )
    shown = [name for name in names if name in chosen or not chosen][:MOST_SIGNALS_DRAWN]
    order = [name for name in lines if name in beside.systems] or list(beside.systems)
    runs = [run for system in order for run in beside.systems[system]]
    for name in shown:
        heard = {
            each.system: each.points for each in drawn if each.name == name and each.system in order
        }
        if heard and beside.span is not None:
            st.text(f"{name} (online)")
            st.altair_chart(charts.signal_chart(order, heard, beside.span, runs, roles))
    st.caption(describe_pictures(beside, names, shown))


def describe_pictures(beside: TrendSignals, names: Sequence[str], shown: Sequence[str]) -> str:
    """Explain the pictures, and say which are left out."""
    left = [name for name in names if name not in shown]
    more = f" Not drawn: {format_count(len(left), 'signal', 'signals')}." if left else ""
    part = (
        " Only values of the chosen queries are drawn, not those of all queries."
        if beside.narrowed
        else ""
    )
    return f"Dotted rules mark when runs were made. Each signal has its own scale.{part}{more}"


def show_signal_tables(choice: ScoresChoice, beside: TrendSignals, revision: int) -> None:
    """Show a summary of the signals, every value on request, and offer the file."""
    if beside.every:
        signals = trend.signals_table(beside.every[:MOST_ROWS])
        show_html(tables.signals_table(signals, choice.names.short))
        say_rows_left_out(len(beside.every))
        if url_state.switch("Every value of the signals in a table", "values"):
            values = trend.signal_values_table(beside.every)
            newest, count = trend.newest_first(values, MOST_VALUES), len(values.rows)
            show_html(tables.signal_values_table(newest, choice.names.short))
            if count > MOST_VALUES:
                st.caption(f"The newest {MOST_VALUES} of {count:,} values; the file has all.")
        ui.offer(
            "Download the signals as CSV",
            lambda: csv_exports.rows_csv(trend.signal_values_table(beside.every).records()),
            "signals.csv",
            revision,
        )
    show_html(tables.statements_html(beside.statements))

"""What Scores shows over time: each system's runs by their dates, what fell, and the way there."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from labeler.analysis import trend
from labeler.analysis.trend import (
    Dated,
    Looked,
    Series,
    Span,
    Summary,
    Thresholds,
    Timeline,
    Window,
)
from labeler.errors import BadInput
from labeler.evaluation import Scoreboard
from labeler.measures import Measure
from labeler.model import upper
from labeler.render import charts, downloads, tables
from labeler.render.markup import show_html
from labeler.stats import mean_intervals
from labeler.ui import address, boards, choices
from labeler.ui import shared as ui
from labeler.ui.scores.choosing import Choice
from labeler.ui.scores.parting import show_parts
from labeler.ui.scores.showing import File
from labeler.ui.scores.signals import show_signal_pictures, show_signal_tables, signals_beside
from labeler.ui.scores.thresholds import thresholds_over_time

EVERY_SYSTEM = "every system"
MOST_LINES = 8
MOST_ROWS = 60
AXIS = "The axis begins where the values do, not at 0. × marks a run without results."
NO_DATE = (
    "No run that is shown has a date, so there is no order in time. Give runs one, and the "
    "system they belong to, on the Data page or in a terminal:"
)
COMMANDS = (
    "labeler load run FILE --system SYSTEM --date 2026-01-31\n"
    "labeler change run NAME --system SYSTEM --date 2026-01-31"
)


@dataclass(frozen=True)
class Asked:
    """What is looked at: systems with their runs of the window, by which measures, where.

    ``drawn`` is the one of ``measures`` that the picture is of.
    """

    systems: Mapping[str, tuple[Dated, ...]]
    window: Window
    measures: tuple[Measure, ...]
    drawn: Measure
    facet: str | None
    buckets: tuple[str, ...] | None


@dataclass(frozen=True)
class Found:
    """What there is to show: ``lines`` are the series of the drawn measure, with intervals."""

    rows: Sequence[Summary]
    lines: Sequence[Series]
    looked: Looked


def show_trend(choice: Choice, board: Scoreboard) -> File | None:
    """Show the systems' runs in order of their dates; return what makes a file of all points."""
    line = trend.timeline(run for run in board.collection.runs if choice.shows(run.name))
    if not line.systems:
        st.write(NO_DATE)
        st.code(COMMANDS)
        beside = signals_beside(choice, board, line, {}, Window())
        show_signal_tables(choice, beside, board.revision)
        return None
    with ui.guard():
        asked = choose(choice, board, line)
    place = (asked.measures, asked.facet, asked.buckets)
    bars = thresholds_over_time(choice, board, trend.series_of(board, asked.systems, *place))
    at = boards.moment(board, asked.measures)
    found = _found((*at, repr(asked), repr(bars)), asked, bars, board)
    show_alerts(found.looked)
    beside = signals_beside(choice, board, line, asked.systems, asked.window)
    drawn = show_lines(choice, asked, found, bars, beside.span)
    show_signal_pictures(beside, drawn)
    show_html(tables.trend_table(found.rows[:MOST_ROWS], choice.conventions, bars))
    if len(found.rows) > MOST_ROWS:
        st.caption(f"The first {MOST_ROWS} of {len(found.rows):,} rows; the file has all points.")
    lines = named(found.lines)
    if address.switch("Every run in a table", "runs"):
        heading = choice.conventions.heading(asked.drawn)
        show_html(tables.points_table(lines, heading, choice.names.short))
    show_signal_tables(choice, beside, board.revision)
    show_parts(choice, board, asked.systems, asked.measures)
    said = [trend.DIRECTION, found.looked.rule, *line.notes]
    show_html(tables.small_print(f"{upper(each)}." for each in said))
    return lambda: file_of(choice, asked, board, bars)


def choose(choice: Choice, board: Scoreboard, line: Timeline) -> Asked:
    """Let the user choose a system, how far back to look, and what is drawn.

    Every bucket is shown for one system at a time. Raises `Astray` for what the address has wrong.
    """
    every_bucket = choice.facet is not None and choice.bucket is None
    measures = board.resolve(choice.measures)
    headings = {choice.conventions.heading(measure): measure for measure in measures}
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="trend"):
        system = choose_system(list(line.systems), alone=every_bucket)
        text = address.choose(
            *("Window", trend.WINDOWS, "window"), accept_new_options=True, width=156
        )
        drawn = headings[address.choose("Drawn", list(headings), "drawn", width=156)]
    try:
        window = trend.window_of(text)
    except BadInput as error:
        raise address.Astray(str(error), ["window"]) from None
    systems = list(line.systems) if system is None else [system]
    one_measure = every_bucket or len(systems) > 1
    buckets = None if choice.bucket is None else (choice.bucket,)
    runs = {name: window.of(line.of(name)) for name in systems}
    shown = (drawn,) if one_measure else measures
    return Asked(runs, window, shown, drawn, choice.facet, buckets)


def choose_system(names: list[str], *, alone: bool) -> str | None:
    """Let the user choose one system, or, unless it must stand ``alone``, every one (None)."""
    boxes = choices.of_runs(names)
    if alone or len(names) == 1:
        return address.choose("System", names, "system", what="system", **boxes)
    return address.choose_or_not(
        *("System", names, "system"), nothing=EVERY_SYSTEM, what="system", **boxes
    )


@st.cache_data(max_entries=8, show_spinner="Looking back over the runs …")
def _found(at: tuple[Hashable, ...], _asked: Asked, _bars: Thresholds, _board: Scoreboard) -> Found:
    """Work out what there is to show; once for each grade."""
    asked, board = _asked, _board.snapshot()
    place = (asked.facet, asked.buckets)
    every = trend.series_of(board, asked.systems, asked.measures, *place)
    runs = [dated.run for each in asked.systems.values() for dated in each]
    ends = mean_intervals(
        board, [asked.drawn], asked.facet, runs=frozenset(runs), buckets=asked.buckets
    )
    looked = trend.look(trend.Values(board), every, _watched(asked, board), _bars)
    lines = trend.series_of(board, asked.systems, [asked.drawn], *place, ends)
    return Found(trend.summaries(board, every), lines, looked)


def _watched(asked: Asked, board: Scoreboard) -> list[Series]:
    """Return the buckets held against the mean over all queries, by the drawn measure."""
    if asked.facet is not None:
        return []
    return [
        series
        for facet in board.facets
        for series in trend.series_of(board, asked.systems, [asked.drawn], facet)
    ]


def show_alerts(looked: Looked) -> None:
    """Say what fell: the gravest in sight, the others folded."""
    said = [f"▼ {alert.sentence}" for alert in looked.alerts]
    if said:
        with st.container(border=True, key="alerts"):
            st.text("\n".join(said[: trend.MOST_SHOWN]))
            if more := said[trend.MOST_SHOWN :]:
                with st.expander(f"{len(more)} more that fell"):
                    st.text("\n".join(more))
    elif looked.looks:
        st.caption("Nothing fell by more than chance.")


def show_lines(
    choice: Choice, asked: Asked, found: Found, bars: Thresholds, span: Span | None
) -> list[str]:
    """Draw as many lines as can be told apart, and say which where these are not all.

    Returns what the lines are called. ``span`` is the axis of time that pictures below share.
    """
    lines = dict(list(named(found.lines).items())[:MOST_LINES])
    heading = choice.conventions.heading(asked.drawn)
    if len(found.lines) > len(lines):
        what = "buckets" if asked.facet is not None and asked.buckets is None else "systems"
        st.caption(f"Drawn are the first {len(lines)} of {len(found.lines):,} {what}.")
    show_html(tables.run_legend(list(lines), {}, lines=True))
    points = {name: series.points for name, series in lines.items()}
    share = not asked.drawn.definition.count
    drawn = [bars[series.place] for series in lines.values() if series.place in bars]
    st.altair_chart(charts.trend_chart(points, heading, drawn, share=share, span=span))
    bands = "" if len(lines) <= charts.MOST_BANDS else " Bands are drawn of up to three lines."
    st.caption(f"Bands: 95% interval over the choice of queries.{bands} {AXIS}")
    return list(lines)


def named(every: Iterable[Series]) -> dict[str, Series]:
    """Return series by what tells them apart: the bucket, where there are several, or the system.

    Lines of several buckets are of one system.
    """
    given = list(every)
    by_bucket = len({series.place.bucket for series in given}) > 1
    return {
        (series.place.bucket or "") if by_bucket else series.place.system: series
        for series in given
    }


def file_of(choice: Choice, asked: Asked, board: Scoreboard, bars: Thresholds) -> bytes:
    """Return the file with every point of every measure."""
    place = (board.resolve(choice.measures), asked.facet)
    runs = frozenset(dated.run for each in asked.systems.values() for dated in each)
    ends = mean_intervals(board, *place, runs=runs, buckets=asked.buckets)
    every = trend.series_of(board, asked.systems, *place, asked.buckets, ends)
    return downloads.trend_csv(every, choice.conventions, bars)

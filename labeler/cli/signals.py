"""Online signals in ``labeler trend``: their state below the runs, or every value of them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import click

from labeler.analysis import trend
from labeler.analysis.trend import SignalSeries, SignalValue, Timeline, Window
from labeler.cli.options import selection
from labeler.cli.output import (
    FOR_PROGRAMS,
    Table,
    format_records,
    in_markdown,
    markdown_lines,
    text_lines,
)
from labeler.errors import NotFound
from labeler.model import SignalPoint, StoredRun, escape_controls
from labeler.store import Store
from labeler.store.addresses import StoreLocation

SIGNAL_COLUMNS = ["signal", "system"]


def stored_signals(store: Store) -> list[SignalPoint]:
    """Return the signals that are stored: of all queries, or of those that are selected alone."""
    return store.signal_points(store.selected_queries(selection()))


def signals_of(
    points: Sequence[SignalPoint], line: Timeline, systems: Sequence[str], window: Window
) -> list[SignalSeries]:
    """Return the signals of systems, also of those that have no run; of all where none is named.

    Raises `NotFound` for a system that has none.
    """
    heard = dict.fromkeys(point.system for point in points)
    for system in systems:
        if system not in heard:
            there = (
                ", ".join(map(escape_controls, heard)) or "none yet; 'labeler load signals FILE'"
            )
            raise NotFound(f"no system called {system!r} has a signal; there are: {there}")
    wanted = systems or [*line.systems, *(each for each in heard if each not in line.systems)]
    return trend.build_signal_series(
        points, {each: line.systems.get(each, ()) for each in wanted}, window
    )


def print_signals(
    db: StoreLocation, systems: Sequence[str], window: Window, kind: str, *, raw: bool
) -> None:
    """Print every value of the signals of these systems, with the newest run of its time."""
    with Store(db) as store:
        points = stored_signals(store)
        runs = [StoredRun(run.name, run.system, run.created_at, {}) for run in store.runs()]
    line = trend.build_timeline(runs)
    every = signals_of(points, line, systems, window)
    if not every:
        raise NotFound("there are no signals yet; add some with 'labeler load signals FILE'")
    records = trend.signal_records(every)
    if kind in FOR_PROGRAMS:
        click.echo(format_records(kind, records, raw=raw), nl=False)
    else:
        notes = [trend.SIGNAL_MEANING, trend.NO_CORRELATION_NOTE, *trend.signal_notes(points, line)]
        click.echo("\n".join(format_with_notes(values_table(every), notes, kind)))


def format_with_notes(table: Table, notes: Sequence[str], kind: str) -> list[str]:
    """Return a table and what is to know of it, as text or as Markdown."""
    if kind == "md":
        return [
            *markdown_lines(table),
            *(f"\n- {in_markdown(escape_controls(each))}" for each in notes),
        ]
    return [*text_lines(table), "", *(f"! {escape_controls(each)}" for each in notes)]


def print_signals_below(
    points: Sequence[SignalPoint], line: Timeline, systems: Sequence[str], window: Window, kind: str
) -> None:
    """Print where the signals of systems stand, if there are any, under the table of their runs."""
    runs = {system: line.of(system) for system in systems}
    every = trend.build_signal_series(points, runs, window)
    if points:
        notes = [*([trend.SIGNAL_MEANING, trend.NO_CORRELATION_NOTE] if every else [])]
        notes += trend.signal_notes(points, line)
        lines = format_with_notes(signals_table(every), notes, kind)
        click.echo("\n".join(["", *(lines if every else lines[-len(notes) :])]))


def signals_table(every: Sequence[SignalSeries]) -> Table:
    """Return a line for each signal of each system: its present and earlier values."""
    numbers = ["dates", "current", "of", "change", "mean", "median", "lowest", "highest"]
    lines = [
        [
            *(escape_controls(each.name), escape_controls(each.system), f"{len(each.points):,}"),
            *(_value_cell(each.current.value), each.current.said, _change_cell(each.change)),
            *map(_value_cell, (each.mean, each.median, each.lowest.value, each.highest.value)),
        ]
        for each in every
    ]
    return Table(SIGNAL_COLUMNS, numbers, lines)


def values_table(every: Sequence[SignalSeries]) -> Table:
    """Return a line for each value."""
    names = [*SIGNAL_COLUMNS, "date", "newest run"]
    lines = [
        [
            *map(escape_controls, (each.name, each.system, point.said, point.run or "–")),
            *_point_cells(point),
        ]
        for each in every
        for point in each.points
    ]
    return Table(names, ["value", "counted", "queries"], lines)


def _point_cells(point: SignalValue) -> list[str]:
    counted = "–" if point.n is None else f"{point.n:,}"
    return [_value_cell(point.value), counted, f"{point.queries:,}" if point.queries else "all"]


def _value_cell(value: float) -> str:
    return f"{value:,.5g}"


def _change_cell(change: float) -> str:
    if math.isnan(change):
        return "–"
    return f"{'−' if change < 0 else '+' if change else ''}{_value_cell(abs(change))}"

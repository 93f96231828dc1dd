"""Online signals in ``labeler trend``: a summary below the runs, or every value."""

from __future__ import annotations

from collections.abc import Sequence

import click

from labeler.analysis import trend
from labeler.analysis.trend import SignalSeries, Timeline, Window
from labeler.cli.options import selection
from labeler.cli.output import FOR_PROGRAMS, format_records
from labeler.errors import NotFound
from labeler.model import SignalPoint, StoredRun, escape_controls
from labeler.model.results import Statement, Table
from labeler.render.results import (
    markdown_table,
    statements_markdown,
    statements_text,
    text_table,
)
from labeler.store import Store
from labeler.store.addresses import StoreLocation


def stored_signals(store: Store) -> list[SignalPoint]:
    """Return the stored signals, of all queries or only of the selected ones."""
    return store.signals.points(store.splits.selected(selection()))


def signals_of(
    points: Sequence[SignalPoint], line: Timeline, systems: Sequence[str], window: Window
) -> list[SignalSeries]:
    """Return the signals of systems, with or without runs; of all systems if none is named.

    Raises `NotFound` for a named system without signals.
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
    """Print every signal value of these systems, with the newest run at its time."""
    with Store(db) as store:
        points = stored_signals(store)
        runs = [StoredRun(run.name, run.system, run.created_at, {}) for run in store.runs.all()]
    line = trend.build_timeline(runs)
    every = signals_of(points, line, systems, window)
    if not every:
        raise NotFound("there are no signals yet; add some with 'labeler load signals FILE'")
    table = trend.signal_values_table(every)
    if kind in FOR_PROGRAMS:
        click.echo(format_records(kind, table.records(), raw=raw), nl=False)
    else:
        statements = trend.signal_statements(points, line, are_shown=True)
        click.echo("\n".join(format_signals(table, statements, kind)))


def print_signals_below(
    points: Sequence[SignalPoint], line: Timeline, systems: Sequence[str], window: Window, kind: str
) -> None:
    """Print a summary of the systems' signals, if any, below the table of runs."""
    runs = {system: line.of(system) for system in systems}
    every = trend.build_signal_series(points, runs, window)
    if points:
        statements = trend.signal_statements(points, line, are_shown=bool(every))
        table = trend.signals_table(every) if every else None
        click.echo("\n".join(["", *format_signals(table, statements, kind)]))


def format_signals(table: Table | None, statements: Sequence[Statement], kind: str) -> list[str]:
    """Return the table, if any, and its statements, as text or Markdown."""
    if kind == "md":
        shown = [] if table is None else [*markdown_table(table), ""]
        return [*shown, *statements_markdown(statements)]
    shown = [] if table is None else [*text_table(table), ""]
    return [*shown, *statements_text(statements)]

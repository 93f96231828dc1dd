"""What Scores shows of users below a trend: signals, on its time axis and scales of their own."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import streamlit as st

from labeler.analysis import trend
from labeler.analysis.trend import Dated, Signals, Span, Timeline, Window
from labeler.evaluation import Scoreboard
from labeler.model import SignalPoint, counted, upper
from labeler.render import charts, downloads, tables
from labeler.render.markup import show_html
from labeler.ui import address
from labeler.ui import shared as ui
from labeler.ui.scores.choosing import Choice

MOST_DRAWN = 6
MOST_ROWS = 60
MOST_VALUES = 200


@dataclass(frozen=True)
class Beside:
    """What stands below a trend: signals of its ``systems``, which come with their runs shown.

    ``span`` is what all pictures share as their axis of time, None where there is no signal.
    """

    every: Sequence[Signals] = ()
    notes: Sequence[str] = ()
    systems: Mapping[str, Sequence[Dated]] = field(default_factory=dict)
    span: Span | None = None
    narrowed: bool = False


def signals_beside(
    choice: Choice,
    board: Scoreboard,
    line: Timeline,
    systems: Mapping[str, Sequence[Dated]],
    window: Window,
) -> Beside:
    """Return the signals of these systems in the window, of the queries that are looked at.

    Signals without a query are of all, and left out where some queries alone are looked at.
    """
    queries = _queries_of(choice, board)
    points = _heard(ui.database(), board.data_revision, queries)
    notes = trend.signal_notes(points, line)
    every = trend.signals_of(points, {name: line.of(name) for name in systems}, window)
    span = trend.span_of(systems, every) if every else None
    return Beside(every, notes, systems, span, narrowed=queries is not None)


def _queries_of(choice: Choice, board: Scoreboard) -> frozenset[str] | None:
    """Return the queries that are looked at, None for all."""
    if choice.within is None:
        whole = choice.conventions.selected.is_of_all_queries
        return None if whole else frozenset(board.collection.query_ids)
    names, group = board.groups(choice.within[0])
    inside = (group == names.index(choice.within[1])).tolist()
    return frozenset(
        name for name, is_in in zip(board.collection.query_ids, inside, strict=True) if is_in
    )


@st.cache_resource(max_entries=8, show_spinner=False)
def _heard(path: str, data_revision: int, queries: frozenset[str] | None) -> Sequence[SignalPoint]:
    with ui.open_store() as store:
        return tuple(store.signal_points(queries))


def show_signal_pictures(beside: Beside, lines: Collection[str]) -> None:
    """Draw a small picture for each signal, of the systems that have a line above; ``lines``."""
    drawn = [each for each in beside.every if each.system in beside.systems]
    names = list(dict.fromkeys(each.name for each in drawn))
    if not names:
        return
    chosen = names
    if len(names) > 1:
        with ui.guard():
            chosen = address.choose_some(
                *("Signals", names, "signal", "signal"), placeholder="all signals", width=420
            )
    shown = [name for name in names if name in chosen or not chosen][:MOST_DRAWN]
    order = [name for name in lines if name in beside.systems] or list(beside.systems)
    runs = [run for system in order for run in beside.systems[system]]
    for name in shown:
        heard = {
            each.system: each.points for each in drawn if each.name == name and each.system in order
        }
        if heard and beside.span is not None:
            st.text(f"{name} (online)")
            st.altair_chart(charts.signal_chart(order, heard, beside.span, runs))
    st.caption(said(beside, names, shown))


def said(beside: Beside, names: Sequence[str], shown: Sequence[str]) -> str:
    """Say what the pictures show, and which are left out."""
    left = [name for name in names if name not in shown]
    more = f" Not drawn: {counted(len(left), 'signal', 'signals')}." if left else ""
    part = (
        " Of the queries that are looked at: values of all queries are left out."
        if beside.narrowed
        else ""
    )
    return (
        f"Dotted rules stand where runs were made. Each signal has a scale of its own.{part}{more}"
    )


def show_signal_tables(choice: Choice, beside: Beside, revision: int) -> None:
    """Show where the signals stand, every value if it is asked for, and offer the file."""
    if beside.every:
        show_html(tables.signal_table(beside.every[:MOST_ROWS]))
        if len(beside.every) > MOST_ROWS:
            st.caption(f"The first {MOST_ROWS} of {len(beside.every):,} rows; the file has all.")
        if address.switch("Every value of the signals in a table", "values"):
            show_html(tables.heard_table(beside.every, choice.names.short, MOST_VALUES))
            count = sum(len(each.points) for each in beside.every)
            if count > MOST_VALUES:
                st.caption(f"The newest {MOST_VALUES} of {count:,} values; the file has all.")
        ui.offer(
            "Download the signals as CSV",
            lambda: downloads.signals_csv(beside.every),
            "signals.csv",
            revision,
        )
    told = [*([trend.MEANT, trend.NO_CLAIM] if beside.every else []), *beside.notes]
    show_html(tables.small_print(f"{upper(each)}." for each in told))

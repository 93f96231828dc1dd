"""What users did, in numbers: where each signal stands, and every value of it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import htpy

from labeler.analysis.trend import Heard, Signals
from labeler.render.tables.shared import SHEET, framed, head, run_name, small


def signal_words(value: float) -> str:
    """Write a signal's value: its scale is its own, so it has up to five digits that say something.

    >>> signal_words(0.034567), signal_words(1200.0), signal_words(math.nan)
    ('0.034567', '1,200', '–')
    """
    return "–" if math.isnan(value) else f"{value:,.5g}"


def signal_table(every: Sequence[Signals]) -> htpy.Fragment:
    """Return a row for each signal of each system: where it stands and where it was."""
    heads = [
        head("Signal", words=True),
        head("System", words=True),
        head("Current", "date"),
        head("Change", "since the date before"),
        *(head(name) for name in ("Mean", "Median")),
        head("Lowest", "date"),
        head("Highest", "date"),
        head("Dates"),
    ]
    rows = [
        htpy.tr[
            htpy.th(".words", scope="row")[htpy.bdi[each.name]],
            htpy.td(".words")[htpy.bdi[each.system]],
            _cell(each.current, lead=True),
            htpy.td[_moved(each.change)],
            htpy.td[signal_words(each.mean)],
            htpy.td[signal_words(each.median)],
            _cell(each.lowest),
            _cell(each.highest),
            htpy.td[f"{len(each.points):,}"],
        ]
        for each in every
    ]
    return framed(SHEET, "sheet signals", heads, rows, label="Where each signal stands")


def _cell(point: Heard, *, lead: bool = False) -> htpy.Element:
    return htpy.td(class_={"lead": lead}, title=point.run)[
        signal_words(point.value), small(point.said)
    ]


def _moved(change: float) -> str:
    if math.isnan(change):
        return "–"
    sign = "▲ +" if change > 0 else "▼ −" if change < 0 else ""
    return f"{sign}{signal_words(abs(change))}"


def heard_table(every: Iterable[Signals], short: Mapping[str, str], most: int) -> htpy.Fragment:
    """Return a row for each of the ``most`` newest values."""
    rows = [(point.when, each, point) for each in every for point in each.points]
    newest = sorted(rows, key=lambda row: row[0])[::-1][:most]
    heads = [
        head("Date", words=True),
        *(head(name, words=True) for name in ("Signal", "System")),
        head("Newest run", words=True),
        head("Value"),
        head("Counted"),
        head("Queries"),
    ]
    made = [
        htpy.tr[
            htpy.th(".words", scope="row")[point.said],
            htpy.td(".words")[htpy.bdi[each.name]],
            htpy.td(".words")[htpy.bdi[each.system]],
            htpy.td(".words")["–" if point.run is None else run_name(point.run, short)],
            htpy.td(".lead")[signal_words(point.value)],
            htpy.td["–" if point.n is None else f"{point.n:,}"],
            htpy.td[f"{point.queries:,}" if point.queries else "all"],
        ]
        for _, each, point in newest
    ]
    return framed(SHEET, "sheet heard", heads, made, label="Every value of the signals")

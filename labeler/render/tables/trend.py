"""Tables of measures and signals over time: summaries, every run, causes of a change, signals."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import htpy

from labeler.model.results import Table
from labeler.render.tables.results import html_table_of

ENDS = ("current", "lowest", "highest")
DATES = MappingProxyType({end: (f"{end}_date",) for end in ENDS})
RUNS = MappingProxyType({end: f"{end}_run" for end in ENDS})


def trend_table(summaries: Table, short: Mapping[str, str]) -> htpy.Fragment:
    """Return the summary of each series, with the dates of its values and the p-value in small."""
    return html_table_of(
        summaries,
        label="Each system over time",
        details=True,
        lead="current",
        under={**DATES, "direction": ("p_holm",)},
        hover=RUNS,
        short=short,
        classes="trend",
    )


def points_table(points: Table, short: Mapping[str, str]) -> htpy.Fragment:
    """Return every run of each line, with its interval in small."""
    under = {"value": ("interval",), "unjudged": ("transferred",)}
    return html_table_of(
        points, label="Every run", lead="value", under=under, short=short, classes="points"
    )


def change_causes_table(causes: Table) -> htpy.Fragment:
    """Return the causes of a change by measure, with the numbers of queries in small."""
    under = {"before": ("n_before",), "now": ("n_now",)}
    return html_table_of(
        causes, label="Causes of a change", lead="change", under=under, classes="parts"
    )


def signals_table(signals: Table, short: Mapping[str, str]) -> htpy.Fragment:
    """Return the summary of each signal, with the dates of its values in small."""
    return html_table_of(
        signals,
        label="Each signal over time",
        details=True,
        lead="current",
        under=DATES,
        hover=RUNS,
        short=short,
        classes="signals",
    )


def signal_values_table(values: Table, short: Mapping[str, str]) -> htpy.Fragment:
    """Return the values of signals, each with the newest run at its time."""
    return html_table_of(
        values, label="Every value of the signals", lead="value", short=short, classes="heard"
    )

"""The Compare page: B against A as tables, bars and a scatter, each with its file of numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape

import altair as alt
import pandas as pd

from labeler.charts.files import as_csv
from labeler.charts.palette import A_COLOUR, B_COLOUR
from labeler.comparison import (
    TOLERANCE,
    Comparison,
    Delta,
    QueryDelta,
    WhatIf,
    delta_records,
)
from labeler.evaluation import Conventions, names_of, number
from labeler.measures import MEASURES, Measure

OUTCOMES = ("B better", "tie", "A better")


def signed(value: float) -> str:
    """Write a difference for people: four digits and its sign, a dash where it is undefined.

    >>> signed(0.25), signed(-0.00001), signed(float("nan"))
    ('+0.2500', '0.0000', '–')
    """
    if math.isnan(value):
        return "–"
    shown = f"{value:+.4f}"
    return "0.0000" if shown in ("+0.0000", "-0.0000") else shown.replace("-", "−")


def compare_table(rows: Sequence[Delta], comparison: Comparison) -> str:
    """Return B against A as an HTML table, a row for each measure; every name is escaped."""
    heads = [
        ("Measure", ""),
        (f"A {comparison.a}", "mean"),
        (f"B {comparison.b}", "mean"),
        ("B − A", "difference"),
        ("Queries", "B wins / ties / loses"),
        ("n", "in the mean"),
        ("Holes", "in A / in B"),
    ]
    body = "".join(_compare_row(row, comparison.conventions) for row in rows)
    return _table(heads, body, "A against B by measure")


def _compare_row(row: Delta, conventions: Conventions) -> str:
    meaning = escape(MEASURES[row.measure.name].meaning, quote=True)
    left_out = f" + {row.undefined} undefined" if row.undefined else ""
    absent = (row.missing_a, row.missing_b)
    missing = f"{absent[0]} / {absent[1]} queries absent" if any(absent) else ""
    return (
        f'<tr><th scope="row" title="{meaning}">{escape(conventions.heading(row.measure))}</th>'
        + _cell(number(row.a), _aside(row.a, row.n))
        + _cell(number(row.b), _aside(row.b, row.n))
        + _cell(f"<strong>{signed(row.delta)}</strong>")
        + _cell(f"{row.wins} / {row.ties} / {row.losses}")
        + _cell(f"{row.n}{left_out}")
        + _cell(f"{row.holes_a:,} / {row.holes_b:,}", missing)
        + "</tr>"
    )


def query_table(rows: Sequence[QueryDelta], comparison: Comparison) -> str:
    """Return one query's values as an HTML table, a row for each measure."""
    heads = [
        ("Measure", ""),
        (f"A {comparison.a}", ""),
        (f"B {comparison.b}", ""),
        ("B − A", ""),
        ("Holes", "in A / in B"),
    ]
    body = "".join(
        f'<tr><th scope="row">{escape(comparison.conventions.heading(row.measure))}</th>'
        + _cell(number(row.a), _aside(row.a, row.counted, row.missing_a))
        + _cell(number(row.b), _aside(row.b, row.counted, row.missing_b))
        + _cell(f"<strong>{signed(row.delta)}</strong>")
        + _cell(f"{row.holes_a} / {row.holes_b}")
        + "</tr>"
        for row in rows
    )
    return _table(heads, body, "A against B for this query")


def _aside(value: float, counted: int, missing: bool = False) -> str:
    """Say beside a value why there is none although its query counts, or why it is 0."""
    if math.isnan(value):
        return "no result" if counted else ""
    return "no list: 0" if missing else ""


def query_head(text: str, query_id: str, buckets: Sequence[str]) -> str:
    """Return a query's text and buckets as HTML; everything is escaped."""
    words = " · ".join([f"query {query_id}", *buckets])
    return (
        f'{STYLE}<div class="question"><p dir="auto">{escape(text)}</p>'
        f"<small>{escape(words)}</small></div>"
    )


def chunk_text(chunk_id: str, title: str | None, text: str | None) -> str:
    """Return a chunk as HTML in which its title and text are nothing but text."""
    heading = f'<h3 dir="auto">{escape(title)}</h3>' if title else ""
    body = (
        "<p><em>Only its id is known: the chunk's text was never loaded.</em></p>"
        if text is None
        else f'<div class="text" dir="auto" tabindex="0">{escape(text)}</div>'
    )
    return (
        f'{STYLE}<article class="chunk-shown">{heading}'
        f"<small>{escape(chunk_id)}</small>{body}</article>"
    )


def conventions_line(comparison: Comparison) -> str:
    """Say how every number is to be read, with the name of the preset."""
    conventions = comparison.conventions
    return f"Conventions ({conventions.preset}): {conventions.describe()}"


def small_print(lines: Iterable[str]) -> str:
    """Return lines that stand under numbers, such as their conventions, as HTML."""
    body = "".join(f"<p>{escape(line)}</p>" for line in lines if line)
    return f'{STYLE}<div class="small-print">{body}</div>'


def sentences(lines: Iterable[str]) -> str:
    """Return sentences that may quote names as an HTML list; nothing where there are none."""
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    return f'{STYLE}<ul class="said">{items}</ul>' if items else STYLE


def what_if_table(
    a: Sequence[WhatIf] | None, b: Sequence[WhatIf] | None, comparison: Comparison
) -> str:
    """Return what the values would be, as an HTML table; a side that cannot be is left empty."""
    heads = [("Measure", ""), ("A would be", "change"), ("B would be", "change"), ("B − A", "")]
    rows = []
    for at, measure in enumerate(comparison.measures):
        sides = [side[at] if side is not None else None for side in (a, b)]
        values = [math.nan if side is None else side.value for side in sides]
        rows.append(
            f'<tr><th scope="row">{escape(comparison.conventions.heading(measure))}</th>'
            + "".join(
                _cell("–") if side is None else _cell(number(side.value), signed(side.delta))
                for side in sides
            )
            + _cell(f"<strong>{signed(values[1] - values[0])}</strong>")
            + "</tr>"
        )
    return _table(heads, "".join(rows), "What if")


def _table(heads: Iterable[tuple[str, str]], body: str, label: str) -> str:
    head = "".join(
        f'<th scope="col">{escape(name)}{f"<small>{escape(unit)}</small>" if unit else ""}</th>'
        for name, unit in heads
    )
    return (
        f'{STYLE}<div class="compare" tabindex="0"><table aria-label="{escape(label, quote=True)}">'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _cell(shown: str, small: str = "") -> str:
    return f"<td>{shown}{f'<small>{escape(small)}</small>' if small else ''}</td>"


STYLE = """<style>
.compare { overflow-x: auto; }
.compare table { border-collapse: collapse; font-variant-numeric: tabular-nums; width: 100%; }
.compare th, .compare td {
    padding: 0.3rem 0.75rem; text-align: right; vertical-align: top;
    border-bottom: 1px solid color-mix(in srgb, currentColor 18%, transparent);
}
.compare td { white-space: nowrap; }
.compare thead th { font-weight: 600; border-bottom-width: 2px; overflow-wrap: anywhere; }
.compare th:first-child { text-align: left; padding-left: 0; }
.compare tbody th { font-weight: 400; }
.question p { font-size: 1.2rem; font-weight: 600; margin: 0; overflow-wrap: anywhere; }
.question small, .chunk-shown small {
    font-size: 0.85rem; color: color-mix(in srgb, currentColor 72%, transparent);
}
.chunk-shown h3 { font-size: 1.05rem; margin: 0; padding: 0; overflow-wrap: anywhere; }
.chunk-shown .text {
    white-space: pre-wrap; overflow-wrap: anywhere; max-height: 24rem; overflow: auto;
    margin-top: 0.25rem; line-height: 1.5;
}
.small-print p {
    margin: 0; font-size: 0.82rem; overflow-wrap: anywhere;
    color: color-mix(in srgb, currentColor 72%, transparent);
}
.said { margin: 0; padding-left: 1.1rem; font-size: 0.9rem; }
.said li { margin: 0; padding: 0; overflow-wrap: anywhere; }
.compare small {
    display: block; font-size: 0.78rem; font-weight: 400;
    color: color-mix(in srgb, currentColor 72%, transparent);
}
</style>"""


def compare_csv(comparison: Comparison) -> bytes:
    """Return the means of all queries and of each bucket as a CSV file, in full precision."""
    rows = delta_records(comparison, (*comparison.deltas, *comparison.buckets))
    return as_csv(rows, comparison.conventions)


def query_frame(
    rows: Iterable[QueryDelta], texts: Mapping[str, str], buckets: Mapping[str, str]
) -> pd.DataFrame:
    """Return queries with a value as a table, best for B first; ``place`` counts from 1."""
    kept = sorted((row for row in rows if not math.isnan(row.delta)), key=lambda row: -row.delta)
    return pd.DataFrame(
        {
            "place": range(1, len(kept) + 1),
            "query_id": [row.query_id for row in kept],
            "query": [texts.get(row.query_id, "") for row in kept],
            "bucket": [buckets.get(row.query_id, "") for row in kept],
            "a": [row.a for row in kept],
            "b": [row.b for row in kept],
            "delta": [row.delta for row in kept],
            "outcome": [_outcome(row.delta) for row in kept],
            "holes_a": [row.holes_a for row in kept],
            "holes_b": [row.holes_b for row in kept],
        }
    )


def query_csv(frame: pd.DataFrame, measure: Measure, comparison: Comparison) -> bytes:
    """Return the frame as a CSV file, in full precision, with what the numbers are."""
    names, *_ = names_of(measure)
    full = frame.assign(**names, run_a=comparison.a, run_b=comparison.b)
    return as_csv(full.to_dict("records"), comparison.conventions)


def _outcome(delta: float) -> str:
    if abs(delta) <= TOLERANCE:
        return "tie"
    return "B better" if delta > 0 else "A better"


def delta_bars(frame: pd.DataFrame, heading: str, a: str, b: str) -> alt.Chart:
    """Return a bar for each query, best for B first; a click selects ``query_id``."""
    chart: alt.Chart = (
        alt.Chart(frame, height=300)
        .mark_bar(cursor="pointer")
        .encode(
            x=alt.X("place:O", title="queries, best for B first", axis=alt.Axis(labels=False)),
            y=alt.Y("delta:Q", title=f"{heading}: B − A"),
            color=_outcome_colour(),
            tooltip=_tooltip(),
        )
        .add_params(_opened())
        .properties(
            description=f"{heading} of {b} minus {a}: a bar for each query, upward where B is "
            "better; the same numbers as the table"
        )
    )
    return chart


def delta_scatter(frame: pd.DataFrame, heading: str, a: str, b: str) -> alt.LayerChart:
    """Return A against B with the diagonal: above it B is better; a click selects ``query_id``."""
    most = max(1.0, float(frame[["a", "b"]].max().max()))  # a count may be more than 1
    whole = alt.Scale(domain=[0, most])
    diagonal: alt.Chart = (
        alt.Chart(pd.DataFrame({"a": [0.0, most], "b": [0.0, most]}))
        .mark_line(strokeDash=[4, 4], color="#888")
        .encode(x="a:Q", y="b:Q")
    )
    shapes = alt.Scale(domain=list(OUTCOMES), range=["triangle-up", "circle", "triangle-down"])
    points: alt.Chart = (
        alt.Chart(frame)
        .mark_point(size=60, filled=True, opacity=0.9, cursor="pointer")
        .encode(
            x=alt.X("a:Q", title=f"{heading} of A", scale=whole),
            y=alt.Y("b:Q", title=f"{heading} of B", scale=whole),
            color=_outcome_colour(),
            shape=alt.Shape("outcome:N", scale=shapes, legend=alt.Legend(title=None, orient="top")),
            tooltip=_tooltip(),
        )
        .add_params(_opened(nearest=True))
    )
    chart: alt.LayerChart = alt.LayerChart(
        layer=[diagonal, points],
        height=300,
        description=f"{heading} of {a} across, of {b} upward, a point for each query; above the "
        "diagonal B is better; the same numbers as the table",
    )
    return chart


def _outcome_colour() -> alt.Color:
    return alt.Color(
        "outcome:N",
        scale=alt.Scale(domain=list(OUTCOMES), range=[B_COLOUR, "#8a8f98", A_COLOUR]),
        legend=alt.Legend(title=None, orient="top"),
    )


def _tooltip() -> list[str | alt.Tooltip]:
    values = [alt.Tooltip(f"{name}:Q", format=".4f") for name in ("a", "b", "delta")]
    return ["query:N", "bucket:N", *values, "holes_a:Q", "holes_b:Q"]


def _opened(*, nearest: bool = False) -> alt.Parameter:
    return alt.selection_point(name="opened", fields=["query_id"], nearest=nearest)

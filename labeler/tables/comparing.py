"""The Compare page: B against A by measure, one query, one chunk, and sentences about them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import htpy

from labeler.comparison import Comparison, Delta, QueryDelta, Trial, WhatIf
from labeler.evaluation import Conventions, number, signed
from labeler.markup import style
from labeler.measures import MEASURES
from labeler.tables.shared import framed, head, row_head, small

LOOK = style("""
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
""")


def compare_table(rows: Sequence[Delta], comparison: Comparison) -> htpy.Fragment:
    """Return B against A, a row for each measure."""
    heads = [
        head("Measure"),
        head(f"A {comparison.a}", "mean"),
        head(f"B {comparison.b}", "mean"),
        head("B − A", "difference"),
        head("Queries", "B wins / ties / loses"),
        head("n", "in the mean"),
        head("Holes", "in A / in B"),
    ]
    body = [_compare_row(row, comparison.conventions) for row in rows]
    return framed(LOOK, "compare", heads, body, label="A against B by measure")


def _compare_row(row: Delta, conventions: Conventions) -> htpy.Element:
    left_out = f" + {row.undefined} undefined" if row.undefined else ""
    absent = (row.missing_a, row.missing_b)
    missing = f"{absent[0]} / {absent[1]} queries absent" if any(absent) else ""
    return htpy.tr[
        row_head(conventions.heading(row.measure), title=MEASURES[row.measure.name].meaning),
        htpy.td[number(row.a), small(_aside(row.a, row.n))],
        htpy.td[number(row.b), small(_aside(row.b, row.n))],
        htpy.td[htpy.strong[signed(row.delta)]],
        htpy.td[f"{row.wins} / {row.ties} / {row.losses}"],
        htpy.td[f"{row.n}{left_out}"],
        htpy.td[f"{row.holes_a:,} / {row.holes_b:,}", small(missing)],
    ]


def query_table(rows: Sequence[QueryDelta], comparison: Comparison) -> htpy.Fragment:
    """Return one query's values, a row for each measure."""
    heads = [
        head("Measure"),
        head(f"A {comparison.a}"),
        head(f"B {comparison.b}"),
        head("B − A"),
        head("Holes", "in A / in B"),
    ]
    body = [
        htpy.tr[
            row_head(comparison.conventions.heading(row.measure)),
            htpy.td[number(row.a), small(_aside(row.a, row.counted, row.missing_a))],
            htpy.td[number(row.b), small(_aside(row.b, row.counted, row.missing_b))],
            htpy.td[htpy.strong[signed(row.delta)]],
            htpy.td[f"{row.holes_a} / {row.holes_b}"],
        ]
        for row in rows
    ]
    return framed(LOOK, "compare", heads, body, label="A against B for this query")


def _aside(value: float, counted: int, missing: bool = False) -> str:
    """Say beside a value why there is none although its query counts, or why it is 0."""
    if math.isnan(value):
        return "no result" if counted else ""
    return "no list: 0" if missing else ""


def what_if_table(trial: Trial, comparison: Comparison) -> htpy.Fragment:
    """Return what the values would be, and why a side that is left empty cannot be."""
    heads = [head("Measure"), head("A would be", "change"), head("B would be", "change")]
    body = []
    for at, measure in enumerate(comparison.measures):
        a, b = (None if side is None else side[at] for side in (trial.a, trial.b))
        delta = math.nan if a is None or b is None else b.value - a.value
        body.append(
            htpy.tr[
                row_head(comparison.conventions.heading(measure)),
                _would_be(a),
                _would_be(b),
                htpy.td[htpy.strong[signed(delta)]],
            ]
        )
    table = framed(LOOK, "compare", [*heads, head("B − A")], body, label="What if")
    return htpy.fragment[table, sentences(trial.problems)]


def _would_be(side: WhatIf | None) -> htpy.Element:
    if side is None:
        return htpy.td["–"]
    return htpy.td[number(side.value), small(signed(side.delta))]


def query_head(text: str, query_id: str, buckets: Sequence[str]) -> htpy.Fragment:
    """Return a query's text and buckets."""
    words = " · ".join([f"query {query_id}", *buckets])
    return htpy.fragment[LOOK, htpy.div(".question")[htpy.p(dir="auto")[text], htpy.small[words]]]


def chunk_text(chunk_id: str, title: str | None, text: str | None) -> htpy.Fragment:
    """Return a chunk, its title and text as they are."""
    if text is None:
        body = htpy.p[htpy.em["Only its id is known: the chunk's text was never loaded."]]
    else:
        body = htpy.div(".text", dir="auto", tabindex="0")[text]
    heading = htpy.h3(dir="auto")[title] if title else None
    return htpy.fragment[LOOK, htpy.article(".chunk-shown")[heading, htpy.small[chunk_id], body]]


def small_print(lines: Iterable[str]) -> htpy.Fragment:
    """Return lines that stand under numbers, such as their conventions."""
    return htpy.fragment[LOOK, htpy.div(".small-print")[[htpy.p[each] for each in lines if each]]]


def sentences(lines: Iterable[str]) -> htpy.Fragment:
    """Return sentences as a list; nothing where there are none."""
    items = [htpy.li[line] for line in lines]
    return htpy.fragment[LOOK, htpy.ul(".said")[items] if items else None]

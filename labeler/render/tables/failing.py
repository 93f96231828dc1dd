"""The Queries page: the list of queries, and the classes of failure by count."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import htpy

from labeler.analysis.failures import MATTERS, FailureClass, QueryRow, Tally
from labeler.evaluation import arrowed, number, share_words
from labeler.render.markup import style
from labeler.render.tables.printed import small_print
from labeler.render.tables.shared import SHEET, carried_words, framed, head

LEAKED, DELTA = "leaked", "B − A"
SAID = {"class": 7.5, "answer": 6.5, "known relevant": 11}  # rem at least for some words
LONGEST = 500  # characters of a query's text in the list
LOOK = style("""
.sheet.queries { max-height: 36rem; overflow: auto; container-type: inline-size;
    /* what gets the focus does not stand under the heads */
    scroll-padding: 2.75rem 0 0 7rem; }
.sheet.queries th, .sheet.queries td { padding: 0.33rem 0.5rem; font-size: 0.93rem; }
.sheet.queries table { border-collapse: separate; border-spacing: 0; }
.sheet.queries th { position: sticky; background: var(--ground); }
.sheet.queries thead th { top: 0; z-index: 2; }
.sheet.queries tbody th, .sheet.queries thead th:first-child { left: 0; text-align: left; }
.sheet.queries tbody th { z-index: 1; }
.sheet.queries thead th:first-child { z-index: 3; }
.sheet.queries tbody th > span { display: -webkit-box; -webkit-box-orient: vertical;
    -webkit-line-clamp: 2; overflow: hidden; width: max-content; max-width: 11rem;
    white-space: normal; overflow-wrap: anywhere; }
.sheet.queries th.words, .sheet.queries td.words { min-width: 0; white-space: nowrap; }
/* what the numbers leave, so that these are in sight, and one line of it */
.sheet.queries td.text { width: 100%; max-width: 0; min-width: 12rem; overflow: hidden;
    text-overflow: ellipsis; }
/* one link a row, which all of the row is */
.sheet.queries tbody tr { position: relative; }
.sheet.queries tbody a { text-decoration: none; }
.sheet.queries tbody a::after { content: ""; position: absolute; inset: 0; z-index: 1; }
.sheet.queries tbody a:focus-visible { outline: none; }
.sheet.queries tbody a:focus-visible::after { outline: 2px solid currentColor;
    outline-offset: -2px; }
.sheet.queries tbody tr:is(:hover, :has(a:focus-visible)) > * {
    background: color-mix(in srgb, currentColor 7%, var(--ground)); }
.sheet.queries tbody tr:is(:hover, :has(a:focus-visible)) > th > span {
    text-decoration: underline; text-underline-offset: 0.2em; }
@container (max-width: 64rem) {
    .sheet.queries th, .sheet.queries td { padding: 0.33rem 0.27rem; }
    .sheet.queries tbody th > span { max-width: 6rem; }
    .sheet.queries td.text { min-width: 8rem; }
}
@container (40rem < width < 70rem) {
    .sheet.queries td.said { min-width: var(--least); white-space: normal; }
    .sheet.queries td.text a { display: -webkit-box; -webkit-box-orient: vertical;
        -webkit-line-clamp: 2; overflow: hidden; white-space: normal; }
}
@media print {
    .sheet.queries { max-height: none; overflow: visible; container-type: normal; }
    .sheet.queries th { position: static; }
    .sheet.queries th, .sheet.queries td.words:not(.text) { white-space: normal; padding: 0.2rem; }
    .sheet.queries td.words:not(.text), .sheet.queries td.text { min-width: 5rem; }
}
""")


def failing_list(
    rows: Sequence[QueryRow],
    headings: Sequence[str],
    facet: str | None,
    link: Callable[[str], str],
) -> htpy.Fragment:
    """Return queries as the list on the screen: a line each, all of which leads to the query."""
    columns = _columns(rows, headings, facet)
    numbers = {*headings, f"{headings[0]} of A", DELTA}
    heads = [head(name, words=name not in numbers) for name in ("query", "text", *columns)]
    cells_of = [
        partial(
            htpy.td,
            class_={"words": name not in numbers, "said": name in SAID},
            style=f"--least: {SAID[name]}rem" if name in SAID else None,
        )
        for name in columns
    ]
    body = [
        htpy.tr[
            htpy.th(scope="row")[htpy.span[row.query_id]],
            htpy.td(".words.text")[
                htpy.a(href=link(row.query_id), title=f"{row.query_id}: {row.text[:LONGEST]}")[
                    " ".join(row.text.split())[:LONGEST]
                ]
            ],
            [made()[cell] for made, cell in zip(cells_of, cells, strict=True)],
        ]
        for row, *cells in zip(rows, *columns.values(), strict=True)
    ]
    return framed([SHEET, LOOK], "sheet queries", heads, body, label="Queries")


def _columns(
    rows: Sequence[QueryRow], headings: Sequence[str], facet: str | None
) -> dict[str, list[str]]:
    """Return what is said of each query beside its text, by the heading of its column."""
    columns: dict[str, list[str]] = {}
    first, *others = headings
    columns[first] = [value_words(row.values[0], row.judged, row.counted[0]) for row in rows]
    if any(row.delta is not None for row in rows):
        columns[f"{first} of A"] = [
            value_words(_known(row.a), row.judged, row.counted[0]) for row in rows
        ]
        columns[DELTA] = [arrowed(_known(row.delta)) for row in rows]
    columns["class"] = [row.status for row in rows]
    if any(row.leaked for row in rows):
        columns[LEAKED] = [LEAKED if row.leaked else "" for row in rows]
    if any(row.outcome for row in rows):
        columns["answer"] = [row.outcome.name if row.outcome else "–" for row in rows]
    columns["known relevant"] = [row.places_in_words for row in rows]
    columns["holes"] = [_hole_words(row) for row in rows]
    for at, heading in enumerate(others, 1):
        columns[heading] = [
            value_words(row.values[at], row.judged, row.counted[at]) for row in rows
        ]
    if any(row.task for row in rows):
        columns["task"] = [row.task or "–" for row in rows]
    if any(row.split for row in rows):
        columns["split"] = [row.split or "–" for row in rows]
    if facet is not None and facet not in ("task", "split"):
        name = f"facet {facet}" if facet in ("query", "text", *columns) else facet
        columns[name] = [row.bucket or "–" for row in rows]
    return columns


def _known(value: float | None) -> float:
    return math.nan if value is None else value


def value_words(value: float, judged: bool, counted: bool) -> str:
    """Write a query's value, or why it has none; a run without results has none that is counted.

    >>> nan = math.nan
    >>> value_words(0.5, True, True), value_words(nan, True, False), value_words(nan, True, True)
    ('0.5000', 'undefined', 'no result')
    """
    if not math.isnan(value):
        return number(value)
    if counted:
        return "no result"
    return "undefined" if judged else "not graded"


def _hole_words(row: QueryRow) -> str:
    if row.missing:
        return "absent"
    holes = f"{row.holes} of {row.shown}" if row.holes else "none"
    return ", ".join(filter(None, (holes, carried_words(row.carried))))


def failure_table(
    found: Mapping[FailureClass, Tally],
    by_bucket: Mapping[str, Mapping[FailureClass, int]],
    link: Callable[[FailureClass], str],
) -> htpy.Fragment:
    """Return the classes that occur: count, share, known chunks, then a column a bucket.

    Each says what it means and what to try, and leads to its queries. The others stand below.
    """
    there = {kind: each for kind, each in found.items() if each.queries}
    total = sum(each.queries for each in there.values())
    what = htpy.th(".words", scope="col")["Class, what it means, ", htpy.em["what to try"]]
    heads = [
        what,
        head("Queries"),
        head("Share"),
        head("Known relevant", "in the top / below / never"),
        head("Mostly holes", "in the top"),
        *map(head, by_bucket),
    ]
    rows = [
        htpy.tr[
            _class_head(kind, link(kind)),
            htpy.td(".lead")[f"{each.queries:,}"],
            htpy.td[share_words(each.queries, total)],
            htpy.td[f"{each.top:,} / {each.below:,} / {each.missed:,}"],
            htpy.td[f"{each.mostly_holes:,}"],
            [htpy.td[str(inside[kind])] for inside in by_bucket.values()],
        ]
        for kind, each in there.items()
    ]
    others = ", ".join(kind.name for kind in found if kind not in there)
    return htpy.fragment[
        framed(SHEET, "sheet failures", heads, rows),
        small_print([f"No query fails by: {others}" if others else ""]),
    ]


def _class_head(each: FailureClass, href: str) -> htpy.Element:
    name, _ = MATTERS[each.side]
    said = htpy.small[f"{name}: {each.meaning} ", htpy.em[each.lever]]
    return htpy.th(".words.wide", scope="row")[htpy.a(href=href)[each.name], said]

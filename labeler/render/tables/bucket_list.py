"""List of buckets on one axis: a mark with its interval in each row, and the numbers beside it.

A difference is a dot: filled if its interval excludes 0, hollow if it includes 0, small and grey if
it is not tested. A mean of one run is a bar. A cell beside it has each number.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import htpy

from labeler.analysis.comparison import TOO_FEW_DIFFER, TOO_FEW_QUERIES, DeltaTest
from labeler.render.markup import style
from labeler.render.tables.html_table import TABLE_STYLE, html_table
from labeler.render.tokens import RUN_A, RUN_B

CLEAR, NOT_CLEAR, NO_LINE, UNTESTED, LEVEL = "filled", "", "bare", "plain", "level"
TICKS = 5  # approximate number
LIST_STYLE = style(
    """
.listed table { table-layout: fixed; min-width: 22rem; }
.sheet.listed th, .sheet.listed td { padding: 0 0 0 1.5rem; height: 2.25rem; vertical-align: middle;
    border-bottom: 1px solid var(--line); }
.sheet.listed :is(th, td):first-child { padding-left: 0; }
.sheet.listed thead th { color: var(--muted); font-weight: 400; font-size: 0.8125rem;
    line-height: 1.25rem; padding-bottom: 0.5rem; vertical-align: bottom; white-space: normal;
    overflow-wrap: anywhere; border-bottom: 1px solid var(--line2); }
.sheet.listed tr.total > * { height: 3.5rem; border-top: 0; border-bottom: 1px solid var(--line2); }
.sheet.listed tr:has(+ tr.axis) > * { border-bottom-color: var(--line2); }
.sheet.listed tbody th.words, .sheet.listed tbody th.words > :first-child { white-space: nowrap;
    overflow: hidden; text-overflow: ellipsis; min-width: 0; max-width: none; width: auto;
    vertical-align: middle; }
.sheet.listed td.aside { font-size: 0.8125rem; }
.listed th.name { width: 15rem; } .listed th.n { width: 6.5rem; }
.listed th.number { width: 6rem; } .listed th.between { width: 10.5rem; }
.listed .of { color: var(--muted); font-size: 0.8125rem; font-weight: 400; margin-left: 0.5rem; }
.sheet.listed td.aside { color: var(--muted); }
.sheet.listed a { text-decoration-color: var(--line2); }
.sheet.listed td.plot, .sheet.listed th.plot { position: relative; padding: 0; }
.listed .plot > div { position: absolute; inset: 0 0 0 1.5rem; }
.listed .plot i { position: absolute; display: block; }
.listed .plot .line { top: 0; bottom: 0; width: 1px; background: var(--line); }
.listed .plot .zero { background: var(--muted); }
.listed .plot .between { height: 2px; top: 50%; margin-top: -1px; background: var(--mark); }
.listed .plot .dot { width: 10px; height: 10px; top: 50%; margin: -5px 0 0 -5px;
    box-sizing: border-box; border: 2px solid var(--mark); border-radius: 50%;
    background: var(--mark); }
.listed .plot .square { border-radius: 2px; }
.listed .plot .maybe { background: var(--ground); }
.listed .plot .level { width: 3px; height: 14px; top: 50%; margin: -7px 0 0 -1.5px;
    background: var(--mark); }
.listed .plot .plain { top: 50%; width: 7px; height: 7px; margin: -3.5px 0 0 -3.5px;
    background: var(--ground);
    border: 1.5px solid var(--line2); border-radius: 50%; }
.listed .total .plot .dot { width: 14px; height: 14px; margin: -7px 0 0 -7px; border-width: 3px; }
.listed .total .plot .level { width: 5px; height: 20px; margin: -10px 0 0 -2.5px; }
.listed .total .plot .between { height: 4px; margin-top: -2px; }
.listed .plot div > span { position: absolute; white-space: nowrap; font-size: 0.8125rem;
    line-height: 1.25rem; color: var(--muted); }
.listed .plot .tick { top: 0.25rem; transform: translateX(-50%); }
.listed .plot .side { bottom: 0.5rem; overflow: hidden; text-overflow: ellipsis; }
.sheet.listed tr.axis td { height: 1.75rem; border-bottom: 0; }
@media (max-width: 72rem) {
    .listed .between { display: none; }
    .listed th.name { width: 12rem; } .listed th.n { width: 5rem; }
}
@media (max-width: 56rem) {
    .listed .wide-only { display: none; }
    .listed th.name { width: 34%; } .listed th.number { width: 5rem; }
    .sheet.listed th, .sheet.listed td { padding-left: 0.5rem; }
    .listed .plot > div { left: 0.5rem; }
    .listed .of { display: block; margin: 0; line-height: 1rem; }
}
"""
    + ".listed .plot { --mark: var(--ink); }"
    + f".listed .a {{ --mark: {RUN_A}; }} .listed :is(.a, .plot .side.a) {{ color: {RUN_A}; }}"
    + f".listed .b {{ --mark: {RUN_B}; }} .listed :is(.b, .plot .side.b) {{ color: {RUN_B}; }}"
)


class ListColumn(NamedTuple):
    """A column of numbers: its heading, its text on hover, and whether a phone leaves it out."""

    heading: htpy.Node
    title: str = ""
    wide_only: bool = True
    is_range: bool = False


@dataclass(frozen=True, slots=True)
class ListRow:
    """A bucket, or the total: its place on the axis, and the texts of its columns.

    ``rests_on`` says how many queries it has. ``ends`` are those of its interval, NaN without one.
    ``look`` is that of its mark, `CLEAR` to `LEVEL`. ``side`` is the run whose colour the mark has,
    "" for a single run. ``words`` is the mark's text on hover.
    """

    name: htpy.Node
    of: str
    rests_on: str
    value: float
    ends: tuple[float, float]
    look: str
    side: str
    cells: Sequence[str]
    words: str
    is_few: bool = False
    is_total: bool = False


class ListAxis(NamedTuple):
    """The values at both ends of an axis, and its ticks."""

    lo: float
    hi: float
    ticks: Sequence[float]

    def place(self, value: float) -> float:
        """Return a value's place on the axis, in per cent from the left."""
        return 100 * (min(max(value, self.lo), self.hi) - self.lo) / (self.hi - self.lo)


def axis_of(values: Iterable[float], *, signed: bool) -> ListAxis:
    """Return an axis for all ``values`` and 0; for means within 0 and 1, the axis is 0 to 1.

    >>> axis_of([0.2, 0.9], signed=False).ticks
    (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
    >>> axis_of([-0.31, 0.12], signed=True).ticks
    (-0.3, -0.2, -0.1, 0.0, 0.1)
    """
    known = [value for value in values if math.isfinite(value)]
    lo, hi = min([0.0, *known]), max([0.0, *known])
    if not signed:
        hi = 1.0 if hi <= 1 else hi
    room = 0.04 * (hi - lo) or 0.1
    if signed or lo != 0:
        lo, hi = lo - room, hi + room
    power = 10.0 ** math.floor(math.log10((hi - lo) / TICKS))
    step = min((k * power for k in (1, 2, 5, 10)), key=lambda step: abs((hi - lo) / step - TICKS))
    first, last = math.ceil(round(lo / step, 6)), math.floor(round(hi / step, 6))
    return ListAxis(lo, hi, tuple(round(at * step, 10) for at in range(first, last + 1)))


def bucket_list(
    rows: Sequence[ListRow],
    heads: tuple[str, str],
    columns: Sequence[ListColumn],
    axis: ListAxis,
    sides: tuple[str, str] | None = None,
    *,
    label: str,
) -> htpy.Fragment:
    """Return the rows with one ``axis`` below them.

    ``heads`` are the headings of the names and of the query counts. ``sides`` name the runs to the
    left and to the right of 0.
    """
    shown = [
        htpy.th(".words.name")[heads[0]],
        htpy.th(".n.wide-only")[heads[1]],
        htpy.th(".plot")[_sides(axis, sides) if sides else htpy.span(".unseen")["on the axis"]],
        *(htpy.th(class_=_look(each), title=each.title or None)[each.heading] for each in columns),
    ]
    return html_table(
        (TABLE_STYLE, LIST_STYLE),
        "sheet slices listed",
        shown,
        [*(_row(row, columns, axis) for row in rows), _axis_row(axis, columns, signed=bool(sides))],
        label=label,
    )


def _look(column: ListColumn) -> dict[str, bool]:
    kind = "between" if column.is_range else "number"
    return {kind: True, "wide-only": column.wide_only}


def _row(row: ListRow, columns: Sequence[ListColumn], axis: ListAxis) -> htpy.Element:
    return htpy.tr(class_={"total": row.is_total, "few": row.is_few})[
        htpy.th(".words", scope="row")[
            htpy.span[row.name, row.of and htpy.span(".of")[htpy.bdi[row.of]]]
        ],
        htpy.td(".aside.wide-only")[row.rests_on],
        htpy.td(class_={"plot": True, row.side: bool(row.side)}, title=row.words)[
            htpy.div[_lines(axis), _mark(row, axis)]
        ],
        (
            htpy.td(class_=_look(column) | {"aside": column.is_range})[text]
            for column, text in zip(columns, row.cells, strict=True)
        ),
    ]


def _lines(axis: ListAxis) -> list[htpy.Element]:
    return [
        htpy.i(class_=["line", "zero" if not tick else ""], style=_left(axis.place(tick)))
        for tick in axis.ticks
    ]


def _mark(row: ListRow, axis: ListAxis) -> htpy.Node:
    if math.isnan(row.value):
        return None
    at = _left(axis.place(row.value))
    if row.look == UNTESTED:
        return htpy.i(".plain", style=at)
    look = {"dot": True, "maybe": row.look != CLEAR, "square": row.side == "a"}
    lo, hi = row.ends
    drawn = htpy.i(class_=[LEVEL] if row.look == LEVEL else look, style=at)
    if math.isnan(lo):
        return drawn
    left, right = axis.place(lo), axis.place(hi)
    return [htpy.i(".between", style=f"{_left(left)}; width: {right - left:.2f}%"), drawn]


def _left(per_cent: float) -> str:
    return f"left: {per_cent:.2f}%"


def _sides(axis: ListAxis, sides: tuple[str, str]) -> htpy.Element:
    zero = axis.place(0.0)
    right, left = f"right: calc({100 - zero:.2f}% + 12px)", f"left: calc({zero:.2f}% + 12px)"
    better, titles = htpy.span(".wide-only")[" better"], [f"{name} better" for name in sides]
    of_a, of_b = f"{zero:.2f}%", f"{100 - zero:.2f}%"
    return htpy.div[
        htpy.span(".side.a", style=f"{right}; max-width: calc({of_a} - 12px)", title=titles[0])[
            "← ", htpy.bdi[sides[0]], better
        ],
        htpy.span(".side.b", style=f"{left}; max-width: calc({of_b} - 12px)", title=titles[1])[
            htpy.bdi[sides[1]], better, " →"
        ],
    ]


def _axis_row(axis: ListAxis, columns: Sequence[ListColumn], *, signed: bool) -> htpy.Element:
    ticks = [
        htpy.span(".tick", style=_left(axis.place(tick)))[_format_tick(tick, signed=signed)]
        for tick in axis.ticks
    ]
    return htpy.tr(".axis", aria_hidden="true")[
        htpy.td,
        htpy.td(".wide-only"),
        htpy.td(".plot")[htpy.div[ticks]],
        (htpy.td(class_=_look(column)) for column in columns),
    ]


def _format_tick(value: float, *, signed: bool) -> str:
    """Return the label of a tick; a difference has its sign.

    >>> _format_tick(-0.2, signed=True), _format_tick(0.0, signed=True)
    ('−0.2', '0')
    """
    if not value:
        return "0"
    return (f"{value:+g}" if signed else f"{value:g}").replace("-", "−")


KEY_STYLE = style("""
.key-to-marks { display: flex; flex-wrap: wrap; gap: 0 1.5rem; color: var(--muted);
    margin: 0.25rem 0 0; font-size: 0.8125rem; line-height: 1.25rem; }
.key-to-marks a { color: var(--accent); }
.key-to-marks i { position: relative; display: inline-block; width: 28px; height: 2px;
    background: var(--muted); vertical-align: middle; margin-right: 0.5rem; }
.key-to-marks i::after { content: ""; position: absolute; box-sizing: content-box; left: 9px;
    top: -4px; width: 6px; height: 6px; border: 2px solid var(--muted); border-radius: 50%;
    background: var(--bg); }
.key-to-marks i.filled::after { background: var(--muted); }
.key-to-marks :is(i.bare, i.plain) { background: none; width: 10px; }
.key-to-marks :is(i.bare, i.plain)::after { left: 0; }
.key-to-marks i.level::after { left: 12.5px; top: -6px; width: 3px; height: 14px; border: 0;
    border-radius: 0; background: var(--muted); }
.key-to-marks i.plain::after { width: 4px; height: 4px; top: -3px; border-width: 1.5px;
    border-color: var(--line2); }
""")
WHAT_MARKS_MEAN = {
    CLEAR: "filled: clear (misses 0)",
    NOT_CLEAR: "hollow: could be chance (reaches 0)",
    NO_LINE: TOO_FEW_DIFFER,
    UNTESTED: TOO_FEW_QUERIES,
}


def look_of(test: DeltaTest) -> str:
    """Return the look of a difference's mark."""
    if not test.tests:
        return UNTESTED
    if test.is_clear:
        return CLEAR
    return NO_LINE if math.isnan(test.interval.lo) else NOT_CLEAR


def key_to_marks(
    entries: Iterable[tuple[str, str]], more: str = "", links: Iterable[htpy.Node] = ()
) -> htpy.Fragment:
    """Return the key of the marks: each of ``entries`` with its look, then further notes."""
    shown = [
        htpy.span[htpy.i(class_=look or None, aria_hidden="true"), text] for look, text in entries
    ]
    said = htpy.span[more] if more else None
    return htpy.fragment[KEY_STYLE, htpy.p(".key-to-marks")[*links, *shown, said]]

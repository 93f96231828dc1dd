"""Plots of buckets as tables: B − A as dots on an axis, one run's means as shaded cells.

Every cell also shows its number, so nothing depends on colour. Each measure has its own scale.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from typing import NamedTuple, TypeVar

import htpy

from labeler.analysis.comparison import (
    Comparison,
    CrossedCell,
    Delta,
    PairTests,
    format_delta_interval,
    format_p_value,
)
from labeler.evaluation import Conventions, Score, format_number, format_signed
from labeler.render.markup import style
from labeler.render.palette import SHADE_COLOUR
from labeler.render.tables.html_table import (
    TABLE_STYLE,
    describe_interval,
    describe_transferred,
    describe_unjudged,
    head,
    html_table,
    small_line,
)
from labeler.render.tables.scores import NO_INTERVALS
from labeler.render.tables.slices import BucketLink, linked_bucket, rests_on
from labeler.render.tokens import RUN_A, RUN_B
from labeler.stats import IntervalsByPlace

AXIS_STEPS = (1, 1.5, 2, 3, 4, 5, 6, 8, 10)  # of a scale
MOST_SIDE_BY_SIDE = 7  # columns: with more, a number is below its dot and not beside it
MOST_SHADE = 45  # per cent: text stays readable on it, in the light and the dark theme
PLOT_STYLE = style(
    """
.pictured tr > th, .pictured tr > td { padding: 0.18rem 0.5rem; vertical-align: middle; }
.pictured thead th { white-space: normal; overflow-wrap: break-word; max-width: 12rem; }
.pictured tbody th, .pictured tbody td { border-bottom-width: 0; }
.pictured tbody tr:nth-child(even) { background: color-mix(in srgb, currentColor 4%, transparent); }
.pictured tr.total > * {
  border-top-width: 0;
  border-bottom: 2px solid color-mix(in srgb, currentColor 45%, transparent);
}
.pictured tbody th.words { min-width: 7rem; max-width: 22rem; }
.pictured td.n { white-space: nowrap; width: 1%; }
.pictured td.n .aside { display: block; }
.pictured td.few { color: color-mix(in srgb, currentColor 68%, transparent); }
.pictured td.drawn > div { min-width: 4.2rem; }
.pictured .track { display: block; position: relative; height: 1.1rem; margin: 0 0.4rem;
  background:
    linear-gradient(currentColor, currentColor) center / 1px 100% no-repeat,
    linear-gradient(color-mix(in srgb, currentColor 25%, transparent) 0 0)
    center / 100% 1px no-repeat; }
.pictured .dot { position: absolute; left: var(--at); top: 50%; width: 0.62rem; height: 0.62rem;
  margin: -0.31rem 0 0 -0.31rem; border: 2px solid var(--dot); border-radius: 50%; }
.pictured .dot.sure, .pictured .dot.plain { background: var(--dot); }
.pictured .dot.maybe { background: var(--ground); }
.pictured .dot.plain { width: 0.5rem; height: 0.5rem; margin: -0.25rem 0 0 -0.25rem; }
.pictured .dot.beyond { border-radius: 0; width: 0.5rem; height: 1rem;
  margin: -0.5rem 0 0 -0.25rem; }
.pictured td.shaded {
  background: color-mix(in srgb, var(--shade) calc(var(--share) * 1%), transparent);
}
@media (min-width: 75rem) {
  .pictured tbody th.words { width: 1%; min-width: 10rem; }
  .pictured.roomy td.drawn > div {
    display: flex; align-items: center; justify-content: flex-end;
  }
  .pictured.roomy .track { flex: 1 1 3rem; min-width: 2rem; }
  .pictured.roomy .track + span { min-width: 3.9rem; }
}
"""
    + f".pictured {{ --shade: {SHADE_COLOUR}; }}"
    + f".pictured .dot {{ --dot: {RUN_B}; }} .pictured .dot.worse {{ --dot: {RUN_A}; }}"
    + ".pictured .dot.plain { --dot: color-mix(in srgb, currentColor 62%, var(--ground)); }"
)


SLACK = 1e-9  # share of an axis by which rounding can put a number beyond its end


class Scale(NamedTuple):
    """The values at the left and the right end of a column's shades."""

    left: float
    right: float

    def place(self, value: float) -> float:
        """Return a value's place on the scale, from 0 to 100."""
        wide = self.right - self.left
        return 100 * min(max((value - self.left) / wide, 0.0), 1.0) if wide > 0 else 0.0


class PlotColumn(NamedTuple):
    """One column of a picture: its heading, a line under it, and its text on hover."""

    heading: str
    under: str = ""
    meaning: str = ""


class PlotRow(NamedTuple):
    """A row: its heading, its number of queries, and a `dot_cell` or `shaded_cell` for each column.

    ``is_few`` says that it has few queries.
    """

    head: htpy.Node
    rests_on: htpy.Node
    cells: Sequence[htpy.Element]
    is_few: bool = False
    is_total: bool = False


class PlotCellNote(NamedTuple):
    """A cell's text on hover, and the reason why its number is ``missing``.

    ``is_few`` says that it has few queries and is grey. ``href`` is the address that the number
    links to.
    """

    words: str
    is_few: bool
    missing: str = ""
    href: str | None = None

    def number(self, shown: str) -> htpy.Node:
        """Return the number as it is ``shown``, as a link if it has an address."""
        return htpy.a(href=self.href)[shown] if self.href else shown


def plot_table(
    corner: PlotColumn, columns: Sequence[PlotColumn], lines: Iterable[PlotRow]
) -> htpy.Fragment:
    """Return the rows under their columns; ``corner`` is the heading of the rows' names."""
    heads = [head(corner.heading, corner.under, words=True), head("n")]
    heads += [head(each.heading, each.under, title=each.meaning or None) for each in columns]
    body = [
        htpy.tr(class_={"total": line.is_total, "few": line.is_few})[
            htpy.th(".words", scope="row")[line.head], htpy.td(".n")[line.rests_on], line.cells
        ]
        for line in lines
    ]
    look = (TABLE_STYLE, PLOT_STYLE)
    roomy = " roomy" if len(columns) <= MOST_SIDE_BY_SIDE else ""
    return html_table(look, f"sheet slices pictured{roomy}", heads, body, label=corner.heading)


def dot_cell(
    value: float, said: PlotCellNote, edge: float, *, is_sure: bool | None = None
) -> htpy.Element:
    """Return a difference as a dot to the left or right of a line.

    A difference beyond the ``edge`` is a bar at the edge. ``is_sure`` says whether it is clear,
    None if it is not tested. An untested dot is small and grey; others have the colour of the
    better run.
    """
    cell = htpy.td(class_={"drawn": True, "few": said.is_few}, title=said.words)
    shown = said.number(format_signed(value))
    if math.isnan(value):
        return cell[shown, small_line(said.missing)]
    place = min(max(value / edge, -1.0), 1.0)
    kind = {None: "plain", True: "sure", False: "maybe"}[is_sure]
    beyond = abs(value) > edge * (1 + SLACK)
    look = {"dot": True, kind: True, "worse": value < 0, "beyond": beyond}
    mark = htpy.span(class_=look, style=f"--at: {50 + 50 * place:.2f}%")
    track = htpy.span(".track")[mark]
    return cell[htpy.div[track, htpy.span[shown]]]


def shaded_cell(value: float, said: PlotCellNote, bounds: Scale | None) -> htpy.Element:
    """Return a number on a shade that shows its place within its column's ``bounds``.

    Without ``bounds`` there is no shade: a total is not compared with buckets. A number over few
    queries has none either: it is grey, and could not be read on a shade.
    """
    shown = [said.number(format_number(value)), small_line(said.missing)]
    if bounds is None or said.is_few or math.isnan(value):
        return htpy.td(class_={"few": said.is_few}, title=said.words)[shown]
    share = f"--share: {MOST_SHADE * bounds.place(value) / 100:.1f}"
    return htpy.td(".shaded", title=said.words, style=share)[shown]


def axis_limit(values: Iterable[float]) -> float:
    """Return a round number that no absolute value exceeds, 1 without values.

    >>> axis_limit([0.13, -0.071]), axis_limit([-0.3]), axis_limit([12, 7]), axis_limit([])
    (0.15, 0.3, 15.0, 1.0)
    """
    most = max((abs(value) for value in values if not math.isnan(value)), default=0.0)
    if not most:
        return 1.0
    power = math.floor(math.log10(most))
    step = next(step for step in AXIS_STEPS if most <= step * 10**power * (1 + SLACK))
    return float(f"{step}e{power}")


RowT = TypeVar("RowT", Delta, Score)
SHADES = (
    "A measure's shade is from its lowest bucket to its highest of those that are not greyed; "
    "shades of two measures have nothing in common. "
)


def delta_plot(
    comparison: Comparison,
    buckets: Sequence[str],
    tests: PairTests,
    *,
    least: int,
    link: BucketLink | None,
) -> htpy.Fragment:
    """Return B − A as dots: all judged queries, then ``buckets`` in their order, by measure.

    A row's n is that of the first measure. A dot is filled if the difference is clear, hollow if it
    is not, and grey if it is not tested. Hovering shows its n, its test and its interval. Each
    measure has its own scale with room for the intervals. Buckets with fewer than ``least`` queries
    are grey and do not widen it.
    """
    chosen = _by_bucket((*comparison.deltas, *comparison.buckets), buckets)
    columns, cells = [], []
    for of in zip(*chosen, strict=True):
        measure = of[0].measure
        edge = _delta_limit(of, tests, least)
        heading = comparison.conventions.heading(measure)
        columns.append(PlotColumn(heading, f"± {edge:g}", measure.definition.help))
        cells.append(
            [
                dot_cell(
                    row.delta,
                    PlotCellNote(
                        _describe_delta(comparison, row, tests),
                        row.n < least,
                        _missing_reason(row.delta, row.n),
                    ),
                    edge,
                    is_sure=tests.of(row).is_clear if tests.of(row).tests else None,
                )
                for row in of
            ]
        )
    return plot_table(
        PlotColumn(comparison.facet or ""), columns, _plot_rows(chosen, cells, least, link)
    )


def _delta_limit(rows: Sequence[Delta], tests: PairTests, least: int) -> float:
    """Return the difference at a column's edge, from the total and buckets of enough queries."""
    total, *buckets = rows
    enough = [row for row in buckets if row.n >= least] or buckets
    intervals = [(row, tests.of(row).interval) for row in (total, *enough)]
    return axis_limit(end for row, each in intervals for end in (row.delta, each.lo, each.hi))


def _describe_delta(comparison: Comparison, row: Delta, tests: PairTests) -> str:
    heading = comparison.conventions.heading(row.measure)
    if math.isnan(row.delta):
        return f"{heading}: no value (n {row.n:,})"
    test = tests.of(row)
    a, b = comparison.a, comparison.b
    said = (
        f"{heading}: {a} {format_number(row.a)}, {b} {format_number(row.b)}, difference "
        f"{format_signed(row.delta)} "
        f"(n {row.n:,}); {b} wins {row.wins}, ties {row.ties}, loses {row.losses}"
    )
    if not test.tests:
        return f"{said}; {test.reason}"
    clear = "clear" if test.is_clear else "not clear"
    interval = format_delta_interval(test.interval)
    return f"{said}; {clear}, interval {interval}, p {format_p_value(test.p_corrected)}"


def mean_plot(
    rows: Sequence[Score],
    totals: Sequence[Score],
    buckets: Sequence[str],
    conventions: Conventions,
    *,
    facet: str,
    least: int,
    link: BucketLink | None,
    intervals: IntervalsByPlace = NO_INTERVALS,
) -> htpy.Fragment:
    """Return one run's means on shades: all judged queries, then ``buckets`` in their order.

    A row's n is that of the first measure. Hovering over a mean shows its own n and its interval.

    Each measure has its own scale, so shades compare buckets and not measures. The scale goes from
    the lowest to the highest bucket with at least ``least`` queries; other buckets are grey.
    """
    chosen = _by_bucket((*totals, *rows), buckets)
    columns, cells = [], []
    for of in zip(*chosen, strict=True):
        measure = of[0].measure
        bounds = _shade_bounds([(score.value, score.n) for score in of[1:]], least)
        heading = conventions.heading(measure)
        columns.append(PlotColumn(heading, _format_bounds(bounds), measure.definition.help))
        cells.append(
            [
                shaded_cell(
                    score.value,
                    PlotCellNote(
                        _describe_mean(score, conventions, intervals),
                        score.n < least,
                        _missing_reason(score.value, score.n),
                    ),
                    None if score.bucket is None else bounds,
                )
                for score in of
            ]
        )
    return plot_table(PlotColumn(facet), columns, _plot_rows(chosen, cells, least, link))


def _by_bucket(rows: Iterable[RowT], buckets: Sequence[str]) -> list[list[RowT]]:
    """Return the rows of the total, then those of each bucket, in the order of measures."""
    found: dict[str | None, list[RowT]] = {}
    for row in rows:
        found.setdefault(row.bucket, []).append(row)
    return [found[bucket] for bucket in (None, *buckets)]


def _plot_rows(
    rows: Sequence[Sequence[Delta] | Sequence[Score]],
    cells: Sequence[Sequence[htpy.Element]],
    least: int,
    link: BucketLink | None,
) -> list[PlotRow]:
    """Return a row for each bucket from ``cells`` by column; its n is that of the first column."""
    return [
        PlotRow(
            linked_bucket(first.bucket, link),
            rests_on(first.n, least, first.undefined),
            drawn,
            first.n < least,
            first.bucket is None,
        )
        for (first, *_), drawn in zip(rows, zip(*cells, strict=True), strict=True)
    ]


def _describe_mean(score: Score, conventions: Conventions, intervals: IntervalsByPlace) -> str:
    unjudged = describe_unjudged(score.unjudged, conventions.depth_of_unjudged(score.measure))
    transferred = describe_transferred(score.transferred)
    rests = score.reason or f"{unjudged}{transferred and f', {transferred}'}"
    found = intervals.get((score.run, str(score.measure), score.bucket))
    reach = "" if found is None else f"; {describe_interval(found)}"
    heading = conventions.heading(score.measure)
    return f"{heading}: {format_number(score.value)} (n {score.n:,}), {rests}{reach}"


def _shade_bounds(known: Sequence[tuple[float, int]], least: int) -> Scale:
    """Return the lowest and the highest value over at least ``least`` queries."""
    values = [value for value, n in known if n >= least and not math.isnan(value)]
    return Scale(min(values), max(values)) if values else Scale(0.0, 0.0)


def _format_bounds(bounds: Scale) -> str:
    return f"{bounds.left:.2f} to {bounds.right:.2f}" if bounds.right > bounds.left else ""


def crossed_plot(
    cells: Sequence[CrossedCell],
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    facet: str,
    least: int,
    link: BucketLink,
) -> htpy.Fragment:
    """Return two crossed facets: B − A as dots for two runs, the mean on a shade for one.

    All cells are of one measure and share one scale, shown in the corner. A row's n is over all its
    cells, drawn or not.
    """
    by_place = {(cell.bucket, cell.other): cell for cell in cells}
    shown = [[by_place[row, column] for column in columns] for row in rows]
    known = [cell for line in shown for cell in line]
    whole = Counter(dict.fromkeys(rows, 0))
    for cell in cells:
        whole[cell.bucket] += cell.n
    if known and len(known[0].values) > 1:
        enough = [cell for cell in known if cell.n >= least] or known
        edge = axis_limit(cell.delta for cell in enough)
        scale = f"± {edge:g}"
        draw = partial(_crossed_dot, edge, least, link)
    else:
        bounds = _shade_bounds([(cell.values[0], cell.n) for cell in known], least)
        scale = _format_bounds(bounds)
        draw = partial(_crossed_shade, bounds, least, link)
    lines = [
        PlotRow(linked_bucket(row, link), rests_on(whole[row], least), [draw(cell) for cell in of])
        for row, of in zip(rows, shown, strict=True)
    ]
    corner = PlotColumn(facet, scale and f"every column {scale}")
    return plot_table(corner, [PlotColumn(column) for column in columns], lines)


def _crossed_dot(edge: float, least: int, link: BucketLink, cell: CrossedCell) -> htpy.Element:
    return dot_cell(cell.delta, _crossed_note(cell, cell.delta, least, link), edge)


def _crossed_shade(
    bounds: Scale | None, least: int, link: BucketLink, cell: CrossedCell
) -> htpy.Element:
    [value] = cell.values
    return shaded_cell(value, _crossed_note(cell, value, least, link), bounds)


def _crossed_note(cell: CrossedCell, shown: float, least: int, link: BucketLink) -> PlotCellNote:
    values = ", ".join(format_number(value) for value in cell.values)
    words = f"{cell.bucket} and {cell.other}: {values} (n {cell.n:,})"
    queries = link(cell.bucket, cell.other) if cell.n + cell.undefined else None
    return PlotCellNote(words, cell.n < least, _missing_reason(shown, cell.n), queries)


def _missing_reason(value: float, n: int) -> str:
    return "no result" if n and math.isnan(value) else ""

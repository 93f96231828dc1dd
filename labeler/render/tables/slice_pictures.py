"""Slices as pictures: B − A as dots, or one run's means on shades, a row for each bucket."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TypeVar

import htpy

from labeler.analysis.comparison import (
    Cell,
    Comparison,
    Delta,
    Place,
    Reach,
    Sureties,
    cautions_of,
    chance_in_words,
    interval_in_words,
    place_of,
)
from labeler.evaluation import Conventions, Score, number, signed
from labeler.render.tables.bands import NOTHING, Scale, Spread, band, scale_of
from labeler.render.tables.pictured import Column, Line, Said, dot, edge_of, picture, shade
from labeler.render.tables.scores import NO_INTERVALS
from labeler.render.tables.shared import carried_words, hole_words, reach_words
from labeler.render.tables.slicing import LinkOf, linked, rests_on
from labeler.render.tables.spreads import Spreads
from labeler.stats import Intervals

RowT = TypeVar("RowT", Delta, Score)
SHADES = (
    "A measure's shade is from its lowest bucket to its highest of those that are not greyed; "
    "shades of two measures have nothing in common. "
)


def difference_picture(
    comparison: Comparison,
    buckets: Sequence[str],
    tested: Sureties,
    reaches: Mapping[Place, Reach],
    *,
    least: int,
    link: LinkOf | None,
    spreads: Spreads | None = None,
) -> htpy.Fragment:
    """Return B − A as dots: all judged queries, then ``buckets`` in their order, by measure.

    A row's n is that of the first measure. A dot is filled where the difference is more than
    chance by the tests; hovering says its n, its test and its interval. Each measure has a scale of
    its own, wide enough for the intervals, which numbers of fewer than ``least`` queries, greyed,
    do not widen; ``spreads`` are drawn behind, and what holes could make of them as far as it goes.
    """
    chosen = _by_bucket((*comparison.deltas, *comparison.buckets), buckets)
    spreads = spreads or {}
    columns, cells = [], []
    for at, of in enumerate(zip(*chosen, strict=True)):
        measure = of[0].measure
        behind = [spreads.get((measure, row.bucket), NOTHING) for row in of]
        edge = _edge(of, behind, least)
        heading = comparison.conventions.heading(measure)
        columns.append(Column(heading, f"± {edge:g}", measure.definition.help))
        cells.append(
            [
                dot(
                    row.delta,
                    Said(
                        _difference_words(comparison, row, tested, reaches[place_of(row)]),
                        row.n < least,
                        _missing(row.delta, row.n),
                    ),
                    edge,
                    spread=spread,
                    is_sure=tested.of(row).is_sure,
                    colour=at,
                )
                for row, spread in zip(of, behind, strict=True)
            ]
        )
    return picture(Column(comparison.facet or ""), columns, _lines(chosen, cells, least, link))


def _edge(rows: Sequence[Delta], spreads: Sequence[Spread], least: int) -> float:
    """Return the difference at the edge of a column: of the total, and of buckets with enough."""
    total, *buckets = zip(rows, spreads, strict=True)
    enough = [each for each in buckets if each[0].n >= least] or buckets
    return edge_of(
        end for row, spread in (total, *enough) for end in (row.delta, *spread.from_queries)
    )


def _difference_words(comparison: Comparison, row: Delta, tested: Sureties, reach: Reach) -> str:
    heading = comparison.conventions.heading(row.measure)
    if math.isnan(row.delta):
        return f"{heading}: no value (n {row.n:,})"
    surety = tested.of(row)
    chance = "more than chance" if surety.is_sure else "may be chance"
    said = (
        f"{heading}: A {number(row.a)}, B {number(row.b)}, B − A {signed(row.delta)} "
        f"(n {row.n:,}), {chance}; B wins {row.wins}, ties {row.ties}, loses {row.losses}"
    )
    if why := cautions_of(row, reach):
        said += f"; {why}"
    if math.isnan(surety.p):
        return said
    return (
        f"{said}; 95% interval {interval_in_words(reach.interval)}, p {chance_in_words(surety.p)}, "
        f"after Holm's correction {chance_in_words(surety.holm)}"
    )


def value_picture(
    rows: Sequence[Score],
    totals: Sequence[Score],
    buckets: Sequence[str],
    conventions: Conventions,
    *,
    facet: str,
    least: int,
    link: LinkOf | None,
    intervals: Intervals = NO_INTERVALS,
    spreads: Spreads | None = None,
) -> htpy.Fragment:
    """Return one run's means on shades: all judged queries, then ``buckets`` in their order.

    A row's n is that of the first measure; hovering says each one's, and a mean's interval.

    Each measure has a scale of its own, from its lowest bucket to its highest among those of at
    least ``least`` queries, the others are greyed: shades tell buckets apart, not measures.
    """
    chosen = _by_bucket((*totals, *rows), buckets)
    spreads = spreads or {}
    columns, cells = [], []
    for of in zip(*chosen, strict=True):
        measure = of[0].measure
        behind = [spreads.get((measure, score.bucket), NOTHING) for score in of]
        scale = scale_of([score.value for score in of], behind)
        bounds = _bounds([(score.value, score.n) for score in of[1:]], least)
        heading = conventions.heading(measure)
        columns.append(Column(heading, _bounds_words(bounds), measure.definition.help))
        cells.append(
            [
                shade(
                    score.value,
                    Said(
                        _value_words(score, conventions, intervals),
                        score.n < least,
                        _missing(score.value, score.n),
                    ),
                    None if score.bucket is None else bounds,
                    under=band(score.value, spread, scale),
                )
                for score, spread in zip(of, behind, strict=True)
            ]
        )
    return picture(Column(facet), columns, _lines(chosen, cells, least, link))


def _by_bucket(rows: Iterable[RowT], buckets: Sequence[str]) -> list[list[RowT]]:
    """Return the rows of the total, then those of each of ``buckets``, in the order of measures."""
    found: dict[str | None, list[RowT]] = {}
    for row in rows:
        found.setdefault(row.bucket, []).append(row)
    return [found[bucket] for bucket in (None, *buckets)]


def _lines(
    rows: Sequence[Sequence[Delta] | Sequence[Score]],
    cells: Sequence[Sequence[htpy.Element]],
    least: int,
    link: LinkOf | None,
) -> list[Line]:
    """Return a line for each bucket from ``cells`` by column; it rests on what its first does."""
    return [
        Line(
            linked(first.bucket, link),
            rests_on(first.n, least, first.undefined),
            drawn,
            first.n < least,
            first.bucket is None,
        )
        for (first, *_), drawn in zip(rows, zip(*cells, strict=True), strict=True)
    ]


def _value_words(score: Score, conventions: Conventions, intervals: Intervals) -> str:
    holes = hole_words(score.holes, conventions.depth_of_holes(score.measure))
    carried = carried_words(score.carried)
    rests = score.reason or f"{holes}{carried and f', {carried}'}"
    found = intervals.get((score.run, str(score.measure), score.bucket))
    reach = "" if found is None else f"; {reach_words(found)}"
    heading = conventions.heading(score.measure)
    return f"{heading}: {number(score.value)} (n {score.n:,}), {rests}{reach}"


def _bounds(known: Sequence[tuple[float, int]], least: int) -> Scale:
    """Return the lowest and the highest value of those over enough queries, which are shaded."""
    values = [value for value, n in known if n >= least and not math.isnan(value)]
    return Scale(min(values), max(values)) if values else Scale(0.0, 0.0)


def _bounds_words(bounds: Scale) -> str:
    return f"{bounds.left:.2f} to {bounds.right:.2f}" if bounds.right > bounds.left else ""


def crossed_picture(
    cells: Sequence[Cell],
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    facet: str,
    least: int,
    link: LinkOf,
) -> htpy.Fragment:
    """Return where two facets cross: B − A as dots for two runs, the mean on a shade for one.

    All cells are of one measure and share one scale, which the corner says; a row's n is over all
    its cells, drawn or not.
    """
    by_place = {(cell.bucket, cell.other): cell for cell in cells}
    shown = [[by_place[row, column] for column in columns] for row in rows]
    known = [cell for line in shown for cell in line]
    whole = Counter(dict.fromkeys(rows, 0))
    for cell in cells:
        whole[cell.bucket] += cell.n
    if known and len(known[0].values) > 1:
        enough = [cell for cell in known if cell.n >= least] or known
        edge = edge_of(cell.delta for cell in enough)
        scale = f"± {edge:g}"
        draw = partial(_crossed_dot, edge, least, link)
    else:
        bounds = _bounds([(cell.values[0], cell.n) for cell in known], least)
        scale = _bounds_words(bounds)
        draw = partial(_crossed_shade, bounds, least, link)
    lines = [
        Line(linked(row, link), rests_on(whole[row], least), [draw(cell) for cell in of])
        for row, of in zip(rows, shown, strict=True)
    ]
    corner = Column(facet, scale and f"every column {scale}")
    return picture(corner, [Column(column) for column in columns], lines)


def _crossed_dot(edge: float, least: int, link: LinkOf, cell: Cell) -> htpy.Element:
    return dot(cell.delta, _crossed_said(cell, cell.delta, least, link), edge)


def _crossed_shade(bounds: Scale | None, least: int, link: LinkOf, cell: Cell) -> htpy.Element:
    [value] = cell.values
    return shade(value, _crossed_said(cell, value, least, link), bounds)


def _crossed_said(cell: Cell, shown: float, least: int, link: LinkOf) -> Said:
    values = ", ".join(number(value) for value in cell.values)
    words = f"{cell.bucket} and {cell.other}: {values} (n {cell.n:,})"
    queries = link(cell.bucket, cell.other) if cell.n + cell.undefined else None
    return Said(words, cell.n < least, _missing(shown, cell.n), queries)


def _missing(value: float, n: int) -> str:
    return "no result" if n and math.isnan(value) else ""

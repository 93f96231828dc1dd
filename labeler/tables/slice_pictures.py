"""Slices as pictures: B − A as dots, or one run's means on shades, a row for each bucket."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

import htpy

from labeler.comparison import (
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
from labeler.measures import Measure
from labeler.tables.bands import NOTHING, Spread
from labeler.tables.pictured import Column, Dot, Line, Shade, dot_picture, edge_of, shade_picture
from labeler.tables.scores import NO_INTERVALS
from labeler.tables.shared import carried_words, hole_words, reach_words
from labeler.tables.slicing import LinkOf, linked, rests_on
from labeler.uncertainty import Intervals

Spreads = Mapping[tuple[Measure, str | None], Spread]
"""How far the numbers of a picture may be off, by measure and bucket."""


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
    its own, wide enough for the intervals, which buckets of fewer than ``least`` queries do not
    widen; ``spreads`` are drawn behind, and what holes could make of them as far as it goes.
    """
    rows: dict[str | None, list[Delta]] = {}
    for row in (*comparison.deltas, *comparison.buckets):
        rows.setdefault(row.bucket, []).append(row)
    chosen = [rows[bucket] for bucket in (None, *buckets)]
    spreads = spreads or {}
    scales = _scales(comparison, chosen[1:], spreads, least)
    columns = [
        Column(comparison.conventions.heading(measure), f"± {scale:g}", measure.definition.help)
        for measure, scale in zip(comparison.measures, scales, strict=True)
    ]
    sure = (tested, reaches)
    lines = [
        _difference_line(comparison, deltas, sure, spreads, least=least, link=link)
        for deltas in chosen
    ]
    return dot_picture(Column(comparison.facet or ""), columns, lines, scales)


def _scales(
    comparison: Comparison, shown: Sequence[Sequence[Delta]], spreads: Spreads, least: int
) -> list[float]:
    """Return for each measure the difference at the edge of its column."""
    every = [row for rows in shown for row in rows]
    ends: dict[Measure, list[float]] = {measure: [] for measure in comparison.measures}
    for row in (*comparison.deltas, *([row for row in every if row.n >= least] or every)):
        from_queries = spreads.get((row.measure, row.bucket), NOTHING).from_queries
        ends[row.measure] += [row.delta, *from_queries]
    return [edge_of(ends[measure]) for measure in comparison.measures]


def _difference_line(
    comparison: Comparison,
    rows: Sequence[Delta],
    sure: tuple[Sureties, Mapping[Place, Reach]],
    spreads: Spreads,
    *,
    least: int,
    link: LinkOf | None,
) -> Line[Dot]:
    tested, reaches = sure
    first = rows[0]
    dots = [
        Dot(
            row.delta,
            _difference_words(comparison, row, tested, reaches[place_of(row)]),
            tested.of(row).is_sure,
            missing=_missing(row.delta, row.n),
            spread=spreads.get((row.measure, row.bucket), NOTHING),
        )
        for row in rows
    ]
    counted = rests_on(first.n, least, first.undefined)
    head = linked(first.bucket, link)
    return Line(head, counted, dots, first.n < least, first.bucket is None)


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
    least ``least`` queries: shades tell buckets apart, not measures.
    """
    by_bucket: dict[str | None, list[Score]] = {}
    for row in (*totals, *rows):
        by_bucket.setdefault(row.bucket, []).append(row)
    chosen = [by_bucket[bucket] for bucket in (None, *buckets)]
    ranges = [
        _range([(scores[at].value, scores[at].n) for scores in chosen[1:]], least)
        for at in range(len(totals))
    ]
    columns = [
        Column(conventions.heading(row.measure), _range_words(*bounds), row.measure.definition.help)
        for row, bounds in zip(totals, ranges, strict=True)
    ]
    drawn = (intervals, spreads or {})
    lines = [_value_line(scores, conventions, *drawn, least=least, link=link) for scores in chosen]
    return shade_picture(Column(facet), columns, lines, ranges)


def _rests_on(score: Score, conventions: Conventions) -> str:
    holes = hole_words(score.holes, conventions.depth_of_holes(score.measure))
    carried = carried_words(score.carried)
    return f"{holes}{carried and f', {carried}'}"


def _value_line(
    scores: Sequence[Score],
    conventions: Conventions,
    intervals: Intervals,
    spreads: Spreads,
    *,
    least: int,
    link: LinkOf | None,
) -> Line[Shade]:
    first = scores[0]
    shades = [
        Shade(
            score.value,
            f"{conventions.heading(score.measure)}: {number(score.value)} (n {score.n:,}), "
            f"{score.reason or _rests_on(score, conventions)}{_reach_of(score, intervals)}",
            missing=_missing(score.value, score.n),
            spread=spreads.get((score.measure, score.bucket), NOTHING),
        )
        for score in scores
    ]
    counted = rests_on(first.n, least, first.undefined)
    head = linked(first.bucket, link)
    return Line(head, counted, shades, first.n < least, first.bucket is None)


def _reach_of(score: Score, intervals: Intervals) -> str:
    found = intervals.get((score.run, str(score.measure), score.bucket))
    return "" if found is None else f"; {reach_words(found)}"


def _range(known: Sequence[tuple[float, int]], least: int) -> tuple[float, float]:
    """Return the lowest and the highest value over enough queries, over any if none has enough."""
    values = [value for value, n in known if n >= least and not math.isnan(value)]
    values = values or [value for value, _ in known if not math.isnan(value)]
    return (min(values), max(values)) if values else (0.0, 0.0)


def _range_words(low: float, high: float) -> str:
    return f"{low:.2f} to {high:.2f}" if high > low else ""


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
    heads = [Column(column) for column in columns]
    if known and len(known[0].values) > 1:
        enough = [cell for cell in known if cell.n >= least] or known
        scale = edge_of(cell.delta for cell in enough)
        dots = [
            Line(
                *_crossed_head(line[0].bucket, whole, least, link),
                [_crossed_dot(cell, least) for cell in line],
            )
            for line in shown
        ]
        corner = Column(facet, f"every column ± {scale:g}")
        return dot_picture(corner, heads, dots, [scale] * len(columns))
    bounds = _range([(cell.values[0], cell.n) for cell in known], least)
    shades = [
        Line(
            *_crossed_head(line[0].bucket, whole, least, link),
            [_crossed_shade(cell, least) for cell in line],
        )
        for line in shown
    ]
    between = _range_words(*bounds)
    corner = Column(facet, between and f"every column {between}")
    return shade_picture(corner, heads, shades, [bounds] * len(columns))


def _crossed_head(
    bucket: str, whole: Mapping[str, int], least: int, link: LinkOf
) -> tuple[htpy.Node, htpy.Node]:
    return linked(bucket, link), rests_on(whole[bucket], least)


def _crossed_dot(cell: Cell, least: int) -> Dot:
    words, missing = _crossed_words(cell), _missing(cell.delta, cell.n)
    return Dot(cell.delta, words, is_few=cell.n < least, missing=missing)


def _crossed_shade(cell: Cell, least: int) -> Shade:
    [value] = cell.values
    return Shade(value, _crossed_words(cell), cell.n < least, _missing(value, cell.n))


def _missing(value: float, n: int) -> str:
    return "no result" if n and math.isnan(value) else ""


def _crossed_words(cell: Cell) -> str:
    values = ", ".join(number(value) for value in cell.values)
    return f"{cell.bucket} and {cell.other}: {values} (n {cell.n:,})"

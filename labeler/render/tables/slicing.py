"""The numbers behind the Slices page: of one run, of A against B, and where two facets cross."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import htpy

from labeler.analysis.comparison import (
    Cell,
    Comparison,
    Delta,
    Place,
    Reach,
    Sureties,
    Surety,
    cautions_of,
    chance_in_words,
    interval_in_words,
    place_of,
)
from labeler.evaluation import NO_RESULT, Conventions, Score, arrowed, number
from labeler.measures import Measure
from labeler.render.tables.scores import NO_INTERVALS
from labeler.render.tables.shared import (
    SHEET,
    carried_words,
    ends_words,
    framed,
    head,
    hole_words,
    small,
)
from labeler.stats import Intervals

LinkOf = Callable[..., str]
"""Gives the address of a bucket's queries, of two that cross, or (for None) of all queries."""


def slice_table(
    rows: Sequence[Score],
    totals: Sequence[Score],
    conventions: Conventions,
    *,
    facet: str,
    least: int,
    link: LinkOf | None,
    intervals: Intervals = NO_INTERVALS,
) -> htpy.Fragment:
    """Return one run's buckets: a row a bucket, a column a measure, then all.

    A value over fewer than ``least`` queries is greyed and says "few"; it is never left out. Every
    name leads to the bucket's queries.
    """
    by_bucket: dict[str | None, list[Score]] = {}
    for row in [*rows, *totals]:
        by_bucket.setdefault(row.bucket, []).append(row)
    heads = [
        head(conventions.heading(row.measure), title=row.measure.definition.help) for row in totals
    ]
    body = [
        _row(bucket, max((s.n for s in scores), default=0), least)[
            _bucket_head(bucket, link),
            [
                _score_cell(score, least, intervals, conventions.depth_of_holes(score.measure))
                for score in scores
            ],
        ]
        for bucket, scores in by_bucket.items()
    ]
    return framed(SHEET, "sheet slices", [head(facet, words=True), *heads], body)


def slice_pair_table(
    comparison: Comparison,
    measure: Measure,
    names: Mapping[str, str],
    tested: Sureties,
    reaches: Mapping[Place, Reach],
    *,
    least: int,
    link: LinkOf | None,
) -> htpy.Fragment:
    """Return one measure's buckets, B against A, with the total at its foot.

    ``names`` are what runs are called where there is little room. Wins and losses are B's. A bucket
    of fewer than ``least`` queries is greyed and says "few".
    """
    rows = [row for row in comparison.buckets if row.measure == measure]
    rows += [row for row in comparison.deltas if row.measure == measure]
    heads = [
        head(comparison.facet or "", words=True),
        *map(head, ("n", "holes A", "holes B")),
        *_pair_heads((comparison.a, comparison.b), names),
        *map(head, ("B − A", "B wins", "ties", "B loses", "95% interval", "p", "Holm p")),
    ]
    body = [
        _row(row.bucket, row.n, least)[
            _bucket_head(row.bucket, link),
            _delta_cells(row, least, tested.of(row), reaches[place_of(row)]),
        ]
        for row in rows
    ]
    heading = comparison.conventions.heading(measure)
    caption = (heading, htpy.small[measure.definition.meaning])
    return framed(SHEET, "sheet slices", heads, body, caption=caption)


def crossed_table(
    cells: Sequence[Cell],
    runs: Sequence[str],
    names: Mapping[str, str],
    facets: tuple[str, str],
    *,
    least: int,
    link: LinkOf,
) -> htpy.Fragment:
    """Return where two facets cross: a row for each pair of buckets that has queries."""
    heads = [*(head(facet, words=True) for facet in facets), head("n")]
    if len(runs) == 2:
        heads += [head("holes A"), head("holes B"), *_pair_heads(runs, names), head("B − A")]
    else:
        heads += [head("holes"), *(head(names.get(run, run), title=run) for run in runs)]
    body = [_crossed_row(cell, least, link) for cell in cells if cell.n + cell.undefined]
    return framed(SHEET, "sheet slices", heads, body)


def _pair_heads(runs: Sequence[str], names: Mapping[str, str]) -> list[htpy.Element]:
    return [
        head(f"{side}: {names.get(run, run)}", title=run)
        for side, run in zip("AB", runs, strict=True)
    ]


def _crossed_row(cell: Cell, least: int, link: LinkOf) -> htpy.Element:
    return _row(cell.bucket, cell.n, least)[
        htpy.th(".words", scope="row")[htpy.a(href=link(cell.bucket, cell.other))[cell.bucket]],
        htpy.th(".words", scope="row")[cell.other],
        htpy.td[rests_on(cell.n, least, cell.undefined)],
        [_hole_cell(*counts) for counts in zip(cell.holes, cell.carried, strict=True)],
        [_mean_cell(value, cell.n, lead=True) for value in cell.values],
        htpy.td[arrowed(cell.delta)] if len(cell.values) > 1 else None,
    ]


def _row(bucket: str | None, n: int, least: int) -> htpy.Element:
    return htpy.tr(class_={"total": bucket is None, "few": n < least})


def _bucket_head(bucket: str | None, link: LinkOf | None) -> htpy.Element:
    return htpy.th(".words", scope="row")[linked(bucket, link)]


def linked(bucket: str | None, link: LinkOf | None) -> htpy.Element:
    """Return a bucket's name, or that of all of them, as a link to its queries if there is one."""
    name = "all judged queries" if bucket is None else bucket
    if link is None:
        return htpy.bdi[name]
    return htpy.a(href=link(bucket), title=f"Open the queries of {name}")[name]


def rests_on(n: int, least: int, undefined: int = 0) -> htpy.Node:
    """Return how many queries a row rests on, marked where they are few, and how many are not."""
    left_out = htpy.span(".aside")[f" +{undefined:,} undefined"] if undefined else None
    return htpy.fragment[f"{n:,}", _few(n, least), left_out]


def _few(n: int, least: int) -> htpy.Element | None:
    return htpy.span(".tag")["few"] if n < least else None


def _score_cell(score: Score, least: int, intervals: Intervals, depth: str) -> htpy.Element:
    found = intervals.get((score.run, str(score.measure), score.bucket))
    between = "" if found is None or score.reason else ends_words(found)
    left_out = f", {score.undefined:,} undefined" if score.undefined else ""
    rests_on = f" · {hole_words(score.holes, depth)}"
    if score.carried:
        rests_on += f" · {carried_words(score.carried)}"
    if score.missing:
        rests_on += f" · {score.missing} absent"
    if score.reason == NO_RESULT:
        rests_on = " · no result"
    return htpy.td(".lead")[
        number(score.value),
        htpy.small[f"n {score.n:,}{left_out}", _few(score.n, least), rests_on],
        small(between),
    ]


def _delta_cells(row: Delta, least: int, surety: Surety, reach: Reach) -> list[htpy.Element]:
    return [
        htpy.td[rests_on(row.n, least, row.undefined)],
        _hole_cell(row.holes_a, row.carried_a),
        _hole_cell(row.holes_b, row.carried_b),
        _mean_cell(row.a, row.n, row.missing_a),
        _mean_cell(row.b, row.n, row.missing_b),
        htpy.td(".lead")[arrowed(row.delta)],
        *(htpy.td[str(count)] for count in (row.wins, row.ties, row.losses)),
        htpy.td[interval_in_words(reach.interval), small(cautions_of(row, reach))],
        htpy.td[chance_in_words(surety.p)],
        htpy.td[chance_in_words(surety.holm)],
    ]


def _hole_cell(holes: int, carried: int) -> htpy.Element:
    """Return how many chunks nobody graded, and under it how many grades were carried over."""
    return htpy.td[f"{holes:,}", small(carried_words(carried))]


def _mean_cell(value: float, n: int, missing: int = 0, *, lead: bool = False) -> htpy.Element:
    under = f"{missing} absent" if missing else ""
    if n and math.isnan(value):
        under = "no result"
    return htpy.td(class_={"lead": lead})[number(value), small(under)]

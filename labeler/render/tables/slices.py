"""Tables behind the Slices page: buckets of one run, of A against B, and of two crossed facets.

A bucket of few queries is greyed and tagged "few"; it is never left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import htpy

from labeler.analysis.comparison import (
    Comparison,
    CrossedCell,
    Delta,
    DeltaTest,
    PairTests,
    format_delta_interval,
    format_p_value,
)
from labeler.evaluation import (
    NO_RESULT,
    Conventions,
    Score,
    format_number,
    format_with_arrow,
)
from labeler.measures import Measure
from labeler.render.tables.html_table import (
    TABLE_STYLE,
    describe_transferred,
    describe_unjudged,
    format_interval,
    head,
    html_table,
    small_line,
)
from labeler.render.tables.scores import NO_INTERVALS
from labeler.stats import IntervalsByPlace

BucketLink = Callable[..., str]
"""Gives the address of a bucket's queries, of two that cross, or (for None) of all queries."""


def slice_table(
    rows: Sequence[Score],
    totals: Sequence[Score],
    conventions: Conventions,
    *,
    facet: str,
    least: int,
    link: BucketLink | None,
    intervals: IntervalsByPlace = NO_INTERVALS,
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
        _bucket_row(bucket, max((s.n for s in scores), default=0), least)[
            _bucket_head(bucket, link),
            [
                _score_cell(score, least, intervals, conventions.depth_of_unjudged(score.measure))
                for score in scores
            ],
        ]
        for bucket, scores in by_bucket.items()
    ]
    return html_table(TABLE_STYLE, "sheet slices", [head(facet, words=True), *heads], body)


def slice_pair_table(
    comparison: Comparison,
    measure: Measure,
    names: Mapping[str, str],
    tests: PairTests,
    *,
    least: int,
    link: BucketLink | None,
) -> htpy.Fragment:
    """Return one measure's buckets, B against A, with the total at its foot.

    ``names`` are what runs are called where there is little room. Wins and losses are B's. A bucket
    of fewer than ``least`` queries is greyed and says "few".
    """
    rows = [row for row in comparison.buckets if row.measure == measure]
    rows += [row for row in comparison.deltas if row.measure == measure]
    heads = [
        head(comparison.facet or "", words=True),
        *map(head, ("n", "unjudged A", "unjudged B")),
        *_pair_heads((comparison.a, comparison.b), names),
        *map(head, ("B − A", "B wins", "ties", "B loses", "confidence interval", "p")),
    ]
    body = [
        _bucket_row(row.bucket, row.n, least)[
            _bucket_head(row.bucket, link),
            _delta_cells(row, least, tests.of(row)),
        ]
        for row in rows
    ]
    heading = comparison.conventions.heading(measure)
    caption = (heading, htpy.small[measure.definition.meaning])
    return html_table(TABLE_STYLE, "sheet slices", heads, body, caption=caption)


def crossed_table(
    cells: Sequence[CrossedCell],
    runs: Sequence[str],
    names: Mapping[str, str],
    facets: tuple[str, str],
    *,
    least: int,
    link: BucketLink,
) -> htpy.Fragment:
    """Return where two facets cross: a row for each pair of buckets that has queries."""
    heads = [*(head(facet, words=True) for facet in facets), head("n")]
    if len(runs) == 2:
        heads += [head("unjudged A"), head("unjudged B"), *_pair_heads(runs, names), head("B − A")]
    else:
        heads += [head("unjudged"), *(head(names.get(run, run), title=run) for run in runs)]
    body = [_crossed_row(cell, least, link) for cell in cells if cell.n + cell.undefined]
    return html_table(TABLE_STYLE, "sheet slices", heads, body)


def _pair_heads(runs: Sequence[str], names: Mapping[str, str]) -> list[htpy.Element]:
    return [
        head(f"{side}: {names.get(run, run)}", title=run)
        for side, run in zip("AB", runs, strict=True)
    ]


def _crossed_row(cell: CrossedCell, least: int, link: BucketLink) -> htpy.Element:
    return _bucket_row(cell.bucket, cell.n, least)[
        htpy.th(".words", scope="row")[htpy.a(href=link(cell.bucket, cell.other))[cell.bucket]],
        htpy.th(".words", scope="row")[cell.other],
        htpy.td[rests_on(cell.n, least, cell.undefined)],
        [_unjudged_cell(*counts) for counts in zip(cell.unjudged, cell.transferred, strict=True)],
        [_mean_cell(value, cell.n, lead=True) for value in cell.values],
        htpy.td[format_with_arrow(cell.delta)] if len(cell.values) > 1 else None,
    ]


def _bucket_row(bucket: str | None, n: int, least: int) -> htpy.Element:
    return htpy.tr(class_={"total": bucket is None, "few": n < least})


def _bucket_head(bucket: str | None, link: BucketLink | None) -> htpy.Element:
    return htpy.th(".words", scope="row")[linked_bucket(bucket, link)]


def linked_bucket(bucket: str | None, link: BucketLink | None) -> htpy.Element:
    """Return a bucket's name, or that of all of them, as a link to its queries if there is one."""
    name = "all judged queries" if bucket is None else bucket
    if link is None:
        return htpy.bdi[name]
    return htpy.a(href=link(bucket), title=f"Open the queries of {name}")[name]


def rests_on(n: int, least: int, undefined: int = 0) -> htpy.Node:
    """Return how many queries a row rests on, marked where they are few, and how many are not."""
    left_out = htpy.span(".aside")[f" +{undefined:,} undefined"] if undefined else None
    return htpy.fragment[f"{n:,}", _few_tag(n, least), left_out]


def _few_tag(n: int, least: int) -> htpy.Element | None:
    return htpy.span(".tag")["few"] if n < least else None


def _score_cell(score: Score, least: int, intervals: IntervalsByPlace, depth: str) -> htpy.Element:
    found = intervals.get((score.run, str(score.measure), score.bucket))
    between = "" if found is None or score.reason else format_interval(found)
    left_out = f", {score.undefined:,} undefined" if score.undefined else ""
    rests_on = f" · {describe_unjudged(score.unjudged, depth)}"
    if score.transferred:
        rests_on += f" · {describe_transferred(score.transferred)}"
    if score.missing:
        rests_on += f" · {score.missing} absent"
    if score.reason == NO_RESULT:
        rests_on = " · no result"
    return htpy.td(".lead")[
        format_number(score.value),
        htpy.small[f"n {score.n:,}{left_out}", _few_tag(score.n, least), rests_on],
        small_line(between),
    ]


def _delta_cells(row: Delta, least: int, test: DeltaTest) -> list[htpy.Element]:
    return [
        htpy.td[rests_on(row.n, least, row.undefined)],
        _unjudged_cell(row.unjudged_a, row.transferred_a),
        _unjudged_cell(row.unjudged_b, row.transferred_b),
        _mean_cell(row.a, row.n, row.missing_a),
        _mean_cell(row.b, row.n, row.missing_b),
        htpy.td(".lead")[format_with_arrow(row.delta)],
        *(htpy.td[str(count)] for count in (row.wins, row.ties, row.losses)),
        htpy.td[format_delta_interval(test.interval), small_line(test.reason)],
        htpy.td[format_p_value(test.p_corrected)],
    ]


def _unjudged_cell(unjudged: int, transferred: int) -> htpy.Element:
    """Return how many chunks nobody graded, and under it how many grades were transferred."""
    return htpy.td[f"{unjudged:,}", small_line(describe_transferred(transferred))]


def _mean_cell(value: float, n: int, missing: int = 0, *, lead: bool = False) -> htpy.Element:
    under = f"{missing} absent" if missing else ""
    if n and math.isnan(value):
        under = "no result"
    return htpy.td(class_={"lead": lead})[format_number(value), small_line(under)]

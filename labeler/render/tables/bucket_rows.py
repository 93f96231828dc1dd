"""Buckets of two runs, or of one, as a list on one axis, for Slices and for the report."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import htpy

from labeler.analysis.comparison import (
    TOO_FEW_DIFFER,
    TOO_FEW_QUERIES,
    Delta,
    DeltaTest,
    PairTests,
    format_delta_interval,
    format_p_value,
)
from labeler.evaluation import Conventions, Score, format_number, format_signed
from labeler.measures import Measure
from labeler.model import format_count
from labeler.render.tables.bucket_list import (
    CLEAR,
    LEVEL,
    NOT_CLEAR,
    UNTESTED,
    WHAT_MARKS_MEAN,
    ListColumn,
    ListRow,
    axis_of,
    bucket_list,
    key_to_marks,
    look_of,
)
from labeler.render.tables.html_table import describe_transferred, describe_unjudged

NO_ENDS = (math.nan, math.nan)
Place = tuple[str | None, str | None]
"""A facet and its bucket; (None, None) is all queries."""
BucketAddress = Callable[[str, str | None], str]
"""Returns the address of a bucket's queries, by its facet and its name."""


def pair_list(
    total: Delta,
    rows: Sequence[Delta],
    every: Sequence[Delta],
    tests: PairTests,
    conventions: Conventions,
    names: tuple[str, str],
    least: int,
    link: BucketAddress | None = None,
) -> htpy.Fragment:
    """Return B against A over all queries and in each bucket of ``rows``, with a key of the marks.

    The axis has room for ``every`` row. Buckets with fewer than ``least`` queries are grey.
    """
    heading = conventions.heading(total.measure)
    columns = [
        ListColumn([htpy.span(".a")["■ "], htpy.bdi[names[0]]], tests.a),
        ListColumn([htpy.span(".b")["● "], htpy.bdi[names[1]]], tests.b),
        ListColumn("difference", f"{heading}: {total.measure.definition.help}", wide_only=False),
        ListColumn("95% interval", is_range=True),
    ]
    drawn = (total, *every)
    ends = [end for row in drawn for end in _ends_of(tests.of(row))]
    return htpy.fragment[
        bucket_list(
            [
                _pair_row(row, tests.of(row), conventions, names, least, link)
                for row in (total, *rows)
            ],
            ("Bucket, worst first", "queries that differ"),
            columns,
            axis_of([*(row.delta for row in drawn), *ends], signed=True),
            names,
            label=f"{heading}: difference by bucket, worst first",
        ),
        _key_to_pair(tests, total.measure, [total, *rows]),
    ]


def _key_to_pair(tests: PairTests, lead: Measure, rows: Sequence[Delta]) -> htpy.Node:
    if lead != tests.deciding:
        return key_to_marks([(UNTESTED, "not tested: buckets are tested by the deciding measure")])
    many = format_count(len(tests.tested_buckets), "bucket", "buckets")
    looks = {CLEAR, NOT_CLEAR, *(look_of(tests.of(row)) for row in rows)}
    shown = [each for each in WHAT_MARKS_MEAN.items() if each[0] in looks]
    return key_to_marks(shown, f"95%: all queries alone, buckets corrected for {many}.")


def _ends_of(test: DeltaTest) -> tuple[float, float]:
    return (test.interval.lo, test.interval.hi)


def _pair_row(
    row: Delta,
    test: DeltaTest,
    conventions: Conventions,
    names: tuple[str, str],
    least: int,
    link: BucketAddress | None,
) -> ListRow:
    differ = f"{row.wins + row.losses:,} of {row.n:,}"
    undefined = f", {row.undefined:,} undefined" if row.undefined else ""
    interval = format_delta_interval(test.interval)
    p = f"; interval {interval}, p {format_p_value(test.p_corrected)}" if test.tests else ""
    depth = conventions.depth_of_unjudged(row.measure)
    words = (
        f"{names[0]} {format_number(row.a)}, {names[1]} {format_number(row.b)}, "
        f"difference {format_signed(row.delta)}; {names[1]} wins {row.wins}, ties {row.ties}, "
        f"loses {row.losses} (n {row.n:,}{undefined}){p}"
        f"; {names[0]}: {_rests_on(row.unjudged_a, row.transferred_a, depth)}"
        f"; {names[1]}: {_rests_on(row.unjudged_b, row.transferred_b, depth)}"
    )
    return ListRow(
        *_named(row, link),
        differ,
        row.delta,
        _ends_of(test),
        look_of(test),
        "a" if row.delta < 0 else "b",
        [
            format_number(row.a),
            format_number(row.b),
            format_signed(row.delta),
            _short_reason(test) or interval,
        ],
        f"{words}; {test.reason}" if test.reason else words,
        row.n < least,
        row.bucket is None,
    )


def _rests_on(unjudged: int, transferred: int, depth: str) -> str:
    counts = (describe_unjudged(unjudged, depth), describe_transferred(transferred))
    return ", ".join(filter(None, counts))


def _short_reason(test: DeltaTest) -> str:
    """Return in short why a difference has no interval; the key says it in full."""
    if test.tests and not math.isnan(test.interval.lo):
        return ""
    said = TOO_FEW_DIFFER if test.tests else test.reason
    return (said if said == TOO_FEW_QUERIES or test.tests else "not tested").partition(":")[0]


def _named(row: Delta | Score, link: BucketAddress | None) -> tuple[htpy.Node, str]:
    """Return a row's name, with a link to its queries if there is one, and its facet."""
    if row.bucket is None or row.facet is None:
        return "All queries", ""
    name = htpy.bdi[row.bucket]
    if link is not None:
        return htpy.a(href=link(row.facet, row.bucket), title=row.bucket)[name], row.facet
    return name, row.facet


def level_list(
    total: Score,
    rows: Sequence[Score],
    every: Sequence[Score],
    between: Mapping[Place, tuple[float, float]],
    sizes: Mapping[Place, int],
    conventions: Conventions,
    least: int,
    link: BucketAddress | None = None,
) -> htpy.Fragment:
    """Return one run over all queries and in each bucket of ``rows``, with a key of the marks.

    ``between`` has the ends of 95% intervals. ``sizes`` counts the queries of a bucket, graded or
    not. The axis has room for ``every`` row.
    """
    heading = conventions.heading(total.measure)
    places = [(row.facet, row.bucket) for row in (total, *every) if row.n >= least]
    ends = [end for place in places for end in between.get(place, NO_ENDS)]
    few = format_count(least, "query", "queries")
    return htpy.fragment[
        bucket_list(
            [_level_row(row, between, sizes, conventions, least, link) for row in (total, *rows)],
            ("Bucket, lowest first", "queries"),
            [
                ListColumn("mean", f"{heading}: {total.measure.definition.help}", wide_only=False),
                ListColumn("95% interval", is_range=True),
            ],
            axis_of([*(row.value for row in (total, *every)), *ends], signed=False),
            label=f"{heading} by bucket, lowest first",
        ),
        key_to_marks(
            [
                (LEVEL, "mean and 95% interval of each bucket alone; nothing is tested"),
                (UNTESTED, f"fewer than {few}: no interval"),
            ],
            f"All by {heading}; each task by its own measure: Scores, By task."
            if any(row.facet == "task" for row in rows)
            else "",
        ),
    ]


def _level_row(
    row: Score,
    between: Mapping[Place, tuple[float, float]],
    sizes: Mapping[Place, int],
    conventions: Conventions,
    least: int,
    link: BucketAddress | None,
) -> ListRow:
    place = (row.facet, row.bucket)
    ends, is_few = between.get(place, NO_ENDS), row.n < least
    undefined = f", {row.undefined:,} undefined" if row.undefined else ""
    reached = f"{format_number(ends[0])} to {format_number(ends[1])}"
    has_interval = not math.isnan(ends[0])
    reach = f"; 95% interval {reached}" if has_interval else ""
    depth = conventions.depth_of_unjudged(row.measure)
    grades = _rests_on(row.unjudged, row.transferred, depth)
    words = f"{format_number(row.value)} (n {row.n:,}{undefined}){reach}; {grades}"
    said = "too few" if is_few else reached if has_interval else "–"
    return ListRow(
        *_named(row, link),
        f"{row.n:,} of {sizes[place]:,}",
        row.value,
        NO_ENDS if is_few else ends,
        UNTESTED if is_few else LEVEL,
        "",
        [format_number(row.value), said],
        row.reason or words,
        is_few,
        row.bucket is None,
    )


def worst_first(value: float, n: int, least: int) -> tuple[bool, bool, float]:
    """Return a bucket's sort key; small buckets sort late, those without a value last."""
    undefined = math.isnan(value)
    return undefined, n < least, 0.0 if undefined else value

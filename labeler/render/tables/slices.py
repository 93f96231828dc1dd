"""The table of two crossed facets on the Slices page, and shared cells of rows of buckets.

A bucket of few queries is grey and tagged "few"; it is never left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import htpy

from labeler.analysis.comparison import CrossedCell
from labeler.evaluation import format_number, format_with_arrow
from labeler.render.tables.html_table import (
    TABLE_STYLE,
    describe_transferred,
    head,
    html_table,
    small_line,
)

BucketLink = Callable[..., str]
"""Returns the address of the queries of a bucket, of two crossed buckets, or (None) of all."""


def crossed_table(
    cells: Sequence[CrossedCell],
    runs: Sequence[str],
    names: Mapping[str, str],
    facets: tuple[str, str],
    *,
    least: int,
    link: BucketLink,
) -> htpy.Fragment:
    """Return two crossed facets: a row for each pair of buckets that has queries."""
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
    return htpy.tr(class_={"few": cell.n < least})[
        htpy.th(".words", scope="row")[htpy.a(href=link(cell.bucket, cell.other))[cell.bucket]],
        htpy.th(".words", scope="row")[cell.other],
        htpy.td[rests_on(cell.n, least, cell.undefined)],
        [_unjudged_cell(*counts) for counts in zip(cell.unjudged, cell.transferred, strict=True)],
        [_mean_cell(value, cell.n) for value in cell.values],
        htpy.td[format_with_arrow(cell.delta)] if len(cell.values) > 1 else None,
    ]


def linked_bucket(bucket: str | None, link: BucketLink | None) -> htpy.Element:
    """Return the name of a bucket or of all queries, as a link if it has an address."""
    name = "all judged queries" if bucket is None else bucket
    if link is None:
        return htpy.bdi[name]
    return htpy.a(href=link(bucket), title=f"Open the queries of {name}")[name]


def rests_on(n: int, least: int, undefined: int = 0) -> htpy.Node:
    """Return a row's number of queries, marked if they are few, and how many are undefined."""
    left_out = htpy.span(".aside")[f" +{undefined:,} undefined"] if undefined else None
    return htpy.fragment[f"{n:,}", htpy.span(".tag")["few"] if n < least else None, left_out]


def _unjudged_cell(unjudged: int, transferred: int) -> htpy.Element:
    """Return the number of unjudged chunks, and under it that of transferred grades."""
    return htpy.td[f"{unjudged:,}", small_line(describe_transferred(transferred))]


def _mean_cell(value: float, n: int) -> htpy.Element:
    under = "no result" if n and math.isnan(value) else ""
    return htpy.td(".lead")[format_number(value), small_line(under)]

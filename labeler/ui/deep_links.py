"""Links from a sentence or a table to the queries behind it, on Queries, Slices and Compare.

A link keeps the runs, measures and filters of the page it is on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

import htpy

from labeler.analysis.comparison import FEW, Comparison, ComparisonFinding, Delta
from labeler.evaluation import Conventions, Score, format_number
from labeler.measures import Measure
from labeler.render.tables.run_table import BY_NAME, RunGroup, RunTableState
from labeler.ui import url_state

BucketUrl = Callable[[str], str]
"""Gives the address of a bucket's queries."""


def bucket_queries_url(facet: str | None, bucket: str | None, by: str, **other: str | None) -> str:
    """Return the URL of a bucket's queries, or of all queries, worst first by one measure.

    Runs, measures and what pages pass on are those of the present URL unless ``other`` has them.
    """
    return url_state.page_url("/queries", **{**_worst_first(facet, bucket, by), **other})


def _worst_first(facet: str | None, bucket: str | None, by: str) -> dict[str, str | None]:
    of_bucket = {"facet": facet if bucket is not None else None, "bucket": bucket, "by": by}
    return {**of_bucket, "other": None, "crossing": None}


def with_links(
    finding: ComparisonFinding, compared: Comparison, *, is_of_slices: bool = False
) -> htpy.Node:
    """Return a sentence about a bucket with links to its worst queries and to its facet.

    On Slices (``is_of_slices``) the buckets are in sight, so there is no second link.
    """
    row = finding.about
    if row is None:
        return finding.sentence
    ways = [_link("Its worst queries", _queries_url(row, compared), f" in {row.bucket}")]
    if not is_of_slices:
        ways.append(_link(f"All of {row.facet}", _slices_url(row, compared), " on Slices"))
    return htpy.fragment[finding.sentence, [[" · ", way] for way in ways]]


def describe_losses(row: Delta, compared: Comparison, b: str) -> list[htpy.Node]:
    """Say in how many queries B loses by a measure, with a link to those; nothing if in none.

    ``row`` is over all queries or those of a bucket, ``b`` is B's name. Runs of two chunkings get
    no link: only this page can show them.
    """
    if not row.losses:
        return []
    said = f"{b} loses in {row.losses:,} of {row.n:,} queries by "
    said += compared.conventions.heading(row.measure)
    where = f" in {row.bucket}" if row.bucket is not None else ""
    if compared.apart:
        return [said]
    return [
        htpy.fragment[said, " · ", _link("Its worst queries", _queries_url(row, compared), where)]
    ]


def _queries_url(row: Delta, compared: Comparison) -> str:
    """Return where they stand: on Queries, or on Compare, which alone has two chunkings at once."""
    heading = compared.conventions.heading(row.measure)
    page = "/compare" if compared.apart else "/queries"
    worst = _worst_first(row.facet, row.bucket, heading)
    return url_state.page_url(page, **worst, a=compared.a, b=compared.b)


def _slices_url(row: Delta, compared: Comparison) -> str:
    places: dict[str, str | None] = dict.fromkeys(("bucket", "other", "crossing"))
    return url_state.page_url("/slices", **places, facet=row.facet, a=compared.a, b=compared.b)


def _link(words: str, href: str, unseen: str) -> htpy.Element:
    """Return a link whose name says out of its sentence, too, where it leads."""
    return htpy.a(href=href, aria_label=f"{words}{unseen}")[words]


def describe_lowest(
    bucket: str, rows: Sequence[Score], least: int, conventions: Conventions, link: BucketUrl
) -> list[htpy.Node]:
    """Say in which bucket one run is lowest, with a link to its worst queries.

    ``rows`` are the buckets' scores by one measure. Nothing for a bucket of fewer than ``least``
    queries, or if no other bucket is higher.
    """
    [row] = [each for each in rows if each.bucket == bucket]
    others = [each.value for each in rows if each.n >= least and each.value > row.value]
    if row.n < least or math.isnan(row.value) or not others:
        return []
    heading = conventions.heading(row.measure)
    said = f"Lowest in {row.facet} = {bucket}: {heading} {format_number(row.value)} (n {row.n:,})"
    return [htpy.fragment[said, " · ", _link("Its worst queries", link(bucket), f" in {bucket}")]]


def compare_first_two(
    lineup: RunTableState,
    groups: Sequence[RunGroup],
    short: Mapping[str, str],
    measures: Iterable[Measure],
) -> htpy.Node:
    """Return a link that compares the first two runs of a table; None if sorted by name.

    ``short`` are the names in the table. A table sorted by one of ``measures`` passes it on.
    """
    runs = [run for group in groups for run in group.runs][:2]
    if len(runs) < 2 or lineup.column == BY_NAME:
        return None
    first, second = (short.get(run, run) for run in runs)
    meant = f"Is {first} better than {second} by more than chance?"
    is_of_measure = any(lineup.column in measure.names for measure in measures)
    by = {"by": lineup.column} if is_of_measure else {}
    pair = url_state.page_url("/compare", a=runs[1], b=runs[0], **by)
    return htpy.small[htpy.a(".leads", href=pair, title=meant)["compare the first two"]]


def lowest_bucket_links(
    scores: Sequence[Score], conventions: Conventions
) -> dict[tuple[str, Measure, str | None], str]:
    """Return, for each run's lowest bucket, the URL of the run's worst queries in it.

    ``scores`` are of one measure. A run has no link unless two of its buckets have `FEW` queries
    and differ.
    """
    by_run: dict[str, list[Score]] = {}
    for score in scores:
        if score.n >= FEW and not math.isnan(score.value):
            by_run.setdefault(score.run, []).append(score)
    lowest = [min(rows, key=lambda row: row.value) for rows in by_run.values()]
    return {
        (row.run, row.measure, row.bucket): bucket_queries_url(
            row.facet, row.bucket, conventions.heading(row.measure), a=row.run, b=None
        )
        for row in lowest
        if any(other.value > row.value for other in by_run[row.run])
    }

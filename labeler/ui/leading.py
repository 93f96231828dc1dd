"""Where what is said of a bucket leads: to its queries, worst first, and to its facet's buckets.

And the first two runs of a table to where they are compared. Knows the addresses of three pages,
and neither a number nor where on a page its links stand.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

import htpy

from labeler.analysis.comparison import FEW, Comparison, Delta, Finding
from labeler.evaluation import Conventions, Score, number
from labeler.measures import Measure
from labeler.render.lineup import BY_NAME, Group, Lineup
from labeler.ui import address

LinkOf = Callable[[str], str]
"""Gives the address of a bucket's queries."""


def bucket_queries(facet: str | None, bucket: str | None, by: str, **other: str | None) -> str:
    """Return the address of a bucket's queries, the worst by one measure first.

    Without a bucket it is that of all queries. Which runs and measures, and what else goes along
    from page to page, is as the present address says unless ``other`` says it.
    """
    return address.onward("/queries", **{**_worst(facet, bucket, by), **other})


def _worst(facet: str | None, bucket: str | None, by: str) -> dict[str, str | None]:
    of_bucket = {"facet": facet if bucket is not None else None, "bucket": bucket, "by": by}
    return {**of_bucket, "other": None, "crossing": None}


def with_ways(finding: Finding, compared: Comparison, *, is_of_slices: bool = False) -> htpy.Node:
    """Return a sentence about a bucket with links to its worst queries and to all its facet.

    ``is_of_slices`` is whether it stands on Slices, where the buckets are in sight.
    """
    row = finding.about
    if row is None:
        return finding.sentence
    ways = [_way("Its worst queries", _queries_of(row, compared), f" in {row.bucket}")]
    if not is_of_slices:
        ways.append(_way(f"All of {row.facet}", _facet_of(row, compared), " on Slices"))
    return htpy.fragment[finding.sentence, [[" · ", way] for way in ways]]


def losing_in_words(row: Delta, compared: Comparison, b: str) -> list[htpy.Node]:
    """Say in how many queries B loses by a measure, with a link to those; nothing if in none.

    ``row`` is over all queries or those of a bucket, ``b`` what B is called. There is no link where
    this page alone has them, as it has two chunkings.
    """
    if not row.losses:
        return []
    said = f"{b} loses in {row.losses:,} of {row.n:,} queries by "
    said += compared.conventions.heading(row.measure)
    where = f" in {row.bucket}" if row.bucket is not None else ""
    if compared.apart:
        return [said]
    return [
        htpy.fragment[said, " · ", _way("Its worst queries", _queries_of(row, compared), where)]
    ]


def _queries_of(row: Delta, compared: Comparison) -> str:
    """Return where they stand: on Queries, or on Compare, which alone has two chunkings at once."""
    heading = compared.conventions.heading(row.measure)
    page = "/compare" if compared.apart else "/queries"
    worst = _worst(row.facet, row.bucket, heading)
    return address.onward(page, **worst, a=compared.a, b=compared.b)


def _facet_of(row: Delta, compared: Comparison) -> str:
    places: dict[str, str | None] = dict.fromkeys(("bucket", "other", "crossing"))
    return address.onward("/slices", **places, facet=row.facet, a=compared.a, b=compared.b)


def _way(words: str, href: str, unseen: str) -> htpy.Element:
    """Return a link whose name says out of its sentence, too, where it leads."""
    return htpy.a(href=href, aria_label=f"{words}{unseen}")[words]


def lowest_in_words(
    bucket: str, rows: Sequence[Score], least: int, conventions: Conventions, link: LinkOf
) -> list[htpy.Node]:
    """Say in which bucket one run is lowest, with a link to its worst queries.

    ``rows`` are the buckets' scores by one measure. Nothing is said of a bucket of fewer than
    ``least`` queries, or where there is no other.
    """
    [row] = [each for each in rows if each.bucket == bucket]
    others = [each.value for each in rows if each.n >= least and each.value > row.value]
    if row.n < least or math.isnan(row.value) or not others:
        return []
    heading = conventions.heading(row.measure)
    said = f"Lowest in {row.facet} = {bucket}: {heading} {number(row.value)} (n {row.n:,})"
    return [htpy.fragment[said, " · ", _way("Its worst queries", link(bucket), f" in {bucket}")]]


def first_two(
    lineup: Lineup,
    groups: Sequence[Group],
    short: Mapping[str, str],
    measures: Iterable[Measure],
) -> htpy.Node:
    """Return a link to whether the first run of a table is better than the second beyond chance.

    ``short`` are names as the table has them; where it is sorted by one of ``measures``, that leads
    there, too. None where it is sorted by names, or has one run.
    """
    runs = [run for group in groups for run in group.runs][:2]
    if len(runs) < 2 or lineup.column == BY_NAME:
        return None
    first, second = (short.get(run, run) for run in runs)
    meant = f"Is {first} better than {second} by more than chance?"
    is_of_measure = any(lineup.column in measure.names for measure in measures)
    by = {"by": lineup.column} if is_of_measure else {}
    pair = address.onward("/compare", a=runs[1], b=runs[0], **by)
    return htpy.small[htpy.a(".leads", href=pair, title=meant)["compare the first two"]]


def lowest_of_runs(
    scores: Sequence[Score], conventions: Conventions
) -> dict[tuple[str, Measure, str | None], str]:
    """Return where the lowest bucket of each run leads: to that run's worst queries in it.

    ``scores`` are of one measure. A run has none where no two of its buckets have `FEW` queries, or
    where all of them are equal.
    """
    by_run: dict[str, list[Score]] = {}
    for score in scores:
        if score.n >= FEW and not math.isnan(score.value):
            by_run.setdefault(score.run, []).append(score)
    lowest = [min(rows, key=lambda row: row.value) for rows in by_run.values()]
    return {
        (row.run, row.measure, row.bucket): bucket_queries(
            row.facet, row.bucket, conventions.heading(row.measure), a=row.run, b=None
        )
        for row in lowest
        if any(other.value > row.value for other in by_run[row.run])
    }

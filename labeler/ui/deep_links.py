"""Links from a sentence or a table to the queries behind it, on Queries, Slices and Compare.

A link keeps the runs, measures and filters of the page it is on.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import htpy

from labeler.analysis.comparison import FEW, Comparison
from labeler.analysis.comparison.verdict import TRANSFER, TRANSFER_PLACE
from labeler.evaluation import Conventions, Score
from labeler.measures import Measure
from labeler.model.results import Statement
from labeler.ui import url_state


def bucket_queries_url(facet: str | None, bucket: str | None, by: str, **other: str | None) -> str:
    """Return the URL of a bucket's queries, or of all queries, worst first by one measure.

    Runs, measures and other parameters that links keep are those of the current URL, unless
    ``other`` has them.
    """
    return url_state.page_url("/queries", **{**_worst_first(facet, bucket, by), **other})


def _worst_first(facet: str | None, bucket: str | None, by: str) -> dict[str, str | None]:
    of_bucket = {"facet": facet if bucket is not None else None, "bucket": bucket, "by": by}
    return {**of_bucket, "other": None, "crossing": None}


def target_url(target: Mapping[str, str], *, compared: Comparison, by: str) -> str:
    """Return the URL of a statement on two runs: its queries, a facet's buckets, or Data.

    Queries are on Compare, which lists only those that are worse, better or equal.
    """
    runs = {"a": compared.a, "b": compared.b}
    facet, bucket = target.get("facet"), target.get("bucket")
    if target["page"] == "slices":
        places: dict[str, str | None] = dict.fromkeys(("bucket", "other", "crossing"))
        return url_state.page_url("/slices", **places, facet=facet, **runs)
    if target["page"] == "queries":
        chosen = url_state.get_each("measure")
        shown = chosen if by in chosen else None  # by which they are counted, also if not shown
        asked = {"which": target.get("which"), "measure": shown, **runs}
        return url_state.page_url("/compare", **_worst_first(facet, bucket, by), **asked)
    where = {name: value for name, value in target.items() if name != "page"}
    return url_state.page_url(f"/{target['page']}", **where)


def transfer_step(statements: Iterable[Statement]) -> htpy.Element | None:
    """Return the button to the transfer that two chunkings need, None if there is no need."""
    if all(each.kind != TRANSFER for each in statements):
        return None
    return htpy.a(".go", href=transfer_url())["Transfer the grades"]


def transfer_url() -> str:
    """Return the URL of the page that transfers grades between chunkings."""
    place = {name: value for name, value in TRANSFER_PLACE.items() if name != "page"}
    return url_state.page_url("/data", **place)


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

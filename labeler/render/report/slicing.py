"""The report's slices: where a mean hides a bucket, for one run or for B against A."""

from __future__ import annotations

from collections.abc import Sequence

import htpy

from labeler.analysis import comparison
from labeler.analysis.comparison import FEW, Comparison, Sureties
from labeler.model import counted
from labeler.render import tables
from labeler.render.report.shared import Shared
from labeler.stats import mean_intervals

MOST_DRAWN = 40  # buckets in a picture; the table behind it has all


def slices_section(shared: Shared) -> htpy.Fragment:
    """Return for each facet its buckets as a picture, and folded as a table."""
    return htpy.fragment[
        htpy.p(".aside")[_how_to_read(shared)],
        [(htpy.h3["By ", htpy.bdi[facet]], _of_facet(shared, facet)) for facet in shared.facets],
    ]


def _of_facet(shared: Shared, facet: str) -> htpy.Fragment:
    if shared.asked.b is None:
        return _of_run(shared, facet, shared.asked.a)
    return _of_pair(shared, facet, shared.asked.a, shared.asked.b)


def _of_pair(shared: Shared, facet: str, a: str, b: str) -> htpy.Fragment:
    found = comparison.compare(shared.board, a, b, shared.measures, facet)
    tested = comparison.sliced(found)
    reaches = comparison.reaches_by_place(found, [*found.deltas, *found.buckets])
    buckets = comparison.worst_first(found, FEW)
    bands = shared.of_pair(facet)[1]
    spreads = tables.delta_spreads(bands, reaches)
    picture = tables.difference_picture(
        found, buckets[:MOST_DRAWN], tested, reaches, least=FEW, link=None, spreads=spreads
    )
    leading = found.measures[0]
    table = tables.slice_pair_table(
        found, leading, shared.short, tested, reaches, least=FEW, link=None
    )
    return htpy.fragment[
        picture,
        tables.sentences(_against(found, tested)),
        tables.small_print(_left_out(shared, facet, buckets)),
        _folded(f"{found.conventions.heading(leading)} in each bucket of {facet}", table),
    ]


def _against(found: Comparison, tested: Sureties) -> list[str]:
    """Say which buckets move against the total by more than chance."""
    named = comparison.contradictions(found, ("A", "B"), tested=tested)
    return [f"⚠ {each.sentence}" for each in named]


def _of_run(shared: Shared, facet: str, run: str) -> htpy.Fragment:
    board, conventions = shared.board, shared.board.conventions
    rows = [row for row in board.table(shared.measures, facet) if row.run == run]
    totals = [row for row in board.table(shared.measures) if row.run == run]
    first = [row for row in rows if row.measure == totals[0].measure]
    buckets = comparison.lowest_first(first, FEW)
    intervals = {
        place: interval
        for each in (None, facet)
        for place, interval in mean_intervals(board, shared.measures, each, runs=[run]).items()
    }
    bands = {
        **shared.bands.means(board, shared.measures),
        **shared.bands.means(board, shared.measures, facet),
    }
    spreads = tables.spreads_of(bands, intervals)
    behind = {place[1:]: spread for place, spread in spreads.items()}
    picture = tables.value_picture(
        *(rows, totals, buckets[:MOST_DRAWN], conventions),
        facet=facet,
        least=FEW,
        link=None,
        intervals=intervals,
        spreads=behind,
    )
    table = tables.slice_table(
        rows, totals, conventions, facet=facet, least=FEW, link=None, intervals=intervals
    )
    return htpy.fragment[
        picture,
        tables.small_print(_left_out(shared, facet, buckets)),
        _folded(f"Every measure in each bucket of {facet}", table),
    ]


def _folded(title: str, table: htpy.Node) -> htpy.Element:
    return htpy.details[htpy.summary[title], table]


def _how_to_read(shared: Shared) -> str:
    """Say how a picture is read."""
    if shared.asked.b is None:
        return f"{tables.SHADES}Greyed, without a shade: fewer than {FEW} queries."
    return (
        "B − A over the queries of each bucket, worst first, those of few queries last: left of "
        f"the line B is worse. Filled is {comparison.RULE}; hollow may be chance. Greyed: fewer "
        f"than {FEW} queries. {tables.GOES_ON}"
    )


def _left_out(shared: Shared, facet: str, buckets: Sequence[str]) -> list[str]:
    """Say which queries are in no bucket, and which buckets are in the table alone."""
    said = []
    if count := shared.board.unbucketed(facet):
        who = counted(count, "judged query has", "judged queries have")
        said.append(f"{who} no {facet}: in no bucket, but in the row of all queries.")
    if (left := len(buckets) - MOST_DRAWN) > 0:
        said.append(f"{left:,} more bucket{'s' * (left != 1)} in the table alone.")
    return said

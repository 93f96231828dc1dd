"""Tables of the Compare page: all numbers of A and B, and the evidence behind them.

The evidence: the chunks that moved most, the comparison under each grader's grades, and a perfect
reranker.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import htpy

from labeler.analysis.comparison import (
    ChunkContribution,
    PerfectReranking,
    ReadingDelta,
    TopMover,
)
from labeler.analysis.comparison.records import STATISTICS
from labeler.evaluation import Conventions, format_number, format_signed
from labeler.measures import MEASURES
from labeler.model.results import Table
from labeler.render.markup import style
from labeler.render.tables.html_table import (
    TABLE_STYLE,
    head,
    html_table,
    run_name,
    small_line,
)
from labeler.render.tables.results import html_table_of


def every_number_table(table: Table, names: tuple[str, str]) -> htpy.Fragment:
    """Return the means of two runs by measure, without the columns of the statistics."""
    columns = [
        each for each in table.columns if each.name == "measure" or each.name not in STATISTICS
    ]
    label = f"All numbers of {names[0]} and {names[1]}"
    shown = Table(tuple(columns), table.rows)
    return html_table_of(shown, label=label, row_head="measure", details=True)


def statistics_table(table: Table) -> htpy.Fragment:
    """Return the statistics of each difference."""
    return html_table_of(table, label="Statistics", row_head="measure", details=True)


NAMED_QUERIES = 3  # queries named for one mover
MOVERS_STYLE = style(".sheet.movers table { line-height: 1.35; }")

MoveLink = Callable[[ChunkContribution], str]


class MoversLook(NamedTuple):
    """How movers are shown: what they are, the measure, the names of both runs, and the links."""

    what: str
    heading: str
    names: tuple[str, str]
    link: MoveLink


def movers_table(
    movers: Sequence[TopMover], caption: str, titles: Mapping[str, str], look: MoversLook
) -> htpy.Fragment:
    """Return a row for each mover: what it adds to the mean delta, and how it moved in queries.

    ``titles`` are the movers' titles by name.
    """
    a, b = look.names
    heads = [
        head(look.what, words=True),
        head(f"rank in {a} → in {b}: change of the query’s {look.heading}", words=True),
        head("adds to the difference"),
        head("queries"),
    ]
    body = [
        htpy.tr[
            htpy.th(".words", scope="row")[
                htpy.bdi[titles.get(mover.name, mover.name)],
                small_line(mover.name)
                if titles.get(mover.name, mover.name) != mover.name
                else None,
            ],
            htpy.td(".words")[_moves_of(mover, look.link)],
            htpy.td(".lead")[format_signed(mover.adds)],
            htpy.td[f"{mover.queries:,}"],
        ]
        for mover in movers
    ]
    return html_table((TABLE_STYLE, MOVERS_STYLE), "sheet movers", heads, body, caption=caption)


def _moves_of(mover: TopMover, link: MoveLink) -> list[htpy.Node]:
    shown: list[htpy.Node] = [
        htpy.div[
            htpy.a(href=link(place))[place.query_id],
            f": {_format_rank(place.rank_a)} → {_format_rank(place.rank_b)}, "
            f"{format_signed(place.moves)}",
        ]
        for place in mover.places[:NAMED_QUERIES]
    ]
    more = len(mover.places) - NAMED_QUERIES
    return [*shown, small_line(f"and {more:,} more") if more > 0 else None]


def _format_rank(rank: int | None) -> str:
    return "not there" if rank is None else str(rank)


def survival_table(
    told: Sequence[ReadingDelta], heading: str, names: tuple[str, str], caption: str
) -> htpy.Fragment:
    """Return the comparison as it is, then a row for each reading that changes something."""
    heads = [
        head("Grades", words=True),
        head("Pairs", "that differ"),
        *(head(name, heading) for name in names),
        head("difference"),
        head(f"{names[1]} better", "/ equal / worse"),
        head("p", "this test alone"),
    ]
    rows = map(_survival_row, told)
    return html_table(TABLE_STYLE, "sheet survival", heads, rows, caption=caption)


def _survival_row(each: ReadingDelta) -> htpy.Element:
    row = each.row
    outcomes = f"{row.wins:,} / {row.ties:,} / {row.losses:,}"
    return htpy.tr[
        htpy.th(".words", scope="row")[htpy.bdi[each.reading.called]],
        htpy.td[f"{each.changed:,}"],
        htpy.td[format_number(row.a)],
        htpy.td[format_number(row.b)],
        htpy.td(".lead")[format_signed(row.delta)],
        htpy.td[outcomes],
        htpy.td[format_number(each.p)],
    ]


def reranked_table(
    rows: Sequence[PerfectReranking], short: Mapping[str, str], conventions: Conventions
) -> htpy.Fragment:
    """Return the means now, perfectly reranked and with everything retrieved.

    If there is more than one run, each is named as in ``short``.
    """
    several = len({row.run for row in rows}) > 1
    heads = [
        head("Measure", words=True),
        *([head("Run", words=True)] if several else []),
        head("Now", "mean"),
        head("Perfectly reranked", "gain"),
        head("Everything retrieved", "known relevant"),
        head("Left to recall", "of this top"),
        head("n", "in the mean"),
    ]
    body = [
        htpy.tr[
            htpy.th(".words", scope="row", title=MEASURES[row.measure.name].help)[
                conventions.heading(row.measure)
            ],
            htpy.td(".words")[run_name(row.run, short)] if several else None,
            htpy.td[format_number(row.now)],
            htpy.td(".lead")[format_number(row.reranked), small_line(format_signed(row.order))],
            htpy.td[format_number(row.complete)],
            htpy.td[format_number(row.recall)],
            htpy.td[f"{row.n:,}"],
        ]
        for row in rows
    ]
    return html_table(TABLE_STYLE, "sheet reranked", heads, body, label="A perfect reranker")

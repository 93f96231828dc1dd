"""The report's comparison: the answer first, then B against A by measure, query and chunk."""

from __future__ import annotations

from collections.abc import Sequence

import htpy

from labeler.analysis import comparison
from labeler.analysis.comparison import (
    ChunkContribution,
    ComparisonView,
    DrawnQuery,
    ShownPair,
    TopMover,
)
from labeler.analysis.run_verdict import PairResult, describe_pair, direct_sources
from labeler.evaluation import format_number, format_signed
from labeler.model import capitalize_first
from labeler.render import charts, tables
from labeler.render.report.context import ReportContext
from labeler.render.short_names import RUN_LETTERS

MOST_MOVERS = 8
LONGEST_QUERY = 160  # characters of a query's text in a list of all of them


def comparison_view(shared: ReportContext, a: str, b: str) -> ComparisonView:
    """Return A against B by the leading measure, the queries that B loses most first."""
    board, texts = shared.board, shared.source.texts
    compared = comparison.compare(board, a, b, shared.measures)
    by, buckets = compared.measures[0], comparison.bucket_labels(board, None)
    rows = comparison.sort_queries(compared.queries(by), comparison.QUERY_SORTS[0], texts, buckets)
    return ComparisonView(board, compared, by, rows, texts, buckets, names=shared.short)


def judge_runs(shared: ReportContext, view: ComparisonView) -> PairResult:
    """Return which run is better, over all queries."""
    a, b = view.compared.a, view.compared.b
    names = (view.called(a), view.called(b))
    board, singles = shared.board, shared.source.singles
    overlap = comparison.compare_candidates(board, a, b, names)
    sources = direct_sources(board, shared.tests, singles, None, lambda *_: shared.bands)
    return describe_pair(board, shared.tests, overlap, sources, names=names)


def verdict_section(found: PairResult) -> htpy.Element:
    """Return which run is better, and what could change that."""
    return htpy.section(aria_label="Verdict")[tables.statements_html(found.statements)]


def comparison_section(
    shared: ReportContext, view: ComparisonView, found: PairResult
) -> htpy.Fragment:
    """Return the means of both with their tests, every query, and what moved most."""
    compared = view.compared
    ranges = shared.of_pair() if shared.board.weights is None else None
    shown = ShownPair(compared, compared.deltas, found.tests, ranges)
    names = (f"A: {view.called(compared.a)}", f"B: {view.called(compared.b)}")
    table = comparison.comparison_table([shown], names)
    covers = f"{capitalize_first(comparison.COVERAGE_NOTE)}."
    rule = f"{capitalize_first(comparison.SIGNIFICANCE_RULE)}."
    return htpy.fragment[
        tables.means_table(table),
        tables.small_print([compared.conventions.sentence, rule, covers]),
        htpy.details[htpy.summary["All numbers"], tables.every_number_table(table)],
        _queries(shared, view),
        _movers(shared, view),
    ]


def _queries(shared: ReportContext, view: ComparisonView) -> htpy.Node:
    """Return every query that has a value: as bars, as a scatter, and folded as a table."""
    drawn = [row._replace(query=shorten(row.query)) for row in view.drawn()]
    if not drawn:
        return htpy.p[f"No query has a value by {view.heading}, so there is nothing to draw."]
    named = (charts.query_frame(drawn), view.heading, *RUN_LETTERS)
    without = len(view.rows) - len(drawn)
    left_out = f" {without:,} without a value are not drawn." if without else ""
    words = f"{view.heading} of every query.{left_out} A click leads to its row."
    return htpy.fragment[
        htpy.h3["Every query"],
        htpy.div(".pair", data_opens=True)[
            shared.figures.draw(charts.delta_bars(*named), words),
            shared.figures.draw(
                charts.delta_scatter(*named), "Above the line B is better.", square=True
            ),
        ],
        htpy.details[htpy.summary[f"All {len(drawn):,} queries"], _query_rows(drawn, view.facets)],
    ]


def _query_rows(drawn: Sequence[DrawnQuery], facets: str) -> htpy.Fragment:
    headings = ["Query", facets or "Buckets", "A", "B", "B − A", "Unjudged A / B"]
    rows: list[list[tables.CellContent]] = [
        [
            tables.TextCell(row.query_id, row.query),
            tables.TextCell(row.bucket),
            format_number(row.a),
            format_number(row.b),
            format_signed(row.delta),
            f"{row.unjudged_a} / {row.unjudged_b}",
        ]
        for row in drawn
    ]
    return tables.plain_table(headings, rows, ids=[f"place-{row.place}" for row in drawn])


def _movers(shared: ReportContext, view: ComparisonView) -> htpy.Node:
    """Return which chunks cost B most and which help it most; each leads to its queries."""
    found = comparison.find_contributions(view.board, view.compared.a, view.compared.b, view.by)
    movers = comparison.add_up_movers(found, view.board.collection.chunk_ids.__getitem__)
    costs = [mover for mover in movers if mover.adds < 0][:MOST_MOVERS]
    helps = [mover for mover in movers if mover.adds > 0][:MOST_MOVERS]
    if not costs and not helps:
        return None
    titles = _titles(shared, view, [*costs, *helps])
    places = {row.query_id: row.place for row in view.drawn()}

    def link(place: ChunkContribution) -> str:
        return f"#place-{places.get(place.query_id, '')}"

    return htpy.fragment[
        htpy.h3["What moved most"],
        [
            tables.movers_table(rows, caption, titles, what="Chunk", link=link)
            for caption, rows in (("These chunks cost B most", costs), ("These help B most", helps))
            if rows
        ],
        tables.small_print(
            [
                f"What each adds to the mean of {view.heading}, B − A.",
                comparison.describe_dependence(view.by) or "",
            ]
        ),
    ]


def _titles(
    shared: ReportContext, view: ComparisonView, movers: Sequence[TopMover]
) -> dict[str, str]:
    chunks = shared.source.chunks_of(mover.places[0].chunk for mover in movers)
    names = view.board.collection.chunk_ids
    return {names[number]: chunk.called or names[number] for number, chunk in chunks.items()}


def shorten(text: str) -> str:
    """Return a query's text as far as a list of many has room for it."""
    return text if len(text) <= LONGEST_QUERY else f"{text[:LONGEST_QUERY]}…"

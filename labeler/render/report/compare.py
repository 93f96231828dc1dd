"""The report's comparison: the answer first, then B against A by measure, query and chunk."""

from __future__ import annotations

import math
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
from labeler.render import tables
from labeler.render.report.context import ReportContext
from labeler.render.report.rank_strips import STRIP_LEGEND, STRIP_STYLE, RankStrips
from labeler.render.tables.delta_picture import (
    DeltaPicture,
    PictureRow,
    is_detail,
    lost_buckets,
    verdict_html,
)

MOST_MOVERS, MOST_OPEN = 8, 10
LONGEST_QUERY = 160  # characters of a query's text in the list of all queries


def comparison_view(shared: ReportContext, a: str, b: str) -> ComparisonView:
    """Return A against B by the leading measure, the queries with B's largest losses first."""
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


def verdict_section(shared: ReportContext, found: PairResult) -> htpy.Element:
    """Return which run is better, what could change that, and the picture of the differences."""
    tests, lead = shared.tests, found.verdict.row
    picture = None
    if lead is not None and not math.isnan(lead.delta) and tests.compared is not None:
        heading = shared.board.conventions.heading
        measures = [PictureRow(lead, heading(lead.measure), "deciding measure")]
        measures += [PictureRow(row, heading(row.measure)) for row in tests.others]
        buckets = [PictureRow(row, str(row.bucket), str(row.facet)) for row in lost_buckets(tests)]
        names = (shared.short[tests.a], shared.short[tests.b])
        picture = DeltaPicture(tests, shared.board.conventions, names, measures, buckets).html()
    said = verdict_html(found.statements, lambda _: "#comparison", whole=picture is None)
    if lead is None or picture is None:
        return htpy.section(aria_label="Verdict")[said]
    details = htpy.details[
        htpy.summary["Statistics"],
        tables.sentences(each.sentence for each in comparison.describe_statistics(tests, lead)),
        tables.statements_html([each for each in found.statements if is_detail(each)]),
        tables.statistics_table(comparison.statistics_table(tests, lead)),
    ]
    return htpy.section(aria_label="Verdict")[said, picture, details]


def comparison_section(
    shared: ReportContext, view: ComparisonView, found: PairResult
) -> htpy.Fragment:
    """Return every query, the chunks that moved most, and all numbers of both runs, folded."""
    compared = view.compared
    ranges = shared.of_pair() if shared.board.weights is None else None
    shown = ShownPair(compared, compared.deltas, found.tests, ranges)
    names = (view.called(compared.a), view.called(compared.b))
    table = comparison.comparison_table([shown], names, names)
    told = [comparison.SIGNIFICANCE_RULE, comparison.COVERAGE_NOTE]
    return htpy.fragment[
        _queries(shared, view),
        _movers(shared, view),
        htpy.details[
            htpy.summary["All numbers"],
            tables.every_number_table(table, names),
            tables.small_print(
                [compared.conventions.sentence, *(f"{capitalize_first(each)}." for each in told)]
            ),
        ],
    ]


def _queries(shared: ReportContext, view: ComparisonView) -> htpy.Node:
    """Return the queries with the ranks of both runs, the largest losses first; most are folded."""
    drawn = [row._replace(query=shorten(row.query)) for row in reversed(view.drawn())]
    if not drawn:
        return htpy.p[f"No query has a value by {view.heading}, so there is nothing to show."]
    ranks = RankStrips(shared.board, dict(zip(shared.letters, shared.asked.runs, strict=True)))
    without = len(view.rows) - len(drawn)
    left_out = f" {without:,} without a value are left out." if without else ""
    first, rest = drawn[:MOST_OPEN], drawn[MOST_OPEN:]
    names = (view.called(view.compared.a), view.called(view.compared.b))
    return htpy.fragment[
        htpy.h3["Queries, largest losses first"],
        [STRIP_STYLE, tables.small_print([f"{STRIP_LEGEND}{left_out}"])],
        _query_rows(first, view.facets, names, ranks),
        htpy.details[
            htpy.summary[f"{len(rest):,} more queries"],
            _query_rows(rest, view.facets, names, ranks),
        ]
        if rest
        else None,
    ]


def _query_rows(
    drawn: Sequence[DrawnQuery], facets: str, names: tuple[str, str], ranks: RankStrips
) -> htpy.Fragment:
    headings = ["Query", facets or "Buckets", "Ranks", *names, "difference", "unjudged"]
    rows: list[list[tables.CellContent]] = [
        [
            tables.TextCell(row.query_id, row.query),
            tables.TextCell(row.bucket),
            ranks.of(row.query_id),
            format_number(row.a),
            format_number(row.b),
            format_signed(row.delta),
            f"{row.unjudged_a} and {row.unjudged_b}",
        ]
        for row in drawn
    ]
    return tables.plain_table(headings, rows, ids=[f"place-{row.place}" for row in drawn])


def _movers(shared: ReportContext, view: ComparisonView) -> htpy.Node:
    """Return the chunks that cost B most and those that help it most, linked to their queries."""
    found = comparison.find_contributions(view.board, view.compared.a, view.compared.b, view.by)
    movers = comparison.add_up_movers(found, view.board.collection.chunk_ids.__getitem__)
    costs = [mover for mover in movers if mover.adds < 0][:MOST_MOVERS]
    helps = [mover for mover in movers if mover.adds > 0][:MOST_MOVERS]
    if not costs and not helps:
        return None
    titles = _titles(shared, view, [*costs, *helps])
    places = {row.query_id: row.place for row in view.drawn()}
    names = (view.called(view.compared.a), view.called(view.compared.b))

    def link(place: ChunkContribution) -> str:
        return f"#place-{places.get(place.query_id, '')}"

    look = tables.MoversLook("Chunk", view.heading, names, link)
    return htpy.fragment[
        htpy.h3["What moved most"],
        [
            tables.movers_table(rows, caption, titles, look)
            for caption, rows in (
                (f"These chunks cost {names[1]} most", costs),
                (f"These help {names[1]} most", helps),
            )
            if rows
        ],
        tables.small_print(
            [
                f"What each adds to the difference in the mean of {view.heading}.",
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
    """Return a query's text, cut to fit a list of many queries."""
    return text if len(text) <= LONGEST_QUERY else f"{text[:LONGEST_QUERY]}…"

"""The report's numbers by run: means, recall over k, slices and keywords."""

from __future__ import annotations

from collections.abc import Sequence

import htpy

from labeler.analysis import comparison
from labeler.analysis.cautions import find_cautions
from labeler.analysis.comparison import FEW
from labeler.analysis.keywords import (
    KeywordRanks,
    build_corpora,
    describe_keyword_conventions,
    describe_missed,
    describe_unusable,
    find_keyword_ranks,
    found_by_one_run,
    keyword_means,
    list_lookups,
)
from labeler.evaluation import Score
from labeler.model import Settings, format_count
from labeler.model.results import Statement
from labeler.render import charts, tables
from labeler.render.report.context import ReportContext, explain_bands
from labeler.render.tables.run_table import RunTableState
from labeler.stats import mean_intervals


def scores_section(shared: ReportContext) -> htpy.Fragment:
    """Return the means as a table with cautions and a chart, then recall and precision over k."""
    runs = shared.asked.runs
    scores = _scores_of_runs(shared, shared.board.table(shared.measures))
    bands = shared.bands.means(shared.board, shared.measures)
    intervals = mean_intervals(shared.board, shared.measures, runs=runs)
    spreads = tables.spreads_of_means(bands, intervals)
    conventions = shared.board.conventions
    table = tables.score_table(scores, conventions, intervals, spreads)
    chart = charts.score_chart(scores, conventions)
    return htpy.fragment[
        _drawn_table(shared, table),
        tables.sentences([f"⚠ {each.sentence}" for each in _cautions(shared)]),
        tables.small_print([conventions.sentence, *explain_bands(bands)]),
        tables.run_legend(runs, shared.short),
        shared.figures.draw(chart, "The means of all judged queries, as in the table."),
        _curves(shared),
    ]


def _cautions(shared: ReportContext) -> list[Statement]:
    settings = Settings(matters=shared.asked.decision.matters)
    return find_cautions(shared.board, shared.measures, runs=shared.asked.runs, settings=settings)


def _curves(shared: ReportContext) -> htpy.Fragment:
    """Return recall and precision over k, each as a chart over its table."""
    return htpy.fragment[
        htpy.h3["Recall and precision over k"],
        tables.run_legend(shared.asked.runs, shared.short, lines=True),
        htpy.div(".pair")[[_curve(shared, name) for name in "RP"]],
    ]


def _curve(shared: ReportContext, name: str) -> htpy.Element:
    measures = shared.board.conventions.measures([f"{name}@{k}" for k in charts.CURVES_AT])
    scores = _scores_of_runs(shared, shared.board.table(measures))
    prompt_ks = shared.board.prompt_ks[shared.board.counted(measures[0])].tolist()
    table = tables.score_table(scores, shared.board.conventions)
    words = f"{measures[0].name}@k over k; upright: the prompt size."
    return htpy.div[
        shared.figures.draw(charts.curve_chart(scores, prompt_ks), words),
        htpy.details[htpy.summary["The numbers of this chart"], _drawn_table(shared, table)],
    ]


def _scores_of_runs(shared: ReportContext, scores: list[Score]) -> list[Score]:
    """Return the scores of the runs that the report is about, A first."""
    return [score for run in shared.asked.runs for score in scores if score.run == run]


def _drawn_table(shared: ReportContext, table: tables.RunTable) -> htpy.Fragment:
    systems = {run.name: run.system for run in shared.board.collection.runs}
    names = tables.RunNames(shared.short, systems)
    groups = RunTableState().order({run: {} for run in shared.asked.runs}, {})
    return tables.runs_table(table, groups, RunTableState(), names)


MOST_DRAWN = 40  # buckets in a picture; the table behind it has all


def slices_section(shared: ReportContext) -> htpy.Fragment:
    """Return for each facet its buckets as a picture, and folded as a table."""
    return htpy.fragment[
        htpy.p(".aside")[_how_to_read(shared)],
        [
            (htpy.h3["By ", htpy.bdi[facet]], _facet_slices(shared, facet))
            for facet in shared.facets
        ],
    ]


def _facet_slices(shared: ReportContext, facet: str) -> htpy.Fragment:
    if shared.asked.b is None:
        return _slices_of_run(shared, facet, shared.asked.a)
    return _slices_of_pair(shared, facet, shared.asked.a, shared.asked.b)


def _slices_of_pair(shared: ReportContext, facet: str, a: str, b: str) -> htpy.Fragment:
    found = comparison.compare(shared.board, a, b, shared.measures, facet)
    tests, buckets = shared.tests, comparison.worst_first(found, FEW)
    bands = shared.of_pair(facet)[1]
    spreads = tables.delta_spreads(bands, tests, [*found.deltas, *found.buckets])
    picture = tables.delta_plot(
        found, buckets[:MOST_DRAWN], tests, least=FEW, link=None, spreads=spreads
    )
    leading = found.measures[0]
    table = tables.slice_pair_table(found, leading, shared.short, tests, least=FEW, link=None)
    return htpy.fragment[
        picture,
        tables.small_print(_describe_left_out(shared, facet, buckets)),
        _folded(f"{found.conventions.heading(leading)} in each bucket of {facet}", table),
    ]


def _slices_of_run(shared: ReportContext, facet: str, run: str) -> htpy.Fragment:
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
    spreads = tables.spreads_of_means(bands, intervals)
    behind = {place[1:]: spread for place, spread in spreads.items()}
    picture = tables.mean_plot(
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
        tables.small_print(_describe_left_out(shared, facet, buckets)),
        _folded(f"Every measure in each bucket of {facet}", table),
    ]


def _folded(title: str, table: htpy.Node) -> htpy.Element:
    return htpy.details[htpy.summary[title], table]


def _how_to_read(shared: ReportContext) -> str:
    """Say how a picture is read."""
    if shared.asked.b is None:
        return f"{tables.SHADES}Greyed, without a shade: fewer than {FEW} queries."
    return (
        "B − A over the queries of each bucket, worst first, those of few queries last: left of "
        f"the line B is worse. Filled is clear, hollow is not, grey is not tested: "
        f"{comparison.SIGNIFICANCE_RULE}. Greyed: fewer than {FEW} queries. {tables.GOES_ON}"
    )


def _describe_left_out(shared: ReportContext, facet: str, buckets: Sequence[str]) -> list[str]:
    """Say which queries are in no bucket, and which buckets are in the table alone."""
    said = []
    if count := shared.board.unbucketed(facet):
        who = format_count(count, "judged query has", "judged queries have")
        said.append(f"{who} no {facet}: in no bucket, but in the row of all queries.")
    if (left := len(buckets) - MOST_DRAWN) > 0:
        said.append(f"{left:,} more bucket{'s' * (left != 1)} in the table alone.")
    return said


KEYWORD_K = 10
MOST_KEYWORDS = 20
"""How many of the keywords that one run alone has are listed."""


def keywords_section(shared: ReportContext) -> htpy.Fragment | None:
    """Return what the runs do for keywords; None where no query has any."""
    there = set(shared.board.collection.query_ids)
    keywords = {
        name: query.keywords
        for name, query in shared.source.queries.items()
        if query.keywords and name in there
    }
    if not keywords:
        return None
    chunks = shared.source.chunks_of(shared.source.with_text)
    known = build_corpora(shared.board, {at: chunk.text or "" for at, chunk in chunks.items()})
    lists = list_lookups(shared.board, shared.asked.runs)
    places = find_keyword_ranks(known.whole, keywords, lists)
    by = "no run" if shared.asked.b is None else "neither A nor B"
    means = keyword_means(known.scores(keywords, lists, KEYWORD_K))
    said = [
        describe_keyword_conventions(KEYWORD_K, substring=False),
        describe_unusable(known.whole, keywords) or "",
    ]
    return htpy.fragment[
        tables.keyword_means_table(shared.letters, means, KEYWORD_K),
        tables.small_print(said),
        _found_by_one(shared, places),
        tables.sentences(describe_missed(places, by)),
    ]


def _found_by_one(shared: ReportContext, places: Sequence[KeywordRanks]) -> htpy.Node:
    """Return the keywords that A alone has among its first chunks, and those that B alone has."""
    a, b = shared.asked.a, shared.asked.b
    if b is None:
        return None
    return [
        htpy.fragment[
            htpy.h3[f"Only {letter} has these in its top {KEYWORD_K}: {len(alone):,}"],
            tables.keyword_places_table(alone[:MOST_KEYWORDS], a, b),
            tables.small_print([_describe_unlisted(len(alone) - MOST_KEYWORDS)]),
        ]
        for letter, alone in zip(
            shared.letters, found_by_one_run(places, a, b, KEYWORD_K), strict=True
        )
        if alone
    ]


def _describe_unlisted(count: int) -> str:
    if count <= 0:
        return ""
    return f"{count:,} more are not listed; 'labeler score --keywords --per-query' has all."

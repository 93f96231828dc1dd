"""The report's numbers by run: means, recall over k, slices and keywords."""

from __future__ import annotations

from collections import Counter
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
from labeler.render.report.context import ReportContext
from labeler.render.tables.bucket_rows import NO_ENDS, Place, level_list, pair_list, worst_first
from labeler.render.tables.run_table import RunTableState
from labeler.stats import mean_intervals


def scores_section(shared: ReportContext) -> htpy.Fragment:
    """Return the means as a table with cautions, and folded recall and precision over k."""
    runs, conventions = shared.asked.runs, shared.board.conventions
    scores = _scores_of_runs(shared, shared.board.table(shared.measures))
    intervals = mean_intervals(shared.board, shared.measures, runs=runs)
    curves = [_curve(shared, name) for name in "RP"]
    return htpy.fragment[
        _drawn_table(shared, tables.score_table(scores, conventions, intervals)),
        tables.sentences([f"⚠ {each.sentence}" for each in _cautions(shared)]),
        tables.small_print([conventions.sentence]),
        htpy.details[htpy.summary["Recall and precision over k"], curves],
    ]


def _cautions(shared: ReportContext) -> list[Statement]:
    settings = Settings(matters=shared.asked.decision.matters)
    return find_cautions(shared.board, shared.measures, runs=shared.asked.runs, settings=settings)


def _curve(shared: ReportContext, name: str) -> htpy.Fragment:
    measures = shared.board.conventions.measures([f"{name}@{k}" for k in charts.CURVES_AT])
    scores = _scores_of_runs(shared, shared.board.table(measures))
    return _drawn_table(shared, tables.score_table(scores, shared.board.conventions))


def _scores_of_runs(shared: ReportContext, scores: list[Score]) -> list[Score]:
    """Return the scores of the report's runs, A first."""
    return [score for run in shared.asked.runs for score in scores if score.run == run]


def _drawn_table(shared: ReportContext, table: tables.RunTable) -> htpy.Fragment:
    systems = {run.name: run.system for run in shared.board.collection.runs}
    names = tables.RunNames(shared.short, systems)
    groups = RunTableState().order({run: {} for run in shared.asked.runs}, {})
    return tables.runs_table(table, groups, RunTableState(), names)


def slices_section(shared: ReportContext) -> htpy.Fragment:
    """Return all buckets on one axis, worst first, as the Slices page shows them."""
    picture = _slices_of_run(shared) if shared.asked.b is None else _slices_of_pair(shared)
    left = [(facet, shared.board.unbucketed(facet)) for facet in shared.facets]
    said = [
        f"{format_count(count, 'judged query has', 'judged queries have')} no {facet}: "
        "in none of its buckets, but in the row of all queries."
        for facet, count in left
        if count
    ]
    return htpy.fragment[picture, tables.small_print(said)]


def _slices_of_pair(shared: ReportContext) -> htpy.Fragment:
    tests, board = shared.tests, shared.board
    lead = tests.deciding or shared.measures[0]
    found = [comparison.compare(board, tests.a, tests.b, [lead], facet) for facet in shared.facets]
    [total] = found[0].deltas
    rows = [row for each in found for row in each.buckets]
    rows.sort(key=lambda row: worst_first(row.delta, row.n, FEW))
    names = (shared.short[tests.a], shared.short[tests.b])
    return pair_list(total, rows, rows, tests, board.conventions, names, FEW)


def _slices_of_run(shared: ReportContext) -> htpy.Fragment:
    board, run, [lead, *_] = shared.board, shared.asked.a, shared.measures
    [total] = [row for row in board.table([lead]) if row.run == run]
    rows = [row for facet in shared.facets for row in board.table([lead], facet) if row.run == run]
    rows.sort(key=lambda row: worst_first(row.value, row.n, FEW))
    between: dict[Place, tuple[float, float]] = {}
    sizes: Counter[Place] = Counter({(None, None): len(board.collection.query_ids)})
    for facet in (None, *shared.facets):
        for (_, _, bucket), each in mean_intervals(board, [lead], facet, runs=[run]).items():
            between[facet, bucket] = (each.lo, each.hi) if each.method else NO_ENDS
        sizes.update((facet, bucket) for bucket in board.collection.facets.get(facet or "", ()))
    return level_list(total, rows, rows, between, sizes, board.conventions, FEW)


KEYWORD_K = 10
MOST_KEYWORDS = 20
"""How many keywords are listed that only one run has."""


def keywords_section(shared: ReportContext) -> htpy.Fragment | None:
    """Return the keyword measures of the runs, None if no query has keywords."""
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
    names = [shared.short[run] for run in shared.asked.runs]
    by = "no run" if shared.asked.b is None else f"neither {' nor '.join(names)}"
    means = keyword_means(known.scores(keywords, lists, KEYWORD_K))
    said = [
        describe_keyword_conventions(KEYWORD_K, substring=False),
        describe_unusable(known.whole, keywords) or "",
    ]
    return htpy.fragment[
        tables.keyword_means_table(names, means, KEYWORD_K),
        tables.small_print(said),
        _found_by_one(shared, places),
        tables.sentences(describe_missed(places, by)),
    ]


def _found_by_one(shared: ReportContext, places: Sequence[KeywordRanks]) -> htpy.Node:
    """Return the keywords that only A has in its top chunks, and those that only B has."""
    a, b = shared.asked.a, shared.asked.b
    if b is None:
        return None
    names = (shared.short[a], shared.short[b])
    return [
        htpy.fragment[
            htpy.h3[f"Only {name} has these in its top {KEYWORD_K}: {len(alone):,}"],
            tables.keyword_places_table(alone[:MOST_KEYWORDS], (a, b), names),
            tables.small_print([_describe_unlisted(len(alone) - MOST_KEYWORDS)]),
        ]
        for name, alone in zip(names, found_by_one_run(places, a, b, KEYWORD_K), strict=True)
        if alone
    ]


def _describe_unlisted(count: int) -> str:
    if count <= 0:
        return ""
    return f"{count:,} more are not listed; 'labeler score --keywords --per-query' has all."

"""The buckets on Slices: one list on one axis, of B against A or of one run, worst first."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import htpy

from labeler.analysis import comparison
from labeler.analysis.cautions import find_cautions
from labeler.analysis.comparison import (
    Comparison,
    PairTests,
    ShownPair,
)
from labeler.analysis.comparison.buckets import clear_losses, of_facet
from labeler.analysis.comparison.verdict import describe_incomparable
from labeler.evaluation import Score, Scoreboard, format_number, format_signed
from labeler.measures import Measure
from labeler.model import format_count
from labeler.model.results import Statement
from labeler.render import csv_exports, tables
from labeler.render.markup import show_html
from labeler.render.short_names import shorten_runs
from labeler.render.tables.bucket_rows import NO_ENDS, Place, level_list, pair_list, worst_first
from labeler.render.tables.verdict_block import verdict_block
from labeler.stats import ConfidenceInterval, UnjudgedRange
from labeler.ui import scoreboards, url_state
from labeler.ui import shared as ui
from labeler.ui.deep_links import target_url, transfer_step
from labeler.ui.slices.choices import SlicesChoice
from labeler.ui.slices.files import intervals_of

FileContent = Callable[[], bytes]
ON_A_PAGE = 40  # buckets in the list


def show_pair(choice: SlicesChoice, b: str, board: Scoreboard) -> FileContent | None:
    """Show B against A: where it loses, in a sentence, and all buckets in one list.

    Return the content of the file, None if the two cannot be compared.
    """
    a = choice.a
    with url_state.stale_if_incomparable("b"):
        comparison.check_pair(board, a, b)
        with ui.reading(f"Comparing {choice.short[a]} with {choice.short[b]}…"):
            tests = scoreboards.pair_tests(board, a, b, choice.settings)
        lead = board.resolve([choice.lead or tests.deciding or choice.measures[0]])[0]
        names = (choice.short[a], choice.short[b])
        if tests.deciding is None and board.collection.has_several_chunkings:
            said = describe_incomparable(board, tests, names).statements
            show_html(verdict_block(said[0].sentence, step=transfer_step(said)))
            return None
        by_facet = [compare_in(board, tests, lead, facet) for facet in choice.facets_of(board)]
    say_where_b_loses(choice, by_facet[0], tests, board)
    [total] = by_facet[0].deltas
    rows = [row for found in by_facet for row in found.buckets]
    rows.sort(key=lambda row: worst_first(row.delta, row.n, choice.least))
    shown = choice.in_same_order(rows, lead)
    drawn = url_state.choose_part(shown, ON_A_PAGE)
    rules = (tests, choice.conventions, names, choice.least, choice.bucket_url)
    show_html(pair_list(total, drawn, rows, *rules))
    return partial(pair_csv, choice, b, board, tests)


def compare_in(board: Scoreboard, tests: PairTests, lead: Measure, facet: str) -> Comparison:
    """Compare two runs in a facet's buckets; for the deciding measure ``tests`` already has it."""
    if lead == tests.deciding:
        return tests.by_facet[facet]
    return comparison.compare(board, tests.a, tests.b, [lead], facet)


def say_where_b_loses(
    choice: SlicesChoice, found: Comparison, tests: PairTests, board: Scoreboard
) -> None:
    """Show in how many buckets B loses clearly, as on Compare, where most, and the next step."""
    names = (choice.short[choice.a], choice.short[tests.b])
    by = found.conventions.heading(tests.deciding or found.measures[0])
    said = comparison.describe_buckets(tests, names, choice.facet)
    answer = next((each for each in said if each.kind == "bucket losses"), None)
    rest = [each for each in said if each is not answer]
    figure, doubts, step = largest_fall(choice, tests, by)
    total = tests.total or found.deltas[0]
    show_html(
        verdict_block(
            "No bucket can be compared." if answer is None else answer.sentence,
            figure,
            doubts,
            counts_of(board, total),
            step,
        ),
        tables.statements_html(
            [*map(_as_note, rest), *cautions(choice, board)],
            partial(target_url, compared=found, by=by),
        ),
    )


def _as_note(statement: Statement) -> Statement:
    return replace(statement, heading="")


def largest_fall(
    choice: SlicesChoice, tests: PairTests, heading: str
) -> tuple[tuple[str, str] | None, list[str], htpy.Node]:
    """Return the largest loss in a tested bucket, how sure it is, and a link to it."""
    tested = of_facet(tests.tested_buckets, choice.facet)
    rows = clear_losses(tests, choice.facet) or tested
    if not rows:
        return None, [], None
    row = min(rows, key=lambda each: each.delta)
    test, what = tests.of(row), "the largest fall" if row.delta < 0 else "the smallest gain"
    is_largest = all(row.delta <= each.delta for each in tested)
    what = what if is_largest else f"{what} that is clear"
    differ = f"{test.differ:,} of {row.n:,} queries differ"
    figure = f"{heading} in {row.bucket} ({row.facet}), {what}: {differ}."
    if row.delta >= 0:
        of = f"{choice.facet} " if choice.facet else ""
        doubt = f"No tested {of}bucket has fallen."
        return (format_signed(row.delta), figure), [doubt], None
    many = format_count(test.tests, "bucket", "buckets")
    sure = "It is more than chance" if test.is_clear else "It could be chance"
    reach = "excludes" if test.is_clear else "includes"
    worse = format_count(row.losses, "query that got worse", "queries that got worse")
    those = {"page": "queries", "which": "worse"}
    those |= {"facet": str(row.facet), "bucket": str(row.bucket)}
    there = target_url(those, compared=tests.source_of(row), by=heading)
    step = htpy.a(".go", href=there)[f"See the {worse}"]
    doubt = f"{sure}: corrected for {many}, its interval {reach} 0."
    return (format_signed(row.delta), figure), [doubt], step


def counts_of(board: Scoreboard, row: Score | comparison.Delta) -> str:
    """Return how many queries the numbers are over, and why others are left out."""
    every, n, undefined = board.counts.queries, row.n, row.undefined
    not_graded = every - n - undefined
    lacks = "no passage marked" if row.measure.reads == "evidence" else "nothing relevant"
    out = [
        f"{not_graded:,} not graded" if not_graded else "",
        f"{undefined:,} with {lacks}" if undefined else "",
    ]
    left = f" ({', '.join(filter(None, out))})" if any(out) else ""
    return f"{n:,} of {format_count(every, 'query', 'queries')}{left}"


def cautions(choice: SlicesChoice, board: Scoreboard) -> Sequence[Statement]:
    """Return the ways in which the means of these runs mislead, over all queries."""
    lead = [choice.lead] if choice.lead else choice.measures[:1]
    found = find_cautions(board, lead, runs=choice.runs, settings=choice.settings)
    return [shorten_runs(each, choice.short) for each in found]


def pair_csv(choice: SlicesChoice, b: str, board: Scoreboard, tests: PairTests) -> bytes:
    """Return all measures in all buckets that are shown, in full precision."""
    shown = [
        comparison.compare(board, choice.a, b, choice.measures, facet)
        for facet in choice.facets_of(board)
    ]
    means: dict[Any, UnjudgedRange] = {}
    deltas: dict[Any, UnjudgedRange] = {}
    for facet in choice.facets_of(board):
        found = scoreboards.pair_ranges(board, choice.a, b, choice.measures, facet)
        means.update(found[0])
        deltas.update(found[1])
    rows = [*shown[0].deltas, *(row for found in shown for row in found.buckets)]
    return csv_exports.comparison_csv(ShownPair(shown[0], rows, tests, (means, deltas)))


def show_one_run(choice: SlicesChoice, board: Scoreboard) -> FileContent:
    """Show one run's buckets by their mean, the lowest first; return the content of the file."""
    a, least = choice.a, choice.least
    lead = board.resolve([choice.lead or choice.measures[0]])[0]
    facets = choice.facets_of(board)
    rows = [row for facet in facets for row in board.table([lead], facet) if row.run == a]
    [total] = [row for row in board.table([lead]) if row.run == a]
    between: dict[Place, tuple[float, float]] = {}
    for facet in facets:
        for (_, _, bucket), each in intervals_of(board, [lead], a, facet).items():
            of = None if bucket is None else facet
            between[of, bucket] = (each.lo, each.hi) if each.method else NO_ENDS
    rows.sort(key=lambda row: worst_first(row.value, row.n, least))
    say_lowest(choice, board, rows, total, between)
    drawn = url_state.choose_part(choice.in_same_order(rows, lead), ON_A_PAGE)
    rules = (between, count_queries(board, facets), choice.conventions, least, choice.bucket_url)
    show_html(level_list(total, drawn, rows, *rules))
    return partial(means_csv, choice, board)


def count_queries(board: Scoreboard, facets: Sequence[str]) -> Counter[Place]:
    """Return the number of queries of each bucket and of all, graded or not."""
    found: Counter[Place] = Counter({(None, None): len(board.collection.query_ids)})
    for facet in facets:
        found.update((facet, bucket) for bucket in board.collection.facets[facet])
    return found


def say_lowest(
    choice: SlicesChoice,
    board: Scoreboard,
    rows: Sequence[Score],
    total: Score,
    between: Mapping[Place, tuple[float, float]],
) -> None:
    """Show in which bucket the run is lowest, how sure that is, and the next step."""
    run, heading = choice.short[choice.a], choice.conventions.heading(total.measure)
    counts = counts_of(board, total)
    sized = [row for row in rows if row.n >= choice.least and not math.isnan(row.value)]
    if len({row.value for row in sized}) < 2:
        few = f"No bucket of {run} has {choice.least:,} queries, too few to say where it is weak."
        if len(sized) == 1:
            few = f"Only {sized[0].bucket} ({sized[0].facet}) has {choice.least:,} queries or more."
        elif sized:
            few = f"All buckets of {run} with {choice.least:,} queries score the same."
        figure = (format_number(total.value), f"{heading} over all queries.")
        show_html(verdict_block(few, figure, [], counts))
    else:
        row = sized[0]
        of = format_count(row.n, "query", "queries")
        whole = f"all {total.n:,}: {format_number(total.value)}"
        lo, hi = between.get((row.facet, row.bucket), NO_ENDS)
        level = f"With {of} the 95% interval is {format_number(lo)} to {format_number(hi)}, and the"
        doubt = "The" if math.isnan(lo) else level
        doubt += " lowest of many buckets tends to look lower than it is."
        there = choice.bucket_url(str(row.facet), row.bucket)
        step = htpy.a(".go", href=there)["See its queries, worst first"]
        says = f"{run} scores lowest on {row.bucket} questions ({row.facet})."
        figure = (format_number(row.value), f"{heading} on {of}; {whole}.")
        show_html(verdict_block(says, figure, [doubt], counts, step))
    show_html(tables.statements_html(cautions(choice, board)))


def means_csv(choice: SlicesChoice, board: Scoreboard) -> bytes:
    """Return all measures in all buckets that are shown, in full precision."""
    measures = choice.measures
    bands: dict[Any, UnjudgedRange] = {}
    between: dict[Any, ConfidenceInterval] = {}
    rows = [row for row in board.table(measures) if row.run == choice.a]
    for facet in choice.facets_of(board):
        rows += [row for row in board.table(measures, facet) if row.run == choice.a]
        between.update(intervals_of(board, measures, choice.a, facet))
        bands.update(scoreboards.bucket_ranges(board, [choice.a], measures, facet))
    return csv_exports.score_csv(rows, board.conventions, intervals=between, bands=bands)

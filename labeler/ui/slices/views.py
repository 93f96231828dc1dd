"""The buckets on Slices: one list on one axis, of B against A or of one run, worst first."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import htpy

from labeler.analysis import comparison
from labeler.analysis.cautions import find_cautions
from labeler.analysis.comparison import (
    Comparison,
    Delta,
    DeltaTest,
    PairTests,
    ShownPair,
    format_delta_interval,
    format_p_value,
)
from labeler.analysis.comparison.buckets import clear_losses
from labeler.evaluation import Score, Scoreboard, format_number, format_signed
from labeler.measures import Measure
from labeler.model import format_count
from labeler.model.results import Statement
from labeler.render import csv_exports, tables
from labeler.render.markup import show_html
from labeler.render.tables.bucket_list import (
    ListColumn,
    ListRow,
    axis_of,
    bucket_list,
    key_to_marks,
)
from labeler.render.tables.html_table import describe_transferred, describe_unjudged
from labeler.render.tables.verdict_block import verdict_block
from labeler.stats import ConfidenceInterval, UnjudgedRange
from labeler.ui import scoreboards, url_state
from labeler.ui.deep_links import target_url
from labeler.ui.slices.choices import SlicesChoice
from labeler.ui.slices.files import intervals_of, offer

ON_A_PAGE = 40  # buckets in the list
NO_ENDS = (math.nan, math.nan)
Place = tuple[str | None, str | None]


def show_pair(choice: SlicesChoice, b: str, board: Scoreboard) -> None:
    """Show B against A: where it loses, in a sentence, and all buckets in one list."""
    a = choice.a
    with url_state.stale_if_incomparable("b"):
        comparison.check_pair(board, a, b)
        tests = scoreboards.pair_tests(board, a, b, choice.settings)
        lead = board.resolve([choice.lead or tests.deciding or choice.measures[0]])[0]
        by_facet = [compare_in(board, tests, lead, facet) for facet in choice.facets_of(board)]
    say_where_b_loses(choice, by_facet[0], tests, board)
    [total] = by_facet[0].deltas
    rows = [row for found in by_facet for row in found.buckets]
    rows.sort(key=lambda row: _worst_first(row.delta, row.n, choice.least))
    shown = choice.in_same_order(rows, lead)
    drawn = url_state.choose_part(shown, ON_A_PAGE)
    tested = [tests.of(row) for row in (total, *rows)]
    heading = choice.conventions.heading(lead)
    names = (choice.short[a], choice.short[b])
    columns = [
        ListColumn([htpy.span(".a")["■ "], htpy.bdi[names[0]]], a),
        ListColumn([htpy.span(".b")["● "], htpy.bdi[names[1]]], b),
        ListColumn("difference", f"{heading}, B − A", wide_only=False),
        ListColumn("95% interval", is_range=True),
    ]
    ends = [end for test in tested for end in _ends(test)]
    axis = axis_of([*(row.delta for row in (total, *rows)), *ends], signed=True)
    show_html(
        bucket_list(
            [pair_row(choice, row, tests.of(row)) for row in (total, *drawn)],
            ("Bucket, worst first", "queries that differ"),
            columns,
            axis,
            names,
            label=f"{heading}: difference by bucket, worst first",
        ),
        key_to_pair(tests, lead),
    )
    file = partial(pair_csv, choice, b, board, tests)
    offer(choice, board, file, "slices.csv")


def compare_in(board: Scoreboard, tests: PairTests, lead: Measure, facet: str) -> Comparison:
    """Compare two runs in a facet's buckets; by the measure that decides that is done already."""
    if lead == tests.deciding:
        return tests.by_facet[facet]
    return comparison.compare(board, tests.a, tests.b, [lead], facet)


def _worst_first(value: float, n: int, least: int) -> tuple[bool, bool, float]:
    undefined = math.isnan(value)
    return undefined, n < least, 0.0 if undefined else value


def _ends(test: DeltaTest) -> tuple[float, float]:
    return (test.interval.lo, test.interval.hi)


def pair_row(choice: SlicesChoice, row: Delta, test: DeltaTest) -> ListRow:
    """Return a bucket's row, or that of all queries."""
    differ = f"{row.wins + row.losses:,} of {row.n:,}"
    undefined = f", {row.undefined:,} undefined" if row.undefined else ""
    interval = format_delta_interval(test.interval)
    p = f"; interval {interval}, p {format_p_value(test.p_corrected)}" if test.tests else ""
    words = (
        f"A {format_number(row.a)}, B {format_number(row.b)}, B − A {format_signed(row.delta)}; "
        f"B wins {row.wins}, ties {row.ties}, loses {row.losses} (n {row.n:,}{undefined}){p}"
        f"; in A {rests_on_grades(choice, row.measure, row.unjudged_a, row.transferred_a)}"
        f"; in B {rests_on_grades(choice, row.measure, row.unjudged_b, row.transferred_b)}"
    )
    return ListRow(
        *named(choice, row),
        differ,
        row.delta,
        _ends(test),
        test.is_clear if test.tests else None,
        "a" if row.delta < 0 else "b",
        [
            format_number(row.a),
            format_number(row.b),
            format_signed(row.delta),
            short_reason(test) or interval,
        ],
        f"{words}; {test.reason}" if test.reason else words,
        row.n < choice.least,
        row.bucket is None,
    )


def rests_on_grades(choice: SlicesChoice, measure: Measure, unjudged: int, transferred: int) -> str:
    """Count the chunks that nobody has graded and the grades that were transferred."""
    depth = choice.conventions.depth_of_unjudged(measure)
    counts = (describe_unjudged(unjudged, depth), describe_transferred(transferred))
    return ", ".join(filter(None, counts))


def short_reason(test: DeltaTest) -> str:
    """Return why a difference has no interval, for a cell: hovering says it in full."""
    if test.tests:
        return "too few differ" if math.isnan(test.interval.lo) else ""
    return "too few to test" if "too few" in test.reason else "not tested"


def named(choice: SlicesChoice, row: Delta | Score) -> tuple[htpy.Node, str]:
    """Return what a row is called, as a link to its queries, and of which facet it is."""
    if row.bucket is None or row.facet is None:
        return "All queries", ""
    name = htpy.bdi[row.bucket]
    return htpy.a(href=choice.bucket_url(row.facet, row.bucket), title=row.bucket)[name], row.facet


def key_to_pair(tests: PairTests, lead: Measure) -> htpy.Node:
    """Return what the marks of the list mean."""
    if lead != tests.deciding:
        return key_to_marks(
            [("plain", "not tested: buckets are tested by the measure that decides")]
        )
    many = len(tests.tested_buckets)
    return key_to_marks(
        [("filled", "clear: the interval excludes 0"), ("", "not clear"), ("plain", "not tested")],
        f"Intervals of buckets are corrected for {format_count(many, 'bucket', 'buckets')}.",
    )


def say_where_b_loses(
    choice: SlicesChoice, found: Comparison, tests: PairTests, board: Scoreboard
) -> None:
    """Say in how many buckets B loses clearly, as Compare does, where most, and what is next."""
    names = (choice.short[choice.a], choice.short[tests.b])
    by = found.conventions.heading(tests.deciding or found.measures[0])
    said = comparison.describe_buckets(tests, names)
    answer = next((each for each in said if each.kind == "bucket losses"), None)
    rest = [each for each in said if each is not answer]
    figure, doubts = largest_fall(choice, tests, by)
    total = tests.total or found.deltas[0]
    show_html(
        verdict_block(
            "No bucket can be compared." if answer is None else answer.sentence,
            figure,
            doubts,
            counts_of(board, total.n, total.undefined),
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
) -> tuple[tuple[str, htpy.Node] | None, list[htpy.Node]]:
    """Return the largest fall in a bucket that is tested, with what it is, and how sure it is."""
    rows = clear_losses(tests) or tests.tested_buckets
    if not rows:
        return None, []
    row = min(rows, key=lambda each: each.delta)
    test, what = tests.of(row), "the largest fall" if row.delta < 0 else "the smallest gain"
    is_largest = all(row.delta <= each.delta for each in tests.tested_buckets)
    what = what if is_largest else f"{what} that is clear"
    differ = f"{test.differ:,} of {row.n:,} queries differ"
    figure = f"{heading} in {row.facet} = {row.bucket}, {what}: {differ}."
    if row.delta >= 0:
        return (format_signed(row.delta), figure), ["No bucket large enough to test has fallen."]
    many = format_count(test.tests, "bucket", "buckets")
    sure = "It is more than chance" if test.is_clear else "It could be chance"
    reach = "excludes" if test.is_clear else "includes"
    worse = format_count(row.losses, "query that got worse", "queries that got worse")
    link = htpy.a(href=choice.bucket_url(str(row.facet), row.bucket))["the ", worse]
    doubt = [f"{sure}: corrected for {many}, its interval {reach} 0. Look there first: ", link, "."]
    return (format_signed(row.delta), figure), [doubt]


def counts_of(board: Scoreboard, n: int, undefined: int) -> str:
    """Return of how many queries the numbers are, and why others are not among them."""
    every, judged = board.counts.queries, board.counts.judged
    out = [
        f"{every - judged:,} not graded" if every > judged else "",
        f"{undefined:,} with nothing relevant" if undefined else "",
    ]
    left = f" ({', '.join(filter(None, out))})" if any(out) else ""
    return f"{n:,} of {format_count(every, 'query', 'queries')}{left}"


def cautions(choice: SlicesChoice, board: Scoreboard) -> Sequence[Statement]:
    """Return how the means of these runs mislead, over all queries."""
    lead = [choice.lead] if choice.lead else choice.measures[:1]
    return find_cautions(board, lead, runs=choice.runs, settings=choice.settings)


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


def show_one_run(choice: SlicesChoice, board: Scoreboard) -> None:
    """Show one run's buckets by their level, the lowest first."""
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
    rows.sort(key=lambda row: _worst_first(row.value, row.n, least))
    say_lowest(choice, board, rows, total, between)
    drawn = url_state.choose_part(choice.in_same_order(rows, lead), ON_A_PAGE)
    heading = choice.conventions.heading(lead)
    every = count_queries(board, facets)
    places = [(row, (row.facet, row.bucket)) for row in (total, *drawn)]
    listed = [(row, between.get(place, NO_ENDS), every[place]) for row, place in places]
    sized = [(row.facet, row.bucket) for row in (total, *rows) if row.n >= least]
    ends = [end for place in sized for end in between.get(place, NO_ENDS)]
    show_html(
        bucket_list(
            [level_row(choice, *each) for each in listed],
            ("Bucket, lowest first", "queries"),
            [
                ListColumn("mean", heading, wide_only=False),
                ListColumn("95% interval", is_range=True),
            ],
            axis_of([*(row.value for row in (total, *rows)), *ends], signed=False),
            label=f"{heading} by bucket, lowest first",
        ),
        key_to_marks(
            [
                ("filled", "mean with the 95% interval of each bucket alone; nothing is tested"),
                ("plain", f"fewer than {format_count(least, 'query', 'queries')}: no interval"),
            ]
        ),
    )
    offer(choice, board, partial(means_csv, choice, board), "slices.csv")


def count_queries(board: Scoreboard, facets: Sequence[str]) -> Counter[Place]:
    """Return how many queries each bucket has, whether they are graded or not, and all together."""
    found: Counter[Place] = Counter({(None, None): len(board.collection.query_ids)})
    for facet in facets:
        found.update((facet, bucket) for bucket in board.collection.facets[facet])
    return found


def level_row(choice: SlicesChoice, row: Score, ends: tuple[float, float], every: int) -> ListRow:
    """Return a bucket's row, or that of all queries, of one run; ``every`` query is of it."""
    is_few = row.n < choice.least
    undefined = f", {row.undefined:,} undefined" if row.undefined else ""
    between = f"{format_number(ends[0])} to {format_number(ends[1])}"
    has_interval = not math.isnan(ends[0])
    reach = f"; 95% interval {between}" if has_interval else ""
    grades = rests_on_grades(choice, row.measure, row.unjudged, row.transferred)
    words = f"{format_number(row.value)} (n {row.n:,}{undefined}){reach}; {grades}"
    said = "too few" if is_few else between if has_interval else "–"
    return ListRow(
        *named(choice, row),
        f"{row.n:,} of {every:,}",
        row.value,
        NO_ENDS if is_few else ends,
        None if is_few else True,
        "a",
        [format_number(row.value), said],
        row.reason or words,
        is_few,
        row.bucket is None,
    )


def say_lowest(
    choice: SlicesChoice,
    board: Scoreboard,
    rows: Sequence[Score],
    total: Score,
    between: Mapping[Place, tuple[float, float]],
) -> None:
    """Say in which bucket the run is lowest, how sure that is, and where to begin."""
    run, heading = choice.short[choice.a], choice.conventions.heading(total.measure)
    counts = counts_of(board, total.n, total.undefined)
    sized = [row for row in rows if row.n >= choice.least and not math.isnan(row.value)]
    if len({row.value for row in sized}) < 2:
        few = f"No two buckets of {run} have {choice.least:,} queries and differ."
        figure = (format_number(total.value), f"{heading} over all queries.")
        show_html(verdict_block(few, figure, [], counts))
    else:
        row = sized[0]
        of = format_count(row.n, "query", "queries")
        whole = f"all {total.n:,}: {format_number(total.value)}"
        lo, hi = between.get((row.facet, row.bucket), NO_ENDS)
        level = f"With {of} the 95% interval is {format_number(lo)} to {format_number(hi)}, and the"
        link = htpy.a(href=choice.bucket_url(str(row.facet), row.bucket))[
            "its queries, worst first"
        ]
        doubt = [
            "The" if math.isnan(lo) else level,
            " lowest of many buckets tends to look lower than it is. Start with ",
            link,
            ".",
        ]
        says = f"{run} scores lowest in {row.facet} = {row.bucket}."
        figure = (format_number(row.value), f"{heading} on {of}; {whole}.")
        show_html(verdict_block(says, figure, [doubt], counts))
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

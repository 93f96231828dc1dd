"""The buckets on Slices: one run's, B against A, two facets that cross, and keywords by bucket."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import htpy
import streamlit as st

from labeler.analysis import comparison
from labeler.analysis.cautions import find_cautions
from labeler.analysis.comparison import (
    Comparison,
    Delta,
    PairTests,
    ShownPair,
)
from labeler.analysis.keywords import describe_keyword_conventions, keyword_means
from labeler.evaluation import Score, Scoreboard
from labeler.measures import Measure
from labeler.model import capitalize_first, format_count
from labeler.render import csv_exports, tables
from labeler.render.markup import show_html
from labeler.stats import IntervalsByPlace, UnjudgedRange, mean_intervals
from labeler.ui import filter_widgets, keyword_cache, scoreboards, url_state
from labeler.ui import shared as ui
from labeler.ui.deep_links import describe_lowest, target_url
from labeler.ui.slices.choices import Counted, SlicesChoice

MOST_DRAWN, MOST_ACROSS = 40, 12  # buckets in a picture, and columns where two facets cross
ON_A_PAGE = 200  # rows of a table
RowT = TypeVar("RowT")
BucketRowT = TypeVar("BucketRowT", Score, Delta)


def show_one_run(choice: SlicesChoice, board: Scoreboard) -> None:
    """Show one run's buckets: a picture, each measure on a scale of its own, and the numbers."""
    a, facet, least = choice.a, choice.facet, choice.least
    rows = [row for row in board.table(choice.measures, facet) if row.run == a]
    totals = [row for row in board.table(choice.measures) if row.run == a]
    buckets = list(board.facets[facet])
    first = [row for row in rows if row.measure == totals[0].measure]
    drawn = buckets
    worst = comparison.lowest_first(first, least)
    lowest = describe_lowest(worst[0], first, least, choice.conventions, choice.bucket_url)
    show_html(tables.sentences(lowest), say_cautions(choice, board))
    if len(buckets) > MOST_DRAWN:
        drawn = choice.in_same_order(worst, totals[0].measure)[:MOST_DRAWN]
    key = (*scoreboards.cache_key(board, choice.measures), a, facet)
    intervals = _intervals(key, board, choice.measures, a, facet)
    rules: dict[str, Any] = {"facet": facet, "least": least, "link": choice.bucket_url}
    rules["intervals"] = intervals
    bands = scoreboards.bucket_ranges(board, [a], choice.measures, facet)
    spreads = tables.spreads_of_means(bands, intervals)
    behind = {place[1:]: spread for place, spread in spreads.items()}
    show_html(tables.mean_plot(rows, totals, drawn, choice.conventions, spreads=behind, **rules))
    heading = choice.conventions.heading(totals[0].measure)
    order = f", lowest {heading} first{choice.few_come_last(first)}"
    explain(
        choice,
        f"Means of {choice.short[a]}{'' if drawn == buckets else order}. "
        f"{tables.SHADES if choice.any_shaded(rows) else ''}Hovering a mean "
        "says its 95% interval, which covers the choice of queries, not unjudged "
        "chunks or graders; all "
        f"numbers in a table say it, too.{whose_n(rows, heading)}",
        rows,
        len(buckets) - len(drawn),
        bands=bands,
    )
    if part := choose_table_part(buckets):
        show_html(tables.slice_table(in_order(rows, part), totals, choice.conventions, **rules))
    file = partial(csv_exports.score_csv, [*rows, *totals], board.conventions)
    offer(choice, board, partial(file, intervals=intervals, bands=bands), "slices.csv")


def show_pair(choice: SlicesChoice, b: str, board: Scoreboard) -> None:
    """Show B against A: what moves against the total in words, the differences as dots, numbers."""
    a, facet, conventions = choice.a, choice.facet, choice.conventions
    with url_state.stale_if_incomparable("b"):
        found = comparison.compare(board, a, b, choice.measures, facet)
    tests = scoreboards.pair_tests(board, a, b, choice.settings)
    say_where_b_loses(found, (choice.short[a], choice.short[b]), tests)
    show_html(say_cautions(choice, board))
    buckets = choice.in_same_order(comparison.worst_first(found, choice.least), found.measures[0])
    drawn = buckets[:MOST_DRAWN]
    rules: dict[str, Any] = {"least": choice.least, "link": choice.bucket_url}
    bands = scoreboards.pair_ranges(board, a, b, choice.measures, facet)
    spreads = tables.delta_spreads(bands[1], tests, [*found.deltas, *found.buckets])
    show_html(tables.delta_plot(found, drawn, tests, spreads=spreads, **rules))
    first = [row for row in found.buckets if row.measure == found.measures[0]]
    heading = conventions.heading(found.measures[0])
    explain(
        choice,
        f"B − A over the queries of each bucket, worst {heading} first"
        f"{choice.few_come_last(first)}: left "
        "of the line B is worse. Filled is clear, hollow is not, grey is not tested: "
        f"{comparison.SIGNIFICANCE_RULE}. {capitalize_first(comparison.COVERAGE_NOTE)}. Hovering a "
        "dot says its test and interval, and so do all numbers in a table. "
        f"{tables.GOES_ON}{whose_n(found.buckets, heading)}",
        found.buckets,
        len(buckets) - len(drawn),
        bands=bands[1],
    )
    if part := choose_table_part(buckets):
        headings = {conventions.heading(measure): measure for measure in found.measures}
        of = url_state.choose_tab("Measure", list(headings), "of")
        some = replace(found, buckets=tuple(in_order(found.buckets, part)))
        show_html(tables.slice_pair_table(some, headings[of], choice.short, tests, **rules))
    shown = ShownPair(found, [*found.deltas, *found.buckets], tests, bands)
    offer(choice, board, lambda: csv_exports.comparison_csv(shown), "slices.csv")


@st.cache_data(max_entries=20, show_spinner=False)
def _intervals(
    at: tuple[Hashable, ...],
    _board: Scoreboard,
    _measures: Sequence[Measure],
    _run: str,
    _facet: str,
) -> IntervalsByPlace:
    """Return the interval of each of a run's means, over all queries and in each bucket.

    ``at`` holds all that they rest on.
    """
    of_all, of_buckets = (
        mean_intervals(_board, _measures, each, runs=[_run]) for each in (None, _facet)
    )
    return {**of_all, **of_buckets}


def say_cautions(choice: SlicesChoice, board: Scoreboard) -> htpy.Fragment:
    """Say how the means of these runs mislead, over all queries."""
    found = find_cautions(board, choice.measures, runs=choice.runs, settings=choice.settings)
    return tables.statements_html(found)


def say_where_b_loses(found: Comparison, names: tuple[str, str], tests: PairTests) -> None:
    """Say in how many buckets B loses clearly, as Compare does; a bucket leads to its queries."""
    by = found.conventions.heading(tests.deciding or found.measures[0])
    said = comparison.describe_buckets(tests, names)
    show_html(tables.statements_html(said, partial(target_url, compared=found, by=by)))


def show_crossed(choice: SlicesChoice, other: str, board: Scoreboard) -> None:
    """Show where two facets cross, by the first measure."""
    facet, runs, is_pair = choice.facet, choice.runs, choice.b is not None
    if choice.b is not None:
        comparison.check_pair(board, choice.a, choice.b)
    [measure, *_] = board.resolve(choice.measures)
    cells = comparison.cross_facets(board, runs, measure, facet, other)
    rows, columns = list(board.facets[facet]), list(board.facets[other])
    drawn, across = rows[:MOST_DRAWN], columns[:MOST_ACROSS]
    rules: dict[str, Any] = {"least": choice.least, "link": choice.bucket_url}
    what = "B − A" if is_pair else f"mean of {choice.short[choice.a]}"
    st.text(f"{choice.conventions.heading(measure)}: {what} by {facet} and {other}")
    show_html(tables.crossed_plot(cells, drawn, across, facet=facet, **rules))
    how = "Left of the line B is worse. " if is_pair else ""
    if not is_pair and choice.any_shaded(cells):
        how = "A shade is from the lowest mean to the highest of those that are not greyed. "
    left = (len(rows) - len(drawn), len(columns) - len(across))
    explain(choice, f"{how}n is of the whole row.", cells, *left)
    filled = [cell for cell in cells if cell.n + cell.undefined]
    if part := choose_table_part(filled):
        show_html(tables.crossed_table(part, runs, choice.short, (facet, other), **rules))
    file = partial(csv_exports.crossed_facets_csv, cells, runs, measure, (facet, other))
    offer(choice, board, partial(file, board.conventions), "crossed.csv")


def show_by_keyword(choice: SlicesChoice, board: Scoreboard) -> None:
    """Show without grades where the keywords of each bucket's queries turn up, if asked to."""
    if not url_state.switch("Keywords by bucket, without grades", "keywords"):
        return
    k, facet = keyword_cache.choose_depth(), choice.facet
    at = keyword_cache.KeywordKey.of(board)
    found, unusable = keyword_cache.keyword_values(at, False, k, tuple(choice.runs), board)
    if not any(found.values()):
        keyword_cache.say_nothing_found(at, unusable)
        return
    ids = board.collection.query_ids
    bucket_of = dict(zip(ids, board.collection.facets[facet], strict=True))
    buckets = list(board.facets[facet])
    totals, means = keyword_means(found), keyword_means(found, bucket_of, buckets)
    show_html(tables.keyword_slices(means, totals, facet, k))
    show_html(
        tables.small_print([describe_keyword_conventions(k, substring=False), unusable or ""])
    )


def explain(
    choice: SlicesChoice,
    said: str,
    rows: Iterable[Counted],
    rows_left: int,
    columns_left: int = 0,
    bands: Mapping[Any, UnjudgedRange] | None = None,
) -> None:
    """Say under a picture of ``rows`` how to read it and its ranges, and what is left out."""
    facet, other = choice.facet, choice.other
    left = [
        format_count(rows_left, f"more bucket of {facet}", f"more buckets of {facet}"),
        format_count(columns_left, f"more of {other}", f"more of {other}"),
    ]
    left = [words for words, count in zip(left, (rows_left, columns_left), strict=True) if count]
    beyond = f"{' and '.join(left)}: in the table and in the file." if left else ""
    any_few = any(0 < row.n < choice.least for row in rows)
    greyed = f"Greyed: fewer than {choice.least} queries." if any_few else ""
    is_open = any(band.is_open for band in (bands or {}).values())
    show_html(tables.small_print([said, greyed, beyond, *([tables.BAND_WORDS] if is_open else [])]))


def whose_n(rows: Iterable[Score | Delta], heading: str) -> str:
    """Say by which measure n beside a bucket is, where others rest on other queries."""
    sizes = {(row.bucket, row.n) for row in rows}
    if len(sizes) == len({bucket for bucket, _ in sizes}):
        return ""
    return f" n beside a bucket is by {heading}; hovering a number says its own."


def in_order(rows: Iterable[BucketRowT], buckets: Iterable[str]) -> list[BucketRowT]:
    """Return the rows of these buckets, in their order."""
    places: dict[str | None, int] = {bucket: place for place, bucket in enumerate(buckets)}
    return sorted((row for row in rows if row.bucket in places), key=lambda r: places[r.bucket])


def choose_table_part(rows: Sequence[RowT]) -> Sequence[RowT]:
    """Let the user ask for the table behind a picture; return its page of ``rows``, else none."""
    with st.container(horizontal=True, vertical_alignment="center"):
        if not url_state.switch("All numbers in a table", "numbers"):
            return []
        return url_state.choose_part(rows, ON_A_PAGE)


def offer(choice: SlicesChoice, board: Scoreboard, content: Callable[[], bytes], name: str) -> None:
    """Say by which conventions the numbers were made, who is left out, and offer them as a file."""
    notes = [note.sentence for note in board.notes(choice.measures) if note.is_about(*choice.runs)]
    for each in filter(None, (choice.facet, choice.other)):
        if left_out := board.unbucketed(each):
            who = format_count(left_out, "judged query has", "judged queries have")
            where = "" if choice.other else ", but in the row of all queries"
            notes.insert(0, f"{who} no {each}: in no bucket{where}")
    if url_state.get("weighted"):
        notes.append(filter_widgets.NOT_WEIGHTED_HERE)
    show_html(
        tables.small_print([board.conventions.sentence, *(f"· {note}" for note in notes)]),
        tables.folded_names(choice.short, choice.runs),
    )
    ui.offer("Download as CSV", content, name, board.revision)

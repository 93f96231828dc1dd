"""Details of Slices, shown on request: bucket by measure, two crossed facets, and keywords."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import streamlit as st

from labeler.analysis import comparison
from labeler.analysis.comparison import Delta
from labeler.analysis.keywords import describe_keyword_conventions, keyword_means
from labeler.evaluation import Score, Scoreboard
from labeler.model import format_count
from labeler.render import csv_exports, tables
from labeler.render.markup import show_html
from labeler.ui import keyword_cache, scoreboards, url_state
from labeler.ui.slices.choices import Counted, SlicesChoice
from labeler.ui.slices.files import intervals_of

MOST_DRAWN, MOST_ACROSS = 40, 12  # buckets in a picture, and columns of two crossed facets
ON_A_PAGE = 200  # rows of a table
HOLLOW = "Filled: clear; hollow: could be chance; grey: not tested. The list above has intervals."


def show_every_measure(choice: SlicesChoice, board: Scoreboard) -> None:
    """Show each measure in the buckets of every chosen facet, each on its own scale.

    With two runs, the facet with the largest loss is first.
    """
    facets = choice.facets_of(board)
    if choice.b is None:
        are_shaded = [show_means(choice, facet, board) for facet in facets]
        shades = tables.SHADES if any(are_shaded) else ""
        how = f"Means of {choice.short[choice.a]}. {shades}"
    else:
        tests = scoreboards.pair_tests(board, choice.a, choice.b, choice.settings)
        first = comparison.facet_to_open(tests)
        for facet in sorted(facets, key=lambda each: each != first):
            show_differences(choice, choice.b, facet, board)
        how = f"Left of the line {choice.short[choice.b]} is worse. {HOLLOW}"
    show_html(tables.small_print([how]))


def show_means(choice: SlicesChoice, facet: str, board: Scoreboard) -> bool:
    """Show the means of one run in a facet's buckets; return whether any has a shade."""
    a, least, conventions = choice.a, choice.least, choice.conventions
    rows = [row for row in board.table(choice.measures, facet) if row.run == a]
    totals = [row for row in board.table(choice.measures) if row.run == a]
    buckets = list(board.facets[facet])
    first = [row for row in rows if row.measure == totals[0].measure]
    drawn = buckets
    if len(buckets) > MOST_DRAWN:
        worst = set(comparison.lowest_first(first, least)[:MOST_DRAWN])
        drawn = [bucket for bucket in buckets if bucket in worst]
    intervals = intervals_of(board, choice.measures, a, facet)
    rules: dict[str, Any] = {"facet": facet, "least": least, "intervals": intervals}
    rules["link"] = partial(choice.bucket_url, facet)
    show_html(tables.mean_plot(rows, totals, drawn, conventions, **rules))
    of_first = whose_n(rows, conventions.heading(totals[0].measure))
    explain(choice, facet, of_first, rows, len(buckets) - len(drawn))
    return choice.any_shaded(rows)


def show_differences(choice: SlicesChoice, b: str, facet: str, board: Scoreboard) -> None:
    """Show B - A in a facet's buckets as dots, by each measure."""
    found = comparison.compare(board, choice.a, b, choice.measures, facet)
    tests = scoreboards.pair_tests(board, choice.a, b, choice.settings)
    buckets = comparison.worst_first(found, choice.least)
    drawn = buckets[:MOST_DRAWN]
    rules: dict[str, Any] = {"least": choice.least, "link": partial(choice.bucket_url, facet)}
    show_html(tables.delta_plot(found, drawn, tests, **rules))
    heading = choice.conventions.heading(found.measures[0])
    first = [row for row in found.buckets if row.measure == found.measures[0]]
    explain(
        choice,
        facet,
        f"Worst {heading} first{choice.few_come_last(first)}.{whose_n(found.buckets, heading)}",
        found.buckets,
        len(buckets) - len(drawn),
    )


def show_crossed(
    choice: SlicesChoice, facet: str, other: str, board: Scoreboard
) -> tuple[Callable[[], bytes], Callable[[], None]]:
    """Show two crossed facets by the first measure.

    Return the content of the file, and a function that shows all numbers in a table.
    """
    runs, is_pair = choice.runs, choice.b is not None
    if choice.b is not None:
        comparison.check_pair(board, choice.a, choice.b)
    [measure, *_] = board.resolve(choice.measures)
    cells = comparison.cross_facets(board, runs, measure, facet, other)
    rows, columns = list(board.facets[facet]), list(board.facets[other])
    drawn, across = rows[:MOST_DRAWN], columns[:MOST_ACROSS]
    rules: dict[str, Any] = {"least": choice.least, "link": partial(choice.bucket_url, facet)}
    run = choice.short[choice.b or choice.a]
    what = f"{run} − {choice.short[choice.a]}" if is_pair else f"mean of {run}"
    st.text(f"{choice.conventions.heading(measure)}: {what} by {facet} and {other}")
    show_html(tables.crossed_plot(cells, drawn, across, facet=facet, **rules))
    how = f"Left of the line {run} is worse. " if is_pair else ""
    if not is_pair and choice.any_shaded(cells):
        how = "Shades run from the lowest to the highest mean that is not greyed. "
    left = (len(rows) - len(drawn), len(columns) - len(across))
    explain(choice, facet, f"{how}n counts the whole row.", cells, *left)

    def show_numbers() -> None:
        filled = [cell for cell in cells if cell.n + cell.undefined]
        part = url_state.choose_part(filled, ON_A_PAGE)
        show_html(tables.crossed_table(part, runs, choice.short, (facet, other), **rules))

    file = partial(csv_exports.crossed_facets_csv, cells, runs, measure, (facet, other))
    return partial(file, board.conventions), show_numbers


def show_by_keyword(choice: SlicesChoice, facet: str, board: Scoreboard) -> None:
    """Show the ranks of keywords by bucket, which need no grades."""
    k = keyword_cache.choose_depth()
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
    facet: str,
    said: str,
    rows: Iterable[Counted],
    rows_left: int,
    columns_left: int = 0,
) -> None:
    """Explain a picture of ``rows``, and say what it leaves out."""
    other = choice.other
    left = [
        format_count(rows_left, f"more bucket of {facet}", f"more buckets of {facet}"),
        format_count(columns_left, f"more of {other}", f"more of {other}"),
    ]
    left = [words for words, count in zip(left, (rows_left, columns_left), strict=True) if count]
    beyond = f"{' and '.join(left)}: in the file." if left else ""
    any_few = any(0 < row.n < choice.least for row in rows)
    greyed = f"Greyed: fewer than {choice.least} queries." if any_few else ""
    show_html(tables.small_print([said, greyed, beyond]))


def whose_n(rows: Iterable[Score | Delta], heading: str) -> str:
    """Name the measure whose n is beside a bucket, if other measures have another n."""
    sizes = {(row.bucket, row.n) for row in rows}
    if len(sizes) == len({bucket for bucket, _ in sizes}):
        return ""
    return f" n beside a bucket is for {heading}; hover over a number for its own."

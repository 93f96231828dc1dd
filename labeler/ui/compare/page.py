"""The Compare page: choices, and below them the answer, the queries and the files, live."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import streamlit as st

from labeler import evaluation
from labeler.analysis import comparison
from labeler.analysis.comparison import ComparisonView
from labeler.evaluation import Conventions, Scoreboard
from labeler.evaluation.measure_guidance import has_graded_chunkings
from labeler.measures import Measure
from labeler.model import Settings, Traffic
from labeler.render.name_parts import called
from labeler.render.short_names import short_names
from labeler.ui import filter_widgets, live, scoreboards, url_state
from labeler.ui import shared as ui
from labeler.ui.compare.details import details_of
from labeler.ui.compare.one_query import show_one
from labeler.ui.compare.summary import offer_files, show_answer
from labeler.ui.compare.views import ALL_MEASURES, show_more, show_queries, with_outcome

EACH_THE_SAME = (
    "The means are weighted. In lists, in sums and in the report each query counts the same."
)


@dataclass(frozen=True, slots=True)
class CompareChoice:
    """What the page shows: runs B and A, further runs, the measures, and the queries.

    ``by_text`` is the measure that sorts the queries, ``traffic`` the weights of means, and
    ``short`` are the runs' short names.
    """

    a: str
    b: str
    also: Sequence[str]
    measures: Sequence[Measure]
    by_text: str
    sort: str
    facet: str | None
    bucket: str | None
    conventions: Conventions
    traffic: Traffic | None
    short: Mapping[str, str]


def show_page() -> None:
    """Show the page, or say which data it needs."""
    with ui.open_store() as store:
        settings = scoreboards.shown_settings(store)
        board = scoreboards.read_board(store, settings)
    texts = query_texts(ui.database(), board.data_revision, url_state.get("golden"))
    left_out = [run.name for run in board.collection.runs_left_out]
    names = [*scoreboards.best_first(board, settings), *left_out]
    if len(names) < 2:
        ask_for_runs(names)
    live.follow(partial(show_compared, choose(board, names, settings), texts, settings.words))


@st.cache_resource(max_entries=4, show_spinner=False)
def query_texts(path: str, data_revision: int, golden: str | None) -> dict[str, str]:
    """Return each query's text on one line."""
    with ui.open_store() as store:
        queries = scoreboards.shown_queries(store)
    return {query.query_id: " ".join(query.text.split()) for query in queries}


def ask_for_runs(names: Sequence[str]) -> None:
    """End the page if there are no two runs, and say what is missing."""
    if names:
        heading, what = "There is only one run", f"To compare {names[0]}, load another."
    else:
        heading, what = "There is no run to compare yet", "A comparison needs two runs."
    ui.say_empty(heading, what, "labeler load run FILE")
    st.stop()


def choose(board: Scoreboard, names: Sequence[str], settings: Settings) -> CompareChoice:
    """Let the user choose; A and B stay visible, other choices are one line with a fold."""
    short = short_names(names)
    with filter_widgets.row():
        a, b = choose_runs(names)
        also = choose_also([name for name in names if name not in (a, b)], names, short)
        with filter_widgets.folded() as say:
            tasks = filter_widgets.tasks_shown()
            usual = filter_widgets.usual_measures(board, settings, [a, b, *also])
            if url_state.get("show") == ALL_MEASURES:
                usual = list(dict.fromkeys([*usual, *evaluation.DEFAULT_MEASURES]))
            texts = filter_widgets.choose_measures(
                filter_widgets.default_measures(settings, tasks, usual)
            )
            are_drawn = texts == filter_widgets.tested_measures(settings)
            by_text = url_state.choose(
                *("By measure", texts, "by"),
                help="The one measure that sorts the queries and whose difference is explained.",
            )
            called_b = short_names((a, b))[b]
            sort = url_state.choose(
                *("Order", comparison.QUERY_SORTS, "sort"),
                what="order",
                format_func=lambda each: name_order(each, called_b),
            )
            facet, bucket = filter_widgets.choose_bucket(board.facets)
            conventions = filter_widgets.choose_conventions(settings, across=True)
            conventions = conventions.across(board.collection, [a, b, *also])
            traffic = filter_widgets.choose_traffic(board.facets)
    say(
        filter_widgets.say_selection(conventions),
        filter_widgets.say_traffic(traffic),
        filter_widgets.say_queries(facet, bucket),
        filter_widgets.say_wider(bucket),
        f"{name_order(sort, called_b)} by {by_text}",
        None if are_drawn else filter_widgets.say_measures(texts),
        filter_widgets.say_tasks(settings, tasks),
        filter_widgets.say_conventions(conventions),
        f"beside {', '.join(short[name] for name in also)}" if also else None,
    )
    with ui.guard():
        measures = filter_widgets.measures_of(conventions, texts)
    chosen = (a, b, also, measures, by_text, sort, facet, bucket, conventions, traffic)
    return CompareChoice(*chosen, {**short, **called([a, b, *also])})


def name_order(sort: str, b: str) -> str:
    """Return the name of an order of the queries, with the name of B.

    >>> [name_order(sort, "hybrid") for sort in comparison.QUERY_SORTS[:3]]
    ['worst for hybrid', 'best for hybrid', 'bucket']
    """
    first, of, last = sort.partition(" for ")
    return f"{first}{of}{b if last else ''}"


def choose_runs(names: Sequence[str]) -> tuple[str, str]:
    """Let the user choose run A and run B; the URL has them as ``a`` and ``b``.

    ``names`` are best first. By default B is the best and A the next one.
    """
    shown: dict[str, Any] = {"clears": ["chunking"], "label_visibility": "collapsed"}
    shown |= filter_widgets.run_box_options(names)
    taken = url_state.get("b") or (names[0] if url_state.get("a") is None else None)
    first = next(name for name in names if name != taken)
    a = url_state.choose("A", names, "a", what="run", default=first, always=True, **shown)
    other = next(name for name in names if name != a)
    b = url_state.choose("B", names, "b", what="run", default=other, always=True, **shown)
    return a, b


def choose_also(others: Sequence[str], names: Sequence[str], short: Mapping[str, str]) -> list[str]:
    """Let the user choose further runs beside A and B; the URL has them as ``also``."""
    if not others:
        url_state.check_some_of("also", names, "run")  # which says what is not there
        return []
    with filter_widgets.fold("Add a run", "add", of="-also"):
        return url_state.choose_some(
            *("Further runs", others, "also", "run"),
            known=names,
            format_func=short.get,
            placeholder="none",
            help="Further runs appear beside the two in means and ranks. Order and differences "
            "stay those of the two.",
        )


def show_compared(
    choice: CompareChoice,
    texts: Mapping[str, str],
    words: Sequence[str],
    say: Callable[[str], None],
) -> None:
    """Show both runs by the newest grades, and say how much is graded."""
    with ui.open_store() as store:
        board = scoreboards.live_board(store, choice.conventions)
    if not board.counts.grades:
        say(scoreboards.graded_line(board))
    view = even = unweighted_view(choice, board, texts)
    if choice.traffic is not None:
        view = weighted_view(choice, even, choice.traffic)
    has_values = board.counts.grades > 0 or even.compared.apart
    if not board.counts.grades and even.compared.apart:
        scoreboards.say_nothing_graded(board.conventions.selected, "No measure has a value")
    rows, outcome = with_outcome(even)
    if (query := url_state.get("query")) is not None:
        show_one(replace(even, rows=rows), query, words)
        return
    found = show_answer(view, choice.bucket)
    show_queries(even, rows, outcome)
    if choice.traffic is not None:
        st.caption(EACH_THE_SAME)
    show_more(even, details_of(view, choice.bucket, found) if has_values else {})
    if has_values:
        offer_files(view, choice.bucket, even)


def unweighted_view(
    choice: CompareChoice, board: Scoreboard, texts: Mapping[str, str]
) -> ComparisonView:
    """Return the comparison in which each query counts the same."""
    a, b, facet, bucket, sort = choice.a, choice.b, choice.facet, choice.bucket, choice.sort
    compared = comparison.compare(board, a, b, choice.measures, facet)
    [by] = board.resolve(choice.conventions.measures([choice.by_text])[:1])
    buckets = comparison.bucket_labels(board, facet)
    rows = compared.queries(by)
    if compared.apart and not has_graded_chunkings(board.collection, (a, b)):
        rows = [row._replace(a=math.nan, b=math.nan, delta=math.nan) for row in rows]
    if bucket is not None:
        rows = [row for row in rows if buckets[row.query_id] == bucket]
    rows = comparison.sort_queries(rows, sort, texts, buckets)
    asked = ("compare", a, b, str(by), sort, facet, bucket, repr(choice.conventions))
    rows = live.keep_order(rows, lambda row: row.query_id, asked)
    return ComparisonView(board, compared, by, rows, texts, buckets, choice.also, choice.short)


def weighted_view(choice: CompareChoice, even: ComparisonView, traffic: Traffic) -> ComparisonView:
    """Return the comparison ``even`` with means that are weighted by traffic."""
    board = even.board.weighted_by(traffic)
    found = comparison.compare(board, choice.a, choice.b, choice.measures, choice.facet)
    return replace(even, board=board, compared=found)

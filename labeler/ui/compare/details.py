"""Details of the answer on Compare: statistics, all numbers, and how they are computed."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Mapping
from functools import partial

import streamlit as st

from labeler.analysis import comparison
from labeler.analysis.comparison import (
    ENOUGH_CHANGED,
    Comparison,
    ComparisonView,
    Delta,
    DeltaTest,
    GraderSensitivity,
    PairTests,
    ShownPair,
)
from labeler.analysis.run_verdict import PairResult
from labeler.evaluation import NOT_WEIGHTED, NOTHING_RELEVANT
from labeler.measures import Measure
from labeler.model import SingleGrades, capitalize_first
from labeler.model.results import NUMBER, Column, Table
from labeler.paths import help_url
from labeler.render import csv_exports, tables
from labeler.render.markup import show_html
from labeler.render.tables.delta_picture import is_detail
from labeler.stats import DeltaRanges, MeanRanges
from labeler.ui import scoreboards
from labeler.ui import shared as ui
from labeler.ui.compare.views import COMPUTED, NUMBERS, STATISTICS
from labeler.ui.deep_links import target_url

NO_RANGES_ACROSS = (
    "There are no ranges over unjudged chunks here: chunks of two chunkings share text, so their "
    "grades depend on each other."
)
NO_WEIGHTED_RANGES = "There are no ranges over unjudged chunks for weighted differences."


def details_of(
    view: ComparisonView, bucket: str | None, found: PairResult
) -> Mapping[str, Callable[[], None]]:
    """Return the function that shows each detail, by its name, for all queries or one bucket."""
    lead, details = found.verdict.row, {}
    if lead is not None and not math.isnan(lead.delta):
        details[STATISTICS] = partial(show_statistics, view, found, lead)
    details[NUMBERS] = partial(show_numbers, view, bucket, found.tests)
    details[COMPUTED] = partial(show_computed, view)
    return details


def show_statistics(view: ComparisonView, found: PairResult, lead: Delta) -> None:
    """Show the statistics of the differences, further findings, and each grader's own grades."""
    link = partial(target_url, compared=view.compared, by=deciding_name(found, view.compared))
    said = comparison.describe_statistics(found.tests, lead)
    said += [each for each in found.statements if is_detail(each)]
    show_html(
        tables.statements_html(said, link),
        tables.statistics_table(comparison.statistics_table(found.tests, lead)),
    )
    if found.evidence.sensitivity is not None:
        show_sensitivity(view, found.evidence.sensitivity)


def deciding_name(found: PairResult, compared: Comparison) -> str:
    """Return the name of the deciding measure; links sort queries by it."""
    measure = found.verdict.measure or compared.measures[0]
    return compared.conventions.heading(measure)


def show_numbers(view: ComparisonView, bucket: str | None, tests: PairTests) -> None:
    """Show the means of all runs shown by each measure, with counts and ranges."""
    compared = view.compared
    names = (view.called(compared.a), view.called(compared.b))
    shown = comparison.comparison_table([shown_pair(view, bucket, tests)], names, names)
    columns = tuple(each for each in shown.columns if each.name != "bucket")  # the page is of one
    table = with_further_runs(Table(columns, shown.rows), view, bucket)
    show_html(tables.every_number_table(table, names))


def show_computed(view: ComparisonView) -> None:
    """Show how the numbers were computed, and what was left out of the runs."""
    told = [view.compared.conventions.sentence, comparison.COVERAGE_NOTE]
    told += [comparison.SIGNIFICANCE_RULE, comparison.METHODS_NOTE]
    across = [NO_RANGES_ACROSS] if view.board.collection.has_several_chunkings else []
    show_html(
        tables.sentences([*map(capitalize_first, told), *across, *notes_on_runs(view)]),
        tables.measure_meanings(view.compared.measures, help_url),
        tables.folded_names(view.names, view.runs),
    )


def shown_pair(view: ComparisonView, bucket: str | None, tests: PairTests) -> ShownPair:
    """Return the rows of the table of means, with their ranges over unjudged chunks."""
    compared = view.compared
    rows = compared.deltas
    if bucket is not None:
        rows = tuple(row for row in compared.buckets if row.bucket == bucket)
    return ShownPair(compared, rows, tests, ranges_of_view(view))


def with_further_runs(table: Table, view: ComparisonView, bucket: str | None) -> Table:
    """Return the table with a column of means for each run shown beside A and B."""
    compared = view.compared
    scores = view.board.table(compared.measures, compared.facet if bucket else None)
    means = {(row.run, str(row.measure)): row.value for row in scores if row.bucket == bucket}
    more = [Column(f"mean of {run}", view.called(run), NUMBER) for run in view.also]
    rows = [
        {**row, **{f"mean of {run}": means[run, row["full_name"]] for run in view.also}}
        for row in table.rows
    ]
    at = [column.name for column in table.columns].index("delta")
    return Table((*table.columns[:at], *more, *table.columns[at:]), rows)


def notes_on_runs(view: ComparisonView) -> list[str]:
    """Return notes on the runs shown: what was left out of them, or may surprise."""
    notes = [
        note.sentence
        for note in view.board.notes(view.compared.measures)
        if note.is_about(*view.runs) and note.kind != NOTHING_RELEVANT  # which the answer says
    ]
    return notes if view.board.weights is None else [*notes, NO_WEIGHTED_RANGES, NOT_WEIGHTED]


def ranges_of_view(view: ComparisonView) -> tuple[MeanRanges, DeltaRanges] | None:
    """Return the ranges over unjudged chunks for every row in the file; None if weighted."""
    compared = view.compared
    if view.board.weights is not None:
        return None
    return scoreboards.pair_ranges(
        view.board, compared.a, compared.b, compared.measures, compared.facet
    )


GRADERS_TITLE = "With other grades"
GRADERS_NOTE = (
    "Each row compares the same runs with other grades; where it has none, the golden grade "
    f"counts. A grader with fewer than {ENOUGH_CHANGED} differing grades is listed without a "
    "verdict. p is of that row alone."
)


class _SingleGrades:
    """The single grades of a golden set; only new ones are read."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: SingleGrades | None = None

    def read(self) -> SingleGrades:
        """Return the single grades as they are now."""
        with self._lock, ui.open_store() as store:
            known = self._known
            if known is None or known.revision != store.judgments.revision():
                known = self._known = store.activity.single_grades(known)
            return known


@st.cache_resource(max_entries=2, show_spinner=False)
def _single_grades(path: str, data_revision: int) -> _SingleGrades:
    return _SingleGrades()


@st.cache_data(max_entries=8, show_spinner=False)
def _survival(
    at: tuple[object, ...],
    tested: DeltaTest,
    bucket: str | None,
    _measure: Measure,
    _view: ComparisonView,
) -> GraderSensitivity:
    """Compare under every reading; cached until the next grade."""
    view = _view
    singles = _single_grades(ui.database(), view.board.data_revision).read()
    [found] = comparison.measure_sensitivity(
        view.board, view.compared, singles, [_measure], tested={_measure: tested}, bucket=bucket
    )
    return found


def sensitivity_of(
    view: ComparisonView, bucket: str | None, measure: Measure, tested: DeltaTest
) -> GraderSensitivity | None:
    """Return the difference by a measure under every reading; ``tested`` is the result as it is.

    None for a frozen golden set, which has only agreed grades, and for weighted means.
    """
    compared = view.compared
    if compared.conventions.frozen is not None or view.board.weights is not None:
        return None
    at = scoreboards.cache_key(view.board, [measure])
    asked = (compared.a, compared.b, compared.facet)
    return _survival((*at, *asked), tested, bucket, measure, view)


def show_sensitivity(view: ComparisonView, found: GraderSensitivity) -> None:
    """Show the difference with each grader's own grades, and offer all readings as a file."""
    told = [each for each in found.told if each.changed or each is found.golden]
    if found.why_not_told is not None:
        st.text(f"{capitalize_first(found.why_not_told)}.")
    if len(told) == 1:
        return
    names = (view.called(view.compared.a), view.called(view.compared.b))
    same = comparison.describe_unchanged_readings(found)
    show_html(
        tables.survival_table(told, found.heading, names, GRADERS_TITLE),
        tables.small_print([GRADERS_NOTE, f"{same}." if same else ""]),
    )
    ui.offer(
        "Download these readings as CSV",
        lambda: csv_exports.survival_csv([found], view.compared),
        "compare-graders.csv",
        view.board.revision,
    )

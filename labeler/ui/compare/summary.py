"""The answer on Compare: which run is better, how sure that is, where it loses, and the files."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

import htpy
import streamlit as st

from labeler.analysis import comparison
from labeler.analysis.active import Certainty
from labeler.analysis.cautions import find_cautions
from labeler.analysis.comparison import (
    CandidateOverlap,
    ComparisonView,
    DecisionRules,
    Delta,
    PairTests,
)
from labeler.analysis.comparison.verdict import TRANSFER
from labeler.analysis.run_verdict import (
    PairResult,
    PairSources,
    describe_pair,
    is_asked_for,
)
from labeler.evaluation import Scoreboard
from labeler.measures import Measure
from labeler.model import Settings, format_count
from labeler.render import csv_exports
from labeler.render.markup import show_html
from labeler.render.report import ReportRequest, ReportSource, make_report
from labeler.render.short_names import shorten_runs
from labeler.render.tables.delta_picture import (
    DeltaPicture,
    PictureRow,
    lost_buckets,
    verdict_html,
)
from labeler.stats import UnjudgedRange
from labeler.ui import assignment_cache, scoreboards, url_state
from labeler.ui import shared as ui
from labeler.ui.compare.decision import asks_for_grades, offer_deciding_grades
from labeler.ui.compare.details import deciding_name, sensitivity_of, shown_pair
from labeler.ui.compare.views import ALL_MEASURES
from labeler.ui.deep_links import target_url, transfer_step

ALSO_UNDEFINED = "also where nothing is relevant"


@st.cache_data(max_entries=100, show_spinner=False)
def candidate_overlap(
    path: str,
    data_revision: int,
    conventions: str,
    a: str,
    b: str,
    names: tuple[str, str],
    _board: Scoreboard,
) -> CandidateOverlap:
    """Return how B's candidates relate to A's; grades do not change it."""
    return comparison.compare_candidates(_board, a, b, names)


def judge_view(view: ComparisonView, bucket: str | None, settings: Settings) -> PairResult:
    """Return which of the two runs is better, over all queries or one bucket of the facet."""
    compared, board = view.compared, view.board
    a, b, facet = compared.a, compared.b, compared.facet
    names = (view.called(a), view.called(b))
    key = (board.data_revision, repr(compared.conventions), a, b, names)
    overlap = candidate_overlap(ui.database(), *key, board)
    within = None if bucket is None or facet is None else (facet, bucket)

    def band(measure: Measure) -> UnjudgedRange | None:
        ranges = scoreboards.pair_ranges(board, a, b, [measure], facet if bucket else None)
        return ranges[1].get((measure, bucket))

    def certainty(measure: Measure) -> Certainty:
        return assignment_cache.standing_of(board, a, b, measure, settings)

    asked = is_asked_for(settings, a, b)
    sources = PairSources(band, partial(sensitivity_of, view, bucket), certainty, asked)
    tests = scoreboards.pair_tests(board, a, b, settings)
    return describe_pair(board, tests, overlap, sources, names=names, within=within)


def show_answer(view: ComparisonView, bucket: str | None) -> PairResult:
    """Show which run is better, what could change that, and the picture; return the result.

    It is drawn from the top down, so that the text keeps its place while the rest is computed.
    """
    board, compared = view.board, view.compared
    with ui.open_store() as store:
        settings = scoreboards.shown_settings(store)
    runs, facet = (compared.a, compared.b), compared.facet if bucket else None
    with ui.reading(f"Comparing {view.called(compared.a)} with {view.called(compared.b)}…"):
        found = judge_view(view, bucket, settings)
        deciding = [found.tests.deciding] if found.tests.deciding is not None else []
        measures = [*deciding, *compared.measures]
        cautions = find_cautions(
            board, measures, runs=runs, facet=facet, bucket=bucket, settings=settings
        )
        picture = delta_picture(view, bucket, found)
        asked, shares = asks_for_grades(view, found, settings), judged_shares(view)
    link = partial(target_url, compared=compared, by=deciding_name(found, compared))
    said = [*found.statements, *(shorten_runs(each, view.names) for each in cautions)]
    step = transfer_step(said) or (None if asked else next_step(found.tests))
    # which a button says
    said = [each for each in said if each.kind not in (TRANSFER, asked and "useful grades")]
    with st.container(horizontal=True, vertical_alignment="top", key="answer"):
        with st.container(width="stretch"):
            show_html(verdict_html(said, link, shares, step, whole=picture is None))
        offer_deciding_grades(view, found, settings)
    if picture is not None:
        show_html(picture.html())
    return found


def next_step(tests: PairTests) -> htpy.Node:
    """Return the button that opens the buckets where B loses, or else the queries."""
    if tests.compared is None:
        return None
    if not tests.buckets:
        there = url_state.page_url("/queries", a=tests.a, b=tests.b)
        return htpy.a(".go", href=there)["See the queries that fail"]
    return htpy.a(".go", href=slices_url(tests))["See the buckets"]


def slices_url(tests: PairTests) -> str:
    """Return the address of all buckets of two runs."""
    places: dict[str, str | None] = dict.fromkeys(("bucket", "other", "crossing"))
    return url_state.page_url("/slices", **places, a=tests.a, b=tests.b)


def judged_shares(view: ComparisonView) -> str:
    """Say what share of each run's first ten results is judged; empty if none is."""
    board = view.board
    if not board.counts.grades:
        return ""
    [measure] = board.resolve(board.conventions.measures("Judged@10"))
    shares = {row.run: row.value for row in board.table([measure]) if not math.isnan(row.value)}
    said = [f"{view.called(run)} {shares[run]:.0%}" for run in view.runs if run in shares]
    return f"judged in the top 10: {', '.join(said)}" if said else ""


def delta_picture(
    view: ComparisonView, bucket: str | None, found: PairResult
) -> DeltaPicture | None:
    """Return the picture of the differences, over all queries or one bucket; None without any."""
    compared, tests = view.compared, found.tests
    lead = found.verdict.row
    if lead is None or math.isnan(lead.delta) or tests.compared is None:
        return None
    chosen = bool(url_state.get_each("measure")) or url_state.get("show") == ALL_MEASURES
    rows = [lead, *tests.others]
    if bucket is not None or chosen:
        of = compared.deltas if bucket is None else compared.buckets
        rows = [lead, *(row for row in of if row.measure != lead.measure and row.bucket == bucket)]
    means = means_beside(view, bucket, [row.measure for row in rows])
    measures = [
        PictureRow(
            *(row, compared.conventions.heading(row.measure)),
            "deciding measure" if row is lead else ALSO_UNDEFINED if row.n > lead.n else "",
            beside=means[row.measure],
        )
        for row in rows
    ]
    names = (view.called(compared.a), view.called(compared.b))
    buckets = [] if bucket is not None else [bucket_row(row) for row in lost_buckets(tests)]
    also = [view.called(run) for run in view.also]
    links = picture_links(tests, is_chosen=chosen, is_of_bucket=bucket is not None)
    return DeltaPicture(tests, compared.conventions, names, measures, buckets, also, links)


def means_beside(
    view: ComparisonView, bucket: str | None, measures: Sequence[Measure]
) -> dict[Measure, list[float]]:
    """Return the means of the runs beside A and B by each measure."""
    scores = view.board.table(measures, view.compared.facet if bucket else None)
    means = {(row.run, row.measure): row.value for row in scores if row.bucket == bucket}
    return {each: [means.get((run, each), math.nan) for run in view.also] for each in measures}


def bucket_row(row: Delta) -> PictureRow:
    """Return a bucket's row in the picture, which links to this page for that bucket."""
    href = url_state.this_page_url("/compare", facet=row.facet, bucket=row.bucket, query=None)
    return PictureRow(row, str(row.bucket), str(row.facet), href)


def picture_links(
    tests: PairTests, *, is_chosen: bool, is_of_bucket: bool
) -> list[tuple[str, str]]:
    """Return the links below the picture: all measures, and all buckets on Slices."""
    links = []
    if not is_of_bucket and not is_chosen:
        there = url_state.this_page_url("/compare", show=ALL_MEASURES)
        links.append(("All measures", there))
    elif url_state.get("show") == ALL_MEASURES:
        there = url_state.this_page_url("/compare", show=None)
        links.append(("Tested measures alone", there))
    if tests.buckets and not is_of_bucket:
        every = f"All {format_count(len(tests.buckets), 'bucket', 'buckets')}"
        links.append((every, slices_url(tests)))
    return links


def offer_files(view: ComparisonView, bucket: str | None, even: ComparisonView) -> None:
    """Offer a report for a review, and the numbers in full precision.

    The report is about ``even``, in which each query counts the same.
    """
    if view.also:
        names = " and ".join(map(view.called, view.runs[:2]))
        st.caption(f"The files have {names}; the file of Scores has the means of further runs.")
    # of which it says what may not be expected beside these numbers
    apart = {"of all queries": bucket is not None, "not weighted": even is not view}
    with st.container(horizontal=True):
        ui.offer(
            ", ".join(["Download a report", *(what for what, holds in apart.items() if holds)]),
            partial(report_of, even),
            "report.html",
            view.board.revision,
        )
        ui.offer(
            "Download the means as CSV",
            partial(means_csv, view, bucket),
            "compare.csv",
            view.board.revision,
        )
        ui.offer(
            "Download the queries as CSV",
            lambda: csv_exports.query_delta_csv(view.rows, view.compared, view.texts, view.buckets),
            "compare-queries.csv",
            view.board.revision,
        )


def means_csv(view: ComparisonView, bucket: str | None) -> bytes:
    """Return the means of all queries and of each bucket, first the means that the page shows."""
    with ui.open_store() as store:
        settings = scoreboards.shown_settings(store)
    compared = view.compared
    tests = scoreboards.pair_tests(view.board, compared.a, compared.b, settings)
    shown = shown_pair(view, bucket, tests)
    rest = [row for row in (*compared.deltas, *compared.buckets) if row not in shown.rows]
    return csv_exports.comparison_csv(replace(shown, rows=[*shown.rows, *rest]))


def report_of(view: ComparisonView) -> bytes:
    """Return the report of A and B by the measures of a page, the leading one first.

    It is over all queries; slices are by the facet of the page, or by all facets.
    """
    compared = view.compared
    measures = dict.fromkeys([view.by, *compared.measures])
    facets = () if compared.facet is None else (compared.facet,)
    frozen = compared.conventions.frozen
    day = datetime.now(UTC).date()
    with ui.open_store() as store:
        source = ReportSource(
            view.board,
            {query.query_id: query for query in scoreboards.queries_of_version(store, frozen)},
            store.remarks.current() if frozen is None else [],
            store.activity.single_grades() if frozen is None else None,
            store.chunks.with_text(),
            store.texts.numbered,
            {run: store.answers.right(run) for run in store.answers.runs()},
        )
        rules = DecisionRules.of(scoreboards.shown_settings(store))
        runs = (compared.a, compared.b)
        asked = ReportRequest(*runs, tuple(measures), day, facets, decision=rules)
        return make_report(source, asked)

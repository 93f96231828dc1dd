"""The answer on Compare: which run is better, how certain that is, where it loses, and the means.

Also: the certainty over possible grades of unjudged chunks, whether the answer holds under each
grader's own grades, and the files with all numbers.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

import htpy
import streamlit as st

from labeler.analysis import comparison
from labeler.analysis.active import (
    LEAST_GRADES,
    NO_FAIR_SAMPLE_NOTE,
    SETTLED_AT,
    Certainty,
    can_decide,
)
from labeler.analysis.active.certainty import CERTAINTY_MEANING, can_change, explain_certainty
from labeler.analysis.comparison import (
    ENOUGH_CHANGED,
    CandidateOverlap,
    ComparisonSummary,
    ComparisonView,
    GraderSensitivity,
    HeadlineResult,
    Significance,
)
from labeler.evaluation import NOT_WEIGHTED, NOTHING_RELEVANT, Scoreboard
from labeler.measures import Measure
from labeler.model import (
    ACTIVE_OF_TWO,
    QUERY_BY_QUERY,
    Settings,
    SingleGrades,
    capitalize_first,
    format_count,
)
from labeler.render import csv_exports, tables
from labeler.render.markup import show_html
from labeler.render.report import ReportRequest, ReportSource, make_report
from labeler.stats import DeltaRanges, MeanRanges
from labeler.ui import assignment_cache, links, scoreboards, url_state
from labeler.ui import shared as ui
from labeler.ui.deep_links import describe_losses, with_links

RUN_LETTERS = ("A", "B")  # what sentences call the runs, which the table names
MOST_CONTRADICTIONS = 3
NO_RANGES_ACROSS = (
    "What unjudged chunks could make of these numbers is not drawn: chunks of two "
    "chunkings share text, and nobody knows how their grades will go together."
)
NO_WEIGHTED_RANGES = (
    "What the unjudged chunks could make of a weighted difference is not worked out."
)


@st.cache_data(max_entries=100, show_spinner=False)
def rerank_relation(
    path: str, data_revision: int, conventions: str, a: str, b: str, _board: Scoreboard
) -> CandidateOverlap:
    """Return how B's candidates relate to A's, which no grade changes."""
    return comparison.compare_candidates(_board, a, b, RUN_LETTERS)


@st.cache_data(max_entries=50, show_spinner=False)
def cached_summary(
    at: tuple[Hashable, ...], bucket: str | None, _view: ComparisonView, _related: CandidateOverlap
) -> ComparisonSummary:
    """Test what is shown and find what stands out; computed once for each grade."""
    return comparison.summarize_comparison(
        _view, _related, bucket, RUN_LETTERS, scoreboards.resample_cache()
    )


def show_answer(view: ComparisonView, bucket: str | None) -> Callable[[], None]:
    """Say which run is better and where it loses; return what shows the means that say so.

    From the top down, so that what is read stays where it is though some takes long to work out.
    """
    compared, board = view.compared, view.board
    if bucket:
        st.text(f"{compared.facet}: {bucket}")
    asked = (board.data_revision, repr(compared.conventions), compared.a, compared.b)
    related = rerank_relation(ui.database(), *asked, board)
    summary = cached_summary(summary_key(view), bucket, view, related)
    said = summary.findings
    first, rest = said.against[:MOST_CONTRADICTIONS], said.against[MOST_CONTRADICTIONS:]
    leading = [*where_it_loses(view, summary), *(with_links(each, compared) for each in first)]
    bands = scoreboards.pair_ranges(
        board, compared.a, compared.b, compared.measures, compared.facet if bucket else None
    )
    retold = partial(survival_of, view, bucket)
    found = comparison.find_headline(view, summary, bands[1], retold, RUN_LETTERS)
    with st.container(gap="xsmall"):
        show_html(tables.verdict_card(found.answer.known, what_would_change(view, found)))
        show_html(tables.findings_card([*leading, *said.parts]))
        if rest:
            with st.expander(
                f"{format_count(len(rest), 'more moves', 'more move')} against the total"
            ):
                show_html(tables.sentences(with_links(each, compared) for each in rest))
        if board.conventions.frozen is None and board.weights is None:
            show_certainty(view, found, RUN_LETTERS)
    return partial(show_means, view, bucket, summary, found, bands)


def show_means(
    view: ComparisonView,
    bucket: str | None,
    summary: ComparisonSummary,
    found: HeadlineResult,
    bands: tuple[MeanRanges, DeltaRanges],
) -> None:
    """Show the means that the answer rests on, what to know of them, and whose grades bear it."""
    compared = view.compared
    spreads = {
        row.measure: tables.pair_spreads(compared, row, bands, reach)
        for row, reach in zip(summary.rows, summary.reaches, strict=True)
    }
    family = comparison.describe_correction(summary.tested.of(row).family for row in summary.rows)
    with st.container(gap="xsmall"):
        is_open = any(band.is_open for each in bands for band in each.values())
        in_words = [tables.BAND_WORDS] if is_open else []
        in_words += [NO_RANGES_ACROSS] if view.board.collection.has_several_chunkings else []
        print_lines = [
            compared.conventions.sentence,
            f"{capitalize_first(comparison.COVERAGE_NOTE)}.",
            *in_words,
        ]
        table = means_table(view, bucket, summary, spreads)
        show_html(tables.means_card(table, print_lines), tables.folded_names(view.names, view.runs))
        # apart from the numbers, so that it stays open when they move
        what = "What to know of these numbers"
        bold = f"Bold is {comparison.SIGNIFICANCE_RULE}; {family}"
        doubts = [tables.BAND_DOUBTS] if is_open else []
        surely = [CERTAINTY_MEANING] if found.may_be_settled and found.lead is not None else []
        told = [
            bold,
            capitalize_first(comparison.METHODS_NOTE),
            *surely,
            *doubts,
            *notes_on_runs(view),
        ]
        show_html(tables.folded_sentences(what, told))
        if found.lead is not None and found.lead.survival is not None:
            show_survival(view, found.lead.survival, RUN_LETTERS)


def notes_on_runs(view: ComparisonView) -> list[str]:
    """Say what was left out of the runs that are shown, or could surprise in them."""
    notes = [
        note.sentence
        for note in view.board.notes(view.compared.measures)
        if note.is_about(*view.runs) and note.kind != NOTHING_RELEVANT  # which the answer says
    ]
    return notes if view.board.weights is None else [*notes, NOT_WEIGHTED]


def what_would_change(view: ComparisonView, found: HeadlineResult) -> str:
    """Say what would change the answer; for a weighted one, that unjudged chunks are left out."""
    if view.board.weights is None or found.lead is None:
        return found.answer.change
    return f"{found.answer.change} {NO_WEIGHTED_RANGES}".strip()


def where_it_loses(view: ComparisonView, summary: ComparisonSummary) -> list[htpy.Node]:
    """Say in which bucket B loses most, or else in how many queries, with links to those."""
    losses, compared = summary.findings.losses, view.compared
    said = [] if losses is None else [with_links(losses, compared)]
    if losses is None or losses.about is None:
        for row in summary.rows:
            if row.measure == view.by:
                said += describe_losses(row, compared, RUN_LETTERS[1])
    return said


def summary_key(view: ComparisonView) -> tuple[Hashable, ...]:
    """Return all that the answer depends on, besides the bucket."""
    compared = view.compared
    at = scoreboards.cache_key(view.board, compared.measures)
    return (*at, compared.a, compared.b, repr(view.by), compared.facet)


def means_table(
    view: ComparisonView,
    bucket: str | None,
    summary: ComparisonSummary,
    spreads: Mapping[Measure, Sequence[tables.Spread]],
) -> htpy.Fragment:
    """Return the table of all runs' means, and how sure their differences are."""
    compared = view.compared
    table = view.board.table(compared.measures, compared.facet if bucket else None)
    inside = [score for score in table if score.bucket == bucket]
    more = [score for run in view.also for score in inside if score.run == run]
    sure = (summary.tested, summary.reaches)
    return tables.compare_table(summary.rows, compared, view.names, *sure, more, spreads)


def offer_files(view: ComparisonView, bucket: str | None, even: ComparisonView) -> None:
    """Offer a report for a review, and the numbers in full precision.

    The report is of ``even``, where each query counts the same.
    """
    if view.also:
        st.caption("The files are of A and B; the means of further runs are in that of Scores.")
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
            lambda: csv_exports.compare_csv(view.compared, bucket, ranges_of_view(view)),
            "compare.csv",
            view.board.revision,
        )
        ui.offer(
            "Download the queries as CSV",
            lambda: csv_exports.query_delta_csv(view.rows, view.compared, view.texts, view.buckets),
            "compare-queries.csv",
            view.board.revision,
        )


def ranges_of_view(view: ComparisonView) -> tuple[MeanRanges, DeltaRanges] | None:
    """Return the ranges over unjudged chunks of every row in the file; None if weighted."""
    compared = view.compared
    if view.board.weights is not None:
        return None
    return scoreboards.pair_ranges(
        view.board, compared.a, compared.b, compared.measures, compared.facet
    )


DECIDE_HELP = (
    "Sets the strategy under Data > Settings, for everyone: the chunks come first whose grades say "
    "soonest which of these two runs is better by this measure, and the others once that is "
    "settled."
)


def show_certainty(view: ComparisonView, found: HeadlineResult, names: tuple[str, str]) -> None:
    """Show how certain the answer is, and let a lead ask graders for the pairs that decide it.

    Nothing if no grade can change it, and nothing across chunkings, where a grade counts for one
    run alone.
    """
    if view.board.collection.has_several_chunkings:
        return
    with ui.open_store() as store:
        settings, asked = store.settings(), store.asked_to_decide()
    measure = view.by if found.lead is None else found.lead.row.measure
    is_asked = _is_asked_for(view, measure, settings)
    if not can_decide(measure) or not (found.may_be_settled or is_asked):
        return
    compared = view.compared
    standing = assignment_cache.standing_of(view.board, compared.a, compared.b, measure, settings)
    if not can_change(standing) and not is_asked:
        return
    seen, band = (None, None) if found.lead is None else (found.lead.row, found.lead.band)
    line = explain_certainty(standing, compared.conventions, names, seen, band)
    share = standing.certainty if standing.settled or standing.graded >= LEAST_GRADES else 0.0
    asides = list(_certainty_notes(standing, settings, asked, is_asked))
    with st.container(key="settling", horizontal=True, vertical_alignment="center"):
        with st.container(width="stretch"):
            show_html(tables.certainty_meter(line, share, SETTLED_AT, asides))
        if is_asked:
            _show_stop_asking(standing)
        elif not standing.settled and st.button(
            "Ask for the grades that decide", key="decide", help=DECIDE_HELP
        ):
            _ask_graders(view, measure, settings)


def _certainty_notes(
    standing: Certainty, settings: Settings, asked: int, is_asked: bool
) -> Iterator[str]:
    if is_asked and not standing.settled:
        yield "Graders are given what decides this first; they see nothing of A and B."
    if is_asked and standing.settled:
        yield "It is settled, so graders go on query by query."
    if not is_asked and settings.strategy == ACTIVE_OF_TWO and settings.unjudged_of is not None:
        a, b = settings.unjudged_of
        yield f"Graders are now asked what decides {a} against {b} by {settings.decide_by}."
    if asked or is_asked or not standing.settled:
        so_far = (
            f"{format_count(asked, 'grade was', 'grades were')} asked for so. " if asked else ""
        )
        yield f"{so_far}{capitalize_first(NO_FAIR_SAMPLE_NOTE)}."


def _show_stop_asking(standing: Certainty) -> None:
    """Lead to grading what is asked for, and let the lead end that."""
    if not standing.settled:
        links.link("Grade what decides it", url_state.page_url("/"))
    if st.button("Stop asking for what decides this"):
        with ui.guard(), ui.open_store() as store:
            store.save_settings(replace(store.settings(), strategy=QUERY_BY_QUERY))
        ui.done("Graders go query by query")


def _ask_graders(view: ComparisonView, measure: Measure, settings: Settings) -> None:
    pair = (view.compared.a, view.compared.b)
    name = measure_name(measure)
    chosen = replace(settings, strategy=ACTIVE_OF_TWO, unjudged_of=pair, decide_by=name)
    with ui.guard(), ui.open_store() as store:
        store.save_settings(chosen)
    ui.done("Graders are given what decides it")


def measure_name(measure: Measure) -> str:
    """Return the name a measure was asked for by, such as R@prompt, else its own."""
    return next(iter(measure.names), str(measure))


def _is_asked_for(view: ComparisonView, measure: Measure, settings: Settings) -> bool:
    """Say whether graders are given what decides between just these runs by this measure."""
    pair = {view.compared.a, view.compared.b}
    if settings.strategy != ACTIVE_OF_TWO or set(settings.unjudged_of or ()) != pair:
        return False
    meant = view.compared.conventions.measures(settings.decide_by)
    return view.board.resolve(meant) == (measure,)


GRADERS_TITLE = "Does it hold under each grader's own grades?"
GRADERS_NOTE = (
    "Each row reads the same judgments in another way: one grader's own grades wherever they gave "
    "one, also where a lead decided otherwise; the lowest, the lower median and the highest of "
    "people's grades; the golden grades without judgments of an earlier text, and without those "
    "that were not blind. Everywhere else the golden grade stands. What came with a file is "
    "neither blind nor not. Of a grader whose grades differ in fewer than "
    f"{ENOUGH_CHANGED} pairs nothing "
    "is said. p is of this test alone, and under "
    "a reading of 1,000 draws."
)


class _SingleGrades:
    """The single grades of a golden set, of which only what is new is read."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: SingleGrades | None = None

    def read(self) -> SingleGrades:
        """Return them as they are now."""
        with self._lock, ui.open_store() as store:
            known = self._known
            if known is None or known.revision != store.revision():
                known = self._known = store.single_grades(known)
            return known


@st.cache_resource(max_entries=2, show_spinner=False)
def _single_grades(path: str, data_revision: int) -> _SingleGrades:
    return _SingleGrades()


@st.cache_data(max_entries=8, show_spinner=False)
def _survival(
    at: tuple[object, ...],
    tested: Significance,
    bucket: str | None,
    _measure: Measure,
    _view: ComparisonView,
) -> GraderSensitivity:
    """Compare under every reading; worked out once for each grade."""
    view = _view
    singles = _single_grades(ui.database(), view.board.data_revision).read()
    [found] = comparison.measure_sensitivity(
        view.board, view.compared, singles, [_measure], tested={_measure: tested}, bucket=bucket
    )
    return found


def survival_of(
    view: ComparisonView, bucket: str | None, measure: Measure, tested: Significance
) -> GraderSensitivity | None:
    """Return how a measure, ``tested`` as it is, comes out under every reading.

    None of a frozen golden set, which has agreed grades alone, and of weighted means.
    """
    compared = view.compared
    if compared.conventions.frozen is not None or view.board.weights is not None:
        return None
    at = scoreboards.cache_key(view.board, [measure])
    asked = (compared.a, compared.b, compared.facet)
    return _survival((*at, *asked), tested, bucket, measure, view)


def show_survival(view: ComparisonView, found: GraderSensitivity, names: tuple[str, str]) -> None:
    """Show the readings in a table, folded, and offer them as a file."""
    with st.expander(GRADERS_TITLE, key="survives"):
        if found.why_not_told is not None:
            st.text(f"{capitalize_first(found.why_not_told)}.")
        else:
            st.text(f"{comparison.describe_sensitivity(found, names)}.")
        told = [each for each in found.told if each.changed or each is found.golden]
        if len(told) > 1:
            show_html(tables.survival_table(told, found.heading))
            lines = [comparison.describe_unchanged_readings(found), GRADERS_NOTE]
            show_html(tables.small_print([*lines, view.compared.conventions.sentence]))
            ui.offer(
                "Download these readings as CSV",
                lambda: csv_exports.survival_csv([found], view.compared),
                "compare-graders.csv",
                view.board.revision,
            )


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
            store.remarks() if frozen is None else [],
            store.single_grades() if frozen is None else None,
            store.chunks_with_text(),
            store.chunks_numbered,
            {run: store.right_answers(run) for run in store.answered_runs()},
        )
        return make_report(
            source, ReportRequest(compared.a, compared.b, tuple(measures), day, facets)
        )

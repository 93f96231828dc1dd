"""What Compare says first: which run is better and where it loses, over the means."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial

import htpy
import streamlit as st

from labeler.analysis import comparison
from labeler.analysis.active.certainty import MEANING
from labeler.analysis.comparison import Answered, Rerank, Summary, View
from labeler.evaluation import NOT_WEIGHTED, NOTHING_RELEVANT, Scoreboard
from labeler.measures import Measure
from labeler.model import counted, upper
from labeler.render import downloads, tables
from labeler.render.markup import show_html
from labeler.stats import DeltaBands, MeanBands
from labeler.ui import banding, boards
from labeler.ui import shared as ui
from labeler.ui.compare.reporting import report_of
from labeler.ui.compare.settling import show_settling
from labeler.ui.compare.surviving import show_survival, survival_of
from labeler.ui.leading import losing_in_words, with_ways

NAMES = ("A", "B")  # what sentences call the runs, which the table names
CONTRADICTIONS = 3
NO_BANDS = (
    "What holes could make of these numbers is not drawn: chunks of two chunkings share text, and "
    "how the grades of their holes go together nobody knows."
)
HOLES_UNKNOWN = "What the holes could make of a weighted difference is not worked out."


@st.cache_data(max_entries=100, show_spinner=False)
def candidates(
    path: str, data_revision: int, conventions: str, a: str, b: str, _board: Scoreboard
) -> Rerank:
    """Return how B's candidates relate to A's, which no grade changes."""
    return comparison.rerank(_board, a, b, NAMES)


@st.cache_data(max_entries=50, show_spinner=False)
def summed_up(
    at: tuple[Hashable, ...], bucket: str | None, _view: View, _related: Rerank
) -> Summary:
    """Test what is shown and find what stands out; worked out once for each grade."""
    return comparison.sum_up(_view, _related, bucket, NAMES, banding.resampled())


def show_answer(view: View, bucket: str | None) -> Callable[[], None]:
    """Say which run is better and where it loses; return what shows the means that say so.

    From the top down, so that what is read stays where it is though some takes long to work out.
    """
    compared, board = view.compared, view.board
    if bucket:
        st.text(f"{compared.facet}: {bucket}")
    asked = (board.data_revision, repr(compared.conventions), compared.a, compared.b)
    related = candidates(ui.database(), *asked, board)
    summary = summed_up(asked_of(view), bucket, view, related)
    said = summary.findings
    first, rest = said.against[:CONTRADICTIONS], said.against[CONTRADICTIONS:]
    leading = [*where_it_loses(view, summary), *(with_ways(each, compared) for each in first)]
    bands = banding.of_pair(
        board, compared.a, compared.b, compared.measures, compared.facet if bucket else None
    )
    retold = partial(survival_of, view, bucket)
    found = comparison.answered(view, summary, bands[1], retold, NAMES)
    with st.container(gap="xsmall"):
        show_html(tables.answer(found.answer.known, change_of(view, found)))
        show_html(tables.findings([*leading, *said.parts]))
        if rest:
            with st.expander(f"{counted(len(rest), 'more moves', 'more move')} against the total"):
                show_html(tables.sentences(with_ways(each, compared) for each in rest))
        if board.conventions.frozen is None and board.weights is None:
            show_settling(view, found, NAMES)
    return partial(show_means, view, bucket, summary, found, bands)


def show_means(
    view: View,
    bucket: str | None,
    summary: Summary,
    found: Answered,
    bands: tuple[MeanBands, DeltaBands],
) -> None:
    """Show the means that the answer rests on, what to know of them, and whose grades bear it."""
    compared = view.compared
    spreads = {
        row.measure: tables.pair_spreads(compared, row, bands, reach)
        for row, reach in zip(summary.rows, summary.reaches, strict=True)
    }
    family = comparison.family_in_words(summary.tested.of(row).family for row in summary.rows)
    with st.container(gap="xsmall"):
        is_open = any(band.is_open for each in bands for band in each.values())
        in_words = [tables.BAND_WORDS] if is_open else []
        in_words += [NO_BANDS] if view.board.collection.is_of_several else []
        print_lines = [compared.conventions.sentence, f"{upper(comparison.COVERS)}.", *in_words]
        table = means(view, bucket, summary, spreads)
        show_html(tables.means(table, print_lines), tables.whole_names(view.names, view.runs))
        # apart from the numbers, so that it stays open when they move
        what = "What to know of these numbers"
        bold = f"Bold is {comparison.RULE}; {family}"
        doubts = [tables.BAND_DOUBTS] if is_open else []
        surely = [MEANING] if found.may_be_settled and found.lead is not None else []
        told = [bold, upper(comparison.METHODS), *surely, *doubts, *notes_beside(view)]
        show_html(tables.folded(what, told))
        if found.lead is not None and found.lead.survival is not None:
            show_survival(view, found.lead.survival, NAMES)


def notes_beside(view: View) -> list[str]:
    """Say what was left out of the runs that are shown, or could surprise in them."""
    notes = [
        note.sentence
        for note in view.board.notes(view.compared.measures)
        if note.is_about(*view.runs) and note.kind != NOTHING_RELEVANT  # which the answer says
    ]
    return notes if view.board.weights is None else [*notes, NOT_WEIGHTED]


def change_of(view: View, found: Answered) -> str:
    """Say what would change the answer; of a weighted one that nobody knows what holes would."""
    if view.board.weights is None or found.lead is None:
        return found.answer.change
    return f"{found.answer.change} {HOLES_UNKNOWN}".strip()


def where_it_loses(view: View, summary: Summary) -> list[htpy.Node]:
    """Say in which bucket B loses most, or else in how many queries, with links to those."""
    losses, compared = summary.findings.losses, view.compared
    said = [] if losses is None else [with_ways(losses, compared)]
    if losses is None or losses.about is None:
        for row in summary.rows:
            if row.measure == view.by:
                said += losing_in_words(row, compared, NAMES[1])
    return said


def asked_of(view: View) -> tuple[Hashable, ...]:
    """Return all that the answer depends on, besides the bucket."""
    compared = view.compared
    at = boards.moment(view.board, compared.measures)
    return (*at, compared.a, compared.b, repr(view.by), compared.facet)


def means(
    view: View,
    bucket: str | None,
    summary: Summary,
    spreads: Mapping[Measure, Sequence[tables.Spread]],
) -> htpy.Fragment:
    """Return the table of all runs' means, and how sure their differences are."""
    compared = view.compared
    table = view.board.table(compared.measures, compared.facet if bucket else None)
    inside = [score for score in table if score.bucket == bucket]
    more = [score for run in view.also for score in inside if score.run == run]
    sure = (summary.tested, summary.reaches)
    return tables.compare_table(summary.rows, compared, view.names, *sure, more, spreads)


def offer_files(view: View, bucket: str | None, even: View) -> None:
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
            lambda: downloads.compare_csv(view.compared, bucket, bands_of(view)),
            "compare.csv",
            view.board.revision,
        )
        ui.offer(
            "Download the queries as CSV",
            lambda: downloads.query_csv(view.rows, view.compared, view.texts, view.buckets),
            "compare-queries.csv",
            view.board.revision,
        )


def bands_of(view: View) -> tuple[MeanBands, DeltaBands] | None:
    """Return what holes could make of every row that the file has, None where it is weighted."""
    compared = view.compared
    if view.board.weights is not None:
        return None
    return banding.of_pair(view.board, compared.a, compared.b, compared.measures, compared.facet)

"""What the holes could make of the numbers on a page: kept, followed, and as pictures take it.

Knows which runs are compared, not where on the page they stand.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import streamlit as st

from labeler import ui
from labeler.evaluation import Conventions, Scoreboard
from labeler.measures import Measure
from labeler.tables import Spread
from labeler.uncertainty import Band, Bands, DeltaBands, Intervals, MeanBands, Resampled

WORDS = (
    "The pale band of a number is where it could be, however the holes of these runs are graded "
    "(above the cut-off; without one in the top 20: if nothing below rank 20 is relevant); its "
    "dark band where it is in 90 of 100 ways drawn by chance, as likely as the grades so far make "
    "them; the whisker where another choice of queries could have it (95%); a stroke or a dot "
    "where it is. Other ungraded chunks are taken as not relevant."
)
DOUBTS = (
    "The dark band takes a hole to be like the graded chunks that runs put at similar ranks, as "
    "many agree on, of queries like it. It is too sure where people chose what to grade by what it "
    "says, where only the first few ranks are graded, and a little where mostly what one run alone "
    "found is not. Neither band is about the choice of queries, nor about graders."
)
MOST_KEPT = 4  # of which each has the draws of all queries

MeanSpreads = Mapping[tuple[str, Measure, str | None], Spread]


def means_of(
    board: Scoreboard, runs: Sequence[str], measures: Iterable[Measure], facet: str | None = None
) -> MeanBands:
    """Return the bands of means of runs that are compared with each other."""
    return _bands_of(board, runs).means(board, measures, facet)


def of_places(
    board: Scoreboard, runs: Sequence[str], measures: Sequence[Measure], facet: str
) -> MeanBands:
    """Return the bands of means over all queries, and in each bucket."""
    bands = _bands_of(board, runs)
    return {**bands.means(board, measures), **bands.means(board, measures, facet)}


def of_pair(
    board: Scoreboard, a: str, b: str, measures: Sequence[Measure], facet: str | None = None
) -> tuple[MeanBands, DeltaBands]:
    """Return the bands of A, B and B - A over all queries and, with a facet, in each bucket."""
    bands = _bands_of(board, (a, b))
    means, deltas = dict(bands.means(board, measures)), dict(bands.deltas(board, measures))
    if facet is not None:
        means |= bands.means(board, measures, facet)
        deltas |= bands.deltas(board, measures, facet)
    return means, deltas


def spreads_of(means: MeanBands, intervals: Intervals) -> MeanSpreads:
    """Return bands as pictures take them, with the intervals over the choice of queries."""
    found = {}
    for (run, measure, bucket), band in means.items():
        interval = intervals.get((run, str(measure), bucket))
        ends = (math.nan, math.nan) if interval is None else (interval.lo, interval.hi)
        found[run, measure, bucket] = spread(band, ends)
    return found


def spread(band: Band | None, from_queries: tuple[float, float] = (math.nan, math.nan)) -> Spread:
    """Return a band as a picture takes it; None is of a measure that has none.

    ``from_queries`` is the interval over the choice of queries, where it is known.
    """
    if band is None:
        return Spread(from_queries=from_queries)
    ends = (band.lowest, band.highest, band.low, band.high)
    return Spread(*ends, from_queries, band.exact)


@st.cache_resource(show_spinner=False)
def resampled() -> Resampled:
    """Return what adds up the resamples of all pages, and keeps the sums for the next grade."""
    return Resampled()


def _bands_of(board: Scoreboard, runs: Sequence[str]) -> Bands:
    asked = (board.data_revision, board.conventions, tuple(runs))
    return _kept(ui.database(), *asked, board)


@st.cache_resource(
    max_entries=MOST_KEPT,
    show_spinner="Filling the holes …",
    hash_funcs={Conventions: repr},
)
def _kept(
    path: str, data_revision: int, chosen: Conventions, runs: tuple[str, ...], _board: Scoreboard
) -> Bands:
    return Bands(_board, runs)

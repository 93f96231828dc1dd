"""What the holes could make of the numbers on a page: kept, and followed.

Knows which runs are compared, not where on the page they stand.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import streamlit as st

from labeler.evaluation import Conventions, Scoreboard, usual
from labeler.measures import Measure
from labeler.stats import Bands, DeltaBands, MeanBands, Resampled
from labeler.ui import boards
from labeler.ui import shared as ui

MOST_KEPT = 4  # of which each has the draws of all queries


def means_of(
    board: Scoreboard, runs: Sequence[str], measures: Iterable[Measure], facet: str | None = None
) -> MeanBands:
    """Return the bands of means of runs that are compared with each other.

    None of weighted means, for which they are not worked out.
    """
    if board.weights is not None:
        return {}
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
    """Return the bands of A, B and B - A over all queries and, with a facet, in each bucket.

    None of weighted means, for which they are not worked out.
    """
    if board.weights is not None:
        return {}, {}
    bands = _bands_of(board, (a, b))
    means, deltas = dict(bands.means(board, measures)), dict(bands.deltas(board, measures))
    if facet is not None:
        means |= bands.means(board, measures, facet)
        deltas |= bands.deltas(board, measures, facet)
    return means, deltas


def open_bands() -> Iterator[None]:
    """Work out the bands that Scores and Compare show where nobody chose anything, part by part.

    Only those of a small board: others would fill the memory before anybody asks.
    """
    with ui.open_store() as store:
        board = boards.board_without_page(store)
    measures = board.conventions.measures(usual(board.collection, chunks=False))
    every = board.run_names
    for runs in dict.fromkeys([every, every[:2]]) if boards.is_small(board) else ():
        bands = Bands(board, runs)
        yield
        yield from bands.prepare(measures)
        _opened(ui.database(), board.data_revision, board, bands)
        _opened.clear()


@st.cache_resource(max_entries=1, show_spinner=False)
def _opened(path: str, data_revision: int, _board: Scoreboard, _bands: Bands) -> Bands:
    """Keep bands without a page: in a cached function, another one's spinner is not shown."""
    return _bands_of(_board, _bands.runs, _bands)


@st.cache_resource(show_spinner=False)
def resampled() -> Resampled:
    """Return what adds up the resamples of all pages, and keeps the sums for the next grade."""
    return Resampled()


def _bands_of(board: Scoreboard, runs: Sequence[str], found: Bands | None = None) -> Bands:
    asked = (board.data_revision, board.conventions, tuple(runs))
    return _kept(ui.database(), *asked, board, found)


@st.cache_resource(
    max_entries=MOST_KEPT,
    show_spinner="Filling the holes …",
    hash_funcs={Conventions: repr},
)
def _kept(
    path: str,
    data_revision: int,
    chosen: Conventions,
    runs: tuple[str, ...],
    _board: Scoreboard,
    _found: Bands | None,
) -> Bands:
    return _found or Bands(_board, runs)

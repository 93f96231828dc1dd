"""Intervals of buckets, cached until the next grade, and how the numbers of Slices are computed."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import streamlit as st

from labeler.evaluation import Scoreboard
from labeler.measures import Measure
from labeler.model import format_count
from labeler.render import tables
from labeler.render.markup import show_html
from labeler.stats import IntervalsByPlace, mean_intervals
from labeler.ui import filter_widgets, scoreboards, url_state
from labeler.ui.slices.choices import SlicesChoice


def intervals_of(
    board: Scoreboard, measures: Sequence[Measure], run: str, facet: str
) -> IntervalsByPlace:
    """Return the interval of each of a run's means, over all queries and in each bucket."""
    key = (*scoreboards.cache_key(board, measures), run, facet)
    return _intervals(key, board, measures, run, facet)


@st.cache_data(max_entries=20, show_spinner=False)
def _intervals(
    at: tuple[Hashable, ...],
    _board: Scoreboard,
    _measures: Sequence[Measure],
    _run: str,
    _facet: str,
) -> IntervalsByPlace:
    """Return the interval of each of a run's means, over all queries and in each bucket.

    ``at`` holds everything that they depend on.
    """
    of_all, of_buckets = (
        mean_intervals(_board, _measures, each, runs=[_run]) for each in (None, _facet)
    )
    return {**of_all, **of_buckets}


def show_how(choice: SlicesChoice, board: Scoreboard) -> None:
    """Show in a fold the conventions of the numbers and what is left out."""
    notes = [note.sentence for note in board.notes(choice.measures) if note.is_about(*choice.runs)]
    for each in filter(None, [*choice.facets_of(board), choice.other]):
        if left_out := board.unbucketed(each):
            who = format_count(left_out, "judged query has", "judged queries have")
            where = "" if choice.other else ", but in the row of all queries"
            notes.insert(0, f"{who} no {each}: in no bucket{where}")
    if url_state.get("weighted"):
        notes.append(filter_widgets.NOT_WEIGHTED_HERE)
    show_html(
        tables.folded_sentences("How computed", [board.conventions.sentence, *notes]),
        tables.folded_names(choice.short, choice.runs),
    )

"""Caches for assignment, one per server process: active pairs, and pairs that transfers leave open.

One grade seldom changes which pairs decide between two runs, so they are chosen again only after
a few grades. The server imports this module when it starts; it must not import tables or charts.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from threading import Lock

import streamlit as st

from labeler.analysis.active import Certainty, Decider, parse_deciding_measure
from labeler.errors import LabelerError
from labeler.evaluation import DEFAULT_MEASURES, Scoreboard
from labeler.measures import Measure
from labeler.model import ACTIVE_OF_TWO, DEFAULT_CHUNKING, EVERYTHING, Pair, Selection, Settings
from labeler.services.assignment.items import DecisionWork
from labeler.services.transfer import OpenPairsCache
from labeler.store import Store
from labeler.ui import scoreboards
from labeler.ui import shared as ui

GRADES_UNTIL_REFRESH = 5
"""After so many grades it is looked anew which come next: one grade seldom changes that."""

LONG_SECONDS = 2.0
"""Where choosing takes longer, it is not done for each grade."""

MOST_PAIRS = 2_000
"""Pairs that are put in order; more are never open to graders before it is looked anew."""


@st.cache_resource(max_entries=4, show_spinner=False)
def _decider(path: str, data_revision: int, conventions: str) -> Decider:
    return Decider()


def decider_of(board: Scoreboard) -> Decider:
    """Return the decider of a board's runs, which remembers what it has learnt."""
    return _decider(ui.database(), board.data_revision, repr(board.conventions))


def standing_of(
    board: Scoreboard, a: str, b: str, measure: Measure, settings: Settings
) -> Certainty:
    """Return how certain it is which of A and B is better; repeating it after a grade is fast.

    Raises `BadInput` for a measure by which no run is better.
    """
    return decider_of(board).standing(board, a, b, measure, settings.matters)


def open_decision() -> Iterator[None]:
    """Compute in steps the certainty that Compare shows by default; on small boards only."""
    with ui.open_store() as store:
        board = scoreboards.server_board(store)
    if len(board.run_names) > 1 and scoreboards.is_small_board(board):
        a, b = board.run_names[:2]
        [measure] = board.resolve(board.conventions.measures(DEFAULT_MEASURES[:1]))
        decider = decider_of(board)
        decider.learn(board, measure)
        yield
        decider.trial(board, a, b, measure)


def check_measures(settings: Settings) -> None:
    """Raise `BadInput` if the team's measure cannot decide, or if another one is unknown."""
    conventions = scoreboards.conventions(settings)
    parse_deciding_measure(conventions, settings.decide_by)
    conventions.measures(settings.measures)
    conventions.measures(" ".join(settings.measures_by_task.values()))


class DecisionQueue:
    """The pairs that decide the comparison that the team asked for; safe for threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._kept: tuple[tuple[str, int], int, Sequence[Pair]] | None = None
        self._newest: tuple[tuple[str, int], int, DecisionWork | None] | None = None
        self._rests_until = 0.0

    def telling(self) -> Sequence[Pair]:
        """Return the pairs that decide most, the most decisive first.

        Empty if the team has not asked for it, if the comparison is settled, or if it cannot be
        decided, for example because a run was dropped. Graders then get the rest of the pool.
        """
        with self._lock, ui.open_store() as store:
            settings, newest = store.settings.read(), store.judgments.revision()
            if settings.strategy != ACTIVE_OF_TWO or settings.unjudged_of is None:
                return ()
            key = (store.golden_set.uuid(), store.golden_set.data_revision())
            if self._kept is None or self._kept[0] != key or not _is_fresh(self._kept[1], newest):
                work = _decision_work(store, settings)
                self._kept = key, newest, () if work is None else work.pairs
            return self._kept[2]

    def decision(self) -> DecisionWork | None:
        """Return these pairs by the newest grades, and the progress; None if nobody asked for it.

        On large sets choosing takes seconds. It then pauses for as long as it took, and returns the
        earlier pairs meanwhile.
        """
        with self._lock, ui.open_store() as store:
            settings, newest = store.settings.read(), store.judgments.revision()
            if settings.strategy != ACTIVE_OF_TWO or settings.unjudged_of is None:
                return None
            key = (store.golden_set.uuid(), store.golden_set.data_revision())
            began, known = time.monotonic(), self._newest
            is_of_these = known is not None and known[0] == key and known[1] <= newest
            if known and is_of_these and (known[1] == newest or began < self._rests_until):
                return known[2]
            work = _decision_work(store, settings)
            took = time.monotonic() - began
            self._newest = key, newest, work
            self._rests_until = began + 2 * took if took > LONG_SECONDS else 0.0
            return work


def _decision_work(store: Store, settings: Settings) -> DecisionWork | None:
    """Return the pairs that decide the team's comparison, None if it cannot be decided."""
    with suppress(LabelerError):
        pair = settings.unjudged_of or ("", "")
        selected = _selection_of_both(store.chunkings.of_runs(), pair)
        return _work_of(scoreboards.server_board(store, selected), settings)
    return None


def _selection_of_both(of_runs: Mapping[str, str], pair: Sequence[str]) -> Selection:
    """Return the chunking of two runs, or everything if they differ: then no grade decides."""
    found = {of_runs.get(run, DEFAULT_CHUNKING) for run in pair}
    if not any(of_runs.values()) or len(found) > 1:
        return EVERYTHING
    return Selection(chunkings=(*found,))


def _is_fresh(looked: int, newest: int) -> bool:
    return looked <= newest < looked + GRADES_UNTIL_REFRESH


def _work_of(board: Scoreboard, settings: Settings) -> DecisionWork:
    [measure] = board.resolve([parse_deciding_measure(board.conventions, settings.decide_by)])
    a, b = settings.unjudged_of or ("", "")
    decider = decider_of(board)
    standing = decider.standing(board, a, b, measure, settings.matters)
    chosen = [] if standing.settled else decider.choices(board, a, b, measure, MOST_PAIRS)
    pairs = [(each.query_id, each.chunk) for each in chosen]
    return DecisionWork(pairs, standing.graded, standing.likely, standing.settled)


ORDER_OF_PAIRS = (
    "The most useful come first: the highest likely grade, which one key confirms; then where "
    "words were marked before; and of these what the runs have nearest to their top. What is "
    "handed out at once is shuffled, so that the order tells nothing of ranks."
)


@st.cache_resource(show_spinner=False)
def open_pairs_cache() -> OpenPairsCache:
    """Return the server's cache of open pairs."""
    return OpenPairsCache()


def openings(store: Store) -> Sequence[tuple[str, str]]:
    """Return the pairs of chunkings between which pairs may be open, see `Chunkings.openings`.

    Cached until data is loaded, so that it is not computed for each visit of Label.
    """
    return _openings(
        str(store.path), store.golden_set.uuid(), store.golden_set.data_revision(), store
    )


@st.cache_resource(max_entries=8, show_spinner=False)  # data would need Streamlit to run already
def _openings(
    path: str, golden_set: str, data_revision: int, _store: Store
) -> Sequence[tuple[str, str]]:
    return tuple(_store.chunkings.openings())

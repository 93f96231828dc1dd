"""Decider that keeps the simulation of two runs up to date while grades come in.

The model of unjudged chunks is fitted again once there are a twentieth more grades; in between
only the queries whose grades changed are computed again. The caller brings the scoreboard.
"""

from __future__ import annotations

from threading import Lock

import numpy as np

from labeler.analysis.active.certainty import (
    SMALLEST_MATTERING,
    Certainty,
    assess_certainty,
)
from labeler.analysis.active.simulation import (
    BATCH,
    DecidingPair,
    Simulation,
    choose_pairs,
    search_depth,
    simulate,
)
from labeler.errors import BadInput
from labeler.evaluation import Conventions, Scoreboard
from labeler.measures import Ints, Measure
from labeler.stats import (
    DEPTH,
    TopChunks,
    UnjudgedModel,
    find_top_chunks,
    fit_unjudged_model,
)
from labeler.stats.unjudged_chunks import golden_grades_of

REFIT_FACTOR = 1.05
"""How many times the grades all was learnt from there must be before it is learnt again."""

COUNTING_MEASURES = ("Judged", "NumRet", "NumRel")
"""Measures by which no run is better than another: they count."""


def can_decide(measure: Measure) -> bool:
    """Say whether the grade of a chunk can decide by a measure which of two runs is better.

    Measures of documents and of the evidence rest on grades and marks of other chunkings, too.
    """
    return measure.name not in COUNTING_MEASURES and not measure.crosses


class UnjudgedModelCache:
    """What the holes of one collection may be, by the grades there are; safe for many threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._tops: dict[int, TopChunks] = {}
        self._fillings: dict[int, tuple[int, int, UnjudgedModel]] = {}

    def of(self, board: Scoreboard, depth: int) -> UnjudgedModel:
        """Return what is believed by the grades of a board, of chunks down to ``depth``.

        The boards that come must be of one collection, with other grades.
        """
        with self._lock:
            if depth not in self._tops:
                self._tops[depth] = find_top_chunks(board, depth)
            kept = self._fillings.get(depth)
            if kept is not None and kept[0] == board.revision:
                return kept[2]
            self._fillings[depth] = fresh = self._followed(board, self._tops[depth], kept)
            return fresh[2]

    @staticmethod
    def _followed(
        board: Scoreboard, tops: TopChunks, kept: tuple[int, int, UnjudgedModel] | None
    ) -> tuple[int, int, UnjudgedModel]:
        grades = golden_grades_of(board, tops)
        there = int((grades >= 0).sum())
        if kept is None or not kept[1] <= there < max(kept[1] * REFIT_FACTOR, kept[1] + 1):
            return board.revision, there, fit_unjudged_model(board, tops)
        changed = np.unique(tops.query[grades != kept[2].grades])
        return board.revision, kept[1], kept[2].after(board, changed.tolist())


class SimulationCache:
    """A against B by one measure, as the newest grades leave it; safe for many threads."""

    def __init__(self, a: str, b: str, measure: Measure, seed: int = 0) -> None:
        self._asked = (a, b)
        self._seed = seed
        self._measure = measure
        self._lock = Lock()
        self._kept: tuple[int, Ints, Simulation] | None = None

    def of(self, board: Scoreboard, filling: UnjudgedModel) -> Simulation:
        """Return the trial of a board's grades; ``filling`` is what is believed by them."""
        with self._lock:
            if self._kept is None or self._kept[0] != board.revision:
                self._kept = self._followed(board, filling)
            return self._kept[2]

    def _followed(self, board: Scoreboard, filling: UnjudgedModel) -> tuple[int, Ints, Simulation]:
        known = board.hits(self._asked[0]).known
        if self._kept is None or not is_same_fit(self._kept[2].filling, filling):
            trial = simulate(board, filling, self._measure, *self._asked, seed=self._seed)
            return board.revision, known, trial
        _, before, trial = self._kept
        changed = np.any(known != before, axis=1)
        changed[filling.tops.query[filling.grades != trial.filling.grades]] = True
        return board.revision, known, trial.after(board, filling, np.flatnonzero(changed))


def is_same_fit(one: UnjudgedModel, other: UnjudgedModel) -> bool:
    """Say whether two fillings rest on the same weights, learnt from the same grades."""
    pairs = zip(one.steps, other.steps, strict=True)
    return all(step.fitted is same.fitted for step, same in pairs)


class Decider:
    """Every question of the kind "A or B?" about one collection; safe for many threads.

    The same ``seed`` draws the same fillings.
    """

    def __init__(self, seed: int = 0) -> None:
        self._seed = seed
        self._lock = Lock()
        self._beliefs = UnjudgedModelCache()
        self._inquiries: dict[tuple[str, str, Measure], SimulationCache] = {}

    def trial(self, board: Scoreboard, a: str, b: str, measure: Measure) -> Simulation:
        """Return what A and B may turn out to be by the grades of a board, of this collection.

        Raises `BadInput` for a measure by which no run is better, and for A and B alike, `NotFound`
        for a run that is not there.
        """
        check_pair_and_measure(board, a, b, measure)
        board = board.snapshot()
        asked = (a, b, measure)
        with self._lock:
            inquiry = self._inquiries.setdefault(asked, SimulationCache(*asked, self._seed))
        return inquiry.of(board, self.learn(board, measure))

    def learn(self, board: Scoreboard, measure: Measure) -> UnjudgedModel:
        """Return what is believed of a board's holes, as far down as a measure may look."""
        return self._beliefs.of(board, max(DEPTH, int(search_depth(board, measure).max(initial=1))))

    def standing(
        self,
        board: Scoreboard,
        a: str,
        b: str,
        measure: Measure,
        matters: float = SMALLEST_MATTERING,
    ) -> Certainty:
        """Say how sure it is which of A and B is better; raises as `trial`."""
        board = board.snapshot()
        return assess_certainty(board, self.trial(board, a, b, measure), matters)

    def choices(
        self, board: Scoreboard, a: str, b: str, measure: Measure, many: int = BATCH
    ) -> list[DecidingPair]:
        """Return the pairs whose grades move the delta most, best first; raises as `trial`."""
        board = board.snapshot()
        return choose_pairs(board, self.trial(board, a, b, measure), many)


def check_pair_and_measure(board: Scoreboard, a: str, b: str, measure: Measure) -> None:
    """Raise `BadInput` where grades cannot decide, `NotFound` for a run that is not there."""
    for name in (a, b):
        board.column_of(name)
    if a == b:
        raise BadInput(f"A and B are both {a!r}; name two different runs")
    check_can_decide(measure)


def parse_deciding_measure(conventions: Conventions, text: str) -> Measure:
    """Read the one measure that decides; raises `BadInput` for none, several or one that cannot."""
    measures = conventions.measures(text)
    if len(measures) != 1:
        raise BadInput(f"one measure decides, such as nDCG@10, not {len(measures)}: {text!r}")
    check_can_decide(measures[0])
    return measures[0]


def check_can_decide(measure: Measure) -> None:
    """Raise `BadInput` for a measure by which no grade of a chunk says which run is better."""
    if not can_decide(measure):
        raise BadInput(f"{measure.label} does not say which run is better; take nDCG@10 or RR")

"""Decider that keeps the simulation of two runs up to date as grades arrive.

The model of unjudged chunks is refitted once there are 5% more grades; until then, only queries
whose grades changed are recomputed. The caller provides the scoreboard.
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
"""The model is refitted once there are this many times the grades it was fitted on."""

COUNTING_MEASURES = ("Judged", "NumRet", "NumRel")
"""Measures that only count chunks, so that a higher value does not mean a better run."""


def can_decide(measure: Measure) -> bool:
    """Return whether grading a chunk can decide which run is better by a measure.

    Measures of documents and of the evidence depend on grades and marks in other chunkings, too.
    """
    return measure.name not in COUNTING_MEASURES and not measure.crosses


class UnjudgedModelCache:
    """Models of the unjudged chunks of one collection, by depth; thread-safe."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._tops: dict[int, TopChunks] = {}
        self._models: dict[int, tuple[int, int, UnjudgedModel]] = {}

    def of(self, board: Scoreboard, depth: int) -> UnjudgedModel:
        """Return the model for a board's grades, of chunks down to ``depth``.

        All boards must be of one collection; only their grades may differ.
        """
        with self._lock:
            if depth not in self._tops:
                self._tops[depth] = find_top_chunks(board, depth)
            kept = self._models.get(depth)
            if kept is not None and kept[0] == board.revision:
                return kept[2]
            self._models[depth] = fresh = self._updated(board, self._tops[depth], kept)
            return fresh[2]

    @staticmethod
    def _updated(
        board: Scoreboard, tops: TopChunks, kept: tuple[int, int, UnjudgedModel] | None
    ) -> tuple[int, int, UnjudgedModel]:
        grades = golden_grades_of(board, tops)
        there = int((grades >= 0).sum())
        if kept is None or not kept[1] <= there < max(kept[1] * REFIT_FACTOR, kept[1] + 1):
            return board.revision, there, fit_unjudged_model(board, tops)
        changed = np.unique(tops.query[grades != kept[2].grades])
        return board.revision, kept[1], kept[2].after(board, changed.tolist())


class SimulationCache:
    """The simulation of A and B by one measure at the newest grades; thread-safe."""

    def __init__(self, a: str, b: str, measure: Measure, seed: int = 0) -> None:
        self._runs = (a, b)
        self._seed = seed
        self._measure = measure
        self._lock = Lock()
        self._kept: tuple[int, Ints, Simulation] | None = None

    def of(self, board: Scoreboard, model: UnjudgedModel) -> Simulation:
        """Return the simulation for a board's grades; ``model`` is fitted on them."""
        with self._lock:
            if self._kept is None or self._kept[0] != board.revision:
                self._kept = self._updated(board, model)
            return self._kept[2]

    def _updated(self, board: Scoreboard, model: UnjudgedModel) -> tuple[int, Ints, Simulation]:
        known = board.hits(self._runs[0]).known
        if self._kept is None or not is_same_fit(self._kept[2].model, model):
            simulation = simulate(board, model, self._measure, *self._runs, seed=self._seed)
            return board.revision, known, simulation
        _, before, simulation = self._kept
        changed = np.any(known != before, axis=1)
        changed[model.tops.query[model.grades != simulation.model.grades]] = True
        return board.revision, known, simulation.after(board, model, np.flatnonzero(changed))


def is_same_fit(one: UnjudgedModel, other: UnjudgedModel) -> bool:
    """Return whether two models have the same weights, fitted on the same grades."""
    pairs = zip(one.steps, other.steps, strict=True)
    return all(step.fitted is twin.fitted for step, twin in pairs)


class Decider:
    """Simulations that decide which of two runs of one collection is better; thread-safe.

    The same ``seed`` draws the same grades.
    """

    def __init__(self, seed: int = 0) -> None:
        self._seed = seed
        self._lock = Lock()
        self._models = UnjudgedModelCache()
        self._simulations: dict[tuple[str, str, Measure], SimulationCache] = {}

    def trial(self, board: Scoreboard, a: str, b: str, measure: Measure) -> Simulation:
        """Return the simulation of A and B for a board of this collection.

        Raises `BadInput` where A and B are the same run or the measure cannot decide, and
        `NotFound` for an unknown run.
        """
        check_pair_and_measure(board, a, b, measure)
        board = board.snapshot()
        key = (a, b, measure)
        with self._lock:
            cache = self._simulations.setdefault(key, SimulationCache(*key, self._seed))
        return cache.of(board, self.learn(board, measure))

    def learn(self, board: Scoreboard, measure: Measure) -> UnjudgedModel:
        """Return the model of a board's unjudged chunks, as deep as a measure needs."""
        return self._models.of(board, max(DEPTH, int(search_depth(board, measure).max(initial=1))))

    def standing(
        self,
        board: Scoreboard,
        a: str,
        b: str,
        measure: Measure,
        matters: float = SMALLEST_MATTERING,
    ) -> Certainty:
        """Return how sure it is which of A and B is better; raises what `trial` raises."""
        board = board.snapshot()
        return assess_certainty(board, self.trial(board, a, b, measure), matters)

    def choices(
        self, board: Scoreboard, a: str, b: str, measure: Measure, many: int = BATCH
    ) -> list[DecidingPair]:
        """Return the pairs that move the delta most, best first; raises what `trial` raises."""
        board = board.snapshot()
        return choose_pairs(board, self.trial(board, a, b, measure), many)


def check_pair_and_measure(board: Scoreboard, a: str, b: str, measure: Measure) -> None:
    """Raise `BadInput` where grades cannot decide, `NotFound` for an unknown run."""
    for name in (a, b):
        board.column_of(name)
    if a == b:
        raise BadInput(f"A and B are both {a!r}; name two different runs")
    check_can_decide(measure)


def parse_deciding_measure(conventions: Conventions, text: str) -> Measure:
    """Parse the measure that decides; raises `BadInput` for none, several or an unsuitable one."""
    measures = conventions.measures(text)
    if len(measures) != 1:
        raise BadInput(f"one measure decides, such as nDCG@10, not {len(measures)}: {text!r}")
    check_can_decide(measures[0])
    return measures[0]


def check_can_decide(measure: Measure) -> None:
    """Raise `BadInput` for a measure that cannot say which run is better."""
    if not can_decide(measure):
        raise BadInput(f"{measure.label} does not say which run is better; take nDCG@10 or RR")

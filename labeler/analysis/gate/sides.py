"""The values of a run, from a board or as they were kept when it passed; judges nothing."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np

from labeler.analysis.gate.records import Check
from labeler.evaluation import Means, Scoreboard
from labeler.measures import Bools, Floats, Ints, Measure

KeptValues = Mapping[str, Mapping[str, float]]
"""A run's values by full name of a measure, then by query; a query without one is not there."""


class Ground:
    """What a board says, worked out once each: the checks of a gate ask the same over and over."""

    def __init__(self, board: Scoreboard) -> None:
        self.board = board.snapshot()
        self.values: Callable[[Measure], Floats] = cache(self.board.values)
        self.holes: Callable[[Measure], Ints] = cache(self.board.holes)
        self.means: Callable[[Measure, str | None], Means] = cache(self._means)
        self.shown: Callable[[Measure], Ints] = cache(self.board.looked_at)
        self.inside: Callable[[str | None, str | None], Bools] = cache(self._inside)
        self._counted: Callable[[Measure], Bools] = cache(self.board.counted)

    def counted(self, check: Check) -> Bools:
        """Say which queries are in the mean of a check, (queries,)."""
        return self.inside(check.facet, check.bucket) & self._counted(check.measure)

    @cached_property
    def weights(self) -> Floats:
        """What each query weighs, (queries,): 1 where all weigh the same."""
        found = self.board.weights
        return np.ones(len(self.board.collection.query_ids)) if found is None else found

    def _means(self, measure: Measure, facet: str | None) -> Means:
        return self.board.means([measure], facet)

    def _inside(self, facet: str | None, bucket: str | None) -> Bools:
        """Say which queries are in a bucket, (queries,); None stands for all."""
        if bucket is None:
            return np.ones(len(self.board.collection.query_ids), dtype=np.bool_)
        buckets, group = self.board.groups(facet)
        there: Bools = group == buckets.index(bucket)
        return there


@dataclass(frozen=True, eq=False)
class Side:
    """One run's values on the queries of a ground.

    ``kept`` are values of a run that is not on the board, of the same golden set by the same
    conventions; None for one that is.
    """

    name: str
    ground: Ground
    kept: KeptValues | None = None

    @property
    def board(self) -> Scoreboard:
        """The board whose queries these are."""
        return self.ground.board

    @property
    def _at(self) -> int:
        return self.board.column_of(self.name)

    def values(self, check: Check) -> Floats:
        """Return the values that are in the mean, (queries,); NaN for every other query."""
        if self.kept is None:
            found = self.ground.values(check.measure)[:, self._at]
        else:
            own = self.kept.get(str(check.measure), {})
            ids = self.board.collection.query_ids
            found = np.array([own.get(query_id, math.nan) for query_id in ids], dtype=np.float64)
        return np.where(self.ground.inside(check.facet, check.bucket), found, np.nan)

    def mean(self, check: Check) -> float:
        """Return the mean of these values, as a board has it; NaN where there is none."""
        if self.kept is not None:
            values = self.values(check)
            known = ~np.isnan(values)
            if not known.any():
                return math.nan
            return float(np.average(values[known], weights=self.ground.weights[known]))
        means = self.ground.means(check.measure, check.facet)
        return float(means.value[0, self._at, means.buckets.index(check.bucket)])

    def holes(self, check: Check) -> float:
        """Return the share of its chunks above the cut-off that nobody has graded.

        Of the queries in the mean; 0 for what was kept, which had few enough when it passed.
        """
        if self.kept is not None:
            return 0.0
        counted = self.ground.counted(check)
        shown = int(self.ground.shown(check.measure)[counted, self._at].sum())
        holes = int(self.ground.holes(check.measure)[counted, self._at].sum())
        return holes / shown if shown else 0.0

    def carried(self, check: Check) -> int:
        """Count the chunks above the cut-off whose grade was carried over from other chunks."""
        if self.kept is not None:
            return 0
        means = self.ground.means(check.measure, check.facet)
        return int(means.carried[0, self._at, means.buckets.index(check.bucket)])

    def absent(self, check: Check) -> int:
        """Count the queries in the mean for which it has no list."""
        if self.kept is not None:
            return 0
        return int(np.sum(self.board.absent(self.name) & self.ground.counted(check)))

    def all_kept(self, measure: Measure) -> dict[str, float]:
        """Return what is kept of it once it has passed: its values by query."""
        column = self.ground.values(measure)[:, self._at].tolist()
        pairs = zip(self.board.collection.query_ids, column, strict=True)
        return {query_id: value for query_id, value in pairs if not math.isnan(value)}

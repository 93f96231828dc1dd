"""The values of a run, from a board or as they were kept when it passed; judges nothing."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from labeler.evaluation import Scoreboard
from labeler.gate.records import Check
from labeler.measures import Bools, Floats, Measure

KeptValues = Mapping[str, Mapping[str, float]]
"""A run's values by full name of a measure, then by query; a query without one is not there."""


@dataclass(frozen=True, eq=False)
class Side:
    """One run's values on a board's queries.

    ``kept`` are values of a run that is not on the board, of the same golden set by the same
    conventions; None for one that is.
    """

    name: str
    board: Scoreboard
    kept: KeptValues | None = None

    def values(self, check: Check) -> Floats:
        """Return the values that are in the mean, (queries,); NaN for every other query."""
        if self.kept is None:
            found = self.board.values(check.measure)[:, self.board.column_of(self.name)]
        else:
            own = self.kept.get(str(check.measure), {})
            ids = self.board.collection.query_ids
            found = np.array([own.get(query_id, math.nan) for query_id in ids], dtype=np.float64)
        return np.where(inside(self.board, check), found, np.nan)

    def mean(self, check: Check) -> float:
        """Return the mean of these values, as a board has it; NaN where there is none."""
        if self.kept is not None:
            known = self.values(check)
            known = known[~np.isnan(known)]
            return float(known.mean()) if len(known) else math.nan
        means = self.board.means([check.measure], check.facet)
        at = self.board.column_of(self.name), means.buckets.index(check.bucket)
        return float(means.value[0][at])

    def holes(self, check: Check) -> float:
        """Return the share of its chunks above the cut-off that nobody has graded.

        Of the queries in the mean; 0 for what was kept, which had few enough when it passed.
        """
        if self.kept is not None:
            return 0.0
        board, at = self.board, self.board.column_of(self.name)
        asked = inside(board, check) & board.counted(check.measure)
        whole_list = check.measure.cutoff is None
        depth = board.conventions.pool_depth if whole_list else board.cutoffs(check.measure)
        shown = int(np.minimum(board.hits(self.name).length, depth)[asked].sum())
        return int(board.holes(check.measure)[asked, at].sum()) / shown if shown else 0.0

    def absent(self, check: Check) -> int:
        """Count the queries in the mean for which it has no list."""
        if self.kept is not None:
            return 0
        counted = inside(self.board, check) & self.board.counted(check.measure)
        return int(np.sum(self.board.absent(self.name) & counted))

    def all_kept(self, measure: Measure) -> dict[str, float]:
        """Return what is kept of it once it has passed: its values by query."""
        column = self.board.values(measure)[:, self.board.column_of(self.name)].tolist()
        pairs = zip(self.board.collection.query_ids, column, strict=True)
        return {query_id: value for query_id, value in pairs if not math.isnan(value)}


def inside(board: Scoreboard, check: Check) -> Bools:
    """Say which queries a check speaks of, (queries,)."""
    if check.bucket is None:
        return np.ones(len(board.collection.query_ids), dtype=np.bool_)
    buckets, group = board.groups(check.facet)
    there: Bools = group == buckets.index(check.bucket)
    return there

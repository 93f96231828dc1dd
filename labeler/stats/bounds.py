"""The lowest and highest mean, and delta of means, over all ways the holes could be graded.

Queries choose apart from each other, so a mean's lowest is made of each query's lowest. One with no
value yet may get one and then enters the mean, or stay out of it: those that pull the mean the
right way come in, the farthest first, until the next would not pull it any more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from labeler.measures import Bools, Floats, Ints, Measure
from labeler.stats.alone import Rows, range_alone
from labeler.stats.ground import Ground
from labeler.stats.jointly import range_of_delta


@dataclass(frozen=True, eq=False)
class Reach:
    """How low and how high values can be, by query.

    ``low``, ``high`` and ``exact`` (queries, runs, plus one for the delta where the runs are two):
    over all fillings under which there is a value, and whether some filling reaches both. ``must``
    (queries,) says which queries are in the mean whatever the grades, ``may`` which come in under
    some of them only. ``holes`` (queries,) counts them.
    """

    low: Floats
    high: Floats
    exact: Bools
    must: Bools
    may: Bools
    holes: Ints

    def replaced(self, queries: Ints, part: Reach) -> Reach:
        """Return the same after some queries changed."""
        names = ("low", "high", "exact", "must", "may", "holes")
        fresh = [getattr(self, name).copy() for name in names]
        for old, name in zip(fresh, names, strict=True):
            old[queries] = getattr(part, name)
        return Reach(*fresh)

    @classmethod
    def joined(cls, parts: Sequence[Reach]) -> Reach:
        """Return the same of the queries of all parts."""
        fields = zip(*(vars(part).values() for part in parts), strict=True)
        return cls(*map(np.concatenate, fields))

    def of_mean(self, inside: Bools) -> tuple[Floats, Floats, Bools]:
        """Return the lowest and highest mean over the queries ``inside``, and where both are exact.

        One of each for every run, and the delta; NaN where no filling gives a value.
        """
        must, may = inside & self.must, inside & self.may
        low = 0.0 - _highest_mean(-self.low[must], -self.low[may])  # and never -0.0
        high = 0.0 + _highest_mean(self.high[must], self.high[may])
        exact: Bools = np.logical_and.reduce(self.exact[must | may], axis=0)
        return low, high, exact


def _highest_mean(sure: Floats, open_ones: Floats) -> Floats:
    """Return the highest mean of each column over all rows that must count and some that may."""
    best_first = -np.sort(-open_ones, axis=0)
    counts = np.arange(len(best_first) + 1)[:, np.newaxis] + len(sure)
    start = sure.sum(axis=0)[np.newaxis]
    sums = np.concatenate([start, start + np.cumsum(best_first, axis=0)])
    means = np.divide(sums, counts, out=np.full(sums.shape, -np.inf), where=counts > 0)
    best = means.max(axis=0)
    return np.where(np.isinf(best), np.nan, best)


def reach_of(ground: Ground, measure: Measure, cutoff: Ints, *, stand_in: float | None) -> Reach:
    """Find how far values can go; ``stand_in`` is what counts for an undefined one.

    ``ground`` has the holes that matter to the measure and no others.
    """
    low, high, exact = range_alone(ground, measure, cutoff)
    rows = Rows(ground, measure, cutoff)
    if ground.runs == 2:
        ends = [each[:, np.newaxis] for each in range_of_delta(rows)]
        low, high, exact = (
            np.concatenate(pair, axis=1) for pair in zip((low, high, exact), ends, strict=True)
        )
    defined = rows.is_defined[:: ground.runs]
    must, may = defined, ~defined & (ground.count > 0)
    if stand_in is not None:
        counts = np.append(np.full(ground.runs, stand_in), [0.0] * (ground.runs == 2))
        low[~defined] = np.fmin(low[~defined], counts)
        high[~defined] = np.fmax(high[~defined], counts)
        must, may = ground.judged | (ground.count > 0), np.zeros_like(may)
    return Reach(low, high, exact, must, may, ground.count)

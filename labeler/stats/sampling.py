"""Where means and deltas are likely to end up: measured under many fillings drawn at random."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from labeler.measures import Bools, Floats, Ints, Measure, SmallInts, score
from labeler.stats.alone import Rows
from labeler.stats.ground import Ground

LEVEL = 0.9
"""The share of fillings whose means the interval holds."""

COUNTS = (199, 99, 59, 39, 19)
"""Numbers of fillings of which 5% and 95% fall on whole places: (n + 1) · 5% is one."""

MOST_WORK = 6_000_000  # entries measured in all
AT_ONCE = 200_000  # entries measured in one go: as many as a processor keeps at hand


def draws_for(entries: int) -> int:
    """Return how many fillings are drawn: the fewer the more there is to measure.

    The interval covers as often with few as with many, since it ends at places in the order of what
    was drawn; its ends are only less steady.

    >>> draws_for(20_000), draws_for(400_000)
    (199, 19)
    """
    return next((count for count in COUNTS if count * entries <= MOST_WORK), COUNTS[-1])


@dataclass(frozen=True, eq=False)
class Drawn:
    """What a measure gives under each of some fillings, by query.

    ``values`` (queries, fillings, runs, plus one for the delta where the runs are two) are 0 where
    a query is not in the mean, ``counted`` (queries, fillings) says where it is.
    """

    values: Floats
    counted: Bools

    def replaced(self, queries: Ints, part: Drawn) -> Drawn:
        """Return the same after some queries changed."""
        self.values[queries], self.counted[queries] = part.values, part.counted
        return self

    @classmethod
    def joined(cls, parts: Sequence[Drawn]) -> Drawn:
        """Return the same of the queries of all parts."""
        return cls(
            np.concatenate([part.values for part in parts]),
            np.concatenate([part.counted for part in parts]),
        )

    def interval(self, inside: Bools) -> tuple[Floats, Floats]:
        """Return where 90% of the means over the queries ``inside`` are, for each run and delta.

        NaN where no filling gives a mean.
        """
        everything = bool(inside.all())
        values = self.values if everything else self.values[inside]
        count = (self.counted if everything else self.counted[inside]).sum(axis=0)
        means = values.sum(axis=0)[count > 0] / count[count > 0, np.newaxis]
        if not len(means):
            return (np.full(values.shape[2], np.nan),) * 2
        means.sort(axis=0)
        outside = max(round((1 - LEVEL) / 2 * (len(means) + 1)) - 1, 0)
        return means[outside], means[-1 - outside]


def draw_values(
    ground: Ground,
    measures: Sequence[Measure],
    cutoff: Ints,
    grades: SmallInts,
    *,
    stand_in: float | None,
) -> list[Drawn]:
    """Measure every list under each filling, (fillings, holes); ``stand_in`` is for undefined ones.

    ``ground`` has the holes that matter to the measures and no others; they share a ``cutoff``.
    """
    queries, runs, fillings = len(ground.queries), ground.runs, len(grades)
    at_once = max(1, AT_ONCE // max(len(ground.row), 1))
    limits = Rows(ground, measures[0], cutoff).limit if queries else 1
    parts: list[list[Floats]] = [[] for _ in measures]
    for start in range(0, fillings, at_once):
        some = grades[start : start + at_once]
        hits = ground.filled_often(some)
        limit = limits if isinstance(limits, int) else np.tile(limits, len(some))
        for part, measure in zip(parts, measures, strict=True):
            part.append(score(hits, measure, limit).reshape(len(some), queries, runs))
    return [_drawn(np.concatenate(part), ground, stand_in=stand_in) for part in parts]


def _drawn(found: Floats, ground: Ground, *, stand_in: float | None) -> Drawn:
    values = found.transpose(1, 0, 2)
    counted = ~np.isnan(values[:, :, 0])
    if stand_in is not None:
        counted = np.broadcast_to(
            (ground.judged | (ground.count > 0))[:, np.newaxis], counted.shape
        )
    values = np.nan_to_num(values, nan=stand_in or 0.0)
    if ground.runs == 2:
        values = np.concatenate([values, values[:, :, 1:] - values[:, :, :1]], axis=2)
    return Drawn(np.ascontiguousarray(values), counted.copy())

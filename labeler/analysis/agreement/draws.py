"""The bootstrap: how far a number would move with other queries; knows nothing of grades."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from labeler.analysis.agreement.coefficients import Floats

DRAWS = 2_000
SEED = 20_260_101
LEVEL = 0.95
LEAST_DEFINED = 0.9  # of the draws: among fewer, those left out could have been at either end
ROOM = 256_000  # numbers drawn at once: more would leave the cache
MOST_KEPT = 4  # sizes of samples whose draws are kept: each is a wide table


class Interval(NamedTuple):
    """The 95% interval of a number, NaN at both ends where ``reason`` says why there is none."""

    low: float
    high: float
    reason: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Sums:
    """What numbers by query come to: over all ``queries``, and over each draw of as many."""

    whole: Floats
    drawn: Floats
    queries: int

    def interval(self, number: Callable[[Floats], Floats]) -> Interval:
        """Return the percentile interval of a number that is made of the sums.

        Draws in which it is not defined are left out.
        """
        if self.queries < 2:
            return Interval(math.nan, math.nan, "it rests on one query")
        found = number(self.drawn)
        known = found[~np.isnan(found)]
        if len(known) < LEAST_DEFINED * len(found):
            lost = f"not defined in {len(found) - len(known):,} of {len(found):,} draws"
            return Interval(math.nan, math.nan, lost)
        low, high = np.quantile(known, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
        return Interval(float(low), float(high))


class Draws:
    """Resamples queries, whole, always in the same way: what is drawn of n of them is kept.

    The chunks of one query hang together, so that to resample chunks would promise too much.
    """

    def __init__(self, draws: int = DRAWS, seed: int = SEED) -> None:
        self.draws = draws
        self.seed = seed
        self._weights: dict[int, Floats] = {}

    def of(self, by_query: Floats) -> Sums:
        """Return the sums of ``by_query`` (queries, ...), over all of them and over each draw."""
        queries = len(by_query)
        drawn = np.empty((0, *by_query.shape[1:]))
        if queries > 1:
            flat = self._weights_of(queries) @ by_query.reshape(queries, -1)
            drawn = flat.reshape(self.draws, *by_query.shape[1:])
        return Sums(by_query.sum(0), drawn, queries)

    def _weights_of(self, queries: int) -> Floats:
        """Return how often each of so many queries is in each draw: whole numbers as floats."""
        if queries not in self._weights:
            if len(self._weights) == MOST_KEPT:
                self._weights.clear()
            random = np.random.default_rng(self.seed)
            weights = np.empty((self.draws, queries))
            step = max(1, ROOM // queries)
            for start in range(0, self.draws, step):
                part = weights[start : start + step]
                drawn = random.integers(0, queries, part.shape, dtype=np.int32)
                drawn += np.arange(len(part), dtype=np.int32)[:, None] * np.int32(queries)
                part[:] = np.bincount(drawn.ravel(), minlength=part.size).reshape(part.shape)
            self._weights[queries] = weights
        return self._weights[queries]

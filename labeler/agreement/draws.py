"""The bootstrap: how far a number would move with other queries; knows nothing of grades."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from labeler.agreement.coefficients import Floats

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


class Draws:
    """Resamples queries, whole, always in the same way: what is drawn of n of them is kept.

    The chunks of one query hang together, so that to resample chunks would promise too much.
    """

    def __init__(self, draws: int = DRAWS, seed: int = SEED) -> None:
        self.draws = draws
        self.seed = seed
        self._weights: dict[int, Floats] = {}

    def totals(self, by_query: Floats) -> Floats:
        """Return the sums (draws, ...) of ``by_query`` (queries, ...) over each draw."""
        drawn = self._weights_of(len(by_query)) @ by_query.reshape(len(by_query), -1)
        return drawn.reshape(self.draws, *by_query.shape[1:])

    def interval(self, by_query: Floats, number: Callable[[Floats], Floats]) -> Interval:
        """Return the percentile interval of ``number`` of the sums of ``by_query``.

        Draws in which the number is not defined are left out.
        """
        if len(by_query) < 2:
            return Interval(math.nan, math.nan, "it rests on one query")
        found = number(self.totals(by_query))
        known = found[~np.isnan(found)]
        if len(known) < LEAST_DEFINED * self.draws:
            lost = f"not defined in {self.draws - len(known):,} of {self.draws:,} draws"
            return Interval(math.nan, math.nan, lost)
        low, high = np.quantile(known, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
        return Interval(float(low), float(high))

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

"""Agreement coefficients (weighted kappa, alpha, Fleiss' kappa) and their bootstrap over queries.

Every formula accepts leading axes, so that one call computes a value and all its bootstrap draws.
It is NaN only where the disagreement expected by chance is 0. Counts are whole numbers stored as
floats wherever possible, so that results that should be exactly 0 or 1 are exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]
Metric = Literal["ordinal", "nominal", "interval"]

METRICS: tuple[Metric, ...] = ("ordinal", "nominal", "interval")


def weighted_kappa(table: Floats, values: Floats) -> Floats:
    """Return Cohen's kappa of a confusion matrix (..., k, k) with quadratic weights.

    Grades two steps apart disagree four times as much as neighbours. Distances are those of their
    ``values`` (k,): a grade that nobody gave still separates its neighbours. Kappa is 0 where
    only one grader used a single grade, and NaN where both used the same single grade. Cohen
    (1968), Weighted kappa.

    >>> weighted_kappa(np.array([[2.0, 1, 0], [0, 2, 0], [1, 0, 1]]), np.arange(3.0)).item()
    0.4067796610169492
    """
    apart = _squared_distances(values)
    n = table.sum((-2, -1))
    rows, columns = table.sum(-1), table.sum(-2)
    seen = (table * apart).sum((-2, -1)) * n
    chance = (rows[..., :, None] * columns[..., None, :] * apart).sum((-2, -1))
    return _one_minus(seen, chance)


def alpha(coincidences: Floats, values: Floats, metric: Metric = "ordinal") -> Floats:
    """Return Krippendorff's alpha of a coincidence matrix (..., k, k), see `coincidences_of`.

    The ordinal difference of two grades is the number of given grades between them, with those
    two counting half. It depends on the grades given, so it differs in every draw.
    Krippendorff (2011), Computing Krippendorff's alpha-reliability.
    """
    totals = coincidences.sum(-1)
    n = totals.sum(-1)
    apart = _squared_differences(totals, values, metric)
    seen = (coincidences * apart).sum((-2, -1)) * (n - 1)
    chance = (totals[..., :, None] * totals[..., None, :] * apart).sum((-2, -1))
    return _one_minus(seen, chance)


def coincidences_of(counts: Floats) -> Floats:
    """Return coincidence matrices (chunks, k, k) from the count of each grade (chunks, k).

    In a chunk with m graders each grade is in m - 1 pairs; with one grader there are none.
    """
    graded = counts.sum(-1)
    pairs = counts[:, :, None] * counts[:, None, :]
    places = np.arange(counts.shape[-1])
    pairs[:, places, places] -= counts
    return np.where(graded[:, None, None] > 1, pairs / np.maximum(graded - 1, 1)[:, None, None], 0)


def fleiss_kappa(chunks: Floats, squares: Floats, totals: Floats, graders: int) -> Floats:
    """Return Fleiss' kappa over ``chunks`` that all ``graders`` graded, with nominal grades.

    ``squares`` is the sum over chunks of the squared count of each grade; ``totals`` (..., k) is
    how often each grade was given. Fleiss (1971), Measuring nominal scale agreement.
    """
    given = chunks * graders
    with np.errstate(invalid="ignore", divide="ignore"):
        seen = (given * graders - squares) / (given * (graders - 1))
        chance = (given**2 - (totals**2).sum(-1)) / given**2
    return _one_minus(seen, chance)


def same_share(agreeing: Floats, of: Floats) -> Floats:
    """Return ``agreeing`` / ``of``; NaN where ``of`` is 0."""
    with np.errstate(invalid="ignore", divide="ignore"):
        share: Floats = np.asarray(agreeing / of)
    return share


def _squared_differences(totals: Floats, values: Floats, metric: Metric) -> Floats:
    if metric == "nominal":
        return 1.0 - np.eye(len(values))
    if metric == "interval":
        return _squared_distances(values)
    return _squared_distances(np.cumsum(totals, -1) - totals / 2)


def _squared_distances(places: Floats) -> Floats:
    squares: Floats = (places[..., :, None] - places[..., None, :]) ** 2
    return squares


def _one_minus(seen: Floats, chance: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(chance > 0, 1.0 - seen / chance, np.nan)


BOOTSTRAP_DRAWS = 2_000
BOOTSTRAP_SEED = 20_260_101
INTERVAL_LEVEL = 0.95
LEAST_DEFINED = 0.9  # share of draws; with fewer, the undefined ones could move both ends
NUMBERS_AT_ONCE = 256_000  # more random numbers at once would not fit the CPU cache
MOST_SIZES_KEPT = 4  # sample sizes whose draws are cached; each is a wide table


class PercentileInterval(NamedTuple):
    """A 95% confidence interval; both ends are NaN where ``reason`` says why there is none."""

    low: float
    high: float
    reason: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class BootstrapSums:
    """Sums of per-query numbers: over all ``queries``, and over each bootstrap draw."""

    whole: Floats
    drawn: Floats
    queries: int

    def interval(self, number: Callable[[Floats], Floats]) -> PercentileInterval:
        """Return the percentile interval of a statistic of the sums.

        Draws in which it is undefined are left out; there is no interval if there are too many.
        """
        if self.queries < 2:
            return PercentileInterval(math.nan, math.nan, "it rests on one query")
        found = number(self.drawn)
        known = found[~np.isnan(found)]
        if len(known) < LEAST_DEFINED * len(found):
            lost = f"not defined in {len(found) - len(known):,} of {len(found):,} draws"
            return PercentileInterval(math.nan, math.nan, lost)
        low, high = np.quantile(known, [(1 - INTERVAL_LEVEL) / 2, (1 + INTERVAL_LEVEL) / 2])
        return PercentileInterval(float(low), float(high))


class QueryBootstrap:
    """A bootstrap over whole queries, with the same cached draws for the same number of queries.

    The chunks of one query depend on each other: resampling chunks would give intervals that are
    too narrow.
    """

    def __init__(self, draws: int = BOOTSTRAP_DRAWS, seed: int = BOOTSTRAP_SEED) -> None:
        self.draws = draws
        self.seed = seed
        self._weights: dict[int, Floats] = {}

    def of(self, by_query: Floats) -> BootstrapSums:
        """Return the sums of ``by_query`` (queries, ...) over all queries and over each draw."""
        queries = len(by_query)
        drawn = np.empty((0, *by_query.shape[1:]))
        if queries > 1:
            flat = self._weights_of(queries) @ by_query.reshape(queries, -1)
            drawn = flat.reshape(self.draws, *by_query.shape[1:])
        return BootstrapSums(by_query.sum(0), drawn, queries)

    def _weights_of(self, queries: int) -> Floats:
        """Return how often each query is in each draw (draws, queries): whole numbers as floats."""
        if queries not in self._weights:
            if len(self._weights) == MOST_SIZES_KEPT:
                self._weights.clear()
            random = np.random.default_rng(self.seed)
            weights = np.empty((self.draws, queries))
            step = max(1, NUMBERS_AT_ONCE // queries)
            for start in range(0, self.draws, step):
                part = weights[start : start + step]
                drawn = random.integers(0, queries, part.shape, dtype=np.int32)
                drawn += np.arange(len(part), dtype=np.int32)[:, None] * np.int32(queries)
                part[:] = np.bincount(drawn.ravel(), minlength=part.size).reshape(part.shape)
            self._weights[queries] = weights
        return self._weights[queries]

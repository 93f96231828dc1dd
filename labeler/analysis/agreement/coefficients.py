"""Agreement coefficients (weighted kappa, alpha, Fleiss' kappa) and their intervals over queries.

Every formula accepts leading axes, so that one call computes a value without each query in turn.
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

from labeler.stats.student_t import student_t_quantile

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
    two counting half. It depends on the grades given, so it differs without each query.
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


INTERVAL_LEVEL = 0.95
SHARE_BOUNDS, COEFFICIENT_BOUNDS = (0.0, 1.0), (-1.0, 1.0)
MOST_LOGITS = 500.0  # more would overflow; the interval then reaches the bound
_SAME = 1e-12  # numbers that differ by less are equal but for rounding


class JackknifeInterval(NamedTuple):
    """A 95% confidence interval; both ends are NaN where ``reason`` says why there is none."""

    low: float
    high: float
    reason: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class QuerySums:
    """Sums of per-query numbers: over all queries, and over all but each one.

    ``without`` (queries, ...) holds the sums that leave one query out. Chunks of one query depend
    on each other: leaving out chunks would give intervals that are too narrow.
    """

    whole: Floats
    without: Floats

    @classmethod
    def of(cls, by_query: Floats) -> QuerySums:
        """Return the sums of ``by_query`` (queries, ...)."""
        whole = by_query.sum(0)
        without = whole - by_query
        without[np.abs(without) < _SAME] = 0.0  # a count of 0 that rounding missed
        return cls(whole, without)

    @property
    def queries(self) -> int:
        """The number of queries."""
        return len(self.without)

    def interval(
        self, number: Callable[[Floats], Floats], bounds: tuple[float, float] | None
    ) -> JackknifeInterval:
        """Return the jackknife interval of a statistic of the sums over the choice of queries.

        The standard error comes from the values without each query in turn (Tukey 1958). With
        Student's t it makes an interval on the logit scale between ``bounds``, the least and the
        largest value there can be: from -1 to 1 that is Fisher's z. A bootstrap's percentiles
        cover far less where there are few queries or few differences. There is no interval where
        the values do not vary.
        """
        if self.queries < 2:
            return _no_interval("it rests on one query")
        value, others = float(number(self.whole)), number(self.without)
        if np.isnan(others).any():
            return _no_interval("it is not defined without one of the queries")
        if bounds and min(value - bounds[0], bounds[1] - value) < _SAME:
            return _no_interval(f"it is exactly {value:g}")
        if np.ptp(others) < _SAME:
            return _no_interval("it is the same without any one of the queries")
        error = others.std() * math.sqrt(self.queries - 1)
        reach = error * student_t_quantile((1 - INTERVAL_LEVEL) / 2, self.queries - 1)
        if bounds is None:
            return JackknifeInterval(value - reach, value + reach)
        return JackknifeInterval(_move(value, -reach, *bounds), _move(value, reach, *bounds))


def _no_interval(reason: str) -> JackknifeInterval:
    return JackknifeInterval(math.nan, math.nan, reason)


def _move(value: float, by: float, low: float, high: float) -> float:
    """Return a value moved by ``by`` on the logit scale between two bounds."""
    below, above = value - low, high - value
    logits = min(by * (high - low) / (below * above), MOST_LOGITS)
    return high - (high - low) / (1 + below / above * math.exp(logits))

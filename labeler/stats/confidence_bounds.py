"""One-sided lower bounds of means and of mean differences, for one look or for every look.

A bound for one look is the lower end of an interval. A bound for every look also keeps its error
where it is looked at again after each query that arrives.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from labeler.measures import Floats, Measure
from labeler.stats.confidence_intervals import (
    ConfidenceInterval,
    mean_interval,
    no_interval,
    weighted_wilson_interval,
)
from labeler.stats.difference_intervals import count_differing, difference_intervals
from labeler.stats.paired_tests import EQUAL_WITHIN, p_values

BETTING = "betting"
BET_SIZES: Floats = 1 / (1 + np.exp(-np.linspace(-3, 5, 33)))
"""Shares of the wealth that are bet, from 4.7% to 99.3%; each has the same first wealth."""

_HALVINGS = 40  # of the search for a bound: to 1e-12


def mean_bound(
    sample: Floats, weights: Floats, measure: Measure, confidence: float
) -> ConfidenceInterval:
    """Return an interval whose lower end is, with this one-sided confidence, below the true mean.

    >>> from labeler.measures import parse
    >>> round(mean_bound(np.ones(10), np.ones(10), parse("nDCG@10"), 0.95).lo, 4)
    0.7871
    """
    return mean_interval(sample, weights, measure, level=2 * confidence - 1)


def difference_bounds(
    samples: Sequence[Floats],
    weights: Sequence[Floats],
    confidence: float,
    zero_or_one: Sequence[bool],
) -> list[ConfidenceInterval]:
    """Return intervals whose lower ends are, with one-sided confidence, below the true differences.

    By `difference_intervals`. Without such an interval, the lower end is the largest share of
    queries that may fall (Wilson's bound), as if each of them fell by 1, and ``reason`` says why.
    """
    alpha = 2 * (1 - confidence)
    pairs = list(zip(samples, weights, strict=True))
    tested = p_values([sample * weight for sample, weight in pairs])
    found = difference_intervals(
        samples,
        weights,
        [each.p for each in tested],
        tests=[1] * len(samples),
        zero_or_one=zero_or_one,
        alpha=alpha,
    )
    return [
        each if each.method else _bound_by_falls(sample, weight, alpha, each.reason)
        for each, (sample, weight) in zip(found, pairs, strict=True)
    ]


def _bound_by_falls(
    sample: Floats, weights: Floats, alpha: float, reason: str
) -> ConfidenceInterval:
    if not count_differing(sample) or np.abs(sample).max() > 1:
        return no_interval(reason)
    falls = (sample < -EQUAL_WITHIN).astype(np.float64)
    worst = weighted_wilson_interval(falls, weights, level=1 - alpha)
    return ConfidenceInterval(-worst.hi, 1.0, worst.method, reason)


def anytime_mean_bound(sample: Floats, confidence: float) -> ConfidenceInterval:
    """Return a lower bound of the mean of values from 0 to 1 that holds at every look.

    With this confidence the bounds at all looks together are below the true mean, however many
    queries arrive between two looks and whenever looking ends. Each query has to be one that could
    as well have come at another time. The bound does not depend on the order of the values.

    It is the lower confidence sequence by betting of Waudby-Smith and Ramdas (2024), Estimating
    means of bounded random variables by betting, J. R. Stat. Soc. B 86, 1-27: a player bets against
    each possible mean that the next value is above it, with a fixed share of the wealth, and starts
    with the same wealth on each of `BET_SIZES` (their "diversified Kelly"). A mean at which the
    wealth has grown by 1 / (1 - confidence) is too low; by Ville's inequality that happens to the
    true mean, at any time, with at most the chance 1 - confidence.

    >>> round(anytime_mean_bound(np.ones(10), 0.95).lo, 4)
    0.6863
    """
    if not len(sample):
        return no_interval("no query counts")
    needed = np.log(len(BET_SIZES) / (1 - confidence))
    too_low, kept = 0.0, float(np.mean(sample))
    for _ in range(_HALVINGS):
        middle = (too_low + kept) / 2
        returns = np.outer(BET_SIZES, sample / middle - 1) if middle > 0 else np.zeros((1, 1))
        if np.logaddexp.reduce(np.log1p(returns).sum(axis=1)) >= needed:
            too_low = middle
        else:
            kept = middle
    return ConfidenceInterval(too_low, 1.0, BETTING)


def anytime_difference_bound(sample: Floats, confidence: float) -> ConfidenceInterval:
    """Return a lower bound of a mean difference from -1 to 1 that holds at every look.

    >>> round(anytime_difference_bound(np.zeros(100), 0.95).lo, 4)
    -0.0374
    """
    found = anytime_mean_bound((np.asarray(sample) + 1) / 2, confidence)
    return found._replace(lo=2 * found.lo - 1)

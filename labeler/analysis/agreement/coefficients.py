"""The formulas: counts of grades in, coefficients out; knows no grader, no query and no chunk.

Every function takes leading axes, so that one call serves a value and all its draws, and gives NaN
only where the disagreement to be expected by chance is 0. Counts are whole numbers held as floats
wherever they can be: what should be exactly 0 or 1 is.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]
Metric = Literal["ordinal", "nominal", "interval"]

METRICS: tuple[Metric, ...] = ("ordinal", "nominal", "interval")


def weighted_kappa(table: Floats, values: Floats) -> Floats:
    """Return Cohen's kappa of a confusion matrix (..., k, k) with quadratic weights.

    Grades two steps apart disagree four times as much as neighbours, by their ``values`` (k,) and
    not by their places among those in use: a grade that nobody gave still lies between two others.
    Cohen (1968), Weighted kappa. Where one grader gave one grade only it is 0, where both gave the
    same one only it is NaN.

    >>> weighted_kappa(np.array([[2.0, 1, 0], [0, 2, 0], [1, 0, 1]]), np.arange(3.0)).item()
    0.4067796610169492
    """
    apart = _squares(values)
    n = table.sum((-2, -1))
    rows, columns = table.sum(-1), table.sum(-2)
    seen = (table * apart).sum((-2, -1)) * n
    chance = (rows[..., :, None] * columns[..., None, :] * apart).sum((-2, -1))
    return _one_minus(seen, chance)


def alpha(coincidences: Floats, values: Floats, metric: Metric = "ordinal") -> Floats:
    """Return Krippendorff's alpha of a coincidence matrix (..., k, k), see `coincidences_of`.

    The ordinal difference of two grades is how many grades lie between them, those in question by
    half: it follows from what was given, and so is another in every draw. Krippendorff (2011),
    Computing Krippendorff's alpha-reliability.
    """
    totals = coincidences.sum(-1)
    n = totals.sum(-1)
    apart = _apart(totals, values, metric)
    seen = (coincidences * apart).sum((-2, -1)) * (n - 1)
    chance = (totals[..., :, None] * totals[..., None, :] * apart).sum((-2, -1))
    return _one_minus(seen, chance)


def coincidences_of(counts: Floats) -> Floats:
    """Return the coincidences (chunks, k, k) of how many gave which grade to each (chunks, k).

    A chunk that m graded has m - 1 pairs for each grade; one that a single person graded has none.
    """
    graded = counts.sum(-1)
    pairs = counts[:, :, None] * counts[:, None, :]
    places = np.arange(counts.shape[-1])
    pairs[:, places, places] -= counts
    return np.where(graded[:, None, None] > 1, pairs / np.maximum(graded - 1, 1)[:, None, None], 0)


def fleiss_kappa(chunks: Floats, squares: Floats, totals: Floats, graders: int) -> Floats:
    """Return Fleiss' kappa over ``chunks`` that all ``graders`` graded; grades are names to it.

    ``squares`` sums, chunk by chunk, the squares of how many gave each grade; ``totals`` (..., k)
    says how often each grade was given. Fleiss (1971), Measuring nominal scale agreement.
    """
    given = chunks * graders
    with np.errstate(invalid="ignore", divide="ignore"):
        seen = (given * graders - squares) / (given * (graders - 1))
        chance = (given**2 - (totals**2).sum(-1)) / given**2
    return _one_minus(seen, chance)


def same_share(agreeing: Floats, of: Floats) -> Floats:
    """Return a plain share; NaN where there is nothing to agree on."""
    with np.errstate(invalid="ignore", divide="ignore"):
        share: Floats = np.asarray(agreeing / of)
    return share


def _apart(totals: Floats, values: Floats, metric: Metric) -> Floats:
    """Return the squared difference of every two grades."""
    if metric == "nominal":
        return 1.0 - np.eye(len(values))
    if metric == "interval":
        return _squares(values)
    return _squares(np.cumsum(totals, -1) - totals / 2)


def _squares(places: Floats) -> Floats:
    squares: Floats = (places[..., :, None] - places[..., None, :]) ** 2
    return squares


def _one_minus(seen: Floats, chance: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(chance > 0, 1.0 - seen / chance, np.nan)

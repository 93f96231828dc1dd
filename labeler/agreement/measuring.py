"""How far graders agree: every coefficient with what it rests on; asks nobody who is right."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from labeler.agreement import coefficients
from labeler.agreement.coefficients import Floats, Metric
from labeler.agreement.draws import Draws
from labeler.agreement.sheet import HOLE, Codes, Sheet

NOTHING_SHARED = "no chunk was graded by two"
NOT_BY_ALL = "no chunk was graded by all of them"
ONE_GRADE = "only one grade was given, so that no disagreement is to be expected"
SAME_CONSTANT = "both gave one and the same grade to all, so that no disagreement is to be expected"

Formula = Callable[[Floats], Floats]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Coefficient:
    """A number and what it rests on: ``n`` chunks of ``queries`` queries.

    ``value`` is NaN where ``reason`` says why. ``low`` and ``high`` are its 95% interval over the
    choice of queries, NaN where ``unsure`` says why there is none.
    """

    value: float
    n: int
    queries: int
    reason: str | None = None
    low: float = math.nan
    high: float = math.nan
    unsure: str | None = None

    @property
    def is_defined(self) -> bool:
        """Whether there is a value."""
        return not math.isnan(self.value)


@dataclass(frozen=True, slots=True, eq=False)
class PairAgreement:
    """Two graders over the chunks both graded; ``table`` (k, k) has one's grades down.

    ``constant`` names those of the two who gave the same grade to all of these chunks.
    """

    one: str
    other: str
    kappa: Coefficient
    same: Coefficient
    table: npt.NDArray[np.int64]
    constant: tuple[tuple[str, float], ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """What to know of this kappa, in sentences."""
        n = self.kappa.n
        gave = [f"{name} gave {value:g} to all {n:,} of them" for name, value in self.constant]
        if not gave or not self.kappa.is_defined or n < 2:
            return ()
        return (f"{self.one} and {self.other}: {' and '.join(gave)}, hence kappa 0",)


@dataclass(frozen=True, slots=True, eq=False)
class Agreement:
    """How far graders agree, all together and two by two; ``aside`` as a `Sheet` has it.

    ``alpha`` is over the chunks that two or more graded; ``fleiss``, ``same`` (of every two
    graders) and ``all_same`` over those that all of them graded. ``table`` (k, k) has every two
    grades of one chunk twice, once each way round, by their place in ``values``.
    """

    metric: Metric
    graders: tuple[str, ...]
    values: Floats
    alpha: Coefficient
    fleiss: Coefficient
    same: Coefficient
    all_same: Coefficient
    pairs: tuple[PairAgreement, ...]
    table: npt.NDArray[np.int64]


def agreement_of(sheet: Sheet, metric: Metric = "ordinal", draws: Draws | None = None) -> Agreement:
    """Measure how far the graders of a sheet agree; ``metric`` is alpha's."""
    draws = draws or Draws()
    graders = range(len(sheet.graders))
    pairs = tuple(pair_of(sheet, *two, draws) for two in combinations(graders, 2))
    table = sum((pair.table + pair.table.T for pair in pairs), _no_table(sheet))
    return Agreement(
        metric,
        sheet.graders,
        sheet.values,
        alpha_of(sheet, metric, draws),
        *by_all(sheet, draws),
        pairs,
        table,
    )


def alpha_of(sheet: Sheet, metric: Metric, draws: Draws) -> Coefficient:
    """Return Krippendorff's alpha over the chunks that two or more graded."""
    counts = sheet.counts
    shared = counts.sum(1) > 1
    found = coefficients.coincidences_of(counts)
    reason = ONE_GRADE if shared.any() else NOTHING_SHARED
    return _measured(
        sheet.by_query(found, shared),
        lambda drawn: coefficients.alpha(drawn, sheet.values, metric),
        *(int(shared.sum()), reason, draws),
    )


def by_all(sheet: Sheet, draws: Draws) -> tuple[Coefficient, Coefficient, Coefficient]:
    """Return Fleiss' kappa and two shares over the chunks that all graders graded.

    The first share is of every two graders who gave the same grade (Fleiss' observed agreement),
    the second of the chunks to which all gave the same.
    """
    counts, graders = sheet.counts, len(sheet.graders)
    whole: Bools = (sheet.codes != HOLE).all(0) & (graders > 1)
    squares = (counts**2).sum(1)
    columns = [np.ones(len(counts)), squares, squares == graders**2, *counts.T]
    rows = sheet.by_query(np.stack(columns, 1).astype(np.float64), whole)
    n = int(whole.sum())

    def fleiss(drawn: Floats) -> Floats:
        return coefficients.fleiss_kappa(drawn[..., 0], drawn[..., 1], drawn[..., 3:], graders)

    def same(drawn: Floats) -> Floats:
        given = drawn[..., 0] * graders
        return coefficients.same_share(drawn[..., 1] - given, given * (graders - 1))

    def all_same(drawn: Floats) -> Floats:
        return coefficients.same_share(drawn[..., 2], drawn[..., 0])

    reason = ONE_GRADE if n else NOT_BY_ALL
    found = [_measured(rows, each, n, reason, draws) for each in (fleiss, same, all_same)]
    return found[0], found[1], found[2]


def pair_of(sheet: Sheet, one: int, other: int, draws: Draws) -> PairAgreement:
    """Return how far two graders, by their places, agree over the chunks both graded."""
    first, second = sheet.codes[one], sheet.codes[other]
    both: Bools = (first != HOLE) & (second != HOLE)
    rows = confusion_by_query(sheet, first, second, both)
    kappa, same = kappa_and_share(rows, sheet.values, int(both.sum()), draws)
    return PairAgreement(
        sheet.graders[one],
        sheet.graders[other],
        kappa,
        same,
        rows.sum(0).astype(np.int64),
        tuple(
            (sheet.graders[who], float(sheet.values[codes[0]]))
            for who, given in ((one, first), (other, second))
            if len(codes := np.unique(given[both])) == 1
        ),
    )


def confusion_by_query(sheet: Sheet, first: Codes, second: Codes, both: Bools) -> Floats:
    """Return how often which grade met which (queries, k, k), of the queries of ``both``."""
    size = len(sheet.values)
    there, at = np.unique(sheet.query[both], return_inverse=True)
    cells = (at * size + first[both]) * size + second[both]
    counted = np.bincount(cells, minlength=len(there) * size**2)
    return counted.reshape(len(there), size, size).astype(np.float64)


def kappa_and_share(
    rows: Floats, values: Floats, n: int, draws: Draws
) -> tuple[Coefficient, Coefficient]:
    """Return quadratic-weighted kappa and the share of equal grades of confusions by query."""
    reason = SAME_CONSTANT if n else NOTHING_SHARED
    kappa = _measured(
        rows, lambda drawn: coefficients.weighted_kappa(drawn, values), n, reason, draws
    )
    return kappa, share_of(rows, lambda table: np.trace(table, axis1=-2, axis2=-1), n, draws)


def share_of(rows: Floats, counted: Formula, n: int, draws: Draws) -> Coefficient:
    """Return which share of confusions by query is ``counted``."""

    def share(table: Floats) -> Floats:
        return coefficients.same_share(counted(table), table.sum((-2, -1)))

    return _measured(rows, share, n, NOTHING_SHARED, draws)


def _measured(rows: Floats, formula: Formula, n: int, reason: str, draws: Draws) -> Coefficient:
    """Return what a formula makes of sums by query, with its interval."""
    value = float(formula(rows.sum(0))) if n else math.nan
    if math.isnan(value):
        return Coefficient(math.nan, n, len(rows), reason, unsure="it is not defined")
    return Coefficient(value, n, len(rows), None, *draws.interval(rows, formula))


def mean_of(rows: Floats, n: int, draws: Draws) -> Coefficient:
    """Return a mean: ``rows`` (queries, 2) have sums and counts."""

    def mean(drawn: Floats) -> Floats:
        return coefficients.same_share(drawn[..., 0], drawn[..., 1])

    return _measured(rows, mean, n, NOTHING_SHARED, draws)


def _no_table(sheet: Sheet) -> npt.NDArray[np.int64]:
    return np.zeros((len(sheet.values),) * 2, np.int64)

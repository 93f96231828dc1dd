"""How far graders agree: every coefficient with what it rests on; asks nobody who is right."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from labeler.analysis.agreement import coefficients
from labeler.analysis.agreement.coefficients import Floats, Metric
from labeler.analysis.agreement.draws import Draws, Sums
from labeler.analysis.agreement.sheet import HOLE, Codes, Sheet

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
    return measured(
        draws.of(sheet.by_query(found, shared)),
        lambda table: coefficients.alpha(table, sheet.values, metric),
        *(int(shared.sum()), reason),
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
    sums = draws.of(sheet.by_query(np.stack(columns, 1).astype(np.float64), whole))
    n = int(whole.sum())

    def fleiss(drawn: Floats) -> Floats:
        return coefficients.fleiss_kappa(drawn[..., 0], drawn[..., 1], drawn[..., 3:], graders)

    def same(drawn: Floats) -> Floats:
        given = drawn[..., 0] * graders
        return coefficients.same_share(drawn[..., 1] - given, given * (graders - 1))

    def all_same(drawn: Floats) -> Floats:
        return coefficients.same_share(drawn[..., 2], drawn[..., 0])

    reason = ONE_GRADE if n else NOT_BY_ALL
    found = [measured(sums, each, n, reason) for each in (fleiss, same, all_same)]
    return found[0], found[1], found[2]


def pair_of(sheet: Sheet, one: int, other: int, draws: Draws) -> PairAgreement:
    """Return how far two graders, by their places, agree over the chunks both graded."""
    first, second = sheet.codes[one], sheet.codes[other]
    both: Bools = (first != HOLE) & (second != HOLE)
    sums = draws.of(confusion_by_query(sheet, first, second, both))
    n = int(both.sum())
    return PairAgreement(
        sheet.graders[one],
        sheet.graders[other],
        kappa_of(sums, sheet.values, n),
        share_of(sums, np.eye(len(sheet.values)), n),
        sums.whole.astype(np.int64),
        tuple(
            (sheet.graders[who], float(sheet.values[codes[0]]))
            for who, given in ((one, first), (other, second))
            if len(codes := np.unique(given[both])) == 1
        ),
    )


def confusion_by_query(sheet: Sheet, first: Codes, second: Codes, both: Bools) -> Floats:
    """Return how often which grade met which (queries, k, k), of the queries of ``both``."""
    size = len(sheet.values)
    queries, at = sheet.queries_of(both)
    cells = (at * size + first[both]) * size + second[both]
    counted = np.bincount(cells, minlength=queries * size**2)
    return counted.reshape(queries, size, size).astype(np.float64)


def kappa_of(tables: Sums, values: Floats, n: int) -> Coefficient:
    """Return the quadratic-weighted kappa of confusions."""
    reason = SAME_CONSTANT if n else NOTHING_SHARED
    return measured(tables, lambda table: coefficients.weighted_kappa(table, values), n, reason)


def share_of(tables: Sums, counted: Floats, n: int) -> Coefficient:
    """Return which share of confusions is in the cells that are ``counted`` (k, k), as 0 or 1."""

    def share(table: Floats) -> Floats:
        return coefficients.same_share((table * counted).sum((-2, -1)), table.sum((-2, -1)))

    return measured(tables, share, n, NOTHING_SHARED)


def mean_of(sums: Sums, n: int) -> Coefficient:
    """Return a mean; ``sums`` are (2,): of the numbers, and how many there are."""
    return measured(
        sums, lambda each: coefficients.same_share(each[..., 0], each[..., 1]), n, NOTHING_SHARED
    )


def measured(sums: Sums, formula: Formula, n: int, reason: str) -> Coefficient:
    """Return what a formula makes of sums, with its interval; ``reason`` is why it may be NaN."""
    value = float(formula(sums.whole)) if n else math.nan
    if math.isnan(value):
        return Coefficient(math.nan, n, sums.queries, reason, unsure="it is not defined")
    return Coefficient(value, n, sums.queries, None, *sums.interval(formula))


def _no_table(sheet: Sheet) -> npt.NDArray[np.int64]:
    return np.zeros((len(sheet.values),) * 2, np.int64)

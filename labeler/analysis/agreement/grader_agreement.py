"""Agreement of all graders, of each pair, of each grader with the others, and of repeated grades.

Each coefficient has the number of chunks and queries it is computed from, and its interval or the
reason why there is none. A grader is compared with the grade that the others agree on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from labeler.analysis.agreement import coefficients
from labeler.analysis.agreement.coefficients import (
    COEFFICIENT_BOUNDS,
    SHARE_BOUNDS,
    Floats,
    Metric,
    QuerySums,
)
from labeler.analysis.agreement.grade_matrix import NO_GRADE, Codes, GradeMatrix, monday_of_week

NOTHING_SHARED = "no passage was graded by two"
NOT_BY_ALL = "no passage was graded by all of them"
ONE_GRADE = "only one grade was given, so that no disagreement is to be expected"
SAME_CONSTANT = "both gave one and the same grade to all, so that no disagreement is to be expected"

Formula = Callable[[Floats], Floats]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Coefficient:
    """An agreement statistic, from ``n`` chunks of ``queries`` queries.

    ``value`` is NaN where ``reason`` says why. ``low`` and ``high`` are its 95% confidence
    interval over the choice of queries, NaN where ``unsure`` says why there is none.
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
    """Agreement of two graders over the chunks both graded.

    ``table`` (k, k) is their confusion matrix, with the grades of ``one`` as rows. ``constant``
    names who gave the same grade to all of these chunks, and which.
    """

    one: str
    other: str
    kappa: Coefficient
    same: Coefficient
    table: npt.NDArray[np.int64]
    constant: tuple[tuple[str, float], ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences that explain a kappa of 0 where a grader gave one grade only."""
        n = self.kappa.n
        gave = [f"{name} gave {value:g} to all {n:,} passages" for name, value in self.constant]
        if not gave or not self.kappa.is_defined or n < 2:
            return ()
        return (f"{' and '.join(gave)}, so kappa is 0",)


@dataclass(frozen=True, slots=True, eq=False)
class Agreement:
    """Agreement of graders, all together and in pairs.

    ``alpha`` is over the chunks that two or more graded; ``fleiss``, ``same`` (share of pairs of
    graders) and ``all_same`` are over those that all of them graded. ``table`` (k, k) counts every
    two grades of one chunk in both orders, by their index in ``values``.
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


def compute_agreement(matrix: GradeMatrix, metric: Metric = "ordinal") -> Agreement:
    """Return how far the graders of a matrix agree; ``metric`` is that of alpha."""
    graders = range(len(matrix.graders))
    pairs = tuple(agreement_of_pair(matrix, *two) for two in combinations(graders, 2))
    none = np.zeros((len(matrix.values),) * 2, np.int64)
    table = sum((pair.table + pair.table.T for pair in pairs), none)
    return Agreement(
        metric,
        matrix.graders,
        matrix.values,
        alpha_of(matrix, metric),
        *agreement_of_all(matrix),
        pairs,
        table,
    )


def alpha_of(matrix: GradeMatrix, metric: Metric) -> Coefficient:
    """Return Krippendorff's alpha over the chunks that two or more graded."""
    counts = matrix.counts
    shared = counts.sum(1) > 1
    found = coefficients.coincidences_of(counts)
    reason = ONE_GRADE if shared.any() else NOTHING_SHARED
    return estimate(
        QuerySums.of(matrix.by_query(found, shared)),
        lambda table: coefficients.alpha(table, matrix.values, metric),
        *(int(shared.sum()), reason),
    )


def agreement_of_all(matrix: GradeMatrix) -> tuple[Coefficient, Coefficient, Coefficient]:
    """Return Fleiss' kappa and two shares over the chunks that all graders graded.

    The first is the share of pairs of graders that gave the same grade (Fleiss' observed
    agreement), the second the share of chunks to which all gave the same grade.
    """
    counts, graders = matrix.counts, len(matrix.graders)
    whole: Bools = (matrix.codes != NO_GRADE).all(0) & (graders > 1)
    squares = (counts**2).sum(1)
    columns = [np.ones(len(counts)), squares, squares == graders**2, *counts.T]
    sums = QuerySums.of(matrix.by_query(np.stack(columns, 1).astype(np.float64), whole))
    n = int(whole.sum())

    def fleiss(summed: Floats) -> Floats:
        return coefficients.fleiss_kappa(summed[..., 0], summed[..., 1], summed[..., 3:], graders)

    def same(summed: Floats) -> Floats:
        given = summed[..., 0] * graders
        return coefficients.same_share(summed[..., 1] - given, given * (graders - 1))

    def all_same(summed: Floats) -> Floats:
        return coefficients.same_share(summed[..., 2], summed[..., 0])

    reason = ONE_GRADE if n else NOT_BY_ALL
    return (
        estimate(sums, fleiss, n, reason),
        estimate(sums, same, n, reason, SHARE_BOUNDS),
        estimate(sums, all_same, n, reason, SHARE_BOUNDS),
    )


def agreement_of_pair(matrix: GradeMatrix, one: int, other: int) -> PairAgreement:
    """Return how far two graders, given by index, agree over the chunks both graded."""
    first, second = matrix.codes[one], matrix.codes[other]
    both: Bools = (first != NO_GRADE) & (second != NO_GRADE)
    sums = QuerySums.of(confusion_by_query(matrix, first, second, both))
    n = int(both.sum())
    return PairAgreement(
        matrix.graders[one],
        matrix.graders[other],
        kappa_of(sums, matrix.values, n),
        share_of(sums, np.eye(len(matrix.values)), n),
        sums.whole.astype(np.int64),
        tuple(
            (matrix.graders[who], float(matrix.values[codes[0]]))
            for who, given in ((one, first), (other, second))
            if len(codes := np.unique(given[both])) == 1
        ),
    )


def confusion_by_query(matrix: GradeMatrix, first: Codes, second: Codes, both: Bools) -> Floats:
    """Return a confusion matrix per query (queries, k, k) over the chunks that are in ``both``."""
    size = len(matrix.values)
    queries, at = matrix.queries_of(both)
    cells = (at * size + first[both]) * size + second[both]
    counted = np.bincount(cells, minlength=queries * size**2)
    return counted.reshape(queries, size, size).astype(np.float64)


def kappa_of(tables: QuerySums, values: Floats, n: int) -> Coefficient:
    """Return the quadratic-weighted kappa of summed confusion matrices."""
    reason = SAME_CONSTANT if n else NOTHING_SHARED
    return estimate(tables, lambda table: coefficients.weighted_kappa(table, values), n, reason)


def share_of(tables: QuerySums, counted: Floats, n: int) -> Coefficient:
    """Return the share of chunks in the cells that ``counted`` (k, k) marks with 1, not 0."""

    def share(table: Floats) -> Floats:
        return coefficients.same_share((table * counted).sum((-2, -1)), table.sum((-2, -1)))

    return estimate(tables, share, n, NOTHING_SHARED, SHARE_BOUNDS)


def mean_of(sums: QuerySums, n: int) -> Coefficient:
    """Return a mean; ``sums`` (2,) hold the sum of the numbers, and how many there are."""

    def mean(summed: Floats) -> Floats:
        return coefficients.same_share(summed[..., 0], summed[..., 1])

    return estimate(sums, mean, n, NOTHING_SHARED, None)


def estimate(
    sums: QuerySums,
    formula: Formula,
    n: int,
    reason: str,
    bounds: tuple[float, float] | None = COEFFICIENT_BOUNDS,
) -> Coefficient:
    """Return the formula's value of sums, with its interval; ``reason`` is why it may be NaN.

    ``bounds`` are the least and the largest value that the formula can have.
    """
    value = float(formula(sums.whole)) if n else math.nan
    if math.isnan(value):
        return Coefficient(math.nan, n, sums.queries, reason, unsure="it is not defined")
    return Coefficient(value, n, sums.queries, None, *sums.interval(formula, bounds))


ResolveGrades = Callable[[Sequence[int]], int | None]
"""The golden set's rule: takes grades in ascending order, returns one; None if they disagree."""


@dataclass(frozen=True, slots=True)
class WeekDifference:
    """A grader's mean difference from the agreed grade in the UTC week from ``monday``."""

    monday: str
    difference: float
    n: int


@dataclass(frozen=True, slots=True, eq=False)
class AgainstOthers:
    """Comparison of a grader with the grade agreed without them, over the chunks that have one.

    ``difference`` is the mean of their grade minus the agreed one: above 0 they grade higher.
    ``alone`` counts the chunks that nobody else graded, ``at_odds`` those on which the others
    disagree; neither is compared.
    """

    grader: str
    kappa: Coefficient
    same: Coefficient
    near: Coefficient
    difference: Coefficient
    weeks: tuple[WeekDifference, ...]
    alone: int
    at_odds: int


def compare_with_others(matrix: GradeMatrix, resolve: ResolveGrades) -> tuple[AgainstOthers, ...]:
    """Compare each grader's blind grades with the grade agreed without them.

    The agreed grade is somebody else's adjudication where there is one, else ``resolve`` of the
    others' blind grades: nobody is compared with their own grades.
    """
    return tuple(_compare_one(matrix, who, resolve) for who in range(len(matrix.graders)))


def agreed_without(matrix: GradeMatrix, who: int, resolve: ResolveGrades) -> tuple[Codes, Bools]:
    """Return the grade agreed without a grader (chunks,), and whether others graded at all.

    Grades are indices into the matrix's ``values``, `NO_GRADE` where the others disagree.
    """
    counts = matrix.counts.astype(np.int64)
    own = np.flatnonzero(matrix.codes[who] != NO_GRADE)
    counts[own, matrix.codes[who][own]] -= 1
    overruled = (matrix.overruled != NO_GRADE) & (matrix.by != who)
    alike, at = np.unique(counts, axis=0, return_inverse=True)
    agreed = np.array([_resolve_counts(row, matrix.values, resolve) for row in alike], np.int8)[
        at.ravel()
    ]
    return np.where(overruled, matrix.overruled, agreed), overruled | counts.any(1)


def _resolve_counts(counts: npt.NDArray[np.int64], values: Floats, resolve: ResolveGrades) -> int:
    given = [int(value) for value in np.repeat(values, counts)]
    agreed = resolve(given) if given else None
    return NO_GRADE if agreed is None else int(np.searchsorted(values, agreed))


def _compare_one(matrix: GradeMatrix, who: int, resolve: ResolveGrades) -> AgainstOthers:
    own = matrix.codes[who]
    agreed, spoken = agreed_without(matrix, who, resolve)
    graded: Bools = own != NO_GRADE
    both: Bools = graded & (agreed != NO_GRADE)
    n = int(both.sum())
    tables = QuerySums.of(confusion_by_query(matrix, own, agreed, both))
    near = np.abs(np.subtract.outer(matrix.values, matrix.values)) <= 1
    moved = np.where(both, matrix.values[own] - matrix.values[agreed], 0.0)
    differences = matrix.by_query(np.stack([moved, np.ones(len(moved))], 1), both)
    return AgainstOthers(
        matrix.graders[who],
        kappa_of(tables, matrix.values, n),
        share_of(tables, np.eye(len(near)), n),
        share_of(tables, near.astype(np.float64), n),
        mean_of(QuerySums.of(differences), n),
        _differences_by_week(matrix.week[who][both], moved[both]),
        alone=int((graded & ~spoken).sum()),
        at_odds=int((graded & spoken & (agreed == NO_GRADE)).sum()),
    )


def _differences_by_week(week: npt.NDArray[np.int32], moved: Floats) -> tuple[WeekDifference, ...]:
    there, at = np.unique(week, return_inverse=True)
    sums, n = np.bincount(at, moved, len(there)), np.bincount(at, minlength=len(there))
    return tuple(
        WeekDifference(monday_of_week(int(number)).isoformat(), float(total / count), int(count))
        for number, total, count in zip(there, sums, n, strict=True)
    )


NUMBER_WORDS = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


@dataclass(frozen=True, slots=True)
class SelfAgreement:
    """A grader's grades of ``again`` chunks shown twice: ``same`` got the same grade.

    ``near`` differ by exactly one grade; the rest differ by more.
    """

    again: int
    same: int
    near: int


def self_agreement(pairs: Iterable[tuple[int, int]]) -> SelfAgreement | None:
    """Count how earlier and later grades of the same chunks differ; None without any.

    >>> self_agreement([(2, 2), (3, 2), (0, 3)])
    SelfAgreement(again=3, same=1, near=1)
    """
    apart = [abs(earlier - later) for earlier, later in pairs]
    return SelfAgreement(len(apart), apart.count(0), apart.count(1)) if apart else None


def self_agreement_by_grader(repeats: Iterable[tuple[str, int, int]]) -> dict[str, SelfAgreement]:
    """Count how the repeats (grader, earlier grade, later grade) of each grader differ.

    >>> self_agreement_by_grader([("Bob", 1, 1), ("Ann", 0, 2), ("Bob", 3, 2)])["Bob"]
    SelfAgreement(again=2, same=1, near=1)
    """
    pairs: dict[str, list[tuple[int, int]]] = {}
    for grader, *pair in repeats:
        pairs.setdefault(grader, []).append((pair[0], pair[1]))
    found = {grader: self_agreement(pairs[grader]) for grader in sorted(pairs)}
    return {grader: again for grader, again in found.items() if again is not None}


def describe_self_agreement(
    found: SelfAgreement | None, who: str = "you", names: Sequence[str] = ("chunk", "chunks")
) -> str:
    """Describe self-agreement in a sentence to the grader, or about ``who`` to somebody else.

    ``names`` are the words for one chunk and for several. Counts, not percentages: most graders
    have seen only a few chunks again.

    >>> describe_self_agreement(SelfAgreement(20, 18, 2), names=("passage", "passages"))
    'Of 20 passages that you saw again, 18 got the same grade; the other two differ by one.'
    >>> describe_self_agreement(SelfAgreement(3, 3, 0), "Ann")
    'All three chunks that Ann saw again got the same grade.'
    """
    if found is None:
        return "too early"
    if found.again == 1:
        end = "the same grade" if found.same else f"another grade, {_format_steps(found)} apart"
        return f"The one {names[0]} that {who} saw again got {end}."
    if found.same == found.again:
        again = count_in_words(found.again)
        return f"All {again} {names[1]} that {who} saw again got the same grade."
    again = f"Of {found.again} {names[1]} that {who} saw again"
    return f"{again}, {found.same} got the same grade; {_describe_others(found)}."


def _describe_others(found: SelfAgreement) -> str:
    """Describe how far apart the grades are that are not the same."""
    others = found.again - found.same
    if found.near in (0, others):
        who = (
            f"the other {count_in_words(others)}" if found.same else f"all {count_in_words(others)}"
        )
        return f"{who} {_differ_word(others)} by {_format_steps(found)}"
    near, far = count_in_words(found.near), count_in_words(others - found.near)
    return f"{near} {_differ_word(found.near)} by one and {far} by more"


def _differ_word(number: int) -> str:
    return "differs" if number == 1 else "differ"


def _format_steps(found: SelfAgreement) -> str:
    return "one" if found.near else "more than one"


def count_in_words(number: int) -> str:
    """Return a count as a word, from ten on in digits."""
    return NUMBER_WORDS[number] if number < len(NUMBER_WORDS) else str(number)

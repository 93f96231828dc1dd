"""Each grader against what the others agree on, over all and by week; says who differs, not why."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from labeler.analysis.agreement.coefficients import Floats
from labeler.analysis.agreement.draws import Draws
from labeler.analysis.agreement.measuring import (
    Bools,
    Coefficient,
    confusion_by_query,
    kappa_of,
    mean_of,
    share_of,
)
from labeler.analysis.agreement.sheet import HOLE, Codes, Sheet, monday

Resolve = Callable[[Sequence[int]], int | None]
"""Makes one grade of several, ascending, or None where they are at odds: the golden set's rule."""


@dataclass(frozen=True, slots=True)
class Week:
    """How far a grader was from the agreed grade in the week from ``monday`` (UTC, ISO 8601)."""

    monday: str
    difference: float
    n: int


@dataclass(frozen=True, slots=True, eq=False)
class AgainstOthers:
    """A grader against the grade agreed without them, over the chunks that have one.

    ``difference`` is the mean of their grade minus the agreed one: above 0 they grade higher.
    ``alone`` counts the chunks they graded that nobody else has, ``at_odds`` those on which the
    others are at odds; neither is compared.
    """

    grader: str
    kappa: Coefficient
    same: Coefficient
    near: Coefficient
    difference: Coefficient
    weeks: tuple[Week, ...]
    alone: int
    at_odds: int


def against_others(
    sheet: Sheet, resolve: Resolve, draws: Draws | None = None
) -> tuple[AgainstOthers, ...]:
    """Set each grader's blind grades against the grade agreed without them.

    That is somebody else's adjudication where there is one, else what ``resolve`` makes of the
    others' blind grades: nobody is measured against what they said themselves.
    """
    draws = draws or Draws()
    return tuple(_of_one(sheet, who, resolve, draws) for who in range(len(sheet.graders)))


def agreed_without(sheet: Sheet, who: int, resolve: Resolve) -> tuple[Codes, Bools]:
    """Return the grade agreed without a grader (chunks,), and whether others graded at all.

    Grades are places in the sheet's values, `HOLE` where nothing is agreed.
    """
    counts = sheet.counts.astype(np.int64)
    own = np.flatnonzero(sheet.codes[who] != HOLE)
    counts[own, sheet.codes[who][own]] -= 1
    overruled = (sheet.overruled != HOLE) & (sheet.by != who)
    alike, at = np.unique(counts, axis=0, return_inverse=True)
    agreed = np.array([_resolved(row, sheet.values, resolve) for row in alike], np.int8)[at.ravel()]
    return np.where(overruled, sheet.overruled, agreed), overruled | counts.any(1)


def _resolved(counts: npt.NDArray[np.int64], values: Floats, resolve: Resolve) -> int:
    given = [int(value) for value in np.repeat(values, counts)]
    agreed = resolve(given) if given else None
    return HOLE if agreed is None else int(np.searchsorted(values, agreed))


def _of_one(sheet: Sheet, who: int, resolve: Resolve, draws: Draws) -> AgainstOthers:
    own = sheet.codes[who]
    agreed, spoken = agreed_without(sheet, who, resolve)
    graded: Bools = own != HOLE
    both: Bools = graded & (agreed != HOLE)
    n = int(both.sum())
    tables = draws.of(confusion_by_query(sheet, own, agreed, both))
    near = np.abs(np.subtract.outer(sheet.values, sheet.values)) <= 1
    moved = np.where(both, sheet.values[own] - sheet.values[agreed], 0.0)
    differences = sheet.by_query(np.stack([moved, np.ones(len(moved))], 1), both)
    return AgainstOthers(
        sheet.graders[who],
        kappa_of(tables, sheet.values, n),
        share_of(tables, np.eye(len(near)), n),
        share_of(tables, near.astype(np.float64), n),
        mean_of(draws.of(differences), n),
        _by_week(sheet.week[who][both], moved[both]),
        alone=int((graded & ~spoken).sum()),
        at_odds=int((graded & spoken & (agreed == HOLE)).sum()),
    )


def _by_week(week: npt.NDArray[np.int32], moved: Floats) -> tuple[Week, ...]:
    there, at = np.unique(week, return_inverse=True)
    sums, n = np.bincount(at, moved, len(there)), np.bincount(at, minlength=len(there))
    return tuple(
        Week(monday(int(number)).isoformat(), float(total / count), int(count))
        for number, total, count in zip(there, sums, n, strict=True)
    )

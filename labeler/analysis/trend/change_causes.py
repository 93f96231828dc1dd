"""Causes of a change between two runs: the run itself, the grades, and which queries there are.

Two scoreboards are needed, one of the earlier time and one of now. The three parts sum to the
change; the order in which they are computed is fixed, see `CAUSES_ORDER`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from labeler.evaluation import NO_RESULT, Scoreboard
from labeler.measures import Bools, Floats, Measure
from labeler.model import capitalize_first
from labeler.model.results import CAUTION, Statement

CAUSES_ORDER = Statement(
    "order",
    "First the runs are exchanged, both with the newer grades. Then the grades and the rule are, "
    "with the older run. Both are over the queries that count then and now. The rest comes from "
    "queries that count at only one of the two times. Another order would give other parts of the "
    "same sum.",
)
NO_OLDER_GRADES = "no query counted yet by the older grades"
NONE_IN_BOTH = "no query counts both by the older and by the newer grades"


class ChangeCauses(NamedTuple):
    """The change of a measure from ``before``, the older run by the older grades, to ``now``.

    ``run + grades + queries`` is ``now - before``. ``n_before`` and ``n_now`` queries are in the
    two means, ``n_both`` in the first two parts. Without a value a part is NaN and ``reason`` says
    why.
    """

    measure: Measure
    older: str
    newer: str
    before: float
    now: float
    run: float
    grades: float
    queries: float
    n_before: int
    n_now: int
    n_both: int
    reason: str | None = None

    @property
    def change(self) -> float:
        """The whole change: the sum of the parts."""
        return self.now - self.before


def split_change(
    then: Scoreboard,
    now: Scoreboard,
    older: str,
    newer: str,
    measure: Measure,
    within: tuple[str, str] | None = None,
) -> ChangeCauses:
    """Split the change from the run ``older`` to ``newer`` by its causes, see `CAUSES_ORDER`.

    ``then`` has the older run under the golden grades of an earlier time, ``now`` both runs under
    the newer grades. ``within`` is a facet and a bucket to restrict it to. Raises `NotFound` for an
    unknown run, or bucket of ``now``.

    >>> from labeler.evaluation import Conventions, collect
    >>> old, new = {"q": ["x", "c"]}, {"q": ["c", "x"]}
    >>> then = Scoreboard(collect({"q": {"x": 1}}, {"old": old}), Conventions.of())
    >>> now = Scoreboard(collect({"q": {"x": 0, "c": 1}}, {"old": old, "new": new}),
    ...                  Conventions.of())
    >>> found = split_change(then, now, "old", "new", *then.conventions.measures("RR"))
    >>> found.before, found.now, found.run, found.grades, found.queries
    (1.0, 1.0, 0.5, -0.5, 0.0)
    """
    ids = now.collection.query_ids
    new_by_new, counts_now = _values(now, newer, measure, within)
    old_by_new, _ = _values(now, older, measure, within)
    place = {query_id: at for at, query_id in enumerate(then.collection.query_ids)}
    known = within is None or within[1] in then.facets.get(within[0], ())
    old_by_old, counts_then = _values(then, older, measure, within if known else None)
    if not known:
        counts_then = np.zeros_like(counts_then)
    at = np.array([place.get(query_id, -1) for query_id in ids], dtype=np.int64)
    both = counts_now & np.append(counts_then, False)[at]
    then_both = old_by_old[at[both]]
    before, after = _mean(old_by_old[counts_then]), _mean(new_by_new[counts_now])
    exchanged = _mean(new_by_new[both]) - _mean(old_by_new[both])
    regraded = _mean(old_by_new[both]) - _mean(then_both)
    rest = (after - _mean(new_by_new[both])) - (before - _mean(then_both))
    counts = (int(counts_then.sum()), int(counts_now.sum()), int(both.sum()))
    return ChangeCauses(
        *(measure, older, newer, before, after, exchanged, regraded, rest, *counts),
        reason=_why_no_parts(before, after, exchanged + regraded, counts),
    )


def _values(
    board: Scoreboard, run: str, measure: Measure, within: tuple[str, str] | None
) -> tuple[Floats, Bools]:
    """Return a run's values by query, and which queries count, (queries,)."""
    inside = board.snapshot() if within is None else board.within(*within)
    return inside.values(measure)[:, board.column_of(run)], inside.counted(measure)


def _mean(values: Floats) -> float:
    return float(values.mean()) if len(values) else math.nan


def _why_no_parts(
    before: float, after: float, parts: float, counts: tuple[int, int, int]
) -> str | None:
    if not counts[0]:
        return NO_OLDER_GRADES
    if not counts[2]:
        return NONE_IN_BOTH
    return NO_RESULT if math.isnan(before + after + parts) else None


def cause_statements(
    every: Iterable[ChangeCauses], grades: Statement, *, in_bucket: bool, weighted: bool = False
) -> list[Statement]:
    """Say why a measure has no parts, by which ``grades`` the runs are, and how parts are found."""
    reasons = dict.fromkeys(each.reason for each in every if each.reason)
    found = [Statement("reason", f"{capitalize_first(reason)}.", CAUTION) for reason in reasons]
    found += [grades, CAUSES_ORDER]
    if in_bucket:
        found.append(Statement("buckets", "Each query is in the bucket that it is in now."))
    if weighted:
        said = "The parts are not weighted: each query counts the same in them."
        found.append(Statement("not weighted", said, CAUTION))
    return found


def describe_grades(older: str, newer: str) -> Statement:
    """Say by which grades each of two runs is scored, such as "frozen as 'march'" and "of now"."""
    sentence = f"The older run is scored by the grades {older}, the newer by those {newer}."
    return Statement("grades", sentence)


def describe_missing_grades(day: str, first: str | None, newer: str) -> Statement:
    """Say that nothing was graded by a day, so that both runs are scored by the newer grades."""
    since = "" if first is None else f" (the first grade is from {first[:10]})"
    return Statement(
        "grades",
        f"Nothing was graded yet by {day}{since}, so both runs are scored by the grades {newer}. "
        "Choose a later day to see what grading has changed since.",
        CAUTION,
    )

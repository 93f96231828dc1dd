"""How low and how high a run's value of a query can be, over all grades that its holes may get.

The value of every measure here rises, or stays, when a better chunk moves up; so the best filling
makes the shallowest holes relevant and the worst those that the run does not hold, then the
deepest. How many of them are to be relevant is tried out, or follows from the measure.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from labeler.measures import GAINS, Bools, Floats, Ints, Measure, score
from labeler.stats.ground import Ground
from labeler.stats.ratios import Ideals, highest_ratio, precision_sums, with_depth
from labeler.stats.sorted_groups import highest, place_in, running, total

RISING = ("P", "Success", "RR", "RBP", "ERR", "SetP")
"""Measures that no better grade of any chunk ever lowers."""

SHARES = ("R", "F1", "SetR", "SetF")
"""Measures of how many relevant chunks are found, among all that are known."""

NO_BAND = ("Judged", "NumRet", "NumRel", "infAP")
"""Measures of what is graded, not of how good it is: a filling says nothing of them.

infAP infers for itself what the ungraded chunks of the pool are worth.
"""

BEST = 3


@dataclass(frozen=True, eq=False)
class Rows:
    """The lists of a ground as a measure sees them: with the holes in place, down to its cut-off.

    ``cutoff`` (queries,) is how deep the measure looks.
    """

    ground: Ground
    measure: Measure
    cutoff: Ints

    @cached_property
    def size(self) -> int:
        """How many rows there are."""
        return len(self.ground.length)

    @cached_property
    def of(self) -> Ints:
        """The place of each row's query, (rows,)."""
        return np.repeat(np.arange(len(self.ground.queries)), self.ground.runs)

    @cached_property
    def rank(self) -> Ints:
        """The rank of each entry: without the chunks that nobody grades, if the measure says so."""
        return place_in(self.ground.row) if self.measure.judged_only else self.ground.rank

    @cached_property
    def limit(self) -> int | Ints:
        """The cut-off: one number, if it is, or one for each row."""
        same = len(set(self.cutoff.tolist())) == 1
        return int(self.cutoff[0]) if same else np.repeat(self.cutoff, self.ground.runs)

    @cached_property
    def inside(self) -> Ints:
        """The entries of the holes above the cut-off."""
        limits = np.repeat(self.cutoff, self.ground.runs)[self.ground.row]
        return np.flatnonzero(self.ground.is_hole & (self.rank <= limits))

    @cached_property
    def held(self) -> Ints:
        """How many holes each row has above the cut-off, (rows,)."""
        return np.bincount(self.ground.row[self.inside], minlength=self.size)

    @cached_property
    def others(self) -> Ints:
        """How many holes of its query a row has not, (rows,)."""
        rest: Ints = self.ground.count[self.of] - self.held
        return rest

    @cached_property
    def known(self) -> Ints:
        """How many chunks of each grade the query of each row has, (rows, 4)."""
        counts: Ints = self.ground.known[self.of]
        return counts

    @cached_property
    def is_defined(self) -> Bools:
        """Say which rows have a value as they are, (rows,)."""
        least = self.measure.least_grade or 0
        found: Bools = self.known[:, least:].sum(axis=1) > 0
        return found

    @cached_property
    def can_be(self) -> Bools:
        """Say which rows have a value as they are or could get one, (rows,)."""
        found: Bools = self.is_defined | (self.ground.count[self.of] > 0)
        return found

    def value(self, grades: Ints, outside: Ints) -> Floats:
        """Return the value of each row where its holes have these ``grades``, (entries,).

        ``outside`` (rows, 4) are how many of the query's other holes get each grade.
        """
        grade = np.where(self.ground.is_hole, grades, 0)
        own = np.bincount(
            self.ground.row[self.inside] * 4 + grade[self.inside], minlength=4 * self.size
        )
        known = self.known + own.reshape(-1, 4) + outside
        hits = self.ground.filled_apart(grade.astype(np.int8), known)
        return score(hits, self.measure, self.limit)

    def all_inside(self, grade: int, elsewhere: int) -> Floats:
        """Return the values where all holes a row holds have a grade, and all others another."""
        grades = np.full(len(self.ground.row), elsewhere)
        grades[self.inside] = grade
        return self.value(grades, self._others_as(elsewhere))

    def some_inside(self, count: Ints, elsewhere: int, *, deepest: bool) -> Floats:
        """Return the values where of each row's holes ``count`` (rows,) are as good as can be."""
        row = self.ground.row[self.inside]
        place = place_in(row)
        chosen = place > (self.held - count)[row] if deepest else place <= count[row]
        grades = np.full(len(self.ground.row), elsewhere)
        grades[self.inside] = np.where(chosen, BEST, 0)
        return self.value(grades, self._others_as(elsewhere))

    def barely(self) -> Floats:
        """Return the lowest values that rows have once one of their query's holes is relevant."""
        least = self.measure.least_grade or 0
        row = self.ground.row[self.inside]
        is_last = place_in(row) == self.held[row]
        alone = self.others == 0
        grades = np.zeros(len(self.ground.row), dtype=np.int64)
        grades[self.inside] = np.where(is_last & alone[row], least, 0)
        outside = np.zeros((self.size, 4), dtype=np.int64)
        outside[:, 0] = self.others
        outside[~alone, 0] -= 1
        outside[~alone, least] += 1
        return self.value(grades, outside)

    def _others_as(self, grade: int) -> Ints:
        outside = np.zeros((self.size, 4), dtype=np.int64)
        outside[:, grade] = self.others
        return outside


def range_alone(ground: Ground, measure: Measure, cutoff: Ints) -> tuple[Floats, Floats, Bools]:
    """Return the lowest and the highest value of each query and run, and where both are reached.

    Over all fillings under which there is a value; NaN where there never is one. All are
    (queries, runs). What is not reached is still a bound: no filling goes beyond it.
    """
    rows = Rows(ground, measure, cutoff)
    low, high, exact = _range(rows)
    high = np.where(np.isnan(high), 0.0, high)  # the run holds none of the holes that may count
    low, high = (np.where(rows.can_be, each, np.nan) for each in (low, high))
    shape = (len(ground.queries), ground.runs)
    return low.reshape(shape), high.reshape(shape), exact.reshape(shape)


def _range(rows: Rows) -> tuple[Floats, Floats, Bools]:
    name, sure = rows.measure.name, np.ones(rows.size, dtype=np.bool_)
    has_none = rows.ground.count[rows.of] == 0
    if name == "nDCG":
        return *_of_ndcg(rows), sure
    if name == "AP":
        return *_of_ap(rows), sure
    if name in RISING or name in SHARES:
        low = rows.all_inside(0, 0 if name in RISING else BEST)
        undefined = ~rows.is_defined & ((rows.others == 0) | (name in RISING))
        if undefined.any():
            low = np.where(undefined, rows.barely(), low)
        return low, rows.all_inside(BEST, 0), sure
    now = rows.all_inside(0, 0)
    return np.where(has_none, now, 0.0), np.where(has_none, now, 1.0), has_none


def rises_of(measure: Measure) -> Floats:
    """Return by how much the gain of grades 1, 2 and 3 is above that of the grade below."""
    gains = measure.gains or GAINS[measure.dcg or "exp-log2"]
    return np.diff(np.array(gains, dtype=np.float64))


def gains_now(rows: Rows) -> Floats:
    """Return the discounted gain of what is graded, (rows,)."""
    gains = np.concatenate([[0.0], np.cumsum(rises_of(rows.measure))])
    ground = rows.ground
    limits = np.repeat(rows.cutoff, ground.runs)[ground.row]
    there = ~ground.is_hole & (rows.rank <= limits)
    terms = gains[ground.grade[there]] / np.log2(rows.rank[there] + 1)
    return total(terms, ground.row[there], rows.size)


def ideals_of(rows: Rows, known: Ints, cutoff: Ints, holes: Ints) -> Ideals:
    """Return the ideals of groups that know so many chunks, (groups, 4), and have so many holes."""
    reached = np.cumsum(known[:, ::-1], axis=1)[:, ::-1][:, 1:]
    return Ideals(reached, rises_of(rows.measure), with_depth(cutoff, reached[:, 0] + holes))


def _of_ndcg(rows: Rows) -> tuple[Floats, Floats]:
    ground, now = rows.ground, gains_now(rows)
    cutoff = np.repeat(rows.cutoff, ground.runs)
    ideals = ideals_of(rows, rows.known, cutoff, ground.count[rows.of])
    row = ground.row[rows.inside]
    weight = 1 / np.log2(rows.rank[rows.inside] + 1)
    with_other = np.flatnonzero(rows.others > 0)
    order = np.argsort(np.concatenate([row, with_other]), kind="stable")
    high = highest_ratio(
        now,
        ideals,
        np.concatenate([row, with_other])[order],
        np.concatenate([weight, np.zeros(len(with_other))])[order],
    )
    back = np.arange(len(row))[::-1]
    back = back[np.argsort(row[back], kind="stable")]
    summed, place = running(weight[back], row[back]), place_in(row[back])
    gain = float(ideals.rises.sum())
    every = np.arange(rows.size)
    with np.errstate(invalid="ignore", divide="ignore"):
        first = now / ideals.whole(every, rows.others)
        more = ideals.whole(row[back], place + rows.others[row[back]])
        ratios = (now[row[back]] + gain * summed) / more
    lowest = -highest(-ratios, row[back], rows.size)[0]
    return np.fmin(first, lowest), np.minimum(high, 1.0)


def ap_sums(rows: Rows, *, deepest: bool) -> tuple[Floats, Ints, Floats]:
    """Return AP's sum as it is, (rows,), and as holes become relevant one by one, with their rows.

    The shallowest come first, or the deepest.
    """
    ground, rel = rows.ground, rows.measure.rel or 1
    limits = np.repeat(rows.cutoff, ground.runs)[ground.row]
    there = (ground.is_hole | (ground.grade >= rel)) & (rows.rank <= limits)
    row, rank, is_hole = ground.row[there], rows.rank[there], ground.is_hole[there]
    known = ~is_hole
    now = total(place_in(row[known]) / rank[known], row[known], rows.size)
    rises = precision_sums(row, rank, is_hole, deepest_first=deepest)
    of = row[is_hole]
    if deepest:
        back = np.arange(len(of))[::-1]
        back = back[np.argsort(of[back], kind="stable")]
        rises, of = rises[back], of[back]
    return now, of, now[of] + running(rises, of)


def _of_ap(rows: Rows) -> tuple[Floats, Floats]:
    wanted = rows.known[:, rows.measure.rel or 1 :].sum(axis=1)
    counts = []
    for deepest, sign in ((True, -1), (False, 1)):
        now, row, sums = ap_sums(rows, deepest=deepest)
        base = wanted + rows.others * deepest
        with np.errstate(invalid="ignore", divide="ignore"):
            first = np.where(base > 0, now / base, np.nan)
        values = sums / (base[row] + place_in(row))
        best, at = highest(sign * values, row, rows.size)
        keeps = sign * first >= best
        counts.append(np.where(keeps, 0, np.append(place_in(row), 0)[at]))
    fewest, most = counts
    low = rows.some_inside(fewest, BEST, deepest=True)
    high = rows.some_inside(most, 0, deepest=False)
    return low, high

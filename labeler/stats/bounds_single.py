"""Bounds on one run's value for a query, over all grades that its unjudged chunks could get.

The value of every measure here rises, or stays, when a better chunk moves up. So the best case
makes the shallowest unjudged chunks relevant; the worst case makes relevant those that the run
does not hold, then the deepest. How many are relevant is tried out, or follows from the measure.

For nDCG the grades move both the gain and the ideal. Each is a sum over grades 1 to 3 of what the
chunks of at least that grade add, so that for a given ratio t the best of "gain - t * ideal" is
found grade by grade: the m best placed unjudged chunks reach it. Raising t to the ratio that
comes out until it stays (Dinkelbach 1967) ends at the highest ratio there is. Where even that is
not above 0, which happens only between two runs, it is best to give all of some chunks grade 3
and the others 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from labeler.measures import GAINS, Bools, Floats, Ints, Measure, score
from labeler.stats.unjudged_chunks import PartlyJudgedLists

RISING = ("P", "Success", "RR", "RBP", "ERR", "SetP")
"""Measures that no better grade of any chunk ever lowers."""

RECALL_LIKE = ("R", "F1", "SetR", "SetF")
"""Measures of how many relevant chunks are found, among all that are known."""

WITHOUT_RANGE = ("Judged", "NumRet", "NumRel", "infAP")
"""Measures of what is graded, not of how good it is: a filling says nothing of them.

infAP infers for itself what the ungraded chunks of the pool are worth.
"""

BEST_GRADE = 3


@dataclass(frozen=True, eq=False)
class MeasuredLists:
    """The lists of a ground as a measure sees them: with the holes in place, down to its cut-off.

    ``cutoff`` (queries,) is how deep the measure looks.
    """

    ground: PartlyJudgedLists
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
        return places_in_groups(self.ground.row) if self.measure.judged_only else self.ground.rank

    @cached_property
    def limit(self) -> int | Ints:
        """The cut-off: one number, if it is, or one for each row."""
        same = len(set(self.cutoff.tolist())) == 1
        return int(self.cutoff[0]) if same else np.repeat(self.cutoff, self.ground.runs)

    @cached_property
    def inside(self) -> Ints:
        """The entries of the holes above the cut-off."""
        limits = np.repeat(self.cutoff, self.ground.runs)[self.ground.row]
        return np.flatnonzero(self.ground.is_unjudged & (self.rank <= limits))

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
        grade = np.where(self.ground.is_unjudged, grades, 0)
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
        place = places_in_groups(row)
        chosen = place > (self.held - count)[row] if deepest else place <= count[row]
        grades = np.full(len(self.ground.row), elsewhere)
        grades[self.inside] = np.where(chosen, BEST_GRADE, 0)
        return self.value(grades, self._others_as(elsewhere))

    def barely(self) -> Floats:
        """Return the lowest values that rows have once one of their query's holes is relevant."""
        least = self.measure.least_grade or 0
        row = self.ground.row[self.inside]
        is_last = places_in_groups(row) == self.held[row]
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


def value_range(
    ground: PartlyJudgedLists, measure: Measure, cutoff: Ints
) -> tuple[Floats, Floats, Bools]:
    """Return the lowest and the highest value of each query and run, and where both are reached.

    Over all fillings under which there is a value; NaN where there never is one. All are
    (queries, runs). What is not reached is still a bound: no filling goes beyond it.
    """
    rows = MeasuredLists(ground, measure, cutoff)
    low, high, exact = _range_by_measure(rows)
    high = np.where(np.isnan(high), 0.0, high)  # the run holds none of the holes that may count
    low, high = (np.where(rows.can_be, each, np.nan) for each in (low, high))
    shape = (len(ground.queries), ground.runs)
    return low.reshape(shape), high.reshape(shape), exact.reshape(shape)


def _range_by_measure(rows: MeasuredLists) -> tuple[Floats, Floats, Bools]:
    name, sure = rows.measure.name, np.ones(rows.size, dtype=np.bool_)
    has_none = rows.ground.count[rows.of] == 0
    if name == "nDCG":
        return *_ndcg_range(rows), sure
    if name == "AP":
        return *_ap_range(rows), sure
    if name in RISING or name in RECALL_LIKE:
        low = rows.all_inside(0, 0 if name in RISING else BEST_GRADE)
        undefined = ~rows.is_defined & ((rows.others == 0) | (name in RISING))
        if undefined.any():
            low = np.where(undefined, rows.barely(), low)
        return low, rows.all_inside(BEST_GRADE, 0), sure
    now = rows.all_inside(0, 0)
    return np.where(has_none, now, 0.0), np.where(has_none, now, 1.0), has_none


def gain_steps(measure: Measure) -> Floats:
    """Return by how much the gain of grades 1, 2 and 3 is above that of the grade below."""
    gains = measure.gains or GAINS[measure.dcg or "exp-log2"]
    return np.diff(np.array(gains, dtype=np.float64))


def current_gains(rows: MeasuredLists) -> Floats:
    """Return the discounted gain of what is graded, (rows,)."""
    gains = np.concatenate([[0.0], np.cumsum(gain_steps(rows.measure))])
    ground = rows.ground
    limits = np.repeat(rows.cutoff, ground.runs)[ground.row]
    there = ~ground.is_unjudged & (rows.rank <= limits)
    terms = gains[ground.grade[there]] / np.log2(rows.rank[there] + 1)
    return group_sums(terms, ground.row[there], rows.size)


def ideals_of_groups(rows: MeasuredLists, known: Ints, cutoff: Ints, holes: Ints) -> IdealGains:
    """Return the ideals of groups that know so many chunks, (groups, 4), and have so many holes."""
    reached = np.cumsum(known[:, ::-1], axis=1)[:, ::-1][:, 1:]
    return IdealGains(
        reached, gain_steps(rows.measure), limit_cutoffs(cutoff, reached[:, 0] + holes)
    )


def _ndcg_range(rows: MeasuredLists) -> tuple[Floats, Floats]:
    ground, now = rows.ground, current_gains(rows)
    cutoff = np.repeat(rows.cutoff, ground.runs)
    ideals = ideals_of_groups(rows, rows.known, cutoff, ground.count[rows.of])
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
    summed, place = running_sums(weight[back], row[back]), places_in_groups(row[back])
    gain = float(ideals.rises.sum())
    every = np.arange(rows.size)
    with np.errstate(invalid="ignore", divide="ignore"):
        first = now / ideals.whole(every, rows.others)
        more = ideals.whole(row[back], place + rows.others[row[back]])
        ratios = (now[row[back]] + gain * summed) / more
    lowest = -group_maxima(-ratios, row[back], rows.size)[0]
    return np.fmin(first, lowest), np.minimum(high, 1.0)


def ap_sums(rows: MeasuredLists, *, deepest: bool) -> tuple[Floats, Ints, Floats]:
    """Return AP's sum as it is, (rows,), and as holes become relevant one by one, with their rows.

    The shallowest come first, or the deepest.
    """
    ground, rel = rows.ground, rows.measure.rel or 1
    limits = np.repeat(rows.cutoff, ground.runs)[ground.row]
    there = (ground.is_unjudged | (ground.grade >= rel)) & (rows.rank <= limits)
    row, rank, is_hole = ground.row[there], rows.rank[there], ground.is_unjudged[there]
    known = ~is_hole
    now = group_sums(places_in_groups(row[known]) / rank[known], row[known], rows.size)
    rises = precision_steps(row, rank, is_hole, deepest_first=deepest)
    of = row[is_hole]
    if deepest:
        back = np.arange(len(of))[::-1]
        back = back[np.argsort(of[back], kind="stable")]
        rises, of = rises[back], of[back]
    return now, of, now[of] + running_sums(rises, of)


def _ap_range(rows: MeasuredLists) -> tuple[Floats, Floats]:
    wanted = rows.known[:, rows.measure.rel or 1 :].sum(axis=1)
    counts = []
    for deepest, sign in ((True, -1), (False, 1)):
        now, row, sums = ap_sums(rows, deepest=deepest)
        base = wanted + rows.others * deepest
        with np.errstate(invalid="ignore", divide="ignore"):
            first = np.where(base > 0, now / base, np.nan)
        values = sums / (base[row] + places_in_groups(row))
        best, at = group_maxima(sign * values, row, rows.size)
        keeps = sign * first >= best
        counts.append(np.where(keeps, 0, np.append(places_in_groups(row), 0)[at]))
    fewest, most = counts
    low = rows.some_inside(fewest, BEST_GRADE, deepest=True)
    high = rows.some_inside(most, 0, deepest=False)
    return low, high


MOST_ROUNDS = 60


@dataclass(frozen=True, eq=False)
class IdealGains:
    """The ideal DCG of groups as more of their chunks become relevant.

    ``reached`` (groups, 3): how many known chunks have at least grade 1, 2, 3. ``rises`` (3,): by
    how much the gain of a grade is above that of the one below. ``cutoff`` (groups,).
    """

    reached: Ints
    rises: Floats
    cutoff: Ints

    @cached_property
    def _discounts(self) -> Floats:
        deepest = int(min(self.cutoff.max(initial=0), 1 << 20))
        ranks = np.arange(1, deepest + 1)
        return np.concatenate([[0.0], np.cumsum(1 / np.log2(ranks + 1))])

    def part(self, level: int, group: Ints, more: Ints | Floats) -> Floats:
        """Return what a grade adds to the ideal of ``group`` once ``more`` chunks reach it."""
        known = self.reached[group, level] + np.asarray(more, dtype=np.int64)
        ranks = np.minimum(known, self.cutoff[group])
        found: Floats = self._discounts[np.minimum(ranks, len(self._discounts) - 1)]
        return found

    def whole(self, group: Ints, more: Ints | Floats) -> Floats:
        """Return the ideal of ``group`` once ``more`` chunks have grade 3."""
        parts = [rise * self.part(at, group, more) for at, rise in enumerate(self.rises)]
        found: Floats = np.sum(parts, axis=0)
        return found


def limit_cutoffs(cutoff: Ints, chunks: Ints) -> Ints:
    """Return cut-offs no larger than the number of chunks there can be: a list has no more."""
    found: Ints = np.minimum(cutoff, np.maximum(chunks, 1))
    return found


def highest_ratio(now: Floats, ideals: IdealGains, group: Ints, weight: Floats) -> Floats:
    """Return the highest ratio of gain to ideal that grades of holes could give, by group.

    ``now`` (groups,) is the gain of what is graded. ``group`` and ``weight`` have an entry for each
    hole, its discount, sorted by group and then from the highest weight. -inf where no choice has
    an ideal.
    """
    size, every = len(now), np.arange(len(now))
    place, summed = places_in_groups(group), running_sums(weight, group)
    gain = float(ideals.rises.sum())
    first = ideals.whole(every, np.zeros(size))
    start = np.divide(now, first, out=np.full(size, -np.inf), where=first > 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        ratios = (now[group] + gain * summed) / ideals.whole(group, place)
    ratio: Floats = np.maximum(start, group_maxima(ratios, group, size)[0])
    for _ in range(MOST_ROUNDS):
        rising = np.flatnonzero(ratio > 0)
        target = np.maximum(ratio, 0.0)
        gains, ideal = now.copy(), np.zeros(size)
        for level, rise in enumerate(ideals.rises.tolist()):
            worth = summed - target[group] * ideals.part(level, group, place)
            best, at = group_maxima(worth, group, size)
            without = -target * ideals.part(level, every, np.zeros(size))
            chosen = best > without
            more = np.where(chosen, np.append(place, 0)[at], 0)
            gains += rise * np.where(chosen, np.append(summed, 0.0)[at], 0.0)
            ideal += rise * ideals.part(level, every, more)
        found = np.divide(gains, ideal, out=np.full(size, -np.inf), where=ideal > 0)
        better = rising[found[rising] > ratio[rising] + 1e-15]
        if not len(better):
            break
        ratio[better] = found[better]
    return ratio


def precision_steps(row: Ints, rank: Ints, is_hole: Bools, *, deepest_first: bool) -> Floats:
    """Return what average precision's sum rises by as holes become relevant one after the other.

    Entries are known relevant chunks and holes, by row, then by rank. The rises, one for each hole
    in that order, are for making the shallowest relevant first, or the deepest.
    """
    above = running_sums(~is_hole, row)
    also = _sums_below(np.where(is_hole, 0.0, 1 / rank), row)
    own = above + 1 if deepest_first else above + running_sums(is_hole, row)
    if deepest_first:
        also = also + _sums_below(np.where(is_hole, 1 / rank, 0.0), row)
    rises: Floats = (own / rank + also)[is_hole]
    return rises


def _sums_below(values: Floats, row: Ints) -> Floats:
    """Return the sum of the entries after each one in its row."""
    up_to = running_sums(values[::-1], row.max(initial=0) - row[::-1])[::-1]
    rest: Floats = up_to - values
    return rest


def running_sums(values: Floats | Ints | Bools, group: Ints) -> Floats:
    """Return the sum of each entry and those before it in its group; groups stand together.

    >>> running_sums(np.array([1.0, 2.0, 4.0]), np.array([0, 0, 3])).tolist()
    [1.0, 3.0, 4.0]
    """
    sums = np.cumsum(values, dtype=np.float64)
    first = np.flatnonzero(np.diff(group, prepend=-1))
    before = np.concatenate([[0.0], sums])[first]
    found: Floats = sums - np.repeat(before, np.diff(first, append=len(group)))
    return found


def places_in_groups(group: Ints) -> Ints:
    """Return the place of each entry in its group, from 1; groups stand together.

    >>> places_in_groups(np.array([4, 4, 7])).tolist()
    [1, 2, 1]
    """
    first = np.flatnonzero(np.diff(group, prepend=-1))
    sizes = np.diff(first, append=len(group))
    places: Ints = np.arange(1, len(group) + 1) - np.repeat(first, sizes)
    return places


def group_sums(values: Floats | Ints, group: Ints, size: int) -> Floats:
    """Return the sum of each group, (size,)."""
    return np.bincount(group, values, minlength=size).astype(np.float64)


def group_maxima(values: Floats, group: Ints, size: int) -> tuple[Floats, Ints]:
    """Return the highest value of each group that stands together, and its entry, (size,).

    NaN is no value; a group without any has -inf and entry -1. Of equal ones the first is named.
    """
    best, at = np.full(size, -np.inf), np.full(size, -1)
    if len(values):
        found = np.where(np.isnan(values), -np.inf, values)
        first = np.flatnonzero(np.diff(group, prepend=-1))
        best[group[first]] = np.maximum.reduceat(found, first)
        equal = np.flatnonzero((found == best[group]) & (found > -np.inf))[::-1]
        at[group[equal]] = equal
    return best, at

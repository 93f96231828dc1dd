"""Bounds on one run's value for a query, over all grades that its unjudged chunks could get.

Every measure here rises or stays equal when a better chunk moves up. So in the best case the
highest-ranked unjudged chunks are relevant; in the worst case those that the run did not
retrieve, then the lowest-ranked. How many are relevant is tried out, or follows from the measure.

For nDCG the grades change both the gain and the ideal. Each is a sum over grades 1 to 3 of what
chunks of at least that grade add, so for a given ratio t the best of "gain - t * ideal" is found
grade by grade: the m best-ranked unjudged chunks reach that grade. Setting t to the resulting
ratio until it no longer changes (Dinkelbach 1967) gives the highest ratio. Where even that is not
above 0, which happens only between two runs, it is best to grade some chunks 3 and the others 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from labeler.measures import GAINS, Bools, Floats, Ints, Measure, score
from labeler.stats.unjudged_chunks import PartlyJudgedLists

RISING = ("P", "Success", "RR", "RBP", "ERR", "SetP")
"""Measures that a better grade of a chunk never lowers."""

RECALL_LIKE = ("R", "F1", "SetR", "SetF")
"""Measures of how many of the known relevant chunks are found."""

WITHOUT_RANGE = ("Judged", "NumRet", "NumRel", "infAP")
"""Measures of how much is graded, not of how good it is; infAP estimates unjudged chunks."""

BEST_GRADE = 3


@dataclass(frozen=True, eq=False)
class MeasuredLists:
    """Partly judged lists with a measure and its ``cutoff`` (queries,); a row is a run's list."""

    lists: PartlyJudgedLists
    measure: Measure
    cutoff: Ints

    @cached_property
    def size(self) -> int:
        return len(self.lists.length)

    @cached_property
    def query(self) -> Ints:
        """The position of each row's query, (rows,)."""
        return np.repeat(np.arange(len(self.lists.queries)), self.lists.runs)

    @cached_property
    def rank(self) -> Ints:
        """The rank of each entry, among judged chunks only if the measure is judged-only."""
        return places_in_groups(self.lists.row) if self.measure.judged_only else self.lists.rank

    @cached_property
    def limit(self) -> int | Ints:
        """The cut-off: one number where all queries share it, else one for each row."""
        same = len(set(self.cutoff.tolist())) == 1
        return int(self.cutoff[0]) if same else np.repeat(self.cutoff, self.lists.runs)

    @cached_property
    def inside(self) -> Ints:
        """The positions of the unjudged entries down to the cut-off."""
        limits = np.repeat(self.cutoff, self.lists.runs)[self.lists.row]
        return np.flatnonzero(self.lists.is_unjudged & (self.rank <= limits))

    @cached_property
    def held(self) -> Ints:
        """The number of unjudged chunks in each row down to the cut-off, (rows,)."""
        return np.bincount(self.lists.row[self.inside], minlength=self.size)

    @cached_property
    def others(self) -> Ints:
        """The number of the query's other unjudged chunks for each row, (rows,)."""
        rest: Ints = self.lists.count[self.query] - self.held
        return rest

    @cached_property
    def known(self) -> Ints:
        """The number of chunks of each grade that each row's query has, (rows, 4)."""
        counts: Ints = self.lists.known[self.query]
        return counts

    @cached_property
    def is_defined(self) -> Bools:
        """Tell which rows have a value with the present grades, (rows,)."""
        least = self.measure.least_grade or 0
        found: Bools = self.known[:, least:].sum(axis=1) > 0
        return found

    @cached_property
    def may_be_defined(self) -> Bools:
        """Tell which rows have a value, or get one with more grades, (rows,)."""
        found: Bools = self.is_defined | (self.lists.count[self.query] > 0)
        return found

    def value(self, grades: Ints, outside: Ints) -> Floats:
        """Return the value of each row if its unjudged chunks get these ``grades``, (entries,).

        ``outside`` (rows, 4): how many of the query's other unjudged chunks get each grade.
        """
        grade = np.where(self.lists.is_unjudged, grades, 0)
        own = np.bincount(
            self.lists.row[self.inside] * 4 + grade[self.inside], minlength=4 * self.size
        )
        known = self.known + own.reshape(-1, 4) + outside
        hits = self.lists.with_entry_grades(grade.astype(np.int8), known)
        return score(hits, self.measure, self.limit)

    def all_inside(self, grade: int, elsewhere: int) -> Floats:
        """Return the values if unjudged chunks in a row get one grade, and all others another."""
        grades = np.full(len(self.lists.row), elsewhere)
        grades[self.inside] = grade
        return self.value(grades, self._others_as(elsewhere))

    def some_inside(self, count: Ints, elsewhere: int, *, deepest: bool) -> Floats:
        """Return the values if ``count`` (rows,) of each row's unjudged chunks get grade 3."""
        row = self.lists.row[self.inside]
        place = places_in_groups(row)
        chosen = place > (self.held - count)[row] if deepest else place <= count[row]
        grades = np.full(len(self.lists.row), elsewhere)
        grades[self.inside] = np.where(chosen, BEST_GRADE, 0)
        return self.value(grades, self._others_as(elsewhere))

    def lowest_once_defined(self) -> Floats:
        """Return the lowest values of rows once one unjudged chunk of their query is relevant."""
        least = self.measure.least_grade or 0
        row = self.lists.row[self.inside]
        is_last = places_in_groups(row) == self.held[row]
        alone = self.others == 0
        grades = np.zeros(len(self.lists.row), dtype=np.int64)
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
    lists: PartlyJudgedLists, measure: Measure, cutoff: Ints
) -> tuple[Floats, Floats, Bools]:
    """Return the lowest and the highest value of each query and run, and where both are reached.

    Over all grades that give a value; NaN where none do. All are (queries, runs). A bound that is
    not reached still holds: no grades go beyond it.
    """
    rows = MeasuredLists(lists, measure, cutoff)
    low, high, exact = _range_by_measure(rows)
    high = np.where(np.isnan(high), 0.0, high)  # the run has none of the chunks that may count
    low, high = (np.where(rows.may_be_defined, each, np.nan) for each in (low, high))
    shape = (len(lists.queries), lists.runs)
    return low.reshape(shape), high.reshape(shape), exact.reshape(shape)


def _range_by_measure(rows: MeasuredLists) -> tuple[Floats, Floats, Bools]:
    name, sure = rows.measure.name, np.ones(rows.size, dtype=np.bool_)
    has_none = rows.lists.count[rows.query] == 0
    if name == "nDCG":
        return *_ndcg_range(rows), sure
    if name == "AP":
        return *_ap_range(rows), sure
    if name in RISING or name in RECALL_LIKE:
        low = rows.all_inside(0, 0 if name in RISING else BEST_GRADE)
        undefined = ~rows.is_defined & ((rows.others == 0) | (name in RISING))
        if undefined.any():
            low = np.where(undefined, rows.lowest_once_defined(), low)
        return low, rows.all_inside(BEST_GRADE, 0), sure
    now = rows.all_inside(0, 0)
    return np.where(has_none, now, 0.0), np.where(has_none, now, 1.0), has_none


def gain_steps(measure: Measure) -> Floats:
    """Return the difference in gain between grades 1, 2, 3 and the grade below each."""
    gains = measure.gains or GAINS[measure.dcg or "exp-log2"]
    return np.diff(np.array(gains, dtype=np.float64))


def current_gains(rows: MeasuredLists) -> Floats:
    """Return the discounted gain of the judged chunks, (rows,)."""
    gains = np.concatenate([[0.0], np.cumsum(gain_steps(rows.measure))])
    lists = rows.lists
    limits = np.repeat(rows.cutoff, lists.runs)[lists.row]
    there = ~lists.is_unjudged & (rows.rank <= limits)
    terms = gains[lists.grade[there]] / np.log2(rows.rank[there] + 1)
    return group_sums(terms, lists.row[there], rows.size)


def ideals_of_groups(rows: MeasuredLists, known: Ints, cutoff: Ints, unjudged: Ints) -> IdealGains:
    """Return ideals by ``known`` chunks of each grade, (groups, 4), and unjudged ``unjudged``."""
    reached = np.cumsum(known[:, ::-1], axis=1)[:, ::-1][:, 1:]
    return IdealGains(
        reached,
        gain_steps(rows.measure),
        np.minimum(cutoff, np.maximum(reached[:, 0] + unjudged, 1)),
    )


def _ndcg_range(rows: MeasuredLists) -> tuple[Floats, Floats]:
    lists, now = rows.lists, current_gains(rows)
    cutoff = np.repeat(rows.cutoff, lists.runs)
    ideals = ideals_of_groups(rows, rows.known, cutoff, lists.count[rows.query])
    row = lists.row[rows.inside]
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
    """Return AP's present sum, (rows,), and the row and sum of each step to more relevant chunks.

    Unjudged chunks become relevant one by one, from the best rank, or from the worst.
    """
    lists, rel = rows.lists, rows.measure.rel or 1
    limits = np.repeat(rows.cutoff, lists.runs)[lists.row]
    there = (lists.is_unjudged | (lists.grade >= rel)) & (rows.rank <= limits)
    row, rank, is_unjudged = lists.row[there], rows.rank[there], lists.is_unjudged[there]
    known = ~is_unjudged
    now = group_sums(places_in_groups(row[known]) / rank[known], row[known], rows.size)
    rises = precision_steps(row, rank, is_unjudged, deepest_first=deepest)
    of = row[is_unjudged]
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

    ``reached`` (groups, 3): how many known chunks have at least grade 1, 2, 3. ``rises`` (3,): the
    `gain_steps` of the measure. ``cutoff`` (groups,).
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
        """Return what one grade adds to the ideal of ``group`` if ``more`` chunks reach it."""
        known = self.reached[group, level] + np.asarray(more, dtype=np.int64)
        ranks = np.minimum(known, self.cutoff[group])
        found: Floats = self._discounts[np.minimum(ranks, len(self._discounts) - 1)]
        return found

    def whole(self, group: Ints, more: Ints | Floats) -> Floats:
        """Return the ideal of ``group`` if ``more`` chunks have grade 3."""
        parts = [rise * self.part(at, group, more) for at, rise in enumerate(self.rises)]
        found: Floats = np.sum(parts, axis=0)
        return found


def highest_ratio(now: Floats, ideals: IdealGains, group: Ints, weight: Floats) -> Floats:
    """Return the highest ratio of gain to ideal over all grades of unjudged chunks, by group.

    ``now`` (groups,) is the gain of the judged chunks. ``group`` and ``weight`` (its discount)
    have an entry for each unjudged chunk, sorted by group, then by falling weight. -inf where no
    grades give an ideal.
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


def precision_steps(row: Ints, rank: Ints, is_unjudged: Bools, *, deepest_first: bool) -> Floats:
    """Return by how much AP's sum rises as unjudged chunks become relevant one after the other.

    Entries are relevant and unjudged chunks, by row, then by rank. There is one rise for each
    unjudged chunk, in that order, whether the best-ranked become relevant first or the deepest.
    """
    above = running_sums(~is_unjudged, row)
    also = _sums_below(np.where(is_unjudged, 0.0, 1 / rank), row)
    own = above + 1 if deepest_first else above + running_sums(is_unjudged, row)
    if deepest_first:
        also = also + _sums_below(np.where(is_unjudged, 1 / rank, 0.0), row)
    rises: Floats = (own / rank + also)[is_unjudged]
    return rises


def _sums_below(values: Floats, row: Ints) -> Floats:
    """Return the sum of the entries after each one in its row."""
    up_to = running_sums(values[::-1], row.max(initial=0) - row[::-1])[::-1]
    rest: Floats = up_to - values
    return rest


def running_sums(values: Floats | Ints | Bools, group: Ints) -> Floats:
    """Return the sum of each entry and those before it in its group; groups are contiguous.

    >>> running_sums(np.array([1.0, 2.0, 4.0]), np.array([0, 0, 3])).tolist()
    [1.0, 3.0, 4.0]
    """
    sums = np.cumsum(values, dtype=np.float64)
    first = np.flatnonzero(np.diff(group, prepend=-1))
    before = np.concatenate([[0.0], sums])[first]
    found: Floats = sums - np.repeat(before, np.diff(first, append=len(group)))
    return found


def places_in_groups(group: Ints) -> Ints:
    """Return the place of each entry in its group, from 1; groups are contiguous.

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
    """Return the highest value of each contiguous group, and the entry that has it, (size,).

    NaN is ignored; a group without a value has -inf and entry -1. Of equal values the first wins.
    """
    best, at = np.full(size, -np.inf), np.full(size, -1)
    if len(values):
        found = np.where(np.isnan(values), -np.inf, values)
        first = np.flatnonzero(np.diff(group, prepend=-1))
        best[group[first]] = np.maximum.reduceat(found, first)
        equal = np.flatnonzero((found == best[group]) & (found > -np.inf))[::-1]
        at[group[equal]] = equal
    return best, at

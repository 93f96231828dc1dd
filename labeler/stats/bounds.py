"""Bounds on means and on differences of two runs, over all grades of the unjudged chunks.

Queries vary independently, so the lowest mean is the mean of each query's lowest value. A query
without a value may get one and count in the mean, or not: for the highest mean, queries are added
from the highest value down until the next one would no longer raise the mean.

A chunk in both runs has one grade, and the relevant chunks of a query are the same for both runs,
so the difference varies less than the two values do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from labeler.measures import Bools, Floats, Ints, Measure, SmallInts, score
from labeler.stats.bounds_single import (
    BEST_GRADE,
    RECALL_LIKE,
    MeasuredLists,
    ap_sums,
    current_gains,
    group_maxima,
    highest_ratio,
    ideals_of_groups,
    places_in_groups,
    running_sums,
    value_range,
)
from labeler.stats.unjudged_chunks import PartlyJudgedLists


@dataclass(frozen=True, eq=False)
class ValueBounds:
    """The lowest and highest value of each query, over all grades of its unjudged chunks.

    ``low``, ``high`` and ``exact`` (queries, runs, plus one for the delta of two runs): over all
    grades that give a value, and whether some grades give the bounds themselves. ``must``
    (queries,): queries in the mean whatever the grades; ``may``: in it for some grades only.
    ``unjudged`` (queries,): how many chunks are unjudged.
    """

    low: Floats
    high: Floats
    exact: Bools
    must: Bools
    may: Bools
    unjudged: Ints

    def replaced(self, queries: Ints, part: ValueBounds) -> ValueBounds:
        """Return a copy in which ``queries`` have the bounds of ``part``."""
        names = ("low", "high", "exact", "must", "may", "unjudged")
        copies = [getattr(self, name).copy() for name in names]
        for each, name in zip(copies, names, strict=True):
            each[queries] = getattr(part, name)
        return ValueBounds(*copies)

    @classmethod
    def joined(cls, parts: Sequence[ValueBounds]) -> ValueBounds:
        """Return the bounds of the queries of all parts, in order."""
        fields = zip(*(vars(part).values() for part in parts), strict=True)
        return cls(*map(np.concatenate, fields))

    def of_mean(self, inside: Bools) -> tuple[Floats, Floats, Bools]:
        """Return the lowest and highest mean over the queries ``inside``, and where both are exact.

        One of each for every run, and the delta; NaN where no grades give a value.
        """
        must, may = inside & self.must, inside & self.may
        low = 0.0 - _highest_mean(-self.low[must], -self.low[may])  # and never -0.0
        high = 0.0 + _highest_mean(self.high[must], self.high[may])
        exact: Bools = np.logical_and.reduce(self.exact[must | may], axis=0)
        return low, high, exact


def _highest_mean(required: Floats, optional: Floats) -> Floats:
    """Return the highest mean of each column over all required rows and any optional ones."""
    best_first = -np.sort(-optional, axis=0)
    counts = np.arange(len(best_first) + 1)[:, np.newaxis] + len(required)
    start = required.sum(axis=0)[np.newaxis]
    sums = np.concatenate([start, start + np.cumsum(best_first, axis=0)])
    means = np.divide(sums, counts, out=np.full(sums.shape, -np.inf), where=counts > 0)
    best = means.max(axis=0)
    return np.where(np.isinf(best), np.nan, best)


def bound_values(
    lists: PartlyJudgedLists, measure: Measure, cutoff: Ints, *, stand_in: float | None
) -> ValueBounds:
    """Return the bounds of each query's values; ``stand_in`` replaces an undefined value.

    ``lists`` has only the unjudged chunks that matter to the measure.
    """
    low, high, exact = value_range(lists, measure, cutoff)
    rows = MeasuredLists(lists, measure, cutoff)
    if lists.runs == 2:
        ends = [each[:, np.newaxis] for each in delta_range(rows)]
        low, high, exact = (
            np.concatenate(pair, axis=1) for pair in zip((low, high, exact), ends, strict=True)
        )
    defined = rows.is_defined[:: lists.runs]
    must, may = defined, ~defined & (lists.count > 0)
    if stand_in is not None:
        counts = np.append(np.full(lists.runs, stand_in), [0.0] * (lists.runs == 2))
        low[~defined] = np.fmin(low[~defined], counts)
        high[~defined] = np.fmax(high[~defined], counts)
        must, may = lists.judged | (lists.count > 0), np.zeros_like(may)
    return ValueBounds(low, high, exact, must, may, lists.count)


MOST_GRADINGS = 64
"""Up to this many combinations of grades of a query are all tried where no rule gives the best."""

LINEAR = ("P", "RBP", "SetP")
FIRST = ("RR", "Success")


def delta_range(rows: MeasuredLists) -> tuple[Floats, Floats, Bools]:
    """Return the lowest and highest B - A of each query, (queries,), and where both are reached.

    ``rows`` are of two runs, A and then B. Over all grades that give a value; NaN where none do.
    A bound that is not reached still holds: no grades go beyond it.
    """
    lists, measure = rows.lists, rows.measure
    may_be_defined = rows.may_be_defined[::2]
    if measure.name in (*LINEAR, *FIRST, *RECALL_LIKE):
        ends = [_delta_of(rows, _best_choice(rows, sign)) for sign in (-1, 1)]
        exact = np.ones(len(may_be_defined), dtype=np.bool_)
    elif measure.name == "nDCG":
        ends = [sign * _best_ndcg(rows, sign) for sign in (-1, 1)]
        exact = np.ones(len(may_be_defined), dtype=np.bool_)
    else:
        ends = list(_outer_bounds(rows))
        exact = lists.count == 0
        _try_all(rows, ends[0], ends[1], exact)
    low, high = (np.where(may_be_defined, each, np.nan) for each in ends)
    return low, high, exact


def _delta_of(rows: MeasuredLists, grades: SmallInts) -> Floats:
    values = score(rows.lists.with_grades(grades), rows.measure, rows.limit)
    delta: Floats = values[1::2] - values[::2]
    return delta


def _ranks_of_unjudged(rows: MeasuredLists) -> tuple[Ints, Ints]:
    """Return each unjudged chunk's rank in A and in B, (unjudged chunks,), 0 where below the
    cut-off.
    """
    lists, found = rows.lists, []
    for run in (0, 1):
        rank = np.zeros(len(lists.unjudged), dtype=np.int64)
        own = rows.inside[lists.row[rows.inside] % 2 == run]
        rank[lists.unjudged_number[own]] = rows.rank[own]
        found.append(rank)
    return found[0], found[1]


def _best_choice(rows: MeasuredLists, sign: int) -> SmallInts:
    """Return grades of the unjudged chunks that make ``sign`` · (B - A) of each query highest."""
    lists = rows.lists
    sides = _ranks_of_unjudged(rows)[::sign]
    undefined = ~rows.is_defined[::2]
    if rows.measure.name in RECALL_LIKE:
        chosen = _choose_for_recall(rows, sides, sign)
    elif rows.measure.name in FIRST:
        chosen = _choose_first(rows, sides, sign)
    else:
        weight = _weights(rows, sides[1], sign) - _weights(rows, sides[0], -sign)
        chosen = weight > 0
        _, at = group_maxima(weight, lists.query, len(lists.queries))
        chosen[at[undefined & (at >= 0)]] = True
    grades: SmallInts = np.where(chosen, BEST_GRADE, 0).astype(np.int8)
    return grades


def _weights(rows: MeasuredLists, rank: Ints, side: int) -> Floats:
    """Return what each unjudged chunk adds to a run if relevant; ``side`` 1 is B, -1 is A."""
    measure, there = rows.measure, rank > 0
    if measure.name == "RBP":
        weights: Floats = np.where(there, (measure.p or 0.0) ** (rank - 1.0), 0.0)
        return weights
    if measure.name == "SetP":
        lists = rows.lists
        held = np.bincount(lists.row, minlength=rows.size)
        length = held if measure.judged_only else lists.length
        own = length[int(side > 0) :: 2]
        return there / np.maximum(own, 1)[lists.query]
    return there.astype(np.float64)


def _choose_first(rows: MeasuredLists, sides: tuple[Ints, ...], sign: int) -> Bools:
    """Choose at most one chunk of each query: a second one could only help the other run."""
    lists, size = rows.lists, len(rows.lists.queries)
    not_relevant = np.zeros(len(lists.unjudged), dtype=np.int8)
    now = np.nan_to_num(score(lists.with_grades(not_relevant), rows.measure, rows.limit))
    before = (now[::2], now[1::2])[::sign]
    after = []
    for rank, value in zip(sides, before, strict=True):
        found = 1.0 * (rank > 0)
        if rows.measure.name == "RR":
            found = np.divide(1.0, rank, out=np.zeros(len(rank)), where=rank > 0)
        after.append(np.maximum(value[lists.query], found))
    best, at = group_maxima(after[1] - after[0], lists.query, size)
    gains_more = (best > before[1] - before[0]) | ~rows.is_defined[::2]
    chosen = np.zeros(len(lists.unjudged), dtype=np.bool_)
    chosen[at[gains_more & (at >= 0)]] = True
    return chosen


def _choose_for_recall(rows: MeasuredLists, sides: tuple[Ints, ...], sign: int) -> Bools:
    """Choose for each query the chunks that favour one run most.

    Chunks in that run alone are taken first, chunks in the other run alone last.
    """
    lists, measure, size = rows.lists, rows.measure, len(rows.lists.queries)
    other, own = (rank > 0 for rank in sides)
    both_lengths = _lengths(rows)
    lengths = (both_lengths[::2], both_lengths[1::2])[::sign]
    both = np.where(lengths[1] < lengths[0], 0.5, -0.5)[lists.query] * (measure.name == "SetF")
    key = 1.0 * own - other + both * (own & other)
    order = np.lexsort((-key, lists.query))
    query = lists.query[order]
    hits = lists.with_grades(np.zeros(len(lists.unjudged), dtype=np.int8))
    rel = measure.rel or 1
    counts = hits.relevant(rel).count(rows.limit)
    found = (counts[::2], counts[1::2])[::sign]
    wanted = lists.known[:, rel:].sum(axis=1)
    place = places_in_groups(query)
    values, first = np.zeros(len(query)), np.zeros(size)
    for part, held, length, side in zip(found, (other, own), lengths, (-1, 1), strict=True):
        more_found = part[query] + running_sums(held[order], query)
        of = (length[query], rows.cutoff[query])
        values += side * _share_found(measure, more_found, wanted[query] + place, *of)
        first += side * _share_found(measure, part, wanted, length, rows.cutoff)
    best, at = group_maxima(values, query, size)
    more = np.where((wanted > 0) & (first >= best), 0, np.append(place, 0)[at])
    chosen = np.zeros(len(query), dtype=np.bool_)
    chosen[order] = place <= more[query]
    return chosen


def _lengths(rows: MeasuredLists) -> Ints:
    if rows.measure.judged_only:
        return np.bincount(rows.lists.row, minlength=rows.size)
    return rows.lists.length


def _share_found(
    measure: Measure, found: Floats | Ints, wanted: Ints, length: Ints, cutoff: Ints
) -> Floats:
    """Return the measure's share of relevant chunks found; 0 where none is ``wanted``."""
    divisor: Floats | Ints = wanted
    if measure.name == "F1":
        divisor = (cutoff + wanted) / 2
    if measure.name == "SetF":
        beta = measure.beta or 1.0
        divisor = (length + beta * wanted) / (1 + beta)
    return np.divide(found, divisor, out=np.zeros(len(wanted)), where=wanted > 0)


def _best_ndcg(rows: MeasuredLists, sign: int) -> Floats:
    lists, size = rows.lists, len(rows.lists.queries)
    other, own = (
        np.divide(1.0, np.log2(rank + 1), out=np.zeros(len(rank)), where=rank > 0)
        for rank in _ranks_of_unjudged(rows)[::sign]
    )
    weight = own - other
    order = np.lexsort((-weight, lists.query))
    gains = current_gains(rows)
    now = sign * (gains[1::2] - gains[::2])
    ideals = ideals_of_groups(rows, lists.known, rows.cutoff, lists.count)
    found = highest_ratio(now, ideals, lists.query[order], weight[order])
    return np.where(np.isinf(found), np.nan, found)[:size]


def _outer_bounds(rows: MeasuredLists) -> tuple[Floats, Floats]:
    """Return bounds that no grades go beyond, though perhaps none reach them."""
    low, high, _ = value_range(rows.lists, rows.measure, rows.cutoff)
    ends = low[:, 1] - high[:, 0], high[:, 1] - low[:, 0]
    if rows.measure.name != "AP":
        return ends
    lowest, highest_of = _ap_by_count(rows)
    closer = (lowest[:, 1] - highest_of[:, 0], highest_of[:, 1] - lowest[:, 0])
    with np.errstate(invalid="ignore"):
        return (
            np.fmax(ends[0], np.nanmin(closer[0], axis=1, initial=np.inf)),
            np.fmin(ends[1], np.nanmax(closer[1], axis=1, initial=-np.inf)),
        )


def _ap_by_count(rows: MeasuredLists) -> tuple[Floats, Floats]:
    """Return the lowest and highest AP by the number of unjudged chunks that are relevant.

    Both (queries, runs, counts from 0); NaN where a query has fewer of them, or no value.
    """
    lists = rows.lists
    counts = np.arange(int(lists.count.max(initial=0)) + 1)
    wanted = rows.known[:, rows.measure.rel or 1 :].sum(axis=1)[:, np.newaxis] + counts
    found = []
    for deepest in (True, False):
        now, row, sums = ap_sums(rows, deepest=deepest)
        table = np.repeat(now[:, np.newaxis], rows.held.max(initial=0) + 1, axis=1)
        table[row, places_in_groups(row)] = sums
        used = np.clip(counts - rows.others[:, np.newaxis] * deepest, 0, rows.held[:, np.newaxis])
        values = np.take_along_axis(table, used, axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            values = values / wanted
        values[(wanted == 0) | (counts > lists.count[rows.query][:, np.newaxis])] = np.nan
        found.append(values.reshape(len(lists.queries), 2, len(counts)))
    return found[0], found[1]


def _try_all(rows: MeasuredLists, low: Floats, high: Floats, exact: Bools) -> None:
    """Set the exact bounds of queries with few unjudged chunks, by trying all their grades."""
    grades = (0, 1, 2, 3) if rows.measure.name == "ERR" else (0, BEST_GRADE)
    for unjudged in range(1, int(rows.lists.count.max(initial=0)) + 1):
        if len(grades) ** unjudged > MOST_GRADINGS:
            break
        chosen = np.flatnonzero(rows.lists.count == unjudged)
        if not len(chosen):
            continue
        part = MeasuredLists(rows.lists.among(chosen), rows.measure, rows.cutoff[chosen])
        tried = np.array(list(product(grades, repeat=unjudged)), dtype=np.int8)
        deltas = np.array([_delta_of(part, np.tile(each, len(chosen))) for each in tried])
        with np.errstate(all="ignore"):
            low[chosen] = np.fmin.reduce(deltas, axis=0)
            high[chosen] = np.fmax.reduce(deltas, axis=0)
        exact[chosen] = True

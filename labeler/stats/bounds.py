"""Bounds on means and on differences of two runs, over all grades of the unjudged chunks.

Queries vary independently, so the lowest mean is made of each query's lowest value. A query
without a value yet may get one and enter the mean, or stay out: those that pull the mean the
right way come in, the farthest first, until the next one would not pull it any more.

A chunk that both runs hold has one grade, and what is known of the query is the same for both: so
the difference moves less than both values do.
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
    """How low and how high values can be, by query.

    ``low``, ``high`` and ``exact`` (queries, runs, plus one for the delta where the runs are two):
    over all fillings under which there is a value, and whether some filling reaches both. ``must``
    (queries,) says which queries are in the mean whatever the grades, ``may`` which come in under
    some of them only. ``holes`` (queries,) counts them.
    """

    low: Floats
    high: Floats
    exact: Bools
    must: Bools
    may: Bools
    holes: Ints

    def replaced(self, queries: Ints, part: ValueBounds) -> ValueBounds:
        """Return the same after some queries changed."""
        names = ("low", "high", "exact", "must", "may", "holes")
        fresh = [getattr(self, name).copy() for name in names]
        for old, name in zip(fresh, names, strict=True):
            old[queries] = getattr(part, name)
        return ValueBounds(*fresh)

    @classmethod
    def joined(cls, parts: Sequence[ValueBounds]) -> ValueBounds:
        """Return the same of the queries of all parts."""
        fields = zip(*(vars(part).values() for part in parts), strict=True)
        return cls(*map(np.concatenate, fields))

    def of_mean(self, inside: Bools) -> tuple[Floats, Floats, Bools]:
        """Return the lowest and highest mean over the queries ``inside``, and where both are exact.

        One of each for every run, and the delta; NaN where no filling gives a value.
        """
        must, may = inside & self.must, inside & self.may
        low = 0.0 - _highest_mean(-self.low[must], -self.low[may])  # and never -0.0
        high = 0.0 + _highest_mean(self.high[must], self.high[may])
        exact: Bools = np.logical_and.reduce(self.exact[must | may], axis=0)
        return low, high, exact


def _highest_mean(sure: Floats, open_ones: Floats) -> Floats:
    """Return the highest mean of each column over all rows that must count and some that may."""
    best_first = -np.sort(-open_ones, axis=0)
    counts = np.arange(len(best_first) + 1)[:, np.newaxis] + len(sure)
    start = sure.sum(axis=0)[np.newaxis]
    sums = np.concatenate([start, start + np.cumsum(best_first, axis=0)])
    means = np.divide(sums, counts, out=np.full(sums.shape, -np.inf), where=counts > 0)
    best = means.max(axis=0)
    return np.where(np.isinf(best), np.nan, best)


def bound_values(
    ground: PartlyJudgedLists, measure: Measure, cutoff: Ints, *, stand_in: float | None
) -> ValueBounds:
    """Find how far values can go; ``stand_in`` is what counts for an undefined one.

    ``ground`` has the holes that matter to the measure and no others.
    """
    low, high, exact = value_range(ground, measure, cutoff)
    rows = MeasuredLists(ground, measure, cutoff)
    if ground.runs == 2:
        ends = [each[:, np.newaxis] for each in delta_range(rows)]
        low, high, exact = (
            np.concatenate(pair, axis=1) for pair in zip((low, high, exact), ends, strict=True)
        )
    defined = rows.is_defined[:: ground.runs]
    must, may = defined, ~defined & (ground.count > 0)
    if stand_in is not None:
        counts = np.append(np.full(ground.runs, stand_in), [0.0] * (ground.runs == 2))
        low[~defined] = np.fmin(low[~defined], counts)
        high[~defined] = np.fmax(high[~defined], counts)
        must, may = ground.judged | (ground.count > 0), np.zeros_like(may)
    return ValueBounds(low, high, exact, must, may, ground.count)


MOST_GRADINGS = 64
"""So many fillings of a query are all tried out, where no rule says which is best."""

LINEAR = ("P", "RBP", "SetP")
FIRST = ("RR", "Success")


def delta_range(rows: MeasuredLists) -> tuple[Floats, Floats, Bools]:
    """Return the lowest and highest B - A of each query, (queries,), and where both are reached.

    ``rows`` are of two runs, A and then B. Over all fillings under which there is a value; NaN
    where there never is one. What is not reached is still a bound: no filling goes beyond it.
    """
    ground, measure = rows.ground, rows.measure
    can_be = rows.can_be[::2]
    if measure.name in (*LINEAR, *FIRST, *RECALL_LIKE):
        ends = [_delta_of(rows, _best_choice(rows, sign)) for sign in (-1, 1)]
        exact = np.ones(len(can_be), dtype=np.bool_)
    elif measure.name == "nDCG":
        ends = [sign * _best_ndcg(rows, sign) for sign in (-1, 1)]
        exact = np.ones(len(can_be), dtype=np.bool_)
    else:
        ends = list(_outer_bounds(rows))
        exact = ground.count == 0
        _try_all(rows, ends[0], ends[1], exact)
    low, high = (np.where(can_be, each, np.nan) for each in ends)
    return low, high, exact


def _delta_of(rows: MeasuredLists, grades: SmallInts) -> Floats:
    values = score(rows.ground.filled(grades), rows.measure, rows.limit)
    delta: Floats = values[1::2] - values[::2]
    return delta


def _ranks_of_unjudged(rows: MeasuredLists) -> tuple[Ints, Ints]:
    """Return the rank of each hole in A and in B, (holes,), 0 where it is not above the cut-off."""
    ground, found = rows.ground, []
    for run in (0, 1):
        rank = np.zeros(len(ground.holes), dtype=np.int64)
        own = rows.inside[ground.row[rows.inside] % 2 == run]
        rank[ground.hole[own]] = rows.rank[own]
        found.append(rank)
    return found[0], found[1]


def _best_choice(rows: MeasuredLists, sign: int) -> SmallInts:
    """Return grades of the holes that make ``sign`` · (B - A) of each query as high as can be."""
    ground = rows.ground
    sides = _ranks_of_unjudged(rows)[::sign]
    undefined = ~rows.is_defined[::2]
    if rows.measure.name in RECALL_LIKE:
        chosen = _choose_for_recall(rows, sides, sign)
    elif rows.measure.name in FIRST:
        chosen = _choose_first(rows, sides, sign)
    else:
        weight = _weights(rows, sides[1], sign) - _weights(rows, sides[0], -sign)
        chosen = weight > 0
        _, at = group_maxima(weight, ground.query, len(ground.queries))
        chosen[at[undefined & (at >= 0)]] = True
    grades: SmallInts = np.where(chosen, BEST_GRADE, 0).astype(np.int8)
    return grades


def _weights(rows: MeasuredLists, rank: Ints, side: int) -> Floats:
    """Return what each hole would add to a run's value, if relevant; ``side`` 1 is B, -1 is A."""
    measure, there = rows.measure, rank > 0
    if measure.name == "RBP":
        weights: Floats = np.where(there, (measure.p or 0.0) ** (rank - 1.0), 0.0)
        return weights
    if measure.name == "SetP":
        ground = rows.ground
        held = np.bincount(ground.row, minlength=rows.size)
        length = held if measure.judged_only else ground.length
        own = length[int(side > 0) :: 2]
        return there / np.maximum(own, 1)[ground.query]
    return there.astype(np.float64)


def _choose_first(rows: MeasuredLists, sides: tuple[Ints, ...], sign: int) -> Bools:
    """Return at most one hole of each query: a second one could only help the other run."""
    ground, size = rows.ground, len(rows.ground.queries)
    none = np.zeros(len(ground.holes), dtype=np.int8)
    now = np.nan_to_num(score(ground.filled(none), rows.measure, rows.limit))
    before = (now[::2], now[1::2])[::sign]
    after = []
    for rank, value in zip(sides, before, strict=True):
        found = 1.0 * (rank > 0)
        if rows.measure.name == "RR":
            found = np.divide(1.0, rank, out=np.zeros(len(rank)), where=rank > 0)
        after.append(np.maximum(value[ground.query], found))
    best, at = group_maxima(after[1] - after[0], ground.query, size)
    worth = (best > before[1] - before[0]) | ~rows.is_defined[::2]
    chosen = np.zeros(len(ground.holes), dtype=np.bool_)
    chosen[at[worth & (at >= 0)]] = True
    return chosen


def _choose_for_recall(rows: MeasuredLists, sides: tuple[Ints, ...], sign: int) -> Bools:
    """Return for each query the holes that are best for one run against the other.

    First come those that only the one run holds, last those that only the other holds.
    """
    ground, measure, size = rows.ground, rows.measure, len(rows.ground.queries)
    other, own = (rank > 0 for rank in sides)
    both_lengths = _lengths(rows)
    lengths = (both_lengths[::2], both_lengths[1::2])[::sign]
    both = np.where(lengths[1] < lengths[0], 0.5, -0.5)[ground.query] * (measure.name == "SetF")
    key = 1.0 * own - other + both * (own & other)
    order = np.lexsort((-key, ground.query))
    query = ground.query[order]
    hits = ground.filled(np.zeros(len(ground.holes), dtype=np.int8))
    rel = measure.rel or 1
    counts = hits.relevant(rel).count(rows.limit)
    found = (counts[::2], counts[1::2])[::sign]
    wanted = ground.known[:, rel:].sum(axis=1)
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
        return np.bincount(rows.ground.row, minlength=rows.size)
    return rows.ground.length


def _share_found(
    measure: Measure, found: Floats | Ints, wanted: Ints, length: Ints, cutoff: Ints
) -> Floats:
    """Return which share so many found are, in lists of a ``length``; 0 where none is wanted."""
    divisor: Floats | Ints = wanted
    if measure.name == "F1":
        divisor = (cutoff + wanted) / 2
    if measure.name == "SetF":
        beta = measure.beta or 1.0
        divisor = (length + beta * wanted) / (1 + beta)
    return np.divide(found, divisor, out=np.zeros(len(wanted)), where=wanted > 0)


def _best_ndcg(rows: MeasuredLists, sign: int) -> Floats:
    ground, size = rows.ground, len(rows.ground.queries)
    other, own = (
        np.divide(1.0, np.log2(rank + 1), out=np.zeros(len(rank)), where=rank > 0)
        for rank in _ranks_of_unjudged(rows)[::sign]
    )
    weight = own - other
    order = np.lexsort((-weight, ground.query))
    gains = current_gains(rows)
    now = sign * (gains[1::2] - gains[::2])
    ideals = ideals_of_groups(rows, ground.known, rows.cutoff, ground.count)
    found = highest_ratio(now, ideals, ground.query[order], weight[order])
    return np.where(np.isinf(found), np.nan, found)[:size]


def _outer_bounds(rows: MeasuredLists) -> tuple[Floats, Floats]:
    """Return bounds that no filling goes beyond, though perhaps none reaches them."""
    low, high, _ = value_range(rows.ground, rows.measure, rows.cutoff)
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
    """Return AP's lowest and highest value where so many holes of a query are relevant.

    Both (queries, runs, counts from 0), NaN where the query has fewer holes or no value.
    """
    ground = rows.ground
    counts = np.arange(int(ground.count.max(initial=0)) + 1)
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
        values[(wanted == 0) | (counts > ground.count[rows.of][:, np.newaxis])] = np.nan
        found.append(values.reshape(len(ground.queries), 2, len(counts)))
    return found[0], found[1]


def _try_all(rows: MeasuredLists, low: Floats, high: Floats, exact: Bools) -> None:
    """Put the lowest and highest differences of queries with few holes in: all are tried out."""
    grades = (0, 1, 2, 3) if rows.measure.name == "ERR" else (0, BEST_GRADE)
    for holes in range(1, int(rows.ground.count.max(initial=0)) + 1):
        if len(grades) ** holes > MOST_GRADINGS:
            break
        chosen = np.flatnonzero(rows.ground.count == holes)
        if not len(chosen):
            continue
        part = MeasuredLists(rows.ground.among(chosen), rows.measure, rows.cutoff[chosen])
        tried = np.array(list(product(grades, repeat=holes)), dtype=np.int8)
        deltas = np.array([_delta_of(part, np.tile(each, len(chosen))) for each in tried])
        with np.errstate(all="ignore"):
            low[chosen] = np.fmin.reduce(deltas, axis=0)
            high[chosen] = np.fmax.reduce(deltas, axis=0)
        exact[chosen] = True

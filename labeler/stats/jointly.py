"""How low and how high the difference of two runs in a query can be, over all grades of its holes.

A chunk that both hold has one grade, and what is known of the query is the same for both: so the
difference moves less than both values. What is best for B is found as for one run, and what is
worst by changing sides.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from labeler.measures import Bools, Floats, Ints, Measure, SmallInts, score
from labeler.stats.alone import (
    BEST,
    SHARES,
    Rows,
    ap_sums,
    gains_now,
    ideals_of,
    range_alone,
)
from labeler.stats.ratios import highest_ratio
from labeler.stats.sorted_groups import highest, place_in, running

MOST_TRIED = 64
"""So many fillings of a query are all tried out, where no rule says which is best."""

LINEAR = ("P", "RBP", "SetP")
FIRST = ("RR", "Success")


def range_of_delta(rows: Rows) -> tuple[Floats, Floats, Bools]:
    """Return the lowest and highest B - A of each query, (queries,), and where both are reached.

    ``rows`` are of two runs, A and then B. Over all fillings under which there is a value; NaN
    where there never is one. What is not reached is still a bound: no filling goes beyond it.
    """
    ground, measure = rows.ground, rows.measure
    can_be = rows.can_be[::2]
    if measure.name in (*LINEAR, *FIRST, *SHARES):
        ends = [_delta(rows, _best_choice(rows, sign)) for sign in (-1, 1)]
        exact = np.ones(len(can_be), dtype=np.bool_)
    elif measure.name == "nDCG":
        ends = [sign * _best_ndcg(rows, sign) for sign in (-1, 1)]
        exact = np.ones(len(can_be), dtype=np.bool_)
    else:
        ends = list(_outer(rows))
        exact = ground.count == 0
        _try_all(rows, ends[0], ends[1], exact)
    low, high = (np.where(can_be, each, np.nan) for each in ends)
    return low, high, exact


def _delta(rows: Rows, grades: SmallInts) -> Floats:
    values = score(rows.ground.filled(grades), rows.measure, rows.limit)
    delta: Floats = values[1::2] - values[::2]
    return delta


def _ranks(rows: Rows) -> tuple[Ints, Ints]:
    """Return the rank of each hole in A and in B, (holes,), 0 where it is not above the cut-off."""
    ground, found = rows.ground, []
    for run in (0, 1):
        rank = np.zeros(len(ground.holes), dtype=np.int64)
        own = rows.inside[ground.row[rows.inside] % 2 == run]
        rank[ground.hole[own]] = rows.rank[own]
        found.append(rank)
    return found[0], found[1]


def _best_choice(rows: Rows, sign: int) -> SmallInts:
    """Return grades of the holes that make ``sign`` · (B - A) of each query as high as can be."""
    ground = rows.ground
    sides = _ranks(rows)[::sign]
    undefined = ~rows.is_defined[::2]
    if rows.measure.name in SHARES:
        chosen = _of_shares(rows, sides, sign)
    elif rows.measure.name in FIRST:
        chosen = _of_first(rows, sides, sign)
    else:
        weight = _weights(rows, sides[1], sign) - _weights(rows, sides[0], -sign)
        chosen = weight > 0
        _, at = highest(weight, ground.query, len(ground.queries))
        chosen[at[undefined & (at >= 0)]] = True
    grades: SmallInts = np.where(chosen, BEST, 0).astype(np.int8)
    return grades


def _weights(rows: Rows, rank: Ints, side: int) -> Floats:
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


def _of_first(rows: Rows, sides: tuple[Ints, ...], sign: int) -> Bools:
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
    best, at = highest(after[1] - after[0], ground.query, size)
    worth = (best > before[1] - before[0]) | ~rows.is_defined[::2]
    chosen = np.zeros(len(ground.holes), dtype=np.bool_)
    chosen[at[worth & (at >= 0)]] = True
    return chosen


def _of_shares(rows: Rows, sides: tuple[Ints, ...], sign: int) -> Bools:
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
    place = place_in(query)
    values, first = np.zeros(len(query)), np.zeros(size)
    for part, held, length, side in zip(found, (other, own), lengths, (-1, 1), strict=True):
        more_found = part[query] + running(held[order], query)
        of = (length[query], rows.cutoff[query])
        values += side * _share(measure, more_found, wanted[query] + place, *of)
        first += side * _share(measure, part, wanted, length, rows.cutoff)
    best, at = highest(values, query, size)
    more = np.where((wanted > 0) & (first >= best), 0, np.append(place, 0)[at])
    chosen = np.zeros(len(query), dtype=np.bool_)
    chosen[order] = place <= more[query]
    return chosen


def _lengths(rows: Rows) -> Ints:
    if rows.measure.judged_only:
        return np.bincount(rows.ground.row, minlength=rows.size)
    return rows.ground.length


def _share(
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


def _best_ndcg(rows: Rows, sign: int) -> Floats:
    ground, size = rows.ground, len(rows.ground.queries)
    other, own = (
        np.divide(1.0, np.log2(rank + 1), out=np.zeros(len(rank)), where=rank > 0)
        for rank in _ranks(rows)[::sign]
    )
    weight = own - other
    order = np.lexsort((-weight, ground.query))
    gains = gains_now(rows)
    now = sign * (gains[1::2] - gains[::2])
    ideals = ideals_of(rows, ground.known, rows.cutoff, ground.count)
    found = highest_ratio(now, ideals, ground.query[order], weight[order])
    return np.where(np.isinf(found), np.nan, found)[:size]


def _outer(rows: Rows) -> tuple[Floats, Floats]:
    """Return bounds that no filling goes beyond, though perhaps none reaches them."""
    low, high, _ = range_alone(rows.ground, rows.measure, rows.cutoff)
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


def _ap_by_count(rows: Rows) -> tuple[Floats, Floats]:
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
        table[row, place_in(row)] = sums
        used = np.clip(counts - rows.others[:, np.newaxis] * deepest, 0, rows.held[:, np.newaxis])
        values = np.take_along_axis(table, used, axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            values = values / wanted
        values[(wanted == 0) | (counts > ground.count[rows.of][:, np.newaxis])] = np.nan
        found.append(values.reshape(len(ground.queries), 2, len(counts)))
    return found[0], found[1]


def _try_all(rows: Rows, low: Floats, high: Floats, exact: Bools) -> None:
    """Put the lowest and highest differences of queries with few holes in: all are tried out."""
    grades = (0, 1, 2, 3) if rows.measure.name == "ERR" else (0, BEST)
    for holes in range(1, int(rows.ground.count.max(initial=0)) + 1):
        if len(grades) ** holes > MOST_TRIED:
            break
        chosen = np.flatnonzero(rows.ground.count == holes)
        if not len(chosen):
            continue
        part = Rows(rows.ground.among(chosen), rows.measure, rows.cutoff[chosen])
        tried = np.array(list(product(grades, repeat=holes)), dtype=np.int8)
        deltas = np.array([_delta(part, np.tile(each, len(chosen))) for each in tried])
        with np.errstate(all="ignore"):
            low[chosen] = np.fmin.reduce(deltas, axis=0)
            high[chosen] = np.fmax.reduce(deltas, axis=0)
        exact[chosen] = True

"""The best nDCG and average precision that a choice of grades could give; knows no run by name.

For nDCG a choice moves the discounted gain and the ideal. Both are sums over grades 1 to 3 of what
the chunks of at least that grade add, so that for a given ratio t the best of "gain - t · ideal" is
found grade by grade: the m best placed holes reach it. Raising t to the ratio that comes out until
it stays (Dinkelbach 1967) ends at the highest ratio there is. Where even that is not above 0, which
can only be between two runs, it is best to give all of some holes grade 3 and the others 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from labeler.measures import Bools, Floats, Ints
from labeler.stats.sorted_groups import highest, place_in, running

MOST_ROUNDS = 60


@dataclass(frozen=True, eq=False)
class Ideals:
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


def with_depth(cutoff: Ints, chunks: Ints) -> Ints:
    """Return cut-offs no larger than the number of chunks there can be: a list has no more."""
    found: Ints = np.minimum(cutoff, np.maximum(chunks, 1))
    return found


def highest_ratio(now: Floats, ideals: Ideals, group: Ints, weight: Floats) -> Floats:
    """Return the highest ratio of gain to ideal that grades of holes could give, by group.

    ``now`` (groups,) is the gain of what is graded. ``group`` and ``weight`` have an entry for each
    hole, its discount, sorted by group and then from the highest weight. -inf where no choice has
    an ideal.
    """
    size, every = len(now), np.arange(len(now))
    place, summed = place_in(group), running(weight, group)
    gain = float(ideals.rises.sum())
    first = ideals.whole(every, np.zeros(size))
    start = np.divide(now, first, out=np.full(size, -np.inf), where=first > 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        ratios = (now[group] + gain * summed) / ideals.whole(group, place)
    ratio: Floats = np.maximum(start, highest(ratios, group, size)[0])
    for _ in range(MOST_ROUNDS):
        rising = np.flatnonzero(ratio > 0)
        target = np.maximum(ratio, 0.0)
        gains, ideal = now.copy(), np.zeros(size)
        for level, rise in enumerate(ideals.rises.tolist()):
            worth = summed - target[group] * ideals.part(level, group, place)
            best, at = highest(worth, group, size)
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


def precision_sums(row: Ints, rank: Ints, is_hole: Bools, *, deepest_first: bool) -> Floats:
    """Return what average precision's sum rises by as holes become relevant one after the other.

    Entries are known relevant chunks and holes, by row, then by rank. The rises, one for each hole
    in that order, are for making the shallowest relevant first, or the deepest.
    """
    above = running(~is_hole, row)
    also = _below(np.where(is_hole, 0.0, 1 / rank), row)
    own = above + 1 if deepest_first else above + running(is_hole, row)
    if deepest_first:
        also = also + _below(np.where(is_hole, 1 / rank, 0.0), row)
    rises: Floats = (own / rank + also)[is_hole]
    return rises


def _below(values: Floats, row: Ints) -> Floats:
    """Return the sum of the entries after each one in its row."""
    up_to = running(values[::-1], row.max(initial=0) - row[::-1])[::-1]
    rest: Floats = up_to - values
    return rest

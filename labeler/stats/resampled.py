"""The sums of resamples, kept: one more grade costs the query it moved, and not all draws anew.

Knows no statistic. Samples are in whole steps, of which no sum is ever rounded: so what is brought
up to date has the very bits of what is made anew.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from labeler.measures import Floats
from labeler.stats.draws import AT_ONCE, product, resamples

MOST_DRAWN = 32_000_000  # how often queries are drawn that is kept, of 2 bytes each
MOST_SUMS = 4_000_000  # that are kept, of 8 bytes each
FEW = 16  # queries that moved in one sample: more are summed up anew

Often = npt.NDArray[np.uint16]


def sums_of(whole: Floats, draws: int) -> Floats:
    """Return the sum of each sample in each resample, (samples, draws), of samples (samples, n)."""
    return _summed(whole, resamples(whole.shape[1], draws))


def _summed(whole: Floats, drawn: Iterable[Floats]) -> Floats:
    """Return the sums in resamples that are given some at a time, (some draws, n)."""
    return np.concatenate([product(whole, often.T) for often in drawn], axis=1)


@dataclass(frozen=True, eq=False)
class _Kept:
    whole: Floats
    sums: Floats


class Resampled:
    """Sums as `sums_of` gives them, of samples much like some that were asked for before.

    Any number of threads may ask.
    """

    def __init__(self) -> None:
        self._often: dict[tuple[int, int], Often] = {}
        self._kept: list[_Kept] = []  # what was asked for last comes last
        self._lock = threading.Lock()

    def __call__(self, whole: Floats, draws: int) -> Floats:
        """Return the same as `sums_of`."""
        if whole.shape[1] * draws > MOST_DRAWN:
            return sums_of(whole, draws)
        with self._lock:
            kept = self._most_like(whole, draws)
            sums = self._made(whole, draws, kept)
            self._keep(_Kept(whole, sums), kept)
        return sums.copy()

    def _most_like(self, whole: Floats, draws: int) -> _Kept | None:
        shapes = (whole.shape, (len(whole), draws))
        alike = [each for each in self._kept if (each.whole.shape, each.sums.shape) == shapes]
        return min(alike, key=lambda each: int(np.sum(each.whole != whole)), default=None)

    def _made(self, whole: Floats, draws: int, kept: _Kept | None) -> Floats:
        if kept is None:
            return self._anew(whole, draws)
        sums, moved = kept.sums.copy(), whole != kept.whole
        is_anew = moved.sum(axis=1) > FEW
        few = np.flatnonzero(moved.any(axis=1) & ~is_anew)
        if len(few):
            queries = np.flatnonzero(moved[few].any(axis=0))
            often = self._drawn(whole.shape[1], draws)[:, queries].astype(np.float64)
            sums[few] += product((whole - kept.whole)[np.ix_(few, queries)], often.T)
        if np.any(is_anew):
            sums[is_anew] = self._anew(whole[is_anew], draws)
        return sums

    def _anew(self, whole: Floats, draws: int) -> Floats:
        often = self._drawn(whole.shape[1], draws)
        parts = range(0, len(often), AT_ONCE)
        return _summed(whole, (often[at : at + AT_ONCE].astype(np.float64) for at in parts))

    def _drawn(self, n: int, draws: int) -> Often:
        """Return how often each query is in each resample, (draws, n)."""
        often = self._often.pop((n, draws), None)
        if often is None:
            often = np.concatenate([each.astype(np.uint16) for each in resamples(n, draws)])
        self._often[n, draws] = often
        while sum(each.size for each in self._often.values()) > MOST_DRAWN:
            del self._often[next(iter(self._often))]
        return often

    def _keep(self, fresh: _Kept, instead_of: _Kept | None) -> None:
        self._kept = [each for each in self._kept if each is not instead_of] + [fresh]
        while sum(each.sums.size for each in self._kept) > MOST_SUMS:
            del self._kept[0]

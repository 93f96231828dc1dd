"""Random draws that are the same on every machine: sign flips, resamples, and their exact sums.

The bits come straight from a seeded generator whose stream never changes. Values are first rounded
to whole multiples of a step, so that their sum is exact and depends neither on the order of adding
nor on the processor. That is also why sums of resamples can be kept and updated: a new grade costs
only the query it changed, and the result has exactly the bits of one computed from scratch.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from labeler.measures import Floats, Ints

DRAWS = 10_000
"""The number of resamples of an interval, and of sign flips of a sampled test."""

MOST_PRODUCTS = 2**18  # multiplications that OpenBLAS does in one thread
SAMPLES_TOGETHER = 16
DRAWS_AT_ONCE = 256  # draws that fit in a processor's cache beside a thousand queries
_SEED = 20_071_104
_WORD = 64
Bytes = npt.NDArray[np.uint8]


def group_by_length(samples: Sequence[Floats]) -> Mapping[int, Ints]:
    """Return the positions of the samples of each length, which can share their draws."""
    lengths = np.array([len(sample) for sample in samples], dtype=np.int64)
    return {int(n): np.flatnonzero(lengths == n) for n in np.unique(lengths)}


def in_whole_steps(samples: Floats) -> tuple[Floats, Floats]:
    """Return samples, (samples, n), as whole multiples of a step, and the step of each.

    A step is the smallest power of two with which n values as large as the largest one add up to
    a whole number that a double holds. So no sum of them is ever rounded.
    """
    most = np.abs(samples).max(axis=1, initial=0.0) * samples.shape[1]
    step = np.maximum(np.ldexp(1.0, np.frexp(most)[1] - 52), np.finfo(np.float64).tiny)
    return np.rint(samples / step[:, np.newaxis]), step


def sign_bits(queries: int, draws: int) -> Bytes:
    """Return packed random bits, (queries, bytes); fewer queries get the same first rows."""
    words = -(-draws // _WORD)
    drawn = np.random.PCG64(_SEED).random_raw(queries * words).astype("<u8")
    return drawn.view(np.uint8).reshape(queries, words * 8)


def sign_flips(packed: Bytes, draws: int) -> Iterator[Floats]:
    """Yield draws in parts, (queries, some draws): 1 where a query's sign is flipped."""
    for first in range(0, draws, DRAWS_AT_ONCE):
        some = min(DRAWS_AT_ONCE, draws - first)
        part = packed[:, first // 8 : (first + some + 7) // 8]
        yield np.unpackbits(part, axis=1, count=some).astype(np.float64)


def resamples(queries: int, draws: int) -> Iterator[Floats]:
    """Yield resamples in parts, (some draws, queries): how often each query was drawn."""
    source = np.random.PCG64(_SEED)
    for first in range(0, draws, DRAWS_AT_ONCE):
        some = min(DRAWS_AT_ONCE, draws - first)
        drawn = source.random_raw(DRAWS_AT_ONCE // 2 * queries).astype("<u8").view("<u4")
        picked = (drawn[: some * queries].astype(np.uint64) * np.uint64(queries)) >> np.uint64(32)
        places = picked.astype(np.int64).reshape(some, queries)
        places += queries * np.arange(some)[:, np.newaxis]
        counts = np.bincount(places.ravel(), minlength=some * queries)
        yield counts.reshape(some, queries).astype(np.float64)


def multiply_in_parts(samples: Floats, draws: Floats) -> Floats:
    """Return ``samples @ draws``, (samples, n) by (n, draws), multiplied in small parts.

    A large product is split between threads, which on a busy machine wait for each other many
    times longer than one of them needs for all of it.
    """
    count, n = samples.shape
    made = np.empty((count, draws.shape[1]))
    width = max(2, MOST_PRODUCTS // max(1, n * min(count, SAMPLES_TOGETHER)))
    for first in range(0, draws.shape[1], width):
        part = draws[:, first : first + width]
        for at in range(0, count, SAMPLES_TOGETHER):
            made[at : at + SAMPLES_TOGETHER, first : first + width] = (
                samples[at : at + SAMPLES_TOGETHER] @ part
            )
    return made


MOST_DRAWN = 32_000_000  # counts of drawn queries that are kept, of 2 bytes each
MOST_SUMS = 4_000_000  # sums that are kept, of 8 bytes each
MOST_MOVED = 16  # changed queries in one sample: with more, all is summed again

ResampleCounts = npt.NDArray[np.uint16]


def resample_sums(whole: Floats, draws: int) -> Floats:
    """Return the sum of each of the samples (samples, n) in each resample, (samples, draws)."""
    return _sum_draws(whole, resamples(whole.shape[1], draws))


def _sum_draws(whole: Floats, drawn: Iterable[Floats]) -> Floats:
    """Return the sums in resamples that are given in parts, (some draws, n)."""
    return np.concatenate([multiply_in_parts(whole, often.T) for often in drawn], axis=1)


@dataclass(frozen=True, eq=False)
class _KeptSums:
    whole: Floats
    sums: Floats


class ResampleCache:
    """A cache of `resample_sums` that updates the sums of a similar earlier sample. Thread-safe."""

    def __init__(self) -> None:
        self._counts: dict[tuple[int, int], ResampleCounts] = {}
        self._kept: list[_KeptSums] = []  # the most recently used last
        self._lock = threading.Lock()

    def __call__(self, whole: Floats, draws: int) -> Floats:
        """Return the same as `resample_sums`."""
        if whole.shape[1] * draws > MOST_DRAWN:
            return resample_sums(whole, draws)
        with self._lock:
            kept = self._most_similar(whole, draws)
            sums = self._updated_sums(whole, draws, kept)
            self._keep(_KeptSums(whole, sums), kept)
        return sums.copy()

    def _most_similar(self, whole: Floats, draws: int) -> _KeptSums | None:
        shapes = (whole.shape, (len(whole), draws))
        alike = [each for each in self._kept if (each.whole.shape, each.sums.shape) == shapes]
        return min(alike, key=lambda each: int(np.sum(each.whole != whole)), default=None)

    def _updated_sums(self, whole: Floats, draws: int, kept: _KeptSums | None) -> Floats:
        if kept is None:
            return self._all_sums(whole, draws)
        sums, moved = kept.sums.copy(), whole != kept.whole
        has_many = moved.sum(axis=1) > MOST_MOVED
        few = np.flatnonzero(moved.any(axis=1) & ~has_many)
        if len(few):
            queries = np.flatnonzero(moved[few].any(axis=0))
            counts = self._resample_counts(whole.shape[1], draws)[:, queries].astype(np.float64)
            sums[few] += multiply_in_parts((whole - kept.whole)[np.ix_(few, queries)], counts.T)
        if np.any(has_many):
            sums[has_many] = self._all_sums(whole[has_many], draws)
        return sums

    def _all_sums(self, whole: Floats, draws: int) -> Floats:
        counts = self._resample_counts(whole.shape[1], draws)
        parts = range(0, len(counts), DRAWS_AT_ONCE)
        return _sum_draws(
            whole, (counts[at : at + DRAWS_AT_ONCE].astype(np.float64) for at in parts)
        )

    def _resample_counts(self, n: int, draws: int) -> ResampleCounts:
        """Return how often each query is in each resample, (draws, n)."""
        counts = self._counts.pop((n, draws), None)
        if counts is None:
            counts = np.concatenate([each.astype(np.uint16) for each in resamples(n, draws)])
        self._counts[n, draws] = counts
        while sum(each.size for each in self._counts.values()) > MOST_DRAWN:
            del self._counts[next(iter(self._counts))]
        return counts

    def _keep(self, new: _KeptSums, instead_of: _KeptSums | None) -> None:
        self._kept = [each for each in self._kept if each is not instead_of] + [new]
        while sum(each.sums.size for each in self._kept) > MOST_SUMS:
            del self._kept[0]

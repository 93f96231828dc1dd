"""Draws that come out alike on every machine: signs, resamples, and sums that no order changes.

Knows no statistic. The bits come straight from a seeded generator, whose stream is fixed for good,
and whatever is summed is put in whole steps first, so that the sum is exact and it does not matter
in which order, or by which processor, it was added up.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from labeler.measures import Floats, Ints

DRAWS = 10_000
"""How many resamples an interval, and how many flips a sampled test, rests on."""

SMALL, ROWS = 2**18, 16  # multiplications that OpenBLAS does in one thread; samples at once
AT_ONCE = 256  # draws: as many as stay in a processor's cache beside a thousand queries
_SEED = 20_071_104
_WORD = 64
Bytes = npt.NDArray[np.uint8]


def by_length(samples: Sequence[Floats]) -> Mapping[int, Ints]:
    """Return which samples have the same length, so that they can share their draws."""
    lengths = np.array([len(sample) for sample in samples], dtype=np.int64)
    return {int(n): np.flatnonzero(lengths == n) for n in np.unique(lengths)}


def in_steps(samples: Floats) -> tuple[Floats, Floats]:
    """Return samples, (samples, n), as whole numbers of a step, and the step of each.

    A step is a power of two: the smallest by which n values of the largest size there is still add
    up to a whole number that a double holds. So no sum of them is ever rounded.
    """
    most = np.abs(samples).max(axis=1, initial=0.0) * samples.shape[1]
    step = np.maximum(np.ldexp(1.0, np.frexp(most)[1] - 52), np.finfo(np.float64).tiny)
    return np.rint(samples / step[:, np.newaxis]), step


def sign_bits(queries: int, draws: int) -> Bytes:
    """Return random bits, packed, (queries, bytes): those of fewer queries are the first rows."""
    words = -(-draws // _WORD)
    drawn = np.random.PCG64(_SEED).random_raw(queries * words).astype("<u8")
    return drawn.view(np.uint8).reshape(queries, words * 8)


def flips(packed: Bytes, draws: int) -> Iterator[Floats]:
    """Give the draws, some at a time: 1 where a query's sign is turned, (queries, some draws)."""
    for first in range(0, draws, AT_ONCE):
        some = min(AT_ONCE, draws - first)
        part = packed[:, first // 8 : (first + some + 7) // 8]
        yield np.unpackbits(part, axis=1, count=some).astype(np.float64)


def resamples(queries: int, draws: int) -> Iterator[Floats]:
    """Give resamples, some at a time: how often each query is in it, (some draws, queries)."""
    source = np.random.PCG64(_SEED)
    for first in range(0, draws, AT_ONCE):
        some = min(AT_ONCE, draws - first)
        drawn = source.random_raw(AT_ONCE // 2 * queries).astype("<u8").view("<u4")
        picked = (drawn[: some * queries].astype(np.uint64) * np.uint64(queries)) >> np.uint64(32)
        places = picked.astype(np.int64).reshape(some, queries)
        places += queries * np.arange(some)[:, np.newaxis]
        counts = np.bincount(places.ravel(), minlength=some * queries)
        yield counts.reshape(some, queries).astype(np.float64)


def product(samples: Floats, draws: Floats) -> Floats:
    """Return ``samples @ draws``, (samples, n) by (n, draws), multiplied in small parts.

    A large product is shared between threads, and on a busy machine they wait for each other many
    times longer than all of it takes one of them.
    """
    count, n = samples.shape
    made = np.empty((count, draws.shape[1]))
    width = max(2, SMALL // max(1, n * min(count, ROWS)))
    for first in range(0, draws.shape[1], width):
        part = draws[:, first : first + width]
        for at in range(0, count, ROWS):
            made[at : at + ROWS, first : first + width] = samples[at : at + ROWS] @ part
    return made

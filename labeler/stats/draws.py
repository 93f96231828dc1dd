"""Sign flips that are the same on every machine, and their exact sums.

The bits come straight from a seeded generator whose stream never changes. Values are first rounded
to whole multiples of a step, so that their sum is exact and depends neither on the order of adding
nor on the processor.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from labeler.measures import Floats, Ints

DRAWS = 10_000
"""The number of sign flips of a sampled test."""

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

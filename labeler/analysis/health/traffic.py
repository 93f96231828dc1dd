"""Whether a golden set's buckets have the shares that production gives them, beyond chance.

Knows counts by bucket; not where they were counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from labeler.stats import holm

DRAWS, SEED = 9_999, 20_260_101
LEVEL = 0.01
MOST_DRAWN = 100_000  # questions: of more, their shares are as good as known

Numbers = npt.NDArray[Any]


class Shares(NamedTuple):
    """One facet's buckets in the set and in the logs: how many queries, how many questions.

    ``distance`` is half the sum of what the shares differ by (total variation), from 0 where they
    are the same to 1 where no bucket is in both; ``by_chance`` is what it stays below in 99 of 100
    draws of both from the same shares, ``p`` how often a draw is as far apart, after Holm's
    correction over the facets. ``differs`` says that it is more than chance.
    """

    facet: str
    buckets: tuple[tuple[str, int, int], ...]
    distance: float
    by_chance: float
    p: float
    differs: bool


def shares_of(
    in_set: Mapping[str, Mapping[str, int]], in_logs: Mapping[str, Mapping[str, int]]
) -> tuple[Shares, ...]:
    """Compare the facets that both have, each tested among all of them.

    >>> [same] = shares_of({"topic": {"a": 5, "b": 5}}, {"topic": {"a": 50, "b": 52}})
    >>> round(same.distance, 3), same.differs
    (0.01, False)
    """
    facets = sorted(facet for facet in in_logs if sum(in_set.get(facet, {}).values()))
    tested = [_tested(in_set[facet], in_logs[facet]) for facet in facets]
    corrected = holm([p for *_, p in tested]).tolist() if facets else []
    return tuple(
        Shares(facet, buckets, distance, by_chance, after, after <= LEVEL)
        for facet, (buckets, distance, by_chance, _), after in zip(
            facets, tested, corrected, strict=True
        )
    )


def distance(one: Sequence[int], other: Sequence[int]) -> float:
    """Return the total variation distance of two lists of counts, place by place.

    >>> distance([1, 1], [10, 10]), distance([1, 0], [0, 1])
    (0.0, 1.0)
    """
    return float(_apart(np.array([one]), np.array([other]))[0])


def _tested(
    in_set: Mapping[str, int], in_logs: Mapping[str, int]
) -> tuple[tuple[tuple[str, int, int], ...], float, float, float]:
    names = sorted({*in_set, *in_logs}, key=lambda name: (-in_logs.get(name, 0), name))
    queries = np.array([in_set.get(name, 0) for name in names])
    questions = np.array([in_logs.get(name, 0) for name in names])
    found = distance(queries.tolist(), questions.tolist())
    drawn = _drawn(queries, questions)
    p = (int(np.sum(drawn >= found - 1e-12)) + 1) / (DRAWS + 1)
    buckets = tuple(zip(names, queries.tolist(), questions.tolist(), strict=True))
    return buckets, found, float(np.quantile(drawn, 1 - LEVEL)), p


def _drawn(queries: Numbers, questions: Numbers) -> Numbers:
    """Return how far apart both would be if each query and question had the same shares."""
    source = np.random.default_rng(SEED)
    pooled = (queries + questions) / (queries.sum() + questions.sum())
    own = source.multinomial(int(queries.sum()), pooled, size=DRAWS)
    if questions.sum() > MOST_DRAWN:
        theirs = np.broadcast_to(pooled, own.shape)
    else:
        theirs = source.multinomial(int(questions.sum()), pooled, size=DRAWS)
    return _apart(own, theirs)


def _apart(one: Numbers, other: Numbers) -> Numbers:
    shares = [each / each.sum(axis=1, keepdims=True) for each in (one, other)]
    apart: Numbers = np.abs(shares[0] - shares[1]).sum(axis=1) / 2
    return apart

"""Each measure as arithmetic: grades at ranks in, one value per ranking out.

A measure sees only the judged chunks of a ranking (`Hits`). Values are NaN where it is undefined;
what becomes of those is for a convention to say.
"""

from __future__ import annotations

from types import MappingProxyType

import numpy as np

from labeler.measures.hits import WHOLE_LIST, Floats, Hits, Ints

GAINS = MappingProxyType({"log2": (0.0, 1.0, 2.0, 3.0), "exp-log2": (0.0, 1.0, 3.0, 7.0)})


def divide(part: Floats | Ints, whole: Floats | Ints) -> Floats:
    """Divide, NaN where there is nothing to divide by.

    >>> divide(np.array([1.0, 0.0]), np.array([2, 0])).tolist()
    [0.5, nan]
    """
    shares = np.empty(part.shape)
    shares.fill(np.nan)
    np.divide(part, whole, out=shares, where=whole > 0)
    return shares


def ndcg(
    hits: Hits, k: int | Ints = WHOLE_LIST, *, dcg: str = "log2", gains: tuple[float, ...] = ()
) -> Floats:
    """Discounted gain, as a share of the best the query allows in ``k`` ranks.

    ``gains``, one for each grade from 0, stand in for those of ``dcg``. They must not fall as the
    grade rises, since the ideal puts the highest grade first.

    The ideal comes from every known grade of the query. Taken from the retrieved list instead, a
    run that misses the best chunk would look perfect:

    >>> ndcg(Hits.of([[2, 1]], missed=[[3]]), 2, dcg="log2").round(4).tolist()
    [0.6173]
    """
    gains = gains or GAINS[dcg]
    graded = hits.relevant(1).top(k)
    return graded.sums(graded.gained(gains), k) / hits.best_dcg(k, gains)


def precision(hits: Hits, k: int | Ints, *, rel: int) -> Floats:
    """Relevant chunks in the top ``k``, divided by ``k`` even where the list is shorter.

    >>> precision(Hits.of([[1, 1]]), 5, rel=1).tolist()
    [0.4]
    """
    return np.divide(hits.relevant(rel).count(k), k) + hits.undefined(rel)


def recall(hits: Hits, k: int | Ints = WHOLE_LIST, *, rel: int) -> Floats:
    """Relevant chunks in the top ``k``, divided by all that are known for the query.

    >>> recall(Hits.of([[1, None, 1]], missed=[[1, 1]]), 2, rel=1).tolist()
    [0.25]
    """
    return hits.relevant(rel).count(k) / (hits.wanted(rel) + hits.undefined(rel))


def success(hits: Hits, k: int | Ints, *, rel: int) -> Floats:
    """1 where the top ``k`` hold a relevant chunk, else 0.

    >>> success(Hits.of([[0, 1], [0, 0]]), 1, rel=1).tolist()
    [0.0, nan]
    """
    return (hits.relevant(rel).count(k) > 0) + hits.undefined(rel)


def reciprocal_rank(hits: Hits, k: int | Ints = WHOLE_LIST, *, rel: int) -> Floats:
    """1 / rank of the first relevant chunk; 0 if that is below ``k`` or nowhere.

    >>> reciprocal_rank(Hits.of([[0, None, 1]]), rel=2).tolist()
    [nan]
    """
    relevant = hits.relevant(rel)
    held = relevant.per_row > 0
    first = np.full(len(held), np.inf)
    first[held] = relevant.rank[relevant.start[held]]
    return np.where(first <= k, 1 / first, 0.0) + hits.undefined(rel)


def average_precision(hits: Hits, k: int | Ints = WHOLE_LIST, *, rel: int) -> Floats:
    """Mean over all known relevant chunks of the precision at their rank, 0 for those not found.

    >>> average_precision(Hits.of([[1, 0, 1]], missed=[[1, 1]]), rel=1).round(4).tolist()
    [0.4167]
    """
    relevant = hits.relevant(rel).top(k)
    precisions = relevant.ordinal / relevant.rank
    return relevant.sums(precisions, k) / (hits.wanted(rel) + hits.undefined(rel))


def judged(hits: Hits, k: int | Ints = WHOLE_LIST) -> Floats:
    """Share of the top ``k`` that somebody graded; of the list, where that is shorter.

    >>> judged(Hits.of([[0, None], []]), 10).tolist()
    [0.5, 0.0]
    """
    return hits.count(k) / np.maximum(np.minimum(hits.length, k), 1)

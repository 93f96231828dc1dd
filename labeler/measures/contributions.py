"""What each judged chunk adds to a value: one term per hit, and a row's terms sum to its value.

Where a value is undefined no hit is relevant, and all its terms are 0: ask the measure itself
whether there is a value at all.
"""

from __future__ import annotations

import numpy as np

from labeler.measures.functions import WHOLE_LIST, Bools, Floats, Hits, Ints, discounted


def ndcg(hits: Hits, k: int | Ints = WHOLE_LIST, *, dcg: str) -> Floats:
    """Discounted gain of each hit, as a share of the ideal DCG.

    >>> ndcg(Hits.of([[0, 3]]), 2, dcg="log2").round(4).tolist()
    [0.0, 0.6309]
    """
    ideal = hits.ideal.sums(discounted(hits.ideal, k, dcg))
    return _shared(hits, discounted(hits, k, dcg), ideal)


def precision(hits: Hits, k: int | Ints, *, rel: int) -> Floats:
    """1/k for each relevant hit in the top ``k``."""
    return _shared(hits, _found(hits, k, rel), np.broadcast_to(k, hits.length.shape))


def recall(hits: Hits, k: int | Ints = WHOLE_LIST, *, rel: int) -> Floats:
    """1 / known relevant for each relevant hit in the top ``k``."""
    return _shared(hits, _found(hits, k, rel), hits.wanted(rel))


def success(hits: Hits, k: int | Ints, *, rel: int) -> Floats:
    """1 for the first relevant hit in the top ``k``, and nothing for those after it.

    >>> success(Hits.of([[0, 1, 1]]), 3, rel=1).tolist()
    [0.0, 1.0, 0.0]
    """
    return _first(hits, k, rel).astype(np.float64)


def reciprocal_rank(hits: Hits, k: int | Ints = WHOLE_LIST, *, rel: int) -> Floats:
    """1 / rank for the first relevant hit, and nothing for those after it."""
    return _first(hits, k, rel) / hits.rank


def average_precision(hits: Hits, k: int | Ints = WHOLE_LIST, *, rel: int) -> Floats:
    """Precision at the rank of each relevant hit, divided by all that are known.

    >>> average_precision(Hits.of([[1, 0, 1]], missed=[[1, 1]]), rel=1).round(4).tolist()
    [0.25, 0.0, 0.1667]
    """
    terms = np.zeros(len(hits.row))
    relevant = hits.relevant(rel)
    terms[hits.grade >= rel] = relevant.within(k) * relevant.ordinal / relevant.rank
    return _shared(hits, terms, hits.wanted(rel))


def judged(hits: Hits, k: int | Ints = WHOLE_LIST) -> Floats:
    """An equal share of the top ``k``, or of a shorter list, for each hit in it."""
    seen = hits.within(k).astype(np.float64)
    return _shared(hits, seen, np.maximum(np.minimum(hits.length, k), 1))


def _found(hits: Hits, k: int | Ints, rel: int) -> Floats:
    found: Floats = (hits.within(k) & (hits.grade >= rel)).astype(np.float64)
    return found


def _first(hits: Hits, k: int | Ints, rel: int) -> Bools:
    first = np.zeros(len(hits.row), dtype=np.bool_)
    relevant = hits.relevant(rel)
    first[hits.grade >= rel] = relevant.within(k) & (relevant.ordinal == 1)
    return first


def _shared(hits: Hits, parts: Floats, whole: Floats | Ints) -> Floats:
    """Divide each hit's part by what its row allows, 0 where that is nothing."""
    of_row = whole[hits.row]
    shares: Floats = np.divide(parts, of_row, out=np.zeros(len(parts)), where=of_row > 0)
    return shares

"""Contribution of each judged chunk to a value: one term per hit; a row's terms sum to its value.

Where a value is undefined no hit is relevant, so all its terms are 0: only the measure itself shows
whether there is a value.
"""

from __future__ import annotations

import numpy as np

from labeler.measures.formulas import (
    GAINS,
    bpref_pairs,
    err_weights,
    f1_divisor,
    f_divisor,
    inferred_precisions,
    nonrelevant_above,
    precisions_from_recall,
    rbp_weights,
)
from labeler.measures.hits import WHOLE_LIST, Bools, Floats, Hits, Ints


def ndcg(
    hits: Hits, k: int | Ints = WHOLE_LIST, *, dcg: str = "log2", gains: tuple[float, ...] = ()
) -> Floats:
    """Return the discounted gain of each hit, as a share of the ideal DCG.

    >>> ndcg(Hits.of([[0, 3]]), 2, dcg="log2").round(4).tolist()
    [0.0, 0.6309]
    """
    gains = gains or GAINS[dcg]
    return _shares(hits, hits.upto(k, hits.gained(gains)), hits.best_dcg(k, gains))


def precision(hits: Hits, k: int | Ints, *, rel: int) -> Floats:
    """Return 1/k for each relevant hit in the top ``k``."""
    return _shares(hits, _relevant_within(hits, k, rel), np.broadcast_to(k, hits.length.shape))


def recall(hits: Hits, k: int | Ints = WHOLE_LIST, *, rel: int) -> Floats:
    """Return 1 / known relevant for each relevant hit in the top ``k``."""
    return _shares(hits, _relevant_within(hits, k, rel), hits.wanted(rel))


def success(hits: Hits, k: int | Ints, *, rel: int) -> Floats:
    """Return 1 for the first relevant hit in the top ``k``, and 0 for all others.

    >>> success(Hits.of([[0, 1, 1]]), 3, rel=1).tolist()
    [0.0, 1.0, 0.0]
    """
    return _first_relevant(hits, k, rel).astype(np.float64)


def reciprocal_rank(hits: Hits, k: int | Ints = WHOLE_LIST, *, rel: int) -> Floats:
    """Return 1 / rank for the first relevant hit in the top ``k``, and 0 for all others."""
    return _first_relevant(hits, k, rel) / hits.rank


def average_precision(hits: Hits, k: int | Ints = WHOLE_LIST, *, rel: int) -> Floats:
    """Return the precision at the rank of each relevant hit, divided by the known relevant.

    >>> average_precision(Hits.of([[1, 0, 1]], missed=[[1, 1]]), rel=1).round(4).tolist()
    [0.25, 0.0, 0.1667]
    """
    terms = np.zeros(len(hits.row))
    relevant = hits.relevant(rel)
    terms[hits.grade >= rel] = relevant.within(k) * relevant.ordinal / relevant.rank
    return _shares(hits, terms, hits.wanted(rel))


def judged(hits: Hits, k: int | Ints = WHOLE_LIST) -> Floats:
    """Return 1 / min(k, length of the list) for each hit in the top ``k``."""
    seen = hits.within(k).astype(np.float64)
    return _shares(hits, seen, np.maximum(np.minimum(hits.length, k), 1))


def r_precision(hits: Hits, *, rel: int) -> Floats:
    """Return 1 / known relevant for each relevant hit down to that rank."""
    return recall(hits, hits.wanted(rel), rel=rel)


def binary_preference(hits: Hits, *, rel: int) -> Floats:
    """Return the share of nonrelevant chunks below each relevant hit, divided by known relevant.

    >>> binary_preference(Hits.of([[1, 0, 1]], missed=[[0]]), rel=1).tolist()
    [0.5, 0.0, 0.25]
    """
    terms = np.zeros(len(hits.row))
    chances = bpref_pairs(hits, rel)[hits.relevant(rel).row]
    terms[hits.grade >= rel] = 1 - nonrelevant_above(hits, rel) / chances
    return _shares(hits, terms, hits.wanted(rel))


def interpolated_precision(hits: Hits, *, rel: int, recall: float) -> Floats:
    """Return an equal share of the best rank's precision for each relevant hit down to it.

    >>> interpolated_precision(Hits.of([[0, 1, 1]]), rel=1, recall=0.5).round(4).tolist()
    [0.0, 0.3333, 0.3333]
    """
    relevant = hits.relevant(rel)
    precisions = precisions_from_recall(hits, rel, recall)
    order = np.lexsort((relevant.rank, -precisions, relevant.row))
    first = order[np.diff(relevant.row[order], prepend=-1) > 0]
    depth = np.zeros(len(hits.length), dtype=np.int64)
    depth[relevant.row[first]] = relevant.rank[first] * (precisions[first] > 0)
    counted = (hits.grade >= rel) & (hits.rank <= depth[hits.row])
    return np.where(counted, 1 / np.maximum(depth[hits.row], 1), 0.0)


def inferred_ap(hits: Hits, *, rel: int) -> Floats:
    """Return the expected precision at each relevant hit, divided by the known relevant."""
    terms = np.zeros(len(hits.row))
    terms[hits.grade >= rel] = inferred_precisions(hits, rel)
    return _shares(hits, terms, hits.wanted(rel))


def rank_biased_precision(hits: Hits, k: int | Ints = WHOLE_LIST, *, rel: int, p: float) -> Floats:
    """Return the weight of its rank for each relevant hit."""
    weights: Floats = hits.upto(k, rbp_weights(hits, p)) * (hits.grade >= rel)
    return weights


def expected_reciprocal_rank(hits: Hits, k: int | Ints = WHOLE_LIST, *, max: int) -> Floats:
    """Return the probability that a reader stops at each hit, divided by its rank.

    >>> expected_reciprocal_rank(Hits.of([[1, 0, 1]]), max=3).round(4).tolist()
    [0.125, 0.0, 0.0365]
    """
    return hits.upto(k, err_weights(hits, max))


def set_precision(hits: Hits, *, rel: int) -> Floats:
    """Return 1 / length of the list for each relevant hit."""
    return _shares(hits, _relevant_within(hits, WHOLE_LIST, rel), hits.length)


def set_recall(hits: Hits, *, rel: int) -> Floats:
    """Return 1 / known relevant for each relevant hit."""
    return recall(hits, rel=rel)


def set_f(hits: Hits, *, rel: int, beta: float) -> Floats:
    """Return an equal share for each relevant hit, since the divisor does not depend on hits."""
    return _shares(hits, _relevant_within(hits, WHOLE_LIST, rel), f_divisor(hits, rel, beta))


def f1(hits: Hits, k: int | Ints, *, rel: int) -> Floats:
    """Return an equal share for each relevant hit in the top ``k``."""
    return _shares(hits, 2 * _relevant_within(hits, k, rel), f1_divisor(hits, k, rel))


def number_retrieved(hits: Hits, *, rel: int | None = None) -> Floats:
    """Return 1 for each hit that counts; without ``rel`` unjudged chunks, not hits, count too."""
    return np.ones(len(hits.row)) if rel is None else _relevant_within(hits, WHOLE_LIST, rel)


def number_relevant(hits: Hits, *, rel: int) -> Floats:
    """Return 0 for each hit: the value does not depend on the list."""
    return np.zeros(len(hits.row))


def _relevant_within(hits: Hits, k: int | Ints, rel: int) -> Floats:
    found: Floats = (hits.within(k) & (hits.grade >= rel)).astype(np.float64)
    return found


def _first_relevant(hits: Hits, k: int | Ints, rel: int) -> Bools:
    first = np.zeros(len(hits.row), dtype=np.bool_)
    relevant = hits.relevant(rel)
    first[hits.grade >= rel] = relevant.within(k) & (relevant.ordinal == 1)
    return first


def _shares(hits: Hits, parts: Floats, whole: Floats | Ints) -> Floats:
    """Divide each hit's part by the whole of its row; return 0 where that is 0."""
    of_row = whole[hits.row]
    shares: Floats = np.divide(parts, of_row, out=np.zeros(len(parts)), where=of_row > 0)
    return shares

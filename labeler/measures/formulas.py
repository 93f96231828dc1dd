"""Formulas of the measures of judged chunks: from nDCG, P and R to Bpref, infAP, RBP and ERR.

A function takes the `Hits` of any number of rankings and returns one value for each. Values are
NaN where a measure is undefined; the conventions decide how those count.
"""

from __future__ import annotations

import math
from functools import lru_cache
from types import MappingProxyType

import numpy as np

from labeler.measures.hits import WHOLE_LIST, Floats, Hits, Ints

GAINS = MappingProxyType({"log2": (0.0, 1.0, 2.0, 3.0), "exp-log2": (0.0, 1.0, 3.0, 7.0)})


def divide(part: Floats | Ints, whole: Floats | Ints) -> Floats:
    """Return ``part`` / ``whole``, NaN where ``whole`` is 0.

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
    """Return the discounted gain, as a share of the best that the query allows in ``k`` ranks.

    ``gains``, one for each grade from 0, replace those of ``dcg``. They must not fall as the grade
    rises, since the ideal puts the highest grade first.

    The ideal uses every known grade of the query. If it used the retrieved list instead, a run that
    misses the best chunk would look perfect:

    >>> ndcg(Hits.of([[2, 1]], missed=[[3]]), 2, dcg="log2").round(4).tolist()
    [0.6173]
    """
    gains = gains or GAINS[dcg]
    graded = hits.relevant(1).top(k)
    return graded.sums(graded.gained(gains), k) / hits.best_dcg(k, gains)


def precision(hits: Hits, k: int | Ints, *, rel: int) -> Floats:
    """Return the relevant chunks in the top ``k``, divided by ``k`` even if the list is shorter.

    >>> precision(Hits.of([[1, 1]]), 5, rel=1).tolist()
    [0.4]
    """
    return np.divide(hits.relevant(rel).count(k), k) + hits.undefined(rel)


def recall(hits: Hits, k: int | Ints = WHOLE_LIST, *, rel: int) -> Floats:
    """Return the relevant chunks in the top ``k``, divided by all known for the query.

    >>> recall(Hits.of([[1, None, 1]], missed=[[1, 1]]), 2, rel=1).tolist()
    [0.25]
    """
    return hits.relevant(rel).count(k) / (hits.wanted(rel) + hits.undefined(rel))


def success(hits: Hits, k: int | Ints, *, rel: int) -> Floats:
    """Return 1 where the top ``k`` hold a relevant chunk, else 0.

    >>> success(Hits.of([[0, 1], [0, 0]]), 1, rel=1).tolist()
    [0.0, nan]
    """
    return (hits.relevant(rel).count(k) > 0) + hits.undefined(rel)


def reciprocal_rank(hits: Hits, k: int | Ints = WHOLE_LIST, *, rel: int) -> Floats:
    """Return 1 / rank of the first relevant chunk; 0 if there is none in the top ``k``.

    >>> reciprocal_rank(Hits.of([[0, None, 1]]), rel=2).tolist()
    [nan]
    """
    relevant = hits.relevant(rel)
    held = relevant.per_row > 0
    first = np.full(len(held), np.inf)
    first[held] = relevant.rank[relevant.start[held]]
    return np.where(first <= k, 1 / first, 0.0) + hits.undefined(rel)


def average_precision(hits: Hits, k: int | Ints = WHOLE_LIST, *, rel: int) -> Floats:
    """Return the mean precision at the rank of each known relevant chunk, 0 for those not found.

    >>> average_precision(Hits.of([[1, 0, 1]], missed=[[1, 1]]), rel=1).round(4).tolist()
    [0.4167]
    """
    relevant = hits.relevant(rel).top(k)
    precisions = relevant.ordinal / relevant.rank
    return relevant.sums(precisions, k) / (hits.wanted(rel) + hits.undefined(rel))


def judged(hits: Hits, k: int | Ints = WHOLE_LIST) -> Floats:
    """Return the judged share of the top ``k``; of the list, where that is shorter.

    >>> judged(Hits.of([[0, None], []]), 10).tolist()
    [0.5, 0.0]
    """
    return hits.count(k) / np.maximum(np.minimum(hits.length, k), 1)


_EPSILON = 0.00001  # trec_eval's INFAP_EPSILON


def r_precision(hits: Hits, *, rel: int) -> Floats:
    """Return precision (and recall) at the rank equal to the number of known relevant chunks.

    >>> r_precision(Hits.of([[1, None, 1]], missed=[[1]]), rel=1).round(4).tolist()
    [0.6667]
    """
    return recall(hits, hits.wanted(rel), rel=rel)


def binary_preference(hits: Hits, *, rel: int) -> Floats:
    """Return how far relevant chunks are above those judged nonrelevant; unjudged are ignored.

    As in trec_eval 9, of R known relevant and N nonrelevant chunks min(R, N) count: a relevant
    chunk below the first R nonrelevant ones adds nothing, even if there are more.

    >>> binary_preference(Hits.of([[None, 1, 0, 1]], missed=[[0]]), rel=1).tolist()
    [0.75]
    """
    worse = hits.relevant(rel).sums(nonrelevant_above(hits, rel).astype(np.float64))
    return divide(relevant_retrieved(hits, rel) - worse / bpref_pairs(hits, rel), hits.wanted(rel))


def nonrelevant_above(hits: Hits, rel: int) -> Ints:
    """Count, for each relevant hit, the chunks judged nonrelevant above it, at most R.

    >>> nonrelevant_above(Hits.of([[None, 1, 0, 1]]), 1).tolist()
    [0, 1]
    """
    relevant = hits.relevant(rel)
    place = np.flatnonzero(hits.grade >= rel)
    above = place - hits.start[relevant.row] - relevant.ordinal + 1
    counted: Ints = np.minimum(above, hits.wanted(rel)[relevant.row])
    return counted


def interpolated_precision(hits: Hits, *, rel: int, recall: float) -> Floats:
    """Return the highest precision at any rank at which that share of the known relevant is found.

    As in trec_eval, of R relevant chunks ``recall * R + 0.9``, rounded down, have to be found; 0
    where the list holds fewer.

    >>> interpolated_precision(Hits.of([[0, 1, 1]], missed=[[1]]), rel=1, recall=0.3).round(4)
    array([0.6667])
    """
    relevant, best = hits.relevant(rel), np.zeros(len(hits.length))
    np.maximum.at(best, relevant.row, precisions_from_recall(hits, rel, recall))
    return _where_known(hits, rel, best)


def precisions_from_recall(hits: Hits, rel: int, recall: float) -> Floats:
    """Return the precision at each relevant hit, 0 where too few are found down to its rank."""
    relevant = hits.relevant(rel)
    needed = np.floor(recall * hits.wanted(rel) + 0.9)[relevant.row]
    precisions: Floats = relevant.ordinal / relevant.rank * (relevant.ordinal >= needed)
    return precisions


def inferred_ap(hits: Hits, *, rel: int) -> Floats:
    """Return AP as expected if the unjudged chunks of the pool are like the judged ones.

    As in trec_eval (Yilmaz and Aslam 2006). It needs to know which unjudged chunks are in the pool:
    others are taken for nonrelevant. Without any it is close to AP.

    >>> inferred_ap(Hits.of([[-1, 1], [None, 1]]), rel=1).round(4).tolist()
    [0.75, 0.5]
    """
    return divide(hits.relevant(rel).sums(inferred_precisions(hits, rel)), hits.wanted(rel))


def inferred_precisions(hits: Hits, rel: int) -> Floats:
    """Return the expected precision at each relevant hit."""
    relevant = hits.relevant(rel)
    place = np.flatnonzero(hits.grade >= rel)
    found = (relevant.ordinal - 1).astype(np.float64)
    worse = place - hits.start[relevant.row] - relevant.ordinal + 1
    above = relevant.rank.astype(np.float64) - 1
    in_pool = np.divide(
        found + worse + relevant.pooled_above, above, out=np.zeros(len(above)), where=above > 0
    )
    share = (found + _EPSILON) / (found + worse + 2 * _EPSILON)
    inferred: Floats = 1 / (above + 1) + above / (above + 1) * in_pool * share
    return inferred


def bpref_pairs(hits: Hits, rel: int) -> Ints:
    """Return min(R, N) of each row, the number of nonrelevant chunks that count; at least 1."""
    wanted = hits.wanted(rel)
    pairs: Ints = np.maximum(np.minimum(wanted, hits.wanted(0) - wanted), 1)
    return pairs


def set_precision(hits: Hits, *, rel: int) -> Floats:
    """Return the relevant chunks of the whole list, divided by its length; 0 for an empty list.

    >>> set_precision(Hits.of([[1, None], []], missed=[[], [1]]), rel=1).tolist()
    [0.5, 0.0]
    """
    return _where_known(hits, rel, relevant_retrieved(hits, rel) / np.maximum(hits.length, 1))


def set_recall(hits: Hits, *, rel: int) -> Floats:
    """Return the relevant chunks of the whole list, divided by all known for the query.

    >>> set_recall(Hits.of([[1, None]], missed=[[1]]), rel=1).tolist()
    [0.5]
    """
    return recall(hits, rel=rel)


def set_f(hits: Hits, *, rel: int, beta: float) -> Floats:
    """Return the weighted harmonic mean of `set_precision` and `set_recall`, as in trec_eval.

    ``beta`` is not squared, unlike in the F measure of textbooks: their F2 is ``beta=4`` here.

    >>> set_f(Hits.of([[1, None, None]]), rel=1, beta=1.0).tolist()
    [0.5]
    """
    return divide(relevant_retrieved(hits, rel), f_divisor(hits, rel, beta))


def f_divisor(hits: Hits, rel: int, beta: float) -> Floats:
    """Return the divisor of the number found in `set_f`; 0 where that is undefined."""
    wanted = hits.wanted(rel)
    divisor: Floats = (hits.length + beta * wanted) / (1 + beta) * (wanted > 0)
    return divisor


def f1(hits: Hits, k: int | Ints, *, rel: int) -> Floats:
    """Return the harmonic mean of P@k and R@k; ``k`` counts even if the list is shorter.

    >>> f1(Hits.of([[1, 0]], missed=[[1]]), 2, rel=1).tolist()
    [0.5]
    """
    return divide(2 * hits.relevant(rel).count(k), f1_divisor(hits, k, rel))


def f1_divisor(hits: Hits, k: int | Ints, rel: int) -> Ints:
    """Return the divisor of twice the number found in `f1`; 0 where that is undefined."""
    wanted = hits.wanted(rel)
    divisor: Ints = (k + wanted) * (wanted > 0)
    return divisor


def number_retrieved(hits: Hits, *, rel: int | None = None) -> Floats:
    """Return how many chunks the list holds, judged or not; with ``rel``, how many relevant ones.

    >>> number_retrieved(Hits.of([[3, None, 0]])).tolist()
    [3.0]
    """
    held = hits.length if rel is None else relevant_retrieved(hits, rel)
    return held.astype(np.float64)


def number_relevant(hits: Hits, *, rel: int) -> Floats:
    """Return how many relevant chunks the query is known to have, whatever the list holds.

    >>> number_relevant(Hits.of([[3, None]], missed=[[1]]), rel=1).tolist()
    [2.0]
    """
    return hits.wanted(rel).astype(np.float64)


def relevant_retrieved(hits: Hits, rel: int) -> Ints:
    """Count the relevant chunks of each whole list.

    >>> relevant_retrieved(Hits.of([[3, None, 0, 1]]), 1).tolist()
    [2]
    """
    return hits.relevant(rel).per_row


def _where_known(hits: Hits, rel: int, values: Floats) -> Floats:
    return np.where(hits.wanted(rel) > 0, values, np.nan)


@lru_cache(maxsize=64)
def _powers(base: float, size: int) -> Floats:
    """Return ``base`` to the power of 0, 1, 2 and so on.

    Computed by scalar powers: vector units may round the tail of an array differently.
    """
    return np.array([base**exponent for exponent in range(size)])


def _power(base: float, exponents: Ints) -> Floats:
    powers: Floats = _powers(base, 1 << int(exponents.max(initial=0)).bit_length())[exponents]
    return powers


def rbp_weights(hits: Hits, p: float) -> Floats:
    """Return the RBP weight of the rank of each hit.

    >>> rbp_weights(Hits.of([[3, None, 0]]), 0.5).tolist()
    [0.5, 0.125]
    """
    return (1 - p) * _power(p, hits.rank - 1)


def rank_biased_precision(hits: Hits, k: int | Ints = WHOLE_LIST, *, rel: int, p: float) -> Floats:
    """Return the expected relevant share for a reader who reads on with probability ``p``.

    A list of n relevant chunks and no others has the value 1 - p**n, not 1: a short list cannot be
    perfect.

    >>> rank_biased_precision(Hits.of([[1, 0, 1]]), rel=1, p=0.5).tolist()
    [0.625]
    """
    relevant = hits.relevant(rel).top(k)
    values = relevant.sums(rbp_weights(relevant, p), k)
    # Rounding can make the sum of the weights exceed 1 by a last bit.
    return np.where(hits.wanted(rel) > 0, np.minimum(values, 1.0), np.nan)


def rbp_residual(hits: Hits, k: int | Ints = WHOLE_LIST, *, p: float) -> Floats:
    """Return how much RBP could rise if all unjudged chunks were relevant, from 0 to 1.

    That is the weight of the unjudged chunks in the top ``k`` and, as Moffat and Zobel define it,
    of all ranks below ``k`` or below the end of the list: the RBP of an endless list is between the
    value and the value plus this. It needs no threshold, and is defined for every row.

    >>> rbp_residual(Hits.of([[3, None, 0], []]), p=0.5).tolist()
    [0.375, 1.0]
    """
    return np.maximum(1 - hits.sums(rbp_weights(hits, p), k), 0.0)


def err_weights(hits: Hits, max_grade: int) -> Floats:
    """Return the probability that a reader stops at each hit, divided by its rank.

    A chunk satisfies the reader with probability (2^grade - 1) / 2^max; otherwise they read on.

    >>> err_weights(Hits.of([[3, None, 3]]), 3).tolist()
    [0.875, 0.036458333333333336]
    """
    satisfied = np.array([math.ldexp(2**grade - 1, -max_grade) for grade in range(4)])
    chances = satisfied[hits.grade]
    first = np.arange(len(hits.row)) - hits.ordinal + 1
    for grade in (1, 2, 3):
        seen = np.cumsum(hits.grade == grade) - (hits.grade == grade)
        chances *= _power(1 - satisfied[grade], seen - seen[first])
    return chances / hits.rank


def expected_reciprocal_rank(hits: Hits, k: int | Ints = WHOLE_LIST, *, max: int) -> Floats:
    """Return the expected 1 / rank at which a reader stops; a better grade stops more readers.

    ``max`` is the highest grade of the scale: with 4, as in gdeval, grade 3 stops fewer readers
    than with 3, so that the same list has about half the value.

    >>> expected_reciprocal_rank(Hits.of([[0, 3]]), max=3).tolist()
    [0.4375]
    >>> expected_reciprocal_rank(Hits.of([[0, 3]]), max=4).tolist()
    [0.21875]
    """
    graded = hits.relevant(1).top(k)
    return np.where(hits.wanted(1) > 0, graded.sums(err_weights(graded, max), k), np.nan)

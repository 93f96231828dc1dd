"""Measures of what was found rather than where: sets, counts, and pairs of graded chunks."""

from __future__ import annotations

import numpy as np

from labeler.measures.functions import divide, recall
from labeler.measures.hits import Floats, Hits, Ints

_EPSILON = 0.00001  # trec_eval's INFAP_EPSILON


def r_precision(hits: Hits, *, rel: int) -> Floats:
    """Precision, and recall, at the rank that equals the number of known relevant chunks.

    >>> r_precision(Hits.of([[1, None, 1]], missed=[[1]]), rel=1).round(4).tolist()
    [0.6667]
    """
    return recall(hits, hits.wanted(rel), rel=rel)


def binary_preference(hits: Hits, *, rel: int) -> Floats:
    """How far relevant chunks stand above those known not to be; ungraded ones do not exist.

    As in trec_eval 9, of R relevant and N other known chunks min(R, N) count: a relevant chunk
    below the first R others adds nothing, even where there are more.

    >>> binary_preference(Hits.of([[None, 1, 0, 1]], missed=[[0]]), rel=1).tolist()
    [0.75]
    """
    worse = hits.relevant(rel).sums(worse_above(hits, rel).astype(np.float64))
    return divide(found(hits, rel) - worse / pairs_that_count(hits, rel), hits.wanted(rel))


def worse_above(hits: Hits, rel: int) -> Ints:
    """Count, for each relevant hit, the chunks graded as not relevant above it, at most R.

    >>> worse_above(Hits.of([[None, 1, 0, 1]]), 1).tolist()
    [0, 1]
    """
    relevant = hits.relevant(rel)
    place = np.flatnonzero(hits.grade >= rel)
    above = place - hits.start[relevant.row] - relevant.ordinal + 1
    counted: Ints = np.minimum(above, hits.wanted(rel)[relevant.row])
    return counted


def interpolated_precision(hits: Hits, *, rel: int, recall: float) -> Floats:
    """The highest precision at any rank by which that share of the known relevant is found.

    As in trec_eval, of R relevant chunks ``recall * R + 0.9``, rounded down, have to be found; 0
    where the list never holds as many.

    >>> interpolated_precision(Hits.of([[0, 1, 1]], missed=[[1]]), rel=1, recall=0.3).round(4)
    array([0.6667])
    """
    relevant, best = hits.relevant(rel), np.zeros(len(hits.length))
    np.maximum.at(best, relevant.row, precisions_from(hits, rel, recall))
    return _where_known(hits, rel, best)


def precisions_from(hits: Hits, rel: int, recall: float) -> Floats:
    """Return the precision at each relevant hit, 0 where too few have been found by then."""
    relevant = hits.relevant(rel)
    needed = np.floor(recall * hits.wanted(rel) + 0.9)[relevant.row]
    precisions: Floats = relevant.ordinal / relevant.rank * (relevant.ordinal >= needed)
    return precisions


def inferred_ap(hits: Hits, *, rel: int) -> Floats:
    """AP as it can be expected if the ungraded chunks of the pool are like the graded ones.

    As in trec_eval (Yilmaz and Aslam 2006). Needs to know which chunks are in the pool though
    nobody graded them: others are taken for not relevant. Without any it is close to AP.

    >>> inferred_ap(Hits.of([[-1, 1], [None, 1]]), rel=1).round(4).tolist()
    [0.75, 0.5]
    """
    return divide(hits.relevant(rel).sums(inferred_precisions(hits, rel)), hits.wanted(rel))


def inferred_precisions(hits: Hits, rel: int) -> Floats:
    """Return the precision to be expected at each relevant hit."""
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


def pairs_that_count(hits: Hits, rel: int) -> Ints:
    """Return min(R, N) of each row, which is how many worse chunks can count; at least 1."""
    wanted = hits.wanted(rel)
    pairs: Ints = np.maximum(np.minimum(wanted, hits.wanted(0) - wanted), 1)
    return pairs


def set_precision(hits: Hits, *, rel: int) -> Floats:
    """Relevant chunks of the whole list, divided by its length; 0 for an empty list.

    >>> set_precision(Hits.of([[1, None], []], missed=[[], [1]]), rel=1).tolist()
    [0.5, 0.0]
    """
    return _where_known(hits, rel, found(hits, rel) / np.maximum(hits.length, 1))


def set_recall(hits: Hits, *, rel: int) -> Floats:
    """Relevant chunks of the whole list, divided by all that are known for the query.

    >>> set_recall(Hits.of([[1, None]], missed=[[1]]), rel=1).tolist()
    [0.5]
    """
    return recall(hits, rel=rel)


def set_f(hits: Hits, *, rel: int, beta: float) -> Floats:
    """Weighted harmonic mean of `set_precision` and `set_recall`, as trec_eval weighs it.

    ``beta`` is not squared, unlike in the F measure of textbooks: their F2 is ``beta=4`` here.

    >>> set_f(Hits.of([[1, None, None]]), rel=1, beta=1.0).tolist()
    [0.5]
    """
    return divide(found(hits, rel), f_divisor(hits, rel, beta))


def f_divisor(hits: Hits, rel: int, beta: float) -> Floats:
    """Return what the number found is divided by in `set_f`; 0 where that is undefined."""
    wanted = hits.wanted(rel)
    divisor: Floats = (hits.length + beta * wanted) / (1 + beta) * (wanted > 0)
    return divisor


def f1(hits: Hits, k: int | Ints, *, rel: int) -> Floats:
    """Harmonic mean of P@k and R@k, so that a list shorter than ``k`` is held against ``k``.

    >>> f1(Hits.of([[1, 0]], missed=[[1]]), 2, rel=1).tolist()
    [0.5]
    """
    return divide(2 * hits.relevant(rel).count(k), f1_divisor(hits, k, rel))


def f1_divisor(hits: Hits, k: int | Ints, rel: int) -> Ints:
    """Return what twice the number found is divided by in `f1`; 0 where that is undefined."""
    wanted = hits.wanted(rel)
    divisor: Ints = (k + wanted) * (wanted > 0)
    return divisor


def number_retrieved(hits: Hits, *, rel: int | None = None) -> Floats:
    """How many chunks the list holds, graded or not; with ``rel``, how many relevant ones.

    >>> number_retrieved(Hits.of([[3, None, 0]])).tolist()
    [3.0]
    """
    held = hits.length if rel is None else found(hits, rel)
    return held.astype(np.float64)


def number_relevant(hits: Hits, *, rel: int) -> Floats:
    """How many relevant chunks the query is known to have, whatever the list holds.

    >>> number_relevant(Hits.of([[3, None]], missed=[[1]]), rel=1).tolist()
    [2.0]
    """
    return hits.wanted(rel).astype(np.float64)


def found(hits: Hits, rel: int) -> Ints:
    """Count the relevant chunks of each whole list.

    >>> found(Hits.of([[3, None, 0, 1]]), 1).tolist()
    [2]
    """
    return hits.relevant(rel).per_row


def _where_known(hits: Hits, rel: int, values: Floats) -> Floats:
    return np.where(hits.wanted(rel) > 0, values, np.nan)

"""A delta in two parts: which chunks were found at all, and in which order they stand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from labeler.analysis.comparison.deltas import check_pair
from labeler.evaluation import Conventions, Scoreboard, number, signed
from labeler.measures import Floats, Measure
from labeler.model import counted


@dataclass(frozen=True, slots=True)
class Rerank:
    """How B's candidates relate to A's, over the queries for which both have results.

    Of ``queries``, ``ordered`` have the same list in both, ``same`` the same chunks in whatever
    order, and ``within`` hold no chunk in B that A has not; each includes those before it. For as
    many others as ``alone`` says A, or else B, has results by itself.
    """

    queries: int
    ordered: int
    same: int
    within: int
    alone: tuple[int, int]
    sentence: str

    @property
    def identical(self) -> bool:
        """Whether every value of B is A's, because every list is; scores may differ."""
        return self.ordered == self.queries > 0 and not any(self.alone)


@dataclass(frozen=True, slots=True)
class Split:
    """The mean delta in two parts that sum to it, over ``n`` queries.

    ``recall_a`` and ``recall_b`` are the recall of the whole lists.
    """

    measure: Measure
    delta: float
    candidates: float
    order: float
    recall_a: float
    recall_b: float
    n: int
    sentence: str


def rerank(board: Scoreboard, a: str, b: str, names: tuple[str, str] | None = None) -> Rerank:
    """Say whether B only reorders A's candidates, graded or not.

    ``names`` are what A and B are called in the sentence, their own unless given.

    Raises `NotFound` for an unknown run, `BadInput` for two that cannot be compared.
    """
    board = board.snapshot()
    check_pair(board, a, b)
    found = [
        [board.chunks(run, query_id) for run in (a, b)] for query_id in board.collection.query_ids
    ]
    pairs = [(in_a, in_b) for in_a, in_b in found if len(in_a) and len(in_b)]
    sets = [(set(in_a.tolist()), set(in_b.tolist())) for in_a, in_b in pairs]
    ordered = sum(np.array_equal(in_a, in_b) for in_a, in_b in pairs)
    same = sum(in_a == in_b for in_a, in_b in sets)
    within = sum(in_b <= in_a for in_a, in_b in sets)
    answered = [sum(len(each[side]) > 0 for each in found) for side in (0, 1)]
    alone = (answered[0] - len(pairs), answered[1] - len(pairs))
    called = names or (a, b)
    if ordered == len(pairs):
        sentence = _alike(board, a, b, called, len(pairs), any(alone))
    else:
        sentence = _sentence(*called, len(pairs), same, within, any(alone))
    more = [
        f"; {name} alone has results for {counted(count, 'query', 'queries')} more"
        for name, count in zip(called, alone, strict=True)
        if count
    ]
    return Rerank(len(pairs), ordered, same, within, alone, sentence + "".join(more))


def split(board: Scoreboard, a: str, b: str, measure: Measure) -> Split:
    """Split the delta of a measure into candidates and order.

    A run's *best* is its value if its own chunks, down to its full depth, stood in their best
    order: what a perfect reranker could make of it. ``candidates`` is best(B) - best(A), the part
    that recall at full depth allows. ``order`` is the rest: how much less B falls short of its
    best than A of its own. A reranker that keeps A's chunks has all of its delta in ``order``; so
    has one that only cuts the list, as long as nothing relevant is lost. Where one run has no list
    all of the delta is in ``candidates``: what found nothing is in no order.

    Full depth matters: of two runs with the same top ten, the deeper one has the better best, and
    so the worse order. Measures of documents and of the evidence are not split: ``n`` is 0. Raises
    `NotFound` and `BadInput` as `compare` does.
    """
    board = board.snapshot()
    check_pair(board, a, b)
    [measure] = board.resolve([measure])
    places = [board.column_of(run) for run in (a, b)]
    values = board.values(measure)[:, places]
    lists = [board.hits(run) for run in (a, b)]
    best = [board.measured(measure, each.best_order) for each in lists]
    delta = values[:, 1] - values[:, 0]
    is_alone = (lists[0].length > 0) != (lists[1].length > 0)
    candidates = np.where(is_alone | np.isnan(delta), delta, best[1] - best[0])
    recall = board.values(Measure("R", rel=measure.rel or 1))[:, places]
    parts = (delta, candidates, delta - candidates, recall[:, 0], recall[:, 1])
    defined = ~np.isnan(delta) & ~np.isnan(candidates)
    mean = [_mean(part[defined]) for part in parts]
    n = int(defined.sum())
    sentence = _in_parts(board.conventions, measure, mean, n)
    return Split(measure, mean[0], mean[1], mean[2], mean[3], mean[4], n, sentence)


def _in_parts(conventions: Conventions, measure: Measure, mean: Sequence[float], n: int) -> str:
    delta, candidates, order = map(signed, mean[:3])
    recall_a, recall_b = map(number, mean[3:])
    return (
        f"{conventions.heading(measure)} {delta} is {candidates} by the chunks found and {order} "
        f"by their order (n {n:,}; recall of the whole lists {recall_a} in A, {recall_b} in B)"
    )


def _mean(values: Floats) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else float("nan")


def _alike(
    board: Scoreboard, a: str, b: str, called: tuple[str, str], queries: int, alone: bool
) -> str:
    of_a, of_b = (_scores(board, run) for run in (a, b))
    a, b = called
    where = "their one query in common" if queries == 1 else f"each of {queries} queries"
    lists = f"the same chunks in the same order for {where}"
    if alone:
        return f"{b} and {a} have {lists}"
    if of_a != of_b:
        return f"{b} gives every value that {a} gives: {lists}, only their scores differ"
    with_scores = ", with the same scores" if any(of_a.values()) else ""
    return f"{b} is identical to {a}: {lists}{with_scores}"


def _scores(board: Scoreboard, run: str) -> dict[int, dict[int, float] | None]:
    """Return the scores of a run's chunks by query; None where a list has none."""
    lists = board.collection.runs[board.column_of(run)].lists
    return {
        query: None
        if ranked.scores is None
        else dict(zip(ranked.chunks.tolist(), ranked.scores.tolist(), strict=True))
        for query, ranked in lists.items()
        if len(ranked.chunks)
    }


def _sentence(a: str, b: str, queries: int, same: int, within: int, alone: bool) -> str:
    if same == queries:
        where = ", where both have results" if alone else ""
        return f"{b} only reorders what {a} found{where}: any difference there is one of order"
    if within == queries:
        return f"{b} holds nothing that {a} did not find: it reorders and leaves out"
    if queries == 1:
        return f"{b} finds other chunks than {a} for their one query in common"
    return f"{b} finds other chunks than {a} for {queries - within} of {queries} queries"

"""Recall against order: how much of a delta is due to order, and what a perfect reranker gains.

A delta is split into the chunks found and the order they are in; a run's mean is compared with that
of the same candidates in their best order. What is still missing in the best order is recall.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from labeler.analysis.comparison.deltas import check_pair
from labeler.errors import BadInput
from labeler.evaluation import Conventions, Note, Scoreboard, format_number, format_signed
from labeler.measures import Bools, Floats, Hits, Ints, Measure
from labeler.model import format_count


@dataclass(frozen=True, slots=True)
class CandidateOverlap:
    """How B's candidates relate to A's, over the queries for which both have results.

    Of ``queries``, ``ordered`` have the same list in both runs, ``same`` the same chunks in any
    order, and ``within`` no chunk in B that is not in A; each count includes the one before it.
    ``alone`` counts the queries for which only A, or only B, has results.
    """

    queries: int
    ordered: int
    same: int
    within: int
    alone: tuple[int, int]
    sentence: str

    @property
    def identical(self) -> bool:
        """Whether B has A's lists, and so the same values; retrieval scores may differ."""
        return self.ordered == self.queries > 0 and not any(self.alone)


@dataclass(frozen=True, slots=True)
class RecallOrderSplit:
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


def compare_candidates(
    board: Scoreboard, a: str, b: str, names: tuple[str, str] | None = None
) -> CandidateOverlap:
    """Compare the candidate sets of A and B, graded or not: does B only reorder A's?

    ``names`` replace the names of A and B in the sentence. Raises `NotFound` for an unknown run,
    `BadInput` for two that cannot be compared.
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
    names_ab = names or (a, b)
    if ordered == len(pairs):
        sentence = _describe_same_lists(board, a, b, names_ab, len(pairs), any(alone))
    else:
        sentence = _describe_overlap(*names_ab, len(pairs), same, within, any(alone))
    more = [
        f"; {name} alone has results for {format_count(count, 'query', 'queries')} more"
        for name, count in zip(names_ab, alone, strict=True)
        if count
    ]
    return CandidateOverlap(len(pairs), ordered, same, within, alone, sentence + "".join(more))


def split_delta(board: Scoreboard, a: str, b: str, measure: Measure) -> RecallOrderSplit:
    """Split the delta of a measure into candidates and order.

    A run's *best* is its value with its own chunks, at full depth, in their best order: the
    value after a perfect reranking. ``candidates`` is best(B) - best(A), the part that recall at
    full depth allows. ``order`` is the rest: how much closer B is to its best than A is to its own.
    If B reranks A's chunks, the whole delta is in ``order``, even if B cuts the list, as long as no
    relevant chunk is lost. Where one run has no list, all of the delta is in ``candidates``: a run
    that found nothing has no order.

    Full depth matters: of two runs with the same top ten, the one with longer lists may have the
    higher best, and is then further from it. Measures of documents and of the evidence are not
    split: ``n`` is 0. Raises `NotFound` and `BadInput` as `compare` does.
    """
    board = board.snapshot()
    check_pair(board, a, b)
    [measure] = board.resolve([measure])
    columns = [board.column_of(run) for run in (a, b)]
    values = board.values(measure)[:, columns]
    lists = [board.hits(run) for run in (a, b)]
    best = [board.measured(measure, each.best_order) for each in lists]
    delta = values[:, 1] - values[:, 0]
    is_alone = (lists[0].length > 0) != (lists[1].length > 0)
    candidates = np.where(is_alone | np.isnan(delta), delta, best[1] - best[0])
    recall = board.values(Measure("R", rel=measure.rel or 1))[:, columns]
    parts = (delta, candidates, delta - candidates, recall[:, 0], recall[:, 1])
    defined = ~np.isnan(delta) & ~np.isnan(candidates)
    mean = [_mean_of_defined(part[defined]) for part in parts]
    n = int(defined.sum())
    sentence = _describe_split(board.conventions, measure, mean, n)
    return RecallOrderSplit(measure, mean[0], mean[1], mean[2], mean[3], mean[4], n, sentence)


def _describe_split(
    conventions: Conventions, measure: Measure, mean: Sequence[float], n: int
) -> str:
    delta, candidates, order = map(format_signed, mean[:3])
    return (
        f"Of {delta} {conventions.heading(measure)}: finding {candidates}, ordering {order} "
        f"(n {n:,})"
    )


def _mean_of_defined(values: Floats) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else float("nan")


def _describe_same_lists(
    board: Scoreboard, a: str, b: str, names: tuple[str, str], queries: int, alone: bool
) -> str:
    scores_a, scores_b = (_scores_by_query(board, run) for run in (a, b))
    a, b = names
    where = "their one query in common" if queries == 1 else f"each of {queries} queries"
    lists = f"the same chunks in the same order for {where}"
    if alone:
        return f"{b} and {a} have {lists}"
    if scores_a != scores_b:
        return f"{b} gives every value that {a} gives: {lists}, only their scores differ"
    with_scores = ", with the same scores" if any(scores_a.values()) else ""
    return f"{b} is identical to {a}: {lists}{with_scores}"


def _scores_by_query(board: Scoreboard, run: str) -> dict[int, dict[int, float] | None]:
    """Return the scores of a run's chunks by query; None for a list without scores."""
    lists = board.collection.runs[board.column_of(run)].lists
    return {
        query: None
        if ranked.scores is None
        else dict(zip(ranked.chunks.tolist(), ranked.scores.tolist(), strict=True))
        for query, ranked in lists.items()
        if len(ranked.chunks)
    }


def _describe_overlap(a: str, b: str, queries: int, same: int, within: int, alone: bool) -> str:
    if same == queries:
        where = ", where both have results" if alone else ""
        return f"{b} only reorders what {a} found{where}: any difference there is one of order"
    if within == queries:
        return f"{b} holds nothing that {a} did not find: it reorders and leaves out"
    if queries == 1:
        return f"{b} finds other chunks than {a} for their one query in common"
    return f"{b} finds other chunks than {a} for {queries - within} of {queries} queries"


CANDIDATE_COUNTS = (10, 20, 50, 100)
"""How many candidates a reranker usually gets."""


class PerfectReranking(NamedTuple):
    """A run's mean by one measure ``now``, after perfect reranking, and with a complete list.

    ``reranked`` is the mean if every known relevant chunk of the first ``top`` came first, sorted
    by grade, highest first; ``complete`` is the mean of lists with all known relevant chunks in
    that order. All are over the same ``n`` queries, and NaN if there are none or the run has no
    result.
    """

    run: str
    measure: Measure
    top: int
    now: float
    reranked: float
    complete: float
    n: int

    @property
    def order(self) -> float:
        """What a perfect order of these candidates would gain."""
        return self.reranked - self.now

    @property
    def recall(self) -> float:
        """What no order of these candidates can give."""
        return self.complete - self.reranked


def perfect_rerankings(
    board: Scoreboard,
    run: str,
    measures: Iterable[Measure],
    top: int,
    only: Collection[str] | None = None,
) -> tuple[PerfectReranking, ...]:
    """Return each mean after a perfect reranking of the first ``top`` chunks of every list.

    Only known grades count: an unjudged chunk stays below the relevant ones and gains nothing.
    Means are over all queries, or those in ``only``. Raises `BadInput` for a ``top`` below 1,
    `NotFound` for an unknown run.

    >>> from labeler.evaluation import collect
    >>> lists = {"q1": ["x", "c"], "q2": ["x", "y", "d"]}
    >>> board = Scoreboard(collect({"q1": {"c": 1}, "q2": {"d": 1}}, {"A": lists}), Conventions())
    >>> [row] = perfect_rerankings(board, "A", board.conventions.measures("RR"), 2)
    >>> round(row.now, 4), round(row.reranked, 4), row.complete
    (0.4167, 0.6667, 1.0)
    """
    if top < 1:
        raise BadInput(f"a reranker sees the first 1 or more chunks of a list, not {top}")
    board = board.snapshot()
    inside = np.array([only is None or name in only for name in board.collection.query_ids], bool)
    hits = board.hits(run)
    better, best = _with_best_first(hits, top), _with_all_found(hits)
    found = []
    for measure in board.resolve(measures):
        now = board.values(measure)[:, board.column_of(run)]
        then, most = (board.measured(measure, lists) for lists in (better, best))
        counted = inside & board.counted(measure)
        has_values = not np.isnan(now[counted]).any()  # a run without any result has none
        chosen = counted & has_values
        means = (
            _mean_of_counted(now, chosen),
            _mean_of_counted(then, chosen),
            _mean_of_counted(most, chosen),
        )
        found.append(PerfectReranking(run, measure, top, *means, int(counted.sum())))
    return tuple(found)


def describe_perfect_reranking(row: PerfectReranking, conventions: Conventions) -> str:
    """Return a sentence on what a perfect reranker would gain, and what is left to recall."""
    heading = conventions.heading(row.measure)
    if np.isnan(row.reranked):
        return f"{heading} has no value here, so there is nothing to gain"
    return (
        f"a perfect reranker of the top {row.top} would give {heading} "
        f"{format_number(row.reranked)} ({format_signed(row.order)}). The remaining "
        f"{format_number(row.recall)}, up to {format_number(row.complete)}, is recall: relevant "
        f"chunks not in its top {row.top}"
    )


def rerankable_measures(measures: Iterable[Measure]) -> list[Measure]:
    """Return the measures that depend on the relevance of chunks."""
    given = [each for each in measures if not each.definition.always_defined]
    return [each for each in given if not each.crosses]


def perfect_reranking_notes(board: Scoreboard, measures: Iterable[Measure], top: int) -> list[Note]:
    """Return a note for each run and measure on what a perfect reranker would gain.

    Measures that do not depend on a chunk's relevance, such as Judged, are left out.
    """
    chosen = rerankable_measures(measures)
    return [
        Note(
            "perfect reranker",
            f"{run}: {describe_perfect_reranking(row, board.conventions)}",
            runs=(run,),
            measure=row.measure,
        )
        for run in board.run_names
        for row in perfect_rerankings(board, run, chosen, top)
    ]


def _with_best_first(hits: Hits, top: int) -> Hits:
    """Return the same lists with the relevant chunks of the ``top`` first, the others in order."""
    lifted = (hits.grade > 0) & (hits.rank <= top)
    lifts = np.bincount(hits.row[lifted], minlength=len(hits.length))
    order = np.flatnonzero(lifted)[np.lexsort((-hits.grade[lifted], hits.row[lifted]))]
    row = hits.row[order]
    first = (row, _ranks_in_rows(row, lifts), hits.grade[order])
    return _with_chunks_ahead(hits, first, lifted, lifts, hits.length)


def _with_all_found(hits: Hits) -> Hits:
    """Return the same lists with every known relevant chunk first, found or not."""
    ideal, relevant = hits.ideal, hits.grade > 0
    missed = ideal.length - np.bincount(hits.row[relevant], minlength=len(hits.length))
    first = (ideal.row, ideal.rank, ideal.grade)
    return _with_chunks_ahead(hits, first, relevant, ideal.length, hits.length + missed)


def _with_chunks_ahead(
    hits: Hits, first: tuple[Ints, Ints, Ints], moved: Bools, ahead: Ints, length: Ints
) -> Hits:
    """Put the hits ``first`` (``ahead`` in each list) before the hits that are not ``moved``."""
    above = np.cumsum(moved) - np.append(0, np.cumsum(moved))[hits.start][hits.row]
    stays = ~moved
    row = hits.row[stays]
    rank = hits.rank[stays] - above[stays] + ahead[row]
    rows, ranks, grades = (
        np.concatenate(pair) for pair in zip(first, (row, rank, hits.grade[stays]), strict=True)
    )
    order = np.lexsort((ranks, rows))
    pooled = np.append(np.zeros_like(first[0]), hits.pooled_above[stays])[order]
    return Hits(rows[order], ranks[order], grades[order], hits.known, length, pooled=pooled)


def _ranks_in_rows(row: Ints, per_row: Ints) -> Ints:
    starts = np.cumsum(per_row) - per_row
    ranks: Ints = np.arange(1, len(row) + 1) - starts[row]
    return ranks


def _mean_of_counted(values: Floats, counted: Bools) -> float:
    return float(values[counted].mean()) if counted.any() else float("nan")

"""Recall of each run without what only its own system brought into the pool, and rank correlation.

A chunk is graded because some run has it near its top. So a run is sure to have found what it
alone brought in, while the finds of a system that was never asked are missing. All runs of a
system are left out together. Kendall's tau-b says how far the two orders of the runs agree.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from labeler.errors import BadInput
from labeler.evaluation.alignment import pair_numbers
from labeler.evaluation.conventions import Conventions, format_number
from labeler.evaluation.means import Score
from labeler.evaluation.notes import Note
from labeler.evaluation.query_grades import NO_CHUNKS
from labeler.evaluation.records import Record, measure_names
from labeler.evaluation.scoreboard import Scoreboard
from labeler.measures import Floats, Hits, Ints, Measure
from labeler.model import Pair

RECALLS = ("R", "SetR")
ONE_SYSTEM = "all runs are of one system: nobody else could have found what it did"
NOTHING_LEFT = "nothing relevant is left without what its system alone brought in"
_GRADE_BITS = 2  # bits of a number that say the grade, below those of its pair


class OwnPoolRecall(NamedTuple):
    """A run's recall as it is, and ``without`` what only its own system brought into the pool.

    In the latter, the ``only_system`` relevant chunks that no run of another system has within the
    pool depth count as not relevant, unless somebody found them by hand, too. Of the run's own,
    ``only_run`` are in no other run there, also of its system. Each mean is over the queries for
    which it is defined, ``n`` and ``n_without``. A rank is 1 plus how many runs have more. A value
    that is not there is NaN, its rank None, and ``reason`` says why.
    """

    run: str
    system: str
    measure: Measure
    value: float
    n: int
    without: float
    n_without: int
    only_run: int
    only_system: int
    reason: str | None
    rank: int | None = None
    rank_without: int | None = None


@dataclass(frozen=True, slots=True)
class OwnPoolComparison:
    """All runs by one recall, and how far the two orders of them agree.

    ``tau`` is Kendall's tau-b over the ``runs`` that have both values; where it is not defined it
    is NaN, and ``why`` says why. ``ties`` are runs with equal values, ``ties_without`` those that
    are equal without what their systems alone brought in.
    """

    measure: Measure
    depth: int
    rows: tuple[OwnPoolRecall, ...]
    runs: int
    tau: float
    why: str | None
    ties: tuple[tuple[str, ...], ...]
    ties_without: tuple[tuple[str, ...], ...]

    def of(self, runs: Collection[str]) -> OwnPoolComparison:
        """Return the rows of some runs; ranks, tau and ties are still of all."""
        return replace(self, rows=tuple(row for row in self.rows if row.run in runs))


def recall_measures(measures: Iterable[Measure]) -> tuple[Measure, ...]:
    """Return the measures that are recall."""
    return tuple(each for each in measures if each.name in RECALLS and not each.crosses)


def compare_own_pools(
    board: Scoreboard, measures: Iterable[Measure], found_by_hand: Iterable[Pair] = ()
) -> tuple[OwnPoolComparison, ...]:
    """Measure each run's recall once more, as if its system had never been asked what to grade.

    A run of the same system is no other witness: all of them are left out together. A query that
    has nothing relevant left is treated as any other without. Raises `BadInput` for a measure that
    is no recall.

    >>> from labeler.evaluation import Conventions, collect
    >>> runs = {"A": {"q": ["c", "d"]}, "B": {"q": ["d", "x"]}}
    >>> board = Scoreboard(collect({"q": {"c": 1, "d": 1, "e": 1}}, runs), Conventions.of())
    >>> [found] = compare_own_pools(board, board.conventions.measures("R@2"))
    >>> [(row.run, round(row.value, 4), round(row.without, 4)) for row in found.rows]
    [('A', 0.6667, 0.5), ('B', 0.3333, 0.3333)]
    """
    board, chosen = board.snapshot(), board.resolve(measures)
    for measure in chosen:
        if measure not in recall_measures([measure]):
            raise BadInput(f"{measure} is no recall; there are {' and '.join(RECALLS)}")
    lists = [_read_judged(board, run) for run in board.run_names]
    by_hand = _numbers_of(board, found_by_hand)
    return tuple(_by_measure(board, measure, lists, by_hand) for measure in chosen)


class _JudgedChunks(NamedTuple):
    """A run's judged chunks, and for each a number of its query, its chunk and its grade."""

    hits: Hits
    numbers: Ints


def _read_judged(board: Scoreboard, run: str) -> _JudgedChunks:
    hits = board.hits(run)
    lists = [board.chunks(run, query_id) for query_id in board.collection.query_ids]
    first = np.cumsum(hits.length) - hits.length
    chunks = np.concatenate([NO_CHUNKS, *lists])[first[hits.row] + hits.rank - 1]
    return _JudgedChunks(hits, pair_numbers(hits.row, chunks) << _GRADE_BITS | hits.grade)


def _numbers_of(board: Scoreboard, pairs: Iterable[Pair]) -> Ints:
    """Return the numbers of pairs, without a grade; those of other queries are none of ours."""
    known = set(board.collection.query_ids)
    found = [(board.number_of(query), chunk) for query, chunk in pairs if query in known]
    queries, chunks = np.array(found, dtype=np.int64).reshape(-1, 2).T
    return pair_numbers(queries, chunks.astype(np.int32))


def _by_measure(
    board: Scoreboard, measure: Measure, lists: Sequence[_JudgedChunks], by_hand: Ints
) -> OwnPoolComparison:
    runs, scores = board.collection.runs, board.table([measure])
    near = [_relevant_in_pool(board, measure, judged, by_hand) for judged in lists]
    by_system: dict[str, list[Ints]] = {}
    for run, found in zip(runs, near, strict=True):
        by_system.setdefault(run.system, []).append(found)
    brought = [np.unique(np.concatenate(found)) for found in by_system.values()]
    own = dict(zip(by_system, _in_no_other(brought), strict=True))
    rows = [
        _row(board, score, run.system, judged, len(only), own[run.system], len(own))
        for score, run, judged, only in zip(scores, runs, lists, _in_no_other(near), strict=True)
    ]
    return _with_ranks(measure, board.conventions.pool_depth, rows)


def _relevant_in_pool(
    board: Scoreboard, measure: Measure, judged: _JudgedChunks, by_hand: Ints
) -> Ints:
    """Return the numbers of what is relevant and within the pool depth, and not found by hand."""
    hits = judged.hits
    relevant = (hits.grade >= measure.parameters["rel"]) & board.counted(measure)[hits.row]
    near = judged.numbers[relevant & (hits.rank <= board.conventions.pool_depth)]
    found: Ints = near[~np.isin(near >> _GRADE_BITS, by_hand)]
    return found


def _in_no_other(parts: Sequence[Ints]) -> Iterator[Ints]:
    """Give of each part the numbers that no other holds; none holds one twice."""
    numbers, counts = np.unique(np.concatenate([NO_CHUNKS, *parts]), return_counts=True)
    single = numbers[counts == 1]
    return (part[np.isin(part, single)] for part in parts)


def _row(
    board: Scoreboard,
    score: Score,
    system: str,
    judged: _JudgedChunks,
    only_run: int,
    own: Ints,
    systems: int,
) -> OwnPoolRecall:
    without, n, reason = math.nan, 0, score.reason
    if reason is None and systems == 1:
        reason = ONE_SYSTEM
    elif reason is None:
        without, n = _without(board, score, judged, own)
        reason = None if n else NOTHING_LEFT
    counts = (only_run, len(own))
    return OwnPoolRecall(
        score.run, system, score.measure, score.value, score.n, without, n, *counts, reason
    )


def _without(
    board: Scoreboard, score: Score, judged: _JudgedChunks, own: Ints
) -> tuple[float, int]:
    """Return a run's mean with ``own`` counted as not relevant, and over how many queries it is."""
    if not len(own):
        return score.value, score.n
    hits, query, grade = judged.hits, own >> _GRADE_BITS >> 32, own & 3
    known = hits.known.copy()
    np.subtract.at(known, (query, grade), 1)
    np.add.at(known[:, 0], query, 1)
    lowered = np.where(np.isin(judged.numbers, own), 0, hits.grade)
    less = Hits(hits.row, hits.rank, lowered, known, hits.length, pooled=hits.pooled)
    values = board.measured(score.measure, less)
    defined = values[~np.isnan(values)]
    return (float(defined.mean()) if len(defined) else math.nan), len(defined)


def _with_ranks(measure: Measure, depth: int, rows: Sequence[OwnPoolRecall]) -> OwnPoolComparison:
    runs = [row.run for row in rows]
    before, after = [row.value for row in rows], [row.without for row in rows]
    ranked = tuple(
        row._replace(rank=rank, rank_without=rank_without)
        for row, rank, rank_without in zip(rows, ranks(before), ranks(after), strict=True)
    )
    tau, why = kendall_tau(before, after)
    if why is not None and any(row.reason == ONE_SYSTEM for row in rows):
        why = ONE_SYSTEM
    ties = (groups_of_equals(runs, values) for values in (before, after))
    both = sum(row.rank is not None and row.rank_without is not None for row in ranked)
    return OwnPoolComparison(measure, depth, ranked, both, tau, why, *ties)


# --- in words and as rows --------------------------------------------------------------------


def describe_tau(found: OwnPoolComparison, conventions: Conventions) -> str:
    """Say how far the order of runs is the same without what each alone brought in."""
    heading = conventions.heading(found.measure)
    if found.why is not None:
        return f"Kendall's tau-b of the two orders by {heading} is not defined: {found.why}"
    equal = [
        f"; equal {where}: {' and '.join(', '.join(group) for group in ties)}"
        for where, ties in (("as it is", found.ties), ("without", found.ties_without))
        if ties
    ]
    return (
        f"Kendall's tau-b of the two orders of {found.runs} runs by {heading} is "
        f"{format_number(found.tau)}{''.join(equal)}"
    )


def own_pool_notes(found: Sequence[OwnPoolComparison], conventions: Conventions) -> list[Note]:
    """Say of each recall how far its two orders agree."""
    return [
        Note("own pool", describe_tau(each, conventions), measure=each.measure) for each in found
    ]


def own_pool_records(found: Iterable[OwnPoolComparison]) -> list[Record]:
    """Return what programs get: a row for each run and measure, and tau in every row."""
    return [
        {
            "run": row.run,
            "system": row.system,
            **names,
            "value": row.value,
            "rank": row.rank,
            "n": row.n,
            "value_without": row.without,
            "rank_without": row.rank_without,
            "n_without": row.n_without,
            "reason": row.reason,
            "only_this_run": row.only_run,
            "only_this_system": row.only_system,
            "pool_depth": each.depth,
            "tau": each.tau,
        }
        for each in found
        for row in each.rows
        for names in measure_names(row.measure)
    ]


EQUAL_WITHIN = 1e-12
"""Values nearer than this are equal: they differ by the order of adding."""


def ranks(values: Sequence[float]) -> list[int | None]:
    """Return each value's rank: 1 plus how many are higher; None for NaN.

    >>> ranks([0.5, math.nan, 0.7, 0.5])
    [2, None, 1, 2]
    """
    found = np.array(values, dtype=np.float64)
    higher = (found[:, np.newaxis] < found - EQUAL_WITHIN).sum(axis=1)
    return [
        None if math.isnan(value) else 1 + above
        for value, above in zip(found.tolist(), higher.tolist(), strict=True)
    ]


def groups_of_equals(names: Sequence[str], values: Sequence[float]) -> tuple[tuple[str, ...], ...]:
    """Return the names that share a rank, each group of them once.

    >>> groups_of_equals("abcd", [0.5, math.nan, 0.7, 0.5])
    (('a', 'd'),)
    """
    groups: dict[int, list[str]] = {}
    for name, rank in zip(names, ranks(values), strict=True):
        if rank is not None:
            groups.setdefault(rank, []).append(name)
    return tuple(tuple(group) for group in groups.values() if len(group) > 1)


def kendall_tau(one: Sequence[float], other: Sequence[float]) -> tuple[float, str | None]:
    """Return Kendall's tau-b of two orders of the same things, or NaN and why there is none.

    What has no value in one of them is left out. Pairs that are equal in one order agree in
    nothing and shorten the scale: 1 needs the same pairs to be equal in both.

    >>> kendall_tau([0.1, 0.2, 0.3], [0.1, 0.3, 0.2])[0].__round__(4)
    0.3333
    >>> kendall_tau([0.1, 0.1], [0.1, 0.3])
    (nan, 'all values of one order are equal')
    """
    both = np.array([one, other], dtype=np.float64)
    signs = [_pairwise_signs(row) for row in both[:, ~np.isnan(both).any(axis=0)]]
    if not len(signs[0]):
        return math.nan, "fewer than two have a value in both orders"
    untied = [int(np.count_nonzero(row)) for row in signs]
    if not all(untied):
        return math.nan, "all values of one order are equal"
    return float(np.sum(signs[0] * signs[1]) / math.sqrt(math.prod(untied))), None


def _pairwise_signs(values: Floats) -> Floats:
    """Say of each pair which is higher, 0 for equal ones."""
    first, second = np.triu_indices(len(values), 1)
    apart = values[first] - values[second]
    return np.where(np.abs(apart) <= EQUAL_WITHIN, 0.0, np.sign(apart))

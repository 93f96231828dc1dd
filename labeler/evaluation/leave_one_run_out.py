"""Recall of each run without the chunks that only its own system pooled, and rank correlation.

A chunk is graded because some run ranks it near the top. So each run has found the chunks that it
alone contributed to the pool, while those of a system that was not pooled are missing. All runs of
a system are left out together. Kendall's tau-b says how far the two orders of the runs agree.
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
from labeler.evaluation.records import measure_names
from labeler.evaluation.scoreboard import Scoreboard
from labeler.measures import Floats, Hits, Ints, Measure
from labeler.model import Pair
from labeler.model.results import COUNT, NUMBER, Column, Table

RECALLS = ("R", "SetR")
ONE_SYSTEM = "all runs are of one system: nobody else could have found what it did"
NOTHING_LEFT = "nothing relevant is left without what its system alone brought in"
_GRADE_BITS = 2  # the low bits of a number are the grade, the others the pair


class OwnPoolRecall(NamedTuple):
    """A run's recall, and its recall ``without`` the chunks that only its own system pooled.

    For the latter, the ``only_system`` relevant chunks that no run of another system has within the
    pool depth count as not relevant, unless a person found them by hand too. ``only_run`` of the
    run's chunks are in no other run, even of its system. Each mean is over the queries for which it
    is defined, ``n`` and ``n_without``. A rank is 1 plus the number of runs with a higher value. A
    missing value is NaN, its rank None, and ``reason`` says why.
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
    """All runs by one recall measure, and how far the two orders of them agree.

    ``tau`` is Kendall's tau-b over the ``runs`` that have both values; if it is undefined it is
    NaN, and ``why`` says why. ``ties`` are runs with equal values, ``ties_without`` runs with equal
    values without the chunks that only their systems pooled.
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
    return tuple(each for each in measures if each.name in RECALLS and not each.crosses)


def compare_own_pools(
    board: Scoreboard, measures: Iterable[Measure], found_by_hand: Iterable[Pair] = ()
) -> tuple[OwnPoolComparison, ...]:
    """Compute each run's recall again, as if its system had not contributed to the pool.

    Runs of the same system are left out together. A query with nothing relevant left is treated as
    any query with nothing relevant. Raises `BadInput` for a measure that is not recall.

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
    """A run's judged chunks, and for each a number made of query, chunk and grade."""

    hits: Hits
    numbers: Ints


def _read_judged(board: Scoreboard, run: str) -> _JudgedChunks:
    hits = board.hits(run)
    lists = [board.chunks(run, query_id) for query_id in board.collection.query_ids]
    first = np.cumsum(hits.length) - hits.length
    chunks = np.concatenate([NO_CHUNKS, *lists])[first[hits.row] + hits.rank - 1]
    return _JudgedChunks(hits, pair_numbers(hits.row, chunks) << _GRADE_BITS | hits.grade)


def _numbers_of(board: Scoreboard, pairs: Iterable[Pair]) -> Ints:
    """Return the numbers of pairs, without a grade; pairs of unknown queries are ignored."""
    known = set(board.collection.query_ids)
    found = [(board.number_of(query), chunk) for query, chunk in pairs if query in known]
    queries, chunks = np.array(found, dtype=np.int64).reshape(-1, 2).T
    return pair_numbers(queries, chunks.astype(np.int32))


def _by_measure(
    board: Scoreboard, measure: Measure, lists: Sequence[_JudgedChunks], by_hand: Ints
) -> OwnPoolComparison:
    runs, scores = board.collection.runs, board.table([measure])
    relevant = [_relevant_in_pool(board, measure, judged, by_hand) for judged in lists]
    by_system: dict[str, list[Ints]] = {}
    for run, found in zip(runs, relevant, strict=True):
        by_system.setdefault(run.system, []).append(found)
    pooled = [np.unique(np.concatenate(found)) for found in by_system.values()]
    unique = dict(zip(by_system, _in_no_other(pooled), strict=True))
    rows = [
        _row(board, score, run.system, judged, len(only), unique[run.system], len(unique))
        for score, run, judged, only in zip(
            scores, runs, lists, _in_no_other(relevant), strict=True
        )
    ]
    return _with_ranks(measure, board.conventions.pool_depth, rows)


def _relevant_in_pool(
    board: Scoreboard, measure: Measure, judged: _JudgedChunks, by_hand: Ints
) -> Ints:
    """Return the numbers of relevant chunks within the pool depth, not found by hand."""
    hits = judged.hits
    relevant = (hits.grade >= measure.parameters["rel"]) & board.counted(measure)[hits.row]
    in_pool = judged.numbers[relevant & (hits.rank <= board.conventions.pool_depth)]
    found: Ints = in_pool[~np.isin(in_pool >> _GRADE_BITS, by_hand)]
    return found


def _in_no_other(parts: Sequence[Ints]) -> Iterator[Ints]:
    """Yield for each part the numbers in no other part; no part has a number twice."""
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
    """Return a run's mean with ``own`` counted as not relevant, and its number of queries."""
    if not len(own):
        return score.value, score.n
    hits, query, grade = judged.hits, own >> _GRADE_BITS >> 32, own & 3
    known = hits.known.copy()
    np.subtract.at(known, (query, grade), 1)
    np.add.at(known[:, 0], query, 1)
    lowered = np.where(np.isin(judged.numbers, own), 0, hits.grade)
    reduced = Hits(hits.row, hits.rank, lowered, known, hits.length, pooled=hits.pooled)
    values = board.measured(score.measure, reduced)
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


def describe_tau(found: OwnPoolComparison, conventions: Conventions) -> str:
    """Return a sentence on how far the two orders of runs agree."""
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
    """Return a note on each recall measure: how far its two orders agree."""
    return [
        Note("own pool", describe_tau(each, conventions), measure=each.measure) for each in found
    ]


_OWN_POOL_COLUMNS = (
    Column("run", "run"),
    Column("system"),
    Column("measure", "measure"),
    Column("full_name"),
    Column("value", "value", NUMBER),
    Column("rank", "rank", COUNT),
    Column("n", "n", COUNT),
    Column("value_without", "without", NUMBER),
    Column("rank_without", "rank", COUNT),
    Column("n_without", "n", COUNT),
    Column("reason"),
    Column("only_this_run", "only this run", COUNT),
    Column("only_this_system", "only this system", COUNT),
    Column("pool_depth"),
    Column("tau"),
)


def own_pool_table(
    found: Iterable[OwnPoolComparison], conventions: Conventions | None = None
) -> Table:
    """Return a row for each run and measure, with tau in every row.

    With ``conventions`` a measure has its heading, for people; without, for programs, a row for
    each of its names.
    """
    rows = [
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
        for names in measure_names(row.measure, conventions)
    ]
    return Table(_OWN_POOL_COLUMNS, rows)


EQUAL_WITHIN = 1e-12  # smaller differences come from the order of adding


def ranks(values: Sequence[float]) -> list[int | None]:
    """Return each value's rank: 1 plus the number of higher values; None for NaN.

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
    """Return the groups of names that share a rank.

    >>> groups_of_equals("abcd", [0.5, math.nan, 0.7, 0.5])
    (('a', 'd'),)
    """
    groups: dict[int, list[str]] = {}
    for name, rank in zip(names, ranks(values), strict=True):
        if rank is not None:
            groups.setdefault(rank, []).append(name)
    return tuple(tuple(group) for group in groups.values() if len(group) > 1)


def kendall_tau(one: Sequence[float], other: Sequence[float]) -> tuple[float, str | None]:
    """Return Kendall's tau-b of two orders of the same things, or NaN and the reason.

    Things without a value in one order are left out. Pairs that are equal in one order count
    neither as agreement nor as disagreement, and shrink the scale: 1 needs the same pairs to be
    equal in both.

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
    """Return for each pair which is higher, 0 for equal ones."""
    first, second = np.triu_indices(len(values), 1)
    apart = values[first] - values[second]
    return np.where(np.abs(apart) <= EQUAL_WITHIN, 0.0, np.sign(apart))

"""Rank changes of chunks between two runs: what each adds to the delta of a query or of the mean.

For one query there are also chunks of two chunkings that share text, and nDCG computed line by
line as in a textbook. Over all queries, the contributions to the mean are added up by chunk and by
document.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from labeler.analysis.comparison.deltas import TOLERANCE, check_pair
from labeler.errors import BadInput
from labeler.evaluation import RankedChunk, Scoreboard
from labeler.measures import GAINS, Floats, Ints, Measure, terms


@dataclass(frozen=True, slots=True)
class RankChange:
    """A chunk that A or B returned, with its rank in each (None in a run without it).

    ``grade`` is None if it is unjudged. ``contribution`` is ``term_b - term_a``: what this chunk
    adds to the delta. The terms and the contribution are None where either run has no value for the
    query.
    """

    chunk: int
    chunk_id: str
    rank_a: int | None
    rank_b: int | None
    grade: int | None
    term_a: float | None
    term_b: float | None
    contribution: float | None


def find_rank_changes(
    board: Scoreboard, a: str | None, b: str, query_id: str, measure: Measure
) -> tuple[RankChange, ...]:
    """Return every chunk of either list with what it contributes to the delta of ``measure``.

    Contributions sum to the query's delta within 1e-12. For RR, Success and AP a term is what the
    chunk adds *given the others* (see `describe_dependence`): two chunks that swap ranks can both
    have one. Chunks are in B's order, then those of A alone in A's. Without ``a`` they are those of
    B alone. Raises `NotFound` for an unknown run or query.

    >>> from labeler.evaluation import Conventions, collect
    >>> lists = {"A": {"q": ["x", "c"]}, "B": {"q": ["c", "x"]}}
    >>> board = Scoreboard(collect({"q": {"c": 2, "x": 1}}, lists), Conventions.of())
    >>> [m.contribution for m in find_rank_changes(board, "A", "B",
    ...     "q", *board.conventions.measures("RR"))]
    [1.0, -1.0]
    """
    board = board.snapshot()
    if a == b:
        raise BadInput(f"A and B are both {a!r}; choose two different runs")
    runs = (b,) if a is None else (a, b)
    listed = {run: {each.chunk: each for each in board.ranked(run, query_id)} for run in runs}
    run_terms = {run: terms_by_rank(board, run, query_id, measure) for run in runs}
    columns = [board.column_of(run) for run in runs]
    undefined = bool(np.isnan(board.values(measure)[board.number_of(query_id), columns]).any())
    in_a, terms_a = ({}, {}) if a is None else (listed[a], run_terms[a])
    return tuple(
        _rank_change(in_a.get(chunk), listed[b].get(chunk), terms_a, run_terms[b], undefined)
        for chunk in dict.fromkeys([*listed[b], *in_a])
    )


def describe_dependence(measure: Measure) -> str | None:
    """Return how a chunk's term depends on other chunks, as a sentence; None where it does not."""
    return measure.definition.depends or None


def why_undefined(board: Scoreboard, query_id: str, measure: Measure) -> str | None:
    """Return why a query has no value under ``measure``, as a sentence; None if it has one.

    The answer is the same for every run, because only a query's golden grades can leave a measure
    undefined. Raises `NotFound` for an unknown query.
    """
    counts = board.counts_of(query_id)
    least = measure.least_grade
    if not sum(counts):
        return f"nobody has graded a chunk of {query_id}: it has no {measure.label} yet"
    if measure.reads == "evidence":
        [counted] = board.counted(measure)[[board.number_of(query_id)]].tolist()
        lacking = f"no passage is marked in what is relevant to {query_id}: its {measure.label} is"
        return None if counted else f"{lacking} undefined and left out of the mean"
    if least is None or board.conventions.stand_in is not None or any(counts[least:]):
        return None
    return (
        f"no chunk of {query_id} is known to have grade {least} or more: its {measure.label} is "
        "undefined and left out of the mean"
    )


def terms_by_rank(board: Scoreboard, run: str, query_id: str, measure: Measure) -> dict[int, float]:
    """Return what the judged chunks of a list add to the query's value, by rank."""
    hits = board.read_by(measure, run, query_id)
    k = board.cutoffs(measure)[[board.number_of(query_id)]]
    return dict(zip(hits.rank.tolist(), terms(hits, measure, k).tolist(), strict=True))


def _rank_change(
    in_a: RankedChunk | None,
    in_b: RankedChunk | None,
    terms_a: dict[int, float],
    terms_b: dict[int, float],
    undefined: bool,
) -> RankChange:
    seen = in_a or in_b
    if seen is None:
        raise LookupError("a move needs a chunk of one list at least")
    term_a = terms_a.get(in_a.rank, 0.0) if in_a else 0.0
    term_b = terms_b.get(in_b.rank, 0.0) if in_b else 0.0
    known = (None, None, None) if undefined else (term_a, term_b, term_b - term_a)
    ranks = (in_a.rank if in_a else None, in_b.rank if in_b else None)
    return RankChange(seen.chunk, seen.chunk_id, *ranks, seen.grade, *known)


LEAST_SHARED = 0.1
"""The least share of either text for which two chunks count as sharing text."""


@dataclass(frozen=True, slots=True)
class SharedText:
    """Two chunks of A's and B's lists that share text: their ranks and the shared part of each."""

    chunk_a: int
    chunk_b: int
    rank_a: int
    rank_b: int
    of_a: float
    of_b: float

    @property
    def size(self) -> float:
        """How alike the two chunks are: the shared text as a share of the longer one."""
        return min(self.of_a, self.of_b)


def find_shared_text(board: Scoreboard, a: str, b: str, query_id: str) -> list[SharedText] | None:
    """Return the chunks of two lists that share text, by rank in A; None for runs of one chunking.

    In one chunking, equal ids already say so. Two chunks share at least `LEAST_SHARED` of one of
    them, white space not counted. Raises `NotFound` for an unknown run or query.
    """
    board = board.snapshot()
    one, other = (board.chunking_of(run) for run in (a, b))
    if one == other:
        return None
    in_a, in_b = (board.chunks(run, query_id).tolist() for run in (a, b))
    found = [
        SharedText(in_a[at], in_b[beside], at + 1, beside + 1, of_a, of_b)
        for at, beside, of_a, of_b in board.overlaps(in_a, in_b)
    ]
    return [each for each in found if max(each.of_a, each.of_b) >= LEAST_SHARED]


def best_partners(shared: Iterable[SharedText]) -> dict[int, int]:
    """Return for each chunk the rank of the most similar chunk in the other list."""
    best: dict[int, tuple[float, int]] = {}
    for each in shared:
        for chunk, rank in ((each.chunk_a, each.rank_b), (each.chunk_b, each.rank_a)):
            best[chunk] = max(best.get(chunk, (0.0, 0)), (each.size, -rank))
    return {chunk: -rank for chunk, (_, rank) in best.items()}


def describe_shared_text(shared: Iterable[SharedText]) -> Mapping[int, str]:
    """Return for each chunk which chunks of the other list it shares text with, and how much.

    >>> describe_shared_text([SharedText(1, 2, 3, 1, 1.0, 0.62)])
    {1: 'B 1: 100% of it, 62% of that', 2: 'A 3: 62% of it, 100% of that'}
    """
    by_chunk: dict[int, list[str]] = {}
    for each in shared:
        in_b = f"B {each.rank_b}: {each.of_a:.0%} of it, {each.of_b:.0%} of that"
        in_a = f"A {each.rank_a}: {each.of_b:.0%} of it, {each.of_a:.0%} of that"
        by_chunk.setdefault(each.chunk_a, []).append(in_b)
        by_chunk.setdefault(each.chunk_b, []).append(in_a)
    return {chunk: "; ".join(words) for chunk, words in by_chunk.items()}


@dataclass(frozen=True, slots=True)
class DcgRow:
    """One rank of a DCG table.

    ``grade`` is None for an unjudged chunk, which gains nothing. ``discount`` is log2(rank + 1),
    ``term`` is ``gain / discount``, and ``running`` the DCG down to this rank.
    """

    rank: int
    chunk_id: str
    grade: int | None
    gain: float
    discount: float
    term: float
    running: float


@dataclass(frozen=True, slots=True)
class DcgTable:
    """A list and its ideal down to the cut-off; ``ndcg`` is NaN where it is undefined."""

    measure: Measure
    rows: tuple[DcgRow, ...]
    ideal: tuple[DcgRow, ...]
    dcg: float
    idcg: float
    ndcg: float


def dcg_table(board: Scoreboard, run: str, query_id: str, measure: Measure) -> DcgTable:
    """Compute nDCG of one run and query line by line.

    The ideal list holds the query's golden grades of 1 and more, the best first and equal grades by
    chunk id, whether or not the run retrieved them. Raises `BadInput` for a measure other than
    nDCG, `NotFound` for an unknown run or query.
    """
    if measure.name != "nDCG" or measure.crosses:
        raise BadInput(f"a DCG table is for nDCG, not for {measure}")
    board = board.snapshot()
    k = int(board.cutoffs(measure)[board.number_of(query_id)])
    listed = [
        (each.chunk_id, each.grade)
        for each in board.ranked(run, query_id)
        if each.grade is not None or not measure.judged_only
    ]
    names = board.collection.chunk_ids
    known = [(names[chunk], grade) for chunk, grade in board.golden(query_id).items() if grade]
    best = sorted(known, key=lambda pair: (-pair[1], pair[0]))
    rows, ideal = _dcg_rows(listed[:k], measure), _dcg_rows(best[:k], measure)
    return DcgTable(
        measure,
        rows,
        ideal,
        rows[-1].running if rows else 0.0,
        ideal[-1].running if ideal else 0.0,
        float(board.measured(measure, board.hits(run, query_id), [query_id])[0]),
    )


def _dcg_rows(ranked: Iterable[tuple[str, int | None]], measure: Measure) -> tuple[DcgRow, ...]:
    gains = measure.gains or GAINS[str(measure.dcg)]
    rows: list[DcgRow] = []
    running = 0.0
    for rank, (chunk_id, grade) in enumerate(ranked, 1):
        gain, discount = gains[grade or 0], math.log2(rank + 1)
        running += gain / discount
        rows.append(DcgRow(rank, chunk_id, grade, gain, discount, gain / discount, running))
    return tuple(rows)


@dataclass(frozen=True, slots=True)
class ChunkContribution:
    """A chunk that ``moves`` one query's value and so ``adds`` 1/n of that to the mean delta.

    A rank is None in a run without the chunk.
    """

    query_id: str
    chunk: int
    rank_a: int | None
    rank_b: int | None
    moves: float
    adds: float


@dataclass(frozen=True, slots=True)
class TopMover:
    """A chunk, or a document with all its chunks, and what it ``adds`` to the mean delta in total.

    ``places`` are its contributions by query, the largest first.
    """

    name: str
    adds: float
    places: tuple[ChunkContribution, ...]

    @property
    def queries(self) -> int:
        """The number of queries in which it adds something."""
        return len({place.query_id for place in self.places})


def find_contributions(
    board: Scoreboard, a: str, b: str, measure: Measure, queries: Collection[str] | None = None
) -> list[ChunkContribution]:
    """Return every chunk of every query that adds to the delta of ``measure``, in no order.

    Contributions sum to the mean delta, over all queries or ``queries``, within rounding. See
    `find_rank_changes` for terms that depend on other chunks. Raises `NotFound` and `BadInput` as
    `compare` does.

    >>> from labeler.evaluation import Conventions, collect
    >>> runs = {"A": {"q": ["x", "c"], "r": ["c"]}, "B": {"q": ["c", "x"], "r": ["c"]}}
    >>> board = Scoreboard(collect({"q": {"c": 2}, "r": {"c": 1}}, runs), Conventions.of())
    >>> [each] = find_contributions(board, "A", "B", *board.conventions.measures("RR"))
    >>> each.query_id, each.rank_a, each.rank_b, each.adds
    ('q', 2, 1, 0.25)
    >>> each.moves
    0.5
    """
    board = board.snapshot()
    check_pair(board, a, b)
    ids = board.collection.query_ids
    run_columns = [board.column_of(run) for run in (a, b)]
    known = ~np.any(np.isnan(board.values(measure)[:, run_columns]), axis=1)
    if queries is not None:
        known &= np.isin(np.arange(len(ids)), [board.number_of(query) for query in queries])
    width = len(board.collection.chunk_ids) + 1
    sides = [_terms_of_run(board, run, measure, width) for run in (a, b)]
    keys = np.unique(np.concatenate([key for key, _, _ in sides]))
    rank = np.zeros((2, len(keys)), dtype=np.int64)
    term = np.zeros((2, len(keys)))
    for side, (key, ranks, values) in enumerate(sides):
        at = np.searchsorted(keys, key)
        rank[side, at], term[side, at] = ranks, values
    moves = term[1] - term[0]
    adds = moves / max(int(known.sum()), 1)
    counts = known[keys // width] & (np.abs(adds) > TOLERANCE)
    columns = (keys // width, keys % width, *rank, moves, adds)
    return [
        ChunkContribution(ids[query], chunk, rank_a or None, rank_b or None, *by)
        for query, chunk, rank_a, rank_b, *by in zip(
            *(column[counts].tolist() for column in columns), strict=True
        )
    ]


def _terms_of_run(
    board: Scoreboard, run: str, measure: Measure, width: int
) -> tuple[Ints, Ints, Floats]:
    """Return a run's judged chunks: query and chunk as one number, their ranks, their terms."""
    hits = board.read_by(measure, run)
    lists = [board.chunks(run, query_id) for query_id in board.collection.query_ids]
    start = np.cumsum([0, *map(len, lists)])[:-1]
    chunks = np.concatenate([*lists, np.zeros(0, dtype=np.int64)]).astype(np.int64)
    chunk = chunks[start[hits.row] + hits.rank - 1]
    return hits.row * width + chunk, hits.rank, terms(hits, measure, board.cutoffs(measure))


def add_up_movers(
    found: Iterable[ChunkContribution], name_of: Callable[[int], str | None]
) -> list[TopMover]:
    """Sum contributions by the name of each chunk, the largest first; None leaves a chunk out."""
    groups: dict[str, list[ChunkContribution]] = {}
    for each in found:
        name = name_of(each.chunk)
        if name is not None:
            groups.setdefault(name, []).append(each)
    movers = [
        TopMover(
            name, sum(p.adds for p in places), tuple(sorted(places, key=lambda p: -abs(p.adds)))
        )
        for name, places in groups.items()
    ]
    return sorted(movers, key=lambda mover: -abs(mover.adds))

"""One query's nDCG worked out line by line, as a textbook prints it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from labeler.errors import BadInput
from labeler.evaluation import Scoreboard
from labeler.measures import GAINS, Measure


@dataclass(frozen=True, slots=True)
class DcgRow:
    """One rank: ``term`` is ``gain / discount``, ``running`` the DCG down to here.

    ``grade`` is None for a hole, which gains nothing. ``discount`` is log2(rank + 1).
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
    """The list and its ideal down to the cut-off; ``ndcg`` is NaN where it is undefined."""

    measure: Measure
    rows: tuple[DcgRow, ...]
    ideal: tuple[DcgRow, ...]
    dcg: float
    idcg: float
    ndcg: float


def dcg_table(board: Scoreboard, run: str, query_id: str, measure: Measure) -> DcgTable:
    """Work out nDCG of one run and query.

    The ideal list holds the query's golden grades of 1 and more in best order, whether or not the
    run retrieved them; equal grades come by chunk id. Raises `BadInput` for a measure other than
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
    rows, ideal = _rows(listed[:k], measure), _rows(best[:k], measure)
    return DcgTable(
        measure,
        rows,
        ideal,
        rows[-1].running if rows else 0.0,
        ideal[-1].running if ideal else 0.0,
        float(board.measured(measure, board.hits(run, query_id), [query_id])[0]),
    )


def _rows(ranked: Iterable[tuple[str, int | None]], measure: Measure) -> tuple[DcgRow, ...]:
    gains = measure.gains or GAINS[str(measure.dcg)]
    rows: list[DcgRow] = []
    running = 0.0
    for rank, (chunk_id, grade) in enumerate(ranked, 1):
        gain, discount = gains[grade or 0], math.log2(rank + 1)
        running += gain / discount
        rows.append(DcgRow(rank, chunk_id, grade, gain, discount, gain / discount, running))
    return tuple(rows)

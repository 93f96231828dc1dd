"""One query in two runs: where each chunk moved, what that cost, and what another rank would do."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from labeler.errors import BadInput, NotFound
from labeler.evaluation import Ranked, Scoreboard
from labeler.measures import Measure, terms


@dataclass(frozen=True, slots=True)
class Move:
    """A chunk that A or B returned. A rank is None where that run has it not, a grade for a hole.

    ``contribution`` is ``term_b - term_a``: what this chunk adds to the delta. All three are None
    where either run has no value for the query.
    """

    chunk: int
    chunk_id: str
    rank_a: int | None
    rank_b: int | None
    grade: int | None
    term_a: float | None
    term_b: float | None
    contribution: float | None


@dataclass(frozen=True, slots=True)
class WhatIf:
    """A measure's value for one query as it is, and as it would be. NaN where undefined."""

    measure: Measure
    present: float
    value: float

    @property
    def delta(self) -> float:
        """How much the value would rise."""
        return self.value - self.present


def moves(board: Scoreboard, a: str, b: str, query_id: str, measure: Measure) -> tuple[Move, ...]:
    """Return every chunk of either list with what it contributes to the delta of ``measure``.

    Contributions sum to the query's delta within 1e-12. For RR, Success and AP a term is what the
    chunk adds *given the others* (see `terms_depend`): two chunks that swap places can both have
    one.

    Chunks come in B's order, then those of A alone in A's. Raises `NotFound` for an unknown run
    or query.

    >>> from labeler.evaluation import Conventions, collect
    >>> lists = {"A": {"q": ["x", "c"]}, "B": {"q": ["c", "x"]}}
    >>> board = Scoreboard(collect({"q": {"c": 2, "x": 1}}, lists), Conventions.of())
    >>> [m.contribution for m in moves(board, "A", "B", "q", *board.conventions.measures("RR"))]
    [1.0, -1.0]
    """
    board = board.snapshot()
    if a == b:
        raise BadInput(f"A and B are both {a!r}; choose two different runs")
    listed = [{each.chunk: each for each in board.ranked(run, query_id)} for run in (a, b)]
    given = [_terms_by_rank(board, run, query_id, measure) for run in (a, b)]
    places = [board.column_of(run) for run in (a, b)]
    undefined = bool(np.isnan(board.values(measure)[board.number_of(query_id), places]).any())
    chunks = dict.fromkeys([*listed[1], *listed[0]])
    return tuple(
        _move(listed[0].get(chunk), listed[1].get(chunk), given[0], given[1], undefined)
        for chunk in chunks
    )


def terms_depend(measure: Measure) -> str | None:
    """Say in a sentence how a chunk's term depends on other chunks; None where it does not."""
    return measure.definition.depends or None


def why_undefined(board: Scoreboard, query_id: str, measure: Measure) -> str | None:
    """Say in a sentence why a query has no value under ``measure``; None where it has one.

    It is the same for every run, because only a query's golden grades can leave a measure
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


def what_if(
    board: Scoreboard,
    run: str,
    query_id: str,
    chunk_id: str,
    rank: int,
    measures: Iterable[Measure],
) -> tuple[WhatIf, ...]:
    """Say what a query's values would be if a chunk stood at ``rank``; nothing is changed.

    A chunk of the list is moved there, those between move by one. One that the run did not return
    is put in, and the list grows by one. Raises `BadInput` for a rank the list cannot have,
    `NotFound` for an unknown run, query or chunk.
    """
    board = board.snapshot()
    chunk, chunks = _number_of(board, chunk_id), board.chunks(run, query_id)
    others = chunks[chunks != chunk]
    if not 1 <= rank <= len(others) + 1:
        raise BadInput(
            f"{chunk_id} cannot stand at rank {rank} of {run} for {query_id}: "
            f"that list would end at rank {len(others) + 1}"
        )
    changed = board.aligned([query_id], [np.insert(others, rank - 1, chunk)])
    now = board.hits(run, query_id)
    return tuple(
        WhatIf(
            measure,
            float(board.measured(measure, now, [query_id])[0]),
            float(board.measured(measure, changed, [query_id])[0]),
        )
        for measure in board.resolve(measures)
    )


def _number_of(board: Scoreboard, chunk_id: str) -> int:
    if chunk_id and chunk_id in board.collection.chunk_ids:
        return board.collection.chunk_ids.index(chunk_id)
    raise NotFound(f"no chunk is called {chunk_id!r}, in no run and in no golden grade")


def _terms_by_rank(
    board: Scoreboard, run: str, query_id: str, measure: Measure
) -> dict[int, float]:
    hits = board.read_by(measure, run, query_id)
    k = board.cutoffs(measure)[[board.number_of(query_id)]]
    return dict(zip(hits.rank.tolist(), terms(hits, measure, k).tolist(), strict=True))


def _move(
    in_a: Ranked | None,
    in_b: Ranked | None,
    terms_a: dict[int, float],
    terms_b: dict[int, float],
    undefined: bool,
) -> Move:
    seen = in_a or in_b
    if seen is None:
        raise LookupError("a move needs a chunk of one list at least")
    term_a = terms_a.get(in_a.rank, 0.0) if in_a else 0.0
    term_b = terms_b.get(in_b.rank, 0.0) if in_b else 0.0
    known = (None, None, None) if undefined else (term_a, term_b, term_b - term_a)
    ranks = (in_a.rank if in_a else None, in_b.rank if in_b else None)
    return Move(seen.chunk, seen.chunk_id, *ranks, seen.grade, *known)

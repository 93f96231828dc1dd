"""What the rank pictures draw, written out: strips, lists, moves, each sign and each number."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from labeler.analysis.comparison import (
    Move,
    QueryDelta,
    SharedText,
    View,
    partners,
    shared_in_words,
    strip_text,
    strips,
)
from labeler.analysis.comparison.strips import Strips
from labeler.evaluation import number, signed
from labeler.measures import BUDGET, Floats
from labeler.model import Chunk

STRIP_RANKS, MOST_STRIP_RANKS = 10, 20


@dataclass(frozen=True, slots=True)
class Lane:
    """One run's strip: ``cells`` have one sign a rank, a digit or ``·``; its value written out."""

    cells: str
    value: str


@dataclass(frozen=True, slots=True)
class StripRow:
    """One query, with a lane for each run, A's and B's first; the delta is written out."""

    query_id: str
    text: str
    bucket: str
    lanes: tuple[Lane, ...]
    delta: str


@dataclass(frozen=True, slots=True)
class Place:
    """A chunk at a rank of one list; ``other`` is its rank in the other, None if not there."""

    chunk_id: str
    title: str
    grade: int | None
    rank: int
    other: int | None


@dataclass(frozen=True, slots=True)
class MoveRow:
    """A chunk of either list as a row of the table; ``contribution`` is written out.

    ``shares`` says with which chunks of another chunking it has text in common.
    """

    chunk_id: str
    title: str
    grade: int | None
    rank_a: int | None
    rank_b: int | None
    contribution: str
    shares: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """Two chunks that a line joins, with their ranks and the share of text they have in common."""

    chunk_a: str
    chunk_b: str
    rank_a: int
    rank_b: int
    share: float
    words: str


def strip_depth(view: View) -> int:
    """Return how many ranks a strip shows: those the measure looks at, within reason."""
    cutoff = view.by.cutoff
    if cutoff is None:
        return STRIP_RANKS
    deepest = int(view.board.budgets.max()) if cutoff == BUDGET else cutoff
    return min(deepest, MOST_STRIP_RANKS)


def strip_rows(view: View, first: int, count: int) -> list[StripRow]:
    """Write out ``count`` queries from the one at ``first``."""
    cells = [strips(view.board, run, strip_depth(view)) for run in view.runs]
    columns = [view.board.column_of(run) for run in view.runs]
    values = view.board.values(view.by)[:, columns]
    return [_strip_row(view, row, cells, values) for row in view.rows[first : first + count]]


def _strip_row(view: View, row: QueryDelta, cells: Sequence[Strips], values: Floats) -> StripRow:
    at = view.board.number_of(row.query_id)
    lanes = zip(cells, values[at].tolist(), strict=True)
    return StripRow(
        row.query_id,
        view.texts[row.query_id],
        view.buckets[row.query_id],
        tuple(Lane(strip_text(c[at]).replace(" ", ""), number(value)) for c, value in lanes),
        signed(row.delta),
    )


def titles(moves: Iterable[Move], chunks: Mapping[int, Chunk]) -> dict[int, str]:
    """Return each chunk's title, else the beginning of its text, else its id."""
    known = {number: chunk.called for number, chunk in chunks.items()}
    return {move.chunk: known.get(move.chunk) or move.chunk_id for move in moves}


def chunk_titles(names: Sequence[str], chunks: Mapping[int, Chunk]) -> dict[str, str]:
    """Return the title of each chunk by its id, else the beginning of its text."""
    return {names[number]: chunk.called or names[number] for number, chunk in chunks.items()}


def chosen_move(moves: Sequence[Move], chunk_id: str | None) -> Move | None:
    """Return the chunk that was asked for, else the one that contributed most, if there is one."""
    asked = next((move for move in moves if move.chunk_id == chunk_id), None)
    return asked or max(moves, key=lambda move: abs(move.contribution or 0.0), default=None)


def within_depth(moves: Iterable[Move], depth: int) -> list[Move]:
    """Return the chunks in either list's top ``depth``, and those that count from below it."""
    return [
        move
        for move in moves
        if min(rank for rank in (move.rank_a, move.rank_b) if rank is not None) <= depth
        or move.contribution
    ]


def places(
    moves: Iterable[Move],
    titles: Mapping[int, str],
    depth: int,
    shared: Sequence[SharedText] | None = None,
) -> tuple[list[Place], list[Place]]:
    """Return A's and B's lists down to ``depth``; of two chunkings, with what is ``shared``."""
    in_a, in_b = [], []
    beside = partners(shared or ())
    for move in moves:
        known = (move.chunk_id, titles[move.chunk], move.grade)
        other = beside.get(move.chunk)
        if move.rank_a is not None and move.rank_a <= depth:
            in_a.append(Place(*known, move.rank_a, move.rank_b or other))
        if move.rank_b is not None and move.rank_b <= depth:
            in_b.append(Place(*known, move.rank_b, move.rank_a or other))
    return sorted(in_a, key=lambda place: place.rank), sorted(in_b, key=lambda place: place.rank)


def lines(
    moves: Iterable[Move], shared: Sequence[SharedText] | None, depth: int
) -> list[Line] | None:
    """Return what joins chunks of two chunkings, as far as one stands above ``depth``."""
    if shared is None:
        return None
    names = {move.chunk: move.chunk_id for move in moves}
    return [
        Line(
            *(names[each.chunk_a], names[each.chunk_b], each.rank_a, each.rank_b, each.size),
            f"{each.of_a:.0%} of A {each.rank_a} and {each.of_b:.0%} of B {each.rank_b} is the "
            "same text",
        )
        for each in shared
        if min(each.rank_a, each.rank_b) <= depth
    ]


def move_rows(
    moves: Iterable[Move],
    titles: Mapping[int, str],
    shared: Sequence[SharedText] | None = None,
    *,
    by_grade: bool = True,
) -> list[MoveRow]:
    """Write out moves, the largest contribution first; it may not be ``by_grade`` of the chunk."""
    said = shared_in_words(shared or ())
    return [
        MoveRow(
            move.chunk_id,
            titles[move.chunk],
            move.grade,
            move.rank_a,
            move.rank_b,
            _contribution(move, by_grade=by_grade),
            said.get(move.chunk, ""),
        )
        for move in sorted(moves, key=lambda move: -abs(move.contribution or 0.0))
    ]


def _contribution(move: Move, *, by_grade: bool) -> str:
    """A hole adds nothing because nobody looked, which is not a zero that was measured."""
    if move.contribution is None:
        return "–"
    if by_grade and move.grade is None and not move.contribution:
        return "hole"
    return signed(move.contribution)


def sum_of(moves: Sequence[Move]) -> str:
    """Write out what all contributions sum to: the query's delta."""
    known = [move.contribution for move in moves if move.contribution is not None]
    return signed(math.fsum(known) if len(known) == len(moves) else math.nan)

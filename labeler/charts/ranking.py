"""The Compare page's ranks written out: strips, lists, moves, and the sentences above them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from labeler import comparison
from labeler.charts.comparing import query_frame, sentences, signed, what_if_table
from labeler.comparison import Comparison, Move, QueryDelta, strip_text
from labeler.comparison.strips import Strips
from labeler.evaluation import Scoreboard, number
from labeler.measures import BUDGET, Measure
from labeler.model import Chunk

SORTS = ("worst for B", "best for B", "bucket", "query text")
STRIP_RANKS, MOST_STRIP_RANKS = 10, 20


@dataclass(frozen=True, slots=True)
class View:
    """Two runs compared, by one measure in particular; ``rows`` are the queries, in order."""

    board: Scoreboard
    compared: Comparison
    by: Measure
    rows: Sequence[QueryDelta]
    texts: Mapping[str, str]
    buckets: Mapping[str, str]

    @property
    def heading(self) -> str:
        """The measure's name as these conventions write it."""
        return self.compared.conventions.heading(self.by)

    def frame(self) -> pd.DataFrame:
        """Return the queries that have a value, as the charts draw them."""
        return query_frame(self.rows, self.texts, self.buckets)


@dataclass(frozen=True, slots=True)
class StripRow:
    """One query. ``cells`` have one sign a rank, a digit or ``·``; values are written out."""

    query_id: str
    text: str
    bucket: str
    cells_a: str
    cells_b: str
    a: str
    b: str
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
    """A chunk of either list as a row of the table; ``contribution`` is written out."""

    chunk_id: str
    title: str
    grade: int | None
    rank_a: int | None
    rank_b: int | None
    contribution: str


def buckets_of(board: Scoreboard, facet: str | None) -> dict[str, str]:
    """Return each query's bucket of a facet, or of all facets in one text."""
    facets = board.collection.facets
    columns = [facets[facet]] if facet else list(facets.values())
    ids = board.collection.query_ids
    given = zip(*columns, strict=True) if columns else [()] * len(ids)
    return {
        query_id: " · ".join(bucket for bucket in row if bucket)
        for query_id, row in zip(ids, given, strict=True)
    }


def sort_queries(
    rows: Iterable[QueryDelta], sort: str, texts: Mapping[str, str], buckets: Mapping[str, str]
) -> list[QueryDelta]:
    """Sort queries in one of `SORTS`; those without a value come last, except by text."""

    def place(row: QueryDelta) -> tuple[bool, str, float]:
        undefined = math.isnan(row.delta)
        delta = 0.0 if undefined else row.delta
        if sort == "query text":
            return False, texts[row.query_id].casefold(), delta
        if sort == "bucket":
            return undefined, buckets[row.query_id], delta
        return undefined, "", -delta if sort == "best for B" else delta

    return sorted(rows, key=place)


def query_words(board: Scoreboard, query_id: str) -> list[str]:
    """Name the task and buckets of a query."""
    at, facets = board.number_of(query_id), board.collection.facets
    return [f"{facet}: {given[at]}" for facet, given in facets.items() if given[at] is not None]


def findings(view: View, candidates: str, most: int) -> list[str]:
    """Say where the means mislead, with at most so many buckets that move against the total.

    ``candidates`` is the sentence that says how B's candidates relate to A's.
    """
    return [
        *comparison.one_number(view.compared),
        candidates,
        *candidates_and_order(view),
        *against_total(view, most),
    ]


def against_total(view: View, most: int) -> list[str]:
    """Say which buckets of any facet move against the total, the measure in question first."""
    compared = view.compared
    facets = [compared.facet] if compared.facet else list(view.board.facets)
    found = [
        each
        for facet in facets
        for each in comparison.contradictions(
            comparison.compare(view.board, compared.a, compared.b, compared.measures, facet)
        )
    ]
    found.sort(key=lambda each: (each.total.measure != view.by, -abs(each.bucket.delta)))
    said = [each.sentence for each in found[:most]]
    if len(found) > most:
        said.append(f"{len(found) - most} more of these are on the Slices page")
    return said


def candidates_and_order(view: View) -> list[str]:
    """Say how much of the delta is due to what was found, and how much to its order."""
    parts = comparison.split(view.board, view.compared.a, view.compared.b, view.by)
    if math.isnan(parts.delta):
        return []
    return [
        f"{view.heading} {signed(parts.delta)}: {signed(parts.candidates)} by the candidates, "
        f"{signed(parts.order)} by their order (n {parts.n}); recall of the whole lists "
        f"{number(parts.recall_a)} in A, {number(parts.recall_b)} in B"
    ]


def strip_depth(view: View) -> int:
    """Return how many ranks a strip shows: those the measure looks at, within reason."""
    cutoff = view.by.cutoff
    if cutoff is None:
        return STRIP_RANKS
    deepest = int(view.board.budgets.max()) if cutoff == BUDGET else cutoff
    return min(deepest, MOST_STRIP_RANKS)


def strip_rows(view: View, first: int, count: int) -> list[StripRow]:
    """Write out ``count`` queries from the one at ``first``."""
    runs, depth = (view.compared.a, view.compared.b), strip_depth(view)
    cells = [comparison.strips(view.board, run, depth) for run in runs]
    return [_strip_row(view, row, cells) for row in view.rows[first : first + count]]


def _strip_row(view: View, row: QueryDelta, cells: Sequence[Strips]) -> StripRow:
    at = view.board.number_of(row.query_id)
    in_a, in_b = (strip_text(side[at]).replace(" ", "") for side in cells)
    return StripRow(
        row.query_id,
        view.texts[row.query_id],
        view.buckets[row.query_id],
        in_a,
        in_b,
        number(row.a),
        number(row.b),
        signed(row.delta),
    )


def titles(moves: Iterable[Move], chunks: Mapping[int, Chunk]) -> dict[int, str]:
    """Return each chunk's title, else the beginning of its text, else its id."""
    known = {
        number: c.title or " ".join((c.text or "")[:120].split()) for number, c in chunks.items()
    }
    return {move.chunk: known.get(move.chunk) or move.chunk_id for move in moves}


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
    moves: Iterable[Move], titles: Mapping[int, str], depth: int
) -> tuple[list[Place], list[Place]]:
    """Return A's and B's lists down to ``depth``."""
    in_a, in_b = [], []
    for move in moves:
        known = (move.chunk_id, titles[move.chunk], move.grade)
        if move.rank_a is not None and move.rank_a <= depth:
            in_a.append(Place(*known, move.rank_a, move.rank_b))
        if move.rank_b is not None and move.rank_b <= depth:
            in_b.append(Place(*known, move.rank_b, move.rank_a))
    return sorted(in_a, key=lambda place: place.rank), sorted(in_b, key=lambda place: place.rank)


def move_rows(moves: Iterable[Move], titles: Mapping[int, str]) -> list[MoveRow]:
    """Write out moves, the largest contribution first."""
    return [
        MoveRow(
            move.chunk_id,
            titles[move.chunk],
            move.grade,
            move.rank_a,
            move.rank_b,
            _contribution(move),
        )
        for move in sorted(moves, key=lambda move: -abs(move.contribution or 0.0))
    ]


def _contribution(move: Move) -> str:
    """A hole adds nothing because nobody looked, which is not a zero that was measured."""
    if move.contribution is None:
        return "–"
    if move.grade is None and not move.contribution:
        return "hole"
    return signed(move.contribution)


def sum_of(moves: Sequence[Move]) -> str:
    """Write out what all contributions sum to: the query's delta."""
    known = [move.contribution for move in moves if move.contribution is not None]
    return signed(math.fsum(known) if len(known) == len(moves) else math.nan)


def last_ranks(view: View, query_id: str, move: Move) -> tuple[int, int]:
    """Return the last rank a chunk could have in A's list and in B's."""
    in_a, in_b = (
        len(view.board.chunks(run, query_id)) for run in (view.compared.a, view.compared.b)
    )
    return in_a + (move.rank_a is None), in_b + (move.rank_b is None)


def what_if_html(view: View, query_id: str, move: Move, rank: int) -> str:
    """Return what the values would be with a chunk at ``rank`` of either list, as HTML."""
    runs = (view.compared.a, view.compared.b)
    limits = last_ranks(view, query_id, move)
    sides = [
        comparison.what_if(view.board, run, query_id, move.chunk_id, rank, view.compared.measures)
        if rank <= limit
        else None
        for run, limit in zip(runs, limits, strict=True)
    ]
    problems = [
        f"{run} could not have it at rank {rank}: its list would end at {limit}"
        for run, limit in zip(runs, limits, strict=True)
        if rank > limit
    ]
    return what_if_table(sides[0], sides[1], view.compared) + sentences(problems)

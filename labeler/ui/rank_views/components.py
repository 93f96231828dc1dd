"""Rank strips and ranked lists of two runs: the rows that are drawn, and the components.

The scripts draw what they are given and report what was clicked; every sign and number is
formatted here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import streamlit as st

from labeler.analysis.comparison import (
    ComparisonView,
    QueryDelta,
    RankChange,
    SharedText,
    best_partners,
    describe_shared_text,
    format_strip,
    grade_strips,
)
from labeler.analysis.comparison.query_views import Strips
from labeler.evaluation import format_number, format_signed
from labeler.measures import PROMPT, Floats
from labeler.model import Chunk
from labeler.web.static_js import loader, read_assets

DEFAULT_STRIP_RANKS, MOST_STRIP_RANKS = 10, 20


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
class ListedChunk:
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
class TextLink:
    """Two chunks that a line joins, with their ranks and the share of text they have in common."""

    chunk_a: str
    chunk_b: str
    rank_a: int
    rank_b: int
    share: float
    words: str


def strip_depth(view: ComparisonView) -> int:
    """Return how many ranks a strip shows: those the measure looks at, within reason."""
    cutoff = view.by.cutoff
    if cutoff is None:
        return DEFAULT_STRIP_RANKS
    deepest = int(view.board.prompt_ks.max()) if cutoff == PROMPT else cutoff
    return min(deepest, MOST_STRIP_RANKS)


def strip_rows(view: ComparisonView, first: int, count: int) -> list[StripRow]:
    """Write out ``count`` queries from the one at ``first``."""
    cells = [grade_strips(view.board, run, strip_depth(view)) for run in view.runs]
    columns = [view.board.column_of(run) for run in view.runs]
    values = view.board.values(view.by)[:, columns]
    return [_strip_row(view, row, cells, values) for row in view.rows[first : first + count]]


def _strip_row(
    view: ComparisonView, row: QueryDelta, cells: Sequence[Strips], values: Floats
) -> StripRow:
    at = view.board.number_of(row.query_id)
    lanes = zip(cells, values[at].tolist(), strict=True)
    return StripRow(
        row.query_id,
        view.texts[row.query_id],
        view.buckets[row.query_id],
        tuple(
            Lane(format_strip(c[at]).replace(" ", ""), format_number(value)) for c, value in lanes
        ),
        format_signed(row.delta),
    )


def titles(moves: Iterable[RankChange], chunks: Mapping[int, Chunk]) -> dict[int, str]:
    """Return each chunk's title, else the beginning of its text, else its id."""
    known = {number: chunk.called for number, chunk in chunks.items()}
    return {move.chunk: known.get(move.chunk) or move.chunk_id for move in moves}


def chunk_titles(names: Sequence[str], chunks: Mapping[int, Chunk]) -> dict[str, str]:
    """Return the title of each chunk by its id, else the beginning of its text."""
    return {names[number]: chunk.called or names[number] for number, chunk in chunks.items()}


def chosen_move(moves: Sequence[RankChange], chunk_id: str | None) -> RankChange | None:
    """Return the chunk that was asked for, else the one that contributed most, if there is one."""
    asked = next((move for move in moves if move.chunk_id == chunk_id), None)
    return asked or max(moves, key=lambda move: abs(move.contribution or 0.0), default=None)


def within_depth(moves: Iterable[RankChange], depth: int) -> list[RankChange]:
    """Return the chunks in either list's top ``depth``, and those that count from below it."""
    return [
        move
        for move in moves
        if min(rank for rank in (move.rank_a, move.rank_b) if rank is not None) <= depth
        or move.contribution
    ]


def listed_chunks(
    moves: Iterable[RankChange],
    titles: Mapping[int, str],
    depth: int,
    shared: Sequence[SharedText] | None = None,
) -> tuple[list[ListedChunk], list[ListedChunk]]:
    """Return A's and B's lists down to ``depth``; of two chunkings, with what is ``shared``.

    Of one chunking each list goes on with the chunks that the other has down to there.
    """
    in_a, in_b = [], []
    beside = best_partners(shared or ())
    for move in moves:
        known = (move.chunk_id, titles[move.chunk], move.grade)
        other = beside.get(move.chunk)
        ranks = [rank for rank in (move.rank_a, move.rank_b) if rank is not None]
        deepest = depth if shared is not None or min(ranks) > depth else math.inf
        if move.rank_a is not None and move.rank_a <= deepest:
            in_a.append(ListedChunk(*known, move.rank_a, move.rank_b or other))
        if move.rank_b is not None and move.rank_b <= deepest:
            in_b.append(ListedChunk(*known, move.rank_b, move.rank_a or other))
    return sorted(in_a, key=lambda place: place.rank), sorted(in_b, key=lambda place: place.rank)


def text_links(
    moves: Iterable[RankChange], shared: Sequence[SharedText] | None, depth: int
) -> list[TextLink] | None:
    """Return what joins chunks of two chunkings, if one of them is within ``depth``."""
    if shared is None:
        return None
    names = {move.chunk: move.chunk_id for move in moves}
    return [
        TextLink(
            *(names[each.chunk_a], names[each.chunk_b], each.rank_a, each.rank_b, each.size),
            f"{each.of_a:.0%} of A {each.rank_a} and {each.of_b:.0%} of B {each.rank_b} is the "
            "same text",
        )
        for each in shared
        if min(each.rank_a, each.rank_b) <= depth
    ]


def move_rows(
    moves: Iterable[RankChange],
    titles: Mapping[int, str],
    shared: Sequence[SharedText] | None = None,
    *,
    by_grade: bool = True,
) -> list[MoveRow]:
    """Write out moves, the largest contribution first; it may not be ``by_grade`` of the chunk."""
    said = describe_shared_text(shared or ())
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


def _contribution(move: RankChange, *, by_grade: bool) -> str:
    """An unjudged chunk adds nothing because nobody looked; that is not a measured zero."""
    if move.contribution is None:
        return "–"
    if by_grade and move.grade is None and not move.contribution:
        return "unjudged"
    return format_signed(move.contribution)


def format_total(moves: Sequence[RankChange]) -> str:
    """Write out what all contributions sum to: the query's delta."""
    known = [move.contribution for move in moves if move.contribution is not None]
    return format_signed(math.fsum(known) if len(known) == len(moves) else math.nan)


_strips = st.components.v2.component(
    "labeler_rank_strips",
    html='<div class="strips"></div>',
    css=read_assets("rank_views/shared.css", "rank_views/strips.css"),
    js=loader("rank_views", "strips"),
)
_lists = st.components.v2.component(
    "labeler_rank_lists",
    html='<div class="ranks"></div>',
    css=read_assets("rank_views/shared.css", "rank_views/lists.css"),
    js=loader("rank_views", "lists"),
)


@dataclass(frozen=True, slots=True)
class RunSide:
    """One run beside others: its letter, what it is called, its whole name, and its colour."""

    letter: str
    name: str
    whole: str
    colour: str


@dataclass(frozen=True, slots=True)
class RankStyle:
    """The runs side by side, A and B first, and a colour for each grade."""

    sides: Sequence[RunSide]
    grades: Sequence[str]


def rank_strips(
    rows: Sequence[StripRow],
    depth: int,
    facets: str,
    look: RankStyle,
    *,
    key: str,
    on_open: Callable[[], None],
) -> None:
    """Show a row for each query and a cell for each of ``depth`` ranks of each run.

    ``facets`` name the rows' buckets. Two runs are side by side, more below each other. A click on
    a row calls ``on_open``, which finds the query with `picked`.
    """
    data = {**asdict(look), "depth": depth, "facets": facets, "rows": [asdict(row) for row in rows]}
    _strips(key=key, data=data, on_picked_change=on_open)


def rank_lists(
    a: Sequence[ListedChunk],
    b: Sequence[ListedChunk],
    moves: Sequence[MoveRow],
    total: str,
    measure: str,
    chosen: str | None,
    look: RankStyle,
    joined: Sequence[TextLink] | None = None,
    *,
    depth: int,
    key: str,
    on_choose: Callable[[], None],
) -> None:
    """Show two lists with lines between equal chunks, and a table of what each chunk contributes.

    Of two chunkings no chunk is in both, and lines are between those ``joined``. What is listed
    from below ``depth`` stands apart.

    ``total`` is what the contributions to ``measure`` sum to. A click on a chunk calls
    ``on_choose``, which finds its id with `picked`.
    """
    data = {
        **asdict(look),
        "lists": [[asdict(place) for place in side] for side in (a, b)],
        "moves": [asdict(move) for move in moves],
        "total": total,
        "measure": measure,
        "chosen": chosen,
        "depth": depth,
        "joined": None if joined is None else [asdict(line) for line in joined],
    }
    _lists(key=key, data=data, on_picked_change=on_choose)


def picked(key: str) -> str | None:
    """Return the id that was clicked in the component ``key``, in its callback; None elsewhere."""
    state: Any = st.session_state.get(key)
    return None if state is None or state.get("picked") is None else str(state["picked"])

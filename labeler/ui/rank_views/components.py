"""Rank strips of runs: the rows that are drawn, and the component that draws them.

The script draws what it is given and reports what was clicked; every sign and number is formatted
here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import chain, count, repeat
from typing import Any

import streamlit as st

from labeler.analysis.comparison import (
    ComparisonView,
    QueryDelta,
    format_strip,
    grade_strips,
)
from labeler.analysis.comparison.query_views import Strips
from labeler.evaluation import format_number, format_signed
from labeler.measures import PROMPT, Floats
from labeler.model import Chunk
from labeler.render.tokens import BESIDE, GRADE_FILLS, RUN_A, RUN_B
from labeler.web.static_js import loader, read_assets

DEFAULT_STRIP_RANKS, MOST_STRIP_RANKS = 10, 20
SIGNS = "■●▲◆▼★"  # of the runs side by side


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
    lanes = zip(cells, [row.a, row.b, *values[at].tolist()[2:]], strict=True)
    return StripRow(
        row.query_id,
        view.texts[row.query_id],
        view.buckets[row.query_id],
        tuple(
            Lane(format_strip(c[at]).replace(" ", ""), format_number(value)) for c, value in lanes
        ),
        format_signed(row.delta),
    )


def chunk_titles(names: Sequence[str], chunks: Mapping[int, Chunk]) -> dict[str, str]:
    """Return the title of each chunk by its id, else the beginning of its text."""
    return {names[number]: chunk.called or names[number] for number, chunk in chunks.items()}


_strips = st.components.v2.component(
    "labeler_rank_strips",
    html='<div class="strips"></div>',
    css=read_assets("rank_views/shared.css", "rank_views/strips.css"),
    js=loader("rank_views", "strips"),
)


@dataclass(frozen=True, slots=True)
class RunSide:
    """One run beside others: its sign, what it is called, its whole name, and its colour."""

    sign: str
    name: str
    whole: str
    colour: str


@dataclass(frozen=True, slots=True)
class RankStyle:
    """The runs side by side, A and B first, and a colour for each grade."""

    sides: Sequence[RunSide]
    grades: Sequence[str]

    @classmethod
    def of(cls, view: ComparisonView) -> RankStyle:
        """Return the names and colours of A, B and the runs beside them."""
        colours = chain((RUN_A, RUN_B), repeat(BESIDE))
        runs = zip(view.runs, chain(SIGNS, map(str, count(len(SIGNS) + 1))), colours, strict=False)
        sides = [RunSide(sign, view.called(run), run, colour) for run, sign, colour in runs]
        return cls(sides, GRADE_FILLS)


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


def picked(key: str) -> str | None:
    """Return the id that was clicked in the component ``key``, in its callback; None elsewhere."""
    state: Any = st.session_state.get(key)
    return None if state is None or state.get("picked") is None else str(state["picked"])

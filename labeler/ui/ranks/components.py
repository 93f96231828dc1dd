"""The components that draw rank strips, and lists joined by lines.

They draw what they are given and say what was clicked; they know no measure and no run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import streamlit as st

from labeler.ui.ranks.rows import Line, MoveRow, Place, StripRow
from labeler.web.scripts import loader

_HERE = Path(__file__).parent


def _read(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")


_strips = st.components.v2.component(
    "labeler_rank_strips",
    html='<div class="strips"></div>',
    css=_read("shared.css") + _read("strips.css"),
    js=loader("ranks", "strips"),
)
_lists = st.components.v2.component(
    "labeler_rank_lists",
    html='<div class="ranks"></div>',
    css=_read("shared.css") + _read("lists.css"),
    js=loader("ranks", "lists"),
)


@dataclass(frozen=True, slots=True)
class Side:
    """One run beside others: its letter, what it is called, its whole name, and its colour."""

    letter: str
    name: str
    whole: str
    colour: str


@dataclass(frozen=True, slots=True)
class Look:
    """The runs side by side, A and B first, and a colour for each grade."""

    sides: Sequence[Side]
    grades: Sequence[str]


def rank_strips(
    rows: Sequence[StripRow],
    depth: int,
    facets: str,
    look: Look,
    *,
    key: str,
    on_open: Callable[[], None],
) -> None:
    """Show a row for each query and a cell for each of ``depth`` ranks of each run.

    ``facets`` are what the rows' buckets are of. Two runs stand side by side, more below each
    other. A click on a row calls ``on_open``, which finds the query with `picked`.
    """
    data = {**asdict(look), "depth": depth, "facets": facets, "rows": [asdict(row) for row in rows]}
    _strips(key=key, data=data, on_picked_change=on_open)


def rank_lists(
    a: Sequence[Place],
    b: Sequence[Place],
    moves: Sequence[MoveRow],
    total: str,
    measure: str,
    chosen: str | None,
    look: Look,
    joined: Sequence[Line] | None = None,
    *,
    key: str,
    on_choose: Callable[[], None],
) -> None:
    """Show two lists with lines between equal chunks, and a table of what each chunk contributes.

    Of two chunkings no chunk is in both, and lines are between those ``joined``.

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
        "joined": None if joined is None else [asdict(line) for line in joined],
    }
    _lists(key=key, data=data, on_picked_change=on_choose)


def picked(key: str) -> str | None:
    """Return the id that was clicked in the component ``key``, in its callback; None elsewhere."""
    state: Any = st.session_state.get(key)
    return None if state is None or state.get("picked") is None else str(state["picked"])

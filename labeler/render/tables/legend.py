"""Which run a chart draws in which colour and shape: a legend that wraps and cuts no name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise

import htpy

from labeler.render.markup import style
from labeler.render.palette import DASHES, MARKS, RUN_COLOURS
from labeler.render.tables.shared import run_name

LOOK = style("""
.legend { display: flex; flex-wrap: wrap; gap: 0.1rem 1.2rem; padding: 0; margin: 0;
    list-style: none; font-size: 0.8125rem; }
.legend li { display: flex; align-items: center; gap: 0.4rem; margin: 0;
    overflow-wrap: anywhere; max-width: 100%; overflow-x: clip; }
.legend bdi { min-width: 0; }
.legend .line { flex: none; width: 2.25rem; height: 3px; }
""")

SIGNS = {
    "circle": "●",
    "square": "■",
    "triangle-up": "▲",
    "diamond": "◆",
    "cross": "✚",
    "triangle-down": "▼",
    "triangle-left": "◀",
    "triangle-right": "▶",
}


def run_legend(
    runs: Sequence[str], short: Mapping[str, str], *, lines: bool = False
) -> htpy.Fragment:
    """Return a legend of the runs a chart draws, in their order: as points, or as ``lines``."""
    draw = _line if lines else _point
    entries = [htpy.li[draw(at), run_name(run, short)] for at, run in enumerate(runs)]
    return htpy.fragment[LOOK, htpy.ul(".legend", aria_label="Runs in the chart")[entries]]


def _point(at: int) -> htpy.Element:
    colour = f"color: {RUN_COLOURS[at % len(RUN_COLOURS)]}"
    return htpy.span(style=colour, aria_hidden="true")[SIGNS[MARKS[at % len(MARKS)]]]


def _line(at: int) -> htpy.Element:
    colour = RUN_COLOURS[at % len(RUN_COLOURS)]
    return htpy.span(".line", style=f"background: {dashed(colour, DASHES[at % len(DASHES)])}")


def dashed(colour: str, dashes: Sequence[int]) -> str:
    """Return a line of these dashes and gaps, in pixels, as a style sheet says it.

    >>> dashed("red", [6, 3])
    'repeating-linear-gradient(to right, red 0px 6px, #0000 6px 9px)'
    """
    ends = [0, *accumulate(dashes)]
    parts = [
        f"{'#0000' if at % 2 else colour} {start}px {end}px"
        for at, (start, end) in enumerate(pairwise(ends))
    ]
    return f"repeating-linear-gradient(to right, {', '.join(parts)})"

"""Colours, marks and dashes of charts, which cannot use `labeler.render.tokens`.

Grades have one sequential scale that is readable without colour vision. An unjudged chunk is
hollow. Lines and points have a contrast of 3 to 1 with a light and with a dark background, so no
chart needs to know which one it is on. Each run's colour has its own mark and dash, so runs can be
told apart without colour.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import cycle
from typing import NamedTuple

GRADE_COLOURS = ("#cfd8e1", "#96bfe6", "#4a8fd0", "#2368b5")
RUN_COLOURS = (
    *("#1f77b4", "#c46a00", "#1b8a5a", "#bf5b9c"),
    *("#7a7f87", "#8a7d00", "#9467bd", "#139aa9"),
)
# between the light and the dark colour of runs A and B in tables and pictures
RUN_A_COLOUR, RUN_B_COLOUR = "#8463c4", "#b35806"
MUTED_COLOUR = "#7f8790"  # rules, draws, ungraded parts, and runs other than A and B
MARKS = (
    *("circle", "square", "triangle-up", "diamond"),
    *("cross", "triangle-down", "triangle-left", "triangle-right"),
)
DASHES = (
    *([1, 0], [6, 3], [2, 2], [8, 3, 2, 3]),
    *([12, 4], [4, 6], [12, 3, 2, 3, 2, 3], [6, 2, 6, 6]),
)
SHADE_COLOUR = "#2f7bd0"  # mixed into the page's background, more for a larger value


class LineLook(NamedTuple):
    """How a chart draws a line: its colour, the mark of its points, and its dashes."""

    colour: str
    mark: str
    dash: Sequence[int]


def line_looks(names: Iterable[str], roles: Mapping[str, str] | None = None) -> dict[str, LineLook]:
    """Return the look of each name's line.

    With ``roles``, runs ``a`` and ``b`` look as on every page and all others are grey. Without
    ``roles``, as for buckets, each name has its own colour.

    >>> [look.mark for look in line_looks(["x", "y", "z"], {"y": "b", "z": "a"}).values()]
    ['triangle-up', 'circle', 'square']
    """
    if roles is None:
        each = cycle(zip(RUN_COLOURS, MARKS, DASHES, strict=True))
        return {name: LineLook(*look) for name, look in zip(names, each, strict=False)}
    marks, dashes = cycle(MARKS[2:]), cycle(DASHES[1:])
    named = {
        "a": LineLook(RUN_A_COLOUR, MARKS[1], DASHES[0]),
        "b": LineLook(RUN_B_COLOUR, MARKS[0], DASHES[0]),
    }
    return {
        name: named.get(roles.get(name, "")) or LineLook(MUTED_COLOUR, next(marks), next(dashes))
        for name in names
    }

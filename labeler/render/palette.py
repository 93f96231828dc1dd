"""Colours, marks and dashes of charts, which cannot use `labeler.render.tokens`.

Grades have one sequential scale that is readable without colour vision, and an unjudged chunk
is hollow. Lines and points have a contrast of 3 to 1 with a light background and with a dark
one, so no chart has to ask which it is on. Each run's colour has its own mark and dash, so runs
can be told apart without colour.
"""

from __future__ import annotations

GRADE_COLOURS = ("#cfd8e1", "#96bfe6", "#4a8fd0", "#2368b5")
RUN_COLOURS = (
    *("#1f77b4", "#c46a00", "#1b8a5a", "#bf5b9c"),
    *("#7a7f87", "#8a7d00", "#9467bd", "#139aa9"),
)
MUTED_COLOUR = "#7f8790"  # what is drawn beside: a rule, a draw, what is open, runs beside A and B
MARKS = (
    *("circle", "square", "triangle-up", "diamond"),
    *("cross", "triangle-down", "triangle-left", "triangle-right"),
)
DASHES = (
    *([1, 0], [6, 3], [2, 2], [8, 3, 2, 3]),
    *([12, 4], [4, 6], [12, 3, 2, 3, 2, 3], [6, 2, 6, 6]),
)
SHADE_COLOUR = "#2f7bd0"  # mixed into the page's own ground, more for more

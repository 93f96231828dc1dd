"""The colours and marks every picture shares; the page's own colours are its theme's.

Grades have one sequential scale that stays readable without colour vision, and a hole is hollow.
"""

GRADE_COLOURS = ("#cfd8e1", "#96bfe6", "#4a8fd0", "#2368b5")
A_COLOUR, B_COLOUR = "#7b6bb0", "#d08a1e"
MARKS = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
MEASURE_COLOURS = ("#2474c4", "#b8651b", "#0b8a68", "#a8519b", "#6f6bc0", "#7d7a1f", "#b4483f")
SHADE = "#2f7bd0"  # mixed into the page's own ground, more for more

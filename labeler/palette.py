"""The colours and marks every picture shares; the page's own colours are its theme's.

Grades have one sequential scale that stays readable without colour vision, and a hole is hollow.
"""

GRADE_COLOURS = ("#cfd8e1", "#96bfe6", "#4a8fd0", "#2368b5")
A_COLOUR, B_COLOUR = "#7b6bb0", "#d08a1e"
FURTHER_COLOUR = "#7d8894"
"""Of runs beside A and B: their letters tell them apart."""
MARKS = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")

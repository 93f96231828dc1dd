"""Colour tokens of all pages, light and dark, as CSS variables.

Streamlit's theme repeats four of these colours; a test compares them. A component in a shadow tree
inherits the variables. Vega draws with `labeler.render.palette`.
"""

from __future__ import annotations

from collections.abc import Mapping

LIGHT: Mapping[str, str] = {
    "bg": "#fbfbfa",  # the page
    "card": "#ffffff",  # header, passage, controls
    "soft": "#f1f3f5",  # under the pointer
    "ink": "#1a1e23",
    "muted": "#5a626c",  # secondary text, 4.5 to 1 or better on all three
    "line": "#e2e5e8",  # between rows
    "line2": "#838c97",  # borders of controls, axes, unjudged chunks: 3 to 1 or better
    "accent": "#175a9e",  # links, primary button, active page
    "on-accent": "#ffffff",
    "accent-soft": "#e6eff8",
    "run-a": "#5e3c99",
    "run-b": "#b35806",
    # the further from the background, the more relevant
    "grade-0": "#e7ebef",
    "grade-1": "#bdd7ee",
    "grade-2": "#6aaadd",
    "grade-3": "#175a9e",
    "on-grade-0": "#4a525b",
    "on-grade-1": "#17324d",
    "on-grade-2": "#0d1d2e",
    "on-grade-3": "#ffffff",
    "marked": "#fdeec2",  # words that somebody marked
}
DARK: Mapping[str, str] = {
    "bg": "#121518",
    "card": "#1a1e22",
    "soft": "#21262b",
    "ink": "#e9ecef",
    "muted": "#a4adb7",
    "line": "#2b3137",
    "line2": "#6f7984",
    "accent": "#84b9ee",
    "on-accent": "#0d1620",
    "accent-soft": "#1b2b3c",
    "run-a": "#b7a1e6",
    "run-b": "#eb9f4e",
    "grade-0": "#2a3036",
    "grade-1": "#24476a",
    "grade-2": "#4285c4",
    "grade-3": "#a9d2f8",
    "on-grade-0": "#b3bcc6",
    "on-grade-1": "#d5e7f9",
    "on-grade-2": "#06111d",
    "on-grade-3": "#0b1a29",
    "marked": "#4b3d12",
}

GRADE_FILLS = tuple(f"var(--grade-{grade})" for grade in range(4))
GRADE_INKS = tuple(f"var(--on-grade-{grade})" for grade in range(4))
RUN_A, RUN_B, BESIDE = "var(--run-a)", "var(--run-b)", "var(--line2)"

# Streamlit marks .stApp as light or dark. What it draws outside .stApp follows the operating
# system, as these tokens do.
TOKENS_CSS = (
    ":root { color-scheme: light dark; "
    + " ".join(f"--{name}: light-dark({LIGHT[name]}, {DARK[name]});" for name in LIGHT)
    + " }\n"
)

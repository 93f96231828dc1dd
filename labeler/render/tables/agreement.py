"""Confusion matrix of two graders, or of all pairs of graders."""

from __future__ import annotations

from collections.abc import Sequence

import htpy

from labeler.evaluation import format_share
from labeler.render.markup import style
from labeler.render.palette import SHADE_COLOUR
from labeler.render.tables.html_table import TABLE_STYLE, head, html_table

MOST_SHADE = 55  # per cent: text stays readable on it, in the light and the dark theme
CONFUSION_STYLE = style(
    """
.confusion table { width: auto; }
.confusion th, .confusion td { padding: 0.3rem 0.6rem; vertical-align: middle; }
.confusion thead th { white-space: normal; text-align: center; max-width: 8rem; }
.confusion tbody th { text-align: left; white-space: normal; max-width: 14rem;
    overflow-wrap: anywhere; }
.confusion tbody td { min-width: 4.6rem; text-align: center; border: 1px solid transparent;
  background: color-mix(in srgb, var(--shade) calc(var(--share) * 1%), transparent); }
.confusion tbody td.same { outline: 2px solid currentColor; outline-offset: -3px; }
.confusion tbody td.none { color: color-mix(in srgb, currentColor 68%, transparent); }
.confusion tbody td.rest { background: none; }
.confusion caption { overflow-wrap: anywhere; font-weight: 400; }
@media (max-width: 40rem) {
  .confusion .word { display: none; }
  .confusion th, .confusion td { padding: 0.3rem; }
  .confusion tbody td { min-width: 3.4rem; }
}
"""
    + f".confusion {{ --shade: {SHADE_COLOUR}; }}"
)


def confusion_matrix(
    table: Sequence[Sequence[int]], words: Sequence[str], down: str, across: str
) -> htpy.Fragment:
    """Return a confusion matrix: a row for each grade ``down`` gave, a column for ``across``'s.

    A cell is darker if it holds a larger share of its row, so rare grades are as easy to read as
    frequent ones. ``words`` are the names of the grades.
    """
    grades = [
        htpy.fragment[f"{grade} ", htpy.span(".word")[word]] for grade, word in enumerate(words)
    ]
    body = [
        htpy.tr[
            htpy.th(scope="row")[name],
            [_confusion_cell(count, sum(row), at == place) for place, count in enumerate(row)],
            htpy.td(".rest")[f"{sum(row):,}"],
        ]
        for at, (name, row) in enumerate(zip(grades, table, strict=True))
    ]
    heads = [head("grade", words=True), *map(head, grades), head("all")]
    caption = htpy.fragment["Rows: ", htpy.bdi[down], ". Columns: ", htpy.bdi[across], "."]
    look, classes = [TABLE_STYLE, CONFUSION_STYLE], "sheet confusion"
    return html_table(look, classes, heads, body, label="Confusion matrix", caption=caption)


def _confusion_cell(count: int, of: int, is_same: bool) -> htpy.Element:
    share = MOST_SHADE * count / of if of else 0.0
    under = htpy.small[format_share(count, of)] if count else None
    classes = {"same": is_same, "none": not count}
    return htpy.td(class_=classes, style=f"--share: {share:.1f}")[f"{count:,}", under]

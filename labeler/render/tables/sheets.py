"""A sheet: rows of words and numbers; what they mean is the page's business."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import htpy

from labeler.render.markup import style
from labeler.render.tables.shared import SHEET, framed, head, small

LOOK = style("""
.sheet.review th, .sheet.review td { padding: 0.38rem 0.55rem; font-size: 0.93rem; }
.sheet.review th.words, .sheet.review td.words { min-width: 6rem; max-width: 26rem; }
.sheet.review thead th { white-space: normal; }
.sheet.review td.words { white-space: pre-line; }
.sheet.review.short table { width: auto; }
""")


class Said(NamedTuple):
    """A cell of text: what it says, a smaller line under it, and where a click leads."""

    text: str
    under: str = ""
    link: str = ""


Cell = Said | htpy.Element | str | int | None
"""What a table shows: words and drawings to the left, numbers and what looks like one right."""


def sheet(
    headings: Sequence[str],
    rows: Sequence[Sequence[Cell]],
    total: Sequence[Cell] | None = None,
    ids: Sequence[str] | None = None,
) -> htpy.Fragment:
    """Return rows as a table; ``total`` stands at its foot. ``ids`` are what links name rows by."""
    worded = [
        any(isinstance(row[at], Said | htpy.Element) for row in rows) for at in range(len(headings))
    ]
    heads = [head(name, words=words) for name, words in zip(headings, worded, strict=True)]
    named = [None] * len(rows) if ids is None else ids
    body = [htpy.tr(id=name)[_cells(row, worded)] for name, row in zip(named, rows, strict=True)]
    if total is not None:
        body.append(htpy.tr(".total")[_cells(total, worded)])
    short = " short" if len(headings) < 3 else ""
    return framed([SHEET, LOOK], f"sheet review{short}", heads, body)


def _cells(row: Sequence[Cell], worded: Sequence[bool]) -> list[htpy.Element]:
    return [
        htpy.td(class_={"words": words})[_inside(cell)]
        for cell, words in zip(row, worded, strict=True)
    ]


def _inside(cell: Cell) -> htpy.Node:
    if cell is None:
        return "–"
    if isinstance(cell, Said):
        text = htpy.a(href=cell.link)[cell.text] if cell.link else cell.text
        return text, small(cell.under)
    return f"{cell:,}" if isinstance(cell, int) else cell

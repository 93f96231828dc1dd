"""Cells and tables as text: rounded values, aligned columns for a terminal, and Markdown.

Markdown's markup is escaped, so that a name is shown as it is.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from labeler.analysis.comparison import format_p_value
from labeler.evaluation import format_number, format_signed
from labeler.model.results import (
    COUNT,
    FIGURE,
    NUMBER,
    P_VALUE,
    RANGE,
    SIGNED,
    SIGNED_FIGURE,
    SIGNED_RANGE,
    TEXT,
    Column,
)

NOTHING = "–"

# What Markdown may read as markup. An underscore inside a word, as in run names, is not markup.
_MARKS = re.compile(r"[`*\[\]<>|~&]|_(?!\w)|(?<!\w)_|:(?=//)|\\(?=[!-/:-@\[-`{-~])")


@dataclass(frozen=True, slots=True)
class CellTable:
    """Cells for people: the headings of names, those of numbers, and the lines under them."""

    names: list[str]
    numbers: list[str]
    body: list[list[str]]

    @property
    def rows(self) -> list[list[str]]:
        """The headings and the lines under them."""
        return [self.names + self.numbers, *self.body]

    @property
    def are_words(self) -> list[bool]:
        """Whether each column has words, which are aligned to the left."""
        return [True] * len(self.names) + [False] * len(self.numbers)


def text_lines(table: CellTable) -> list[str]:
    """Return the lines of a table for a terminal: names to the left, numbers to the right."""
    return align_cells(table.rows, table.are_words)


def markdown_lines(table: CellTable) -> list[str]:
    """Return the lines of a Markdown table."""
    return markdown_rows(table.rows, table.are_words)


def align_cells(rows: Sequence[Sequence[str]], are_words: Sequence[bool]) -> list[str]:
    """Return rows with aligned columns, words to the left and numbers to the right.

    >>> align_cells([["run", "n"], ["bm25", "12"]], [True, False])
    ['run    n', 'bm25  12']
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    aligned = [str.ljust if words else str.rjust for words in are_words]
    return [
        "  ".join(align(c, w) for align, c, w in zip(aligned, cells, widths, strict=True)).rstrip()
        for cells in rows
    ]


def markdown_rows(rows: Sequence[Sequence[str]], are_words: Sequence[bool]) -> list[str]:
    """Return rows, the headings first, as the lines of a Markdown table."""
    heads, *body = rows
    rule = ["---" if words else "---:" for words in are_words]
    return [f"| {' | '.join(map(in_markdown, cells))} |" for cells in [heads, rule, *body]]


def in_markdown(text: str) -> str:
    r"""Return a text that Markdown shows as it is: no image, no link, no emphasis, no column.

    >>> in_markdown("![x](http://a.example)"), in_markdown("bm25_v2 | a_*b*")
    ('!&#91;x&#93;(http&#58;//a.example)', 'bm25_v2 &#124; a&#95;&#42;b&#42;')
    """
    return _MARKS.sub(lambda found: f"&#{ord(found[0])};", text)


def in_label(text: str) -> str:
    r"""Return a text that a button's label shows as it is; labels read colours and formulas, too.

    >>> in_label(":red[x] $y$")
    '\\:red\\[x\\] \\$y\\$'
    """
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", text)


def format_cell(column: Column, row: Mapping[str, Any]) -> str:
    """Return a cell as text: a number rounded, a missing value as a dash.

    >>> row = {"value": 0.60114, "lo": -0.1, "hi": 0.25, "p": 2**-17, "n": 1200, "why": None}
    >>> format_cell(Column("value", format=NUMBER), row), format_cell(Column("why"), row)
    ('0.6011', '–')
    >>> format_cell(Column("ci", format=SIGNED_RANGE, parts=("lo", "hi")), row)
    '−0.1000 to +0.2500'
    >>> format_cell(Column("p", format=P_VALUE), row), format_cell(Column("n", format=COUNT), row)
    ('<0.0001', '1,200')
    >>> format_cell(Column("share", show=lambda row: f"{row['lo']:.0%}"), row)
    '-10%'
    """
    if column.show is not None:
        return column.show(row)
    values = [row[name] for name in column.names]
    if any(is_missing(value) for value in values):
        return NOTHING
    return " to ".join(map(_FORMATTERS[column.format], values))


def format_figure(value: float) -> str:
    """Return a value of any scale with four digits, or as a whole number if it is large.

    >>> [format_figure(value) for value in (0.034567, 0.411, 0.00012, 3.25, 1200.5)]
    ['0.0346', '0.4110', '0.00012', '3.25', '1,200']
    """
    size = abs(value)
    if size >= 1000:
        return f"{value:,.0f}"
    return f"{value:.4f}" if 0.001 <= size <= 1 or not value else f"{value:.4g}"


def _format_value(value: float) -> str:
    """Return a number with a true minus sign in place of a hyphen."""
    return format_number(value).replace("-", "−")


def _format_signed_figure(value: float) -> str:
    shown = format_figure(abs(value))
    return shown if not value else f"{'−' if value < 0 else '+'}{shown}"


_FORMATTERS: Mapping[str, Callable[[Any], str]] = {
    TEXT: str,
    NUMBER: _format_value,
    SIGNED: format_signed,
    COUNT: "{:,}".format,
    P_VALUE: format_p_value,
    RANGE: _format_value,
    SIGNED_RANGE: format_signed,
    FIGURE: format_figure,
    SIGNED_FIGURE: _format_signed_figure,
}


def is_missing(value: object) -> bool:
    """Whether a cell has nothing to show."""
    return value is None or value == "" or (isinstance(value, float) and math.isnan(value))

"""Results as text: a `Table` and its `Statement`s for a terminal, Markdown, and programs.

Names of runs, systems and buckets are hostile input: control characters are escaped for terminals,
and markup for Markdown. HTML is in `labeler.render.tables.results`. CSV and JSON are made from
`Table.records` and `statements_records`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from labeler.model import escape_controls
from labeler.model.results import ANSWER, CAUTION, TEXT, Statement, Table, by_severity
from labeler.render.text import (
    align_cells,
    format_cell,
    in_markdown,
    is_missing,
    markdown_rows,
)


def text_table(table: Table, *, details: bool = False) -> list[str]:
    """Return the lines of a table for a terminal: texts to the left, numbers to the right."""
    return align_cells(*_printed_cells(table, details=details))


def markdown_table(table: Table, *, details: bool = False) -> list[str]:
    """Return the lines of a Markdown table."""
    return markdown_rows(*_printed_cells(table, details=details))


def _printed_cells(table: Table, *, details: bool) -> tuple[list[list[str]], list[bool]]:
    """Return the headings and rows without control characters, and which columns hold words."""
    columns = table.shown(details=details)
    heads = [each.title for each in columns]
    body = [[format_cell(column, row) for column in columns] for row in table.rows]
    rows = [[escape_controls(cell) for cell in cells] for cells in [heads, *body]]
    return rows, [each.format == TEXT for each in columns]


def statements_text(statements: Sequence[Statement]) -> list[str]:
    """Return a line for each statement, the answer first; cautions have an exclamation mark.

    >>> statements_text([Statement("n", "n is small.", CAUTION), Statement("a", "A is better.",
    ...     ANSWER), Statement("g", "Every grader agrees.", "doubt", "Graders")])
    ['A is better.', 'Graders: Every grader agrees.', '! n is small.']
    """
    return [
        escape_controls(f"! {each.line}" if each.severity == CAUTION else each.line)
        for each in by_severity(statements)
    ]


def statements_markdown(statements: Sequence[Statement]) -> list[str]:
    """Return the lines of statements in Markdown: the answer in bold, then a list.

    >>> statements_markdown([Statement("a", "A is better.", ANSWER),
    ...     Statement("g", "Every grader agrees.", "doubt", "Graders")])
    ['**A is better.**', '', '- **Graders:** Every grader agrees.']
    """
    lines = []
    for at, each in enumerate(by_severity(statements)):
        sentence = _markdown_text(each.sentence)
        heading = f"**{_markdown_text(each.heading)}:** " if each.heading else ""
        if not at and each.severity == ANSWER:
            lines += [f"**{_markdown_text(each.line)}**", ""]
        else:
            lines.append(f"- {'! ' * (each.severity == CAUTION)}{heading}{sentence}")
    return lines if not lines or lines[-1] else lines[:-1]


def _markdown_text(text: str) -> str:
    return in_markdown(escape_controls(text))


def statements_records(statements: Sequence[Statement]) -> list[dict[str, Any]]:
    """Return statements for programs, the answer first; a missing number is None.

    >>> ahead = Statement("ahead", "A is ahead.", numbers={"p": float("nan")})
    >>> [ahead] = statements_records([ahead])
    >>> ahead["text"], ahead["severity"], ahead["numbers"]
    ('A is ahead.', 'note', {'p': None})
    """
    return [
        {
            "kind": each.kind,
            "severity": each.severity,
            "heading": each.heading,
            "text": each.sentence,
            "numbers": {
                name: None if is_missing(value) else value for name, value in each.numbers.items()
            },
        }
        for each in by_severity(statements)
    ]

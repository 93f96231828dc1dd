"""Results for each output: a `Table` and its `Statement`s as text, Markdown, CSV, JSON and HTML.

Names of runs, systems and buckets are hostile input: control characters are escaped for terminals,
marks for Markdown, formulas for spreadsheets, and HTML everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import htpy

from labeler.analysis.comparison import format_p_value
from labeler.evaluation import format_number, format_signed
from labeler.formats import csv_tables, json_records
from labeler.model import escape_controls
from labeler.model.results import (
    ANSWER,
    CAUTION,
    COUNT,
    NOTE,
    NUMBER,
    P_VALUE,
    RANGE,
    SEVERITIES,
    SIGNED,
    SIGNED_RANGE,
    TEXT,
    Column,
    Statement,
    Table,
)
from labeler.render.markup import style
from labeler.render.tables.html_table import TABLE_STYLE, head, html_table, run_name, small_line
from labeler.render.text import align_cells, in_markdown, markdown_rows

NOTHING = "–"
NO_NAMES: Mapping[str, Any] = MappingProxyType({})

STATEMENTS_STYLE = style("""
.statements { display: grid; gap: 0.4rem; overflow-x: clip; }
.statements p { margin: 0; line-height: 1.35; overflow-wrap: anywhere; font-size: 0.95rem; }
.statements b { font-weight: 600; }
.statements .headline { font-size: 1.15rem; font-weight: 600; }
.statements .aside { font-size: 0.82rem; line-height: 1.4;
    color: color-mix(in srgb, currentColor 72%, transparent); }
.statements a { color: inherit; text-decoration: underline; text-underline-offset: 0.15em; }
""")


# --- Cells and tables -------------------------------------------------------------------------


def format_cell(column: Column, row: Mapping[str, Any]) -> str:
    """Return a cell as people see it: rounded, and a dash where there is nothing.

    >>> row = {"value": 0.60114, "lo": -0.1, "hi": 0.25, "p": 2**-17, "n": 1200, "why": None}
    >>> format_cell(Column("value", format=NUMBER), row), format_cell(Column("why"), row)
    ('0.6011', '–')
    >>> format_cell(Column("ci", format=SIGNED_RANGE, parts=("lo", "hi")), row)
    '−0.1000 to +0.2500'
    >>> format_cell(Column("p", format=P_VALUE), row), format_cell(Column("n", format=COUNT), row)
    ('<0.0001', '1,200')
    """
    values = [row[name] for name in column.names]
    if any(_is_missing(value) for value in values):
        return NOTHING
    return " to ".join(map(_FORMATTERS[column.format], values))


_FORMATTERS: Mapping[str, Callable[[Any], str]] = {
    TEXT: str,
    NUMBER: format_number,
    SIGNED: format_signed,
    COUNT: "{:,}".format,
    P_VALUE: format_p_value,
    RANGE: format_number,
    SIGNED_RANGE: format_signed,
}


def _is_missing(value: object) -> bool:
    return value is None or value == "" or (isinstance(value, float) and math.isnan(value))


def text_table(table: Table, *, details: bool = False) -> list[str]:
    """Return the lines of a table for a terminal: texts to the left, numbers to the right."""
    return align_cells(*_printed_cells(table, details=details))


def markdown_table(table: Table, *, details: bool = False) -> list[str]:
    """Return the lines of a Markdown table."""
    return markdown_rows(*_printed_cells(table, details=details))


def _printed_cells(table: Table, *, details: bool) -> tuple[list[list[str]], list[bool]]:
    """Return the headings and rows without control characters, and which columns are words."""
    columns = table.shown(details=details)
    heads = [each.title for each in columns]
    body = [[format_cell(column, row) for column in columns] for row in table.rows]
    rows = [[escape_controls(cell) for cell in cells] for cells in [heads, *body]]
    return rows, [each.format == TEXT for each in columns]


def table_as_csv(table: Table, *, raw: bool = False) -> str:
    """Return a table as CSV with every digit and no cell that a spreadsheet runs.

    With ``raw`` texts are unchanged: for programs, never for a spreadsheet.
    """
    return csv_tables.as_csv(table.records(), raw=raw)


def table_as_json(table: Table) -> str:
    """Return a table as a JSON list of rows with every digit; what is missing is null."""
    return json_records.as_json(table.records())


def html_table_of(
    table: Table,
    *,
    label: str,
    details: bool = False,
    row_head: str = "",
    lead: str = "",
    under: Mapping[str, Sequence[str]] = NO_NAMES,
    hover: Mapping[str, str] = NO_NAMES,
    short: Mapping[str, str] = NO_NAMES,
    classes: str = "",
) -> htpy.Fragment:
    """Return a table for a page; a column's help appears where one hovers over its heading.

    ``row_head`` names the column that says what a row is, by default the first, and ``lead`` the
    one that matters most. ``under`` are columns shown in small below another's value, by its name;
    ``hover`` a value shown where one hovers over another. ``short`` are short names of runs.
    """
    beneath = {name for names in under.values() for name in names}
    shown = table.shown(details=details)
    by_name = {column.name: column for column in shown}
    columns = [column for column in shown if column.name not in beneath]
    below = {
        column.name: [by_name[name] for name in under.get(column.name, ()) if name in by_name]
        for column in columns
    }
    first = row_head or (columns[0].name if columns else "")

    def cell(column: Column, row: Mapping[str, Any]) -> htpy.Element:
        element, scope = (htpy.th, "row") if column.name == first else (htpy.td, None)
        look = {"words": column.format == TEXT, "lead": column.name == lead}
        title = row.get(hover[column.name]) if column.name in hover else None
        lines = [_under_cell(each, row) for each in below[column.name]]
        return element(scope=scope, class_=look, title=title)[_cell_node(column, row, short), lines]

    heads = [
        head(
            column.title,
            ", ".join(filter(None, [column.unit, *(each.title for each in below[column.name])])),
            title=column.help or None,
            words=column.format == TEXT,
        )
        for column in columns
    ]
    rows = (htpy.tr[[cell(column, row) for column in columns]] for row in table.rows)
    return html_table(TABLE_STYLE, f"sheet {classes}".strip(), heads, rows, label=label)


def _cell_node(column: Column, row: Mapping[str, Any], short: Mapping[str, str]) -> htpy.Node:
    """Return a cell's content; a text is set apart, as its letters may run the other way."""
    text = format_cell(column, row)
    return run_name(text, short) if column.format == TEXT and text != NOTHING else text


def _under_cell(column: Column, row: Mapping[str, Any]) -> htpy.Element | None:
    text = format_cell(column, row)
    if text == NOTHING:
        return None
    return htpy.small[htpy.bdi[text]] if column.format == TEXT else small_line(text)


# --- Statements -------------------------------------------------------------------------------


def _in_order(statements: Sequence[Statement]) -> list[Statement]:
    """Return answers first, then doubts, cautions and notes."""
    return sorted(statements, key=lambda each: SEVERITIES.index(each.severity))


def statements_text(statements: Sequence[Statement]) -> list[str]:
    """Return a line for each statement, the answer first; cautions have an exclamation mark.

    >>> statements_text([Statement("n", "n is small.", CAUTION), Statement("a", "A is better.",
    ...     ANSWER), Statement("g", "Every grader agrees.", "doubt", "Graders")])
    ['A is better.', 'Graders: Every grader agrees.', '! n is small.']
    """
    return [
        escape_controls(f"! {each.line}" if each.severity == CAUTION else each.line)
        for each in _in_order(statements)
    ]


def statements_markdown(statements: Sequence[Statement]) -> list[str]:
    """Return the lines of statements in Markdown: the answer in bold, then a list.

    >>> statements_markdown([Statement("a", "A is better.", ANSWER),
    ...     Statement("g", "Every grader agrees.", "doubt", "Graders")])
    ['**A is better.**', '', '- **Graders:** Every grader agrees.']
    """
    lines = []
    for at, each in enumerate(_in_order(statements)):
        sentence = _markdown_text(each.sentence)
        heading = f"**{_markdown_text(each.heading)}:** " if each.heading else ""
        if not at and each.severity == ANSWER:
            lines += [f"**{_markdown_text(each.line)}**", ""]
        else:
            lines.append(f"- {'! ' * (each.severity == CAUTION)}{heading}{sentence}")
    return lines if not lines or lines[-1] else lines[:-1]


def _markdown_text(text: str) -> str:
    return in_markdown(escape_controls(text))


def statements_html(
    statements: Sequence[Statement], link: Callable[[Mapping[str, str]], str] | None = None
) -> htpy.Fragment:
    """Return statements for a page: the answer large, each doubt under its heading, notes small.

    With ``link``, which returns the address of a target, a statement that has a target leads
    there.
    """
    shown = [
        htpy.p(class_=_look(each, at))[
            "! " if each.severity == CAUTION else None,
            (htpy.b[each.heading], " ") if each.heading else None,
            _sentence_node(each, link),
        ]
        for at, each in enumerate(_in_order(statements))
    ]
    return htpy.fragment[STATEMENTS_STYLE, htpy.div(".statements")[shown] if shown else None]


def _look(statement: Statement, at: int) -> str | None:
    """Return the class of a statement's paragraph; ``at`` is its place, from 0."""
    if statement.severity == ANSWER and not at:
        return "headline"
    return "aside" if statement.severity == NOTE else None


def _sentence_node(
    statement: Statement, link: Callable[[Mapping[str, str]], str] | None
) -> htpy.Node:
    if link is None or statement.target is None:
        return statement.sentence
    return htpy.a(href=link(statement.target), target="_self")[statement.sentence]


def statements_records(statements: Sequence[Statement]) -> list[dict[str, Any]]:
    """Return statements for programs, the answer first; a missing number is None.

    >>> [ahead] = statements_records([Statement("ahead", "A is ahead.", numbers={"p": math.nan})])
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
                name: None if _is_missing(value) else value for name, value in each.numbers.items()
            },
        }
        for each in _in_order(statements)
    ]

"""Results on a page: a `Table` and its `Statement`s as HTML, whose text is escaped."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import htpy

from labeler.model.results import ANSWER, CAUTION, NOTE, TEXT, Column, Statement, Table, by_severity
from labeler.render.markup import style
from labeler.render.tables.html_table import TABLE_STYLE, head, html_table, run_name, small_line
from labeler.render.text import NOTHING, format_cell

NO_NAMES: Mapping[str, Any] = MappingProxyType({})

STATEMENTS_STYLE = style("""
.statements { display: grid; gap: 0.4rem; overflow-x: clip; }
.statements p { margin: 0; max-width: 50rem; line-height: 1.35; font-size: 0.95rem;
    overflow-wrap: anywhere; }
.statements b { font-weight: 600; }
.statements .headline { font-size: 1.15rem; font-weight: 600; }
.statements .aside { font-size: 0.82rem; line-height: 1.4;
    color: color-mix(in srgb, currentColor 72%, transparent); }
.statements a { color: inherit; text-decoration: underline; text-underline-offset: 0.15em; }
""")
RESULT_STYLE = style("""
.sheet.result td.words { min-width: 15rem; }
@media (max-width: 72rem) {
    .sheet.result th, .sheet.result td { padding-inline: 0.5rem; }
}
@media (max-width: 40rem) {
    .sheet.result th, .sheet.result td { padding-inline: 0.35rem; font-size: 0.9rem; }
    .sheet.result thead th { white-space: normal; }
    .sheet.result th.words { min-width: 5rem; overflow-wrap: break-word; }
}
""")
"""A phone has room for two means and their difference, a tablet for all columns."""


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
    links: Mapping[str, Callable[[Mapping[str, Any]], str]] = NO_NAMES,
    classes: str = "",
) -> htpy.Fragment:
    """Return a table for a page; hovering over a heading shows the column's help.

    ``row_head`` is the column that names the rows, by default the first. ``lead`` is the most
    important column. ``under`` lists, by column, the columns that are shown in small below its
    value; ``hover`` names, by column, the one that is shown on hover. ``short`` are short names of
    runs. ``links`` return, by column, the address that a row's value links to, "" for none.
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
        node = _cell_node(column, row, short)
        if column.name in links and (address := links[column.name](row)):
            node = htpy.a(href=address, target="_self")[node]
        return element(scope=scope, class_=look, title=title)[node, lines]

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
    look = (TABLE_STYLE, RESULT_STYLE)
    return html_table(look, f"sheet result {classes}".rstrip(), heads, rows, label=label)


def _cell_node(column: Column, row: Mapping[str, Any], short: Mapping[str, str]) -> htpy.Node:
    """Return a cell's content; a text's direction is isolated, as it may run from right to left."""
    text = format_cell(column, row)
    return run_name(text, short) if column.format == TEXT and text != NOTHING else text


def _under_cell(column: Column, row: Mapping[str, Any]) -> htpy.Element | None:
    text = format_cell(column, row)
    if text == NOTHING:
        return None
    return htpy.small[htpy.bdi[text]] if column.format == TEXT else small_line(text)


def statements_html(
    statements: Sequence[Statement], link: Callable[[Mapping[str, str]], str] | None = None
) -> htpy.Fragment:
    """Return statements for a page: the answer large, each doubt under its heading, notes small.

    ``link`` returns the address of a target; with it, a statement that has a target links there.
    """
    shown = [
        htpy.p(class_=_look(each, at))[
            "! " if each.severity == CAUTION else None,
            (htpy.b[each.heading], " ") if each.heading else None,
            _sentence_node(each, link),
        ]
        for at, each in enumerate(by_severity(statements))
    ]
    return htpy.fragment[STATEMENTS_STYLE, htpy.div(".statements")[shown] if shown else None]


def _look(statement: Statement, at: int) -> str | None:
    """Return the CSS class of a statement's paragraph; ``at`` is its place, from 0."""
    if statement.severity == ANSWER and not at:
        return "headline"
    return "aside" if statement.severity == NOTE else None


def _sentence_node(
    statement: Statement, link: Callable[[Mapping[str, str]], str] | None
) -> htpy.Node:
    if link is None or statement.target is None:
        return statement.sentence
    return htpy.a(href=link(statement.target), target="_self")[statement.sentence]

"""Cells that a spreadsheet would run as a formula: made harmless, and made whole again."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

from labeler.formats.records import Record

CSV_COLUMNS = ("query", "docid", "rating", "query_text", "graders", "note")
CSV_COLUMNS_OF_CHUNKINGS = (*CSV_COLUMNS, "chunking")
"""The same where a grade is of a chunking that has a name."""

_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?", re.ASCII)
# A cell that only looks neutralised gets one more apostrophe, so that none is lost on the way back.
_RUNS = re.compile("'*[=+\\-@\t\r\n＝＋－＠]")
_NEUTRALISED = re.compile("'+[=+\\-@\t\r\n＝＋－＠]")


def neutralised(text: str) -> str:
    """Return a cell that no spreadsheet runs: an apostrophe goes before what starts a formula.

    >>> neutralised("=1+1"), neutralised("-3"), neutralised("3-1")
    ("'=1+1", '-3', '3-1')
    """
    if _RUNS.match(text) and not _NUMBER.fullmatch(text):
        return f"'{text}"
    return text


def as_csv(rows: Iterable[Mapping[Any, object]], *, raw: bool = False) -> str:
    """Return rows as one table with a header: every digit, and no cell that a spreadsheet runs.

    A cell is empty where a value is NaN or None, or where a row has not the column; one that a
    later row is the first to have stands where that row has it. With ``raw`` texts stay as they
    are: for programs, never for a spreadsheet.

    >>> as_csv([{"run": "=1+1", "value": 0.1 + 0.2}, {"run": "b", "n": 3, "value": math.nan}])
    "run,n,value\\n'=1+1,,0.30000000000000004\\nb,3,\\n"
    """
    records = list(rows)
    columns: list[Any] = []
    for names in dict.fromkeys(tuple(record) for record in records):
        at = 0
        for name in names:
            if name not in columns:
                columns.insert(at, name)
            at = columns.index(name) + 1
    lines = [_line(columns if raw else map(neutralised, columns))]
    lines += (_line(_cell(record.get(name), raw=raw) for name in columns) for record in records)
    return "".join(lines) if columns else "\n"


def _line(cells: Iterable[object]) -> str:
    """Return cells as a line; csv.writer leaves a carriage return bare, at which a row ends."""
    line = ",".join("" if each is None else cell(str(each)) for each in cells)
    return (line or '""') + "\n"


def _cell(value: object, *, raw: bool) -> object:
    if isinstance(value, str):
        return value if raw else neutralised(value)
    return None if isinstance(value, float) and math.isnan(value) else value


def revived(record: Record) -> Record:
    """Return a record of our own CSV with its cells as they were before `neutralised`."""
    return {
        key: value[1:] if isinstance(value, str) and _NEUTRALISED.match(value) else value
        for key, value in record.items()
    }


def cell(text: str, separator: str = ",") -> str:
    """Return a text as one cell, in quotes where it must be."""
    if any(letter in text for letter in (separator, '"', "\r", "\n")):
        return '"' + text.replace('"', '""') + '"'
    return text

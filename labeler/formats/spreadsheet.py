"""Cells that a spreadsheet would run as a formula: made harmless, and made whole again."""

from __future__ import annotations

import re

from labeler.formats.records import Record

CSV_COLUMNS = ("query", "docid", "rating", "query_text", "graders", "note")

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

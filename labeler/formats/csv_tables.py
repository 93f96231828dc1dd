"""CSV and TSV tables: reading rows with exact line numbers, writing CSV text.

Columns are matched by name, whatever their order or case. In the CSV we write, a cell that a
spreadsheet would run as a formula gets an apostrophe in front; reading that CSV removes it again.
"""

from __future__ import annotations

import csv
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from labeler.errors import BadInput
from labeler.formats.field_aliases import fold_name
from labeler.formats.json_records import Record, Records, format_keys, or_list
from labeler.formats.lines import InputFile, Lines, decode, peek_line
from labeler.model import format_count

WantedColumns: TypeAlias = Mapping[str, Sequence[str]]

_LONGEST_CELL = 2**31 - 1
_MOST_SHOWN = 12  # columns of a header that is proposed
_A_NUMBER = re.compile(rb"(^|[\s,;])[-+.]?\d")
_CSV_ERRORS = {
    "unexpected end": "a quote that opens in this record is never closed",
    "expected after": 'a quote inside a quoted cell must be doubled ("")',
    "new-line": "a cell holds a lone carriage return; put the cell in quotes",
}


def read_table(
    source: InputFile, lines: Lines, wanted: WantedColumns, others: Sequence[str] = ()
) -> Records:
    """Yield the rows of a CSV or TSV file as records; blank cells are left out."""
    number, first, lines = peek_line(source, lines)
    separator = _separator(source, number, decode(source, number, first))
    rows = numbered_rows(source, lines, separator)
    number, cells = next(rows, (number, []))
    with source.at(number):
        header = _header(cells, wanted, others, separator)
    return _row_records(source, header, rows)


def _separator(source: InputFile, number: int, header: str) -> str:
    for separator in "\t,":
        if separator in header:
            return separator
    if ";" in header:
        raise source.fail(
            number, "the columns are separated by semicolons; save with commas or tabs"
        )
    return ","


def numbered_rows(
    source: InputFile, lines: Lines, separator: str
) -> Iterator[tuple[int, list[str]]]:
    """Yield each row of CSV or TSV that is not blank with the number of its first line."""
    # csv allows 128 KB per cell, less than a long chunk; the setting exists only per process.
    csv.field_size_limit(_LONGEST_CELL)
    row = _Row(source, lines)
    reader = csv.reader(row.texts(), delimiter=separator, strict=True)
    while True:
        row.begin(start := reader.line_num + 1)
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            advice = (why for part, why in _CSV_ERRORS.items() if part in str(error))
            raise source.fail(start, next(advice, str(error))) from error
        if any(cell.strip() for cell in cells):
            if row.size > source.limits.text:
                with source.at(start):
                    for cell in cells:
                        source.limits.check_text(cell)
            yield start, cells


class _Row:
    """A row while it is read, with a limit: an unclosed quote could make it as long as the file."""

    def __init__(self, source: InputFile, lines: Lines) -> None:
        self._source, self._lines = source, lines
        self._start = self.size = 0

    def begin(self, start: int) -> None:
        """Start a row on the line ``start``."""
        self._start, self.size = start, 0

    def texts(self) -> Iterator[str]:
        """Yield the lines as texts; raises `BadInput` where the row becomes too long."""
        limits = self._source.limits
        for number, raw in self._lines:
            self.size += len(raw)
            if self.size > limits.line + 2:  # the line's end does not count
                message = limits.over("line", None, "the row that begins here")
                raise self._source.fail(self._start, message)
            yield decode(self._source, number, raw)


def header_names(cells: Sequence[str], known: Sequence[str]) -> list[str]:
    """Return a header's names, ``known`` ones in their known spelling, ignoring case."""
    spelling = {fold_name(name): name for name in reversed(known)}
    return [spelling.get(fold_name(cell), cell.strip()) for cell in cells]


def is_header(first: bytes, *wanted: Sequence[str]) -> bool:
    """Return whether a line has one name of each ``wanted`` group, with any separator."""
    known = [name for names in wanted for name in names]
    text = first.decode(errors="replace").replace('"', "")
    rows = [set(header_names(text.split(separator), known)) for separator in "\t,;"]
    return any(all(row & set(names) for names in wanted) for row in rows)


def begins_table(first: bytes, *wanted: Sequence[str]) -> bool:
    """Return whether a line is a header; where it lacks a column, the reader of tables says so."""
    one = any(is_header(first, names) for names in wanted)
    return is_header(first, *wanted) or (one and not _A_NUMBER.search(first))


def _header(
    cells: Sequence[str], wanted: WantedColumns, others: Sequence[str], separator: str
) -> list[str]:
    known = [*(name for names in wanted.values() for name in names), *others]
    header = header_names(cells, known)
    for what, names in wanted.items():
        if not set(names) & set(header):
            found = format_keys(name for name in header if name)
            wants = [names[0] for names in wanted.values()]
            wants += ["text"] if "text" in others and "text" not in wants else []
            such = _header_hint(len(cells), wants, separator)
            missing = "" if {*known} & {*header} else such
            raise BadInput(
                f"no column for the {what}; name it {or_list(names)} (found: {found}){missing}"
            )
    for name, often in Counter(header).items():
        if name and often > 1:
            raise BadInput(f"the column {name!r} appears twice in the header")
    return header


def _header_hint(count: int, names: Sequence[str], separator: str) -> str:
    """Return the advice to add a header, with as many names as the table has columns."""
    rest = [f"column_{number}" for number in range(len(names) + 1, min(count, _MOST_SHOWN) + 1)]
    such = ("<TAB>" if separator == "\t" else separator).join([*names, *rest])
    return f"; if this line is data, a header is missing: put a first line such as {such} above it"


def _row_records(
    source: InputFile, header: list[str], rows: Iterator[tuple[int, list[str]]]
) -> Records:
    for number, cells in rows:
        if len(header) == 1 and "\t" in cells[0]:
            cells = cells[0].split("\t")
        if len(cells) != len(header):
            raise source.fail(
                number,
                f"{format_count(len(cells), 'column', 'columns')} where the header "
                f"has {len(header)}; {_say_columns(header)}",
            )
        record: Record = dict(zip(header, cells, strict=True))
        yield number, {name: cell for name, cell in record.items() if name and cell}


def _say_columns(header: list[str]) -> str:
    if len(header) == 1:
        return "name each column in the first line, with the separator of the others"
    return "a cell that holds the separator needs quotes"


CSV_COLUMNS = ("query", "docid", "rating", "query_text", "graders", "note")
CSV_COLUMNS_WITH_CHUNKING = (*CSV_COLUMNS, "chunking")
"""The columns where a grade belongs to a named chunking."""

_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?", re.ASCII)
# A cell that already starts like a neutralised one gets another apostrophe, so that none is lost.
_FORMULA = re.compile("'*[=+\\-@\t\r\n＝＋－＠]")
_NEUTRALISED = re.compile("'+[=+\\-@\t\r\n＝＋－＠]")


def neutralise(text: str) -> str:
    """Put an apostrophe before a cell that a spreadsheet would run as a formula.

    >>> neutralise("=1+1"), neutralise("-3"), neutralise("3-1")
    ("'=1+1", '-3', '3-1')
    """
    if _FORMULA.match(text) and not _NUMBER.fullmatch(text):
        return f"'{text}"
    return text


def as_csv(rows: Iterable[Mapping[Any, object]], *, raw: bool = False) -> str:
    """Return rows as one table with a header, all digits, and no cell that a spreadsheet runs.

    A cell is empty where a value is NaN or None or the row lacks the column. A column that only
    later rows have is inserted where they have it. With ``raw`` texts are unchanged: for programs,
    never for a spreadsheet.

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
    lines = [_csv_line(columns if raw else map(neutralise, columns))]
    lines += (
        _csv_line(_csv_value(record.get(name), raw=raw) for name in columns) for record in records
    )
    return "".join(lines) if columns else "\n"


def _csv_line(cells: Iterable[object]) -> str:
    """Return cells as a line; csv.writer would not quote a carriage return, which ends a row."""
    line = ",".join("" if each is None else quote_cell(str(each)) for each in cells)
    return (line or '""') + "\n"


def _csv_value(value: object, *, raw: bool) -> object:
    if isinstance(value, str):
        return value if raw else neutralise(value)
    return None if isinstance(value, float) and math.isnan(value) else value


def restore_formulas(record: Record) -> Record:
    """Return a record of a CSV that we wrote with its cells as they were before `neutralise`."""
    return {
        key: value[1:] if isinstance(value, str) and _NEUTRALISED.match(value) else value
        for key, value in record.items()
    }


def quote_cell(text: str, separator: str = ",") -> str:
    """Return a text as one cell, in quotes where necessary."""
    if any(letter in text for letter in (separator, '"', "\r", "\n")):
        return '"' + text.replace('"', '""') + '"'
    return text

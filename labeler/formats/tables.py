"""CSV and TSV with a header to records with exact line numbers; knows no kind of record by name."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from labeler.errors import BadInput
from labeler.formats.reading import Lines, Source, decode, peek_line
from labeler.formats.records import Record, Records, named, spelled
from labeler.model import counted

Wanted: TypeAlias = Mapping[str, Sequence[str]]

_LONGEST_CELL = 2**31 - 1
_CSV_ERRORS = {
    "unexpected end": "a quote that opens in this record is never closed",
    "expected after": 'a quote inside a quoted cell must be doubled ("")',
    "new-line": "a cell holds a lone carriage return; put the cell in quotes",
}


def read_table(source: Source, lines: Lines, wanted: Wanted, others: Sequence[str] = ()) -> Records:
    """Give the rows of a CSV or TSV file as records; blank cells are left out."""
    number, first, lines = peek_line(source, lines)
    separator = _separator(source, number, decode(source, number, first))
    rows = numbered_rows(source, lines, separator)
    number, cells = next(rows, (number, []))
    with source.at(number):
        header = _header(cells, wanted, others)
    return _named(source, header, rows)


def _separator(source: Source, number: int, header: str) -> str:
    for separator in "\t,":
        if separator in header:
            return separator
    if ";" in header:
        raise source.fail(number, "the columns stand between semicolons; save with commas or tabs")
    return ","


def numbered_rows(source: Source, lines: Lines, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Give each row of CSV or TSV that is not blank with the number of its first line."""
    # The module's limit of 128 KB per cell is smaller than a long chunk, and has no other setting.
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
            raise source.fail(start, _csv_error(str(error))) from error
        if any(cell.strip() for cell in cells):
            if row.size > source.limits.text:
                with source.at(start):
                    for cell in cells:
                        source.limits.check_text(cell)
            yield start, cells


class _Row:
    """A row as it is read: a quote that is never closed would make it as long as the file."""

    def __init__(self, source: Source, lines: Lines) -> None:
        self._source, self._lines = source, lines
        self._start = self.size = 0

    def begin(self, start: int) -> None:
        """Begin a row on the line ``start``."""
        self._start, self.size = start, 0

    def texts(self) -> Iterator[str]:
        """Give the lines as texts; refuse one with which the row becomes too long."""
        limits = self._source.limits
        for number, raw in self._lines:
            self.size += len(raw)
            if self.size > limits.line + 2:  # the line's end does not count
                said = limits.over("line", None, "the row that begins here")
                raise self._source.fail(self._start, said)
            yield decode(self._source, number, raw)


def _csv_error(text: str) -> str:
    return next((told for part, told in _CSV_ERRORS.items() if part in text), text)


def header_names(cells: Sequence[str], known: Sequence[str]) -> list[str]:
    """Return a header's names: ``known`` ones as known whatever their case, others as they are."""
    spelling = {_plain(name): name for name in reversed(known)}
    return [spelling.get(_plain(cell), cell.strip()) for cell in cells]


def _plain(name: str) -> str:
    return name.strip().lower().replace("-", "_").replace(" ", "_")


def is_header(first: bytes, *wanted: Sequence[str]) -> bool:
    """Say whether a line holds one of each of the ``wanted`` names, between any separators."""
    known = [name for names in wanted for name in names]
    text = first.decode(errors="replace").replace('"', "")
    rows = [set(header_names(text.split(separator), known)) for separator in "\t,;"]
    return any(all(row & set(names) for names in wanted) for row in rows)


def _header(cells: Sequence[str], wanted: Wanted, others: Sequence[str]) -> list[str]:
    known = [*(name for names in wanted.values() for name in names), *others]
    header = header_names(cells, known)
    for what, names in wanted.items():
        if not set(names) & set(header):
            found = named(name for name in header if name)
            missing = "" if {*known} & {*header} else _no_header(header, wanted)
            raise BadInput(
                f"no column for the {what}; name it {spelled(names)} (found: {found}){missing}"
            )
    for name, often in Counter(header).items():
        if name and often > 1:
            raise BadInput(f"the column {name!r} stands twice in the header")
    return header


def _no_header(header: Sequence[str], wanted: Wanted) -> str:
    """Say that the first line is no header, where it names nothing that is known."""
    names = [names[0] for names in wanted.values()]
    such = "<TAB>".join(names)
    return f"; if this line is data, a header is missing: put a first line such as {such} above it"


def _named(source: Source, header: list[str], rows: Iterator[tuple[int, list[str]]]) -> Records:
    for number, cells in rows:
        if len(cells) != len(header):
            raise source.fail(
                number,
                f"{counted(len(cells), 'column', 'columns')} where the header has {len(header)}; "
                "a cell that holds the separator needs quotes",
            )
        record: Record = dict(zip(header, cells, strict=True))
        yield number, {name: cell for name, cell in record.items() if name and cell}

"""Results as data: a table of named columns and rows, and statements about it in sentences.

Each output (page, terminal, Markdown, CSV, JSON, report) is a rendering of these two, so that a
column, its rounding and a sentence are written once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

TEXT, NUMBER, SIGNED, COUNT, P_VALUE, RANGE, SIGNED_RANGE, FIGURE, SIGNED_FIGURE = FORMATS = (
    *("text", "number", "signed", "count", "p-value"),
    *("range", "signed range", "figure", "signed figure"),
)
ANSWER, DOUBT, CAUTION, NOTE = SEVERITIES = ("answer", "doubt", "caution", "note")


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table: what programs and people call it, and how people see its values.

    ``format`` is one of `FORMATS`: numbers have four digits after the point, counts none, and
    figures, whose scale is their own, have four, or none where they are large. A `RANGE` or
    `SIGNED_RANGE` shows two values in one cell; ``parts`` are their names for programs, and
    ``name`` is then in no row. ``unit`` is what a value counts, such as "queries". Without a
    ``title`` only programs see the column; a ``detail`` is shown to people who ask for all
    columns. ``show`` says a row's cell to people where no format does.
    """

    name: str
    title: str = ""
    format: str = TEXT
    unit: str = ""
    help: str = ""
    parts: tuple[str, ...] = ()
    detail: bool = False
    show: Callable[[Mapping[str, Any]], str] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The keys of this column's values in a row."""
        return self.parts or (self.name,)


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under named columns, in full precision; a missing number is NaN or None.

    Every row has a value for each of the `names`.
    """

    columns: tuple[Column, ...]
    rows: Sequence[Mapping[str, Any]]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all values of a row, in order, as programs get them."""
        return tuple(name for column in self.columns for name in column.names)

    def records(self) -> list[dict[str, Any]]:
        """Return the rows for programs: all named values, in the order of the columns."""
        names = self.names
        return [{name: row[name] for name in names} for row in self.rows]

    def shown(self, *, details: bool = False) -> tuple[Column, ...]:
        """Return the columns that people see, with those for details if asked for."""
        return tuple(each for each in self.columns if each.title and (details or not each.detail))


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence about a result, with what it rests on.

    ``kind`` names the situation for programs, ``severity`` is one of `SEVERITIES`. A ``heading``
    names the doubt that the sentence is about, such as "Graders". ``numbers`` are the values that
    chose the sentence. ``target`` says where a page can lead: the page's name under "page", and
    its parameters.

    >>> Statement("graders", "A is ahead under every grader.", DOUBT, "Graders").line
    'Graders: A is ahead under every grader.'
    """

    kind: str
    sentence: str
    severity: str = NOTE
    heading: str = ""
    numbers: Mapping[str, Any] = field(default_factory=dict)
    target: Mapping[str, str] | None = None

    @property
    def line(self) -> str:
        """The sentence with its heading, where there is no other place for that."""
        return f"{self.heading}: {self.sentence}" if self.heading else self.sentence


def by_severity(statements: Iterable[Statement]) -> list[Statement]:
    """Return answers first, then doubts, cautions and notes; those alike keep their order."""
    return sorted(statements, key=lambda each: SEVERITIES.index(each.severity))

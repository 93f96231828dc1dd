"""Files that say one thing about each of many: a record a line, and no two that contradict.

Knows no kind of record.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Generic

from labeler.errors import BadInput
from labeler.formats.documents import Document
from labeler.formats.peers import in_json
from labeler.formats.reading import Lines, Progress, Source, open_lines, peek_line
from labeler.formats.records import Record, Records, short, spelled, take
from labeler.formats.spool import Firsts, Spool, lines_of_records
from labeler.formats.tables import read_table
from labeler.model import Loaded, RecordT

_MOST_NAMED = 5


class Once(Generic[RecordT]):
    """The records of a file, each of what they are about once."""

    def __init__(
        self,
        source: Source,
        what: str,
        key: Callable[[RecordT], Hashable],
        content: Callable[[RecordT], object],
        words: Callable[[RecordT], str],
    ) -> None:
        self.source, self.what = source, what
        self.kept: Spool[RecordT] = Spool()
        self._key, self._content, self._words = key, content, words
        self._lines = array("q")
        self._firsts = Firsts()
        self._repeats = 0
        self._unread: Counter[str] = Counter()

    def records(
        self,
        progress: Progress | None,
        wanted: Mapping[str, Sequence[str]],
        others: Sequence[str],
    ) -> Records:
        """Give the file's records with their lines, whether it is JSON or a table."""
        with open_lines(self.source, progress) as raw:
            yield from self._records(raw, wanted, others)

    def _records(
        self, raw: Lines, wanted: Mapping[str, Sequence[str]], others: Sequence[str]
    ) -> Records:
        number, first, lines = peek_line(self.source, raw)
        if number == 0:
            return
        found = in_json(self.source, number, first, lines)
        if isinstance(found, Document):
            raise self.source.fail(
                number, f"one JSON object; {self.what}s are a JSON object a line, or a list"
            )
        yield from read_table(self.source, lines, wanted, others) if found is None else found

    def add(self, line: int, record: RecordT, weight: int) -> None:
        """Note a record; refuse it where the same thing is said to be otherwise on another line."""
        place = self._firsts.add(self._key(record))
        if place is None:
            self.kept.add(record, weight)
            self._lines.append(line)
        elif self._content(self.kept[place]) == self._content(record):
            self._repeats += 1
        else:
            raise BadInput(self._twice(record, place))

    def _twice(self, record: RecordT, place: int) -> str:
        where = f"is another one on line {self._lines[place]}"
        return f"{self._words(record)} {where}; keep one of them"

    def rest(self, record: Record) -> None:
        """Note what of a record nobody has read."""
        self._unread.update(name for name, value in record.items() if value not in (None, ""))

    def loaded(self, facts: Mapping[str, int | str]) -> Loaded[RecordT]:
        """Return the records with their facts, or raise `BadInput` where there is none."""
        if not self.kept:
            raise self.source.fail(None, f"there is no {self.what} in it")
        for place, later in self._firsts.suspects():
            first, second = self.kept[place], self.kept[later]
            same = self._key(first) == self._key(second)
            if same and self._content(first) != self._content(second):
                raise self.source.fail(self._lines[later], self._twice(second, place))
        told: dict[str, int | str] = {f"{self.what}s": len(self.kept), **facts}
        if self._repeats:
            told["lines that say the same again"] = self._repeats
        if self._unread:
            told["not read"] = listed(self._unread)
        lines = lines_of_records(self._lines)
        return Loaded(self.source.name, self.kept, lines, told)


def needed(record: Record, names: Sequence[str], what: str) -> object:
    """Remove and return what a record cannot do without, or raise `BadInput`."""
    value = take(record, names)
    if value is None or value == "":
        raise BadInput(f"there is no {what}; name it {spelled(names)}")
    return value


def listed(names: Iterable[str]) -> str:
    """Return names as a report lists them, the first of many."""
    every = list(names)
    more = len(every) - _MOST_NAMED
    first = ", ".join(short(name, 40).strip("'") for name in every[:_MOST_NAMED])
    return first + (f" and {more} more" if more > 0 else "")

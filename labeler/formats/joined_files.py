"""Files with a record a line or row that are read as one, such as the parts of a data set.

Line numbers count on from file to file; a message names the file and the line in it.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from labeler.errors import BadInput
from labeler.formats.json_records import JsonDocument, Records
from labeler.formats.lines import InputFile, Progress, open_lines, peek_line
from labeler.formats.peers.detection import read_json

_OTHER_LINE = re.compile(r"\bon line (\d+)\b")


def join_files(name: str, parts: Sequence[InputFile]) -> InputFile:
    """Return files as one source of records; one file stays as it is."""
    if len(parts) == 1:
        return parts[0]
    starts: list[int] = []

    @contextmanager
    def records(report: Progress) -> Iterator[Records]:
        starts.clear()
        yield _records_of(parts, starts, report)

    size, limits = sum(part.size for part in parts), parts[0].limits
    return _JoinedFiles(
        name, size, parts[0].open, limits, records=records, parts=tuple(parts), starts=starts
    )


@dataclass(frozen=True, slots=True)
class _JoinedFiles(InputFile):
    parts: tuple[InputFile, ...] = ()
    starts: list[int] = field(default_factory=list)  # lines before each file that was opened

    def fail(self, line: int | None, text: str) -> BadInput:
        """Return the error ``text`` at a line of the file that it is in."""
        if line is None or not self.starts:
            return InputFile.fail(self, line, text)
        part, within = self._place(line)
        return part.fail(within, _OTHER_LINE.sub(self._name_line, text))

    def _place(self, line: int) -> tuple[InputFile, int]:
        at = max(0, bisect_left(self.starts, line) - 1)
        return self.parts[at], line - self.starts[at]

    def _name_line(self, match: re.Match[str]) -> str:
        part, within = self._place(int(match[1]))
        return f"on line {within} of {part.name}"


def _records_of(parts: Sequence[InputFile], starts: list[int], report: Progress) -> Records:
    total, before, number = sum(part.size for part in parts) or 1, 0, 0
    for part in parts:
        starts.append(number)
        share = _share(report, before / total, part.size / total)
        with open_lines(part, share) as raw:
            at, first, lines = peek_line(part, raw)
            found = read_json(part, at, first, lines) if at else iter(())
            if found is None or isinstance(found, JsonDocument):
                raise part.fail(at, "neither JSON lines nor Parquet, as a file in parts must be")
            for line, record in found:
                number = starts[-1] + line
                yield number, record
        before += part.size


def _share(report: Progress, start: float, size: float) -> Progress:
    return lambda fraction: report(start + size * fraction)

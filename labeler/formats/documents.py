"""A JSON document that is read whole, cut into its parts, each with the line it begins on.

Knows JSON and lines; not what any part means. A file with a record a line is no document.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, NamedTuple

from labeler.errors import BadInput
from labeler.formats.reading import Lines, Source, decode
from labeler.formats.records import DECODER, Record, parsed, short, starts_list

_BLANK = re.compile(r"[ \t\r\n]*")
_GOES_ON = (b"{", b"[", b",", b":")  # what ends the first line of JSON that is written over several
_ENTRY = re.compile(r'[ \t\r\n]*,?[ \t\r\n]*(?:("(?:[^"\\]|\\.)*")[ \t\r\n]*:[ \t\r\n]*)?')


class Entry(NamedTuple):
    """A part of an object or a list: its key, None in a list, its line, and what it holds."""

    key: str | None
    line: int
    value: Any
    start: int


class Document:
    """One JSON value: ``value``, and its parts by where they begin."""

    def __init__(self, source: Source, text: str) -> None:
        self.source = source
        self._text = text
        self._ends = [match.start() for match in re.finditer("\n", text)]
        try:
            self.value = parsed(text, source.limits)
        except BadInput as error:
            cause = error.__cause__
            line = cause.lineno if isinstance(cause, json.JSONDecodeError) else None
            raise source.fail(line, str(error)) from error

    def top(self) -> Iterator[Entry]:
        """Give the parts of the document itself."""
        return self.parts(_after_blanks(self._text, 0))

    def parts(self, start: int) -> Iterator[Entry]:
        """Give the parts of the object or the list that begins at ``start``."""
        closing = "}" if self._text[start] == "{" else "]"
        at = start + 1
        while True:
            found = _ENTRY.match(self._text, at)
            begins = at if found is None else found.end()
            if self._text[begins] == closing:
                return
            key = None if found is None or found[1] is None else json.loads(found[1])
            value, at = DECODER.raw_decode(self._text, begins)
            yield Entry(key, self._line(begins), value, begins)

    def under(self, *keys: str | int) -> int | None:
        """Return where the part begins that is reached by keys and places, None if there is none.

        >>> from labeler.formats.reading import memory_source
        >>> Document(memory_source("a", b""), '{"a": [1, {"b": 2}]}').under("a", 1, "b")
        16
        """
        start = _after_blanks(self._text, 0)
        for key in keys:
            if self._text[start] not in "{[":
                return None
            parts = enumerate(self.parts(start))
            found = next((part for at, part in parts if key in (part.key, at)), None)
            if found is None:
                return None
            start = found.start
        return start

    def records(self) -> Iterator[tuple[int, Record]]:
        """Give the objects of a document that is a list of them, with their lines."""
        for entry in self.top():
            if not isinstance(entry.value, dict):
                raise self.source.fail(
                    entry.line,
                    f"each entry of the list must be an object, not {short(entry.value)}",
                )
            yield entry.line, entry.value

    def _line(self, at: int) -> int:
        return bisect_right(self._ends, at - 1) + 1


def _after_blanks(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return at if found is None else found.end()


def beginning(text: str) -> list[Any]:
    """Return what can be read of a document that is cut off: entries of a list, or key and value.

    >>> beginning('[{"a": 1}, {"a": 2}, {"a"'), beginning('{"q1": {"c": 3}, "q2": {"c"')
    ([{'a': 1}, {'a': 2}], [('q1', {'c': 3})])
    """
    at, found = _after_blanks(text, 0), []
    is_list = text[at : at + 1] == "["
    at += 1
    with suppress(ValueError, RecursionError):
        while (match := _ENTRY.match(text, at)) is not None:
            value, at = DECODER.raw_decode(text, match.end())
            found.append(value if is_list else (json.loads(match[1] or '""'), value))
    return found


def begins_document(first: bytes) -> bool:
    """Say whether a line begins JSON that is written over several lines, or is a list."""
    return starts_list(first) or (first.startswith(b"{") and first.endswith(_GOES_ON))


def document_in(source: Source, first: bytes, lines: Lines) -> Document | None:
    """Return a file's JSON document; None, with no line read, where it has a record a line.

    ``first`` is the first line that says something, without blanks around it.
    """
    if not begins_document(first):
        return None
    return document_of(source, lines)


def document_of(source: Source, lines: Lines) -> Document:
    """Return all lines as one JSON document, which may not be longer than a line may be."""
    texts, size = [], 0
    for number, raw in lines:
        size += len(raw)
        if size > source.limits.line:
            raise source.fail(None, source.limits.over("line", None, "the JSON document in it"))
        texts.append(decode(source, number, raw))
    return Document(source, "".join(texts))

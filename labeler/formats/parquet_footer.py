"""Footers of Parquet files: how many rows and bytes each group and column chunk has.

Arrow reads them as well, but ends the process where the statistics in one are damaged. The format
is Thrift's compact protocol: https://github.com/apache/parquet-format, parquet.thrift.
"""

from __future__ import annotations

import os
import struct
from typing import IO, Any, NamedTuple

BYTE_ARRAY, FIXED_LENGTH_BYTE_ARRAY = 6, 7
DELTA_BYTE_ARRAY = 7
_MAGIC = b"PAR1"
_LARGEST = 1 << 28  # bytes
_DEEPEST = 64
_DICTIONARY_PAGE = 2
_PAGE_HEADER = 12  # bytes that hold its first two numbers
_FIXED_SIZES = {3: 1, 7: 8, 13: 16}  # byte, double, UUID


class DamagedFooter(OSError):
    """The end of a file is not a footer of Parquet."""


class ColumnChunk(NamedTuple):
    """The values of a column in one group of rows; sizes are bytes before compression."""

    physical_type: int
    encodings: tuple[int, ...]
    values: int
    size: int
    start: int  # of its first page

    def dictionary_size(self, stream: IO[bytes]) -> int:
        """Return the size of the dictionary as its page header says, 0 where there is none."""
        stream.seek(self.start)
        header = _Compact(stream.read(_PAGE_HEADER))
        try:
            first, kind, second, size = (header.byte(), header.number(), header.byte(), 0)
            size = header.number()
        except IndexError:
            return 0
        return size if (first, kind, second) == (0x15, _DICTIONARY_PAGE, 0x15) else 0


class RowGroup(NamedTuple):
    """Rows that are stored together."""

    rows: int
    size: int
    chunks: tuple[ColumnChunk, ...]


def read_footer(stream: IO[bytes]) -> list[RowGroup]:
    """Return the groups of rows of a Parquet file; raises `DamagedFooter`."""
    end = stream.seek(0, os.SEEK_END)
    stream.seek(max(0, end - 8))
    tail = stream.read(8)
    if end < 12 or tail[4:] != _MAGIC:
        raise DamagedFooter("it does not end as Parquet does")
    (size,) = struct.unpack("<I", tail[:4])
    if size > min(end - 8, _LARGEST):
        raise DamagedFooter(f"its footer cannot have {size:,} bytes")
    stream.seek(end - 8 - size)
    try:
        found = _Compact(stream.read(size)).structure()
        return [_group(each) for each in found[4]]
    except (IndexError, KeyError, TypeError, AttributeError, ValueError) as error:
        raise DamagedFooter(f"its footer cannot be read: {error}") from error


def _group(fields: dict[int, Any]) -> RowGroup:
    chunks = tuple(_chunk(each[3]) for each in fields.get(1, []))
    return RowGroup(max(int(fields[3]), 0), max(int(fields[2]), 0), chunks)


def _chunk(fields: dict[int, Any]) -> ColumnChunk:
    starts = [int(fields[field]) for field in (9, 11) if field in fields]
    start = min((each for each in starts if each > 0), default=0)
    encodings = tuple(map(int, fields.get(2, [])))
    values, size = max(int(fields[5]), 0), max(int(fields[6]), 0)
    return ColumnChunk(int(fields[1]), encodings, values, size, start)


class _Compact:
    """Reads values of Thrift's compact protocol; raises `IndexError` at the end of the data."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def byte(self) -> int:
        """Return the next byte."""
        self._at += 1
        return self._data[self._at - 1]

    def number(self) -> int:
        """Return the next whole number."""
        found = self._length()
        return (found >> 1) ^ -(found & 1)

    def _length(self) -> int:
        found = shift = 0
        while True:
            byte = self.byte()
            found |= (byte & 127) << shift
            if byte < 128:
                return found
            shift += 7
            if shift > 63:
                raise ValueError("a number is too long")

    def structure(self, depth: int = 0) -> dict[int, Any]:
        """Return the next object as its values by field number."""
        found: dict[int, Any] = {}
        field = 0
        while head := self.byte():
            field = field + (head >> 4) if head >> 4 else self.number()
            kind = head & 15
            found[field] = kind == 1 if kind in (1, 2) else self._value(kind, depth)
        return found

    def _value(self, kind: int, depth: int) -> Any:
        if kind in (4, 5, 6):
            return self.number()
        if kind == 8:
            return self._skip(self._length())
        if kind in (9, 10):
            head = self.byte()
            size = self._length() if head >> 4 == 15 else head >> 4
            self._check_rest(size)
            return [self._element(head & 15, depth) for _ in range(size)]
        if kind == 12 and depth < _DEEPEST:
            return self.structure(depth + 1)
        if kind == 11:
            return self._map(depth)
        return self._skip(_FIXED_SIZES[kind])

    def _element(self, kind: int, depth: int) -> Any:
        return self.byte() if kind in (1, 2) else self._value(kind, depth + 1)

    def _map(self, depth: int) -> None:
        size = self._length()
        self._check_rest(size)
        kinds = self.byte() if size else 0
        for _ in range(size):
            self._element(kinds >> 4, depth)
            self._element(kinds & 15, depth)

    def _skip(self, size: int) -> None:
        self._check_rest(size)
        self._at += size

    def _check_rest(self, size: int) -> None:
        """Raise `IndexError` where not even a byte for each value is left."""
        if size > len(self._data) - self._at:
            raise IndexError("the data are too short")

"""Parquet files as records: each row as JSON would have it, read in batches of bounded size.

A column is a key. A missing value and NaN are left out, nested columns are lists and objects, times
are ISO 8601, and bytes are text if they are UTF-8. A few kilobytes of Parquet can stand for
gigabytes, so that nothing is expanded before its size is known.
"""

from __future__ import annotations

import math
import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import date, time, timedelta
from decimal import Decimal
from itertools import islice
from typing import IO, TYPE_CHECKING, Any

from labeler.errors import BadInput
from labeler.formats.field_aliases import known_names
from labeler.formats.json_records import Record, Records, check_strings, short
from labeler.formats.parquet_footer import (
    BYTE_ARRAY,
    DELTA_BYTE_ARRAY,
    FIXED_LENGTH_BYTE_ARRAY,
    ColumnChunk,
    DamagedFooter,
    RowGroup,
    read_footer,
)

if TYPE_CHECKING:
    from labeler.formats.lines import InputFile, Progress

_BATCH = 1 << 24  # bytes of the rows that are made into records at once
_MOST_ROWS = 4_096
_BUFFER = 1 << 20
_STREAMED = {"buffer_size": _BUFFER, "pre_buffer": False}  # else a whole row group is in memory
_EXPANDED = 1 << 25  # bytes that a batch may take at most, whatever it holds
_VALUE_SIZE = 8  # bytes of a number, of a place in a list
_LONGEST_HEXADECIMAL = 64
_INDEX = re.compile(r"__index_level_\d+__")  # of a frame of pandas, without a name


@contextmanager
def open_rows(
    source: InputFile,
    stream: IO[bytes],
    report: Progress,
    *,
    is_file: bool = True,
    of_texts: bool = False,
) -> Iterator[Records]:
    """Open a Parquet file and give its records with their rows, from 1.

    A stream that is no file on disk or in memory is copied to a temporary file first. With
    ``of_texts`` columns that cannot hold a text are left out.
    """
    with ExitStack() as held:
        if not is_file:
            stream = held.enter_context(_copied(source, stream))
        stream.seek(0)
        yield _ParquetRows(source, stream, of_texts=of_texts).records(report)


def _copied(source: InputFile, stream: IO[bytes]) -> IO[bytes]:
    copy, size = tempfile.TemporaryFile(), 0  # noqa: SIM115  # the caller closes it
    while part := stream.read(_BUFFER):
        size += copy.write(part)
        if size > source.limits.unpacked:
            copy.close()
            raise source.fail(
                None, source.limits.over("unpacked", None, "what is unpacked from it")
            )
    return copy


def _unreadable(source: InputFile, row: int | None, error: Exception) -> BadInput:
    """Return the error for a file that Arrow cannot read, at the first row that is missing."""
    text = " ".join(str(error).split())
    if "encrypt" in text.lower() or "decrypt" in text.lower():
        return source.fail(None, "the Parquet file is encrypted; save it without encryption")
    if type(error).__name__ == "ArrowNotImplementedError":
        why = f"its Parquet cannot be read ({text}); save it as CSV or JSONL"
    elif isinstance(error, MemoryError):
        why = f"the memory does not hold its rows ({text}); save it as CSV or JSONL"
    else:
        why = f"the Parquet file is cut off or damaged, or not one; copy it again ({text})"
    return source.fail(row, why)


class _ParquetRows:
    """The rows of a file, with what is known of its columns before one is read."""

    def __init__(self, source: InputFile, stream: IO[bytes], *, of_texts: bool) -> None:
        import pyarrow as pa  # type: ignore[import-untyped]  # it carries no annotations

        self._source, self._limits = source, source.limits
        self._unpacked = self._done = 0
        try:
            self._open(stream, of_texts=of_texts)
        except (pa.ArrowException, OSError, MemoryError, UnicodeDecodeError) as error:
            raise _unreadable(source, None, error) from error

    def _open(self, stream: IO[bytes], *, of_texts: bool) -> None:
        import pyarrow.parquet as pq  # type: ignore[import-untyped]  # it carries no annotations

        self._groups = read_footer(stream)
        self._total = max(sum(group.rows for group in self._groups), 1)
        file = pq.ParquetFile(stream, **_STREAMED)
        self._schema = file.schema_arrow
        self._check_schema()
        self._names = [
            field.name
            for field in self._schema
            if not _is_plain_index(field) and (not of_texts or may_hold_text(field.type))
        ]
        self._plan = plan = _Plan(file, self._groups, stream)
        if plan.dictionaries:
            file = pq.ParquetFile(stream, **_STREAMED, read_dictionary=plan.dictionaries)
        self._file = file

    def _check_schema(self) -> None:
        names = [*_names_in(self._schema)]
        twice, often = Counter(self._schema.names).most_common(1)[0] if names else ("", 0)
        if often > 1:
            raise self._source.fail(None, f"the column {short(twice)} stands twice in it")
        with self._at(None):
            check_strings(names, self._limits)
        depth = max((_depth(field.type) for field in self._schema), default=0) + 1
        if depth > self._limits.depth:
            message = self._limits.over("depth", depth, "the nesting of its columns")
            raise self._source.fail(None, message)
        size = sum(group.size for group in self._groups)
        if size > self._limits.unpacked:
            message = self._limits.over("unpacked", size, "what is unpacked from it")
            raise self._source.fail(None, message)

    def records(self, report: Progress) -> Records:
        """Yield the records; the rows before a damage come before the error."""
        import pyarrow as pa

        try:
            for records in self._all(report):
                yield from enumerate(records, self._done + 1)
        except (pa.ArrowException, OSError, MemoryError, UnicodeDecodeError) as error:
            raise _unreadable(self._source, self._done + 1, error) from error
        report(1.0)

    def _all(self, report: Progress) -> Iterator[Iterator[Record]]:
        if not self._names:
            return
        is_whole = len(self._names) == len(self._schema)
        columns = None if is_whole else self._names
        for group in range(len(self._groups)):  # one by one, as far as they are whole
            rows = self._plan.rows_at_once(group)
            for batch in self._file.iter_batches(rows, [group], columns):
                for piece in self._pieces(batch, self._done + 1):
                    records = self._records_of(piece)
                    yield self._with_all_keys(records) if self._done == 0 else records
                    self._done += piece.num_rows
                report(self._done / self._total)

    def _with_all_keys(self, records: Iterator[Record]) -> Iterator[Record]:
        """Yield records, the first with all known names: some readers look at its keys only."""
        yield {**dict.fromkeys(known_names(self._names)), **next(records)}
        yield from records

    def _pieces(self, batch: Any, row: int) -> Iterator[Any]:
        """Yield a batch whole, or in parts of bounded size; ``row`` is its first."""
        size = _expanded_size(batch.columns)
        if batch.num_rows > 1 and size > min(_BATCH, self._limits.line):
            half = batch.num_rows // 2
            yield from self._pieces(batch.slice(0, half), row)
            yield from self._pieces(batch.slice(half), row + half)
            return
        self._unpacked += size
        if size > self._limits.line:
            raise self._source.fail(row, self._limits.over("line", size, "the row"))
        if self._unpacked > self._limits.unpacked:
            message = self._limits.over("unpacked", None, "what is unpacked from it")
            raise self._source.fail(None, message)
        yield batch

    def _records_of(self, batch: Any) -> Iterator[Record]:
        names, may_lack = batch.schema.names, False
        columns = []
        for name, column in zip(names, batch.columns, strict=True):
            is_json = _is_json(column)
            may_lack = may_lack or bool(column.null_count) or not is_json
            columns.append(self._values(name, column, is_json=is_json))
        rows = (dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True))
        if may_lack:
            rows = ({key: each for key, each in row.items() if each is not None} for row in rows)
        if any(_is_suspect(column, self._limits.text) for column in batch.columns):
            return self._checked(rows)
        return rows

    def _checked(self, records: Iterator[Record]) -> Iterator[Record]:
        for row, record in enumerate(records, self._done + 1):
            with self._at(row):
                check_strings(record, self._limits)
            yield record

    def _values(self, name: str, column: Any, *, is_json: bool) -> list[Any]:
        """Return the values of a column as JSON has them; raises `BadInput` with the row."""
        import pyarrow as pa

        if pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        if pa.types.is_float16(column.type):
            column = column.cast(pa.float32())
        if pa.types.is_timestamp(column.type) and column.type.unit == "ns":  # Python has none
            column = column.cast(pa.timestamp("us", column.type.tz), safe=False)
        try:
            if is_json:  # without options it is three times as fast
                return list(column.to_pylist())
            return [as_json_value(each) for each in column.to_pylist(maps_as_pydicts="strict")]
        except (ValueError, OverflowError, KeyError) as error:
            row = self._done + 1 + _first_unreadable(column)
            said = " ".join(str(error).split())
            raise self._source.fail(
                row, f"the column {short(name)} has a value that cannot be read: {said}"
            ) from error

    @contextmanager
    def _at(self, row: int | None) -> Iterator[None]:
        try:
            yield
        except BadInput as error:
            raise self._source.fail(row, str(error)) from error


class _Plan:
    """How a file is read without an expansion of more than `_EXPANDED` bytes at once.

    Texts are as a rule numbers into a dictionary, which a batch of rows expands: little, by
    `rows_at_once`. What a list of such texts would expand to is not known before, so that their
    columns, ``dictionaries``, are not expanded by Arrow.
    """

    def __init__(self, file: Any, groups: Sequence[RowGroup], stream: IO[bytes]) -> None:
        self._file, self._groups, self._stream = file, groups, stream
        self._columns = [file.schema.column(at) for at in range(len(file.schema))]
        if any(len(group.chunks) != len(self._columns) for group in groups):
            raise DamagedFooter("a group of rows has not all of the columns")
        self._listed = [at for at, each in enumerate(self._columns) if each.max_repetition_level]
        self.dictionaries = [
            self._columns[at].path
            for at in self._listed
            if any(self._may_expand(group.chunks[at]) for group in groups)
        ]

    def _may_expand(self, chunk: ColumnChunk) -> bool:
        return self._largest_value(chunk) * chunk.values > _EXPANDED

    def rows_at_once(self, at: int) -> int:
        """Return how many rows of a group are read at once."""
        group = self._groups[at]
        most = min(_MOST_ROWS, max(group.rows, 1))
        largest, unknown = 0, []  # bytes of a value of each column; columns to look at
        for number, chunk in enumerate(group.chunks):
            if number in self._listed:
                continue
            size = self._largest_value(chunk)
            if size * most > _EXPANDED and chunk.physical_type == BYTE_ARRAY:
                unknown.append(self._columns[number].path)
            else:
                largest += size
        largest += self._longest_texts(at, unknown)
        mean = group.size / max(group.rows, 1)
        return int(max(1, min(most, _BATCH // max(mean, 1), _EXPANDED // max(largest, 1))))

    def _largest_value(self, chunk: ColumnChunk) -> int:
        """Return how many bytes a value may take at most, 0 where nothing is expanded."""
        if chunk.physical_type not in (BYTE_ARRAY, FIXED_LENGTH_BYTE_ARRAY):
            return 0
        if DELTA_BYTE_ARRAY in chunk.encodings:
            return chunk.size
        return chunk.dictionary_size(self._stream)

    def _longest_texts(self, at: int, paths: list[str]) -> int:
        """Return the size of the longest text in the dictionary of each column, added up."""
        import pyarrow.parquet as pq

        if not paths:
            return 0
        file = pq.ParquetFile(
            self._stream, **_STREAMED, metadata=self._file.metadata, read_dictionary=paths
        )
        [batch] = islice(file.iter_batches(1, [at], paths), 1)
        return _longest(batch.columns)


def _names_in(fields: Iterable[Any]) -> Iterator[str]:
    for field in fields:
        yield field.name
        kind = field.type
        yield from _names_in(kind.field(at) for at in range(kind.num_fields))


def _depth(kind: Any) -> int:
    """Return how many lists and objects are around the innermost values of a type."""
    if not kind.num_fields:
        return 0
    return 1 + max(_depth(kind.field(at).type) for at in range(kind.num_fields))


def _is_plain_index(field: Any) -> bool:
    import pyarrow as pa

    return bool(_INDEX.fullmatch(field.name) and pa.types.is_integer(field.type))


def may_hold_text(kind: Any) -> bool:
    """Return whether values of an Arrow type may be texts or contain texts."""
    import pyarrow as pa

    types = pa.types
    if types.is_dictionary(kind):
        return may_hold_text(kind.value_type)
    return bool(
        types.is_string(kind)
        or types.is_large_string(kind)
        or types.is_string_view(kind)
        or any(may_hold_text(kind.field(at).type) for at in range(kind.num_fields))
    )


def _expanded_size(columns: Iterable[Any]) -> int:
    """Return how many bytes values take when each has its own copy of its text."""
    import pyarrow as pa
    import pyarrow.compute as pc  # type: ignore[import-untyped]  # it carries no annotations

    size = 0
    for column in columns:
        kind = column.type
        size += _VALUE_SIZE * len(column)
        if pa.types.is_dictionary(kind):
            lengths = pc.binary_length(column.dictionary).take(column.indices)
            size += pc.sum(lengths.cast(pa.int64())).as_py() or 0
        elif pa.types.is_nested(kind):
            size += _expanded_size(_within(column))
        else:
            size += column.nbytes
    return size


def _within(column: Any) -> list[Any]:
    """Return the columns of what is in the lists, objects or maps of a column."""
    import pyarrow as pa

    if pa.types.is_struct(column.type):
        return list(column.flatten())
    if pa.types.is_map(column.type):
        first, last = column.offsets[0].as_py(), column.offsets[-1].as_py()
        return [each.slice(first, last - first) for each in (column.keys, column.items)]
    return [column.flatten()]


def _longest(columns: Iterable[Any]) -> int:
    """Return the size of the longest text of each column, or of its dictionary, added up."""
    import pyarrow as pa
    import pyarrow.compute as pc

    size = 0
    for column in columns:
        if pa.types.is_dictionary(column.type):
            size += pc.max(pc.binary_length(column.dictionary)).as_py() or 0
        elif pa.types.is_nested(column.type):
            size += _longest(_within(column))
        else:
            size += column.nbytes
    return size


def _is_suspect(column: Any, most: int) -> bool:
    """Return whether a column may hold a text that is longer than the limit, or holds NUL."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    if pa.types.is_dictionary(kind):
        return _is_suspect(column.dictionary, most)
    if pa.types.is_nested(kind):
        return any(_is_suspect(each, most) for each in _within(column))
    if not may_hold_text(kind):
        return False
    if pa.types.is_string_view(kind):
        column = column.cast(pa.large_string())
    longest = pc.max(pc.binary_length(column)).as_py() or 0
    return longest > most or bool(pc.any(pc.match_substring(column, "\0")).as_py())


def _is_json(column: Any) -> bool:
    """Return whether the values of a column are in Python what they are in JSON."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    if pa.types.is_float16(kind):
        return False
    if pa.types.is_floating(kind):
        return not pc.any(pc.invert(pc.is_finite(column))).as_py()
    return bool(
        pa.types.is_integer(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_null(kind)
        or (may_hold_text(kind) and not pa.types.is_nested(kind))
    )


def _first_unreadable(column: Any) -> int:
    """Return the place of the first value that Python cannot hold."""
    for at in range(len(column)):
        try:
            column[at].as_py(maps_as_pydicts="strict")
        except (ValueError, OverflowError, KeyError):
            return at
    return 0


def as_json_value(value: Any) -> Any:
    """Return a value of Arrow as JSON has it, None for NaN.

    >>> as_json_value({"at": date(2026, 1, 2), "n": Decimal("2"), "x": None, "b": [b"a", math.nan]})
    {'at': '2026-01-02', 'n': 2, 'b': ['a', None]}
    """
    if isinstance(value, float):
        if math.isfinite(value):
            return value
        return None if math.isnan(value) else str(value)
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, dict):
        found = {str(key): as_json_value(each) for key, each in value.items()}
        return {key: each for key, each in found.items() if each is not None}
    if isinstance(value, list | tuple):
        return [as_json_value(each) for each in value]
    if isinstance(value, bytes):
        return _text_of(value)
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, date | time):
        return value.isoformat()
    return value.total_seconds() if isinstance(value, timedelta) else str(value)


def _text_of(value: bytes) -> str:
    """Return bytes as the text that they are, else in hexadecimal, or only their number."""
    try:
        text = value.decode()
    except UnicodeDecodeError:
        text = "\0"
    if "\0" not in text:
        return text
    return value.hex() if len(value) <= _LONGEST_HEXADECIMAL else f"({len(value):,} bytes)"

"""Input files as numbered lines or blocks of lines: opening, decompression, decoding.

A file is recognised by its first bytes, not by its name: gzip is unpacked, and a file that is not
UTF-8 text (a spreadsheet, PDF, another compression) is refused with advice. The lines before the
damage in a broken file are still read, so that an error in one of them is reported first.
"""

from __future__ import annotations

import io
import json
import os
import re
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from gzip import GzipFile
from itertools import chain
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeAlias, cast

import numpy as np

from labeler.errors import BadInput, NotFound
from labeler.formats.limits import LIMITS, Limits

StrPath: TypeAlias = str | os.PathLike[str]
Progress: TypeAlias = Callable[[float], object]
Lines: TypeAlias = Iterator[tuple[int, bytes]]
NumberedRecords: TypeAlias = Iterator[tuple[int, dict[str, Any]]]

BLOCK = 1 << 21
BOM = b"\xef\xbb\xbf"
_SEPARATOR_LINE = re.compile(rb"\A\"?sep=[,;\t]\"?(\r?\n)", re.IGNORECASE)
_BUFFER = 1 << 18
_STEPS = 200
_HEAD = 1 << 16
_LONGEST_HEAD = 1 << 22
_MOST_SILENT = 100_000
_NEWLINE = 10
_GZIP = b"\x1f\x8b"
# Texts may begin with the same letters, but not with what stands behind them in Parquet.
_PARQUET = re.compile(rb"PAR1([^\t\n\r -\xff]|\Z)")
_MAGIC = 8  # bytes that show what a file is
_BROKEN = (EOFError, OSError, zlib.error, zipfile.BadZipFile)
_ENCRYPTED_PARQUET = re.compile(rb"PARE[^\0]{0,3}\0")
_PIPE = re.compile(r"/dev/(stdin|fd/\d+)|/proc/self/fd/\d+")  # opened by the parent process
_PACKED = "compressed with {}; unpack it, or compress it with gzip"
_FOREIGN = {
    b"BZh": f"the file is {_PACKED.format('bzip2')}",
    b"\xfd7zXZ\x00": f"the file is {_PACKED.format('xz')}",
    b"\x04\x22\x4d\x18": f"the file is {_PACKED.format('lz4')}",
    b"\x28\xb5\x2f\xfd": f"the file is {_PACKED.format('zstd')}",
    b"version https://git-lfs.github.com/spec/": "the file is a pointer of Git LFS, and what it "
    "stands for is not here; fetch it with: git lfs pull",
    b"\xff\xfe": "the file is UTF-16; save it as UTF-8",
    b"\xfe\xff": "the file is UTF-16; save it as UTF-8",
    b"PK\x03\x04": "the file is a spreadsheet or a zip archive; save it as CSV or JSONL in UTF-8",
    _GZIP: "the file is compressed twice; unpack it once",
    b"SQLite format 3": "the file is a database; export from it to CSV or JSONL in UTF-8",
    b"%PDF-": "the file is a PDF; save its texts as CSV or JSONL in UTF-8",
}


class Block(NamedTuple):
    """Whole lines of a file: the number of the first, the number of line ends, the bytes."""

    number: int
    ends: int
    data: bytes


Blocks: TypeAlias = Iterator[Block]


@dataclass(frozen=True, slots=True)
class InputFile:
    """A file to read: its name in messages, its size in bytes, and a function that opens it.

    ``bounded`` says that the limit ``unpacked`` applies to its content. ``records`` gives records
    where it is no file of lines itself.
    """

    name: str
    size: int
    open: Callable[[], AbstractContextManager[IO[bytes]]]
    limits: Limits = LIMITS
    bounded: bool = False
    records: Callable[[Progress], AbstractContextManager[NumberedRecords]] | None = None

    def fail(self, line: int | None, text: str) -> BadInput:
        """Return the error ``text`` at a line, or in the file where ``line`` is None."""
        return BadInput(f"{self.name}: {text}" if line is None else f"{self.name}:{line}: {text}")

    def at(self, line: int) -> AbstractContextManager[None]:
        """Put ``file:line:`` before any `BadInput` raised inside."""
        return _LineContext(self, line)


class _LineContext:
    """A context manager for a line; a generator would be too slow, since it runs once a line."""

    __slots__ = ("_line", "_source")

    def __init__(self, source: InputFile, line: int) -> None:
        self._source = source
        self._line = line

    def __enter__(self) -> None:
        pass

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if isinstance(error, BadInput):
            raise self._source.fail(self._line, str(error)) from error


def file_source(path: StrPath, name: str | None = None, limits: Limits = LIMITS) -> InputFile:
    """Return the file at ``path`` as a source; it is opened later.

    Raises `NotFound` for a missing file and `BadInput` for a folder, an inaccessible or a special
    file. A pipe is accepted if it is already open, like a shell's ``<(...)``.
    """
    place = Path(path)
    shown = os.fspath(path) if name is None else name
    found = stat_path(place, shown)
    if found is None:
        raise NotFound(f"{shown}: there is no such file")
    if stat.S_ISDIR(found.st_mode):
        raise BadInput(f"{shown}: is a folder; a file is needed here")
    pipe = stat.S_ISFIFO(found.st_mode) and _PIPE.fullmatch(str(place)) is not None
    if not pipe and not stat.S_ISREG(found.st_mode):
        raise BadInput(f"{shown}: is a pipe or a device; write what it gives to a file first")
    return InputFile(shown, found.st_size, lambda: _open_file(place, shown), limits, bounded=pipe)


def stat_path(path: Path, name: str) -> os.stat_result | None:
    """Return the ``stat`` of a file or folder, None where it does not exist.

    Raises `BadInput`, with ``name``, where access is denied or the path is invalid.
    """
    try:
        return path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except ValueError as error:  # a NUL in its name
        raise BadInput(f"{name!r}: no file can be called so: {error}") from error
    except OSError as error:
        raise BadInput(f"{name}: cannot be opened: {error.strerror}") from error


def memory_source(name: str, content: bytes) -> InputFile:
    """Return bytes in memory as a source."""
    return InputFile(name, len(content), lambda: io.BytesIO(content))


@contextmanager
def _open_file(path: Path, name: str) -> Iterator[IO[bytes]]:
    try:
        stream = path.open("rb", buffering=0)
    except OSError as error:
        raise BadInput(f"{name}: cannot be opened: {error.strerror}") from error
    with stream:
        yield stream


class Throttle:
    """A progress callback that passes a fraction on only after half a percent more, and at 1."""

    def __init__(self, progress: Progress | None) -> None:
        self._progress = progress
        self._last = 0.0

    def __call__(self, fraction: float) -> None:
        if self._progress is None or fraction <= self._last:
            return
        if fraction >= 1 or fraction - self._last >= 1 / _STEPS:
            self._last = fraction
            self._progress(min(fraction, 1.0))


class _Watched(io.RawIOBase):
    """A stream that reports how much of it has been read, before any decompression."""

    def __init__(self, inner: IO[bytes], size: int, report: Progress) -> None:
        # read1 returns what can still be unpacked of a damaged file before the error is raised.
        self._take = getattr(inner, "read1", inner.read)
        self._size = size
        self._read = 0
        self._report = report

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # always a memoryview
        data = self._take(len(buffer))
        buffer[: len(data)] = data
        self._read += len(data)
        if self._size and self._read < self._size:
            self._report(self._read / self._size)
        return len(data)


_Stream: TypeAlias = "io.BufferedReader[_Watched] | GzipFile"


@contextmanager
def open_lines(source: InputFile, progress: Progress | None = None) -> Iterator[Lines]:
    r"""Open a source and give its lines as ``(number from 1, bytes)``, line ends kept.

    Lines end at ``\n`` only. A byte order mark is removed; gzip is recognised by its first bytes,
    whatever the name. An empty file is refused.
    """
    with open_blocks(source, progress) as blocks:
        yield split_lines(blocks)


@contextmanager
def open_blocks(
    source: InputFile,
    progress: Progress | None = None,
    size: int = BLOCK,
    *,
    of_texts: bool = False,
) -> Iterator[Blocks]:
    """Open a source as `open_lines` does and give its lines in blocks of ``size`` bytes or more.

    Only the last block may be smaller; the readable lines of a damaged file come before the error.
    The rows of Parquet are lines of JSON, with ``of_texts`` without columns that hold no text.
    """
    report = Throttle(progress)
    if source.records is not None:
        with source.records(report) as records:
            yield RecordBlocks(RecordLines(records))
        return
    with source.open() as raw:
        stream, begins = _unpacked(source, raw, report)
        if not _is_parquet(source, begins):
            yield _blocks(source, stream, report, size)
            return
        from labeler.formats.parquet_tables import open_rows  # here: it needs this module

        is_file = raw.seekable() and not source.bounded and not isinstance(stream, GzipFile)
        packed = raw if is_file else cast(IO[bytes], stream)
        with open_rows(source, packed, report, is_file=is_file, of_texts=of_texts) as rows:
            yield RecordBlocks(RecordLines(rows))


def _is_parquet(source: InputFile, begins: bytes) -> bool:
    """Return whether a file begins as Parquet does; raises `BadInput` if it is encrypted."""
    if _ENCRYPTED_PARQUET.match(begins):
        raise source.fail(None, "the Parquet file is encrypted; save it without encryption")
    return bool(_PARQUET.match(begins))


class RecordLines(Iterator[tuple[int, bytes]]):
    """The numbered records of a file that is no text, each also as a line of JSON."""

    def __init__(self, records: NumberedRecords) -> None:
        self.records = records

    def __next__(self) -> tuple[int, bytes]:
        """Return the next record with its number, as JSON."""
        number, record = next(self.records)
        return number, _as_line(record)

    def first(self) -> tuple[int, dict[str, Any]]:
        """Return the next record with its number, and leave it; 0 where there is none."""
        number, record = next(self.records, (0, {}))
        if number:
            self.records = chain([(number, record)], self.records)
        return number, record


def _as_line(record: dict[str, Any]) -> bytes:
    return json.dumps(record, ensure_ascii=False).encode() + b"\n"


class RecordBlocks(Iterator[Block]):
    """The lines of a file of records as blocks; `split_lines` gives them as they are."""

    def __init__(self, lines: RecordLines) -> None:
        self.lines = lines

    def __next__(self) -> Block:
        """Return the next record as a block."""
        number, line = next(self.lines)
        return Block(number, 1, line)


def split_lines(blocks: Iterable[Block]) -> Lines:
    """Return the lines of blocks with their numbers, line ends kept."""
    if isinstance(blocks, RecordBlocks):
        return blocks.lines
    return (line for block in blocks for line in enumerate(io.BytesIO(block.data), block.number))


def _blocks(source: InputFile, stream: _Stream, report: Progress, size: int) -> Blocks:
    number = 1
    empty = True
    try:
        for data in _whole_lines(source, stream, size):
            # bytes.count takes four times as long where there are many line ends
            ends = int(np.count_nonzero(np.frombuffer(data, np.uint8) == _NEWLINE))
            yield Block(number, ends, _check_first(source, data) if empty else data)
            number += ends
            empty = False
    except _TooLong as error:
        raise source.fail(number, source.limits.over("line", None, "the line")) from error
    except _BROKEN as error:
        raise _unreadable(source, number, error) from error
    if empty:
        raise source.fail(None, "the file is empty")
    report(1.0)


def _unpacked(source: InputFile, raw: IO[bytes], report: Progress) -> tuple[_Stream, bytes]:
    """Return a stream unpacked, and its first bytes, which stay in it."""
    packed = io.BufferedReader(_Watched(raw, source.size, report), _BUFFER)
    try:
        begins = packed.peek(_BUFFER)
    except _BROKEN as error:
        raise _unreadable(source, 1, error) from error
    if not begins.startswith(_GZIP):
        return packed, begins[:_MAGIC]
    try:
        begins = zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(begins, _MAGIC)
    except zlib.error:  # reading says so
        begins = b""
    return GzipFile(fileobj=cast(IO[bytes], packed)), begins


class _TooLong(Exception):
    """The next line is longer than the limit."""


def _whole_lines(source: InputFile, stream: _Stream, size: int) -> Iterator[bytes]:
    """Yield a stream in pieces of ``size`` or more that end with a line, or with the stream."""
    parts: list[bytes] = []
    held = 0
    try:
        for part in _limited(source, stream):
            cut = part.rfind(b"\n") + 1
            if cut and held + cut >= size:
                yield b"".join([*parts, part[:cut]])
                parts, held = [], 0
                part = part[cut:]
            parts.append(part)
            held += len(part)
    except (BadInput, _TooLong, *_BROKEN):
        # The lines before the damage may hold an error, which is then reported first.
        while parts and b"\n" not in parts[-1]:
            parts.pop()
        whole, newline, _ = b"".join(parts).rpartition(b"\n")
        if newline:
            yield whole + newline
        raise
    if rest := b"".join(parts):
        yield rest


def _limited(source: InputFile, stream: _Stream) -> Iterator[bytes]:
    """Yield a stream in parts until it or one of its lines is larger than the limits allow."""
    limits, step = source.limits, min(_BUFFER, source.limits.line)
    bounded = source.bounded or isinstance(stream, GzipFile)
    unpacked = begun = 0  # bytes in all, and of the unfinished line
    while part := stream.read1(step):
        unpacked += len(part)
        if bounded and unpacked > limits.unpacked:
            raise source.fail(None, limits.over("unpacked", None, "what is unpacked from it"))
        first = part.find(b"\n")
        if begun + (len(part) if first < 0 else first) > limits.line:
            raise _TooLong
        begun = begun + len(part) if first < 0 else len(part) - part.rfind(b"\n") - 1
        yield part


def _unreadable(source: InputFile, line: int | None, error: Exception) -> BadInput:
    """Return the error for a stream that broke; the line is known only where the data end early."""
    if isinstance(error, OSError) and error.errno is not None:  # else it is gzip's wrong checksum
        return source.fail(line, f"cannot be read: {error.strerror}")
    return source.fail(
        line if isinstance(error, EOFError) else None,
        "the compressed data are cut off or damaged; copy the file again",
    )


def _check_first(source: InputFile, data: bytes) -> bytes:
    """Return a file's first block without a byte order mark; refuse files that are not text."""
    raw = data[: data.find(b"\n") + 1] or data
    for magic, text in _FOREIGN.items():
        if raw.startswith(magic):
            raise source.fail(None, text)
    if _is_utf16(raw):
        raise source.fail(None, _FOREIGN[b"\xff\xfe"])
    if not raw.endswith(b"\n") and b"\r" in raw.rstrip(b"\r"):
        raise source.fail(
            None, "its line ends are carriage returns alone; save it with line ends LF or CRLF"
        )
    # Excel may begin a table with a line that names its separator: it counts, as a blank line.
    return _SEPARATOR_LINE.sub(rb"\1", data.removeprefix(BOM))


def _is_utf16(raw: bytes) -> bool:
    """Return whether a file begins like UTF-16 without a byte order mark: every other byte NUL."""
    halves = raw[0:8:2], raw[1:8:2]
    return len(raw) >= 4 and any(
        not any(one) and all(other) for one, other in (halves, halves[::-1])
    )


def decode(source: InputFile, number: int, raw: bytes) -> str:
    """Decode a line; raises `BadInput` with line and byte where it is not UTF-8 or holds NUL."""
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        raise source.fail(
            number,
            f"byte {error.start + 1} of the line (0x{raw[error.start]:02x}) is not UTF-8; "
            "save the file as UTF-8",
        ) from error
    if "\0" in text:
        byte = raw.index(b"\0") + 1
        raise source.fail(number, f"byte {byte} of the line is NUL, which no text can hold")
    return text


def read_head(source: InputFile) -> list[str]:
    """Return the first lines of a source, without their ends; invalid UTF-8 is replaced.

    They are whole, unless the first is longer than `_LONGEST_HEAD`. Raises `BadInput` for a file
    that is empty, damaged at its beginning, or whose first bytes show that it is not text.
    """
    with open_blocks(source) as blocks:
        if isinstance(blocks, RecordBlocks):
            return _first_records(source, blocks.lines)
    with source.open() as raw:
        stream, _ = _unpacked(source, raw, Throttle(None))
        try:
            data = stream.read(_HEAD)
            while b"\n" not in data and len(data) < _LONGEST_HEAD and (more := stream.read(_HEAD)):
                data += more
            goes_on = bool(stream.read(1))
        except _BROKEN as error:
            raise _unreadable(source, None, error) from error
    if not data:
        raise source.fail(None, "the file is empty")
    whole = data[: data.rfind(b"\n") + 1] if goes_on else data
    return _check_first(source, whole or data).decode(errors="replace").split("\n")


def _first_records(source: InputFile, lines: RecordLines) -> list[str]:
    found, size = [], 0
    for _, line in lines:
        found.append(line.decode().rstrip("\n"))
        size += len(line)
        if size >= _HEAD:
            break
    if not found:
        raise source.fail(None, "the file has no rows")
    return found


def is_parquet(source: InputFile) -> bool:
    """Return whether a file is Parquet, plain or gzip."""
    with source.open() as raw:
        return _is_parquet(source, _unpacked(source, raw, Throttle(None))[1])


def peek_line(source: InputFile, lines: Lines, comments: bool = False) -> tuple[int, bytes, Lines]:
    """Return number and bytes of the first line with content, and all lines including it.

    Blank lines have no content, nor have lines that start with ``#`` where ``comments`` is true.
    The number is 0 where there are only such lines; too many of them are refused.
    """
    if isinstance(lines, RecordLines):
        number, record = lines.first()
        return number, _as_line(record).strip() if number else b"", lines
    seen = []
    for number, raw in lines:
        seen.append((number, raw))
        text = raw.strip()
        if text and not (comments and text.startswith(b"#")):
            return number, text, chain(seen, lines)
        if number > _MOST_SILENT:
            nothing = "blank lines and comments" if comments else "blank lines"
            raise source.fail(None, f"its first {_MOST_SILENT:,} lines are nothing but {nothing}")
    return 0, b"", iter(seen)


def peek_block(source: InputFile, blocks: Blocks) -> tuple[int, bytes, Blocks]:
    """Return number and bytes of the first line with content, and all blocks including it.

    Blank lines and ``#`` comments have no content; the number is 0 where there is nothing else.
    """
    if isinstance(blocks, RecordBlocks):
        number, text, _ = peek_line(source, blocks.lines)
        return number, text, blocks
    seen = []
    for block in blocks:
        seen.append(block)
        number, text, _ = peek_line(source, split_lines([block]), comments=True)
        if number:
            return number, text, chain(seen, blocks)
    return 0, b"", iter(seen)


def is_text(data: bytes) -> bool:
    """Return whether a whole block is UTF-8; Arrow checks at most the columns it returns."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True

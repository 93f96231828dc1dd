"""Input files as numbered lines or blocks of lines: opening, decompression, decoding.

A file is recognised by its first bytes, not by its name: gzip is unpacked, and a file that is not
UTF-8 text (a spreadsheet, PDF, another compression) is refused with advice. The lines before the
damage in a broken file are still read, so that an error in one of them is reported first.
"""

from __future__ import annotations

import io
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
from typing import IO, NamedTuple, TypeAlias, cast

import numpy as np

from labeler.errors import BadInput, NotFound
from labeler.formats.limits import LIMITS, Limits

StrPath: TypeAlias = str | os.PathLike[str]
Progress: TypeAlias = Callable[[float], object]
Lines: TypeAlias = Iterator[tuple[int, bytes]]

BLOCK = 1 << 21
BOM = b"\xef\xbb\xbf"
_BUFFER = 1 << 18
_STEPS = 200
_HEAD = 1 << 16
_LONGEST_HEAD = 1 << 22
_MOST_SILENT = 100_000
_NEWLINE = 10
_GZIP = b"\x1f\x8b"
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
    b"PAR1": "the file is Parquet; save it as CSV or JSONL in UTF-8",
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

    ``bounded`` says that the limit ``unpacked`` applies to its content.
    """

    name: str
    size: int
    open: Callable[[], AbstractContextManager[IO[bytes]]]
    limits: Limits = LIMITS
    bounded: bool = False

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
    source: InputFile, progress: Progress | None = None, size: int = BLOCK
) -> Iterator[Blocks]:
    """Open a source as `open_lines` does and give its lines in blocks of ``size`` bytes or more.

    Only the last block may be smaller; the readable lines of a damaged file come before the error.
    """
    with source.open() as raw:
        yield _blocks(source, raw, Throttle(progress), size)


def split_lines(blocks: Iterable[Block]) -> Lines:
    """Yield the lines of blocks with their numbers, line ends kept."""
    for block in blocks:
        yield from enumerate(io.BytesIO(block.data), block.number)


def _blocks(source: InputFile, raw: IO[bytes], report: Progress, size: int) -> Blocks:
    number = 1
    empty = True
    try:
        for data in _whole_lines(source, _unpacked(source, raw, report), size):
            # bytes.count takes four times as long where there are many line ends
            ends = int(np.count_nonzero(np.frombuffer(data, np.uint8) == _NEWLINE))
            yield Block(number, ends, _check_first(source, data) if empty else data)
            number += ends
            empty = False
    except _TooLong as error:
        raise source.fail(number, source.limits.over("line", None, "the line")) from error
    except EOFError as error:
        raise _damaged(source, number) from error
    except (zlib.error, zipfile.BadZipFile) as error:
        raise _damaged(source) from error
    except OSError as error:
        if error.errno is None:  # gzip's wrong checksum
            raise _damaged(source) from error
        raise source.fail(number, f"cannot be read: {error.strerror}") from error
    if empty:
        raise source.fail(None, "the file is empty")
    report(1.0)


def _unpacked(source: InputFile, raw: IO[bytes], report: Progress) -> _Stream:
    packed = io.BufferedReader(_Watched(raw, source.size, report), _BUFFER)
    zipped = packed.peek(2)[:2] == _GZIP
    return GzipFile(fileobj=cast(IO[bytes], packed)) if zipped else packed


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
    except (BadInput, _TooLong, EOFError, OSError, zlib.error, zipfile.BadZipFile):
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


def _damaged(source: InputFile, line: int | None = None) -> BadInput:
    """Return the error; the line is known only where the data end early."""
    return source.fail(line, "the compressed data are cut off or damaged; copy the file again")


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
    return data.removeprefix(BOM)


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
    with source.open() as raw:
        stream = _unpacked(source, raw, Throttle(None))
        try:
            data = stream.read(_HEAD)
            while b"\n" not in data and len(data) < _LONGEST_HEAD and (more := stream.read(_HEAD)):
                data += more
            goes_on = bool(stream.read(1))
        except (EOFError, OSError, zlib.error, zipfile.BadZipFile) as error:
            raise _damaged(source) from error
    if not data:
        raise source.fail(None, "the file is empty")
    whole = data[: data.rfind(b"\n") + 1] if goes_on else data
    return _check_first(source, whole or data).decode(errors="replace").split("\n")


def peek_line(source: InputFile, lines: Lines, comments: bool = False) -> tuple[int, bytes, Lines]:
    """Return number and bytes of the first line with content, and all lines including it.

    Blank lines have no content, nor have lines that start with ``#`` where ``comments`` is true.
    The number is 0 where there are only such lines; too many of them are refused.
    """
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

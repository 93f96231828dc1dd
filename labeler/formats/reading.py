"""Bytes to numbered lines: opens, decompresses and decodes; knows nothing of what a line means."""

from __future__ import annotations

import io
import os
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from gzip import GzipFile
from itertools import chain
from pathlib import Path
from typing import IO, TypeAlias, cast

from labeler.errors import BadInput, NotFound

StrPath: TypeAlias = str | os.PathLike[str]
Progress: TypeAlias = Callable[[float], None]
Lines: TypeAlias = Iterator[tuple[int, bytes]]

_BUFFER = 1 << 18
_STEPS = 200
_BOM = b"\xef\xbb\xbf"
_GZIP = b"\x1f\x8b"
_FOREIGN = {
    b"\xff\xfe": "the file is UTF-16; save it as UTF-8",
    b"\xfe\xff": "the file is UTF-16; save it as UTF-8",
    b"PK\x03\x04": "the file is a spreadsheet or a zip archive; save it as CSV or JSONL in UTF-8",
    b"PAR1": "the file is Parquet; save it as CSV or JSONL in UTF-8",
    b"SQLite format 3": "the file is a database; export from it to CSV or JSONL in UTF-8",
}


@dataclass(frozen=True, slots=True)
class Source:
    """A file to read: its name as messages show it, its size in bytes, and a way to open it."""

    name: str
    size: int
    open: Callable[[], AbstractContextManager[IO[bytes]]]

    def fail(self, line: int | None, text: str) -> BadInput:
        """Return the error that says ``text`` of a line, or of the file where line is None."""
        return BadInput(f"{self.name}: {text}" if line is None else f"{self.name}:{line}: {text}")

    @contextmanager
    def at(self, line: int) -> Iterator[None]:
        """Put ``file:line:`` before any `BadInput` raised inside."""
        try:
            yield
        except BadInput as error:
            raise self.fail(line, str(error)) from error


def file_source(path: StrPath, name: str | None = None) -> Source:
    """Return the file at ``path`` as a source; it is opened later.

    Raises `NotFound` where nothing is there and `BadInput` where it is a folder or out of reach.
    """
    place = Path(path)
    shown = os.fspath(path) if name is None else name
    found = look(place, shown)
    if found is None:
        raise NotFound(f"{shown}: there is no such file")
    if stat.S_ISDIR(found.st_mode):
        raise BadInput(f"{shown}: is a folder; a file is needed here")
    return Source(shown, found.st_size, lambda: _open_file(place, shown))


def look(path: Path, name: str) -> os.stat_result | None:
    """Return what the system says of a file or folder, None where nothing is there.

    Raises `BadInput` under ``name`` where it may not be looked at or could not have that name.
    """
    try:
        return path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise BadInput(f"{name}: cannot be opened: {error.strerror}") from error


@contextmanager
def _open_file(path: Path, name: str) -> Iterator[IO[bytes]]:
    try:
        stream = path.open("rb", buffering=0)
    except OSError as error:
        raise BadInput(f"{name}: cannot be opened: {error.strerror}") from error
    with stream:
        yield stream


def member_source(archive: Path, member: zipfile.ZipInfo, name: str) -> Source:
    """Return one file inside a zip archive as a source."""
    return Source(name, member.file_size, lambda: _open_member(archive, member, name))


@contextmanager
def _open_member(archive: Path, member: zipfile.ZipInfo, name: str) -> Iterator[IO[bytes]]:
    with zipfile.ZipFile(archive) as opened:
        try:
            stream = opened.open(member)
        except (RuntimeError, NotImplementedError, zipfile.BadZipFile) as error:
            raise BadInput(f"{name}: cannot be unpacked: {error}") from error
        with stream:
            yield stream


class Throttle:
    """Passes a fraction on only when it has grown by half a percent, or has reached 1."""

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
        # What can still be unpacked of a damaged file comes out before the error does.
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


@contextmanager
def open_lines(source: Source, progress: Progress | None = None) -> Iterator[Lines]:
    r"""Open a source and give its lines as ``(number from 1, bytes)``, line ends kept.

    Lines end at ``\n`` and nowhere else. A byte order mark is gone; gzip is recognised by its
    first bytes, whatever the name. A file without a single byte is refused.
    """
    with source.open() as raw:
        yield _lines(source, raw, Throttle(progress))


def _lines(source: Source, raw: IO[bytes], report: Progress) -> Lines:
    number = 0
    try:
        for number, line in enumerate(_unpacked(source, raw, report), 1):
            yield number, _first(source, line) if number == 1 else line
    except EOFError as error:
        raise _damaged(source, number + 1) from error
    except (zlib.error, zipfile.BadZipFile) as error:
        raise _damaged(source) from error
    except OSError as error:
        if error.errno is None:  # gzip reports a wrong checksum so
            raise _damaged(source) from error
        raise source.fail(number + 1, f"cannot be read: {error.strerror}") from error
    if number == 0:
        raise source.fail(None, "the file is empty")
    report(1.0)


def _unpacked(source: Source, raw: IO[bytes], report: Progress) -> Iterator[bytes]:
    packed = io.BufferedReader(_Watched(raw, source.size, report), _BUFFER)
    zipped = packed.peek(2)[:2] == _GZIP
    # GzipFile alone would give each line through several layers of Python.
    stream = io.BufferedReader(_Unzipped(cast(IO[bytes], packed)), _BUFFER) if zipped else packed
    return cast(Iterator[bytes], stream)


class _Unzipped(io.RawIOBase):
    """A gzip stream that gives all there is before it says that the rest is missing."""

    def __init__(self, packed: IO[bytes]) -> None:
        self._inner = GzipFile(fileobj=packed)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # always a memoryview
        data = self._inner.read1(len(buffer))
        buffer[: len(data)] = data
        return len(data)


def _damaged(source: Source, line: int | None = None) -> BadInput:
    """Return the error; only where the data just end is it known in which line."""
    return source.fail(line, "the compressed data are cut off or damaged; copy the file again")


def _first(source: Source, raw: bytes) -> bytes:
    for magic, text in _FOREIGN.items():
        if raw.startswith(magic):
            raise source.fail(None, text)
    if _is_wide(raw):
        raise source.fail(None, _FOREIGN[b"\xff\xfe"])
    if not raw.endswith(b"\n") and b"\r" in raw.rstrip(b"\r"):
        raise source.fail(
            None, "its line ends are carriage returns alone; save it with line ends LF or CRLF"
        )
    return raw.removeprefix(_BOM)


def _is_wide(raw: bytes) -> bool:
    """Say whether a file's first bytes are UTF-16 without a byte order mark: every other is NUL."""
    halves = raw[0:8:2], raw[1:8:2]
    return len(raw) >= 4 and any(
        not any(one) and all(other) for one, other in (halves, halves[::-1])
    )


def decode(source: Source, number: int, raw: bytes) -> str:
    """Return a line as text; raise `BadInput` with line and byte where it is not UTF-8."""
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


def peek_line(lines: Lines, comments: bool = False) -> tuple[int, bytes, Lines]:
    """Return number and bytes of the first line that says something, and all lines again.

    Blank lines say nothing, nor do lines that start with ``#`` where ``comments`` is true. With
    nothing but such lines the number is 0.
    """
    seen = []
    for number, raw in lines:
        seen.append((number, raw))
        text = raw.strip()
        if text and not (comments and text.startswith(b"#")):
            return number, text, chain(seen, lines)
    return 0, b"", iter(seen)

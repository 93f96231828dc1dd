"""Records between parsing and storing: in memory while they are few, then in a temporary file.

A load is parsed completely before anything is stored, so a large file needs this buffer. Sizes of
records are estimates. Repeated ids are found without keeping all ids in memory.
"""

from __future__ import annotations

import pickle
import tempfile
from array import array
from bisect import bisect_right
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import IO, Generic, TypeVar, overload

import numpy as np

from labeler.errors import BadInput
from labeler.formats.json_records import space_warnings
from labeler.formats.lines import InputFile

RecordT = TypeVar("RecordT")

MOST_IN_MEMORY = 48_000_000
MOST_KNOWN = 200_000
_RECORD_OVERHEAD = 500  # bytes of a record without its texts
_READ_AHEAD = 1 << 20
_PLAIN = frozenset({int, float, bool, type(None)})


class Spool(Sequence[RecordT], Generic[RecordT]):
    """Records in the order they were added, the first of them on disk where they are many.

    The temporary file has no name and is deleted with the last reference to it.
    """

    def __init__(self, most: int = MOST_IN_MEMORY) -> None:
        self._most = most
        self._held = 0
        self._recent: list[RecordT] = []
        self._starts = array("q")  # offset of each record on disk
        self._file: IO[bytes] | None = None
        self._size = 0

    def add(self, record: RecordT, texts: int) -> None:
        """Append a record whose texts take about ``texts`` bytes."""
        self._recent.append(record)
        self._held += texts + _RECORD_OVERHEAD
        if self._held > self._most:
            self._move_to_disk()

    def _move_to_disk(self) -> None:
        try:
            if self._file is None:
                self._file = tempfile.TemporaryFile()  # noqa: SIM115  # lives as long as self
            self._file.seek(self._size)
            for record in self._recent:
                data = pickle.dumps(record, pickle.HIGHEST_PROTOCOL)
                self._starts.append(self._size)
                self._size += self._file.write(data)
            self._file.flush()
        except OSError as error:
            raise BadInput(
                f"{tempfile.gettempdir()}: cannot hold what is read until it is stored: "
                f"{error.strerror}; TMPDIR names another folder"
            ) from error
        self._recent, self._held = [], 0

    def __del__(self) -> None:
        if self._file is not None:
            self._file.close()

    def __len__(self) -> int:
        return len(self._starts) + len(self._recent)

    def __iter__(self) -> Iterator[RecordT]:
        yield from self._from_disk(0, len(self._starts))
        yield from self._recent

    def _from_disk(self, first: int, end: int) -> Iterator[RecordT]:
        """Yield some of the records on disk, reading many of them at once."""
        at = first
        while at < end:
            until = max(at + 1, bisect_right(self._starts, self._starts[at] + _READ_AHEAD, at, end))
            data = self._read(self._starts[at], self._start(until))
            for place in range(at, until):
                yield pickle.loads(data[self._starts[place] - self._starts[at] :])
            at = until

    def _start(self, place: int) -> int:
        return self._starts[place] if place < len(self._starts) else self._size

    def _read(self, start: int, end: int) -> memoryview:
        if self._file is None:
            return memoryview(b"")
        self._file.seek(start)
        return memoryview(self._file.read(end - start))

    @overload
    def __getitem__(self, place: int) -> RecordT: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[RecordT]: ...
    def __getitem__(self, place: int | slice) -> RecordT | Sequence[RecordT]:
        """Return a record, or some of them as a list."""
        if isinstance(place, slice):
            return [self[at] for at in range(*place.indices(len(self)))]
        at = place + len(self) if place < 0 else place
        if not 0 <= at < len(self):
            raise IndexError(f"there are {len(self)} records, none at {place}")
        if at >= len(self._starts):
            return self._recent[at - len(self._starts)]
        return next(self._from_disk(at, at + 1))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(
            mine == theirs for mine, theirs in zip(self, other, strict=True)
        )


class FirstSeen:
    """Detection of repeated keys: at once for the first ones, at the end for later ones.

    Later keys are kept as 64-bit hashes, which only tell that two keys may be the same.
    """

    def __init__(self, most: int | None = None) -> None:
        self._most = MOST_KNOWN if most is None else most
        self._known: dict[Hashable, int] = {}
        self._later = array("q")

    def add(self, key: Hashable) -> int | None:
        """Return the index of a key that was added before, else add it at the next index."""
        if (place := self._known.get(key)) is not None:
            return place
        if len(self._known) < self._most:
            self._known[key] = len(self._known)
        else:
            self._later.append(hash(key))
        return None

    def suspected_repeats(self) -> Iterator[tuple[int, int]]:
        """Yield pairs of indices of later keys that may be the same, ordered by the second."""
        hashes = np.array(self._later, np.int64)
        order = np.argsort(hashes, kind="stable")
        hashes = hashes[order]
        again = np.flatnonzero(hashes[1:] == hashes[:-1]) + 1
        first = np.searchsorted(hashes, hashes[again])
        pairs = zip(order[again].tolist(), order[first].tolist(), strict=True)
        for place, earlier in sorted(pairs):
            yield earlier + self._most, place + self._most


class UniqueIds:
    """The lines of a file's records, and detection of ids that occur twice."""

    def __init__(self, what: str, most: int | None = None) -> None:
        self.what = what
        self.lines = array("q")
        self._firsts = FirstSeen(most)
        self._spaced: dict[str, None] = {}

    def add(self, identifier: str, line: int) -> None:
        """Add an id; raises `BadInput` where it is known to be a repeat."""
        first = self._firsts.add(identifier)
        if first is not None:
            raise BadInput(self._twice(identifier, self.lines[first]))
        self.lines.append(line)
        if identifier != identifier.strip():
            self._spaced[identifier] = None

    def _twice(self, identifier: str, line: int) -> str:
        return f"{self.what} id {identifier!r} is already on line {line}; ids must differ"

    def check(self, source: InputFile, id_at: Callable[[int], str]) -> None:
        """Raise `BadInput` where two ids are the same; ``id_at`` returns the id at an index."""
        for first, second in self._firsts.suspected_repeats():
            if id_at(first) == (identifier := id_at(second)):
                raise source.fail(self.lines[second], self._twice(identifier, self.lines[first]))

    def warnings(self) -> tuple[str, ...]:
        """Return a warning where ids have a space at one end."""
        return space_warnings(self._spaced, self.what)


def compact_lines(lines: array[int]) -> Sequence[int]:
    """Return the lines of records as a list, or unchanged where they are very many."""
    return lines.tolist() if len(lines) <= MOST_KNOWN else lines


def estimate_size(value: object) -> int:
    """Estimate how many bytes a record takes: those of its texts, and some for each value."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, Mapping):
        within: Iterable[object] = value.values()
        weight = 100 * len(value)
    elif isinstance(value, list | tuple):
        within, weight = value, 50 * len(value)
    else:
        return 0
    for each in within:
        if isinstance(each, str):
            weight += len(each)
        elif type(each) not in _PLAIN:
            weight += estimate_size(each)
    return weight

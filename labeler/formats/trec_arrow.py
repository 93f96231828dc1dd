"""Blocks of a TREC run as columns, parsed by Arrow.

It reports no errors: a block that is not entirely regular is read line by line instead, with the
same values. Importing this module loads pyarrow, which takes longer than reading a small file; it
is therefore imported only for large runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa  # type: ignore[import-untyped]  # it carries no annotations
import pyarrow.compute as pc  # type: ignore[import-untyped]  # it carries no annotations
from pyarrow import csv  # it carries no annotations

from labeler.formats.json_records import TOO_LARGE
from labeler.formats.lines import BOM, Block, is_text

Floats: TypeAlias = npt.NDArray[np.float64]
Numbers: TypeAlias = npt.NDArray[np.int32]

_BLANK = 32  # up to it: blanks, line ends, control characters
_LARGEST = 1 << 28
_EXACT = 2.0**53  # below it a 64-bit float holds every whole number
_TEXT = pa.large_string()
_NUMBER = pa.float64()
_TYPES = {"query": _TEXT, "chunk": _TEXT, "rank": _NUMBER, "score": _NUMBER, "tag": _TEXT}
_COLUMNS = ["query", "Q0", "chunk", "rank", "score", "tag"]
_MOST_PENDING = 1 << 24
_RELEASE_FROM = 1 << 18


@dataclass(frozen=True, slots=True, eq=False)
class RunColumns:
    """The n results of a block of a run by column, in file order.

    ``repeats`` says how many lines in a row each of ``queries`` has, ``chunks`` is an Arrow array
    of ids, ``ranks`` and ``scores`` have shape (n,), ``tags`` are those that occur. Ranks are whole
    numbers as floats, as Arrow read them. In an ``ascii`` block no id can hold a blank.
    """

    queries: Sequence[str]
    repeats: npt.NDArray[np.int64]
    chunks: Any
    ranks: Floats
    scores: Floats
    tags: Sequence[str]
    ascii: bool

    def last_apart(self) -> tuple[RunColumns | None, RunColumns]:
        """Return the results before the last query's (None without any), and the last query's."""
        cut = len(self.ranks) - int(self.repeats[-1])
        if not cut:
            return None, self
        whole = replace(
            self,
            queries=self.queries[:-1],
            repeats=self.repeats[:-1],
            chunks=self.chunks.slice(0, cut),
            ranks=self.ranks[:cut],
            scores=self.scores[:cut],
        )
        last = replace(
            self,
            queries=self.queries[-1:],
            repeats=self.repeats[-1:],
            chunks=self.chunks.slice(cut),
            ranks=self.ranks[cut:],
            scores=self.scores[cut:],
        )
        return whole, last


def parse_run_block(block: Block) -> RunColumns | None:
    """Return a block of a run as columns, or None where a line of it is not plain.

    Plain lines have six columns separated by one blank each, or by one tab each; UTF-8 texts
    without control characters; whole ranks and finite scores. There are no comments. Lines may end
    in CRLF.
    """
    ascii = block.data.isascii()
    if not ascii and (block.data.startswith(BOM) or not is_text(block.data)):
        return None  # Arrow would drop the mark, here part of an id
    table = _table(block)
    if table is None:
        return None
    queries, repeats = _run_lengths(table["query"])
    ranks, scores = _floats(table["rank"]), _floats(table["score"])
    if "#" in {query[:1] for query in queries} or not (np.abs(scores) < TOO_LARGE).all():
        return None
    if not ((np.abs(ranks) < _EXACT) & (np.floor(ranks) == ranks)).all():
        return None
    tags, _ = _run_lengths(table["tag"])
    return RunColumns(queries, repeats, table["chunk"], ranks, scores, tags, ascii)


def longest_id(columns: RunColumns) -> int:
    """Return the length of the longest query or chunk id in bytes."""
    chunks: int = pc.max(pc.binary_length(columns.chunks)).as_py()
    return max(chunks, *map(len, map(str.encode, columns.queries)))


def _table(block: Block) -> Any:
    """Return the columns of a block as an Arrow batch, or None where it is irregular."""
    data = block.data
    if b"\r" in data:  # searching for one byte takes a fiftieth of the time
        data = data.replace(b"\r\n", b"\n")
    lines = block.ends + (not data.endswith(b"\n"))
    blank = np.frombuffer(data, np.uint8) <= _BLANK
    # This number is reached by separators and line ends alone: a control character is one too many.
    if np.count_nonzero(blank) != lines * (len(_COLUMNS) - 1) + block.ends or len(data) > _LARGEST:
        return None
    # An empty column shows as a blank at either end, or as two blanks in a row.
    if blank[0] or (blank[-1] and block.ends < lines) or (blank[1:] & blank[:-1]).any():
        return None
    try:
        found = csv.open_csv(pa.BufferReader(data), *_options(data)).read_next_batch()
    except pa.ArrowInvalid:
        return None
    return found if found.num_rows == lines else None


def _options(data: bytes) -> tuple[Any, Any, Any]:
    """Return Arrow's options: one block, separated as the first line, values unchanged."""
    tab = b"\t" in data[: data.find(b"\n") + 1 or None]
    return (
        csv.ReadOptions(use_threads=False, block_size=len(data) + 1, column_names=_COLUMNS),
        csv.ParseOptions(
            delimiter="\t" if tab else " ",
            quote_char=False,
            double_quote=False,
            escape_char=False,
            ignore_empty_lines=False,
        ),
        csv.ConvertOptions(
            check_utf8=False,
            include_columns=list(_TYPES),
            column_types=_TYPES,
            null_values=[],
            strings_can_be_null=False,
        ),
    )


def _floats(column: Any) -> Floats:
    return np.asarray(np.from_dlpack(column), np.float64)  # to_numpy would load pandas first


def _run_lengths(texts: Any) -> tuple[list[str], npt.NDArray[np.int64]]:
    """Return texts without consecutive repeats, and the length of each run of repeats."""
    found = pc.run_end_encode(texts, run_end_type=pa.int64())
    return found.values.to_pylist(), np.diff(np.from_dlpack(found.run_ends), prepend=0)


def _to_arrow(ids: Sequence[str]) -> Any:
    """Return texts as an Arrow array; pa.array would load pandas first."""
    joined = "".join(ids)
    parts = ids if joined.isascii() else [each.encode() for each in ids]
    ends = np.cumsum(np.fromiter(chain([0], map(len, parts)), np.int64, len(parts) + 1))
    buffers = pa.py_buffer(ends), pa.py_buffer(joined.encode())
    return pa.LargeStringArray.from_buffers(len(parts), *buffers)


class PackedIds:
    """A sequence of ids in Arrow arrays, with each distinct id stored once."""

    def __init__(self, most_waiting: int = _MOST_PENDING) -> None:
        self._most_waiting = most_waiting
        self._names: Any = _to_arrow([])
        self._numbers: list[Numbers] = []
        self._waiting: list[Any] = []
        self._size = 0

    def extend(self, ids: Any) -> None:
        """Append ids: an Arrow array, or texts."""
        added = ids if isinstance(ids, pa.Array) else _to_arrow(ids)
        self._waiting.append(added)
        self._size += added.nbytes
        # Packing only once as much is pending as is packed keeps the total time linear.
        if self._size > max(self._most_waiting, self._names.nbytes):
            self._pack()

    def numbered(self) -> tuple[Numbers, PackedNames]:
        """Return each id as a number and the distinct ids by number, and drop both here."""
        self._pack()
        numbers, names = np.concatenate(self._numbers), PackedNames(self._names)
        self._numbers, self._names = [], _to_arrow([])
        _release_memory(len(numbers))
        return numbers, names

    def _pack(self) -> None:
        ids = pa.chunked_array([self._names, *self._waiting])
        packed = ids.dictionary_encode().chunks  # all with one dictionary
        numbers = np.concatenate([np.from_dlpack(each.indices) for each in packed])
        # The known names come first, once each, so that they keep their numbers.
        self._numbers.append(numbers[len(self._names) :])
        self._names = packed[-1].dictionary
        self._waiting, self._size = [], 0
        del ids, packed
        _release_memory(len(numbers))


class PackedNames:
    """Distinct chunk ids by number, kept in Arrow until `texts` is called."""

    def __init__(self, names: Any) -> None:
        self._names = names

    def __len__(self) -> int:
        return len(self._names)

    def texts(self) -> npt.NDArray[np.object_]:
        """Return the ids by number."""
        return np.fromiter(self._names.to_pylist(), object, len(self))

    def places_in(self, ids: Sequence[str]) -> Numbers:
        """Return the index of each in ``ids``, which are distinct, and -1 where it is not there."""
        found = pc.index_in(self._names, value_set=_to_arrow(ids))
        return np.asarray(np.from_dlpack(pc.fill_null(found, _nowhere())))


def _nowhere() -> Any:
    """Return -1 as Arrow has it; a plain -1 would load pandas first."""
    return pa.Array.from_buffers(pa.int32(), 1, [None, pa.py_buffer(np.array([-1], np.int32))])[0]


def _release_memory(done: int) -> None:
    """Release memory that Arrow keeps, if ``done`` ids are enough to make it worth the time."""
    if done >= _RELEASE_FROM:
        pa.default_memory_pool().release_unused()

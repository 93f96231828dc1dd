"""All texts of any file (JSON lines, CSV, TSV, Parquet, plain text) in blocks, with line numbers.

They are searched for leaked queries, in training or prompt files. The texts are not stored, so,
unlike in a load, undecodable bytes are replaced and not refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePath
from typing import Any, NamedTuple

from labeler.formats.csv_tables import numbered_rows
from labeler.formats.json_records import starts_json
from labeler.formats.limits import LIMITS, Limits
from labeler.formats.lines import (
    Block,
    InputFile,
    Lines,
    Progress,
    RecordLines,
    StrPath,
    file_source,
    is_parquet,
    open_blocks,
    peek_line,
    read_head,
    split_lines,
)

_BLOCK = 1 << 20  # characters, or bytes of plain text
_ENDINGS = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "table",
    ".tsv": "table",
    ".json": "json",
    ".parquet": "parquet",
}
_ESCAPED = re.compile(r'\\(?:u([0-9a-fA-F]{4})|(["\\/bfnrt]))')
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": " ", "f": " "}


class TextBlock(NamedTuple):
    """Texts of a file in their order, with the line that each begins on, and its field.

    In Parquet a line is a row, from 1. Where texts are ``flowing`` one may continue in the next,
    and fields are empty.
    """

    lines: Sequence[int]
    fields: Sequence[str]
    texts: Sequence[str]
    flowing: bool

    def since(self, number: int) -> TextBlock:
        """Return the block from text ``number`` on."""
        return self._replace(
            lines=self.lines[number:], fields=self.fields[number:], texts=self.texts[number:]
        )


def read_text_blocks(
    path: StrPath, progress: Progress | None = None, limits: Limits = LIMITS
) -> Iterator[TextBlock]:
    """Yield the texts of a JSONL, CSV, TSV, Parquet or plain text file, plain or gzip, in blocks.

    The suffix of the name decides the format; with an unknown one, a file whose first line is a
    JSON object is JSONL, and any other is plain text. In JSON all texts count, at any depth, but
    no keys. Raises `BadInput` with file and line where a line does not match the suffix, and
    `NotFound` for a missing file.
    """
    source = file_source(path, limits=limits)
    form = _form_of(source)
    if form == "parquet":
        return _batched(_of_parquet(source, progress))
    return _read_blocks(source, form, progress)


def _form_of(source: InputFile) -> str:
    if is_parquet(source):
        return "parquet"
    name = PurePath(source.name.lower().removesuffix(".gz"))
    found = _ENDINGS.get(name.suffix)
    if found == "parquet":
        raise source.fail(None, "its name says Parquet, its first bytes do not; rename it")
    if found is None:
        first, *_ = read_head(source)
        found = "jsonl" if _is_object(first) else "text"
    return found


def _is_object(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _read_blocks(source: InputFile, form: str, progress: Progress | None) -> Iterator[TextBlock]:
    with open_blocks(source, progress, _BLOCK) as blocks:
        if form == "jsonl":
            yield from _batched(_of_json(source, split_lines(blocks)))
        elif form == "table":
            yield from _batched(_of_table(source, split_lines(blocks)))
        else:
            yield from (_of_text(block, escaped=form == "json") for block in blocks)


def _batched(found: Iterable[tuple[int, str, str]]) -> Iterator[TextBlock]:
    lines: list[int] = []
    fields: list[str] = []
    texts: list[str] = []
    size = 0
    for line, field, text in found:
        lines.append(line)
        fields.append(field)
        texts.append(text)
        size += len(text) + 1
        if size >= _BLOCK:
            yield TextBlock(lines, fields, texts, flowing=False)
            lines, fields, texts, size = [], [], [], 0
    if texts:
        yield TextBlock(lines, fields, texts, flowing=False)


def _of_text(block: Block, *, escaped: bool) -> TextBlock:
    """Return the lines of plain text, or with ``escaped`` of a JSON document, unescaped."""
    text = block.data.decode(errors="replace")
    texts = text.split("\n")
    if not texts[-1]:
        texts.pop()
    if escaped and "\\" in text:
        texts = [_ESCAPED.sub(_unescaped, line) for line in texts]
    lines = range(block.number, block.number + len(texts))
    return TextBlock(lines, [""] * len(texts), texts, flowing=True)


def _unescaped(found: re.Match[str]) -> str:
    if found[1]:
        return chr(int(found[1], 16))
    return _ESCAPES.get(found[2], found[2])


class _Object(tuple[tuple[str, Any], ...]):
    """A JSON object as pairs, so that a repeated key loses no value."""

    __slots__ = ()


_DECODER = json.JSONDecoder(object_pairs_hook=_Object, strict=False)


def _of_json(source: InputFile, lines: Lines) -> Iterator[tuple[int, str, str]]:
    for number, raw in lines:
        text = raw.decode(errors="replace").strip()
        if number == 1:
            starts_json(source, number, text[:9].encode())  # refuses a list
        if not text:
            continue
        try:
            value = _DECODER.decode(text)
        except json.JSONDecodeError as error:
            raise source.fail(
                number,
                f"not JSON at column {error.colno} ({error.msg}); each line must be one whole JSON "
                "value, or the file must not be called .jsonl",
            ) from error
        except (ValueError, RecursionError) as error:
            raise source.fail(number, f"the JSON cannot be read: {error}") from error
        for field, found in texts_in(value):
            yield number, field, found


def texts_in(value: Any) -> Iterator[tuple[str, str]]:
    """Yield the texts in a value from JSON, each with its path.

    >>> list(texts_in({"messages": [{"role": "user", "content": "Where?"}]}))
    [('messages[0].role', 'user'), ('messages[0].content', 'Where?')]
    """
    waiting = [("", value)]
    while waiting:
        field, item = waiting.pop()
        if isinstance(item, str):
            if item:
                yield field, item
        elif isinstance(item, _Object | dict):
            pairs = item.items() if isinstance(item, dict) else item
            waiting += [(f"{field}.{key}" if field else key, each) for key, each in pairs][::-1]
        elif isinstance(item, list):
            waiting += [(f"{field}[{at}]", each) for at, each in enumerate(item)][::-1]


def _of_table(source: InputFile, lines: Lines) -> Iterator[tuple[int, str, str]]:
    """Yield the cells of a table, including its header, under the names in the first row."""
    # valid UTF-8 without NUL
    readable: Lines = (
        (number, raw.decode(errors="replace").replace("\0", " ").encode()) for number, raw in lines
    )
    _, first, readable = peek_line(source, readable)
    separator = next((each for each in "\t,;" if each.encode() in first), ",")
    header: list[str] = []
    for number, cells in numbered_rows(source, readable, separator):
        header = header or cells
        for at, cell in enumerate(cells):
            if cell:
                yield number, header[at] if at < len(header) else f"column {at + 1}", cell


def _of_parquet(source: InputFile, progress: Progress | None) -> Iterator[tuple[int, str, str]]:
    """Yield the texts of a Parquet file."""
    with open_blocks(source, progress, of_texts=True) as blocks:
        lines = split_lines(blocks)
        if isinstance(lines, RecordLines):
            for row, record in lines.records:
                for field, text in texts_in(record):
                    yield row, field, text
